"""Top-k: what is stated of activations, and the head's own range for the rest."""

from __future__ import annotations

import torch
from support.small import small_head

from verale.bounds import TopK, activation_range
from verale.rounding import Enclosure


def test_a_box_is_the_range_cut_by_what_is_stated():
    paradigm = TopK(Enclosure(torch.full((4,), -2.0).double(), torch.full((4,), 3.0).double()))
    lower = torch.tensor([[0.5, -torch.inf, -1.0, -torch.inf]]).double()
    upper = torch.tensor([[0.75, 1.0, torch.inf, torch.inf]]).double()
    box = paradigm.box(Enclosure(lower, upper))
    assert box.lower.tolist() == [[0.5, -2.0, -1.0, -2.0]]
    assert box.upper.tolist() == [[0.75, 1.0, 3.0, 3.0]]


def test_a_statement_wider_than_the_range_adds_nothing():
    head = small_head("cosine")
    paradigm, whole = TopK.of(head, 5), activation_range(head, 5)
    box = paradigm.box(Enclosure(whole.lower - 1, whole.upper + 1))
    assert torch.equal(box.lower, whole.lower) and torch.equal(box.upper, whole.upper)
