"""What a head computes, in float64 and for many images at once, with gradients: for searches, never for verdicts.

A third rendering of certificates/v1.md, beside `head`, which decides. It needs torch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from verale.soundness.independent.head import Head

__all__ = ["NARROW", "SIMILARITIES", "FloatHead", "inside", "sizes", "solved"]

NARROW = 1e-9
"""Intervals narrower than this, relative to their size, are met in their middle."""


class FloatHead:
    """A head in float64.

    Args:
        head: the head.

    Attributes:
        weight, points, bias: tensors in float64; None where the head has none.
        lower, upper: the ends of the domain's box; None where it has none.
        radius: of the domain's ball, None where it has none.
    """

    def __init__(self, head: Head) -> None:
        self.head = head
        self.weight = _tensor(head.weight)
        self.points = None if head.prototypes is None else _tensor(head.prototypes)
        self.bias = None if head.bias is None else _tensor(head.bias)
        self._scale = 1.0 if head.scale is None else _tensor(head.scale)
        self._peak = 0.0 if head.peak is None else _tensor(head.peak)
        self._mask = None if head.mask is None else _tensor(head.mask)
        self._geometry, self._similarity, self._pooling, self._readout = (
            _fields(head.part(name)) for name in ("geometry", "similarity", "pooling", "readout")
        )
        domain = _fields(head.part("domain"))
        self.lower, self.upper, self.radius = domain["lower"], domain["upper"], self._geometry.get("radius")

    def observables(self, z: Tensor) -> Tensor:
        """m (..., L, P) of latents (..., L, D)."""
        kind = self._geometry["kind"]
        if kind == "softmax":
            return torch.softmax(z, -1)
        p = self.points
        if p is None:
            raise ValueError("the head has no prototypes")
        if kind == "euclidean":
            return (z[..., None, :] - p).square().sum(-1)
        if kind == "inner_product":
            return z @ p.T
        square, epsilon = z.square().sum(-1, keepdim=True), self._geometry["epsilon"]
        # The root's slope is infinite at 0, and no direction is any better there.
        tiny = torch.finfo(torch.float64).tiny
        length = (square + tiny).sqrt() + epsilon if kind == "cosine" else (square + epsilon + tiny).sqrt()
        cosines: Tensor = (z @ (p / p.norm(dim=-1, keepdim=True)).T) / length
        return cosines

    def similarities(self, m: Tensor) -> Tensor:
        """g of observables (..., P)."""
        return SIMILARITIES[self._similarity["kind"]](
            m, self._similarity, self._scale, self._peak, self._geometry["kind"] == "euclidean"
        )

    def activations(self, z: Tensor) -> Tensor:
        """a (..., P) of latents (..., L, D)."""
        m = self.observables(z)
        g, f = self.similarities(m), self._pooling
        match f["kind"]:
            case "max":
                return g.amax(-2)
            case "masked_max":
                if self._mask is None:
                    raise ValueError("the head has no mask")
                columns = torch.arange(g.shape[-2]).clamp(max=self._mask.shape[1] - 1)
                return torch.where(self._mask.T[columns] > 0, g, -torch.inf).amax(-2)
            case "banks":
                bank = f["class_token"]
                return torch.cat([g[..., 0, :bank], g[..., 1:, bank:].amax(-2)], -1)
            case "top_mean":
                return g.topk(min(f["k"], g.shape[-2]), -2).values.mean(-2)
            case "max_minus_mean":
                return g.amax(-2) - g.mean(-2)
            case _:
                return g.amax(-2) - self.similarities(m.mean(-2))

    def logits(self, a: Tensor) -> Tensor:
        """o (..., C) of activations (..., P)."""
        match self._readout["kind"]:
            case "linear":
                return a @ self.weight.T + (0.0 if self.bias is None else self.bias)
            case "maximum":
                scores = a + (0.0 if self.bias is None else self.bias)
                return torch.where(self.weight > 0, scores[..., None, :], -torch.inf).amax(-1)
            case _:
                return self._descend(0, a)

    def _descend(self, child: int, a: Tensor) -> Tensor:
        """The value (..., C) of a child: a node, or -1 - leaf."""
        if child < 0:
            return self.weight[:, -1 - child].expand(*a.shape[:-1], -1)
        here = a[..., child, None]
        absent, present = (self._descend(self._readout[side][child], a) for side in ("absent", "present"))
        return (1 - here) * absent + here * present


def _tensor(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _fields(part: dict[str, Any]) -> dict[str, Any]:
    """The fields of a part, hex floats as floats."""
    return {
        name: float.fromhex(value) if isinstance(value, str) and name != "kind" else value
        for name, value in part.items()
    }


SIMILARITIES: dict[str, Callable[[Tensor, dict[str, Any], Any, Any, bool], Tensor]] = {
    "identity": lambda m, f, s, c, distance: m,
    "log_ratio": lambda m, f, s, c, distance: ((s * m + 1) / (s * m + f["epsilon"])).log(),
    "negated": lambda m, f, s, c, distance: -s * m,
    "exp_distance": lambda m, f, s, c, distance: (-(m + f["epsilon"] + 1e-300).sqrt()).exp(),
    "exponential": lambda m, f, s, c, distance: (-s * (m if distance else 1 - m)).exp(),
    "quadratic": lambda m, f, s, c, distance: -(m - c).square(),
    "rectified": lambda m, f, s, c, distance: m.clamp(min=0),
    "threshold": lambda m, f, s, c, distance: torch.where(m >= f["threshold"], m, 0.0),
}


# Statements, as ends (K) of intervals.


def sizes(low: Tensor, high: Tensor) -> Tensor:
    """How large the ends of intervals are, at least 0.001: violations are relative to this."""
    return low.abs().nan_to_num(posinf=0.0).maximum(high.abs().nan_to_num(posinf=0.0)) + 1e-3


def inside(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """The middles of narrow intervals, twice; the ends of wide ones a little inside: where latents can only just reach
    an end, they cannot be moved onto it."""
    narrow = high - low <= NARROW * (1e-3 + low.abs().nan_to_num(posinf=0.0))
    by = 2.0**-20 * (high - low).minimum(sizes(low, high))
    middle = (low + high) / 2
    return torch.where(narrow, middle, low + by), torch.where(narrow, middle, high - by)


def solved(rows: Tensor, lacking: Tensor) -> Tensor:
    """(B, K, 1) x with rows rows^T x = lacking, on the range of the rows (B, K, n), which have length 1 or 0."""
    gram = rows @ rows.mT
    eye = torch.eye(gram.shape[-1], dtype=torch.float64)
    solved: Tensor = torch.linalg.solve(gram + 1e-13 * eye, lacking[..., None])
    return solved
