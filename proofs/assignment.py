"""Assignment: prices bound what all patches can give together. Let masses be as in `simplex`, a_k = max_l m_lk, w_k > 0
for the k below, R_l what is left of patch l, o_k >= 0 at least every stated mass of k, and x_lk = w_k (R_l - o_k)^+
where k is unstated at l. For any prices v_k >= 0, with u_l the greatest of 0 and of these x_lk - v_k,

    sum_k w_k a_k <= sum_k (w_k o_k + v_k) + sum_l u_l.

Proof. Where a_k <= o_k, v_k >= 0 is enough. Else a_k is attained by a mass m at a patch l where k is unstated, and
o_k < m <= R_l. Then R_l (m - o_k) <= m (R_l - o_k), because the difference is o_k (R_l - m) >= 0. So
w_k (m - o_k) <= (m / R_l) x_lk <= (m / R_l) (v_k + u_l) <= v_k + (m / R_l) u_l. Choose one such patch for each such k.
The masses of all k that chose l sum to at most R_l, so their bounds sum to at most their v_k plus u_l once. Prices
rounded up are still prices.

Z3 proves the bound of one mass; the sum over three masses of one patch; and the whole for two patches and two
prototypes beside another that takes the rest, under each of the 16 choices of what is stated, with every number free.

What Z3 does not do: more patches and prototypes. That is the human proof; the first two cases are its steps.

Reference: docs/design.md, 3.2.
"""

from __future__ import annotations

from itertools import product

import z3

from .lemma import Case, Lemma, greatest, main

_PATCHES, _PROTOTYPES = range(2), range(2)
_ZERO = z3.RealVal(0)
_MASS, _LOW, _HIGH = ([z3.RealVector(f"{name}_{patch}", 2) for patch in _PATCHES] for name in ("m", "low", "high"))
_PRICE, _WEIGHT = z3.RealVector("v", 2), z3.RealVector("w", 2)


def _given(stated: set[tuple[int, int]]) -> list[z3.BoolRef]:
    """Masses, and another prototype's mass beside them; which pairs are stated."""
    given = [mass >= 0 for row in _MASS for mass in row] + [z3.Sum(row) <= 1 for row in _MASS]
    given += [weight > 0 for weight in _WEIGHT]
    for patch, k in sorted(stated):
        low, mass, high = _LOW[patch][k], _MASS[patch][k], _HIGH[patch][k]
        given += [low >= 0, low <= mass, mass <= high]
    return given


def _bound(stated: set[tuple[int, int]], once: bool = False) -> z3.BoolRef:
    """The rule; `once`: with the greatest u_l instead of their sum."""
    left = [
        greatest(_ZERO, 1 - z3.Sum([_ZERO, *(_LOW[patch][k] for k in _PROTOTYPES if (patch, k) in stated)]))
        for patch in _PATCHES
    ]
    tops = []
    for k in _PROTOTYPES:
        masses = [
            z3.If(_HIGH[patch][k] <= _LOW[patch][k] + left[patch], _HIGH[patch][k], _LOW[patch][k] + left[patch])
            for patch in _PATCHES
            if (patch, k) in stated
        ]
        tops.append(greatest(_ZERO, *masses))
    excess = []
    for patch in _PATCHES:
        unstated = [k for k in _PROTOTYPES if (patch, k) not in stated]
        worth = [_WEIGHT[k] * greatest(_ZERO, left[patch] - tops[k]) - _PRICE[k] for k in unstated]
        excess.append(greatest(_ZERO, *worth))
    total = greatest(*excess) if once else z3.Sum(excess)
    gained = z3.Sum([_WEIGHT[k] * greatest(*(_MASS[patch][k] for patch in _PATCHES)) for k in _PROTOTYPES])
    return gained <= z3.Sum([_WEIGHT[k] * tops[k] + _PRICE[k] for k in _PROTOTYPES]) + total


def _whole(stated: set[tuple[int, int]]) -> Case:
    given = [*_given(stated), *(price >= 0 for price in _PRICE)]
    return Case(f"two patches, stated {sorted(stated)}", given, _bound(stated), "qfnra-nlsat")


_W, _V, _U, _M, _O, _R = z3.Reals("w v u m o r")
_ONE_MASS = [_W > 0, _V >= 0, _U >= 0, _O < _M, _M <= _R, _W * (_R - _O) <= _V + _U]
_SHARE, _PAID = z3.RealVector("share", 3), z3.RealVector("paid", 3)
_PAIRS = list(product(_PATCHES, _PROTOTYPES))
_CHOICES = [
    {pair for pair, is_stated in zip(_PAIRS, chosen, strict=True) if is_stated} for chosen in product((0, 1), repeat=4)
]

LEMMA = Lemma(
    rules=("assignment", "minimality"),
    code=("verale/checker/reading/masses.py", "verale/bounds/simplex.py"),
    cases=(
        Case("one mass", [*_ONE_MASS, _O >= 0, _R > 0], _W * (_M - _O) * _R <= _V * _R + _M * _U, "qfnra-nlsat"),
        Case(
            "three masses of one patch, as shares of what is left",
            [*(share >= 0 for share in _SHARE), z3.Sum(_SHARE) <= 1, _U >= 0],
            z3.Sum([_PAID[k] + _SHARE[k] * _U for k in range(3)]) <= z3.Sum(_PAID) + _U,
            "qfnra-nlsat",
        ),
        *map(_whole, _CHOICES),
    ),
    twins=(
        Case(
            "a price that may be negative, of a prototype stated at both patches",
            _given({(0, 0), (1, 0)}),
            _bound({(0, 0), (1, 0)}),
        ),
        Case("one patch's excess paid for all", [*_given(set()), *(v >= 0 for v in _PRICE)], _bound(set(), once=True)),
        Case("one mass, o below 0", [*_ONE_MASS, _R > 0], _W * (_M - _O) * _R <= _V * _R + _M * _U, "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
