"""The papers' spatial explainers in plain float32, rounded to nearest, for comparison with verale. NOT sound.

Written from the formulas of Soria et al. (arXiv 2511.16588, 2608.16773), without copying public code. Where the
description leaves a choice, this file makes the one that favours the baseline:
- bounds of successive triangles or spheres are intersected, never replaced, and both sides of a sphere's surface
  are used, as for exact equality (which makes them as tight as the papers' formulas can be);
- nothing is computed without need: a sweep over all patches is one batch; bisection gives the step inside the last
  sweep at which the class is first entailed (a check after each addition gives the same step, because the intersected
  bounds only tighten); a deletion rebuilds one patch only;
- cos(alpha +- beta) comes from the addition theorem, not from acos in float32.

Nothing is rounded outward, statements are taken as equalities, and `cos` ignores the head's tiny epsilon: an
explanation may fail to entail the class. `benchmarks.measure` asks the checker.

Times of this file are not those of the published code. That code was run as it is, outside this repository, on the
first 12 images of other test latents of the same heads, and stopped after 150 s of processor time an image. Finished
were, of the images that were tried:

| head | by hyperspheres | by triangles |
|---|---|---|
| protopnet | 1 of 4 | 0 of 2 |
| gaussian | 0 of 3 | 0 of 1 |
| tesnet | 0 of 3 | 0 of 1 |

The one that finished took 122 s and has 2,106 statements; verale needs 291 for that image, and about half a second.
The published simplex took 0.05 to 0.27 s an image of the PIP-Net head.
`benchmarks.authors` runs that code again, and audits what it returns.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from verale.errors import UsageError
from verale.head import Cosine, Euclidean, Head, LogRatio, Softmax

__all__ = ["METHODS", "Explained", "Published", "explain", "methods_of"]

METHODS = ("triangle", "hypersphere", "mass")
"""The papers' spatial paradigms: the first two for metric heads, the last for PIP-Net."""

_CONCENTRIC = 1e-4
"""A sphere whose centre is (relatively) this near to the ball's is not intersected: float32 is too coarse for it."""


@dataclass(frozen=True, eq=False)
class Published:
    """A head in the form of the papers' explainers, in float32.

    Attributes:
        kind: "flat" (distances, possibly scaled), "sphere" (cosines of unit vectors) or "mass" (softmax).
        apart: (P, P) distances between prototypes, cosines on the sphere; empty for "mass".
        weight: (C, P).
        bias: (C,).
        prototypes: (P, D), unit vectors on the sphere; empty for "mass".
        scale: (P,) sigma_j, the observable is |z - p_j|^2 / sigma_j^2; ones where the head has no scale.
        epsilon: of the log-ratio similarity.
    """

    kind: str
    apart: Tensor
    weight: Tensor
    bias: Tensor
    prototypes: Tensor
    scale: Tensor
    epsilon: float

    @classmethod
    def of(cls, head: Head, scale: Tensor | None = None) -> Published:
        """The float32 view of a head; `scale` for an isotropic Gaussian one. Raises UsageError for other geometries."""
        weight = head.weight.float()
        bias = torch.zeros(head.classes) if head.bias is None else head.bias.float()
        ones = torch.ones(head.size) if scale is None else scale.float()
        if isinstance(head.geometry, Softmax) or head.prototypes is None:
            nothing = torch.zeros(0, 0)
            return cls("mass", nothing, weight, bias, nothing, ones, 0.0)
        points = head.prototypes.float()
        if isinstance(head.geometry, Cosine):
            points = points / points.norm(dim=1, keepdim=True)
            return cls("sphere", (points @ points.T).clamp(-1, 1), weight, bias, points, ones, 0.0)
        if isinstance(head.geometry, Euclidean) and isinstance(head.similarity, LogRatio):
            return cls("flat", _distances(points, points), weight, bias, points, ones, head.similarity.epsilon)
        raise UsageError(f"the papers have no spatial bounds for {head.geometry!r} with {head.similarity!r}")

    def observe(self, patches: Tensor) -> Tensor:
        """(L, P) the observables of patches (L, D): distances (unscaled), cosines or masses."""
        patches = patches.float()
        if self.kind == "mass":
            return torch.softmax(patches, 1)
        if self.kind == "sphere":
            return (patches / patches.norm(dim=1, keepdim=True)) @ self.prototypes.T
        return _distances(patches, self.prototypes)

    def activate(self, pooled: Tensor) -> Tensor:
        """Similarity of pooled distances, cosines or masses."""
        if self.kind != "flat":
            return pooled
        return torch.log1p((1 - self.epsilon) / ((pooled / self.scale).square() + self.epsilon))


@dataclass(frozen=True)
class Explained:
    """The baseline's explanation of one image.

    Attributes:
        method: which of METHODS.
        predicted: the class.
        pairs: (patch, prototype), the remaining statements.
        grown: how many statements the search had added before deleting.
        seconds: processor time of its one thread.
        finished: whether it ended within the limit; if not, `pairs` holds the statements at that time.
        entails: whether its own float32 bounds say that `pairs` entails the class.
    """

    method: str
    predicted: int
    pairs: tuple[tuple[int, int], ...]
    grown: int
    seconds: float
    finished: bool
    entails: bool


def methods_of(published: Published) -> tuple[str, ...]:
    """The papers' paradigms for a head."""
    return ("mass",) if published.kind == "mass" else ("triangle", "hypersphere")


def explain(published: Published, patches: Tensor, method: str, limit: float = float("inf")) -> Explained:
    """Explain one image as published: nearest prototype first for every patch in turn, then one deletion pass.

    The class is checked after each addition, with bounds on differences of logits. Deletions are tried from the
    last statement added to the first: on the trained ProtoPNet and PIP-Net that leaves 1-8 % fewer statements than
    the other direction (on the trained TesNet 6 % more).

    Args:
        published: the head.
        patches: (L, D).
        method: one of `methods_of(published)`.
        limit: seconds of processor time after which to give up.
    """
    if method not in methods_of(published):
        raise UsageError(f"baseline {method!r} is not defined for this head: {', '.join(methods_of(published))}")
    clock = _Clock(limit)
    observed = published.observe(patches)
    goal = _Goal.of(published, observed)
    if method == "mass":
        return _explain_masses(goal, observed, clock)
    balls: _Balls = _Triangle(published) if method == "triangle" else _Hypersphere(published)
    return _explain_metric(goal, observed, balls, method, clock)


class _Clock:
    def __init__(self, limit: float) -> None:
        self._start, self._limit = time.process_time(), limit

    @property
    def seconds(self) -> float:
        return time.process_time() - self._start

    @property
    def over(self) -> bool:
        return self.seconds > self._limit


@dataclass(frozen=True, eq=False)
class _Goal:
    """The margins to prove positive."""

    published: Published
    predicted: int
    positive: Tensor
    negative: Tensor
    bias: Tensor

    @classmethod
    def of(cls, published: Published, observed: Tensor) -> _Goal:
        pooled = observed.amin(0) if published.kind == "flat" else observed.amax(0)
        predicted = int((published.weight @ published.activate(pooled) + published.bias).argmax())
        rivals = torch.arange(len(published.weight)) != predicted
        difference = (published.weight[predicted] - published.weight)[rivals]
        bias = (published.bias[predicted] - published.bias)[rivals]
        return cls(published, predicted, difference.clamp(min=0), difference.clamp(max=0), bias)

    def reached(self, low: Tensor, high: Tensor) -> bool:
        """Whether every rival's margin is > 0 for activations in [low, high], (P,)."""
        return bool(((self.positive @ low).addmv_(self.negative, high).add_(self.bias) > 0).all())

    def reached_from(self, lower: Tensor, upper: Tensor) -> bool:
        """The same from bounds (L, P) of distances or cosines."""
        if self.published.kind == "flat":
            low, high = upper.amin(0), lower.amin(0)
        else:
            low, high = lower.amax(0), upper.amax(0)
        return self.reached(self.published.activate(low), self.published.activate(high))


class _Balls(Protocol):
    """Statements of a patch as balls that hold its latent (caps on the sphere)."""

    def step(self, prototype: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """One more statement a patch, (L,) and (L,): the bounds (L, P) that it adds."""
        ...

    def row(self, prototypes: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """The bounds (P,) of one patch from all its statements, (m,) and (m,), in order."""
        ...


class _Triangle:
    """|d_jk - d_j| <= d_k <= d_jk + d_j; on the sphere cos(angle_jk +- angle_j)."""

    def __init__(self, published: Published) -> None:
        self._apart = published.apart
        self._interval = _interval if published.kind == "flat" else _arc

    def step(self, prototype: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return self._interval(self._apart[prototype], value[:, None])

    def row(self, prototypes: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        lower, upper = self._interval(self._apart[prototypes], values[:, None])
        return lower.amax(0), upper.amin(0)


class _Hypersphere:
    """Sequential intersection of the current ball's surface with the next statement's sphere.

    Flat, ball (c, r) and sphere (p, d) with e = |p - c|: the intersection lies on the sphere about c + t (p - c),
    t = (r^2 - d^2 + e^2) / (2 e^2), of squared radius r^2 - t^2 e^2; Stewart's theorem moves all |p_k - c|^2 along
    in O(P). On the sphere: about the direction of the latent's projection on span(c, p).
    """

    def __init__(self, published: Published) -> None:
        self._flat = published.kind == "flat"
        # Squared distances or cosines: the recursions are linear in them.
        self._between = published.apart.square() if self._flat else published.apart
        self._centre: Tensor | None = None
        self._radius = torch.zeros(0)

    def step(self, prototype: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        other, value = self._between[prototype], value.square() if self._flat else value
        if self._centre is None:
            self._centre, self._radius = other, value
        else:
            at = self._centre.gather(1, prototype[:, None])[:, 0]
            own, new, constant, radius = (_meet_flat if self._flat else _meet_sphere)(at, self._radius, value)
            self._centre = own[:, None] * self._centre + new[:, None] * other + constant[:, None]
            self._radius = radius
        return self._bounds(self._centre, self._radius)

    def row(self, prototypes: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Only the m x m part is walked step by step; all centres' distances to all targets are one product."""
        other = self._between[prototypes]
        among = other[:, prototypes].numpy()
        values_ = values.square().tolist() if self._flat else values.tolist()
        count = len(values_)
        meet = _meet_flat if self._flat else _meet_sphere
        shares = np.zeros((count, count), np.float32)
        constants, radii = np.zeros(count, np.float32), np.zeros(count, np.float32)
        centre, radius, constant = among[0], values_[0], 0.0
        shares[0, 0], radii[0] = 1.0, radius
        for i in range(1, count):
            own, new, shift, radius = meet(float(centre[i]), radius, values_[i])
            centre = own * centre + new * among[i] + shift
            constant = own * constant + shift
            shares[i, :i] = own * shares[i - 1, :i]
            shares[i, i], constants[i], radii[i] = new, constant, radius
        centres = torch.addmm(torch.from_numpy(constants)[:, None], torch.from_numpy(shares), other)
        lower, upper = self._bounds(centres, torch.from_numpy(radii))
        return lower.amax(0), upper.amin(0)

    def _bounds(self, centre: Tensor, radius: Tensor) -> tuple[Tensor, Tensor]:
        if self._flat:
            return _interval(centre.clamp(min=0).sqrt(), radius.sqrt()[:, None])
        return _arc(centre, radius[:, None])


def _meet_flat(at, radius, value):
    """Multipliers of old centre, new centre, constant; new squared radius. All squared; floats or tensors."""
    if isinstance(at, float):
        if at <= _CONCENTRIC * (radius + value):
            return 1.0, 0.0, 0.0, radius
        t = (radius - value + at) / (2 * at)
        return 1 - t, t, -t * (1 - t) * at, max(0.0, radius - t * t * at)
    t = torch.where(at <= _CONCENTRIC * (radius + value), 0.0, (radius - value + at) / (2 * at))
    return 1 - t, t, -t * (1 - t) * at, (radius - t * t * at).clamp(min=0)


def _meet_sphere(at, radius, value):
    """The same for cosines: `at` = <c, p>, `radius` = <c, z>, `value` = <p, z>."""
    determinant = 1 - at * at
    if isinstance(at, float):
        if determinant <= _CONCENTRIC:
            return 1.0, 0.0, 0.0, radius
        own, new = (radius - at * value) / determinant, (value - at * radius) / determinant
        length = min(1.0, max(1e-12, own * radius + new * value)) ** 0.5
        return own / length, new / length, 0.0, length
    same = determinant <= _CONCENTRIC
    own, new = (radius - at * value) / determinant, (value - at * radius) / determinant
    length = (own * radius + new * value).clamp(1e-12, 1).sqrt()
    own, new = torch.where(same, 1.0, own / length), torch.where(same, 0.0, new / length)
    return own, new, torch.zeros_like(own), torch.where(same, radius, length)


def _interval(centre: Tensor, radius: Tensor) -> tuple[Tensor, Tensor]:
    """Distances to a point at distance `centre` from the middle of a sphere's surface."""
    return (centre - radius).abs_(), centre + radius


def _arc(centre: Tensor, radius: Tensor) -> tuple[Tensor, Tensor]:
    """cos(a + b) and cos(a - b) from cos(a) and cos(b)."""
    product = centre * radius
    swing = ((1 - centre.square()).clamp_(min=0) * (1 - radius.square()).clamp(min=0)).sqrt_()
    return product - swing, product + swing


def _explain_metric(goal: _Goal, observed: Tensor, balls: _Balls, method: str, clock: _Clock) -> Explained:
    flat = goal.published.kind == "flat"
    order = observed.argsort(dim=1, descending=not flat, stable=True)
    patches, size = observed.shape
    lower = torch.full_like(observed, 0.0 if flat else -1.0)
    upper = torch.full_like(observed, torch.inf if flat else 1.0)
    stated: list[list[int]] = [[] for _ in range(patches)]
    added: list[tuple[int, int]] = []
    reached = goal.reached_from(lower, upper)
    for sweep in range(size):
        if reached or clock.over:
            break
        prototype = order[:, sweep]
        value = observed.gather(1, prototype[:, None])
        new_lower, new_upper = balls.step(prototype, value[:, 0])
        new_lower, new_upper = torch.maximum(lower, new_lower), torch.minimum(upper, new_upper)
        # Stated values are known: the rounding of intersections must not change them.
        known = order[:, : sweep + 1]
        values = observed.gather(1, known)
        new_lower.scatter_(1, known, values)
        new_upper.scatter_(1, known, values)
        count, reached = _first_in_sweep(goal, (lower, upper), (new_lower, new_upper))
        lower, upper = _mixed(lower, new_lower, count), _mixed(upper, new_upper, count)
        for patch, j in enumerate(prototype[:count].tolist()):
            stated[patch].append(j)
            added.append((patch, j))
    grown, finished = len(added), reached
    kept = set(added)
    for patch, j in reversed(added) if reached else ():
        if clock.over:
            finished = False
            break
        without = [k for k in stated[patch] if k != j]
        old_lower, old_upper = lower[patch].clone(), upper[patch].clone()
        _fill(balls, observed[patch], without, lower[patch], upper[patch], flat)
        if goal.reached_from(lower, upper):
            stated[patch] = without
            kept.remove((patch, j))
        else:
            lower[patch], upper[patch] = old_lower, old_upper
    pairs = tuple(sorted(kept))
    return Explained(method, goal.predicted, pairs, grown, clock.seconds, finished, reached)


def _first_in_sweep(goal: _Goal, old: tuple[Tensor, Tensor], new: tuple[Tensor, Tensor]) -> tuple[int, bool]:
    """After how many patches of a sweep the class is first entailed (all if never), and whether it is."""
    if not goal.reached_from(*new):
        return len(new[0]), False
    low, high = 0, len(new[0])
    while high - low > 1:
        middle = (low + high) // 2
        if goal.reached_from(*(_mixed(a, b, middle) for a, b in zip(old, new, strict=True))):
            high = middle
        else:
            low = middle
    return high, True


def _mixed(old: Tensor, new: Tensor, count: int) -> Tensor:
    return torch.cat([new[:count], old[count:]])


def _fill(balls: _Balls, observed: Tensor, prototypes: list[int], lower: Tensor, upper: Tensor, flat: bool) -> None:
    """Overwrite one patch's bounds with those from its statements."""
    if not prototypes:
        lower.fill_(0.0 if flat else -1.0)
        upper.fill_(torch.inf if flat else 1.0)
        return
    index = torch.tensor(prototypes)
    values = observed[index]
    new_lower, new_upper = balls.row(index, values)
    new_lower[index] = values
    new_upper[index] = values
    lower.copy_(new_lower)
    upper.copy_(new_upper)


def _explain_masses(goal: _Goal, observed: Tensor, clock: _Clock) -> Explained:
    """PIP-Net: the largest masses first. An unstated mass of patch l is at most R_l = 1 - (mass stated at l)."""
    patches, size = observed.shape
    order = observed.flatten().argsort(descending=True, stable=True)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order))
    rank = rank.view(patches, size)

    def bounds(stated: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        known = observed * stated
        remainder = (1 - known.sum(1)).clamp(min=0)
        return known.amax(0), torch.where(stated, observed, remainder[:, None]).amax(0), remainder

    low, high = -1, patches * size
    while high - low > 1 and not clock.over:
        middle = (low + high) // 2
        if goal.reached(*bounds(rank < middle)[:2]):
            high = middle
        else:
            low = middle
    stated = rank < high
    lower, upper, remainder = bounds(stated)
    reached = goal.reached(lower, upper)
    finished, known = reached, observed * stated
    for pair in reversed(order[:high].tolist()) if reached else ():
        if clock.over:
            finished = False
            break
        patch, j = divmod(pair, size)
        # Dropping (patch, j) loosens this patch's unstated masses and lowers the known masses of j, nothing else.
        rest = remainder[patch] + observed[patch, j]
        stated[patch, j], known[patch, j] = False, 0.0
        new_upper = torch.maximum(upper, torch.where(stated[patch], observed[patch], rest))
        new_lower = lower.clone()
        new_lower[j] = known[:, j].amax()
        if goal.reached(new_lower, new_upper):
            lower, upper = new_lower, new_upper
            remainder[patch] = rest
        else:
            stated[patch, j], known[patch, j] = True, observed[patch, j]
    pairs = tuple((patch, j) for patch, j in stated.nonzero().tolist())
    return Explained("mass", goal.predicted, pairs, high, clock.seconds, finished, reached)


def _distances(first: Tensor, second: Tensor) -> Tensor:
    """(N, M) distances from the differences: no cancellation."""
    return torch.cdist(first, second, compute_mode="donot_use_mm_for_euclid_dist")
