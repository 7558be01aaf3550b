"""Arguments of public functions: arrays become tensors, and a mistake is told in one sentence.

Every function that takes a head or latents asks here, so that a mistake gives the same sentence everywhere: what was
given, what was expected, and what to write instead. Heads are asked for by `verale.head.head.require_head`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import index
from os import PathLike, fspath
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from verale.errors import HeadError, LatentsError, UsageError, with_article

__all__ = [
    "described",
    "field_tensor",
    "latents_tensor",
    "require_channels",
    "require_kind",
    "require_labels",
    "require_path",
    "shortened",
    "tensor_of",
]

_LIKE_A_PATH = re.compile(r"[/\\]|\.[A-Za-z]\w*$")
"""Text that names a file: with a folder, or a suffix."""

_SHAPES = "(N, D, H, W) or (N, L, D)"
_CAPTURED = "verale.adapters.capture(model, layer, images) gives latents"


def described(value: object) -> str:
    """What a value is, for a message."""
    if value is None:
        return "None"
    if isinstance(value, str | PathLike):
        path = isinstance(value, PathLike) or _LIKE_A_PATH.search(value)
        return f"a path ({shortened(value)})" if path else f"the text {shortened(value)}"
    name = type(value).__name__
    if isinstance(value, nn.Module):
        return f"a module ({name})"
    return with_article(name)


def shortened(path: str | PathLike[Any]) -> str:
    """A path as Python spells it, cut where it is long."""
    text = repr(str(fspath(path)))
    return text if len(text) <= 100 else f"{text[:96]}...{text[0]}"


def require_kind(name: str, value: object, kind: type | tuple[type, ...], expected: str) -> None:
    """Raise UsageError, which names the argument and says what is expected, unless its value is of this kind."""
    if not isinstance(value, kind):
        raise UsageError(f"{name} is {described(value)}, expected {expected}")


def require_path(path: object, call: str) -> None:
    """Raise UsageError, which says what to write instead, unless this is a path."""
    if not isinstance(path, str | PathLike):
        raise UsageError(f"path is {described(path)}, expected the path of a file: write {call}")


def tensor_of(value: object) -> Tensor | None:
    """A tensor on the CPU with the same values, apart from gradients; None of what holds no numbers.

    Args:
        value: a torch tensor; a numpy array, of any byte order; nested lists of numbers, which become float64, as
            Python's numbers are; or anything else that `torch.as_tensor` takes.
    """
    if isinstance(value, Tensor):
        tensor = value.detach() if value.requires_grad else value
        return tensor if tensor.is_meta else tensor.cpu()
    try:
        if isinstance(value, np.ndarray):
            # Torch takes no foreign byte order and no negative strides, and warns of arrays that cannot be written.
            value = np.require(value, value.dtype.newbyteorder("="), ["C", "W"])
        return torch.tensor(value, dtype=torch.float64) if isinstance(value, list | tuple) else torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def field_tensor(name: str, value: object) -> Tensor:
    """A tensor that a head is made of. Raises HeadError, which names the field, of what is none."""
    tensor = None if isinstance(value, str | nn.Module) else tensor_of(value)
    if tensor is None:
        remedy = f", write {name}=module.weight for its weights" if isinstance(value, nn.Module) else ""
        raise HeadError(name, f"is {described(value)}, expected a tensor or an array of floats{remedy}")
    return tensor


def latents_tensor(latents: object, depth: int | None = None) -> Tensor:
    """Latents as a tensor of the same shape, type and values.

    Args:
        latents: (N, D, H, W) or (N, L, D), float32 or float64, as `tensor_of` takes them.
        depth: D of the head, where there is one. Without it a single image (D, H, W) cannot be told from D images.

    Raises:
        LatentsError: another shape or type, NaN or infinity.
    """
    values = None if isinstance(latents, str | PathLike | nn.Module) else tensor_of(latents)
    if values is None:
        raise LatentsError(
            f"latents are {described(latents)}, expected a tensor or an array {_SHAPES}: {_instead_of(latents)}"
        )
    if values.dtype not in (torch.float32, torch.float64):
        remedy = "write torch.as_tensor(latents).float()" if values.is_floating_point() else _CAPTURED
        raise LatentsError(f"latents have dtype {values.dtype}, expected float32 or float64: {remedy}")
    shape = tuple(values.shape)
    if len(shape) not in (3, 4) or 0 in shape[1:]:
        remedy = "write latents[None] for a single image" if len(shape) == 2 else _CAPTURED
        raise LatentsError(f"latents have shape {shape}, expected {_SHAPES}: {remedy}")
    if depth is not None:
        require_channels(shape, depth)
    if not torch.isfinite(values).all():
        image = int((~torch.isfinite(values)).nonzero()[0, 0])
        raise LatentsError(f"latents of image {image} hold NaN or infinity, expected finite numbers")
    return values


def _instead_of(latents: object) -> str:
    """What to write instead of something that is no tensor."""
    if isinstance(latents, str | PathLike):
        return f"write verale.load_latents({shortened(latents)})"
    if isinstance(latents, nn.Module):
        return "write verale.adapters.capture(model, layer, images)"
    if isinstance(latents, list | tuple) and latents and all(isinstance(each, Tensor) for each in latents):
        return "write torch.stack(latents), or torch.cat(latents) of batches"
    if isinstance(latents, Mapping):
        return "give the entry that holds them"
    return _CAPTURED


def require_channels(shape: tuple[int, ...], depth: int) -> None:
    """Raise LatentsError, with the likeliest mistake, unless latents of this shape have so many channels."""
    channels = shape[1] if len(shape) == 4 else shape[-1]
    if channels == depth:
        return
    if len(shape) == 3 and shape[0] == depth:
        remedy = "write latents[None] for a single image (D, H, W)"
    elif len(shape) == 3 and shape[1] == depth:
        remedy = "write latents.swapaxes(1, 2) for (N, D, L)"
    elif len(shape) == 4 and shape[3] == depth:
        remedy = "write torch.as_tensor(latents).movedim(-1, 1) for (N, H, W, D)"
    else:
        remedy = "are they another network's?"
    raise LatentsError(f"latents have {channels} channels in shape {shape}, expected the head's {depth}: {remedy}")


def require_labels(labels: Any, images: int, classes: int | None = None) -> list[int]:
    """The true classes of images, one integer for each, from a list, a tensor or an array; of a head with so many
    classes, if that is given. Raises LatentsError."""
    try:
        numbers = [index(each) for each in (labels.tolist() if isinstance(labels, Tensor | np.ndarray) else labels)]
    except TypeError:
        raise LatentsError(
            f"labels are {described(labels)} that is no list of integers, expected one integer for each image"
        ) from None
    if len(numbers) != images:
        raise LatentsError(
            f"there are {len(numbers)} labels for {images} images: give one label for each image, or none at all"
        )
    for number, label in enumerate(numbers):
        if classes is not None and not 0 <= label < classes:
            raise LatentsError(f"label {number} is {label}, expected one of the head's classes, 0 to {classes - 1}")
    return numbers
