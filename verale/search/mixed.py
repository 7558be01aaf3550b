"""Mixed: statements about patches and about activations, chosen together; few of them bound all activations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds import LinearMargins, Projection, activation_range, pooling_of
from verale.bounds.lipschitz import Lipschitz
from verale.certificate import ActivationStatement, OrderStatement, PatchStatement, Statement
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.rounding import Enclosure
from verale.search.activations import ActivationExplanation
from verale.search.avoid import NONE_FOUND
from verale.search.covering import Covering
from verale.search.grow import grow
from verale.search.problem import Pair, Problem, UnexplainedError
from verale.search.shrink import extend_all, rows_from_scratch

__all__ = ["explain_mixed", "require_mixed"]

_LEVELS = (0.6, 0.75, 0.9)
"""Where the ceiling is tried first, as shares of the activations that lie below it."""
_CLOSER = 1
"""So often it is then tried halfway between the best and its neighbours."""
_FEW = 128
"""With at most so many prototypes every ceiling is tried, and coverings are solved in integers."""
_SHORT, _LONG, _SHARE = 16, 64, 4
"""Explanations begin with none, _SHORT, or _LONG and a share of the statements about patches that projection finds."""
_SURE = 0.75
"""Of a relaxed covering, what is taken before the rest is solved again."""
_ROUNDS = 3
_DOUBT = 1e-6
"""How far rounding may move the value of a relaxed covering."""


@dataclass(frozen=True, eq=False)
class _Ceiling:
    """No activation of a prototype that is not exempt exceeds `upper`.

    Attributes:
        upper: the end.
        exempt: (P,) bool.
        ends: (P,) upper ends of all activations that follow.
    """

    upper: float
    exempt: Tensor
    ends: Tensor


def require_mixed(head: Head) -> None:
    """Raise UsageError, which says why, unless a head can be explained under `mixed`."""
    Lipschitz.require(head)
    if not isinstance(head.readout, Linear):
        raise UsageError(f"paradigm 'mixed' needs a linear readout; for {head.readout.kind} use 'top_k'")


def explain_mixed(problem: Problem) -> ActivationExplanation:
    """The smallest explanation found of the only image of a problem.

    Statements about activations are chosen so that they cover what every rival lacks (`Covering`), for several
    ceilings, and after none or some of the statements about patches with which projection begins. Whatever is then not
    needed is dropped.

    Raises:
        UnexplainedError: all activations together do not prove the class.

    Soundness: an explanation is kept only if every margin is proved positive, rounded outward, from it alone.
    """
    image = _Image(problem)
    pairs = grow(problem, image.projection)[0][0].pairs
    for count in sorted({0, min(len(pairs), _SHORT), min(len(pairs), _LONG + len(pairs) // _SHARE)}):
        if image.best is None or count < len(image.best.statements):
            image.begin_with(pairs[:count])
    if image.best is None:
        reason = NONE_FOUND if problem.avoid else "the class stays open though every activation is stated"
        raise UnexplainedError(reason)
    return image.best


class _Patches:
    """Statements about patches of one image; they can be dropped.

    Attributes:
        pairs: the statements.
        box: (P,) ranges of the activations, given these alone.
    """

    def __init__(self, problem: Problem, projection: Projection, pairs: list[Pair]) -> None:
        self._problem, self._projection, self.pairs = problem, projection, list(pairs)
        ranges = rows_from_scratch(problem, projection, [self.pairs]).range
        pooling = pooling_of(problem.head)
        self._pooled, self.box = pooling.dropping(ranges), pooling.box(ranges)

    @property
    def statements(self) -> list[PatchStatement]:
        """The statements themselves."""
        patches, prototypes = (self._problem.index([pair[side] for pair in self.pairs]) for side in (0, 1))
        observed = self._problem.observed[patches, prototypes]
        ends = zip(self.pairs, observed.lower.tolist(), observed.upper.tolist(), strict=True)
        return [PatchStatement(*pair, lower, upper) for pair, lower, upper in ends]

    def without(self, pair: Pair) -> tuple[Enclosure, Enclosure]:
        """The ranges (1, P) of the pair's patch without it, and the box (P,) that they leave."""
        patch = pair[0]
        left = [[j for where, j in self.pairs if where == patch and (where, j) != pair]]
        ranges = extend_all(self._projection, self._problem, self._projection.start(1), [patch], left).range
        return ranges, self._pooled.alone(self._problem.index([patch]), ranges)[0]

    def drop(self, pair: Pair, ranges: Enclosure, box: Enclosure) -> None:
        """Forget a pair, given what `without` gave."""
        self._pooled.replace(self._problem.index([pair[0]]), ranges)
        self.pairs.remove(pair)
        self.box = box


class _Image:
    """One image, and the smallest explanation of it so far, `best`."""

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem.margins, LinearMargins):
            raise UsageError("paradigm 'mixed' needs a linear readout")
        self._problem, device = problem, problem.settled.device
        self._linear = problem.margins
        self.projection, self._lipschitz = Projection(problem.head, device), Lipschitz(problem.head, device)
        self._observed = problem.stated_activations()[0]
        self._left = problem.prototypes_left.cpu()
        self._table = self._allowed(self._lipschitz.ranges(self._observed))
        self._range = activation_range(problem.head, problem.patches, self._observed.lower.device)
        self._ends = torch.tensor(sorted(set(self._observed.upper.tolist())), dtype=torch.float64, device=device)
        self._none = torch.zeros_like(self._observed.lower, dtype=torch.bool)
        self._few = problem.head.size <= _FEW
        self._ceilings: dict[int, _Ceiling] = {}
        self._level: int | None = None
        self.best: ActivationExplanation | None = None

    def begin_with(self, pairs: list[Pair]) -> None:
        """Look for explanations that begin with these pairs."""
        base = _Patches(self._problem, self.projection, pairs)
        if self._level is None or self._few:
            values = self._values(base.box)
            self._level = min(values, key=values.__getitem__)
        for level in sorted(values, key=values.__getitem__) if self._few else [self._level]:
            if self._few and self.best is not None and values[level] - _DOUBT > len(self.best.statements) - 2:
                return
            self._keep(self._dropped(_Patches(self._problem, self.projection, pairs), level))

    def _allowed(self, table: Enclosure) -> Enclosure:
        """(P, P) the table, where what must not be stated tells nothing."""
        avoided = ~self._problem.prototypes_left[:, None]
        return Enclosure(table.lower.masked_fill(avoided, -torch.inf), table.upper.masked_fill(avoided, torch.inf))

    def _values(self, base: Enclosure) -> dict[int, float]:
        """About how many statements about activations some ceilings need."""
        values = {level: self._relaxed(base, level) for level in self._levels()}
        for _ in range(0 if self._few else _CLOSER):
            known = sorted(values)
            place = known.index(min(known, key=values.__getitem__))
            for one, other in zip(known[max(0, place - 1) : place + 1], known[place : place + 2], strict=False):
                if (middle := (one + other) // 2) not in values:
                    values[middle] = self._relaxed(base, middle)
        return values

    def _levels(self) -> list[int]:
        """The ceilings to try first, as indices of `_ends`."""
        last = len(self._ends) - 1
        return list(range(last // 2, last + 1)) if self._few else sorted({int(share * last) for share in _LEVELS})

    def _ceiling(self, level: int) -> _Ceiling:
        if level not in self._ceilings:
            upper = self._ends[level]
            exempt = self._observed.upper > upper
            ends = torch.where(exempt, self._range.upper, self._range.upper.clamp(max=upper))
            cut = torch.where(exempt, self._lipschitz.most(ends), ends)
            self._ceilings[level] = _Ceiling(float(upper), exempt, cut)
        return self._ceilings[level]

    def _box(self, base: Enclosure, stated: Tensor, ceiling: _Ceiling | None) -> Enclosure:
        """(P,) ranges of the activations: those of the statements about patches, cut by all others."""
        lower, upper = base.lower, base.upper
        if ceiling is not None:
            upper = torch.minimum(upper, ceiling.ends)
        if bool(stated.any()):
            lower = torch.maximum(lower, self._table.lower[stated].amax(0))
            upper = torch.minimum(upper, self._table.upper[stated].amin(0))
        return Enclosure.unchecked(lower, upper)

    def _margins(self, box: Enclosure) -> Tensor:
        return self._problem.margins.lower(box[None, None])[0, 0]

    def _proved(self, base: Enclosure, stated: Tensor, ceiling: _Ceiling | None) -> bool:
        return bool((self._margins(self._box(base, stated, ceiling)) > 0).all())

    def _covering(self, base: Enclosure, stated: Tensor, ceiling: _Ceiling | None) -> Covering:
        return Covering.of(self._linear, self._box(base, stated, ceiling), self._table)

    def _relaxed(self, base: Enclosure, level: int) -> float:
        """About how many statements about activations a ceiling needs."""
        relaxed = self._covering(base, self._none, self._ceiling(level)).relaxed()
        return math.inf if relaxed is None else relaxed[0]

    def _chosen(self, base: Enclosure, ceiling: _Ceiling) -> list[int]:
        """Statements about activations that entail the class, the surest first."""
        chosen: list[int] = []
        stated, left = self._none.clone(), torch.zeros(len(self._none), dtype=torch.float64)
        for _ in range(_ROUNDS):
            covering = self._covering(base, stated, ceiling)
            relaxed = covering.relaxed()
            if relaxed is None:
                break
            left = (relaxed[1] if not self._few else covering.solved(relaxed[1])) * self._left
            sure = [k for k in left.argsort(descending=True).tolist() if left[k] > _SURE and not stated[k]]
            stated[sure] = True
            chosen += sure
            if not sure or self._proved(base, stated, ceiling):
                break
        rest = [k for k in left.argsort(descending=True, stable=True).tolist() if self._left[k] and not stated[k]]
        low, high = 0, len(rest)
        while low < high:
            middle = (low + high) // 2
            trial = stated.clone()
            trial[rest[:middle]] = True
            if self._proved(base, trial, ceiling):
                high = middle
            else:
                low = middle + 1
        return chosen + rest[:high]

    def _dropped(self, patches: _Patches, level: int) -> ActivationExplanation | None:
        """An explanation from which nothing can be dropped: the ceiling is tried first, then the last statements."""
        ceiling: _Ceiling | None = self._ceiling(level)
        chosen = self._chosen(patches.box, self._ceiling(level))
        stated = self._none.clone()
        stated[chosen] = True
        if not self._proved(patches.box, stated, ceiling):
            return None
        if self._proved(patches.box, stated, None):
            ceiling = None
        for pair in reversed(patches.pairs.copy()):
            ranges, box = patches.without(pair)
            if self._proved(box, stated, ceiling):
                patches.drop(pair, ranges, box)
        for k in reversed(chosen):
            stated[k] = False
            if not self._proved(patches.box, stated, ceiling):
                stated[k] = True
        again = _Patches(self._problem, self.projection, patches.pairs)
        margins = self._margins(self._box(again.box, stated, ceiling))
        if not bool((margins > 0).all()):
            return None
        statements = [*patches.statements, *self._statements(stated, ceiling)]
        return ActivationExplanation(statements, margins, minimal=False)

    def _statements(self, stated: Tensor, ceiling: _Ceiling | None) -> list[Statement]:
        """The statements about activations."""
        lower, upper = self._observed.lower.tolist(), self._observed.upper.tolist()
        own: list[Statement] = [ActivationStatement(k, lower[k], upper[k]) for k in stated.nonzero()[:, 0].tolist()]
        if ceiling is not None:
            own.append(OrderStatement(tuple(ceiling.exempt.nonzero()[:, 0].tolist()), ceiling.upper))
        return own

    def _keep(self, explanation: ActivationExplanation | None) -> None:
        if explanation is not None and (self.best is None or len(explanation.statements) < len(self.best.statements)):
            self.best = explanation
