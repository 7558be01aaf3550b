"""From a CaBRNet network and a folder of images to a head, latents, and where they are from."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.errors import InputError, VeraleError
from verale.files import read, write_atomically
from verale.runs.folder import SOURCE, require_free

if TYPE_CHECKING:
    from torch import Tensor

    from verale.adapters.cabrnet import Network
    from verale.head import Head

__all__ = ["HEAD", "LATENTS", "SOURCE", "image_files", "see_to"]

_log = logging.getLogger(__name__)

HEAD, LATENTS = "head.safetensors", "latents.safetensors"

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
"""What torchvision's ImageFolder takes for an image."""

_RESULTS = ("latents_digest", "largest_difference_of_logits", "largest_share_of_allowed_difference")
"""What `source.json` says of the latents; the rest says what they are made from."""


def image_files(folder: Path) -> list[Path]:
    """The images of a folder, or of its folders, in the order of their names. Raises InputError."""

    def inside(pattern: str) -> list[Path]:
        return sorted(path for path in folder.glob(pattern) if path.suffix.lower() in IMAGE_SUFFIXES)

    flat, nested = inside("*"), inside("*/*")
    if not folder.is_dir() or bool(flat) == bool(nested):
        found = "images and folders of images" if flat else "no images" if folder.is_dir() else "no such folder"
        raise InputError(
            folder, f"{found}; expected images ({', '.join(IMAGE_SUFFIXES)}), or one folder of them a class"
        )
    return flat or nested


def see_to(
    directory: Path,
    run: Path,
    images: Path,
    files: list[Path],
    advance: Callable[[int], object] = lambda done: None,
    overwrite: bool = False,
) -> tuple[Head, Tensor, list[int] | None]:
    """Head, latents and labels of a CaBRNet network and a folder of images, written with `source.json` to `directory`.

    What is there already of the same network and the same images, by their bytes, is taken as it is.

    Args:
        files: the images of that folder, `image_files`.
        advance: told how many more are seen.
        overwrite: see them again, and replace whatever is there.

    Returns:
        The head, latents (N, D, H, W) float32, and N classes where the folder tells them.

    Raises:
        InputError: a run that verale cannot load, an image that cannot be read or that head and network see
            differently, a folder that holds something else; nothing is written.
    """
    from verale.adapters.cabrnet import load
    from verale.head import as_patches, digest_of_all, save_latents

    network = load(run)
    source = _source(network, images, files)
    labels = None if source["classes"] is None else [image["label"] for image in source["images"]]
    there = None if overwrite else _there(directory, source)
    if there is not None and (latents := _seen(directory, there)) is not None:
        _log.info("%d images are seen already", len(files))
        advance(len(files))
        return network.head, latents, labels
    seen = network.see(files, advance)
    other = [str(file) for file, differs in zip(files, seen.undecided.tolist(), strict=True) if differs]
    if other:
        _log.warning("CaBRNet's float32 logits name another class than the head's: %s", ", ".join(other))
    found = (digest_of_all(as_patches(seen.latents)), float(seen.off.max()), seen.share)
    if there is not None and there["latents_digest"] != found[0]:
        raise InputError(
            directory / SOURCE, "notes other latents than the same network now makes of the same images; --overwrite"
        )
    # First what it is, so that whatever interrupts this, the same command knows its own.
    text = json.dumps(source | dict(zip(_RESULTS, found, strict=True)), indent=1, ensure_ascii=False)
    write_atomically(directory / SOURCE, f"{text}\n".encode())
    network.head.save(directory / HEAD)
    save_latents(directory / LATENTS, seen.latents, labels)
    return network.head, seen.latents, labels


def _source(network: Network, images: Path, files: list[Path]) -> dict[str, Any]:
    """What the latents are made from, as JSON can hold it."""
    folders = sorted({file.parent.name for file in files}) if files[0].parent != images else []
    classes = folders if len(folders) == network.head.classes else None
    source = {
        **network.describe(),
        "head_sha256": network.head.digest,
        "classes": classes,
        "images": [
            {
                "file": str(file.relative_to(images)),
                "label": classes.index(file.parent.name) if classes else None,
                "sha256": hashlib.sha256(read(file, "an image")).hexdigest(),
            }
            for file in files
        ],
        "images_folder": str(images.resolve()),
    }
    plain: dict[str, Any] = json.loads(json.dumps(source, default=str))
    return plain


def _there(directory: Path, source: dict[str, Any]) -> dict[str, Any] | None:
    """What `source.json` says, if it is there. Raises InputError if the folder holds anything of another source."""
    path = directory / SOURCE
    if not path.exists():
        for name in (HEAD, LATENTS):
            if (directory / name).exists():
                raise InputError(directory, f"holds {name} of unknown source; choose another --out, or say --overwrite")
        require_free(directory)
        return None
    try:
        there = dict(json.loads(read(path, "the source of latents")))
    except (ValueError, TypeError) as error:
        raise InputError(path, f"is not what verale explain writes ({error}); say --overwrite") from error
    different = [key for key in source if there.get(key) != source[key]]
    if different or "latents_digest" not in there:
        named = ", ".join(different) or "latents_digest"
        raise InputError(
            directory, f"was made from something else ({named} differ); choose another --out, or say --overwrite"
        )
    return there


def _seen(directory: Path, there: dict[str, Any]) -> Tensor | None:
    """The latents, if they and the head are there whole."""
    from verale.head import Head, as_patches, digest_of_all, load_latents

    try:
        latents = load_latents(directory / LATENTS)
        same = digest_of_all(as_patches(latents)) == there["latents_digest"]
        return latents if same and Head.load(directory / HEAD).digest == there["head_sha256"] else None
    except VeraleError:
        return None
