"""Receptive fields: each is the least rectangle of the pixels that a patch is computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from support.network_truth import Drawn, drawn, pixels_seen
from support.networks import layer, network_file

from verale.checker.errors import UnprovedError
from verale.checker.read import network_file as files
from verale.checker.read.network_file import read_network
from verale.checker.receptive import ReceptiveFields, receptive_fields

SEEDS = range(24)
Box = tuple[tuple[int, int], tuple[int, int]]
"""First and last, the latter outside, of rows and of columns."""


def fields_of(network: Drawn) -> ReceptiveFields:
    return receptive_fields(read_network(network.file()))


def test_every_kind_is_drawn() -> None:
    networks = [drawn(seed, products=products) for seed in SEEDS for products in (False, True)]
    assert {each["kind"] for network in networks for each in network.layers} == set(files._KINDS)


def networks() -> Iterator[Drawn]:
    pool = layer("b", "max_pool2d", "picture", kernel=[3, 1], stride=[1, 1], padding=[1, 0])
    for kind in ("add", "concat", "multiply"):  # what is read first sees less
        yield Drawn([layer("a", "relu", "picture"), pool, layer("c", kind, "a", "b")], {}, (1, 5, 2), [0.0], [1.0])
    found = seed = 0
    while found < 40:
        seed += 1
        try:
            yield drawn(seed, products=seed % 2 == 0)
        except ValueError:
            continue
        found += 1


def frames(network: Drawn) -> dict[tuple[int, int], Box | None]:
    """By row and column of a patch the least rectangle of the pixels that it is computed from; None without any."""
    found: dict[tuple[int, int], Box | None] = {}
    for at, pixels in pixels_seen(network)[network.layers[-1]["name"]].items():
        rows, columns = zip(*pixels, strict=True) if pixels else ((), ())
        found[at] = ((min(rows), max(rows) + 1), (min(columns), max(columns) + 1)) if pixels else None
    return found


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


def test_fields_are_the_frames_of_the_pixels_that_entries_are_computed_from() -> None:
    """Each is the least rectangle that holds all pixels which the patch is computed from."""
    for network in networks():
        fields, boxes = fields_of(network), frames(network)
        assert (len(fields.rows), len(fields.columns)) == tuple(each + 1 for each in max(boxes))
        for (y, x), box in boxes.items():
            assert box in (None, (fields.rows[y], fields.columns[x]))
        assert fields.whole == all(box == ((0, fields.size[0]), (0, fields.size[1])) for box in boxes.values())
        rows, columns = fields.alone()
        assert all(rows[y] * columns[x] == share_alone(fields, y, x) for y, x in boxes)


def test_a_kind_without_a_rule_sees_all_that_it_reads() -> None:
    network = read_network(network_file([layer("a", "relu", "picture")], {}, (1, 4, 8)))
    other = replace(network, layers=(replace(network.layers[0], kind="another"),))
    assert receptive_fields(other) == ReceptiveFields(((0, 4),) * 4, ((0, 8),) * 8, (4, 8))


def test_windows_without_end_are_refused() -> None:
    large = layer("a", "max_pool2d", "picture", kernel=[4096, 1], stride=[1, 1], padding=[0, 0])
    with pytest.raises(UnprovedError, match="receptive fields of"):
        receptive_fields(read_network(network_file([large], {}, (1, 9000, 1))))
