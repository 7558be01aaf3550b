"""What a terminal shows is what is proved: statements read back from it are those of the certificate."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from support.commands import in_process
from support.reporting import folder_of, report_head, report_latents
from support.small import small_head
from support.told import of_rule, statement

from verale.certificate import Certificate, Statement
from verale.head import Negated, save_latents
from verale.runs.explained_run import HeadOfRun

ACCEPT = Path(__file__).parents[2] / "certificates" / "accept"
PROTOTYPES = report_head().size


@pytest.fixture(scope="module", params=["top_k", "projection"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("numbers") / "out", paradigm=request.param)


def head_of(file: Path) -> str:
    """The name of the head of a certificate that is accepted."""
    return file.name.replace(".ale.json", ".head.safetensors")


def pair(line: str) -> tuple[str, str]:
    """Subject and bounds of a line."""
    subject, bounds = line.strip().split(": ")[:2]
    return subject, bounds


def told_as(statements: Sequence[Statement], lines: Sequence[str]) -> bool:
    """Whether lines tell statements, the first ten where there are more."""
    assert len(lines) in (10, len(statements))
    first = statements[: len(lines)]
    known = [getattr(each, "exempt", ()) for each in first]
    return [statement(*pair(line), known=exempt) for line, exempt in zip(lines, known, strict=True)] == [*first]


def listed(text: str) -> list[str]:
    """The statements that `show` lists: indented, before the margins."""
    before = text.partition("Every other class")[0]
    return [line for line in before.splitlines() if line.startswith("  ")]


def in_order(statements: Iterable[Statement]) -> list[str]:
    return sorted(map(repr, statements))


def test_show(folder: Path) -> None:
    for index in range(4):
        file = folder / f"{index:06d}.ale.json"
        certificate = Certificate.load(file)
        done = in_process("show", file, "--all")
        assert done.returncode == 0, done.stderr
        told = [statement(*pair(line), prototypes=PROTOTYPES) for line in listed(done.stdout)]
        assert in_order(told) == in_order(certificate.statements)


ACCEPTED = [path for path in ACCEPT.glob("*.ale.json") if (path.parent / head_of(path)).exists()]
SOME = [path.name for path in sorted(ACCEPTED)[::12]] + ["clauses-that-say-nothing.ale.json"]


@pytest.mark.parametrize("name", sorted(set(SOME)))
def test_show_of_every_kind_of_head(name: str) -> None:
    """Certificates that are accepted: the verdict is that of `audit`, and all statements are read back."""
    file = ACCEPT / name
    files = ["--head", file.with_name(head_of(file))]
    latents = file.with_name(head_of(file).replace(".head.", ".latents."))
    files += ["--latents", latents] if latents.exists() else []
    done = in_process("show", file, "--all", *files)
    assert done.returncode == in_process("audit", file, *files).returncode
    count = HeadOfRun.of(str(files[1])).prototypes
    told = [statement(*pair(line), prototypes=count) for line in listed(done.stdout)]
    assert in_order(told) == in_order(Certificate.load(file).statements)


def test_necessity(folder: Path) -> None:
    file = folder / "000000.ale.json"
    certificate = Certificate.load(file)
    done = in_process("necessity", file, "--seconds", 0)
    assert done.returncode in (0, 11), done.stderr
    assert told_as(certificate.statements, done.stdout.splitlines()[1:])


def test_contrast(folder: Path, tmp_path: Path) -> None:
    file = folder / "000000.ale.json"
    certificate = Certificate.load(file)
    goal = (certificate.predicted + 1) % 3
    done = in_process("contrast", file, "--class", goal, "--seconds", 5, "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    released = [
        line.removeprefix("  released: ").split("; at the witness about ")[0] for line in lines if "released: " in line
    ]
    record = json.loads((tmp_path / "contrast.json").read_text())
    assert told_as([certificate.statements[each["number"]] for each in record["released"]], released)
    proof = Certificate.load(tmp_path / "witness.ale.json").statements
    because = [line.split(" (training patch")[0] for line in lines if line.startswith("    ") and ": " in line]
    assert told_as(proof, because)


@pytest.mark.parametrize("paradigm", ["top_k", pytest.param("joint", marks=pytest.mark.long)])  # whose fit takes long
def test_rules(paradigm: str, tmp_path: Path) -> None:
    head = replace(small_head("euclidean", 1, prototypes=4), similarity=Negated())
    latents = (head.prototypes[:, None].double() + 0.01 * torch.rand(4, 1, head.depth)).clamp(max=1)
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", latents)
    options = ("--head", tmp_path / "head", "--latents", tmp_path / "latents", "--paradigm", paradigm)
    done = in_process("rules", *options, "--out", tmp_path / "out", "--count", 2)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("PROVED")]
    assert len(lines) == 2
    rows = csv.DictReader((tmp_path / "out" / "rules.csv").read_text().splitlines())
    for line, row in zip(lines, rows, strict=True):
        certificate = Certificate.load(tmp_path / "out" / row["Certificate"])
        words = line.partition(". ")[2].rpartition(": class ")[0]
        assert in_order(of_rule(words)) == in_order(certificate.statements)
        assert Fraction(float(row["Margin"])) <= Fraction(certificate.margin)


def test_margins_of_tables_are_rounded_down(tmp_path: Path) -> None:
    head = report_head()
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", report_latents(head))
    options = ("--head", tmp_path / "head", "--latents", tmp_path / "latents")
    done = in_process("explain", *options, "--out", tmp_path / "out", "--paradigm", "top_k")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "explanations.csv").open() as stream:
        for row in csv.DictReader(stream):
            certificate = Certificate.load(tmp_path / "out" / row["Certificate"])
            assert 0 < float(row["Margin"]) <= certificate.margin
