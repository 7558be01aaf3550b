"""The certificate (certificates/v1.md, "Schema"), read into frozen records that check themselves when built.

Reading checks all that needs no head (step 2 of "Verification"); `Certificate.check_against` checks the rest (step 4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from .dyadic import about
from .errors import FormatError
from .read.formats import LARGEST as LARGEST
from .read.formats import (
    Readers,
    brief,
    digest,
    fields,
    index,
    listed,
    nullable,
    number,
    read_object,
    record,
    text,
)
from .read.similarities import COSINES, GEOMETRIES

if TYPE_CHECKING:
    from .head import Head

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
    "evidence": GEOMETRIES,
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
    lower: ClassVar[None] = None

    def __str__(self) -> str:
        return f"ceiling, all but {len(self.exempt)} prototypes"


@dataclass(frozen=True)
class FloorStatement:
    """The floor: the activation of every prototype that is not exempt is at least `lower`."""

    exempt: tuple[int, ...]
    lower: Fraction
    upper: ClassVar[None] = None

    def __str__(self) -> str:
        return f"floor, all but {len(self.exempt)} prototypes"


@dataclass(frozen=True)
class SumStatement:
    """What the prototypes that do not belong to the predicted class take back is at most `upper`, for every rival that
    is listed; for all rivals where `rivals` is None."""

    rivals: tuple[int, ...] | None
    upper: Fraction
    lower: ClassVar[None] = None

    def __str__(self) -> str:
        return "sum" if self.rivals is None else f"sum for {len(self.rivals)} rivals"

    def about(self, rival: int) -> bool:
        """Whether it speaks of a rival."""
        return self.rivals is None or rival in self.rivals


_NAMING = (PatchStatement, ActivationStatement)
Statement: TypeAlias = PatchStatement | ActivationStatement | OrderStatement | FloorStatement | SumStatement


def sums_of(statements: Iterable[Statement]) -> list[SumStatement]:
    """The sums among statements."""
    return [each for each in statements if isinstance(each, SumStatement)]


def spoken_of(statement: Statement, count: int) -> list[int]:
    """The prototypes of a head, which has so many, that a statement speaks of one by one: none of a sum."""
    if isinstance(statement, PatchStatement | ActivationStatement):
        return [statement.prototype]
    if isinstance(statement, SumStatement):
        return []
    return sorted(set(range(count)) - set(statement.exempt))


_FORMS: dict[str, tuple[type, ...]] = {
    "top_k": (ActivationStatement, OrderStatement, FloorStatement),
    "sparse": (ActivationStatement,),
    "mixed": (PatchStatement, ActivationStatement, OrderStatement, FloorStatement),
    "evidence": (ActivationStatement, OrderStatement, FloorStatement, SumStatement),
}
"""The classes of a paradigm's statements; all other paradigms have statements about patches."""


@dataclass(frozen=True)
class Certificate:
    """A certificate, version 1. `margins` has None at `predicted`; `latents` is None if the subject names none, and so
    are `network`, `picture` and `arithmetic`, which are there together; `prices` are the hints of `assignment`, by
    rival and prototype; `version` is that of the generator, on which nothing depends."""

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
    version: str = ""

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
        self._check_parts(head)
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
        self.check_statements(head)
        for rival, prices in self.prices.items():
            if rival >= head.classes or rival == self.predicted:
                raise FormatError(f"hints have prices for class {rival}, expected a rival of {self.predicted}")
            if any(k >= head.count for k in prices):
                raise FormatError(
                    f"hints have a price for prototype {max(prices)}, expected less than the head's {head.count}"
                )

    def check_statements(self, head: Head) -> None:
        """Of step 4 what is about statements: indices, intervals and forms. Raises FormatError."""
        subjects: set[object] = set()
        for place, statement in enumerate(self.statements):
            where = f"statement {place} ({statement})"
            if not isinstance(statement, _FORMS.get(self.paradigm, PatchStatement)):
                raise FormatError(f"{where} has a form that does not belong to the paradigm {self.paradigm}")
            for subject in self._check_statement(statement, where, head):
                if subject in subjects:
                    raise FormatError(
                        f"{where} speaks of what an earlier statement speaks of, expected one statement for each"
                    )
                subjects.add(subject)

    def _check_parts(self, head: Head) -> None:
        """Raises FormatError where the paradigm is not defined for the parts of a head, or so many patches: under joint
        a margin is one combination of observables of one patch."""
        similarity = head.similarity
        match self.paradigm:
            case "assignment":
                fits = (similarity.name, head.pooling) == ("identity", "max")
                expected = "identity and the pooling max"
            case "joint":
                name = "negated" if head.geometry == "euclidean" else "identity"
                fits = (similarity.name, head.pooling, head.readout) == (name, "max", "linear")
                expected = f"{name}, the pooling max and the readout linear"
            case "evidence":
                fits, expected = head.readout == "linear", "the readout linear"
            case "mixed":
                fits, expected = head.pooling == "max" and not similarity.unimodal, "a monotone similarity and max"
            case _:
                return
        if not fits:
            raise FormatError(
                f"paradigm {self.paradigm} is not defined for {similarity.name}, the pooling {head.pooling} and the"
                f" readout {head.readout}, expected {expected}"
            )
        if self.paradigm == "joint" and self.patches != 1:
            raise FormatError(f"patches is {self.patches}, expected 1 for the paradigm joint")

    def _check_statement(self, statement: Statement, where: str, head: Head) -> Sequence[object]:
        """Check the indices and the interval; return what the statement speaks of."""
        if isinstance(statement, SumStatement):
            if statement.upper < 0:
                raise FormatError(f"{where} has upper {about(statement.upper)}, expected at least 0")
            if statement.rivals is None:
                return [SumStatement]
            if not statement.rivals or not _rises(statement.rivals):
                raise FormatError(f"{where} has rivals that are none, or do not strictly increase")
            if max(statement.rivals) >= head.classes or self.predicted in statement.rivals:
                raise FormatError(
                    f"{where}: expected rivals of {self.predicted} among the head's {head.classes} classes"
                )
            return [(SumStatement, rival) for rival in statement.rivals]
        if isinstance(statement, OrderStatement | FloorStatement):
            if any(j >= head.count for j in statement.exempt):
                raise FormatError(
                    f"{where} lists {max(statement.exempt)}, expected less than the head's {head.count} prototypes"
                )
            if not _rises(statement.exempt):
                raise FormatError(f"{where} has a list that does not strictly increase")
            return [type(statement)]
        if statement.prototype >= head.count:
            raise FormatError(f"{where}: expected a prototype less than the head's {head.count}")
        if statement.lower is not None and statement.upper is not None and statement.lower > statement.upper:
            raise FormatError(
                f"{where} has the interval [{about(statement.lower)}, {about(statement.upper)}],"
                " expected lower <= upper"
            )
        if isinstance(statement, ActivationStatement):
            return [statement.prototype]
        if statement.patch >= self.patches:
            raise FormatError(f"{where}: expected a patch less than patches, {self.patches}")
        return [(statement.patch, statement.prototype)]


def _rises(values: Sequence[int]) -> bool:
    return all(first < second for first, second in pairwise(values))


class Document(bytes):
    """The bytes of a certificate, for whoever asks what they say more than once: they are read once."""

    @cached_property
    def certificate(self) -> Certificate:
        """What they say. Raises FormatError, which names the field."""
        return _read(self)

    def __reduce__(self) -> tuple[type[Document], tuple[bytes]]:
        """Another process reads them itself."""
        return Document, (bytes(self),)


def read_certificate(data: bytes) -> Certificate:
    """The certificate of a file's bytes (step 2). Raises FormatError, which names the field."""
    return data.certificate if isinstance(data, Document) else _read(data)


def _read(data: bytes) -> Certificate:
    document = read_object(data, "the certificate")
    fields(document, "the certificate", ("_type", "subject", "predicate"), ("extensions",))
    if document["_type"] != _TYPE:
        raise FormatError(f"_type is {brief(document['_type'])}, expected {_TYPE!r}")
    if not isinstance(document.get("extensions", {}), dict):
        raise FormatError(f"extensions is {brief(document['extensions'])}, expected an object")
    predicate = record(document["predicate"], "predicate", _PREDICATE, {"arithmetic": text}, prefix="")
    version = record(predicate.pop("generator"), "generator", {"name": text, "version": text})["version"]
    allowed: Readers = {"prices": _prices} if predicate["paradigm"] == "assignment" else {}
    hints = record(predicate.pop("hints"), "hints", {}, allowed)
    return Certificate(**_subject(document["subject"], "subject"), **predicate, **hints, version=version)


def _subject(value: Any, where: str) -> dict[str, Any]:
    """The digests of what a certificate is about, by name."""
    entries = listed(_as_it_is)(value, where)
    if not 1 <= len(entries) <= len(_SUBJECTS):
        raise FormatError(
            f"subject has {len(entries)} entries, expected the head, and perhaps the latents, or the network and the"
            " picture"
        )
    digests: dict[str, Any] = {"latents": None}
    for entry, name in zip(entries, _SUBJECTS[len(entries) - 1], strict=True):
        fields(entry, f"subject {name}", ("name", "digest"))
        if entry["name"] != name:
            raise FormatError(f"subject has the name {brief(entry['name'])}, expected {name!r}")
        digests[name] = record(entry["digest"], f"digest of {name}", {"sha256": digest})["sha256"]
    return digests


def _statement(value: Any, where: str) -> Statement:
    if isinstance(value, dict) and "except" in value:
        side = "lower" if "lower" in value else "upper"
        exempt, end = record(value, where, {"except": listed(index), side: number}).values()
        return OrderStatement(exempt, end) if side == "upper" else FloorStatement(exempt, end)
    if isinstance(value, dict) and "rivals" in value:
        return SumStatement(**record(value, where, {"rivals": nullable(listed(index)), "upper": number}))
    read = record(value, where, _BOUNDED, _OF_A_PATCH)
    lower, upper = read["interval"]
    if lower is None and upper is None:
        raise FormatError(f"{where}.interval has two ends that are null, expected at most one")
    if "patch" in read:
        return PatchStatement(read["patch"], read["prototype"], lower, upper)
    return ActivationStatement(read["prototype"], lower, upper)


def _prices(value: Any, where: str) -> dict[int, dict[int, Fraction]]:
    """The hints of `assignment`: rivals strictly increasing, each with strictly increasing prototypes."""
    by_rival: dict[int, dict[int, Fraction]] = {}
    entries = listed(partial(record, required=_PRICED))(value, where)
    for place, (rival, prototypes, prices) in enumerate(entry.values() for entry in entries):
        at = f"{where}[{place}]"
        if len(prices) != len(prototypes):
            raise FormatError(f"{at} has {len(prices)} prices for {len(prototypes)} prototypes")
        if not _rises(prototypes):
            raise FormatError(f"{at}.prototypes does not strictly increase")
        if any(price <= 0 for price in prices):
            raise FormatError(f"{at}.prices has {about(min(prices))}, expected positive numbers")
        if rival <= max(by_rival, default=-1):
            raise FormatError(f"{at}.rival is {rival}, expected rivals that strictly increase")
        by_rival[rival] = dict(zip(prototypes, prices, strict=True))
    return by_rival


def _as_it_is(value: Any, where: str) -> Any:
    return value


_SUBJECTS = (("head",), ("head", "latents"), ("head", "network", "picture"))
_INTERVAL = listed(nullable(number), 2, "[lower, upper]")
_BOUNDED: Readers = {"prototype": index, "interval": _INTERVAL}
_OF_A_PATCH: Readers = {"patch": index}
_PRICED: Readers = {"rival": index, "prototypes": listed(index), "prices": listed(number)}
_PREDICATE: Readers = {
    "predicted": index,
    "paradigm": text,
    "patches": index,
    "statements": listed(_statement),
    "margins": listed(nullable(number)),
    "claims": listed(text),
    "hints": _as_it_is,
    "generator": _as_it_is,
}
