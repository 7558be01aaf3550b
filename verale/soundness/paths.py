"""Where the corpora and lemmas lie: beside this file in an installed package, at the repository's root in a clone."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
INSTALLED = (_HERE / "certificates").is_dir()
"""Whether this is an installed package rather than a clone."""

_ROOT = _HERE if INSTALLED else _HERE.parents[1]

CERTIFICATES = _ROOT / "certificates"
"""The corpora and the specification."""

PROOFS = _ROOT / "proofs"
"""The lemmas, a package: `verale.soundness.proofs` if installed, `proofs` in a clone."""
