"""Where the output of a layer lies, as far as the last of its modules says it: after a tanh in [-1, 1], for example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from verale.certificate.words import written

_Ends = tuple[float | None, float | None]

_UNCHANGED = (
    *(nn.Identity, nn.Flatten, nn.Unflatten),
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout),
)
"""Modules that change no number in evaluation mode."""

_RANGES: dict[type[nn.Module], Callable[[Any], _Ends]] = {
    nn.ELU: lambda module: (min(0.0, -module.alpha), None),
    nn.Hardsigmoid: lambda module: (0.0, 1.0),
    nn.Hardtanh: lambda module: (module.min_val, module.max_val),
    nn.LogSigmoid: lambda module: (None, 0.0),
    nn.LogSoftmax: lambda module: (None, 0.0),
    nn.ReLU: lambda module: (0.0, None),
    nn.ReLU6: lambda module: (0.0, 6.0),
    nn.Sigmoid: lambda module: (0.0, 1.0),
    nn.Softmax: lambda module: (0.0, 1.0),
    nn.Softmax2d: lambda module: (0.0, 1.0),
    nn.Softmin: lambda module: (0.0, 1.0),
    nn.Softplus: lambda module: (0.0, None),
    nn.Softsign: lambda module: (-1.0, 1.0),
    nn.Tanh: lambda module: (-1.0, 1.0),
}
"""The ends of what a module can give, which float32 may reach; None where it has none."""


@dataclass(frozen=True)
class Ending:
    """The last module of a layer, and the ends of what it can give.

    Attributes:
        kind: its class, such as `Tanh`.
        lower, upper: the ends; None where it has none.
    """

    kind: str
    lower: float | None
    upper: float | None

    def __str__(self) -> str:
        ends = ("" if end is None else written(end) for end in (self.lower, self.upper))
        return f"{self.kind}, after which latents lie in {':'.join(ends)}"

    def reaches_beyond(self, domain: _Ends) -> bool:
        """Whether an end of the range lies outside the domain, so that latents do, too."""
        (lower, upper) = domain
        return (self.lower is not None and lower is not None and self.lower < lower) or (
            self.upper is not None and upper is not None and self.upper > upper
        )

    def is_open_where(self, domain: _Ends) -> bool:
        """Whether the range has no end where the domain has one."""
        return any(own is None and end is not None for own, end in zip((self.lower, self.upper), domain, strict=True))


def ending_of(layer: nn.Module) -> Ending | None:
    """The ending of a layer; None where it is not known, as of a module with a `forward` of its own."""
    while type(layer) is nn.Sequential:
        changing = [module for module in layer if type(module) not in _UNCHANGED]
        if not changing:
            return None
        layer = changing[-1]
    ends = _RANGES.get(type(layer))
    return None if ends is None else Ending(type(layer).__name__, *ends(layer))
