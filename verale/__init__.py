"""verale: abductive latent explanations of prototype networks, certified and re-proved by an independent checker.

Names are imported when first used, so that `import verale.checker` loads nothing but the checker.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verale.certificate import Certificate
    from verale.checker import Verdict
    from verale.errors import VeraleError
    from verale.head import (
        BankPooling,
        Box,
        Cosine,
        Euclidean,
        ExpDistance,
        Exponential,
        FocalPooling,
        Head,
        Identity,
        InnerProduct,
        Linear,
        LogRatio,
        Maximum,
        MaxPooling,
        Negated,
        Quadratic,
        Rectified,
        Softmax,
        SoftTree,
        Threshold,
        TopMeanPooling,
        load_latents,
        merge_slots,
        save_latents,
    )
    from verale.report.picture import plot
    from verale.runs.audit import audit
    from verale.runs.check import check
    from verale.runs.contrast import contrast
    from verale.runs.explain_model import explain_model
    from verale.runs.necessity import necessity
    from verale.runs.refute import refute
    from verale.search import Unexplained
    from verale.search.explain import explain
    from verale.version import __version__

__all__ = [
    "BankPooling",
    "Box",
    "Certificate",
    "Cosine",
    "Euclidean",
    "ExpDistance",
    "Exponential",
    "FocalPooling",
    "Head",
    "Identity",
    "InnerProduct",
    "Linear",
    "LogRatio",
    "MaxPooling",
    "Maximum",
    "Negated",
    "Quadratic",
    "Rectified",
    "SoftTree",
    "Softmax",
    "Threshold",
    "TopMeanPooling",
    "Unexplained",
    "VeraleError",
    "Verdict",
    "__version__",
    "audit",
    "check",
    "contrast",
    "explain",
    "explain_model",
    "load_latents",
    "merge_slots",
    "necessity",
    "plot",
    "refute",
    "save_latents",
]

_HOME = {
    "BankPooling": "verale.head",
    "Box": "verale.head",
    "Certificate": "verale.certificate",
    "Cosine": "verale.head",
    "Euclidean": "verale.head",
    "ExpDistance": "verale.head",
    "Exponential": "verale.head",
    "FocalPooling": "verale.head",
    "Head": "verale.head",
    "Identity": "verale.head",
    "InnerProduct": "verale.head",
    "Linear": "verale.head",
    "LogRatio": "verale.head",
    "MaxPooling": "verale.head",
    "Maximum": "verale.head",
    "Negated": "verale.head",
    "Quadratic": "verale.head",
    "Rectified": "verale.head",
    "SoftTree": "verale.head",
    "Softmax": "verale.head",
    "Threshold": "verale.head",
    "TopMeanPooling": "verale.head",
    "Unexplained": "verale.search",
    "VeraleError": "verale.errors",
    "Verdict": "verale.checker",
    "__version__": "verale.version",
    "audit": "verale.runs.audit",
    "check": "verale.runs.check",
    "contrast": "verale.runs.contrast",
    "explain": "verale.search.explain",
    "explain_model": "verale.runs.explain_model",
    "load_latents": "verale.head",
    "merge_slots": "verale.head",
    "necessity": "verale.runs.necessity",
    "plot": "verale.report.picture",
    "refute": "verale.runs.refute",
    "save_latents": "verale.head",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'verale' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
