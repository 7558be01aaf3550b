"""What statements about activations say, read from the statements themselves."""

from __future__ import annotations

import torch

from verale.bounds import activation_range
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, Statement
from verale.rounding import Enclosure
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
