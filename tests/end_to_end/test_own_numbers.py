"""What a terminal shows is what is proved: statements read back from it are those of the certificate."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.text import Text
from support.commands import in_process
from support.pages import Page
from support.reporting import folder_of, report_head, report_latents
from support.small import small_head
from support.told import of_rule, statement

import verale
from verale.certificate import Certificate, FloorStatement, Statement
from verale.certificate.words import below
from verale.checker import Auditor
from verale.checker.options import AuditOptions
from verale.head import Head, Negated, image_digests, load_latents, save_latents
from verale.report import picture as picture_module
from verale.report.collect import collect
from verale.report.page import page
from verale.report.table import frame
from verale.report.verdicts import audited
from verale.rules.fit import conditions
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
    return [statement(*pair(line), prototypes=PROTOTYPES) for line in lines] == [*statements[: len(lines)]]


def in_order(statements: Iterable[Statement]) -> list[str]:
    return sorted(map(repr, statements))


def read_back(text: str, count: int) -> list[str]:
    """The statements that `show` lists: indented, before the margins and after the points."""
    before = text.partition("Every other class")[0].split("\n\n")[-1]
    lines = [line for line in before.splitlines() if line.startswith("  ")]
    return in_order(statement(*pair(line), prototypes=count) for line in lines)


def test_show(folder: Path) -> None:
    file = folder / "000000.ale.json"
    done = in_process("show", file, "--all")
    assert done.returncode == 0, done.stderr
    assert read_back(done.stdout, PROTOTYPES) == in_order(Certificate.load(file).statements)


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
    assert read_back(done.stdout, count) == in_order(Certificate.load(file).statements)


@pytest.mark.parametrize("folder", ["top_k"], indirect=True)  # the search of the other takes long
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
    done = in_process("contrast", file, "--class", goal, "--seconds", 60, "--out", tmp_path)
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
        assert in_order(of_rule(words, head.size)) == in_order(certificate.statements)
        assert Fraction(row["Margin"]) <= Fraction(certificate.margin)


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
            assert 0 < Fraction(row["Margin"]) <= Fraction(certificate.margin)
            assert float(row["Margin"]) == float(below(certificate.margin)), "as everywhere else"


CLAUSES = {
    "few": (tuple(j for j in range(50) if j not in (1, 3)), "prototypes 1 and 3"),
    "many": (
        tuple(j for j in range(50) if j >= 30 or j % 5 == 0),
        "24 prototypes (1-4, 6-9, 11-14, 16-19, 21-24 and 26-29)",
    ),
}
"""The prototypes that a floor exempts, and how those that it speaks of are told."""


@pytest.fixture(scope="module", params=["few", pytest.param("many", marks=pytest.mark.long)])
def clause(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run of one image, whose certificate is a floor; and how each output has to tell it."""
    exempt, said = CLAUSES[request.param]
    meant = [j for j in range(50) if j not in exempt]
    head = small_head("euclidean", prototypes=50, classes=2)
    weight = torch.zeros(2, 50)
    weight[0, meant[:2]] = 1.0
    head = replace(head, weight=weight, bias=torch.tensor([0.0, 8.0]))
    points = head.prototypes[meant]
    latents = points.T.reshape(1, head.depth, 1, -1)
    folder = folder_of(tmp_path_factory.mktemp("clause") / "out", small_head("euclidean"), "top_k")
    for old in folder.glob("*.ale.json"):
        old.unlink()
    (folder / "source.json").unlink()
    head.save(folder / "head.safetensors")
    save_latents(folder / "latents.safetensors", latents)
    certificate = Certificate(
        head.digest, image_digests(latents)[0], 0, "top_k", len(meant), (FloorStatement(exempt, 4.5),), (None, 0.5),
        False, "0",
    )  # fmt: skip
    certificate.save(folder / "000000.ale.json")
    (folder / "explanations.csv").write_text(
        "Idx,Pred Label,Exp Size,Runtime (s),Certificate,Reason\n0,0,1,0.1,000000.ale.json,\n"
    )
    return folder, said


def printed(*command: object) -> Callable[[Path], str]:
    """What a command prints about the certificate."""
    name, *options = command
    return lambda folder: in_process(name, folder / "000000.ale.json", *options).stdout


def compared(folder: Path) -> str:
    """With a run whose image satisfies nothing of it."""
    other = folder.parent / "other"
    shutil.copytree(folder, other, dirs_exist_ok=True)
    head = Head.load(folder / "head.safetensors")
    latents = torch.ones(1, head.depth, 1, len(load_latents(folder / "latents.safetensors")[0, 0, 0]))
    save_latents(other / "latents.safetensors", latents)
    certificate = Certificate.load(other / "000000.ale.json")
    replace(certificate, latents=image_digests(latents)[0]).save(other / "000000.ale.json")
    return in_process("compare", folder, other, "--all").stdout


def texts_of(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text))


def drawn(compact: bool) -> Callable[[Path], str]:
    def figure(folder: Path) -> str:
        figures: list[Figure] = []
        with patch.object(picture_module, "saved", lambda made, kind: figures.append(made()) or b""):
            picture_module.picture(audited(collect(folder / "000000.ale.json")), "svg", compact)
        return texts_of(figures[0])

    return figure


def as_rule(folder: Path) -> str:
    head = Head.load(folder / "head.safetensors")
    words = conditions(Certificate.load(folder / "000000.ale.json"), head.geometry, head.size)
    return re.sub(r"activation (at least 4.5) of (.*)", r"\2: \1", words)


OUTPUTS = {
    "show": printed("show"),
    "necessity": printed("necessity", "--seconds", 0),
    "contrast": printed("contrast", "--class", 1, "--seconds", 60),
    "compare": compared,
    "plot": lambda folder: texts_of(
        verale.plot(Certificate.load(folder / "000000.ale.json"), None, Head.load(folder / "head.safetensors"))
    ),
    "figure": drawn(False),
    "compact": drawn(True),
    "notebook": lambda folder: unescape(
        re.sub("</td><td>", ": ", verale.show(folder / "000000.ale.json")._repr_html_())
    ),
    "rule": as_rule,
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_names_the_prototypes_that_a_clause_speaks_of(output: str, clause: tuple[Path, str]) -> None:
    """Figures and `necessity` told two prototypes of fifty as all but 48, and left out which ones those are."""
    folder, said = clause
    text = re.sub(r"\s+", " ", OUTPUTS[output](folder))
    assert said in text and "at least 4.5" in text and ", ..." not in text, text
    assert output not in ("plot", "figure") or "prototype except" not in text, "in the list they have numbers too"


KERNELS = ("arb", "proved")


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


@pytest.fixture(scope="module")
def projections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("same") / "out", paradigm="projection")


def least_of(file: Path) -> Fraction:
    return min(Fraction(margin) for margin in Certificate.load(file).margins if margin is not None)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_lead_is_the_same_everywhere(projections: Path, kernel: str) -> None:
    collection = audited(collect(projections), AuditOptions(kernel))
    table = frame(collection)
    listed = Page(page(collection, "A")).rows["margin"]
    head, more = (projections / "head.safetensors").read_bytes(), False
    for index, file in enumerate(sorted(projections.glob("*.ale.json"))):
        lead = below(least_of(file))
        assert listed[index] == lead
        assert table["margin"][index] == float(lead)
        assert f"at least {lead} below it" in collection.items[index].claim("x")
        proved = Auditor(head, None, kernel).numbers(file.read_bytes()).margins
        more |= below(min(margin for margin in proved if margin is not None)) != lead
        record = Auditor(head, None, kernel).check(file.read_bytes()).record()
        assert record["margin"] == lead
        assert record["margins"] == [margin and margin.hex() for margin in Certificate.load(file).margins]
    assert more, "of some lead more is proved than stated, else this test could not fail"
    for file in (projections / "000000.ale.json", projections / "000001.ale.json"):
        lead = below(least_of(file))
        assert f"margin >= {lead}  " in in_process("audit", file, "--kernel", kernel).stdout
        shown = in_process("show", file, "--kernel", kernel).stdout
        assert f": {lead}\n" in shown and set(re.findall(r"margin >= (\S+)", shown)) == {lead}
        figure = verale.plot(Certificate.load(file), None, report_head(), report_latents(report_head()))
        assert f": at least {lead}" in " ".join(text.get_text() for text in figure.findobj(Text))
