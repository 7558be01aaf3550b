"""What a lemma is, and when Z3 has proved it.

A file of this folder is one lemma. Its docstring states it and proves it in words, for any dimension and any number of
anchors. Its `LEMMA` lists what Z3 proves of it, some of it for small sizes only. `python -m proofs.NAME` runs one.

A `Case` is proved when Z3 finds its hypotheses satisfiable (otherwise anything follows from them), and finds them
unsatisfiable together with the negated claim. `unknown` is a failure; a time limit gives it too. A lemma has at least
one `twin`, a case that looks alike and is false. Z3 has to find a model of its hypotheses in which its claim does not
hold, and the model is checked against both. Without twins a lemma that says nothing would pass.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import z3

__all__ = ["Case", "LemmaError", "Lemma", "Outcome", "greatest", "least", "main", "run"]


class LemmaError(Exception):
    """Z3 did not prove, or did not refute."""


@dataclass(frozen=True)
class Case:
    """A claim under hypotheses.

    Attributes:
        says: the case, in words.
        given: the hypotheses.
        claim: what follows from them (in a twin: what does not).
        tactic: Z3's tactic for it; `smt` is the general solver, `qfnra-nlsat` that for polynomials.
        seconds: the time limit of each question.
    """

    says: str
    given: Sequence[z3.BoolRef]
    claim: z3.BoolRef
    tactic: str = "smt"
    seconds: float = 30.0

    def prove(self, context: z3.Context) -> None:
        """Raises LemmaError, with the counterexample if there is one."""
        if self._solver(context).check() != z3.sat:
            raise LemmaError(f"{self.says}: the hypotheses were not found satisfiable")
        solver = self._solver(context, z3.Not(self.claim))
        answer = solver.check()
        if answer == z3.sat:
            raise LemmaError(f"{self.says}: a counterexample, {solver.model()}")
        if answer != z3.unsat:
            raise LemmaError(f"{self.says}: unknown ({solver.reason_unknown()}), which proves nothing")

    def refute(self, context: z3.Context) -> z3.ModelRef:
        """A model of the hypotheses in which the claim is false. Raises LemmaError."""
        solver = self._solver(context, z3.Not(self.claim))
        answer = solver.check()
        if answer != z3.sat:
            raise LemmaError(f"{self.says}: expected a counterexample, Z3 says {answer}")
        model = solver.model()
        for formula in (*self.given, z3.Not(self.claim)):
            if not z3.is_true(model.eval(formula.translate(solver.ctx), model_completion=True)):
                raise LemmaError(f"{self.says}: Z3's model does not make {formula} true")
        return model

    def _solver(self, context: z3.Context, *further: z3.BoolRef) -> z3.Solver:
        solver = z3.Tactic(self.tactic, context).solver()
        solver.set("timeout", int(1000 * self.seconds))
        solver.add(*(formula.translate(context) for formula in (*self.given, *further)))
        return solver


@dataclass(frozen=True)
class Lemma:
    """A lemma and what it justifies.

    Attributes:
        rules: the rules of the checker that rest on it, as TRUSTED.md names them; `search` means that only a bound of
            the search rests on it.
        code: the files that use it, relative to the repository's root.
        cases: what is proved.
        twins: what looks alike and is refuted.
    """

    rules: tuple[str, ...]
    code: tuple[str, ...]
    cases: tuple[Case, ...]
    twins: tuple[Case, ...]


@dataclass(frozen=True)
class Outcome:
    """The result for a lemma: cases proved, twins refuted, failures, seconds of processor time."""

    proved: int
    refuted: int
    failures: tuple[str, ...]
    seconds: float


def greatest(*values: z3.ArithRef) -> z3.ArithRef:
    """The greatest of some numbers, as a term."""
    first, *others = values
    for other in others:
        first = z3.If(first >= other, first, other)
    return first


def least(*values: z3.ArithRef) -> z3.ArithRef:
    """The least of some numbers, as a term."""
    first, *others = values
    for other in others:
        first = z3.If(first <= other, first, other)
    return first


def run(lemma: Lemma) -> Outcome:
    """Prove every case, refute every twin; a lemma without either fails.

    In a context of their own, since how long Z3 takes depends on what its context was asked before.
    """
    start, context = time.process_time(), z3.Context()
    failures = [] if lemma.cases and lemma.twins else ["a lemma has at least one case and one twin"]
    proved, unproved = _tried([partial(case.prove, context) for case in lemma.cases])
    refuted, unrefuted = _tried([partial(twin.refute, context) for twin in lemma.twins])
    return Outcome(proved, refuted, (*failures, *unproved, *unrefuted), time.process_time() - start)


def _tried(attempts: Sequence[Callable[[], object]]) -> tuple[int, list[str]]:
    """How many attempts succeed, and the messages of those that fail."""
    failures = []
    for attempt in attempts:
        try:
            attempt()
        except LemmaError as failure:
            failures.append(str(failure))
    return len(attempts) - len(failures), failures


def main(lemma: Lemma) -> None:
    """Print what Z3 says of a lemma; the exit code is 1 if it fails."""
    for case in lemma.cases:
        print(f"to prove   {case.says}")
    for twin in lemma.twins:
        print(f"to refute  {twin.says}")
    outcome = run(lemma)
    for failure in outcome.failures:
        print(f"FAILED     {failure}")
    print(f"{outcome.proved} proved, {outcome.refuted} refuted, {outcome.seconds:.1f} s")
    sys.exit(bool(outcome.failures))
