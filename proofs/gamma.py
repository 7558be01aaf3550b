"""gamma_n = n u / (1 - n u), n u < 1. If |d_i| <= u for i = 1..n, then (1 + d_1) ... (1 + d_n) = 1 + theta with
|theta| <= gamma_n. Hence for a sum of products in which no term meets more than n rounded operations, in any
order,

    |fl(sum x_i y_i) - sum x_i y_i| <= gamma_n sum |x_i y_i|.

If s is the computed sum of terms >= 0, the exact sum differs from it by at most gamma_n s / (1 - gamma_n) =
n u s / (1 - 2 n u). gamma_(n+k) s, even multiplied in floats, is at least that if (n + k) (n + 1) u <= k and
(n + k) u <= 1/4; for u = 2^-53 and k = 1 this holds up to n = 94 million.

Proof. By induction: |theta + d + theta d| <= gamma_n + u + gamma_n u <= gamma_(n+1), since
gamma_n + u + gamma_n u = (n + 1) u / (1 - n u). Fewer factors give less, as gamma_n rises with n. In an evaluation tree
each term gets one factor for each operation on its way to the root, and one for its own product (none with a fused
multiply-add); so fl(sum) = sum x_i y_i (1 + theta_i), and |theta_i| <= gamma_n.

`gamma` computes n u exactly, 1 - n u, the quotient and the product with 1 + 8 u rounded once each, and is at least
gamma_n: (1 + 8 u) (1 - u)^2 / (1 + u) >= 1 for u <= 1/16.

Z3 proves the induction for every real n >= 0, hence products of any length; two and three factors directly; that
gamma rises; the error of four products, summed in turn, in pairs, and with fused operations; the bound from the
computed sum; and that `gamma` rounds upward.

What Z3 does not do: sums of any number of terms (the human proof treats each term separately). `nextafter` proves that
an operation is off by a factor 1 + d. Underflow is added separately, an absolute amount for each product.

Reference: Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1; docs/design.md, 4.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, main

_N, _K, _U, _THETA, _D, _G, _NEXT = z3.Reals("n k u theta d gamma gamma_next")
_ERRORS, _THETAS, _T = z3.RealVector("d", 7), z3.RealVector("theta", 4), z3.RealVector("t", 4)
_SUM, _COMPUTED = z3.Reals("sum computed")
_STEPS = z3.RealVector("rounding", 3)
_ROUNDINGS = [z3.And(-_U <= d, d <= _U) for d in _STEPS]


def _gamma(g: z3.ArithRef, n: z3.ArithRef | int) -> z3.BoolRef:
    return g * (1 - n * _U) == n * _U


def _within(x: z3.ArithRef, bound: z3.ArithRef) -> z3.BoolRef:
    return z3.And(-bound <= x, x <= bound)


def _product(count: int) -> Case:
    product: z3.ArithRef = z3.RealVal(1)
    for d in _ERRORS[:count]:
        product = product * (1 + d)
    given = [_U > 0, count * _U < 1, _gamma(_G, count), *(_within(d, _U) for d in _ERRORS[:count])]
    return Case(f"{count} factors", given, _within(product - 1, _G), "qfnra-nlsat")


_INDUCTION = [
    _N >= 0,
    _U > 0,
    _gamma(_G, _N),
    _gamma(_NEXT, _N + 1),
    _within(_THETA, _G),
    _within(_D, _U),
]
_GROWN = _within(_THETA + _D + _THETA * _D, _NEXT)
_SIZES = z3.Sum([greatest(t, -t) for t in _T])


def _ordered(fused: bool, pairs: bool) -> z3.ArithRef:
    """The computed sum of four products t_i."""
    first, second, third, fourth = (t if fused and i else t * (1 + _ERRORS[i]) for i, t in enumerate(_T))
    a, b, c = _ERRORS[4:]
    if pairs:
        return ((first + second) * (1 + a) + (third + fourth) * (1 + b)) * (1 + c)
    return (((first + second) * (1 + a) + third) * (1 + b) + fourth) * (1 + c)


def _factors(fused: bool, pairs: bool) -> list[z3.ArithRef]:
    """What each of the products is multiplied by."""
    products = [1 if fused and i else 1 + _ERRORS[i] for i in range(4)]
    a, b, c = (1 + d for d in _ERRORS[4:])
    sums = [a * c, a * c, b * c, b * c] if pairs else [a * b * c, a * b * c, b * c, c]
    return [own * way for own, way in zip(products, sums, strict=True)]


def _order(says: str, fused: bool, pairs: bool) -> Case:
    computed = z3.Sum([t * factor for t, factor in zip(_T, _factors(fused, pairs), strict=True)])
    return Case(f"four products {says}: a factor for each", [], _ordered(fused, pairs) == computed, "qfnra-nlsat")


_AFTER = [
    _N >= 1,
    _K >= 1,
    _U > 0,
    (_N + _K) * (_N + 1) * _U <= _K,
    4 * (_N + _K) * _U <= 1,
    _gamma(_G, _N),
    _gamma(_NEXT, _N + _K),
]
_AFTER += [_SUM >= 0, _within(_COMPUTED - _SUM, _G * _SUM)]
_TAKEN = _within(_COMPUTED - _SUM, _NEXT * _COMPUTED * (1 - _U))
_DIFFERENCE, _QUOTIENT = z3.Reals("difference quotient")
_FUNCTION = [_N >= 1, _U > 0, _U <= z3.Q(1, 16), _N * _U <= z3.Q(1, 2), *_ROUNDINGS, _gamma(_G, _N)]
_FUNCTION += [_DIFFERENCE == (1 - _N * _U) * (1 + _STEPS[0]), _QUOTIENT * _DIFFERENCE == _N * _U * (1 + _STEPS[1])]

LEMMA = Lemma(
    rules=("search",),
    code=(
        "verale/rounding/enclosure.py",
        "verale/bounds/pooling.py",
        "verale/bounds/margin.py",
        "verale/bounds/domain.py",
        "verale/bounds/simplex.py",
    ),
    cases=(
        _product(1),
        _product(2),
        _product(3),
        Case("one factor more, any n", [*_INDUCTION, (_N + 1) * _U < 1], _GROWN, "qfnra-nlsat"),
        Case(
            "gamma rises with n",
            [0 <= _N, 0 <= _K, _U > 0, (_N + _K) * _U < 1, _gamma(_G, _N), _gamma(_NEXT, _N + _K)],
            _G <= _NEXT,
            "qfnra-nlsat",
        ),
        _order("in turn", fused=False, pairs=False),
        _order("in pairs", fused=False, pairs=True),
        _order("in turn, fused", fused=True, pairs=False),
        Case(
            "four terms with a factor each",
            [_G >= 0, *(_within(theta, _G) for theta in _THETAS)],
            _within(z3.Sum([t * theta for t, theta in zip(_T, _THETAS, strict=True)]), _G * _SIZES),
            "qfnra-nlsat",
        ),
        Case("from the computed sum", _AFTER, _TAKEN, "qfnra-nlsat"),
        Case(
            "the function gamma is at least gamma_n",
            _FUNCTION,
            _QUOTIENT * (1 + 8 * _U) * (1 + _STEPS[2]) >= _G,
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case(
            "n factors, by n u alone",
            [_U > 0, 2 * _U < 1, *(_within(d, _U) for d in _ERRORS[:2])],
            _within((1 + _ERRORS[0]) * (1 + _ERRORS[1]) - 1, 2 * _U),
            "qfnra-nlsat",
        ),
        Case(
            "one factor more, without n u < 1",
            _INDUCTION,
            _GROWN,
            "qfnra-nlsat",
        ),
        Case(
            "relative to the sum instead of its terms' sizes",
            [_G >= 0, *(_within(theta, _G) for theta in _THETAS[:2])],
            _within(_T[0] * _THETAS[0] + _T[1] * _THETAS[1], _G * greatest(_T[0] + _T[1], -_T[0] - _T[1])),
            "qfnra-nlsat",
        ),
        Case(
            "from the computed sum, by gamma_n itself",
            [_N >= 1, _U > 0, 4 * _N * _U <= 1, _gamma(_G, _N), _SUM >= 0, _within(_COMPUTED - _SUM, _G * _SUM)],
            _within(_COMPUTED - _SUM, _G * _COMPUTED),
            "qfnra-nlsat",
        ),
        Case("the function gamma without its 1 + 8 u", _FUNCTION, _QUOTIENT * (1 + _STEPS[2]) >= _G, "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
