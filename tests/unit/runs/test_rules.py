"""Rule lists: their files, what the checker says of them, and what they do on data that they were not fitted to."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pytest
import safetensors.torch
import torch
from support.commands import in_process
from support.small import small_head

from verale.certificate import Certificate
from verale.errors import InputError, UsageError
from verale.head import Head, as_patches, evaluate, load_latents, save_latents
from verale.rules import coverage
from verale.rules import fit as fitting
from verale.rules.coverage import coverage_of
from verale.runs.rules import fit_rules

IMAGES = 12


@dataclass(frozen=True)
class Sets:
    """A head, and two sets of images near its prototypes, with labels, as files."""

    folder: Path
    head: Head

    head_path = property(lambda self: str(self.folder / "head"))
    fitted = property(lambda self: str(self.folder / "fitted"))
    held_out = property(lambda self: str(self.folder / "held_out"))

    def options(self, out: Path) -> tuple[object, ...]:
        return "rules", "--head", self.head_path, "--latents", self.fitted, "--held-out", self.held_out, "--out", out


@pytest.fixture
def sets(tmp_path: Path) -> Sets:
    head = replace(small_head("euclidean", 1, prototypes=6), labels=("a", "<b>", "c"))
    head.save(tmp_path / "head")
    for seed, name in enumerate(("fitted", "held_out")):
        drawn = torch.Generator().manual_seed(seed)
        near = torch.randint(head.size, (IMAGES,), generator=drawn)
        latents = 0.8 * head.prototypes[near][:, None] + 0.2 * torch.rand(IMAGES, 4, head.depth, generator=drawn)
        labels = evaluate(head, as_patches(latents)).predicted.tolist()
        labels[:4] = [(label + 1) % 3 for label in labels[:4]]  # the head is wrong about these
        save_latents(tmp_path / name, latents, labels)
    return Sets(tmp_path, head)


@pytest.fixture(autouse=True, scope="module")
def fitted_once():
    """Rules do not depend on where they are written, so they are fitted once."""
    fit, found = fitting.fit, {}

    def remembered(head: Head, images: torch.Tensor, paradigm: str) -> Iterator[Certificate]:
        asked = head.digest, images.numpy().tobytes(), paradigm
        found[asked] = found.get(asked) or list(islice(fit(head, images, paradigm), 3))
        return iter(found[asked])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "fit", remembered)
        yield


def test_numbers_are_those_of_the_certificates(sets):
    rules = fit_rules(sets.head_path, sets.fitted, sets.held_out, count=3)
    assert rules.exit_code == 0 and rules.paradigm == "top_k" and len(rules.rules) == 3
    for path, whole in ((sets.fitted, rules.fitted), (sets.held_out, rules.held_out)):
        images = as_patches(load_latents(path))
        cover = torch.stack(
            [coverage_of(sets.head, images, each.statements, each.predicted).certain for each in rules.certificates]
        )
        predicted = evaluate(sets.head, images).predicted
        labels = predicted.clone()
        labels[:4] = (labels[:4] + 1) % 3
        assert (whole.images, whole.head_correct) == (IMAGES, IMAGES - 4)
        assert whole.covered == int(cover.any(0).sum())
        assert whole.correct == int((cover.any(0) & (predicted == labels)).sum())
        for number, (rule, covers) in enumerate(zip(rules.rules, cover, strict=True)):
            seen = rule.fitted if path == sets.fitted else rule.held_out
            assert seen.images == int(covers.sum())
            assert seen.new == int((covers & ~cover[:number].any(0)).sum())
            assert seen.correct == int((covers & (labels == rule.predicted)).sum())
            assert rule.name == sets.head.labels[rule.predicted] and rule.status == "PROVED"


def test_the_folder_holds_what_an_audit_needs(sets, tmp_path):
    out = tmp_path / "out"
    done = in_process(*sets.options(out), "--count", 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("PROVED ") == 2 and "held out: " in done.stdout
    certificates = ["000000.ale.json", "000001.ale.json"]
    written = ["files.json", "head.safetensors", "rules.csv", "rules.html", "rules.json"]
    assert sorted(path.name for path in out.iterdir()) == [*certificates, *written]
    audited = in_process("audit", out, "--entailment-only")
    assert audited.returncode == 0 and audited.stdout.count("PROVED") == 2
    assert in_process("audit", out).returncode == 14  # they name no image
    covered = in_process("cover", out, "--latents", sets.held_out, "--json")
    record = json.loads((out / "rules.json").read_text())
    counts = [json.loads(line)["covered"] for line in covered.stdout.splitlines()]
    assert counts == [rule["held_out"]["images"] for rule in record["rules"]]


def test_without_labels_and_a_held_out_set(sets, tmp_path):
    save_latents(sets.fitted, load_latents(sets.fitted))
    out = tmp_path / "out"
    done = in_process("rules", "--head", sets.head_path, "--latents", sets.fitted, "--out", out, "--count", 1)
    assert done.returncode == 0 and "correctly" not in done.stdout and "held out" not in done.stdout
    (rule,) = json.loads((out / "rules.json").read_text())["rules"]
    assert rule["held_out"] is None and rule["fitted"]["correct"] is None
    assert "true one" not in (out / "rules.html").read_text().split("In numbers</h2>")[1]


def test_a_rule_that_is_not_proved_is_said_to_be_none(sets, tmp_path, monkeypatch):
    def unproved(head, images, paradigm):
        for certificate in true(head, images, paradigm):
            yield replace(certificate, statements=())

    true = fitting.fit
    monkeypatch.setattr(fitting, "fit", unproved)
    done = in_process(*sets.options(tmp_path / "out"), "--count", 1)
    assert done.returncode == 3 and done.stdout.startswith("NOT_PROVED 0.")
    page = (tmp_path / "out" / "rules.html").read_text()
    assert "proved 0 of 1" in page and "NOT PROVED" in page and "stays at least" not in page
    (rule,) = json.loads((tmp_path / "out" / "rules.json").read_text())["rules"]
    assert rule["margin"] is None and rule["fitted"]["images"] == rule["held_out"]["images"] == 0
    (row,) = csv.DictReader(io.StringIO((tmp_path / "out" / "rules.csv").read_text()))
    assert (row["Margin"], row["Images"]) == ("", "0")


def test_images_count_that_the_checker_proves_whatever_a_screen_says(sets, monkeypatch):
    def everything(head, images, statements, predicted):
        return coverage.Coverage(*[torch.ones(len(images), dtype=torch.bool)] * 2)

    expected = fit_rules(sets.head_path, sets.fitted, sets.held_out, count=2)
    assert all(rule.fitted.images < IMAGES and rule.held_out.images < IMAGES for rule in expected.rules)
    monkeypatch.setattr(coverage, "coverage_of", everything)
    assert fit_rules(sets.head_path, sets.fitted, sets.held_out, count=2).rules == expected.rules


def test_what_cannot_be_used_is_named(sets, tmp_path):
    with pytest.raises(UsageError, match="count is 0"):
        fit_rules(sets.head_path, sets.fitted, count=0)
    with pytest.raises(UsageError, match="paradigm is 'projection'"):
        fit_rules(sets.head_path, sets.fitted, paradigm="projection")
    other = str(tmp_path / "other")
    save_latents(other, torch.rand(2, 3, 6))
    with pytest.raises(InputError, match="images of 3 patches, expected 4"):
        fit_rules(sets.head_path, sets.fitted, other)
    save_latents(other, torch.rand(0, 4, 6))
    with pytest.raises(InputError, match="holds no images"):
        fit_rules(sets.head_path, sets.fitted, other)
    safetensors.torch.save_file({"latents": torch.rand(2, 4, 6), "labels": torch.tensor([1])}, other)
    with pytest.raises(InputError, match="1 labels for 2 images"):
        fit_rules(sets.head_path, other)
    save_latents(other, torch.rand(2, 4, 6) + 1)
    with pytest.raises(InputError, match="outside the head's domain"):
        fit_rules(sets.head_path, other)
    tied = replace(sets.head, weight=torch.zeros_like(sets.head.weight), bias=None)
    tied.save(tmp_path / "tied")
    with pytest.raises(InputError, match="no images of which a rule could be proved"):
        fit_rules(str(tmp_path / "tied"), sets.fitted)
