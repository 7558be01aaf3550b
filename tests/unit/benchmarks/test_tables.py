"""The papers' tables from folders of the same layout, with networks that fit here."""

from __future__ import annotations

import csv
import shutil
from dataclasses import fields

import pytest
import torch
from support.runs import IMAGES, changed, final
from support.small import small_head, small_latents

from benchmarks import run
from benchmarks.baseline import Published
from benchmarks.heads import Subject, build
from benchmarks.measure import Measurement
from benchmarks.table import COLUMNS, Row
from benchmarks.tables import __main__ as tables
from benchmarks.tables import explaining
from benchmarks.tables import page as pages
from benchmarks.tables.explaining import METHODS, Kept, Method, Within, methods_of, read_kept
from benchmarks.tables.page import Explanations, latex, markdown
from benchmarks.tables.runs import TrainedRun, chosen_images, runs_in
from verale.checker import Auditor
from verale.errors import InputError, UsageError
from verale.head import Head, as_patches, load_latents, save_latents
from verale.paradigms import PARADIGMS
from verale.runs.table import Explained

_THEIRS = "Idx,True Label,Pred Label,Correct,Exp Size,Runtime (s)\n0,0,0,True,30,2.0\n1,1,0,False,50,4.0\n"


@pytest.fixture
def runs(tmp_path):
    """Two networks as the authors' release lays them out, and one that was trained halfway."""
    for name, fixture in (("protopnet_cifar10_42", "protopnet"), ("pipnet_cub200", "pipnet")):
        shutil.copytree(final(fixture), tmp_path / "runs" / name / "final")
        (tmp_path / "runs" / name / "final" / "random_indices.txt").write_text("4\n0\n")
    theirs = tmp_path / "runs" / "protopnet_cifar10_42" / "final" / "explanations"
    theirs.mkdir()
    (theirs / "triangle_explanations.csv").write_text(_THEIRS)
    (tmp_path / "runs" / "tesnet_cub200" / "latest").mkdir(parents=True)
    return tmp_path / "runs"


@pytest.fixture
def here(monkeypatch):
    """Images are explained by this process: one of their own takes three seconds to start."""

    def explain(self, image, method):
        head, latents, budget = self._given
        auditor = Auditor(head.read_bytes(), latents.read_bytes())
        return explaining._of_one(Head.load(head), as_patches(load_latents(latents)), auditor, image, method, budget)

    monkeypatch.setattr(Within, "explain", explain)


def _made(runs, *more):
    out = runs.parent / "tables.md"
    return tables.main([str(runs), "--images", str(IMAGES), "--out", str(out), *more]), out


def _cells(text, run, method):
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {run} | {method} |")]
    return row.strip("| ").split(" | ")


def test_every_method_is_measured_audited_kept_and_beside_the_papers(runs, here, capsys):
    code, out = _made(runs, "--methods", "triangle/nearest,top_k,top_k/highest,simplex")
    text = out.read_text(encoding="utf-8")
    assert code == 0 and text in capsys.readouterr().out
    kept = read_kept(out.with_suffix(".kept") / "protopnet_cifar10_42" / "triangle-nearest_explanations.csv")
    assert [one.row.index for one in kept] == [4, 0]
    assert all(one.verdict == "PROVED" and one.audit_seconds >= 0 for one in kept)
    assert all(one.row.correct == (one.row.label == one.row.predicted) for one in kept)
    right = sum(one.row.correct for one in kept)
    cells = _cells(text, "protopnet_cifar10_42", "triangle/nearest")
    assert cells[2:7] == [f"{right} + {2 - right}", f"{right} + {2 - right}", "2", "0", "0"]
    assert [one.row.relative_size * 12 * 16 for one in kept] == pytest.approx([one.row.size for one in kept])
    assert _cells(text, "protopnet_cifar10_42", "papers' triangle, found in the run")[2:9] == [
        *("1 + 1", "1 + 1", "-", "-", "-", "30", "50")
    ]
    assert _cells(text, "protopnet_cifar10_42", "papers' triangle, release")[7:9] == ["6.58", "100.00"]
    assert "| pipnet_cub200 | simplex |" in text and "| pipnet_cub200 | triangle" not in text
    made = out.with_suffix(".tex").read_text(encoding="utf-8")
    assert made.count(r"\begin{tabular}") == made.count(r"\end{tabular}") == text.count("## ")
    assert r"protopnet\_cifar10\_42 & triangle/nearest & " in made


def test_what_is_kept_is_not_measured_again_and_not_mixed(runs, here, monkeypatch, capsys):
    shutil.rmtree(runs / "protopnet_cifar10_42")
    _, out = _made(runs, "--methods", "top_k")
    path = out.with_suffix(".kept") / "pipnet_cub200" / "top_k_explanations.csv"
    whole = path.read_text()
    path.write_text("".join(whole.splitlines(keepends=True)[:2]))
    asked = []
    honest = Within.explain
    monkeypatch.setattr(Within, "explain", lambda self, *given: asked.append(given) or honest(self, *given))
    assert _made(runs, "--methods", "top_k")[0] == 0
    assert [image for image, _ in asked] == [1]
    assert path.read_text().splitlines()[:2] == whole.splitlines()[:2] and len(read_kept(path)) == 2

    path.write_text(whole.replace(",PROVED", ",NOT_PROVED", 1))
    assert _made(runs, "--methods", "top_k")[0] == 1, "a certificate that is not proved ends in an error"
    assert _made(runs, "--methods", "top_k", "--budget", "59")[0] == 1
    assert "keeps measurements of another network" in capsys.readouterr().err


@pytest.mark.long  # a process for each image
def test_an_image_over_the_budget_is_stopped_and_said(tmp_path):
    """The search alone takes seconds here: a budget of a millisecond ends it, and the next image has a new process."""
    generator = torch.Generator().manual_seed(1)
    head = small_head("euclidean", prototypes=150, depth=40, classes=20)
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", torch.rand(2, 100, 40, generator=generator))
    with Within(tmp_path / "head", tmp_path / "latents", 0.001) as within:
        assert within.explain(0, Method("hypersphere", "nearest")) is None
        assert within.explain(1, Method("hypersphere", "nearest")) is None


@pytest.mark.long  # likewise
def test_a_process_that_fails_is_no_image_over_the_budget_and_a_refusal_is_a_reason(tmp_path):
    head = small_head("softmax")
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", small_latents(head))
    with Within(tmp_path / "head", tmp_path / "latents", 60) as within:
        assert within.explain(0, Method("top_k")).verdict == "PROVED"
        refused = within.explain(0, Method("triangle"))
        with pytest.raises(Exception, match="ended with code 1"):
            within.explain("no image", Method("top_k"))
    assert refused.row.size is None and "needs a metric head" in refused.row.reason


def test_what_was_stopped_or_has_no_explanation_is_in_no_mean():
    some = [
        Kept(Explained(0, 1, 2.0, 1, True, size=10, relative_size=0.1, paradigm="top_k"), 0.5, "PROVED"),
        Kept(Explained(1, 1, 4.0, 1, True, reason="a tie")),
        Kept(Explained(2, 1, None, 2, False, reason="stopped")),
    ]
    found = Explanations("a|b", "ProtoPNet", "", 100, 1, 8, 4, 60.0, {Method("top_k"): some})
    (row,) = [line for line in markdown([found], {}, ["x: gone"]).splitlines() if "| top_k |" in line]
    assert row.endswith("| top_k | 2 + 1 | 1 + 0 | 1 | 1 | 1 | 10 | - | 10 | - | 2 | - | 0.5 |")
    assert "- skipped: x: gone" in markdown([found], {}, ["x: gone"])
    assert "top\\_k & 2 + 1" in latex([found])


def test_methods_are_the_paradigms_and_the_papers_have_a_name_for_theirs():
    assert {each.paradigm for each in METHODS} == set(PARADIGMS)
    assert len({each.name for each in METHODS}) == len(METHODS)
    assert [each.name for each in methods_of(["top_k", "sparse"], None)] == ["sparse", "top_k", "top_k/highest"]


def test_runs_are_found_in_either_layout_and_named(runs):
    assert [(run.name, run.architecture, run.dataset) for run in runs_in(runs)] == [
        ("pipnet_cub200", "PIP-Net", "cub200"),
        ("protopnet_cifar10_42", "ProtoPNet", "cifar10"),
    ]
    assert [run.path for run in runs_in(runs / "pipnet_cub200" / "final")] == [runs / "pipnet_cub200" / "final"]
    assert TrainedRun("protopnet_gaussian_iso_oxford_iiit_pet", runs).dataset == "oxford_iiit_pet"
    assert TrainedRun("protopnet_gaussian_iso_oxford_iiit_pet", runs).architecture == "Gaussian"
    with pytest.raises(InputError, match="holds no run"):
        runs_in(runs / "tesnet_cub200")
    with pytest.raises(InputError, match="no such folder"):
        runs_in(runs / "nowhere")


def test_the_test_set_is_that_of_the_datasets_file(tmp_path, monkeypatch):
    """Of Flowers-102, whose files lie as its archive lays them out: four images, of which two are for tests."""
    from scipy.io import savemat
    from torchvision.datasets import Flowers102

    folder = tmp_path / "data" / "flowers-102"
    (folder / "jpg").mkdir(parents=True)
    for number, image in enumerate(sorted(IMAGES.glob("*/*.png"))[:4], start=1):
        shutil.copy(image, folder / "jpg" / f"image_{number:05d}.jpg")
    savemat(folder / "setid.mat", {"trnid": [[1]], "valid": [[2]], "tstid": [[4, 3]]})
    savemat(folder / "imagelabels.mat", {"labels": [[1, 2, 3, 4]]})
    monkeypatch.setattr(Flowers102, "_check_integrity", lambda self: True)
    flowers = {"name": "Flowers102", "module": "torchvision.datasets", "params": {"root": "data", "split": "test"}}
    run = TrainedRun(
        "protopnet_flowers102", changed("protopnet", tmp_path, dataset=lambda d: d["test_set"].update(flowers))
    )
    chosen = chosen_images(run, tmp_path, None, None, 4)
    assert [file.name for file in chosen.files] == ["image_00003.jpg", "image_00004.jpg"]
    assert chosen.labels == (2, 3) and chosen.indices == (1, 0)
    with pytest.raises(InputError, match="the head has 3"):
        chosen_images(run, tmp_path, None, None, 3)
    with pytest.raises(InputError, match="holds no test set Flowers102"):
        chosen_images(run, tmp_path / "elsewhere", None, None, 4)


def test_the_published_numbers_are_numbers_of_known_sources():
    with pages._PAPERS.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert lines and {line["source"] for line in lines} == set(pages._SOURCES)
    assert {line["paradigm"] for line in lines} <= {name for method in METHODS for name in method.published}
    assert all(float(line["correct"]) > 0 for line in lines)


def test_synthetic_heads_have_rows_of_their_own(tmp_path, here, monkeypatch):
    head = small_head("cosine")
    subject = Subject("cub-cosine", head, None, as_patches(small_latents(head)).float(), "small")
    monkeypatch.setattr(tables, "build", lambda name, data, images: subject)
    out = tmp_path / "t.md"
    assert tables.main(["--heads", "cub-cosine", "--count", "2", "--methods", "top_k", "--out", str(out)]) == 0
    assert _cells(out.read_text(encoding="utf-8"), "cub-cosine", "top_k")[2:5] == ["2 + 0", "2 + 0", "2"]


def tiny(geometry: str):
    def generate(_, images: int) -> Subject:
        head = small_head(geometry)
        return Subject("tiny", head, Published.of(head), small_latents(head, images=images), "synthetic, tiny")

    return generate


@pytest.mark.parametrize("geometry", [pytest.param("euclidean", marks=pytest.mark.long), "softmax"])
def test_every_certificate_is_audited_and_tabulated(geometry, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(run.HEADS, "tiny", tiny(geometry))
    assert run.main(["--heads", "tiny", "--images", "2", "--batch", "2", "--out", str(tmp_path)]) == 0
    with (tmp_path / "images.csv").open() as file:
        images = list(csv.DictReader(file))
    assert list(images[0]) == [f.name for f in fields(Measurement)]
    ours = [r for r in images if r["outcome"] == "certificate"]
    assert ours and all(r["verdict"] == "PROVED" and float(r["audit_seconds"]) > 0 for r in ours)
    theirs = {r["method"] for r in images if r["source"] == "baseline"}
    assert theirs == ({"mass"} if geometry == "softmax" else {"triangle", "hypersphere"})
    with (tmp_path / "summary.csv").open() as file:
        summary = list(csv.DictReader(file))
    assert list(summary[0]) == [f.name for f in fields(Row)]
    assert {r["method"] for r in summary} >= {"top_k", *(f"papers' {name}" for name in theirs)}
    table = (tmp_path / "table.md").read_text()
    assert all(f" {name} |" in table for name, _ in COLUMNS)
    assert "commit: " in table and "torch: " in table and "NOT sound" in table
    assert "tiny" in capsys.readouterr().out


def test_a_head_that_cannot_be_built_is_skipped_with_its_reason(tmp_path, capsys):
    assert run.main(["--heads", "protopnet", "--data", str(tmp_path), "--out", str(tmp_path)]) == 0
    assert "skipped" in capsys.readouterr().err


def test_unknown_names_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run.main(["--paradigms", "astrology"])
    assert f"known: {', '.join(PARADIGMS)}\n" in capsys.readouterr().err
    with pytest.raises(UsageError, match="unknown"):
        build("astrology", tmp_path, 1)


@pytest.mark.parametrize(
    "name",
    [
        *("cub-cosine", "cub-pipnet", "cub-protopool"),
        *(pytest.param(each, marks=pytest.mark.long) for each in ("cub-protopnet", "cub-gaussian")),  # 2,000 prototypes
    ],
)
def test_synthetic_heads_are_of_cub_size_and_reproducible(name, tmp_path):
    first, again = build(name, tmp_path, 1), build(name, tmp_path, 1)
    assert first.head.digest == again.head.digest and (first.latents == again.latents).all()
    assert first.head.classes == 200 and first.head.size == {"cub-pipnet": 768, "cub-protopool": 218}.get(name, 2000)
    domain = first.head.domain
    if domain.lower is not None:
        assert as_patches(first.latents).min() >= domain.lower
