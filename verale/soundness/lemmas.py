"""The lemmas of `proofs`, in an installed package or in a clone."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from verale.soundness.paths import INSTALLED, PROOFS

__all__ = ["lemmas", "run"]


def _module(name: str) -> Any:
    if not INSTALLED and str(PROOFS.parent) not in sys.path:
        sys.path.append(str(PROOFS.parent))
    return import_module(f"verale.soundness.proofs.{name}" if INSTALLED else f"proofs.{name}")


def lemmas() -> dict[str, Any]:
    """Every lemma by the name of its file; names of errata of the literature begin with `errata.`. They need z3."""
    names = [path.stem for path in sorted(PROOFS.glob("[!_]*.py")) if path.stem != "lemma"]
    names += [f"errata.{path.stem}" for path in sorted(PROOFS.glob("errata/[!_]*.py")) if path.stem != "count"]
    return {name: _module(name).LEMMA for name in names}


def run(lemma: Any) -> Any:
    """Prove a lemma and refute its false twins; see `proofs/lemma.py`."""
    return _module("lemma").run(lemma)
