"""IDX files: MNIST's bytes, compressed or not; whatever claims more than it holds is refused."""

from __future__ import annotations

import gzip
import struct

import pytest

from verale.adapters.idx import read_idx
from verale.errors import InputError

PIXELS = bytes(range(24))


def idx(*shape: int, kind: int = 8, content: bytes = PIXELS) -> bytes:
    return struct.pack(">HBB", 0, kind, len(shape)) + struct.pack(f">{len(shape)}I", *shape) + content


@pytest.mark.parametrize("written", [bytes, gzip.compress])
def test_images_and_labels(written, tmp_path):
    path = tmp_path / "images.idx"
    path.write_bytes(written(idx(2, 3, 4)))
    assert read_idx(path, 3).tolist() == [
        [list(range(12 * i + 4 * j, 12 * i + 4 * j + 4)) for j in range(3)] for i in (0, 1)
    ]
    path.write_bytes(written(idx(24)))
    assert read_idx(path, 1).tolist() == list(PIXELS)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is not an IDX file"),
        (idx(2, 3, 4)[:10], "is not an IDX file"),
        (b"\x1f\x8babc", "is not an IDX file"),
        (idx(24), "is not an IDX file of unsigned bytes in 3 dimension"),
        (idx(2, 3, 4, kind=13), "is not an IDX file of unsigned bytes"),
        (idx(2, 3, 5), r"claims \(2, 3, 5\) numbers, and does not hold them"),
        (idx(2, 3, 3), r"claims \(2, 3, 3\) numbers, and does not hold them"),
        (idx(2**32 - 1, 2**32 - 1, 2**32 - 1), "claims .* does not hold them"),
        (gzip.compress(idx(1, 1, 10**7, content=bytes(10**7)), mtime=0), "claims .* does not hold them"),
        (gzip.compress(idx(2, 3, 4), mtime=0)[:-20], "claims .* does not hold them"),
    ],
)
def test_other_files(data, reason, tmp_path):
    (tmp_path / "x.idx").write_bytes(data)
    with pytest.raises(InputError, match=rf"x\.idx: {reason}"):
        read_idx(tmp_path / "x.idx", 3)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="there is no such file; expected an IDX file"):
        read_idx(tmp_path / "none", 3)
