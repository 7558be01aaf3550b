"""The certificate (certificates/v1.md, "Schema"), read into frozen records that check themselves when built.

Reading checks all that needs no head (step 2 of "Verification"); `Certificate.check_against` checks the rest (step 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from .dyadic import about, hex_float
from .errors import FormatError
from .head import COSINES, GEOMETRIES, Head
from .read.json_reader import LARGEST, brief, digest, fields, index, read_object, text

__all__ = [
    "ARITHMETICS",
    "LARGEST",
    "ActivationStatement",
    "Certificate",
    "FloorStatement",
    "OrderStatement",
    "MINIMAL",
    "PARADIGMS",
    "PatchStatement",
    "Statement",
    "read_certificate",
]

_TYPE = "urn:verale:certificate:v1"
_CLAIMS = ("entailment", "instance", "picture", "minimality")
ARITHMETICS = ("real", "float32")
"""How the network of a picture may be claimed to compute."""
PARADIGMS: dict[str, tuple[str, ...]] = {
    "top_k": GEOMETRIES,
    "sparse": ("softmax",),
    "projection": ("euclidean", *COSINES, "inner_product"),
    "triangle": ("euclidean", *COSINES, "inner_product"),
    "hypersphere": ("euclidean", *COSINES),
    "simplex": ("softmax",),
    "assignment": ("softmax",),
    "joint": ("euclidean", *COSINES, "inner_product"),
    "mixed": ("euclidean", *COSINES),
}
"""The paradigms, and the geometries that each is defined for."""
MINIMAL = tuple(name for name in PARADIGMS if name not in ("triangle", "hypersphere", "mixed"))
"""The paradigms under which minimality may be claimed."""


@dataclass(frozen=True)
class PatchStatement:
    """m(z_patch, p_prototype) lies in [lower, upper]. Of an end that is None nothing is said; at least one is there."""

    patch: int
    prototype: int
    lower: Fraction | None
    upper: Fraction | None

    def __str__(self) -> str:
        return f"patch {self.patch}, prototype {self.prototype}"


@dataclass(frozen=True)
class ActivationStatement:
    """The activation of `prototype` lies in [lower, upper]. Of an end that is None nothing is said; at least one is
    there."""

    prototype: int
    lower: Fraction | None
    upper: Fraction | None

    def __str__(self) -> str:
        return f"prototype {self.prototype}"


@dataclass(frozen=True)
class OrderStatement:
    """The order clause, or ceiling: the activation of every prototype that is not exempt is at most `upper`."""

    exempt: tuple[int, ...]
    upper: Fraction

    def __str__(self) -> str:
        return f"ceiling, all but {len(self.exempt)} prototypes"


@dataclass(frozen=True)
class FloorStatement:
    """The floor: the activation of every prototype that is not exempt is at least `lower`."""

    exempt: tuple[int, ...]
    lower: Fraction

    def __str__(self) -> str:
        return f"floor, all but {len(self.exempt)} prototypes"


_NAMING = (PatchStatement, ActivationStatement)
Statement: TypeAlias = PatchStatement | ActivationStatement | OrderStatement | FloorStatement

_FORMS: dict[str, tuple[type, ...]] = {
    "top_k": (ActivationStatement, OrderStatement, FloorStatement),
    "sparse": (ActivationStatement,),
    "mixed": (PatchStatement, ActivationStatement, OrderStatement, FloorStatement),
}
"""The classes of a paradigm's statements; all other paradigms have statements about patches."""


@dataclass(frozen=True)
class Certificate:
    """A certificate, version 1. `margins` has None at `predicted`; `latents` is None if the subject names none, and so
    are `network`, `picture` and `arithmetic`, which are there together; `prices` are the hints of `assignment`, by
    rival and prototype."""

    head: str
    latents: str | None
    predicted: int
    paradigm: str
    patches: int
    statements: tuple[Statement, ...]
    margins: tuple[Fraction | None, ...]
    claims: tuple[str, ...]
    prices: Mapping[int, Mapping[int, Fraction]] = field(default_factory=dict)
    network: str | None = None
    picture: str | None = None
    arithmetic: str | None = None

    @property
    def elements(self) -> dict[int, int]:
        """How many statements name each prototype, by index; a ceiling and a floor are about all and name none."""
        named = Counter(each.prototype for each in self.statements if isinstance(each, _NAMING))
        return dict(sorted(named.items()))

    def __post_init__(self) -> None:
        if self.paradigm not in PARADIGMS:
            raise FormatError(f"paradigm is {brief(self.paradigm)}, expected one of {', '.join(PARADIGMS)}")
        if self.patches < 1:
            raise FormatError(f"patches is {self.patches}, expected at least 1")
        expected = [claim for claim in _CLAIMS if claim in self.claims]
        if "entailment" not in self.claims or list(self.claims) != expected:
            raise FormatError(
                f"claims is {brief(list(self.claims))}, expected, in this order, entailment and of the rest of"
                f" {', '.join(_CLAIMS)}"
            )
        if "minimality" in self.claims and self.paradigm not in MINIMAL:
            raise FormatError(
                f"claims has minimality under {self.paradigm}, expected it under {', '.join(MINIMAL)} only: withdraw it"
            )
        if ("instance" in self.claims) != (self.latents is not None):
            raise FormatError("claims and subject disagree: expected instance exactly where the subject names latents")
        if ("picture" in self.claims) != (self.picture is not None):
            raise FormatError("claims and subject disagree: expected picture exactly where the subject names one")
        if (self.arithmetic is None) != (self.picture is None):
            raise FormatError("claims and arithmetic disagree: expected arithmetic exactly where picture is claimed")
        if self.arithmetic is not None and self.arithmetic not in ARITHMETICS:
            raise FormatError(f"arithmetic is {brief(self.arithmetic)}, expected {' or '.join(ARITHMETICS)}")

    def check_against(self, head: Head) -> None:
        """Step 4: indices, intervals, forms, paradigm and margins fit the head. Raises FormatError, which names the
        field."""
        if head.geometry not in PARADIGMS[self.paradigm]:
            raise FormatError(
                f"paradigm {self.paradigm} is not defined for a {head.geometry} head,"
                f" expected one of {', '.join(PARADIGMS[self.paradigm])}"
            )
        if self.paradigm == "assignment" and (head.similarity.name, head.pooling) != ("identity", "max"):
            raise FormatError(
                f"paradigm assignment is not defined for {head.similarity.name} and the pooling {head.pooling},"
                " expected identity and max"
            )
        if self.paradigm == "joint":
            self._check_joint(head)
        if self.paradigm == "mixed" and (head.pooling != "max" or head.similarity.unimodal):
            raise FormatError(
                f"paradigm mixed is not defined for {head.similarity.name} and the pooling {head.pooling},"
                " expected a monotone similarity and max"
            )
        if self.patches < head.columns:
            raise FormatError(
                f"patches is {self.patches}, expected at least {head.columns}, as many as the head's mask has columns"
            )
        if self.predicted >= head.classes:
            raise FormatError(f"predicted is {self.predicted}, expected less than the head's {head.classes} classes")
        if len(self.margins) != head.classes:
            raise FormatError(f"margins has {len(self.margins)} entries, expected {head.classes}, one a class")
        for rival, margin in enumerate(self.margins):
            if (margin is None) != (rival == self.predicted):
                raise FormatError(
                    f"margins[{rival}] is {'null' if margin is None else 'a number'},"
                    f" expected null exactly at predicted, {self.predicted}"
                )
            if margin is not None and margin <= 0:
                raise FormatError(f"margins[{rival}] is {about(margin)}, expected a positive number")
        subjects: set[object] = set()
        for number, statement in enumerate(self.statements):
            where = f"statement {number} ({statement})"
            if not isinstance(statement, _FORMS.get(self.paradigm, PatchStatement)):
                raise FormatError(f"{where} has a form that does not belong to the paradigm {self.paradigm}")
            subject = self._check_statement(statement, where, head)
            if subject in subjects:
                raise FormatError(
                    f"{where} speaks of what an earlier statement speaks of, expected one statement for each"
                )
            subjects.add(subject)
        for rival, prices in self.prices.items():
            if rival >= head.classes or rival == self.predicted:
                raise FormatError(f"hints have prices for class {rival}, expected a rival of {self.predicted}")
            if any(k >= head.count for k in prices):
                raise FormatError(
                    f"hints have a price for prototype {max(prices)}, expected less than the head's {head.count}"
                )

    def _check_joint(self, head: Head) -> None:
        """Raises FormatError unless a margin is one combination of observables of one patch."""
        similarity = "negated" if head.geometry == "euclidean" else "identity"
        if (head.similarity.name, head.pooling, head.readout) != (similarity, "max", "linear"):
            raise FormatError(
                f"paradigm joint is not defined for {head.similarity.name}, the pooling {head.pooling} and the readout"
                f" {head.readout}, expected {similarity}, max and linear"
            )
        if self.patches != 1:
            raise FormatError(f"patches is {self.patches}, expected 1 for the paradigm joint")

    def _check_statement(self, statement: Statement, where: str, head: Head) -> object:
        """Check the indices and the interval; return what the statement speaks of."""
        if isinstance(statement, OrderStatement | FloorStatement):
            if any(j >= head.count for j in statement.exempt):
                raise FormatError(
                    f"{where} lists {max(statement.exempt)}, expected less than the head's {head.count} prototypes"
                )
            if any(first >= second for first, second in zip(statement.exempt, statement.exempt[1:], strict=False)):
                raise FormatError(f"{where} has a list that does not strictly increase")
            return type(statement)
        if statement.prototype >= head.count:
            raise FormatError(f"{where}: expected a prototype less than the head's {head.count}")
        if statement.lower is not None and statement.upper is not None and statement.lower > statement.upper:
            raise FormatError(
                f"{where} has the interval [{about(statement.lower)}, {about(statement.upper)}],"
                " expected lower <= upper"
            )
        if isinstance(statement, ActivationStatement):
            return statement.prototype
        if statement.patch >= self.patches:
            raise FormatError(f"{where}: expected a patch less than patches, {self.patches}")
        return statement.patch, statement.prototype


def read_certificate(data: bytes) -> Certificate:
    """The certificate of a file's bytes (step 2). Raises FormatError, which names the field."""
    document = fields(
        read_object(data, "the certificate"),
        "the certificate",
        ("_type", "subject", "predicate"),
        ("extensions",),
    )
    if document["_type"] != _TYPE:
        raise FormatError(f"_type is {brief(document['_type'])}, expected {_TYPE!r}")
    if not isinstance(document.get("extensions", {}), dict):
        raise FormatError(f"extensions is {brief(document['extensions'])}, expected an object")
    subject = _list(document["subject"], "subject")
    if not 1 <= len(subject) <= 3:
        raise FormatError(
            f"subject has {len(subject)} entries, expected the head, and perhaps the latents, or the network and the"
            " picture"
        )
    predicate = fields(
        document["predicate"],
        "predicate",
        ("predicted", "paradigm", "patches", "statements", "margins", "claims", "hints", "generator"),
        ("arithmetic",),
    )
    paradigm = text(predicate["paradigm"], "paradigm")
    hints = fields(predicate["hints"], "hints", (), ("prices",) if paradigm == "assignment" else ())
    generator = fields(predicate["generator"], "generator", ("name", "version"))
    text(generator["name"], "generator.name")
    text(generator["version"], "generator.version")
    return Certificate(
        head=_digest(subject[0], "head"),
        latents=_digest(subject[1], "latents") if len(subject) == 2 else None,
        network=_digest(subject[1], "network") if len(subject) == 3 else None,
        picture=_digest(subject[2], "picture") if len(subject) == 3 else None,
        arithmetic=text(predicate["arithmetic"], "arithmetic") if "arithmetic" in predicate else None,
        predicted=index(predicate["predicted"], "predicted"),
        paradigm=paradigm,
        patches=index(predicate["patches"], "patches"),
        statements=tuple(
            _statement(value, f"statements[{i}]")
            for i, value in enumerate(_list(predicate["statements"], "statements"))
        ),
        margins=tuple(
            None if value is None else _number(value, f"margins[{c}]")
            for c, value in enumerate(_list(predicate["margins"], "margins"))
        ),
        claims=tuple(text(claim, "a claim") for claim in _list(predicate["claims"], "claims")),
        prices=_prices(_list(hints.get("prices", []), "hints.prices")),
    )


def _statement(value: Any, where: str) -> Statement:
    if isinstance(value, dict) and "except" in value:
        side = "lower" if "lower" in value else "upper"
        fields(value, where, ("except", side))
        exempt = tuple(index(j, f"{where}.except") for j in _list(value["except"], f"{where}.except"))
        end = _number(value[side], f"{where}.{side}")
        return OrderStatement(exempt, end) if side == "upper" else FloorStatement(exempt, end)
    fields(value, where, ("prototype", "interval"), ("patch",))
    prototype = index(value["prototype"], f"{where}.prototype")
    interval = _list(value["interval"], f"{where}.interval")
    if len(interval) != 2:
        raise FormatError(f"{where}.interval has {len(interval)} entries, expected [lower, upper]")
    lower, upper = (None if end is None else _number(end, f"{where}.interval") for end in interval)
    if lower is None and upper is None:
        raise FormatError(f"{where}.interval has two ends that are null, expected at most one")
    if "patch" in value:
        return PatchStatement(index(value["patch"], f"{where}.patch"), prototype, lower, upper)
    return ActivationStatement(prototype, lower, upper)


def _prices(values: list[Any]) -> dict[int, dict[int, Fraction]]:
    """The hints of `assignment`: rivals strictly increasing, each with strictly increasing prototypes."""
    by_rival: dict[int, dict[int, Fraction]] = {}
    for number, value in enumerate(values):
        where = f"hints.prices[{number}]"
        fields(value, where, ("rival", "prototypes", "prices"))
        prototypes = [index(k, f"{where}.prototypes") for k in _list(value["prototypes"], f"{where}.prototypes")]
        prices = [_number(price, f"{where}.prices") for price in _list(value["prices"], f"{where}.prices")]
        if len(prices) != len(prototypes):
            raise FormatError(f"{where} has {len(prices)} prices for {len(prototypes)} prototypes")
        if any(first >= second for first, second in pairwise(prototypes)):
            raise FormatError(f"{where}.prototypes does not strictly increase")
        if any(price <= 0 for price in prices):
            raise FormatError(f"{where}.prices has {about(min(prices))}, expected positive numbers")
        rival = index(value["rival"], f"{where}.rival")
        if rival <= max(by_rival, default=-1):
            raise FormatError(f"{where}.rival is {rival}, expected rivals that strictly increase")
        by_rival[rival] = dict(zip(prototypes, prices, strict=True))
    return by_rival


def _digest(value: Any, name: str) -> str:
    fields(value, f"subject {name}", ("name", "digest"))
    if value["name"] != name:
        raise FormatError(f"subject has the name {brief(value['name'])}, expected {name!r}")
    return digest(fields(value["digest"], f"digest of {name}", ("sha256",))["sha256"], f"sha256 of {name}")


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"{where} is {brief(value)}, expected a list")
    return value


def _number(value: Any, where: str) -> Fraction:
    number = hex_float(text(value, where))
    if number is None:
        raise FormatError(f"{where} is {brief(value)}, expected the hex float of a finite binary64, such as '0x1.8p-3'")
    return number
