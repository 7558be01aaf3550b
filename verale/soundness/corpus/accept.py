"""`certificates/accept`: every paradigm and geometry, every similarity, pooling and readout.

Heads and latents are random multiples of 1/16, so that squared distances and inner products are binary64 numbers and
their intervals points. Statements are dropped, one after the other, as long as the checker still proves the class; so
each certificate is minimal, and its margins are the greatest binary64 numbers that are proved.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import flint

from verale.checker import Auditor, Status
from verale.soundness.corpus.cases import Case, encoded
from verale.soundness.independent import files as hm
from verale.soundness.independent import head as ref

CLASSES, COUNT, DEPTH, PATCHES = 3, 4, 3, 3
SOFT_TREE = {"kind": "soft_tree", "absent": [1, -1, -3, -4], "present": [2, 3, -2, -5]}
MAXIMUM = {"kind": "maximum"}
MEAN, MEAN_DISTANCE = {"kind": "max_minus_mean"}, {"kind": "max_minus_mean_distance"}
BANKS = {"kind": "banks", "class_token": 2}
UNBOUNDED, BOX, POSITIVE = hm.domain(None, None), hm.domain(-1.0, 1.0), hm.domain(0.0, None)


def top_mean(k: int) -> hm.Part:
    return {"kind": "top_mean", "k": k}


def inner_product(radius: float | None) -> hm.Part:
    return {"kind": "inner_product", "radius": None if radius is None else radius.hex()}


GEOMETRIES: dict[str, dict[str, Any]] = {
    "euclidean": {"geometry": hm.EUCLIDEAN, "domain": BOX},
    "euclidean-unbounded": {"geometry": hm.EUCLIDEAN, "domain": UNBOUNDED},
    "cosine": {"geometry": hm.cosine(2.0**-10), "domain": UNBOUNDED},
    "cosine-bare": {"geometry": hm.cosine(0.0), "domain": POSITIVE},
    "rooted_cosine": {"geometry": {"kind": "rooted_cosine", "epsilon": (2.0**-7).hex()}, "domain": POSITIVE},
    "inner_product": {"geometry": inner_product(None), "domain": hm.domain(-0.5, 1.0)},
    "inner_product-ball": {"geometry": inner_product(1.5), "domain": UNBOUNDED},
    "inner_product-orthant": {"geometry": inner_product(1.5), "domain": hm.domain(0.0, 1.0)},
    "softmax": {"geometry": hm.SOFTMAX, "domain": UNBOUNDED},
}
SIMILARITIES = {
    "log_ratio": {"epsilon": (2.0**-6).hex()},
    "exp_distance": {"epsilon": (2.0**-20).hex()},
    "threshold": {"threshold": (0.25).hex()},
}
SAME_COSINE = {"geometry": hm.cosine(0.0), "similarity": hm.IDENTITY}
USUAL = {"euclidean": "log_ratio", "euclidean-unbounded": "log_ratio"}


@dataclass(frozen=True)
class Recipe:
    """What a case is made of. `width`: of the intervals, 0 for the narrowest; `options`: see `made`."""

    paradigm: str
    geometry: str
    similarity: str = ""
    pooling: dict[str, Any] = field(default_factory=lambda: hm.MAX)
    readout: dict[str, Any] | None = None
    width: float = 0.0
    options: frozenset[str] = frozenset()

    @property
    def parts(self) -> dict[str, Any]:
        kind = self.similarity or USUAL.get(self.geometry, "identity")
        found = {"similarity": {"kind": kind, **SIMILARITIES.get(kind, {})}, "pooling": self.pooling}
        return GEOMETRIES[self.geometry] | found | ({} if self.readout is None else {"readout": self.readout})

    @property
    def name(self) -> str:
        pooling = "" if self.pooling == hm.MAX else self.pooling["kind"] + str(self.pooling.get("k", ""))
        readout = "" if self.readout is None else self.readout["kind"]
        width = "wide" if self.width else ""
        parts = (self.paradigm, self.geometry, self.similarity, pooling, readout, width, *sorted(self.options))
        return "accept/" + "-".join(part for part in parts if part)


def recipes() -> Iterator[Recipe]:
    """All but those made by hand."""
    bare = ("euclidean", "cosine", "rooted_cosine", "inner_product")
    for geometry in (*bare, "softmax"):
        yield Recipe("top_k", geometry)
    yield Recipe("sparse", "softmax")
    for paradigm, geometry in product(("projection", "triangle"), bare):
        yield Recipe(paradigm, geometry)
    for geometry in bare[:3]:
        yield Recipe("hypersphere", geometry)
    for paradigm in ("simplex", "assignment"):
        yield Recipe(paradigm, "softmax")
    for similarity in ("negated", "exp_distance", "exponential", "quadratic"):
        yield Recipe("projection", "euclidean", similarity, options=frozenset({"scaled"}))
    for similarity in ("exponential", "quadratic", "rectified"):
        yield Recipe("projection", "cosine", similarity, options=frozenset({"scaled"}))
    for similarity in ("quadratic", "rectified"):
        yield Recipe("projection", "inner_product", similarity, options=frozenset({"scaled"}))
    yield Recipe("simplex", "softmax", "threshold")
    yield Recipe("top_k", "rooted_cosine", "exponential")
    yield Recipe("top_k", "euclidean", "negated")
    for pooling in (BANKS, top_mean(2), top_mean(5), MEAN, MEAN_DISTANCE):
        yield Recipe("projection", "euclidean", pooling=pooling)
        yield Recipe("top_k", "euclidean", pooling=pooling)
    for pooling in (BANKS, top_mean(2), MEAN):
        yield Recipe("projection", "cosine", pooling=pooling)
        yield Recipe("simplex", "softmax", pooling=pooling)
    yield Recipe("projection", "inner_product", "quadratic", pooling=top_mean(2))
    yield Recipe("projection", "euclidean-unbounded", pooling=MEAN_DISTANCE, options=frozenset({"scaled"}))
    yield Recipe("projection", "euclidean", "exp_distance", readout=SOFT_TREE)
    yield Recipe("projection", "cosine", "exponential", readout=SOFT_TREE)
    yield Recipe("projection", "euclidean", "negated", readout=MAXIMUM)
    yield Recipe("triangle", "cosine", readout=MAXIMUM)
    for geometry in ("euclidean-unbounded", "cosine-bare", "inner_product-ball", "inner_product-orthant"):
        yield Recipe("projection", geometry)
    yield Recipe("hypersphere", "euclidean-unbounded", width=2.0**-8)
    yield Recipe("hypersphere", "cosine-bare", width=2.0**-8)
    for geometry in bare:
        yield Recipe("projection", geometry, width=2.0**-6)
    yield Recipe("triangle", "euclidean", width=2.0**-6)
    yield Recipe("simplex", "softmax", width=2.0**-6)
    yield Recipe("top_k", "euclidean", width=2.0**-6)
    yield Recipe("top_k", "euclidean", options=frozenset({"except"}))
    yield Recipe("top_k", "inner_product", "quadratic", options=frozenset({"except"}))
    yield Recipe("projection", "euclidean", options=frozenset({"float32"}))
    yield Recipe("projection", "cosine", options=frozenset({"images"}))
    yield Recipe("projection", "euclidean", options=frozenset({"nchw"}))


def made(recipe: Recipe, generator: random.Random) -> ref.Made:
    """A head: prototypes favour their class, the last is the first. `scaled`: with a scale or a peak."""

    def sixteenths(low: int, high: int) -> float:
        return generator.randrange(low, high + 1) / 16

    prototypes = None
    if recipe.geometry != "softmax":
        least = 0 if recipe.parts["domain"] == POSITIVE else -16
        prototypes = [[sixteenths(least, 16) for _ in range(DEPTH)] for _ in range(COUNT - 1)]
        prototypes = [[x or 0.0625 for x in row] for row in prototypes]
        prototypes.append(list(prototypes[0]))
    columns = COUNT + (recipe.readout == SOFT_TREE)
    weight = [[sixteenths(-8, 4) + 1.5 * (j % CLASSES == c) for j in range(columns)] for c in range(CLASSES)]
    bias: list[float] | None = [sixteenths(-4, 4) for _ in range(CLASSES)]
    if recipe.readout == MAXIMUM:
        weight = [[float(j % CLASSES == c) for j in range(COUNT)] for c in range(CLASSES)]
        bias = [sixteenths(-4, 4) for _ in range(COUNT)]
    kind = recipe.parts["similarity"]["kind"]
    scaled = "scaled" in recipe.options and kind in ("log_ratio", "negated", "exponential")
    return ref.Made(
        weight,
        prototypes,
        recipe.parts,
        bias=None if recipe.readout == SOFT_TREE else bias,
        scale=[generator.choice((0.5, 1.0, 3.0)) for _ in range(COUNT)] if scaled else None,
        peak=[sixteenths(0, 24) for _ in range(COUNT)] if kind == "quadratic" else None,
    )


def drawn(head: ref.Made, generator: random.Random) -> hm.Matrix:
    """Latents in the head's domain, the patch 1 near a prototype."""
    low, high = (None if x is None else float.fromhex(x) for x in head.part("domain").values())
    radius = head.part("geometry").get("radius")
    if head.prototypes is None:
        return [[generator.randrange(-32, 49) / 16 for _ in range(COUNT)] for _ in range(PATCHES)]
    image: hm.Matrix = []
    near = generator.choice(head.prototypes)
    tries = 0
    while len(image) < PATCHES:
        tries += 1
        z = [generator.randrange(-16, 17) / 16 for _ in range(DEPTH)]
        if len(image) == 1 and tries < 99:  # a prototype may lie too far outside
            z = [x + y / 16 for x, y in zip(near, z, strict=True)]
        z = [min(1.5 if high is None else high, max(-1.5 if low is None else low, x)) for x in z]
        if any(z) and (radius is None or hm.product(z, z) <= Fraction(float.fromhex(radius)) ** 2):
            image.append(z)
    return image


def around(value: Any, width: float) -> tuple[float, float]:
    """An interval that holds a number, wider by `width` at either end."""
    low, high = ref.ends(value)
    return hm.below(low - Fraction(width)), hm.above(high + Fraction(width))


def candidates(
    recipe: Recipe, head: ref.Made, image: hm.Matrix, generator: random.Random
) -> tuple[list[dict[str, Any]], list[Any]]:
    """Everything that may be stated, in the order in which it is tried to be dropped, and the logits."""
    with flint.ctx.workprec(ref.PRECISION):
        activations = [head.activation(image, j) for j in range(COUNT)]
        logits = head.logits(activations)
        if recipe.paradigm in ("top_k", "sparse"):
            stated = [hm.activation(j, *around(activations[j], recipe.width)) for j in range(COUNT)]
            if "except" in recipe.options:
                listed = sorted(sorted(range(COUNT), key=lambda j: -float(activations[j]))[:2])
                others = [ref.ends(activations[j])[1] for j in range(COUNT) if j not in listed]
                stated = [stated[j] for j in listed] + [hm.others(listed, hm.above(max(others)))]
        else:
            stated = [
                hm.spatial(patch, j, *around(head.observable(image[patch], j), recipe.width))
                for patch, j in product(range(PATCHES), range(COUNT))
            ]
    generator.shuffle(stated)
    return stated, logits


def without_needless(
    stated: list[dict[str, Any]], proved: Callable[[list[dict[str, Any]]], bool]
) -> list[dict[str, Any]] | None:
    """Statements of which none can be dropped, None where all of them prove nothing."""
    if not proved(stated):
        return None
    again = True
    while again:
        again = False
        for one in list(stated):
            fewer = [other for other in stated if other is not one]
            if proved(fewer):
                stated, again = fewer, True
    return stated


def explained(recipe: Recipe) -> Case:
    """The first draw whose explanation has some statements and leaves some out."""
    for trial in range(200):
        generator = random.Random(f"{recipe.name} {trial}")
        head = made(recipe, generator)
        image = drawn(head, generator)
        stated, logits = candidates(recipe, head, image, generator)
        predicted = max(range(CLASSES), key=lambda c: float(logits[c]))
        data = head.data
        if "float32" in recipe.options:
            data = hm.head(head.weight, head.prototypes, head.bias, "F32", **head.parts)
        latents = files_of(recipe, image, generator)
        one_kernel, both = Auditor(data, latents), Auditor(data, latents, "both")
        options: dict[str, Any] = {
            "predicted": predicted,
            "classes": CLASSES,
            "paradigm": recipe.paradigm,
            "patches": PATCHES,
            "image": image,
            "minimality": True,
        }

        def proved(statements: list[dict[str, Any]]) -> bool:
            return one_kernel.check(hm.certificate(data, statements, **options)).status is Status.PROVED  # noqa: B023

        kept = without_needless(stated, proved)
        least = 3 if "except" in recipe.options else 2
        if kept is None or not least <= len(kept) < len(stated) + ("except" in recipe.options):
            continue
        margins = both.check(hm.certificate(data, kept, **options)).margins
        options["margins"] = [None if margin is None else hm.below(margin) for margin in margins]
        comment = f"A minimal explanation under {recipe.paradigm}, each margin the greatest binary64 that is proved."
        document = hm.document(data, kept, **options)
        return Case(recipe.name, encoded(document, comment), data, latents, "PROVED", "", comment)
    raise ValueError(f"no draw serves for {recipe.name}")


def files_of(recipe: Recipe, image: hm.Matrix, generator: random.Random) -> bytes:
    """The latents file: `images`, the image is the second of three; `nchw`, `float32`: stored so."""
    if "images" in recipe.options:
        others = [[[x + 0.25 for x in z] for z in image], [[x / 2 for x in z] for z in reversed(image)]]
        return hm.latents([others[0], image, others[1]])
    if "nchw" in recipe.options:
        return hm.latents_nchw([image], 1, PATCHES)
    return hm.latents([image], "F32" if "float32" in recipe.options else "F64")


def by_hand() -> Iterator[Case]:
    """Claims left out, prices, and a set of statements that no latent satisfies."""
    # Patches leave 1/2, 1/8 and 1/8; simplex gives 1/2 to both prototypes of the rival, prices 1/2 + 1/8 to them.
    softmax = {"geometry": hm.SOFTMAX, "similarity": hm.IDENTITY, "domain": UNBOUNDED}
    head = hm.head([[0.75, 0.0, 0.0], [0.0, 1.0, 1.0]], **softmax)
    image = [with_masses(*row) for row in ([0.505, 0.2475, 0.2475], [0.88, 0.06, 0.06], [0.88, 0.06, 0.06])]
    stated = [hm.spatial(0, 0, 0.5, 0.51), hm.spatial(1, 0, 0.875, 0.885), hm.spatial(2, 0, 0.875, 0.885)]
    document = hm.document(
        head, stated, paradigm="assignment", patches=3, image=image, minimality=True, margins=[None, 2.0**-5]
    )
    document["predicate"]["hints"] = {"prices": [{"rival": 1, "prototypes": [1, 2], "prices": [(0.125).hex()] * 2}]}
    comment = "Prices prove 1/32, the greatest margin that holds; simplex proves none."
    yield Case("accept/assignment-prices", encoded(document, comment), head, hm.latents([image]), "PROVED", "", comment)

    head = hm.head([[1.0, 0.0], [0.0, 1.0]], bias=[1.0, 0.0], **softmax)
    comment = "Without its statement the best prices leave exactly 0: a tie is no proof, so the statement is needed."
    image = [with_masses(0.78, 0.22)]
    document = hm.document(
        head,
        [hm.spatial(0, 0, 0.75, 0.875)],
        paradigm="assignment",
        image=image,
        minimality=True,
        margins=[None, 1.5],
    )
    latents = hm.latents([image])
    yield Case("accept/needed-at-a-tie-of-prices", encoded(document, comment), head, latents, "PROVED", "", comment)

    head = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.25], [9.0, 9.0]], [1.0, 0.0])
    image = [[0.5, 0.25], [0.75, 0.5]]
    comment = "Nothing is stated of the latents, which are not named: entailment alone, from the domain."
    document = hm.document(head, [], patches=2, margins=[None, 0.5])
    yield Case("accept/no-statement", encoded(document, comment), head, None, "PROVED", "", comment)
    comment = "Claimed of an image, checked without its latents: the verdict says that the instance is not checked."
    document = hm.document(head, [hm.spatial(1, 0, 0.125, 0.125)], patches=2, image=image, margins=[None, 0.5])
    yield Case("accept/latents-not-given", encoded(document, comment), head, None, "PROVED", "", comment)
    comment = "No minimality is claimed: that a statement can be dropped is no fault."
    yield Case("accept/not-minimal", encoded(document, comment), head, hm.latents([image]), "PROVED", "", comment)

    negated = {"similarity": {"kind": "negated"}, "domain": hm.domain(-4.0, 4.0)}
    head = hm.head([[1.0], [0.0]], [[0.0]], [16.0, 0.0], **negated)
    comment = "Without its statement the margin is exactly 0: a tie is no proof, so the statement is needed."
    document = hm.document(head, [hm.spatial(0, 0, 0.0, 1.0)], image=[[1.0]], minimality=True, margins=[None, 15.0])
    yield Case("accept/needed-at-a-tie", encoded(document, comment), head, hm.latents([[[1.0]]]), "PROVED", "", comment)
    head = hm.head([[1.0], [0.0]], [[0.0]], [0.0, 1.0], domain=UNBOUNDED)
    comment = "One patch at the prototype is enough, however far the others are."
    image = [[0.0], [9.0]]
    stated = [hm.spatial(0, 0, 0.0, 0.0)]
    document = hm.document(head, stated, patches=2, image=image, minimality=True, margins=[None, 5.0])
    yield Case("accept/nearest-patch", encoded(document, comment), head, hm.latents([image]), "PROVED", "", comment)
    head = hm.head([[-1.0], [0.0]], [[0.0]], [-0.75, 0.0], pooling=top_mean(2), **negated)
    comment = "The mean of the two greatest of five: every patch is stated, and each is needed."
    image = [[1.0], [2.0], [3.0], [1.0], [2.0]]
    stated = [hm.spatial(patch, 0, z * z, z * z) for patch, (z,) in enumerate(image)]
    document = hm.document(head, stated, patches=5, image=image, minimality=True, margins=[None, 0.25])
    yield Case("accept/mean-of-five", encoded(document, comment), head, hm.latents([image]), "PROVED", "", comment)
    head = hm.head([[1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, -1.0]], **(GEOMETRIES["cosine"] | SAME_COSINE))
    comment = "A cosine that is exactly 1: by Cauchy and Schwarz it is not more."
    document = hm.document(
        head, [hm.spatial(0, 0, 0.5, 1.0)], image=[[3.0, 3.0]], minimality=True, margins=[None, 0.25]
    )
    yield Case(
        "accept/cosine-of-one", encoded(document, comment), head, hm.latents([[[3.0, 3.0]]]), "PROVED", "", comment
    )

    head = hm.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    comment = (
        "No latent satisfies these statements, which hence entail everything. Nothing is claimed of an image;"
        " reject/statements-that-contradict-each-other is the same with one."
    )
    document = hm.document(head, contradiction(), paradigm="top_k")
    yield Case("accept/contradiction-without-an-image", encoded(document, comment), head, None, "PROVED", "", comment)

    head = hm.head(
        [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.0], [-4.0], [4.0]], [15.0, 0.0], pooling=top_mean(3), **negated
    )
    comment = (
        "The mean of the three greatest of six, two of them not stated: each statement is needed, as without it three"
        " patches may be close to the rival's prototype."
    )
    image = [[0.0], [0.0], [0.0], [-4.0], [1.0], [2.0]]
    stated = [hm.spatial(patch, 0, 0.0, 0.0) for patch in range(3)] + [hm.spatial(3, 1, 0.0, 0.0)]
    margins = [None, hm.below(Fraction(29, 3))]
    document = hm.document(head, stated, patches=6, image=image, minimality=True, margins=margins)
    yield Case("accept/two-alike-at-k", encoded(document, comment), head, hm.latents([image]), "PROVED", "", comment)
    head = hm.head([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], [[0.0], [1.0], [3.0]], [7.0, 0.0], **negated)
    comment = "A distance stated by a wide interval, which two exact ones determine: it is 81/16, not 16."
    stated = [hm.spatial(0, 2, 0.0, 16.0), hm.spatial(0, 0, 0.5625, 0.5625), hm.spatial(0, 1, 0.0625, 0.0625)]
    margins = [None, hm.below(Fraction(31, 16) - Fraction(1, 2**100))]
    document = hm.document(head, stated, image=[[0.75]], margins=margins)
    latents = hm.latents([[[0.75]]])
    yield Case("accept/wide-but-determined", encoded(document, comment), head, latents, "PROVED", "", comment)
    rows = [[0.625, -1.0, 0.625], [-0.875, 0.25, 1.375], [0.0, -1.625, 0.125], [0.875, -1.25, 0.875], [-2.0, 2.0, -2.0]]
    head = hm.head([[0.0, 0.0, 0.0, 0.0, 1.0], [0.0] * 5], rows, [64.0, 0.0], **negated)
    comment = "Wide intervals: what the first statements alone give proves more than all together, or each."
    image = [[-1.25, 1.875, 0.875]]
    widths = [0.5, 0.0625, 0.125, 0.5]
    each = [(j, hm.squared_distance(image[0], rows[j]), Fraction(width)) for j, width in enumerate(widths)]
    stated = [hm.spatial(0, j, *map(float, (distance - width, distance + width))) for j, distance, width in each]
    document = hm.document(head, stated, image=image, margins=[None, 40.0])
    latents = hm.latents([image])
    yield Case("accept/first-statements-alone", encoded(document, comment), head, latents, "PROVED", "", comment)
    inner = {"geometry": {"kind": "inner_product", "radius": (2.0).hex()}, "similarity": hm.IDENTITY}
    head = hm.head([[1.0], [0.0]], [[1.0, 0.0]], **inner, domain=hm.domain(0.5, 1.0))
    comment = "Nothing is stated. Of the domain's box and ball the box alone proves the class."
    document = hm.document(head, [], margins=[None, 0.5])
    yield Case("accept/box-within-a-ball", encoded(document, comment), head, None, "PROVED", "", comment)
    comment = "Prices where a patch with most of its mass left has both of the rival's masses stated: it gives no more."
    head, image, document = stated_gains()
    latents = hm.latents([image])
    yield Case("accept/assignment-stated-gains", encoded(document, comment), head, latents, "PROVED", "", comment)


def stated_gains(*more: dict[str, Any], prices: Sequence[int] = (1, 2)) -> tuple[bytes, hm.Matrix, dict[str, Any]]:
    """A head, an image and an assignment of it: patches leave 1/2, 1/8, 1/8 and 1, but of the last both masses are
    stated that the rival gains by. The statements in `more` come last; `prices` are for these prototypes."""
    head = hm.head([[0.75, 0.0, 0.0], [0.0, 1.0, 1.0]], geometry=hm.SOFTMAX, similarity=hm.IDENTITY, domain=UNBOUNDED)
    rows = [[0.505, 0.2475, 0.2475], [0.88, 0.06, 0.06], [0.88, 0.06, 0.06], [0.96, 0.02, 0.02]]
    image = [with_masses(*row) for row in rows]
    stated = [hm.spatial(0, 0, 0.5, 0.51), hm.spatial(1, 0, 0.875, 0.885), hm.spatial(2, 0, 0.875, 0.885)]
    stated += [hm.spatial(3, 1, 0.0, 0.0625), hm.spatial(3, 2, 0.0, 0.0625), *more]
    document = hm.document(
        head, stated, paradigm="assignment", patches=4, image=image, minimality=True, margins=[None, 2.0**-5]
    )
    each = {"rival": 1, "prototypes": list(prices), "prices": [(0.0625).hex()] * len(prices)}
    document["predicate"]["hints"] = {"prices": [each]}
    return head, image, document


def with_masses(*masses: float) -> list[float]:
    """A softmax latent of nearly these masses; no digit of it depends on a library's logarithm."""
    return [round(1024 * log(mass)) / 1024 for mass in masses]


def contradiction() -> list[dict[str, Any]]:
    """Two activations that no latent has together: prototype 0 at distance 0, prototype 1 further than it can be."""
    return [hm.activation(0, 6.5, 7.0), hm.activation(1, 0.0, 0.125)]


def accepted() -> list[Case]:
    return [*map(explained, recipes()), *by_hand()]
