"""Margins of every readout: below the exact least difference, at a corner, and raised by what is wished for."""

from __future__ import annotations

from fractions import Fraction

from verale.bounds.margin import _MARGINS
from verale.head import Head, Maximum
from verale.head.readout import READOUTS


def test_every_readout_has_margins():
    assert set(_MARGINS) == {kind.part for kind in READOUTS.values()}


def logits(head: Head, activations: list[Fraction]) -> list[Fraction]:
    """A tree's or a maximum's, exactly."""
    weight = [list(map(Fraction, row)) for row in head.weight.tolist()]
    if isinstance(head.readout, Maximum):
        scores = [a + Fraction(b) for a, b in zip(activations, head.bias.tolist(), strict=True)]
        return [max(s for s, w in zip(scores, row, strict=True) if w) for row in weight]

    def below(child: int, c: int) -> Fraction:
        if child < 0:
            return weight[c][-1 - child]
        a = activations[child]
        return (1 - a) * below(head.readout.absent[child], c) + a * below(head.readout.present[child], c)

    return [below(0, c) for c in range(head.classes)]
