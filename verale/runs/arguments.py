"""Arguments of `audit`, `refute`, `necessity` and `contrast`: objects or the paths of their files, as bytes.

The checker reads bytes alone. An object becomes the bytes of the file that its `save` would write, and is audited as
that file is.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from verale.certificate import Certificate
from verale.checker import Auditor
from verale.checker import HeadError as UnreadableHeadError
from verale.errors import HeadError, UsageError, naming, nearest, with_article
from verale.files import LARGEST_LATENTS, read

if TYPE_CHECKING:
    from torch import Tensor

    from verale.checker.options import AuditOptions
    from verale.head import Head


@dataclass(frozen=True)
class HeadFile:
    """A head's file, read once: what is printed, searched with and audited with is of these bytes, though another file
    may have the path by now. The path is `head` where a head was given that is no file."""

    path: str
    data: bytes
    given: Head | None = field(default=None, compare=False)

    @classmethod
    def of(cls, head: str | Path | Head | HeadFile, limit: int = -1) -> HeadFile:
        """A file that is read already, or that of a path, of which at most `limit` bytes are read now, or what
        `Head.save` would write. Raises InputError: a file that cannot be read, or is large without a limit; UsageError:
        neither a head nor a path, or a head from a file that other software wrote: certificates name that file by its
        digest, and the head does not remember its bytes."""
        if isinstance(head, HeadFile):
            return head
        if is_path(head):
            return cls(fspath(head), read(head, "a head file (safetensors)", limit))
        from verale.head import require_head

        target = require_head(head)
        file = cls("head", target.to_bytes(), target)
        if file.sha256 != target.digest:
            raise UsageError(
                "head is a Head from a file with other bytes than Head.save writes, expected the path of that file: by"
                " its digest certificates name the head"
            )
        return file

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def head(self) -> Head:
        """The head. Raises InputError, which names the file and the field."""
        if self.given is not None:
            return self.given
        from verale.head import Head

        with naming(self.path, HeadError):
            return Head.from_bytes(self.data)


def is_path(value: object) -> TypeGuard[str | Path]:
    """Whether a value is a path."""
    return isinstance(value, str | PathLike)


def named(value: object, name: str) -> str | Path:
    """What an error calls an argument: a path by itself, an object by the argument's name."""
    return value if is_path(value) else name


def require_search(seconds: object, out: object) -> None:
    """Raise UsageError unless these are a number of seconds, and the path of what is written or None."""
    if not isinstance(seconds, Real) or not float(seconds) >= 0:
        found = seconds if isinstance(seconds, Real) else with_article(type(seconds).__name__)
        raise UsageError(f"seconds is {found}, expected at least 0")
    if out is not None and not is_path(out):
        raise UsageError(f"out is {with_article(type(out).__name__)}, expected a path or None")


def certificate_bytes(certificate: str | Path | Certificate, limit: int = -1) -> bytes:
    """The bytes of a certificate. Raises InputError: an unreadable file; UsageError: neither certificate nor path."""
    if is_path(certificate):
        return read(certificate, "a certificate (.ale.json)", limit)
    if isinstance(certificate, Certificate):
        return certificate.to_bytes()
    name = type(certificate).__name__
    remedy = "write verale.Certificate.load('image.ale.json')"
    if name == "Unexplained":
        remedy = "its image has none; go on where result.size is None"
    elif isinstance(certificate, list | tuple):
        remedy = "give one after the other"
    found = "None" if certificate is None else with_article(name)
    raise UsageError(f"certificate is {found}, expected a verale.Certificate or the path of its file: {remedy}")


def auditor_for(
    head: HeadFile, latents: bytes | None = None, options: AuditOptions | None = None, **seen: Any
) -> Auditor:
    """The checker for a head; `seen` are the network and its pictures. Raises InputError: an invalid head."""
    with naming(head.path, UnreadableHeadError):
        return Auditor(head.data, latents, options, **seen)


def latents_bytes(latents: object, head: HeadFile) -> bytes:
    """The bytes of a latents file: of a path, or of latents as `explain` takes them. Raises InputError,
    LatentsError."""
    if is_path(latents):
        return read(latents, "a latents file (safetensors)", most=LARGEST_LATENTS)
    from verale.head import latents_file, latents_tensor

    return latents_file(latents_tensor(latents, head.head.depth).cpu())


def class_named(head: Head, given: int | str) -> int:
    """The class with a number, or else with that name, upper and lower case apart if need be. Raises UsageError."""
    numbers = {str(c): c for c in range(head.classes)}
    if (number := numbers.get(str(given))) is not None:
        return number
    labels = head.labels or ()
    from verale.runs.images import classes_named

    classes = classes_named(labels, [str(given)])[str(given)]
    if len(classes) > 1:
        raise UsageError(f"class {given!r} is the name of {len(classes)} classes: give a number, {classes}")
    if classes:
        return classes[0]
    named = ", or one of its labels" if labels else "; it has no labels"
    expected = f"expected a number of the head's classes, 0 to {head.classes - 1}{named}{nearest(str(given), labels)}"
    raise UsageError(f"class {given!r} is unknown, {expected}")


def loaded_images(latents: object, depth: int) -> Tensor:
    """The images (N, L, D) float64, read where a path is given. Raises InputError or LatentsError."""
    from verale.head import as_patches, load_latents

    return as_patches(load_latents(latents) if is_path(latents) else latents, depth)
