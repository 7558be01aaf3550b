"""Latents: one tensor of exact floats an image, its digest and its file (certificates/v1.md, "The latents"); and what
functions are given: arrays become tensors, and a mistake is told in one sentence.

Every function that takes a head or latents asks here, so that a mistake gives the same sentence everywhere: what was
given, what was expected, and what to write instead. Heads are asked for by `verale.head.head.require_head`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from operator import index
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn

from verale.checker.errors import LatentsError as UnreadableLatentsError
from verale.checker.read.latents import LARGEST as LARGEST_LATENTS
from verale.checker.read.latents import LatentsFile, read_latents_file
from verale.errors import HeadError, InputError, LatentsError, UsageError, naming, with_article
from verale.files import read_buffer, write_atomically
from verale.tensors import loaded

_INTEGERS = ("U8", "I8", "I16", "I32", "I64")


def as_patches(latents: object, depth: int | None = None) -> Tensor:
    """Latents as (N, L, D) float64, patch l = h * W + w. Arguments and errors as `latents_tensor`."""
    return patches_of(latents, depth).to(torch.float64).contiguous()


def patches_of(latents: object, depth: int | None = None) -> Tensor:
    """The same of the type in which they are stored, which takes no memory where a view can be had."""
    values = latents_tensor(latents, depth)
    return values.flatten(2).transpose(1, 2) if values.dim() == 4 else values


def digest(patches: Tensor) -> str:
    """SHA-256 (hex) of one image's latents (L, D), by value: independent of layout, dtype and device."""
    count, depth = patches.shape
    values = patches.detach().to("cpu", torch.float64).contiguous().numpy().astype("<f8")
    return hashlib.sha256(f"verale.latents.v1 {count} {depth}\n".encode() + values.tobytes()).hexdigest()


def image_digests(latents: Tensor) -> list[str]:
    """The digest of each image of latents (N, D, H, W) or (N, L, D). Raises LatentsError."""
    return [digest(as_patches(image[None])[0]) for image in latents]


def digest_of_all(images: Tensor) -> str:
    """SHA-256 (hex) of the digests of images (N, L, D)."""
    return hashlib.sha256("".join(map(digest, images)).encode()).hexdigest()


def latents_file(latents: Tensor) -> bytes:
    """The bytes of a latents file (safetensors) of images (N, L, D)."""
    return safetensors.torch.save({"latents": latents.contiguous()})


def save_latents(path: str | Path, latents: object, labels: object = None, logits: object = None) -> None:
    """Write latents, and the images' true classes and their network's logits where they are known, as a safetensors
    file.

    Args:
        path: the file.
        latents: (N, D, H, W) or (N, L, D), float32 or float64, a torch tensor or a numpy array.
        labels: N integers, a list, a tensor or an array; or None.
        logits: (N, C), float32 or float64, what the network itself gave for the images, with which `verale head
            compare` compares those of a head; or None.

    Raises:
        LatentsError: another shape or dtype, NaN or infinity, or another number of labels.
        InputError: the file cannot be written.
        UsageError: no path.
    """
    require_path(path, "verale.save_latents(path, latents)")
    write_atomically(path, labelled_file(latents, labels, logits))


def labelled_file(latents: object, labels: object = None, logits: object = None) -> bytes:
    """The bytes of the file that `save_latents` writes. Raises LatentsError."""
    tensors = {"latents": latents_tensor(latents).cpu().contiguous()}
    if labels is not None:
        tensors["labels"] = torch.tensor(require_labels(labels, len(tensors["latents"])), dtype=torch.int64)
    if logits is not None:
        values, images = tensor_of(logits), len(tensors["latents"])
        if values is None or values.dtype not in (torch.float32, torch.float64) or values.dim() != 2:
            is_what = described(logits) if values is None else f"{values.dtype} {tuple(values.shape)}"
            raise LatentsError(f"logits are {is_what}, expected floats (N, C), as the network gave them")
        if len(values) != images or not torch.isfinite(values).all():
            problem = f"are of {len(values)} images" if len(values) != images else "hold NaN or infinity"
            raise LatentsError(f"logits {problem}, expected finite numbers of {images} images, as there are latents")
        tensors["logits"] = values.cpu().contiguous()
    data: bytes = safetensors.torch.save(tensors)
    return data


def load_latents(path: str | Path) -> Tensor:
    """The tensor `latents` of a safetensors file, as stored. Raises InputError: a file that cannot be read, or without
    that tensor; UsageError: no path."""
    require_path(path, "verale.load_latents(path)")
    return loaded(_read(path).tensor)


def load_labelled(path: str | Path, data: bytes | None = None) -> tuple[Tensor, list[int] | None]:
    """The tensors `latents` and `labels` (N,), the images' true classes, of a file whose bytes may have been read
    already; None where it has no labels. Raises InputError."""
    file = _read(path, data)
    labels = file.tensors.get("labels")
    if labels is None:
        return loaded(file.tensor), None
    if labels.dtype not in _INTEGERS or len(labels.shape) != 1:
        raise InputError(
            path, f"holds labels {labels.dtype} {list(labels.shape)}, expected one integer an image, or no labels"
        )
    if labels.shape[0] != file.images:
        raise InputError(
            path, f"holds {labels.shape[0]} labels for {file.images} images, expected one each, or no labels"
        )
    return loaded(file.tensor), loaded(labels).tolist()


def _read(path: str | Path, given: bytes | None = None) -> LatentsFile:
    data = read_buffer(path, "a latents file (safetensors)", LARGEST_LATENTS) if given is None else given
    with naming(path, UnreadableLatentsError):
        return read_latents_file(data)


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
    """A tensor on the CPU with the same values, apart from gradients; None of what holds no numbers. Of a numpy array
    of any byte order; of nested lists of numbers, which become float64; or of what `torch.as_tensor` takes."""
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
    """Latents (N, D, H, W) or (N, L, D), float32 or float64, as a tensor of the same shape, type and values. Without D
    of the head a single image (D, H, W) cannot be told from D images. Raises LatentsError: another shape or type, NaN
    or infinity."""
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
