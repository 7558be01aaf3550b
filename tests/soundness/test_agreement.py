"""The kernels agree: on the corpora, on mutants and on random heads; and what must not be is told."""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import partial
from itertools import islice
from typing import Any

import pytest
from checker_mutants.mutant import injected
from support import files, mutants
from support.mutants import mutated
from support.outside import FAULTS, of_commit
from support.proved import fake

from benchmarks.agreement import __main__ as program
from benchmarks.agreement.table import table
from benchmarks.agreement.tally import Tally, tallied
from verale.checker import Auditor, Status
from verale.soundness import compare
from verale.soundness.combinations import combinations, draws
from verale.soundness.compare import Group, Question
from verale.soundness.corpus.cases import FALSE, Case, stored
from verale.soundness.suite import SECTIONS


@pytest.fixture
def executable(proved_checker, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


def require_agreement(tally: Tally, missed: float = 0) -> None:
    """Nothing wrong. The share of certificates of which the proved checker proves less is at most `missed`; those with
    numbers that its reader does not take, such as 10^17 patches, do not count, nor do margins above those of accepted
    cases, which each may prove or not. Of what it says of minimality `test_proved_minimality` asks more."""
    assert tally.wrong == []
    assert tally.kinds["apart"] == 0
    less = [
        str(each)
        for each in tally.worst_first("less")
        if each.proved[1] not in ("limit", "minimality") and not _is_raised(each)
    ]
    assert len(less) <= missed * tally.kinds.total(), less
    assert tally.kinds["same"] > 0.9 * tally.kinds.total()


def _is_raised(each: Any) -> bool:
    return bool(each.name.startswith("reject/margin-raised-"))


@pytest.mark.parametrize("one_in", [50, pytest.param(1, marks=pytest.mark.long)])
def test_they_agree_on_the_corpora(one_in: int, executable, monkeypatch) -> None:
    cases = stored()[::one_in]
    monkeypatch.setattr(compare, "stored", lambda: cases)
    tally = tallied(compare.corpora())
    require_agreement(tally)
    assert tally.kinds.total() == len(cases)
    assert tally.kinds["more"] > 0 or one_in > 1
    assert all(each.name.startswith("reject/") for each in tally.worst_first("more"))
    assert all(tally.seconds[kernel] > 0 for kernel in ("arb", "mpmath", "proved"))


def test_the_proved_checker_refuses_what_is_asked_of_deployed_heads(executable) -> None:
    """So the comparison leaves these cases out."""
    asked = stored("deployment")
    assert len(asked) > 10 and {case.verdict("proved") for case in asked} == {("NOT_PROVED", "uncovered")}


def test_to_prove_more_is_no_disagreement(executable) -> None:
    """Of one patch the proved checker bounds a margin as a whole: a_0 - a_1 = 1 - 2 z over [-1, 1/4]."""
    parts = {"geometry": files.EUCLIDEAN, "similarity": {"kind": "negated"}, "domain": files.domain(-1.0, 0.25)}
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]], **parts)
    certificate = files.certificate(head, [], paradigm="top_k", patches=1, margins=[None, 0.25])
    assert Auditor(head, None, "proved").check(certificate, entailment_only=True).status is Status.PROVED
    verdict = Auditor(head, None, "all").check(certificate, entailment_only=True)
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "entailment")
    assert verdict.message.endswith("(proved: PROVED)")


def test_they_agree_on_mutants(executable) -> None:
    require_agreement(tallied(mutated(600, cases=5)))


def test_they_agree_on_random_heads(executable) -> None:
    tally = tallied(compare.emitted(range(0, 54, 18), 1))
    require_agreement(tally)
    assert tally.kinds.total() >= 9


@pytest.mark.parametrize("one_in", [11, pytest.param(1, marks=pytest.mark.long)])
def test_they_agree_where_ends_are_missing(one_in: int, executable) -> None:
    require_agreement(tallied(islice(compare.opened(), None, None, one_in)), missed=0.02)


@pytest.mark.long
def test_they_agree_on_the_demo(executable) -> None:
    tally = tallied(compare.demo(1))
    require_agreement(tally)
    assert tally.kinds.total() > 3


@pytest.mark.long
def test_they_agree_on_files_at_the_limits(executable, monkeypatch) -> None:
    """On half of them in turns."""
    half = of_commit(2)
    monkeypatch.setattr(compare, "stored", lambda *folders: stored(*folders)[half::2] if folders else [])
    tally = tallied(compare.corpora(large=True))
    assert tally.wrong == [], f"it is this commit's turn to try files {half}, {half + 2}, ..."
    missed = {each.name: each.proved[1] for each in tally.worst_first("less")}
    missable = {"mask-65536": "limit", "top_mean-18-digits": "limit", "large-projection-euclidean-wide": "minimality"}
    assert missed.items() <= {f"sizes/{name}": reason for name, reason in missable.items()}.items()


def is_tree_of_steps(number: int) -> bool:
    ((name, _),) = draws([number], 1)
    return "steps" in name and "soft_tree" in name


@pytest.mark.long
def test_they_agree_on_random_heads_of_more_combinations(executable) -> None:
    """But for soft trees of steps, which the program does not cover."""
    numbers = [number for number in range(0, len(combinations()), 5) if not is_tree_of_steps(number)]
    require_agreement(tallied(compare.emitted(numbers, 1)))


# What must not be is told.


def first(prefix: str, status: str = "PROVED") -> Case:
    return next(case for case in stored() if case.name.startswith(prefix) and case.status == status)


def asked_of(case: Case, **known: bool) -> list[Group]:
    return [Group(case.head, case.latents, (Question(case.name, case.certificate, **known),))]


@pytest.fixture
def answering(tmp_path, monkeypatch):
    """An executable that says the same to every question."""

    def use(answer: str) -> None:
        body = f"return None if question == 'head' else {answer}"
        monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))

    return use


NOTHING = "'not proved' if question == 'entails' else 'proved' if question == 'instance' else 'not proved'"
"""To every question of a proof."""
DISAGREE = "the kernels disagree"


@pytest.mark.parametrize(
    ("answer", "case", "kind", "lost", "wrong"),
    [
        # What another kernel refutes must not be proved.
        ("'proved'", ("reject/", "REFUTED", "refuted"), "apart", 0.0, DISAGREE),
        # Nor what is said of an image that is none of the claim.
        ("'proved'", ("reject/", "NOT_PROVED", "instance"), "apart", 0.0, ""),
        # The fake proves no entailment, and then refutes it by an image that has the class.
        ("'not proved' if question == 'entails' else 'proved'", ("accept/", "PROVED", ""), "apart", 0.0, ""),
        (
            "'not proved' if question == 'entails' else 'proved'",
            ("reject/", "NOT_PROVED", "margin"),
            "apart",
            0.0,
            DISAGREE,
        ),
        # What is not proved is less, and what dies is wrong.
        (NOTHING, ("accept/", "PROVED", ""), "less", 1.0, None),
        ("'limit: it'", ("accept/", "PROVED", ""), "less", 1.0, None),
        ("'not covered: it'", ("accept/", "PROVED", ""), "less", 1.0, None),
        ("'=yes'", ("accept/", "PROVED", ""), "apart", 0.0, ""),
        ("os._exit(1)", ("accept/", "PROVED", ""), "apart", 0.0, ""),
    ],
)
def test_what_must_not_be_is_wrong(answer, case, kind, lost, wrong, answering) -> None:
    answering(answer)
    folder, *verdict = case
    case = next(c for c in stored() if c.name.startswith(folder) and [c.status, c.reason] == verdict)
    tally = tallied(asked_of(case))
    assert tally.kinds == Counter({kind: 1})
    assert [each.lost for each in tally.worst_first(kind)] == [lost]
    if wrong is None:
        assert tally.wrong == []
    else:
        (line,) = tally.wrong
        assert line.startswith(f"{case.name}: {wrong}")
        if verdict[0] == "REFUTED":
            assert line.endswith(" (arb: REFUTED refuted, mpmath: REFUTED refuted, proved: PROVED)")


@pytest.mark.parametrize("shown", ["breaks", "claim", "dropped"])
def test_what_is_marked_as_false_must_not_be_proved(shown, answering, monkeypatch) -> None:
    """Whatever shows it: latents, a claim about the image, or a statement that may be left out."""
    answering("'proved'")
    case = next(case for case in stored() if case.mark == FALSE and getattr(case, shown) is not None)
    monkeypatch.setattr(compare, "stored", lambda: [case])
    *_, line = tallied(compare.corpora()).wrong
    assert f"{case.name}: it is marked as false (arb: {case.status} {case.reason}, " in line


RULES = (
    ("reading/margin.py", "stated margins are not compared", "reject/", "margin"),
    ("reading/evaluation.py", "the clause is about nothing", "reject/", "instance"),
    ("reading/margin.py", "the worst rival is not asked", "accept/top_k-inner", ""),
    (
        "reading/masses.py",
        "where all masses are stated, the others say nothing of the lower end",
        "accept/simplex-a",
        "",
    ),
    ("reading/quadratic.py", "without a statement, the domain's ranges are statements", "accept/joint-needed", ""),
)


@pytest.mark.parametrize(("file", "wrong", "folder", "reason"), RULES, ids=[wrong for _, wrong, *_ in RULES])
def test_a_fault_of_the_rules_is_noticed(file, wrong, folder, reason, executable, monkeypatch) -> None:
    """Both of their kernels have it, so that these agree."""
    (fault,) = (fault for fault in FAULTS if str(fault) == f"checker/{file}: {wrong}")
    cases = [case for case in stored() if case.name.startswith(folder) and case.reason == reason][:4]
    monkeypatch.setattr(compare, "stored", lambda: cases)
    sound = tallied(compare.corpora())
    with injected({file: fault.source()}) as module:
        faulty = module("").Auditor
        monkeypatch.setattr(compare, "Auditor", lambda *of: (Auditor if of[2] == "proved" else faulty)(*of))
        tally = tallied(compare.corpora())
    assert tally.kinds != sound.kinds
    assert bool(tally.wrong) == bool(reason)  # what the rules alone prove is false


def test_a_margin_that_is_missed_is_measured(tmp_path, monkeypatch) -> None:
    """Margins of at least 3/4 of the stated ones are not proved: half of them have to be given up."""
    case = first("accept/projection-euclidean")
    margins = json.loads(case.certificate)["predicate"]["margins"]
    stated = max(float.fromhex(margin) for margin in margins if margin)
    body = (
        "if question == 'head': return None\n"
        "if question != 'entails': return 'proved' if question == 'instance' else 'not proved'\n"
        "words = [int(word, 16) for word in text.split(' prices')[0].split(' ')[1:] if word != 'patch']\n"
        f"unit, margins = words[-{len(margins) + 2}], words[-{len(margins)}:]\n"
        f"return 'proved' if max(margins) / unit < {0.75 * stated!r} else 'not proved'"
    )
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, body))
    (difference,) = tallied(asked_of(case)).worst_first("less")
    assert (difference.proved, difference.lost) == (("NOT_PROVED", "margin"), 0.5)
    assert "5e-01 of the margins" in str(difference)


# The program.


def run(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["agreement", *arguments])
    some = [case for case in stored() if case.name.startswith("accept/triangle")][:2]
    monkeypatch.setattr(compare, "stored", lambda: some)
    monkeypatch.setattr(mutants, "accepted", lambda: some)
    return program.main()


def test_the_program_writes_a_table(executable, monkeypatch, tmp_path, capsys) -> None:
    out = tmp_path / "agreement.md"
    assert run(monkeypatch, "--mutants-one-in", "200", "--emitted", "3", "--out", str(out)) == 0
    text = out.read_text()
    assert capsys.readouterr().out == text
    assert "| corpora | 2 | 2 | 0 | 0 | 0 |" in text
    assert "| mutants | " in text and "| random heads | " in text
    assert text.endswith("## Wrong\n\nnothing\n")


def test_the_exit_code_says_that_something_is_wrong(answering, monkeypatch, capsys) -> None:
    answering("'=yes'")
    assert run(monkeypatch, "--mutants-one-in", "0", "--emitted", "0") == 1
    assert "EXECUTABLE_ERROR" in capsys.readouterr().out


def test_without_the_executable_or_the_data_there_is_one_line(executable, monkeypatch, tmp_path, capsys) -> None:
    assert run(monkeypatch, "--mutants-one-in", "0", "--emitted", "0", "--data", str(tmp_path)) == 9
    assert "cifar100_protopnet.safetensors is missing" in capsys.readouterr().err
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "nowhere"))
    assert run(monkeypatch) == 9
    assert capsys.readouterr().err.startswith("error: kernel proved: there is no executable")


def test_the_worst_comes_first(answering) -> None:
    answering("'proved' if question == 'instance' else 'not proved'")
    cases = [case for case in stored() if case.status == "PROVED"][:3]
    tally = tallied(group for case in cases for group in asked_of(case))
    names = [each.name for each in tally.worst_first("less")]
    assert names == sorted(names) and len(names) == 3
    text = table({"some": tally}, "a command", {"where": "here"})
    assert f"- {names[0]}: PROVED against NOT_PROVED entailment" in text and "some: 3" in text


(SECTION,) = (section for section in SECTIONS if section.name == "agreement")


def test_it_is_a_section_of_the_suite(executable, monkeypatch) -> None:
    """Of a few certificates of each kind: those that it compares are compared above."""
    some = {"corpora": compare.corpora(), "opened": compare.opened()}
    for name, groups in (some | {"emitted": compare.emitted(range(2), 1), "demo": iter(())}).items():
        few = [*islice(groups, 4)]
        monkeypatch.setattr(compare, name, partial(lambda few, *_: few, few))
    tried, detail, wrong = SECTION.try_it(False, 2)
    assert tried > 8 and wrong == ()
    assert "less" in detail


def test_the_section_says_that_nothing_was_tallied(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "nowhere"))
    tried, detail, wrong = SECTION.try_it(False, 0)
    assert (tried, wrong) == (0, ())
    assert "there is no executable" in detail and "make proved" in detail
