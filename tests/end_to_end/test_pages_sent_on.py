"""Pages that are sent on: none names a folder of the machine that wrote it, and each shows only what it may."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from support.commands import in_process
from support.pages import Page
from support.reporting import folder_of, report_head


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


def report(runs: tuple[Path, Path], out: Path) -> str:
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


def figure(runs: tuple[Path, Path], out: Path) -> str:
    in_process("report", runs[0] / "000001.ale.json", "-o", out.with_suffix(".svg"))
    return out.with_suffix(".svg").read_text()


def compare(runs: tuple[Path, Path], out: Path) -> str:
    done = in_process("compare", *runs, "-o", out, "--all")
    assert done.returncode == 0, done.stderr
    return out.read_text()


def rules(runs: tuple[Path, Path], out: Path) -> str:
    files = "--head", runs[0] / "head.safetensors", "--latents", runs[0] / "latents.safetensors"
    done = in_process("rules", *files, "-o", out.parent / "rules", "--count", 1)
    assert (out.parent / "rules" / "rules.html").is_file(), done.stderr
    return (out.parent / "rules" / "rules.html").read_text()


def attribution(runs: tuple[Path, Path], out: Path) -> str:
    files = "--head", runs[0] / "head.safetensors", "--latents", runs[0] / "latents.safetensors"
    done = in_process("attribute", *files, "--image", 0, "-o", out.parent / "shares", "--count", 2)
    assert (out.parent / "shares" / "attribution.html").is_file(), done.stderr
    return (out.parent / "shares" / "attribution.html").read_text()


PAGES: dict[str, Callable[[tuple[Path, Path], Path], str]] = {
    "report": report,
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


def test_rules_and_attributions_show_the_pictures_beside_the_latents(runs, tmp_path):
    for make in (rules, attribution):
        assert "data:image/png;base64," in make(runs, tmp_path / "p.html")


def test_a_comparison_may_be_without_images(runs, tmp_path):
    done = in_process("compare", *runs, "-o", tmp_path / "p.html", "--all", "--no-pictures")
    assert done.returncode == 0 and "data:image" not in (tmp_path / "p.html").read_text()
