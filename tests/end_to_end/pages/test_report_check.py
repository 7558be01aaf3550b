"""`verale report --provable` in a real browser: the page proves its certificates again, and no others."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page
from support.reporting import folder_of, report_head, written
from support.seen import explained_pictures
from support.tabs import Tabs, at
from support.torch_networks import frozen_network

from verale.checker.certificate import Certificate, read_certificate
from verale.checker.errors import CheckerError
from verale.checker.proved.program import SCRIPT
from verale.checker.proved.text import certificate_text
from verale.checker.read.pictures import Picture
from verale.errors import InputError
from verale.report import page_check
from verale.report.collect import collect
from verale.report.page import page
from verale.report.page_check import Checking

ROOT = Path(__file__).parents[3]
PROVED = "Proved again, in "
FAR_AWAY = "40f0000000000000"  # 65536 in binary64


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return folder_of(tmp_path_factory.mktemp("check") / "out", report_head(labels=None), classes=["ant", "bee", "cat"])


@pytest.fixture(scope="module")
def report(folder) -> Path:
    return written(folder / "report.html", collect(folder), provable=True)


def answers(tab: Page) -> list[str]:
    """What the page says after a click on its button."""
    tab.click("#prove")
    tab.wait_for_selector("#answer b")
    return tab.locator("#answer p").all_inner_texts()


def packed(data: bytes) -> str:
    return b64encode(zlib.compress(data)).decode()


def replaced(report: Path, folder: Path, element: str, change: Callable[[bytes], bytes]) -> Path:
    """The page after somebody has changed what an element of it holds."""
    path = folder / "changed.html"

    def rewritten(match: re.Match[str]) -> str:
        return match[1] + packed(change(zlib.decompress(b64decode(match[2]))))

    text, count = re.subn(rf'(id="{element}">)([^<]+)', rewritten, report.read_text())
    assert count == 1
    path.write_text(text)
    return path


def changed(report: Path, folder: Path, change: Callable[[dict[str, Any]], None], row: int = 0) -> Path:
    """The same of what it contains about a certificate."""

    def one(data: bytes) -> bytes:
        block = json.loads(data)
        assert {len(values) for values in block.values()} == {1}, "each is alone in a page that proves again"
        detail = {name: value for name, (value,) in block.items()}
        change(detail)
        return json.dumps({name: [value] for name, value in detail.items()}).encode()

    return replaced(report, folder, f"d{row}", one)


@pytest.mark.parametrize("rows", [(0,), pytest.param((1, 2, 3), marks=pytest.mark.long)])  # a second each
def test_every_certificate_is_proved_again(tabs, report, rows):
    tab = tabs.open(report)
    for row in rows:
        entailed, instance = answers(at(tab, row))
        size = tab.locator(".group tbody tr").count()
        assert entailed.startswith(PROVED) and f"satisfies the {size} statement" in entailed
        assert tab.inner_text("#detail .verdict b >> nth=0") in entailed, "the class"
        assert instance.startswith(PROVED) and "latents, as they stand in this page, satisfy every" in instance
    tab.click("section[aria-labelledby=again] summary")
    digest = hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
    tab.wait_for_selector(f"#script-digest:has-text('{digest}')")


def widen(text: str) -> str:
    """The text of a certificate whose first statement has an interval a thousand times as wide."""
    words = text.split(" ")
    at = words.index("patch")
    low, high = (int(word, 16) for word in words[at + 3 : at + 5])
    more = 1000 * max(high - low, int(words[4], 16))
    words[at + 3 : at + 5] = [f"{max(0, low - more):x}", f"{high + more:x}"]
    return " ".join(words)


def asking(name: str, change: Callable[[str], str]) -> Callable[[dict[str, Any]], None]:
    """What changes a question to the checker."""

    def changing(detail: dict[str, Any]) -> None:
        detail["questions"][name] = change(detail["questions"][name])

    return changing


def test_statements_that_are_not_those_shown_are_not_asked_about(tabs, report, tmp_path):
    tab = tabs.open(changed(report, tmp_path, asking("entails", widen)), 0)
    said = tab.inner_text("section[aria-labelledby=again]")
    assert "cannot be proved again here" in said and "somebody changed the page" in said
    assert tab.locator("#prove").count() == 0


def move(detail: dict[str, Any]) -> None:
    """Move all intervals of the statements, in what is shown and in what is asked."""
    document = json.loads(detail["text"])
    for statement in document["predicate"]["statements"]:
        low, high = (float.fromhex(end) for end in statement["interval"])
        statement["interval"] = [(low / 2).hex(), (2 * high + 4).hex()]
    restate(detail, document)


def restate(detail: dict[str, Any], document: dict[str, Any]) -> None:
    """Put another certificate in the place of what is shown and of what is asked."""
    detail["text"] = json.dumps(document)
    prices = detail["questions"]["entails"].index(" prices ")
    image = detail["questions"]["instance"].index(" image ")
    moved = certificate_text(read_certificate(detail["text"].encode()))[:-1].decode()
    detail["questions"]["entails"] = f"entails {moved}" + detail["questions"]["entails"][prices:]
    detail["questions"]["instance"] = f"instance {moved}" + detail["questions"]["instance"][image:]


def test_a_sum_is_asked_about_as_it_is_shown(tabs, tmp_path):
    """One about all rivals, and one about some."""
    folder = folder_of(tmp_path / "out", report_head("cosine"), "evidence", names=("0.png",))
    path = written(folder / "report.html", collect(folder), provable=True)
    assert all(said.startswith(PROVED) for said in answers(tabs.open(path, 0)))

    def change(detail: dict[str, Any]) -> None:
        document = json.loads(detail["text"])
        (total,) = (each for each in document["predicate"]["statements"] if "rivals" in each)
        total["rivals"] = [c for c in range(3) if c != document["predicate"]["predicted"]]
        restate(detail, document)

    again = answers(tabs.open(changed(path, tmp_path, change), 0))
    assert all(said.startswith(PROVED) for said in again)


NOT_PROVED, NONE = "Not proved, in ", "No verdict: error: "
CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str, str]] = {
    "another certificate, whose wider statements are still true": (move, NOT_PROVED, PROVED),
    "other latents": (
        asking("instance", lambda line: re.sub(r"[0-9a-f]{16}\n$", f"{FAR_AWAY}\n", line)), PROVED, NOT_PROVED
    ),
    **{
        f"{text}, no question": (asking("entails", lambda line, text=text: line + text), NONE, "")
        for text in ("entails certificate 0", "head 1", "nonsense")
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.long] * what.startswith(("head", "nonsense"))) for what in CHANGES]
)
def test_of_what_was_changed_nothing_is_proved(tabs, report, tmp_path, what):
    change, entailed, instance = CHANGES[what]
    said = answers(tabs.open(changed(report, tmp_path, change), 0))
    assert said[0].startswith(entailed) and said[-1].startswith(instance)
    assert entailed != NONE or PROVED not in "".join(said)


def test_each_answer_goes_to_the_certificate_that_asked(tabs, report, tmp_path):
    """The first one is proved, and while it is, the second is asked about, of which all intervals were moved."""
    tab = tabs.open(changed(report, tmp_path, move, row=1), 0)
    tab.evaluate(
        """async () => {
          const asked = document.getElementById("prove");
          asked.click();
          await drawDetail(1);
          document.getElementById("prove").click();
        }"""
    )
    tab.wait_for_selector("#answer b")
    assert tab.locator("#answer p").nth(0).inner_text().startswith("Not proved, in ")


def test_another_head_proves_nothing(tabs, report, tmp_path):
    path = replaced(report, tmp_path, "head-text", lambda data: b"head head 1 1\n")
    said = answers(tabs.open(path, 0))
    assert said[0].startswith("No verdict: ") and "error" in said[0] and len(said) == 1


LIE = b"var verale = {ask: (line) => line.startsWith('head') ? 'ready' : 'proved'};"
"""A checker that proves everything."""


def test_another_script_is_refused(tabs, report, tmp_path):
    """Also at the click, where it is replaced after the page has compared it; and any where no digest is computed."""
    again = "section[aria-labelledby=again]"
    tab = tabs.open(replaced(report, tmp_path, "checker", lambda data: LIE), 0)
    tab.wait_for_selector(f"{again}:has-text('cannot be proved again here')")
    said = tab.inner_text(again)
    assert hashlib.sha256(LIE).hexdigest() in said and "somebody replaced it" in said
    assert tab.locator("#prove").count() == 0 and PROVED not in tab.inner_text("#detail")
    tab = tabs.open(report, 0)
    tab.wait_for_selector("#prove")
    put = "async (lie) => { await scriptProblem(); document.getElementById('checker').textContent = lie; }"
    tab.evaluate(put, packed(LIE))
    tab.click("#prove")
    tab.wait_for_selector(f"{again}:has-text('somebody replaced it')")
    assert PROVED not in tab.inner_text("#detail")
    tab = tabs.open(report)
    tab.evaluate("() => { scriptDigest = async () => null; location.hash = '#certificate-0'; }")
    tab.wait_for_selector(f"{again}:has-text('computes no SHA-256 here')")
    assert tab.locator("#prove").count() == 0


def test_names_that_the_head_lacks_are_those_of_the_page(tabs, report, tmp_path):
    owned = written(tmp_path / "owned.html", collect(folder_of(tmp_path / "out", report_head())), provable=True)
    for path, own in ((report, True), (owned, False)):
        assert (", which this page, not the head, names " in answers(tabs.open(path, 0))[0]) is own
        assert ("The head names no class" in path.read_text()) is own


def test_it_is_used_by_keyboard_said_aloud_and_can_be_stopped(tabs, report):
    """What is too deep for a worker is proved in the page."""
    tab = tabs.open(report, 1)
    tab.focus("#prove")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#answer b")
    assert tab.get_attribute("#answer", "role") == "status"
    assert tab.evaluate("document.activeElement.id") == "prove", "the focus stays"
    assert tab.inner_text("#prove") == "Prove again, here"
    tab.evaluate("() => { window.real = ask; ask = () => new Promise(() => {}); }")  # it never answers
    tab.click("#prove")
    assert tab.inner_text("#prove") == "Stop" and "Proving" in tab.inner_text("#answer")
    tab.click("#prove")
    assert tab.inner_text("#prove") == "Prove again, here" and "Nothing is proved" in tab.inner_text("#answer")
    tab.evaluate(
        "() => { ask = async (line) => line.startsWith('head') ? window.real(line) : 'limit: a list is too long'; }"
    )
    for _ in range(2):  # again, with the same head
        entailed, instance = answers(tab)
        assert entailed.startswith(PROVED) and instance.startswith(PROVED)


def test_nothing_can_leave_the_page_even_from_the_worker(chromium, report):
    hits: list[str] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)

    server = HTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    tabs = Tabs(chromium)
    tab = tabs.open(report, 0)
    said = tab.evaluate(
        """(url) => new Promise((answer) => {
          const code = `fetch("${url}").then(() => postMessage("sent"), () => postMessage("refused"))`;
          const worker = new Worker(URL.createObjectURL(new Blob([code])));
          worker.onmessage = (event) => answer(event.data);
        })""",
        f"http://127.0.0.1:{server.server_port}/",
    )
    tabs.close()
    server.shutdown()
    server.server_close()
    assert said == "refused" and hits == []


def test_the_page_writes_certificates_as_python_does(tabs, report):
    """Of every certificate of the corpora that can be read."""
    cases = []
    for file in sorted((ROOT / "certificates").glob("*/*.ale.json")):
        try:
            text = certificate_text(read_certificate(file.read_bytes())).decode().rstrip("\n")
        except CheckerError:
            continue
        cases.append((json.loads(file.read_text())["predicate"], text))
    tab = tabs.open(report)
    said = tab.evaluate(
        "cases => JSON.parse(cases).map(([one, text]) => certificateText(one, 'entails ' + text + ' prices 0'))",
        json.dumps(cases),
    )
    assert len(said) > 200
    assert said == [text for _, text in cases]


@pytest.fixture(scope="module")
def pictured(tmp_path_factory) -> Path:
    """The page of certificates that begin at pictures."""
    return written(tmp_path_factory.mktemp("pictured") / "report.html", collect(explained_pictures()), provable=True)


def test_proofs_begin_at_the_bytes_of_the_picture_that_is_drawn(tabs, pictured):
    entailed, seen, _ = answers(tabs.open(pictured, 0))
    assert entailed.startswith(PROVED)
    assert seen.startswith(PROVED) and "from the bytes of the picture drawn here, " in seen
    tab = tabs.open(pictured, 1)
    answers(tab)
    drawn = tab.evaluate(
        """() => {
          const canvas = document.querySelector("#answer canvas");
          const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return [canvas.width, canvas.height, ...pixels.data];
        }"""
    )
    with Image.open(explained_pictures().parent / "p" / "class 0" / "3.png") as image:
        assert drawn == [*image.size, *image.convert("RGBA").tobytes()]


@pytest.mark.parametrize("renamed", [False, True])
def test_another_picture_is_not_proved(tabs, pictured, tmp_path, renamed):
    """Neither where the certificate names the first one, nor where somebody has written the other's digest into it."""

    def change(detail: dict[str, Any]) -> None:
        question = detail["questions"]["pictured"]
        begun, _, bytes_ = question.rstrip("\n").rpartition(" ")
        values = bytes([255 - int(bytes_[:2], 16)]) + bytes.fromhex(bytes_[2:])
        values = values if not renamed else bytes(255 - value for value in values)
        detail["questions"]["pictured"] = f"{begun} {values.hex()}\n"
        if renamed:
            document = json.loads(detail["text"])
            (subject,) = [each for each in document["subject"] if each["name"] == "picture"]
            subject["digest"]["sha256"] = Picture((3, 12, 10), values).digest
            detail["text"] = json.dumps(document)

    _, seen, *_ = answers(tabs.open(changed(pictured, tmp_path, change), 0))
    expected = "Not proved, in " if renamed else "No verdict about the picture: the checker would be asked about"
    assert seen.startswith(expected)


def test_why_a_picture_is_not_asked_about_is_said(tmp_path):
    arrived = shutil.copytree(explained_pictures(), tmp_path / "arrived")
    certificate = read_certificate((arrived / "000000.ale.json").read_bytes())

    def missing(of: Certificate = certificate) -> str:
        said = Checking.of(collect(arrived), []).questions(of)
        assert said["pictured"] is None
        return said["missing"]

    assert "in float32 is checked by verale audit alone" in missing(replace(certificate, arithmetic="float32"))
    (arrived / "pictures" / "class 0" / "0.png").unlink()
    assert "without the picture" in missing()
    frozen_network("dense").save(arrived / "network.safetensors")
    assert "without the network that the certificate names" in missing()
    (arrived / "network.safetensors").unlink()
    assert "without the network and its pictures" in missing()
    (arrived / "network.safetensors").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="holds a network and pictures that cannot be used"):
        missing()


def test_what_cannot_be_asked_is_said(tabs, folder, tmp_path, monkeypatch):
    """Without latents only the class is proved."""
    file = "000000.ale.json"
    (tmp_path / "none").mkdir()
    shutil.copy(folder / file, tmp_path / "none")
    with pytest.raises(InputError, match="has no head"):
        page(collect(tmp_path / "none"), "A report", provable=True)
    shutil.copy(folder / "head.safetensors", tmp_path / "none")
    path = written(tmp_path / "report.html", collect(tmp_path / "none"), provable=True)
    entailed, instance = answers(tabs.open(path, 0))
    assert entailed.startswith(PROVED) and "without the image's latents" in instance
    other = folder_of(tmp_path / "other", report_head("cosine"))
    shutil.copy(folder / file, other)
    tab = tabs.open(written(path, collect(other), provable=True))
    at(tab, tab.evaluate(f"rows.name.indexOf('{file}')"))
    assert "about another head" in tab.inner_text("section[aria-labelledby=again]")
    monkeypatch.setattr(page_check, "LARGEST_QUESTION", 10)
    certificate = read_certificate((folder / file).read_bytes())
    assert "too large for this page" in Checking.of(collect(folder), []).questions(certificate)["why"]
    monkeypatch.setattr(page_check, "LARGEST_HEAD", 10)
    notes: list[str] = []
    assert Checking.of(collect(folder), notes) is None and "cannot prove again" in notes[0]


def test_a_page_without_it_starts_no_worker(tabs, folder, tmp_path):
    path = written(tmp_path / "report.html", collect(folder))
    assert "worker-src" not in path.read_text() and 'id="checker"' not in path.read_text()
    assert tabs.open(path, 0).locator("#prove").count() == 0
