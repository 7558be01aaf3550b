"""Shrinking in blocks: what is left out, and what goes first."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

from support import in_blocks


def test_what_goes_first_is_left_out_where_it_can_be(interpreter: ProcessPoolExecutor) -> None:
    before = interpreter.submit(in_blocks.searched, "euclidean", 1, [0]).result()
    assert set(before.chosen[0]) == set(before.compiled[0])
    assert len(before.grown[0]) > len(before.chosen[0])
    left_out = [pair for pair in before.grown[0] if pair not in before.chosen[0]]
    early = before.chosen[0][:1]
    after = interpreter.submit(in_blocks.searched, "euclidean", 1, [0], early=[early], beside=False).result()
    assert after.grown == before.grown
    assert early[0] not in after.chosen[0] or set(after.chosen[0]) == set(before.chosen[0])
    assert left_out
