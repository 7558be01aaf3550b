"""Candidates, checked in every round of real searches."""

from __future__ import annotations

import pytest
import torch
from support.problems import problem_of
from support.small import focal_head, small_head, varied_head

from verale.bounds import Projection, Simplex
from verale.bounds.pooling import MaxGrowing
from verale.head import Softmax
from verale.search import candidates, grow

HEADS = {
    "maximum": lambda: small_head("euclidean"),
    "cosine maximum": lambda: small_head("cosine"),
    "softmax maximum": lambda: small_head("softmax"),
    "focal": lambda: focal_head("euclidean", "max_minus_mean"),
    "focal of distances": lambda: focal_head("euclidean", "max_minus_mean_distance"),
    "top mean": lambda: varied_head("top mean"),
}


def rounds_of(head, monkeypatch):
    """What each round of growing needs, what is pooled, and the candidates for it."""
    rounds = []

    def recorded(needs, pooled):
        pairs = candidates.candidate_pairs(needs, pooled)
        near = pooled.near.clone() if isinstance(pooled, MaxGrowing) else None
        rounds.append((needs, needs.stated.clone(), near, pairs))
        return pairs

    monkeypatch.setattr(grow, "candidate_pairs", recorded)
    paradigm = (Simplex if isinstance(head.geometry, Softmax) else Projection)(head)
    grow.grow(problem_of(head), paradigm)
    assert len(rounds) > 1
    return rounds


@pytest.mark.parametrize("name", HEADS)
def test_a_helpful_pair_is_among_the_candidates(name, monkeypatch):
    helped = 0
    for needs, stated, near, (patch, prototype, promise) in rounds_of(HEADS[name](), monkeypatch):
        each = torch.arange(len(patch))[:, None]
        offered = (promise >= 0) & ~stated[each, patch, prototype]
        if near is None:  # the patches share the blame for all losses, and only pairs that are not stated promise
            assert not stated[each, patch, prototype][promise > 0].any()
            helpful = offered.any(1)
        else:
            shown = torch.where(needs.favour > 0, needs.attained, near.argmin(1))
            unstated = ~stated.gather(1, shown[:, None])[:, 0]
            helpful = ((needs.loss > 0) & unstated).any(1)
        assert offered[helpful].any(1).all()
        helped += int(helpful.sum())
    assert helped


@pytest.mark.parametrize("name", ["focal", "top mean"])
def test_each_patch_is_blamed_once(name, monkeypatch):
    for _, _, _, (patch, _, _) in rounds_of(HEADS[name](), monkeypatch):
        assert all(len(set(row)) == len(row) for row in patch.tolist())


def test_an_unknown_pooling_is_refused():
    with pytest.raises(TypeError, match="no candidates are defined for NoneType"):
        candidates.candidate_pairs(None, None)
