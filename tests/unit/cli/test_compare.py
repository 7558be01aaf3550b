"""`verale compare`: what it prints and writes, the counts first."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands import in_process
from support.small import small_head, small_latents

from verale.head import save_latents

IMAGES = 25


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    head = replace(small_head("euclidean", prototypes=6), labels=("[red]", "b", "c"))
    head.save(folder / "head")
    for name, images in (("a", small_latents(head, images=IMAGES)), ("b", small_latents(head, images=IMAGES + 1)[1:])):
        save_latents(folder / f"{name}.latents", images, [n % 3 for n in range(IMAGES)])
        given = ("--head", "head", "--latents", f"{name}.latents", "--paradigm", "top_k", "--jobs", 1)
        assert in_process("explain", *given, "--out", name, cwd=folder).returncode == 0
    return folder


def test_the_counts_come_first_then_images_that_changed(made) -> None:
    done = in_process("compare", "a", "b", cwd=made)
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0] == f"{IMAGES} images in both, matched by their order, which nothing verifies."
    assert f" of {IMAGES} images keep their class; of these, " in lines[1]
    assert any(line.startswith("  true class given, as labelled: A ") for line in lines)
    heading = next(n for n, line in enumerate(lines) if line.startswith("image "))
    changed = json.loads(in_process("compare", "a", "b", "--json", cwd=made).stdout.splitlines()[-1])["changed"]
    assert len(lines) - heading == 22 and lines[-1].startswith(f"and {changed - 20} more that changed: --all lists")
    classes = [" → " in line.split("  ")[1].strip() for line in lines[heading + 1 : -1]]
    assert classes == sorted(classes, reverse=True), "images with another class come first"
    heads = [line for line in done.stderr.splitlines() if "sha256" in line]
    assert [line[:2] for line in heads] == ["A ", "B "]


def test_all_lists_every_image(made) -> None:
    same = in_process("compare", "a", "a", "--all", cwd=made)
    assert sum(line.startswith("image ") for line in same.stdout.splitlines()) == IMAGES + 1
    assert "image 0" not in in_process("compare", "a", "a", cwd=made).stdout


def test_json_is_an_object_an_image_and_one_of_counts(made) -> None:
    *images, counts = map(json.loads, in_process("compare", "a", "b", "--json", cwd=made).stdout.splitlines())
    assert len(images) == counts["images"] == IMAGES and counts["_type"] == "urn:verale:comparison:v1"
    assert counts["statements"]["true"] == sum(one["true"] for one in images)
    assert counts["statements"]["false"] == sum(len(one["false"]) for one in images)
    assert counts["same_class"]["kept"] == sum(one["same_class"] and one["kept"] is True for one in images)
    assert counts["head_a"] == counts["head_b"] and counts["why_not"] is None


def test_a_page_and_a_table_are_written(made, tmp_path) -> None:
    outputs = ("-o", tmp_path / "page.html", "-o", tmp_path / "table.csv")
    done = in_process("compare", "a", "b", *outputs, cwd=made)
    assert done.returncode == 0 and done.stderr.count(" is written") == 2
    with (tmp_path / "table.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["image"] for row in rows] == [f"image {n}" for n in range(IMAGES)]
    assert {row["name_a"] for row in rows} <= {"[red]", "b", "c"}
    assert "Two runs compared" in (tmp_path / "page.html").read_text()
    again = in_process("compare", "a", "b", *outputs, cwd=made)
    assert (again.returncode, again.stdout) == (9, "") and "already exists; choose another name" in again.stderr
    assert in_process("compare", "a", "b", *outputs, "--overwrite", cwd=made).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("a",), 2, "Missing argument 'B'"),
        (("a", "none"), 9, "none: there is no such folder; expected one that verale explain wrote"),
        (("a", "head"), 9, "head: is not a folder; expected one that verale explain wrote"),
        (("a", "b", "-o", "x.txt"), 9, "x.txt has no known format as its suffix, expected .html or .csv"),
        (("a", "b", "--latents", "head"), 9, "head: latents file: holds "),
        (("a", "b", "--head", "a.latents"), 9, "a.latents: head file: "),
    ],
)
def test_what_cannot_be_used_is_named(arguments, code, message, made) -> None:
    done = in_process("compare", *arguments, cwd=made)
    assert (done.returncode, done.stdout) == (code, "") and message in done.stderr.splitlines()[-1]


def test_where_nothing_is_kept_a_way_to_ask_for_less_is_named(made, tmp_path) -> None:
    """B is about the same images, but for the least change; A states what float64 can tell apart."""
    images = small_latents(small_head("euclidean", prototypes=6), images=IMAGES)
    save_latents(tmp_path / "z", (images * 0.999).clamp(0, 1))
    given = ("--head", made / "head", "--latents", tmp_path / "z", "--paradigm", "projection", "--jobs", 1)
    assert in_process("explain", *given, "--out", tmp_path / "z-out").returncode == 0
    given = ("--head", made / "head", "--latents", made / "a.latents", "--paradigm", "projection", "--jobs", 1)
    assert in_process("explain", *given, "--digits", "exact", "--out", tmp_path / "a-out").returncode == 0
    done = in_process("compare", tmp_path / "a-out", tmp_path / "z-out")
    assert "explain A with --tolerance 10% or --inflate" in done.stderr
    assert "--inflate" not in in_process("compare", "a", "a", cwd=made).stderr
