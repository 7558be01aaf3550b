"""Accepted cases whose numbers are chosen: claims left out, prices, ties, and statements that no latent satisfies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import log
from typing import Any

from corpus.writing.storing import encoded

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import GEOMETRIES, UNBOUNDED, top_mean
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import below, squared_distance
from verale.soundness.independent.readers import Document

SOFTMAX = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": UNBOUNDED}
NEGATED: files.Part = {"similarity": {"kind": "negated"}, "domain": files.domain(-4.0, 4.0)}
BARE_COSINE = GEOMETRIES["cosine"] | {"geometry": files.cosine(0.0), "similarity": files.IDENTITY}


def chosen_cases() -> Iterator[Case]:
    """All of them."""
    yield from _prices()
    yield from _claims_left_out()
    yield from _single_patches()
    yield from _contradiction()
    yield from _sums_and_wide_intervals()
    yield from _domain_and_stated_gains()
    yield from _ranges_over_the_domain()
    yield from _open_ends()
    yield from _clauses()
    yield from _joint()


def _case(name: str, comment: str, head: bytes, document: Document, image: files.Matrix | None) -> Case:
    latents = None if image is None else files.latents([image])
    reason = "" if "instance" in document["predicate"]["claims"] else "unclaimed"
    return Case(f"accept/{name}", encoded(document, comment), head, latents, "PROVED", reason, comment)


def _prices() -> Iterator[Case]:
    # Patches leave 1/2, 1/8 and 1/8; simplex gives 1/2 to both prototypes of the rival, prices 1/2 + 1/8 to them.
    head = files.head([[0.75, 0.0, 0.0], [0.0, 1.0, 1.0]], **SOFTMAX)
    image = [with_masses(*row) for row in ([0.505, 0.2475, 0.2475], [0.88, 0.06, 0.06], [0.88, 0.06, 0.06])]
    stated = [
        files.patch_statement(0, 0, 0.5, 0.51),
        files.patch_statement(1, 0, 0.875, 0.885),
        files.patch_statement(2, 0, 0.875, 0.885),
    ]
    document = files.document(
        head, stated, paradigm="assignment", patches=3, image=image, minimality=True, margins=[None, 2.0**-5]
    )
    document["predicate"]["hints"] = {"prices": [{"rival": 1, "prototypes": [1, 2], "prices": [(0.125).hex()] * 2}]}
    comment = "Prices prove 1/32, the greatest margin that holds; simplex proves none."
    yield _case("assignment-prices", comment, head, document, image)

    head = files.head([[1.0, 0.0], [0.0, 1.0]], bias=[1.0, 0.0], **SOFTMAX)
    comment = "Without its statement the best prices leave exactly 0: a tie is no proof, so the statement is needed."
    image = [with_masses(0.78, 0.22)]
    stated = [files.patch_statement(0, 0, 0.75, 0.875)]
    document = files.document(head, stated, paradigm="assignment", image=image, minimality=True, margins=[None, 1.5])
    yield _case("needed-at-a-tie-of-prices", comment, head, document, image)


def _claims_left_out() -> Iterator[Case]:
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.25], [9.0, 9.0]], [1.0, 0.0])
    image = [[0.5, 0.25], [0.75, 0.5]]
    comment = "Nothing is stated of the latents, which are not named: entailment alone, from the domain."
    document = files.document(head, [], patches=2, margins=[None, 0.5])
    yield _case("no-statement", comment, head, document, None)
    comment = "Claimed of an image, checked without its latents: the verdict says that the instance is not checked."
    document = files.document(
        head, [files.patch_statement(1, 0, 0.125, 0.125)], patches=2, image=image, margins=[None, 0.5]
    )
    yield _case("latents-not-given", comment, head, document, None)
    comment = "No minimality is claimed: that a statement can be dropped is no fault."
    yield _case("not-minimal", comment, head, document, image)


def _single_patches() -> Iterator[Case]:
    head = files.head([[1.0], [0.0]], [[0.0]], [16.0, 0.0], **NEGATED)
    comment = "Without its statement the margin is exactly 0: a tie is no proof, so the statement is needed."
    image, stated = [[1.0]], [files.patch_statement(0, 0, 0.0, 1.0)]
    document = files.document(head, stated, image=image, minimality=True, margins=[None, 15.0])
    yield _case("needed-at-a-tie", comment, head, document, image)
    head = files.head([[1.0], [0.0]], [[0.0]], [0.0, 1.0], domain=UNBOUNDED)
    comment = "One patch at the prototype is enough, however far the others are."
    image, stated = [[0.0], [9.0]], [files.patch_statement(0, 0, 0.0, 0.0)]
    document = files.document(head, stated, patches=2, image=image, minimality=True, margins=[None, 5.0])
    yield _case("nearest-patch", comment, head, document, image)
    head = files.head([[-1.0], [0.0]], [[0.0]], [-0.75, 0.0], pooling=top_mean(2), **NEGATED)
    comment = "The mean of the two greatest of five: every patch is stated, and each is needed."
    image = [[1.0], [2.0], [3.0], [1.0], [2.0]]
    stated = [files.patch_statement(patch, 0, z * z, z * z) for patch, (z,) in enumerate(image)]
    document = files.document(head, stated, patches=5, image=image, minimality=True, margins=[None, 0.25])
    yield _case("mean-of-five", comment, head, document, image)
    head = files.head([[1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, -1.0]], **BARE_COSINE)
    comment = "A cosine that is exactly 1: by Cauchy and Schwarz it is not more."
    image, stated = [[3.0, 3.0]], [files.patch_statement(0, 0, 0.5, 1.0)]
    document = files.document(head, stated, image=image, minimality=True, margins=[None, 0.25])
    yield _case("cosine-of-one", comment, head, document, image)


def _contradiction() -> Iterator[Case]:
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    comment = (
        "No latent satisfies these statements, which hence entail everything. Nothing is claimed of an image;"
        " reject/statements-that-contradict-each-other is the same with one."
    )
    document = files.document(head, contradiction(), paradigm="top_k")
    yield _case("contradiction-without-an-image", comment, head, document, None)


def _sums_and_wide_intervals() -> Iterator[Case]:
    weight = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    head = files.head(weight, [[0.0], [-4.0], [4.0]], [15.0, 0.0], pooling=top_mean(3), **NEGATED)
    comment = (
        "The mean of the three greatest of six, two of them not stated: each statement is needed, as without it three"
        " patches may be close to the rival's prototype."
    )
    image = [[0.0], [0.0], [0.0], [-4.0], [1.0], [2.0]]
    stated = [files.patch_statement(patch, 0, 0.0, 0.0) for patch in range(3)] + [files.patch_statement(3, 1, 0.0, 0.0)]
    margins = [None, below(Fraction(29, 3))]
    document = files.document(head, stated, patches=6, image=image, minimality=True, margins=margins)
    yield _case("two-alike-at-k", comment, head, document, image)
    head = files.head([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], [[0.0], [1.0], [3.0]], [7.0, 0.0], **NEGATED)
    comment = "A distance stated by a wide interval, which two exact ones determine: it is 81/16, not 16."
    image = [[0.75]]
    stated = [
        files.patch_statement(0, 2, 0.0, 16.0),
        files.patch_statement(0, 0, 0.5625, 0.5625),
        files.patch_statement(0, 1, 0.0625, 0.0625),
    ]
    margins = [None, below(Fraction(31, 16) - Fraction(1, 2**100))]
    document = files.document(head, stated, image=image, margins=margins)
    yield _case("wide-but-determined", comment, head, document, image)
    rows = [[0.625, -1.0, 0.625], [-0.875, 0.25, 1.375], [0.0, -1.625, 0.125], [0.875, -1.25, 0.875], [-2.0, 2.0, -2.0]]
    head = files.head([[0.0, 0.0, 0.0, 0.0, 1.0], [0.0] * 5], rows, [64.0, 0.0], **NEGATED)
    comment = "Wide intervals: taken for equalities at their middles, the first statements alone prove more than all."
    image = [[-1.25, 1.875, 0.875]]
    widths = [0.5, 0.0625, 0.125, 0.5]
    each = [(j, squared_distance(image[0], rows[j]), Fraction(width)) for j, width in enumerate(widths)]
    stated = [
        files.patch_statement(0, j, *map(float, (distance - width, distance + width))) for j, distance, width in each
    ]
    document = files.document(head, stated, image=image, margins=[None, 40.0])
    yield _case("first-statements-alone", comment, head, document, image)


def _domain_and_stated_gains() -> Iterator[Case]:
    inner = {"geometry": {"kind": "inner_product", "radius": (2.0).hex()}, "similarity": files.IDENTITY}
    head = files.head([[1.0], [0.0]], [[1.0, 0.0]], **inner, domain=files.domain(0.5, 1.0))
    comment = "Nothing is stated. Of the domain's box and ball the box alone proves the class."
    document = files.document(head, [], margins=[None, 0.5])
    yield _case("box-within-a-ball", comment, head, document, None)
    inner["domain"] = files.domain(2.0, 3.0)
    head, image = files.head([[1.0], [0.0]], [[1.0]], **inner), [[2.0]]
    comment = "The box [2, 3] and the ball of radius 2 in one dimension: they share one latent, which is enough."
    document = files.document(head, [files.patch_statement(0, 0, 2.0, 2.0)], image=image, margins=[None, 2.0])
    yield _case("one-latent-in-the-domain", comment, head, document, image)
    inner["domain"] = files.domain(-3.0, -1.0)
    head, image = files.head([[0.0], [1.0]], [[1.0] * 4], [-2.0, 0.0], **inner), [[-1.0] * 4]
    comment = "The box [-3, -1] in four dimensions touches the ball of radius 2 in one latent: the domain has it alone."
    stated = [files.patch_statement(0, 0, -4.0, -4.0)]
    document = files.document(head, stated, image=image, margins=[None, 2.0])
    yield _case("corner-on-the-ball", comment, head, document, image)
    comment = "Prices where a patch with most of its mass left has both of the rival's masses stated: it gives no more."
    head, image, document = stated_gains()
    yield _case("assignment-stated-gains", comment, head, document, image)


def _open_ends() -> Iterator[Case]:
    head = files.head([[1.0], [0.0]], [[0.0]], [16.0, 0.0], **NEGATED)
    comment = "No lower end is stated. Without its statement the margin is exactly 0: it is needed."
    image, stated = [[1.0]], [files.patch_statement(0, 0, None, 1.0)]
    document = files.document(head, stated, image=image, minimality=True, margins=[None, 15.0])
    yield _case("open-below-needed-at-a-tie", comment, head, document, image)
    weight = [[0.0, 0.0], [0.0, 1.0]]
    head = files.head(weight, [[0.0, 0.0], [3.0, 4.0]], [0.0625, 0.0], domain=UNBOUNDED)
    comment = (
        "Every patch is at least 10 away from the origin, so 5 from (3, 4), which is 5 away from it: no upper end is"
        " stated, and none follows."
    )
    image = [[0.0, -10.0], [12.0, 0.0]]
    stated = [files.patch_statement(patch, 0, 100.0, None) for patch in range(2)]
    document = files.document(head, stated, patches=2, image=image, minimality=True, margins=[None, 2.0**-6])
    yield _case("open-above-far-away", comment, head, document, image)
    weight = [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    head = files.head(weight, [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]], [0.5, 0.0], domain=UNBOUNDED)
    comment = (
        "Two lower ends, each of which allows what the other excludes: the distance to (1, 0) is 3^(1/2) at least."
    )
    image = [[1.0, 2.0]]
    stated = [files.patch_statement(0, 0, 4.0, None), files.patch_statement(0, 1, 4.0, None)]
    document = files.document(head, stated, image=image, minimality=True, margins=[None, 0.1875])
    yield _case("open-above-between", comment, head, document, image)
    head = files.head([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [4.5, 0.0], **NEGATED)
    comment = "An upper end about one prototype, a lower one about another: at most 1 from 0 is at most 2 from 1."
    image = [[-0.5]]
    stated = [files.patch_statement(0, 0, None, 1.0), files.patch_statement(0, 1, 1.0, None)]
    document = files.document(head, stated, image=image, margins=[None, 0.25])
    yield _case("open-on-either-side", comment, head, document, image)
    head = files.head([[1.0], [0.0]], [[0.0]], [9.0, 0.0], pooling=top_mean(2), **NEGATED)
    comment = "The mean of two patches, of one of which a lower end alone is stated: the other end is the domain's, 16."
    image = [[1.0], [0.0]]
    stated = [files.patch_statement(0, 0, 1.0, None), files.patch_statement(1, 0, None, 0.0)]
    document = files.document(head, stated, patches=2, image=image, margins=[None, 1.0])
    yield _case("open-above-in-a-box", comment, head, document, image)
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], [-0.375, 0.0], **BARE_COSINE)
    comment = "A cosine of 0.875 at least leaves (15 / 64)^(1/2) for one at a right angle to it."
    image, stated = [[0.9375, 0.25]], [files.patch_statement(0, 0, 0.875, None)]
    document = files.document(head, stated, image=image, minimality=True, margins=[None, 2.0**-7])
    yield _case("open-above-cosine", comment, head, document, image)
    inner = {"geometry": {"kind": "inner_product", "radius": (2.0).hex()}, "similarity": files.IDENTITY}
    head = files.head([[0.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], [2.25, 0.0], **inner, domain=UNBOUNDED)
    comment = "Products with two unit vectors: one is at most 0, the other at most the radius 2."
    image, stated = [[-0.5, 1.0]], [files.patch_statement(0, 0, None, 0.0)]
    document = files.document(head, stated, image=image, minimality=True, margins=[None, 0.25])
    yield _case("open-below-product", comment, head, document, image)
    head, image, document = _prices_of_lower_ends()
    comment = "Prices for what the lower ends leave; no upper end is stated."
    yield _case("open-above-prices", comment, head, document, image)


def _prices_of_lower_ends() -> tuple[bytes, files.Matrix, Document]:
    """Patches leave 1/2, 1/8 and 1/8, as in `assignment-prices`."""
    head = files.head([[0.75, 0.0, 0.0], [0.0, 1.0, 1.0]], **SOFTMAX)
    image = [with_masses(*row) for row in ([0.505, 0.2475, 0.2475], [0.88, 0.06, 0.06], [0.88, 0.06, 0.06])]
    stated = [files.patch_statement(patch, 0, low, None) for patch, low in enumerate((0.5, 0.875, 0.875))]
    document = files.document(
        head, stated, paradigm="assignment", patches=3, image=image, minimality=True, margins=[None, 2.0**-5]
    )
    document["predicate"]["hints"] = {"prices": [{"rival": 1, "prototypes": [1, 2], "prices": [(0.125).hex()] * 2}]}
    return head, image, document


def _clauses() -> Iterator[Case]:
    head = files.head([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], **SOFTMAX)
    image = [with_masses(0.4, 0.4, 0.2)]
    comment = "A floor of two masses and a ceiling of the third: both are needed, and lists need not be the same."
    stated = [files.floor([2], 0.375), files.order_clause([0, 1], 0.25)]
    document = files.document(head, stated, paradigm="top_k", image=image, minimality=True, margins=[None, 0.5])
    yield _case("floor-and-ceiling", comment, head, document, image)
    comment = "A floor that exempts nobody, and one statement above it."
    head = files.head([[1.0, 1.0, 1.0], [0.0, 2.0, 0.0]], **SOFTMAX)
    stated = [files.floor([], 0.125), files.activation_statement(1, None, 0.21875)]
    image = [with_masses(0.4, 0.2, 0.4)]
    document = files.document(head, stated, paradigm="top_k", image=image, minimality=True, margins=[None, 2.0**-5])
    yield _case("floor-of-all", comment, head, document, image)
    head = files.head([[1.0, 0.0], [0.0, 1.0]], bias=[0.5, 0.0], **SOFTMAX)
    comment = "A floor that exempts everybody says nothing, whatever its end; nor does such a ceiling."
    stated = [files.floor([0, 1], 9.0), files.order_clause([0, 1], -9.0), files.activation_statement(1, None, 0.25)]
    image = [with_masses(0.8, 0.2)]
    document = files.document(head, stated, paradigm="top_k", image=image, margins=[None, 0.25])
    yield _case("clauses-that-say-nothing", comment, head, document, image)


def _ranges_over_the_domain() -> Iterator[Case]:
    for name, comment, head, _, margin in domain_heads():
        document = files.document(head, [], paradigm="top_k", margins=[None, margin])
        yield _case(name, "Nothing is stated. " + comment, head, document, None)


def domain_heads() -> Iterator[tuple[str, str, bytes, files.Matrix, float]]:
    """Heads whose domain alone proves class 0: a name, why, the head, an image, and a margin below the proved one. The
    activation of prototype 0 counts for class 1, or of class 0 if there are two."""
    parts = SOFTMAX | {"domain": files.domain(0.0, 1.0)}
    head = files.head([[1.0, 0.0], [0.0, 1.0]], bias=[0.5, 0.0], **parts)
    yield "bounded-logits", "Logits in [0, 1] give two masses in [0.26, 0.74].", head, [[0.5, 0.5]], 2.0**-5
    for sign, side in ((1.0, files.domain(0.0, None)), (-1.0, files.domain(None, 0.0))):
        suffix = "" if sign > 0 else "-mirrored"
        image = [[sign, sign]]
        head = against_one([-sign, -sign], 0.5, **{**BARE_COSINE, "geometry": files.cosine(0.5), "domain": side})
        comment = "Latents in an orthant have no positive cosine with its opposite."
        yield f"opposite-orthant{suffix}", comment, head, image, 0.5
        head = against_one([-3.0 * sign, -4.0 * sign], -0.5, **{**BARE_COSINE, "domain": side})
        comment = "Latents in an orthant have a cosine of at most -3/5 with (-3, -4) times its sign, if epsilon is 0."
        yield f"opposite-orthant-bare{suffix}", comment, head, image, 2.0**-4
    inner = {"geometry": {"kind": "inner_product", "radius": (2.0).hex()}, "similarity": files.IDENTITY}
    for name, lower in (("half-box-in-a-ball", None), ("box-cut-to-a-ball", -9.0)):
        head = against_one([1.0, -1.0], 2.75, **inner, domain=files.domain(lower, 0.5))
        comment = "No coordinate is above 1/2, nor below -2, the radius: the product with (1, -1) is at most 5/2."
        yield name, comment, head, [[0.5, -0.5]], 0.25


def against_one(prototype: list[float], bias: float, **parts: Any) -> bytes:
    """A head of one prototype, whose activation is the logit of class 1; that of class 0 is the bias."""
    return files.head([[0.0], [1.0]], [prototype], [bias, 0.0], **parts)


def stated_gains(*more: Document, prices: Sequence[int] = (1, 2)) -> tuple[bytes, files.Matrix, Document]:
    """A head, an image and a certificate under assignment.

    Patches leave 1/2, 1/8, 1/8 and 1, but of the last patch both masses that the rival gains by are stated.

    Args:
        more: further statements, which come last.
        prices: the prototypes that have prices.
    """
    head = files.head([[0.75, 0.0, 0.0], [0.0, 1.0, 1.0]], **SOFTMAX)
    rows = [[0.505, 0.2475, 0.2475], [0.88, 0.06, 0.06], [0.88, 0.06, 0.06], [0.96, 0.02, 0.02]]
    image = [with_masses(*row) for row in rows]
    stated = [
        files.patch_statement(0, 0, 0.5, 0.51),
        files.patch_statement(1, 0, 0.875, 0.885),
        files.patch_statement(2, 0, 0.875, 0.885),
    ]
    stated += [files.patch_statement(3, 1, 0.0, 0.0625), files.patch_statement(3, 2, 0.0, 0.0625), *more]
    document = files.document(
        head, stated, paradigm="assignment", patches=4, image=image, minimality=True, margins=[None, 2.0**-5]
    )
    each = {"rival": 1, "prototypes": list(prices), "prices": [(0.0625).hex()] * len(prices)}
    document["predicate"]["hints"] = {"prices": [each]}
    return head, image, document


def with_masses(*masses: float) -> list[float]:
    """A softmax latent of nearly these masses, rounded so that no digit depends on a library's logarithm."""
    return [round(1024 * log(mass)) / 1024 for mass in masses]


def contradiction() -> list[Document]:
    """Two activations that no latent has together: prototype 0 at distance 0, prototype 1 further than it can be."""
    return [files.activation_statement(0, 6.5, 7.0), files.activation_statement(1, 0.0, 0.125)]


def _joint() -> Iterator[Case]:
    rows, weight = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    # o_0 - o_1 = d_1 + d_2 - d_0 - bias = |y|^2 + 2 - bias, and d_0 = |y|^2.
    head, image = files.head(weight, rows, [0.0, 2.125], **NEGATED), [[0.5, 0.0]]
    rounding = Fraction(1, 2**100)
    comment = (
        "The margin is |y|^2 - 1/8, and |y|^2 is stated: as one target it is 1/8, term by term no more than -15/8."
    )
    stated = [files.patch_statement(0, 0, 0.25, 0.25)]
    options: dict[str, Any] = {"paradigm": "joint", "image": image, "margins": [None, below(Fraction(1, 8) - rounding)]}
    yield _case("joint-one-of-three", comment, head, files.document(head, stated, minimality=True, **options), image)
    comment = "The same, of which the lower end is enough."
    open_ = [files.patch_statement(0, 0, 0.25, None)]
    yield _case("joint-one-end", comment, head, files.document(head, open_, **options), image)
    head = files.head(weight, rows, [0.0, 2.0], **NEGATED)
    comment = "Without its statement the margin |y|^2 is exactly 0 at the first prototype: so the statement is needed."
    options["margins"] = [None, below(Fraction(1, 4) - rounding)]
    document = files.document(head, stated, minimality=True, **options)
    yield _case("joint-needed-at-a-tie", comment, head, document, image)
    head = files.head(weight, rows, [0.0, 1.5], **NEGATED)
    comment = "Nothing is stated: the margin |y|^2 + 1/2 is positive wherever y is, though no term has a good end."
    options["margins"] = [None, below(Fraction(1, 2) - rounding)]
    yield _case("joint-nothing-stated", comment, head, files.document(head, [], minimality=True, **options), image)
    head = files.head([[0.0] * 3, [1.0, 0.0, 0.0]], rows, [2.5, 0.0], **(NEGATED | {"domain": files.domain(0.5, 1.0)}))
    comment = "The margin is 5/2 + d_0, and d_0 is at least 1/2 over the domain: term by term more is proved."
    stated = [files.patch_statement(0, 1, 0.25, 1.0)]
    options |= {"margins": [None, 3.0], "image": [[0.5, 0.5]]}
    yield _case("joint-term-by-term", comment, head, files.document(head, stated, **options), [[0.5, 0.5]])
