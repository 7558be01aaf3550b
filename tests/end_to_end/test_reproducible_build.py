"""The executable of the proved checker is built reproducibly, and its digests are listed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from support.proved import build

_FILE = Path(__file__).parents[2] / "proofs" / "rocq" / "digests.py"


@pytest.fixture(scope="module")
def digests() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digests", _FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_is_of_these_sources(digests, tmp_path) -> None:
    """Whoever changes a source builds again: `python proofs/rocq/digests.py`."""
    about, rows = digests.listed()
    assert about == digests.sources_digest(), "python proofs/rocq/digests.py writes the list of these sources"
    assert rows and all(len(row) == len(rows[0]) and len(row[-1]) == len(row[-2]) == 64 for row in rows)


@pytest.mark.long  # four builds of the executable
def test_two_builds_give_the_same_bytes_which_are_listed(digests, tmp_path) -> None:
    build(tmp_path / "there")  # skips where the tools are missing
    first, second = digests.built_twice()
    assert first == second
    here = digests.tools()
    listed = [row[len(here) :] for row in digests.listed()[1] if row[: len(here)] == here]
    assert listed in ([], [tuple(first.values())])
