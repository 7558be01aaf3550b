"""Small inputs cost little: each hostile file is answered or refused within the bound that docs/cli.md states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from support.attacks import ATTACKS
from support.measured import Measurer, measurer

SECONDS, MEGABYTES = 45, 500  # one proof may take 30; a command that tries three paradigms takes its time
"""The bound of docs/cli.md, "Limits". It is processor time, of which a loaded machine takes hardly more."""

SEARCHED = (
    "refute 58000 patches near a prototype",
    "refute 10000 patches with activations",
    "refute a patch with 2000 statements",
)
"""Attacks that are answered when the time of a search is over, or nearly."""

COVERED = {
    "audit forty pictures of 2364 rows": "audit a picture of 2364 rows",
    "explain a picture of eight million rows": "audit a picture of 2364 rows",
    "explain a network of long numbers": "audit a network of long numbers",
    "explain with 10000 classes": "explain with 100000 classes",
    "explain with 80000 prototypes": "explain with 100000 classes",
    "network show 4000 layers": "head show a megabyte of labels",
    "picture of a certificate of many patches": "report on a certificate of many patches",
    "refute a softmax of many channels": "refute many classes",
    "refute with too many multiplications": "refute many deep patches",
    "report on 10000 prototypes of one image each": "report on 500 names of four images",
    "summary of a megabyte of rows": "summary of tiny numbers",
    "unpack 6000 row groups": "unpack 4000 columns",
    "unpack a certificate of 140 megabytes": "unpack one certificate of a megabyte 5000 times",
}
"""Attacks that are left out of a short run, each with one that takes the same way to the same limit."""


def marked(names: Iterable[str]) -> list[object]:
    """These attacks as parameters."""
    return [pytest.param(name, marks=[pytest.mark.long] * (name in COVERED)) for name in names]


@pytest.fixture(scope="module")
def runner() -> Iterator[Measurer]:
    with measurer() as started:
        yield started


@pytest.mark.parametrize("name", marked(name for name in ATTACKS if name not in SEARCHED))
def test_is_answered_or_refused_within_the_bound(name: str, runner: Measurer, tmp_path: Path) -> None:
    is_within_the_bound(name, runner, tmp_path)


@pytest.mark.parametrize("name", SEARCHED)
def test_a_search_ends_soon_after_its_time(name: str, runner: Measurer, tmp_path: Path) -> None:
    is_within_the_bound(name, runner, tmp_path, seconds=0.2, grace=0.2)


@pytest.mark.long  # six seconds each; the same with less time to finish what began is above
@pytest.mark.parametrize("name", SEARCHED)
def test_a_search_is_within_the_bound(name: str, runner: Measurer, tmp_path: Path) -> None:
    is_within_the_bound(name, runner, tmp_path)


def is_within_the_bound(
    name: str, runner: Measurer, tmp_path: Path, seconds: float | None = None, **options: float
) -> None:
    """`seconds`: how long to search, instead of the one second that the attack asks for."""
    codes, attack = ATTACKS[name]
    arguments = attack(tmp_path)
    if seconds is not None:
        assert arguments.count("--seconds") == 1
        place = arguments.index("--seconds") + 1
        arguments = (*arguments[:place], seconds, *arguments[place + 1 :])
    cost = runner.run(tmp_path, *arguments, timeout=300, **options)
    assert cost.code in codes, cost
    assert cost.seconds < SECONDS and cost.megabytes < MEGABYTES, cost
    assert "Traceback" not in cost.err
    if cost.code == 9 and "folder with" not in name:
        lines = 2 if name == "audit of a device" else 1  # the other certificates are audited, and the folder is told of
        assert cost.err.startswith("error: ") and cost.err.count("\n") == lines and len(cost.err) < 1000
    if any(what in name for what in ("pipe", "device")) and cost.code == 9:
        sent = "it is a link that leads out of its folder" if name == "audit of a device" else None
        assert (sent or "it is a pipe, socket or device; write its content to a regular file") in cost.err


def test_a_page_names_the_image_that_it_cannot_show(runner: Measurer, tmp_path: Path) -> None:
    runner.run(tmp_path, *ATTACKS["report with an image that is a pipe"][1](tmp_path))
    assert "0.png: cannot be read (it is a pipe, socket or device" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_measurement_counts_time_memory_and_waiting(runner: Measurer, tmp_path: Path) -> None:
    (tmp_path / "h").write_bytes(bytes(100 * 10**6))
    cost = runner.run(tmp_path, "checker", "h", "--head", "h")
    assert cost.code == 9 and 90 < cost.megabytes < 300 and cost.seconds > 0
