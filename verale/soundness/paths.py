"""Where the suite's files are: in an installed package beside this one, in a clone at the root of the repository."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CERTIFICATES", "PROOFS"]

_HERE = Path(__file__).parent
_INSTALLED = (_HERE / "certificates").is_dir()
_ROOT = _HERE if _INSTALLED else _HERE.parents[1]

CERTIFICATES = _ROOT / "certificates"
"""The corpora and the specification."""

PROOFS = _ROOT / "proofs"
"""The lemmas: a package, whose name is `verale.soundness.proofs` where it is installed and `proofs` in a clone."""
