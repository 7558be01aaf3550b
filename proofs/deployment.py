"""A head computed in binary32. <n> is any factor in [(1 - u)^n, (1 - u)^-n], and gamma_n = n u / (1 - n u).

- |<n> - 1| <= gamma_n: products and quotients of factors 1 + d, |d| <= u, stay in [1 - n u, 1 / (1 - n u)].
- Of squared distances that are expanded, a loss of at most g (|z|^2 + |p|^2) + 2 h |z| |p| is, with |z| <= |p| + s, at
  most g s^2 + 2 (g + h) |p| s + 2 (g + h) |p|^2 for d = s^2; so d less its loss is at least
  (1 - g) s^2 - 2 G |p| s - 2 G |p|^2, G = g + h, which rises from s = G |p| / (1 - g) on.
- If a = ln((x + 1) / (x + E)) then x = (1 - E e^a) / (e^a - 1), which falls as e^a > 1 rises.
- With 0 < E < 1 and x' = x (1 + t), the shares by which x + 1 and x + E change have the sign of t and are at most |t|.
- Two logits of the same activations a', each off by at most r_c, differ by at least sum D_j a'_j - r_c - r_k.

Proofs. In the docstrings of `verale/checker/deployment.py` and `verale/checker/reading/deployment.py`, and of
`Similarity.inverse` in `verale/checker/chain.py`.

Z3 proves the steps for any n; where that rises; the inverse; the shares; the difference of two logits of two
prototypes.

What Z3 does not do: sums of many terms (`gamma` has those of four), logarithms and exponentials.

Reference: Higham, Accuracy and Stability of Numerical Algorithms, lemmas 3.1 and 3.3.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, main

_A, _U, _D, _X = z3.Reals("a u d x")
_FACTOR = [_A >= 0, _U > 0, _A + _U < 1, -_U <= _D, _D <= _U, 1 - _A <= _X, _X * (1 - _A) <= 1]
_P, _Z, _S, _G, _H = z3.Reals("p z s g h")
_LENGTHS = [_P >= 0, _S >= 0, _G > 0, _H > 0, _G + _H < z3.Q(1, 4)]
_BOTH = _G + _H


def _left(s: z3.ArithRef) -> z3.ArithRef:
    return (1 - _G) * s * s - 2 * _BOTH * _P * s - 2 * _BOTH * _P * _P


_T, _E, _Y = z3.Reals("t epsilon y")
_POWER, _GREATER = z3.Reals("power greater")
_SHARED, _WEIGHTS, _LOGITS, _R = (z3.RealVector(name, 4) for name in ("a", "w", "o", "r"))
_REAL = [_WEIGHTS[2 * c] * _SHARED[0] + _WEIGHTS[2 * c + 1] * _SHARED[1] for c in range(2)]
_OFF = [greatest(_LOGITS[c] - _REAL[c], _REAL[c] - _LOGITS[c]) <= _R[c] for c in range(2)]
_APART = sum((_WEIGHTS[j] - _WEIGHTS[2 + j]) * _SHARED[j] for j in range(2))

LEMMA = Lemma(
    rules=("deployment", "network"),
    code=(
        "verale/checker/deployment.py",
        "verale/checker/reading/deployment.py",
        "verale/checker/chain.py",
    ),
    cases=(
        Case("one factor more, below", _FACTOR, _X * (1 + _D) >= 1 - _A - _U, "qfnra-nlsat"),
        Case("one factor more, above", _FACTOR, _X * (1 + _D) * (1 - _A - _U) <= 1, "qfnra-nlsat"),
        Case("one divisor more, below", [*_FACTOR, _Y * (1 + _D) == _X], _Y >= 1 - _A - _U, "qfnra-nlsat"),
        Case("one divisor more, above", [*_FACTOR, _Y * (1 + _D) == _X], _Y * (1 - _A - _U) <= 1, "qfnra-nlsat"),
        Case(
            "what an expanded distance loses, by the distance",
            [*_LENGTHS, _Z >= 0, _Z <= _P + _S],
            _S * _S - _G * (_Z * _Z + _P * _P) - 2 * _H * _Z * _P >= _left(_S),
            "qfnra-nlsat",
        ),
        Case(
            "it rises from there on",
            [*_LENGTHS, _S * (1 - _G) >= _BOTH * _P, _Z >= _S],
            _left(_Z) >= _left(_S),
            "qfnra-nlsat",
        ),
        Case(
            "the distance of an activation",
            [0 < _E, _E < 1, _X >= 0, _POWER * (_X + _E) == _X + 1],
            _X * (_POWER - 1) == 1 - _E * _POWER,
            "qfnra-nlsat",
        ),
        Case(
            "it falls",
            [0 < _E, _E < 1, _POWER > 1, _GREATER >= _POWER],
            (1 - _E * _GREATER) * (_POWER - 1) <= (1 - _E * _POWER) * (_GREATER - 1),
            "qfnra-nlsat",
        ),
        Case(
            "both sums of a log ratio change by less than their distance",
            [0 < _E, _E < 1, _X >= 0, _T >= 0, _T < 1, greatest(_Y, 0) == _Y, _Y * (_X + _E) == _X * _T],
            z3.And(_Y <= _T, _Y * (_X + 1) >= _X * _T),
            "qfnra-nlsat",
        ),
        Case(
            "two logits of the same activations", _OFF, _LOGITS[0] - _LOGITS[1] >= _APART - _R[0] - _R[1], "qfnra-nlsat"
        ),
    ),
    twins=(
        Case("a factor stays within 1 + n u", _FACTOR, _X * (1 + _D) <= 1 + _A + _U, "qfnra-nlsat"),
        Case("it rises everywhere", [*_LENGTHS, _Z >= _S], _left(_Z) >= _left(_S), "qfnra-nlsat"),
        Case(
            "an expanded distance loses a share of itself",
            [*_LENGTHS, _Z >= 0, _Z <= _P + _S],
            _S * _S - _G * (_Z * _Z + _P * _P) - 2 * _H * _Z * _P >= (1 - 4 * _BOTH) * _S * _S,
            "qfnra-nlsat",
        ),
        Case("one loss is enough", _OFF, _LOGITS[0] - _LOGITS[1] >= _APART - _R[0], "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
