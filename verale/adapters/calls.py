"""Calls of a traced network, with what they are given, whether modules, functions or methods are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, fx, nn

from verale.adapters.tracing import argument, shape_of

__all__ = ["Call", "RefusedError", "Values"]


class RefusedError(Exception):
    """No layer of a network file computes this. The message says why.

    Attributes:
        remedy: what to do.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


Values = Callable[[Any], Tensor | None]
"""Gives the tensor that an argument of a call stands for, where it is a parameter; None for None."""


@dataclass(frozen=True, eq=False)
class Call:
    """A node of a traced network with what it is given: a call of a module, of a function or of a method.

    Attributes:
        node: the node, with shapes.
        module: the module that it calls; None where it calls a function or a method.
        values: gives the parameters that a call names. Raises RefusedError for what is no parameter.
        is_last: whether what it reads has its channels last, (N, H, W, C); shapes are (N, C, H, W) all the same.
    """

    node: fx.Node
    module: nn.Module | None
    values: Values
    is_last: bool = False

    def number(self, name: str, place: int, default: object = None) -> Any:
        """What is no tensor: by its name, or its place in a call."""
        return argument(self.node, name, place, default, self.module)

    def tensor(self, name: str, place: int) -> Tensor | None:
        """A parameter. Raises RefusedError for what is none."""
        value = self.number(name, place)
        return value if self.module is not None else self.values(value)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of the first input."""
        return self._ordered(shape_of(self.node.all_input_nodes[0]))

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        return self._ordered(shape_of(self.node))

    def _ordered(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (shape[0], shape[3], *shape[1:3]) if self.is_last and len(shape) == 4 else shape
