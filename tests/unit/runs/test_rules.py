"""What holds of several explanations or images: attributions, rule lists, and which images certificates cover."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pytest
import safetensors.torch
import torch
from PIL import Image
from support.commands import in_process
from support.small import small_head, small_latents

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement
from verale.certificate.words import PROTOTYPES
from verale.errors import InputError, UsageError
from verale.head import Head, as_patches, digest, evaluate, load_latents, save_latents
from verale.rules import coverage
from verale.rules import fit as fitting
from verale.rules.coverage import coverage_of
from verale.runs import attribute as attribution
from verale.runs.attribute import attribute
from verale.runs.folder import ResultFolder
from verale.runs.listed import StoredBytes
from verale.runs.rules import Covered, CoveringAudits, fit_rules
from verale.runs.written import WrittenFiles
from verale.search import several as searching
from verale.search.explain import explain


@dataclass(frozen=True)
class Files:
    """A head and latents, as files, and perhaps other latents and certificates beside them."""

    folder: Path
    head: Head
    latents: torch.Tensor

    head_path = property(lambda self: str(self.folder / "head.safetensors"))
    latents_path = property(lambda self: str(self.folder / "latents"))
    held_out = property(lambda self: str(self.folder / "held_out"))

    def certificate(self, index: int) -> str:
        return str(self.folder / f"{index:06d}.ale.json")

    def options(self, out: Path, *more: object) -> tuple[object, ...]:
        """A command's inputs and output."""
        return "--head", self.head_path, "--latents", self.latents_path, "--out", out, *more


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Latents of three images of four patches."""
    head = replace(small_head("euclidean", 1), labels=("<i>a", "<i>b", "<i>c"))
    head.save(tmp_path / "head.safetensors")
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
def test_an_audit_proves_the_folder_and_the_page_asks_nobody(files, paradigm, tmp_path):
    out, pictures = tmp_path / "out", tmp_path / "pictures"
    pictures.mkdir()
    for number in range(12):
        Image.new("L", (4, 4), 20 * number).save(pictures / f"{number:04d}.png")
    more = ("--paradigm", paradigm, "--prototype-pictures", pictures)
    done = in_process("attribute", "--image", 1, "--count", 4, *files.options(out, *more))
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
    text, shares = (out / "attribution.html").read_text(), json.loads((out / "attribution.json").read_text())["shares"]
    assert "They are a sample." in text and "A share is no probability" in text and "proved 4 of 4" in text
    assert "<script" not in text and "http" not in re.sub(r'http-equiv="', "", text) and "default-src 'none'" in text
    assert "&lt;i&gt;" in text and "<i>" not in text and PROTOTYPES in text
    of_kind = {
        kind: [each for each in shares if each["kind"] == kind] for kind in ("ceiling", "floor", "prototype", "patch")
    }
    bars = re.findall(r'<rect class="proved" width="([\d.]+)"', text)
    assert [*map(float, bars)] == [round(100 * each["share"], 2) for kind in of_kind.values() for each in kind]
    assert text.count("<img ") == len(of_kind["prototype"])
    cells = [float(each) for each in re.findall(r'fill-opacity="([\d.]+)"', text)]
    shared = {each["number"]: round(each["share"], 4) for each in of_kind["patch"]}
    assert cells[:4] == ([] if paradigm == "top_k" else [shared[patch] for patch in range(4)])
    assert len(cells) == (0 if paradigm == "top_k" else 8) and max(cells[4:], default=1.0) == 1.0


def test_the_search_ends_when_nothing_new_is_found(files, tmp_path, monkeypatch):
    monkeypatch.setattr(attribution, "IN_A_ROW", 5)
    save_latents(files.latents_path, files.latents)
    replace(files.head, bias=torch.tensor([1e6, 0.0, 0.0])).save(files.head_path)
    done = in_process("attribute", "--image", 1, "--count", 4, *files.options(tmp_path / "out"))
    assert done.returncode == 0 and "1 different explanation under" in done.stdout and "in 6 orders" in done.stdout
    assert "fewer than asked for" in done.stdout
    assert "The last orders gave nothing new" in (tmp_path / "out" / "attribution.html").read_text()


def test_an_explanation_that_is_not_proved_is_said_to_be_none(files, tmp_path, monkeypatch):
    def unproved(*arguments):
        for each in true(*arguments):
            yield replace(each, certificate=each.certificate and replace(each.certificate, statements=()))

    true = searching.several
    monkeypatch.setattr(searching, "several", unproved)
    done = in_process("attribute", "--image", 1, "--count", 4, *files.options(tmp_path / "out"))
    assert done.returncode == 3 and "0 of them PROVED" in done.stdout
    assert "proved 0 of 4" in (tmp_path / "out" / "attribution.html").read_text()


STEPS = {
    "attribute": (
        searching._OfActivations,
        "explanation",
        "attribution.found",
        ("--image", 1, "--count", 4),
        ("--seed", 1),
    ),
    "rules": (fitting._Fit, "_best", "rules.found", ("--count", 2, "--paradigm", "top_k"), ("--paradigm", "sparse")),
}


@pytest.mark.parametrize("command", STEPS)
def test_an_interrupted_search_goes_on(command, files, tmp_path, monkeypatch):
    owner, name, journal, more, other = STEPS[command]
    real, steps, most = getattr(owner, name), [], [1000]

    def counted(*arguments):
        if len(steps) == most[0]:
            raise KeyboardInterrupt
        steps.append(arguments)
        return real(*arguments)

    def called(out: Path, *further: object):
        return in_process(command, *files.options(tmp_path / out, *more, *further))

    monkeypatch.setattr(fitting, "fit", FIT)
    monkeypatch.setattr(owner, name, counted)
    assert called("whole").returncode == 0
    total, most[0] = len(steps), len(steps) + 2
    done = called("out")
    assert done.returncode == 130 and "the same command goes on from there" in done.stderr and total > 2
    assert {path.name for path in (tmp_path / "out").iterdir()} == {journal, "files.json"}
    refused = called("out", *other)
    assert refused.returncode == 9 and f"{journal}: is of another search" in refused.stderr
    with (tmp_path / "out" / journal).open("rb+") as stream:  # as if an interruption had cut its last line short
        stream.truncate(len(stream.read()) - 3)
    most[0] = 1000
    assert called("out").returncode == 0 and len(steps) == 2 * total + 1
    whole, out = ({path.name: path.read_bytes() for path in (tmp_path / each).iterdir()} for each in ("whole", "out"))
    assert whole.keys() == out.keys() and {journal} - out.keys()
    timed = ("files.json", *(name for name in out if name.endswith(".html")))  # a page says when it was written
    assert all(whole[name] == out[name] for name in out.keys() - {*timed})
    noted = Certificate.load(tmp_path / "out" / "000000.ale.json")
    most[0] = len(steps)
    assert called("other").returncode == 130
    heading = (tmp_path / "other" / journal).read_bytes().splitlines(keepends=True)[0]
    other_statement = (ActivationStatement(99, 0.0, 1.0),)
    for said, *strange in (
        ("is about another head, image", replace(noted, statements=other_statement)),
        ("is about another head, image", replace(noted, head="0" * 64)),
        ("is about another head, image", replace(noted, latents="0" * 64)),
        ("is about another head, image", replace(noted, paradigm="sparse")),
        *[("an explanation twice", noted, noted)] * (command == "attribute"),
    ):
        written = WrittenFiles(tmp_path / "other")
        written.write(
            journal, heading + b"".join(json.dumps(json.loads(each.to_bytes())).encode() + b"\n" for each in strange)
        )
        refused = called("other")
        assert refused.returncode == 9 and f"noted {said}" in refused.stderr
    if command == "attribute":
        written.write(journal, heading + b"{}\n")
        assert f"{journal}: is not a certificate" in called("other").stderr
    (tmp_path / "out" / journal).write_bytes(b"mine")
    refused = called("out", "--overwrite")
    assert refused.returncode == 9 and "verale did not write it, or it was changed" in refused.stderr


def test_results_that_an_interruption_left_unfinished_are_written_again(tmp_path):
    def write(folder: ResultFolder, last: str | None = None, seed: int = 0, at: str = "write") -> None:
        real = getattr(WrittenFiles, at)

        def stopped(self, name, *more):
            if name == last:
                raise KeyboardInterrupt
            return real(self, name, *more)

        with pytest.MonkeyPatch.context() as patch, folder.journal() as journal:
            patch.setattr(WrittenFiles, at, stopped)
            journal.of(seed=seed)(lambda: None)
            folder.write({}, [], b"page", [StoredBytes("0.ale.json", b"c")], journal=journal)

    names = ["0.ale.json", "files.json", "head.safetensors", "rules.csv", "rules.html", "rules.json"]
    for last in (names[0], *names[2:]):
        folder = ResultFolder("rules", tmp_path / last, b"h")
        with pytest.raises(KeyboardInterrupt):
            write(folder, last)
        folder.require_room()
        write(folder)
        assert sorted(path.name for path in folder.directory.iterdir()) == names
    folder = ResultFolder("rules", tmp_path / "removed", b"h")
    with pytest.raises(KeyboardInterrupt):
        write(folder, "rules.found", at="remove")
    assert (folder.directory / "rules.json").exists()
    folder.require_room()
    with pytest.raises(InputError, match="is of another search"):
        write(folder, seed=1)
    write(folder)
    with replace(folder, overwrite=True).journal() as journal:  # of a search that has not replaced these results yet
        journal.of(seed=1)(lambda: None)
    with pytest.raises(InputError, match=r"rules\.json: is there already"):
        folder.require_room()
    write(replace(folder, overwrite=True), seed=1)
    assert sorted(path.name for path in folder.directory.iterdir()) == names
    with pytest.raises(KeyboardInterrupt):
        write(ResultFolder("attribution", tmp_path / "two", b"h"), "0.ale.json")
    write(ResultFolder("rules", tmp_path / "two", b"h"))
    with pytest.raises(InputError, match=r"0\.ale\.json: would be taken for a file of this run"):
        write(ResultFolder("attribution", tmp_path / "two", b"h"))


@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "file"])
def test_what_has_the_name_of_what_was_found_stays(kind, files, tmp_path):
    journal = tmp_path / "out" / "attribution.found"
    journal.parent.mkdir()
    (tmp_path / "mine").write_bytes(b"mine")
    make = {"pipe": os.mkfifo, "folder": Path.mkdir, "link": lambda path: path.symlink_to(tmp_path / "mine")}
    make.get(kind, lambda path: path.write_bytes(b"mine"))(journal)
    before = os.lstat(journal)
    for more in ((), ("--overwrite",)):
        done = in_process("attribute", *files.options(journal.parent, "--count", 1, *more))
        assert done.returncode == 9 and f"{journal}: is" in done.stderr and len(done.stderr.splitlines()) == 1
    assert os.lstat(journal) == before and (tmp_path / "mine").read_bytes() == b"mine"
    assert [*journal.parent.iterdir()] == [journal]


def test_what_cannot_be_attributed_is_named(files):
    paths = files.head_path, files.latents_path
    for error, wrong, message in (
        (UsageError, {"count": 0}, "count is 0"),
        *((UsageError, {"image": image}, f"image is {image}, expected a number from 0 to 2") for image in (-1, 3)),
        (UsageError, {"paradigm": "simplex"}, "paradigm is 'simplex'"),
    ):
        with pytest.raises(error, match=message):
            attribute(*paths, **wrong)
    save_latents(paths[1], files.latents + 2)
    with pytest.raises(InputError, match="latents"):
        attribute(*paths)
    save_latents(paths[1], files.latents)
    replace(files.head, weight=torch.zeros_like(files.head.weight), bias=None).save(paths[0])
    with pytest.raises(InputError, match="image 0 has no explanation under top_k: no class certainly"):
        attribute(*paths)


IMAGES, FIT = 12, fitting.fit


@pytest.fixture
def sets(tmp_path: Path) -> Files:
    """Two sets of images near the head's prototypes, with labels."""
    head = replace(small_head("euclidean", 1, prototypes=6), labels=("a", "<b>", "c"))
    head.save(tmp_path / "head.safetensors")
    for seed, name in ((1, "held_out"), (0, "latents")):
        drawn = torch.Generator().manual_seed(seed)
        near = torch.randint(head.size, (IMAGES,), generator=drawn)
        latents = 0.8 * head.prototypes[near][:, None] + 0.2 * torch.rand(IMAGES, 4, head.depth, generator=drawn)
        labels = evaluate(head, as_patches(latents)).predicted.tolist()
        labels[:4] = [(label + 1) % 3 for label in labels[:4]]  # the head is wrong about these
        save_latents(tmp_path / name, latents, labels)
    return Files(tmp_path, head, latents)


@pytest.fixture(autouse=True, scope="module")
def fitted_once():
    """Rules do not depend on where they are written, so they are fitted once."""
    fit, found = fitting.fit, {}

    def remembered(head: Head, images: torch.Tensor, paradigm: str, _: object) -> Iterator[Certificate]:
        asked = head.digest, images.numpy().tobytes(), paradigm
        found[asked] = found.get(asked) or list(islice(fit(head, images, paradigm), 3))
        return iter(found[asked])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "fit", remembered)
        yield


def test_numbers_are_those_of_the_certificates(sets):
    rules = fit_rules(sets.head_path, sets.latents_path, sets.held_out, count=3)
    assert rules.exit_code == 0 and rules.paradigm == "top_k" and len(rules.rules) == 3
    for path, whole in ((sets.latents_path, rules.fitted), (sets.held_out, rules.held_out)):
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
            seen = rule.fitted if path == sets.latents_path else rule.held_out
            assert seen.images == int(covers.sum())
            assert seen.new == int((covers & ~cover[:number].any(0)).sum())
            assert seen.correct == int((covers & (labels == rule.predicted)).sum())
            assert rule.name == sets.head.labels[rule.predicted] and rule.status == "PROVED"


def test_the_folder_holds_what_an_audit_needs(sets, tmp_path):
    out = tmp_path / "out"
    done = in_process("rules", "--held-out", sets.held_out, *sets.options(out), "--count", 2)
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
    save_latents(sets.latents_path, load_latents(sets.latents_path))
    out = tmp_path / "out"
    done = in_process("rules", *sets.options(out, "--count", 1))
    assert done.returncode == 0 and "correctly" not in done.stdout and "held out" not in done.stdout
    (rule,) = json.loads((out / "rules.json").read_text())["rules"]
    assert rule["held_out"] is None and rule["fitted"]["correct"] is None
    assert "true one" not in (out / "rules.html").read_text().split("In numbers</h2>")[1]


def test_a_rule_that_is_not_proved_is_said_to_be_none(sets, tmp_path, monkeypatch):
    def unproved(*arguments):
        for certificate in true(*arguments):
            yield replace(certificate, statements=())

    true = fitting.fit
    monkeypatch.setattr(fitting, "fit", unproved)
    done = in_process("rules", "--held-out", sets.held_out, *sets.options(tmp_path / "out"), "--count", 1)
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

    expected = fit_rules(sets.head_path, sets.latents_path, sets.held_out, count=2)
    assert all(rule.fitted.images < IMAGES and rule.held_out.images < IMAGES for rule in expected.rules)
    monkeypatch.setattr(coverage, "coverage_of", everything)
    assert fit_rules(sets.head_path, sets.latents_path, sets.held_out, count=2).rules == expected.rules


def test_what_cannot_be_used_is_named(sets, tmp_path):
    with pytest.raises(UsageError, match="count is 0"):
        fit_rules(sets.head_path, sets.latents_path, count=0)
    with pytest.raises(UsageError, match="paradigm is 'projection'"):
        fit_rules(sets.head_path, sets.latents_path, paradigm="projection")
    other = str(tmp_path / "other")
    save_latents(other, torch.rand(2, 3, 6))
    with pytest.raises(InputError, match="images of 3 patches, expected 4"):
        fit_rules(sets.head_path, sets.latents_path, other)
    save_latents(other, torch.rand(0, 4, 6))
    with pytest.raises(InputError, match="holds no images"):
        fit_rules(sets.head_path, sets.latents_path, other)
    tied = replace(sets.head, weight=torch.zeros_like(sets.head.weight), bias=None)
    tied.save(tmp_path / "tied")
    with pytest.raises(InputError, match="no images of which a rule could be proved"):
        fit_rules(str(tmp_path / "tied"), sets.latents_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Files:
    """Latents of 8 images, and wide certificates of the first three."""
    tmp_path = tmp_path_factory.mktemp("inflated")
    head = small_head("euclidean")
    latents = small_latents(head, images=4)
    latents = torch.cat([latents, (latents + 1e-5).clamp(max=1)])  # each image has one that is nearly the same
    labels = evaluate(head, as_patches(latents)).predicted.tolist()
    labels[4] = (labels[4] + 1) % 3
    head.save(tmp_path / "head.safetensors")
    save_latents(tmp_path / "latents", latents, labels)
    made = Files(tmp_path, head, as_patches(latents))
    for index, certificate in enumerate(explain(head, latents[:3], "top_k", inflate=True)):
        certificate.save(made.certificate(index))
    return made


@pytest.fixture
def inflated(made: Files, tmp_path: Path) -> Files:
    shutil.copytree(made.folder, tmp_path, dirs_exist_ok=True)
    return replace(made, folder=tmp_path)


def covers(covering: CoveringAudits, path: str) -> Covered:
    """What one certificate covers."""
    (covered,) = covering.of([path])
    return covered


def test_a_wide_certificate_covers_its_image_and_its_neighbour(inflated):
    covering = CoveringAudits(inflated.head_path, inflated.latents_path)
    predicted = evaluate(inflated.head, inflated.latents).predicted.tolist()
    assert covering.total == 8
    for index in range(3):
        covered = covers(covering, inflated.certificate(index))
        assert {index, index + 4} <= set(covered.images) and not covered.unproved
        assert covered.outcome.is_proved
        assert all(predicted[each] == covered.predicted for each in covered.images)
        assert covered.correct == sum(covering.label(each) == covered.predicted for each in covered.images)
    assert covers(covering, inflated.certificate(0)).correct < len(covers(covering, inflated.certificate(0)).images)


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
    other.write_bytes(safetensors.torch.save({"latents": inflated.latents, "labels": torch.tensor([0])}))
    with pytest.raises(InputError, match="1 labels for 8 images"):
        CoveringAudits(inflated.head_path, str(other))
    (tmp_path / "bad.ale.json").write_text("{}")
    assert in_process("cover", tmp_path / "bad.ale.json", "--latents", inflated.latents_path).returncode == 5
    assert in_process("cover", tmp_path / "none.ale.json", "--latents", inflated.latents_path).returncode == 9


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
