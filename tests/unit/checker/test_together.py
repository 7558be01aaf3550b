"""The default choice of kernels: the proved checker, and arb for what it does not prove; the verdict says which."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import files
from support.proved import fake

from verale.checker import Auditor, KernelError, Status, Verdict
from verale.checker.auditor import together
from verale.checker.certificate import read_certificate
from verale.checker.file_auditor import FileAuditor
from verale.checker.proved import program
from verale.checker.proved.program import SCRIPT, find_script
from verale.runs.audit_log import read_record

IMAGE, OTHER = [[0.0, 0.0]], [[1.0, 1.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
OWN = files.patch_statement(0, 0, 0.0, 2.0**-40)
GOOD = files.certificate(HEAD, [OWN], image=IMAGE, minimality=True)
OPEN = files.certificate(HEAD, [], image=IMAGE)
WRONG = files.certificate(HEAD, [], image=OTHER)
LATENTS = files.latents([IMAGE, OTHER])
PICTURED = ("entailment", "picture")
NAMED = "the proved checker (VERALE_PROVED)"


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the proved checker answer so; a question that is not named is `proved`."""

    def answers(**given: str) -> None:
        body = f"return None if question == 'head' else {given!r}.get(question, 'proved')"
        monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))

    return answers


def check(certificate: bytes = GOOD, latents: bytes | None = LATENTS, **options: Any) -> Verdict:
    return Auditor(HEAD, latents).check(certificate, **options)


def test_what_the_proved_checker_proves_nothing_else_is_asked_about(says) -> None:
    says()
    auditor = Auditor(HEAD, LATENTS)
    verdict = auditor.check(GOOD)
    assert (auditor.kernel, verdict.status) == ("proved-or-arb", Status.PROVED)
    assert verdict.by == {"entailment": "proved", "instance": "proved"}
    assert [*auditor._sides] == ["proved"], "the rules are not even prepared"
    assert verdict.line("x").endswith(f"  entailment+instance proved, minimality not checked  by {NAMED}")


def test_minimality_that_is_not_covered_is_proved_by_arb_and_the_verdict_says_so(says) -> None:
    says(minimal="not covered: points")
    verdict = check(minimality=True)
    assert verdict.status is Status.PROVED and not verdict.reason
    assert verdict.by == {"entailment": "proved", "instance": "proved", "minimality": "arb"}
    assert verdict.line("x").endswith(f"entailment+instance+minimality proved  by {NAMED}, minimality by arb")
    assert verdict.margins == tuple(map(pytest.approx, check().margins)), "those that the proved checker proves"


@pytest.mark.parametrize("answer", ["not proved", "not covered: a tree", "limit: too long"])
def test_what_it_does_not_prove_is_left_to_arb(answer, says) -> None:
    says(entails=answer, refuted="not proved")
    verdict = check()
    assert verdict.status is Status.PROVED
    assert verdict.by == {"entailment": "arb", "instance": "proved"}
    assert verdict.line("x").endswith(f"  by arb, instance by {NAMED}")
    says(entails=answer, instance=answer, refuted="not proved")
    assert set(check().by.values()) == {"arb"}


def test_what_neither_proves_has_the_reason_of_the_rules(says) -> None:
    says(entails="not proved", refuted="not proved")
    alone = Auditor(HEAD, LATENTS, "arb").check(OPEN)
    verdict = check(OPEN)
    assert (verdict.status, verdict.reason, verdict.message) == (alone.status, "entailment", alone.message)
    assert verdict.by == {"instance": "proved"} and verdict.claims["entailment"] == "not checked"


def test_where_arb_does_not_get_to_a_claim_the_verdict_says_why(says) -> None:
    says(minimal="not covered: points")
    verdict = check(files.certificate(HEAD, [], image=IMAGE, minimality=True), minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "uncovered", 15)
    assert "not covered by the proof: points" in verdict.message and verdict.message.endswith(" (arb: entailment)")
    limit = Verdict(Status.NOT_PROVED, "limit", "too long", verdict.certificate)
    stopped = together({"proved": verdict, "arb": limit}, "proved-or-arb", frozenset(verdict.claims))
    assert (stopped.reason, stopped.exit_code) == ("limit", 12), "a greater limit helps"
    assert stopped.by == verdict.by == {"entailment": "proved", "instance": "proved"}
    assert stopped.claims["entailment"] == "proved"


def test_kernels_that_contradict_each_other_prove_nothing(says) -> None:
    """What one refutes the other must not prove: entailment, with a witness, or that statements hold of an image."""
    says(entails="not proved")
    verdict = check()
    assert verdict.status is Status.REFUTED, "the proved checker is believed where it decides"
    says()
    verdict = check(WRONG, minimality=False, deployment=None)
    assert verdict.status is Status.PROVED, "as above"
    says(minimal="not covered: points")
    claimed = files.certificate(HEAD, [], image=OTHER, minimality=True)
    verdict = check(claimed, minimality=True)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "kernels")
    assert "proved" not in verdict.claims.values() and not verdict.by
    untrue = files.certificate(HEAD, [OWN], image=OTHER, minimality=True)
    assert check(untrue, minimality=True).reason == "kernels"


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
    read = replace(read_certificate(GOOD), latents=None, network="0", picture="0", arithmetic="real", claims=PICTURED)
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


def nowhere() -> None:
    raise KernelError("kernel proved: there is none")


class TestOrder:
    """The executable, the script, the rules: the first that is there is asked, whatever is asked about."""

    @pytest.fixture
    def no_executable(self, monkeypatch) -> None:
        monkeypatch.delenv("VERALE_PROVED", raising=False)
        monkeypatch.setattr(program, "find_executable", nowhere)

    def test_without_an_executable_the_script_proves_and_the_verdict_says_so(self, no_executable, tmp_path) -> None:
        assert find_script() is not None, "mini-racer is a dependency"
        verdict = Auditor(HEAD, LATENTS).check(GOOD)
        assert verdict.line("x").endswith(
            "  entailment+instance proved, minimality not checked  by the proved checker (JavaScript)"
        )
        for name, data in (("head", HEAD), ("latents", LATENTS), ("c.ale.json", GOOD)):
            (tmp_path / name).write_bytes(data)
        record = (
            FileAuditor(str(tmp_path / "head"), str(tmp_path / "latents")).audit(str(tmp_path / "c.ale.json")).record
        )
        assert record["run"]["kernel"] == "proved-or-arb"
        assert record["run"]["checker"]["executable"] == hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
        assert record["run"]["checker"]["language"] == "JavaScript" and "mini-racer" in record["run"]["libraries"]
        assert read_record(json.dumps(record)) == record

    def test_without_either_the_rules_prove_by_the_same_choice(self, no_executable, monkeypatch, tmp_path) -> None:
        monkeypatch.setattr(program, "find_script", lambda: None)
        auditor = Auditor(HEAD, LATENTS)
        verdict = auditor.check(GOOD)
        assert (auditor.kernel, auditor.executable) == ("proved-or-arb", None)
        assert verdict.status is Status.PROVED and verdict.line("x").endswith("  by arb")
        for name, data in (("head", HEAD), ("latents", LATENTS)):
            (tmp_path / name).write_bytes(data)
        record = FileAuditor(str(tmp_path / "head"), str(tmp_path / "latents")).audit("x", GOOD).record
        assert "executable" not in record["run"]["checker"] and read_record(json.dumps(record)) == record
        with pytest.raises(ValueError, match="kernel and executable contradict"):
            read_record(json.dumps(record | {"by": dict.fromkeys(record["by"], "proved")}))
        for choice in ("proved", "all"):
            with pytest.raises(KernelError, match="there is none"):
                Auditor(HEAD, kernel=choice)

    def test_a_variable_that_names_no_executable_is_an_error(self, monkeypatch, tmp_path) -> None:
        """Whoever sets it wants this program, and no other one instead."""
        monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "nowhere"))
        with pytest.raises(KernelError, match="there is no executable"):
            Auditor(HEAD)

    @pytest.mark.parametrize("said", ["it took more processor time than was allowed", "it did not answer in time"])
    def test_who_proves_does_not_depend_on_how_fast_the_processor_is(self, said, says) -> None:
        """What takes the proved checker too long is left to nobody: on a faster processor it would have proved it."""
        says(entails=f"limit: {said}")
        auditor = Auditor(HEAD, LATENTS)
        verdict = auditor.check(GOOD)
        assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "limit", 12)
        assert verdict.message.endswith(f"{said}, 30 s for files of this size; raise the limit")
        assert verdict.by == {"instance": "proved"} and [*auditor._sides] == ["proved"]

    def test_a_higher_limit_is_named_only_where_it_may_help(self, monkeypatch, tmp_path) -> None:
        """The proved checker decides, and rules that give up do not hide it."""

        def checked(said: str) -> Verdict:
            answers = f"{{'head': 'ready', 'instance': 'proved'}}.get(question, {said!r})"
            monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"return f'={{number}} 0 ' + {answers}"))
            return Auditor(HEAD, LATENTS, limit=1e-9).check(GOOD)

        verdict = checked("not proved")
        assert (verdict.reason, verdict.exit_code) == ("entailment", 3)
        assert "raise the limit" not in verdict.message and verdict.message.endswith(" (arb: limit)")
        verdict = checked("not covered: a tree")
        assert verdict.reason == "limit" and "raise the limit" in verdict.message
