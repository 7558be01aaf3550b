"""Faults of the checker that somebody thought of, at least one a file: a wrong formula, a term that is missing, a
quantity in the place of another, a check left out. Small changes of the syntax are made by `generated`.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker_mutants.mutant import CHECKER
from support.syntax import edited

__all__ = ["FAULTS", "Fault", "planted"]


@dataclass(frozen=True)
class Fault:
    """Another source of a file of the checker; `wrong` says what is wrong then."""

    file: str
    wrong: str
    source: str

    def __str__(self) -> str:
        return f"{self.file}: {self.wrong}"


def planted(file: str) -> list[Fault]:
    """The faults of a file. Raises ValueError, SyntaxError where one cannot be planted (`edited`)."""
    source = (CHECKER / file).read_text(encoding="utf-8")
    return [Fault(file, wrong, edited(source, old, new)) for wrong, old, new in FAULTS[file]]


FAULTS: dict[str, list[tuple[str, str, str]]] = {
    # Numbers and kernels.
    "dyadic.py": [("the upper end of a root is its lower end", "root + (root * root != value)", "root")],
    "kernel/__init__.py": [
        ("what is never proved is begun under both names", "PROVED not in CHOICES.get(name, ())", "PROVED != name")
    ],
    "kernel/arb_kernel.py": [("small summands are left out", "return low, high + tiny", "return low, high")],
    "kernel/mpmath_kernel.py": [
        (
            "the remainder of atanh is left out",
            "mpi_add(mpi_mul(t, value, precision), _remainder(precision), precision)",
            "mpi_mul(t, value, precision)",
        ),
        ("the remainder of exp is left out", "mpi_add(value, _remainder(precision), precision)", "value"),
        (
            "a lower end is an integer of mpmath's backend",
            "-int(low) if low_sign else int(low)",
            "-low if low_sign else low",
        ),
    ],
    "similarities.py": [
        ("a mean is not divided", "scaled + parts * one", "scaled + one"),
        (
            "the epsilon under a root is left out",
            "(x << 2 * root_bits - x_bits) + (epsilon.numerator << 2 * root_bits - places)",
            "x << 2 * root_bits - x_bits",
        ),
    ],
    # From patches to margins.
    "plain/similarity.py": [
        ("similarities of distances rise", "near = lower if falls else _finite(upper)", "near = _finite(upper)")
    ],
    "plain/pooling.py": [
        (
            "patches that are alike count once",
            "replace(part, count=count, column=column)",
            "replace(part, column=column)",
        ),
        (
            "a prototype looks at all patches",
            "[_end(part, j) for column in seen for part in columns[column]]",
            "[_end(part, j) for column in columns for part in column]",
        ),
    ],
    "plain/means.py": [
        ("the nearest is no part of the mean", "farthest - (high or 0) + low", "farthest - (high or 0)")
    ],
    "plain/margin.py": [
        (
            "the bias is left out",
            "Fraction(total, unit) + Fraction(bias[winner] - bias[loser], 1 << head.bias.bits)",
            "Fraction(total, unit)",
        )
    ],
    "plain/minimality.py": [
        (
            "the worst rival is not asked",
            "all(provable(index, box, rival) for _, rival in rivals)",
            "all(provable(index, box, rival) for _, rival in rivals[1:])",
        )
    ],
    "plain/evaluation.py": [("upper ends are of all patches", "[highs[patch] for patch in seen]", "highs")],
    "plain/instance.py": [
        (
            "only the first statement is looked at",
            "enumerate(certificate.statements)",
            "enumerate(certificate.statements[:1])",
        ),
        (
            "the clause speaks of those that it exempts",
            "set(range(evaluation.count)) - set(statement.exempt)",
            "set(statement.exempt)",
        ),
    ],
    "plain/top_k.py": [
        (
            "the floor takes the place of what is known",
            "low if j in exempt else max(low, least)",
            "low if j in exempt else least",
        )
    ],
    "plain/lipschitz.py": [
        ("a distance of sums is the sum of distances", "new = y + link + 2 * sqrt_ends(y * link)[1]", "new = y + link")
    ],
    "plain/mixed.py": [
        (
            "patches without statements are forgotten",
            "self._patches.box(of_patches, patches)",
            "self._patches.box(of_patches, max(1, len({s.patch for s in of_patches})))",
        )
    ],
    "plain/least.py": [("a gain exceeds the need", "s + weight * min(gain, need)", "s + weight * gain")],
    # What is known of patches.
    "plain/domain.py": [
        ("a cube has the ball of an edge", "head.depth * half * half", "half * half"),
        ("the greatest mass is an equal share", "one + others * least", "one + others * one"),
    ],
    "plain/space.py": [
        (
            "a norm's upper end is its lower end",
            "[sqrt_ends(square << 2 * self.bits) for square in self.squares]",
            "[(sqrt_ends(square << 2 * self.bits)[0],) * 2 for square in self.squares]",
        )
    ],
    "plain/spatial.py": [
        ("other patches are forgotten", "pooling.box([*known, *unstated])", "pooling.box([*known[:1], *unstated])")
    ],
    "plain/simplex.py": [
        ("a stated mass is at most what is left", "min(one, high, low + rest)", "min(one, high, rest)")
    ],
    "plain/assignment.py": [
        (
            "patches without statements pay nothing",
            "[(1, patch) for patch in self.left.patches] + [(self.left.unstated, self._free)]",
            "[(1, patch) for patch in self.left.patches]",
        )
    ],
    "plain/matching.py": [
        ("a partner is lost", "partner[column] = partner[before[column]]", "partner[column] = entering")
    ],
    "plain/joint.py": [
        ("a scale is forgotten", "-difference * Fraction(own.rows[0][j], 1 << own.bits)", "Fraction(-difference)"),
        (
            "what a share leaves of a cosine is forgotten",
            "error += max(abs(difference - shares[j] * length) for length in lengths)",
            "",
        ),
    ],
    "plain/quadratic/facts.py": [
        (
            "a bound forgets the target's square",
            "(sides * curve - (square << self.lift)) // (curve << bits)",
            "sides * curve // (curve << bits)",
        ),
        ("the ends of a fact change places", "low if w > 0 else high", "high if w > 0 else low"),
        ("a product is not halved", "form // self.parts + target.constant", "form + target.constant"),
    ],
    "plain/quadratic/rule.py": [
        (
            "the domain is dropped",
            "Ranges(lower, upper).met(self.space.domain)",
            "Ranges(lower, upper)",
        ),
        ("a combination's shares are rounded", "int(share * unit)", "int(share) * unit"),
    ],
    "plain/quadratic/intervals.py": [
        (
            "squares add up as lengths do",
            "ceil_shift((isqrt(square << space.bits) + 1 + length) ** 2, -space.bits)",
            "square + ceil_shift(length**2, -space.bits)",
        )
    ],
    "plain/quadratic/dual.py": [
        (
            "the weights leave out how far the latent may be",
            "weights = [one - (kappa * other >> _BITS) for one, other in zip(tau, foot, strict=True)]",
            "weights = list(tau)",
        )
    ],
    "plain/quadratic/within.py": [
        (
            "a point has no length",
            "point.unit <= 0 or point.square * point.unit < dot(point.vector, point.vector) << facts.lift",
            "point.unit <= 0",
        ),
        ("a point may break what is stated", "point is not None and satisfies(facts, point)", "point is not None"),
    ],
    "plain/quadratic/points.py": [
        ("the adjugate is not divided", "(grown * entry + a * b) // scale", "grown * entry + a * b")
    ],
    # Binary32.
    "deployment.py": [("roundings add up", "lost / (1 - lost)", "lost")],
    "plain/losses.py": [("a sum loses what a term loses", "gamma(head.depth + 3 + rooted)", "gamma(3 + rooted)")],
    "plain/computed.py": [
        ("similarities under means are exact", "apart + self._logarithm(self._at(0, j)[1])", "apart")
    ],
    "plain/deployment.py": [
        ("a rival's logit is exact", "least - roundings[winner] - roundings[rival]", "least - roundings[winner]")
    ],
    # What is read.
    "json_reader.py": [("a truth value is an integer", "type(value) is not int", "not isinstance(value, int)")],
    "safetensors_reader.py": [
        (
            "a header may be longer than the file",
            "length > min(_LONGEST_HEADER, len(data) - 8)",
            "length > _LONGEST_HEADER",
        )
    ],
    "head_file.py": [
        (
            "the digest is of the description alone",
            "hashlib.sha256(data)",
            "hashlib.sha256(metadata[_METADATA_KEY].encode('utf-8'))",
        )
    ],
    "head.py": [("a domain may be empty", "self.depth * nearest**2", "nearest**2")],
    "latents.py": [
        (
            "the digest leaves out the shape",
            'f"verale.latents.v1 {self._patches} {self._depth}\\n".encode("ascii")',
            'b"verale.latents.v1\\n"',
        ),
        ("the first image is taken", "self._values(self._index_of[digest])", "self._values(0)"),
    ],
    "certificate.py": [
        ("clauses may repeat", "return type(statement)", "return id(statement)"),
        (
            "a missing end is 0",
            "None if end is None else _number(end, f'{where}.interval')",
            "Fraction(0) if end is None else _number(end, f'{where}.interval')",
        ),
    ],
    # The steps of an audit, and what a user sees of them.
    "steps.py": [
        (
            "every claim is proved",
            "'proved' if claim in self.proved else 'not checked' if claim in claimed else 'not claimed'",
            "'proved' if claim in claimed else 'not claimed'",
        )
    ],
    "plain/audit.py": [
        (
            "minimality is proved with entailment",
            "self.proved.add('entailment')",
            "self.proved |= {'entailment', 'minimality'}",
        ),
        (
            "the instance is proved before it is tried",
            "evaluation = self._satisfied(image)\nself.proved.add('instance')",
            "self.proved.add('instance')\nevaluation = self._satisfied(image)",
        ),
    ],
    "auditor.py": [
        (
            "the rules are asked only where the other refutes",
            "decided = proved.status in DECIDED or proved.reason in ('malformed', 'subject')",
            "decided = proved.status is not Status.REFUTED",
        ),
    ],
    "together.py": [
        (
            "the word of the rules is enough",
            "return _disagreement(common, f'{rules}: {_said(common)}; {PROVED}: {_said(proved)}')",
            "return common",
        ),
        ("of two that contradict each other one is believed", "return _disagreement(rules, said)", "return proved"),
        ("what was begun is proved", "'proved' if claim in by else state", "'proved' if by else state"),
        ("the rules vouch for what the other proved", "by = dict(rules.by) | dict(proved.by)", "by = dict(rules.by)"),
    ],
    "least.py": [
        (
            "one part of a cell is enough",
            "left += reversed(_split(cell, entry, where))",
            "left += _split(cell, entry, where)[:1]",
        )
    ],
    "limit.py": [("each byte allows what a megabyte does", "max(1, -(-size // _MEGABYTE))", "size")],
    "plain/cost.py": [
        ("one patch is counted", "sum(map(patch, groups.values()))", "max(map(patch, groups.values()), default=0)")
    ],
    "plain/work.py": [("bits do not count", "steps * (_BITS**2 + bits**2) // _BITS**2", "steps")],
    "verdict.py": [("a name may have two lines", "map(one_field, parts)", "parts")],
    "file_auditor.py": [
        (
            "an audited file is read again by its name",
            "data = _read(path, LARGEST) if data is None else data",
            "data = _read(path, LARGEST)",
        )
    ],
    "output.py": [
        (
            "a line may end in its middle",
            "print(printable(line), file=stream, flush=True)",
            "print(line, file=stream, flush=True)",
        )
    ],
    "__main__.py": [("the code is that of the last certificate", "most_severe(codes)", "codes[-1]")],
    # The proved checker.
    "proved/text.py": [
        (
            "signs are lost",
            "values = tuple(values)\nreturn ' '.join(['%x'] * len(values)) % values",
            "values = tuple(map(abs, values))\nreturn ' '.join(['%x'] * len(values)) % values",
        ),
        ("prices are nothing", "{'assignment': b'prices', 'joint': b'joint'}", "{'joint': b'joint'}"),
    ],
    "proved/claims.py": [
        (
            "an instance is what is refuted",
            "self._ask('instance', certificate, image_text(image))",
            "self._ask('refuted', certificate, image_text(image))",
        ),
        (
            "minimal is what is entailed",
            "self._ask('minimal', certificate, addition_text(certificate) + b'\\n')",
            "self._ask('entails', certificate, addition_text(certificate) + b'\\n')",
        ),
    ],
    "proved/audit.py": [
        (
            "an instance is proved unseen",
            "self._require_instance(image)\nself.proved.add('instance')",
            "self.proved.add('instance')",
        ),
        (
            "minimality is proved unseen",
            "self._require_minimal()\nself.proved.add('minimality')",
            "self.proved.add('minimality')",
        ),
        ("a statement may be unneeded", "self._claims.first_unneeded(self._certificate)", "None"),
    ],
    "proved/dialogue.py": [("an answer may go on", "_ANSWER.fullmatch(said)", "_ANSWER.match(said)")],
    "proved/executable.py": [
        ("the digest is of the path", "hashlib.sha256(Path(path).read_bytes())", "hashlib.sha256(path.encode())")
    ],
    "proved/script.py": [("an answer may go on", "_ANSWER.fullmatch(said)", "_ANSWER.match(said)")],
    "proved/program.py": [
        (
            "the script takes the place of a program that is named",
            "script is None or os.environ.get(VARIABLE)",
            "script is None",
        )
    ],
}
"""For each file of the checker: what is wrong, an expression or statements, and what takes their place."""
