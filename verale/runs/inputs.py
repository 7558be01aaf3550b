"""The files of a run's folder by their names; head, latents, network and pictures are looked for there first.

The folder holds the bytes of head and latents, so that it can be audited wherever it is moved or sent. Very large
latents stay where they are: then `latents.link.json` says where that is, and has their digest.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from os.path import lexists
from pathlib import Path
from shlex import quote

from verale.errors import InputError, option
from verale.files import LARGEST_LATENTS, SentFile, lies_in, open_regular, read, require_inside, require_size

_log = logging.getLogger(__name__)

RUN_FILE = "run.json"
"""Which run the folder holds."""

HEAD, LATENTS, SOURCE = "head.safetensors", "latents.safetensors", "source.json"
"""Head and latents, where verale has made them from images, and where they come from (`verale.runs.source`)."""

LINK = "latents.link.json"
"""Where the latents are that are too large for a copy."""

NETWORK, PICTURES = "network.safetensors", "pictures"
"""The network of a run of pictures; the folder of their PNG files or, with `.safetensors`, the file of their tensor."""

TABLE = "explanations.csv"
"""The rows of a run (`verale.runs.table`)."""


LINK_TYPE = "urn:verale:link:v1"


@dataclass(frozen=True)
class Inputs:
    """The files that certificates are about, by their paths; None where there is none, or where none is given."""

    head: str | None = field(
        default=None,
        metadata={"help": "The head file; by default head.safetensors beside the certificates.", "metavar": "HEAD"},
    )
    latents: str | None = field(
        default=None,
        metadata={"help": "The images' latents; by default those beside the certificates.", "metavar": "LATENTS"},
    )


def find_inputs(folder: Path, head: str | None = None, latents: str | None = None) -> Inputs:
    """Head and latents of the certificates in a folder.

    A file that is given counts. Where the folder has another one, a warning says so. What is not given is the folder's
    own: `head.safetensors`; `latents.safetensors`, or the file in this folder to which `latents.link.json` leads.
    Raises InputError: the folder's head is not the one that its `run.json` names, or the link leads out of the folder,
    to no file, or to a file with other bytes. Neither matters where a file is given.
    """
    own_head, own_latents = folder / HEAD, folder / LATENTS
    if head is None and lexists(own_head):
        head, named = SentFile(own_head), run_of(folder).get("head")
        if isinstance(named, str) and (there := sha256_of(head)) != named:
            raise InputError(
                own_head,
                f"is not the head that was explained ({there[:12]}... here, {named[:12]}... in {RUN_FILE}); give"
                f" {option('head')}, or put the right file here",
            )
    elif head is not None:
        _warn_if_different("head", head, own_head)
    if latents is None:
        latents = SentFile(own_latents) if lexists(own_latents) else _followed(folder / LINK)
    else:
        _warn_if_different("latents", latents, own_latents)
    return Inputs(head, latents)


def find_seen(folder: Path) -> tuple[str, str] | None:
    """The network and the pictures of the certificates in a folder: `network.safetensors`, with the folder `pictures`
    or the file `pictures.safetensors`; None unless both are there."""
    network, tensor = folder / NETWORK, folder / f"{PICTURES}.safetensors"
    there = [str(path) for path in (folder / PICTURES, tensor) if lexists(path)]
    if len(there) > 1 and not any(path.suffix.lower() == ".png" for path in (folder / PICTURES).rglob("*")):
        there = [str(tensor)]  # a folder of something else
    if not (lexists(network) and there):
        return None
    pictures = Path(there[0])
    for path in (network, pictures, *(pictures.rglob("*") if pictures.is_dir() else ())):
        if path.is_symlink():
            require_inside(path, folder)
    return SentFile(network), SentFile(pictures)


def sha256_of(path: str | Path) -> str:
    """SHA-256 (hex) of a file, which is not kept in memory. Raises InputError."""
    try:
        with open_regular(path) as stream:
            require_size(path, os.fstat(stream.fileno()).st_size, "head or latents", LARGEST_LATENTS)
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error


def images_of_run(folder: Path) -> int:
    """How many images the folder's `run.json` says that the run has; 0 without one."""
    images = run_of(folder).get("images")
    return images if type(images) is int else 0


def run_of(folder: Path) -> Mapping[str, object]:
    """The folder's `run.json`; empty if there is none, or something else."""
    if not lexists(folder / RUN_FILE):
        return {}
    try:
        run = json.loads(read(SentFile(folder / RUN_FILE), "the description of a run"))
    except (ValueError, RecursionError):
        return {}
    return run if isinstance(run, dict) else {}


def _warn_if_different(name: str, given: str, own: Path) -> None:
    """Log a warning if the folder has a file that is not the given one, byte for byte."""
    if not (lies_in(own, [own.parent]) and os.path.isfile(own) and os.path.isfile(given)):
        return  # whoever uses the given file says what is wrong with it
    try:
        if os.path.samefile(given, own):
            return
        same = os.stat(given).st_size == os.stat(own).st_size and sha256_of(given) == sha256_of(SentFile(own))
    except (OSError, InputError):
        return
    if not same:
        _log.warning("%s has other bytes than %s, which is given and counts (--%s)", own, given, name)


def _followed(link: Path) -> str | None:
    """The file of the link's folder to which it leads; None without a link. Raises InputError: it leads anywhere else.
    Who sends a folder chooses what its link says: any file of this machine, or an address that would be opened over the
    network."""
    if not lexists(link):
        return None
    remedy = f"give {option('latents')}, or remove this file if no instance is to be checked"
    try:
        record = json.loads(read(SentFile(link), "a link to latents", 2**20))
        if record["_type"] != LINK_TYPE:
            raise ValueError(f"its _type is not {LINK_TYPE}")
        file, absolute, sha256 = (record[name] for name in ("file", "absolute", "sha256"))
        if not (isinstance(file, str) and isinstance(absolute, str | None) and isinstance(sha256, str)):
            raise TypeError("a path or a digest is not a string")
        if "\0" in file or "\0" in (absolute or ""):
            raise ValueError("a path holds a null character")
        os.fsencode(file)  # a ValueError where no file can have that name
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(link, f"is not what verale explain writes ({error}); {remedy}") from error
    path = link.parent / file
    sent = SentFile(path, link.parent)
    if "://" in file or not lies_in(path, [link.parent]):
        where = file if "://" in file or absolute is None else absolute
        what = f"{where}, an address ({where.partition('://')[0]})" if "://" in where else f"{where}"
        raise InputError(
            link,
            f"leads to {what}, outside of this folder, and who wrote it chose that; if you mean these latents, give"
            f" {option('latents')} {quote(where)}, or remove this file if no instance is to be checked",
        )
    if not os.path.exists(path):  # nor is a name too long for any file
        raise InputError(link, f"leads to {file}, and there is no such file; put it there, or {remedy}")
    if sha256_of(sent) != sha256:
        raise InputError(link, f"has another digest than {path}, which changed since; {remedy}")
    return sent
