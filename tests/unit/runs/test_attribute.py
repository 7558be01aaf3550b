"""Attributions: their numbers are those of the certificates, their folder is one that an audit proves."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from PIL import Image
from support.commands import in_process
from support.small import small_head, small_latents

from verale.certificate import Certificate, FloorStatement, OrderStatement
from verale.certificate.words import PROTOTYPES
from verale.errors import InputError, UsageError
from verale.head import Head, as_patches, digest, save_latents
from verale.runs import attribute as attribution
from verale.runs.attribute import attribute
from verale.search import several as searching


@dataclass(frozen=True)
class Files:
    """A head, and latents of three images of four patches, as files."""

    folder: Path
    head: Head
    latents: torch.Tensor

    head_path = property(lambda self: str(self.folder / "head"))
    latents_path = property(lambda self: str(self.folder / "latents"))

    def options(self, out: Path, *more: object) -> tuple[object, ...]:
        inputs = "--head", self.head_path, "--latents", self.latents_path
        return "attribute", *inputs, "--image", 1, "--out", out, "--count", 4, *more


@pytest.fixture
def files(tmp_path: Path) -> Files:
    head = replace(small_head("euclidean", 1), labels=("<i>a", "<i>b", "<i>c"))
    head.save(tmp_path / "head")
    latents = small_latents(head, images=3, patches=4, seed=1)
    save_latents(tmp_path / "latents", latents, [0, 1, 2])
    return Files(tmp_path, head, latents)


def about(certificate: Certificate, kind: str, number: int | None) -> int:
    """How many statements of a certificate are about something."""
    clauses = {"ceiling": OrderStatement, "floor": FloorStatement}
    if kind in clauses:
        return sum(isinstance(each, clauses[kind]) for each in certificate.statements)
    return sum(getattr(each, kind, None) == number for each in certificate.statements)


@pytest.mark.parametrize("paradigm", ["top_k", "projection"])
def test_shares_are_counts_of_the_certificates(files, paradigm):
    found = attribute(files.head_path, files.latents_path, image=1, count=4, paradigm=paradigm)
    assert found.exit_code == 0 and found.complete and len(found.certificates) == 4
    assert {each.status for each in found.explanations} == {"PROVED"}
    kinds = {"prototype": 12, "patch": 4} if paradigm == "projection" else {"prototype": 12}
    subjects = [(kind, number) for kind, count in kinds.items() for number in range(count)]
    expected = {}
    for subject in [*subjects, ("ceiling", None), ("floor", None)]:
        said = [about(each, *subject) for each in found.certificates]
        if any(said):
            expected[subject] = (sum(map(bool, said)), sum(map(bool, said)) / 4, sum(said) / 4)
    assert {(each.kind, each.number): (each.count, each.share, each.statements) for each in found.shares} == expected
    for kind in kinds:
        counts = [each.count for each in found.of(kind)]
        assert counts == sorted(counts, reverse=True) and counts


@pytest.mark.parametrize("paradigm", ["top_k", "projection"])
def test_an_audit_proves_the_folder(files, paradigm, tmp_path):
    out = tmp_path / "out"
    done = in_process(*files.options(out, "--paradigm", paradigm))
    assert done.returncode == 0, done.stderr
    assert "4 different explanations" in done.stdout and "4 of them PROVED" in done.stdout
    certificates = [f"00000{number}.ale.json" for number in range(4)]
    written = ["attribution.csv", "attribution.html", "attribution.json", "files.json"]
    written += ["head.safetensors", "latents.safetensors"]
    assert sorted(path.name for path in out.iterdir()) == [*certificates, *written]
    audited = in_process("audit", out, "--minimality")
    found = [Certificate.load(out / name) for name in certificates]
    claimed = sum(certificate.minimal for certificate in found)
    assert audited.returncode == 0 and audited.stdout.count("entailment+instance") == 4
    assert audited.stdout.count("entailment+instance+minimality proved") == claimed
    assert claimed == 4 or paradigm == "top_k"
    assert {certificate.latents for certificate in found} == {digest(as_patches(files.latents)[1])}


@pytest.mark.parametrize("paradigm", ["top_k", "projection"])
def test_the_page_says_what_the_numbers_mean_and_asks_nobody(files, paradigm, tmp_path):
    out, pictures = tmp_path / "out", tmp_path / "pictures"
    pictures.mkdir()
    for number in range(12):
        Image.new("L", (4, 4), 20 * number).save(pictures / f"{number:04d}.png")
    assert in_process(*files.options(out, "--paradigm", paradigm, "--prototype-pictures", pictures)).returncode == 0
    text, shares = (out / "attribution.html").read_text(), json.loads((out / "attribution.json").read_text())["shares"]
    assert "They are a sample." in text and "A share is no probability" in text and "proved 4 of 4" in text
    assert "<script" not in text and "http" not in re.sub(r'http-equiv="', "", text) and "default-src 'none'" in text
    assert "&lt;i&gt;" in text and "<i>" not in text and PROTOTYPES in text
    bars = re.findall(r'<rect class="proved" width="([\d.]+)"', text)
    assert [float(each) for each in bars] == [
        round(100 * each["share"], 2)
        for kinds in (("ceiling",), ("floor",), ("prototype",), ("patch",))
        for each in shares
        if each["kind"] in kinds
    ]
    assert text.count("<img ") == sum(each["kind"] == "prototype" for each in shares)
    cells = [float(each) for each in re.findall(r'fill-opacity="([\d.]+)"', text)]
    if paradigm == "top_k":
        assert cells == []
    else:
        by_patch = {each["number"]: each for each in shares if each["kind"] == "patch"}
        assert cells[:4] == [round(by_patch[patch]["share"], 4) for patch in range(4)]
        assert len(cells) == 8 and max(cells[4:]) == 1.0


def test_the_search_ends_when_nothing_new_is_found(files, tmp_path, monkeypatch):
    monkeypatch.setattr(attribution, "IN_A_ROW", 5)
    save_latents(files.latents_path, files.latents)
    replace(files.head, bias=torch.tensor([1e6, 0.0, 0.0])).save(files.head_path)
    done = in_process(*files.options(tmp_path / "out"))
    assert done.returncode == 0 and "1 different explanation under" in done.stdout and "in 6 orders" in done.stdout
    assert "fewer than asked for" in done.stdout
    assert "The last orders gave nothing new" in (tmp_path / "out" / "attribution.html").read_text()


def test_an_explanation_that_is_not_proved_is_said_to_be_none(files, tmp_path, monkeypatch):
    def unproved(*arguments):
        for each in true(*arguments):
            yield replace(each, certificate=each.certificate and replace(each.certificate, statements=()))

    true = searching.several
    monkeypatch.setattr(searching, "several", unproved)
    done = in_process(*files.options(tmp_path / "out"))
    assert done.returncode == 3 and "0 of them PROVED" in done.stdout
    assert "proved 0 of 4" in (tmp_path / "out" / "attribution.html").read_text()


def test_an_interrupt_writes_nothing(files, tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(searching, "several", interrupted)
    done = in_process(*files.options(tmp_path / "out"))
    assert done.returncode == 130 and "nothing is written" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_what_cannot_be_used_is_named(files):
    with pytest.raises(UsageError, match="count is 0"):
        attribute(files.head_path, files.latents_path, count=0)
    for image in (-1, 3):
        with pytest.raises(UsageError, match=f"image is {image}, expected a number from 0 to 2"):
            attribute(files.head_path, files.latents_path, image)
    with pytest.raises(UsageError, match="paradigm is 'simplex'"):
        attribute(files.head_path, files.latents_path, paradigm="simplex")
    save_latents(files.latents_path, files.latents + 2)
    with pytest.raises(InputError, match="latents"):
        attribute(files.head_path, files.latents_path)
    save_latents(files.latents_path, files.latents)
    replace(files.head, weight=torch.zeros_like(files.head.weight), bias=None).save(files.head_path)
    with pytest.raises(InputError, match="image 0 has no explanation under top_k: no class certainly"):
        attribute(files.head_path, files.latents_path)
