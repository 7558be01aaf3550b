"""Latents in Parquet: tensors and nested lists, bit by bit, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from verale.datasets.rows import load_parquet
from verale.errors import InputError
from verale.head import as_patches

SHAPES = {"N L D": (7, 3, 2), "N D H W": (7, 2, 3, 1)}


def latents(shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    values.flatten()[:2] = torch.tensor([-0.0, torch.finfo(dtype).tiny / 2])
    return values


def column_of(values: torch.Tensor) -> pa.Array:
    kind = pa.fixed_shape_tensor(pa.from_numpy_dtype(values.numpy().dtype), tuple(values.shape[1:]))
    flat = pa.array(values.flatten().numpy())
    return pa.ExtensionArray.from_storage(kind, pa.FixedSizeListArray.from_arrays(flat, values[0].numel()))


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.numpy().tobytes() == other.numpy().tobytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_latents_are_read_bit_by_bit(shape, dtype, tmp_path):
    values = latents(shape, dtype)
    (tmp_path / "z.parquet").mkdir()
    for start, stop in ((0, 4), (4, 7)):
        part = pa.table({"latents": column_of(values[start:stop])})
        pq.write_table(part, tmp_path / "z.parquet" / f"{start}.parquet", row_group_size=3)
    files = {"z.parquet": dtype}
    if len(shape) == 3:
        pq.write_table(pa.table({"latents": values.numpy().tolist()}), tmp_path / "nested.parquet")
        files["nested.parquet"] = torch.float64
    for name, kind in files.items():
        found, labels = load_parquet(str(tmp_path / name))
        assert same(found, values.to(kind)) and labels is None
        assert torch.equal(as_patches(found), as_patches(values.to(kind)))


def test_labels_are_found_where_there_are_some(tmp_path):
    labels = [3, 0, -1, 2, 1, 0, 70000]
    pq.write_table(pa.table({"latents": column_of(latents((7, 3, 2))), "label": labels}), tmp_path / "z.parquet")
    assert load_parquet(str(tmp_path / "z.parquet"))[1] == labels
    for wrong in ([None] * 7, [0.5] * 7, [*labels[1:], None]):
        pq.write_table(pa.table({"latents": column_of(latents((7, 3, 2))), "label": wrong}), tmp_path / "z.parquet")
        with pytest.raises(InputError, match=r"column 'label' is \w+, expected a whole number for each image, or none"):
            load_parquet(str(tmp_path / "z.parquet"))


def test_rows_of_several_shapes_or_without_latents_are_refused(tmp_path):
    for name, column in (
        ("ragged", pa.array([[[0.0]], [[0.0], [1.0]]])),
        ("null", pa.array([[[0.0]], None])),
        ("text", pa.array(["a", "b"])),
    ):
        pq.write_table(pa.table({"latents": column}), tmp_path / f"{name}.parquet")
        with pytest.raises(InputError, match="expected float tensors or lists of one shape"):
            load_parquet(str(tmp_path / f"{name}.parquet"))
    pq.write_table(pa.table({"latents": pa.array([], pa.list_(pa.float32()))}), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="has no rows"):
        load_parquet(str(tmp_path / "none.parquet"))


def test_permuted_tensors_are_refused(tmp_path):
    kind = pa.fixed_shape_tensor(pa.float32(), (3, 2), permutation=[1, 0])
    storage = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(6, np.float32)), 6)
    pq.write_table(pa.table({"latents": pa.ExtensionArray.from_storage(kind, storage)}), tmp_path / "z.parquet")
    with pytest.raises(InputError, match="permuted"):
        load_parquet(str(tmp_path / "z.parquet"))
