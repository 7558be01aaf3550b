"""What `verale explain --engine ray` leaves in OUT is enough for an audit, and unpacked for a report. Without Ray."""

from __future__ import annotations

import csv
import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import in_process as verale
from support.runs import IMAGES, final
from support.seen import COUNT as PICTURES
from support.seen import explain_pictures, write_pictures

from verale.datasets.latents import column_of
from verale.files import certificates_in
from verale.head import load_latents, save_latents
from verale.report.images import AS_NOTED
from verale.runs import inputs
from verale.runs.folder import locked
from verale.runs.table import read_table
from verale.runs.workers import ray as pipeline

COUNT = 6
"""How many images there are."""


@contextmanager
def nobody(*arguments: object) -> Iterator[pipeline.Workers]:
    yield pipeline.Workers(1, 0)


@pytest.fixture
def folder(given, tmp_path: Path, without_ray, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pipeline, "start_ray", nobody)
    (tmp_path / "H").write_bytes(Path(given.head).read_bytes())
    save_latents(tmp_path / "Z", load_latents(given.latents)[:COUNT])
    return tmp_path


def explain(folder: Path, *arguments: object) -> str:
    done = verale(
        "explain", "--engine", "ray", "--head", "H", "--out", "OUT", "--paradigm", "projection", *arguments, cwd=folder
    )
    assert done.returncode in (0, 9), done.stderr
    return done.stderr if done.returncode else ""


def audit(folder: Path, path: str, *arguments: object) -> tuple[int, int, str]:
    """The exit code, how many instances are proved, and what is said on stderr."""
    done = verale("audit", path, *arguments, cwd=folder)
    return done.returncode, done.stdout.count("instance proved"), done.stderr


@pytest.mark.parametrize("path", ["moved", "moved/certificates.parquet"])
def test_both_engines_find_copies_of_head_and_latents(path, folder) -> None:
    assert explain(folder, "--latents", "Z") == ""
    for name, given in (("head.safetensors", "H"), ("latents.safetensors", "Z")):
        assert (folder / "OUT" / name).read_bytes() == (folder / given).read_bytes()
        (folder / given).unlink()
    (folder / "OUT").rename(folder / "moved")
    assert audit(folder, path)[:2] == (0, COUNT)
    assert audit(folder, path, "--engine", "ray", "--log", "log.parquet")[:2] == (0, COUNT)


@pytest.mark.parametrize("arithmetic", ["real", "float32"])
def test_both_engines_explain_and_prove_pictures(arithmetic: str, tmp_path, without_ray, monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "start_ray", nobody)
    write_pictures(tmp_path)
    said = ("--arithmetic", arithmetic)
    done = explain_pictures(tmp_path, *said, "--engine", "ray", out="OUT")
    local = explain_pictures(tmp_path, *said, out="LOCAL")
    assert (done.returncode, local.returncode) == (0, 0), done.stderr + local.stderr
    rows = pq.read_table(tmp_path / "OUT" / "certificates.parquet").sort_by("index").to_pylist()
    assert [row["certificate"] for row in rows] == [path.read_bytes() for path in certificates_in(tmp_path / "LOCAL")]
    assert [row["label"] for row in rows] == [0, 0, 1, 2]
    for name in ("network.safetensors", "source.json", "pictures/class 0/3.png"):
        assert (tmp_path / "OUT" / name).read_bytes() == (tmp_path / "LOCAL" / name).read_bytes()
    shutil.rmtree(tmp_path / "p")
    how = "real arithmetic" if arithmetic == "real" else arithmetic
    proved = f"entailment+picture ({how}) proved"
    for more in ((), ("--engine", "ray", "--log", "log.parquet")):
        audited = verale("audit", "OUT/certificates.parquet", "--kernel", "arb", *more, cwd=tmp_path)
        assert audited.returncode == 0, audited.stdout + audited.stderr
        assert audited.stdout.count(proved) == PICTURES
        assert "network OUT/network.safetensors, sha256 " in audited.stderr
    (tmp_path / "OUT" / "pictures" / "class 0" / "3.png").unlink()
    audited = verale(
        "audit", "OUT/certificates.parquet", "--kernel", "arb", "--engine", "ray", "--log", "l", cwd=tmp_path
    )
    assert audited.returncode == 6 and audited.stdout.count(proved) == PICTURES - 1


def test_pictures_on_ray_need_a_folder_of_this_machine(tmp_path, without_ray, monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "start_ray", nobody)
    given = ("--head", "h", "--network", "n", "--images", "p", "--engine", "ray", "--out", "memory://out")
    done = verale("explain", *given, cwd=write_pictures(tmp_path))
    assert done.returncode == 9 and "expected a folder of this machine" in done.stderr


def test_both_engines_write_the_same_certificates_and_rows(folder) -> None:
    made = ("--head", "H", "--latents", "Z", "--paradigm", "projection", "--device", "cpu")
    ray = verale("explain", "--engine", "ray", *made, "--out", "OUT", cwd=folder)
    local = verale("explain", *made, "--out", "LOCAL", "--jobs", 1, cwd=folder)
    assert ray.returncode == local.returncode == 0
    rows = pq.read_table(folder / "OUT" / "certificates.parquet").sort_by("index").to_pylist()
    assert [row["certificate"] for row in rows] == [path.read_bytes() for path in certificates_in(folder / "LOCAL")]
    table = read_table(folder / "LOCAL" / "explanations.csv")
    names = ("bounded_prototypes", "prototypes", "bounded_pairs", "pairs")
    assert [[row[name] for name in names] for row in rows] == [[getattr(r, name) for name in names] for r in table]
    assert all(row["pairs"] for row in rows)


def test_both_engines_print_the_same_lines_and_keep_what_holds_in_float32(folder) -> None:
    made = ("--head", "H", "--latents", "Z", "--paradigm", "projection", "--device", "cpu", "--json")
    asked = ("--deployment", "direct", "--costs", "prototypes:0=2", "--jobs", 1)
    told = {}
    for place, engine in (("OUT", ("--engine", "ray")), ("LOCAL", ())):
        done = verale("explain", *engine, *made, *asked, "--out", place, cwd=folder)
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [row["index"] for row in rows] == list(range(COUNT))
        told[place] = [row | {"seconds": 0, "certificate": Path(row["certificate"]).name} for row in rows]
        told[place].append(done.stderr.replace("OUT/certificates.parquet", "LOCAL"))
    assert told["OUT"] == told["LOCAL"]
    code, _, _ = audit(folder, "OUT/certificates.parquet", "--deployment", "direct")
    assert code == 0
    plain = verale("explain", *made, "--out", "PLAIN", "--jobs", 1, cwd=folder)
    assert [json.loads(line)["sha256"] for line in plain.stdout.splitlines()] != [
        row["sha256"] for row in told["OUT"][:-1]
    ]


def test_one_process_at_a_time(folder) -> None:
    with locked(folder / "OUT"):
        assert "another process explains into it" in explain(folder, "--latents", "Z")
    assert explain(folder, "--latents", "Z") == ""


def test_large_latents_are_linked(folder, monkeypatch) -> None:
    monkeypatch.setattr(inputs, "LARGEST_COPY", 100)
    assert explain(folder, "--latents", "Z") == ""
    assert not (folder / "OUT" / "latents.safetensors").exists()
    code, _, said = audit(folder, "OUT")
    assert code == 9 and f"--latents {folder / 'Z'}" in said, "who sends a folder writes its link"
    assert audit(folder, "OUT", "--latents", folder / "Z")[:2] == (0, COUNT)


def test_latents_in_parquet_are_linked_and_read_by_ray_only(folder) -> None:
    pq.write_table(pa.table({"latents": column_of(load_latents(folder / "Z"))}), folder / "z.parquet")
    assert explain(folder, "--latents", "z.parquet") == ""
    assert json.loads((folder / "OUT" / inputs.LINK).read_text())["file"] == "../z.parquet"
    ray, given = ("--engine", "ray", "--log", "log.parquet"), ("--latents", folder / "z.parquet")
    code, _, said = audit(folder, "OUT", *ray)
    assert code == 9 and f"--latents {folder / 'z.parquet'}" in said
    assert audit(folder, "OUT", *ray, *given)[:2] == (0, COUNT)
    shutil.copy(folder / "z.parquet", folder / "OUT" / "_z.parquet")
    link = folder / "OUT" / inputs.LINK
    link.write_text(json.dumps(json.loads(link.read_text()) | {"file": "_z.parquet"}))
    code, proved, said = audit(folder, "OUT")
    assert (code, proved) == (0, 0) and "no instance is checked without --engine ray" in said


def test_another_head_in_out_is_not_replaced(folder) -> None:
    (folder / "OUT").mkdir()
    (folder / "OUT" / "head.safetensors").write_bytes(b"mine")
    assert "is another head than that of this run" in explain(folder, "--latents", "Z")
    assert (folder / "OUT" / "head.safetensors").read_bytes() == b"mine"
    assert "verale did not write it, or it was changed" in explain(folder, "--latents", "Z", "--overwrite")
    assert [path.read_bytes() for path in (folder / "OUT").iterdir()] == [b"mine"]


def test_unpacked_images_belong_to_their_certificates(folder) -> None:
    shutil.copytree(IMAGES, folder / "images")
    with warnings.catch_warnings():
        # thop, which cabrnet imports, compares versions with distutils.
        warnings.filterwarnings("ignore", "distutils Version classes are deprecated", DeprecationWarning)
        import cabrnet.archs.generic.model  # noqa: F401
    run = ("--checkpoint-dir", final("protopnet"), "--images", "images", "--paradigm", "projection")
    assert verale("explain", "--engine", "ray", *run, "--out", "OUT", cwd=folder).returncode == 0
    assert audit(folder, "OUT", "--engine", "ray", "--log", "log.parquet")[:2] == (0, 12)
    unpack = ("certificates", "unpack", "OUT/certificates.parquet", "--out")
    assert verale(*unpack, "FILES", cwd=folder).returncode == 0
    assert verale("explain", *run, "--out", "LOCAL", cwd=folder).returncode == 0
    assert [path.read_bytes() for path in certificates_in(folder / "FILES")] == [
        path.read_bytes() for path in certificates_in(folder / "LOCAL")
    ]
    sources = [json.loads((folder / name / "source.json").read_text()) for name in ("FILES", "LOCAL")]
    for key in ("images", "image_latents", "latents_digest", "head_sha256", "classes"):
        assert sources[0][key] == sources[1][key]
    (folder / "images").rename(folder / "elsewhere")
    done = verale("report", "FILES", "--images", "elsewhere", "-o", "t.csv", cwd=folder)
    assert done.returncode == 0 and "12 certificates, 12 PROVED" in done.stderr
    with (folder / "t.csv").open(newline="") as stream:
        assert [row["image_is"] for row in csv.DictReader(stream)] == [AS_NOTED] * 12
    (folder / "other").mkdir()
    (folder / "other" / "head.safetensors").write_bytes(b"mine")
    assert "head.safetensors: already exists" in verale(*unpack, "other", cwd=folder).stderr
    assert list((folder / "other").iterdir()) == [folder / "other" / "head.safetensors"]
