"""Head and latents of certificates that are given as arguments: the ones given as options, or those beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from verale.cli.terminal import print_wrapped, progress
from verale.errors import InputError
from verale.files import CERTIFICATE_SUFFIX, folder_of
from verale.runs.folder import HEAD
from verale.runs.inputs import Inputs, find_inputs

if TYPE_CHECKING:
    from verale.runs.arguments import HeadFile

Images = TypeVar("Images")

_ORIGINS = b"urn:verale:origins:"
"""How the type of an origins file begins, of every version. Who audits certificates need not load what reads it."""


def is_origins_file(path: str) -> bool:
    """Whether a file says at its beginning that it is one of origins."""
    if path.endswith(CERTIFICATE_SUFFIX) or not Path(path).is_file():
        return False
    try:
        with open(path, "rb") as stream:
            return _ORIGINS in stream.read(4096)
    except OSError:
        return False


def inputs_finder(given: Inputs) -> Callable[[str], tuple[str, str | None]]:
    """A function that finds head and latents for an argument.

    Args:
        given: the files given as options, which count.

    Raises:
        InputError: (the function) nothing at the argument's path, no head, or as `find_inputs`.
    """

    @cache
    def in_folder(folder: Path) -> Inputs:
        return find_inputs(folder, given.head, given.latents)

    def find(path: str) -> tuple[str, str | None]:
        inputs = given if "://" in path else in_folder(folder_of(path))
        if inputs.head is None and "://" not in path and not os.path.lexists(path):
            raise InputError(path, "there is no such file or folder; expected certificates")
        if inputs.head is None:
            raise InputError(path, f"has no {HEAD} beside it, without which nothing can be proved: give --head")
        return inputs.head, inputs.latents

    return find


def inputs_reader(given: Inputs) -> Callable[[str], tuple[HeadFile, str | None]]:
    """A function that finds head and latents for an argument and reads the head, once; arguments as `inputs_finder`.

    It says on stderr what it found in a folder.
    """
    from verale.runs.arguments import HeadFile

    find = inputs_finder(given)

    @cache
    def in_file(path: str, images: str | None) -> HeadFile:
        file = HeadFile.of(path)
        print_found(Inputs(path, images), given, file.sha256)
        return file

    def read(argument: str) -> tuple[HeadFile, str | None]:
        found = find(argument)
        return in_file(*found), found[1]

    return read


def print_found(used: Inputs, given: Inputs, sha256: str) -> None:
    """Say on stderr which files were found in a folder, not given.

    Args:
        used: the files that are used.
        given: those that were given as options.
        sha256: of the head's bytes that are used. Its file is not read here: it may hold others by now.
    """
    if used.head != given.head:
        print_wrapped(f"head {used.head}, sha256 {sha256}", sys.stderr)
    if used.latents not in (None, given.latents):
        print_wrapped(f"latents {used.latents}", sys.stderr)


def readable_images(
    number: int,
    read: Callable[[bool, Callable[[int], object]], tuple[Images, list[InputError]]],
    skipped: list[str] | None,
) -> Images:
    """The images that can be read, all of which are tried before a run begins.

    Args:
        number: how many there are.
        read: `verale.runs.images.readable` of them.
        skipped: gets what is wrong with the others; None where they are an error.

    Raises:
        InputError: some cannot be read, and are not skipped; or none can.
    """
    with progress("reading", number) as advance:
        try:
            images, unreadable = read(skipped is not None, advance)
        except InputError as error:
            remedy = "" if skipped is not None else "; repair them, or leave them out by --skip-unreadable"
            raise InputError(error.path, f"{error.problem}{remedy}") from error
    if skipped is not None:
        skipped += map(str, unreadable)
    return images
