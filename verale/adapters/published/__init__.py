"""Heads from the state dictionaries that people publish: one file an architecture.

Each file has a function `head`. It takes the tensors under the names that the published network gives them
(`state.unwrap`) and, as keywords, what those tensors cannot tell, with the published defaults. Numbers of prototypes,
classes and channels come from the tensors. What all patches of a prototype share is folded into the last layer, in
float64 and rounded to nearest: positive factors into its weights, constants into its bias. What is proved of a head is
proved of the numbers it then holds.

docs/architectures.md has a table of them all; tests/unit/adapters/test_published.py states each again, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from verale.adapters import ARCHITECTURES
from verale.adapters.state import load_state, unwrap
from verale.errors import HeadError, InputError, UsageError
from verale.head import Box, Head, LogRatio, Negated, Similarity

__all__ = ["ANYWHERE", "SIGMOID", "architecture", "choice", "distance_similarity", "head_of", "load_published"]

ANYWHERE = Box()
SIGMOID = Box(0, 1)
"""Latents after a sigmoid; closed, since float32 sigmoids do reach 0 and 1."""

_Choice = TypeVar("_Choice")


def head_of(name: str, state: Mapping[str, Any], **options: Any) -> Head:
    """The head of a published network.

    Args:
        name: one of `verale.adapters.ARCHITECTURES`.
        state: its state dictionary, or a checkpoint dictionary that holds one (`state.unwrap`).
        options: keywords of `head` in `verale/adapters/published/NAME.py`.

    Raises:
        HeadError: which names the key, for anything that verale cannot vouch for.
        UsageError: an architecture or the value of an option that does not exist.
    """
    return architecture(name)(unwrap(state), **options)


def load_published(path: str | Path, name: str, **options: Any) -> Head:
    """The head of a published network, from the file of its state dictionary; nothing in the file is executed.

    Raises:
        InputError: which names the file, and the key.
        UsageError: as `head_of`.
    """
    head, state = architecture(name), load_state(path)
    try:
        return head(state, **options)
    except HeadError as error:
        raise InputError(path, str(error)) from error


def architecture(name: str) -> Callable[..., Head]:
    """The function `head` of an architecture. Raises UsageError, which lists them."""
    if name not in ARCHITECTURES:
        raise UsageError(f"architecture {name!r} is unknown, expected one of {', '.join(ARCHITECTURES)}")
    head: Callable[..., Head] = import_module(f"verale.adapters.published.{name}").head
    return head


def choice(option: str, value: str, choices: dict[str, _Choice]) -> _Choice:
    """The choice of that name. Raises UsageError, which lists them."""
    if value not in choices:
        raise UsageError(f"option {option} is {value!r}, expected {' or '.join(choices)}: verale knows no bounds of it")
    return choices[value]


def distance_similarity(activation: str, epsilon: float) -> Similarity:
    """ProtoPNet's `prototype_activation_function`: "log" or "linear". Raises UsageError for others and callables."""
    similarities: dict[str, Similarity] = {"log": LogRatio(epsilon), "linear": Negated()}
    return choice("activation", activation, similarities)
