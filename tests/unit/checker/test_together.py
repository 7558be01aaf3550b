"""The default choice of kernels: the proved checker, and arb for what it does not prove; the verdict says which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.proved import fake

from verale.checker import Auditor, KernelError, Status, Verdict, proved
from verale.checker.file_auditor import FileAuditor
from verale.checker.kernel import CHOICES
from verale.checker.proved import Script, default_kernel, find_executable, is_slow, program
from verale.checker.together import completed, in_common
from verale.cli import shared
from verale.runs.records import read_record
from verale.soundness.independent import files

IMAGE, OTHER = [[0.0, 0.0]], [[1.0, 1.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
OWN = files.patch_statement(0, 0, 0.0, 2.0**-40)
GOOD = files.certificate(HEAD, [OWN], image=IMAGE, minimality=True)
OPEN = files.certificate(HEAD, [], image=IMAGE)
WRONG = files.certificate(HEAD, [], image=OTHER)
LATENTS = files.latents([IMAGE, OTHER])
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
    assert "_plain" not in vars(auditor), "the rules are not even prepared"
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


def test_a_claim_that_is_left_open_is_not_proved_with_the_others(says) -> None:
    """Of a minimality that arb does not prove, the verdict keeps what is proved and says what is not."""
    two = files.certificate(HEAD, [OWN, files.patch_statement(0, 1, 2.0, 2.0)], image=IMAGE, minimality=True)
    says(minimal="not proved", needed="not proved")
    verdict = check(two, minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "minimality", 8)
    assert verdict.by == {"entailment": "proved", "instance": "proved"}
    assert verdict.claims["minimality"] == "not checked"


def test_where_arb_does_not_get_to_a_claim_the_verdict_says_why(says) -> None:
    says(minimal="not covered: points")
    verdict = check(files.certificate(HEAD, [], image=IMAGE, minimality=True), minimality=True)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_PROVED, "uncovered", 15)
    assert "not covered by the proof: points" in verdict.message and "(arb: entailment: " in verdict.message
    stopped = completed(verdict, Verdict(Status.NOT_PROVED, "limit", "too long", dict.fromkeys(verdict.claims, "")))
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
    proved = Verdict(Status.PROVED, "proved", "", {"entailment": "proved"}, by={"entailment": "arb"})
    stopped = Verdict(Status.NOT_PROVED, "limit", "takes more steps", {"entailment": "not checked"})
    pair = [stopped, proved] if swapped else [proved, stopped]
    common = in_common(pair, "both")
    assert (common.status, common.reason, common.message) == (Status.NOT_PROVED, "limit", "takes more steps")
    other = Verdict(Status.NOT_PROVED, "bounds", "too little", {"entailment": "not checked"})
    assert in_common([proved, other], "both").reason == "kernels"


def test_records_say_what_proved_each_claim_and_are_read_back(says, tmp_path) -> None:
    says(entails="not proved", refuted="not proved")
    (tmp_path / "head").write_bytes(HEAD)
    (tmp_path / "latents").write_bytes(LATENTS)
    auditor = FileAuditor(str(tmp_path / "head"), str(tmp_path / "latents"), minimality=True)
    for certificate in (GOOD, OPEN, WRONG):
        record = auditor.audit("x", certificate).record
        assert record["run"]["kernel"] == "proved-or-arb" and "executable" in record["run"]["checker"]
        assert read_record(json.dumps(record)) == record
    stated = auditor.audit("x", GOOD).record
    with pytest.raises(ValueError, match="claims and by contradict"):
        read_record(json.dumps(stated | {"by": stated["by"] | {"entailment": "both"}}))


class TestDefault:
    def test_without_the_proved_checker_it_is_arb(self, monkeypatch) -> None:
        def nowhere() -> None:
            raise KernelError("kernel proved: there is none")

        monkeypatch.delenv("VERALE_PROVED", raising=False)
        monkeypatch.setattr(program, "find_program", nowhere)
        assert default_kernel() == "arb"
        assert Auditor(HEAD).kernel == "arb"

    def test_a_variable_that_names_no_executable_is_an_error(self, monkeypatch, tmp_path) -> None:
        """Whoever sets it wants this program, and no other one instead."""
        monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "nowhere"))
        with pytest.raises(KernelError, match="there is no executable"):
            Auditor(HEAD)

    def test_a_script_is_asked_last_of_large_heads_and_of_pictures(self, says) -> None:
        says()
        script = Script("x", "0" * 64, "")
        assert not is_slow(script, program.LARGEST_FOR_SCRIPT, False)
        assert is_slow(script, program.LARGEST_FOR_SCRIPT + 1, False)
        assert is_slow(script, 100, True), "a picture takes seconds"
        assert not is_slow(find_executable(), 2**30, True)

    def test_what_arb_does_not_prove_is_left_to_a_slow_script(self, says, monkeypatch, tmp_path) -> None:
        """Whichever is asked first, what one proves is proved."""
        body = "return f'={number} 0 ' + ('ready' if question == 'head' else 'proved')"
        monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
        monkeypatch.setattr(proved, "is_slow", lambda *_: True)
        verdict = check(GOOD)
        assert verdict.status is Status.PROVED and set(verdict.by.values()) == {"arb"}
        limited = Auditor(HEAD, LATENTS, limit=1).check(GOOD)
        assert limited.status is Status.PROVED and set(limited.by.values()) == {"proved"}
        says(entails="limit: it", instance="not proved", refuted="not proved")
        assert Auditor(HEAD, LATENTS, limit=1).check(GOOD).reason == "limit"

    def test_the_command_line_knows_every_choice(self) -> None:
        assert tuple(CHOICES) == shared.KERNELS
