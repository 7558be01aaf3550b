"""Attacks that published lemmas or programs fall for: a bound, a rounding or a shortcut that does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import nextafter

from corpus.writing.accept.chosen import SOFTMAX, contradiction
from corpus.writing.reject.building import BOX, COSINE, NEGATED, THRESHOLD, case, twice

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import top_mean
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import below


def published_attacks() -> Iterator[Case]:
    """Lemmas of papers, and steps of their programs, that do not hold."""
    yield from _caps()
    yield from _activations()
    yield from _ranges()
    yield from _undecided()
    yield from _focal()
    yield from _cached()
    yield from _raw_prototypes()
    yield from _thresholds()
    yield from _contradiction()
    yield from _rounded()
    yield from _terms_left_out()


def _caps() -> Iterator[Case]:
    """Lemmas on spheres applied to caps."""
    for paradigm in ("hypersphere", "projection", "triangle"):
        # |z|^2 <= 1/16 and |z - (1, 0)|^2 <= 3/2. The foot of the plane of both spheres lies at -7/32; the lemma puts z
        # within (1/16 - 49/1024)^(1/2) of it. z = 0 is further.
        head = files.head(
            [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]],
            [[0.0, 0.0], [1.0, 0.0], [-0.21875, 0.0]],
            [0.03125, 0.0],
            **NEGATED,
            **BOX,
        )
        stated = [files.patch_statement(0, 0, 0.0, 0.0625), files.patch_statement(0, 1, 0.0, 1.5)]
        comment = "The lemma on two spheres applied to caps (Beyond L2, Lemma 1), under " + paradigm + "."
        yield from twice(f"caps-{paradigm}", comment, head, stated, [[-0.21875, 0.0]], [[0.0, 0.0]], paradigm=paradigm)
    for paradigm in ("triangle", "hypersphere", "projection"):
        head = files.head([[0.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [4.0, 3.0]], [0.96875, 0.0], **COSINE)
        comment = (
            "cos(delta - r) as the upper bound within a cap of radius r > delta (Beyond L2, Corollary 2):"
            f" it is cos(max(0, delta - r)) = 1. Under {paradigm}."
        )
        stated = [files.patch_statement(0, 0, 0.5, 1.0)]
        yield from twice(
            f"cap-around-{paradigm}", comment, head, stated, [[0.5, 0.75]], [[4.0, 3.0]], paradigm=paradigm
        )


def _activations() -> Iterator[Case]:
    """Bounds of activations that are not stated."""
    head = files.head([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]], [2.0, 0.0], **NEGATED, **BOX)
    comment = "The lower end 0 for an activation that is not stated; negated distances are negative."
    yield from twice(
        "activations-from-zero",
        comment,
        head,
        [files.activation_statement(0, -1.5, 0.0)],
        [[1.0, 0.0]],
        [[-1.0, 0.0]],
        paradigm="top_k",
    )
    head = files.head(
        [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]], [0.5, 0.0], similarity=files.log_ratio(2.0**-10), **BOX
    )
    comment = (
        "The clause that no other activation is greater than those stated is used, but neither stated nor counted."
    )
    near, far = [[0.171875, 0.0], [-1.0, 0.0]], [[0.171875, 0.0], [1.0, 0.0]]
    yield from twice(
        "order-clause-unstated", comment, head, [files.activation_statement(0, 3.0, 4.0)], near, far, paradigm="top_k"
    )


def _ranges() -> Iterator[Case]:
    """Ranges of observables that are too narrow."""
    head = files.head(
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]], [9.0, 0.0], **NEGATED, **BOX
    )
    comment = "m_2 = 3 m_1 - 2 m_0 + 6, where one interval's width is taken off the other's: they vary apart."
    stated = [files.patch_statement(0, 0, 1.0, 2.0), files.patch_statement(0, 1, 1.0, 2.0)]
    yield from twice("widths-that-cancel", comment, head, stated, [[0.5, 1.125]], [[0.0, 1.0]])
    head = files.head(
        [[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [0.5, 0.0], **(COSINE | {"domain": files.domain(-1.0, 1.0)})
    )
    comment = "Cosines taken to be 0 at least, as over latents that are not negative."
    yield from twice("half-space", comment, head, [], [[1.0, 0.0]], [[-1.0, 0.0]], paradigm="top_k")


def _undecided() -> Iterator[Case]:
    """Instances that need more digits than there are."""
    head = files.head([[1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, -1.0]], **COSINE)
    comment = "A cosine stated to be 1 and no less: it is, but no number of digits can tell."
    document = files.document(head, [files.patch_statement(0, 0, 1.0, 1.0)], image=[[3.0, 3.0]])
    yield case("undecided", comment, document, head, [[3.0, 3.0]], "instance")
    head = files.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0], [2.0**-200]],
        geometry={"kind": "inner_product", "radius": None},
        similarity=files.IDENTITY,
        domain=files.domain(0.0, 1.0),
    )
    comment = "The clause about all others one hair below what one of them is: 2^-300 for 2^-200."
    stated = [files.activation_statement(0, 1.0, 1.0), files.order_clause([0], 2.0**-300)]
    document = files.document(head, stated, paradigm="top_k", image=[[1.0]])
    yield case("clause-below-the-grid", comment, document, head, [[1.0]], "instance")


def _contradiction() -> Iterator[Case]:
    comment = "Statements that no latent satisfies entail everything; the instance claim excludes them."
    vacuous = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    document = files.document(vacuous, contradiction(), paradigm="top_k", image=[[0.25, 0.0]])
    yield case("statements-that-contradict-each-other", comment, document, vacuous, [[0.25, 0.0]], "instance")


def _rounded() -> Iterator[Case]:
    """Observables clamped or rounded before they are stated."""
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]], [0.0, -0.5], **NEGATED, **BOX)
    comment = "A distance clamped from below at 1e-3 before it is stated; it is 0."
    document = files.document(head, [files.patch_statement(0, 0, 1e-3, 1e-3)], image=[[0.0]])
    yield case("distance-clamped", comment, document, head, [[0.0]], "instance")
    comment = "A distance recovered in float32 from its similarity by the inverse of log_ratio: 0.25000016 for 0.25."
    ratio = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]], [0.0, -0.5], similarity=files.log_ratio(1e-4), **BOX)
    document = files.document(ratio, [files.patch_statement(0, 0, 0.25000016, 0.2500002)], image=[[0.5]])
    yield case("distance-from-its-similarity", comment, document, ratio, [[0.5]], "instance")
    comment = "A cosine rounded to float32 and stated as a point: 0.6 is none."
    cosine = files.head([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]], **COSINE)
    document = files.document(
        cosine, [files.patch_statement(0, 0, 0.6000000238418579, 0.6000000238418579)], image=[[3.0, 4.0]]
    )
    yield case("cosine-rounded", comment, document, cosine, [[3.0, 4.0]], "instance")


def _terms_left_out() -> Iterator[Case]:
    """An epsilon or a bias forgotten."""
    comment = "The epsilon of a cosine left out when its interval was made: |z| for |z| + E."
    with_epsilon = files.head(
        [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]], **(COSINE | {"geometry": files.cosine(2.0**-40)})
    )
    document = files.document(
        with_epsilon, [files.patch_statement(0, 0, below(Fraction(3, 5)), 0.625)], image=[[3.0, 4.0]]
    )
    yield case("epsilon-left-out", comment, document, with_epsilon, [[3.0, 4.0]], "instance")
    comment = "The epsilon of a rooted cosine taken as that of a plain one: |z| + E for (|z|^2 + E)^(1/2)."
    rooted = files.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [0.0, -1.0]],
        **(COSINE | {"geometry": {"kind": "rooted_cosine", "epsilon": (2.0**-4).hex()}}),
    )
    document = files.document(
        rooted, [files.patch_statement(0, 0, below(Fraction(3) / Fraction(81, 16)), 0.59375)], image=[[3.0, 4.0]]
    )
    yield case("epsilon-outside-the-root", comment, document, rooted, [[3.0, 4.0]], "instance")
    comment = "The bias forgotten in the margin: 1/8 of it is the bias of the rival."
    biased = files.head([[1.0, 0.0], [0.0, 0.0]], bias=[0.0, 0.125], **SOFTMAX)
    document = files.document(
        biased, [files.patch_statement(0, 0, 0.5, 0.5)], paradigm="simplex", image=[[0.0, 0.0]], margins=[None, 0.5]
    )
    yield case("bias-forgotten", comment, document, biased, [[0.0, 0.0]], "margin")


def _focal() -> Iterator[Case]:
    """Poolings of several patches, with what is not stated used all the same."""
    for kind in ("max_minus_mean_distance", "max_minus_mean"):
        head = files.head(
            [[1.0], [0.0]],
            [[0.0]],
            [0.0, 1.0],
            similarity=files.log_ratio(2.0**-10),
            pooling={"kind": kind},
            domain=files.domain(-2.0, 2.0),
        )
        comment = f"The exact mean of all patches used, though only the nearest one is stated ({kind})."
        yield from twice(
            f"mean-unstated-{kind}",
            comment,
            head,
            [files.patch_statement(0, 0, 0.0, 0.0)],
            [[0.0], [2.0], [2.0]],
            [[0.0], [0.0], [0.0]],
        )
    head = files.head([[1.0], [0.0]], [[0.0]], [0.0, 4.0], pooling=top_mean(2), domain=files.domain(-2.0, 2.0))
    comment = "The mean of the two greatest similarities bounded by the greatest."
    stated, near, far = [files.patch_statement(0, 0, 2.0**-8, 2.0**-8)], [[0.0625], [0.0]], [[0.0625], [2.0]]
    yield from twice("mean-of-two-as-maximum", comment, head, stated, near, far)
    head = files.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[0.0], [2.0]],
        [-4.0, 0.0],
        pooling={"kind": "banks", "class_token": 1},
        domain=files.domain(-2.0, 2.0),
    )
    exchanged = "A statement about an image patch used for a prototype that looks at the class token alone."
    yield from twice(
        "banks-exchanged",
        exchanged,
        head,
        [files.patch_statement(1, 0, 0.0, 0.0)],
        [[0.0], [0.0]],
        [[2.0], [0.0]],
    )
    yield from _masks()


def _masks() -> Iterator[Case]:
    """Prototypes that look at some patches only."""
    masked, box = {"kind": "masked_max"}, files.domain(-2.0, 2.0)
    weight, points = [[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]]
    own = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    head = files.head(weight, points, [-4.0, 0.0], pooling=masked, mask=own, domain=box)
    comment = "A statement about a patch that no prototype looks at."
    near, far = [[0.0], [0.0], [0.0]], [[2.0], [0.0], [2.0]]
    yield from twice("mask-left-out", comment, head, [files.patch_statement(1, 0, 0.0, 0.0)], near, far)
    head = files.head(weight, points, [-1.0, 0.0], pooling=masked, mask=[[1.0, 0.0], [0.0, 1.0]], domain=box)
    comment = "The last column of a mask taken for one patch: it stands for all further ones."
    stated = [files.patch_statement(0, 0, 0.0, 0.0), files.patch_statement(1, 1, 4.0, 4.0)]
    yield from twice("mask-last-column-alone", comment, head, stated, near, [[0.0], [0.0], [2.0]])
    one, three = {"kind": "banks", "class_token": 1}, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    head = files.head(three, [[0.0], [2.0], [2.0]], [-1.0, 0.0], pooling=one, domain=box)
    comment = "As many prototypes taken for the class token's as look at the other patches."
    yield from twice("banks-as-many", comment, head, [files.patch_statement(0, 0, 0.0, 0.0)], near[:2], [[0.0], [2.0]])
    some = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
    head = files.head(weight, points, [-1.0, 0.0], pooling=masked, mask=some, domain=box)
    comment = "Of the patches that a prototype looks at only the first one is bounded."
    yield from twice("mask-first-patch-alone", comment, head, stated, near, [[0.0], [0.0], [2.0]])


def _cached() -> Iterator[Case]:
    """Two images of one class, the second explained with what is left of the first one's bounds."""
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]], [0.0, 2.0], **NEGATED, **BOX)
    first, second = [[0.0, 0.0], [0.5, 0.5]], [[0.25, 0.0], [-0.5, 0.0]]
    comment = "Bounds kept from the image before: of this one the rival's distances are not stated at all."
    other = [[0.25, 0.0], [2.0, 0.0]]
    stated = [files.patch_statement(0, 0, 0.0625, 0.0625)]
    for suffix, image, reason in (("", second, "entailment"), ("-refuted", other, "refuted")):
        document = files.document(head, stated, patches=2, image=image)
        whole = comment + (" Here with the latents of a counterexample." if suffix else "")
        yield case(f"bounds-cached{suffix}", whole, document, head, image, reason, files.latents([first, image]))
    comment = "The statements of the image before, under this one's digest."
    stated = [files.patch_statement(0, 0, 0.0, 0.0), files.patch_statement(1, 0, 0.5, 0.5)]
    document = files.document(head, stated, patches=2, image=second)
    yield case("statements-cached", comment, document, head, second, "instance", files.latents([first, second]))


def _raw_prototypes() -> Iterator[Case]:
    """A cosine head whose prototypes have the length 2, treated as if it were 1."""
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]], **COSINE)
    image = [[4.0, 3.0]]
    comment = "<z, p> / |z| stated of prototypes that are not unit vectors: 1.6 for 0.8."
    document = files.document(head, [files.patch_statement(0, 0, 1.6, 1.6)], image=image)
    yield case("raw-prototypes-stated", comment, document, head, image, "instance")
    comment = "A margin for prototypes of length 2 where the head has their directions: twice what is proved."
    stated = [files.patch_statement(0, 0, 0.75, 0.8125), files.patch_statement(0, 1, 0.5, 0.625)]
    for paradigm in ("projection", "hypersphere"):
        document = files.document(head, stated, paradigm=paradigm, image=image, margins=[None, 0.25])
        yield case(f"raw-prototypes-{paradigm}", f"{comment} Under {paradigm}.", document, head, image, "margin")


def _thresholds() -> Iterator[Case]:
    """Intervals that touch the threshold."""
    head = files.head([[1.0, 0.0], [0.0, 0.0]], bias=[0.0, 0.25], **THRESHOLD)
    comment = "An interval that begins one binary64 below the threshold, treated as if its masses counted."
    yield from twice(
        "just-below-the-threshold",
        comment,
        head,
        [files.patch_statement(0, 0, nextafter(0.5, 0.0), 0.5)],
        [[0.0, 0.0]],
        [[0.0, 2.0**-53]],
        paradigm="simplex",
    )
    head = files.head([[0.0, 0.0], [0.0, 1.0]], bias=[0.25, 0.0], **THRESHOLD)
    comment = "An interval that ends at the threshold, treated as if none of its masses counted: the greatest does."
    yield from twice(
        "at-the-threshold",
        comment,
        head,
        [files.patch_statement(0, 1, 0.25, 0.5)],
        [[1.0, 0.0]],
        [[0.0, 0.0]],
        paradigm="simplex",
    )
