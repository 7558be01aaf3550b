"""The lemmas of `proofs`, found in an installed package and in a clone."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from verale.soundness.paths import PROOFS

__all__ = ["lemmas", "run"]


def _module(name: str) -> Any:
    installed = PROOFS.parent.name == "soundness"
    if not installed and str(PROOFS.parent) not in sys.path:
        sys.path.append(str(PROOFS.parent))
    return import_module(f"verale.soundness.proofs.{name}" if installed else f"proofs.{name}")


def lemmas() -> dict[str, Any]:
    """Every lemma by the name of its file, with `errata.` before it for what corrects the literature. They need z3."""
    names = [path.stem for path in sorted(PROOFS.glob("[!_]*.py")) if path.stem != "lemma"]
    names += [f"errata.{path.stem}" for path in sorted(PROOFS.glob("errata/[!_]*.py")) if path.stem != "count"]
    return {name: _module(name).LEMMA for name in names}


def run(lemma: Any) -> Any:
    """See `proofs/lemma.py`."""
    return _module("lemma").run(lemma)
