"""Cover: the checker proves each image counted, and what it does not prove does not count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import safetensors.torch
import torch
from support.commands import in_process
from support.small import small_head, small_latents

from verale.certificate import ActivationStatement, Certificate
from verale.errors import InputError
from verale.head import Head, as_patches, evaluate, save_latents
from verale.rules import coverage
from verale.runs.cover import CoveringAudits
from verale.search.explain import explain


@dataclass(frozen=True)
class Inflated:
    """A head, the latents of 8 images, and wide certificates of the first three, as files."""

    folder: Path
    head: Head
    images: torch.Tensor

    head_path = property(lambda self: str(self.folder / "head.safetensors"))
    latents_path = property(lambda self: str(self.folder / "latents"))

    def certificate(self, index: int) -> str:
        return str(self.folder / f"{index:06d}.ale.json")


@pytest.fixture
def inflated(tmp_path: Path) -> Inflated:
    head = small_head("euclidean")
    latents = small_latents(head, images=4)
    latents = torch.cat([latents, (latents + 1e-5).clamp(max=1)])  # each image has one that is nearly the same
    labels = evaluate(head, as_patches(latents)).predicted.tolist()
    labels[4] = (labels[4] + 1) % 3
    head.save(tmp_path / "head.safetensors")
    save_latents(tmp_path / "latents", latents, labels)
    made = Inflated(tmp_path, head, as_patches(latents))
    for index, certificate in enumerate(explain(head, latents[:3], "top_k", inflate=True)):
        certificate.save(made.certificate(index))
    return made


def test_a_wide_certificate_covers_its_image_and_its_neighbour(inflated):
    covering = CoveringAudits(inflated.head_path, inflated.latents_path)
    predicted = evaluate(inflated.head, inflated.images).predicted.tolist()
    assert covering.total == 8
    for index in range(3):
        covered = covering.of(inflated.certificate(index))
        assert {index, index + 4} <= set(covered.images) and not covered.unproved
        assert covered.verdict.exit_code == 0
        assert all(predicted[each] == covered.predicted for each in covered.images)
        assert covered.correct == sum(covering.label(each) == covered.predicted for each in covered.images)
    assert covering.of(inflated.certificate(0)).correct < len(covering.of(inflated.certificate(0)).images)


def test_an_exact_certificate_covers_its_own_image(inflated):
    path = str(inflated.folder / "exact.ale.json")
    explain(inflated.head, inflated.images[:1], digits="exact")[0].save(path)
    assert CoveringAudits(inflated.head_path, inflated.latents_path).of(path).images == (0,)


def test_what_the_screen_proposes_in_vain_does_not_count(inflated, monkeypatch):
    path = inflated.certificate(1)
    before = CoveringAudits(inflated.head_path, inflated.latents_path).of(path)

    def everything(head, images, statements, predicted):
        all_of_them = torch.ones(len(images), dtype=torch.bool)
        return coverage.Coverage(all_of_them, all_of_them)

    monkeypatch.setattr(coverage, "coverage_of", everything)
    after = CoveringAudits(inflated.head_path, inflated.latents_path).of(path)
    assert after.images == before.images
    assert set(after.unproved) == set(range(8)) - set(before.images)
    assert all("is false at the latents" in reason for reason in after.unproved.values())


def test_a_certificate_that_is_not_proved_covers_nothing(inflated):
    path = inflated.certificate(0)
    wrong = replace(Certificate.load(path), statements=(ActivationStatement(0, -1e3, 1e3),))
    wrong.save(path)
    covered = CoveringAudits(inflated.head_path, inflated.latents_path).of(path)
    assert covered.images == () and covered.predicted is None and covered.verdict.reason == "entailment"
    done = in_process("cover", inflated.folder, "--latents", inflated.latents_path)
    assert done.returncode == 3 and "NOT_PROVED" in done.stdout


def test_the_command_prints_writes_and_adds_up(inflated, tmp_path):
    out = tmp_path / "cover.csv"
    done = in_process("cover", inflated.folder, "--latents", inflated.latents_path, "--out", out)
    assert done.returncode == 0, done.stderr
    assert [line.split(": ")[1].split(",")[0] for line in done.stdout.splitlines()] == [
        f"class {Certificate.load(inflated.certificate(index)).predicted}" for index in range(3)
    ]
    heading, *rows = out.read_text().splitlines()
    assert heading == "Certificate,Pred Label,Idx,True Label"
    covering = CoveringAudits(inflated.head_path, inflated.latents_path)
    expected = [(path, index) for path in map(inflated.certificate, range(3)) for index in covering.of(path).images]
    assert [(row.split(",")[0], int(row.split(",")[2])) for row in rows] == expected
    assert f"{len({index for _, index in expected})} of 8 images are covered" in done.stderr


def test_json_has_the_images_and_the_verdict(inflated):
    import json

    done = in_process("cover", inflated.certificate(2), "--latents", inflated.latents_path, "--json")
    record = json.loads(done.stdout)
    assert record["status"] == "PROVED" and record["covered"] == len(record["images"]) >= 2
    assert {2, 6} <= set(record["images"]) and sum(record["true_classes"].values()) == record["covered"]


def test_files_that_do_not_fit_are_named(inflated, tmp_path):
    other = tmp_path / "other"
    save_latents(other, small_latents(inflated.head, patches=4))
    with pytest.raises(InputError, match="images of 4 patches, expected 5 as in 000000"):
        CoveringAudits(inflated.head_path, str(other)).of(inflated.certificate(0))
    save_latents(other, torch.full((1, 5, 6), 3.0))
    with pytest.raises(InputError, match="outside the head's domain"):
        CoveringAudits(inflated.head_path, str(other))
    other.write_bytes(safetensors.torch.save({"latents": inflated.images, "labels": torch.tensor([0])}))
    with pytest.raises(InputError, match="1 labels for 8 images"):
        CoveringAudits(inflated.head_path, str(other))
    (tmp_path / "bad.ale.json").write_text("{}")
    assert in_process("cover", tmp_path / "bad.ale.json", "--latents", inflated.latents_path).returncode == 5
    assert in_process("cover", tmp_path / "none.ale.json", "--latents", inflated.latents_path).returncode == 9


def test_without_a_head_nothing_can_be_proved(inflated):
    Path(inflated.head_path).unlink()
    done = in_process("cover", inflated.certificate(0), "--latents", inflated.latents_path)
    assert done.returncode == 9 and "has no head.safetensors beside it" in done.stderr and "give --head" in done.stderr
