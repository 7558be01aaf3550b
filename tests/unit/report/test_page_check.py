"""`verale report --same-as`: a page that somebody changed is told from the one that verale writes of the same files."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import in_process
from support.reporting import folder_of, report_head

from verale.checker.proved.program import SCRIPT
from verale.errors import InputError
from verale.report.page_check import require_same

LIE = b"var verale = {ask: (line) => line.startsWith('head') ? 'ready' : 'proved'};"
"""A checker that proves everything."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return folder_of(
        tmp_path_factory.mktemp("compare") / "out", report_head(labels=None), classes=["ant", "bee", "cat"]
    )


@pytest.fixture(scope="module", params=["", "--provable"])
def page(request, folder: Path) -> Path:
    """A page, and one that can prove again."""
    path = folder.parent / f"page{request.param}.html"
    done = in_process("report", folder, "-o", path, *filter(None, [request.param]))
    assert done.returncode == 0, done.stderr
    return path


def packed(data: bytes) -> str:
    return b64encode(zlib.compress(data)).decode()


def repacked(element: str, change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    """What changes an object that a page contains deflated."""

    def rewritten(match: re.Match[str]) -> str:
        held = json.loads(zlib.decompress(b64decode(match[2])))
        change(held)
        return match[1] + packed(json.dumps(held, separators=(",", ":")).encode())

    return lambda text: re.sub(rf'(id="{element}">)([^<]+)', rewritten, text)


def detailed(change: Callable[[dict[str, list[Any]]], object]) -> Callable[[str], str]:
    """What changes the details of the second certificate, which a page without a checker has beside others."""

    def changed(text: str) -> str:
        alone = 'id="d1"' in text

        def one(block: dict[str, list[Any]]) -> None:
            place = 0 if alone else 1
            detail = {name: values[place] for name, values in block.items()}
            change(detail)
            for name, value in detail.items():
                block.setdefault(name, [None] * (place + 1))[place] = value

        return repacked("d1" if alone else "d0", one)(text)

    return changed


def replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


def listed(change: Callable[[dict[str, list[Any]]], object]) -> Callable[[str], str]:
    """What changes the list."""
    return repacked("rows", change)


FORGED: dict[str, tuple[Callable[[str], str], str]] = {
    "the claim": (detailed(lambda detail: detail.update(claim="The moon is full.")), "claim of certificate 1"),
    "what has to hold": (detailed(lambda detail: detail["conditions"].append("x")), "conditions of certificate 1"),
    "an estimate": (detailed(lambda detail: detail["ahead"].insert(0, "9")), "ahead of certificate 1"),
    "a field more": (detailed(lambda detail: detail.update(more=1)), "what is said of the certificates from"),
    "the name of a class": (replaced('"classes": ["ant"', '"classes": ["moon"'), "classes differs"),
    "a verdict": (listed(lambda rows: rows["status"].insert(0, "REFUTED")), "status of the list differs"),
    "the caption of an image": (listed(lambda rows: rows["image"].insert(1, "a/9.png")), "image of the list differs"),
    "a picture": (lambda text: re.sub(r'(id="i2">data:image/\w+;base64,)\w', r"\1_", text), "the picture 2 differs"),
    "what is counted": (replaced("<b>proved 4 of 4</b>", "<b>proved 5 of 5</b>"), "its text"),
    "the heading": (replaced("<h1>", "<h1>Proved: "), "its text"),
    "a picture of a prototype": (replaced('"training": ["', '"training": ["data:,'), "training differs"),
    "a sentence more": (replaced("</main>", "<p>Proved again, in 0.1 s: the moon is full.</p></main>"), "its text"),
    "the script of the page": (replaced("function inSeconds", "function inHours"), "its text"),
    "a second script": (replaced("</body>", "<script>alert(1)</script></body>"), "its text"),
    "a comment in the data": (listed(lambda rows: rows["audit"].insert(0, "x")), "audit of the list differs"),
    "a certificate twice": (
        replaced("</body>", '<script type="text/plain" id="d0">eA</script></body>'), "of the certificates from 0 on"
    ),
    "what is no base64": (lambda text: re.sub(r'id="d0">[^<]+', 'id="d0">####', text), "of the certificates from 0 on"),
    "a list that is no base64": (lambda text: re.sub(r'id="rows">[^<]+', 'id="rows">#', text), "of the list differs"),
}  # fmt: skip


def compared(folder: Path, page: Path, *options: object) -> tuple[int, str]:
    done = in_process("report", folder, "--same-as", page, *options)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_a_page_is_what_verale_writes_but_for_its_times(page: Path, folder: Path, tmp_path: Path) -> None:
    text = re.sub(r"Written [-0-9]+ [0-9:]+ UTC", "Written 2001-02-03 04:05 UTC", page.read_text())
    text = listed(lambda rows: rows.update(audit=[1.5e-07, None]))(text)
    (tmp_path / "p.html").write_text(re.sub(r"(to audit</dt><dd>)[^<]+", r"\g<1>12", text))
    before = page.read_bytes()
    for path in (page, tmp_path / "p.html"):
        code, said = compared(folder, path)
        assert code == 0 and "is what verale writes of these files: 4 certificates, 4 PROVED" in said
    assert page.read_bytes() == before, "nothing is written"


@pytest.mark.parametrize("page", ["", pytest.param("--provable", marks=pytest.mark.long)], indirect=True)
@pytest.mark.parametrize("what", FORGED)
def test_a_forged_page_is_refused(what: str, page: Path, tmp_path: Path) -> None:
    """What verale writes now is the page before the change."""
    (change, said), forged = FORGED[what], tmp_path / "forged.html"
    forged.write_text(change(page.read_text()))
    assert forged.read_bytes() != page.read_bytes()
    with pytest.raises(InputError, match=rf"is not the page that verale.*{re.escape(said)}"):
        require_same(forged, page.read_bytes())


def test_a_forged_checker_is_refused_whatever_digest_the_page_gives(folder: Path, tmp_path: Path) -> None:
    in_process("report", folder, "--provable", "-o", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    own, lie = (hashlib.sha256(data) for data in (SCRIPT.read_bytes(), LIE))
    text = re.sub(r'(id="checker">)[^<]+', rf"\g<1>{packed(LIE)}", text).replace(own.hexdigest(), lie.hexdigest())
    (tmp_path / "forged.html").write_text(text.replace(*(b64encode(one.digest()).decode() for one in (own, lie))))
    code, said = compared(folder, tmp_path / "forged.html")
    assert code == 9 and "is not the page that verale" in said and "the checker's script differs" in said


def test_a_page_of_another_head_is_refused(folder: Path, page: Path, tmp_path: Path) -> None:
    other = folder_of(tmp_path / "other", report_head("cosine", labels=None), classes=["ant", "bee", "cat"])
    assert compared(other, page, "--title", "Explanations in out")[0] == 9


def test_what_cannot_be_compared_is_said(folder: Path, page: Path, tmp_path: Path) -> None:
    (tmp_path / "b.html").write_bytes(b"\xff")
    for options, said in (
        ([page, "-o", "x.html"], "writes nothing"),
        ([page, "--overwrite"], "writes nothing"),
        ([page, "--format", "csv"], "writes nothing"),
        ([tmp_path / "none.html"], "there is no such file"),
        ([tmp_path / "b.html"], "is not UTF-8"),
    ):
        code, err = compared(folder, *options)
        assert code == 9 and said in err
