"""`verale report` as a user runs it, and the example notebook."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest
from click.testing import CliRunner
from PIL import Image
from support.commands import in_process
from support.pages import Page
from support.reporting import folder_of, report_head

from verale.cli import demo
from verale.cli.report import command
from verale.errors import InputError, UsageError, VeraleError
from verale.version import installing

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return folder_of(tmp_path_factory.mktemp("report") / "out")


def report(*arguments: object) -> str:
    """Run it in this process; what it says on stderr."""
    result = CliRunner().invoke(command, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stderr


def test_a_page_is_written_and_told(folder, tmp_path):
    done = in_process("report", folder, "-o", tmp_path / "new" / "r.html")
    assert done.returncode == 0, done.stderr
    assert "4 certificates, 4 PROVED (when this page was written)" in done.stderr and done.stdout == ""
    assert "WARNING: 4 of 4 images are matched by order, not verified\n" in done.stderr
    assert (tmp_path / "new" / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_without_another_name_it_lies_in_the_folder(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "out")
    assert report(copy).startswith(f"{copy / 'report.html'}: 4 certificates")
    assert report(copy, "--format", "csv").startswith(f"{copy / 'report.csv'}: 4 certificates")
    assert (copy / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert len(pd.read_csv(copy / "report.csv")) == 4
    with pytest.raises(InputError, match=r"report\.html.*already exists; choose another name, or say overwrite=True"):
        report(copy)
    report(copy, "--overwrite", "--title", "Ants & bees", "--max-size", "0.1", "--image-size", "16")
    text = (copy / "report.html").read_text(encoding="utf-8")
    assert "<title>Ants &amp; bees</title>" in text and "the page would exceed 0.1 MiB" in text


def test_nobody_asked_the_checker(folder, tmp_path):
    assert "4 certificates, not audited" in report(folder, "-o", tmp_path / "r.html", "--no-audit")
    assert "PROVED" not in pd.read_csv(_written(tmp_path / "t.csv", folder, "--no-audit"))["status"].tolist()
    alone = shutil.copytree(folder, tmp_path / "alone")
    (alone / "head.safetensors").unlink()
    with pytest.raises(InputError, match="has no head, so nothing can be audited: give --head or --log, or say --no-a"):
        report(alone)
    assert not (alone / "report.html").exists()


def _written(path: Path, folder: Path, *options: object) -> Path:
    report(folder, "-o", path, *options)
    return path


def test_tables(folder, tmp_path):
    table = pd.read_parquet(_written(tmp_path / "t.parquet", folder, "--minimality"))
    assert list(table["status"]) == ["PROVED"] * 4 and list(table["minimality"]) == ["proved"] * 4


@pytest.mark.parametrize(
    ("arguments", "kind", "reason"),
    [
        (("{f}", "-o", "{t}/r.doc"), UsageError, "known format"),
        (("{f}", "-o", "{t}/r.pdf"), UsageError, "name its file"),
        (("{f}", "-o", "{f}/source.json", "--format", "html"), InputError, "overwrite=True"),
        (("{t}/nowhere", "-o", "{t}/r.html"), InputError, "there is no such file"),
        (("{t}", "-o", "{t}/r.html"), InputError, "holds no"),
        (("{f}", "-o", "{t}/r.html", "--head", "{f}/latents.safetensors"), InputError, "latents.safetensors"),
        (("{f}", "-o", "{t}/r.html", "--log", "{f}/source.json"), InputError, "not a record of an audit log"),
        (("{f}", "-o", "{t}/r.html", "--log", "{f}/R", "--no-audit"), UsageError, "--no-audit"),
        (("{f}", "-o", "{t}/r.csv", "--provable"), UsageError, "--provable is for pages"),
        (("{f}", "-o", "{t}/r.html", "--compact"), UsageError, "--compact is for pictures"),
    ],
)
def test_what_cannot_be_is_named(folder, tmp_path, arguments, kind, reason):
    with pytest.raises(kind, match=reason) as caught:
        report(*(one.format(f=folder, t=tmp_path) for one in arguments))
    assert isinstance(caught.value, VeraleError)
    assert not (tmp_path / "r.html").exists()


def test_what_is_not_installed_is_named_before_the_work(folder, tmp_path, monkeypatch):
    for kind, module in (("html", "jinja2"), ("parquet", "pyarrow"), ("png", "matplotlib")):
        with patch.dict(sys.modules, {module: None}):
            done = in_process("report", folder, "-o", tmp_path / "r", "--format", kind)
        assert done.returncode == 9
        assert done.stderr == f"error: this command needs {module}: {installing('report')}\n"
    monkeypatch.setitem(sys.modules, "jinja2", None)  # a demo does all but the page
    files = (folder / "head.safetensors", folder / "latents.safetensors")
    assert demo._report(tmp_path / "r.html", folder, *files, {}) == f"not written; {installing('report')}"
    assert not (tmp_path / "r.html").exists()


@pytest.mark.long  # a Jupyter kernel
def test_the_example_notebook_runs_and_shows_a_certificate(tmp_path):
    import nbclient  # takes a while, as all that notebooks need
    import nbformat

    notebook = nbformat.read(ROOT / "examples" / "notebook.ipynb", as_version=4)
    assert all(cell.get("outputs", []) == [] for cell in notebook.cells), "outputs are made, not kept"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert any("NOT AUDITED: class" in data.get("text/html", "") for data in shown)
    assert any("Proved: The class is" in data.get("text/html", "") for data in shown)
    assert any("image/png" in data for data in shown)
    assert any("PROVED" in data.get("text/plain", "") for data in shown)
    assert (tmp_path / "report" / "report.html").exists()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs, given by absolute paths; an image of the first is gone."""
    made = tmp_path_factory.mktemp("somebody's machine")
    a, b = folder_of(made / "a", report_head()), folder_of(made / "b", report_head(), "top_k")
    (a / "prototypes").mkdir()
    for number in range(report_head().size):
        Image.new("RGB", (9, 9), (0, 0, 20 * number)).save(a / "prototypes" / f"{number:04d}.png")
    (a / "images" / "1.png").write_text("no image")
    return a, b


def reported(runs: tuple[Path, Path], out: Path) -> str:
    broken = shutil.copytree(runs[1], out.parent / "broken")
    (broken / "000002.ale.json").write_text("{")
    log = out.parent / "log.json"
    in_process("audit", runs[0], "--log", log)
    texts = []
    for options in (["--log", log], ["--provable"], ["--no-audit", "--no-pictures"]):
        for run in (*runs, broken):
            in_process("report", run, "-o", out, "--overwrite", *options)
            texts.append(Page(out.read_bytes()).everything)
    return "\n".join(texts)


def made(file: Path, *command: object) -> str:
    """What a command writes into a file."""
    done = in_process(*command)
    assert file.is_file(), done.stderr
    return file.read_text()


def figure(runs: tuple[Path, Path], out: Path) -> str:
    file = out.with_suffix(".svg")
    return made(file, "report", runs[0] / "000001.ale.json", "-o", file)


def compare(runs: tuple[Path, Path], out: Path, *options: str) -> str:
    return made(out, "compare", *runs, "-o", out, "--all", *options)


def of_latents(runs: tuple[Path, Path]) -> tuple[object, ...]:
    return "--head", runs[0] / "head.safetensors", "--latents", runs[0] / "latents.safetensors"


def rules(runs: tuple[Path, Path], out: Path) -> str:
    folder = out.parent / "rules"
    return made(folder / "rules.html", "rules", *of_latents(runs), "-o", folder, "--count", 1)


def attribution(runs: tuple[Path, Path], out: Path) -> str:
    folder = out.parent / "shares"
    return made(folder / "attribution.html", "attribute", *of_latents(runs), "-o", folder, "--count", 2)


PAGES: dict[str, Callable[[tuple[Path, Path], Path], str]] = {
    "report": reported,
    "figure": figure,
    "compare": compare,
    "rules": rules,
    "attribution": attribution,
}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_names_a_folder_of_the_machine_that_wrote_it(name, runs, tmp_path):
    text = PAGES[name](runs, tmp_path / "p.html")
    for folder in (*runs, runs[0].parent, tmp_path, Path.home(), Path.cwd()):
        found = text.find(f"{folder}")
        assert found < 0, text[max(0, found - 100) : found + 100]


def test_pictures_stand_where_they_lie_beside_the_latents_or_none_where_none_are_wanted(runs, tmp_path):
    for make in (rules, attribution):
        assert "data:image/png;base64," in make(runs, tmp_path / "p.html")
    assert "data:image" not in compare(runs, tmp_path / "p.html", "--no-pictures")
