"""Head and latents of certificates that are given as arguments: the ones given as options, or those beside them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from verale.checker.output import print_line
from verale.errors import InputError
from verale.runs.folder import HEAD
from verale.runs.inputs import Inputs, find_inputs, sha256_of

__all__ = ["folder_of", "inputs_finder"]

_log = logging.getLogger(__name__)


def folder_of(given: str) -> Path:
    """The folder in which head and latents of certificates are looked for: a dataset's is the one that it lies in."""
    path = Path(given)
    return path if path.is_dir() and path.suffix != ".parquet" else path.parent


def inputs_finder(
    head: str | None, latents: str | None, datasets: bool = False
) -> Callable[[str], tuple[str, str | None]]:
    """A function that finds head and latents for an argument; it says once on stderr which ones it found in a folder.

    Args:
        head, latents: the files given as options, which count.
        datasets: whether latents may be Parquet.

    Raises:
        InputError: (the function) no head, or as `find_inputs`.
    """

    @cache
    def in_folder(folder: Path) -> Inputs:
        inputs = find_inputs(folder, head, latents)
        if inputs.head is None:
            return inputs
        if inputs.head != head:
            print_line(f"head {inputs.head}, sha256 {sha256_of(inputs.head)}", sys.stderr)
        if inputs.latents is None or inputs.latents == latents:
            return inputs
        path = Path(inputs.latents)
        if not datasets and ("://" in inputs.latents or path.suffix == ".parquet" or path.is_dir()):
            _log.warning("%s: no instance is checked without --engine ray", inputs.latents)
            return Inputs(inputs.head, latents)
        print_line(f"latents {inputs.latents}", sys.stderr)
        return inputs

    def find(given: str) -> tuple[str, str | None]:
        inputs = Inputs(head, latents) if "://" in given else in_folder(folder_of(given))
        if inputs.head is None:
            raise InputError(given, f"has no {HEAD} beside it, without which nothing can be proved: give --head")
        return inputs.head, inputs.latents

    return find
