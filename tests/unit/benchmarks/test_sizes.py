"""The sizes of explanations by paradigm: what the page says is what was found and proved."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.small import small_head, small_latents

from benchmarks import freedom, sizes
from verale.certificate import ActivationStatement, Certificate
from verale.head import as_patches, evaluate
from verale.search.explain import explain


def subject(geometry):
    head = small_head(geometry, 3)
    return head, as_patches(small_latents(head, seed=3)).float()


@pytest.mark.parametrize("geometry", [pytest.param("euclidean", marks=pytest.mark.long), "softmax"])
def test_sizes_are_those_of_certificates_and_never_larger_than_before(geometry):
    head, latents = subject(geometry)
    before, after, *_ = sizes.measured_of(head, latents, ["top_k", "readable"])
    expected = [each.size if isinstance(each, Certificate) else None for each in explain(head, latents, "top_k")]
    assert (before.paradigm, after.paradigm) == ("top_k, before", "top_k")
    assert after.sizes == expected and after.proved == len(after.found) > 0 and not after.unproved
    assert before.proved is None
    assert all(new <= old for old, new in zip(before.sizes, after.sizes, strict=True) if new is not None)


def test_the_page_counts_what_was_proved(monkeypatch, capsys, tmp_path):
    head, latents = subject("euclidean")
    monkeypatch.setattr(sizes, "_subject", lambda name, data, images: (head, latents[:images]))
    assert sizes.main(["--heads", "digits", "--images", "1", "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text in capsys.readouterr().out
    rows = [line for line in text.splitlines() if line.startswith("| digits |")]
    names = [row.split(" | ")[1].split(" (")[0] for row in rows]
    assert names == ["evidence", "top_k, before", "top_k", "mixed", "projection", "readable"]
    proved = sum(int(row.split(" | ")[4]) for row, name in zip(rows, names, strict=True) if "before" not in name)
    assert f"**{proved:,} of {proved:,} certificates proved.**" in text


def test_what_is_not_proved_ends_in_an_error(monkeypatch, capsys):
    head, latents = subject("euclidean")
    monkeypatch.setattr(sizes, "_subject", lambda name, data, images: (head, latents))
    monkeypatch.setattr(freedom, "heads", lambda name, data: (head, latents, 80.0))
    honest = Certificate.to_bytes
    monkeypatch.setattr(Certificate, "to_bytes", lambda self: honest(self).replace(self.head.encode(), b"0" * 64))
    assert sizes.main(["--heads", "digits", "--paradigms", "projection"]) == 1
    assert "- not proved: digits, projection, image 0:" in capsys.readouterr().out
    assert freedom.main(["--heads", "demo", "--images", "1"]) == 1
    assert "- not proved: demo, image 0:" in capsys.readouterr().out


@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "softmax"])
def test_each_image_satisfies_its_own_explanation_and_is_explained_alike(geometry, monkeypatch):
    monkeypatch.setattr(freedom, "NUDGE", 0.0)
    head, latents = subject(geometry)
    measured = freedom.measure(head, latents, len(latents))
    explained = len(measured.sizes)
    assert explained + measured.unexplained == len(latents) and explained
    assert not measured.unproved and not measured.wrong
    assert all(measured.still) and set(measured.kept) == {1.0}, "nothing was nudged"
    satisfied, alike, pairs = measured.free
    assert satisfied <= alike <= pairs == explained * (len(latents) - 1)


def test_images_are_counted_by_what_they_satisfy():
    head, latents = subject("euclidean")
    (image,) = (each for each in latents[:1])
    far = torch.rand(3, *image.shape, generator=torch.Generator().manual_seed(1))
    alone = freedom.measure(head, torch.cat([image[None], far]), 1)
    twice = freedom.measure(head, torch.stack([image, image, *far]), 1)
    assert twice.free == tuple(a + 1 for a in alone.free), "the same image once more"


def test_an_image_of_another_class_ends_in_an_error(monkeypatch, capsys, tmp_path):
    head, latents = subject("euclidean")
    latents = latents[evaluate(head, latents.double()).predicted.sort().indices]
    assert len(set(evaluate(head, latents.double()).predicted.tolist())) > 1
    monkeypatch.setattr(freedom, "heads", lambda name, data: (head, latents, 80.0))
    explained = freedom._explained

    def says_nothing(head, latents):
        """Explanations that every image satisfies."""
        empty = (ActivationStatement(0, -1e6, 1e6),)
        return [each and replace(each, statements=empty, minimal=False) for each in explained(head, latents)]

    options = ["--heads", "demo", "--images", "1", "--out", str(tmp_path / "page.md")]
    assert freedom.main(options) == 0
    assert " 0 times one of another class" in (tmp_path / "page.md").read_text(encoding="utf-8")
    monkeypatch.setattr(freedom, "_explained", says_nothing)
    monkeypatch.setattr(freedom, "_audit", lambda *arguments: None)
    assert freedom.main(options) == 1
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text in capsys.readouterr().out
    assert "- wrong: demo, image " in text
