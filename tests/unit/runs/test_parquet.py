"""A dataset while it is being written."""

from __future__ import annotations

import json
import pickle
import shutil
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest

from verale.datasets import storage
from verale.datasets.certificates import ParquetRows, to_parquet
from verale.errors import InputError
from verale.runs.store.parquet import StagedDataset
from verale.runs.workers.ray import _Worker


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
    assert staged.read(4, 9, ("n",)) == [{"n": n} for n in range(4, 9)]
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


def test_parts_that_still_count_are_kept_and_the_rest_is_done_again(path, caplog):
    """Also where a worker that was believed dead wrote its part after all, beside the smaller ones."""
    staged = StagedDataset.begin(path, {})
    fill(staged, 0, 4, 9, 12)
    fill(staged, 2, 6)
    asked = []
    assert staged.keep(9, lambda *part: asked.append(part) or part != (4, 9)) == [(0, 4)]
    assert asked == [(0, 4), (4, 9)], "parts that overlap, or have rows that do not exist, are not asked for"
    assert staged.ranges() == [(0, 4)]
    assert "rows 4 to 8 have changed" in caplog.text


def test_only_the_part_without_rows_of_a_dataset_without_rows_is_kept(path):
    staged = StagedDataset.begin(path, {})
    fill(staged, 0, 0)
    assert staged.keep(4, lambda *part: True) == []
    fill(staged, 0, 0)
    assert staged.keep(0, lambda *part: True) == [(0, 0)]


@pytest.mark.parametrize(
    "name", ["mine.parquet", "part-1-2.parquet", "part-x-y.parquet", "part-0000000001-000000002.parquet", "a/b.parquet"]
)
def test_what_verale_did_not_write_is_not_published(name, path):
    """It would be taken for rows that verale wrote: verdicts that nobody gave."""
    staged = StagedDataset.begin(path, {})
    fill(staged, 0, 4)
    storage.write_bytes(storage.join(staged.partial, name), part(4, 9))
    for refused in (lambda: staged.publish(4), lambda: staged.keep(4, lambda *part: True)):
        with pytest.raises(InputError, match="is not a part of this dataset; move it away"):
            refused()
    assert not storage.exists(path)


@pytest.mark.parametrize("text", ["", "{", "[1]", "[" * 100_000, '{"of": ' + "1" * 5000 + "}", "\xff"])
def test_a_manifest_of_another_form_is_another_manifest(text, path):
    staged = StagedDataset.begin(path, {"of": 1})
    fill(staged, 0, 4)
    storage.write_bytes(storage.join(staged.partial, "_verale.json"), text.encode("latin-1"))
    with pytest.raises(InputError, match="begun with another of; remove it"):
        StagedDataset.begin(path, {"of": 1})
    assert staged.ranges() == [(0, 4)]


GONE = "was moved, removed or replaced by another folder while workers wrote into it"


@pytest.mark.parametrize("how", ["moved", "removed", "replaced"])
def test_workers_write_into_no_other_folder_than_the_run_began_in(how: str, tmp_path: Path) -> None:
    path = str(tmp_path / "set")
    staged = pickle.loads(pickle.dumps(StagedDataset.begin(path, {})))
    partial = Path(staged.partial)
    partial.rename(tmp_path / "moved") if how != "removed" else shutil.rmtree(partial)
    if how == "replaced":
        StagedDataset.begin(path, {"of": "another run"})
    before = sorted(partial.rglob("*"))
    worker = _Worker(lambda: lambda start, stop: (b"", {}), staged)
    assert GONE in worker({"start": [0], "stop": [4]})["problem"][0]
    for act in (lambda: staged.write(0, 4, b""), lambda: staged.publish(0), staged.discard):
        with pytest.raises(InputError, match=GONE):
            act()
    assert sorted(partial.rglob("*")) == before


def test_a_folder_that_is_moved_while_a_part_is_written_is_missed(tmp_path: Path) -> None:
    path = str(tmp_path / "set")
    staged = StagedDataset.begin(path, {})

    def moving(*part: object) -> None:
        Path(staged.partial).rename(tmp_path / "moved")

    with patch("verale.runs.store.parquet.write_noted", moving), pytest.raises(InputError, match=GONE):
        staged.write(0, 4, b"")


def test_what_another_machine_calls_a_folder_is_not_known(tmp_path: Path) -> None:
    path = str(tmp_path / "set")
    staged = StagedDataset.begin(path, {})
    shutil.copytree(staged.partial, f"{path}.copy")
    shutil.rmtree(staged.partial)
    shutil.move(f"{path}.copy", staged.partial)
    with patch("verale.runs.store.parquet.node", lambda: "another machine"):
        staged.write(0, 4, b"")
    assert staged.ranges() == [(0, 4)]
