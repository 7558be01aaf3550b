"""Growing in blocks ends as it does in machine code, for the same reasons."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest
from support import in_blocks

from verale.search.avoid import Avoid


@pytest.mark.long  # whole explanations are compared in test_devices_launch
def test_growth_states_what_machine_code_states(interpreter: ProcessPoolExecutor) -> None:
    result = interpreter.submit(in_blocks.searched, "scaled", 3, [0]).result()
    assert set(result.chosen[0]) <= set(result.grown[0])
    assert len(set(result.grown[0])) == len(result.grown[0])


@pytest.mark.long  # the interpreter takes four seconds
def test_too_large_a_search_is_given_up(interpreter: ProcessPoolExecutor) -> None:
    result = interpreter.submit(in_blocks.searched, "euclidean", 0, [0], most=1.0).result()
    assert result.chosen == result.compiled
    assert "given up at" in result.chosen[0]


def test_a_class_may_stay_open(interpreter: ProcessPoolExecutor) -> None:
    result = interpreter.submit(in_blocks.searched, "euclidean", 0, [0], avoid=Avoid(patches=(0, 1, 2))).result()
    assert result.chosen == [None]
    assert "stays open" in result.compiled[0]


def test_what_is_avoided_is_not_stated(interpreter: ProcessPoolExecutor) -> None:
    result = interpreter.submit(in_blocks.searched, "cosine", 0, [1], avoid=Avoid(prototypes=(3, 5))).result()
    assert result.grown[0] and not {3, 5} & {prototype for _, prototype in result.grown[0]}
    assert len(result.chosen[0]) == len(result.compiled[0])
