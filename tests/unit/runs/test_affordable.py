"""What a run writes is answered by an audit with the limit that the run asked about; it loses no more than that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.commands import in_process
from support.small import small_head, small_latents

from verale.certificate import Certificate
from verale.checker import Auditor
from verale.head import Head, as_patches, save_latents
from verale.runs import affordable
from verale.runs.affordable import DefaultAudits
from verale.runs.arguments import HeadFile, latents_bytes
from verale.runs.table import read_table
from verale.search import SearchOptions, Unexplained
from verale.search.explain import explain_batches

LIMITS = [3 * 4**k for k in (5, 7, 8, 9, 11)]
EVERY = [
    ("euclidean", "projection", 0.0),
    ("euclidean", "projection", 0.01),
    ("cosine", "projection", 0.0),
    ("cosine", "top_k", 0.0),
    ("euclidean", "mixed", 0.0),
    ("softmax", "simplex", 0.0),
    ("softmax", "assignment", 0.0),
    ("softmax", "sparse", 0.0),
]


def explained(head: Head, paradigm: str, tolerance: float, patches: int = 4):
    images = as_patches(small_latents(head, images=2, patches=patches), head.depth)
    options = SearchOptions(paradigm, tolerance=tolerance)
    found = [one for batch in explain_batches(head, images, options) for one in batch]
    assert any(isinstance(one, Certificate) for one in found)
    return images, found


def reason(head: Head, images, certificate: Certificate, limit: int, minimality: bool) -> str:
    data = head.to_bytes()
    return (
        Auditor(data, latents_bytes(images, HeadFile.of(head)), "arb", limit)
        .check(certificate.to_bytes(), minimality)
        .reason
    )


def require_answered(head: Head, images, found, limit: int) -> set[str]:
    """What became of the certificates. An audit answers them; what is not claimed, a fourth of the limit refuses."""
    became = set()
    for before, after in zip(found, DefaultAudits(head, limit, proved=False).emitted(images, found), strict=True):
        if isinstance(before, Unexplained):
            assert after.explanation is before
            continue
        assert isinstance(after.explanation, Certificate)
        assert replace(after.explanation, minimal=before.minimal) == before
        assert reason(head, images, after.explanation, after.limit or limit, minimality=True) != "limit"
        assert after.unclaimed == (before.minimal and not after.explanation.minimal)
        if after.limit is not None:
            assert after.limit % limit == 0 and not after.explanation.minimal
            assert reason(head, images, before, limit // 4, minimality=False) == "limit"
        elif after.unclaimed:
            assert reason(head, images, before, limit // 4, minimality=True) == "limit"
        became.add("limited" if after.limit else "unclaimed" if after.unclaimed else "as it was")
    return became


@pytest.mark.parametrize(("geometry", "paradigm", "tolerance"), EVERY)
def test_an_audit_answers_what_is_written(geometry: str, paradigm: str, tolerance: float) -> None:
    head = small_head(geometry)
    images, found = explained(head, paradigm, tolerance)
    became = [require_answered(head, images, found, limit) for limit in LIMITS]
    assert became[0] == {"limited"} and became[-1] == {"as it was"}
    if paradigm == "projection" and not tolerance:
        assert any("unclaimed" in each for each in became)


def test_one_patch_bounded_as_one_target() -> None:
    head = small_head("cosine")
    images, found = explained(head, "joint", 0.0, patches=1)
    became = [require_answered(head, images, found, limit) for limit in LIMITS]
    assert became[0] == {"limited"} and became[-1] == {"as it was"}


def test_where_bounds_do_not_decide_the_proof_is_run() -> None:
    """The limit that minimality takes, to the step: with one less it is not claimed."""
    head = small_head("euclidean")
    images, found = explained(head, "projection", 0.0)
    low, high = 0, LIMITS[-1]
    while high - low > 1:
        middle = (low + high) // 2
        passes = reason(head, images, found[0], middle, minimality=True) != "limit"
        low, high = (low, middle) if passes else (middle, high)
    assert require_answered(head, images[:1], found[:1], low) == {"unclaimed"}
    assert require_answered(head, images[:1], found[:1], high + high // 20) == {"as it was"}
    # Certificates of a head from a file that other software wrote name a digest that the bytes of `Head.save` have not.
    data = head.to_bytes()
    length = int.from_bytes(data[:8], "little")
    other = Head.from_bytes((length + 8).to_bytes(8, "little") + data[8 : 8 + length] + b" " * 8 + data[8 + length :])
    renamed = [replace(found[0], head=other.digest)]
    assert other.digest != head.digest
    assert [one.unclaimed for one in DefaultAudits(other, low, proved=False).emitted(images[:1], renamed)] == [True]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    head = small_head("euclidean")
    head.save(folder / "h")
    save_latents(folder / "z", small_latents(head, images=3, patches=4))
    return folder


@pytest.mark.parametrize(
    ("geometry", "paradigm"),
    [("cosine", "projection"), ("cosine", "joint"), ("cosine", "top_k"), ("euclidean", "mixed"), ("softmax", "sparse")],
)
def test_what_the_proved_checker_proves_in_time_is_written_as_it_is(geometry: str, paradigm: str) -> None:
    """With a limit at which the rules refuse it, or most; an audit as it is by default proves all of it."""
    head = small_head(geometry)
    images, found = explained(head, paradigm, 0.0, patches=1 if paradigm == "joint" else 4)
    data, limit = head.to_bytes(), 3 * 2**22
    latents = latents_bytes(images, HeadFile.of(head))
    for before, after in zip(found, DefaultAudits(head, limit).emitted(images, found), strict=True):
        assert after.explanation == before and not after.unclaimed and after.limit is None
        verdict = Auditor(data, latents, "proved", limit // 4).check(before.to_bytes(), minimality=True)
        assert verdict.reason != "limit"
    few = DefaultAudits(head, 3 * 2**12).emitted(images, found)
    assert all(after.limit for after in few), "it takes some time to begin"


def test_a_class_that_is_proved_in_time_is_written_where_minimality_is_not(monkeypatch) -> None:
    """The rules would refuse both."""
    head = small_head("cosine")
    images, found = explained(head, "projection", 0.0)
    monkeypatch.setattr(affordable, "_POINTS", 2**60)
    monkeypatch.setattr(affordable, "_BEGUN", 0)
    for after in DefaultAudits(head, 3 * 2**14).emitted(images, found):
        assert (after.explanation.minimal, after.unclaimed, after.limit) == (False, True, None)


def explain(given: Path, out: Path):
    files = ("--head", given / "h", "--latents", given / "z", "--out", out)
    return in_process("explain", *files, "--paradigm", "projection", "--device", "cpu", "--jobs", 1)


def test_a_run_claims_no_minimality_that_its_audit_would_refuse(given, tmp_path, monkeypatch) -> None:
    limit = 3 * 2**18
    monkeypatch.setattr(affordable, "LIMIT", limit)
    done = explain(given, tmp_path)
    assert done.returncode == 0
    assert (
        "3 do not claim minimality: by default an audit has too few steps" in done.stderr
        and "--limit" not in done.stderr
    )
    rows = read_table(tmp_path / "explanations.csv")
    assert [(row.unclaimed, row.audit_limit) for row in rows] == [("minimality", None)] * 3
    audited = in_process("audit", tmp_path, "--minimality", "--limit", limit)
    assert audited.returncode == 0 and audited.stdout.count("entailment+instance proved") == 3
    summed = in_process("summary", tmp_path)
    assert "3 certificates do not claim minimality" in summed.stderr


def test_a_run_says_which_limit_an_audit_needs(given, tmp_path, monkeypatch) -> None:
    limit = 3 * 2**12
    monkeypatch.setattr(affordable, "LIMIT", limit)
    done = explain(given, tmp_path)
    limits = [row.audit_limit for row in read_table(tmp_path / "explanations.csv")]
    assert done.returncode == 0
    assert (
        f"3 take more steps than an audit has by default: verale audit {tmp_path} --limit {max(limits)}" in done.stderr
    )
    assert in_process("audit", tmp_path, "--limit", limit).returncode == 12
    assert in_process("audit", tmp_path, "--minimality", "--limit", max(limits)).returncode == 0
    summed = in_process("summary", tmp_path)
    assert f"3 certificates need verale audit --limit {max(limits)}" in summed.stderr


def test_a_run_with_the_default_limit_says_nothing(given, tmp_path) -> None:
    done = explain(given, tmp_path)
    assert done.returncode == 0 and "limit" not in done.stderr and "minimality" not in done.stderr
    rows = read_table(tmp_path / "explanations.csv")
    assert all(row.unclaimed is None and row.audit_limit is None for row in rows)
    assert in_process("summary", tmp_path).stderr == ""
