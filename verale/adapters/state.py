"""State dictionaries: read without executing anything, unwrapped, and checked for the keys and shapes of a network; and
the last layers in them, with factors and constants folded in, in float64 rounded to nearest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from verale.adapters.accounts import PREFIXES, Said, place_of_state
from verale.adapters.checkpoint import read_checkpoint
from verale.errors import HeadError, InputError, naming
from verale.head import Geometry, Head, Similarity, described, tensor_of

State = Mapping[str, Tensor]

_NUMBERS = (Tensor, np.ndarray)


def load_state(path: str | Path) -> dict[str, Tensor]:
    """The tensors of a checkpoint, unwrapped (`unwrap`). Raises InputError, as `read_state`, or without tensors."""
    return load_described(path)[0]


def load_described(path: str | Path) -> tuple[dict[str, Tensor], Said]:
    """The tensors of `load_state`, and what else the checkpoint says (`accounts.said_of`). Raises InputError."""
    state, said = read_state(path)
    with naming(path, HeadError):
        return unwrap(state), said


def read_state(path: str | Path) -> tuple[Mapping[str, Any], Said]:
    """The content of a checkpoint: tensors, numbers, strings and collections of them; of a list or a tuple, such as a
    network's state and its optimizer's, a dictionary by places. And what it says besides (`accounts.said_of`).

    Raises:
        InputError: as `read_checkpoint`, or the file holds no collection.
    """
    state, said = read_checkpoint(path)
    if isinstance(state, list | tuple) and any(isinstance(entry, Mapping) for entry in state):
        state = dict(enumerate(state))
    if not isinstance(state, Mapping):
        raise InputError(path, f"holds a {type(state).__name__}, expected a state dictionary")
    return state, said


def unwrap(state: Mapping[str, Any]) -> dict[str, Tensor]:
    """The tensors of a state dictionary under the network's own names.

    Args:
        state: a state dictionary, or a dictionary that holds one as `model_state_dict`, `state_dict` or `model`, or
            that holds one and no other tensors. The prefixes `module.`, `model.` and `_orig_mod.` are removed; entries
            that are not tensors or numpy arrays are left out.

    Raises:
        HeadError: no state dictionary, no tensors in it, or two keys that differ only in their prefix.
    """
    if not isinstance(state, Mapping):
        remedy = "write torch.load(path, weights_only=True), or load_published(path, architecture)"
        if isinstance(state, nn.Module):
            remedy = "write model.state_dict()"
        raise HeadError("state", f"is {described(state)}, expected a state dictionary: {remedy}")
    place = place_of_state(state)
    state = state if place is None else state[place]
    tensors: dict[str, Tensor] = {}
    for key, value in state.items():
        tensor = tensor_of(value) if isinstance(value, _NUMBERS) else None
        if tensor is not None:
            name = PREFIXES.sub("", str(key))
            if name in tensors:
                raise HeadError(name, "occurs twice, under different prefixes: keep the entries of one network only")
            tensors[name] = tensor
    if not tensors:
        raise HeadError("state", f"holds {_first_keys(state)}, none of them tensors: expected a state dictionary")
    return tensors


def numbers(state: State, key: str, shape: str, **known: int) -> Tensor:
    """A tensor of finite floating-point numbers, as stored (half precision is cast up, which is exact).

    Args:
        shape: the expected shape, such as `"C P"` or `"P D 1 1"`: letters stand for any size, numbers for themselves.
        known: the sizes of letters that other tensors determine.

    Raises:
        HeadError: the key is missing, or its tensor has another shape or type; the error names the key.
    """
    if key not in state:
        near = get_close_matches(key, state, n=3, cutoff=0.4)
        raise HeadError(
            key,
            f"is missing from the state dictionary, which holds {', '.join(near) if near else _first_keys(state)}:"
            " is it the state of this architecture?",
        )
    tensor = state[key].detach().cpu()
    letters = shape.split()
    sizes = [known.get(letter, int(letter) if letter.isdigit() else None) for letter in letters]
    if len(sizes) != tensor.dim() or any(
        actual == 0 or wanted not in (None, actual) for wanted, actual in zip(sizes, tensor.shape, strict=True)
    ):
        expected = ", ".join(letter if size is None else str(size) for letter, size in zip(letters, sizes, strict=True))
        raise HeadError(key, f"has shape {tuple(tensor.shape)}, expected ({expected}): another network's, or pruned?")
    if not tensor.is_floating_point():
        raise HeadError(key, f"has dtype {tensor.dtype}, expected floating-point numbers")
    if not bool(torch.isfinite(tensor).all()):
        index = (~torch.isfinite(tensor)).nonzero()[0].tolist()
        raise HeadError(key, f"holds {tensor[tuple(index)].item()} at {index}, expected finite numbers")
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.to(torch.float32)


def kernels(state: State, key: str, **known: int) -> Tensor:
    """Prototypes (P, D) of one patch each, stored as kernels (P, D, 1, 1) of a convolution. Raises HeadError."""
    return numbers(state, key, "P D 1 1", **known).flatten(1)


def isotropic(key: str, spread: Tensor) -> Tensor:
    """(P,) from (P, D) with constant rows. Raises HeadError: only an isotropic Gaussian measures a distance."""
    uneven = (spread != spread[:, :1]).any(dim=1).nonzero().flatten().tolist()
    if uneven:
        raise HeadError(
            key,
            f"differs between the channels of prototype {uneven[0]}, expected one number: only isotropic"
            " Gaussians are supported",
        )
    return spread[:, 0]


def positive(key: str, values: Tensor, expected: str = "positive numbers") -> Tensor:
    """The values (P,) float64. Raises HeadError unless all are finite and at least the least normal number."""
    bad = ~((values >= torch.finfo(torch.float64).tiny) & values.isfinite())
    if bool(bad.any()):
        prototype = int(bad.nonzero()[0])
        raise HeadError(key, f"gives {values[prototype].item()} at prototype {prototype}, expected {expected}")
    return values


def _first_keys(state: Mapping[str, object]) -> str:
    """The first keys, for a message."""
    keys = [str(key) for key in state]
    return ", ".join(keys[:5]) + (f" and {len(keys) - 5} more" if len(keys) > 5 else "") if keys else "nothing"


MOST_WEIGHTS = 20_000_000
"""The most numbers of a layer that is written out from fewer: 1,000 classes with 20 prototypes each."""


@dataclass(frozen=True)
class Layer:
    """o = weight a + bias with weight (C, P) and bias (C,), or None for zeros."""

    weight: Tensor
    bias: Tensor | None = None

    def after(self, factor: Tensor | float, constant: Tensor | None = None) -> Layer:
        """The layer whose output for a_j is this layer's output for factor_j a_j + constant_j. Float64."""
        weight, bias = self.weight.double(), self.bias
        if constant is not None:
            shift = weight @ constant
            bias = shift if bias is None else shift + bias
        return Layer(weight * factor, bias)

    def times(self, number: float) -> Layer:
        """The layer whose logits are this layer's, bias included, times a number. Float64."""
        return Layer(self.weight.double() * number, None if self.bias is None else self.bias.double() * number)

    def head(self, geometry: Geometry, similarity: Similarity, prototypes: Tensor | None = None, **parts: Any) -> Head:
        """The head that ends in this layer; `parts` are others of `verale.head.Head`. Raises HeadError."""
        return Head(self.weight, geometry, similarity, prototypes, self.bias, **parts)


def linear(state: State, key: str, size: int | None = None, **known: int) -> Layer:
    """The layer of `key.weight` (C, size) and, if present, `key.bias` (C,). Raises HeadError.

    Args:
        size: P, if other tensors determine it.
        known: C, likewise.
    """
    weight = numbers(state, f"{key}.weight", "C P", **known, **({} if size is None else {"P": size}))
    return Layer(weight, numbers(state, f"{key}.bias", "C", C=len(weight)) if f"{key}.bias" in state else None)


def side_by_side(layers: list[Layer]) -> Layer:
    """The layer whose logits are the sums of these layers' logits, each on its own prototypes. Raises HeadError."""
    if len({len(layer.weight) for layer in layers}) > 1:
        classes = " and ".join(str(len(layer.weight)) for layer in layers)
        raise HeadError("weight", f"has {classes} classes in the branches of this network, expected equal numbers")
    biases = [layer.bias for layer in layers if layer.bias is not None]
    return Layer(
        torch.cat([layer.weight for layer in layers], dim=1), torch.stack(biases).double().sum(0) if biases else None
    )


def blocks(weights: Tensor) -> Tensor:
    """Weights (C, C K) of a layer in which class c reads its own K prototypes, from (C, K). Raises HeadError."""
    classes, per_class = weights.shape
    if classes * classes * per_class > MOST_WEIGHTS:
        raise HeadError(
            "weight",
            f"gives {classes} classes {per_class} prototypes each, expected a layer of at most {MOST_WEIGHTS} numbers",
        )
    return torch.eye(classes, dtype=weights.dtype).repeat_interleave(per_class, dim=1) * weights.flatten()
