"""The numbers of statements, as they are told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from verale.certificate import Statement
from verale.certificate.words import lower_end, upper_end


def told(statements: Sequence[Statement]) -> list[str]:
    """All numbers of statements."""
    ends = [
        (words, end)
        for each in statements
        for words, end in ((lower_end, getattr(each, "lower", math.inf)), (upper_end, getattr(each, "upper", math.inf)))
    ]
    return [words(end) for words, end in ends if math.isfinite(end)]


def digits_of(statements: Sequence[Statement]) -> int:
    """The most digits that one of them has."""
    return max((len(Decimal(text).normalize().as_tuple().digits) for text in told(statements)), default=0)
