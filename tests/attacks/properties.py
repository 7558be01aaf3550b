"""Properties of the checker and of certificates, tried by hypothesis on heads of every part.

Heads, latents and statements are drawn as in the corpora: multiples of 1/16, so that squared distances and inner
products are binary64 numbers. `support.exact` says what is true, in rationals or 300-bit balls; what the rules prove,
the proved program proves too.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

import flint
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from support import files
from support.arithmetic import PRECISION, below
from support.claims import taken_back
from support.exact import Head, Values
from support.files import Document, read_latents
from support.recipes import CLASSES, COUNT, PATCHES, Recipe, all_recipes, around, draw_head, draw_image

from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Prices,
    SumStatement,
)
from verale.checker import Auditor, Status, check
from verale.paradigms import PARADIGMS
from verale.soundness.corpus.cases import Case, outcome_of, stored

__all__ = ["PROPERTIES", "Property", "Tried", "try_property"]

RECIPES = [recipe for recipe in all_recipes() if recipe.paradigm != "assignment"]
"""Assignment needs prices; the accepted cases have them."""


_SHARE = Fraction(1, 2**24)

Clauses = tuple[frozenset[int] | None, frozenset[int] | None]
"""What a ceiling and a floor exempt; None where there is none."""
_EXEMPT = st.none() | st.frozensets(st.integers(0, COUNT - 1), max_size=COUNT)
_CLAUSES = st.tuples(_EXEMPT, _EXEMPT)
_SUMS = st.sets(st.sampled_from([None, *range(CLASSES)]))
"""Rivals that sums are about, one by one; None for a sum about all."""
_OPENED = st.dictionaries(st.integers(0, PATCHES * COUNT - 1), st.integers(0, 1), max_size=6)
"""Which statements lack which end."""


@dataclass(frozen=True)
class Property:
    """Attributes:
    says: the property in words.
    strategies: how the check's arguments are drawn, by their names.
    check: the outcome of an example in a few words; raises AssertionError where the property does not hold.
    shows: the outcome that some example must have. Without it nothing was tried.
    """

    says: str
    strategies: dict[str, st.SearchStrategy[Any]]
    check: Callable[..., str]
    shows: str


@dataclass(frozen=True)
class Tried:
    """How many examples were tried, how many had which outcome, and the failure in words, "" for none."""

    examples: int
    outcomes: Counter[str]
    failure: str


def try_property(one: Property, examples: int, start: int = 0, shrunk: bool = True) -> Tried:
    """Try a property on that many examples, the same for the same `start`.

    Args:
        shrunk: whether Hypothesis looks for a small example where one fails, which takes many more.
    """
    outcomes: Counter[str] = Counter()
    tried = 0

    def attempt(**drawn: object) -> None:
        nonlocal tried
        tried += 1
        with flint.ctx.workprec(PRECISION):
            outcomes.update((one.check(**drawn),))

    profile = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        phases=[phase for phase in Phase if shrunk or phase is not Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    try:
        seed(start)(profile(given(**one.strategies)(attempt)))()
    except Exception as error:  # the property does not hold, whatever is raised
        return Tried(tried, outcomes, " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]))
    return Tried(tried, outcomes, "" if outcomes[one.shows] else f"no example {one.shows}, so nothing was tried")


def _require(holds: bool, what: str) -> None:
    """Raise AssertionError, which says what was found, unless a property holds."""
    if not holds:
        raise AssertionError(what)


# The two checkers agree.


def _proved_margins_hold(
    recipe: Recipe,
    number: int,
    left_out: frozenset[int],
    width: float,
    opened: dict[int, int],
    clauses: Clauses,
    sums: set[int | None],
) -> str:
    """The greatest margins that the rules prove of a random explanation, but for 2^-24 of them, the program proves."""
    generator = random.Random(f"{recipe.name} {number}")
    head = draw_head(recipe, generator)
    image = draw_image(head, generator)[: recipe.patches]
    values = head.at(image)
    statements = _statements(recipe, [values], width, opened)
    statements = [statement for index, statement in enumerate(statements) if index not in left_out]
    statements += _clauses(recipe, [values], width, clauses)
    predicted = _class(values.logits)
    statements += _sums(recipe, head, [values], predicted, width, sums)
    options: Document = {
        "predicted": predicted,
        "classes": CLASSES,
        "paradigm": recipe.paradigm,
        "patches": recipe.patches,
    }
    data, latents = head.data, files.latents([image])
    auditor = Auditor(data, latents, kernel="arb")
    verdict = auditor.check(files.certificate(data, statements, image=image, **options))
    if verdict.status is not Status.PROVED:
        return "not proved"
    margins = [None if margin is None else below(margin) for margin in verdict.margins]
    certificate = files.certificate(data, statements, image=image, margins=margins, **options)
    _require(auditor.check(certificate).status is Status.PROVED, "a margin that was proved is not proved when stated")
    margins = [None if margin is None else below(margin * (1 - _SHARE)) for margin in verdict.margins]
    certificate = files.certificate(data, statements, image=image, margins=margins, **options)
    other = check(certificate, data, latents, kernel="proved")
    _require(other.status is Status.PROVED, f"PROVED by the rules alone: {other.reason}: {other.message}")
    return "proved"


def _class(logits: list[Any]) -> int:
    return max(range(CLASSES), key=lambda c: float(logits[c]))


def _statements(recipe: Recipe, images: list[Values], width: float, opened: dict[int, int]) -> list[Document]:
    """All statements of the recipe's form, each true of every image; those that `opened` names lack an end."""

    def ends(index: int, values: list[Any]) -> list[float | None]:
        return [None if opened.get(index) == side else end for side, end in enumerate(_hull(values, width))]

    if not PARADIGMS[recipe.paradigm].spatial:
        return [files.activation_statement(j, *ends(j, [each.activations[j] for each in images])) for j in range(COUNT)]
    return [
        files.patch_statement(patch, j, *ends(index, [each.observables[patch][j] for each in images]))
        for index, (patch, j) in enumerate(product(range(recipe.patches), range(COUNT)))
    ]


def _hull(values: list[Any], width: float) -> tuple[float, float]:
    """An interval that holds these values."""
    ends = [around(value, width) for value in values]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _clauses(recipe: Recipe, images: list[Values], width: float, clauses: Clauses) -> list[Document]:
    """The ceiling and the floor that exempt these, true of all these images, where the paradigm has them."""
    found = []
    for of, exempt, side in zip((files.order_clause, files.floor), clauses, (1, 0), strict=True):
        others = [a for each in images for j, a in enumerate(each.activations) if j not in (exempt or ())]
        if recipe.paradigm in ("top_k", "evidence") and exempt is not None and others:
            found.append(of(sorted(exempt), _hull(others, width)[side]))
    return found


def _sums(
    recipe: Recipe, head: Head, images: list[Values], predicted: int, width: float, rivals: set[int | None]
) -> list[Document]:
    """Sums about these rivals, true of all these images, where the paradigm has them."""
    found: list[Document] = []
    every = [c for c in range(CLASSES) if c != predicted]
    for rival in [each for each in (None, *every) if each in rivals] if recipe.paradigm == "evidence" else ():
        about = every if rival is None else [rival]
        taken = [taken_back(head, each.activations, predicted, c) for each in images for c in about]
        found.append(files.total(None if rival is None else about, max(0.0, _hull(taken, width)[1])))
    return found


def _two_classes_are_not_proved(
    recipe: Recipe,
    numbers: tuple[int, int],
    width: float,
    opened: dict[int, int],
    clauses: Clauses,
    sums: set[int | None],
) -> str:
    """Statements that are true of two images of different classes entail neither."""
    head = draw_head(recipe, random.Random(f"{recipe.name} {numbers[0]}"))
    images = [draw_image(head, random.Random(f"image {number}"))[: recipe.patches] for number in numbers]
    values = [head.at(image) for image in images]
    logits = [each.logits for each in values]
    classes = list(map(_class, logits))
    first, second = classes
    apart = [logits[n][classes[n]] - logits[n][classes[1 - n]] for n in (0, 1)]
    if first == second or not all(bool(difference > 0) for difference in apart):
        return "one class"
    statements = _statements(recipe, values, width, opened)
    statements += _clauses(recipe, values, width, clauses)
    for predicted, image in zip(classes, images, strict=True):
        stated = [*statements, *_sums(recipe, head, values, predicted, width, sums)]
        certificate = files.certificate(head.data, stated, predicted, CLASSES, recipe.paradigm, recipe.patches, image)
        verdict = _judged(certificate, head.data, files.latents([image]))
        _require(verdict == ("NOT_PROVED", "entailment"), f"{verdict} of statements that two classes share")
    return "two classes"


def _judged(certificate: bytes, head: bytes, latents: bytes) -> tuple[str, str]:
    """Status and reason, minimality included."""
    return outcome_of(partial(Auditor, head, latents, "arb"), certificate)


# What a verdict does not depend on: the order of statements, the names of prototypes, the unit of length.


@cache
def _accepted() -> list[Case]:
    """The accepted cases of the corpus that name an image."""
    return [case for case in stored() if case.name.startswith("accept") and case.latents is not None]


@dataclass(frozen=True)
class _Parts:
    """A case taken apart. Its margins are halved, as the last digits of what is proved may depend on the order."""

    head: Head
    images: list[files.Matrix]
    document: Document

    @classmethod
    def of(cls, case: Case) -> _Parts:
        document = json.loads(case.certificate)
        predicate = document["predicate"]
        predicate["margins"] = [m and (float.fromhex(m) / 2).hex() for m in predicate["margins"]]
        return cls(Head.read(case.head), read_latents(files.given(case.latents)), document)

    def verdict(self, head: Head, images: list[files.Matrix]) -> tuple[str, str]:
        """Status and reason of the document after it gets the digests of these."""
        data, subject = head.data, self.document["subject"]
        subject[0]["digest"]["sha256"] = hashlib.sha256(data).hexdigest()
        if len(subject) > 1:
            index = [files.digest(image) for image in self.images].index(subject[1]["digest"]["sha256"])
            subject[1]["digest"]["sha256"] = files.digest(images[index])
        return _judged(files.encode(self.document), data, files.latents(images))


def _by_patch(statements: list[Document]) -> dict[int, list[Document]]:
    groups: dict[int, list[Document]] = {}
    for statement in statements:
        groups.setdefault(statement["patch"], []).append(statement)
    return groups


def _order_is_free(case: Case, shuffle: random.Random) -> str:
    """Under hypersphere that of the statements about one patch is kept: a centre moves from each to the next."""
    parts = _Parts.of(case)
    before = parts.verdict(parts.head, parts.images)
    predicate = parts.document["predicate"]
    shuffled = list(predicate["statements"])
    shuffle.shuffle(shuffled)
    if predicate["paradigm"] == "hypersphere":
        in_order = {patch: iter(group) for patch, group in _by_patch(predicate["statements"]).items()}
        shuffled = [next(in_order[statement["patch"]]) for statement in shuffled]
    predicate["statements"] = shuffled
    after = parts.verdict(parts.head, parts.images)
    _require(after == before, f"{before}, in another order {after}")
    return before[0]


def _names_of_prototypes_are_free(case: Case, order: list[int]) -> str:
    """Prototype `order[j]` becomes j. With two banks each keeps its own prototypes; a tree is left as it is."""
    parts = _Parts.of(case)
    head = parts.head
    order = [j for j in order if j < head.count] + list(range(len(order), head.count))
    pooling = head.part("pooling")
    if pooling["kind"] == "banks":
        order.sort(key=lambda j: j >= pooling["class_token"])
    new_index = {old: new for new, old in enumerate(order)}

    def moved(values: list[Any]) -> list[Any]:
        return [values[j] for j in order] + values[head.count :]

    readout = head.part("readout")
    if readout["kind"] == "soft_tree":  # its root is prototype 0
        return "tree"
    vectors: dict[str, Any] = {name: getattr(head, name) for name in ("prototypes", "scale", "peak", "mask")}
    if readout["kind"] == "maximum":
        vectors["bias"] = head.bias
    changed = {name: None if values is None else moved(values) for name, values in vectors.items()}
    other = replace(head, **(changed | {"weight": [moved(row) for row in head.weight]}))
    images = parts.images
    if head.prototypes is None:  # softmax: a latent has an entry a prototype
        images = [[moved(z) for z in image] for image in images]
    before = parts.verdict(head, parts.images)
    predicate = parts.document["predicate"]
    for statement in predicate["statements"]:
        if "except" in statement:
            statement["except"] = sorted(new_index[j] for j in statement["except"])
        elif "prototype" in statement:  # a sum names none
            statement["prototype"] = new_index[statement["prototype"]]
    for prices in predicate["hints"].get("prices", ()):
        pairs = sorted(zip((new_index[j] for j in prices["prototypes"]), prices["prices"], strict=True))
        prices["prototypes"], prices["prices"] = [j for j, _ in pairs], [price for _, price in pairs]
    after = parts.verdict(other, images)
    _require(after == before, f"{before}, with prototypes in another order {after}")
    return before[0]


def _unit_of_length_is_free(case: Case, power: int) -> str:
    """Every length multiplied by 2^power, in metric heads whose similarity can undo it."""
    parts = _Parts.of(case)
    head, unit = parts.head, 2.0**power
    kind, similarity = head.part("geometry")["kind"], head.part("similarity")["kind"]
    before = parts.verdict(head, parts.images)
    longer = [[unit * x for x in row] for row in files.given(head.prototypes)] if head.prototypes else None
    if kind == "euclidean" and similarity in ("log_ratio", "negated", "exponential"):
        ends = {name: end and (unit * float.fromhex(end)).hex() for name, end in head.part("domain").items()}
        scale = [x / unit**2 for x in (head.scale or [1.0] * head.count)]
        other = replace(head, prototypes=longer, scale=scale, parts={**head.parts, "domain": ends})
        images = [[[unit * x for x in z] for z in image] for image in parts.images]
        of_statement = unit**2
    elif "cosine" in kind:  # the length of a prototype cancels
        other, images, of_statement = replace(head, prototypes=longer), parts.images, 1.0
    else:
        return "no unit"
    for statement in parts.document["predicate"]["statements"]:
        if "patch" in statement:
            ends = statement["interval"]
            statement["interval"] = [end and (of_statement * float.fromhex(end)).hex() for end in ends]
    after = parts.verdict(other, images)
    _require(after == before, f"{before}, in another unit {after}")
    return before[0]


# Certificates survive their files.

_INDEX = st.integers(0, 10**17)
_NUMBER = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
_INTERVAL = (
    st.tuples(_NUMBER, _NUMBER).map(sorted)
    | _NUMBER.map(lambda end: [-math.inf, end])
    | _NUMBER.map(lambda end: [end, math.inf])
)
_MARGIN = st.floats(min_value=0.0, exclude_min=True, allow_infinity=False)


@st.composite
def _certificates(draw: st.DrawFn) -> Certificate:
    classes = draw(st.integers(2, 5))
    predicted = draw(st.integers(0, classes - 1))
    patches = draw(st.integers(1, 9))
    statements: list[Any]
    if draw(st.booleans()):
        pairs = draw(st.sets(st.tuples(st.integers(0, patches - 1), _INDEX), max_size=6))
        statements = [PatchStatement(*pair, *draw(_INTERVAL)) for pair in pairs]
        paradigm = draw(st.sampled_from([name for name, each in PARADIGMS.items() if each.spatial]))
    else:
        exempt = sorted(draw(st.sets(_INDEX, max_size=6)))
        statements = [ActivationStatement(j, *draw(_INTERVAL)) for j in exempt]
        statements += [OrderStatement(tuple(exempt), draw(_NUMBER))] * draw(st.booleans())
        statements += [FloorStatement(tuple(exempt), draw(_NUMBER))] * draw(st.booleans())
        paradigm = draw(st.sampled_from(["top_k", "evidence"]))
        if paradigm == "evidence":
            upper = st.floats(min_value=0.0, allow_infinity=False)
            listed = sorted(draw(st.sets(st.integers(0, classes - 1))) - {predicted})
            statements += [SumStatement(None, draw(upper))] * draw(st.booleans())
            parts = draw(st.sampled_from([[listed], [[c] for c in listed]]))
            statements += [SumStatement(tuple(part), draw(upper)) for part in parts if part]
    prices = []
    if paradigm == "assignment":
        for rival in sorted(draw(st.sets(st.integers(0, classes - 1), max_size=2)) - {predicted}):
            listed = sorted(draw(st.sets(_INDEX, max_size=3)))
            prices.append(Prices(rival, tuple(listed), tuple(draw(_MARGIN) for _ in listed)))
    digest = st.text("0123456789abcdef", min_size=64, max_size=64)
    return Certificate(
        head=draw(digest),
        latents=draw(st.none() | digest),
        predicted=predicted,
        paradigm=paradigm,
        patches=patches,
        statements=tuple(statements),
        margins=tuple(None if c == predicted else draw(_MARGIN) for c in range(classes)),
        minimal=PARADIGMS[paradigm].minimal and draw(st.booleans()),
        version=draw(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=9)),
        prices=tuple(prices),
    )


def _a_certificate_survives_its_file(certificate: Certificate) -> str:
    data = certificate.to_bytes()
    again = Certificate.from_bytes(data)
    _require(again == certificate, f"read as {again}")
    _require(again.to_bytes() == data, "written differently")
    return "kept"


PROPERTIES = (
    Property(
        "what the rules prove, the proved program proves",
        {
            "recipe": st.sampled_from(RECIPES),
            "number": st.integers(0, 10**6),
            "left_out": st.frozensets(st.integers(0, PATCHES * COUNT - 1), max_size=6),
            "width": st.sampled_from((0.0, 2.0**-30, 2.0**-8, 2.0**-4)),
            "opened": _OPENED,
            "clauses": _CLAUSES,
            "sums": _SUMS,
        },
        _proved_margins_hold,
        "proved",
    ),
    Property(
        "what two classes share proves neither",
        {
            "recipe": st.sampled_from(RECIPES),
            "numbers": st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
            "width": st.sampled_from((0.0, 2.0**-8)),
            "opened": _OPENED,
            "clauses": _CLAUSES,
            "sums": _SUMS,
        },
        _two_classes_are_not_proved,
        "two classes",
    ),
    Property(
        "the order of statements is free",
        {"case": st.sampled_from(_accepted()), "shuffle": st.randoms(use_true_random=False)},
        _order_is_free,
        "PROVED",
    ),
    Property(
        "so are the names of prototypes",
        {"case": st.sampled_from(_accepted()), "order": st.permutations(range(COUNT))},
        _names_of_prototypes_are_free,
        "PROVED",
    ),
    Property(
        "so is the unit of length",
        {"case": st.sampled_from(_accepted()), "power": st.integers(-40, 40)},
        _unit_of_length_is_free,
        "PROVED",
    ),
    Property(
        "a certificate survives its file", {"certificate": _certificates()}, _a_certificate_survives_its_file, "kept"
    ),
)
