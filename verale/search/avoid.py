"""Avoid: patches and prototypes about which an explanation must not say anything."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from verale.errors import UsageError

__all__ = ["NONE_FOUND", "NOTHING", "Avoid", "listed_indices"]

_KINDS = ("prototypes", "patches")
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", re.ASCII)


@dataclass(frozen=True)
class Avoid:
    """What no statement may be about.

    A ceiling and a floor speak of all prototypes that they do not list, avoided ones too, and may list an avoided one
    as exempt: that says nothing about it.

    Attributes:
        prototypes: their indices, ascending; no statement names them.
        patches: their indices, ascending; no statement is about them. Statements about activations speak of all patches
            together, so there are none then.
    """

    prototypes: tuple[int, ...] = ()
    patches: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for kind in _KINDS:
            indices = tuple(sorted(set(getattr(self, kind))))
            if indices and indices[0] < 0:
                raise UsageError(f"{kind} to avoid: {indices[0]} is negative, expected indices from 0 on")
            object.__setattr__(self, kind, indices)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Avoid:
        """From texts such as "prototypes:3,7-9" and "patches:0-7".

        Raises:
            UsageError: a text of another form.
        """
        avoided: dict[str, list[int]] = {kind: [] for kind in _KINDS}
        for text in texts:
            kind, colon, listed = text.partition(":")
            if not colon or kind not in _KINDS:
                raise UsageError(f"{text!r} does not say what to avoid, expected prototypes:3,7-9 or patches:0-7")
            avoided[kind] += listed_indices(text, listed)
        return cls(tuple(avoided["prototypes"]), tuple(avoided["patches"]))

    def __bool__(self) -> bool:
        return bool(self.prototypes or self.patches)

    def __str__(self) -> str:
        given = [(kind, getattr(self, kind)) for kind in _KINDS]
        return " and ".join(f"{kind} {_ranges(indices)}" for kind, indices in given if indices)

    def check(self, patches: int, prototypes: int) -> None:
        """Raise UsageError, which names the index, unless images have these patches and the head these prototypes."""
        for kind, count in zip(_KINDS, (prototypes, patches), strict=True):
            indices = getattr(self, kind)
            if indices and indices[-1] >= count:
                raise UsageError(f"{kind} to avoid: there is no {indices[-1]}, expected 0 to {count - 1}")

    def prototypes_left(self, count: int) -> list[int]:
        """Those of `count` prototypes that are not avoided."""
        return sorted(set(range(count)) - set(self.prototypes))

    def patches_left(self, count: int) -> list[int]:
        """Those of `count` patches that are not avoided."""
        return sorted(set(range(count)) - set(self.patches))


NOTHING = Avoid()
"""Nothing is avoided."""

NONE_FOUND = "no explanation was found"
"""The reason where clauses are not all tried, and others might serve together with what may be stated."""


def listed_indices(text: str, listed: str) -> list[int]:
    """The indices of a list such as "3,7-9". Raises UsageError, which shows the whole text, for another form."""
    indices: list[int] = []
    for part in listed.split(","):
        matched = _RANGE.fullmatch(part.strip())
        if matched is None:
            raise UsageError(f"{text!r}: {part!r} is not an index or a range of them, such as 3 or 7-9")
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if last < first:
            raise UsageError(f"{text!r}: the range {part.strip()} is empty, expected the lower index first")
        indices += range(first, last + 1)
    return indices


def _ranges(indices: tuple[int, ...]) -> str:
    """Ascending indices as text: 3, 7-9."""
    runs = [[j for _, j in run] for _, run in groupby(enumerate(indices), lambda each: each[1] - each[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
