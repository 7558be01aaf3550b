"""The options of the search, and the result for an image without a certificate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

from verale.certificate import Statement
from verale.errors import UsageError
from verale.options import options_of, require_known
from verale.paradigms import HIGHEST, ORDERS, PARADIGMS, READABLE
from verale.search.costs import NOTHING, UNIT_COSTS, Avoid, Costs

DEVICES = ("auto", "cpu", "cuda")
"""Devices by name; `auto` is the CPU as long as the search computes on no other: docs/decisions/0007."""

_MOST_MEMORY = 2.0**20
"""GiB: whoever gives more means bytes."""


@dataclass(frozen=True)
class Unexplained:
    """An image without a certificate, and why.

    A loop over results may ask for the attributes of a certificate: numbers that there are not are None, and there are
    no statements. `isinstance(result, Certificate)` tells the two apart, and so does `result.size is not None`.

    Attributes:
        predicted: the head's class in float64, an estimate: of a picture that of the latents which its network gives in
            float64. None where latents or logits are no numbers, or the latents lie outside the head's domain.
        reason: why there is none.
        size, margin, paradigm, minimal: None.
        statements, margins: empty.
    """

    predicted: int | None
    reason: str

    size: ClassVar[None] = None
    margin: ClassVar[None] = None
    paradigm: ClassVar[None] = None
    minimal: ClassVar[None] = None
    statements: ClassVar[tuple[Statement, ...]] = ()
    margins: ClassVar[tuple[float | None, ...]] = ()

    def __str__(self) -> str:
        of = "" if self.predicted is None else f", of class {self.predicted} by floats"
        return f"No certificate for this image{of}: {self.reason}"


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _whole_or_text(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() else text


@dataclass(frozen=True)
class SearchOptions:
    """How to search. The options change which explanation comes out, never whether it is sound.

    The help of each field says what it means. `avoid` and `costs` may be given as text, and `device` as `auto`; then
    the fields hold what that means.

    Raises:
        UsageError: a value that cannot be used.
    """

    paradigm: str = field(
        default=READABLE,
        metadata={
            "help": f"How the class follows from statements: {', '.join(PARADIGMS)}; or {READABLE}: all that the head"
            " has, and of each image the explanation is kept that is quickest to read.",
            "metavar": "NAME",
            "choices": (READABLE, *PARADIGMS),
        },
    )
    order: str | None = field(
        default=None,
        metadata={
            "help": "How statements are chosen: rival, or nearest, the published order. By default rival; under simplex"
            " both. Under top_k also highest, the published one: the highest activations alone.",
            "metavar": "NAME",
            "choices": (*ORDERS, HIGHEST),
        },
    )
    tolerance: float | str = field(
        default=0.0,
        metadata={
            "help": "Widen each stated interval outward to shorter numbers: to multiples of X, such as 0.01; by at most"
            " X%, such as 1%; or auto: for each image by the greatest percentage, up to 10%, under which it has an"
            " explanation. Wider intervals take more statements.",
            "metavar": "WIDTH",
            "parse": _number_or_text,
        },
    )
    digits: int | str = field(
        default="fewest",
        metadata={
            "help": "Digits of the numbers in statements: fewest, as few as still prove the class; a number, at most so"
            " many, which may take more statements; or exact: intervals as narrow as float64 gives.",
            "metavar": "NUMBER",
            "parse": _whole_or_text,
        },
    )
    inflate: bool = field(
        default=False,
        metadata={"help": "Widen statements as far as the class is proved (joint, top_k, sparse)."},
    )
    avoid: Avoid = field(
        default=NOTHING,
        metadata={
            "help": "State nothing about prototypes:3,7-9 or patches:0-7.",
            "metavar": "WHAT",
            "several": Avoid.parse,
        },
    )
    costs: Costs = field(
        default=UNIT_COSTS,
        metadata={
            "help": "What statements cost, else 1: prototypes:3,7-9=2, patches:0-7=10, statement:5,7=0.5, ceiling=2,"
            " floor=2. The cheapest explanation that is found is kept.",
            "metavar": "WHAT=COST",
            "several": Costs.parse,
        },
    )
    device: str = field(
        default="auto",
        metadata={
            "help": "What searches: cpu, cuda (examined first; pictures are searched on the CPU), or auto: cpu.",
            "metavar": "NAME",
            "completed": DEVICES,
        },
    )
    batch: int = field(
        default=16,
        metadata={"help": "Images explained at once; the same batch gives the same bytes.", "metavar": "NUMBER"},
    )
    max_memory: float = field(
        default=4.0,
        metadata={
            "help": "Memory, in GiB, for the batches of all processes together; batches shrink to stay within it.",
            "metavar": "GIB",
        },
    )

    def __post_init__(self) -> None:
        for name, option in options_of(SearchOptions).items():
            value, known = getattr(self, name), option.metadata.get("choices")
            if known and value is not option.default and not (isinstance(value, str) and value in known):
                raise _wrong(name, value, f"one of {', '.join(known)}")
            if "several" in option.metadata and isinstance(value, str):
                object.__setattr__(self, name, option.metadata["several"]([value]))
        if self.order == HIGHEST and self.paradigm != "top_k":
            raise UsageError(f"order {HIGHEST!r} is one of paradigm 'top_k', which has to be given with it")
        if type(self.device).__name__ == "device":  # torch's
            object.__setattr__(self, "device", str(self.device))
        for name, kind, expected in (
            ("tolerance", (Real, str), "a number, a percentage such as '1%', or 'auto'"),
            ("device", str, "a device such as 'cuda'"),
            ("batch", Integral, "a number of images"),
            ("max_memory", Real, "a number of GiB"),
            ("inflate", Integral, "True or False"),
            ("avoid", Avoid, "verale.search.Avoid(prototypes=(3,), patches=(0, 1))"),
            ("costs", Costs, "verale.search.Costs.of(prototypes={3: 5.0})"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise _wrong(name, getattr(self, name), expected)
        object.__setattr__(self, "device", "cpu" if self.device == "auto" else self.device)
        if self.digits != "fewest":
            from verale.search.digits import check_digits

            check_digits(self.digits)
        if self.tolerance != 0:
            from verale.search.digits import EXACT, tolerances

            if tolerances(self.tolerance) != (EXACT,) and isinstance(self.digits, int):
                raise UsageError(f"digits is {self.digits} and tolerance {self.tolerance}, expected one of the two")
        if self.batch < 1:
            raise UsageError(f"batch is {self.batch}, expected at least 1")
        if not 0 < self.max_memory <= _MOST_MEMORY:
            raise UsageError(f"max_memory is {self.max_memory}, expected a number of GiB")

    @property
    def bytes(self) -> float:
        """The memory for batches, in bytes."""
        return self.max_memory * 2**30

    @classmethod
    def of(cls, fields: Mapping[str, Any], also: Iterable[str] = ()) -> SearchOptions:
        """The options of a call, by name; `also` are other options of the same call. Raises UsageError."""
        require_known(cls, fields, also=also)
        return cls(**fields)


def _wrong(name: str, value: object, expected: str) -> UsageError:
    """The error for a value of another kind, or for an unknown name."""
    from verale.head import described

    found = f"{value!r} is unknown" if isinstance(value, str) and "one of" in expected else f"is {described(value)}"
    return UsageError(f"{name} {found}, expected {expected}")
