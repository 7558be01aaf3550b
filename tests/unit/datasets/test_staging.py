"""A dataset while it is made."""

from __future__ import annotations

import json
from itertools import pairwise

import pyarrow as pa
import pytest

from verale.datasets import storage
from verale.datasets.certificates import Rows, to_parquet
from verale.datasets.staging import Staged
from verale.errors import InputError


def part(start: int, stop: int) -> bytes:
    return to_parquet(pa.table({"n": list(range(start, stop))}))


def fill(staged: Staged, *ends: int) -> None:
    for start, stop in pairwise(ends):
        staged.write(start, stop, part(start, stop))


@pytest.fixture(params=["disk", "file", "memory"])
def path(request, tmp_path) -> str:
    return {"disk": f"{tmp_path}/set", "file": f"file://{tmp_path}/set", "memory": f"memory://{tmp_path}/set"}[
        request.param
    ]


def test_a_dataset_is_there_when_it_is_whole(path):
    staged = Staged.begin(path, {"of": (1, 2)})
    fill(staged, 0, 4, 9)
    assert not storage.is_there(path)
    assert staged.ranges() == [(0, 4), (4, 9)]
    assert staged.read(4, 9, "n") == [4, 5, 6, 7, 8]
    staged.publish(9)
    assert not storage.is_there(staged.partial)
    assert Rows.open(path, "n").take(0, 9, ("n",))["n"].to_pylist() == list(range(9))
    assert json.loads(storage.read_bytes(storage.beneath(path, "_verale.json"), "")) == {"of": [1, 2]}
    with pytest.raises(InputError, match="is there already"):
        Staged.begin(path, {"of": (1, 2)})
    other = Staged.begin(path, {"of": 3}, overwrite=True)
    assert len(Rows.open(path, "n")) == 9, "until the other is whole, this one stays"
    fill(other, 0, 2)
    other.publish(2)
    assert len(Rows.open(path, "n")) == 2


@pytest.mark.parametrize("ends", [(0, 4), (0, 4, 9, 12), (1, 9)])
def test_what_is_not_whole_is_not_published(ends, path):
    staged = Staged.begin(path, {})
    fill(staged, *ends)
    with pytest.raises(InputError, match="has no part that begins with row"):
        staged.publish(9)
    assert not storage.is_there(path)


def test_parts_that_overlap_are_not_published(path):
    staged = Staged.begin(path, {})
    fill(staged, 0, 4, 9)
    fill(staged, 2, 4)
    with pytest.raises(InputError, match="row 4 of 9"):
        staged.publish(9)


def test_a_run_is_gone_on_with_only_if_it_is_the_same(path):
    fill(Staged.begin(path, {"head": "a", "latents": "b"}), 0, 4)
    assert Staged.begin(path, {"latents": "b", "head": "a"}).ranges() == [(0, 4)]
    with pytest.raises(InputError, match="begun with another head; remove it"):
        Staged.begin(path, {"head": "c", "latents": "b"})
    assert Staged.begin(path, {"head": "c", "latents": "b"}, overwrite=True).ranges() == []
    storage.write_bytes(storage.beneath(f"{path}2.partial", "part-000000000-000000004.parquet"), b"of nothing known")
    with pytest.raises(InputError, match="begun with another head"):
        Staged.begin(f"{path}2", {"head": "c"})


def test_attempts_are_counted_within_a_run(path):
    staged = Staged.begin(path, {})
    assert [staged.attempt(0, 4), staged.attempt(0, 4), staged.attempt(4, 8), staged.attempt(0, 4)] == [1, 2, 1, 3]
    assert Staged.begin(path, {}).attempt(0, 4) == 1
