"""Files of pictures in which exactly one rule of certificates/network-v1.md is broken, for a network that sees grey
pictures of 5 rows and 7 columns."""

from __future__ import annotations

import random
import struct
import zlib

from support.networks import chunk, pictures_file, png

from verale.soundness.independent import files

__all__ = ["GREY", "SIGNATURE", "drawn", "header", "malformed_pictures"]

GREY = (1, 5, 7)
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def drawn(shape: tuple[int, int, int], seed: int = 0) -> list[list[list[int]]]:
    """A picture of random bytes."""
    source = random.Random(seed)
    channels, rows, columns = shape
    return [[[source.randrange(256) for _ in range(columns)] for _ in range(rows)] for _ in range(channels)]


def header(columns: int, rows: int, *rest: int) -> bytes:
    """The chunk IHDR."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, *rest))


def malformed_pictures() -> dict[str, tuple[bytes, str]]:
    """Each file by a name, and what a reader says of it."""
    valid, lines = png(drawn(GREY)), bytes(5 * 8)
    packed, end = chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")
    head = header(7, 5, 8, 0, 0, 0, 0)
    dictionary = zlib.compressobj(zdict=b"0000")
    preset = dictionary.compress(lines) + dictionary.flush()
    stream = zlib.compress(lines)
    damaged = bytearray(valid)
    damaged[45] ^= 1
    return {
        "cut": (valid[:-1], "claims 0 bytes, more than are left"),
        "cut-in-a-length": (SIGNATURE + head + packed + b"\0\0", "more than are left"),
        "no-end": (SIGNATURE + head + packed, "without the chunk IEND"),
        "nothing": (SIGNATURE, "without the chunk IEND"),
        "no-data": (SIGNATURE + head + end, "cannot be inflated|no zlib stream"),
        "tail": (valid + b"\0", "something follows its chunk IEND"),
        "chunk-behind": (valid + chunk(b"tEXt", b""), "something follows its chunk IEND"),
        "end-with-data": (SIGNATURE + head + packed + chunk(b"IEND", b"\0"), "something follows"),
        "damaged": (bytes(damaged), "wrong CRC"),
        "header-second": (SIGNATURE + chunk(b"tEXt", b"") + head + packed + end, "expected IHDR"),
        "header-twice": (SIGNATURE + head + head + packed + end, "has the chunk IHDR"),
        "header-short": (SIGNATURE + chunk(b"IHDR", bytes(12)) + packed + end, "of 12 bytes, expected IHDR of 13"),
        "palette-chunk": (SIGNATURE + head + chunk(b"PLTE", bytes(3)) + packed + end, "has the chunk PLTE"),
        "type-of-digits": (SIGNATURE + head + chunk(b"ID4T", b"") + packed + end, "four letters"),
        "apart": (SIGNATURE + head + packed + chunk(b"tEXt", b"") + packed + end, "between two IDAT chunks"),
        "palette": (SIGNATURE + header(7, 5, 8, 3, 0, 0, 0) + packed + end, "it has a palette"),
        "alpha": (SIGNATURE + header(7, 5, 8, 6, 0, 0, 0) + packed + end, "it has colours with alpha"),
        "grey-alpha": (SIGNATURE + header(7, 5, 8, 4, 0, 0, 0) + packed + end, "it has grey with alpha"),
        "colour-one": (SIGNATURE + header(7, 5, 8, 1, 0, 0, 0) + packed + end, "it has the colour type 1"),
        "sixteen-bits": (SIGNATURE + header(7, 5, 16, 0, 0, 0, 0) + packed + end, "16 bits a channel"),
        "one-bit": (SIGNATURE + header(7, 5, 1, 0, 0, 0, 0) + packed + end, "1 bits a channel"),
        "interlaced": (SIGNATURE + header(7, 5, 8, 0, 0, 0, 1) + packed + end, "interlaced"),
        "compression": (SIGNATURE + header(7, 5, 8, 0, 1, 0, 0) + packed + end, "compression 1"),
        "filtering": (SIGNATURE + header(7, 5, 8, 0, 0, 1, 0) + packed + end, "filter 1"),
        "rows": (SIGNATURE + header(7, 4, 8, 0, 0, 0, 0) + packed + end, "4 rows and 7 columns, expected the network"),
        "colours": (SIGNATURE + header(7, 5, 8, 2, 0, 0, 0) + packed + end, "it has 3 channels"),
        "huge": (SIGNATURE + header(2**31 - 1, 2**31 - 1, 8, 0, 0, 0, 0) + packed + end, "expected the network"),
        "filter-five": (_filtered(5), "row 0 has the filter 5"),
        "short-stream": (SIGNATURE + head + chunk(b"IDAT", zlib.compress(lines[1:])) + end, "no zlib stream of 40"),
        "long-stream": (SIGNATURE + head + chunk(b"IDAT", zlib.compress(lines + b"\0")) + end, "no zlib stream of 40"),
        "behind-the-stream": (SIGNATURE + head + chunk(b"IDAT", stream + b"\0") + end, "no zlib stream of 40"),
        "cut-stream": (SIGNATURE + head + chunk(b"IDAT", stream[:-1]) + end, "no zlib stream of 40"),
        "no-stream": (SIGNATURE + head + chunk(b"IDAT", b"no zlib") + end, "cannot be inflated"),
        "checksum": (SIGNATURE + head + chunk(b"IDAT", stream[:-1] + b"\0") + end, "cannot be inflated"),
        "dictionary": (SIGNATURE + head + chunk(b"IDAT", preset) + end, "cannot be inflated"),
        "another-format": (b"\xff\xd8\xff\xe0" + bytes(20), "pictures file: the header claims"),
        "empty": (b"", "pictures file: the file has 0 bytes"),
        "no-tensor": (files.safetensors({}), "holds no tensor"),
        "latents": (files.latents([[[1.0]]]), "holds 'latents'"),
        "floats": (files.safetensors({"pictures": ("F32", [0, *GREY], b"")}), "dtype 'F32'"),
        "signed": (files.safetensors({"pictures": ("I8", [1, *GREY], bytes(35))}), "dtype 'I8'"),
        "turned": (pictures_file([], (1, 7, 5)), r"\[0, 1, 7, 5\], expected"),
        "flat": (files.safetensors({"pictures": ("U8", [1, 35], bytes(35))}), r"\[1, 35\], expected"),
    }


def _filtered(kind: int) -> bytes:
    lines = bytes([kind]) + bytes(5 * 8 - 1)
    packed = chunk(b"IDAT", zlib.compress(lines))
    return SIGNATURE + header(7, 5, 8, 0, 0, 0, 0) + packed + chunk(b"IEND", b"")
