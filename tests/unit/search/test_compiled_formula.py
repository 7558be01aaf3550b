"""A similarity's formula, followed step by step, gives what the formula itself gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from support.cases import every
from support.small import small_head
from torch import Tensor

from verale.errors import UsageError
from verale.head import Cosine, Euclidean, ExpDistance, Geometry, Head, InnerProduct, LogRatio
from verale.head.similarity import SIMILARITIES, Similarity
from verale.search.compiled.formula import formula_of
from verale.search.compiled.similarity import similarity

GEOMETRIES = {Euclidean: Euclidean(), Cosine: Cosine(1e-4), InnerProduct: InnerProduct(4.0)}
OF_TORCH: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "sums": lambda m, s, p: (3 - m) * s + p / (1 + m) - 2,
    "powers": lambda m, s, p: -(m**1.5) - torch.pow(m, 2) - m.square(),
    "logarithms": lambda m, s, p: -torch.log(m + 1) - torch.log1p(m) - (2 / (m + 1)).log(),
    "ratio": lambda m, s, p: torch.log((s * m + 2) / (s * m + 0.5)),
    "exponentials": lambda m, s, p: torch.exp(-m) - torch.expm1(m * s),
    "roots": lambda m, s, p: (m + 1).rsqrt() - m.sqrt() + (m + 1).reciprocal(),
    "hyperbolic": lambda m, s, p: -torch.tanh(m) - torch.sigmoid(m),
    "cut": lambda m, s, p: -m.clamp(min=0.5) - m.clamp(0.1, max=0.7) - torch.relu(m - 1) - m.clip(max=1.0),
    "cases": lambda m, s, p: torch.where(m > 0.5, -m, torch.where(m < 0.2, 3.0, s)) - (m - p).abs(),
    "extremes": lambda m, s, p: -torch.maximum(m, s) - torch.minimum(m, s),
    "the same": lambda m, s, p: m,
    "the scale": lambda m, s, p: s,
}


@dataclass(frozen=True)
class Made:
    """What the search asks of a similarity; no subclass of one, of which others list all."""

    formula: Callable[[Tensor, Tensor, Tensor], Tensor]

    kind = "made"
    tensors = ("scale",)

    def of(self, observed: Tensor, geometry: Geometry, scale: Tensor, peak: Tensor) -> Tensor:
        return self.formula(observed, scale, peak)


def head_of(made: Similarity | Made, geometry: Geometry | None = None) -> Head:
    head = small_head("euclidean")
    object.__setattr__(head, "similarity", made)
    if geometry is not None:
        object.__setattr__(head, "geometry", geometry)
    return head


def require_same(head: Head, scale: float, peak: float) -> None:
    formula = formula_of(head)
    for step in range(21):
        dissimilar = 0.0625 * step if head.geometry.is_distance else 0.0625 * step - 1
        observed = dissimilar if head.geometry.is_distance else -dissimilar
        if formula.peaked:
            observed = peak + max(dissimilar, 0.0)
        given = (torch.tensor(each, dtype=torch.float64) for each in (observed, scale, peak))
        value, number, other = given
        expected = float(head.similarity.of(value, head.geometry, number, other))
        assert math.isclose(similarity(formula, scale, peak, dissimilar), expected, rel_tol=1e-12, abs_tol=1e-12)


@every("kind", [kind for kind in SIMILARITIES if kind != "threshold"])
def test_every_similarity_of_metric_heads(kind: str) -> None:
    part = SIMILARITIES[kind].part
    for geometry in part.geometries:
        if geometry in GEOMETRIES:
            made = part(0.25) if part in (LogRatio, ExpDistance) else part()
            require_same(head_of(made, GEOMETRIES[geometry]), 1.5, 0.25)


@every("name", list(OF_TORCH))
def test_every_operation(name: str) -> None:
    require_same(head_of(Made(OF_TORCH[name])), 0.75, 0.25)


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        (lambda m, s, p: torch.special.gammaln(m), "gammaln"),
        (lambda m, s, p: -m if m.sum() > 0 else m, ""),
        (lambda m, s, p: m - torch.ones(3).sum(), "get_attr"),
    ],
    ids=["operation", "branch", "tensor"],
)
def test_another_formula_is_refused_in_words(formula: Callable[..., Tensor], why: str) -> None:
    head = head_of(Made(formula))
    with pytest.raises(UsageError, match="similarity made has no formula") as refused:
        formula_of(head)
    assert why in str(refused.value)


def test_no_two_formulas_share_their_numbers() -> None:
    head = small_head("euclidean")
    first, second = formula_of(head), formula_of(head)
    assert first.values is not second.values


def test_an_infinite_distance_has_a_similarity() -> None:
    formula = formula_of(head_of(Made(OF_TORCH["ratio"])))
    assert 0 <= similarity(formula, 1.0, 0.0, math.inf) < 1e-200
