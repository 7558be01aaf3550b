"""The kernel `proved` in audits: what the executable says becomes a verdict, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import files
from support.proved import fake

from verale.checker import Auditor, KernelError, Status, Verdict
from verale.checker.file_auditor import FileAuditor
from verale.checker.limit import LIMIT
from verale.checker.proved import dialogue, text
from verale.runs.audit_log import read_record

IMAGE = [[0.0, 0.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
OWN = files.patch_statement(0, 0, 0.0, 2.0**-40)
OTHER = files.patch_statement(0, 1, 2.0, 2.0)
GOOD = files.certificate(HEAD, [OWN, OTHER], image=IMAGE, margins=[None, 0.5])
LATENTS = files.latents([IMAGE])
MINIMAL = files.certificate(HEAD, [OWN, OTHER], image=IMAGE, minimality=True)


class Asked:
    """A fake executable and what it was asked."""

    def __init__(self, folder: Path, body: str) -> None:
        self._log = folder / "asked"
        self.path = fake(folder, f"open({str(self._log)!r}, 'a').write(line)\n{body}")

    @property
    def questions(self) -> list[str]:
        return [line.split(" ")[0] for line in self.lines]

    @property
    def lines(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


@pytest.fixture
def asked(request, tmp_path, monkeypatch) -> Asked:
    """That of the test's mark `says`: the answers by question; those not named are `proved`."""
    body = f"return None if question == 'head' else {request.param!r}.get(question, 'proved')"
    one = Asked(tmp_path, body)
    monkeypatch.setenv("VERALE_PROVED", one.path)
    return one


def says(**answers: str) -> Any:
    return pytest.mark.parametrize("asked", [answers], indirect=True)


def check(data: bytes = GOOD, latents: bytes | None = LATENTS, kernel: str = "proved", **options: Any) -> Verdict:
    return Auditor(HEAD, latents, kernel).check(data, **options)


@says()
def test_what_it_proves_is_proved(asked) -> None:
    verdict = check()
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.PROVED, "", 0)
    assert verdict.claims == {"entailment": "proved", "instance": "proved"}
    assert verdict.margins[0] is None and float(verdict.margins[1] or 0) == 0.5, "the stated margins"
    assert asked.questions == ["head", "instance", "entails"]
    assert asked.lines[1].split(" ", 3)[3].endswith(f" image 1 {'0' * 32}")
    assert asked.lines[2].split(" ", 3)[3].startswith("certificate 0 1 ") and asked.lines[2].endswith(" prices 0")


@says(entails="not proved", refuted="not proved")
def test_what_it_does_not_prove_is_not_proved(asked) -> None:
    verdict = check()
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "entailment", 3)
    assert verdict.claims == {"entailment": "not checked", "instance": "proved"} and verdict.margins == ()
    assert asked.questions == ["head", "instance", "entails", "refuted", "entails"]


@pytest.mark.parametrize(
    ("asked", "reason", "code", "message"),
    [
        ({"entails": "not proved", "refuted": "limit: it"}, "limit", 12, "the proved checker gave up: it; audit"),
        ({"entails": "not proved", "refuted": "not covered: trees"}, "entailment", 3, "the statements are not proved"),
        ({"entails": "not covered: trees"}, "uncovered", 15, "not covered by the proof: trees; audit it with another"),
        ({"minimal": "not covered: trees"}, "uncovered", 15, "not covered by the proof: trees; audit it with another"),
        ({"entails": "limit: it took more processor time than was allowed"}, "limit", 12, "the proved checker gave up"),
    ],
    indirect=["asked"],
)
def test_what_takes_too_long_or_is_not_covered_is_not_proved(asked, reason, code, message) -> None:
    verdict = check(MINIMAL, minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, reason, code)
    assert verdict.message.startswith(message) and verdict.claims["minimality"] == "not checked"


@says(entails="not proved", refuted="proved")
def test_what_it_refutes_of_an_image_is_refuted_and_nothing_without_one(asked) -> None:
    assert (check().status, check(latents=None).status) == (Status.REFUTED, Status.NOT_PROVED)
    assert asked.questions[-1] != "refuted" and asked.questions.count("refuted") == 1


@pytest.mark.parametrize("true", [-1, 0, 1])
def test_the_first_statement_that_is_not_proved_true_is_named(true, tmp_path, monkeypatch) -> None:
    """An instance with up to so many statements is proved."""
    body = f"return None if question == 'head' else 'proved' if int(text.split(' ')[4]) <= {true} else 'not proved'"
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    verdict = check()
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "instance", 7)
    named = "in the head's domain" if true < 0 else f"statement {true} (patch 0, prototype {true}) is not proved to"
    assert named in verdict.message and verdict.claims["instance"] == "not checked"


@says()
@pytest.mark.parametrize("part", ["pooling"])
def test_a_part_that_the_program_does_not_know_is_not_covered(part, asked, monkeypatch) -> None:
    """A pooling that Python has learned and Rocq has not: nothing is asked. Similarities it takes by their steps."""
    auditor = Auditor(HEAD, LATENTS, "proved")
    known = {name: names.replace("max ", "", 1) for name, names in text.KNOWN.items()}
    monkeypatch.setitem(text.KNOWN, part, known[part])
    verdict = auditor.check(GOOD)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "uncovered")
    assert f"not covered by the proof: the {part} " in verdict.message and asked.questions == []


@says()
def test_minimality_is_asked_where_it_is_claimed(asked) -> None:
    auditor = Auditor(HEAD, LATENTS, "proved")
    verdict = auditor.check(MINIMAL)
    assert verdict.claims["minimality"] == "not checked" and verdict.status is Status.PROVED
    verdict = auditor.check(MINIMAL, minimality=True)
    assert verdict.claims == dict.fromkeys(("entailment", "instance", "minimality"), "proved")
    assert auditor.check(GOOD, minimality=True).status is Status.PROVED, "it is not claimed"
    assert asked.questions == [
        "head",
        *("instance", "entails"),
        *("instance", "entails", "minimal"),
        "instance",
        "entails",
    ]
    assert asked.lines[5].split(" ", 3)[3].startswith("certificate 0 1 ") and asked.lines[5].endswith(" nothing")


@pytest.mark.parametrize("unneeded", [0, 1])
def test_the_first_statement_that_is_not_proved_to_be_needed_is_named(unneeded, tmp_path, monkeypatch) -> None:
    needed = f"question == 'needed' and not text.strip().endswith(' {unneeded}')"
    body = (
        f"return None if question == 'head' else 'proved' if question in ('instance', 'entails') or {needed}"
        " else 'not proved'"
    )
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    verdict = check(MINIMAL, minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "minimality", 8)
    assert f"statement {unneeded} (patch 0, prototype {unneeded}) is not proved to be needed" in verdict.message
    assert verdict.claims == {"entailment": "proved", "instance": "proved", "minimality": "not checked"}


@says(minimal="not proved")
def test_statements_that_are_needed_one_by_one_are_needed(asked) -> None:
    assert check(MINIMAL, minimality=True).claims["minimality"] == "proved"
    assert asked.questions == ["head", "instance", "entails", "minimal", "needed", "needed"]


LOOSE = files.certificate(
    HEAD,
    [files.activation_statement(0, -1.0, None), files.activation_statement(1, None, -1.0)],
    image=IMAGE,
    paradigm="top_k",
    minimality=True,
)
"""Two statements about activations."""


@pytest.mark.parametrize("kernel", ["proved", "proved-or-arb"])
@pytest.mark.parametrize("minimal", ["proved", "not covered: it"])
def test_a_statement_without_which_the_class_is_proved_is_named(kernel, minimal, tmp_path, monkeypatch) -> None:
    """Though each is needed by the reference ranges."""
    body = f"return {{'head': None, 'minimal': {minimal!r}}}.get(question, 'proved')"
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    verdict = check(LOOSE, kernel=kernel, minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "minimality", 8)
    assert verdict.message.startswith("statement 0 (prototype 0) is not needed: without it the class is proved too")
    assert verdict.claims == {"entailment": "proved", "instance": "proved", "minimality": "not checked"}
    assert check(LOOSE, kernel=kernel).status is Status.PROVED


def test_where_each_is_needed_and_where_time_runs_out_the_claim_stands(tmp_path, monkeypatch) -> None:
    """Minimality is defined by the reference ranges: that nothing better was found in time is no reason against it."""
    full = "' 2 activation 0 ' in text"
    for otherwise in ("not proved", "limit: long"):
        body = f"return None if question == 'head' else 'proved' if question != 'entails' or {full} else {otherwise!r}"
        monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
        verdict = check(LOOSE, minimality=True)
        assert verdict.status is Status.PROVED and verdict.claims["minimality"] == "proved"


def test_the_time_of_all_questions_is_added_up(tmp_path, monkeypatch) -> None:
    body = "if question == 'head': return\nreturn f'={number} 1388 proved'"
    log = Asked(tmp_path, body)
    monkeypatch.setenv("VERALE_PROVED", log.path)
    assert check().status is Status.PROVED, "of 30 s, each takes 5"
    budgets = [int(line.split(" ")[2], 16) for line in log.lines]
    assert budgets == [30_000, 29_999, 24_999]
    verdict = Auditor(HEAD, LATENTS, "proved", limit=5).check(GOOD)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "limit") and "all questions" in verdict.message


BROKEN = [
    "print('nonsense')",
    "print('proved\\nproved')",
    "print('1 1 proved\\n1 1 proved')",
    "os._exit(0)",
    "return '=error: the text is wrong'",
]


@pytest.mark.parametrize("body", BROKEN)
@pytest.mark.parametrize("kernel", ["proved", "all"])
def test_a_broken_executable_gives_no_verdict(body, kernel, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(dialogue, "_ENDING", 0.2)
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"if question != 'head':\n    {body}\n    return 'proved'"))
    (tmp_path / "head").write_bytes(HEAD)
    auditor = FileAuditor(str(tmp_path / "head"), None, kernel)
    for _ in range(2):
        record = auditor.audit("a.ale.json", GOOD).record
        assert (record["status"], record["exit_code"]) == ("UNUSABLE", 9)
        assert record["message"].endswith("; nothing is proved") and "never should" not in record["message"]
        assert read_record(json.dumps(record)) == record


def test_an_executable_that_hangs_proves_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(dialogue, "_STARTING", 1.0)
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, "if question != 'head':\n    time.sleep(600)"))
    verdict = Auditor(HEAD, LATENTS, "proved", limit=0.02).check(GOOD)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "limit")
    assert "it did not answer in time" in verdict.message


@pytest.mark.parametrize("dies", ["os._exit(1)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_an_executable_that_dies_could_not_be_asked(dies, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"if question != 'head': {dies}"))
    verdict = check()
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "limit") and "proved" not in verdict.claims.values()
    assert verdict.message.startswith("the proved checker could not be asked: it ended ")
    assert verdict.message.endswith("; audit it with another kernel, such as arb")
    assert check(kernel="all").reason == "limit"
    assert set(check(kernel="proved-or-arb").by.values()) == {"arb"}


def test_an_executable_that_cannot_begin_is_not_begun_for_each_certificate(tmp_path, monkeypatch) -> None:
    log = tmp_path / "begun"
    (tmp_path / "other").write_text(f"#!/bin/sh\necho >> {log}\nexit 1\n")
    (tmp_path / "other").chmod(0o755)
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "other"))
    auditor = Auditor(HEAD, LATENTS)
    for _ in range(3):
        verdict = auditor.check(GOOD)
        assert verdict.status is Status.PROVED and set(verdict.by.values()) == {"arb"}
    assert log.read_text() == "\n"


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("it took more processor time than was allowed", "30 s for files of this size; raise the limit"),
        ("it did not answer in time", "30 s for files of this size; raise the limit"),
        (
            "it took more than 1088 MB",
            "raise the limit, which allows more memory too, or audit it with another kernel, such as arb",
        ),
        ("a list is too long", "audit it with another kernel, such as arb"),
        ("there is no more memory", "audit it with another kernel, such as arb"),
    ],
)
def test_a_refusal_says_what_helps(said, remedy, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"if question != 'head': return 'limit: {said}'"))
    separated = ", " if remedy.startswith("30 s") else "; "
    assert check().message == f"the proved checker gave up: {said}{separated}{remedy}"


def test_a_higher_limit_allows_more_memory(tmp_path, monkeypatch) -> None:
    body = f"open({str(tmp_path / 'told')!r}, 'a').write(sys.argv[1] + ' ')\nreturn 'limit: it'"
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    for limit in (1, LIMIT, 3 * LIMIT):
        Auditor(HEAD, LATENTS, "proved", limit=limit).check(GOOD)
    least, default, more = (tmp_path / "told").read_text().split()
    assert least == default and int(more) == 3 * int(default)


def test_after_a_failure_another_executable_is_started(tmp_path, monkeypatch) -> None:
    """It dies at its third question, which is about the second certificate."""
    body = "if len(asked) == 4: os._exit(1)\nreturn None if question == 'head' else 'proved'"
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    (tmp_path / "head").write_bytes(HEAD)
    (tmp_path / "latents").write_bytes(LATENTS)
    auditor = FileAuditor(str(tmp_path / "head"), str(tmp_path / "latents"), "proved")
    statuses = [auditor.audit("a.ale.json", GOOD).record["status"] for _ in range(4)]
    assert statuses == ["PROVED", "NOT_PROVED", "PROVED", "NOT_PROVED"]


@says()
def test_records_name_the_executable(asked, tmp_path) -> None:
    (tmp_path / "head").write_bytes(HEAD)
    for kernel in ("proved", "all"):
        auditor = FileAuditor(str(tmp_path / "head"), None, kernel)
        record = auditor.audit("a.ale.json", GOOD).record
        program = auditor.auditor.executable
        assert program is not None and record["run"]["checker"]["executable"] == program.sha256
        assert record["run"]["checker"]["variable"] == "VERALE_PROVED"
        assert "the proved checker (VERALE_PROVED)" in auditor.audit("a.ale.json", GOOD).line
        assert ({"python-flint", "mpmath"} <= set(record["run"]["libraries"])) == (kernel == "all")
        assert read_record(json.dumps(record)) == record
        assert set(record["by"].values()) == {kernel}
        lost = json.loads(json.dumps(record))
        del lost["run"]["checker"]["executable"]
        with pytest.raises(ValueError, match="kernel and executable contradict"):
            read_record(json.dumps(lost))
    record["run"]["kernel"], record["by"] = "both", {"entailment": "both"}
    with pytest.raises(ValueError, match="kernel and executable contradict"):
        read_record(json.dumps(record))


def test_without_an_executable_there_is_no_auditor(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "nowhere"))
    for kernel in ("proved", "all"):
        with pytest.raises(KernelError, match="make proved"):
            Auditor(HEAD, LATENTS, kernel)
    assert Auditor(HEAD, LATENTS, "both").check(GOOD).status is Status.PROVED


WEAK = files.certificate(HEAD, [OWN], image=IMAGE, margins=[None, 100.0])
FALSE = files.certificate(HEAD, [], image=[[1.0, 1.0]])
UNTRUE = files.certificate(HEAD, [files.patch_statement(0, 0, 1.0, 2.0)], image=IMAGE)


@pytest.mark.parametrize(
    ("data", "answers", "status", "reason"),
    [
        (GOOD, {}, "PROVED", ""),
        (GOOD, {"entails": "not proved", "refuted": "not proved"}, "NOT_PROVED", "entailment"),
        (GOOD, {"instance": "not proved"}, "NOT_PROVED", "instance"),
        (GOOD, {"entails": "not proved", "refuted": "proved"}, "NOT_PROVED", "kernels"),
        (GOOD, {"entails": "not covered: it"}, "NOT_PROVED", "uncovered"),
        (GOOD, {"entails": "limit: it"}, "NOT_PROVED", "limit"),
        (WEAK, {"entails": "not proved", "refuted": "not proved"}, "NOT_PROVED", "margin"),
        (WEAK, {"entails": "not covered: it"}, "NOT_PROVED", "margin"),
        (WEAK, {"instance": "not proved"}, "NOT_PROVED", "instance"),
        (WEAK, {}, "NOT_PROVED", "margin"),
        (WEAK, {"entails": "not proved", "refuted": "proved"}, "NOT_PROVED", "margin"),
        (UNTRUE, {}, "NOT_PROVED", "kernels"),
        (UNTRUE, {"entails": "not proved", "refuted": "proved"}, "NOT_PROVED", "kernels"),
        (UNTRUE, {"entails": "not proved", "refuted": "not proved"}, "NOT_PROVED", "kernels"),
        (UNTRUE, {"instance": "not proved"}, "NOT_PROVED", "instance"),
        (FALSE, {"entails": "not proved"}, "REFUTED", "refuted"),
        (FALSE, {"entails": "not proved", "refuted": "not proved"}, "NOT_PROVED", "entailment"),
        (FALSE, {}, "NOT_PROVED", "kernels"),
        (FALSE, {"entails": "not covered: it"}, "NOT_PROVED", "uncovered"),
        (b"{", {}, "MALFORMED", "malformed"),
    ],
)
def test_all_proves_only_what_each_proves(data, answers, status, reason, tmp_path, monkeypatch) -> None:
    body = f"return None if question == 'head' else {answers!r}.get(question, 'proved')"
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    latents = files.latents([IMAGE, [[1.0, 1.0]]])
    verdict = check(data, latents, "all")
    assert (verdict.status.value, verdict.reason) == (status, reason)
    assert ("proved" in verdict.claims.values()) <= (status != "NOT_PROVED" or reason != "kernels")
    if status == "PROVED":
        assert [None if m is None else float(m) for m in verdict.margins] == [None, 0.5], "the smaller margin"
    if reason == "kernels":
        assert all(f"{name}: " in verdict.message for name in ("arb", "mpmath", "proved"))
    else:
        assert "report it" not in verdict.message


def test_all_says_who_proves_what_another_does_not(tmp_path, monkeypatch) -> None:
    """A kernel may prove more than another, and then they do not contradict each other."""
    for answers, data, said in (
        ({}, WEAK, "(proved: PROVED)"),
        ({"entails": "not proved", "refuted": "proved"}, WEAK, "(proved: REFUTED)"),
        ({"entails": "not proved", "refuted": "not proved"}, GOOD, "(arb: PROVED, mpmath: PROVED)"),
        ({"entails": "not proved", "refuted": "not proved"}, FALSE, "(arb: REFUTED, mpmath: REFUTED)"),
    ):
        body = f"return None if question == 'head' else {answers!r}.get(question, 'proved')"
        monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
        verdict = check(data, files.latents([IMAGE, [[1.0, 1.0]]]), "all")
        assert verdict.status is Status.NOT_PROVED and verdict.exit_code == 3 and verdict.message.endswith(said)
        assert verdict.claims["entailment"] == "not checked"


@pytest.mark.parametrize(
    ("answers", "status", "reason"),
    [
        ({}, "REFUTED", "refuted"),
        ({"refuted": "not proved"}, "NOT_REFUTED", "witness"),
        ({"refuted": "not proved", "instance": "not proved"}, "NOT_REFUTED", "instance"),
        ({"refuted": "not covered: it"}, "NOT_REFUTED", "uncovered"),
    ],
)
def test_witnesses(answers, status, reason, tmp_path, monkeypatch) -> None:
    body = f"return None if question == 'head' else {answers!r}.get(question, 'proved')"
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    verdict = Auditor(HEAD, kernel="proved").refute(GOOD, LATENTS)
    assert (verdict.status.value, verdict.reason) == (status, reason)
