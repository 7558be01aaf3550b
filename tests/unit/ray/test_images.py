"""A folder of images explained part by part: the same bytes as `verale explain` writes. Needs CaBRNet, not Ray."""

from __future__ import annotations

import json
import os
import shutil
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.runs import IMAGES, final

from verale.cli.certificates import command as certificates
from verale.cli.explain import command as explain
from verale.datasets.certificates import ParquetRows, packed_certificates
from verale.datasets.latents import open_latents
from verale.errors import InputError, VeraleError
from verale.head import load_latents
from verale.runs.audit_dataset import audit_rows
from verale.runs.auditor import AuditSetup as Audit
from verale.runs.image_dataset import explain_images, open_images
from verale.runs.images import classes_of_folders
from verale.runs.workers import ray as pipeline
from verale.runs.workers.ray import Workers
from verale.search import SearchOptions

RUN = str(final("tesnet"))


@pytest.fixture(scope="module", autouse=True)
def cabrnet():
    """CaBRNet, imported as it has to be: it silences every warning of the process."""
    with warnings.catch_warnings():
        # thop, which cabrnet imports, compares versions with distutils.
        warnings.filterwarnings("ignore", "distutils Version classes are deprecated", DeprecationWarning)
        import cabrnet.archs.generic.model  # noqa: F401


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The images, thrice: more than the network sees at once."""
    for number, file in enumerate(sorted(IMAGES.glob("*/*.png"))):
        for copy in range(3):
            to = tmp_path / "images" / file.parent.name / f"{number}-{copy}.png"
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)
    return tmp_path / "images"


def made(images: str, out: Path) -> None:
    run, _ = explain_images(RUN, open_images(images), str(out), SearchOptions("projection", batch=8), Workers(2))
    parts = list(run.parts())
    assert [(one.start, one.stop) for one in parts] == [(0, 32), (32, 36)]
    assert all(row.certificate for part in parts for row in part.result)


def test_certificates_and_latents_are_those_of_the_local_run(folder, tmp_path, without_ray):
    arguments = [
        "--checkpoint-dir",
        RUN,
        "--images",
        str(folder),
        "--out",
        str(tmp_path / "here"),
        "--batch",
        "8",
        "--paradigm",
        "projection",
    ]
    assert CliRunner().invoke(explain, [*arguments, "--device", "cpu"], catch_exceptions=False).exit_code == 0
    out = tmp_path / "out.parquet"
    made(str(folder), out)
    expected = [path.read_bytes() for path in sorted((tmp_path / "here").glob("*.ale.json"))]
    assert [one.read() for one in packed_certificates(str(out))[0]] == expected
    here = load_latents(tmp_path / "here" / "latents.safetensors")
    assert open_latents(str(out)).whole().numpy().tobytes() == here.numpy().tobytes()
    names = ParquetRows.open(str(out), "image").take(0, 36, ("image",))["image"].to_pylist()
    source = json.loads((tmp_path / "here" / "source.json").read_text())
    assert names == [image["file"] for image in source["images"]]
    labels = ParquetRows.open(str(out), "label").take(0, 36, ("label",))["label"].to_pylist()
    assert labels == [image["label"] for image in source["images"]] and len(set(labels)) == 4

    unpacked = CliRunner().invoke(certificates, ["unpack", str(out), "--out", str(tmp_path / "unpacked")])
    assert unpacked.exit_code == 0, unpacked.stderr
    assert load_latents(tmp_path / "unpacked" / "latents.safetensors").equal(here)

    options = Audit(str(tmp_path / "here" / "head.safetensors"), str(out))
    records = [
        outcome.record
        for part in audit_rows(str(out), options, str(tmp_path / "report"), Workers(2)).parts
        for outcome in part.result
    ]
    assert [record["claims"]["instance"] for record in records] == ["proved"] * 36


def test_an_image_of_the_old_length_and_time_is_explained_again(folder, tmp_path, without_ray):
    """The certificates that an interrupted run wrote are kept for the images whose bytes are those that it read."""

    def begun(out: str):
        return explain_images(
            RUN, open_images(str(folder)), str(tmp_path / out), SearchOptions("projection", batch=8), Workers(2)
        )[0]

    def certificates() -> list[bytes]:
        path = tmp_path / "out.partial" / "part-000000032-000000036.parquet"
        return ParquetRows.open(str(path), "certificate").take(0, 4, ("certificate",))["certificate"].to_pylist()

    run = begun("out")
    list(run.work([(0, 36)]))
    assert begun("out").done == 36
    before = certificates()
    names = open_images(str(folder)).names
    replaced = folder / names[33]
    others = (path for path in sorted(folder.glob("*/*.png")) if path.stat().st_size <= replaced.stat().st_size)
    other = next(path for path in others if path.read_bytes() != replaced.read_bytes())
    info, length = replaced.stat(), len(replaced.read_bytes())
    replaced.write_bytes(other.read_bytes().ljust(length, b"\0"))  # what follows the picture is not read
    os.utime(replaced, ns=(info.st_atime_ns, info.st_mtime_ns))
    again = begun("out")
    assert again.done == 32
    assert [(one.start, one.stop) for one in again.work([(32, 36)])] == [(32, 36)]
    assert [one == other for one, other in zip(before, certificates(), strict=True)] == [True, False, True, True]

    replaced.rename(replaced.with_name("renamed.png"))
    with pytest.raises(InputError, match="was begun with another images; remove it"):
        begun("out")


def test_images_elsewhere_are_the_same_images(folder, tmp_path, without_ray):
    made(str(folder), tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
        for file in folder.glob("*/*.png"):
            archive.write(file, f"inside/{file.relative_to(folder)}")
    made(f"zip://inside::{tmp_path}/images.zip", tmp_path / "other")
    one, other = (
        ParquetRows.open(str(path), "latents").take(0, 36, ("image", "certificate", "latents"))
        for path in (tmp_path / "out", tmp_path / "other")
    )
    assert one.equals(other)


def test_an_image_that_cannot_be_read_is_named(folder, tmp_path, without_ray):
    bad = sorted(folder.glob("*/*.png"))[-1]
    bad.write_bytes(b"no image")
    with pytest.raises(VeraleError, match=f"{bad}: cannot be read as an image"):
        made(str(folder), tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
        archive.write(bad, "a/bad.png")
    with pytest.raises(InputError, match=r"zip://a/bad\.png::/.*zip: cannot be read as an image"):
        explain_images(
            RUN,
            open_images(f"zip://::{tmp_path}/images.zip"),
            str(tmp_path / "o"),
            SearchOptions("projection"),
            Workers(1),
        )


@pytest.mark.parametrize("where", ["folder", "archive"])
def test_all_images_are_read_before_the_workers_start(where, folder, tmp_path, without_ray, monkeypatch) -> None:
    """As the local run does, wherever the images are; one that cannot be read ended a run when its part came."""
    first, *_, last = sorted(folder.glob("*/*.png"))
    first.write_bytes(first.read_bytes()[:-30])
    last.write_bytes(b"no image")
    images, named = str(folder), [str(first), str(last)]
    if where == "archive":
        archived = f"{tmp_path}/images.zip"
        with zipfile.ZipFile(archived, "w") as archive:
            for file in folder.glob("*/*.png"):
                archive.write(file, file.relative_to(folder))
        images, named = (
            f"zip://::{archived}",
            [f"zip://{file.relative_to(folder)}::{archived}" for file in (first, last)],
        )
    started = []

    @contextmanager
    def start(*arguments: object) -> Iterator[Workers]:
        started.append(arguments)
        yield Workers(2)

    monkeypatch.setattr(pipeline, "start_ray", start)
    arguments = ["--engine", "ray", "--checkpoint-dir", RUN, "--images", images, "--out", str(tmp_path / "out")]
    with pytest.raises(InputError, match=f"2 of {len(list(folder.glob('*/*.png')))} images cannot be read") as raised:
        CliRunner().invoke(explain, arguments, catch_exceptions=False)
    said = str(raised.value)
    assert all(f"{name}: cannot be read as an image" in said for name in named) and "--skip-unreadable" in said
    assert not started and not (tmp_path / "out").exists()

    skipping = CliRunner().invoke(explain, [*arguments, "--skip-unreadable"], catch_exceptions=False)
    assert (skipping.exit_code, len(started)) == (18, 1)
    assert all(f"left out: {name}: cannot" in skipping.stderr for name in named)
    left = [file.relative_to(folder).as_posix() for file in sorted(folder.glob("*/*.png")) if file not in (first, last)]
    rows = ParquetRows.open(str(tmp_path / "out" / "certificates.parquet"), "image")
    assert rows.take(0, len(rows), ("image",))["image"].to_pylist() == left


def test_folders_that_hold_no_images(folder, tmp_path):
    images = open_images(str(folder))
    assert classes_of_folders(images.path, images.names, 4, None).names == ["0", "1", "2", "3"]
    (folder / "0" / "deeper").mkdir()
    shutil.copy(sorted(folder.glob("*/*.png"))[0], folder / "flat.png")
    with pytest.raises(InputError, match="images and folders of images"):
        open_images(str(folder))
    with pytest.raises(InputError, match=r"holds no \*\.jpg"):
        open_images(str(tmp_path / "images" / "0" / "deeper"))
    with pytest.raises(InputError, match="there is no such"):
        open_images(str(tmp_path / "nowhere"))
