"""Attacks on the proof that no explanation is smaller: all explanations are tried, in rational arithmetic."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, count, product
from typing import Any
from unittest.mock import patch

import flint
from checker_mutants.mutant import Import
from support import files

__all__ = ["least_sizes"]

_COUNT = 3
_END = Fraction(2)
"""The domain's upper end; the lower one is minus this."""
_BESIDE = 2.0**-40
_Ends = tuple[Fraction | None, Fraction | None]
_EVERY: tuple[_Ends, _Ends] = (None, None), (None, None)


def least_sizes(module: Import, kernel: str) -> str:
    """What is excluded no explanation has; the true minimum is proved, and nothing above it."""
    return _cells(module) or _minima(module, kernel) or _narrow(module, kernel) or _documents(module, kernel)


def _smallest(
    margins: Sequence[tuple[Fraction, Sequence[Fraction]]],
    image: Sequence[Fraction],
    domain: Sequence[tuple[Fraction, Fraction]],
    cell: tuple[_Ends, _Ends] = _EVERY,
    clauses: bool = True,
) -> int:
    """The size of the smallest explanation in a cell, or how many activations it states; more than all if none is.

    Args:
        margins: for each rival the lead of the predicted class without activations, and by each of them.
        image: the activations.
        domain: their ranges.
        cell: in which the ends of the ceiling and of the floor lie; None is infinite.
        clauses: whether these count.
    """
    best = len(image) + 3
    for ceiling, floor in product(_clauses(image, *cell[0], False), _clauses(image, *cell[1], True)):
        cost = clauses * ((ceiling is not None) + (floor is not None))
        free = [
            (
                low if floor is None or a < floor else max(low, floor),
                high if ceiling is None or a > ceiling else min(high, ceiling),
            )
            for a, (low, high) in zip(image, domain, strict=True)
        ]
        for size in range(min(len(image), best - cost - 1) + 1):
            if any(_entailed(margins, image, free, stated) for stated in combinations(range(len(image)), size)):
                best = cost + size
                break
    return best


def _clauses(
    image: Sequence[Fraction], least: Fraction | None, most: Fraction | None, below: bool
) -> Iterator[Fraction | None]:
    """The ends that are worth trying: those next to an activation or to the cell's end, and none at all."""
    if (least if below else most) is None:
        yield None
    for end in {*image, least, most} - {None}:
        if end is not None and (least is None or end >= least) and (most is None or end <= most):
            yield end


def _entailed(
    margins: Sequence[tuple[Fraction, Sequence[Fraction]]],
    image: Sequence[Fraction],
    free: Sequence[tuple[Fraction, Fraction]],
    stated: Sequence[int],
) -> bool:
    ranges = [(a, a) if j in stated else ends for j, (a, ends) in enumerate(zip(image, free, strict=True))]
    return all(
        lead + sum(min(d * low, d * high) for d, (low, high) in zip(gains, ranges, strict=True)) > 0
        for lead, gains in margins
    )


def _cells(module: Import) -> str:
    """Random cells, ranges and weights on a coarse grid: the rule excludes what its formulas exclude in rational
    numbers that are rounded as it says; and no explanation that it excludes is there."""
    rule, box = module("least"), module("reading.pooling").Box
    generator, bits, excluded = random.Random(3), 2, 0
    for trial in range(400):
        margins, data = _head(generator, 3, 4, 64 if trial % 4 else 16)
        head = module("head").read_head(data)
        spread = [sorted(generator.choices(range(-8, 9), k=4)) for _ in range(_COUNT)]
        for each in spread if trial % 3 == 0 else ():  # rounded inward, the domain may leave out the activation
            each[1:] = [each[0]] * 3 if generator.random() < 0.5 else each[1:]
            each[0], each[3] = each[0] + (each[0] == each[1]), each[3] - (each[3] == each[2])
        scale = 1 if trial % 8 < 5 else 4  # a cell's ends lie on the grid, or between
        ends = [
            None if generator.random() < 0.4 else Fraction(generator.randint(-8 * scale, 8 * scale), 4 * scale)
            for _ in range(4)
        ]
        cell = _ordered(ends[0], ends[1]), _ordered(ends[2], ends[3])
        weights = {c: generator.randrange(4) for c in (1, 2) if generator.random() < 0.8}
        domain = box([each[0] for each in spread], [each[3] for each in spread], bits, True)
        image = box([each[1] for each in spread], [each[2] for each in spread], bits)
        checked = rule.Cell(*cell[0], *cell[1])
        if checked.cost != (cell[0][1] is not None) + (cell[1][0] is not None):
            return "cost of a cell"
        said = [rule.excludes(head, 0, domain, image, checked, weights, t) for t in range(_COUNT + 1)]
        unit = 2 ** (bits + head.weight.bits)
        rounded = [(Fraction(math.ceil(lead * unit), unit), gains) for lead, gains in margins]
        (u1, u2), (v1, v2) = cell
        outer = (_rounded(u1, math.floor), _rounded(u2, math.ceil)), (_rounded(v1, math.floor), _rounded(v2, math.ceil))
        if said != _excluded(rounded, [[Fraction(end, 4) for end in each] for each in spread], outer, weights):
            return "a cell is excluded otherwise than by the rule"
        if said[0]:
            excluded += 1
            at = [Fraction(generator.choice(each[1:3]), 4) for each in spread]
            real = [
                (min(a, Fraction(each[0], 4)), max(a, Fraction(each[3], 4))) for a, each in zip(at, spread, strict=True)
            ]
            smallest = _smallest(margins, at, real, cell, clauses=False)
            if smallest <= _COUNT and said[smallest]:
                return "an explanation that is there is excluded"
    return "" if excluded > 50 else "nothing is excluded"


def _ordered(one: Fraction | None, other: Fraction | None) -> _Ends:
    return (one, other) if one is None or other is None or one <= other else (other, one)


def _rounded(end: Fraction | None, way: Callable[[Fraction], int]) -> Fraction | None:
    return None if end is None else Fraction(way(4 * end), 4)


def _excluded(
    margins: Sequence[tuple[Fraction, Sequence[Fraction]]],
    spread: Sequence[Sequence[Fraction]],
    cell: tuple[_Ends, _Ends],
    weights: Mapping[int, int],
) -> list[bool]:
    """The rule in rational arithmetic, for each number of statements."""
    (u1, u2), (v1, v2) = cell
    ranges = []
    for least, low, high, most in spread:
        upper = most if u2 is not None and low > u2 else min(most, low if u1 is None else max(u1, low))
        lower = least if v1 is not None and high < v1 else max(least, high if v2 is None else min(v2, high))
        ranges.append((lower, upper))
    sums, total = [Fraction(0)] * len(spread), Fraction(0)
    for rival, weight in weights.items():
        lead, gains = margins[rival - 1]
        worst = [d * (low if d > 0 else high) for d, (low, high) in zip(gains, ranges, strict=True)]
        need = -lead - sum(worst)
        if need > 0:
            total += weight * need
            for j, (d, (_, low, high, _)) in enumerate(zip(gains, spread, strict=True)):
                sums[j] += weight * min(need, max(Fraction(0), d * (high if d > 0 else low) - worst[j]))
    return [sum(sorted(sums)[len(sums) - t :]) < total for t in range(len(sums) + 1)]


def _head(
    generator: random.Random, classes: int, unit: int, step: int
) -> tuple[list[tuple[Fraction, list[Fraction]]], bytes]:
    """A head whose activations are the coordinates of one patch, and the margins of class 0."""
    weight = [[generator.randint(-2 * unit, 2 * unit) / unit for _ in range(_COUNT)] for _ in range(classes)]
    bias = [generator.randint(-4 * step, 4 * step) / step for _ in range(classes)]
    bias[0] += 2.0
    data = files.head(
        weight,
        [[float(i == j) for i in range(_COUNT)] for j in range(_COUNT)],
        bias,
        geometry={"kind": "inner_product", "radius": None},
        similarity=files.IDENTITY,
        domain=files.domain(-float(_END), float(_END)),
    )
    margins = [
        (
            Fraction(bias[0]) - Fraction(bias[c]),
            [Fraction(a) - Fraction(b) for a, b in zip(weight[0], weight[c], strict=True)],
        )
        for c in range(1, classes)
    ]
    return margins, data


def _document(data: bytes, image: files.Matrix, least: int, cells: Any, **changes: Any) -> bytes:
    claim = {
        "_type": "urn:verale:least:v1",
        "head": hashlib.sha256(data).hexdigest(),
        "latents": files.digest(image),
        "predicted": 0,
        "least": least,
        "cells": cells,
    }
    return json.dumps(claim | changes).encode()


def _tree(image: Sequence[float], weights: list[list[int]]) -> list[dict[str, Any]]:
    """All ceilings and floors, divided beside every activation and at the ends of the domain."""
    ceilings = [*sorted(a - _BESIDE for a in image), float(_END)]
    floors = [*sorted((a + _BESIDE for a in image), reverse=True), -float(_END)]
    of_floors = [{"split": "floor", "at": at.hex()} for at in floors] + [{"weights": weights}] * (len(floors) + 1)
    cells = [each for at in ceilings for each in ({"split": "ceiling", "at": at.hex()}, *of_floors)]
    return [*cells, *of_floors]


def _minima(module: Import, kernel: str) -> str:
    """Against one rival the true minimum is proved; against one or two nothing above it is, whatever the weights."""
    least, unproved = module("least"), module("errors").UnprovedError
    generator, found = random.Random(11), set()
    domain = [(-_END, _END)] * _COUNT
    for trial in range(120):
        classes = 2 + trial % 2
        margins, head = _head(generator, classes, 2**10, 2**12)
        image = [generator.uniform(-2, 2) for _ in range(_COUNT)]
        exact = list(map(Fraction, image))
        smallest = _smallest(margins, exact, domain)
        if smallest > _COUNT:  # class 0 does not win
            continue
        latents = files.latents([[[0.0] * _COUNT], [image]])
        for weights in ([[1, 1]],) if classes == 2 else ([[1, 1], [2, 1]], [[1, 1]], [[2, 3], [1, 1]]):
            cells = _tree(image, weights)
            if (
                classes == 2
                and least.proved_least(_document(head, [image], smallest, cells), head, latents, kernel) != smallest
            ):
                return "another number"
            try:
                least.proved_least(_document(head, [image], smallest + 1, cells), head, latents, kernel)
            except unproved:
                continue
            return f"more than the minimum, {smallest}"
        found.add((classes, smallest))
    return "" if len(found) > 4 else "minima"


def _narrow(module: Import, kernel: str) -> str:
    """The statements are none, and the reference margin is positive by less than the grid's unit."""
    greatest, left = 10 * flint.arb(2).log(), flint.arb(1)  # of the similarity, at a prototype
    weights = []
    for _ in range(3):
        weights.append(float((left / greatest).mid()))
        left -= flint.arb(weights[-1]) * greatest
    if left < 0:
        weights[-1] = float((left / greatest).mid()) + weights[-1]
        left = flint.arb(1) - sum((flint.arb(each) for each in weights), flint.arb(0)) * greatest
    while not left > 0:
        weights[-1] -= 2.0**-150
        left += flint.arb(2) ** -150 * greatest
    if not left < flint.arb(2) ** -135:
        return "a margin"
    head = files.head([[0.0] * 3, weights], [[0.5]] * 3, [1.0, 0.0])
    image = [[0.5]]
    cells = [{"split": "ceiling", "at": (16.0).hex()}, {"weights": []}, {"weights": [[1, 1]]}]
    try:
        module("least").proved_least(_document(head, image, 1, cells), head, files.latents([image]), kernel)
    except module("errors").UnprovedError:
        return ""
    return "no statement is enough"


def _documents(module: Import, kernel: str) -> str:
    """What is malformed, or about something else, is refused for that reason."""
    proved, errors = module("least").proved_least, module("errors")
    # Class 0 leads by 1/2, and every other gains by three activations, which are 0.
    weight = [[0.0] * 3, [1.0] * 3, [1.0] * 3]
    form: Any = {"similarity": files.IDENTITY, "domain": files.domain(0.0, 1.0)}
    corners = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    inner = {"kind": "inner_product", "radius": None}
    head = files.head(weight, corners, [0.5, 0.0, 0.0], geometry=inner, **form)
    image, outside = [[0.0] * 3], [[0.0, 0.0, -0.25]]
    latents = files.latents([[[1.0] * 3], image, outside])
    leaf: Any = {"weights": [[1, 1]]}
    idle: Any = {"weights": []}
    beyond: Any = {"split": "ceiling", "at": (2.0).hex()}
    floor: Any = {"split": "floor", "at": (1.0).hex()}
    lowest: Any = {"split": "floor", "at": (0.0).hex()}
    at: list[Any] = [{"split": "ceiling", "at": (1.0).hex()}, idle, leaf]

    def answer(cells: Any, least: int = 1, given: bytes = latents, of: bytes = head, **changes: Any) -> Any:
        limit = {"limit": changes.pop("limit")} if "limit" in changes else {}
        try:
            return proved(_document(of, image, least, cells, **changes), of, given, kernel, **limit)
        except errors.UnprovedError as error:
            return error.reason
        except errors.FormatError:
            return "malformed"

    def at_every_look(cells: Any) -> Any:
        """What is answered within 1000 seconds where one passes from each look at the clock to the next."""
        seconds = count()
        with patch.multiple(module("limit"), thread_time=lambda: float(next(seconds)), _BETWEEN=0):
            return answer(cells, limit=1000.0)

    maximum = files.head(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], corners, geometry=inner, readout={"kind": "maximum"}, **form
    )
    cases: list[tuple[str, Any, Any]] = [
        ("a proof", answer(at), 1),
        ("no claim", answer([idle], 0), 0),
        ("a bound that costs pay", answer([{"split": "ceiling", "at": 1.0.hex()}, leaf, leaf], 2), "entailment"),
        ("another type", answer(at, _type="urn:verale:least:v2"), "malformed"),
        ("another head", answer(at, head="0" * 64), "subject"),
        ("another image", answer(at, latents="0" * 64), "subject"),
        ("an image outside the domain", answer(at, latents=files.digest(outside)), "instance"),
        ("a readout", answer(at, of=maximum), "uncovered"),
        ("no such class", answer(at, predicted=3), "malformed"),
        ("a negative bound", answer(at, -1), "malformed"),
        ("work", answer(at, limit=1e-9), "limit"),
        ("work of leaves", at_every_look([*at[:2], *[beyond, leaf] * 2000, leaf]), "limit"),
        ("a leaf too few", answer(at[:2]), "malformed"),
        ("a leaf too many", answer([*at, idle]), "malformed"),
        ("an unknown clause", answer([{"split": "wall", "at": 1.0.hex()}, idle, leaf]), "malformed"),
        ("an infinite end", answer([{"split": "ceiling", "at": "inf"}, idle, leaf]), "malformed"),
        ("a split with weights", answer([at[0] | idle, idle, leaf]), "malformed"),
        ("a negative weight", answer([*at[:2], {"weights": [[1, -1]]}]), "malformed"),
        ("the predicted class as rival", answer([*at[:2], {"weights": [[1, 1], [0, 1]]}]), "malformed"),
        ("a rival twice", answer([*at[:2], {"weights": [[1, 1], [1, 1]]}]), "malformed"),
        ("no such rival", answer([*at[:2], {"weights": [[1, 1], [3, 1]]}]), "malformed"),
        ("three numbers", answer([*at[:2], {"weights": [[1, 1, 1]]}]), "malformed"),
        # The part with the floor has one more, and the part without a ceiling comes second.
        ("the parts of a ceiling", answer([at[0], leaf, idle]), "entailment"),
        ("the parts of a floor", answer([*at[:2], lowest, leaf, idle]), 1),
        ("the parts of a floor, exchanged", answer([*at[:2], lowest, idle, leaf]), "entailment"),
        ("a narrower ceiling", answer([at[0], beyond, idle, idle, leaf]), 1),
        ("a wider ceiling", answer([*at[:2], {"split": "ceiling", "at": 0.0.hex()}, idle, leaf]), 1),
        ("a narrower floor", answer([*at[:2], floor, lowest, leaf, idle, idle]), 1),
    ]  # fmt: skip
    for what, said, expected in cases:
        if said != expected:
            return what
    for kernel_name in ("proved", "all"):
        try:
            proved(_document(head, image, 1, at), head, latents, kernel_name)
        except errors.UnprovedError as error:
            if error.reason == "uncovered":
                continue
        return f"kernel {kernel_name}"
    return ""
