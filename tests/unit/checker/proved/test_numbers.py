"""Numbers of the proved checker: what is answered holds at latents that comply, and is what the verdict is about."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, TypeVar

import flint
import pytest
from support import arithmetic, files
from support.cases import case
from support.every_head import CLASSES, COUNT, GEOMETRIES, PATCHES, around, cases_of, draw, head_with
from support.network_truth import network_of, true_latents
from support.networks import drawn_picture, picture_digest
from support.proved import fake

from verale.checker.certificate import Certificate, read_certificate
from verale.checker.errors import ExecutableError, UnprovedError
from verale.checker.head import read_head
from verale.checker.numbers import Interval, Items, NotNumbersError, numbers_of
from verale.checker.proved.claims import ProvedClaims
from verale.checker.proved.program import find_executable, find_script
from verale.checker.proved.text import image_text, picture_text
from verale.checker.read.latents import Image, Latents
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture, PictureFile, Pictures
from verale.soundness.corpus.cases import stored

TINY = Fraction(1, 2**40)
MOST = 10**12
OWN = [[1.0, 0.0], [0.0, 1.0]]
"""Each class has a prototype of its own."""
BOX = files.domain(0.0, 1.0)
PRODUCTS: dict[str, Any] = {
    "geometry": {"kind": "inner_product", "radius": None},
    "similarity": {"kind": "identity"},
}
HALF = Fraction(1, 2)
T = TypeVar("T")


@dataclass(frozen=True)
class Values:
    """What a head computes for an image, in real arithmetic.

    Attributes:
        by_patch: (P, L) the similarity of each prototype to each patch.
        activations: (P,) each activation.
        leads: (C,) the predicted class's logit minus each other's; None at the predicted class.
    """

    by_patch: tuple[tuple[Interval, ...], ...]
    activations: tuple[Interval, ...]
    leads: tuple[Interval | None, ...]


class ValuedClaims(ProvedClaims):
    """Asks for values, and for the latents of a picture, too; the package asks for neither."""

    def values(self, certificate: Certificate, image: Image) -> Values:
        """What the head computes for an image, whatever it satisfies; the certificate says which class leads."""
        sizes = self._head.count, self._head.classes, certificate.predicted, image.patches
        text = self._about(certificate, image_text(image))
        return self._numbers("values", text, lambda said: values_of(said, *sizes))

    def latents(self, picture: Picture) -> tuple[tuple[Interval, ...], ...]:
        """(L, D) the latents that the network gives for a picture, in real arithmetic."""
        return self._numbers("latents", picture_text(picture), lambda said: latents_of(said, self._head.depth, 2**20))

    def _numbers(self, question: str, text: bytes, read: Callable[[str], T]) -> T:
        answer = self._answer(question, text)
        assert answer.word == question, answer
        return read(answer.why)


def ends_of(items: Items, unit: int) -> Interval:
    """Two ends, each of which may be missing."""
    return Interval(items.end(unit), items.end(unit))


def values_of(text: str, count: int, classes: int, predicted: int, patches: int) -> Values:
    """The values of a text, for a head and an image of this kind. Raises NotNumbersError."""
    items = Items(text)
    unit = items.unit()
    by_patch = items.so_many(count, lambda: items.so_many(patches, lambda: ends_of(items, unit)))
    activations = items.so_many(count, lambda: items.ends(unit))
    over = items.unit()
    leads = items.so_many(classes, lambda: ends_of(items, over))
    items.finish()
    return Values(by_patch, activations, tuple(None if c == predicted else lead for c, lead in enumerate(leads)))


def latents_of(text: str, depth: int, most: int) -> tuple[tuple[Interval, ...], ...]:
    """The ends of latents in a text: at most so many patches, each of this depth. Raises NotNumbersError."""
    items = Items(text)
    unit = items.unit()
    patches = items.integer()
    if not 0 < patches <= most:
        raise NotNumbersError(f"expected at most {most} patches")
    latents = tuple(items.so_many(depth, lambda: items.ends(unit)) for _ in range(patches))
    items.finish()
    return latents


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


def claims_of(head: bytes, network: Any = None) -> ValuedClaims:
    claims = ValuedClaims(read_head(head), len(head), find_executable(), network)
    claims.allow(MOST)
    return claims


def certificate_of(head: bytes, statements: list[dict[str, Any]], **options: Any) -> Certificate:
    given = {"classes": 2, "patches": 1, "minimality": False} | options
    return read_certificate(files.encode(files.document(head, statements, **given)))


def image_of(rows: files.Matrix) -> Image:
    return Latents(files.latents([rows]), len(rows[0])).only()


def contains(interval: Interval, least: Fraction, most: Fraction) -> bool:
    """Whether it holds some number between these two."""
    above = interval.low is None or interval.low <= most
    return above and (interval.high is None or least <= interval.high)


def drawn_statements(kind: str, head: Any, image: files.Matrix, generator: random.Random) -> list[dict[str, Any]]:
    """Some that hold at the image."""
    activations = head.at(image).activations
    stated = []
    if kind == "patches":
        for patch, j in generator.sample(list(product(range(PATCHES), range(COUNT))), generator.randrange(1, 9)):
            low, high = around(head.observable(image[patch], j), generator)
            stated.append(files.patch_statement(patch, j, float(low), float(high)))
    if kind == "activations":
        for j in range(0, COUNT, 2):
            low, high = around(activations[j], generator)
            stated.append(files.activation_statement(j, float(low), float(high)))
        stated.append(
            files.order_clause([0, 2, 4], max(arithmetic.above(arithmetic.ends(activations[j])[1]) for j in (1, 3)))
        )
    return stated


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 6))])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_what_is_answered_holds(geometry: str, first: int) -> None:
    covered = [parts for parts in cases_of(geometry) if parts[2].get("k", 0) < 2**20]
    for parts in covered[first::6]:
        with case(*parts), flint.ctx.workprec(arithmetic.PRECISION):
            require_that_it_holds(parts)


def require_that_it_holds(parts: tuple[Any, ...]) -> None:
    generator = random.Random(str(parts))
    head = head_with(*parts, generator)
    claims = claims_of(head.data)
    image = draw(head, generator)
    activations = head.at(image).activations
    logits = head.logits(activations)
    predicted = generator.randrange(CLASSES)
    leads = [arithmetic.ends(arithmetic.ball(logits[predicted] - logit)) for logit in logits]
    options = {"predicted": predicted, "classes": CLASSES, "patches": PATCHES}
    for kind in ("nothing", "patches", "activations"):
        paradigm = "top_k" if kind == "activations" else "simplex" if parts[0] == "softmax" else "projection"
        stated = drawn_statements(kind, head, image, generator)
        certificate = certificate_of(head.data, stated, paradigm=paradigm, **options)
        numbers = claims.numbers(certificate)
        assert all(
            contains(each, *arithmetic.ends(a)) for each, a in zip(numbers.activations, activations, strict=True)
        )
        for c, margin in enumerate(numbers.margins):
            assert margin is None or (c != predicted and margin <= leads[c][1])
        if kind != "nothing":
            assert_tighter(numbers.activations, numbers.domain)
            assert_tighter(numbers.domain, claims.numbers(replace(certificate, statements=())).activations)
    values = claims.values(certificate, image_of(image))
    for value, a in zip(values.activations, activations, strict=True):
        assert contains(value, *arithmetic.ends(a)) and width(value) < TINY
    for c, lead in enumerate(values.leads):
        assert lead is None if c == predicted else lead is not None and width(lead) < TINY and contains(lead, *leads[c])
    if parts[1] == "identity":
        for j, patch in product(range(COUNT), range(PATCHES)):
            value = values.by_patch[j][patch]
            assert contains(value, *arithmetic.ends(head.observable(image[patch], j))) and width(value) < TINY


def width(interval: Interval) -> Fraction:
    assert interval.low is not None and interval.high is not None and interval.low <= interval.high
    return interval.high - interval.low


def assert_tighter(stated: tuple[Interval, ...], domain: tuple[Interval, ...]) -> None:
    """Statements do not widen what the domain gives, but for what another grid rounds."""
    for each, wide in zip(stated, domain, strict=True):
        assert wide.low is None or (each.low is not None and each.low >= wide.low - TINY)
        assert wide.high is None or (each.high is not None and each.high <= wide.high + TINY)


def corpus(one_in: int) -> Iterator[tuple[str, ValuedClaims, Certificate, Image | None]]:
    """Of the certificates of the corpora that are proved one in so many, with their images."""
    for each in [one for one in stored() if one.status == "PROVED" and "deployed" not in one.name][::one_in]:
        certificate, image = read_certificate(each.certificate), None
        if each.latents is not None and certificate.latents is not None:
            image = Latents(each.latents, read_head(each.head).depth).find(certificate.latents)
        yield each.name, claims_of(each.head), certificate, image


@pytest.mark.parametrize("one_in", [14, pytest.param(1, marks=pytest.mark.long)])
def test_no_margin_is_less_than_one_that_is_proved(one_in: int) -> None:
    """Of every paradigm of the corpora; and what the head computes for the image complies."""
    paradigms = set()
    for name, claims, certificate, image in corpus(one_in):
        with case(name):
            try:
                if not claims.entails(certificate):
                    continue
            except UnprovedError:
                continue
            numbers = claims.numbers(certificate)
            for margin, stated in zip(numbers.margins, certificate.margins, strict=True):
                assert (margin is None) == (stated is None)
                assert margin is None or stated is None or margin >= stated
            paradigms.add(certificate.paradigm)
            if image is not None:
                values = claims.values(certificate, image)
                for value, each in zip(values.activations, numbers.activations, strict=True):
                    assert value.low is not None and value.high is not None and contains(each, value.low, value.high)
                for lead, margin in zip(values.leads, numbers.margins, strict=True):
                    assert (lead is None) == (margin is None)
                    assert lead is None or margin is None or lead.high is None or lead.high >= margin
    assert len(paradigms) >= 4


def test_the_answered_margin_is_the_greatest_that_is_proved() -> None:
    """Where the bound is the infimum: of masses by prices, of one patch as a whole, and activation by activation."""
    negated = files.head(
        [[*row, 0.0] for row in OWN], [[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]], [0.0, 0.0], domain=BOX,
        similarity={"kind": "negated"},
    )  # fmt: skip
    whole = certificate_of(negated, [files.patch_statement(0, 2, 0.0, 2.0**-4)], margins=[None, 2.0**-9])
    inner = files.head(OWN, [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.25], domain=BOX, **PRODUCTS)
    alone = certificate_of(inner, [files.patch_statement(0, 0, 0.75, 1.0), files.patch_statement(0, 1, 0.0, 0.25)])
    for head, certificate, least in ((negated, whole, Fraction(1, 2)), (inner, alone, Fraction(1, 4))):
        claims = claims_of(head)
        (_, margin) = claims.numbers(certificate).margins
        assert margin is not None and least - TINY <= margin <= least
        assert claims.entails(replace(certificate, margins=(None, margin)))
        assert not claims.entails(replace(certificate, margins=(None, least + TINY)))


def test_earlier_questions_change_no_answer() -> None:
    """What was found for a certificate serves it alone: not one with other margins, statements or patches."""
    head = files.head(OWN, [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.25], domain=BOX, **PRODUCTS)
    stated = [files.patch_statement(0, 0, 0.75, 1.0), files.patch_statement(0, 1, 0.0, 0.25)]
    proved = certificate_of(head, stated, margins=[None, 0.25])
    beyond = replace(proved, margins=(None, Fraction(1, 4) + TINY))
    less = replace(proved, statements=proved.statements[:1])
    wider = replace(proved, patches=2)
    claims = claims_of(head)
    for certificate in (proved, beyond, proved, less, proved, wider, beyond, less, wider):
        anew = claims_of(head)
        assert claims.entails(certificate) == anew.entails(certificate) == (certificate is proved)
        assert claims.numbers(certificate) == anew.numbers(certificate)


def test_the_domain_is_that_of_so_many_patches() -> None:
    head = files.head(OWN, OWN, [0.0, 0.0], domain=BOX, **PRODUCTS | {"pooling": {"kind": "max_minus_mean"}})
    claims = claims_of(head)
    for patches in (2, 4, 2):
        domain = claims.numbers(certificate_of(head, [], patches=patches)).domain
        assert domain == (Interval(Fraction(0), Fraction(patches - 1, patches)),) * 2


def test_ends_without_statements_are_those_of_the_domain() -> None:
    inner = files.head(OWN, [[1.0, 0.5], [-1.0, 1.0]], [0.0, 0.0], domain=BOX, **PRODUCTS)
    numbers = claims_of(inner).numbers(certificate_of(inner, []))
    assert numbers.activations == (Interval(Fraction(0), Fraction(3, 2)), Interval(Fraction(-1), Fraction(1)))
    assert numbers.margins == (None, Fraction(-1, 2))  # as one function of the only patch
    assert numbers.givers == (((), ()), ((), ()))


def test_which_statements_give_an_end() -> None:
    head = files.head(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], [[0.0, 0.0], [0.0, 2.0**-9], [1.0, 1.0]], [0.0, 0.0],
        domain=BOX, similarity={"kind": "negated"},
    )  # fmt: skip
    claims = claims_of(head)
    about_patch = claims.numbers(certificate_of(head, [files.patch_statement(0, 0, 0.0, 2.0**-8)]))
    assert about_patch.givers[0] == ((0,), ())
    stated = [files.activation_statement(2, -2.0, -0.5), files.activation_statement(0, -(2.0**-8), 0.0)]
    about_activations = claims.numbers(certificate_of(head, stated, paradigm="mixed")).givers
    assert about_activations[0] == ((1,), ()) and about_activations[2] == ((), (0,))
    assert about_activations[1][0] == (1,)  # by its neighbour
    clause = claims.numbers(certificate_of(head, [files.order_clause([0], -0.25)], paradigm="top_k")).givers
    assert clause == (((), (0,)),) * 3  # of the first by its neighbour


def test_latents_of_a_picture_lie_within_their_ends() -> None:
    checked, drawn = 0, drawn_picture((1, 4, 4), 3)
    for each in [one for one in stored("picture") if one.status == "PROVED" and one.network][::4]:
        certificate = read_certificate(each.certificate)
        if certificate.picture != picture_digest(drawn) or certificate.arithmetic != "real" or not each.pictures:
            continue
        network = read_network(each.network or b"")
        with flint.ctx.workprec(arithmetic.PRECISION):
            truth = true_latents(network_of(each.network or b""), drawn)
        picture = Pictures([PictureFile("", partial(bytes, each.pictures))], network.shape).find(certificate.picture)
        claims = claims_of(each.head, network)
        assert picture is not None and claims.holds(certificate, picture)
        latents = claims.latents(picture)
        assert len(latents) == len(truth) == certificate.patches
        for patch, values in zip(latents, truth, strict=True):
            for interval, value in zip(patch, values, strict=True):
                assert width(interval) < TINY and contains(interval, *arithmetic.ends(value))
        checked += 1
    assert checked >= 3


GOOD = "4 2 0 8 -1 3 2 -4 8 -4 4 8 2 none 4 2 0 1 0 0 0"
"""Of two prototypes and two classes, over 4 and over 8, with one statement."""


def test_a_text_is_read() -> None:
    numbers = numbers_of(GOOD, 2, 2, 0, 1)
    assert numbers.activations == (Interval(Fraction(0), Fraction(2)), Interval(-HALF / 2, Fraction(3, 4)))
    assert numbers.domain == (Interval(Fraction(-1), Fraction(2)), Interval(Fraction(-1), Fraction(1)))
    assert numbers.margins == (None, HALF) and numbers.givers == (((), (0,)), ((), ()))
    assert latents_of("2 1 2 0 1 -1 1", 2, 4) == ((Interval(Fraction(0), HALF), Interval(-HALF, HALF)),)
    values = values_of("2 1 1 0 1 1 0 1 2 2 none none 1 2", 1, 2, 0, 1)
    assert values.by_patch == ((Interval(Fraction(0), Fraction(1, 2)),),)
    assert values.leads == (None, Interval(Fraction(1, 2), Fraction(1)))


@pytest.mark.parametrize(
    "text",
    [
        "", GOOD + " 0", GOOD[:-2], GOOD + " ", " " + GOOD, GOOD.replace("4 2 0", "0 2 0"),
        GOOD.replace("none", "None"),
        GOOD.replace("4 2 0", "-4 2 0"), GOOD.replace("4 2 0", "4 3 0"), GOOD.replace("2 none 4", "2 4 none"),
        GOOD.replace("1 0 0 0", "1 1 0 0"), GOOD.replace("1 0 0 0", "2 0 0 0 0"), GOOD.replace("8 2", "08 2"),
        GOOD.replace("8 2", "8.0 2"), GOOD.replace("8 2", "+8 2"), GOOD.replace("8 2", "0x8 2"), "1" * 9000 + GOOD[1:],
        GOOD.replace(" 2 none", " 100000000000 none"), GOOD.replace("-1", "none"), GOOD.replace("1 0 0 0", "1 -1 0 0"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_noticed(text: str) -> None:
    with pytest.raises(NotNumbersError):
        numbers_of(text, 2, 2, 0, 1)


@pytest.mark.parametrize("text", ["", "2 1 2 0 1 -1", "2 0", "2 5 2 0 1", "2 -1", "0 1 2 0 1 -1 1", "2 1 1 0 1"])
def test_what_are_no_latents_is_noticed(text: str) -> None:
    with pytest.raises(NotNumbersError):
        latents_of(text, 2, 4)


@pytest.mark.parametrize("said", [f"numbers: {GOOD} 0", "values: 1", "proved", "hints: 1", "numbers:", "numbers: 1 2"])
def test_an_executable_that_answers_otherwise_is_an_error(said: str, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"return None if question == 'head' else {said!r}"))
    head = files.head(OWN, [[0.0], [1.0]], [0.0, 0.0], domain=BOX)
    with pytest.raises(ExecutableError, match=r"no answer"):
        claims_of(head).numbers(certificate_of(head, []))


def test_the_script_answers_what_the_executable_does() -> None:
    pytest.importorskip("py_mini_racer", reason="the script is not run here, which takes mini-racer")
    script = find_script()
    assert script is not None
    generator = random.Random(5)
    for parts in (cases_of("cosine")[0], cases_of("softmax")[0]):
        head = head_with(*parts, generator)
        image = draw(head, generator)
        stated = drawn_statements("patches", head, image, generator)
        certificate = certificate_of(head.data, stated, classes=CLASSES, patches=PATCHES)
        answers = []
        for program in (find_executable(), script):
            claims = ValuedClaims(read_head(head.data), len(head.data), program)
            claims.allow(MOST)
            answers.append((claims.numbers(certificate), claims.values(certificate, image_of(image))))
        (numbers, values), (others, again) = answers
        assert numbers.givers == others.givers
        for one, other in zip(numbers.activations, others.activations, strict=True):
            assert width(Interval(min(one.low, other.low), max(one.low, other.low))) < TINY  # hints are found in floats
            assert width(Interval(min(one.high, other.high), max(one.high, other.high))) < TINY
        assert values == again and numbers.domain == others.domain
