"""The figures of docs/theory.md: verale computes the numbers in them, and they are drawn from these numbers."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "figures"
NAMES = sorted(path.stem for path in FIGURES.glob("*.svg"))
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def made(out: Path, *options: str) -> Path:
    program = [sys.executable, str(FIGURES / "make.py"), "--out", str(out), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The figures drawn from the kept numbers."""
    return made(tmp_path_factory.mktemp("figures"), "--numbers", str(FIGURES / "numbers.json"))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number of a record with where it stands."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, f"{path}/{key}")
    else:
        yield path, value


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """The same numbers: counts and verdicts exactly, lengths to nine digits, as the last depend on the machine."""
    left, right = dict(leaves(first)), dict(leaves(second))
    return left.keys() == right.keys() and all(
        math.isclose(value, right[path], rel_tol=1e-9, abs_tol=1e-9)
        if isinstance(value, float) and isinstance(right[path], float)
        else value == right[path]
        for path, value in left.items()
    )


def drawing(svg: Path) -> tuple[list[str], list[tuple[str, list[float]]]]:
    """The texts of an SVG, and the points of every path and marker that is drawn."""
    elements = list(ElementTree.parse(svg).iter())
    texts = [(each.text or "").strip() for each in elements if each.tag.endswith("}text")]
    paths = [each.get("d", "") for each in elements if each.tag.endswith("}path")]
    paths += [f"{each.get('x')} {each.get('y')}" for each in elements if each.tag.endswith("}use")]
    return texts, [(re.sub(NUMBER, "", path), [float(number) for number in NUMBER.findall(path)]) for path in paths]


@pytest.mark.long  # eight digits explained ten times over, and 16 explanations proved minimal
def test_the_program_computes_and_draws_all_of_them(again: Path, tmp_path: Path) -> None:
    made(tmp_path)
    kept, numbers = (json.loads((folder / "numbers.json").read_text()) for folder in (FIGURES, tmp_path))
    assert same(kept, numbers), "verale computes them"
    for name in NAMES:
        assert drawing(tmp_path / f"{name}.svg")[0] == drawing(again / f"{name}.svg")[0]


@pytest.mark.long  # matplotlib draws all of them
@pytest.mark.parametrize("name", NAMES)
def test_it_is_drawn_from_them(name: str, again: Path) -> None:
    """Another version of matplotlib may name and place things a little differently: a point by half a unit."""
    (texts, paths), (texts_again, paths_again) = (drawing(folder / f"{name}.svg") for folder in (FIGURES, again))
    assert texts == texts_again
    assert [shape for shape, _ in paths] == [shape for shape, _ in paths_again]
    for (_, points), (_, others) in zip(paths, paths_again, strict=True):
        assert all(abs(x - y) < 0.5 for x, y in zip(points, others, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_read(name: str) -> None:
    """Text is text, on white paper of its own whatever the page is; the page says in words what there is to see."""
    texts, _ = drawing(FIGURES / f"{name}.svg")
    assert texts
    style = ElementTree.parse(FIGURES / f"{name}.svg").find(".//{*}g[@id='patch_1']/{*}path")
    assert style is not None and "fill: #ffffff" in style.get("style", "")
    ((alternative,),) = [re.findall(rf"!\[([^\]]+)\]\(figures/{name}\.svg\)", (ROOT / "docs/theory.md").read_text())]
    assert len(alternative) > 80


def test_what_the_page_says_of_them_is_so() -> None:
    """The numbers in the alternative texts."""
    page, numbers = (ROOT / "docs/theory.md").read_text(), json.loads((FIGURES / "numbers.json").read_text())
    masses, sizes = numbers["simplex"], numbers["minimal"]
    for value in [row[2] for row in masses["stated"]]:
        assert f"{value:.4g}" in page
    assert f"minus {-masses['simplex']:.3f}" in page and masses["simplex"] < 0
    assert f"plus {masses['assignment']:.3f}" in page and f"plus {masses['image']:.3f}" in page
    rival, nearest = sizes["rival"], sizes["nearest"]
    assert f"{min(rival)} to {max(rival)} statements" in page and f"first {min(nearest)} to {max(nearest)}" in page
    pairs = list(zip(rival, nearest, strict=True))
    assert (sum(a < b for a, b in pairs), sum(a == b for a, b in pairs)) == (7, 1)
    assert all(sizes["rival proved minimal"]) and all(sizes["nearest proved minimal"])
    unexplained = [sum(size is None for size in row) for row in numbers["tolerance"]["sizes"]]
    assert unexplained == [0] * (len(unexplained) - 1) + [1]
    exact = numbers["exact"]
    least = {rule: f"from {exact['wide'][rule][0]:.2f} on" for rule in ("triangle", "projection")}
    assert f"{least['triangle']}; `projection` only {least['projection']}." in page
    for rule in least:
        assert exact["wide"][rule][0] < exact["exact"][rule][0] < exact["exact"][rule][1] < exact["wide"][rule][1]
    assert math.isclose(exact["exact"]["projection"][0], exact["distance"])
    ranges = numbers["ranges"]
    for rule in ("triangle", "hypersphere", "projection"):
        assert all(low <= x <= high for x, (low, high) in zip(ranges["truth"], ranges[rule], strict=True))
    widths = {rule: [high - low for low, high in ranges[rule]] for rule in ("triangle", "hypersphere", "projection")}
    for shorter, longer in (("projection", "hypersphere"), ("hypersphere", "triangle")):
        assert all(a < b for a, b in zip(widths[shorter], widths[longer], strict=True))
    assert ranges["hypersphere"][0][0] < ranges["triangle"][0][0]
