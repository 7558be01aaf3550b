"""Attacks on statements with one end, and on the floor: what is not stated must not be taken for anything."""

from __future__ import annotations

from collections.abc import Iterator
from math import nextafter

from corpus.writing.accept.chosen import BARE_COSINE, SOFTMAX, with_masses
from corpus.writing.reject.building import BOX, NEGATED, case, twice

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import top_mean
from verale.soundness.independent import files

PRODUCT = {
    "geometry": {"kind": "inner_product", "radius": None},
    "similarity": files.IDENTITY,
    "domain": files.domain(-1.0, 1.0),
}
UNBOUNDED = {"domain": files.domain(None, None)}


def of_open_ends() -> Iterator[Case]:
    """All of them."""
    yield from _taken_for_zero()
    yield from _distances()
    yield from _masses()
    yield from _clauses()
    yield from _false()
    yield from _needless()


def _taken_for_zero() -> Iterator[Case]:
    """An end that is null read as 0, or as the other end."""
    for weight, name, ends, image, other in (
        (1.0, "lower", (None, 0.5), [[0.25]], [[-1.0]]),
        (-1.0, "upper", (-0.5, None), [[-0.25]], [[1.0]]),
    ):
        head = files.head([[weight], [0.0]], [[1.0]], [0.5, 0.0], **PRODUCT)
        comment = f"A {name} end that is null read as 0."
        statements = [files.patch_statement(0, 0, *ends)]
        yield from twice(f"null-{name}-for-0", comment, head, statements, image, other)
        comment = f"A {name} end that is null read as 0, of an activation."
        statements = [files.activation_statement(0, *ends)]
        yield from twice(f"null-{name}-for-0-activation", comment, head, statements, image, other, paradigm="top_k")
    for weight, bias, name, ends, image, other in (
        (1.0, -0.5, "lower", (None, 0.75), [[0.625]], [[0.25]]),
        (-1.0, 0.25, "upper", (0.0, None), [[0.125]], [[0.5]]),
    ):
        head = files.head([[weight], [0.0]], [[1.0]], [bias, 0.0], **PRODUCT)
        comment = f"A {name} end that is null read as the other end."
        statements = [files.patch_statement(0, 0, *ends)]
        yield from twice(f"null-{name}-for-the-other", comment, head, statements, image, other)
    head = files.head([[1.0], [0.0]], [[1.0, 0.0]], [0.25, 0.0], **(BARE_COSINE | UNBOUNDED))
    comment = "A lower end of a cosine that is null read as 0, where latents are not confined to an orthant."
    stated = [files.patch_statement(0, 0, None, 0.5)]
    yield from twice("null-lower-for-0-cosine", comment, head, stated, [[0.25, 1.0]], [[-1.0, 0.0]])


def _distances() -> Iterator[Case]:
    """Ends of distances that do not follow from those that are stated."""
    head = files.head([[1.0], [0.0]], [[0.0]], [-0.25, 0.0], **UNBOUNDED)
    comment = "No distance is at most its lower end, nor anything else, where no upper end is stated."
    stated = [files.patch_statement(0, 0, 0.25, None)]
    yield from twice("far-away", comment, head, stated, [[0.5]], [[64.0]])
    head = files.head([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [3.0, 0.0], **NEGATED, **BOX)
    comment = "At most 1 from 0, so at most 2 from 1: squares add up as lengths do, and not by themselves."
    stated = [files.patch_statement(0, 0, None, 1.0), files.patch_statement(0, 1, 0.25, None)]
    yield from twice("squares-added", comment, head, stated, [[0.5]], [[-1.0]])
    rows = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]]
    head = files.head([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], rows, [0.28125, 0.0], **UNBOUNDED)
    comment = "Lower ends about two prototypes, taken for the exterior of the sphere about the point between them."
    stated = [files.patch_statement(0, 0, 4.0, None), files.patch_statement(0, 1, 4.0, None)]
    yield from twice("between-lower-ends", comment, head, stated, [[1.0, 2.0]], [[1.0, 1.75]])
    head = files.head([[0.0, 0.0], [0.0, 1.0]], [[0.0], [16.0]], [1.0, 0.0], **UNBOUNDED)
    comment = "At least 1 from 0 may be 16 from it, which is where another prototype lies."
    stated = [files.patch_statement(0, 0, 1.0, None)]
    yield from twice("far-enough", comment, head, stated, [[-1.0]], [[16.0]])
    head = files.head([[1.0], [0.0]], [[0.0]], [7.0, 0.0], pooling=top_mean(2), **NEGATED, **BOX)
    comment = "The mean of two patches, of one of which a lower end alone is stated: the other end is the domain's."
    stated = [files.patch_statement(0, 0, 1.0, None), files.patch_statement(1, 0, 0.0, 0.0)]
    yield from twice("far-in-a-box", comment, head, stated, [[1.0], [0.0]], [[4.0], [0.0]])
    head = files.head([[-1.0], [0.0]], [[1.0]], [2.75, 0.0], **(PRODUCT | {"domain": files.domain(1.0, 3.0)}))
    comment = "Products with latents about 2: what is not stated lies about the product with the middle, not about 0."
    stated = [files.patch_statement(0, 0, 1.25, None)]
    yield from twice("null-upper-off-centre", comment, head, stated, [[1.5]], [[3.0]])
    comment = "A patch of which a lower end is stated says nothing of the others."
    head = files.head([[0.0], [1.0]], [[0.0]], [0.5, 0.0], **UNBOUNDED)
    stated = [files.patch_statement(0, 0, 9.0, None)]
    yield from twice("far-patch-alone", comment, head, stated, [[3.0], [3.0]], [[3.0], [0.0]])


def _masses() -> Iterator[Case]:
    head = files.head([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], bias=[0.5, 0.0], **SOFTMAX)
    comment = "Upper ends alone leave a mass that is not stated all that there is."
    stated = [files.patch_statement(0, 0, None, 0.5), files.patch_statement(0, 1, None, 0.5)]
    image, other = [with_masses(0.4, 0.4, 0.2)], [with_masses(0.1, 0.1, 0.8)]
    yield from twice("null-lower-mass", comment, head, stated, image, other, paradigm="simplex")
    weight, bias = [[0.75, 0.0, 0.0], [0.0, 1.0, 1.0]], [0.875, 0.0]
    three = files.head(weight, bias=bias, **SOFTMAX)
    comment = "A mass with an upper end alone leaves the others all that there is, whatever the prices."
    for suffix, masses, reason in (
        ("", (0.2, 0.4, 0.4), "entailment"),
        ("-refuted", (0.02, 0.49, 0.49), "refuted"),
    ):
        images, stated = [with_masses(*masses)], [files.patch_statement(0, 0, None, 0.25)]
        document = files.document(three, stated, paradigm="assignment", image=images)
        document["predicate"]["hints"] = {"prices": [{"rival": 1, "prototypes": [], "prices": []}]}
        whole = comment + (" Here with the latents of a counterexample." if suffix else "")
        yield case(f"null-lower-leaves-all{suffix}", whole, document, three, images, reason)
    head = files.head([[1.0, 0.0], [0.0, 1.0]], bias=[0.25, 0.0], **SOFTMAX)
    comment = "Prices where a mass with a lower end alone may be 1."
    for suffix, images, reason in (
        ("", [with_masses(0.55, 0.45)], "entailment"),
        ("-refuted", [with_masses(0.1, 0.9)], "refuted"),
    ):
        document = files.document(head, [files.patch_statement(0, 1, 0.25, None)], paradigm="assignment", image=images)
        document["predicate"]["hints"] = {"prices": [{"rival": 1, "prototypes": [1], "prices": [(2.0**-10).hex()]}]}
        whole = comment + (" Here with the latents of a counterexample." if suffix else "")
        yield case(f"null-upper-mass{suffix}", whole, document, head, images, reason)


def _clauses() -> Iterator[Case]:
    head = files.head([[0.0, 0.0], [0.0, 1.0]], bias=[0.5, 0.0], **SOFTMAX)
    comment = "A floor used as a ceiling."
    image, other = [with_masses(0.75, 0.25)], [with_masses(0.2, 0.8)]
    stated = [files.floor([], 0.125)]
    yield from twice("floor-for-a-ceiling", comment, head, stated, image, other, paradigm="top_k")
    head = files.head([[1.0, 0.0], [0.0, 0.0]], bias=[-0.25, 0.0], **SOFTMAX)
    comment = "A ceiling used as a floor."
    image, other = [with_masses(0.375, 0.625)], [with_masses(0.125, 0.875)]
    stated = [files.order_clause([1], 0.5)]
    yield from twice("ceiling-for-a-floor", comment, head, stated, image, other, paradigm="top_k")
    comment = "A floor used for a prototype that it exempts."
    stated = [files.floor([0], 0.375)]
    yield from twice("floor-of-the-exempt", comment, head, stated, image, other, paradigm="top_k")
    comment = "A floor used for all but those that the ceiling exempts: each has a list of its own."
    stated = [files.floor([0], 0.375), files.order_clause([1], 0.5)]
    yield from twice("floor-with-the-other-list", comment, head, stated, image, other, paradigm="top_k")
    head = files.head([[1.0, 1.0], [0.0, 0.0]], [[0.0], [2.0]], [3.0, 0.0], **NEGATED, **BOX)
    comment = "A floor of one patch's similarities: it is of the greatest, one for each prototype."
    stated = [files.floor([1], -1.0)]
    yield from twice("floor-of-one", comment, head, stated, [[0.5]], [[-1.0]], paradigm="top_k")


def _false() -> Iterator[Case]:
    """Statements that are false of the image."""
    head = files.head([[1.0], [0.0]], [[1.0]], [9.0, 0.0], **PRODUCT)
    image = [[0.25]]
    for name, ends in (("lower", (nextafter(0.25, 1), None)), ("upper", (None, nextafter(0.25, 0)))):
        document = files.document(head, [files.patch_statement(0, 0, *ends)], image=image)
        comment = f"A statement with the {name} end alone, one binary64 beyond the truth."
        yield case(f"open-{name}-false", comment, document, head, image, "instance")
        document = files.document(head, [files.activation_statement(0, *ends)], paradigm="top_k", image=image)
        yield case(f"open-{name}-false-activation", comment, document, head, image, "instance")
    two = files.head([[1.0, 1.0], [0.0, 0.0]], [[1.0], [0.5]], [9.0, 0.0], **PRODUCT)
    for name, clause in (
        ("floor-too-high", files.floor([], nextafter(0.125, 1))),
        ("floor-of-the-greatest", files.floor([], 0.25)),
        ("floor-too-high-of-one", files.floor([1], nextafter(0.25, 1))),
        ("ceiling-too-low", files.order_clause([0], nextafter(0.125, 0))),
    ):
        document = files.document(two, [clause], paradigm="top_k", image=image)
        comment = "A clause that is false of one activation that it does not exempt: they are 1/4 and 1/8."
        yield case(name, comment, document, two, image, "instance")
    tiny = files.head([[1.0, 0.0], [0.0, 1.0]], [[1.0], [2.0**-200]], **PRODUCT | {"domain": files.domain(0.0, 1.0)})
    stated = [files.activation_statement(0, 1.0, None), files.floor([0], nextafter(2.0**-200, 1))]
    document = files.document(tiny, stated, paradigm="top_k", image=[[1.0]])
    comment = "A floor one hair above what one activation is: 2^-200."
    yield case("floor-above-the-grid", comment, document, tiny, [[1.0]], "instance")


def _needless() -> Iterator[Case]:
    """Minimality claimed of statements that are not needed."""
    ratio = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]], [3.0, 0.0], **BOX)
    comment = "Minimality claimed of a floor that is never used."
    stated = [files.activation_statement(0, 5.0, None), files.floor([0, 1], 1.0)]
    document = files.document(ratio, stated, paradigm="top_k", image=[[0.0, 0.0]], minimality=True)
    yield case("not-minimal-floor", comment, document, ratio, [[0.0, 0.0]], "minimality")
    comment = "Minimality claimed of a floor below what the domain says."
    stated = [files.activation_statement(0, 5.0, None), files.floor([], 0.0)]
    document = files.document(ratio, stated, paradigm="top_k", image=[[0.0, 0.0]], minimality=True)
    yield case("not-minimal-floor-below", comment, document, ratio, [[0.0, 0.0]], "minimality")
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]], [2.0, 0.0], **NEGATED, **BOX)
    comment = "Minimality claimed of two upper ends of which one is enough."
    image = [[0.0], [0.25]]
    stated = [files.patch_statement(0, 0, None, 0.0), files.patch_statement(1, 0, None, 0.0625)]
    document = files.document(head, stated, patches=2, image=image, minimality=True)
    yield case("not-minimal-open", comment, document, head, image, "minimality")
