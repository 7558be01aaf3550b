"""A process that forks should have one thread: what another one holds just then, its child waits for forever."""

from __future__ import annotations

import os

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""What says how many threads a library starts."""

_VARIABLES = {
    **dict.fromkeys(THREADS, "1"),
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow's memory has a thread of its own
}


def keep_one_thread() -> None:
    """No library that this process imports from now on starts a thread; nor do those of its children."""
    os.environ.update(_VARIABLES)
