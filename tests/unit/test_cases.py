"""Many cases in one test: each is tried, and the one that fails is named."""

from __future__ import annotations

import inspect

import pytest
from support.cases import case, every


def test_all_values_are_tried_with_the_same_fixtures(tmp_path) -> None:
    tried = []

    @every("number", range(3))
    @every(("letter", "other"), [("a", 1), ("b", 2)])
    def looped(number, letter, other, folder) -> None:
        tried.append((number, letter, other, folder))

    assert list(inspect.signature(looped).parameters) == ["folder"]
    looped(folder=tmp_path)
    assert tried == [(n, letter, other, tmp_path) for n in range(3) for letter, other in (("a", 1), ("b", 2))]


@pytest.mark.parametrize("failing", [lambda: 1 / 0, lambda: pytest.fail("no")])
def test_the_case_that_fails_is_named(failing) -> None:
    @every("number", range(9))
    def looped(number) -> None:
        if number == 7:
            failing()

    with pytest.raises((ZeroDivisionError, pytest.fail.Exception)) as raised:
        looped()
    assert raised.value.__notes__ == ["in the case 7"]
    with pytest.raises(AssertionError) as raised, case("outer", 1):
        raise AssertionError
    assert raised.value.__notes__ == ["in the case 'outer', 1"]


def test_a_test_without_cases_is_refused() -> None:
    with pytest.raises(ValueError, match="could not fail"):
        every("number", [])(lambda number: None)
    with pytest.raises(ValueError, match="lacks a parameter"):
        every("number", [1])(lambda other: None)
