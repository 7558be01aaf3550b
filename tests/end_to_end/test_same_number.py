"""The lead that is proved is the same number wherever it is told, whatever proved it."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from matplotlib.text import Text
from support.commands import in_process
from support.pages import Page
from support.reporting import folder_of, report_head, report_latents

import verale
from verale.certificate import Certificate
from verale.certificate.words import below
from verale.checker import Auditor
from verale.checker.options import AuditOptions
from verale.report.collect import collect
from verale.report.page import page
from verale.report.table import frame
from verale.report.verdicts import audited

KERNELS = ("arb", "proved")


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("same") / "out", paradigm="projection")


def least_of(file: Path) -> Fraction:
    return min(Fraction(margin) for margin in Certificate.load(file).margins if margin is not None)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_lead_is_the_same_everywhere(folder: Path, kernel: str) -> None:
    collection = audited(collect(folder), AuditOptions(kernel))
    table = frame(collection)
    listed = Page(page(collection, "A")).rows["margin"]
    head, more = (folder / "head.safetensors").read_bytes(), False
    for index, file in enumerate(sorted(folder.glob("*.ale.json"))):
        lead = below(least_of(file))
        assert listed[index] == lead
        assert table["margin"][index] == float(lead)
        assert f"at least {lead} below it" in collection.items[index].claim("x")
        proved = Auditor(head, None, kernel).numbers(file.read_bytes()).margins
        more |= below(min(margin for margin in proved if margin is not None)) != lead
        record = Auditor(head, None, kernel).check(file.read_bytes()).record()
        assert record["margin"] == lead
        assert record["margins"] == [margin and margin.hex() for margin in Certificate.load(file).margins]
    assert more, "of some lead more is proved than stated, else this test could not fail"
    for file in (folder / "000000.ale.json", folder / "000001.ale.json"):
        lead = below(least_of(file))
        assert f"margin >= {lead}  " in in_process("audit", file, "--kernel", kernel).stdout
        shown = in_process("show", file, "--kernel", kernel).stdout
        assert f": {lead}\n" in shown and set(re.findall(r"margin >= (\S+)", shown)) == {lead}
        figure = verale.plot(Certificate.load(file), None, report_head(), report_latents(report_head()))
        assert f": at least {lead}" in " ".join(text.get_text() for text in figure.findobj(Text))
