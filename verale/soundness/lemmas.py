"""The lemmas of `proofs`, in an installed package or in a clone."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from verale.soundness.paths import INSTALLED, PROOFS


def _module(name: str) -> Any:
    if not INSTALLED and str(PROOFS.parent) not in sys.path:
        sys.path.append(str(PROOFS.parent))
    return import_module(f"verale.soundness.proofs.{name}" if INSTALLED else f"proofs.{name}")


def names() -> list[str]:
    """The names of the lemmas' files; those of errata of the literature begin with `errata.`. Nothing is loaded."""
    found = [path.stem for path in sorted(PROOFS.glob("[!_]*.py")) if path.stem != "lemma"]
    return found + [f"errata.{path.stem}" for path in sorted(PROOFS.glob("errata/[!_]*.py")) if path.stem != "count"]


def lemma(name: str) -> Any:
    """The lemma of that name, which needs z3."""
    return _module(name).LEMMA


def lemmas() -> dict[str, Any]:
    """Every lemma by its name."""
    return {name: lemma(name) for name in names()}


def run(proved: object) -> Any:
    """Prove a lemma and refute its false twins; see `proofs/lemma.py`."""
    return _module("lemma").run(proved)
