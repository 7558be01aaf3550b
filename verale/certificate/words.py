"""A certificate in words and decimals, for people. Decimals are rounded so that each sentence stays true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf

__all__ = ["NOT_PROVED", "above", "below", "between", "caveat", "claim", "enumerated", "others", "subjects"]

NOT_PROVED = (
    "Not proved: anything about the network that makes latents from images; that the head, deployed in float32, rounds"
    " to the same class; that the network is right."
)

_NAMED = 8
"""The most prototypes that a clause names."""


def claim(predicted: str, size: int, margin: str, about: str) -> str:
    """A certificate's claim as a sentence.

    Args:
        predicted: the class.
        size: the number of statements.
        margin: the least margin, rounded down.
        about: what the statements are about (`subjects`).
    """
    which = f"the {size} statements about {about}" if size != 1 else f"the one statement about {about}"
    satisfying = f"that satisfies {which}" if size else "of the head's domain"
    return (
        f"Every latent tensor {satisfying} is classified as {predicted}, every other class staying at least {margin}"
        " below it, in real arithmetic."
    )


def subjects(patches: bool, activations: bool) -> str:
    """What statements are about, by whether some are about patches and some about activations."""
    return " and ".join(name for name, some in (("patches", patches), ("activations", activations)) if some)


def caveat(status: str, claims: Mapping[str, str]) -> str:
    """Why perhaps no latents satisfy the statements of what is PROVED; empty where the instance is proved too."""
    instance = claims.get("instance", "not claimed")
    if status != "PROVED" or instance == "proved":
        return ""
    return "no instance claimed" if instance == "not claimed" else f"instance {instance}"


def others(exempt: Sequence[int]) -> str:
    """The prototypes that a clause speaks of, all but the exempt ones. A long list is cut, and says how long it is."""
    if not exempt:
        return "every prototype"
    if len(exempt) > _NAMED:
        return f"every prototype but {len(exempt)} ({', '.join(map(str, exempt[:_NAMED]))}, ...)"
    return f"every prototype but {enumerated(list(map(str, exempt)))}"


def enumerated(words: Sequence[str]) -> str:
    """A list in words: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def between(lower: float | Fraction | None, upper: float | Fraction | None, digits: int = 6) -> str:
    """An interval rounded outward; an end that is infinite or None is no bound."""
    bounded = lower is not None and lower != -inf, upper is not None and upper != inf
    if lower is not None and bounded == (True, False):
        return f"at least {below(lower, digits)}"
    if upper is not None and bounded == (False, True):
        return f"at most {above(upper, digits)}"
    return "anything" if lower is None or upper is None else f"[{below(lower, digits)}, {above(upper, digits)}]"


def below(value: float | Fraction, digits: int = 6) -> str:
    """The greatest decimal with so many digits that is at most the value."""
    return _decimal(value, digits, ROUND_FLOOR)


def above(value: float | Fraction, digits: int = 6) -> str:
    """The least decimal with so many digits that is at least the value."""
    return _decimal(value, digits, ROUND_CEILING)


def _decimal(value: float | Fraction, digits: int, rounding: str) -> str:
    exact = Fraction(value)
    context = Context(prec=digits, rounding=rounding, Emin=-(10**6), Emax=10**6)
    number = context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize(context)
    plain = number == 0 or -5 <= number.adjusted() < 15
    return f"{number:f}" if plain else f"{number:e}"
