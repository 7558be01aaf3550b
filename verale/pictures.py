"""Picture files: decoded only if what they claim to hold is of bounded size."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from verale.errors import InputError
from verale.files import read

if TYPE_CHECKING:
    from torch import Tensor


MOST_PIXELS = 12_000_000
"""4000 x 3000, which a file of any size may hold. A few kilobytes can claim billions, and decoding takes four bytes for
each."""

_PIXELS_A_BYTE = 32
"""Further pixels for each byte of the file: about ten times those of a large photograph."""

_ORIENTATION = 0x0112
"""The tag of EXIF that says how a picture is to be turned."""


def read_picture(path: Path, mode: str = "RGB") -> Image.Image:
    """The picture of a file, decoded, in a mode of PIL's. Raises InputError, as `opened`, or if it cannot be read."""
    return decoded(path, read(path, "an image"), mode)


def decoded(path: object, data: bytes, mode: str = "RGB") -> Image.Image:
    """The picture of these bytes, decoded, in a mode of PIL's. Raises InputError, as `opened`."""
    with opened(path, data) as picture:
        return picture.convert(mode)


def is_turned(picture: Image.Image) -> bool:
    """Whether what a decoded picture notes of the camera (EXIF) says that it is to be turned or mirrored. It never is:
    networks are trained on the pixels as they are stored, as torchvision's ImageFolder gives them."""
    try:
        return bool(picture.getexif().get(_ORIENTATION, 1) != 1)
    except Exception:  # PIL raises errors of any kind on broken notes, which change no pixel
        return False


def png(picture: Tensor) -> bytes:
    """The PNG file of a picture (1, H, W) or (3, H, W) of numbers from 0 to 1, on the CPU."""
    pixels, stream = (picture * 255).round().byte(), io.BytesIO()
    Image.fromarray((pixels[0] if len(pixels) == 1 else pixels.permute(1, 2, 0)).numpy()).save(stream, "PNG")
    return stream.getvalue()


@contextmanager
def opened(path: object, data: bytes) -> Iterator[Image.Image]:
    """A picture, not decoded yet.

    Args:
        path: its file, for messages.
        data: the file's bytes.

    Raises:
        InputError: bytes that are not a picture, here or where the caller decodes it; more pixels than `MOST_PIXELS`
            and 32 for each byte; or grey of more than 8 bits.
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
                if image.mode[0] in "IF":  # clipped to white, or floored, where it is made 8 bits
                    raise InputError(
                        path,
                        f"has numbers of more than 8 bits (Pillow's mode {image.mode}), expected 8 a channel: convert"
                        " it before it is explained, 16 bits by a division by 257",
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
