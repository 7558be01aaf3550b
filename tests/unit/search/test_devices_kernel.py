"""The kernel, one block an image: what a GPU would run, interpreted."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest
from support import in_blocks


@pytest.mark.parametrize("name", [pytest.param("euclidean", marks=pytest.mark.long), "cosine banks"])
def test_no_thread_reads_or_writes_before_the_barrier_that_it_needs(
    name: str, interpreter: ProcessPoolExecutor
) -> None:
    result = interpreter.submit(in_blocks.searched, name, 2, [0], beside=False, races=True).result()
    assert len(result.grown[0]) > 1 and result.races == []


def test_a_missing_barrier_is_noticed(interpreter: ProcessPoolExecutor) -> None:
    races = {
        name: set(interpreter.submit(in_blocks.found_races, name).result())
        for name in ("read_too_early", "write_too_early", "write_twice")
    }
    assert races["read_too_early"] == {"read after write", "write after write", "write after read"}
    assert races["write_too_early"] == {"write after read"}
    assert races["write_twice"] == {"write after write"}


def test_what_is_chosen_does_not_depend_on_the_other_images(interpreter: ProcessPoolExecutor) -> None:
    together, second = (
        interpreter.submit(in_blocks.searched, "cosine", 1, images, beside=False).result().chosen
        for images in ([0, 1], [1])
    )
    assert together[1:] == second and together[:1] != second
