"""A folder that `verale explain` wrote is whole. Where it lacks a certificate, or has one more, whoever reads it says
so, and `audit` has an exit code for it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import in_process, process
from support.reporting import report_head, report_latents
from support.small import small_head, small_latents

from verale.head import save_latents
from verale.runs import explain as explaining
from verale.runs.explain import open_run
from verale.runs.listed import differences
from verale.search import SearchOptions

IMAGES = 5
GONE = "lacks 1 certificate of the 5 that its explanations.csv lists (000003.ale.json)"
THERE = "000003.ale.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of five images."""
    folder = tmp_path_factory.mktemp("run")
    report_head().save(folder / "head")
    save_latents(folder / "latents", report_latents(report_head(), IMAGES))
    given = ["--head", folder / "head", "--latents", folder / "latents", "--paradigm", "projection"]
    assert in_process("explain", *given, "--out", folder / "out").returncode == 0
    return folder / "out"


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """The run as it arrives at somebody else's: under another name, and alone."""
    return Path(shutil.copytree(whole, tmp_path / "mail" / "arrived"))


REMOVALS: dict[str, Callable[[Path], object]] = {
    "removed": lambda folder: (folder / THERE).unlink(),
    "another suffix": lambda folder: (folder / THERE).rename(folder / "000003.ALE.JSON"),
    "another name": lambda folder: (folder / THERE).rename(folder / "000003.json"),
    "a subfolder": lambda folder: (folder / THERE).rename((folder / "more").mkdir() or folder / "more" / THERE),
}


@pytest.mark.parametrize("how", REMOVALS)
def test_what_is_missing_is_said_by_all_that_read_a_folder(how: str, folder: Path, tmp_path: Path) -> None:
    """By an audit, which attests nothing then; not where some certificates are named: whoever does so means these."""
    REMOVALS[how](folder)
    audit = in_process("audit", folder, "--attest", tmp_path / "a.json")
    assert audit.returncode == 17 and audit.stdout.count("PROVED") == IMAGES - 1
    assert f"error: {folder} {GONE}\n" in audit.stderr and not (tmp_path / "a.json").exists()
    assert "is not written: not every folder is what its record lists" in audit.stderr
    for command in (
        ("report", folder),
        ("summary", folder),
        ("compare", folder, folder),
        ("certificates", "pack", folder, "--out", tmp_path / "packed.parquet"),
    ):
        assert GONE in in_process(*command).stderr, command
    assert GONE in (folder / "report.html").read_text()
    assert "though explanations.csv lists it" in in_process("show", folder, 3).stderr
    named = in_process("audit", *(folder / f"00000{number}.ale.json" for number in (0, 2)))
    assert named.returncode == 0 and "explanations.csv" not in named.stderr


def test_what_is_more_or_another_is_said(folder: Path) -> None:
    shutil.copy(folder / THERE, folder / "000002.ale.json")
    shutil.copy(folder / THERE, folder / "mine.ale.json")
    audit = in_process("audit", folder)
    assert audit.returncode == 17 and audit.stdout.count("PROVED") == IMAGES + 1
    assert "holds 1 certificate that its explanations.csv does not list (mine.ale.json)\n" in audit.stderr
    other = "holds 1 certificate with another SHA-256 than its explanations.csv notes (000002.ale.json)"
    assert f"{other}\n" in audit.stderr and other in in_process("report", folder).stderr


def without_a_line(folder: Path) -> None:
    lines = (folder / "explanations.csv").read_text().splitlines(keepends=True)
    (folder / "explanations.csv").write_text("".join(line for line in lines if THERE not in line))
    (folder / THERE).unlink()


def without(*names: str) -> Callable[[Path], object]:
    return lambda folder: [(folder / name).unlink() for name in names]


CHANGES: dict[str, tuple[Callable[[Path], object], int, int, str]] = {
    "a line": (without_a_line, 17, 4, "error: {} 4 of 5 images are explained so far\n"),
    "the table": (without("explanations.csv"), 17, 5, "{} has a run.json, but no explanations.csv that lists its cert"),
    "another table": (
        lambda folder: (folder / "explanations.csv").write_text("mine\n"), 17, 5,
        "has an explanations.csv that does not list certificates (line 1: has no column 'Idx'",
    ),
    "all records": (
        without("explanations.csv", "run.json", THERE), 0, 4,
        "{} has no explanations.csv that lists its certificates: whether there were others",
    ),
    "another certificate": (lambda folder: (folder / THERE).write_text("{"), 5, 4, "with another SHA-256"),
}  # fmt: skip
"""What is missing or another one; the exit code of an audit, how many it proves all the same, and what it says."""


@pytest.mark.parametrize("what", CHANGES)
def test_records_that_are_missing_are_noticed(what: str, folder: Path) -> None:
    change, code, proved, said = CHANGES[what]
    change(folder)
    audit = in_process("audit", folder)
    assert (audit.returncode, audit.stdout.count("PROVED")) == (code, proved), audit.stdout
    assert said.format(folder) in audit.stderr


def test_a_list_of_rules_lists_its_certificates(whole: Path, tmp_path: Path) -> None:
    """So does an attribution: an audit of their folders asks for no table of a run."""
    given = ("--head", whole / "head.safetensors", "--latents", whole / "latents.safetensors")
    for command, options in (("rules", ("--count", 2)), ("attribute", ("--count", 2, "--paradigm", "projection"))):
        folder, record = tmp_path / command, {"rules": "rules.json", "attribute": "attribution.json"}[command]
        assert in_process(command, *given, "--out", folder, *options).returncode == 0
        audit, names = (
            in_process("audit", folder, "--entailment-only"),
            sorted(path.name for path in folder.glob("*.ale.json")),
        )
        assert audit.returncode == 0 and "explanations.csv" not in audit.stderr and names
        (folder / names[0]).rename(folder / "mine.ale.json")
        audit = in_process("audit", folder, "--entailment-only")
        assert audit.returncode == 17
        assert f"lacks 1 certificate of the {len(names)} that its {record} lists ({names[0]})" in audit.stderr
        assert f"holds 1 certificate that its {record} does not list (mine.ale.json)" in audit.stderr
        for content in ("{", "[]", "{}", '{"rules": [1], "explanations": [1]}', "[" * 10**5):
            (folder / record).write_text(content)
            audit = in_process("audit", folder, "--entailment-only")
            assert audit.returncode == 17 and f" {record} that does not list certificates (is not" in audit.stderr


def test_a_reason_stands_for_a_certificate(folder: Path) -> None:
    """An image without one is no certificate that is missing."""
    table = folder / "explanations.csv"
    heading, *lines = table.read_text().splitlines(keepends=True)
    columns = heading.strip().split(",")
    cells = dict.fromkeys(columns, "") | {"Idx": "3", "Pred Label": "1", "Reason": "a tie"}
    lines[3] = ",".join(cells[name] for name in columns) + "\n"
    table.write_text("".join([heading, *lines]))
    (folder / THERE).unlink()
    assert differences(folder) == []


# What `verale explain` wrote is whole: who has nothing else can audit it and report on it


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    files = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}
    return files | {".": (folder.stat().st_mtime_ns, b"")}


def test_somebody_else_audits_it_with_nothing_but_the_folder(folder) -> None:
    before = state(folder)
    done = process("audit", "arrived", cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["PROVED"] * IMAGES
    assert done.stdout.count("entailment+instance proved") == IMAGES
    head = f"head arrived/head.safetensors, sha256 {report_head().digest}"
    assert done.stderr == f"{head}\nlatents arrived/latents.safetensors\n"
    one = in_process("audit", "000001.ale.json", "--log", "../log", "--json", cwd=folder)
    assert one.returncode == 0 and json.loads(one.stdout)["claims"]["instance"] == "proved"
    logged = in_process("audit", "arrived", "--log", "log", cwd=folder.parent)
    assert logged.stderr.endswith(f"1 of {IMAGES} verdicts are taken from log\n")
    assert in_process("report", folder, "-o", folder.parent / "t.csv").returncode == 0
    assert state(folder) == before, "nothing is written into it"


def test_files_that_are_given_are_not_told_again(whole) -> None:
    done = in_process("audit", "out", "--head", "head", "--latents", "latents", cwd=whole.parent)
    assert (done.returncode, done.stderr) == (0, "")
    done = in_process("audit", "out", "--head", "head", cwd=whole.parent)
    assert (done.returncode, done.stderr) == (0, "latents out/latents.safetensors\n")


def test_packed_certificates_and_a_refutation_find_head_and_latents_too(folder) -> None:
    assert in_process("certificates", "pack", folder, "--out", folder / "packed.parquet").returncode == 0
    done = in_process("audit", folder / "packed.parquet")
    assert done.returncode == 0 and done.stdout.count("instance proved") == IMAGES
    done = in_process("refute", folder / "000000.ale.json", "--seconds", "0")
    assert done.returncode == 11 and done.stdout.startswith("NOT_REFUTED")
    assert f"latents {folder}/latents.safetensors\n" in done.stderr


def test_another_head_that_is_given_counts_and_is_told(folder) -> None:
    small_head("euclidean", seed=7).save(folder.parent / "other")
    done = in_process("audit", folder, "--head", folder.parent / "other")
    assert done.returncode == 6 and done.stdout.count("speaks of the head") == IMAGES
    told = f"{folder}/head.safetensors has other bytes than {folder.parent}/other, which is given and counts"
    assert told in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda head: small_head("euclidean", seed=7).save(head),
            "head.safetensors: is not the head that was explained",
        ),
        (
            lambda head: head.unlink(),
            "has no head.safetensors beside it, without which nothing can be proved: give --head",
        ),
    ],
    ids=["another", "none"],
)
def test_a_folder_without_its_head_is_an_error_in_one_line(change, said, folder) -> None:
    change(folder / "head.safetensors")
    report = [("report", folder, "-o", folder.parent / "r.csv")] if (folder / "head.safetensors").exists() else []
    for command in (("audit", folder), ("refute", folder / "000000.ale.json"), *report):
        done = in_process(*command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (9, "", 1)
        assert said in done.stderr


def test_folders_of_several_heads_in_one_audit(folder) -> None:
    own, other = report_head().digest, small_head("cosine")
    with open_run(folder.parent / "other", other, small_latents(other, images=2), SearchOptions("projection")) as run:
        assert len(list(run)) == 2
    (folder.parent / "none").mkdir()
    shutil.copy(folder / "000000.ale.json", folder.parent / "none")
    done = in_process("audit", "arrived", "none", "other", "arrived/000001.ale.json", "--log", "log", cwd=folder.parent)
    assert (done.returncode, done.stdout.count("PROVED")) == (9, IMAGES + 3)
    assert "error: none: has no head.safetensors" in done.stderr and done.stderr.count("sha256") == 2
    heads = [json.loads(line)["run"]["head"] for line in (folder.parent / "log").read_text().splitlines()]
    assert heads == [*[own] * IMAGES, *[other.digest] * 2, own]


def test_large_latents_stay_where_they_are_and_have_to_be_given(whole, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(explaining, "LARGEST_COPY", 100)
    shutil.copy(whole.parent / "latents", tmp_path / "Z")
    done = in_process("explain", "--head", whole.parent / "head", "--latents", "Z", "--out", "OUT", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr.endswith("next: verale audit OUT --latents Z\n")
    assert not (tmp_path / "OUT" / "latents.safetensors").exists()
    done = in_process("audit", "OUT", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (9, "") and f"give --latents {tmp_path / 'Z'}" in done.stderr
    done = in_process("audit", "OUT", "--latents", "Z", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count("instance proved") == IMAGES
