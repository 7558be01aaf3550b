"""Networks as their files hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor, nn


class Saves(nn.Module):
    """A published network as its file holds it: tensors by name, attributes, and modules without tensors.

    Attributes:
        layers: the classes of layers that are no torch's, by name.
    """

    layers: ClassVar[Mapping[str, type[nn.Module]]] = {}

    def __init__(self, state: dict[str, Tensor], **attributes: object) -> None:
        super().__init__()
        for key, tensor in state.items():
            owner: nn.Module = self
            *path, last = key.split(".")
            for part in path:
                if part not in owner._modules:
                    owner.add_module(part, self.layers.get(part, nn.Module)())
                owner = owner.get_submodule(part)
            owner.register_parameter(last, nn.Parameter(tensor, requires_grad=False))
        for name, value in attributes.items():
            setattr(self, name, value)
