"""What a checkpoint holds beside a head's tensors: whose it is, and that nothing of it changes a logit.

The heads of several published networks have tensors of the same names: `prototype_vectors` and `last_layer.weight` are
those of ProtoPNet, of TesNet, of Deformable ProtoPNet and of the ProtoPNet for DNA. What stands beside these tells most
of them apart: other tensors, a cap, a mask, a gain, or `topk_k = 3` among the attributes of a whole model. So what an
architecture does not explain is an error. Each file of `published` says with `SAVED` what its network's checkpoints
hold beside what its head reads.
"""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from verale.adapters.modules import is_module, saved_model, unwrapped
from verale.adapters.pickled import Record
from verale.certificate.words import about
from verale.errors import HeadError
from verale.head import Head

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

_ARRAYS = (Tensor, np.ndarray)

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
    families = tuple(beside for beside in saved.beside if beside.endswith("."))
    known |= {*saved.beside, *(key for key in (*entries, *reading) if f"{key}.".startswith(families))}
    strangers = [key for key in (*reading, *entries) if key not in known]
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
        elif not isinstance(value, _ARRAYS) and _counts(name, value):
            entries[name] = value
    return entries


def place_of_state(content: Mapping[Any, Any]) -> Any:
    """The key under which a dictionary holds the state dictionary or the whole model; None where it is one itself."""
    for wrapper in WRAPPERS:
        if isinstance(content.get(wrapper), Mapping) or is_module(content.get(wrapper)):
            return wrapper
    inner = [
        key
        for key, value in content.items()
        if is_module(value)
        or (isinstance(value, Mapping) and value and all(isinstance(each, _ARRAYS) for each in value.values()))
    ]
    alone = len(inner) == 1 and not any(isinstance(value, _ARRAYS) for value in content.values())
    return inner[0] if alone else None


def _counts(key: str, value: object) -> bool:
    """Whether an entry beside tensors may be part of what a network computes: a number, a word, or tensors."""
    if value is None or key in ARGUMENTS or _BOOKKEEPING.search(key):
        return False
    if isinstance(value, Mapping):
        return "param_groups" not in value and any(isinstance(each, _ARRAYS) for each in value.values())
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
    if isinstance(value, _ARRAYS):
        kind = str(value.dtype).removeprefix("torch.")
        return f"a tensor {tuple(value.shape)} of {kind}" if value.ndim else f"a tensor that holds {value.item()}"
    if isinstance(value, Record):
        return f"an object of {value.name[:80]}"
    if isinstance(value, int) and abs(value) > _GREATEST:  # Python prints no number of thousands of digits
        return "a number of very many digits"
    return repr(value)[:80] if isinstance(value, bool | int | float | str) else f"a {type(value).__name__}"


_WITHOUT = {
    "patch_select": "this is the state of ProtoViT, which no head of verale computes: see docs/protovit.md",
    "_root.": "this is the state of ProtoTree's original code, which does not say which node reads which prototype:"
    " make its head of the module in Python, docs/architectures.md#a-prototree-of-the-original-code",
}
"""How names of tensors begin of networks that are not imported, and what to know of these."""

_SHARING = ("deformable", "genetic", "protopformer", "protopnet", "protopool", "tesnet")
"""The architectures with `prototype_vectors`."""

_OF_IMAGES = ("protopnet", "tesnet")
"""Those that have a kernel over rows and columns, or an add-on, and no tensor of their own."""

_CLASSES = {"tesnet": ("tesnet",), "ppnet": ("genetic", "protopnet")}
"""What the classes of published models are called, in small letters, and whose they are."""


class Said(dict[str, object]):
    """What a checkpoint says beside its tensors, by name.

    Attributes:
        entries: what of it an architecture has to explain (`accounts.entries_of`).
    """

    def __init__(self, said: Mapping[str, object], entries: Mapping[str, object]) -> None:
        super().__init__(said)
        self.entries = entries


_Sign = tuple[str, str, tuple[str, ...]]
"""A tensor or an attribute that says whose state this is, what was found there, and whose it can be."""


def require_own(name: str, tensors: Mapping[str, Tensor], said: Mapping[str, object], only: Mapping[str, str]) -> None:
    """Raise HeadError where a state dictionary is certainly another architecture's; it names the key and that one.

    Args:
        name: one of `verale.adapters.ARCHITECTURES`.
        tensors: the state dictionary (`state.unwrap`). Where it holds the head's tensors alone, nothing is certain.
        said: what the checkpoint says besides (`said_of`).
        only: by tensors that one architecture has beside those that it shares with others, which one.
    """
    if name not in _SHARING or "prototype_vectors" not in tensors:
        return
    for key in _WITHOUT.keys() & tensors:
        raise HeadError(key, f"is there, so {refused(tensors)}")
    for key, found, names in _signs(tensors, said, only):
        if name not in names:
            whose = f"{' or '.join(names)}, not of {name}: give that architecture"
            if not names:
                whose = f"none of {', '.join(_SHARING)}: build verale.Head(...) of its tensors"
            own = "of a network of your own, give the tensors of its head alone"
            raise HeadError(key, f"{found}, so this is the state of {whose}; or, {own}")


def refused(tensors: Mapping[str, Tensor]) -> str:
    """That these tensors are those of a network that is not imported, and why; empty where they are not."""
    return next((said for key, said in _WITHOUT.items() if any(name.startswith(key) for name in tensors)), "")


def _signs(tensors: Mapping[str, Tensor], said: Mapping[str, object], only: Mapping[str, str]) -> Iterator[_Sign]:
    """What tells whose the tensors are; the right architecture is named by all of them."""
    own = [(key, "is there", (name,)) for key, name in only.items() if key in tensors]
    if own:
        yield from own
        return
    # Of the attributes and the class of a whole model.
    distance, fixed, kind = (said.get(key) for key in ("prototype_distance_function", "fix_prototypes", "class"))
    if distance == "cosine":
        names = ("genetic",) if fixed is True else ()
        found = f"is {'True' if names else 'not True'} beside prototype_distance_function='cosine'"
        yield ("fix_prototypes", found, names)
    elif distance == "l2":
        yield ("prototype_distance_function", "is 'l2'", ("protopnet",))
    elif str(kind).lower() in _CLASSES:
        yield ("class", f"is {kind}", _CLASSES[str(kind).lower()])
    # Of the layers before the head. Those of a network for DNA run along a sequence, and it has no add-on.
    add_on = next((key for key in tensors if key.startswith("add_on_layers.")), None)
    kernels = {
        key: tensor
        for key, tensor in tensors.items()
        if key.startswith("features.") and key.endswith(".weight") and tensor.dim() in (3, 4)
    }
    planar = next((key for key, kernel in kernels.items() if kernel.dim() == 4 and kernel.shape[2] > 1), None)
    along = next((key for key, kernel in kernels.items() if kernel.shape[-1] > 1), None)
    if planar is not None:
        yield (planar, "is a kernel over rows and columns, and there is no conv_offset.0.weight", _OF_IMAGES)
    elif add_on is not None:
        yield (add_on, "is there, and no conv_offset.0.weight", _OF_IMAGES)
    elif along is not None:
        found = f"has shape {tuple(kernels[along].shape)}, a kernel along a sequence, and no add_on_layers follow"
        yield (along, found, ("genetic",))


def said_of(content: Any) -> Said:
    """What a checkpoint says beside its tensors, by name: attributes of its whole model, entries, a run's arguments.

    Args:
        content: as a file's pickle gives it, or a dictionary in memory. The name of a whole model's class is
            the entry `class`.

    Raises:
        HeadError: a whole model of too many modules.
    """
    entries = entries_of(content)
    said = _plain(entries)
    for key in ARGUMENTS:
        told = content.get(key) if isinstance(content, Mapping) else None
        said |= _plain(told.attributes if isinstance(told, Record) else told)
    return Said(said, entries)


def _plain(entries: object) -> dict[str, object]:
    """Those of a dictionary's entries that are numbers, words or lists."""
    if not isinstance(entries, Mapping):
        return {}
    plain = (bool, int, float, str, list, tuple)
    return {key: value for key, value in entries.items() if type(key) is str and type(value) in plain}


def stated(saved: Saved, tensors: Mapping[str, object], said: Said) -> dict[str, tuple[str, Any]]:
    """The options of an architecture that a checkpoint states: under which name, and their values."""
    entries = {**tensors, **said.entries, **said}
    read = {option: (key, as_(entries.get(key))) for option, (key, as_) in saved.stated.items()}
    return {option: (key, value) for option, (key, value) in read.items() if value is not None}


def settled(
    saved: Saved, options: Mapping[str, object], tensors: Mapping[str, Tensor], said: Said
) -> dict[str, object]:
    """The options as given, and those that the checkpoint states. Raises HeadError where the two differ."""
    known = dict(options)
    for option, (key, value) in stated(saved, tensors, said).items():
        if known.setdefault(option, value) != value:
            raise HeadError(
                key, f"says {option}={value}, and option {option} is {known[option]}, expected {value}: leave it out"
            )
    return known


def prototypes_outside(head: Head) -> str | None:
    """A warning where prototypes lie outside the head's domain: how many and how far. None where none does.

    A projected prototype is a copy of a latent, so it lies where latents do.
    """
    if head.prototypes is None:
        return None
    points = head.prototypes.double()
    beyond = points.new_zeros(len(points))
    for end, sign in zip(head.domain.ends, (-1, 1), strict=True):
        beyond = beyond.maximum((sign * (points - end)).amax(1))
    count, farthest = int((beyond > 0).sum()), int(beyond.argmax())
    if not count:
        return None
    return (
        f"{count} of {head.size} prototypes lie outside the head's domain {head.domain}, the farthest"
        f" (prototype {farthest}) by {about(float(beyond[farthest]))}: projected prototypes are latents, so is this"
        " another network's state, or the domain another one (domain=LOWER:UPPER)?"
    )
