"""Heads from the state dictionaries of published networks: one file an architecture.

Each file has a function `head`. It takes the tensors under the published network's names (`state.unwrap`) and, as
keywords with the published defaults, what the tensors do not determine. Numbers of prototypes, classes and channels
come from the tensors. Factors and constants that a prototype has at every patch are folded into the last layer, in
float64 rounded to nearest: positive factors into its weights, constants into its bias. Proofs are about the numbers
that the head then holds.

To add an architecture: write its file here, add its name to `verale.adapters.ARCHITECTURES` and its row to the table
of docs/architectures.md. Tests then ask for a small network (benchmarks/architectures.py) and for the published code's
computation, step by step (tests/unit/adapters/test_published.py).
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from verale.adapters import ARCHITECTURES
from verale.adapters.state import State, load_state, unwrap
from verale.errors import HeadError, InputError, UsageError, VeraleError
from verale.head import Box, Head, LogRatio, Negated, Similarity

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "ANYWHERE",
    "SIGMOID",
    "architecture",
    "choice",
    "distance_similarity",
    "fitting",
    "head_of",
    "load_published",
]

ANYWHERE = Box()
SIGMOID = Box(0, 1)
"""The domain after a sigmoid; closed, because float32 sigmoids reach 0 and 1."""

_BESIDE = {"deformable": "conv_offset.0.weight"}
"""A tensor that a network has beside those of its head, where others have the same ones."""

_Choice = TypeVar("_Choice")


def head_of(name: str, state: Mapping[str, Any], **options: Any) -> Head:
    """The head of a published network.

    Args:
        name: one of `verale.adapters.ARCHITECTURES`.
        state: its state dictionary, or a checkpoint dictionary that holds one (`state.unwrap`).
        options: keywords of `head` in `verale/adapters/published/NAME.py`. A domain is a `Box`, (0, 1) or "0:1".

    Raises:
        HeadError: no state dictionary, a tensor that is missing or unsupported, a domain that is none; the error names
            the key.
        UsageError: an unknown architecture, an unknown option, or an invalid value of one.
    """
    return _with_options(name, options)(unwrap(state))


def load_published(path: str | Path, name: str, **options: Any) -> Head:
    """The head of a published network, from the file of its state dictionary; no code from the file is executed.

    Raises:
        InputError: the file cannot be read, or a tensor is missing or unsupported; the error names file and key.
        UsageError: as `head_of`.
    """
    head, state = _with_options(name, options), load_state(path)
    try:
        return head(state)
    except HeadError as error:
        raise InputError(path, str(error)) from error


def architecture(name: str) -> Callable[..., Head]:
    """The function `head` of an architecture. Raises UsageError, which lists the architectures."""
    if name not in ARCHITECTURES:
        raise UsageError(f"architecture {name!r} is unknown, expected one of {', '.join(ARCHITECTURES)}")
    head: Callable[..., Head] = import_module(f"verale.adapters.published.{name}").head
    return head


def fitting(state: Mapping[str, Any]) -> list[str]:
    """The architectures that a state dictionary may be of: those that make a head of it, with their own defaults.

    Of two of which one uses all the tensors of the other, and more, only that one is listed.
    """
    tensors = unwrap(state)
    used: dict[str, set[str]] = {}
    for name in ARCHITECTURES:
        watched = _Watched(tensors)
        try:
            architecture(name)(watched)
        except VeraleError:
            continue
        if _BESIDE.get(name) in (None, *tensors):
            used[name] = watched.used
    return [name for name, keys in used.items() if not any(keys < others for others in used.values())]


class _Watched(UserDict[str, "Tensor"]):
    """Tensors by name that remember which were used."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__(tensors)
        self.used: set[str] = set()

    def __getitem__(self, key: str) -> Tensor:
        self.used.add(key)
        return super().__getitem__(key)


def _with_options(name: str, options: Mapping[str, Any]) -> Callable[[State], Head]:
    """The function `head` of an architecture, with its options. Raises UsageError, which lists what there is."""
    head = architecture(name)
    known = list(signature(head).parameters)[1:]
    for option in options:
        if option not in known:
            raise UsageError(f"option {option!r} is unknown, expected one of {name}'s: {', '.join(known) or 'none'}")
    return partial(head, **options)


def choice(option: str, value: str, choices: dict[str, _Choice]) -> _Choice:
    """The choice with that name. Raises UsageError, which lists the choices."""
    if value not in choices:
        raise UsageError(f"option {option} is {value!r}, expected {' or '.join(choices)}: verale has no bounds for it")
    return choices[value]


def distance_similarity(activation: str, epsilon: float) -> Similarity:
    """ProtoPNet's `prototype_activation_function`: "log" or "linear". Raises UsageError for other values."""
    similarities: dict[str, Similarity] = {"log": LogRatio(epsilon), "linear": Negated()}
    return choice("activation", activation, similarities)
