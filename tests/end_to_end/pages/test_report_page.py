"""The page in a real browser: what people click, type and see. It needs a Chromium, and fails without one."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page
from support.reading import read_margins
from support.reporting import folder_of, report_head, reported, with_pictures, written
from support.small import small_head
from support.tabs import at

from verale.certificate.words import about, below, between
from verale.checker import certificate as checked
from verale.checker.certificate import read_certificate
from verale.checker.verdict import printable
from verale.report.collect import ToldOrigin, collect
from verale.report.estimates import estimates_of
from verale.report.images import BY_ORDER
from verale.report.templates import printable_on_pages
from verale.report.verdicts import audited

HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\">\u202e",
    "</script><script>document.title='owned'</script>\u2067",
    "<svg onload=\"document.title='owned'\">\u202d",
)
"""Names that are markup, and that turn the digits of what follows around, or its order."""
TURNED = r"""() => {
  const found = [], walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
  while (walker.nextNode()) {
    const node = walker.currentNode, held = [...(node.attributes ?? [])].map((one) => one.value);
    found.push(...[node.nodeValue ?? "", ...held].filter((text) => /\p{Bidi_Control}/u.test(text)));
  }
  return found;
}"""
"""All texts and attributes of a page in which something overrides the direction."""
MANY = 104
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Images, most of them explained by the same few certificates, whose verdicts are of every kind."""
    folder = folder_of(tmp_path_factory.mktemp("page") / "out", report_head(labels=None), classes=["ant", "bee", "cat"])
    certificates = [path.read_bytes() for path in sorted(folder.glob("*.ale.json"))]
    for index in range(4, MANY):
        (folder / f"{index:06d}.ale.json").write_bytes(certificates[index % 4])
    (folder / "000007.ale.json").write_text("{")
    record = json.loads(certificates[0])
    record["predicate"]["statements"] = record["predicate"]["statements"][:1]
    (folder / "000009.ale.json").write_text(json.dumps(record))
    return folder


@pytest.fixture(scope="module")
def report(folder) -> Path:
    return written(folder / "report.html", audited(collect(folder)))


def lines(tab: Page) -> list[str]:
    return tab.locator("#table tbody tr").all_inner_texts()


def column(tab: Page, title: str) -> list[str]:
    number = tab.locator("#table thead th").all_inner_texts()
    place = next(n for n, text in enumerate(number) if text.startswith(title))
    return tab.locator(f"#table tbody tr > :nth-child({place + 1})").all_inner_texts()


def classes(tab: Page) -> list[str]:
    """The classes in the list, without the mark of those that are wrong."""
    return [text.removesuffix("✗ wrong").strip() for text in column(tab, "Class")]


def named(tab: Page, number: int) -> Page:
    """The tab, on the certificate whose file has this number."""
    return at(tab, tab.evaluate(f"rows.name.indexOf('{number:06d}.ale.json')"))


def first_screen(tab: Page) -> str:
    """What a reader sees of a certificate before what is proved exactly."""
    return tab.inner_text("#detail").split("exactly\n")[0]


def test_it_has_pages_and_is_sorted_by_what_is_clicked(tabs, report):
    tab = tabs.open(report)
    assert BY_ORDER in lines(tab)[0] and f"images are {BY_ORDER}" in tab.inner_text("main")
    assert len(lines(tab)) == 50 and tab.inner_text("#count") == f"1 to 50 of {MANY}"
    tab.click("#pages button:has-text('Next')")
    tab.wait_for_selector(f"#count:has-text('51 to 100 of {MANY}')")
    tab.press("#pages button:has-text('Next')", "Enter")
    tab.wait_for_selector(f"#count:has-text('101 to {MANY} of {MANY}')")
    assert len(lines(tab)) == MANY - 100 and tab.is_disabled("#pages button:has-text('Next')")
    tab.select_option("#pages select", "0")
    assert tab.inner_text("#count") == f"1 to 50 of {MANY}"
    assert tab.locator("[aria-sort]").count() == 0
    tab.click("button[data-sort=size]")
    for order, reverse in (("ascending", False), ("descending", True)):
        sizes = [int(size.split("\n")[0]) for size in column(tab, "Statements") if size]
        assert sizes == sorted(sizes, reverse=reverse)
        assert tab.get_attribute("th:has([data-sort=size])", "aria-sort") == order
        tab.keyboard.press("Enter")  # the focus stays where it was
    tab.click("button[data-sort=name]")
    assert column(tab, "Image") == sorted(column(tab, "Image"))


def test_it_is_filtered_by_name_class_and_verdict(tabs, report):
    tab = tabs.open(report)
    tab.fill("#f-text", "00010")
    assert tab.inner_text("#count") == f"1 to 5 of 5 that match the filters, of {MANY} in all"
    tab.select_option("#f-status", "MALFORMED")
    assert lines(tab) == [] and "No certificate matches the filters" in tab.inner_text("#count")
    tab.click("button[type=reset]")
    tab.wait_for_selector("#table tbody tr >> nth=49")
    tab.select_option("#f-status", "NOT_PROVED")
    assert column(tab, "Verdict") == ["NOT PROVED"]
    tab.select_option("#f-status", "")
    tab.select_option("#f-correct", "yes")
    assert set(map(tuple, zip(column(tab, "Class"), column(tab, "True class"), strict=True))) <= {
        (name, name) for name in ("ant", "bee", "cat")
    }
    tab.click("button[type=reset]")
    tab.click("summary:has-text('By class')")
    tab.click(".only >> nth=0")
    assert set(classes(tab)) == {tab.inner_text(".only >> nth=0")}
    assert tab.evaluate("document.activeElement.id") == "list"


def test_wrong_classes_come_first_are_marked_and_are_counted_by_class(tabs, folder, tmp_path):
    path = tmp_path / "report.html"
    shown = collect(folder)
    items = [replace(item, label=item.predicted) for item in shown.items[:50]]
    for place in (7, 3):
        items[place] = replace(items[place], label=(items[place].predicted + 1) % 3)
    tab = tabs.open(written(path, replace(shown, items=tuple(items))))
    judged = sum(item.correct is not None for item in items)
    assert f"2 of {judged} images get a wrong class, as labelled" in tab.inner_text("#overview")
    assert ["✗ wrong" in text for text in column(tab, "Class")] == [True] * 2 + [False] * 48
    assert [names.split("\n")[0] for names in column(tab, "Image")[:2]] == [
        "/".join(items[place].file.parts[-2:]) if items[place].file else items[place].name for place in (3, 7)
    ]
    assert tab.locator("#table tbody tr.mistaken").count() == 2
    tab.click("summary:has-text('Which classes are taken for which')")
    numbers = [int(text) for text in tab.locator("#confusion button").all_inner_texts()]
    assert sum(numbers) == judged and tab.locator("#confusion .wrong button").count() in (1, 2)
    tab.click("#confusion .wrong button >> nth=0")
    assert all("✗ wrong" in text for text in column(tab, "Class")) and lines(tab)
    assert tab.evaluate("document.activeElement.id") == "list"
    assert tab.input_value("#f-label") != tab.input_value("#f-class") != ""
    tab.click("summary:has-text('By class')")
    heads = tab.locator("[aria-label='By class'] th[scope=col]").all_inner_texts()
    assert heads[1] == "Images that get it" and "Images whose true class it is" in heads


def test_a_certificate_is_opened_turned_and_left_by_keyboard(tabs, report):
    tab = tabs.open(report)
    tab.fill("#f-text", "00000")
    tab.locator("#table a").nth(1).focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#title")
    assert tab.url.endswith("#certificate-1") and tab.evaluate("document.activeElement.id") == "title"
    assert not tab.is_visible("#overview")
    tab.click("nav a:has-text('Next')")
    tab.wait_for_selector("#detail[data-row='2']")
    tab.go_back()
    tab.wait_for_selector("#detail[data-row='1']")
    tab.click(".steps a:has-text('Back to the list')")
    tab.wait_for_selector("#overview")
    assert tab.is_visible("#overview") and not tab.is_visible("#detail")
    assert tab.evaluate("document.activeElement.getAttribute('href')") == "#certificate-1"
    assert len(lines(tab)) == 10, "the filter is as it was left"


def test_a_certificate_shows_its_statements_in_its_own_numbers_and_patches_lead_to_them(tabs, report, folder):
    tab = named(tabs.open(report), 3)
    data = (folder / "000003.ale.json").read_bytes()
    certificate = read_certificate(data)
    assert not tab.is_visible(".group >> nth=0"), "the statements are folded"
    tab.click("#all-statements summary")
    shown = set(tab.locator(".group td:last-child").all_inner_texts())
    assert shown == {between(s.lower, s.upper, "from {} to {}") for s in certificate.statements}
    patches = {statement.patch for statement in certificate.statements}
    assert tab.locator(".picture .patch").count() == tab.locator(".group").count() == len(patches)
    assert tab.locator(".group tbody tr").count() == len(certificate.statements)
    margins = sorted(margin for margin in certificate.margins if margin is not None)
    assert tab.locator("section[aria-labelledby=margins] td:nth-child(3)").all_inner_texts() == [
        below(margin) for margin in margins
    ]
    assert tab.locator("section[aria-labelledby=margins] rect.open").count() == len(margins)
    tab.click("#all-digests summary")
    said = tab.inner_text("#detail")
    assert (
        "Proved by the checker: Every latent tensor" in said and "Not proved: anything about the first layers" in said
    )
    assert "not checked: whether a statement could be left out (minimality)" in said
    assert certificate.head in said and certificate.latents in said
    with tab.expect_download() as download:
        tab.click("#save")
    assert Path(download.value.path()).read_bytes() == data
    tab.click("#all-statements summary")
    assert not tab.is_visible(".group >> nth=0"), "folded again, until a patch leads to its statements"
    patch = tab.get_attribute(".picture .patch >> nth=1", "data-patch")
    tab.locator(".picture .patch").nth(1).click()
    assert tab.evaluate("document.activeElement.id") == f"patch-{patch}"
    assert "on" in tab.get_attribute(f".picture [data-patch='{patch}']", "class").split()


def test_what_is_not_proved_says_why(tabs, report):
    """And what nothing but the order matches to an image, beside the picture."""
    tab = named(tabs.open(report), 1)
    assert f"The image is {BY_ORDER}." in tab.inner_text("#detail figcaption") and BY_ORDER in tab.inner_text("#title")
    for number, verdict, reason in ((7, "MALFORMED", "JSON"), (9, "NOT PROVED", "class")):
        said = named(tab, number).inner_text("#detail")
        assert verdict in said and "Why: " in said and reason in said and "Proved by the checker" not in said
        assert "that follows from the statements" not in said
        assert ("that the certificate claims; it is not proved here" in said) == (verdict == "NOT PROVED")


def test_a_class_that_is_not_known_is_neither_right_nor_wrong(tabs, tmp_path):
    """That of a picture whose latents the head does not describe: it has a true class, and no certificate."""
    folder = folder_of(tmp_path / "out", report_head(labels=None), classes=["ant", "bee", "cat"])
    (folder / "000001.ale.json").unlink()
    table = (folder / "explanations.csv").read_text().splitlines()
    table[2] = "1,,,0.1,,latents may lie beyond the head's domain"
    (folder / "explanations.csv").write_text("\n".join(table) + "\n")
    tab = tabs.open(written(tmp_path / "report.html", audited(collect(folder))), 1)
    said = tab.inner_text("#detail")
    assert "answer is not known; the true class is bee" in said
    assert "right" not in said and "wrong" not in said and "latents may lie beyond the head's domain" in said


def test_whatever_files_hold_nothing_of_it_is_run_or_turns_numbers_around(tabs, tmp_path):
    names = [f"{n}{text}".replace("/", "") + ".png" for n, text in enumerate(HOSTILE)]
    folder = folder_of(tmp_path / "out", report_head(labels=HOSTILE), "projection", names=names)
    record = json.loads((folder / "000000.ale.json").read_text())
    record["extensions"] = {HOSTILE[0]: HOSTILE[1]}
    record["predicate"]["generator"] = {"name": HOSTILE[0], "version": HOSTILE[2]}
    (folder / "000000.ale.json").write_text(json.dumps(record))
    tab = tabs.open(written(tmp_path / "report.html", audited(collect(folder)), HOSTILE[1]))
    tab.click("summary:has-text('By class')")
    assert set(classes(tab)) <= set(map(printable, HOSTILE)) and printable(names[0]) in lines(tab)[0]
    assert tab.evaluate(TURNED) == []
    at(tab, 0).click("summary:has-text('Extensions')")
    said = tab.inner_text("#detail")
    assert printable(HOSTILE[0]) in said and printable(HOSTILE[2]) in said and "PROVED" in said
    assert tab.evaluate(TURNED) == []
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")  # what would run
    assert tab.title() == printable(HOSTILE[1])


def test_names_in_every_script_are_shown_as_python_shows_them(tabs, report):
    joined = ("می\u200cشود", "👨\u200d👩\u200d👧", "山\u3000田", "a\xa0b")
    escaped = ("\u200cx", "1\u200d2", "x\u200d\u200dx", "x\u200e1", "\u202e1", "a\u2028b", "\x7f", "\U000e0001")
    names = [*joined, *escaped]
    assert tabs.open(report).evaluate("(names) => names.map(printable)", names) == [*map(printable_on_pages, names)]


def test_it_prints_all_statements_without_what_only_screens_need(tabs, report):
    tab = named(tabs.open(report, dark=True), 3)
    assert tab.get_attribute("#all-statements", "open") is None
    assert tab.pdf().startswith(b"%PDF")
    assert tab.get_attribute("#all-statements", "open") is not None, "all statements are printed"
    tab.click(".steps a:has-text('Back to the list')")
    tab.wait_for_selector("#filters")
    tab.emulate_media(media="print")
    assert not tab.is_visible("#filters") and not tab.is_visible("#pages")
    assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_the_first_screen_says_what_separates_the_class_and_what_each_patch_decides(tabs, report, folder):
    tab = named(tabs.open(report), 3)
    certificate = read_certificate((folder / "000003.ale.json").read_bytes())
    first = first_screen(tab)
    patches = {one.patch for one in certificate.statements}
    where = "all 6 patches" if len(patches) == 6 else f"{len(patches)} of the 6 patches"
    assert f"{len(certificate.statements)} comparisons with prototypes in {where} come out as stated" in first
    leads = {c: margin for c, margin in enumerate(certificate.margins) if margin is not None}
    margins = read_margins(tab, ["ant", "bee", "cat"])
    assert margins == {c: below(margin) for c, margin in leads.items()}
    assert tab.locator(".prototypes > li:has(.says)").count() == 6 < len(certificate.statements) - 1
    assert tab.locator(".picture .adds").count() > 0
    assert "Most of the lead comes from patch " in tab.get_attribute(".picture", "aria-label")
    if len(patches) == 6:
        assert "Every patch has statements" in tab.inner_text("#detail figcaption >> nth=0")
    tab.click("text=all of them")
    assert tab.is_visible(".group >> nth=0")
    decides = "details:has-text('How much each patch decides') >> text=not part of the proof"
    assert not tab.is_visible(decides)
    tab.focus("summary:has-text('How much each patch decides')")
    tab.keyboard.press("Enter")
    assert tab.is_visible(decides)
    collection = collect(folder)
    heat = estimates_of(certificate, collection.head, collection.latents[3:4]).heat
    told = tab.locator("details:has-text('How much each patch decides') tbody tr").all_inner_texts()
    assert told == [
        f"row {patch // 3}, column {patch % 3}\t{about(heat[patch])}"
        for patch in sorted(heat, key=lambda patch: -abs(float(about(heat[patch]))))
    ]


def test_an_image_alone_is_shown_at_once(tabs, folder, tmp_path):
    """What is left out of a page is said where it is missed."""
    tab = tabs.open(written(tmp_path / "report.html", audited(collect(folder / "000000.ale.json"))))
    assert not tab.is_visible("#overview") and "The class is " in first_screen(tab)
    tab.click("text=Back to the list")
    tab.wait_for_selector("#overview")
    assert len(lines(tab)) == 1
    tab = tabs.open(written(tmp_path / "report.html", collect(folder), size=1))
    assert f"for the first 0 of {MANY - 1} certificates" in tab.inner_text("#overview")
    assert "Its statements are left out of this page" in at(tab, 0).inner_text("#detail")


def test_pictures_of_prototypes_are_shown_whole(tabs, tmp_path):
    folder = with_pictures(folder_of(tmp_path / "out", paradigm="top_k"), 1)
    tab = tabs.open(written(tmp_path / "report.html", audited(collect(folder))))
    assert tab.locator(".why .close image").count() > 0
    certificate = read_certificate((folder / "000000.ale.json").read_bytes())
    stated = {s.prototype for s in certificate.statements if isinstance(s, checked.ActivationStatement)}
    shown = at(tab, 0).locator(".prototypes .close[aria-label^=prototype]").all()
    views = {picture.get_attribute("aria-label"): picture.get_attribute("viewBox") for picture in shown}
    assert {f"prototype {number}" for number in stated} <= {*views}
    assert {view for name, view in views.items() if name != "prototype 0"} == {"0 0 100 100"}


def test_more_rivals_on_demand(tabs, tmp_path):
    head = small_head("euclidean", prototypes=30, classes=15)
    tab = tabs.open(reported(tmp_path, head, "projection"), 0)
    rivals = tab.locator("section[aria-labelledby=margins] tbody tr")
    second = tab.evaluate("detailOf(0).then((detail) => detail.second)")
    assert rivals.count() in (12, 13)
    assert tab.locator(f"section[aria-labelledby=margins] th:has-text('{second}')").count()
    tab.click("#all-rivals")
    assert rivals.count() == 14 and tab.locator("#all-rivals").count() == 0
    assert tab.evaluate("document.activeElement.tagName") == "TH", "the focus is on the first that came"


@pytest.mark.parametrize("one_in", [8, pytest.param(1, marks=pytest.mark.long)])
def test_every_certificate_of_the_corpora_can_be_shown(tabs, tmp_path, one_in):
    """Also those that the checker rejects, or cannot read."""
    for kind in ("accept", "reject", "malformed", "witness"):
        for file in sorted((ROOT / "certificates" / kind).glob("*.ale.json"))[::one_in]:
            shutil.copy(file, tmp_path / f"{kind}-{file.name}")
    tab = tabs.open(written(tmp_path / "report.html", collect(tmp_path), "The corpora"))
    shown = tab.evaluate("async () => { for (let row = 0; row < count; row++) await drawDetail(row); return count; }")
    assert shown == len(list(tmp_path.glob("*.ale.json"))) > 400 // one_in


def test_without_scripts_it_still_says_what_is_proved(chromium, report):
    tab = chromium.new_page(java_script_enabled=False)
    tab.goto(f"file://{report}")
    assert f"proved {MANY - 2} of {MANY}" in tab.inner_text("#overview") and "need JavaScript" in tab.inner_text(
        "#overview"
    )
    tab.close()


def test_the_caption_of_a_prototype_says_which_patch_it_is(tabs, tmp_path):
    """As it was proved when the page was written; a name from outside is only text."""
    made = audited(collect(folder_of(tmp_path / "out", paradigm="top_k")))
    said = {number: f"proved: prototype {number} is the patch <b>{number}</b>" for number in range(made.head.size)}
    path = tmp_path / "report.html"
    told = {number: ToldOrigin(sentence) for number, sentence in said.items()}
    tab = tabs.open(written(path, replace(made, origins=told)), 0)
    captions = tab.locator(".prototype .origin").all_text_contents()
    assert captions and set(captions) <= set(said.values())
    tab = tabs.open(written(path, made), 0)
    assert tab.locator(".origin").count() == 0
