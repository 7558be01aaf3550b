"""Heads from the state dictionaries of published networks: one file an architecture.

Each file has a function `head`. It takes the tensors under the published network's names (`state.unwrap`) and, as
keywords with the published defaults, what the tensors do not determine. Numbers of prototypes, classes and channels
come from the tensors. Factors and constants that a prototype has at every patch are folded into the last layer, in
float64 rounded to nearest: positive factors into its weights, constants into its bias. Proofs are about the numbers
that the head then holds.

To add an architecture, follow the recipe in CONTRIBUTING.md.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, signature
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from verale.adapters import ARCHITECTURES
from verale.adapters.accounts import (
    Reading,
    Said,
    Saved,
    number,
    prototypes_outside,
    require_explained,
    require_own,
    said_of,
    settled,
    stated,
    word,
)
from verale.adapters.state import State, load_described, unwrap
from verale.errors import HeadError, InputError, UsageError
from verale.head import Box, Head, LogRatio, Negated, Similarity, require_kind

if TYPE_CHECKING:
    from torch import nn

__all__ = [
    "ANYWHERE",
    "PROTOPNET_STATES",
    "SIGMOID",
    "architecture",
    "calling",
    "choice",
    "distance_similarity",
    "fitting",
    "head_of",
    "head_of_own",
    "load_published",
    "load_with_options",
    "options_of",
    "reservation",
    "saved_of",
]

_log = logging.getLogger(__name__)

ANYWHERE = Box()
SIGMOID = Box(0, 1)
"""The domain after a sigmoid; closed, because float32 sigmoids reach 0 and 1."""

PROTOPNET_STATES = {"activation": ("prototype_activation_function", word), "epsilon": ("epsilon", number)}
"""What checkpoints of ProtoPNet and its descendants state."""

_KINDS: dict[str, tuple[Any, str]] = {
    "int": (Integral, "a number such as 1"),
    "float": (Real, "a number such as 0.5"),
    "str": (str, "a word"),
}
"""By an option's annotation what its values are; a domain is read by `Box.of`."""

_Choice = TypeVar("_Choice")


def head_of(name: str, state: Mapping[str, Any], **options: Any) -> Head:
    """The head of a published network. A warning in the log says where prototypes lie outside its domain.

    Args:
        name: one of `verale.adapters.ARCHITECTURES`.
        state: its state dictionary, or a checkpoint dictionary that holds one (`state.unwrap`).
        options: keywords of `head` in `verale/adapters/published/NAME.py`. A domain is a `Box`, (0, 1) or "0:1".

    Raises:
        HeadError: no state dictionary, a tensor that is missing or unsupported, a state that is certainly another
            network's, an option that the state contradicts, a domain that is none; the error names the key.
        UsageError: an unknown architecture, an unknown option, or an invalid value of one.
    """
    require_options(name, options)
    return _made(name, unwrap(state), said_of(state), options)[0]


def load_published(path: str | Path, name: str, **options: Any) -> Head:
    """The head of a published network, from the file of its state dictionary; no code from the file is executed.

    Raises:
        InputError: the file cannot be read, or as HeadError of `head_of`; the error names file and key.
        UsageError: as `head_of`.
    """
    return load_with_options(path, name, options)[0]


def load_with_options(path: str | Path, name: str, options: Mapping[str, Any]) -> tuple[Head, dict[str, Any]]:
    """The head of `load_published`, and the options that made it: given, stated by the file, or defaults."""
    require_options(name, options)
    tensors, said = load_described(path)
    try:
        return _made(name, tensors, said, options)
    except HeadError as error:
        raise InputError(path, str(error)) from error


def head_of_own(name: str, model: nn.Module, options: Mapping[str, Any]) -> Head:
    """The head of a module with an architecture's tensors, whose logits the caller compares with the head's.

    So it may be a network of somebody's own, beside whose head anything may stand. Raises as `head_of`.
    """
    require_options(name, options)
    tensors = unwrap(model.state_dict())
    said = said_of({"args": vars(model)} if name == "genetic" else {})
    return _warned(name, tensors, architecture(name)(tensors, **settled(saved_of(name), options, tensors, said)))


def _made(
    name: str, tensors: State, said: Said, options: Mapping[str, Any], warns: bool = True
) -> tuple[Head, dict[str, Any]]:
    """The head of a checkpoint that holds nothing but the architecture's, and the options that made it.

    Raises HeadError, UsageError.
    """
    saved = saved_of(name)
    only = {tensor: each for each in ARCHITECTURES if (tensor := saved_of(each).only) is not None}
    require_own(name, tensors, said, only)
    known, reading = settled(saved, options, tensors, said), Reading(tensors)
    head = architecture(name)(reading, **known)
    require_explained(name, saved, reading, said.entries, dict(stated(saved, tensors, said).values()))
    defaults = {option.name: option.default for option in options_of(name) if option.default is not None}
    return _warned(name, tensors, head) if warns else head, defaults | known


def _warned(name: str, tensors: State, head: Head) -> Head:
    """The head, after warnings: where prototypes lie outside its domain, and of what it leaves out."""
    for warning in (prototypes_outside(head), reservation(name, tensors)):
        if warning:
            _log.warning("%s: %s", name, warning)
    return head


def reservation(name: str, tensors: State) -> str | None:
    """What a network with these tensors may compute that its head does not, and the remedy; None if there is nothing.

    Its file has a function `reservation` of the tensors.
    """
    told: Callable[[State], str | None] | None
    told = getattr(import_module(f"verale.adapters.published.{name}"), "reservation", None)
    return None if told is None else told(tensors)


def calling(
    name: str,
    model: nn.Module,
    head: Head,
    arguments: Mapping[str, object] | None = None,
    logits: Callable[[Any], Any] | None = None,
) -> tuple[Mapping[str, object] | None, Callable[[Any], Any] | None]:
    """What published code is called with beside images, and how its logits follow from its output.

    Its file has `arguments`, a function of module and head, and perhaps `logits`. They are for modules whose `forward`
    has arguments of these names; what is given counts before. Raises UsageError for a module that cannot be called.
    """
    module = import_module(f"verale.adapters.published.{name}")
    published = module.arguments(model, head) if hasattr(module, "arguments") else {}
    if not published or not published.keys() <= signature(model.forward).parameters.keys():
        return arguments, logits
    return (published if arguments is None else arguments), logits or getattr(module, "logits", None)


def architecture(name: str) -> Callable[..., Head]:
    """The function `head` of an architecture. Raises UsageError, which lists the architectures."""
    if not isinstance(name, str) or name not in ARCHITECTURES:
        raise UsageError(f"architecture {name!r} is unknown, expected one of {', '.join(ARCHITECTURES)}")
    head: Callable[..., Head] = import_module(f"verale.adapters.published.{name}").head
    return head


def saved_of(name: str) -> Saved:
    """What checkpoints of an architecture hold beside what its head reads."""
    return getattr(import_module(f"verale.adapters.published.{name}"), "SAVED", Saved())


def fitting(state: Mapping[str, Any], said: Said | None = None) -> list[str]:
    """The architectures that a state dictionary may be of: those that make a head of it, perhaps with an option.

    Where there are several, their tensors cannot be told apart.

    Args:
        state: as of `head_of`.
        said: what its checkpoint says besides; by default what the dictionary does.
    """
    tensors, found = unwrap(state), []
    said = said_of(state) if said is None else said
    for name in ARCHITECTURES:
        saved = saved_of(name)
        for options in saved.tried if saved.only in (None, *tensors) else ():
            try:
                _made(name, tensors, said, options, warns=False)
            except UsageError:
                pass  # an option is missing, which is asked for after the tensors
            except HeadError:
                continue
            found.append(name)
            break
    return found


def require_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError, which lists what there is, for an option or an architecture that is unknown; or of a value."""
    known = {option.name: option for option in options_of(name)}
    for option, value in options.items():
        if option not in known:
            raise UsageError(f"option {option!r} is unknown, expected one of {name}'s: {', '.join(known) or 'none'}")
        if value is None and known[option].default is None:
            continue
        kind, expected = _KINDS.get(str(known[option].annotation).split()[0], (object, ""))
        require_kind(f"option {option}", value, kind, expected)


def options_of(name: str) -> list[Parameter]:
    """The options of an architecture. Raises UsageError."""
    return list(signature(architecture(name)).parameters.values())[1:]


def choice(option: str, value: str, choices: dict[str, _Choice]) -> _Choice:
    """The choice with that name. Raises UsageError, which lists the choices."""
    if value not in choices:
        raise UsageError(f"option {option} is {value!r}, expected {' or '.join(choices)}: verale has no bounds for it")
    return choices[value]


def distance_similarity(activation: str, epsilon: float) -> Similarity:
    """ProtoPNet's `prototype_activation_function`: "log" or "linear". Raises UsageError for other values."""
    similarities: dict[str, Similarity] = {"log": LogRatio(epsilon), "linear": Negated()}
    return choice("activation", activation, similarities)
