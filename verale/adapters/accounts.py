"""Every tensor and every number of a checkpoint is accounted for: a head reads it, or it changes no logit.

Networks of different papers have heads with tensors of the same names. What tells them apart stands beside these: a
cap, a mask, a gain, or `topk_k = 3` among the attributes of a whole model. So what an architecture does not explain is
an error. Each file of `published` says with `SAVED` what its network's checkpoints hold beside what its head reads.
"""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from verale.adapters.modules import is_module, saved_model, unwrapped
from verale.adapters.pickled import Record
from verale.errors import HeadError

__all__ = [
    "ARGUMENTS",
    "PREFIXES",
    "Reading",
    "Saved",
    "entries_of",
    "number",
    "place_of_state",
    "require_explained",
    "word",
]

WRAPPERS = ("model_state_dict", "state_dict", "model")
"""The keys under which training scripts save a state dictionary among other things."""

ARGUMENTS = ("args", "config", "hparams", "hyper_parameters")
"""The entries of a checkpoint in which training scripts keep a run's arguments."""

PREFIXES = re.compile(r"^(?:(?:module|model|_orig_mod)\.)+")
"""The prefixes that DataParallel, Lightning and torch.compile add to every key."""

_BOOKKEEPING = re.compile(
    r"(?:^|[^a-z])(?:epochs?|iter\w*|steps?|lr|seed|time|date|version|best|loss|metrics?|acc\w*|prec|score|auc|error|val"
    r"|train|test|arch|name|dataset|class(?:es|_names|_to_idx)|num_classes|labels|(?:img|image|input)_size|path|git|commit"
    r"|optim\w*|sched\w*|scaler|rng|ema|callbacks|loops)(?:$|[^a-z])",
    re.IGNORECASE,
)
"""What training scripts note of the training beside the state: no network computes with it."""

_CHANGING = {"topk_k": 1, "k_for_topk": 1}
"""Arguments of a run that change what some networks compute, with the value at which they do not."""

_EXTRA = "_extra_state"
"""How the entries of a state dictionary end that modules write themselves."""

_GREATEST = 2**64

_LONGEST, _GREATEST_OPTION = 40, 2.0**53

_NAMED = 5
"""The most names that an error lists."""


@dataclass(frozen=True)
class Saved:
    """What checkpoints of a network hold beside what its head reads.

    Attributes:
        classes: the names that its whole model's class may have. Without one no whole model is taken.
        beside: tensors, modules and attributes that change no logit of a latent map, such as the backbone. One that
            ends in a dot stands for all names that begin so.
        fixed: attributes that do, with the values at which the head computes the same; of a module its class.
        stated: the options that checkpoints may state: under which name, and how they are read; None for none.
        only: a tensor that no other architecture has whose checkpoints have the other tensors of the head.
        tried: options that are asked for before all tensors are read, with values that take different ones.
    """

    classes: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    fixed: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    stated: Mapping[str, tuple[str, Callable[[Any], Any]]] = field(default_factory=dict)
    only: str | None = None
    tried: tuple[Mapping[str, Any], ...] = ({},)

    def explains(self, name: str) -> bool:
        """Whether an entry of this name changes no logit."""
        return any(f"{name}.".startswith(beside) if beside.endswith(".") else name == beside for beside in self.beside)


def word(value: object) -> str | None:
    """A word that a file states; it is printed, so it is cut."""
    return value[:_LONGEST] if type(value) is str else None


def number(value: Any) -> float | None:
    """A number that a file states."""
    return value if type(value) in (int, float) and abs(value) <= _GREATEST_OPTION else None


class Reading(UserDict[str, Any]):
    """A state dictionary that notes which of its tensors are taken.

    Attributes:
        taken: their names.
    """

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        super().__init__(tensors)
        self.taken: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        tensor = super().__getitem__(key)
        self.taken.add(key)
        return tensor


def require_explained(
    name: str, saved: Saved, reading: Reading, entries: Mapping[str, object], stated: Mapping[str, object]
) -> None:
    """Raise HeadError where a checkpoint holds what an architecture does not explain; it names the first such entry.

    Args:
        name: of the architecture.
        saved: what its checkpoints hold beside the tensors of its head.
        reading: the state dictionary, after the head was made of it.
        entries: the others (`entries_of`).
        stated: those that state options, by name.
    """
    kind = entries.get("class")
    if kind is not None and kind not in saved.classes:
        expected = " or ".join(saved.classes) or "a state dictionary"
        raise HeadError(
            "class",
            f"is {_brief(kind)}, expected {expected} of {name}: another class may compute something else;"
            f" {_remedy(name)}",
        )
    for key, values in saved.fixed.items():
        if key in entries and entries[key] not in values:
            expected = " or ".join(map(_brief, values))
            raise HeadError(key, f"is {_brief(entries[key])}, expected {expected} of {name}; {_remedy(name)}")
    known = {"class", *saved.fixed, *stated, *reading.taken}
    around = {key[:dot] for key in reading.taken for dot, letter in enumerate(key) if letter == "."}
    known |= {key for key, value in entries.items() if key in around and _is_of_torch(value)}
    strangers = [key for key in (*reading, *entries) if key not in known and not saved.explains(key)]
    if strangers:
        first, *others = strangers
        value = _brief(entries[first] if first in entries else reading[first])
        more = f" (nor {', '.join(others[:_NAMED])}{', ...' if len(others) > _NAMED else ''})" if others else ""
        raise HeadError(
            first,
            f"is {value}, which {name} does not explain{more}: so this may be another network, which computes other"
            f" logits; {_remedy(name)}",
        )


def _remedy(name: str) -> str:
    return (
        f"where its head is that of {name} all the same, give the tensors of its head alone, and compare the logits"
        " (verale.check)"
    )


def entries_of(content: Any) -> dict[str, object]:
    """What a checkpoint holds beside the tensors of its state and notes on the training, by name.

    Of a whole model, the attributes of its modules; the name of each module stands for its class, and `class` for that
    of the model.

    Args:
        content: as a file's pickle gives it, or a dictionary in memory.
    """
    if is_module(content):
        return _of_model(content)
    if isinstance(content, list | tuple):
        content = dict(enumerate(content))
    if not isinstance(content, Mapping):
        return {}
    place = place_of_state(content)
    entries: dict[str, object] = {}
    if place is not None:
        beside = {key: value for key, value in content.items() if key != place}
        content = content[place]
        entries = {str(key): value for key, value in beside.items() if _counts(str(key), value)}
        for arguments in (beside[key] for key in ARGUMENTS if key in beside):
            told = arguments.attributes if isinstance(arguments, Record) else arguments
            if isinstance(told, Mapping):
                entries |= {key: told[key] for key, value in _CHANGING.items() if told.get(key, value) != value}
    if is_module(content):
        return entries | _of_model(content)
    for key, value in content.items():
        name = PREFIXES.sub("", str(key))
        if name.endswith(_EXTRA) and isinstance(value, Mapping):  # what a module wrote of itself
            module = name.removesuffix(_EXTRA)
            entries |= {
                f"{module}{inner}": each
                for inner, each in value.items()
                if isinstance(each, Record) or _counts(str(inner), each)
            }
        elif not isinstance(value, Tensor | np.ndarray) and _counts(name, value):
            entries[name] = value
    return entries


def place_of_state(content: Mapping[Any, Any]) -> Any:
    """The key under which a dictionary holds the state dictionary or the whole model; None where it is one itself."""
    for wrapper in WRAPPERS:
        if isinstance(content.get(wrapper), Mapping) or is_module(content.get(wrapper)):
            return wrapper
    inner = [key for key, value in content.items() if is_module(value) or _holds_tensors(value)]
    alone = len(inner) == 1 and not any(isinstance(value, Tensor | np.ndarray) for value in content.values())
    return inner[0] if alone else None


def _holds_tensors(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and bool(value)
        and all(isinstance(each, Tensor | np.ndarray) for each in value.values())
    )


def _counts(key: str, value: object) -> bool:
    """Whether an entry beside tensors may be part of what a network computes: a number, a word, or tensors."""
    if value is None or key in ARGUMENTS or _BOOKKEEPING.search(key):
        return False
    if isinstance(value, Mapping):
        return "param_groups" not in value and any(isinstance(each, Tensor | np.ndarray) for each in value.values())
    if isinstance(value, list | tuple):
        return any(isinstance(each, Tensor | bool | int | float) for each in value)
    if isinstance(value, Record):
        return is_module(value) or value.name.startswith("numpy.")
    return True


def _of_model(record: Record) -> dict[str, object]:
    """The attributes and the classes of a whole model's modules. Raises HeadError, as `saved_model`."""
    model = saved_model(unwrapped(record))
    entries: dict[str, object] = {"class": model.modules[""].kind.rpartition(".")[2]}
    for name, module in model.modules.items():
        prefix = f"{name}." if name else ""
        if name:
            entries[name] = module.kind if _is_of_torch(module.kind) else module.kind.rpartition(".")[2]
        if _is_of_torch(module.kind):
            continue
        entries |= {
            prefix + key: value for key, value in module.attributes.items() if key != "training" and value is not None
        }
    return entries


def _is_of_torch(kind: object) -> bool:
    return isinstance(kind, str) and kind.startswith("torch.nn.")


def _brief(value: object) -> str:
    """A value on one short line."""
    if isinstance(value, Tensor | np.ndarray):
        kind = str(value.dtype).removeprefix("torch.")
        return f"a tensor {tuple(value.shape)} of {kind}" if value.ndim else f"a tensor that holds {value.item()}"
    if isinstance(value, Record):
        return f"an object of {value.name[:80]}"
    if isinstance(value, int) and abs(value) > _GREATEST:  # Python prints no number of thousands of digits
        return "a number of very many digits"
    return repr(value)[:80] if isinstance(value, bool | int | float | str) else f"a {type(value).__name__}"
