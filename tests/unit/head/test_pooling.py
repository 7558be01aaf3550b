"""Poolings: activations written out one number at a time, and what each one says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.small import small_head, varied_head

from verale.errors import HeadError
from verale.head import BankPooling, FocalPooling, MaxPooling, Pooling, TopMeanPooling
from verale.head.pooling import POOLINGS

EVERY = [MaxPooling(), BankPooling(2), TopMeanPooling(1), TopMeanPooling(2), TopMeanPooling(9)]
EVERY += [FocalPooling("max_minus_mean"), FocalPooling("max_minus_mean_distance")]


def test_every_pooling_is_tested():
    assert {pooling.kind for pooling in EVERY} == set(POOLINGS)


def expected(pooling: Pooling, similar: list[float], mean: float, prototype: int) -> float:
    match pooling:
        case MaxPooling():
            return max(similar)
        case BankPooling(bank):
            return similar[0] if prototype < bank else max(similar[1:])
        case TopMeanPooling(k):
            best = sorted(similar, reverse=True)[:k]
            return sum(best) / len(best)
        case FocalPooling("max_minus_mean"):
            return max(similar) - sum(similar) / len(similar)
    return max(similar) - mean


@pytest.mark.parametrize("pooling", EVERY, ids=str)
@pytest.mark.parametrize("patches", [1, 2, 5])
def test_activations_are_the_formula(pooling: Pooling, patches: int):
    patches = max(patches, pooling.least_patches)
    observed = torch.rand(3, patches, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    activations = pooling.pool(observed, lambda m: 1 / (m + 1))
    for image in range(3):
        for j in range(4):
            values = observed[image, :, j].tolist()
            similar = [1 / (m + 1) for m in values]
            truth = expected(pooling, similar, 1 / (sum(values) / len(values) + 1), j)
            assert float(activations[image, j]) == pytest.approx(truth, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("pooling", EVERY, ids=str)
def test_what_needs_all_patches(pooling: Pooling):
    """Elsewhere a worse patch changes nothing; where an activation is the maximum, it is."""
    observed = torch.tensor([[[0.5], [0.125], [0.75]]], dtype=torch.float64)
    worse = torch.tensor([[[0.5], [0.125], [0.875]]], dtype=torch.float64)
    before, after = (pooling.pool(values, lambda m: -m) for values in (observed, worse))
    changes = not torch.equal(before, after) or pooling == TopMeanPooling(1) or pooling == TopMeanPooling(2)
    assert pooling.needs_all_patches == changes
    assert not pooling.is_maximum or float(before) == -0.125
    assert not pooling.is_difference or float(before) >= 0


def test_banks_do_not_look_at_the_other_s_patches():
    hidden = BankPooling(1).hidden(3, 2, "cpu")
    assert hidden.tolist() == [[False, True], [True, False], [True, False]]
    assert MaxPooling().hidden(3, 2, "cpu") is None
    with pytest.raises(HeadError, match="less than the 12 prototypes"):
        replace(small_head("euclidean"), pooling=BankPooling(12))
    assert replace(small_head("euclidean"), pooling=BankPooling(11)).pooling == BankPooling(11)


@pytest.mark.parametrize("name", ["negated", "exp_distance", "cosine quadratic", "cosine rectified", "threshold"])
def test_focal_pooling_is_refused_where_its_mean_is_not_defined(name: str):
    with pytest.raises(HeadError, match="is focal"):
        replace(varied_head(name), pooling=FocalPooling())
