"""Runs with Ray remove and replace nothing that verale did not write: in OUT, and in datasets, whole or begun."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support.commands import in_process
from support.seen import write_pictures
from support.trees import OBSTACLES, put, tree

from verale.datasets import storage
from verale.datasets.certificates import ParquetRows, to_parquet
from verale.errors import InputError
from verale.head import load_latents, save_latents
from verale.runs.store import noted
from verale.runs.store.parquet import StagedDataset
from verale.runs.store.stored_files import files_in
from verale.runs.workers import ray as pipeline

# A run


@contextmanager
def nobody(*arguments: object) -> Iterator[pipeline.Workers]:
    yield pipeline.Workers(1, 0)


@pytest.fixture(params=["latents", "pictures"])
def explain(request, given, tmp_path: Path, without_ray, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setattr(pipeline, "start_ray", nobody)
    folder = tmp_path / "given"
    folder.mkdir()
    if request.param == "latents":
        save_latents(folder / "z", load_latents(given.latents)[:3])
        inputs = ("--head", given.head, "--latents", folder / "z", "--paradigm", "projection")
    else:
        write_pictures(folder)
        inputs = ("--head", folder / "h", "--network", folder / "n", "--images", folder / "p", "--paradigm", "top_k")

    def run(out: Path, *more: object) -> str:
        done = in_process("explain", "--engine", "ray", *inputs, "--out", out, *more)
        assert done.returncode in (0, 9), done.stderr
        return done.stderr.splitlines()[-1] if done.returncode else ""

    return run


FOREIGN = ("notes.txt", "pictures/notes.txt", "deep/certificates.parquet/a.parquet", "000000.ale.json")


def with_foreign(out: Path) -> dict[str, tuple[str, object]]:
    for name in FOREIGN:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(b"mine")
    return dict.fromkeys(FOREIGN, ("file", b"mine"))


def test_whatever_is_in_the_way_is_named_and_stays(explain, tmp_path: Path) -> None:
    assert explain(tmp_path / "free") == ""
    whole = tree(tmp_path / "free")
    names = [name for name, (kind, _) in whole.items() if kind == "file" and "certificates.parquet" not in name]
    assert {"files.json", "head.safetensors", "latents.safetensors"} <= {*names}
    for number, name in enumerate([*names, "certificates.parquet", "certificates.parquet.partial"]):
        kinds = list(OBSTACLES)
        for kind in kinds if number == 0 else [kinds[0], kinds[2], kinds[4], kinds[5]]:
            folder = tmp_path / f"{number} {kind}"
            with_foreign(folder / "out")
            put(kind, folder / "out" / name, folder / "outside")
            before = tree(folder)
            for more in ((), ("--overwrite",)):
                said = explain(folder / "out", *more)
                assert str(folder / "out" / name) in said, (name, kind, said)
                assert tree(folder) == before, (name, kind)


def test_a_run_replaces_what_it_wrote_and_nothing_else(explain, tmp_path: Path) -> None:
    out = tmp_path / "out"
    foreign = with_foreign(out)
    assert explain(out) == ""
    names = {name for name, (kind, _) in tree(out).items() if kind == "file"}
    assert "certificates.parquet: already exists; choose another path, or say --overwrite" in explain(out)
    assert explain(out, "--overwrite", "--tolerance", "1%") == ""
    now = tree(out)
    assert {name for name, (kind, _) in now.items() if kind == "file"} == names
    assert {name: now[name] for name in foreign} == foreign
    part = next((out / "certificates.parquet").glob("part-*"))
    for path in (part, out / "head.safetensors"):
        data = path.read_bytes()
        path.write_bytes(b"changed")
        before = tree(out)
        said = explain(out, "--overwrite")
        assert path.name in said and "verale did not write" in said
        assert tree(out) == before
        path.write_bytes(data)
    (out / "certificates.parquet" / "mine.txt").write_bytes(b"mine")
    assert "holds 'mine.txt', which verale did not write, or which was changed since" in explain(out, "--overwrite")


# A dataset

MANIFEST = {"made_by": "verale", "of": 1}


def part(start: int, stop: int) -> bytes:
    return to_parquet(pa.table({"n": list(range(start, stop))}))


def written(path: str, overwrite: bool = False, of: int = 1) -> None:
    staged = StagedDataset.begin(path, {"made_by": "verale", "of": of}, overwrite)
    kept = staged.keep(6, lambda start, stop: True)
    for each in ((0, 2), (2, 4), (4, 6)):
        staged.attempt(*each)
        if each not in kept:
            staged.write(*each, part(*each))
    staged.publish(6)


@pytest.fixture(params=["disk", "file", "memory"])
def path(request, tmp_path: Path) -> str:
    return {"disk": f"{tmp_path}/set", "file": f"file://{tmp_path}/set", "memory": f"memory://{tmp_path}/set"}[
        request.param
    ]


def listed(path: str) -> dict[str, bytes]:
    """The files of a dataset, and of that which is begun, with their bytes."""
    found = {}
    for place in (path, f"{path}.partial"):
        for name in noted.DatasetFiles(place).names if storage.exists(place) else ():
            found[f"{place}/{name}"] = storage.read_bytes(storage.join(place, name), "a file")
    return found


@pytest.mark.parametrize(
    "name",
    [
        *("notes.txt", ".hidden", "_private", "deep/er/notes.txt", "part-0-2.parquet", "_files/notes.txt"),
        *("part-000000006-000000008.parquet", "_attempts/0-2/mine", ".part-000000000-000000002.parquet.mine"),
    ],
)
@pytest.mark.parametrize("where", ["", ".partial"])
def test_a_dataset_with_something_else_in_it_is_not_replaced(name: str, where: str, path: str) -> None:
    written(path)
    if where:
        StagedDataset.begin(f"{path}2", MANIFEST).write(0, 2, part(0, 2))
        path = f"{path}2"
    storage.write_bytes(storage.join(f"{path}{where}", name), b"mine")
    before = listed(path)
    for of in (1, 2):
        with pytest.raises(InputError, match=r"move it away"):
            written(path, overwrite=True, of=of)
        assert where or not storage.exists(f"{path}.partial"), "before anything begins"
        assert listed(path).items() >= {k: v for k, v in before.items() if "_attempts" not in k or "mine" in k}.items()


@pytest.mark.parametrize("where", ["", ".partial"])
def test_a_part_that_was_changed_is_not_replaced(where: str, path: str) -> None:
    written(path)
    if where:
        path = f"{path}2"
        StagedDataset.begin(path, MANIFEST).write(0, 2, part(0, 2))
    changed = storage.join(f"{path}{where}", "part-000000000-000000002.parquet")
    storage.write_bytes(changed, b"changed")
    for of in (1, 2):
        with pytest.raises(InputError, match=r"part-000000000-000000002\.parquet.*changed since: move it away"):
            written(path, overwrite=True, of=of)
        assert storage.read_bytes(changed, "a part") == b"changed"


def test_a_worker_replaces_no_part_that_is_not_noted(path: str) -> None:
    staged = StagedDataset.begin(path, MANIFEST)
    staged.write(0, 2, part(0, 2))
    staged.write(0, 2, part(0, 2) + b"0")
    storage.write_bytes(storage.join(staged.partial, "part-000000002-000000004.parquet"), b"mine")
    with pytest.raises(InputError, match="was not written by verale, or was changed since: move it away"):
        staged.write(2, 4, part(2, 4))


@pytest.mark.parametrize("kind", ["a file", "a hard link", "a link", "a link that leads nowhere", "a link to a folder"])
@pytest.mark.parametrize("name", ["set", "set.partial"])
def test_what_is_no_dataset_is_not_replaced(kind: str, name: str, tmp_path: Path) -> None:
    put(kind, tmp_path / name, tmp_path / "outside")
    before = tree(tmp_path)
    for overwrite in (False, True):
        with pytest.raises(InputError, match=rf"/{name}: "):
            written(f"{tmp_path}/set", overwrite)
        assert tree(tmp_path) == before


def test_links_in_a_dataset_are_not_followed(tmp_path: Path) -> None:
    written(f"{tmp_path}/set")
    whole = tmp_path / "set"
    shutil.move(whole / "part-000000000-000000002.parquet", tmp_path / "moved")
    (whole / "part-000000000-000000002.parquet").symlink_to(tmp_path / "moved")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "part-000000000-000000002.parquet").write_bytes(b"mine")
    before = tree(tmp_path)
    with pytest.raises(InputError, match=r"holds 'part-000000000-000000002\.parquet', which verale did not write"):
        written(f"{tmp_path}/set", overwrite=True)
    assert tree(tmp_path) == before
    (whole / "part-000000000-000000002.parquet").unlink()
    (whole / "deep").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="holds 'deep', which verale did not write, or which was changed"):
        written(f"{tmp_path}/set", overwrite=True)
    (whole / "deep").unlink()
    written(f"{tmp_path}/set", overwrite=True)
    whole.rename(tmp_path / "elsewhere")
    whole.symlink_to("elsewhere")
    before = tree(tmp_path)
    with pytest.raises(InputError, match="set: is a link that verale did not write; move it away"):
        written(f"{tmp_path}/set", overwrite=True)
    assert tree(tmp_path) == before
    assert len(ParquetRows.open(f"{tmp_path}/set", "n")) == 6


class Stopped(BaseException):
    """Replaces SIGKILL."""


@pytest.mark.parametrize("before", [None, 1, 2])
def test_an_interruption_at_any_step_is_gone_on_with(before: int | None, path: str, monkeypatch) -> None:
    """`before`: of what an earlier dataset was that is replaced; 1 is what this one is of, too."""
    real: dict[str, Any] = {
        "write": storage.write_bytes,
        "unlink": noted.DatasetFiles._unlink,
        "folders": noted.DatasetFiles._remove_empty_folders,
        "rename": Path.rename,
    }
    for last in count():
        place, steps = f"{path}{last}", 0
        if before is not None:
            written(place, of=before)

        def counted(name: str, last: int = last) -> Callable[..., Any]:
            def step(*arguments: Any) -> Any:
                nonlocal steps
                steps += 1
                if steps > last:
                    raise Stopped
                return real[name](*arguments)

            return step

        with monkeypatch.context() as patched:
            patched.setattr(storage, "write_bytes", counted("write"))
            patched.setattr(noted.DatasetFiles, "_unlink", counted("unlink"))
            patched.setattr(noted.DatasetFiles, "_remove_empty_folders", counted("folders"))
            patched.setattr(Path, "rename", counted("rename"))
            try:
                written(place, overwrite=before is not None)
                ended = True
            except Stopped:
                ended = False
        if not ended:
            for each in (place, f"{place}.partial"):
                noted.DatasetFiles(each).require_ours()
            written(place, overwrite=storage.exists(place))
        rows = ParquetRows.open(place, "n")
        assert rows.take(0, len(rows), ("n",))["n"].to_pylist() == list(range(6))
        assert not storage.exists(f"{place}.partial") or not noted.DatasetFiles(f"{place}.partial").names
        names = noted.DatasetFiles(place).names
        assert names == sorted(
            ["_SUCCESS", "_files.json", "_verale.json", *(n for n in names if n.startswith("part-"))]
        )
        if ended:
            assert last > 15
            break


# A run's folder elsewhere


@pytest.mark.parametrize("scheme", ["file://", "memory://"])
def test_a_run_s_folder_elsewhere_keeps_what_is_there_too(scheme: str, given, tmp_path: Path, without_ray, monkeypatch):
    monkeypatch.setattr(pipeline, "start_ray", nobody)
    save_latents(tmp_path / "z", load_latents(given.latents)[:3])
    out = f"{scheme}{tmp_path}/out"
    inputs = ("--head", given.head, "--latents", tmp_path / "z", "--paradigm", "projection")

    def explain(*more: object) -> str:
        done = in_process("explain", "--engine", "ray", *inputs, "--out", out, *more)
        assert done.returncode in (0, 9), done.stderr
        return done.stderr.splitlines()[-1] if done.returncode else ""

    for name in ("head.safetensors", "latents.safetensors", "files.json"):
        storage.write_bytes(storage.join(out, name), b"mine")
        for more in ((), ("--overwrite",)):
            assert name in explain(*more) and "move it away" in explain(*more)
            assert storage.read_bytes(storage.join(out, name), "a file") == b"mine"
        files, inner = storage.resolve(storage.join(out, name))
        files.delete_file(inner)
        assert not storage.exists(storage.join(out, "certificates.parquet.partial"))
    assert explain() == ""
    save_latents(tmp_path / "z", load_latents(given.latents)[3:6])
    assert explain("--overwrite") == ""
    assert storage.read_bytes(storage.join(out, "latents.safetensors"), "a file") == (tmp_path / "z").read_bytes()
    files = files_in(out)
    assert sorted(files.names()) == ["head.safetensors", "latents.safetensors"] and all(
        map(files.is_ours, files.names())
    )
    storage.write_bytes(storage.join(out, "latents.safetensors"), b"changed")
    assert "latents.safetensors" in explain("--overwrite")
    assert storage.read_bytes(storage.join(out, "latents.safetensors"), "a file") == b"changed"
