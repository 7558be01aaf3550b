"""Activations and margins stay up to date while patches change, one after the other."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest
from support import in_blocks


@pytest.mark.parametrize("name", [pytest.param("euclidean", marks=pytest.mark.long), "cosine quadratic", "banks"])
def test_margins_are_those_of_the_patches(name: str, interpreter: ProcessPoolExecutor) -> None:
    assert interpreter.submit(in_blocks.searched, name, 1, [0], beside=False).result().off < 1e-9
