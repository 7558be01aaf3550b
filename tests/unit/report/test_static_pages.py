"""The pages of two runs and of a rule list: everything on them, escaped, with images that digests bind, or pictures of
prototypes, and no request."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image
from support.reporting import folder_of, report_head
from support.small import small_head

from verale.certificate import ActivationStatement
from verale.certificate.words import PROTOTYPES
from verale.checker.verdict import printable
from verale.errors import InputError
from verale.head import as_patches, digest, load_latents, save_latents
from verale.report import static_pages
from verale.report.static_pages import compare_page, pictures_of, rules_page
from verale.report.templates import printable_on_pages
from verale.runs.compare import ComparedImage, Counts, RunComparison, compare
from verale.runs.explain import open_run
from verale.runs.explained_run import BY_LATENTS
from verale.runs.rules import RuleList, fit_rules
from verale.search import SearchOptions

HOSTILE = "<i>&x\u202e.png"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of the same images, bound by digests, with other classes in the second."""
    made = tmp_path_factory.mktemp("compare")
    names = [HOSTILE, "1.png", "2.png", "3.png"]
    head = report_head(labels=("<b>ant", "bee", "cat"))
    a = folder_of(made / "a", head, names=names)
    b = folder_of(made / "b", head, names=names, paradigm="top_k")
    for folder in (a, b):
        source = json.loads((folder / "source.json").read_text())
        for image in source["images"]:
            image["sha256"] = hashlib.sha256((folder / "images" / image["file"]).read_bytes()).hexdigest()
        latents = load_latents(folder / "latents.safetensors")
        source["image_latents"] = [digest(as_patches(one[None])[0]) for one in latents]
        (folder / "source.json").write_text(json.dumps(source))
    return a, b


def compared(a: Path, b: Path) -> tuple[RunComparison, Counts, list[ComparedImage]]:
    comparison, counts = compare(str(a), str(b)), Counts()
    rows = list(comparison)
    for one in rows:
        counts.add(one)
    return comparison, counts, rows


def shown(comparison: RunComparison, *given: object) -> str:
    return compare_page(comparison, *given).decode()  # type: ignore[arg-type]


def test_names_in_every_script_are_shown_and_none_changes_the_direction() -> None:
    shown = ("می\u200cشود", "क्\u200dष", "👨\u200d👩\u200d👧", "❤\ufe0f\u200d🔥", "سمك", "דג", "山\u3000田", "a\xa0b")
    escaped = ("\u200cx", "x\u200d", "1\u200d2", "x\u200d\u200dx", "x\u200e1", "\u202e1", "\u2067x", "a\u2028b")
    assert [*map(printable_on_pages, (*shown, *escaped))] == [*shown, *map(printable, escaped)]
    assert all(name != printable(name) for name in escaped)


def test_the_page_shows_every_image_and_asks_nobody(runs) -> None:
    comparison, counts, rows = compared(*runs)
    text = shown(comparison, counts, rows)
    assert "4 of 4 (100.0 %)" in text and comparison.how.replace("'", "&#39;") in text
    assert "<i>" not in text and "<b>ant" not in text and "&lt;i&gt;&amp;x\\u202e.png" in text
    assert text.count('<img class="shown" src="data:image/png') == 4
    assert "<script" not in text and "http" not in re.sub(r'http-equiv="', "", text)
    assert "default-src 'none'" in text and comparison.a.head.head.sha256 in text


def test_only_images_that_digests_bind_are_shown_and_those_elsewhere_where_that_is_allowed(
    runs, tmp_path, caplog, monkeypatch
) -> None:
    """A list that is too long is cut, and says so."""
    a, b = shutil.copytree(runs[0], tmp_path / "a"), runs[1]
    noted = (a / "source.json").read_text()
    (a / "source.json").write_text(noted.replace(str(runs[0]), str(a)))
    image = a / "images" / "1.png"
    before = image.read_bytes()
    image.write_bytes(before + b"x")
    assert shown(*compared(a, b)).count("<img") == 3
    image.write_bytes(before)
    (a / "images").rename(tmp_path / "images")
    (a / "images").symlink_to(tmp_path / "images")
    comparison, counts, rows = compared(a, b)
    assert "<img" not in shown(comparison, counts, rows) and "say --allow" in caplog.text
    assert shown(comparison, counts, rows, [str(tmp_path)]).count("<img") == 4
    monkeypatch.setattr(static_pages, "_MOST_IMAGES", 1)
    text = shown(comparison, counts, rows, [str(tmp_path)])
    assert "3 more are not listed here" in text and text.count("<img") == 1


def test_statements_that_fail_are_told_in_their_own_numbers(tmp_path) -> None:
    """The images of B come in the other order, and nothing binds them to those of A."""
    head = report_head()
    a, b = folder_of(tmp_path / "a", head), tmp_path / "b"
    latents = load_latents(a / "latents.safetensors").flip(0)
    with open_run(b, head, latents, SearchOptions("top_k")) as opened:
        assert len(list(opened)) == 4
    comparison, counts, _ = compared(a, b)
    told = [replace(one, answers=(False,), told=("prototype <1>: at least 0.1",)) for one in comparison]
    text = shown(comparison, counts, told)
    assert text.count("<li>prototype &lt;1&gt;: at least 0.1</li>") == 4
    other, counts, rows = compared(b, a)
    text = shown(other, counts, rows)
    assert "Images that changed" in shown(other, counts, []) and other.pairs.by == BY_LATENTS
    assert list(other.pairs.pairs) == [(0, 3), (1, 2), (2, 1), (3, 0)] and "in B about" not in text


def test_corrections_and_losses_are_told_by_words_too(runs) -> None:
    """Not by colour alone, and beside the true class."""
    comparison, counts, rows = compared(*runs)
    one = replace(rows[0], same_class=False)
    said = {(0, 1): "✓ B is right, A was wrong", (1, 0): "✗ B is wrong, A was right", (2, 2): "≠ both are wrong"}
    for (a, b), words in said.items():
        sides = [replace(one.a, predicted=predicted, label=label) for predicted, label in ((a, 1), (b, 1))]
        text = shown(comparison, counts, [replace(one, a=sides[0], b=sides[1])])
        assert words in text and 'data-title="True class"><bdi>bee</bdi>' in text
    unknown = [replace(side, label=None) for side in (one.a, one.b)]
    text = shown(comparison, counts, [replace(one, a=unknown[0], b=unknown[1])])
    assert "≠ another class" in text and "True class" not in text


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleList:
    folder = tmp_path_factory.mktemp("rules")
    head = replace(small_head("euclidean", 1, prototypes=6), labels=("a<i>", "b<i>", "c<i>"))
    head.save(folder / "head")
    drawn = torch.Generator().manual_seed(0)
    near = torch.randint(head.size, (12,), generator=drawn)
    latents = 0.8 * head.prototypes[near][:, None] + 0.2 * torch.rand(12, 4, head.depth, generator=drawn)
    save_latents(folder / "latents", latents, [0] * 12)
    return fit_rules(str(folder / "head"), str(folder / "latents"), count=2)


def test_the_page_shows_every_rule_and_asks_nobody(rules):
    text = rules_page(rules, {}).decode()
    assert "proved 2 of 2" in text and rules.head in text
    for rule in rules.rules:
        assert rule.words[1:] in text and rule.certificate in text
    assert "a<i>" not in text and "b<i>" not in text and "c<i>" not in text
    assert "<script" not in text and "http" not in re.sub(r'http-equiv="', "", text)
    assert "default-src 'none'" in text


def test_pictures_stand_with_their_prototypes(rules, tmp_path):
    folder = tmp_path / "pictures"
    with pytest.raises(InputError, match="no such folder"):
        pictures_of("", folder)
    folder.mkdir()
    Image.new("L", (4, 4)).save(folder / "cover.png")
    with pytest.raises(InputError, match="no picture whose name is a prototype's number"):
        pictures_of("", folder)
    stated = [
        each.prototype
        for certificate in rules.certificates
        for each in certificate.statements
        if isinstance(each, ActivationStatement)
    ]
    pictured = sorted(set(stated))[:2]
    for number in pictured:
        Image.new("L", (4, 4), 40 * number).save(folder / f"{number:04d}.png")
    pictures = pictures_of("", folder)
    assert sorted(pictures) == pictured
    text = rules_page(rules, pictures).decode()
    for number in pictured:
        image = f'<img src="{pictures[number]}" alt="What prototype {number} looks like">'
        assert text.count(image) == stated.count(number) > 0
    assert PROTOTYPES in text and PROTOTYPES not in rules_page(rules, {}).decode()
    assert "Class is the true one, as labelled" in text


def test_shares_are_rounded_down(rules):
    almost = replace(rules, fitted=replace(rules.fitted, images=10000, covered=9999, correct=9998))
    text = rules_page(almost, {}).decode()
    assert "9,999 (99.9 %)" in text and "9,998 (99.9 %)" in text and "1 (0.0 %)" in text
