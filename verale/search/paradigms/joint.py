"""Joint: the fewest statements about one patch that entail the class, each margin bounded as one target.

An interval that float64 gives is next to a point, and under equalities the best bound has a closed form (`_Estimates`).
So all sets of one statement, of two, of three are tried, while there are not too many; then statements are added, each
where it leaves the least to prove, and dropped again. What is found is proved by `verale.bounds.joint`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from math import comb

import torch
from torch import Tensor

from verale.bounds import Joint, Projection, activation_range
from verale.certificate import Prices, Statement
from verale.rounding import root
from verale.search.activations import Stated
from verale.search.costs import NEARLY_FREE
from verale.search.inflate import PricedObservables
from verale.search.paradigms.of_patches import OfPatches
from verale.search.problem import NoExplanation, Problem
from verale.search.prove import UNSETTLED, Explained, SpatialExplanation, inner_margins

_TRIALS = 2**17
"""The most sets, times rivals, of one size that are all tried."""

_AT_ONCE = 2**12
"""Sets at a time."""

_PROVED = 8
"""So many of the best sets of one size are proved before larger ones are tried."""

_NOISE = 2.0**-28
"""Of the size of a margin's terms: a margin must miss zero by so much before a statement is surely needed."""

_RIDGE = 1e-13

_OPEN = NoExplanation("the class stays open though every observable is stated")


class _Search:
    """The search for one image."""

    def __init__(self, problem: Problem, joint: Joint, inner: Projection, most: float) -> None:
        self._problem, self._joint, self._inner, self._most = problem, joint, inner, most
        self._predicted = problem.margins.predicted
        self._tried = 0  # all smaller sets are
        self._left = problem.avoid.prototypes_left(problem.head.size) if problem.avoid.patches_left(1) else []
        middle = (problem.observed.lower + problem.observed.upper)[0] / 2
        self._costs: list[float] = problem.costs.of_pairs(1, problem.head.size)[0].tolist()
        self._estimates = _Estimates(joint, int(self._predicted), middle)

    def run(self) -> Explained:
        domain = activation_range(self._problem.head, 1)
        margins = torch.maximum(self._problem.margins.lower(domain[None, None])[0, 0], self._margins([]))
        if bool((margins > 0).all()):
            return SpatialExplanation([], margins, minimal=True)
        found = self._among_all() or (self._grown() if self._tried < self._most else None)
        if found is None and self._tried < self._most:
            return _OPEN if self._problem.avoid else UNSETTLED
        if found is None or len(found[0]) > self._most:
            return NoExplanation(f"no explanation was found with at most {self._most:.0f} statements")
        stated, proved = found
        minimal = not self._problem.tolerance
        if minimal:  # whether without any one statement some margin is surely negative, term by term and as one target
            left = [[k for k in stated if k != j] for j in stated]
            copies = self._problem.take([0] * len(left))
            one_by_one = inner_margins(copies, self._inner, [[(0, k) for k in each] for each in left])
            together = self._estimates.of_sets(self._sets(left)) if len(stated) > 1 else self._estimates.of_none()
            surely = (one_by_one < -copies.noise[:, None]) & (together < -_NOISE * self._estimates.scale)
            minimal = bool(surely.any(1).all())
        return SpatialExplanation([(0, j) for j in stated], proved, minimal)

    def _among_all(self) -> tuple[list[int], Tensor] | None:
        """The best one of the smallest sets, while there are not too many of a size; with costs the cheapest one."""
        found: tuple[list[int], Tensor] | None = None
        cheapest = sorted(self._costs[j] for j in self._left)
        for count in range(1, len(self._left) + 1):
            if comb(len(self._left), count) * self._problem.head.classes > _TRIALS or count > self._most:
                break
            if found is not None and sum(cheapest[:count]) >= self._of(found[0]):
                break
            self._tried = count
            sets = self._sets(list(combinations(self._left, count)))
            least = torch.cat([self._estimates.of_sets(some).amin(1) for some in torch.split(sets, _AT_ONCE)])
            if self._problem.costs:  # of the cheapest
                costs = least.new_tensor(self._costs)[sets].sum(1).masked_fill(least <= 0, torch.inf)
                least = least.masked_fill(costs > costs.amin(), -torch.inf)
            first = least.topk(min(_PROVED, len(least)))
            for chosen in sets[first.indices[first.values > 0]].tolist():
                if found is not None and self._of(chosen) >= self._of(found[0]):
                    break
                margins = self._margins(chosen)
                if bool((margins > 0).all()):
                    found = chosen, margins
                    break
        return found

    def _of(self, stated: Sequence[int]) -> float:
        """What statements cost."""
        return math.fsum(map(self._costs.__getitem__, stated))

    def _grown(self) -> tuple[list[int], Tensor] | None:
        """Statements that are added one by one until the class follows, less those that are not needed."""
        stated: list[int] = []
        proved = None
        while len(stated) < len(self._left):
            others = [j for j in self._left if j not in stated]
            sets = self._sets([[*stated, j] for j in others])
            margins = torch.cat([self._estimates.of_sets(some) for some in torch.split(sets, _AT_ONCE)])
            open_ = margins.clamp(max=0).sum(1)
            worth = torch.where(open_ < 0, open_, margins.amin(1).clamp(min=0))
            if self._problem.costs:
                each = worth.new_tensor([self._costs[j] for j in others]).clamp(min=NEARLY_FREE)
                worth = torch.where(open_ < 0, worth * each, worth / each)
            best = int(worth.argmax())
            stated.append(others[best])
            if bool((margins[best] > 0).all()):
                proved = self._margins(stated)
                if bool((proved > 0).all()):
                    break
        if proved is None or not bool((proved > 0).all()):
            return None
        for j in sorted(stated, key=lambda j: -self._costs[j]):
            left = [k for k in stated if k != j]
            if bool((self._estimates.of_sets(self._sets([left])) > 0).all()) if left else False:
                margins = self._margins(left)
                if bool((margins > 0).all()):
                    stated, proved = left, margins
        return sorted(stated), proved

    def _sets(self, sets: Sequence[Sequence[int]]) -> Tensor:
        """Sets of one size as an index (M, n)."""
        return self._problem.index([j for stated in sets for j in stated]).view(len(sets), -1)

    def _margins(self, stated: list[int]) -> Tensor:
        """(C,) proved margins."""
        observed = self._problem.observed
        chosen = torch.zeros_like(observed.lower, dtype=torch.bool)
        chosen[0, stated] = True
        lower = torch.where(chosen, observed.lower, -torch.inf)
        upper = torch.where(chosen, observed.upper, torch.inf)
        return self._joint.margins(self._predicted, lower, upper).lower[0]


class _Estimates:
    """Margins of one image under equalities, in closed form (certificates/v1.md, "Weights that serve").

    Attributes:
        targets: (C, P) the T_j, and `bias` (C,): infinity at the predicted class.
        products: (P, P) the products of the vectors b_j of products or, about a centre, of prototypes.
        curved: whether observables are squared distances; else y is in a ball of squared radius `reach`.
        observed: (P,) the observables; of products from the centre of the ball.
        scale: (C,) about the size of a margin's terms.
    """

    def __init__(self, joint: Joint, predicted: int, observed: Tensor) -> None:
        facts, size, curved = joint.facts, len(observed), joint.head.geometry.is_distance
        targets, bias = (each[0] for each in joint.targets(torch.tensor([predicted])))
        self.scale = (targets * facts.units[:size]).abs().sum(1) + bias.abs()
        bias = bias.index_fill(0, torch.tensor([predicted]), torch.inf)
        vectors = facts.vectors[:size] if curved else -2 * facts.vectors[:size]
        if not curved:
            observed, bias = observed - facts.constants[:size], bias + targets @ facts.constants[:size]
        self.reach = 0.0 if curved else float(facts.units[size])
        self.targets, self.bias, self.curved, self.observed = targets, bias, curved, observed
        self.products = vectors @ vectors.T

    def of_none(self) -> Tensor:
        """(1, C) the margins if nothing is stated."""
        if not self.curved:
            square = ((self.targets @ self.products) * self.targets).sum(1).clamp(min=0)
            return (self.bias - root(square * self.reach))[None]
        curve, along = self.targets.sum(1), self.targets @ self.products
        spread = self.targets @ self.products.diagonal() - (along * self.targets).sum(1) / curve
        return (self.bias + torch.where(curve > 0, spread, -torch.inf))[None]

    def of_sets(self, sets: Tensor) -> Tensor:
        """(M, C) the margins if the observables of these prototypes are stated, (M, n)."""
        along = self.targets @ self.products  # (C, P)
        own = (along * self.targets).sum(1)
        if not self.curved:
            gram, column = self._gram(sets, sets), along.T[sets]
            tau, explained, rest = self._solved(gram, column, self.observed[sets])
            rho = (self.reach - rest).clamp(min=0)
            return self.bias + tau - root((own - explained).clamp(min=0) * rho[:, None])
        base, others = sets[:, 0], sets[:, 1:]
        square, first = self.products.diagonal()[base], along.T[base]  # (M,), (M, C)
        curve = self.targets.sum(1)
        own = own - 2 * curve * first + curve.square() * square[:, None]
        constant = self.bias + self.targets @ self.products.diagonal() - 2 * first + curve * square[:, None]
        start = self.observed[base]
        shift = self._gram(base[:, None], others)[:, 0] - square[:, None]  # <p_0, b_i>
        gram = self._gram(others, others) - self._gram(base[:, None], others)
        gram = gram - self._gram(others, base[:, None]) + square[:, None, None]
        column = along.T[others] - first[:, None] - curve * shift[:, :, None]
        known = (start[:, None] - self.observed[others] + gram.diagonal(dim1=1, dim2=2)) / 2
        tau, explained, rest = self._solved(gram, column, known)
        rho = (start - rest).clamp(min=0)
        swing = root((own - explained).clamp(min=0) * rho[:, None])
        return constant + curve * start[:, None] - 2 * (tau + swing)

    def _gram(self, rows: Tensor, columns: Tensor) -> Tensor:
        return self.products[rows[:, :, None], columns[:, None, :]]

    def _solved(self, gram: Tensor, column: Tensor, known: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """<g^-1 q, known> and <g^-1 q, q>, (M, C) each for the columns q (M, n, C), and <g^-1 known, known> (M,)."""
        ridge = _RIDGE * self.products.diagonal().amax() + 1e-300
        right = torch.cat([column, known[:, :, None]], 2)
        solved, _ = torch.linalg.solve_ex(gram + ridge * torch.eye(gram.shape[1]), right)
        shares, foot = solved[:, :, :-1], solved[:, :, -1]
        return (shares * known[:, :, None]).sum(1), (shares * column).sum(1), (foot * known).sum(1)


class JointSearch(OfPatches):
    """The fewest statements. There is no order among the patches of one.

    Soundness: what is returned is proved by `Joint.margins`.
    """

    name = "joint"
    bounds = Joint
    priced = PricedObservables
    is_alone = False
    bytes_per_patch = 0

    def explain(self, problem: Problem, order: str, most: list[float]) -> list[Explained]:
        inner = Projection(problem.head).inner()
        return [_Search(problem.take([i]), self.spatial, inner, limit).run() for i, limit in enumerate(most)]

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        ends = Stated.of(statements, problem.head.size).ends
        lower, upper = ends.lower[None], ends.upper[None]
        margins: Tensor = self.spatial.margins(problem.margins.predicted, lower, upper).lower[0]
        return margins
