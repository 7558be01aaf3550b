"""`import verale` is light, and the test that says so can fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

import verale
from verale import adapters

HEAVY = {
    "torch",
    "numpy",
    "safetensors",
    "click",
    "rich",
    "flint",
    "mpmath",
    "matplotlib",
    "pandas",
    "PIL",
} | {
    "ray",
    "pyarrow",
    "fsspec",
}


IN_TURN = {
    "verale": "import verale",
    "adapters": "import verale.adapters; verale.adapters.ARCHITECTURES",
    "at scale": "import verale.runs.workers.ray, verale.datasets.rows",
    "a head": "verale.Head",
    "capture": "from verale.adapters import capture",
    "search": "from verale.search import explain, batches, prove",
}
"""What one process does, the light things first. What is loaded stays: nothing that comes later is lighter."""


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """All modules that are loaded after each of these statements, by their whole names."""
    code = "import sys\n" + "".join(f"{each}\nprint(*sys.modules)\n" for each in IN_TURN.values())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(zip(IN_TURN, (set(line.split()) for line in done.stdout.splitlines()), strict=True))


def heavy(names: set[str]) -> set[str]:
    return HEAVY & {name.split(".")[0] for name in names}


def test_import_verale_loads_nothing_heavy(loaded):
    assert not heavy(loaded["verale"])


def test_a_run_at_scale_loads_nothing_heavy_before_it_begins(loaded):
    assert not heavy(loaded["at scale"])


def test_import_adapters_loads_nothing_heavy(loaded):
    assert not heavy(loaded["adapters"])
    assert "verale.adapters.latents" in loaded["capture"] - loaded["a head"]


def test_every_public_name_of_the_adapters_resolves():
    for name in adapters.__all__:
        assert getattr(adapters, name) is not None
    assert set(adapters.__all__) <= set(dir(adapters))
    with pytest.raises(AttributeError, match="guess"):
        _ = adapters.guess


def test_the_first_test_can_fail(loaded):
    assert "torch" not in loaded["at scale"] and "torch" in loaded["a head"]


def test_every_public_name_resolves():
    for name in verale.__all__:
        assert getattr(verale, name) is not None
    assert set(verale.__all__) <= set(dir(verale))
    with pytest.raises(AttributeError, match="guess"):
        _ = verale.guess
