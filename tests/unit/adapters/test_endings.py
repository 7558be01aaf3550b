"""Where the output of a layer lies: every known module keeps to its range, and reaches its ends."""

from __future__ import annotations

import pytest
import torch
from support.cases import every
from torch import nn

from verale.adapters.endings import _RANGES, Ending, ending_of

WIDE = torch.tensor([0.0, *(sign * 2.0**n for sign in (-1, 1) for n in range(-20, 20))]).repeat(3, 1)


def made(kind: type[nn.Module]) -> nn.Module:
    if kind in (nn.Softmax, nn.Softmin, nn.LogSoftmax):
        return kind(dim=0)
    return kind(alpha=2.5) if kind is nn.ELU else kind(-0.5, 3.0) if kind is nn.Hardtanh else kind()


@every("kind", _RANGES)
def test_a_module_keeps_to_its_range_and_reaches_its_ends(kind):
    module = made(kind)
    inputs = torch.stack([WIDE[0], WIDE[0].flip(0), -WIDE[0]])
    if kind is nn.Softmax2d:
        inputs = inputs[:, None]
    given = module(inputs)
    ending = ending_of(module)
    assert ending is not None and ending.kind == kind.__name__
    for end, reached in ((ending.lower, float(given.min())), (ending.upper, float(given.max()))):
        if end is None:
            assert abs(reached) > 1e4
        else:
            assert reached == pytest.approx(end, abs=1e-4)
    assert ending.lower is None or float(given.min()) >= ending.lower
    assert ending.upper is None or float(given.max()) <= ending.upper


class OwnTanh(nn.Tanh):
    def forward(self, values):
        return 2 * super().forward(values)


def test_the_last_module_that_changes_numbers_counts():
    assert ending_of(nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh(), nn.Dropout2d()), nn.Identity())).kind == "Tanh"
    assert ending_of(nn.Sequential(nn.Tanh(), nn.Conv2d(1, 1, 1))) is None
    assert ending_of(nn.Sequential(nn.Tanh(), nn.BatchNorm2d(1), nn.Dropout())) is None
    assert ending_of(OwnTanh()) is None and ending_of(nn.Sequential()) is None and ending_of(nn.Identity()) is None


@pytest.mark.parametrize(
    ("domain", "beyond", "open_"),
    [
        ((None, None), False, False),
        ((0.0, None), False, False),
        ((-1.0, None), False, False),
        ((0.1, None), True, False),
        ((0.0, 5.0), False, True),
        ((None, 5.0), False, True),
    ],
)
def test_a_domain_holds_a_range_or_does_not(domain, beyond, open_):
    ending = Ending("ReLU", 0.0, None)
    assert (ending.reaches_beyond(domain), ending.is_open_where(domain)) == (beyond, open_)
    turned = Ending("LogSigmoid", None, 0.0)
    other = tuple(None if end is None else -end for end in reversed(domain))
    assert (turned.reaches_beyond(other), turned.is_open_where(other)) == (beyond, open_)
