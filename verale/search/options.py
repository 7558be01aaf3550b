"""The options of the search, and the result for an image without a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, ClassVar

import torch

from verale.certificate import Statement
from verale.errors import UsageError
from verale.head import described, require_kind
from verale.paradigms import HIGHEST, ORDERS, PARADIGMS, SMALLEST
from verale.search.avoid import NOTHING, Avoid
from verale.search.costs import UNIT_COSTS, Costs
from verale.search.digits import FEWEST_DIGITS, check_digits
from verale.search.tolerance import EXACT, LEAST_TOLERANCE, tolerances

__all__ = ["LEAST_TOLERANCE", "SearchOptions", "Unexplained"]


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


@dataclass(frozen=True)
class SearchOptions:
    """How to search. The options change which explanation comes out, never whether it is sound.

    Attributes:
        paradigm: a name of `verale.paradigms.PARADIGMS` that is defined for the head's geometry; `smallest` for the
            smallest explanation of each image, under whichever paradigm; None for the spatial paradigm with the
            smallest explanations.
        order: `rival` (each statement is chosen against the worst open rival) or `nearest` (the published order); None
            for `rival` and, under simplex, the smaller of both. Under `top_k` also `highest`: only the highest
            activations are tried.
        device: where to compute. It is examined; so far the search computes on the CPU all the same.
        tolerance: how far intervals are widened outward. A number: to its multiples, in the units of the stated
            observable (0.01 gives two decimals); 0 for the tightest intervals that float64 gives, otherwise at least
            LEAST_TOLERANCE. A percentage such as "1%": by at most this share of the observable, to numbers of few
            digits. "auto": for each image by the greatest percentage, at most 10%, under which it has an explanation.
            The guarantee holds for everything that the intervals allow; wider intervals take more statements.
        batch: how many images are explained together; the same batch gives the same bytes.
        max_memory: about how many bytes the search may use; batches shrink to fit.
        inflate: whether to widen what is stated as far as the class stays proved; only for paradigms of
            `verale.paradigms` whose ends are priced.
        avoid: patches and prototypes that no statement may be about.
        costs: what each statement costs; of the explanations that are found, the cheapest is kept.
        digits: how many digits the ends of statements have. `fewest`: as few as the statements that were found allow,
            so that short numbers cost no statement. A number: at most so many, though that may take more statements.
            `exact`: the tightest intervals that float64 gives. With a tolerance, it says how short numbers are.
    """

    paradigm: str | None = None
    order: str | None = None
    tolerance: float | str = 0.0
    device: str | torch.device = "cpu"
    batch: int = 16
    max_memory: float = 4 * 2**30
    inflate: bool = False
    avoid: Avoid = NOTHING
    costs: Costs = UNIT_COSTS
    digits: int | str = FEWEST_DIGITS

    def __post_init__(self) -> None:
        for name, known in (("paradigm", (*PARADIGMS, SMALLEST)), ("order", (*ORDERS, HIGHEST))):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value in known):
                found = f"{value!r} is unknown" if isinstance(value, str) else f"is {described(value)}"
                raise UsageError(f"{name} {found}, expected one of {', '.join(known)}")
        if self.order == HIGHEST and self.paradigm != "top_k":
            raise UsageError(f"order {HIGHEST!r} is one of paradigm 'top_k', which has to be given with it")
        for name, kind, expected in (
            ("tolerance", (Real, str), "a number, a percentage such as '1%', or 'auto'"),
            ("device", (str, torch.device), "a device such as 'cuda'"),
            ("batch", Integral, "a number of images"),
            ("max_memory", Real, "a number of bytes"),
            ("inflate", Integral, "True or False"),
            ("avoid", Avoid, "verale.search.Avoid(prototypes=(3,), patches=(0, 1))"),
            ("costs", Costs, "verale.search.Costs.of(prototypes={3: 5.0})"),
        ):
            require_kind(name, getattr(self, name), kind, expected)
        check_digits(self.digits)
        if tolerances(self.tolerance) != (EXACT,) and isinstance(self.digits, int):
            raise UsageError(f"digits is {self.digits} and tolerance {self.tolerance}, expected one of the two")
        if self.batch < 1:
            raise UsageError(f"batch is {self.batch}, expected at least 1")
        if not self.max_memory > 0:
            raise UsageError(f"max_memory is {self.max_memory}, expected a number of bytes")

    @classmethod
    def of(cls, paradigm: str | None, options: Mapping[str, Any]) -> SearchOptions:
        """The options of a call, by name; `avoid` may be text, such as "patches:0-7". Raises UsageError."""
        known = [field.name for field in fields(cls) if field.name != "paradigm"]
        for name in options:
            if name not in known:
                near = get_close_matches(name, ["paradigm", *known], n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise UsageError(f"option {name!r} is unknown, expected one of {', '.join(known)}{hint}")
        given = dict(options)
        if isinstance(given.get("avoid"), str):
            given["avoid"] = Avoid.parse([given["avoid"]])
        return cls(paradigm, **given)
