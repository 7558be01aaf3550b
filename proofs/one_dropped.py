"""What it means that no statement can be dropped. For a set T of statements let proves(T) say that the rules prove
every margin from T.

The claim of a certificate is proves(E) and, for each s in E, not proves(E - s), with the ranges of certificates/v1.md,
"Minimality", which are real numbers and not what some checker proves. If proves is monotone, that is, if proves(S)
implies proves(T) for every T that contains S, then

a. no proper subset of E is proved;
b. one deletion pass, in which each s in turn is dropped for good if the rest is still proved, ends in a set from which
   no statement can be dropped.

It is monotone where a range is that of all vectors which satisfy the statements (`projection`, `simplex`), because
fewer statements leave a larger set, and where a statement only cuts ranges (`top_k`, `sparse`). Of `assignment` nothing
is shown here: its claim is about single statements. So is that of a search with bounds that are not monotone.

Not claimed: that without s some latent of the domain is classified otherwise. Term by term, a bound can miss a margin
that holds (the last twin).

Proof. a: a proper subset lies in some E - s; were it proved, so would E - s be. b: let F be the set at the end, s
in F, and S the set when s was kept: S - s was not proved, and F - s lies in S - s.

Z3 covers sets of up to four statements, every function proves on them; the proof is for any number.

Reference: certificates/v1.md, "What is claimed", 3; docs/design.md, 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main


class _Sets:
    """The subsets of a few statements, as bits, and what is proved from them."""

    def __init__(self, count: int) -> None:
        self.singles = [z3.BitVecVal(1 << i, count) for i in range(count)]
        self.subsets = [z3.BitVecVal(i, count) for i in range(1 << count)]
        self.full = self.subsets[-1]
        self.proves = z3.Function(f"proves_{count}", z3.BitVecSort(count), z3.BoolSort())
        self.monotone = [
            z3.Implies(self.proves(self.subsets[i]), self.proves(self.subsets[j]))
            for i in range(1 << count)
            for j in range(1 << count)
            if i & j == i
        ]
        self.minimal = [self.proves(self.full), *(z3.Not(self.proves(self.full & ~single)) for single in self.singles)]
        self.no_subset = z3.And([z3.Not(self.proves(subset)) for subset in self.subsets[:-1]])

    def passed(self) -> z3.BoolRef:
        """The set that a deletion pass leaves is proved, and none of its statements can be dropped."""
        left: z3.BitVecRef = self.full
        for single in self.singles:
            left = z3.If(self.proves(left & ~single), left & ~single, left)
        kept = [z3.Implies(left & single != 0, z3.Not(self.proves(left & ~single))) for single in self.singles]
        return z3.And(self.proves(left), *kept)


SETS = {count: _Sets(count) for count in (1, 2, 3, 4)}
THREE = SETS[3]
PROVED, TRUE = z3.Reals("proved true")

LEMMA = Lemma(
    rules=("minimality",),
    code=(
        "verale/checker/reading/margin.py",
        "verale/search/rounds/deletion.py",
        "verale/search/rounds/stepwise.py",
        "verale/search/paradigms/of_activations.py",
    ),
    cases=(
        *(
            Case(f"a. no proper subset, {count} statements", [*sets.monotone, *sets.minimal], sets.no_subset)
            for count, sets in SETS.items()
        ),
        *(
            Case(f"b. a deletion pass, {count} statements", [*sets.monotone, sets.proves(sets.full)], sets.passed())
            for count, sets in SETS.items()
        ),
    ),
    twins=(
        Case("a. without monotonicity", THREE.minimal, THREE.no_subset),
        Case("b. without monotonicity", [THREE.proves(THREE.full)], THREE.passed()),
        Case("what is not proved positive is not positive", [PROVED <= TRUE, PROVED <= 0], TRUE <= 0),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
