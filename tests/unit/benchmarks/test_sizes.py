"""The sizes of explanations by paradigm: what the page says is what was found and proved."""

from __future__ import annotations

import pytest
from support.small import small_head, small_latents

from benchmarks import sizes
from verale.certificate import Certificate
from verale.head import as_patches
from verale.search.explain import explain


@pytest.mark.parametrize("geometry", [pytest.param("euclidean", marks=pytest.mark.long), "softmax"])
def test_sizes_are_those_of_certificates_and_never_larger_than_before(geometry):
    head = small_head(geometry, 3)
    latents = as_patches(small_latents(head, seed=3)).float()
    before, after, *_ = sizes.measured_of(head, latents, ["top_k", "readable"])
    expected = [each.size if isinstance(each, Certificate) else None for each in explain(head, latents, "top_k")]
    assert (before.paradigm, after.paradigm) == ("top_k, before", "top_k")
    assert after.sizes == expected and after.proved == len(after.found) > 0 and not after.unproved
    assert before.proved is None
    assert all(new <= old for old, new in zip(before.sizes, after.sizes, strict=True) if new is not None)


def test_the_page_counts_what_was_proved(monkeypatch, capsys, tmp_path):
    head = small_head("euclidean", 3)
    latents = as_patches(small_latents(head, seed=3)).float()
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
    head = small_head("euclidean", 3)
    latents = as_patches(small_latents(head, seed=3)).float()
    monkeypatch.setattr(sizes, "_subject", lambda name, data, images: (head, latents))
    honest = Certificate.to_bytes
    monkeypatch.setattr(Certificate, "to_bytes", lambda self: honest(self).replace(self.head.encode(), b"0" * 64))
    assert sizes.main(["--heads", "digits", "--paradigms", "projection"]) == 1
    assert "- not proved: digits, projection, image 0:" in capsys.readouterr().out
