"""Top-k: statements, the order clause, and the head's own range for the rest."""

from __future__ import annotations

import torch
from support.small import small_head

from verale.bounds import TopK, activation_range
from verale.rounding import Enclosure


def test_a_box_is_cut_by_the_statements_and_by_the_order_clause():
    paradigm = TopK(Enclosure(torch.full((4,), -2.0).double(), torch.full((4,), 3.0).double()))
    observed = Enclosure(torch.full((4,), 0.5).double(), torch.full((4,), 0.75).double())
    stated = torch.tensor([[True, False, False, False]] * 2)
    exempt = torch.tensor([[True, True, False, False]] * 2)
    box = paradigm.box(stated, exempt, torch.tensor([1.0, torch.inf]).double(), observed)
    assert box.lower.tolist() == [[0.5, -2.0, -2.0, -2.0]] * 2
    assert box.upper.tolist() == [[0.75, 3.0, 1.0, 1.0], [0.75, 3.0, 3.0, 3.0]]


def test_a_statement_wider_than_the_range_adds_nothing():
    head = small_head("cosine")
    paradigm, whole = TopK.of(head, 5), activation_range(head, 5)
    everything = torch.ones(1, head.size, dtype=torch.bool)
    wide = Enclosure(whole.lower - 1, whole.upper + 1)
    box = paradigm.box(everything, everything, torch.tensor([torch.inf]).double(), wide)
    assert torch.equal(box.lower[0], whole.lower) and torch.equal(box.upper[0], whole.upper)
