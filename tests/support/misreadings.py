"""Misreadings of certificates/v1.md, each planted in a copy of the second checker, and the cases that notice them.

    PYTHONPATH=tests python -m support.misreadings

prints for each misreading how many cases of the corpora get another verdict, and the first of them. Those of `sizes`,
which take long, are left out.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

from verale.soundness.corpus.cases import Case, stored
from verale.soundness.second import FOLDER, SecondChecker
from verale.soundness.second.comparison import Relation
from verale.soundness.second.trials import of_corpora

__all__ = ["MISREADINGS", "Misreading", "noticed", "planted"]


@dataclass(frozen=True)
class Misreading:
    """One change of the second checker.

    Attributes:
        file: of `verale/soundness/second`.
        wrong: what is misread.
        before: a text of the file that stands there once.
        after: what takes its place.
        notices: a case that gets another verdict then.
    """

    file: str
    wrong: str
    before: str
    after: str
    notices: str


_TOGETHER = "  search(t, side) {\n"
_AT_MOST = """  search(t, side) {{
    if (this.facts.length > {most}) {{
      const parts = [];
      const chosen = (from, left) => {{
        if (left.length === {most}) {{
          const part = Object.assign(Object.create(Patch.prototype), this);
          Object.assign(part, {{facts: left, subsets: new Map(), found: new Map(), start: null}});
          parts.push(part.search(t, side));
        }} else for (let i = from; i < this.facts.length; i += 1) chosen(i + 1, [...left, this.facts[i]]);
      }};
      chosen(0, []);
      const best = (x, y) => (x === null ? y : y === null ? x : greater(x, y));
      return parts.reduce((x, y) => ({{
        empty: x.empty || y.empty,
        bound: best(x.bound, y.bound),
        reached: best(x.reached, y.reached),
      }}));
    }}
"""
_STEP_3 = """    if (sha256(headBytes) !== certificate.head) return outcome("NOT_PROVED", "subject", "another head");
    const found = findImage(certificate);
    if (found === -1) return outcome("NOT_PROVED", "subject", "other latents");
    fitToHead(certificate, head);
"""
_LINES = _STEP_3.splitlines(keepends=True)
_HEAD, _IMAGE, _FIT = _LINES[0], "".join(_LINES[1:3]), _LINES[3]
_JOINT = 'refuseUnless(head.similarity.kind === linear && head.pooling.kind === "max", "no joint for this head");'
_MIXED = """    geometries: ["euclidean", "cosine", "rooted_cosine"],
    forms: ["patch", "activation", "order", "floor"],"""

MISREADINGS = (
    *(
        Misreading(
            "ranges.js",
            f"at most {most} statements together",
            _TOGETHER,
            _AT_MOST.format(most=most),
            f"accept/{name}",
        )
        for most, name in ((2, "together-euclidean-3"), (4, "together-euclidean-5"), (7, "together-inner_product-8"))
    ),
    Misreading(
        "known.js",
        "softmax: no lower end from the others where all are stated",
        "greater(greater(s.lo, ZERO), subtract(ONE, subtract(this.highs, s.hi)))",
        "greater(s.lo, ZERO)",
        "accept/simplex-all-stated",
    ),
    Misreading(
        "known.js",
        "softmax: the upper end of a stated mass is hi",
        "s ? lesser(s.hi, add(greater(s.lo, ZERO), this.room)) : this.room",
        "s ? s.hi : this.room",
        "accept/simplex-what-others-leave",
    ),
    Misreading(
        "known.js",
        "inner product: the greater one of two balls",
        "compare(about0.radius2, box.radius2) <= 0",
        "compare(about0.radius2, box.radius2) > 0",
        "accept/ball-of-the-box",
    ),
    Misreading(
        "known.js",
        "inner product: the box's ball wherever there is one",
        "compare(about0.radius2, box.radius2) <= 0",
        "false",
        "accept/ball-about-0",
    ),
    Misreading(
        "known.js",
        "inner product: the radius's ball wherever there is one",
        "compare(about0.radius2, box.radius2) <= 0",
        "true",
        "accept/ball-of-the-box",
    ),
    Misreading(
        "known.js",
        "inner product: of equal balls the second",
        "compare(about0.radius2, box.radius2) <= 0",
        "compare(about0.radius2, box.radius2) < 0",
        "accept/balls-of-one-size",
    ),
    Misreading(
        "assignment.js",
        "assignment: o_k = hi",
        "lesser(s.hi, add(greater(s.lo, ZERO), room))",
        "s.hi",
        "accept/assignment-what-others-leave",
    ),
    Misreading(
        "assignment.js",
        "assignment: every price is paid",
        "if (w.n > 0n) cost = add(cost, price(k));",
        "cost = add(cost, price(k));",
        "accept/assignment-prices-unused",
    ),
    Misreading(
        "known.js",
        "joint: the domain's ranges serve minimality as statements",
        "const stated = this.byPatch.get(0n);\n",
        """let stated = this.byPatch.get(0n);
    const own = stated ? stated.range.statements : [];
    const named = new Set(own.map((s) => s.prototype));
    const more = Array.from({length: this.head.size}, (_, j) => j).filter((j) => !named.has(j));
    const ranges = more.map((j) => ({prototype: j, lo: this.facts.domain(j).lo.a, hi: this.facts.domain(j).hi.a}));
    stated = {range: new StatedPatch(this.facts, [...own, ...ranges])};
""",
        "accept/joint-needed-over-the-space",
    ),
    Misreading(
        "latents.js",
        "digests do not see the sign of a zero",
        "latents.at(n, Math.floor(i / latents.depth), i % latents.depth), true",
        "latents.at(n, Math.floor(i / latents.depth), i % latents.depth) + 0, true",
        "accept/minus-zero",
    ),
    Misreading(
        "verify.js",
        "step 4 before the head's digest",
        _STEP_3,
        _FIT + _HEAD + _IMAGE,
        "reject/another-head-and-patch",
    ),
    Misreading(
        "verify.js",
        "step 4 before the image's digest",
        _STEP_3,
        _HEAD + _FIT + _IMAGE,
        "reject/another-image-and-patch",
    ),
    Misreading(
        "certificate.js",
        "joint with the readout maximum",
        'head.readout.kind === "linear" && patches === 1n',
        "patches === 1n",
        "malformed/joint-maximum",
    ),
    Misreading(
        "certificate.js",
        "joint with another pooling",
        _JOINT,
        _JOINT.replace(' && head.pooling.kind === "max"', ""),
        "malformed/joint-top_mean",
    ),
    *(
        Misreading(
            "certificate.js",
            f"mixed with {geometry}",
            _MIXED,
            _MIXED.replace('"rooted_cosine"]', f'"rooted_cosine", "{geometry}"]'),
            f"malformed/mixed-{geometry}",
        )
        for geometry in ("inner_product", "softmax")
    ),
    *(
        Misreading(
            "certificate.js",
            f"assignment with {geometry}",
            'assignment: {geometries: ["softmax"]',
            f'assignment: {{geometries: ["softmax", "{geometry}"]',
            f"malformed/assignment-{geometry}",
        )
        for geometry in ("cosine", "inner_product")
    ),
    Misreading(
        "head.js",
        "max_minus_mean_distance with another readout",
        'refuseUnless(linear && similarity.kind === "log_ratio", "no mean distances of these");',
        'refuseUnless(similarity.kind === "log_ratio", "no mean distances of these");',
        "malformed/head-mean-distance-maximum",
    ),
)
"""What has survived the corpora once."""


def planted(misreading: Misreading, folder: Path) -> SecondChecker:
    """A copy of the second checker with the misreading. Raises ValueError if it has no place."""
    copy = copytree(FOLDER, folder / "copy", ignore=lambda _, names: [n for n in names if not n.endswith(".js")])
    source = (copy / misreading.file).read_text(encoding="utf-8")
    if source.count(misreading.before) != 1:
        raise ValueError(f"{misreading.file} does not have {misreading.before!r} once")
    (copy / misreading.file).write_text(source.replace(misreading.before, misreading.after), encoding="utf-8")
    return SecondChecker(copy)


def noticed(checker: SecondChecker, cases: Iterable[Case]) -> Iterator[Case]:
    """The cases of which a copy says what v1.md does not, or less than it has to."""
    for case in cases:
        agreement = of_corpora(checker, [case])
        if agreement.wrong or agreement.relations[Relation.CHECKER]:
            yield case


def main() -> int:
    cases = stored()
    survivors = 0
    for misreading in MISREADINGS:
        with tempfile.TemporaryDirectory() as folder:
            names = [case.name for case in noticed(planted(misreading, Path(folder)), cases)]
        survivors += not names
        first = f": {names[0]}" if names else ""
        sys.stdout.write(f"{misreading.wrong}: {len(names)} of {len(cases)} cases{first}\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
