"""Picture files: decoded only if what they claim to hold is of bounded size."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from verale.errors import InputError

__all__ = ["MOST_PIXELS", "opened"]

MOST_PIXELS = 12_000_000
"""4000 x 3000, which a file of any size may hold. A few kilobytes can claim billions, and decoding takes four bytes for
each."""

_PIXELS_A_BYTE = 32
"""Further pixels for each byte of the file: about ten times those of a large photograph."""


@contextmanager
def opened(path: Path, data: bytes) -> Iterator[Image.Image]:
    """A picture, not decoded yet.

    Args:
        path: its file, for messages.
        data: the file's bytes.

    Raises:
        InputError: bytes that are not a picture, here or where the caller decodes it; or more pixels
            than `MOST_PIXELS` and 32 for each byte.
    """
    most = MOST_PIXELS + _PIXELS_A_BYTE * len(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as image:
                width, height = image.size
                if width * height > most:
                    raise InputError(
                        path,
                        f"has {width} x {height} pixels in {len(data)} bytes, expected at most {most}: make it smaller",
                    )
                yield image
    except InputError:
        raise
    except Image.DecompressionBombError as error:
        raise InputError(path, f"has more than {most} pixels: make it smaller") from error
    except Exception as error:  # PIL raises errors of any kind on broken bytes
        raise InputError(
            path, f"cannot be read as an image ({type(error).__name__}): is this the right folder?"
        ) from error
