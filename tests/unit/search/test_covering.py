"""The covering of what rivals lack: against every set of statements."""

from __future__ import annotations

import ctypes
from itertools import combinations

import pytest
import torch
from support.problems import small_problem

from verale.bounds import activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.rounding import Enclosure
from verale.search.covering import Covering, without_printing


def fewest(margins, box, table) -> int:
    """The least number of statements that leave no rival open."""
    for size in range(len(table.lower) + 1):
        for chosen in combinations(range(len(table.lower)), size):
            rows = table[list(chosen)]
            left = box
            if chosen:
                left = box.intersect(Enclosure.unchecked(rows.lower.amax(0), rows.upper.amin(0)))
            if bool((margins.lower(left[None, None]) > 0).all()):
                return size
    raise AssertionError("the class stays open")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("geometry", ["euclidean", "scaled", "cosine"])
def test_the_fewest_are_found(geometry, seed):
    problem = small_problem(geometry, seed).take([0])
    observed = problem.stated_activations()[0]
    table = Lipschitz(problem.head).ranges(observed)
    box = activation_range(problem.head, problem.patches)
    covering = Covering.of(problem.margins, box, table)
    relaxed = covering.relaxed()
    assert relaxed is not None
    value, x = relaxed
    least = fewest(problem.margins, box, table)
    assert covering.solved(x).sum() == least
    assert least - 1.5 < value < least + 1e-6
    assert ((x >= -1e-9) & (x <= 1 + 1e-9)).all() and float(x.sum()) == pytest.approx(value)


def test_nothing_has_to_be_covered_where_no_rival_is_open():
    problem = small_problem("euclidean").take([0])
    table = Lipschitz(problem.head).ranges(problem.activations[0])
    covering = Covering.of(problem.margins, problem.activations[0], table)
    value, x = covering.relaxed() or (1.0, torch.ones(1))
    assert value == 0 and not x.any() and covering.solved(x) is x


def test_what_cannot_be_covered():
    problem = small_problem("euclidean").take([0])
    box = activation_range(problem.head, problem.patches)
    table = Enclosure.unchecked(*(end.expand(len(box.lower), -1) for end in (box.lower, box.upper)))
    covering = Covering.of(problem.margins, box, table)
    assert covering.relaxed() is None
    x = torch.ones(len(box.lower))
    assert covering.solved(x) is x


def test_what_a_library_prints_is_not_among_what_we_print(capfd):
    library = ctypes.CDLL(None)
    library.puts(b"before")
    with without_printing():
        library.puts(b"a line of HiGHS")
    library.puts(b"after")
    library.fflush(None)
    assert capfd.readouterr().out == "before\nafter\n"
