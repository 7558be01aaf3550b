"""The page's first screen: why the class is ahead, in points that add up, told and drawn."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from support.joint import joint_head
from support.reporting import folder_of, report_head, reported, with_pictures, written
from support.small import small_head
from support.tabs import at

from verale.certificate.words import below
from verale.checker.certificate import Certificate, read_certificate
from verale.report.account import Account, proved_account
from verale.report.collect import Collection, collect
from verale.report.verdicts import audited

CLASSES = ("ant", "bee", "cat")


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Twelve images with classes of long names."""
    names = ("airplane", "hippopotamus", "Black-footed Albatross")
    folder = tmp_path_factory.mktemp("reasons") / "out"
    folder_of(folder, report_head(labels=names), "readable", names=[f"{n}.png" for n in range(12)])
    return written(folder / "report.html", audited(collect(with_pictures(folder))))


def explained(collection: Collection, row: int) -> tuple[Certificate, Account]:
    """A certificate, and its account, as the checker proves it."""
    data = (collection.folder / f"{row:06d}.ale.json").read_bytes()
    certificate = read_certificate(data)
    made = proved_account(data, certificate, collection.checked_head, collection.numbers)
    assert made is not None
    return certificate, made


def number(text: str) -> Fraction:
    return Fraction(text.split("\n")[0].replace("\N{MINUS SIGN}", "-").removesuffix(" points"))


OUTSIDE = """() => [...document.querySelectorAll('.prototypes > li')].flatMap((card) => {
  const box = card.getBoundingClientRect();
  const parts = [...card.querySelectorAll('svg, figure, .says, small, .points')]
    .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect());
  return parts.filter((one) => one.width && (one.right > box.right + 1 || one.bottom > box.bottom + 1)); }).length"""
BROKEN = """() => [...document.querySelectorAll('#table [data-key=predicted] bdi')].filter((name) => {
  const line = parseFloat(getComputedStyle(name).lineHeight) || 24, words = name.textContent.split(' ').length;
  return name.getBoundingClientRect().height > line * words * 1.5; }).length"""


@pytest.mark.parametrize("width", [1300, 360])
def test_nothing_leaves_its_card_and_no_word_is_broken(tabs, report, width):
    tab = tabs.open(report, width=width)
    assert tab.evaluate(BROKEN) == 0
    for row in (0, 5, 10):
        assert at(tab, row).locator(".prototypes .close").count() > 0
        assert tab.evaluate(OUTSIDE) == 0
        tab.evaluate("document.querySelectorAll('#detail details').forEach((one) => { one.open = true; })")
        assert tab.evaluate(OUTSIDE) == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_proved_and_what_is_not_is_said_once_and_by_whom(tabs, report):
    tab = tabs.open(report, 0)
    said = tab.inner_text("#detail")
    for sentence in (
        "This is enough, and it is proved, of the latents given for this image",
        "By a checker that is itself proved right, in Rocq.",
        "Not proved: ",
        "Nothing proves what pictures of prototypes show",
    ):
        assert said.count(sentence) == 1
    verdict = tab.inner_text("#detail .verdict")
    assert "PROVED from the latents given for the image, not from its pixels" in verdict
    assert "Nothing else has to hold of the latents. These " in said
    assert "nearly of one colour" in said, "as all of these images are"
    assert not tab.is_visible(".account .map"), "on demand"
    tab.click(".account details >> text=How similar, and where else >> nth=0")
    assert " of the 11 other images here" in tab.inner_text(".account"), "activations have a scale"
    assert tab.locator(".account .map .adds").count() > 0 and tab.is_visible(".account .map >> nth=0")
    tab = tabs.open(written(report.with_name("unaudited.html"), collect(report.parent)), 0)
    said = tab.inner_text("#detail")
    assert "This is enough" not in said and "Not proved here: that this is enough" in said
    assert "if all of this holds, " in said


def test_a_wrong_class_is_said_to_be_wrong_where_it_stands(tabs, report):
    """And the list pictures the prototypes that add to the lead."""
    tab, collection = tabs.open(report), collect(report.parent)
    told = {"false": "the network is wrong: the true class is ", "true": "the network is right, as labelled"}
    for is_right, said in told.items():
        row = tab.evaluate(f"rows.label.findIndex((x, i) => (x === rows.predicted[i]) === {is_right})")
        shown = at(tab, row).inner_text("#detail .verdict")
        what = "What is proved is that the statements are enough for this class, and not that the class is right."
        assert said in shown and shown.endswith(what)
    for row, prototypes in enumerate(tab.evaluate("rows.prototypes")):
        assert prototypes == explained(collection, row)[1].adding[:6]


def test_where_the_lead_is_not_shared_out_nothing_is_said_of_points(tabs, tmp_path):
    head = replace(joint_head("plain", prototypes=12), labels=CLASSES)
    tab = tabs.open(reported(tmp_path, head, "joint", grid=(1, 1)), 0)
    assert "does not say how much it owes to each" in tab.inner_text("section[aria-labelledby=further]")
    assert tab.locator(".account").count() == tab.locator("#by-class").count() == 0
    assert tab.locator(".scores tbody tr").count() == 3


@pytest.mark.parametrize("paradigm", ["evidence", "top_k", "projection"])
def test_what_is_shown_is_what_is_proved_and_adds_up(tabs, tmp_path, paradigm):
    tab = tabs.open(reported(tmp_path, paradigm=paradigm))
    collection = collect(tmp_path / "out")
    for row in (0, 3):
        at(tab, row)
        certificate, made = explained(collection, row)
        lines = [number(text) for text in tab.locator(".account > li > .points").all_inner_texts()]
        *parts, together, taken, lead = lines
        assert sum(parts) == together == Fraction(made.together) and together + taken == lead == Fraction(made.lead)
        assert abs(taken) == abs(Fraction(made.taken))
        shown = tab.locator(".account > li >> .says").all_inner_texts()
        assert len(shown) == len(made.stated) + (made.total is not None)
        for line, said in zip(made.stated, shown, strict=False):
            assert said.startswith(f"prototype {line.prototype} is active ")
            assert f"{line.similarity} \N{MULTIPLICATION SIGN} {line.weight} =" in tab.inner_text(".account")
        name = CLASSES[certificate.predicted]
        assert f"{name} leads every other class by at least" in tab.inner_text(".account")
        assert not tab.is_visible(".by-class")
        tab.click("#by-class summary")
        for one, text in zip(made.closest, tab.locator(".by-class tbody tr").all(), strict=True):
            given, taken, lead = (number(cell) for cell in text.locator("td.number").all_inner_texts())
            assert (given, taken, lead) == (Fraction(one.given), Fraction(one.taken), Fraction(one.lead))
            assert given - taken == lead
        if len(made.implied) > 2:
            assert not tab.is_visible(".implied .plain-list")
            tab.click(".implied summary")
        implied = tab.locator(".implied").all_inner_texts()
        followed = [text for text in implied if "which the statements bound too" in text]
        assert bool(followed) == bool(made.implied)
        for line in made.implied:
            assert any(f"prototype {line.prototype} at least {line.similarity}" in text for text in followed)


def test_what_is_too_long_is_said_first_with_a_shorter_question(tabs, tmp_path):
    tab = tabs.open(reported(tmp_path, paradigm="projection"), 1)
    said = tab.inner_text("section[aria-labelledby=why] p >> nth=0")
    assert said.startswith("Too long to read at a glance: ")
    for words in (
        *("numbers and names", "Why so long: the prototypes of class ", ", the closest class of this proof, and "),
        *(" are left", "scores stand below the picture, and beside it what is proved of their points."),
    ):
        assert words in said
    assert tab.locator(".scores").count() == 1
    assert tab.inner_text(".long code").split()[:3] == ["verale", "contrast", "000001.ale.json"]
    tab = tabs.open(reported(tmp_path / "short", paradigm="evidence"), 1)
    assert tab.locator(".long").count() == 0


def test_of_many_statements_the_first_are_shown_and_the_others_summed(tabs, tmp_path):
    head = replace(small_head("euclidean", prototypes=24), labels=CLASSES)
    tab, made = tabs.open(reported(tmp_path, head, "evidence")), []
    for row in range(4):
        at(tab, row)
        _, told = explained(collect(tmp_path / "out"), row)
        made.append(len(told.stated))
        folded = max(0, made[row] - 3) if made[row] > 5 else 0
        assert tab.locator(".more .says").count() == folded
        if folded:
            least = told.stated[3:]
            assert number(tab.inner_text(".more > .points")) == sum(Fraction(line.points) for line in least)
            assert f"and {folded} more prototypes that are as active as stated" in tab.inner_text(".more")
            assert not tab.is_visible(".more .says >> nth=0")
            tab.emulate_media(media="print")
            tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            assert tab.is_visible(".more .says >> nth=0"), "nothing is folded on paper"
            tab.emulate_media(media="screen")
    assert max(made) > 5 >= min(made)


def test_the_runner_up_is_told_where_the_closest_class_of_the_proof_is_another(tabs, report):
    tab, collection, differing = tabs.open(report), collect(report.parent), 0
    for row in range(12):
        at(tab, row)
        certificate, told = explained(collection, row)
        second = tab.evaluate(f"detailOf({row}).then((detail) => detail.second)")
        differs = second != told.rival
        differing += differs
        assert ("is only the class over which the proof leaves least." in tab.inner_text("#detail")) == differs
        said = tab.inner_text("#detail .ahead")
        least = below(min(margin for margin in certificate.margins if margin is not None))
        assert said.startswith(f"Proved: at least {least} points ahead of every other class, wherever this holds.")
        assert said.count("the network\N{RIGHT SINGLE QUOTATION MARK}s second choice") == 1
        is_true = tab.evaluate(f"rows.label[{row}]") == second
        assert ("second choice and the true class, as labelled" in said) == is_true
        commands = [text for text in tab.locator("#detail code").all_inner_texts() if "contrast" in text]
        assert all(text.endswith(f" --class {second}") for text in commands) and len(commands) >= differs
        assert certificate.predicted not in (second, told.rival)
    assert differing
