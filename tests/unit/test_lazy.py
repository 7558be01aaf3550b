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
    "numba",
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


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_verale_loads_nothing_heavy():
    assert not HEAVY & loaded_by("import verale")


def test_an_audit_at_scale_loads_nothing_heavy_before_it_begins():
    assert not HEAVY & loaded_by(
        "from verale.ray import pipeline, explain, images; from verale.datasets import latents, staging"
    )
    assert not (HEAVY - {"click", "flint", "mpmath"}) & loaded_by("import verale.ray.audit, verale.cli.ray_engine")


def test_import_adapters_loads_nothing_heavy():
    assert not HEAVY & loaded_by("import verale.adapters; verale.adapters.ARCHITECTURES")
    assert "torch" in loaded_by("from verale.adapters import capture")


def test_numba_is_loaded_only_to_search():
    assert "numba" not in loaded_by("from verale.search import explain, batches, spatial")
    assert "numba" in loaded_by("from verale.search.compiled import statements")


def test_every_public_name_of_the_adapters_resolves():
    for name in adapters.__all__:
        assert getattr(adapters, name) is not None
    assert set(adapters.__all__) <= set(dir(adapters))
    with pytest.raises(AttributeError, match="guess"):
        _ = adapters.guess


def test_the_first_test_can_fail():
    assert "torch" in loaded_by("import verale; verale.Head")


def test_every_public_name_resolves():
    for name in verale.__all__:
        assert getattr(verale, name) is not None
    assert set(verale.__all__) <= set(dir(verale))
    with pytest.raises(AttributeError, match="guess"):
        _ = verale.guess
