"""What every test needs, and what must be set before torch is imported."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.forking import THREADS
from support.proved import build

# One thread a process: pytest-xdist starts a process for each core, and tests start processes of their own.
# More threads would only wait for each other. Processes that tests start inherit this.
for _name in THREADS:
    os.environ.setdefault(_name, "1")

if os.environ.get("SHAKE"):
    from support import shaking

    shaking.start()


def pytest_report_header() -> str | None:
    return f"shaken with the seed {os.environ['SHAKE']}" if os.environ.get("SHAKE") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Half a million objects of what tests import stay: the collector of garbage does not look for it among them, here
    or later, which takes half a second each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    """Random numbers of a test without a generator of its own are the same in whatever order tests run."""
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.manual_seed(0)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what is built from the OCaml of `proofs/rocq`: one for all processes of a run."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "built"


@pytest.fixture(scope="session")
def proved_checker(built: Path) -> str:
    """The executable of the kernel `proved`, built from the extracted OCaml; where it cannot be, tests are skipped."""
    return str(build(built))
