"""Network files and pictures built with struct, zlib and json only, an independent reading of
certificates/network-v1.md; and the hostile ones of the corpora."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import zlib
from typing import Any

from support import files

from verale.soundness.corpus.cases import stored

PIXELS = 255
SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY = (1, 5, 7)
"""The shape of the pictures that the network beside the hostile ones sees."""


def layer(name: str, kind: str, *inputs: str, **fields: Any) -> dict[str, Any]:
    """A layer of a description; `stride` and the like where they are not given."""
    usual: dict[str, Any] = {
        "conv2d": {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1},
        "leaky_relu": {"slope": (0.25).hex()},
        "max_pool2d": {"kernel": [2, 2], "stride": [2, 2], "padding": [0, 0]},
        "avg_pool2d": {"kernel": [2, 2], "stride": [2, 2], "padding": [0, 0]},
        "upsample_nearest": {"scale": [2, 2]},
    }
    return {"name": name, "kind": kind, "inputs": list(inputs), **usual.get(kind, {}), **fields}


def network_file(
    layers: list[dict[str, Any]],
    tensors: dict[str, Any],
    shape: tuple[int, int, int] = (1, 4, 4),
    mean: list[float] | None = None,
    std: list[float] | None = None,
    dtype: str = "F64",
) -> bytes:
    """A network file; tensors are nested lists."""
    description = {
        "version": 1,
        "input": {
            "shape": list(shape),
            "mean": [x.hex() for x in mean or [0.0] * shape[0]],
            "std": [x.hex() for x in std or [1.0] * shape[0]],
        },
        "layers": layers,
    }
    stored = {name: files.tensor(values, dtype) for name, values in tensors.items()}
    return files.safetensors(stored, {"verale.network": json.dumps(description)})


def small_layers() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Layers and tensors from a grey picture of 4 by 4 to two channels of 2 by 2: a convolution, a residual, a pooling,
    a sigmoid."""
    layers = [
        layer("stem", "conv2d", "picture", padding=[1, 1]),
        layer("stem.relu", "relu", "stem"),
        layer("block.0", "conv2d", "stem.relu", padding=[1, 1], groups=2),
        layer("block.sum", "add", "block.0", "stem.relu"),
        layer("pool", "max_pool2d", "block.sum"),
        layer("out", "conv2d", "pool"),
        layer("latents", "sigmoid", "out"),
    ]
    corner = [[0.5, -0.25, 0.125], [0.75, 1.0, -0.5], [0.25, 0.0, -1.5]]
    tensors = {
        "stem.weight": [[corner], [corner[::-1]]],
        "stem.bias": [0.5, -0.125],
        "block.0.weight": [[corner[::-1]], [corner]],
        "out.weight": [[[[1.0]], [[-0.5]]], [[[0.25]], [[0.75]]]],
        "out.bias": [0.0, -0.5],
    }
    return layers, tensors


def small_network() -> bytes:
    """The file of these layers."""
    return network_file(*small_layers(), mean=[0.5], std=[0.25])


def pictures_file(pictures: list[list[list[list[int]]]], shape: tuple[int, int, int] | None = None) -> bytes:
    """A tensor file of pictures, nested lists (N, C, H, W); `shape` where there are none."""
    sizes = [len(pictures), *(shape or files.shape(pictures[0]))]
    return files.safetensors({"pictures": ("U8", sizes, bytes(int(v) for v in files.flat(pictures)))})


def picture_digest(picture: list[list[list[int]]]) -> str:
    """The digest of a picture (C, H, W)."""
    channels, rows, columns = files.shape(picture)
    line = f"verale.picture.v1 {channels} {rows} {columns}\n".encode()
    return hashlib.sha256(line + bytes(int(v) for v in files.flat(picture))).hexdigest()


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(
    picture: list[list[list[int]]], filters: list[int] | None = None, parts: int = 1, between: bytes = b""
) -> bytes:
    """A PNG file of a picture (C, H, W) with these filters, row by row, in so many IDAT chunks."""
    channels, rows, columns = files.shape(picture)
    filters = filters or [0] * rows
    stream, above = b"", [0] * (channels * columns)
    for y in range(rows):
        row = [picture[c][y][x] for x in range(columns) for c in range(channels)]
        left, corner = [0] * channels + row, [0] * channels + above
        predicted = [
            (0, a, b, (a + b) // 2, _paeth(a, b, c))[filters[y]]
            for a, b, c in zip(left[: len(row)], above, corner[: len(row)], strict=True)
        ]
        stream += bytes([filters[y], *((value - guess) % 256 for value, guess in zip(row, predicted, strict=True))])
        above = row
    packed = zlib.compress(stream)
    size = -(-len(packed) // parts)
    chunks = [chunk(b"IDAT", packed[i : i + size]) for i in range(0, len(packed), size)]
    header = png_header(columns, rows, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return SIGNATURE + header + between + b"".join(chunks) + chunk(b"IEND", b"")


def _paeth(a: int, b: int, c: int) -> int:
    return min((a, b, c), key=lambda each: abs(a + b - c - each))


def png_header(columns: int, rows: int, *rest: int) -> bytes:
    """The chunk IHDR."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, *rest))


def drawn_picture(shape: tuple[int, int, int], seed: int = 0) -> list[list[list[int]]]:
    """A picture (C, H, W) of random bytes."""
    source = random.Random(seed)
    channels, rows, columns = shape
    return [[[source.randrange(256) for _ in range(columns)] for _ in range(rows)] for _ in range(channels)]


def hostile_networks() -> dict[str, bytes]:
    """Network files that break exactly one rule, by name."""
    others = ("network-missing", "network-depth")
    cases = {case.name.removeprefix("picture/"): case.network for case in stored("picture")}
    return {name: data or b"" for name, data in cases.items() if name.startswith("network-") and name not in others}
