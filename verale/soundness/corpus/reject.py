"""`certificates/reject`: attacks, each told in its file.

An attack that rests on a bound that does not hold comes twice: with an image that satisfies every statement and is
classified as claimed (the proof fails), and, `-refuted`, with one that satisfies them too and is classified otherwise.
"""

from __future__ import annotations

import copy
import hashlib
import json
import struct
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from verale.soundness.corpus.accept import contradiction, stated_gains, top_mean
from verale.soundness.corpus.cases import Case, encoded
from verale.soundness.independent import files as hm

Document = dict[str, Any]
UNTIGHT = (
    "latents-not-given",
    "not-minimal",
    "contradiction-without-an-image",
    "nearest-patch",
    "cosine-of-one",
    "first-statements-alone",
)
"""Accepted cases with a margin less than the greatest that is proved."""
BOX = {"domain": hm.domain(-4.0, 4.0)}
NEGATED: hm.Part = {"similarity": {"kind": "negated"}}
COSINE = {"geometry": hm.cosine(0.0), "similarity": hm.IDENTITY, "domain": hm.domain(None, None)}
SOFTMAX = {"geometry": hm.SOFTMAX, "similarity": hm.IDENTITY, "domain": hm.domain(None, None)}
THRESHOLD = SOFTMAX | {"similarity": {"kind": "threshold", "threshold": (0.5).hex()}}


def rejected(cases: list[Case]) -> list[Case]:
    """All attacks, given the accepted cases."""
    by_name = {case.name.removeprefix("accept/"): case for case in cases}
    return [*published(), *of_statements(by_name), *of_subjects(by_name), *of_heads(by_name), *of_proofs(by_name)]


def case(
    name: str,
    comment: str,
    document: Document,
    head: bytes,
    image: hm.Matrix | None,
    reason: str,
    latents: bytes | None = None,
) -> Case:
    if latents is None and image is not None:
        latents = hm.latents([image])
    status = {"refuted": "REFUTED", "malformed": "MALFORMED"}.get(reason, "NOT_PROVED")
    return Case(f"reject/{name}", encoded(document, comment), head, latents, status, reason, comment)


def twice(
    name: str,
    comment: str,
    head: bytes,
    stated: list[Any],
    image: hm.Matrix,
    other: hm.Matrix,
    **options: Any,
) -> Iterator[Case]:
    """An attack at an image and at its counterexample."""
    for suffix, reason, latents in (("", "entailment", image), ("-refuted", "refuted", other)):
        document = hm.document(head, stated, image=latents, **({"patches": len(latents)} | options))
        told = comment + (" Here with the latents of a counterexample." if suffix else "")
        yield case(name + suffix, told, document, head, latents, reason)


def published() -> Iterator[Case]:
    """What the papers state, or their code does, that does not hold."""
    for paradigm in ("hypersphere", "projection", "triangle"):
        # |z|^2 <= 1/16 and |z - (1, 0)|^2 <= 3/2. The foot of the plane of both spheres lies at -7/32; the lemma puts z
        # within (1/16 - 49/1024)^(1/2) of it. z = 0 is further.
        head = hm.head(
            [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]],
            [[0.0, 0.0], [1.0, 0.0], [-0.21875, 0.0]],
            [0.03125, 0.0],
            **NEGATED,
            **BOX,
        )
        stated = [hm.spatial(0, 0, 0.0, 0.0625), hm.spatial(0, 1, 0.0, 1.5)]
        comment = "The lemma on two spheres applied to caps (Beyond L2, Lemma 1), under " + paradigm + "."
        yield from twice(f"caps-{paradigm}", comment, head, stated, [[-0.21875, 0.0]], [[0.0, 0.0]], paradigm=paradigm)
    for paradigm in ("triangle", "hypersphere", "projection"):
        head = hm.head([[0.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [4.0, 3.0]], [0.96875, 0.0], **COSINE)
        comment = (
            "cos(delta - r) as the upper bound within a cap of radius r > delta (Beyond L2, Corollary 2):"
            f" it is cos(max(0, delta - r)) = 1. Under {paradigm}."
        )
        stated = [hm.spatial(0, 0, 0.5, 1.0)]
        yield from twice(
            f"cap-around-{paradigm}", comment, head, stated, [[0.5, 0.75]], [[4.0, 3.0]], paradigm=paradigm
        )
    head = hm.head([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]], [2.0, 0.0], **NEGATED, **BOX)
    comment = "The lower end 0 for an activation that is not stated; negated distances are negative."
    yield from twice(
        "activations-from-zero",
        comment,
        head,
        [hm.activation(0, -1.5, 0.0)],
        [[1.0, 0.0]],
        [[-1.0, 0.0]],
        paradigm="top_k",
    )
    head = hm.head(
        [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]], [0.5, 0.0], similarity=hm.log_ratio(2.0**-10), **BOX
    )
    comment = (
        "The clause that no other activation is greater than those stated is used, but neither stated nor counted."
    )
    near, far = [[0.171875, 0.0], [-1.0, 0.0]], [[0.171875, 0.0], [1.0, 0.0]]
    yield from twice("order-clause-unstated", comment, head, [hm.activation(0, 3.0, 4.0)], near, far, paradigm="top_k")
    # z lies at (1/2, 1/2) or (1/2, -1/2), which projection knows; |z - p_2|^2 is at most 1, by triangles at most 2.
    head = hm.head(
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0], [0.5, -0.5]], [1.5, 0.0], **NEGATED, **BOX
    )
    image = [[0.5, 0.5]]
    document = hm.document(
        head, [hm.spatial(0, 0, 0.5, 0.5), hm.spatial(0, 1, 0.5, 0.5)], paradigm="triangle", image=image
    )
    comment = "Statements taken together under triangle, which takes each on its own."
    yield case("triangle-as-projection", comment, document, head, image, "entailment")
    head = hm.head(
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]], [9.0, 0.0], **NEGATED, **BOX
    )
    comment = "m_2 = 3 m_1 - 2 m_0 + 6, where one interval's width is taken off the other's: they vary apart."
    stated = [hm.spatial(0, 0, 1.0, 2.0), hm.spatial(0, 1, 1.0, 2.0)]
    yield from twice("widths-that-cancel", comment, head, stated, [[0.5, 1.125]], [[0.0, 1.0]])
    head = hm.head(
        [[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [0.5, 0.0], **(COSINE | {"domain": hm.domain(-1.0, 1.0)})
    )
    comment = "Cosines taken to be 0 at least, as over latents that are not negative."
    yield from twice("half-space", comment, head, [], [[1.0, 0.0]], [[-1.0, 0.0]], paradigm="top_k")
    head = hm.head([[1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, -1.0]], **COSINE)
    comment = "A cosine stated to be 1 and no less: it is, but no number of digits can tell."
    document = hm.document(head, [hm.spatial(0, 0, 1.0, 1.0)], image=[[3.0, 3.0]])
    yield case("undecided", comment, document, head, [[3.0, 3.0]], "instance")
    head = hm.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0], [2.0**-200]],
        geometry={"kind": "inner_product", "radius": None},
        similarity=hm.IDENTITY,
        domain=hm.domain(0.0, 1.0),
    )
    comment = "The clause about all others one hair below what one of them is: 2^-300 for 2^-200."
    stated = [hm.activation(0, 1.0, 1.0), hm.others([0], 2.0**-300)]
    document = hm.document(head, stated, paradigm="top_k", image=[[1.0]])
    yield case("clause-below-the-grid", comment, document, head, [[1.0]], "instance")
    yield from _focal()
    yield from _cached()
    yield from _raw_prototypes()
    yield from _thresholds()
    comment = "Statements that no latent satisfies entail everything; the instance claim excludes them."
    vacuous = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    document = hm.document(vacuous, contradiction(), paradigm="top_k", image=[[0.25, 0.0]])
    yield case("statements-that-contradict-each-other", comment, document, vacuous, [[0.25, 0.0]], "instance")
    head = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]], [0.0, -0.5], **NEGATED, **BOX)
    comment = "A distance clamped from below at 1e-3 before it is stated; it is 0."
    document = hm.document(head, [hm.spatial(0, 0, 1e-3, 1e-3)], image=[[0.0]])
    yield case("distance-clamped", comment, document, head, [[0.0]], "instance")
    comment = "A distance recovered in float32 from its similarity by the inverse of log_ratio: 0.25000016 for 0.25."
    ratio = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]], [0.0, -0.5], similarity=hm.log_ratio(1e-4), **BOX)
    document = hm.document(ratio, [hm.spatial(0, 0, 0.25000016, 0.2500002)], image=[[0.5]])
    yield case("distance-from-its-similarity", comment, document, ratio, [[0.5]], "instance")
    comment = "A cosine rounded to float32 and stated as a point: 0.6 is none."
    cosine = hm.head([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]], **COSINE)
    document = hm.document(cosine, [hm.spatial(0, 0, 0.6000000238418579, 0.6000000238418579)], image=[[3.0, 4.0]])
    yield case("cosine-rounded", comment, document, cosine, [[3.0, 4.0]], "instance")
    comment = "The epsilon of a cosine left out when its interval was made: |z| for |z| + E."
    with_epsilon = hm.head(
        [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, -1.0]], **(COSINE | {"geometry": hm.cosine(2.0**-40)})
    )
    document = hm.document(with_epsilon, [hm.spatial(0, 0, hm.below(Fraction(3, 5)), 0.625)], image=[[3.0, 4.0]])
    yield case("epsilon-left-out", comment, document, with_epsilon, [[3.0, 4.0]], "instance")
    comment = "The epsilon of a rooted cosine taken as that of a plain one: |z| + E for (|z|^2 + E)^(1/2)."
    rooted = hm.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [0.0, -1.0]],
        **(COSINE | {"geometry": {"kind": "rooted_cosine", "epsilon": (2.0**-4).hex()}}),
    )
    document = hm.document(
        rooted, [hm.spatial(0, 0, hm.below(Fraction(3) / Fraction(81, 16)), 0.59375)], image=[[3.0, 4.0]]
    )
    yield case("epsilon-outside-the-root", comment, document, rooted, [[3.0, 4.0]], "instance")
    comment = "The bias forgotten in the margin: 1/8 of it is the bias of the rival."
    biased = hm.head([[1.0, 0.0], [0.0, 0.0]], bias=[0.0, 0.125], **SOFTMAX)
    document = hm.document(
        biased, [hm.spatial(0, 0, 0.5, 0.5)], paradigm="simplex", image=[[0.0, 0.0]], margins=[None, 0.5]
    )
    yield case("bias-forgotten", comment, document, biased, [[0.0, 0.0]], "margin")


def _focal() -> Iterator[Case]:
    """max - mean: what is near is stated, the mean is used as it is."""
    for kind in ("max_minus_mean_distance", "max_minus_mean"):
        head = hm.head(
            [[1.0], [0.0]],
            [[0.0]],
            [0.0, 1.0],
            similarity=hm.log_ratio(2.0**-10),
            pooling={"kind": kind},
            domain=hm.domain(-2.0, 2.0),
        )
        comment = f"The exact mean of all patches used, though only the nearest one is stated ({kind})."
        yield from twice(
            f"mean-unstated-{kind}",
            comment,
            head,
            [hm.spatial(0, 0, 0.0, 0.0)],
            [[0.0], [2.0], [2.0]],
            [[0.0], [0.0], [0.0]],
        )
    head = hm.head([[1.0], [0.0]], [[0.0]], [0.0, 4.0], pooling=top_mean(2), domain=hm.domain(-2.0, 2.0))
    comment = "The mean of the two greatest similarities bounded by the greatest."
    stated, near, far = [hm.spatial(0, 0, 2.0**-8, 2.0**-8)], [[0.0625], [0.0]], [[0.0625], [2.0]]
    yield from twice("mean-of-two-as-maximum", comment, head, stated, near, far)
    head = hm.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[0.0], [2.0]],
        [-4.0, 0.0],
        pooling={"kind": "banks", "class_token": 1},
        domain=hm.domain(-2.0, 2.0),
    )
    comment = "A statement about an image patch used for a prototype that looks at the class token alone."
    yield from twice(
        "banks-exchanged",
        comment,
        head,
        [hm.spatial(1, 0, 0.0, 0.0)],
        [[0.0], [0.0]],
        [[2.0], [0.0]],
    )


def _cached() -> Iterator[Case]:
    """Two images of one class, the second explained with what is left of the first one's bounds."""
    head = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]], [0.0, 2.0], **NEGATED, **BOX)
    first, second = [[0.0, 0.0], [0.5, 0.5]], [[0.25, 0.0], [-0.5, 0.0]]
    comment = "Bounds kept from the image before: of this one the rival's distances are not stated at all."
    other = [[0.25, 0.0], [2.0, 0.0]]
    stated = [hm.spatial(0, 0, 0.0625, 0.0625)]
    for suffix, image, reason in (("", second, "entailment"), ("-refuted", other, "refuted")):
        document = hm.document(head, stated, patches=2, image=image)
        told = comment + (" Here with the latents of a counterexample." if suffix else "")
        yield case(f"bounds-cached{suffix}", told, document, head, image, reason, hm.latents([first, image]))
    comment = "The statements of the image before, under this one's digest."
    stated = [hm.spatial(0, 0, 0.0, 0.0), hm.spatial(1, 0, 0.5, 0.5)]
    document = hm.document(head, stated, patches=2, image=second)
    yield case("statements-cached", comment, document, head, second, "instance", hm.latents([first, second]))


def _raw_prototypes() -> Iterator[Case]:
    """A cosine head whose prototypes have the length 2, treated as if it were 1."""
    head = hm.head([[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]], **COSINE)
    image = [[4.0, 3.0]]
    comment = "<z, p> / |z| stated of prototypes that are no unit vectors: 1.6 for 0.8."
    document = hm.document(head, [hm.spatial(0, 0, 1.6, 1.6)], image=image)
    yield case("raw-prototypes-stated", comment, document, head, image, "instance")
    comment = "A margin for prototypes of length 2 where the head has their directions: twice what is proved."
    stated = [hm.spatial(0, 0, 0.75, 0.8125), hm.spatial(0, 1, 0.5, 0.625)]
    for paradigm in ("projection", "hypersphere"):
        document = hm.document(head, stated, paradigm=paradigm, image=image, margins=[None, 0.25])
        yield case(f"raw-prototypes-{paradigm}", f"{comment} Under {paradigm}.", document, head, image, "margin")


def _thresholds() -> Iterator[Case]:
    head = hm.head([[1.0, 0.0], [0.0, 0.0]], bias=[0.0, 0.25], **THRESHOLD)
    comment = "An interval that begins one binary64 below the threshold, treated as if its masses counted."
    yield from twice(
        "just-below-the-threshold",
        comment,
        head,
        [hm.spatial(0, 0, nextafter(0.5, 0.0), 0.5)],
        [[0.0, 0.0]],
        [[0.0, 2.0**-53]],
        paradigm="simplex",
    )
    head = hm.head([[0.0, 0.0], [0.0, 1.0]], bias=[0.25, 0.0], **THRESHOLD)
    comment = "An interval that ends at the threshold, treated as if none of its masses counted: the greatest does."
    yield from twice(
        "at-the-threshold",
        comment,
        head,
        [hm.spatial(0, 1, 0.25, 0.5)],
        [[1.0, 0.0]],
        [[0.0, 0.0]],
        paradigm="simplex",
    )


def changed(original: Case, change: Callable[[Document], None]) -> Document:
    document: Document = json.loads(original.certificate)
    document.pop("extensions")
    change(document)
    return document


def altered(original: Case, name: str, comment: str, reason: str, change: Callable[[Document], None]) -> Case:
    """An accepted case with its certificate changed."""
    return case(name, comment, changed(original, change), original.head, None, reason, original.latents)


def of_statements(cases: dict[str, Case]) -> Iterator[Case]:
    """Statements and margins tampered with."""

    def each(action: Callable[[dict[str, Any]], None]) -> Callable[[Document], None]:
        return lambda document: action(document["predicate"])

    euclidean, top_k, softmax = cases["projection-euclidean"], cases["top_k-euclidean"], cases["simplex-softmax"]

    def repeat(predicate: Document) -> None:
        predicate["statements"].append(copy.deepcopy(predicate["statements"][0]))

    yield altered(euclidean, "statement-twice", "A statement twice.", "malformed", each(repeat))

    def repeat_wider(predicate: Document) -> None:
        repeat(predicate)
        predicate["statements"][-1]["interval"][0] = (0.0).hex()

    comment = "Two statements about one observable; one of them says less."
    yield altered(top_k, "statement-twice-but-wider", comment, "malformed", each(repeat_wider))

    def swap(predicate: Document) -> None:
        margins, predicted = predicate["margins"], predicate["predicted"]
        rival = (predicted + 1) % len(margins)
        margins[predicted], margins[rival] = margins[rival], None
        predicate["predicted"] = rival

    for name in ("projection-euclidean", "top_k-cosine", "simplex-softmax"):
        yield altered(
            cases[name], f"class-swapped-{name}", "Another class under the same proof.", "refuted", each(swap)
        )

    def beside(up: bool) -> Callable[[Document], None]:
        def action(predicate: Document) -> None:
            (low, high) = ends = predicate["statements"][0]["interval"]
            if low != high:
                raise ValueError("the interval is no point")
            ends[:] = [nextafter(float.fromhex(low), inf if up else -inf).hex()] * 2

        return each(action)

    for name, told in (("projection-euclidean", "a squared distance"), ("projection-inner_product", "a product")):
        for up in (False, True):
            side = "above" if up else "below"
            comment = f"An interval one binary64 {side} the truth, {told} that is one itself."
            yield altered(cases[name], f"one-ulp-{side}-{name}", comment, "instance", beside(up))

    def closed(end: int) -> Callable[[Document], None]:
        def action(predicate: Document) -> None:
            ends = predicate["statements"][0]["interval"]
            if nextafter(float.fromhex(ends[0]), inf) != float.fromhex(ends[1]):
                raise ValueError("the ends are no neighbours")
            ends[1 - end] = ends[end]

        return each(action)

    for name in ("projection-cosine", "simplex-softmax", "top_k-euclidean", "hypersphere-rooted_cosine"):
        for end, side in ((0, "below"), (1, "above")):
            comment = f"The interval closed to the binary64 {side} the truth."
            yield altered(cases[name], f"closed-{side}-{name}", comment, "instance", closed(end))

    def outside(predicate: Document) -> None:
        predicate["statements"][0]["patch"] = predicate["patches"]

    yield altered(
        euclidean, "patch-outside", "A statement about a patch that is not there.", "malformed", each(outside)
    )

    def no_such_prototype(predicate: Document) -> None:
        predicate["statements"][0]["prototype"] = 4

    comment = "A statement about a prototype that the head does not have."
    yield altered(softmax, "prototype-outside", comment, "malformed", each(no_such_prototype))

    def set_margin(value: float) -> Callable[[Document], None]:
        def action(predicate: Document) -> None:
            at = next(c for c, margin in enumerate(predicate["margins"]) if margin is not None)
            predicate["margins"][at] = value.hex()

        return each(action)

    yield altered(euclidean, "margin-zero", "A margin of 0: a tie is no proof.", "malformed", set_margin(0.0))
    yield altered(euclidean, "margin-negative", "A negative margin.", "malformed", set_margin(-0.125))

    def raise_margin(predicate: Document) -> None:
        at = next(c for c, margin in enumerate(predicate["margins"]) if margin is not None)
        predicate["margins"][at] = nextafter(float.fromhex(predicate["margins"][at]), inf).hex()

    for name, original in cases.items():
        if json.loads(original.certificate)["predicate"]["statements"]:
            if name in UNTIGHT:
                continue
            comment = "A margin one binary64 greater than what is proved."
            yield altered(original, f"margin-raised-{name}", comment, "margin", each(raise_margin))

    tied = hm.head([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]], **NEGATED, **BOX)
    image = [[1.0, 0.0]]
    stated = [hm.spatial(0, 0, 0.0, 0.0)]
    comment = "Two classes with the same prototype: their logits are equal, which is no decision."
    yield case("tie", comment, hm.document(tied, stated, image=image), tied, image, "refuted")
    yield case("tie-without-an-image", comment, hm.document(tied, stated), tied, None, "entailment")

    def more_patches(predicate: Document) -> None:
        predicate["patches"] += 1

    comment = "More patches than the image has."
    yield altered(euclidean, "one-patch-more", comment, "instance", each(more_patches))

    def fewer_patches(predicate: Document) -> None:
        predicate["patches"] = 1 + max(s["patch"] for s in predicate["statements"])

    comment = "Fewer patches than the image has: one that is not stated is left out."
    few = next(
        case
        for name, case in cases.items()
        if name.startswith("projection")
        and max(_patches(case)) + 1 < json.loads(case.certificate)["predicate"]["patches"]
    )
    yield altered(few, "one-patch-fewer", comment, "instance", each(fewer_patches))
    for name in ("projection-euclidean", "top_k-softmax", "hypersphere-cosine", "simplex-softmax", "triangle-cosine"):
        comment = "A statement removed of which the proof has need."
        yield altered(
            cases[name], f"removed-{name}", comment, "entailment", each(lambda predicate: predicate["statements"].pop())
        )
    comment = "The clause about all others removed, of which the proof has need."
    yield altered(cases["top_k-euclidean-except"], "clause-removed", comment, "entailment", each(_drop_clause))
    comment = "The clause about all others says less than one of them is."
    yield altered(cases["top_k-euclidean-except"], "clause-too-low", comment, "instance", each(_lower_clause))
    comment = "A wide interval made wider: the proof has need of it as it was."
    yield altered(cases["projection-euclidean-wide"], "widened", comment, "margin", each(_widen))


def _patches(original: Case) -> list[int]:
    return [s.get("patch", 0) for s in json.loads(original.certificate)["predicate"]["statements"]]


def _drop_clause(predicate: Document) -> None:
    predicate["statements"] = [s for s in predicate["statements"] if "except" not in s]


def _lower_clause(predicate: Document) -> None:
    clause = next(s for s in predicate["statements"] if "except" in s)
    clause["upper"] = nextafter(nextafter(float.fromhex(clause["upper"]), -inf), -inf).hex()


def _widen(predicate: Document) -> None:
    interval = predicate["statements"][0]["interval"]
    low, high = map(float.fromhex, interval)
    interval[:] = [nextafter(low, -inf).hex(), nextafter(high, inf).hex()]


def of_subjects(cases: dict[str, Case]) -> Iterator[Case]:
    """Another head, another image, an image outside the domain."""
    original, other = cases["projection-euclidean"], cases["projection-euclidean-nchw"]
    comment = "The certificate of one head given with another."
    document = json.loads(original.certificate)
    document.pop("extensions")
    yield case("another-head", comment, document, other.head, None, "subject", original.latents)
    comment = "The latents of another image."
    yield case("another-image", comment, document, original.head, None, "subject", other.latents)
    comment = "One bit of the image's latents changed."
    data = hm.given(original.latents)
    flipped = bytes([*data[:-8], data[-8] ^ 1, *data[-7:]])
    yield case("latents-one-bit", comment, document, original.head, None, "subject", flipped)

    head = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]], **NEGATED, domain=hm.domain(-1.0, 1.0))
    comment = "A coordinate one binary64 outside the head's domain."
    image = [[nextafter(1.0, 2.0), 0.0], [0.0, 0.0]]
    document = hm.document(head, [hm.spatial(1, 0, 0.0, 0.0)], patches=2, image=image)
    yield case("outside-the-box", comment, document, head, image, "instance")
    ball = hm.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [-1.0, 0.0]],
        geometry={"kind": "inner_product", "radius": (1.0).hex()},
        similarity=hm.IDENTITY,
        domain=hm.domain(None, None),
    )
    comment = "A latent a hair longer than the radius of the head's domain."
    image = [[nextafter(0.6, 1.0), 0.8]]
    document = hm.document(ball, [hm.spatial(0, 0, 0.5, 0.75)], image=image)
    yield case("outside-the-ball", comment, document, ball, image, "instance")
    cosine = hm.head([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], **COSINE)
    comment = "A zero latent, of which a cosine without epsilon says nothing."
    image = [[1.0, 0.0], [0.0, 0.0]]
    document = hm.document(cosine, [hm.spatial(0, 0, 0.5, 1.0)], patches=2, image=image)
    yield case("zero-latent", comment, document, cosine, image, "instance")


def of_heads(cases: dict[str, Case]) -> Iterator[Case]:
    """A number of the head changed, under the same certificate: with its digest, and with the changed head's."""
    changes: list[tuple[str, str, str, Callable[[bytes], bytes]]] = [
        ("projection-euclidean", "epsilon", "margin", lambda head: epsilon_times(head, "similarity", 1.25)),
        ("projection-cosine", "epsilon", "instance", lambda head: epsilon_times(head, "geometry", 2.0)),
        ("projection-euclidean", "weight", "margin", _weights),
        ("simplex-softmax", "bias", "margin", _biases),
        ("projection-euclidean-exponential-scaled", "scale", "margin", lambda head: tensor_times(head, "scale", 2.0)),
        ("projection-cosine-quadratic-scaled", "peak", "entailment", lambda head: tensor_times(head, "peak", 1.5)),
        ("projection-euclidean", "prototypes", "instance", lambda head: tensor_times(head, "prototypes", 0.5)),
        ("simplex-softmax-threshold", "threshold", "refuted", _threshold_up),
    ]
    for name, part, reason, change in changes:
        original = cases[name]
        head = change(original.head)
        document = json.loads(original.certificate)
        document.pop("extensions")
        comment = f"The {part} of the head changed after the certificate was made."
        yield case(f"head-{part}-{name}", comment, document, head, None, "subject", original.latents)
        document["subject"][0]["digest"]["sha256"] = hashlib.sha256(head).hexdigest()
        comment = f"The {part} of the head changed, and its digest in the certificate with it."
        yield case(f"head-{part}-{name}-redigested", comment, document, head, None, reason, original.latents)


def split(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the body of a safetensors file."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(header: dict[str, Any], body: bytes) -> bytes:
    return hm.framed(json.dumps(header).encode(), body)


def described(head: bytes, change: Callable[[Document], None]) -> bytes:
    """A head with its description changed."""
    header, body = split(head)
    description = json.loads(header["__metadata__"]["verale.head"])
    change(description)
    header["__metadata__"]["verale.head"] = json.dumps(description)
    return joined(header, body)


def epsilon_times(head: bytes, part: str, factor: float) -> bytes:
    def change(description: Document) -> None:
        description[part]["epsilon"] = (factor * float.fromhex(description[part]["epsilon"])).hex()

    return described(head, change)


def _threshold_up(head: bytes) -> bytes:
    return described(head, lambda description: description["similarity"].update(threshold=(0.9375).hex()))


def numbers(head: bytes, name: str) -> tuple[list[float], Callable[[list[float]], bytes]]:
    """The entries of a tensor of binary64, and the head with others instead."""
    header, body = split(head)
    begin, end = header[name]["data_offsets"]
    code = f"<{(end - begin) // 8}d"

    def rebuilt(values: list[float]) -> bytes:
        return joined(header, body[:begin] + struct.pack(code, *values) + body[end:])

    return list(struct.unpack(code, body[begin:end])), rebuilt


def tensor_times(head: bytes, name: str, factor: float) -> bytes:
    values, rebuilt = numbers(head, name)
    return rebuilt([factor * value for value in values])


def _weights(head: bytes) -> bytes:
    """Every weight made greater, by factors that take turns."""
    values, rebuilt = numbers(head, "weight")
    return rebuilt([value * (1 + (i % 3) / 64) for i, value in enumerate(values)])


def _biases(head: bytes) -> bytes:
    values, rebuilt = numbers(head, "bias")
    return rebuilt([value + i / 64 for i, value in enumerate(values)])


def of_proofs(cases: dict[str, Case]) -> Iterator[Case]:
    """Hints that would have to be believed, and minimality that is none."""
    original = cases["assignment-prices"]

    def hinted(prices: dict[int, float]) -> Callable[[Document], None]:
        def change(document: Document) -> None:
            ends = [price.hex() for price in prices.values()]
            document["predicate"]["hints"] = {"prices": [{"rival": 1, "prototypes": list(prices), "prices": ends}]}

        return change

    wide = hm.head([[0.75, 0.0], [0.0, 1.0]], **SOFTMAX)
    comment = "A mass stated by a wide interval taken at its lower end, where prices are paid for the others only."
    for suffix, image, reason in (("", [[2.0, 0.0]], "entailment"), ("-refuted", [[0.0, 0.0]], "refuted")):
        document = hm.document(wide, [hm.spatial(0, 1, 0.0, 0.5)], paradigm="assignment", image=image)
        hinted({1: 2.0**-10})(document)
        told = comment + (" Here with the latents of a counterexample." if suffix else "")
        yield case(f"mass-at-its-lower-end{suffix}", told, document, wide, image, reason)
    comment = "No prices: simplex proves nothing here."
    yield altered(original, "no-prices", comment, "entailment", lambda document: document["predicate"].update(hints={}))
    for name, prices, comment in (
        ("prices-too-low", {1: 2.0**-20, 2: 2.0**-20}, "Prices that would prove more if they did not cost patches."),
        ("prices-too-high", {1: 0.5, 2: 0.5}, "Prices so high that no patch pays them: they cost themselves."),
        ("price-for-one", {1: 0.125}, "A price for one of the two prototypes."),
        ("prices-beyond-all", {1: 1e300, 2: 1e300}, "Prices near the greatest binary64."),
    ):
        yield altered(original, name, comment, "entailment", hinted(prices))
    for name, prices, comment in (
        ("price-zero", {1: 0.0, 2: 0.125}, "A price of 0, which is to be left out."),
        ("price-negative", {1: -0.125, 2: 0.125}, "A negative price would be a gain."),
        ("price-outside", {1: 0.125, 3: 0.125}, "A price for a prototype that is not there."),
    ):
        yield altered(original, name, comment, "malformed", hinted(prices))

    def of_predicted(document: Document) -> None:
        hinted({1: 0.125})(document)
        document["predicate"]["hints"]["prices"][0]["rival"] = 0

    yield altered(original, "price-of-predicted", "Prices against the predicted class.", "malformed", of_predicted)

    head = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]], [2.0, 0.0], **NEGATED, **BOX)
    image = [[0.0], [0.25]]
    comment = "Minimality claimed of two statements of which one is enough."
    stated = [hm.spatial(0, 0, 0.0, 0.0), hm.spatial(1, 0, 0.0625, 0.0625)]
    document = hm.document(head, stated, patches=2, image=image, minimality=True)
    yield case("not-minimal", comment, document, head, image, "minimality")
    comment = "Minimality claimed of a statement, but the empty set proves the class."
    sure = cases["no-statement"]
    document = hm.document(
        sure.head, [hm.spatial(0, 0, 0.0, 0.0)], patches=2, image=[[0.5, 0.25], [0.75, 0.5]], minimality=True
    )
    yield case("not-minimal-empty", comment, document, sure.head, [[0.5, 0.25], [0.75, 0.5]], "minimality")
    comment = "Minimality claimed of a clause that is never used."
    ratio = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]], [3.0, 0.0], **BOX)
    stated = [hm.activation(0, 5.0, 7.0), hm.others([0, 1], 1.0)]
    document = hm.document(ratio, stated, paradigm="top_k", image=[[0.0, 0.0]], minimality=True)
    yield case("not-minimal-clause", comment, document, ratio, [[0.0, 0.0]], "minimality")
    comment = "Minimality claimed of an assignment that the best prices prove without a statement."
    document = changed(
        original, lambda document: document["predicate"]["statements"].append(hm.spatial(0, 1, 0.125, 0.25))
    )
    yield case("not-minimal-assignment", comment, document, original.head, None, "minimality", original.latents)
    comment = (
        "The same of one where a patch with most of its mass left has both of the rival's masses stated: no matching"
        " gives it another."
    )
    head, image, document = stated_gains(hm.spatial(0, 1, 0.125, 0.25), prices=[2])
    yield case("not-minimal-assignment-stated", comment, document, head, image, "minimality")
