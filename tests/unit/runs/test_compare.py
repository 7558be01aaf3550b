"""Two runs compared: which image is which, which statements stay true, what cannot be compared, what is printed."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.commands import in_process
from support.small import small_head, small_latents

from verale.certificate import Certificate
from verale.errors import InputError
from verale.head import Head, Negated, as_patches, evaluate, save_latents
from verale.runs.compare import ComparedImage, Counts, compare, matched, sentences, two
from verale.runs.contrast import value_at
from verale.runs.explain import open_run
from verale.runs.explained_run import BY_FILES, BY_LATENTS
from verale.runs.table import read_table
from verale.search import SearchOptions

pytestmark = pytest.mark.usefixtures("searched_once")
HEAD = small_head("euclidean", prototypes=6)
LATENTS = small_latents(HEAD, images=6)
LABELS = [0, 1, 2, 0, 1, 2]
MOVED = torch.cat([LATENTS[:1], (0.8 * LATENTS + 0.2 * small_latents(HEAD, images=7)[1:]).clamp(0, 1)[1:]])
"""But for the first image, whose latents are the same."""
OTHER = replace(HEAD, prototypes=(HEAD.prototypes + 0.05).clamp(0, 1))


def run(folder: Path, head: Head = HEAD, latents: torch.Tensor = LATENTS, paradigm: str = "top_k") -> str:
    with open_run(folder, head, latents, SearchOptions(paradigm), labels=LABELS[: len(latents)]) as opened:
        assert len(list(opened)) == len(latents)
    return str(folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    run(folder / "a")
    run(folder / "moved", latents=MOVED)
    run(folder / "other", OTHER, MOVED)
    run(folder / "patches", paradigm="projection")
    return folder


@pytest.fixture
def folders(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "made")
    return tmp_path / "made"


def counted(a: object, b: object) -> tuple[Counts, list[ComparedImage]]:
    counts, rows = Counts(), list(compare(str(a), str(b)))
    for one in rows:
        counts.add(one)
    return counts, rows


def by_floats(certificate: Certificate, head: Head, image: torch.Tensor) -> tuple[bool, ...]:
    """Whether statements are true, by float64: of a random image no end of an interval comes near."""
    at, infinite = evaluate(head, image[None]), float("inf")
    values = [value_at(head, certificate, number, at) for number in range(certificate.size)]
    return tuple(
        not (value < getattr(each, "lower", -infinite) or value > getattr(each, "upper", infinite))
        for value, each in zip(values, certificate.statements, strict=True)
    )


@pytest.mark.parametrize(("first", "second", "head"), [("a", "moved", HEAD), ("a", "other", OTHER),
                                                       ("patches", "moved", HEAD)])  # fmt: skip
def test_statements_are_decided_at_the_others_latents(first, second, head, folders) -> None:
    counts, rows = counted(folders / first, folders / second)
    images, answers = as_patches(MOVED), []
    for one in rows:
        certificate = Certificate.load(folders / first / f"{one.a.index:06d}.ale.json")
        expected = by_floats(certificate, head, images[one.b.index])
        assert one.answers == expected
        assert one.kept == all(expected) and len(one.told) == min(3, expected.count(False))
        answers += expected
    assert {True, False} == {*answers}, "both answers occur"
    assert counts.answers == {True: answers.count(True), False: answers.count(False)}


def test_a_run_keeps_its_own_reasons(folders) -> None:
    counts, rows = counted(folders / "a", folders / "a")
    assert counts.outcomes == {(True, True): 6} and not any(one.changed for one in rows)
    assert counts.named == counts.named_in_both and counts.record()["fails_most"] == []
    assert all(one.a == one.b for one in rows)
    assert compare(str(folders / "a"), str(folders / "a")).pairs.by == BY_LATENTS


def test_what_both_runs_say_is_beside_it(folders) -> None:
    counts, rows = counted(folders / "a", folders / "moved")
    for one, row in zip(rows, read_table(folders / "a/explanations.csv"), strict=True):
        certificate = Certificate.load(folders / "a" / row.certificate)
        assert (one.a.predicted, one.a.size, one.a.paradigm) == (row.predicted, row.size, "top_k")
        assert one.a.bounded.prototypes == row.bounded_prototypes and one.a.minimal == certificate.minimal
        assert 0 < float(one.a.margin) <= certificate.margin
        assert (one.a.label, one.a.correct) == (row.label, row.correct)
    assert counts.a["labelled"] == 6 and counts.a["explained"] == 6
    assert counts.a["correct"] == sum(one.a.correct for one in rows)


def test_what_is_not_decided_is_neither_kept_nor_failed(folders, monkeypatch) -> None:
    """Three answers: what the checker does not decide is neither kept nor failed."""
    monkeypatch.setattr("verale.checker.subject.allowed", lambda limit, size: 1e-9)
    counts, rows = counted(folders / "a", folders / "moved")
    assert all(one.answers == (None,) * one.a.size and one.kept is None and one.changed for one in rows)
    assert counts.outcomes.keys() == {(one.same_class, None) for one in rows}
    assert "are open" in sentences(compare(str(folders / "a"), str(folders / "moved")), counts)[0]


def with_source(folder: Path, order: list[int], **changes: object) -> None:
    """A `source.json` in which the image with index i is file order[i]."""
    images = [{"file": f"{n}.png", "label": None, "sha256": hashlib.sha256(b"%d" % n).hexdigest()} for n in order]
    source = {"preprocessing": None, "prototypes": None, "classes": None, "images_folder": "images", "images": images}
    (folder / "source.json").write_text(json.dumps(source | changes))


def test_images_are_matched_by_their_files_or_latents(folders, tmp_path) -> None:
    turned = [5, 4, 3, 2, 1]
    run(tmp_path / "turned", latents=LATENTS[turned])
    with_source(folders / "a", list(range(6)))
    with_source(tmp_path / "turned", turned)
    comparison = compare(str(folders / "a"), str(tmp_path / "turned"))
    assert comparison.pairs.by == BY_FILES and comparison.pairs.pairs == ((1, 4), (2, 3), (3, 2), (4, 1), (5, 0))
    assert matched(comparison) == f"5 images in both, matched by {BY_FILES}; 1 only in A."
    assert [one.image for one in comparison] == [f"{n}.png" for n in range(1, 6)]
    assert all(one.kept for one in comparison)
    by_latents = compare(str(folders / "moved"), run(tmp_path / "latents", latents=MOVED[[2, 0]]))
    assert by_latents.pairs.by == BY_LATENTS and by_latents.pairs.pairs == ((0, 1), (2, 0))
    with_source(folders / "moved", list(range(6, 12)))
    with pytest.raises(InputError, match=f"has no image of .*, by {BY_FILES}"):
        compare(str(folders / "a"), str(folders / "moved"))


def test_other_prototypes_or_another_geometry_leave_only_classes(folders, tmp_path) -> None:
    changed = {
        "prototypes: 6 in A, 5 in B": small_head("euclidean", prototypes=5),
        "the similarity: log_ratio in A, negated in B": replace(HEAD, similarity=Negated()),
        "the geometry: euclidean in A, cosine in B": small_head("cosine", prototypes=6),
    }
    for number, (reason, head) in enumerate(changed.items()):
        other = run(tmp_path / str(number), head, small_latents(head, images=6))
        comparison = compare(str(folders / "a"), other)
        counts, rows = counted(folders / "a", other)
        assert reason in comparison.why_not and comparison.how.startswith("Reasons cannot be compared, only classes")
        assert all(one.answers is None and one.kept is None and one.note for one in rows)
        assert "satisfy" not in " ".join(sentences(comparison, counts))
        assert counts.changed == counts.of(False), "an image whose reasons cannot be asked is not one that changed"
    counts, rows = counted(folders / "a", run(tmp_path / "small", OTHER, LATENTS[:, :3]))
    assert all("3 patches, expected the certificate's" in one.note for one in rows) and counts.notes.total() == 6


def unexplained(folder: Path, index: int) -> None:
    """Take an image's certificate away, as if it had none."""
    name = f"{index:06d}.ale.json"
    (folder / name).unlink()
    lines = (folder / "explanations.csv").read_text().splitlines()
    cells = lines[index + 1].split(",")
    header = lines[0].split(",")
    for column in ("Certificate", "SHA-256", "Margin", "Paradigm"):
        cells[header.index(column)] = ""
    cells[header.index("Reason")] = "a tie"
    lines[index + 1] = ",".join(cells)
    (folder / "explanations.csv").write_text("\n".join(lines) + "\n")


def test_images_without_an_explanation_are_compared_as_far_as_they_go(folders) -> None:
    unexplained(folders / "a", 0)
    unexplained(folders / "moved", 1)
    counts, rows = counted(folders / "a", folders / "moved")
    assert rows[0].note == "A has no explanation: a tie" and rows[0].answers is None and rows[0].changed
    assert rows[1].answers is not None and rows[1].b.size is None and rows[1].b.reason == "a tie" and rows[1].changed
    assert (counts.a["explained"], counts.b["explained"]) == (5, 5)


def test_a_class_is_the_same_by_its_name(folders, tmp_path) -> None:
    """A network retrained with its classes in another order."""
    turned = replace(HEAD, weight=HEAD.weight[[2, 0, 1]], labels=("c", "a", "b"))
    a = run(tmp_path / "named", replace(HEAD, labels=("a", "b", "c")))
    counts, rows = counted(a, run(tmp_path / "turned", turned))
    assert counts.of(True) == 6 and any(one.a.predicted != one.b.predicted for one in rows)
    assert all(one.a.name in "abc" for one in rows)


def test_runs_that_contradict_each_other_are_told(folders) -> None:
    """All statements are true under the same head, so the class follows; the table says another one."""
    unexplained(folders / "moved", 2)
    shutil.copytree(folders / "a", folders / "b")
    unexplained(folders / "b", 3)
    table = (folders / "b/explanations.csv").read_text().splitlines()
    predicted = table[0].split(",").index("Pred Label")
    cells = table[4].split(",")
    cells[predicted] = str((int(cells[predicted]) + 1) % 3)
    (folders / "b/explanations.csv").write_text("\n".join([*table[:4], ",".join(cells), *table[5:]]) + "\n")
    comparison = compare(str(folders / "a"), str(folders / "b"))
    counts, _ = counted(folders / "a", folders / "b")
    assert counts.outcomes[False, True] == 1
    assert any("one of the runs is wrong; audit both" in text for text in sentences(comparison, counts))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (lambda folder: shutil.rmtree(folder), "moved: there is no such folder; expected one that"),
    "no table": (lambda folder: (folder / "explanations.csv").unlink(), r"holds no explanations\.csv; expected a f"),
    "no head": (lambda folder: (folder / "head.safetensors").unlink(), r"has no head\.safetensors, without which"),
    "no latents": (lambda folder: (folder / "latents.safetensors").unlink(), r"has no latents\.safetensors.*latents"),
    "a malformed certificate": (
        lambda folder: tampered(folder, lambda text: text.replace('"patches"', '"batches"')),
        r"000001\.ale\.json: is not a certificate \(predicate .*; restore it, or explain again with overwrite=True",
    ),
    "a changed certificate": (
        lambda folder: (folder / "000001.ale.json").write_bytes((folder / "000002.ale.json").read_bytes()),
        r"000001\.ale\.json: has another SHA-256 than the table says, so it was changed",
    ),
    "a certificate of another head": (
        lambda folder: tampered(folder, lambda text: text.replace(HEAD.digest, "0" * 64)),
        r"000001\.ale\.json: is about another head \(000000000000\.\.\.\)",
    ),
    "a missing certificate": (lambda folder: (folder / "000001.ale.json").unlink(), "there is no such file"),
    "a certificate elsewhere": (
        lambda folder: edited(folder, lambda text: text.replace("000001.ale.json", "../000001.ale.json")),
        r"names the certificate '\.\./000001\.ale\.json', which no run has",
    ),
    "fewer images": (
        lambda folder: edited(folder, lambda text: "\n".join(text.splitlines()[:-1]) + "\n"),
        "has 5 images, and .* has 6, or others; no digests say which",
    ),
    "other latents": (
        lambda folder: save_latents(folder / "latents.safetensors", LATENTS[:2]),
        "does not hold the latents of image 1 of .*with latents",
    ),
    "other labels": (
        lambda folder: edited(folder, lambda text: text.replace("\n1,1,", "\n1,0,")),
        "image 1 has the true class 0, and 1 in .*: these are not the same images",
    ),
}  # fmt: skip


def edited(folder: Path, change: Callable[[str], str]) -> None:
    path = folder / "explanations.csv"
    path.write_text(change(path.read_text()))


def tampered(folder: Path, change: Callable[[str], str]) -> None:
    """Another certificate, whose digest the table has."""
    path = folder / "000001.ale.json"
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_text(change(path.read_text()))
    after = hashlib.sha256(path.read_bytes()).hexdigest()
    edited(folder, lambda text: text.replace(before, after))


@pytest.mark.parametrize("name", DAMAGES)
def test_what_cannot_be_compared_is_named(name, folders) -> None:
    damage, message = DAMAGES[name]
    damage(folders / "moved")
    with pytest.raises(InputError, match=message) as raised:
        list(compare(str(folders / "a"), str(folders / "moved")))
    assert "\n" not in str(raised.value)


def test_two_values_are_one_where_they_are_equal() -> None:
    assert [two(3, 3), two(3, 4), two(True, False), two(None, 1), two(1, 1)] == ["3", "3 → 4", "yes → no", "- → 1", "1"]


def test_what_fails_is_in_one_order(folders) -> None:
    """Whatever order sets of strings have in this process."""
    counts, rows = counted(folders / "patches", folders / "moved")
    most = counts.fails_most
    assert [number for _, number, _ in most] == sorted((number for _, number, _ in most), reverse=True)
    for name, number, stated in most:
        assert number == sum(name in one.failing for one in rows) <= stated == sum(name in one.subjects for one in rows)
    equal = [name for name, number, stated in most if (number, stated) == most[-1][1:]]
    assert equal == sorted(equal)


IMAGES = 25


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    head = replace(small_head("euclidean", prototypes=6), labels=("[red]", "b", "c"))
    head.save(folder / "head")
    for name, images in (("a", small_latents(head, images=IMAGES)), ("b", small_latents(head, images=IMAGES + 1)[1:])):
        save_latents(folder / f"{name}.latents", images, [n % 3 for n in range(IMAGES)])
        given = ("--head", "head", "--latents", f"{name}.latents", "--paradigm", "top_k", "--jobs", 1)
        assert in_process("explain", *given, "--out", name, cwd=folder).returncode == 0
    return folder


def test_the_counts_come_first_then_images_that_changed(two_runs) -> None:
    done = in_process("compare", "a", "b", cwd=two_runs)
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0] == f"{IMAGES} images in both, matched by their order, which nothing verifies."
    assert f" of {IMAGES} images keep their class; of these, " in lines[1]
    assert any(line.startswith("  true class given, as labelled: A ") for line in lines)
    heading = next(n for n, line in enumerate(lines) if line.startswith("image "))
    changed = json.loads(in_process("compare", "a", "b", "--json", cwd=two_runs).stdout.splitlines()[-1])["changed"]
    assert len(lines) - heading == 22 and lines[-1].startswith(f"and {changed - 20} more that changed: --all lists")
    classes = [" → " in line.split("  ")[1].strip() for line in lines[heading + 1 : -1]]
    assert classes == sorted(classes, reverse=True), "images with another class come first"
    heads = [line for line in done.stderr.splitlines() if "sha256" in line]
    assert [line[:2] for line in heads] == ["A ", "B "]


def test_all_lists_every_image_and_json_is_an_object_an_image_and_one_of_counts(two_runs) -> None:
    same = in_process("compare", "a", "a", "--all", cwd=two_runs)
    assert sum(line.startswith("image ") for line in same.stdout.splitlines()) == IMAGES + 1
    assert "image 0" not in in_process("compare", "a", "a", cwd=two_runs).stdout
    *images, counts = map(json.loads, in_process("compare", "a", "b", "--json", cwd=two_runs).stdout.splitlines())
    assert len(images) == counts["images"] == IMAGES and counts["_type"] == "urn:verale:comparison:v1"
    assert counts["statements"]["true"] == sum(one["true"] for one in images)
    assert counts["statements"]["false"] == sum(len(one["false"]) for one in images)
    assert counts["same_class"]["kept"] == sum(one["same_class"] and one["kept"] is True for one in images)
    assert counts["head_a"] == counts["head_b"] and counts["why_not"] is None


def test_a_page_and_a_table_are_written(two_runs, tmp_path) -> None:
    outputs = ("-o", tmp_path / "page.html", "-o", tmp_path / "table.csv")
    done = in_process("compare", "a", "b", *outputs, cwd=two_runs)
    assert done.returncode == 0 and done.stderr.count(" is written") == 2
    with (tmp_path / "table.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["image"] for row in rows] == [f"image {n}" for n in range(IMAGES)]
    assert {row["name_a"] for row in rows} <= {"[red]", "b", "c"}
    assert "Two runs compared" in (tmp_path / "page.html").read_text()
    again = in_process("compare", "a", "b", *outputs, cwd=two_runs)
    assert (again.returncode, again.stdout) == (9, "") and "already exists; choose another name" in again.stderr
    assert in_process("compare", "a", "b", *outputs, "--overwrite", cwd=two_runs).returncode == 0


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
def test_what_the_command_cannot_use_is_named(arguments, code, message, two_runs) -> None:
    done = in_process("compare", *arguments, cwd=two_runs)
    assert (done.returncode, done.stdout) == (code, "") and message in done.stderr.splitlines()[-1]
