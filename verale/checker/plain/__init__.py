"""The checker in interval arithmetic: the steps of certificates/v1.md with the kernels `arb` and `mpmath`.

Each rule has a file of its own, which states its lemma and proves it.
"""

from __future__ import annotations

from .audit import PlainAudit
from .quadratic import QuadraticRule
from .space import Space

__all__ = ["PlainAudit", "QuadraticRule", "Space"]
