"""Hypersphere: statement after statement, the spheres on which a latent lies are intersected (metric heads)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag, pad

from verale.bounds.domain import domain_range
from verale.bounds.observables import cut, require_geometry, sine, unit_vectors
from verale.head import Head
from verale.rounding import INFLATE, UNDERFLOW, Enclosure, down, gamma, up

_STEPS = 2.0**18
"""Multipliers are multiples of its inverse: coarse enough for float64 to decide which one the checker will take."""

_CONCENTRIC = 2.0**-13
"""An anchor whose squared distance from the centre (on the sphere: whose squared sine) is below this fraction says too
little about where the latent is."""


@dataclass(frozen=True, eq=False)
class Spheres:
    """R patches, each with its virtual anchor c = sum_i weights_i x_anchor(i).

    The weights are those of the rule, which are products of its multipliers, up to a relative error of gamma_M each.

    Attributes:
        lower, upper: (R, P) bounds of the observables so far.
        count: (R,) number of anchors m.
        anchors: (R, M) prototypes, in the order of the statements, without those that left c unchanged.
        weights: (R, M), 0 from m on. They sum to 1 where the head is euclidean.
        near, far: (R, M) the stated intervals.
        moment, moment_error: (R,) euclidean sum_i weights_i |x_i - c|^2, cosine |c|^2; estimate and error.
        lost: (R,) whether float64 could not decide what the rule does with a statement. From then on the patch keeps
            its bounds, cut by the statements themselves.
    """

    lower: Tensor
    upper: Tensor
    count: Tensor
    anchors: Tensor
    weights: Tensor
    near: Tensor
    far: Tensor
    moment: Tensor
    moment_error: Tensor
    lost: Tensor


class Hypersphere:
    r"""One virtual anchor a patch, moved by each statement; each of its positions bounds every observable.

    Squared distances: the first statement puts c on its prototype. Each further one, (p_j, d_j), moves it to the foot
    of the plane in which the spheres (c, rho) and (p_j, d_j) meet,

        c' = c + t (p_j - c),   t = 1/2 + (rho^2 - d_j^2) / (2 |p_j - c|^2),   rho = |z - c|,

    with rho and d_j at the middles of their intervals, and |z - c|^2 = sum_i w_i d_i^2 - sum_i w_i |p_i - c|^2 for
    c = sum_i w_i p_i with sum w_i = 1 (the ball lemma). Then | |p_k - c| - rho | <= d_k <= |p_k - c| + rho.

    Cosines: with q_i = p_i / |p_i| and u the latent, |u| <= 1, the first c is q_0, and each further statement moves it
    to the projection of u on the span of c and q_j, at their middles. With y = <u, c> / |c| = sum_i w_i m_i / |c| and
    t_k = <q_k, c> / |c|, |m_k - y t_k| <= ((1 - y^2)(1 - t_k^2))^(1/2).

    A statement leaves c unchanged where its prototype is too near to c, or the projection too near to 0. The bounds
    from all positions of c are intersected. They depend on the order of the statements, and fewer statements can give
    tighter bounds.

    Multipliers are rounded to multiples of 2^-18. So the checker, which computes them with more digits, gets the very
    same c, and bounds that are nowhere looser. Where float64 cannot decide which multiple it is, or whether c moves,
    the patch is `lost`.

    Cost of one statement: O(P m) flops, one gather of m rows.

    Soundness: an identity in the weights, Cauchy's inequality, and intersection. Distances between prototypes have
    small relative errors, as they come from differences; sums over anchors are within gamma of the sum of magnitudes.
    Reference: docs/design.md, 3.1 and 3.4; hypersphere intersection approximation of Soria et al. (arXiv 2511.16588)
    and its spherical form (2608.16773), for shells instead of equalities.
    """

    name = "hypersphere"
    ordered = True

    def __init__(self, head: Head) -> None:
        kind = type(head.geometry).__name__
        require_geometry(self.name, head, f"squared distances or cosines, this head has {kind}")
        self._domain = domain_range(head)
        self._euclidean = head.geometry.is_distance
        points = head.points.to(torch.float64)
        if self._euclidean:
            self.pairs = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist").square_()
        else:
            directions = unit_vectors(points)
            self.pairs = directions @ directions.T
        # A squared distance is off by gamma_(D + 8) of itself, a cosine by gamma_(3 D + 40) (scaling, norm, product).
        self._operations = 3 * head.depth + 40

    @property
    def size(self) -> int:
        """P."""
        return int(self.pairs.shape[0])

    def ranges(self, stated: Sequence[Sequence[int]], observed: Enclosure) -> Enclosure:
        """See `SpatialParadigm`."""
        lower, upper = (end.expand(len(stated), -1).clone() for end in (self._domain.lower, self._domain.upper))
        where = torch.tensor([row for row, each in enumerate(stated) if each], dtype=torch.int64)
        lists = [each for each in stated if each]
        rows, counts = self.start(len(where)), torch.tensor(list(map(len, lists)))
        for step in range(max(map(len, lists), default=0)):
            prototypes = torch.tensor([each[min(step, len(each) - 1)] for each in lists])
            rows = self.extend(rows, prototypes, observed[where, prototypes], step < counts)
        lower[where], upper[where] = rows.lower, rows.upper
        return Enclosure.unchecked(lower, upper)

    def start(self, rows: int) -> Spheres:
        """Patches without statements: the domain's range."""
        new = self.pairs.new_zeros
        return Spheres(
            lower=self._domain.lower.expand(rows, -1).clone(),
            upper=self._domain.upper.expand(rows, -1).clone(),
            count=new(rows, dtype=torch.int64),
            anchors=new((rows, 0), dtype=torch.int64),
            weights=new((rows, 0)),
            near=new((rows, 0)),
            far=new((rows, 0)),
            moment=new(rows),
            moment_error=new(rows),
            lost=new(rows, dtype=torch.bool),
        )

    def extend(self, rows: Spheres, prototype: Tensor, observed: Enclosure, entered: Tensor) -> Spheres:
        """Enter one observable a patch: c moves, and the bounds are intersected with those from its new position.

        Args:
            rows: patches.
            prototype, observed: (R,) what is stated.
            entered: (R,) bool, of which patches it is; the others have entered the same before.
        """
        room = rows.anchors.shape[1]
        if not room or int(rows.count.max()) >= room:  # space for one more anchor in each row
            names = ("anchors", "weights", "near", "far")
            rows = replace(rows, **{name: pad(getattr(rows, name), (0, max(4, room))) for name in names})
        own, new, moves, decided = (self._flat if self._euclidean else self._round)(rows, prototype, observed)
        first = rows.count == 0
        own, new = torch.where(first, 0.0, own), torch.where(first, 1.0, new)
        lost = rows.lost | (entered & ~(first | decided))
        moves = (first | moves) & entered & ~lost

        each = torch.arange(len(prototype))
        newest = (each, rows.count)
        changed = {"anchors": prototype, "near": observed.lower, "far": observed.upper, "weights": new}
        after = {name: getattr(rows, name).clone() for name in changed}
        after["weights"] *= own[:, None]
        for name, values in changed.items():
            after[name][newest] = values
            after[name] = torch.where(moves[:, None], after[name], getattr(rows, name))
        moved = replace(rows, count=rows.count + moves, lost=lost, **after)
        return self._tighten(moved, prototype, observed)

    def _flat(self, rows: Spheres, prototype: Tensor, observed: Enclosure) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Multipliers of c and of p_j, whether c moves, and whether float64 decides all that; (R,) each."""
        centre, radius = self._at(rows, prototype), self._radius(rows, _middle(Enclosure(rows.near, rows.far)))
        distance = _middle(observed)
        apart = centre - Enclosure.around(rows.moment, rows.moment_error)
        least = (radius + distance) * Enclosure.exact(apart.lower.new_tensor(_CONCENTRIC))
        moves = least.certainly_less(apart)
        half = Enclosure.exact(apart.lower.new_tensor(0.5))
        new, same = _rounded(half + (radius - distance) * half / apart)
        return 1 - new, new, moves, torch.where(moves, same, apart.upper <= least.lower)

    def _round(self, rows: Spheres, prototype: Tensor, observed: Enclosure) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Multipliers of c and of q_j, whether c moves, and whether float64 decides all that; (R,) each."""
        inner, along = self._at(rows, prototype), self._radius(rows, _middle(Enclosure(rows.near, rows.far)))
        cosine = _middle(observed)
        square = Enclosure.around(rows.moment, rows.moment_error)
        spread = square - inner * inner
        own = (along - cosine * inner) / spread
        new = (cosine * square - along * inner) / spread
        length = own * along + new * cosine
        tiny = Enclosure.exact(square.lower.new_tensor(_CONCENTRIC))
        parallel, short = tiny * square, tiny
        moves = parallel.certainly_less(spread) & short.certainly_less(length)
        stays = (spread.upper <= parallel.lower) | (parallel.certainly_less(spread) & (length.upper <= short.lower))
        (own_multiple, own_same), (new_multiple, new_same) = _rounded(own), _rounded(new)
        return own_multiple, new_multiple, moves, torch.where(moves, own_same & new_same, stays)

    def _at(self, rows: Spheres, prototype: Tensor) -> Enclosure:
        """sum_i weights_i pairs_ij for one prototype j a patch."""
        terms = rows.weights * self.pairs[rows.anchors, prototype[:, None]]
        size = terms.abs().sum(1) if self._euclidean else rows.weights.abs().sum(1)
        return Enclosure.around(terms.sum(1), self._error(rows, size))

    def _radius(self, rows: Spheres, stated: Enclosure) -> Enclosure:
        """|z - c|^2, or <u, c>, from the statements about the anchors."""
        weights = rows.weights
        least = torch.where(weights > 0, stated.lower, stated.upper)
        most = torch.where(weights > 0, stated.upper, stated.lower)
        error = self._error(rows, (weights.abs() * torch.maximum(least.abs(), most.abs())).sum(1))
        sums = Enclosure(down((weights * least).sum(1) - error), up((weights * most).sum(1) + error))
        return sums - Enclosure.around(rows.moment, rows.moment_error) if self._euclidean else sums

    def _error(self, rows: Spheres, size: Tensor) -> Tensor:
        """The rounding error of a sum of products of weights and pairs (or observables) whose magnitudes sum to
        `size`, (R,) or (R, P)."""
        operations = self._operations + 4 * rows.weights.shape[1]
        whole = 1 + rows.weights.abs().sum(1)
        lost = 2 * operations * UNDERFLOW * whole
        return INFLATE * (gamma(operations) * size + (lost if size.dim() == 1 else lost[:, None]))

    def _tighten(self, rows: Spheres, prototype: Tensor, observed: Enclosure) -> Spheres:
        """The bounds of the class docstring, intersected with the earlier ones and with the statement itself."""
        sums = embedding_bag(rows.anchors, self.pairs, per_sample_weights=rows.weights, mode="sum")
        size = rows.weights.abs()
        if self._euclidean:
            size = embedding_bag(rows.anchors, self.pairs, per_sample_weights=size, mode="sum")
            magnitude = (rows.weights.abs() * size.gather(1, rows.anchors)).sum(1) / 2
        else:
            size = size.sum(1, keepdim=True)
            magnitude = size[:, 0].square()
        moment = (rows.weights * sums.gather(1, rows.anchors)).sum(1)
        moment = moment / 2 if self._euclidean else moment
        whole = 1 + rows.weights.abs().sum(1)
        rows = replace(rows, moment=moment, moment_error=2 * INFLATE * whole * self._error(rows, magnitude / whole))
        bounds = (self._distances if self._euclidean else self._cosines)(rows, sums, self._error(rows, size))
        lost = rows.lost[:, None]
        lower = torch.where(lost, rows.lower, torch.maximum(rows.lower, bounds.lower))
        upper = torch.where(lost, rows.upper, torch.minimum(rows.upper, bounds.upper))
        cut(Enclosure.unchecked(lower, upper), (torch.arange(len(prototype)), prototype), observed)
        return replace(rows, lower=lower, upper=upper)

    def _distances(self, rows: Spheres, sums: Tensor, error: Tensor) -> Enclosure:
        """d_k lies between | |p_k - c| - rho | and |p_k - c| + rho."""
        radius = self._radius(rows, Enclosure(rows.near, rows.far)).sqrt()
        inner, outer = radius.lower[:, None], radius.upper[:, None]
        error = error + rows.moment_error[:, None]
        apart = Enclosure.around(sums - rows.moment[:, None], up(error * INFLATE)).sqrt()
        least = torch.maximum(down(apart.lower - outer), down(inner - apart.upper)).clamp_(min=0)
        return Enclosure(down(least.square()).clamp_(min=0), up(up(apart.upper + outer).square()))

    def _cosines(self, rows: Spheres, sums: Tensor, error: Tensor) -> Enclosure:
        """m_k = y t_k + <u - y c / |c|, q_k - t_k c / |c|>."""
        length = Enclosure.around(rows.moment, rows.moment_error).sqrt()
        # Not cut to [-1, 1], where it lies: the checker does not either, and would prove less than is stated.
        along = (self._radius(rows, Enclosure(rows.near, rows.far)) / length)[:, None]
        inner = (Enclosure.around(sums, error) / length[:, None]).clamp(-1.0, 1.0)
        middle = along * inner
        # (1 - x^2)^(1/2) is greatest where |x| is least
        sines = (sine(torch.maximum(each.lower, -each.upper).clamp(min=0)) for each in (along, inner))
        swing = up(next(sines) * next(sines))
        return Enclosure(down(middle.lower - swing), up(middle.upper + swing))


def _middle(stated: Enclosure) -> Enclosure:
    twice = Enclosure(down(stated.lower + stated.upper), up(stated.lower + stated.upper))
    return Enclosure(twice.lower / 2, twice.upper / 2)


def _rounded(multiplier: Enclosure) -> tuple[Tensor, Tensor]:
    """The multiple of 2^-18 nearest to a number, ties upwards, and whether its enclosure leaves no other."""
    half = Enclosure.exact(multiplier.lower.new_tensor(0.5))
    steps = multiplier * Enclosure.exact(multiplier.lower.new_tensor(_STEPS)) + half
    nearest = steps.lower.floor()
    return nearest / _STEPS, nearest == steps.upper.floor()
