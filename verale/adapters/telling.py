"""Whose state dictionary this is, by what it holds beside its head; and the options that a checkpoint states.

The heads of several published networks have the same tensors: `prototype_vectors` and `last_layer.weight` are those of
ProtoPNet, of TesNet, of Deformable ProtoPNet and of the ProtoPNet for DNA. What stands beside them in a checkpoint
tells most of them apart: other tensors and, where the file holds a whole model, the attributes of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from verale.adapters.accounts import ARGUMENTS, Saved, entries_of
from verale.adapters.pickled import Record
from verale.certificate.words import about
from verale.errors import HeadError
from verale.head import Head

__all__ = ["Said", "prototypes_outside", "refused", "require_own", "said_of", "settled", "stated"]

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


@dataclass(frozen=True)
class _Sign:
    """A tensor or an attribute that says whose state this is, what was found there, and whose it can be."""

    key: str
    found: str
    names: tuple[str, ...]


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
    for sign in _signs(tensors, said, only):
        if name not in sign.names:
            whose = f"{' or '.join(sign.names)}, not of {name}: give that architecture"
            if not sign.names:
                whose = f"none of {', '.join(_SHARING)}: build verale.Head(...) of its tensors"
            own = "of a network of your own, give the tensors of its head alone"
            raise HeadError(sign.key, f"{sign.found}, so this is the state of {whose}; or, {own}")


def refused(tensors: Mapping[str, Tensor]) -> str:
    """That these tensors are those of a network that is not imported, and why; empty where they are not."""
    return next((said for key, said in _WITHOUT.items() if any(name.startswith(key) for name in tensors)), "")


def _signs(tensors: Mapping[str, Tensor], said: Mapping[str, object], only: Mapping[str, str]) -> list[_Sign]:
    """What tells whose the tensors are; the right architecture is named by all of them."""
    signs = [_Sign(key, "is there", (name,)) for key, name in only.items() if key in tensors]
    return signs or [*_signs_of_a_model(said), *_signs_of_a_backbone(tensors)]


def _signs_of_a_model(said: Mapping[str, object]) -> Iterator[_Sign]:
    """Of the attributes and the class of a whole model."""
    distance, fixed, kind = (said.get(key) for key in ("prototype_distance_function", "fix_prototypes", "class"))
    if distance == "cosine":
        names = ("genetic",) if fixed is True else ()
        found = f"is {'True' if names else 'not True'} beside prototype_distance_function='cosine'"
        yield _Sign("fix_prototypes", found, names)
    elif distance == "l2":
        yield _Sign("prototype_distance_function", "is 'l2'", ("protopnet",))
    elif str(kind).lower() in _CLASSES:
        yield _Sign("class", f"is {kind}", _CLASSES[str(kind).lower()])


def _signs_of_a_backbone(tensors: Mapping[str, Tensor]) -> Iterator[_Sign]:
    """Of the layers before the head. Those of a network for DNA run along a sequence, and it has no add-on."""
    add_on = next((key for key in tensors if key.startswith("add_on_layers.")), None)
    kernels = {
        key: tensor
        for key, tensor in tensors.items()
        if key.startswith("features.") and key.endswith(".weight") and tensor.dim() in (3, 4)
    }
    planar = next((key for key, kernel in kernels.items() if kernel.dim() == 4 and kernel.shape[2] > 1), None)
    along = next((key for key, kernel in kernels.items() if kernel.shape[-1] > 1), None)
    if planar is not None:
        yield _Sign(planar, "is a kernel over rows and columns, and there is no conv_offset.0.weight", _OF_IMAGES)
    elif add_on is not None:
        yield _Sign(add_on, "is there, and no conv_offset.0.weight", _OF_IMAGES)
    elif along is not None:
        found = f"has shape {tuple(kernels[along].shape)}, a kernel along a sequence, and no add_on_layers follow"
        yield _Sign(along, found, ("genetic",))


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
