"""Heads, certificates, images, settings and hints as terms of Rocq: what the checker's `proved/text.py` writes, said in
Rocq's words.

The fields of a text are those of the records of `proofs/rocq/theories`, in their order, so each item becomes a field.
Every item is read strictly: a word becomes the constructor of that name here, a number is written again by Python. So
no text, whoever wrote it, says anything else in Rocq than one term.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from verale.checker.certificate import Certificate
from verale.checker.errors import ExecutableError
from verale.checker.head import Head
from verale.checker.proved.text import certificate_text, head_text
from verale.checker.read.latents import Image

MOST_PLAIN = 2**14
"""The most numbers of a matrix that are written as integers of Rocq, which takes 40 microseconds a digit to read them.
Those of a larger one are its machine integers, where they fit, and `Sint63.to_Z` makes integers of them."""
_MACHINE = 2**62
_MOST = 2**32
_NUMBER = re.compile(r"0|-?[1-9a-f][0-9a-f]*", re.ASCII)
_SHORT = 10**9  # numbers below are written in base 10


class _Items:
    """The items of a text, one after the other."""

    def __init__(self, text: str) -> None:
        self._items = text.split(" ")
        self._at = 0

    def word(self) -> str:
        """The next one. Raises ExecutableError: there is none."""
        self._at += 1
        if self._at > len(self._items):
            raise _wrong("another item", "the end")
        return self._items[self._at - 1]

    def number(self) -> int:
        """The next one, an integer. Raises ExecutableError."""
        word = self.word()
        if not _NUMBER.fullmatch(word):
            raise _wrong("an integer in base 16", word)
        return int(word, 16)

    def natural(self) -> int:
        """The next one, from 0. Raises ExecutableError."""
        number = self.number()
        if not 0 <= number <= _MOST:
            raise _wrong(f"a natural number, at most {_MOST}", hex(number))
        return number

    def end(self) -> None:
        """Raises ExecutableError if there is another one."""
        if self._at != len(self._items):
            raise _wrong("the end", self._items[self._at])


_Part: TypeAlias = Callable[[_Items], str]


def _wrong(expected: str, found: str) -> ExecutableError:
    return ExecutableError(f"the proved checker's text has {found[:40]!r}, expected {expected}; nothing is written")


def _written(number: int) -> str:
    """In Rocq's scope of integers; a minus is in parentheses, as an argument needs."""
    digits = str(abs(number)) if abs(number) < _SHORT else hex(abs(number))
    return f"(-{digits})" if number < 0 else digits


def _integer(items: _Items) -> str:
    return _written(items.number())


def _natural(items: _Items) -> str:
    return f"{items.natural()}%nat"


def _unit(items: _Items) -> str:
    number = items.number()
    if number <= 0:
        raise _wrong("a positive integer", hex(number))
    return f"{_written(number)}%positive"


def _end(items: _Items) -> str:
    word = items.word()
    return "None" if word == "none" else f"(Some {_integer(_Items(word))})"


def _record(constructor: str, *fields: _Part) -> _Part:
    return lambda items: f"({' '.join([constructor, *(field(items) for field in fields)])})"


def _pair(*parts: _Part) -> _Part:
    return lambda items: f"({', '.join([part(items) for part in parts])})"


def _list(part: _Part, between: str = "; ") -> _Part:
    return lambda items: f"[{between.join([part(items) for _ in range(items.natural())])}]"


def _choice(known: Mapping[str, str | _Part]) -> _Part:
    """A word, and the constructor that it stands for, or what follows it."""

    def part(items: _Items) -> str:
        word = items.word()
        if word not in known:
            raise _wrong(f"one of {', '.join(known)}", word)
        found = known[word]
        return found if isinstance(found, str) else found(items)

    return part


def _option(part: _Part) -> _Part:
    return _choice({"none": "None", "some": _record("Some", part)})


def _matrix(items: _Items) -> str:
    return _rows([[items.number() for _ in range(items.natural())] for _ in range(items.natural())])


def _rows(rows: list[list[int]]) -> str:
    """As a list of lists of integers."""
    plain = sum(map(len, rows)) <= MOST_PLAIN
    machine = not plain and all(-_MACHINE <= value < _MACHINE for row in rows for value in row)
    lines = ";\n ".join(f"[{'; '.join(map(str if machine else _written, row))}]" for row in rows)
    return f"(map (map Sint63.to_Z) [{lines}]%sint63)" if machine else f"[{lines}]"


def _whole(part: _Part, text: str) -> str:
    items = _Items(text)
    term = part(items)
    items.end()
    return term


_integers, _naturals = _list(_integer), _list(_natural)
_fraction = _record("Fraction", _integer, _unit)
_geometry = _choice(
    {
        "euclidean": "Euclidean",
        "cosine": _record("Cosine", _fraction),
        "rooted_cosine": _record("RootedCosine", _fraction),
        "inner_product": _record("InnerProduct", _option(_fraction)),
        "softmax": "Softmax",
    }
)
_step = _choice(
    {
        "scale": "Scaled",
        "add": _record("Added", _fraction),
        "multiply": _record("Multiplied", _fraction),
        "negate": "Negation",
        "log_ratio": _record("LogRatioOf", _fraction, _fraction),
        "exp": "ExpOf",
        "root": "RootOf",
        "square": "SquareOf",
        "threshold": _record("ZeroBelow", _fraction),
        "rectify": "CutAt0",
        "reciprocal": _record("ReciprocalOf", _fraction),
        "from_peak": "FromPeak",
    }
)
_similarity = _choice(
    {
        "log_ratio": _record("LogRatio", _fraction),
        "exp_distance": _record("ExpDistance", _fraction),
        "threshold": _record("Threshold", _fraction),
        "identity": "Identity",
        "negated": "Negated",
        "exponential": "Exponential",
        "quadratic": "Quadratic",
        "rectified": "Rectified",
        "steps": _record("Steps", _list(_step)),
    }
)
_pooling = _choice(
    {
        "max": "MaxPool",
        "masked_max": _record("MaskedMax", _matrix),
        "top_mean": _record("TopMean", _natural),
        "max_minus_mean": "MaxMinusMean",
        "max_minus_mean_distance": "MaxMinusMeanDistance",
    }
)
_readout = _choice({"linear": "Linear", "soft_tree": _record("SoftTree", _integers, _integers), "maximum": "Maximum"})
_head = _record(
    "Head",
    *(_natural, _natural, _natural, _geometry, _similarity, _pooling, _readout),
    *(_unit, _matrix, _option(_integer), _option(_integer)),
    *(_unit, _matrix, _integers, _unit, _integers, _unit, _integers),
)
_statement = _choice(
    {
        "patch": _record("AboutPatch", _natural, _natural, _end, _end),
        "activation": _record("AboutActivation", _natural, _end, _end),
        "others": _record("AboutOthers", _naturals, _end, _end),
        "sum": _record("AboutSum", _option(_naturals), _integer),
    }
)
_certificate = _record(
    "Certificate", _natural, _natural, _unit, _list(_statement, ";\n "), _unit, _list(_integer, "; ")
)
_settings = _record("Settings", _unit, _unit, _natural)
_weights = _option(_pair(_integer, _integers))
_targets = _list(_pair(_natural, _record("Hint", _weights, _weights)))
_hints = _record(
    "Hints",
    _integer,
    _list(
        _choice(
            {"unclaimed": "Unclaimed", "at_least": _record("AtLeast", _integer), "at_most": _record("AtMost", _integer)}
        )
    ),
    _list(_record("PatchHints", _integers, _integer, _list(_integers), _naturals, _targets), ";\n "),
    _list(_pair(_natural, _integers), ";\n "),
    _list(_pair(_natural, _record("JointHint", _unit, _integers, _integer)), ";\n "),
    *(_record("Links", _list(_option(_integer)), _list(_option(_pair(_natural, _integer)))),) * 2,
    *(_record("Turns", _list(_option(_integer)), _list(_option(_pair(_natural, _pair(_integer, _integer))))),) * 2,
)


def head_term(head: Head) -> str:
    """A head, of the type `head` of Semantics.v."""
    return _whole(_choice({"head": _head}), head_text(head)[:-1].decode("ascii"))


def certificate_term(certificate: Certificate) -> str:
    """A certificate, of the type `certificate` of Semantics.v."""
    return _whole(_choice({"certificate": _certificate}), certificate_text(certificate)[:-1].decode("ascii"))


def image_term(image: Image) -> str:
    """An image's latents, of the type `image` of Semantics.v."""
    return f"(Image {_written(1 << image.exact.bits)}%positive\n {_rows(image.exact.rows)})"


def settings_term(text: str) -> str:
    """Settings as `proofs/rocq/front/hints.ml` writes them. Raises ExecutableError: they are none."""
    return _whole(_settings, text)


def hints_terms(text: str) -> tuple[str, str]:
    """Settings and hints as they are written there. Raises ExecutableError."""
    items = _Items(text)
    settings, hints = _settings(items), _hints(items)
    items.end()
    return settings, hints
