"""A certificate in words and decimals, for people.

The ends of statements are never rounded: what is read is what is proved (`lower_end`, `upper_end`). Margins are rounded
down, so a sentence about them stays true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import count
from math import inf, nextafter

__all__ = [
    "NOT_PROVED",
    "NOT_PROVED_OF_PICTURES",
    "below",
    "between",
    "caveat",
    "claim",
    "class_name",
    "enumerated",
    "lower_end",
    "others",
    "part_of",
    "percent",
    "subjects",
    "upper_end",
]

NOT_PROVED = (
    "Not proved: anything about the network that makes latents from images; that the head, deployed in float32, rounds"
    " to the same class; that the network is right."
)

NOT_PROVED_OF_PICTURES = (
    "Not proved: that network and head round to the same class where they are deployed; how the picture was made, and"
    " cut or resized; that the network is right."
)
"""The same of certificates that begin at a picture."""

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
    """Why perhaps no latents satisfy the statements of what is PROVED; empty where instance or picture is proved."""
    picture = claims.get("picture")
    if picture is not None:
        return "" if status != "PROVED" or picture == "proved" else f"picture {picture}"
    instance = claims.get("instance", "not claimed")
    if status != "PROVED" or instance == "proved":
        return ""
    return "no instance claimed" if instance == "not claimed" else f"instance {instance}"


def others(exempt: Sequence[int], most: int = _NAMED) -> str:
    """The prototypes that a clause speaks of, all except the exempt ones. A list of more than `most` is cut, and says
    how long it is.

    Numbers of prototypes follow the word "prototype"; a number that counts them does not.
    """
    if not exempt:
        return "every prototype"
    if len(exempt) > most:
        shown = ", ".join(map(str, exempt[:most]))
        return f"every prototype except {len(exempt)} of them (prototypes {shown}, ...)"
    noun = "prototype" if len(exempt) == 1 else "prototypes"
    return f"every prototype except {noun} {enumerated(list(map(str, exempt)))}"


def enumerated(words: Sequence[str]) -> str:
    """A list in words: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def between(lower: float | Fraction | None, upper: float | Fraction | None, both: str = "[{}, {}]") -> str:
    """An interval with its ends as `lower_end` and `upper_end` give them; an end that is infinite or None is no
    bound. `both` is the form where there are two.

    Where the ends are so near that the shorter decimals would be in the wrong order, which nothing could satisfy, they
    are told exactly, with all their digits.
    """
    bounded = lower is not None and lower != -inf, upper is not None and upper != inf
    if lower is not None and bounded == (True, False):
        return f"at least {lower_end(lower)}"
    if upper is not None and bounded == (False, True):
        return f"at most {upper_end(upper)}"
    if lower is None or upper is None:
        return "anything"
    low, high = lower_end(lower), upper_end(upper)
    return both.format(low, high) if Decimal(low) <= Decimal(high) else both.format(_exact(lower), _exact(upper))


def upper_end(value: float | Fraction) -> str:
    """An upper end as a decimal: of those whose nearest float from above is this end, the one with the fewest digits.

    Args:
        value: the end, a binary64 number.

    Soundness: the decimal d is at most the end. So whatever is at most d is at most the end: the sentence with d is
    implied by the statement, and entails the class if the statement does. Rounding d up to a binary64 number gives
    the end back, so no other statement is told in the same words.
    """
    before = nextafter(float(value), -inf)
    return next(text for text, number in _shorter_first(value, ROUND_FLOOR) if number > before)


def lower_end(value: float | Fraction) -> str:
    """A lower end as a decimal: of those whose nearest float from below is this end, the one with the fewest digits;
    see `upper_end`."""
    after = nextafter(float(value), inf)
    return next(text for text, number in _shorter_first(value, ROUND_CEILING) if number < after)


def class_name(number: int, names: Sequence[str] | None, longest: int | None = None) -> str:
    """A class for people: its name, where it has one, cut to so many characters; otherwise its number."""
    name = names[number] if names is not None and number < len(names) else str(number)
    return name if longest is None or len(name) <= longest else f"{name[: longest - 3]}..."


def below(value: float | Fraction, digits: int = 6) -> str:
    """The greatest decimal with so many digits that is at most the value."""
    return _plain(_rounded(value, digits, ROUND_FLOOR))


def _exact(value: float | Fraction) -> str:
    """A binary64 number with all its digits."""
    return _plain(Decimal(float(value)))


def _shorter_first(value: float | Fraction, rounding: str) -> Iterator[tuple[str, Decimal]]:
    """A number rounded to one digit, to two, and so on."""
    return ((_plain(number), number) for number in (_rounded(value, digits, rounding) for digits in count(1)))


def _rounded(value: float | Fraction, digits: int, rounding: str) -> Decimal:
    exact = Fraction(value)
    context = Context(prec=digits, rounding=rounding, Emin=-(10**6), Emax=10**6)
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize(context)


def _plain(number: Decimal) -> str:
    return f"{number:f}" if number == 0 or -5 <= number.adjusted() < 15 else f"{number:e}"


def percent(part: int, whole: int) -> str:
    """A share of what is more than nothing, rounded down: it is 100 % only if it is all."""
    return f"{1000 * part // whole / 10:.1f} %"


def part_of(part: int, whole: int) -> str:
    """A count and its share of what is more than nothing."""
    return f"{part} of {whole} ({percent(part, whole)})"
