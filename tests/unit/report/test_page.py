"""The page's file: what it holds, what it leaves out, and that nothing in it comes from elsewhere."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from PIL import Image
from support.pages import Page
from support.reporting import folder_of, report_head
from support.small import varied_head

from verale import files
from verale.adapters.fields import ReceptiveFields
from verale.certificate.words import PROTOTYPES
from verale.checker.options import AuditOptions
from verale.checker.verdict import printable
from verale.head import FocalPooling, LogRatio, TopMeanPooling
from verale.report import account, page_full
from verale.report.collect import Collection, collect
from verale.report.estimates import Estimates
from verale.report.images import GONE
from verale.report.page import (
    meaning_of_prototypes,
    of_activations,
    of_fields,
    of_kernel,
    of_observables,
    of_squares,
    page,
)
from verale.report.page_full import _scores
from verale.report.verdicts import audited
from verale.runs import arguments

HOSTILE = ('<img src=x onerror="alert(1)">', "</script><script>alert(1)</script>", "{{ 7 * 7 }} ${x} \u2028 &lt;b&gt;")


@pytest.fixture
def folder(tmp_path):
    return folder_of(tmp_path / "out")


def page_of(collection, **options) -> Page:
    return Page(page(collection, "A <b>title</b>", **options))


def test_it_holds_every_certificate_byte_for_byte_and_asks_nobody(folder):
    """It runs only its own script; what other paradigms gave is told."""
    table = folder / "explanations.csv"
    heading, *lines = table.read_text().splitlines()
    others = [f"{heading},Others", f"{lines[0]},top_k 12", *(f"{line}," for line in lines[1:])]
    table.write_text("\n".join(others) + "\n")
    shown = page_of(audited(collect(folder)))
    assert [detail["text"].encode() for detail in shown.details] == [
        path.read_bytes() for path in sorted(folder.glob("*.ale.json"))
    ]
    rows = shown.rows
    assert (
        rows["status"] == ["PROVED"] * 4 and rows["full"] == [0, 1, 2, 3] and rows["others"][:2] == ["top_k 12", None]
    )
    assert rows["image"] == [f"images/{n}.png" for n in range(4)] and rows["explain"] == [0.125, 0.225, 0.325, 0.425]
    assert rows["claims"][0] == [["entailment", "proved"], ["instance", "proved"], ["minimality", "not checked"]]
    assert all(image.startswith("data:image/png;base64,") for image in shown.images)
    assert shown.details[0]["grid"] == {"rows": 2, "columns": 3, "tokens": 0, "assumed": False}
    assert len(shown.details[0]["similarity"]) == rows["size"][0] and len(shown.details[0]["ahead"]) == 3
    assert shown.data["prototypes"][0] == [0, 7, 1, 2, 0] and shown.data["prototypes"][1] == [1, *[None] * 4]
    assert shown.data["training"] == [shown.images[0]]
    policy = next(a["content"] for tag, a in shown.tags if a.get("http-equiv") == "Content-Security-Policy")
    script = next(text for attributes, text in shown.blocks if "type" not in attributes)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'sha256-" in policy
    assert policy.endswith(f"script-src 'sha256-{digest}'")
    for tag, attributes in shown.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        assert not {name for name in attributes if name.startswith("on") or name in ("src", "style")}
        assert (attributes.get("href") or "#").startswith("#")


def test_names_from_files_are_text(tmp_path):
    names = [f"{n}&<i>'\"\udcff.png" for n in range(4)]  # the last is no UTF-8
    folder = folder_of(tmp_path / "out", report_head(labels=HOSTILE), names=names)
    record = json.loads((folder / "000000.ale.json").read_text())
    record["extensions"] = {"note": HOSTILE[1]}
    (folder / "000000.ale.json").write_text(json.dumps(record))
    shown = page_of(audited(collect(folder)))
    assert shown.data["classes"] == list(HOSTILE)
    assert shown.rows["image"][1] == f"images/{names[1]}"
    assert shown.rows["status"] == ["PROVED"] * 4, "nothing of extensions is read"
    assert not {"img", "i"} & {tag for tag, _ in shown.tags}
    assert len([tag for tag, _ in shown.tags if tag == "script"]) == 3 + 4 + 1
    assert "alert(1)" not in "".join(text for attributes, text in shown.blocks if "type" not in attributes)
    for hostile in HOSTILE:
        assert hostile not in shown.text
    assert printable(HOSTILE[2]) in unescape(shown.text)
    assert "<h1>A &lt;b&gt;title&lt;/b&gt;</h1>" in shown.text


def test_nothing_is_called_proved_that_nobody_audited_or_of_another_head(folder, tmp_path):
    """Without a head, or with another one, there are no similarities."""
    report_head(labels=None).save(tmp_path / "other.safetensors")
    other = page_of(audited(collect(folder, tmp_path / "other.safetensors")))
    assert other.rows["status"] == ["NOT_PROVED"] * 4 and "speaks of the head" in other.rows["message"][0]
    for name in ("head.safetensors", "latents.safetensors"):
        (folder / name).unlink()
    shown = page_of(collect(folder))
    assert shown.rows["status"] == ["NOT_AUDITED"] * 4 and shown.rows["run"] == shown.rows["bounds"] == [None] * 4
    assert "Nothing here is audited" in shown.text and "has <b>proved" not in shown.text
    assert shown.data["observable"] is shown.details[0]["grid"] is None, "6 patches are no square"
    assert shown.details[0]["similarity"] == other.details[0]["similarity"] == []


def two_gone(folder):
    (folder / "images" / "1.png").unlink()
    (folder / "images" / "2.png").write_text("no image")


def none_readable(folder):
    for path in folder.glob("*.ale.json"):
        path.write_text("{")


BARE = "The prototypes have no pictures. Put them into the folder prototypes"
OTHER_BYTES = [{"file": f"{n}.png", "label": None, "sha256": "0" * 64} for n in range(4)]
GONE_ORIGIN = [{"prototype": 0, "image": 7, "file": "/nowhere/a.png", "row": 1, "column": 2}]
MISSING = [
    (lambda folder: (folder / "source.json").unlink(), {}, "The images are unknown", [False] * 4),
    (lambda folder: None, {"prototypes": None}, BARE, [True] * 4),
    (two_gone, {}, "2 images are not shown; the first: ", [True, False, False, True]),
    (lambda folder: None, {"images": OTHER_BYTES}, f"4 images are {GONE}.", [False] * 4),
    (lambda folder: None, {"prototypes": GONE_ORIGIN}, "1 pictures of prototypes were moved", [True] * 4),
    (none_readable, {}, "<b>None of the 4</b> explanations is proved", []),
    (lambda folder: None, {"preprocessing": {"a": {"type": "RandomAffine"}}}, "how RandomAffine changes", [True] * 4),
]


@pytest.mark.parametrize(("spoil", "changes", "said", "images"), MISSING)
def test_what_is_missing_is_said(spoil, changes, said, images, tmp_path):
    folder = folder_of(tmp_path / "out", **changes)
    spoil(folder)
    shown = page_of(audited(collect(folder, allow=["/nowhere"])))
    assert said in shown.text and [bool(image) for image in shown.images] == images
    assert (BARE in shown.text) == (said in (BARE, "The images are unknown"))
    if changes.get("prototypes") == GONE_ORIGIN:
        assert shown.data["prototypes"][0] == [0, 7, 1, 2, None]


def test_pictures_of_prototypes_come_before_their_training_images(folder, tmp_path):
    (folder / "prototypes").mkdir()
    for number in (0, 2, 99):
        Image.new("L", (12, 10), 20 * number).save(folder / "prototypes" / f"{number:04d}.png")
    (folder / "prototypes" / "2.txt").write_text("no picture")
    shown = page_of(collect(folder))
    assert PROTOTYPES in shown.text
    assert {*shown.data["pictures"]} == {"0", "2", "99"} and len(shown.data["training"]) == 3
    assert shown.data["prototypes"][0] == [0, 7, 1, 2, None], "it still says where the prototype comes from"
    (folder / "prototypes").rename(tmp_path / "elsewhere")
    assert page_of(collect(folder)).data["pictures"] == {}
    assert page_of(collect(folder, pictures=tmp_path / "elsewhere")).data["pictures"] == shown.data["pictures"]
    (tmp_path / "elsewhere" / "0002.png").write_text("no picture")
    shown = page_of(collect(folder, pictures=tmp_path / "elsewhere"))
    assert {*shown.data["pictures"]} == {"0", "99"} and "1 pictures of prototypes were moved" in shown.text


@pytest.mark.parametrize("provable", [False, True])
def test_without_pictures_there_is_none_in_its_bytes(folder, provable):
    """Neither an image nor a picture of a prototype, not even in what is deflated; frames, numbers and names stay."""
    collection = audited(collect(folder))
    shown = page_of(collection, provable=provable)
    without = page_of(collection.without_pictures(), provable=provable)
    assert "data:image" in shown.everything and "4 images, 1 picture of prototypes" in unescape(shown.text)
    for mark in ("data:image", "iVBORw0KGgo", "/9j/", "\x89PNG"):
        assert mark not in without.everything
    assert without.rows["shown"] == [-1] * 4 and without.data["training"] == [] and without.data["pictures"] == {}
    assert "4 certificates, 0 images, 0 pictures of prototypes" in unescape(without.text).replace("no ", "0 ")
    whole = "as labelled, the head and the latents of the images."
    assert (whole in unescape(shown.text)) is provable and "This file holds 4 certificates, 4 images, " in shown.text
    assert "--no-pictures" in without.text and "Put them into the folder" not in without.text
    assert without.data["prototypes"][0] == [0, 7, 1, 2, None], "where the prototype comes from is told"
    same = ("text", "grid", "attained", "account", "similarity", "conditions")
    for one, other in zip(shown.details, without.details, strict=True):
        assert [one[name] for name in same] == [other[name] for name in same]


def test_what_does_not_fit_is_left_out_and_the_page_says_so(folder):
    collection = audited(collect(folder))
    counts = []
    for size in range(2**17, 2**17 + 20_000, 1000):
        shown = page_of(collection, size=size)
        kept = len(shown.details)
        counts.append(kept)
        assert shown.rows["full"] == [*range(kept), *[-1] * (4 - kept)]
        assert (f"for the first {kept} of 4 certificates" in shown.text) == (kept < 4)
        assert len(shown.text) <= size
    assert counts == sorted(counts) and {0, 1, 2, 3, 4} <= set(counts)


def test_certificates_in_several_blocks_are_those_of_one(folder, monkeypatch):
    collection = collect(folder)
    together = page_of(collection)
    monkeypatch.setattr(page_full, "_TOGETHER", 3)
    apart = page_of(collection)
    assert together.data["blocks"] == [0] and apart.data["blocks"] == [0, 3]
    assert apart.details == together.details and apart.images == together.images
    monkeypatch.setattr(page_full, "_BLOCK", 1)
    assert page_of(collection).data["blocks"] == [0, 1, 2, 3], "large certificates are alone"


def test_equal_images_are_embedded_once(folder, monkeypatch):
    collection = collect(folder)
    one, other = (page_full.to_draw(collection.source, item.image) for item in collection.items[:2])
    drawn = iter([one, other, one, one])
    monkeypatch.setattr(page_full, "to_draw", lambda source, image: next(drawn))
    shown = page_of(collect(folder))
    assert shown.rows["shown"] == [0, 1, 0, 0]
    assert shown.images[0] == shown.images[2] == shown.images[3] != shown.images[1]


def test_what_is_told_is_what_the_checker_of_the_verdicts_proves(folder, monkeypatch):
    """No other is made, of perhaps another kernel and limit; what ran out of its limit is not tried again."""
    collection = audited(collect(folder), AuditOptions("arb"))
    asked = []
    monkeypatch.setattr(arguments, "auditor_for", None)
    monkeypatch.setattr(collection.auditor, "numbers", asked.append)
    monkeypatch.setattr(account, "account_of", lambda *given: None)
    page(collection, "A report")
    assert collection.auditor.kernel == "arb"
    assert asked == [item.path.read_bytes() for item in collection.items if item.path is not None]
    spent = collection.with_records(lambda item: {**item.record, "reason": "limit"}, "now", collection.auditor)
    page(spent, "A report")
    assert len(asked) == len(collection.paths)


def test_a_certificate_an_image_and_the_head_are_read_once(folder, monkeypatch):
    """Images too that source.json binds by their digests, which are compared before they are drawn."""
    record = json.loads((folder / "source.json").read_text())
    for image in record["images"]:
        image["sha256"] = sha256((folder / "images" / image["file"]).read_bytes()).hexdigest()
    (folder / "source.json").write_text(json.dumps(record | {"prototypes": None}))
    read = []
    true = files.open_regular
    monkeypatch.setattr(files, "open_regular", lambda path: read.append(Path(path).name) or true(path))
    collection = collect(folder)
    shown = page_of(collection, provable=True)
    assert all(shown.images) and len(shown.details) == 4
    once = ["head.safetensors", *(f"{n}.png" for n in range(4)), *(f"{n:06d}.ale.json" for n in range(4))]
    assert {name: read.count(name) for name in once} == dict.fromkeys(once, 1)


def test_what_is_told_of_linear_readouts_is_asked_of_no_other(tmp_path):
    collection = audited(collect(folder_of(tmp_path / "out", varied_head("maximum"))))
    collection.auditor.numbers = None
    assert "PROVED" in page_of(collection).rows["status"]


def test_what_is_told_is_proved_of_the_head_that_the_page_shows(folder):
    """Whatever its file holds by then."""
    collection, later = collect(folder), collect(folder)
    before = page(collection, "A report", provable=True)
    report_head("cosine").save(collection.head_file.path)
    assert page(collection, "A report", provable=True) == page(later, "A report", provable=True) == before


def test_scores_have_digits_enough_to_be_told_apart() -> None:
    estimates = Estimates(logits=[-578.5566, -579.0287, -580.9])
    assert _scores(0, estimates) == [[0, "-578.56"], [1, "-579.03"], [2, "-580.9"]]
    assert _scores(1, Estimates(logits=[1.0, 1.0])) == [[1, "1"], [0, "1"]]
    assert _scores(0, Estimates(logits=[float("nan"), 2.0])) == [[0, "nan"], [1, "2"]]
    assert _scores(0, Estimates()) == []


PART = ReceptiveFields(((0, 3), (1, 4)), ((0, 4),), (4, 4), ())
WHOLE = replace(PART, rows=((0, 4),) * 2)
COPY, ODD = "; {} for an exact copy", "to the patch most like it. It has no unit."
TOLD = [
    (of_activations, replace(report_head(), similarity=LogRatio(epsilon=0.001)), COPY.format(f"{math.log(1000):.4g}")),
    (of_activations, report_head("cosine"), COPY.format(1)),
    *((of_activations, varied_head(name), ODD) for name in ("cosine quadratic", "inner product")),
    (of_activations, varied_head("masked"), "to the patch that it looks at most like it"),
    (of_activations, replace(report_head(), pooling=FocalPooling("max_minus_mean")), "all patches"),
    (of_activations, replace(report_head(), pooling=TopMeanPooling(2)), "all patches"),
    (of_observables, report_head("euclidean"), "squared distance"),
    (of_observables, report_head("cosine"), "cosine"),
    (of_observables, report_head("softmax"), "mass of 1"),
    *((of_squares, each, "the cell of a patch in the latent grid") for each in (None, PART, WHOLE)),
    *((of_squares, each, "Rows, columns and patches count from 0.") for each in (None, PART, WHOLE)),
    (of_squares, None, "this page does not know on how much"),
    (of_squares, PART, "Dashed"),
    (of_squares, WHOLE, "it can depend on the whole image (its receptive field)."),
    (of_squares, replace(WHOLE, unknown=("a", "b", "c\n", "d")), "it is not known how far a, b, c\\n, ... reaches."),
    (of_kernel, "proved", "Rocq"),
    (of_kernel, "all", "Rocq"),
    (of_kernel, "arb", "Arb"),
    *((of_kernel, "proved-or-arb", word) for word in ("Rocq", "Arb", "does not cover")),
    (of_kernel, "another", "that shares no code with what found the statements"),
    (meaning_of_prototypes, Collection(Path(), ()), "a pattern that the network learned"),
]
"""What is said of a head, of receptive fields, or of a kernel."""


def test_what_there_is_is_told_in_words(folder):
    for told, given, said in TOLD:
        assert said in told(given), (told, said)
    assert of_activations(None) == of_observables(None) == of_observables(varied_head("inner product")) == ""
    assert "a patch of a training image" in meaning_of_prototypes(collect(folder))


def test_fields_that_the_checker_computed_are_told_from_those_that_are_noted():
    apart = ReceptiveFields(((0, 2), (2, 4)), ((0, 4),), (4, 4), (), by_checker=True)
    over = replace(apart, rows=((0, 3), (2, 4)))
    whole = replace(apart, rows=((0, 4),) * 2)
    assert all("which the checker computes from the network's file" in of_squares(each) for each in (apart, whole))
    assert "source.json" not in of_squares(apart) + of_fields(apart)
    assert "And of its square a patch sees alone at least 100.0 %." in of_squares(apart)
    assert "And of its square a patch sees alone at least 50.0 %, the best one 100.0 %." in of_squares(over)
    assert "And of its square a patch sees alone at least 50.0 %." in of_squares(replace(over, rows=((0, 3), (1, 4))))
    assert "And no part of a patch's square is seen by it alone." in of_squares(whole)
    assert "alone" not in of_squares(replace(whole, rows=((0, 4),)))
    noted = replace(apart, by_checker=False)
    assert of_fields(noted) == "As source.json says; not part of the proof."
    assert "as source.json says" in of_squares(noted) and "alone" not in of_squares(noted)


def test_a_program_that_the_environment_named_is_not_called_proved_right() -> None:
    assert of_kernel("proved", "VERALE_PROVED") == "that VERALE_PROVED named"
    assert "Rocq" not in of_kernel("proved-or-arb", "VERALE_PROVED") + of_kernel("all", "VERALE_PROVED")
    assert of_kernel("arb", "VERALE_PROVED") == of_kernel("arb")
