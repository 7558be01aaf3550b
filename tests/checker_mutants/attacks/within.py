"""What minimality is shown with lies within what is proved; and nothing is shown of statements that contradict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any
from unittest.mock import patch

import flint
from checker_mutants.mutant import Import
from checker_mutants.trials import Trial, set_grid, trials
from support import files
from support.recipes import COUNT, PATCHES

__all__ = ["ranges_lie_within"]

_FINE = (128, 64, 256)
_NEAR = Fraction(1, 2**20)
_MASSES: files.Part = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}


def ranges_lie_within(module: Import, kernel: str) -> str:
    """On grids of a few bits, where roundings show, and on the usual one, from which they are then mostly not far."""
    own = module("options").load_arithmetic(kernel)
    near: Counter[bool] = Counter()
    try:
        wrong = _domains(module, own) or _by_hand(module, own)
    finally:
        set_grid(module, *_FINE)
    if wrong:
        return wrong
    for number, trial in enumerate(trials()[1::5]):
        grid = (_FINE, (6, 0, 8), (3, 0, 8))[number % 3]
        try:
            wrong = _compared(module, own, trial, grid, near)
            if not wrong and grid == _FINE:
                wrong = _contradicting(module, own, trial)
        finally:
            set_grid(module, *_FINE)
        if wrong:
            return f"{wrong}, grid {number % 3}"
    return "" if near[True] > 8 * near[False] else "ranges far within"


def _compared(module: Import, own: Any, trial: Trial, grid: tuple[int, int, int], near: Counter[bool]) -> str:
    outer = {}
    for name, rule, statements in _rules(module, own, trial):
        for index in range(len(statements)):
            outer[name, index] = rule.box([*statements[:index], *statements[index + 1 :]], PATCHES)
    set_grid(module, *grid)
    bound = module("reading.margin").lower_bound
    head = module("head").read_head(trial.data)
    for name, rule, statements in _rules(module, own, trial):
        for index, box in rule.boxes_without(statements, PATCHES):
            wide, gap = outer[name, index], Fraction(0)
            if box is None:
                near[False] += name == "quadratic" and grid == _FINE
                if name != "quadratic" and grid == _FINE:
                    return f"{name}: a range is empty"
                continue
            for low, high, least, most in zip(*_ends(box), *_ends(wide), strict=True):
                if low < least or high > most:
                    return f"{name}: an activation beyond its range"
                gap = max(gap, (low - least + most - high) / (1 + abs(least) + abs(most)))
            if name == "quadratic" and grid == _FINE:
                near[gap < _NEAR] += 1
            elif grid == _FINE and gap > _NEAR:
                return f"{name}: an activation far within its range"
            for c, d in product(range(head.classes), repeat=2):
                if bound(head, box, c, d) < bound(head, wide, c, d):
                    return f"{name}: a margin is too small"
    return ""


def _domains(module: Import, own: Any) -> str:
    """Distances, masses of bounded logits and bare cosines in an orthant, on coarse grids."""
    ranges, read = module("reading.space").domain_ranges, module("head").read_head
    box = read(files.head([[1.0], [0.0]], [[0.1]], domain=files.domain(0.3, 0.7)))
    near, far = (Fraction(end) - Fraction(0.1) for end in (0.3, 0.7))

    def ends(head: Any, bits: int) -> tuple[list[int], list[int]]:
        inward = ranges(head, own, bits, True)
        return inward.lower, inward.upper

    for bits in range(2, 24):
        (low,), (high,) = ends(box, bits)
        if int(low) < near**2 * 2**bits or int(high) > far**2 * 2**bits:
            return "distances"
        for gap, count in product((0.25, 1.0, 3.0), (2, 3, 5)):
            domain = files.domain(0.0, gap)
            masses = files.head([[1.0] * count] * 2, geometry=files.SOFTMAX, similarity=files.IDENTITY, domain=domain)
            least, others = flint.arb(-gap).exp(), count - 1
            (low, *_), (high, *_) = ends(read(masses), bits)
            if not (low >= least / (least + others) * 2**bits and high <= 2**bits / (1 + others * least)):
                return "masses of bounded logits"
        for row in ([-2.0, -3.0], [-1.0, -1.0], [2.0, 3.0]):
            bare = {"geometry": files.cosine(0.0), "similarity": files.IDENTITY, "domain": files.domain(0.0, None)}
            (low,), (high,) = ends(read(files.head([[1.0], [0.0]], [row], **bare)), bits)
            short, long = (
                entry / flint.arb(row[0] ** 2 + row[1] ** 2).sqrt() * 2**bits for entry in (min(row), max(row))
            )
            if (row[0] > 0 and not low >= short) or (row[0] < 0 and not high <= long):
                return "cosines in an orthant"
    return ""


def _by_hand(module: Import, own: Any) -> str:
    """What the trials do not show."""
    certificate, read = module("certificate"), module("head").read_head
    bounded = {"similarity": {"kind": "negated"}, "domain": files.domain(-2.0, 2.0)}
    space = module("reading.space").Space(read(files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]], **bounded)), own)
    outside = certificate.PatchStatement(0, 0, Fraction(5), Fraction(6))  # in space, but not in the domain
    if module("reading.quadratic").QuadraticRule(space).within([outside]) is not None:
        return "a distance outside the domain"
    free = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]], domain=files.domain(None, None))
    space = module("reading.space").Space(read(free), own)
    away = (
        module("reading.quadratic").QuadraticRule(space).within([certificate.PatchStatement(0, 0, Fraction(1), None)])
    )
    if away is None or away.upper is not None:
        return "a distance that has no upper end"
    space = module("reading.space").Space(read(files.head([[1.0, 0.0], [0.0, 1.0]], **_MASSES)), own)
    within = module("reading.masses").Simplex(space).within
    for stated in ([(0.75, 1.0), (0.5, 1.0)], [(0.0, 0.25), (0.0, 0.25)], [(-1.0, -0.5)], [(0.5, 0.25)]):
        if (
            within([certificate.PatchStatement(0, j, *map(Fraction, each)) for j, each in enumerate(stated)])
            is not None
        ):
            return "masses that there are not"
    peaks = module("read.similarities").SIMILARITIES["quadratic"].chain("euclidean", {})
    numbers = (module("dyadic").exact([number], 1) for number in (1.0, 0.3))
    similarity, exact = module("chain").Similarity("quadratic", peaks, {}, *numbers), Fraction(0.3)
    for low, high in ((0, 1), (4, 9), (-7, -2)):
        least, most = similarity.argument(0, low, high, 3, True)
        near, far = max(0, low - 8 * exact, 8 * exact - high), max(high - 8 * exact, 8 * exact - low)
        if least < near or most > far:
            return "a peak"
    return (
        _trees(module, own)
        or _prices(module, space)
        or _points(module, own)
        or _many(module, own)
        or _norms(module, own)
    )


def _trees(module: Import, own: Any) -> str:
    """A soft tree is rounded up from ranges that are rounded inward."""
    bound, box = module("reading.margin").lower_bound, module("reading.pooling").Box
    greater = 0
    for trial in trials():
        head = module("head").read_head(trial.data)
        if head.readout == "soft_tree":
            ends = [5 + j % 3 for j in range(head.count)]
            least, most = (bound(head, box(ends, ends, 3, inward), 0, 1) for inward in (False, True))
            greater += most > least
            if most < least:
                return "a tree"
    return "" if greater else "trees"


def _prices(module: Import, space: Any) -> str:
    """The first statement is not needed, by 2^-139: without it the rival's masses are at most 1 - 2^-139 together."""
    certificate = module("certificate")
    stated = [(2, Fraction(0), Fraction(1, 2)), (0, Fraction(1, 2**139), Fraction(1))]
    statements = tuple(certificate.PatchStatement(0, *each) for each in stated)
    head = module("head").read_head(files.head([[0.0] * 3, [0.0, 1.0, 1.0]], None, [1.0, 0.0], **_MASSES))
    space = module("reading.space").Space(head, space.arithmetic)
    margins = None, Fraction(1, 4)
    document = certificate.Certificate("0" * 64, None, 0, "assignment", 1, statements, margins, ("entailment",), {})
    spatial = module("reading.paradigms").Activations(space, module("reading.masses").Simplex(space))
    box = dict(spatial.boxes_without(statements, 1))[0]
    return "" if module("reading.masses").Assignment(space, document).provable(0, box, 1) else "prices"


def _points(module: Import, own: Any) -> str:
    """What is no point of the space, or does not satisfy what is stated between prototypes at 0 and 2."""
    within, facts, point = (module(f"reading.{name}") for name in ("points", "facts", "points"))
    line = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]], domain=files.domain(-4.0, 4.0))
    space, statement = module("reading.space").Space(module("head").read_head(line), own), module("certificate")
    known = facts.Facts(space, [statement.PatchStatement(0, j, Fraction(0), Fraction(4)) for j in (0, 1)], True)
    one = 1 << space.bits
    right = [(1, one, 1), (2, 6 * one, 2), (1, 4 * one, 2)]
    wrong = [(1, one - 1, 1), (1, 5 * one, 1), (1, one, -1), (-1, one, 1), (1, one, 0)]
    for unit, square, y in (*right, *wrong):
        if within.satisfies(known, point.Point(unit, square, [y])) != ((unit, square, y) in right):
            return "a point"
    ends = {0: 9 * one}  # of a fact that is at most 4
    with patch.object(module("reading.weights").Weights, "held", lambda weights, target: ends):
        if (
            module("reading.quadratic")
            .QuadraticRule(space)
            .within([statement.PatchStatement(0, j, Fraction(0), Fraction(4)) for j in (0, 1)])
        ):
            return "a point that breaks what is stated"
    return ""


def _many(module: Import, own: Any) -> str:
    """Eight statements about a patch: the last counts too."""
    rows = [[float(i == j) for j in range(8)] for i in range(8)]
    data = files.head([[1.0] * 8, [0.0] * 8], rows, domain=files.domain(-4.0, 4.0))
    space = module("reading.space").Space(module("head").read_head(data), own)
    stated = [module("certificate").PatchStatement(0, j, Fraction(1, 4), Fraction(1, 2)) for j in range(8)]
    upper = module("reading.quadratic").QuadraticRule(space).ranges(stated).upper
    return "" if upper[7] <= 1 << space.bits - 1 else "a statement is left out"


def _norms(module: Import, own: Any) -> str:
    """Cosines with a prototype of length 2^(1/2), on coarse grids."""
    within, certificate = module("reading.points"), module("certificate")
    head = files.head([[1.0], [0.0]], [[1.0, 1.0]], geometry=files.cosine(0.0), similarity=files.IDENTITY)
    root = flint.arb(2).sqrt()
    for bits in range(2, 12):
        set_grid(module, bits, 0, 8)
        space = module("reading.space").Space(module("head").read_head(head), own)
        for low, high in ((0.3, 0.9), (-0.9, -0.3), (-0.7, 0.7)):
            stated = [certificate.PatchStatement(0, 0, Fraction(low), Fraction(high))]
            ((least, most),) = module("reading.facts").intervals(space, stated, True)
            if not (least >= low * root * 2**bits and most <= high * root * 2**bits):
                return "a stated cosine"
        for low, high in ((3, 9), (-9, -3), (-7, 7)):
            least, most = within.observed(space, 0, Fraction(low), Fraction(high))
            if not (least >= low / root and most <= high / root):
                return "a cosine"
    return ""


def _contradicting(module: Import, own: Any, trial: Trial) -> str:
    """With a statement that no latents satisfy, none of the others is shown to be needed."""
    certificate = module("certificate")
    for name, rule, statements in _rules(module, own, trial):
        for stated in statements:
            if isinstance(stated, certificate.OrderStatement | certificate.FloorStatement):
                continue
            far = -(2**40) if name == "quadratic" else 2**40
            apart = [type(stated)(*_place(stated), *[(stated.lower or stated.upper) + far] * 2)]
            others = [each for each in statements if each is not stated]
            boxes = dict(rule.boxes_without([*apart, *others], PATCHES))
            if any(box is not None for index, box in boxes.items() if index):
                return f"{name}: shown with an empty range"
    return ""


def _place(statement: Any) -> Sequence[int]:
    return (statement.patch, statement.prototype) if hasattr(statement, "patch") else (statement.prototype,)


def _rules(module: Import, own: Any, trial: Trial) -> Iterator[tuple[str, Any, list[Any]]]:
    """The rules for the trial's head on the present grid, each with statements."""
    certificate = module("certificate")
    space = module("reading.space").Space(module("head").read_head(trial.data), own)
    name = "simplex" if space.head.geometry == "softmax" else "quadratic"
    patch_rule = getattr(
        module({"simplex": "reading.masses"}.get(name, f"reading.{name}")),
        {"simplex": "Simplex", "quadratic": "QuadraticRule"}[name],
    )(space)
    stated = [certificate.PatchStatement(*statement) for statement in trial.statements]
    yield name, module("reading.paradigms").Activations(space, patch_rule), stated
    pooled: list[Any] = [certificate.ActivationStatement(*statement) for statement in trial.pooled]
    for step in (1, 2):  # with clauses about all activations, or about every other one
        bounded, exempt = trial.activations[step - 1 :: step], tuple(range(0, COUNT, 2)) if step == 2 else ()
        clauses = [
            certificate.OrderStatement(exempt, max(high for _, high in bounded)),
            certificate.FloorStatement(exempt, min(low for low, _ in bounded)),
        ]
        yield f"top_k, {step}", module("reading.paradigms").Activations(space, patch_rule), [*pooled, *clauses]


def _ends(box: Any) -> tuple[list[Fraction], list[Fraction]]:
    lower, upper = ([Fraction(int(end), 1 << box.bits) for end in side] for side in (box.lower, box.upper))
    return lower, upper
