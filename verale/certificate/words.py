"""A certificate in words and decimals, for people: every number and every list of prototypes is told by this file.

- Ends of statements are never rounded to say more: what is read is what is proved (`lower_end`, `upper_end`).
- What is proved at least is rounded down (`below`), what is proved at most is rounded up (`above`), to four digits.
- What nobody proves is rounded to nearest, to four digits, and called "about" (`about`).
- What was given is told by the fewest digits that give it back (`written`).
- A share of a count is cut (`percent`).

So a number reads the same on pages, in figures, tables, terminals and notebooks. `report/page_files/numbers.js` is the
same for numbers that a page's script tells; a test compares both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import count
from math import inf, isfinite, nextafter

PROVED_PICTURE = "the proved picture"
NAMED_PICTURE = "the picture that the certificate names"
"""What an image is whose values have the digest that a certificate names, by whether that was proved of it now."""

AS_LABELLED = "as labelled"
"""What goes with a true class."""
LABELS = f"True classes are {AS_LABELLED}, which nothing checks."
PROTOTYPES = "Nothing proves what pictures of prototypes show, nor where prototypes come from."

OWN_NAMES = "The head has no names of classes; these are those of source.json."

_COMPUTED = {"real": "in real arithmetic", "float32": "in float32, in any order of sums"}

_DIGITS = 4
"""Of every number that is rounded."""
_MOST = 767
"""No binary64 number has more."""
_NAMED = 8
"""The most prototypes that are listed one by one; of more, neighbours are told as a range."""
_RANGE = 3
"""The fewest neighbours that make a range."""


def claim(predicted: str, size: int, margin: str, spoken_of: str) -> str:
    """A certificate's claim as a sentence: the class, the number of statements, the least margin, rounded down, and
    what the statements are about (`subjects`)."""
    which = f"the {size} statements about {spoken_of}" if size != 1 else f"the one statement about {spoken_of}"
    satisfying = f"that satisfies {which}" if size else "of the head's domain"
    return (
        f"Every latent tensor {satisfying} is classified as {predicted}, every other class staying at least {margin}"
        " below it, in real arithmetic."
    )


@dataclass(frozen=True)
class VerdictInWords:
    """A verdict for people: the checker's status, and what became of each claim."""

    status: str = "NOT_AUDITED"
    claims: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The status as it is written."""
        return self.status.replace("_", " ")

    @property
    def proved(self) -> frozenset[str]:
        """The claims that are proved; none unless the status is PROVED."""
        return frozenset(claim for claim, state in self.claims.items() if self.status == "PROVED" and state == "proved")

    @property
    def caveat(self) -> str:
        """Why perhaps no latents satisfy the statements of what is PROVED; empty where instance or picture is."""
        picture, instance = self.claims.get("picture"), self.claims.get("instance", "not claimed")
        if self.status != "PROVED" or "proved" in (picture, instance):
            return ""
        if picture is not None:
            return f"picture {picture}"
        return "no instance claimed" if instance == "not claimed" else f"instance {instance}"

    @property
    def scope(self) -> str:
        """From where on it is PROVED; empty where it is not."""
        if self.status != "PROVED":
            return ""
        if "picture" in self.proved:
            return "from the bytes of the picture"
        if "instance" in self.proved:
            return "from the latents given for the image, not from its pixels"
        return "of latents, perhaps of none"

    @property
    def heading(self) -> str:
        """The status, and from where on it is PROVED, or why perhaps of nothing."""
        return f"{self.name}, {self.caveat}" if self.caveat else f"{self.name} {self.scope}".strip()

    @property
    def not_proved(self) -> str:
        """What it does not say, as a sentence."""
        return not_proved(self.proved)

    def image_is(self, known: str) -> str:
        """What is known of an image, given what is known without the verdict."""
        return PROVED_PICTURE if known == NAMED_PICTURE and "picture" in self.proved else known

    def begun(self, picture: str | None, arithmetic: str | None) -> str:
        """What a certificate claims of the picture with this digest, as a sentence; empty without one, and where only
        the rest is PROVED."""
        return "" if picture is None or self.caveat else from_picture(arithmetic)


NOT_COMPARED = "The head was not compared with the network: nothing says that their logits are the same."


def not_proved(proved: Collection[str] = ()) -> str:
    """What a verdict that proves these claims does not say, as a sentence."""
    of_picture = "picture" in proved
    rounding = (
        "that first layers and head round to the same class where they are deployed"
        if of_picture
        else "that the head, deployed in float32, rounds to the same class"
    )
    parts = (
        "" if of_picture else "anything about the first layers, which make latents from images",
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
        f"From the bytes of the picture, this network's first layers, {how_computed(arithmetic)}, give latents of which"
        " this holds."
    )


def pictures_of(arithmetics: Iterable[str | None]) -> str:
    """What is proved of the pictures of several certificates, with these arithmetics, as a sentence."""
    how = " or ".join(how_computed(each) for each in sorted(set(arithmetics), key=str, reverse=True))
    return (
        f"Proofs begin at the bytes of the pictures: {how}, this network's first layers give each of them latents that"
        " satisfy the statements, and so this class."
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


def as_claimed(verdict: str) -> str:
    """What follows a margin that a certificate states, unless the verdict is that it is proved."""
    return "" if verdict.startswith("PROVED") else " (claimed, not proved here)"


OBSERVABLES = {
    "euclidean": "squared distance",
    "cosine": "cosine",
    "rooted_cosine": "cosine",
    "inner_product": "inner product",
    "softmax": "softmax mass",
}
"""By the geometry's name in head files: what comparing a patch with a prototype gives."""


def meant_by(exempt: Collection[int], prototypes: int | None) -> str:
    """The prototypes that a clause speaks of, all except the exempt ones: these, or all except those, whichever are
    fewer; where it is not known how many the head has, the latter. Nothing is left out."""
    if prototypes is not None:
        meant = sorted(set(range(prototypes)).difference(exempt))
        if not meant:
            return "no prototype"
        if len(meant) < len(exempt):
            return prototypes_named(meant)
    return f"every prototype except {prototypes_named(sorted(exempt))}" if exempt else "every prototype"


def prototypes_named(numbers: Sequence[int]) -> str:
    """Prototypes by their numbers, which increase: `prototypes 1, 2 and 5`; of more than eight how many they are, and
    which, neighbours as a range: `16 prototypes (0, 2-15 and 18)`.

    Numbers of prototypes follow the word "prototype"; a number that counts them stands before it.
    """
    if len(numbers) <= _NAMED:
        return f"prototype{'' if len(numbers) == 1 else 's'} {enumerated(list(map(str, numbers)))}"
    said: list[str] = []
    start = 0
    for end in range(1, len(numbers) + 1):
        if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
            run = numbers[start:end]
            said += [f"{run[0]}-{run[-1]}"] if len(run) >= _RANGE else map(str, run)
            start = end
    return f"{len(numbers)} prototypes ({enumerated(said)})"


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
    if Decimal(low) > Decimal(high):
        low, high = (_plain(_rounded(end, _MOST, ROUND_FLOOR)) for end in (lower, upper))
    return both.format(low, high)


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


def below(value: float | Fraction, digits: int = _DIGITS) -> str:
    """The greatest decimal with so many digits that is at most the value: of what is proved at least."""
    return _told(value, digits, ROUND_FLOOR)


def above(value: float | Fraction, digits: int = _DIGITS) -> str:
    """The least decimal with so many digits that is at least the value: of what is proved at most."""
    return _told(value, digits, ROUND_CEILING)


def about(value: float | Fraction, digits: int = _DIGITS) -> str:
    """The decimal with so many digits that is nearest to the value, the even one of two: of what nobody proves."""
    return _told(value, digits, ROUND_HALF_EVEN)


def float_below(value: float | Fraction) -> float:
    """What `below` says of a binary64 number, as a number of a table: at most the value, however that is printed.

    Soundness: Python prints a float as a decimal that may be greater than it. Of those that are not, this is the float
    nearest to `below(value)`, or one that is less.
    """
    exact, near = Fraction(value), float(below(value))
    while near > -inf and Fraction(repr(near)) > exact:
        near = nextafter(near, -inf)
    return near


def written(value: float) -> str:
    """The decimal with the fewest digits that is nearest to no other binary64 number: of what was given."""
    return _plain(Decimal(repr(float(value))).normalize()) if isfinite(value) else str(float(value))


def _told(value: float | Fraction, digits: int, rounding: str) -> str:
    """A number rounded to so many digits; one that is not finite as Python writes it."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return _plain(_rounded(value, digits, rounding))


def _shorter_first(value: float | Fraction, rounding: str) -> Iterator[tuple[str, Decimal]]:
    """A number rounded to one digit, to two, and so on."""
    return ((_plain(number), number) for number in (_rounded(value, digits, rounding) for digits in count(1)))


def _rounded(value: float | Fraction, digits: int, rounding: str) -> Decimal:
    context = Context(prec=digits, rounding=rounding, Emin=-(10**6), Emax=10**6)
    if isinstance(value, float):  # as a decimal it is exact
        return Decimal(value).normalize(context)
    exact = Fraction(value)
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize(context)


def _plain(number: Decimal) -> str:
    if number == 0:
        return "0"
    return f"{number:f}" if -5 <= number.adjusted() < 15 else f"{number:e}"


def percent(part: int, whole: int) -> str:
    """A share of what is more than nothing, rounded down: it is 100 % only if it is all."""
    tenths = 1000 * part // whole
    return f"{tenths // 10}.{tenths % 10} %"


def seen_alone(least: Fraction, most: Fraction) -> str:
    """Of the shares of their squares that patches see alone, the least and the greatest, which are proved at least."""
    if not most:
        return "no part of a patch's square is seen by it alone"
    one, other = (percent(share.numerator, share.denominator) for share in (least, most))
    return f"of its square a patch sees alone at least {one}" + ("" if one == other else f", the best one {other}")


def part_of(part: int, whole: int) -> str:
    """A count and its share of what is more than nothing."""
    return f"{part} of {whole} ({percent(part, whole)})"
