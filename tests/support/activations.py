"""What statements about activations say, read from the statements themselves; and the cheapest, by trying all."""

from __future__ import annotations

import math
from itertools import product

import torch

from verale.bounds import activation_range
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, Statement
from verale.rounding import Enclosure
from verale.search.activations import Activations
from verale.search.costs import UNIT_COSTS, Costs
from verale.search.covers import Cover
from verale.search.problem import Problem


def ends_of(statements: list[Statement], size: int) -> Enclosure:
    """(P,) the ends that statements give all activations."""
    lower, upper = torch.full((size,), -torch.inf).double(), torch.full((size,), torch.inf).double()
    for statement in statements:
        match statement:
            case ActivationStatement(prototype, low, high):
                lower[prototype], upper[prototype] = max(lower[prototype], low), min(upper[prototype], high)
            case OrderStatement(exempt, high):
                rest = [j for j in range(size) if j not in exempt]
                upper[rest] = upper[rest].clamp(max=high)
            case FloorStatement(exempt, low):
                rest = [j for j in range(size) if j not in exempt]
                lower[rest] = lower[rest].clamp(min=low)
    return Enclosure(lower, upper)


def least_margin(problem: Problem, statements: list[Statement]) -> float:
    """The least margin that statements about the activations of one image prove."""
    box = activation_range(problem.head, problem.patches).intersect(ends_of(statements, problem.head.size))
    return float(problem.margins.lower(box[None, None]).amin())


def cheapest(
    activations: Activations,
    costs: Costs = UNIT_COSTS,
    reserve: float | torch.Tensor = 0.0,
    clauses: list[tuple[float, float]] | None = None,
) -> float:
    """What the cheapest explanation of an image by activations, a ceiling and a floor costs, each taken by itself.

    Args:
        activations: those of the image.
        costs: what statements cost.
        reserve: by how much all margins (C,) have to exceed 0.
        clauses: the pairs of a ceiling and a floor that are tried; by default all that the image can have.
    """
    observed, size, problem = activations.observed, activations.problem.head.size, activations.problem
    if clauses is None:
        ceilings = [*sorted(set(observed.upper.tolist())), math.inf]
        clauses = list(product(ceilings, [*sorted(set(observed.lower.tolist())), -math.inf]))
    stated = torch.tensor(list(product((False, True), repeat=size)))
    each = stated.double() @ torch.tensor(costs.of_prototypes(size), dtype=torch.float64)
    least = math.inf
    for ceiling, floor in clauses:
        ends = activations.cover(Cover([], ceiling, floor)).ends
        lower = torch.where(stated, observed.lower, ends.lower)
        upper = torch.where(stated, observed.upper, ends.upper)
        boxes = activations.range.intersect(Enclosure(lower, upper))
        entailed = (problem.margins.lower(boxes[None])[0] > reserve).all(1)
        if bool(entailed.any()):
            own = (ceiling < math.inf) * costs.ceiling + (floor > -math.inf) * costs.floor
            least = min(least, float(each[entailed].amin()) + own)
    return least
