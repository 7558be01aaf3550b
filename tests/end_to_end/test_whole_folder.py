"""A folder that `verale explain` wrote is whole: who has nothing else can audit it and report on it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands import in_process as verale
from support.commands import process
from support.small import small_head, small_latents

from verale.head import save_latents
from verale.runs import explain as explaining
from verale.runs.explain import open_run
from verale.search import SearchOptions

HEAD = small_head("euclidean")
LATENTS = small_latents(HEAD, images=3)


@pytest.fixture(scope="module")
def explained(tmp_path_factory) -> Path:
    """A folder with a head, latents and what `verale explain` made of them."""
    folder = tmp_path_factory.mktemp("explained")
    HEAD.save(folder / "H")
    save_latents(folder / "Z", LATENTS)
    done = verale("explain", "--head", "H", "--latents", "Z", "--out", "OUT", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def out(explained, tmp_path) -> Path:
    """The folder OUT as it arrives at somebody else's: under another name, and alone."""
    shutil.copytree(explained / "OUT", tmp_path / "mail" / "arrived")
    return tmp_path / "mail" / "arrived"


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}
    return files | {".": (folder.stat().st_mtime_ns, b"")}


def test_somebody_else_audits_it_with_nothing_but_the_folder(out) -> None:
    before = state(out)
    done = process("audit", "arrived", cwd=out.parent)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["PROVED"] * 3
    assert done.stdout.count("entailment+instance proved") == 3
    head = "arrived/head.safetensors"
    assert done.stderr == f"head {head}, sha256 {HEAD.digest}\nlatents arrived/latents.safetensors\n"
    one = verale("audit", "000001.ale.json", "--log", "../log", "--json", cwd=out)
    assert one.returncode == 0 and json.loads(one.stdout)["claims"]["instance"] == "proved"
    assert verale("audit", "arrived", "--log", "log", cwd=out.parent).stderr.endswith(
        "1 of 3 verdicts are taken from log\n"
    )
    assert verale("report", out, "-o", out.parent / "t.csv").returncode == 0
    assert state(out) == before, "nothing is written into it"


def test_files_that_are_given_are_not_told_again(explained) -> None:
    done = verale("audit", "OUT", "--head", "H", "--latents", "Z", cwd=explained)
    assert (done.returncode, done.stderr) == (0, "")
    done = verale("audit", "OUT", "--head", "H", cwd=explained)
    assert (done.returncode, done.stderr) == (0, "latents OUT/latents.safetensors\n")


def test_another_head_that_is_given_counts_and_is_told(out) -> None:
    small_head("euclidean", seed=7).save(out.parent / "other")
    done = verale("audit", out, "--head", out.parent / "other")
    assert done.returncode == 6 and done.stdout.count("speaks of the head") == 3
    assert f"{out}/head.safetensors has other bytes than {out.parent}/other, which is given and counts" in done.stderr


def test_a_folder_that_got_another_head_is_an_error_in_one_line(out) -> None:
    small_head("euclidean", seed=7).save(out / "head.safetensors")
    report = ("report", out, "-o", out.parent / "r.csv")
    for command in (("audit", out), report, ("refute", out / "000000.ale.json")):
        done = verale(*command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (9, "", 1)
        assert "head.safetensors: is not the head that was explained" in done.stderr


def test_certificates_without_a_head_are_an_error_in_one_line(out) -> None:
    (out / "head.safetensors").unlink()
    for command in (("audit", out), ("refute", out / "000000.ale.json")):
        done = verale(*command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (9, "", 1)
        assert "has no head.safetensors beside it, without which nothing can be proved: give --head" in done.stderr


def test_folders_of_several_heads_in_one_audit(out) -> None:
    other = small_head("cosine")
    with open_run(out.parent / "other", other, small_latents(other, images=2), SearchOptions("projection")) as run:
        assert len(list(run)) == 2
    (out.parent / "none").mkdir()
    shutil.copy(out / "000000.ale.json", out.parent / "none")
    done = verale("audit", "arrived", "none", "other", "arrived/000001.ale.json", "--log", "log", cwd=out.parent)
    assert (done.returncode, done.stdout.count("PROVED")) == (9, 6)
    assert "error: none: has no head.safetensors" in done.stderr and done.stderr.count("sha256") == 2
    heads = [json.loads(line)["run"]["head"] for line in (out.parent / "log").read_text().splitlines()]
    assert heads == [*[HEAD.digest] * 3, *[other.digest] * 2, HEAD.digest]


def test_a_refutation_finds_head_and_latents_too(out) -> None:
    done = verale("refute", out / "000000.ale.json", "--seconds", "0")
    assert done.returncode == 11 and done.stdout.startswith("NOT_REFUTED")
    assert f"latents {out}/latents.safetensors\n" in done.stderr


def test_what_an_interrupted_run_has_done_can_be_audited(tmp_path) -> None:
    with open_run(tmp_path, HEAD, LATENTS, SearchOptions("projection", batch=1)) as run:
        next(iter(run))
    done = verale("audit", tmp_path)
    assert done.returncode == 17 and done.stdout.count("instance proved") == 1
    assert "1 of 3 images are explained so far" in done.stderr


def test_large_latents_stay_where_they_are_and_have_to_be_given(explained, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(explaining, "LARGEST_COPY", 100)
    shutil.copy(explained / "Z", tmp_path / "Z")
    done = verale("explain", "--head", explained / "H", "--latents", "Z", "--out", "OUT", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr.endswith("next: verale audit OUT --latents Z\n")
    assert not (tmp_path / "OUT" / "latents.safetensors").exists()
    done = verale("audit", "OUT", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (9, "") and f"give --latents {tmp_path / 'Z'}" in done.stderr
    done = verale("audit", "OUT", "--latents", "Z", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count("instance proved") == 3


def test_packed_certificates_find_the_head_beside_them(out) -> None:
    assert verale("certificates", "pack", out, "--out", out / "packed.parquet").returncode == 0
    done = verale("audit", out / "packed.parquet")
    assert done.returncode == 0 and done.stdout.count("instance proved") == 3
