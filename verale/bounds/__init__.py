"""Bounds of all observables, activations and margins from an explanation; one paradigm a file."""

from verale.bounds.domain import domain_range
from verale.bounds.hypersphere import Hypersphere
from verale.bounds.intervals import Projection
from verale.bounds.joint import Joint, JointMargins
from verale.bounds.margin import LinearMargins, Margins, MaximumMargins, TreeMargins, margins_of
from verale.bounds.observables import ExactParadigm, SpatialParadigm, check_domain, observe
from verale.bounds.pooling import PoolingBounds, activation_range, pooling_of
from verale.bounds.similarity import (
    Interval,
    activation,
    dissimilarity,
    observables_between,
    oriented,
    pooled_activation,
)
from verale.bounds.simplex import Assignment, Simplex, SimplexRows, assignment_margins
from verale.bounds.triangle import Triangle

__all__ = [
    "Assignment",
    "ExactParadigm",
    "Hypersphere",
    "Interval",
    "Joint",
    "JointMargins",
    "LinearMargins",
    "Margins",
    "MaximumMargins",
    "PoolingBounds",
    "Projection",
    "Simplex",
    "SimplexRows",
    "SpatialParadigm",
    "TreeMargins",
    "Triangle",
    "activation",
    "activation_range",
    "assignment_margins",
    "check_domain",
    "dissimilarity",
    "domain_range",
    "margins_of",
    "observables_between",
    "observe",
    "oriented",
    "pooled_activation",
    "pooling_of",
]
