"""The page's first screen: why the class is ahead, in points that add up, told and drawn."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image
from support.joint import joint_head
from support.reporting import folder_of, report_head, written
from support.small import small_head

from verale.certificate.words import below
from verale.checker import Auditor
from verale.checker.certificate import Certificate, read_certificate
from verale.checker.head import read_head
from verale.report.account import Account, account_of
from verale.report.collect import Collection, collect
from verale.report.verdicts import audited


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Twelve images with classes of long names."""
    names = ("airplane", "hippopotamus", "Black-footed Albatross")
    folder = tmp_path_factory.mktemp("reasons") / "out"
    folder_of(folder, report_head(labels=names), "readable", names=[f"{n}.png" for n in range(12)])
    (folder / "prototypes").mkdir()
    for number in range(report_head().size):
        Image.new("L", (8, 8), 20 * number).save(folder / "prototypes" / f"{number:04d}.png")
    return written(folder / "report.html", audited(collect(folder)))


def explained(collection: Collection, row: int) -> tuple[Certificate, Account]:
    """A certificate, and its account, as the checker proves it."""
    data = (collection.folder / f"{row:06d}.ale.json").read_bytes()
    certificate, file = read_certificate(data), collection.head_file
    assert file is not None
    made = account_of(certificate, read_head(file.data), Auditor(file.data).numbers(data))
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


@pytest.mark.parametrize("width", [1300, 800, 360])
def test_nothing_leaves_its_card_and_no_word_is_broken(tabs, report, width):
    tab = tabs.open(report, viewport={"width": width, "height": 900})
    assert tab.evaluate(BROKEN) == 0
    for row in range(12):
        tab.goto(f"file://{report}#certificate-{row}")
        tab.wait_for_selector(f"#detail[data-row='{row}']")
        assert tab.locator(".prototypes .close").count() > 0
        assert tab.evaluate(OUTSIDE) == 0
        tab.evaluate("document.querySelectorAll('#detail details').forEach((one) => { one.open = true; })")
        assert tab.evaluate(OUTSIDE) == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_proved_and_what_is_not_is_said_once_and_by_whom(tabs, report):
    tab = tabs.open(report, "#certificate-0")
    tab.wait_for_selector("#title")
    said = tab.inner_text("#detail")
    assert said.count("This is enough, and it is proved, of the latents given for this image") == 1
    assert said.count("By a checker that is itself proved right, in Rocq.") == 1
    assert "PROVED from the latents given for the image, not from its pixels" in tab.inner_text("#detail .verdict")
    assert said.count("Not proved: ") == said.count("Nothing proves what pictures of prototypes show") == 1
    assert "Nothing else has to hold of the latents. These " in said and "nearly of one colour" in said, (
        "as all of these images are"
    )
    assert not tab.is_visible(".account .map"), "on demand"
    tab.click(".account details >> text=How similar, and where else >> nth=0")
    assert " of the 11 other images here" in tab.inner_text(".account"), "activations have a scale"
    assert tab.locator(".account .map .adds").count() > 0 and tab.is_visible(".account .map >> nth=0")
    nobody = written(report.with_name("unaudited.html"), collect(report.parent))
    tab = tabs.open(nobody, "#certificate-0")
    tab.wait_for_selector("#title")
    said = tab.inner_text("#detail")
    assert "This is enough" not in said and "Not proved here: that this is enough" in said
    assert "if all of this holds, " in said


def test_a_wrong_class_is_said_to_be_wrong_where_it_stands(tabs, report):
    tab = tabs.open(report)
    wrong, right = (tab.evaluate(f"rows.label.findIndex((x, i) => (x === rows.predicted[i]) === {is_right})")
                    for is_right in ("false", "true"))  # fmt: skip
    for row, said in (
        (wrong, "the network is wrong: the true class is "),
        (right, "the network is right, as labelled"),
    ):
        tab.goto(f"file://{report}#certificate-{row}")
        tab.wait_for_selector(f"#detail[data-row='{row}']")
        told = tab.inner_text("#detail .verdict")
        assert said in told and told.endswith(
            "What is proved is that the statements are enough for this class, and not that the class is right."
        )


def test_where_the_lead_is_not_shared_out_nothing_is_said_of_points(tabs, tmp_path):
    head = replace(joint_head("plain", prototypes=12), labels=("ant", "bee", "cat"))
    folder = folder_of(tmp_path / "out", head, "joint", grid=(1, 1))
    tab = tabs.open(written(folder / "report.html", audited(collect(folder))), "#certificate-0")
    tab.wait_for_selector("#title")
    assert "does not say how much it owes to each" in tab.inner_text("section[aria-labelledby=further]")
    assert tab.locator(".account").count() == tab.locator("#by-class").count() == 0
    assert tab.locator(".scores tbody tr").count() == 3


def test_the_list_pictures_the_prototypes_that_add_to_the_lead(tabs, report):
    tab = tabs.open(report)
    collection, rows = collect(report.parent), tab.evaluate("rows.prototypes")
    for row, shown in enumerate(rows):
        assert shown == explained(collection, row)[1].adding[:6]


@pytest.mark.parametrize("paradigm", ["evidence", "top_k", "projection"])
def test_what_is_shown_is_what_is_proved_and_adds_up(tabs, tmp_path, paradigm):
    folder = folder_of(tmp_path / "out", paradigm=paradigm)
    path = written(tmp_path / "report.html", audited(collect(folder)))
    tab = tabs.open(path)
    collection = collect(folder)
    for row in range(4):
        tab.goto(f"file://{path}#certificate-{row}")
        tab.wait_for_selector(f"#detail[data-row='{row}']")
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
        name = ("ant", "bee", "cat")[certificate.predicted]
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
        followed = [
            text for text in tab.locator(".implied").all_inner_texts() if "which the statements bound too" in text
        ]
        assert bool(followed) == bool(made.implied)
        for line in made.implied:
            assert any(f"prototype {line.prototype} at least {line.similarity}" in text for text in followed)


def test_what_is_too_long_is_said_first_with_a_shorter_question(tabs, tmp_path):
    folder = folder_of(tmp_path / "out", paradigm="projection")
    path = written(tmp_path / "report.html", audited(collect(folder)))
    tab = tabs.open(path, "#certificate-1")
    tab.wait_for_selector("#detail[data-row='1']")
    said = tab.inner_text("section[aria-labelledby=why] p >> nth=0")
    assert said.startswith("Too long to read at a glance: ") and "numbers and names" in said
    assert (
        "Why so long: the prototypes of class " in said
        and ", the closest class of this proof, and " in said
        and " are left" in said
    )
    assert "scores stand below the picture, and beside it what is proved of their points." in said
    assert tab.locator(".scores").count() == 1
    command = tab.inner_text(".long code").split()
    assert command[:3] == ["verale", "contrast", "000001.ale.json"]
    evidence = folder_of(tmp_path / "short", paradigm="evidence")
    tab = tabs.open(written(path, audited(collect(evidence))), "#certificate-1")
    tab.wait_for_selector("#detail[data-row='1']")
    assert tab.locator(".long").count() == 0


def test_of_many_statements_the_first_are_shown_and_the_others_summed(tabs, tmp_path):
    head = small_head("euclidean", prototypes=24)
    folder = folder_of(tmp_path / "out", replace(head, labels=("ant", "bee", "cat")), paradigm="evidence")
    path = written(tmp_path / "report.html", audited(collect(folder)))
    tab = tabs.open(path, "#certificate-0")
    tab.wait_for_selector("#title")
    made = [0, 0, 0, 0]
    for row in range(4):
        tab.goto(f"file://{path}#certificate-{row}")
        tab.wait_for_selector(f"#detail[data-row='{row}']")
        _, told = explained(collect(folder), row)
        made[row] = len(told.stated)
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
    tab = tabs.open(report)
    collection, differing = collect(report.parent), 0
    for row in range(12):
        tab.goto(f"file://{report}#certificate-{row}")
        tab.wait_for_selector(f"#detail[data-row='{row}']")
        certificate, told = explained(collection, row)
        second = tab.evaluate(f"detailOf({row}).then((detail) => detail.second)")
        differs = second != told.rival
        differing += differs
        assert ("is only the class over which the proof leaves least." in tab.inner_text("#detail")) == differs
        said, least = (
            tab.inner_text("#detail .ahead"),
            min(margin for margin in certificate.margins if margin is not None),
        )
        assert said.startswith(
            f"Proved: at least {below(least)} points ahead of every other class, wherever this holds."
        )
        assert said.count("the network\N{RIGHT SINGLE QUOTATION MARK}s second choice") == 1
        is_true = tab.evaluate(f"rows.label[{row}]") == second
        assert ("second choice and the true class, as labelled" in said) == is_true
        commands = [text for text in tab.locator("#detail code").all_inner_texts() if "contrast" in text]
        assert all(text.endswith(f" --class {second}") for text in commands) and len(commands) >= differs
        assert certificate.predicted not in (second, told.rival)
    assert differing
