"""Latents by index, in safetensors and in Parquet."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from verale.datasets.latents import column_of, latents_in, open_latents
from verale.errors import InputError
from verale.head import as_patches, save_latents

SHAPES = {"N L D": (7, 3, 2), "N D H W": (7, 2, 3, 1)}


def latents(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    values.flatten()[:2] = torch.tensor([-0.0, torch.finfo(dtype).tiny / 2])
    return values


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.numpy().tobytes() == other.numpy().tobytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_rows_are_those_of_the_whole_bit_by_bit(shape, dtype, tmp_path):
    values = latents(shape, dtype)
    save_latents(tmp_path / "z", values)
    (tmp_path / "z.parquet").mkdir()
    for start, stop in ((0, 4), (4, 7)):
        part = pa.table({"latents": column_of(values[start:stop])})
        pq.write_table(part, tmp_path / "z.parquet" / f"{start}.parquet", row_group_size=3)
    nested = pa.array(values.numpy().tolist(), pa.list_(pa.list_(pa.float64())) if len(shape) == 3 else None)
    files = {"z": dtype, "z.parquet": dtype}
    if len(shape) == 3:
        pq.write_table(pa.table({"latents": nested}), tmp_path / "nested.parquet")
        files["nested.parquet"] = torch.float64
    for name, kind in files.items():
        opened = open_latents(str(tmp_path / name))
        assert len(opened) == 7
        assert same(opened.take(2, 6), values[2:6].to(kind))
        assert same(opened.whole(), values.to(kind))
        assert torch.equal(as_patches(opened.take(6, 7)), as_patches(values[6:]))


def test_labels_are_found_where_there_are_some(tmp_path):
    labels = [3, 0, -1, 2, 1, 0, 70000]
    save_latents(tmp_path / "z", latents((7, 3, 2)), labels)
    assert open_latents(str(tmp_path / "z")).labels(2, 7) == labels[2:]
    pq.write_table(pa.table({"latents": column_of(latents((7, 3, 2))), "label": labels}), tmp_path / "z.parquet")
    assert open_latents(str(tmp_path / "z.parquet")).labels(2, 7) == labels[2:]
    save_latents(tmp_path / "none", latents((7, 3, 2)))
    assert open_latents(str(tmp_path / "none")).labels(2, 7) is None
    with pytest.raises(InputError, match=r"holds labels F32 \[2\], expected one integer"):
        labels = {"dtype": "F32", "shape": [2], "data_offsets": [48, 56]}
        open_latents(stored(tmp_path / "bad", GOOD | {"labels": labels}, 56))


def test_digests_are_those_of_sha256sum(tmp_path):
    save_latents(tmp_path / "z", latents((7, 3, 2)))
    assert open_latents(str(tmp_path / "z")).digest() == hashlib.sha256((tmp_path / "z").read_bytes()).hexdigest()
    folder = tmp_path / "z.parquet"
    folder.mkdir()
    lines = ""
    for name in ("a.parquet", "b\nb.parquet", "b\\.parquet"):
        pq.write_table(pa.table({"latents": column_of(latents((7, 3, 2)))}), folder / name)
        escaped = name.replace("\\", "\\\\").replace("\n", "\\n")  # as sha256sum does
        mark = "" if escaped == name else "\\"
        lines += f"{mark}{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {escaped}\n"
    assert open_latents(str(folder)).digest() == hashlib.sha256(lines.encode()).hexdigest()
    (folder / "b\nb.parquet").unlink()
    (folder / "b\\.parquet").unlink()
    assert open_latents(str(folder)).digest() == lines[:64]


def stored(path: Path, header: object, size: int) -> str:
    data = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(data)) + data + bytes(size))
    return str(path)


GOOD = {"latents": {"dtype": "F32", "shape": [2, 3, 2], "data_offsets": [0, 48]}}


@pytest.mark.parametrize(
    ("header", "size", "message"),
    [
        ({"other": GOOD["latents"]}, 48, "holds 'other', expected a tensor 'latents'"),
        ({"latents": GOOD["latents"] | {"dtype": "BF16", "data_offsets": [0, 24]}}, 24, "has dtype BF16"),
        ({"latents": GOOD["latents"] | {"shape": [4, 3]}}, 48, "has shape"),
        ({"latents": GOOD["latents"] | {"shape": [2, 0, 2], "data_offsets": [0, 0]}}, 0, "has shape"),
        ({"latents": GOOD["latents"] | {"data_offsets": [0, 44]}}, 48, "spans 44 bytes, expected 48"),
        ({"latents": GOOD["latents"] | {"data_offsets": [-48, 0]}}, 48, "expected an integer from 0"),
        (
            {"latents": GOOD["latents"] | {"shape": [-1, 3, 2], "data_offsets": [24, 0]}},
            48,
            "expected an integer from 0",
        ),
        ({"latents": GOOD["latents"] | {"shape": [float("inf"), 3, 2]}}, 48, "no JSON number"),
        ({"latents": GOOD["latents"] | {"data_offsets": [0.0, 48.0]}}, 48, "a number with a fraction"),
        (GOOD | {"labels": {"dtype": "I8", "shape": [2]}}, 48, "lacks the field 'data_offsets'"),
        (GOOD | {"labels": {"dtype": "I8", "shape": [2], "data_offsets": [-8, 0]}}, 48, "expected an integer from 0"),
        (GOOD | {"labels": {"dtype": "I8", "shape": [3], "data_offsets": [48, 51]}}, 51, r"holds labels I8 \[3\]"),
        (GOOD | {"labels": {"dtype": "F32", "shape": [2], "data_offsets": [48, 56]}}, 56, r"holds labels F32 \[2\]"),
        (GOOD | {"labels": []}, 48, "expected an object"),
        (b"[" * 100000, 48, "does not begin with '{'"),
        (b'{"a":' * 17 + b"0" + b"}" * 17, 48, "nested deeper than 16"),
        ({"latents": {}}, 48, "lacks the field 'dtype'"),
        (GOOD, 47, "expected to begin at 0"),
        (GOOD, 49, "has a tail"),
        (b"{", 48, "is not JSON"),
        (b"[]", 48, "does not begin with '{'"),
        (b"", 0, "does not begin with '{'"),
    ],
)
def test_what_is_no_latents_file_is_refused(header, size, message, tmp_path):
    assert len(open_latents(stored(tmp_path / "good", GOOD, 48))) == 2
    with pytest.raises(InputError, match=message):
        open_latents(stored(tmp_path / "bad", header, size))


def test_rows_of_several_shapes_or_without_latents_are_refused(tmp_path):
    for name, column in (
        ("ragged", pa.array([[[0.0]], [[0.0], [1.0]]])),
        ("null", pa.array([[[0.0]], None])),
        ("text", pa.array(["a", "b"])),
    ):
        pq.write_table(pa.table({"latents": column}), tmp_path / f"{name}.parquet")
        with pytest.raises(InputError, match="expected float tensors or lists of one shape"):
            open_latents(str(tmp_path / f"{name}.parquet")).take(0, 2)
    assert open_latents(str(tmp_path / "null.parquet")).whole().shape == (1, 1, 1)


def test_latents_beside_certificates(given, tmp_path):
    assert latents_in(given.packed) is None
    pq.write_table(pa.table({"latents": column_of(latents((7, 3, 2)))}), tmp_path / "z.parquet")
    packed = latents_in(str(tmp_path / "z.parquet"))
    assert packed is not None and same(packed, latents((7, 3, 2)))


def test_permuted_tensors_are_refused(tmp_path):
    kind = pa.fixed_shape_tensor(pa.float32(), (3, 2), permutation=[1, 0])
    storage = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(6, np.float32)), 6)
    pq.write_table(pa.table({"latents": pa.ExtensionArray.from_storage(kind, storage)}), tmp_path / "z.parquet")
    with pytest.raises(InputError, match="permuted"):
        open_latents(str(tmp_path / "z.parquet")).take(0, 1)
