"""Attacks on the statements and margins of an accepted certificate."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf, nextafter

import flint
from corpus.writing.found import found
from corpus.writing.reject.building import BOX, NEGATED, altered, case
from corpus.writing.truth import gaps, satisfied

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import top_mean
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import PRECISION, above, ends
from verale.soundness.independent.claim import Claim
from verale.soundness.independent.readers import Document

UNTIGHT = (
    "latents-not-given",
    "not-minimal",
    "contradiction-without-an-image",
    "nearest-patch",
    "cosine-of-one",
    "first-statements-alone",
    "wide-but-determined",
)
"""Accepted cases with a margin less than the greatest that is proved."""


Action = Callable[[Document], object]
"""Changes the predicate of a certificate."""


def of_statements(cases: dict[str, Case]) -> Iterator[Case]:
    """All of them, given the accepted cases."""
    yield from _repeated(cases)
    yield from _intervals(cases)
    yield from _indices(cases)
    yield from _margins(cases)
    yield from _ties()
    yield from _beyond_a_tree()
    yield from _patch_counts(cases)
    yield from _removed(cases)


def _attack(original: Case, name: str, comment: str, reason: str, action: Action) -> Case:
    """An accepted case with its predicate changed."""
    return altered(original, name, comment, reason, lambda document: action(document["predicate"]))


def _repeated(cases: dict[str, Case]) -> Iterator[Case]:
    def repeat(predicate: Document) -> None:
        predicate["statements"].append(copy.deepcopy(predicate["statements"][0]))

    yield _attack(cases["projection-euclidean"], "statement-twice", "A statement twice.", "malformed", repeat)

    def repeat_wider(predicate: Document) -> None:
        repeat(predicate)
        predicate["statements"][-1]["interval"][0] = (0.0).hex()

    comment = "Two statements about one observable; one of them says less."
    yield _attack(cases["top_k-euclidean"], "statement-twice-but-wider", comment, "malformed", repeat_wider)

    def swap(predicate: Document) -> None:
        margins, predicted = predicate["margins"], predicate["predicted"]
        rival = (predicted + 1) % len(margins)
        margins[predicted], margins[rival] = margins[rival], None
        predicate["predicted"] = rival

    comment = "Another class under the same proof."
    for name in ("projection-euclidean", "top_k-cosine", "simplex-softmax"):
        yield _attack(cases[name], f"class-swapped-{name}", comment, "refuted", swap)


def _intervals(cases: dict[str, Case]) -> Iterator[Case]:
    def beside(up: bool) -> Action:
        def action(predicate: Document) -> None:
            (low, high) = ends = predicate["statements"][0]["interval"]
            if low != high:
                raise ValueError("the interval is not a point")
            ends[:] = [nextafter(float.fromhex(low), inf if up else -inf).hex()] * 2

        return action

    for name, observable in (("projection-euclidean", "a squared distance"), ("projection-inner_product", "a product")):
        for up in (False, True):
            side = "above" if up else "below"
            comment = f"An interval one binary64 {side} the truth, {observable} that is one itself."
            yield _attack(cases[name], f"one-ulp-{side}-{name}", comment, "instance", beside(up))

    def closed(end: int) -> Action:
        def action(predicate: Document) -> None:
            ends = predicate["statements"][0]["interval"]
            if nextafter(float.fromhex(ends[0]), inf) != float.fromhex(ends[1]):
                raise ValueError("the ends are not neighbours")
            ends[1 - end] = ends[end]

        return action

    for name in ("projection-cosine", "simplex-softmax", "top_k-euclidean", "hypersphere-rooted_cosine"):
        for end, side in ((0, "below"), (1, "above")):
            comment = f"The interval closed to the binary64 {side} the truth."
            yield _attack(cases[name], f"closed-{side}-{name}", comment, "instance", closed(end))


def _indices(cases: dict[str, Case]) -> Iterator[Case]:
    def no_such_patch(predicate: Document) -> None:
        predicate["statements"][0]["patch"] = predicate["patches"]

    comment = "A statement about a patch that is not there."
    yield _attack(cases["projection-euclidean"], "patch-outside", comment, "malformed", no_such_patch)

    def no_such_prototype(predicate: Document) -> None:
        predicate["statements"][0]["prototype"] = 4

    comment = "A statement about a prototype that the head does not have."
    yield _attack(cases["simplex-softmax"], "prototype-outside", comment, "malformed", no_such_prototype)


def _margins(cases: dict[str, Case]) -> Iterator[Case]:
    def first(margins: list[str | None]) -> int:
        return next(c for c, margin in enumerate(margins) if margin is not None)

    def set_margin(value: float, rival: int | None = None) -> Action:
        def action(predicate: Document) -> None:
            predicate["margins"][first(predicate["margins"]) if rival is None else rival] = value.hex()

        return action

    euclidean = cases["projection-euclidean"]
    yield _attack(euclidean, "margin-zero", "A margin of 0: a tie is no proof.", "malformed", set_margin(0.0))
    yield _attack(euclidean, "margin-negative", "A negative margin.", "malformed", set_margin(-0.125))

    raised = "A margin one binary64 greater than what is proved."
    broken = "A margin greater than what the statements entail: the latents beside it leave less."
    for name, original in cases.items():
        own = json.loads(original.certificate)["predicate"]
        if not own["statements"]:
            continue
        rival, least = _nearest(original) or (first(own["margins"]), None)
        next_one = nextafter(float.fromhex(own["margins"][rival]), inf)
        tight = "minimality" in own["claims"] or (least is not None and least <= nextafter(next_one, inf))
        if tight and name not in UNTIGHT:
            yield _attack(original, f"margin-raised-{name}", raised, "margin", set_margin(next_one, rival))
        if least is not None and (least > next_one or name in UNTIGHT):
            yield _attack(original, f"margin-broken-{name}", broken, "margin", set_margin(least, rival))


def _nearest(original: Case) -> tuple[int, float] | None:
    """The rival that the latents found bring nearest to its margin, and the least binary64 above what they leave; None
    where none are found that satisfy the statements."""
    image = found().get(original.name)
    with flint.ctx.workprec(PRECISION):
        claim = Claim.read(original.certificate, original.head, None)
        if image is None or not satisfied(claim, image):
            return None
        left = [gap for gap, _ in gaps(claim, image)]
        over = [float(gap - margin) for gap, margin in gaps(claim, image)]
        at = over.index(min(over))
        greatest = above(ends(left[at])[1])
    rivals = [c for c, margin in enumerate(claim.margins) if margin is not None]
    return rivals[at], nextafter(greatest, inf) if Fraction(greatest) == ends(left[at])[1] else greatest


def _ties() -> Iterator[Case]:
    tied = files.head([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]], **NEGATED, **BOX)
    image = [[1.0, 0.0]]
    stated = [files.patch_statement(0, 0, 0.0, 0.0)]
    comment = "Two classes with the same prototype: their logits are equal, which is no decision."
    yield case("tie", comment, files.document(tied, stated, image=image), tied, image, "refuted")
    yield case("tie-without-an-image", comment, files.document(tied, stated), tied, None, "entailment")
    # o_0 = -(1 + 0 + 0) / 3, o_1 = -(0 + 1 + 1) / 3 / 2
    thirds = files.head([[1.0, 0.0], [0.0, 0.5]], [[0.0], [1.0]], **NEGATED, **BOX, pooling=top_mean(3))
    image = [[1.0], [0.0], [0.0]]
    stated = [files.patch_statement(patch, 0, z[0], z[0]) for patch, z in enumerate(image)]
    comment = "Two logits of -1/3, which is no multiple of a power of 2: whoever sees that they are equal says REFUTED."
    document = files.document(thirds, stated, patches=3, image=image, margins=[None, 2.0**-4])
    yield case("tie-of-thirds", comment, document, thirds, image, "entailment")


def _beyond_a_tree() -> Iterator[Case]:
    tree = {"kind": "soft_tree", "absent": [-1], "present": [-2]}
    parts: Document = {"similarity": {"kind": "exp_distance", "epsilon": (0.0).hex()}, "readout": tree}
    for name, leaves, stated in (("below-0", [1.0, -0.5], (-2.0, -1.0)), ("beyond-1", [-0.5, 1.0], (2.0, 3.0))):
        head = files.head([leaves, [0.0, 0.0]], [[0.0]], **parts, **BOX)
        statements = [files.activation_statement(0, *stated)]
        document = files.document(head, statements, paradigm="top_k", margins=[None, 1.25])
        comment = (
            "A tree takes activations cut to [0, 1]: there the margin is 1, and more only where no activation lies."
        )
        yield case(f"activation-{name}", comment, document, head, None, "margin")


def _patch_counts(cases: dict[str, Case]) -> Iterator[Case]:
    def more_patches(predicate: Document) -> None:
        predicate["patches"] += 1

    comment = "More patches than the image has."
    yield _attack(cases["projection-euclidean"], "one-patch-more", comment, "instance", more_patches)

    def stated_patches(predicate: Document) -> int:
        return 1 + max(int(s.get("patch", 0)) for s in predicate["statements"])

    def fewer_patches(predicate: Document) -> None:
        predicate["patches"] = stated_patches(predicate)

    def leaves_a_patch_out(original: Case) -> bool:
        predicate = json.loads(original.certificate)["predicate"]
        return stated_patches(predicate) < int(predicate["patches"])

    comment = "Fewer patches than the image has: one that is not stated is left out."
    few = next(each for name, each in cases.items() if name.startswith("projection") and leaves_a_patch_out(each))
    yield _attack(few, "one-patch-fewer", comment, "instance", fewer_patches)


def _removed(cases: dict[str, Case]) -> Iterator[Case]:
    comment = "A statement removed of which the proof has need."
    for name in ("projection-euclidean", "top_k-softmax", "hypersphere-cosine", "simplex-softmax", "triangle-cosine"):
        yield _attack(cases[name], f"removed-{name}", comment, "entailment", lambda p: p["statements"].pop())
    with_clause = cases["top_k-euclidean-except"]

    def drop_clause(predicate: Document) -> None:
        predicate["statements"] = [s for s in predicate["statements"] if "except" not in s]

    comment = "The clause about all others removed, of which the proof has need."
    yield _attack(with_clause, "clause-removed", comment, "entailment", drop_clause)

    def lower_clause(predicate: Document) -> None:
        clause = next(s for s in predicate["statements"] if "except" in s)
        clause["upper"] = nextafter(nextafter(float.fromhex(clause["upper"]), -inf), -inf).hex()

    comment = "The clause about all others says less than one of them is."
    yield _attack(with_clause, "clause-too-low", comment, "instance", lower_clause)

    def widen(predicate: Document) -> None:
        for statement in predicate["statements"]:
            low, high = map(float.fromhex, statement["interval"])
            statement["interval"] = [(low - 2.0**-20).hex(), (high + 2.0**-20).hex()]

    comment = "Wide intervals made a little wider: the proof has need of them as they were."
    yield _attack(cases["projection-euclidean-wide"], "widened", comment, "margin", widen)

    def widen_far(predicate: Document) -> None:
        predicate["statements"][0]["interval"][0] = (0.0).hex()
        predicate["statements"][0]["interval"][1] = (16.0).hex()

    comment = "A wide interval made so wide that it says next to nothing."
    yield _attack(cases["projection-euclidean-wide"], "widened-far", comment, "entailment", widen_far)
