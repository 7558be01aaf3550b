"""The harness, end to end on a tiny head."""

from __future__ import annotations

import csv
from dataclasses import fields

import pytest
from support.small import small_head, small_latents

from benchmarks import run
from benchmarks.baseline import Published
from benchmarks.heads import Subject, build
from benchmarks.measure import Measurement
from benchmarks.table import COLUMNS, Row
from verale.errors import UsageError
from verale.head import as_patches
from verale.paradigms import PARADIGMS


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
