"""A patch in a block: what a statement more makes of it, and one less."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest
from support import in_blocks


@pytest.mark.parametrize("name", ["euclidean", "cosine", "inner product in a ball"])
@pytest.mark.parametrize("deleted", [5, 2, 9])
def test_a_deletion_gives_what_building_again_gives(name: str, deleted: int, interpreter: ProcessPoolExecutor) -> None:
    stated = [5, 2, 7, 9]
    step, again, slot = interpreter.submit(in_blocks.deleted_both_ways, name, stated, deleted).result()
    if name == "euclidean" and deleted == 5:  # the base
        assert slot == -1
    else:
        assert slot == stated.index(deleted) - (name == "euclidean")
        assert step < 1e-9
    assert again < 1e-9


def test_a_patch_with_a_dependent_anchor_is_built_again(interpreter: ProcessPoolExecutor) -> None:
    stated = list(range(12))  # more than dimensions
    _, again, slot = interpreter.submit(in_blocks.deleted_both_ways, "cosine", stated, 3).result()
    assert slot == -1 and again < 1e-6
