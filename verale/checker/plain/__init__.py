"""The checker in interval arithmetic: the steps of certificates/v1.md with the kernels `arb` and `mpmath`."""

from __future__ import annotations

from .audit import PlainAudit

__all__ = ["PlainAudit"]
