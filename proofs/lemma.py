"""What a lemma is, and what it takes for Z3 to have proved it.

A file of this folder is one lemma: its docstring states it and proves it by hand, for any dimension and any number of
anchors; its `LEMMA` lists what Z3 proves of it, where needed for small sizes. `python -m proofs.NAME` runs one.

A `Case` is proved when Z3 finds its hypotheses satisfiable (else anything follows from them) and their conjunction with
the negated claim not. `unknown`, which is also what a time limit gives, is a failure. A lemma has a `twin` at least, a
case that looks alike and is false: Z3 has to find a model of its hypotheses in which its claim does not hold, and the
model is put back into both. Else a lemma that says nothing would pass.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import z3

__all__ = ["Case", "LemmaError", "Lemma", "Outcome", "greatest", "least", "main", "run"]


class LemmaError(Exception):
    """What Z3 did instead of proving or refuting."""


@dataclass(frozen=True)
class Case:
    """A claim under hypotheses.

    Attributes:
        says: the case, in words.
        given: the hypotheses.
        claim: what follows from them (of a twin: what does not).
        tactic: Z3's tactic for it; `smt` is the general solver, `qfnra-nlsat` the one for polynomials.
        seconds: the time limit of each question.
    """

    says: str
    given: Sequence[z3.BoolRef]
    claim: z3.BoolRef
    tactic: str = "smt"
    seconds: float = 30.0

    def prove(self) -> None:
        """Raises LemmaError, with the model where there is one."""
        if self._solver().check() != z3.sat:
            raise LemmaError(f"{self.says}: the hypotheses were not found satisfiable")
        solver = self._solver(z3.Not(self.claim))
        answer = solver.check()
        if answer == z3.sat:
            raise LemmaError(f"{self.says}: a counterexample, {solver.model()}")
        if answer != z3.unsat:
            raise LemmaError(f"{self.says}: unknown ({solver.reason_unknown()}), which proves nothing")

    def refute(self) -> z3.ModelRef:
        """A model of the hypotheses in which the claim is false. Raises LemmaError."""
        solver = self._solver(z3.Not(self.claim))
        answer = solver.check()
        if answer != z3.sat:
            raise LemmaError(f"{self.says}: expected a counterexample, Z3 says {answer}")
        model = solver.model()
        for formula in (*self.given, z3.Not(self.claim)):
            if not z3.is_true(model.eval(formula, model_completion=True)):
                raise LemmaError(f"{self.says}: Z3's model does not make {formula} true")
        return model

    def _solver(self, *further: z3.BoolRef) -> z3.Solver:
        solver = z3.Tactic(self.tactic).solver()
        solver.set("timeout", int(1000 * self.seconds))
        solver.add(*self.given, *further)
        return solver


@dataclass(frozen=True)
class Lemma:
    """A lemma and what it justifies.

    Attributes:
        rules: the rules of the checker that rest on it, as TRUSTED.md names them; what is named `search` is a bound of
            the search alone.
        code: the files that use it, from the repository's root.
        cases: what is proved.
        twins: what looks alike and is refuted.
    """

    rules: tuple[str, ...]
    code: tuple[str, ...]
    cases: tuple[Case, ...]
    twins: tuple[Case, ...]


@dataclass(frozen=True)
class Outcome:
    """What was done for a lemma: cases proved, twins refuted, what failed, seconds of processor time."""

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
    """Prove every case, refute every twin; a lemma without either fails."""
    start = time.process_time()
    failures = [] if lemma.cases and lemma.twins else ["a lemma has a case and a twin at least"]
    proved, unproved = _tried([case.prove for case in lemma.cases])
    refuted, unrefuted = _tried([twin.refute for twin in lemma.twins])
    return Outcome(proved, refuted, (*failures, *unproved, *unrefuted), time.process_time() - start)


def _tried(attempts: Sequence[Callable[[], object]]) -> tuple[int, list[str]]:
    """How many attempts succeed, and what the others say."""
    failures = []
    for attempt in attempts:
        try:
            attempt()
        except LemmaError as failure:
            failures.append(str(failure))
    return len(attempts) - len(failures), failures


def main(lemma: Lemma) -> None:
    """Tell what Z3 says of a lemma; the exit code is 1 where it fails."""
    for case in lemma.cases:
        print(f"to prove   {case.says}")
    for twin in lemma.twins:
        print(f"to refute  {twin.says}")
    outcome = run(lemma)
    for failure in outcome.failures:
        print(f"FAILED     {failure}")
    print(f"{outcome.proved} proved, {outcome.refuted} refuted, {outcome.seconds:.1f} s")
    sys.exit(bool(outcome.failures))
