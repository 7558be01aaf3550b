"""Images as tables, and what the kernel chooses, beside the search in machine code."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest
from support import in_blocks
from support.compiled import OF_MAXIMA


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("inner product in a ball",), id="one"),
        pytest.param(OF_MAXIMA, id="all", marks=pytest.mark.long),
    ],
)
def test_the_kernel_chooses_as_many_statements_as_machine_code(
    names: tuple[str, ...], interpreter: ProcessPoolExecutor
) -> None:
    ours = theirs = 0
    for name in names:
        result = interpreter.submit(in_blocks.searched, name, images=[0]).result()
        (chosen,), (compiled,) = result.chosen, result.compiled
        assert len(set(chosen)) == len(chosen)
        ours, theirs = ours + len(chosen), theirs + len(compiled)
    assert 0 < ours <= 1.02 * theirs  # of an image of each
