"""Latents: one tensor of exact floats an image, its digest and its file (certificates/v1.md, "The latents")."""

from __future__ import annotations

import hashlib
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor

from verale.checker.errors import LatentsError as UnreadableLatentsError
from verale.checker.read.latents import LARGEST as LARGEST_LATENTS
from verale.checker.read.latents import LatentsFile, read_latents_file
from verale.errors import InputError, LatentsError, naming
from verale.files import read_buffer, write_atomically
from verale.head.arguments import described, latents_tensor, require_labels, require_path, tensor_of
from verale.tensors import loaded

__all__ = [
    "as_patches",
    "digest",
    "digest_of_all",
    "labelled_file",
    "latents_file",
    "load_labelled",
    "load_labels",
    "load_latents",
    "patches_of",
    "save_latents",
]


_INTEGERS = ("U8", "I8", "I16", "I32", "I64")


def as_patches(latents: object, depth: int | None = None) -> Tensor:
    """Latents as (N, L, D) float64, patch l = h * W + w.

    Args:
        latents: (N, D, H, W) or (N, L, D), float32 or float64, a torch tensor, a numpy array or anything else that
            `torch.as_tensor` takes.
        depth: D of the head, if latents of another one are to be refused.

    Raises:
        LatentsError: another shape or dtype, NaN or infinity.
    """
    return patches_of(latents, depth).to(torch.float64).contiguous()


def patches_of(latents: object, depth: int | None = None) -> Tensor:
    """Latents as (N, L, D) of the type in which they are stored, which takes no memory where a view can be had.

    Arguments and errors are those of `as_patches`.
    """
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
        tensors["logits"] = _logits(logits, len(tensors["latents"]))
    data: bytes = safetensors.torch.save(tensors)
    return data


def _logits(logits: object, images: int) -> Tensor:
    """A network's logits (N, C). Raises LatentsError."""
    values = tensor_of(logits)
    if values is None or values.dtype not in (torch.float32, torch.float64) or values.dim() != 2:
        is_what = described(logits) if values is None else f"{values.dtype} {tuple(values.shape)}"
        raise LatentsError(f"logits are {is_what}, expected floats (N, C), as the network gave them")
    if len(values) != images or not torch.isfinite(values).all():
        problem = f"are of {len(values)} images" if len(values) != images else "hold NaN or infinity"
        raise LatentsError(f"logits {problem}, expected finite numbers of {images} images, as there are latents")
    return values.cpu().contiguous()


def load_latents(path: str | Path) -> Tensor:
    """The tensor `latents` of a safetensors file, as stored.

    Raises:
        InputError: a file that cannot be read, or without that tensor.
        UsageError: no path.
    """
    require_path(path, "verale.load_latents(path)")
    return loaded(_read(path).tensor)


def load_labels(path: str | Path) -> list[int] | None:
    """The tensor `labels` (N,) of a latents file, the images' true classes; None without one. Raises InputError."""
    return _labels(path, _read(path))


def load_labelled(path: str | Path, data: bytes | None = None) -> tuple[Tensor, list[int] | None]:
    """`load_latents` and `load_labels` of the same bytes, which may have been read already. Raises InputError."""
    file = _read(path, data)
    return loaded(file.tensor), _labels(path, file)


def _labels(path: str | Path, file: LatentsFile) -> list[int] | None:
    labels = file.tensors.get("labels")
    if labels is None:
        return None
    if labels.dtype not in _INTEGERS or len(labels.shape) != 1:
        raise InputError(
            path, f"holds labels {labels.dtype} {list(labels.shape)}, expected one integer an image, or no labels"
        )
    if labels.shape[0] != file.images:
        raise InputError(
            path, f"holds {labels.shape[0]} labels for {file.images} images, expected one each, or no labels"
        )
    classes: list[int] = loaded(labels).tolist()
    return classes


def _read(path: str | Path, given: bytes | None = None) -> LatentsFile:
    data = read_buffer(path, "a latents file (safetensors)", LARGEST_LATENTS) if given is None else given
    with naming(path, UnreadableLatentsError):
        return read_latents_file(data)
