"""Matching: no prices sum to less than what a matching gives. Let x_lk >= 0, v_k >= 0, u_l = max(0, max_k x_lk - v_k),
and let M pair patches l with prototypes k, each at most once. Then

    sum_{(l, k) in M} x_lk <= sum_k v_k + sum_l u_l.

So a matching that leaves a margin <= 0 shows that no prices prove it positive. Nor does `simplex`, which is the rule at
v_k = max_l x_lk: there u_l = 0 and w_k o_k + v_k = w_k max(o_k, R_l of the patches l where k is unstated).

Proof. x_lk <= v_k + u_l; each v_k and each u_l occurs in the sum over M at most once, and the others are >= 0. The
last: o + max(0, max_l R_l - o) = max(o, max_l R_l).

The checker's pairs use each row and each column at most once. A column has one partner. The last loop of
`heaviest_matching` moves partners one column further along a path of distinct columns that ends at a free column, and
puts the entering row at the start of the path. So one more row gets a column, and no row gets two.

Z3 proves it for three patches and three prototypes and every matching (smaller ones are parts of these), for two of one
and four of the other, and the last claim for three patches. The checker's matching need not be the heaviest: any
matching serves, and a poor one only shows less.

What Z3 does not do: any size, and the loop that moves partners; these are the human proof.

Reference: docs/design.md, 3.2; weak duality of the assignment problem, Kuhn, The Hungarian method (1955).
"""

from __future__ import annotations

from itertools import permutations

import z3

from .lemma import Case, Lemma, greatest, main

_ZERO = z3.RealVal(0)


def _case(patches: int, prototypes: int, free: bool = False) -> Case:
    """Every matching that leaves nobody out who could be matched, as a smaller one gives less; `free`: any prices."""
    x = [z3.RealVector(f"x_{patch}", prototypes) for patch in range(patches)]
    v = z3.RealVector("v", prototypes)
    u = [greatest(_ZERO, *(x[patch][k] - v[k] for k in range(prototypes))) for patch in range(patches)]
    if patches <= prototypes:
        matchings = [list(enumerate(order)) for order in permutations(range(prototypes), patches)]
    else:
        matchings = [
            [(patch, k) for k, patch in enumerate(order)] for order in permutations(range(patches), prototypes)
        ]
    paid = z3.Sum(v) + z3.Sum(u)
    return Case(
        f"all matchings of {patches} patches and {prototypes} prototypes",
        [*(worth >= 0 for row in x for worth in row), *(price >= 0 for price in v if not free)],
        z3.And([z3.Sum([x[patch][k] for patch, k in pairs]) <= paid for pairs in matchings]),
    )


_X, _V = [z3.RealVector(f"x_{patch}", 2) for patch in range(2)], z3.RealVector("v", 2)
_U = [greatest(_ZERO, *(row[k] - _V[k] for k in range(2))) for row in _X]
_WORTH = [worth >= 0 for row in _X for worth in row]
_TOP, _LEFT, _GAIN = z3.Real("o"), z3.RealVector("r", 3), z3.Real("w")
_MOST = greatest(*(_GAIN * greatest(_ZERO, left - _TOP) for left in _LEFT))
_FREE = _case(1, 3, free=True)

LEMMA = Lemma(
    rules=("minimality", "assignment"),
    code=(
        "verale/checker/reading/masses.py",
        "verale/checker/reading/masses.py",
        "verale/checker/reading/margin.py",
    ),
    cases=(
        *(_case(*sizes) for sizes in ((1, 3), (3, 3), (2, 4), (4, 2))),
        Case(
            "what simplex says is the rule at the greatest worth as the price",
            [_GAIN > 0],
            _GAIN * _TOP + _MOST == _GAIN * greatest(_TOP, *_LEFT),
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case(
            "a prototype that two patches are paired with",
            [*_WORTH, *(price >= 0 for price in _V)],
            _X[0][0] + _X[1][0] <= z3.Sum(_V) + z3.Sum(_U),
        ),
        Case("prices that may be negative, two of three prototypes left out", _FREE.given, _FREE.claim),
        Case(
            "a patch that is paired with two prototypes",
            [*_WORTH, *(price >= 0 for price in _V)],
            _X[0][0] + _X[0][1] <= z3.Sum(_V) + z3.Sum(_U),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
