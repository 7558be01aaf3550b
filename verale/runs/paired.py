"""Which image of one run is which of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from verale.errors import InputError
from verale.runs.explained_run import ExplainedRun

__all__ = ["BY_FILES", "BY_LATENTS", "BY_ORDER", "Pairs", "paired"]

BY_FILES = "the SHA-256 of their files, as source.json notes them"
BY_LATENTS = "the digests of their latents"
BY_ORDER = "their order, which nothing verifies"
"""What tells which images are the same."""


@dataclass(frozen=True)
class Pairs:
    """Which image of one run is which of the other.

    Attributes:
        pairs: their indices.
        by: what tells so.
        only_a, only_b: how many images there are in one of the runs only.
    """

    pairs: tuple[tuple[int, int], ...]
    by: str
    only_a: int = 0
    only_b: int = 0


def paired(a: ExplainedRun, b: ExplainedRun, same_head: bool) -> Pairs:
    """Which image is which: by their files, else by their latents if both runs have one head, else by their order.

    Raises:
        InputError: no image is in both; or, by order, the runs have other images, or other true classes.
    """
    if a.files is not None and b.files is not None:
        found = _by_digest(a.files, b.files, BY_FILES)
        if not found.pairs:
            raise InputError(b.given, f"has no image of {a.given}, by {BY_FILES}; explain the same images")
        return found
    if same_head and a.all_latents is not None and b.all_latents is not None:
        found = _by_digest(a.all_latents, b.all_latents, BY_LATENTS)
        if not found.only_a or not found.only_b:
            return found
    if a.rows.keys() != b.rows.keys():
        raise InputError(
            b.given,
            f"has {len(b.rows)} images, and {a.given} has {len(a.rows)}, or others; no digests say which are the same:"
            " explain the same images, in the same order",
        )
    for index in sorted(a.rows):
        labels = a.label(index), b.label(index)
        if None not in labels and labels[0] != labels[1]:
            raise InputError(
                b.given,
                f"image {index} has the true class {labels[1]}, and {labels[0]} in {a.given}: these are not the same"
                " images in the same order; explain the same images",
            )
    return Pairs(tuple((index, index) for index in sorted(a.rows)), BY_ORDER)


def _by_digest(a: Mapping[int, str], b: Mapping[int, str], by: str) -> Pairs:
    """Equal digests belong together, several of them in their order."""
    there: dict[str, list[int]] = defaultdict(list)
    for index in sorted(b, reverse=True):
        there[b[index]].append(index)
    pairs = [(index, there[a[index]].pop()) for index in sorted(a) if there[a[index]]]
    return Pairs(tuple(pairs), by, len(a) - len(pairs), len(b) - len(pairs))
