"""A certificate in words and decimals, for people.

The ends of statements are never rounded: what is read is what is proved (`lower_end`, `upper_end`). Margins are rounded
down, so a sentence about them stays true.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import count
from math import inf, nextafter

__all__ = [
    "AS_LABELLED",
    "LABELS",
    "NAMED_PICTURE",
    "OWN_NAMES",
    "PROTOTYPES",
    "PROVED_PICTURE",
    "below",
    "between",
    "caveat",
    "claim",
    "class_name",
    "enumerated",
    "from_picture",
    "how_computed",
    "labelled",
    "lower_end",
    "not_proved",
    "others",
    "part_of",
    "percent",
    "subjects",
    "pictures_of",
    "proved_claims",
    "upper_end",
    "where_wrong",
]

PROVED_PICTURE = "the proved picture"
NAMED_PICTURE = "the picture that the certificate names"
"""What an image is whose values have the digest that a certificate names, by whether that was proved of it now."""

AS_LABELLED = "as labelled"
"""What goes with a true class."""
LABELS = f"True classes are {AS_LABELLED}, which nothing checks."
PROTOTYPES = "Nothing proves what pictures of prototypes show, nor where prototypes come from."

OWN_NAMES = "The head has no names of classes; these are those of source.json."

_COMPUTED = {"real": "in real arithmetic", "float32": "in float32, in any order of sums"}

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


def proved_claims(status: str, claims: Mapping[str, str]) -> frozenset[str]:
    """The claims that a verdict proves; none unless it is PROVED."""
    return frozenset(claim for claim, state in claims.items() if status == "PROVED" and state == "proved")


def not_proved(proved: Collection[str] = ()) -> str:
    """What a verdict that proves these claims does not say, as a sentence."""
    of_picture = "picture" in proved
    rounding = (
        "that network and head round to the same class where they are deployed"
        if of_picture
        else "that the head, deployed in float32, rounds to the same class"
    )
    parts = (
        "" if of_picture else "anything about the network that makes latents from images",
        "" if "deployment" in proved else rounding,
        "how the picture was made, and cut or resized" if of_picture else "",
        "that the network is right",
    )
    return f"Not proved: {'; '.join(filter(None, parts))}."


def how_computed(arithmetic: str | None) -> str:
    """How the network gives the latents of a picture, by the certificate's arithmetic."""
    return _COMPUTED.get(arithmetic or "", "")


def from_picture(arithmetic: str | None) -> str:
    """What a certificate that begins at a picture claims besides, as a sentence."""
    return (
        f"From the bytes of the picture, this network, {how_computed(arithmetic)}, gives latents of which this holds."
    )


def pictures_of(arithmetics: Iterable[str | None]) -> str:
    """What is proved of the pictures of several certificates, with these arithmetics, as a sentence."""
    how = " or ".join(how_computed(each) for each in sorted(set(arithmetics), key=str, reverse=True))
    return (
        f"Proofs begin at the bytes of the pictures: {how}, this network gives each of them latents that satisfy the"
        " statements, and so this class."
    )


def labelled(label: str) -> str:
    """A true class as a sentence."""
    return f"True class {label}, {AS_LABELLED}, which nothing checks."


def where_wrong(label: str, correct: bool | None) -> str:
    """What follows a class that is wrong by its label; empty where it is right, or no label is known."""
    return f", which is wrong: true class {label} ({AS_LABELLED})" if correct is False else ""


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
