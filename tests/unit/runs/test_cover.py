"""Cover: the checker proves each image counted, and what it does not prove does not count."""

from __future__ import annotations

import json
import shutil
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
from verale.runs.rules import Covered, CoveringAudits
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


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Inflated:
    tmp_path = tmp_path_factory.mktemp("inflated")
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


@pytest.fixture
def inflated(made: Inflated, tmp_path: Path) -> Inflated:
    shutil.copytree(made.folder, tmp_path, dirs_exist_ok=True)
    return replace(made, folder=tmp_path)


def covers(covering: CoveringAudits, path: str) -> Covered:
    """What one certificate covers."""
    (covered,) = covering.of([path])
    return covered


def test_a_wide_certificate_covers_its_image_and_its_neighbour(inflated):
    covering = CoveringAudits(inflated.head_path, inflated.latents_path)
    predicted = evaluate(inflated.head, inflated.images).predicted.tolist()
    assert covering.total == 8
    for index in range(3):
        covered = covers(covering, inflated.certificate(index))
        assert {index, index + 4} <= set(covered.images) and not covered.unproved
        assert covered.outcome.is_proved
        assert all(predicted[each] == covered.predicted for each in covered.images)
        assert covered.correct == sum(covering.label(each) == covered.predicted for each in covered.images)
    assert covers(covering, inflated.certificate(0)).correct < len(covers(covering, inflated.certificate(0)).images)


def test_what_the_screen_proposes_in_vain_does_not_count(inflated, monkeypatch):
    path = inflated.certificate(1)
    before = covers(CoveringAudits(inflated.head_path, inflated.latents_path), path)

    def everything(head, images, statements, predicted):
        all_of_them = torch.ones(len(images), dtype=torch.bool)
        return coverage.Coverage(all_of_them, all_of_them)

    monkeypatch.setattr(coverage, "coverage_of", everything)
    after = covers(CoveringAudits(inflated.head_path, inflated.latents_path), path)
    assert after.images == before.images
    assert set(after.unproved) == set(range(8)) - set(before.images)
    assert all("is false at the latents" in reason for reason in after.unproved.values())


def test_a_certificate_that_is_not_proved_covers_nothing(inflated):
    path = inflated.certificate(0)
    wrong = replace(Certificate.load(path), statements=(ActivationStatement(0, -1e3, 1e3),))
    wrong.save(path)
    covered = covers(CoveringAudits(inflated.head_path, inflated.latents_path), path)
    assert covered.images == () and covered.predicted is None and covered.outcome.record["reason"] == "entailment"
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
    expected = [
        (path, index) for path in map(inflated.certificate, range(3)) for index in covers(covering, path).images
    ]
    assert [(row.split(",")[0], int(row.split(",")[2])) for row in rows] == expected
    assert f"{len({index for _, index in expected})} of 8 images are covered" in done.stderr


def test_files_that_do_not_fit_are_named(inflated, tmp_path):
    other = tmp_path / "other"
    save_latents(other, small_latents(inflated.head, patches=4))
    with pytest.raises(InputError, match="images of 4 patches, expected 5 as in 000000"):
        covers(CoveringAudits(inflated.head_path, str(other)), inflated.certificate(0))
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


def test_processes_and_a_log_change_nothing_that_is_printed(inflated, tmp_path):
    asked = "cover", inflated.folder, "--latents", inflated.latents_path
    alone, log = in_process(*asked), tmp_path / "log"
    assert in_process(*asked, "--jobs", 2, "--log", log).stdout == alone.stdout
    written = log.read_bytes()
    again = in_process(*asked, "--log", log)
    assert (again.stdout, log.read_bytes()) == (alone.stdout, written) and written
    assert all(json.loads(line)["status"] == "PROVED" for line in written.splitlines())
    assert in_process(*asked, "--log", inflated.certificate(0)).returncode == 9


def test_an_interrupt_says_where_the_verdicts_are(inflated, tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(coverage, "coverage_of", interrupted)
    done = in_process("cover", inflated.folder, "--latents", inflated.latents_path, "--log", tmp_path / "log")
    assert done.returncode == 130 and f"0 of 3 certificates are done; {tmp_path / 'log'} has the" in done.stderr
    assert len((tmp_path / "log").read_bytes().splitlines()) == 3
