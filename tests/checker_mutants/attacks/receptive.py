"""Attacks on receptive fields: random networks of which each entry's pixels are counted by the formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from checker_mutants.mutant import Import
from support.network_truth import Drawn, drawn, pixels_seen
from support.networks import layer, network_file

__all__ = ["fields_are_frames", "frames", "share_alone"]

Box = tuple[tuple[int, int], tuple[int, int]]
"""First and last, the latter outside, of rows and of columns."""
_NETWORKS = 40


def fields_are_frames(module: Import, kernel: str) -> str:
    """Each field is the least rectangle that holds all pixels which the patch is computed from."""
    fields_of, read = module("receptive").receptive_fields, module("read.network_file").read_network
    for number, (data, boxes) in enumerate(_networks()):
        fields = fields_of(read(data))
        if (len(fields.rows), len(fields.columns)) != tuple(each + 1 for each in max(boxes)):
            return f"{number}: rows and columns"
        for (y, x), box in boxes.items():
            if box is not None and (fields.rows[y], fields.columns[x]) != box:
                return f"{number}: patch {y}, {x}"
        if fields.whole != all(box == ((0, fields.size[0]), (0, fields.size[1])) for box in boxes.values()):
            return f"{number}: whole"
        rows, columns = fields.alone()
        for y, x in boxes:
            if rows[y] * columns[x] != share_alone(fields, y, x):
                return f"{number}: seen alone by {y}, {x}"
    large = network_file(
        [layer("a", "max_pool2d", "picture", kernel=[4096, 1], stride=[1, 1], padding=[0, 0])], {}, (1, 9000, 1)
    )
    try:
        fields_of(read(large))
    except module("errors").UnprovedError as error:
        return "" if error.reason == "limit" else "a limit that is none"
    return "no limit"


@cache
def _networks() -> list[tuple[bytes, dict[tuple[int, int], Box | None]]]:
    return [(network.file(), frames(network)) for network in _drawn()]


def _drawn() -> Iterator[Drawn]:
    pool = layer("b", "max_pool2d", "picture", kernel=[3, 1], stride=[1, 1], padding=[1, 0])
    for kind in ("add", "concat", "multiply"):  # what is read first sees less
        yield Drawn([layer("a", "relu", "picture"), pool, layer("c", kind, "a", "b")], {}, (1, 5, 2), [0.0], [1.0])
    found = seed = 0
    while found < _NETWORKS:
        seed += 1
        try:
            yield drawn(seed, products=seed % 2 == 0)
        except ValueError:
            continue
        found += 1


def frames(network: Drawn) -> dict[tuple[int, int], Box | None]:
    """By row and column of a patch the least rectangle of the pixels that it is computed from; None without any."""
    seen = pixels_seen(network)[network.layers[-1]["name"]]
    return {at: _frame(pixels) if pixels else None for at, pixels in seen.items()}


def _frame(pixels: frozenset[tuple[int, int]]) -> Box:
    rows, columns = zip(*pixels, strict=True)
    return (min(rows), max(rows) + 1), (min(columns), max(columns) + 1)


def share_alone(fields: Any, y: int, x: int) -> Fraction:
    """The share of a patch's cell in pixels that lie in its frame and in no other one, pixel by pixel."""
    (height, width), rows, columns = fields.size, len(fields.rows), len(fields.columns)
    frames = Counter(
        pixel for row, column in product(fields.rows, fields.columns) for pixel in product(range(*row), range(*column))
    )
    own = product(range(*fields.rows[y]), range(*fields.columns[x]))
    area = sum(
        (_common(r, y, height, rows) * _common(c, x, width, columns) for r, c in own if frames[r, c] == 1),
        Fraction(0),
    )
    return area / (Fraction(height, rows) * Fraction(width, columns))


def _common(pixel: int, cell: int, length: int, count: int) -> Fraction:
    side = Fraction(length, count)
    return max(Fraction(0), min(Fraction(pixel + 1), (cell + 1) * side) - max(Fraction(pixel), cell * side))
