"""Outputs from which a network's logits follow, as far as a decision needs them: softmax, log_softmax, logarithm.

A decision depends on differences of logits alone. log_softmax adds one number to all logits of an image, and so does
the logarithm of a softmax. The logarithm of the logits has their order.

What float32 does: x -> x - max x - ln(sum) rounds twice, by at most 2^-24 of the result each time, but for what it adds
to all entries of an image alike; an exponential, a logarithm and a quotient are off by some units in the last place.
With y the logarithm, `_ROUNDING` (|y| + 4) is more than all of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Restored", "restored"]

_ROUNDING = 2.0**-22

_SUM = 1e-3
"""How far the sum of a softmax may be from 1, in any arithmetic: what is farther is no softmax."""

_LEAST = 2.0**-126
"""Float32 numbers below this are rounded to fewer digits, or to 0. Of these only that they are small is compared."""


@dataclass(frozen=True, eq=False)
class Restored:
    """Logits that follow from a network's outputs.

    Attributes:
        form: what the network returns.
        logits: (N, C) float64.
        lower, upper: (N, C) float64, the head's ends, widened by what the form's rounding may add.
    """

    form: str
    logits: Tensor
    lower: Tensor
    upper: Tensor


def restored(outputs: Tensor, own: Tensor, lower: Tensor, upper: Tensor) -> Restored | None:
    """The logits that a network's outputs stand for, if a head computes these; None if it does not, in any form.

    Args:
        outputs: (N, C) float64, the network's.
        own: (N, C) float64, the head's logits.
        lower, upper: (N, C) float64, what float32 may make of these.
    """
    import torch

    if bool(outputs.isnan().any()):
        return None
    if bool((outputs >= 0).all() and ((outputs.sum(1) - 1).abs() <= _SUM).all()):
        shown = outputs >= _LEAST
        logs = outputs.clamp(min=_LEAST).log()
        return _shifted("softmax(logits)", logs, shown, own, lower, upper)
    if bool(outputs.isfinite().all() and (torch.logsumexp(outputs, 1).abs() <= _SUM).all()):
        return _shifted("log_softmax(logits)", outputs, outputs.isfinite(), own, lower, upper)
    logits = outputs.exp()
    slack = (logits * _ROUNDING * (outputs.abs() + 4)).nan_to_num(0)
    found = Restored("log(logits)", logits, lower - slack, upper + slack)
    inside = logits.isfinite() & (found.lower <= logits) & (logits <= found.upper)
    return found if bool(inside.all()) else None


def _shifted(form: str, logs: Tensor, shown: Tensor, own: Tensor, lower: Tensor, upper: Tensor) -> Restored | None:
    """Logits that differ from these logarithms by one number an image.

    The number k of an image has to put every y + k between the head's ends: k lies in [lower - y, upper - y] for each
    class, with y rounded. Of a class that is not shown, only y <= `logs` is certain.
    """
    import torch

    slack = _ROUNDING * (logs.abs() + 4)
    least = (lower - logs - slack).amax(1)
    most = torch.where(shown, upper - logs + slack, torch.inf).amin(1)
    if bool((least > most).any()):
        return None
    at_winner = (own - logs).gather(1, logs.argmax(1, keepdim=True))[:, 0]
    shift = torch.minimum(torch.maximum(at_winner, least), most)[:, None]
    logits = torch.where(shown, logs + shift, torch.minimum(own, logs + slack + shift))
    return Restored(form, logits, lower - slack, upper + slack)
