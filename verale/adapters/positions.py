"""Positions: which patches each prototype of a network looks at, as a file says it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from verale.errors import HeadError, InputError, naming
from verale.files import read
from verale.head import Head, MaskedMaxPooling, MaxPooling

_LARGEST = 8 * 2**20
_EXAMPLE = '{"patches": 40, "positions": [0, [1, 2], ...]}'


def with_positions(head: Head, path: str | Path) -> Head:
    """The head with prototypes that look at the patches that a file lists.

    Args:
        head: one with max pooling over all patches.
        path: a JSON object: `patches`, how many an image has, and `positions`, for each prototype a patch or a list of
            patches. Both count from 0.

    Raises:
        InputError: another file, other positions, or a head that has no max pooling over all patches.
    """
    data = read(path, "the positions of prototypes", _LARGEST + 1)
    if len(data) > _LARGEST:
        raise InputError(path, f"has more than {_LARGEST} bytes, the most that are allowed")
    try:
        given = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"is not JSON ({error}), expected {_EXAMPLE}") from error
    if not isinstance(given, dict) or set(given) != {"patches", "positions"}:
        raise InputError(path, f"is no object of patches and positions, expected {_EXAMPLE}")
    patches, positions = given["patches"], given["positions"]
    if (
        type(patches) is not int
        or not isinstance(positions, list)
        or any(type(each) is not int for one in positions for each in (one if isinstance(one, list) else [one]))
    ):
        raise InputError(path, f"has patches or positions that are no integers, expected {_EXAMPLE}")
    if len(positions) != head.size:
        raise InputError(path, f"has {len(positions)} positions, expected {head.size}, one a prototype")
    if head.pooling != MaxPooling():
        raise InputError(path, f"cannot be used for a head with {head.pooling!r}, expected one with MaxPooling()")
    with naming(path, HeadError):
        return replace(head, pooling=MaskedMaxPooling.at(positions, patches))
