"""A dataset while it is being written."""

from __future__ import annotations

import json
from itertools import pairwise

import pyarrow as pa
import pytest

from verale.datasets import storage
from verale.datasets.certificates import ParquetRows, to_parquet
from verale.datasets.staging import StagedDataset
from verale.errors import InputError


def part(start: int, stop: int) -> bytes:
    return to_parquet(pa.table({"n": list(range(start, stop))}))


def fill(staged: StagedDataset, *ends: int) -> None:
    for start, stop in pairwise(ends):
        staged.write(start, stop, part(start, stop))


@pytest.fixture(params=["disk", "file", "memory"])
def path(request, tmp_path) -> str:
    return {"disk": f"{tmp_path}/set", "file": f"file://{tmp_path}/set", "memory": f"memory://{tmp_path}/set"}[
        request.param
    ]


def test_a_dataset_is_there_when_it_is_whole(path):
    staged = StagedDataset.begin(path, {"of": (1, 2)})
    fill(staged, 0, 4, 9)
    assert not storage.exists(path)
    assert staged.ranges() == [(0, 4), (4, 9)]
    assert staged.read(4, 9, "n") == [4, 5, 6, 7, 8]
    staged.publish(9)
    assert not storage.exists(staged.partial)
    assert ParquetRows.open(path, "n").take(0, 9, ("n",))["n"].to_pylist() == list(range(9))
    assert json.loads(storage.read_bytes(storage.join(path, "_verale.json"), "")) == {"of": [1, 2]}
    with pytest.raises(InputError, match="already exists"):
        StagedDataset.begin(path, {"of": (1, 2)})
    other = StagedDataset.begin(path, {"of": 3}, overwrite=True)
    assert len(ParquetRows.open(path, "n")) == 9, "until the other is whole, this one stays"
    fill(other, 0, 2)
    other.publish(2)
    assert len(ParquetRows.open(path, "n")) == 2


@pytest.mark.parametrize("ends", [(0, 4), (0, 4, 9, 12), (1, 9)])
def test_what_is_not_whole_is_not_published(ends, path):
    staged = StagedDataset.begin(path, {})
    fill(staged, *ends)
    with pytest.raises(InputError, match="has no part that begins with row"):
        staged.publish(9)
    assert not storage.exists(path)


def test_parts_that_overlap_are_not_published(path):
    staged = StagedDataset.begin(path, {})
    fill(staged, 0, 4, 9)
    fill(staged, 2, 4)
    with pytest.raises(InputError, match="row 4 of 9"):
        staged.publish(9)


def test_a_run_is_gone_on_with_only_if_it_is_the_same(path):
    fill(StagedDataset.begin(path, {"head": "a", "latents": "b"}), 0, 4)
    assert StagedDataset.begin(path, {"latents": "b", "head": "a"}).ranges() == [(0, 4)]
    with pytest.raises(InputError, match="begun with another head; remove it"):
        StagedDataset.begin(path, {"head": "c", "latents": "b"})
    assert StagedDataset.begin(path, {"head": "c", "latents": "b"}, overwrite=True).ranges() == []
    storage.write_bytes(storage.join(f"{path}2.partial", "part-000000000-000000004.parquet"), b"of nothing known")
    with pytest.raises(InputError, match="begun with another head"):
        StagedDataset.begin(f"{path}2", {"head": "c"})


def test_attempts_are_counted_within_a_run(path):
    staged = StagedDataset.begin(path, {})
    assert [staged.attempt(0, 4), staged.attempt(0, 4), staged.attempt(4, 8), staged.attempt(0, 4)] == [1, 2, 1, 3]
    assert StagedDataset.begin(path, {}).attempt(0, 4) == 1
