"""Shrinking in blocks: what is left out, and what may go first."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

from support import in_blocks


def test_what_is_not_needed_is_left_out_as_in_machine_code(interpreter: ProcessPoolExecutor) -> None:
    result = interpreter.submit(in_blocks.searched, "euclidean", 0, [0]).result()
    (chosen,), (compiled,), (grown,) = result.chosen, result.compiled, result.grown
    assert set(chosen) < set(grown)
    assert len(chosen) == len(compiled)


def test_what_goes_first_changes_nothing_where_all_of_it_is_needed(interpreter: ProcessPoolExecutor) -> None:
    before = interpreter.submit(in_blocks.searched, "cosine", 0, [1], beside=False).result()
    early = [before.chosen[0][:1]]
    after = interpreter.submit(in_blocks.searched, "cosine", 0, [1], early=early, beside=False).result()
    assert after.grown == before.grown and set(after.chosen[0]) == set(before.chosen[0])
