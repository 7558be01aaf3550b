"""The kernel `proved` in audits, alone and beside others: what the program says becomes the verdict, and nothing else.

By default arb is asked for what it does not prove, and the verdict says which of them proved what.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import files

from verale.checker import Auditor, KernelError, Status, Verdict
from verale.checker.auditor import together
from verale.checker.certificate import read_certificate
from verale.checker.file_auditor import FileAuditor
from verale.checker.limit import LIMIT
from verale.checker.proved import dialogue, program, text
from verale.checker.proved.program import SCRIPT, find_script
from verale.runs.audit_log import read_record

IMAGE, OTHER_IMAGE = [[0.0, 0.0]], [[1.0, 1.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
OWN = files.patch_statement(0, 0, 0.0, 2.0**-40)
OTHER = files.patch_statement(0, 1, 2.0, 2.0)
LATENTS = files.latents([IMAGE, OTHER_IMAGE])


def certificate(*stated: dict[str, Any], image: files.Matrix = IMAGE, **options: Any) -> bytes:
    return files.certificate(HEAD, list(stated), image=image, **options)


GOOD = certificate(OWN, OTHER, margins=[None, 0.5])
MINIMAL = certificate(OWN, OTHER, minimality=True, margins=[None, 0.5])
LOOSE = certificate(
    files.activation_statement(0, -1.0, None), files.activation_statement(1, None, -1.0),
    paradigm="top_k", minimality=True,
)  # fmt: skip
"""Two statements about activations."""
WEAK = certificate(OWN, margins=[None, 100.0])
OPEN, FALSE = certificate(), certificate(image=OTHER_IMAGE)
UNTRUE = certificate(files.patch_statement(0, 0, 1.0, 2.0))
NAMED = "the proved checker (VERALE_PROVED)"


def check(data: bytes = GOOD, latents: bytes | None = LATENTS, kernel: str = "proved", **options: Any) -> Verdict:
    return Auditor(HEAD, latents, kernel).check(data, **options)


def file_auditor(folder: Path, kernel: str | None = None, latents: bytes | None = LATENTS) -> FileAuditor:
    for name, data in (("head", HEAD), ("latents", latents or b"")):
        (folder / name).write_bytes(data)
    return FileAuditor(str(folder / "head"), None if latents is None else str(folder / "latents"), kernel)


def test_what_it_proves_is_proved(says) -> None:
    asked, verdict = says(), check()
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.PROVED, "", 0)
    assert verdict.claims == {"entailment": "proved", "instance": "proved"}
    assert verdict.margins[0] is None and float(verdict.margins[1] or 0) == 0.5, "the stated margins"
    assert asked.questions == "instance entails"
    assert asked.lines[1].split(" ", 3)[3].endswith(f" image 1 {'0' * 32}")
    assert asked.lines[2].split(" ", 3)[3].startswith("certificate 0 1 ") and asked.lines[2].endswith(" prices 0")


BY_IT = {"entails": "not proved", "refuted": "not proved"}
GAVE_UP, ANOTHER = "the proved checker gave up: ", "audit it with another kernel, such as arb"


@pytest.mark.parametrize(
    ("answers", "code", "reason", "message", "proved", "questions"),
    [
        ({}, 0, "", "every claim that was", "entailment instance minimality", "instance entails minimal"),
        ({"minimal": "not proved"}, 0, "", "every", "entailment instance minimality",
         "instance entails minimal needed needed"),
        (BY_IT, 3, "entailment", "the statements are not proved", "instance", "instance entails refuted entails"),
        ({"entails": "not proved"}, 4, "refuted", "at the latents, which", "instance", "instance entails refuted"),
        (BY_IT | {"refuted": "limit: it"}, 12, "limit", f"{GAVE_UP}it; {ANOTHER}", "instance",
         "instance entails refuted"),
        (BY_IT | {"refuted": "not covered: trees"}, 3, "entailment", "the statements are not proved", "instance",
         "instance entails refuted entails"),
        ({"entails": "not covered: trees"}, 15, "uncovered", f"not covered by the proof: trees; {ANOTHER}", "instance",
         "instance entails"),
        ({"minimal": "not covered: trees"}, 15, "uncovered", f"not covered by the proof: trees; {ANOTHER}",
         "entailment instance", "instance entails minimal"),
        *(({"entails": f"limit: {said}"}, 12, "limit", f"{GAVE_UP}{said}{remedy}", "instance", "instance entails")
          for said, remedy in (
              ("it took more processor time than was allowed", ", 30 s for files of this size; raise the limit"),
              ("it did not answer in time", ", 30 s for files of this size; raise the limit"),
              ("it took more than 1088 MB", f"; raise the limit, which allows more memory too, or {ANOTHER}"),
              ("a list is too long", f"; {ANOTHER}"), ("there is no more memory", f"; {ANOTHER}"))),
    ],
)  # fmt: skip
def test_what_it_says_becomes_the_verdict(answers, code, reason, message, proved, questions, says) -> None:
    asked, verdict = says(**answers), check(MINIMAL, minimality=True)
    assert verdict.status is {0: Status.PROVED, 4: Status.REFUTED}.get(code, Status.NOT_PROVED)
    assert (verdict.reason, verdict.exit_code, " ".join(sorted(verdict.by))) == (reason, code, proved)
    assert verdict.message.startswith(message) and (not message.startswith(GAVE_UP) or verdict.message == message)
    assert {verdict.claims[claim] for claim in verdict.by} <= {"proved"} and asked.questions == questions
    assert bool(verdict.margins) == ("entailment" in verdict.by)


def test_nothing_is_refuted_without_an_image(says) -> None:
    asked = says(entails="not proved")
    assert check(latents=None).status is Status.NOT_PROVED and "refuted" not in asked.questions


@pytest.mark.parametrize(
    ("proves", "code", "reason", "message"),
    [
        *((f"int(text.split(' ')[4]) <= {true}", 7, "instance", named) for true, named in (
            (-1, "in the head's domain"), (0, "statement 0 (patch 0, prototype 0) is not proved to hold"),
            (1, "statement 1 (patch 0, prototype 1) is not proved to hold"))),
        *((f"question in ('instance', 'entails') or question == 'needed' and text[-2] != '{spare}'", 8, "minimality",
           f"statement {spare} (patch 0, prototype {spare}) is not proved to be needed") for spare in (0, 1)),
    ],
)  # fmt: skip
def test_the_first_statement_that_is_not_proved_true_or_needed_is_named(proves, code, reason, message, says) -> None:
    says(f"if question != 'head' and not ({proves}): return 'not proved'")
    verdict = check(MINIMAL, minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, reason, code)
    assert message in verdict.message and verdict.claims["minimality"] == "not checked"
    assert (verdict.claims["instance"], verdict.claims["entailment"]) == (("not checked",) * 2, ("proved",) * 2)[
        code > 7
    ]


def test_a_part_that_the_program_does_not_know_is_not_covered(says, monkeypatch) -> None:
    """A pooling that Python has learned and Rocq has not: nothing is asked. Similarities it takes by their steps."""
    asked, auditor = says(), Auditor(HEAD, LATENTS, "proved")
    monkeypatch.setitem(text.KNOWN, "pooling", text.KNOWN["pooling"].replace("max ", "", 1))
    verdict = auditor.check(GOOD)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "uncovered")
    assert "not covered by the proof: the pooling " in verdict.message and asked.lines == []


def test_minimality_is_asked_where_it_is_claimed(says) -> None:
    asked, auditor = says(), Auditor(HEAD, LATENTS, "proved")
    verdict = auditor.check(MINIMAL)
    assert verdict.claims["minimality"] == "not checked" and verdict.status is Status.PROVED
    verdict = auditor.check(MINIMAL, minimality=True)
    assert verdict.claims == dict.fromkeys(("entailment", "instance", "minimality"), "proved")
    assert auditor.check(GOOD, minimality=True).status is Status.PROVED, "it is not claimed"
    assert asked.questions == "instance entails instance entails minimal instance entails"
    assert asked.lines[5].split(" ", 3)[3].startswith("certificate 0 1 ") and asked.lines[5].endswith(" nothing")


@pytest.mark.parametrize("kernel", ["proved", "proved-or-arb"])
@pytest.mark.parametrize("minimal", ["proved", "not covered: it"])
def test_a_statement_without_which_the_class_is_proved_is_named(kernel, minimal, says) -> None:
    """Though each is needed by the reference ranges."""
    says(minimal=minimal)
    verdict = check(LOOSE, kernel=kernel, minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "minimality", 8)
    assert verdict.message.startswith("statement 0 (prototype 0) is not needed: without it the class is proved too")
    assert verdict.claims == {"entailment": "proved", "instance": "proved", "minimality": "not checked"}
    assert check(LOOSE, kernel=kernel).status is Status.PROVED


@pytest.mark.parametrize("otherwise", ["not proved", "limit: long"])
def test_where_each_is_needed_and_where_time_runs_out_the_claim_stands(otherwise, says) -> None:
    """Minimality is defined by the reference ranges: that nothing better was found in time is no reason against it."""
    says(f"if question == 'entails' and ' 2 activation 0 ' not in text: return {otherwise!r}")
    verdict = check(LOOSE, minimality=True)
    assert verdict.status is Status.PROVED and verdict.claims["minimality"] == "proved"


def test_the_time_of_all_questions_is_added_up(says) -> None:
    asked = says("if question != 'head': return f'={number} 1388 proved'")
    assert check().status is Status.PROVED, "of 30 s, each takes 5"
    assert [int(line.split(" ")[2], 16) for line in asked.lines] == [30_000, 29_999, 24_999]
    verdict = Auditor(HEAD, LATENTS, "proved", limit=5).check(GOOD)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "limit") and "all questions" in verdict.message


BROKEN = (
    "print('nonsense')", "print('proved\\nproved')", "print('1 1 proved\\n1 1 proved')", "os._exit(0)",
    "return '=error: the text is wrong'",
)  # fmt: skip


@pytest.mark.parametrize(("body", "kernel"), [*((body, "proved") for body in BROKEN), (BROKEN[0], "all")])
def test_a_broken_executable_gives_no_verdict(body, kernel, says, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(dialogue, "_ENDING", 0.2)
    says(f"if question != 'head': {body}")
    auditor = file_auditor(tmp_path, kernel, latents=None)
    for _ in range(2):
        record = auditor.audit("a.ale.json", GOOD).record
        assert (record["status"], record["exit_code"]) == ("UNUSABLE", 9)
        assert record["message"].endswith("; nothing is proved") and "never should" not in record["message"]
        assert read_record(json.dumps(record)) == record


def test_an_executable_that_hangs_proves_nothing(says, monkeypatch) -> None:
    monkeypatch.setattr(dialogue, "_STARTING", 1.0)
    says("if question != 'head': time.sleep(600)")
    verdict = Auditor(HEAD, LATENTS, "proved", limit=0.02).check(GOOD)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "limit")
    assert "it did not answer in time" in verdict.message


@pytest.mark.parametrize("dies", ["os._exit(1)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_an_executable_that_dies_could_not_be_asked(dies, says) -> None:
    says(f"if question != 'head': {dies}")
    verdict = check()
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "limit") and "proved" not in verdict.claims.values()
    assert verdict.message.startswith("the proved checker could not be asked: it ended ")
    assert verdict.message.endswith(f"; {ANOTHER}")
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


def test_a_higher_limit_allows_more_memory(says, tmp_path) -> None:
    says(f"open({str(tmp_path / 'told')!r}, 'a').write(sys.argv[1] + ' ')\nreturn 'limit: it'")
    for limit in (1, LIMIT, 3 * LIMIT):
        Auditor(HEAD, LATENTS, "proved", limit=limit).check(GOOD)
    least, default, more = (tmp_path / "told").read_text().split()
    assert least == default and int(more) == 3 * int(default)


def test_after_a_failure_another_executable_is_started(says, tmp_path) -> None:
    """It dies at its third question, which is about the second certificate."""
    says("if len(asked) == 4: os._exit(1)")
    auditor = file_auditor(tmp_path, "proved")
    statuses = [auditor.audit("a.ale.json", GOOD).record["status"] for _ in range(4)]
    assert statuses == ["PROVED", "NOT_PROVED", "PROVED", "NOT_PROVED"]


@pytest.mark.parametrize("kernel", ["proved", "all"])
def test_records_name_the_executable(kernel, says, tmp_path) -> None:
    says()
    auditor = file_auditor(tmp_path, kernel, latents=None)
    outcome, found = auditor.audit("a.ale.json", GOOD), auditor.auditor.executable
    record = outcome.record
    assert found is not None and record["run"]["checker"]["executable"] == found.sha256
    assert record["run"]["checker"]["variable"] == "VERALE_PROVED" and NAMED in outcome.line
    assert ({"python-flint", "mpmath"} <= set(record["run"]["libraries"])) == (kernel == "all")
    assert read_record(json.dumps(record)) == record and set(record["by"].values()) == {kernel}
    lost, other = (json.loads(json.dumps(record)) for _ in range(2))
    del lost["run"]["checker"]["executable"]
    other["run"]["kernel"], other["by"] = "both", {"entailment": "both"}
    for wrong in (lost, other):
        with pytest.raises(ValueError, match="kernel and executable contradict"):
            read_record(json.dumps(wrong))


@pytest.mark.parametrize("kernel", ["proved", "all", "proved-or-arb"])
def test_a_variable_that_names_no_executable_is_an_error(kernel, monkeypatch, tmp_path) -> None:
    """Whoever sets it wants this program, and no other one instead."""
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "nowhere"))
    with pytest.raises(KernelError, match=r"there is no executable at .*make proved"):
        Auditor(HEAD, LATENTS, kernel)
    assert check(kernel="both").status is Status.PROVED


SURE = {"entails": "not proved"}


@pytest.mark.parametrize(
    ("data", "answers", "status", "reason", "others"),
    [
        (GOOD, {}, "PROVED", "", ""),
        (GOOD, BY_IT, "NOT_PROVED", "entailment", "(arb: PROVED, mpmath: PROVED)"),
        (GOOD, {"instance": "not proved"}, "NOT_PROVED", "instance", ""),
        (GOOD, SURE, "NOT_PROVED", "kernels", ""),
        (GOOD, {"entails": "not covered: it"}, "NOT_PROVED", "uncovered", ""),
        (GOOD, {"entails": "limit: it"}, "NOT_PROVED", "limit", ""),
        (WEAK, BY_IT, "NOT_PROVED", "margin", ""),
        (WEAK, {"entails": "not covered: it"}, "NOT_PROVED", "margin", ""),
        (WEAK, {"instance": "not proved"}, "NOT_PROVED", "instance", ""),
        (WEAK, {}, "NOT_PROVED", "margin", "(proved: PROVED)"),
        (WEAK, SURE, "NOT_PROVED", "margin", "(proved: REFUTED)"),
        (UNTRUE, {}, "NOT_PROVED", "kernels", ""),
        (UNTRUE, SURE, "NOT_PROVED", "kernels", ""),
        (UNTRUE, BY_IT, "NOT_PROVED", "kernels", ""),
        (UNTRUE, {"instance": "not proved"}, "NOT_PROVED", "instance", ""),
        (FALSE, SURE, "REFUTED", "refuted", ""),
        (FALSE, BY_IT, "NOT_PROVED", "entailment", "(arb: REFUTED, mpmath: REFUTED)"),
        (FALSE, {}, "NOT_PROVED", "kernels", ""),
        (FALSE, {"entails": "not covered: it"}, "NOT_PROVED", "uncovered", ""),
        (b"{", {}, "MALFORMED", "malformed", ""),
    ],
)
def test_all_proves_only_what_each_proves_and_says_who_proves_more(data, answers, status, reason, others, says) -> None:
    """A kernel may prove more than another, and then they do not contradict each other."""
    says(**answers)
    verdict = check(data, kernel="all")
    assert (verdict.status.value, verdict.reason) == (status, reason) and verdict.message.endswith(others)
    assert ("proved" in verdict.claims.values()) <= (reason != "kernels")
    assert not others or verdict.claims["entailment"] == "not checked"
    if status == "PROVED":
        assert [None if m is None else float(m) for m in verdict.margins] == [None, 0.5], "the smaller margin"
    if reason == "kernels":
        assert all(f"{name}: " in verdict.message for name in ("arb", "mpmath", "proved"))
    assert ("report it" in verdict.message) == (reason == "kernels")


@pytest.mark.parametrize(
    ("answers", "status", "reason"),
    [
        ({}, "REFUTED", "refuted"),
        ({"refuted": "not proved"}, "NOT_REFUTED", "witness"),
        ({"refuted": "not proved", "instance": "not proved"}, "NOT_REFUTED", "instance"),
        ({"refuted": "not covered: it"}, "NOT_REFUTED", "uncovered"),
    ],
)
def test_witnesses(answers, status, reason, says) -> None:
    says(**answers)
    verdict = Auditor(HEAD, kernel="proved").refute(GOOD, files.latents([IMAGE]))
    assert (verdict.status.value, verdict.reason) == (status, reason)


# The default: the proved checker, and arb for what it does not prove.


def by_default(data: bytes = GOOD, **options: Any) -> Verdict:
    return check(data, kernel="proved-or-arb", **options)


def test_what_the_proved_checker_proves_nothing_else_is_asked_about(says) -> None:
    says()
    auditor = Auditor(HEAD, LATENTS)
    verdict = auditor.check(MINIMAL)
    assert (auditor.kernel, verdict.status) == ("proved-or-arb", Status.PROVED)
    assert verdict.by == {"entailment": "proved", "instance": "proved"}
    assert [*auditor._sides] == ["proved"], "the rules are not even prepared"
    assert verdict.line("x").endswith(f"  entailment+instance proved, minimality not checked  by {NAMED}")


def test_minimality_that_is_not_covered_is_proved_by_arb_and_the_verdict_says_so(says) -> None:
    says(minimal="not covered: points")
    minimal = certificate(OWN, minimality=True)
    verdict = by_default(minimal, minimality=True)
    assert verdict.status is Status.PROVED and not verdict.reason
    assert verdict.by == {"entailment": "proved", "instance": "proved", "minimality": "arb"}
    assert verdict.line("x").endswith(f"entailment+instance+minimality proved  by {NAMED}, minimality by arb")
    assert verdict.margins == by_default(minimal).margins, "those that the proved checker proves"


@pytest.mark.parametrize("answer", ["not proved", "not covered: a tree", "limit: too long"])
def test_what_it_does_not_prove_is_left_to_arb(answer, says) -> None:
    says(entails=answer, refuted="not proved")
    verdict = by_default()
    assert verdict.status is Status.PROVED
    assert verdict.by == {"entailment": "arb", "instance": "proved"}
    assert verdict.line("x").endswith(f"  by arb, instance by {NAMED}")
    says(entails=answer, instance=answer, refuted="not proved")
    assert set(by_default().by.values()) == {"arb"}


def test_what_neither_proves_has_the_reason_of_the_rules(says) -> None:
    says(**BY_IT)
    alone, verdict = check(OPEN, kernel="arb"), by_default(OPEN)
    assert (verdict.status, verdict.reason, verdict.message) == (alone.status, "entailment", alone.message)
    assert verdict.by == {"instance": "proved"} and verdict.claims["entailment"] == "not checked"


def test_where_arb_does_not_get_to_a_claim_the_verdict_says_why(says) -> None:
    says(minimal="not covered: points")
    verdict = by_default(certificate(minimality=True), minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "uncovered", 15)
    assert "not covered by the proof: points" in verdict.message and verdict.message.endswith(" (arb: entailment)")
    limit = Verdict(Status.NOT_PROVED, "limit", "too long", verdict.certificate)
    stopped = together({"proved": verdict, "arb": limit}, "proved-or-arb", frozenset(verdict.claims))
    assert (stopped.reason, stopped.exit_code) == ("limit", 12), "a greater limit helps"
    assert stopped.by == verdict.by == {"entailment": "proved", "instance": "proved"}
    assert stopped.claims["entailment"] == "proved"


def test_kernels_that_contradict_each_other_prove_nothing(says) -> None:
    """What one refutes the other must not prove: entailment, with a witness, or that statements hold of an image."""
    says(**SURE)
    assert by_default().status is Status.REFUTED, "the proved checker is believed where it decides"
    says()
    assert by_default(FALSE, minimality=False, deployment=None).status is Status.PROVED, "as above"
    says(minimal="not covered: points")
    verdict = by_default(certificate(image=OTHER_IMAGE, minimality=True), minimality=True)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "kernels")
    assert "proved" not in verdict.claims.values() and not verdict.by
    assert by_default(certificate(OWN, image=OTHER_IMAGE, minimality=True), minimality=True).reason == "kernels"


@pytest.mark.parametrize("said", ["it took more processor time than was allowed", "it did not answer in time"])
def test_who_proves_does_not_depend_on_how_fast_the_processor_is(said, says) -> None:
    """What takes the proved checker too long is left to nobody: on a faster processor it would have proved it."""
    says(entails=f"limit: {said}")
    auditor = Auditor(HEAD, LATENTS)
    verdict = auditor.check(GOOD)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "limit", 12)
    assert verdict.by == {"instance": "proved"} and [*auditor._sides] == ["proved"]


@pytest.mark.parametrize(("said", "reason"), [("not proved", "entailment"), ("not covered: a tree", "limit")])
def test_a_higher_limit_is_named_only_where_it_may_help(said, reason, says) -> None:
    """The proved checker decides, and rules that give up do not hide it."""
    says(f"return f'={{number}} 0 ' + {{'head': 'ready', 'instance': 'proved'}}.get(question, {said!r})")
    verdict = Auditor(HEAD, LATENTS, limit=1e-9).check(GOOD)
    assert verdict.reason == reason and ("raise the limit" in verdict.message) == (reason == "limit")
    assert verdict.message.endswith(" (arb: limit)") == (reason == "entailment")


@pytest.mark.parametrize("swapped", [False, True])
def test_a_kernel_that_stops_at_the_limit_contradicts_no_other(swapped) -> None:
    """Of two kernels one may have wider enclosures, and so need more steps."""
    proved = Verdict(Status.PROVED, "", "", by={"entailment": "arb"})
    stopped = Verdict(Status.NOT_PROVED, "limit", "takes more steps")
    common = both(stopped, proved) if swapped else both(proved, stopped)
    assert (common.status, common.reason, common.by) == (Status.NOT_PROVED, "limit", {})
    assert common.message == f"takes more steps ({'mpmath' if swapped else 'arb'}: PROVED)"
    other = Verdict(Status.NOT_PROVED, "entailment", "too little")
    assert both(proved, other).reason == "kernels"


def both(arb: Verdict, mpmath: Verdict) -> Verdict:
    return together({"arb": arb, "mpmath": mpmath}, "both", frozenset({"entailment"}))


def test_a_claim_is_proved_that_each_kernel_proves() -> None:
    """Not as many as each of them does: of pictures one may prove what they show, and another the class."""
    claims = ("entailment", "picture")
    read = replace(read_certificate(GOOD), latents=None, network="0", picture="0", arithmetic="real", claims=claims)
    shown = Verdict(Status.NOT_PROVED, "entailment", "too little", read, by={"picture": "arb"})
    won = Verdict(Status.NOT_PROVED, "picture", "too wide", read, by={"entailment": "proved"})
    asked = frozenset(read.claims)
    for choice in ("both", "all"):
        verdict = together({"arb": shown, "proved": won}, choice, asked)
        assert verdict.status is Status.NOT_PROVED and verdict.by == {}
        assert set(verdict.claims.values()) == {"not checked"} and verdict.margins == ()
    verdict = together({"proved": won, "arb": shown}, "proved-or-arb", asked)
    assert (verdict.status, verdict.exit_code) == (Status.PROVED, 0)
    assert verdict.by == {"entailment": "proved", "picture": "arb"}
    assert together({"proved": won, "arb": replace(shown, by={})}, "proved-or-arb", asked).reason == "picture"


def test_what_one_proves_and_another_refutes_is_proved_by_neither() -> None:
    """Whatever else they say: one that proves the class and not that a statement is needed contradicts it too."""
    needs = Verdict(Status.NOT_PROVED, "minimality", "spare", by={"entailment": "proved"})
    refuted = Verdict(Status.REFUTED, "refuted", "no")
    for choice in ("all", "proved-or-arb"):
        for verdicts in ({"proved": needs, "arb": refuted}, {"arb": refuted, "proved": needs}):
            verdict = together(verdicts, choice, frozenset({"entailment", "minimality"}))
            assert (verdict.status, verdict.reason, verdict.by) == (Status.NOT_PROVED, "kernels", {})


# The executable, the script, the rules: the first that is there is asked, whatever is asked about.


@pytest.fixture
def no_executable(monkeypatch) -> None:
    def nowhere() -> None:
        raise KernelError("kernel proved: there is none")

    monkeypatch.delenv("VERALE_PROVED", raising=False)
    monkeypatch.setattr(program, "find_executable", nowhere)


def test_without_an_executable_the_script_proves_and_the_verdict_says_so(no_executable, tmp_path) -> None:
    assert find_script() is not None, "mini-racer is a dependency"
    outcome = file_auditor(tmp_path).audit("x", MINIMAL)
    said = "  entailment+instance proved, minimality not checked  by the proved checker (JavaScript)"
    assert outcome.line.endswith(said) and outcome.record["run"]["kernel"] == "proved-or-arb"
    run = outcome.record["run"]
    assert run["checker"]["executable"] == hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
    assert run["checker"]["language"] == "JavaScript" and "mini-racer" in run["libraries"]
    assert read_record(json.dumps(outcome.record)) == outcome.record


def test_without_either_the_rules_prove_by_the_same_choice(no_executable, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(program, "find_script", lambda: None)
    auditor = file_auditor(tmp_path)
    assert (auditor.auditor.kernel, auditor.auditor.executable) == ("proved-or-arb", None)
    outcome = auditor.audit("x", GOOD)
    record = outcome.record
    assert record["status"] == "PROVED" and outcome.line.endswith("  by arb")
    assert "executable" not in record["run"]["checker"] and read_record(json.dumps(record)) == record
    with pytest.raises(ValueError, match="kernel and executable contradict"):
        read_record(json.dumps(record | {"by": dict.fromkeys(record["by"], "proved")}))
    for choice in ("proved", "all"):
        with pytest.raises(KernelError, match="there is none"):
            Auditor(HEAD, kernel=choice)
