"""The second checker, written from certificates/v1.md alone, agrees with the checker; a changed copy of it does not."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from shutil import copytree

import pytest
from support import second as command
from support.cases import every
from support.commands import in_process

from verale.soundness.corpus.cases import Case, accepted, stored
from verale.soundness.second import FAILED, FOLDER, SecondChecker, SecondVerdict
from verale.soundness.second.comparison import Agreement, Relation, compared, relation
from verale.soundness.second.trials import of_corpora, of_demo, of_mutants, of_random_heads

CASES = stored()
ACCEPTED = accepted()


@pytest.fixture(scope="module")
def second() -> SecondChecker:
    return SecondChecker()


def changed(folder: Path, name: str, before: str, after: str) -> SecondChecker:
    """A copy of the second checker with a line changed."""
    copy = copytree(FOLDER, folder / "copy", ignore=lambda _, names: [n for n in names if not n.endswith(".js")])
    source = (copy / name).read_text(encoding="utf-8")
    assert source.count(before) == 1
    (copy / name).write_text(source.replace(before, after), encoding="utf-8")
    return SecondChecker(copy)


@pytest.mark.parametrize("one_in", [4, pytest.param(1, marks=pytest.mark.long)])
def test_cases_of_the_corpora(one_in: int, second: SecondChecker) -> None:
    cases = CASES[::one_in]
    agreement = of_corpora(second, cases)
    assert agreement.wrong == []
    assert agreement.relations.total() == len(cases)
    assert agreement.relations[Relation.SAME] > 0.9 * len(cases)
    assert agreement.relations[Relation.CHECKER] == 0  # what the corpora accept, v1.md itself proves


def test_some_mutants(second: SecondChecker) -> None:
    agreement = of_mutants(second, 400, ACCEPTED[::5])
    assert agreement.wrong == []
    assert agreement.relations.total() > 25


def test_certificates_of_random_heads(second: SecondChecker) -> None:
    agreement = of_random_heads(second, range(4, 5))
    assert agreement.wrong == []
    assert agreement.relations[Relation.SAME] > 10


def with_open_ends(case: Case) -> Case:
    """An accepted case with ends taken away, and under top_k a floor. Many of these no longer prove their class."""
    rng = random.Random(case.name)
    record = json.loads(case.certificate)
    predicate = record["predicate"]
    for statement in predicate["statements"]:
        if "interval" in statement and rng.random() < 0.3:
            statement["interval"][rng.randrange(2)] = None
    if predicate["paradigm"] == "top_k":
        exempt = sorted(one["prototype"] for one in predicate["statements"] if "prototype" in one)
        predicate["statements"].append({"except": exempt, "lower": rng.choice((-32.0, -1.0, 0.0, 0.25)).hex()})
    predicate["claims"] = [claim for claim in predicate["claims"] if claim != "minimality" or rng.random() < 0.5]
    predicate["margins"] = [None if margin is None else "0x1p-30" for margin in predicate["margins"]]
    return Case(case.name, json.dumps(record).encode(), case.head, case.latents, "", "", "")


def open_ends(second: SecondChecker, cases: list[Case] = ACCEPTED, until_noticed: bool = False) -> Agreement:
    agreement = Agreement()
    for case in cases:
        agreement.add(case.name, compared(second, with_open_ends(case)))
        if until_noticed and (agreement.wrong or agreement.listed):
            break
    return agreement


@pytest.mark.parametrize("one_in", [3, pytest.param(1, marks=pytest.mark.long)])
def test_statements_with_one_end_and_floors(one_in: int, second: SecondChecker) -> None:
    cases = ACCEPTED[::one_in]
    agreement = open_ends(second, cases)
    assert agreement.wrong == []
    assert agreement.relations[Relation.SAME] > 0.9 * len(cases)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("known.js", "this.clauses.filter((clause) => !clause.except.has(j))", "this.clauses"),
        ("known.js", "inner, endless: far.endless", "inner, endless: side < 0"),
        ("known.js", "lo: s.lo || ZERO", "lo: s.lo || ONE"),
        ("image.js", "lo !== null && compare(x.b, lo) < 0", "lo === null || compare(x.b, lo) < 0"),
    ],
)
def test_a_changed_reading_of_one_end_is_noticed(name: str, before: str, after: str, tmp_path: Path) -> None:
    """It proves other statements, or none."""
    agreement = open_ends(changed(tmp_path, name, before, after), until_noticed=True)
    assert agreement.wrong or agreement.listed


@pytest.mark.long
def test_many_mutants(second: SecondChecker) -> None:
    agreement = of_mutants(second, 120, ACCEPTED)
    assert agreement.wrong == []
    assert agreement.relations.total() > 500


@pytest.mark.long
def test_certificates_of_many_random_heads(second: SecondChecker) -> None:
    agreement = of_random_heads(second, range(12, 15))
    assert agreement.wrong == []
    assert agreement.relations[Relation.SAME] > 60


@pytest.mark.long
def test_certificates_of_the_demo(second: SecondChecker) -> None:
    agreement = of_demo(second, 1)
    assert agreement.wrong == []
    assert agreement.relations[Relation.SAME] > 3


@pytest.mark.parametrize(("wrong", "code"), [([], 0), (["another case"], 1)])
def test_the_command_lists_what_one_proves_alone(wrong: list[str], code: int, monkeypatch, capsys) -> None:
    agreement = Agreement(Counter({Relation.SECOND: 1}), ["a case"], wrong)
    monkeypatch.setattr(command, "TRIALS", {"few": lambda *_: agreement})
    monkeypatch.setattr(sys, "argv", ["second", "--only", "few"])
    assert command.main() == code
    assert capsys.readouterr().out.splitlines()[1:] == [f"  {line}" for line in (*wrong, "a case")]


TOO_MUCH = {
    "margin": ("verify.js", "compare(proved, certificate.margins[c]) < 0", "false"),
    "minimality": ("verify.js", "if (needless >= 0)", "if (false)"),
    "instance": ("domain.js", "upper !== null && z.some((x) => compare(x, upper) > 0)", "false"),
    "malformed": ("json.js", "refuseUnless(!object.has(key)", "refuseUnless(true"),
}
"""A line that accepts too much: for each reason of a verdict, one of those cases has to notice it."""

TOO_LITTLE = {
    "all margins are too great": ("verify.js", "compare(proved, certificate.margins[c]) < 0", "true"),
    "no statement is needed": ("verify.js", "if (needless >= 0)", "if (true)"),
    "statements end before their upper end": (
        "image.js",
        "compare(x.b, hi) <= 0) ? true",
        "compare(x.b, hi) < 0) ? true",
    ),
    "one subject": ("certificate.js", "subjects.length === 1 || subjects.length === 2", "subjects.length === 1"),
}


@pytest.mark.parametrize("reason", TOO_MUCH)
def test_a_checker_that_accepts_too_much_is_noticed(reason: str, tmp_path: Path) -> None:
    generous = changed(tmp_path, *TOO_MUCH[reason])
    assert any(of_corpora(generous, [case]).wrong for case in CASES if case.reason == reason)


@pytest.mark.parametrize("what", TOO_LITTLE)
def test_a_checker_that_accepts_too_little_is_noticed(what: str, tmp_path: Path) -> None:
    assert of_corpora(changed(tmp_path, *TOO_LITTLE[what]), ACCEPTED[:20]).wrong


def test_what_a_changed_checker_alone_proves_of_mutants_is_judged(tmp_path: Path) -> None:
    """The corpora's marks are not needed for it: latents that break the claim are searched for."""
    generous = changed(tmp_path, "verify.js", "compare(proved, certificate.margins[c]) < 0", "false")
    agreement = of_mutants(generous, 3, [case for case in ACCEPTED if case.name.startswith("accept/top_k-inner")][:1])
    assert any("latents that satisfy every statement fall short" in line for line in agreement.wrong)


def test_a_faulty_checker_is_noticed(second: SecondChecker) -> None:
    """The comparison runs the other way, too: the fault is the checker's here."""

    class Trusting:
        """Claims of latents are all proved."""

        def __init__(self, head: bytes, latents: bytes | None, kernel: str) -> None:
            from verale.checker import Auditor

            self._auditor = Auditor(head, None, kernel)

        def check(self, certificate: bytes, minimality: bool) -> object:
            return self._auditor.check(certificate, minimality=minimality)

    refuted = [case for case in CASES if case.status == "REFUTED" and case.witness is None]
    assert of_corpora(second, refuted, Trusting).wrong


@every(
    ("checker", "status", "reason", "detail", "expected"),
    [
        ("PROVED", "PROVED", "", "", Relation.SAME),
        ("PROVED", "PROVED", "unclaimed", "", Relation.WRONG),
        ("PROVED", "NOT_PROVED", "entailment", "", Relation.CHECKER),
        ("PROVED", "NOT_PROVED", "instance", "statement 0 cannot be decided", Relation.CHECKER),
        ("PROVED", "NOT_PROVED", "instance", "statement 0 is false", Relation.WRONG),
        ("PROVED", "NOT_PROVED", "subject", "", Relation.WRONG),
        ("PROVED", "REFUTED", "refuted", "", Relation.WRONG),
        ("PROVED", "MALFORMED", "malformed", "", Relation.WRONG),
        ("PROVED", FAILED, "an error", "", Relation.WRONG),
        ("NOT_PROVED margin", "PROVED", "", "", Relation.SECOND),
        ("NOT_PROVED subject", "PROVED", "", "", Relation.WRONG),
        ("NOT_PROVED margin", "NOT_PROVED", "minimality", "", Relation.REASON),
        ("NOT_PROVED margin", "REFUTED", "refuted", "", Relation.WRONG),
        ("REFUTED refuted", "NOT_PROVED", "entailment", "", Relation.WRONG),
        ("MALFORMED malformed", "PROVED", "", "", Relation.WRONG),
        ("MALFORMED malformed", "INPUT_ERROR", "head", "", Relation.WRONG),
    ],
)
def test_what_two_verdicts_mean(checker: str, status: str, reason: str, detail: str, expected: Relation) -> None:
    words = checker.split()
    assert relation((words[0], "".join(words[1:])), SecondVerdict(status, reason, detail)) is expected


def test_an_error_of_its_own_is_a_verdict_that_agrees_with_none(tmp_path: Path) -> None:
    broken = changed(tmp_path, "verify.js", "function entailmentFault(certificate, known) {", "function gone() {")
    case: Case = ACCEPTED[0]
    said = broken.audit(case.certificate, case.head, case.latents)
    assert said.status == FAILED
    assert "entailmentFault" in said.reason
    assert of_corpora(broken, ACCEPTED[:1]).wrong


def test_it_answers_where_an_event_loop_runs() -> None:
    """As in a notebook."""
    case: Case = ACCEPTED[0]

    async def said() -> str:
        return SecondChecker().audit(case.certificate, case.head, case.latents).status

    assert asyncio.run(said()) == "PROVED"


def test_without_an_engine_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py_mini_racer", None)
    done = in_process("soundness", "--only", "second")
    assert (done.returncode, done.stdout) == (9, "")
    assert done.stderr.startswith("error: ") and done.stderr.endswith("pip install mini-racer\n")
    code = "import sys; sys.modules['py_mini_racer'] = None\nfrom verale.soundness.second import *\n" + (
        "from verale.errors import UsageError\ntry: SecondChecker()\nexcept UsageError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("pip install mini-racer\n")
    assert done.stderr == ""
