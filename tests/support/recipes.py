"""What small problems are drawn from: a paradigm, the parts of a head, options; the head and the latents of a draw.

Most accepted cases of the corpora were drawn from these recipes, which have their names.

Heads and latents are random multiples of 1/16, so that squared distances and inner products are binary64 numbers and
their intervals points.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from support import arithmetic, files
from support.exact import Head

CLASSES, COUNT, DEPTH, PATCHES = 3, 4, 3, 3
SOFT_TREE = {"kind": "soft_tree", "absent": [1, -1, -3, -4], "present": [2, 3, -2, -5]}
MAXIMUM = {"kind": "maximum"}
MEAN, MEAN_DISTANCE = {"kind": "max_minus_mean"}, {"kind": "max_minus_mean_distance"}
BANKS = {"kind": "banks", "class_token": 2}
MASKED = {"kind": "masked_max"}
MASK = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
"""Of heads with this pooling."""
UNBOUNDED, BOX, POSITIVE = files.domain(None, None), files.domain(-1.0, 1.0), files.domain(0.0, None)


def top_mean(k: int) -> files.Part:
    return {"kind": "top_mean", "k": k}


def inner_product(radius: float | None) -> files.Part:
    return {"kind": "inner_product", "radius": None if radius is None else radius.hex()}


GEOMETRIES: dict[str, dict[str, Any]] = {
    "euclidean": {"geometry": files.EUCLIDEAN, "domain": BOX},
    "euclidean-unbounded": {"geometry": files.EUCLIDEAN, "domain": UNBOUNDED},
    "cosine": {"geometry": files.cosine(2.0**-10), "domain": UNBOUNDED},
    "cosine-bare": {"geometry": files.cosine(0.0), "domain": POSITIVE},
    "rooted_cosine": {"geometry": {"kind": "rooted_cosine", "epsilon": (2.0**-7).hex()}, "domain": POSITIVE},
    "rooted_cosine-unbounded": {"geometry": {"kind": "rooted_cosine", "epsilon": (2.0**-7).hex()}, "domain": UNBOUNDED},
    "inner_product": {"geometry": inner_product(None), "domain": files.domain(-0.5, 1.0)},
    "inner_product-ball": {"geometry": inner_product(1.5), "domain": UNBOUNDED},
    "inner_product-orthant": {"geometry": inner_product(1.5), "domain": files.domain(0.0, 1.0)},
    "softmax": {"geometry": files.SOFTMAX, "domain": UNBOUNDED},
}
_ENDS: dict[str, tuple[float | None, float | None]] = {"boxed": (-0.5, 0.75), "from": (-0.25, None), "to": (None, 0.75)}
"""Domains with both ends, and half-open ones: below 0 a domain cuts a sphere otherwise than an orthant does."""

GEOMETRIES |= {
    f"{geometry}-{name}": GEOMETRIES[geometry] | {"domain": files.domain(*ends)}
    for geometry in ("euclidean", "cosine", "rooted_cosine", "inner_product-ball", "softmax")
    for name, ends in _ENDS.items()
}
SIMILARITIES = {
    "log_ratio": {"epsilon": (2.0**-6).hex()},
    "exp_distance": {"epsilon": (2.0**-20).hex()},
    "threshold": {"threshold": (0.25).hex()},
}


@dataclass(frozen=True)
class Recipe:
    """What a problem is drawn from.

    Attributes:
        paradigm: its name.
        geometry: a key of GEOMETRIES.
        similarity: its kind; "" for the usual one of the geometry.
        pooling: its JSON object.
        readout: its JSON object, None for linear.
        width: added to intervals at either end; 0 for the narrowest that hold the truth.
        options: "scaled" (a scale or peak), "except" (a ceiling), "floor", "open" (ends are left out); "float32",
            "images" and "nchw" are those of files, and draw other numbers.
    """

    paradigm: str
    geometry: str
    similarity: str = ""
    pooling: dict[str, Any] = field(default_factory=lambda: files.MAX)
    readout: dict[str, Any] | None = None
    width: float = 0.0
    options: frozenset[str] = frozenset()

    @property
    def parts(self) -> dict[str, Any]:
        kind = self.similarity or ("log_ratio" if self.geometry.startswith("euclidean") else "identity")
        parts = {"similarity": {"kind": kind, **SIMILARITIES.get(kind, {})}, "pooling": self.pooling}
        return GEOMETRIES[self.geometry] | parts | ({} if self.readout is None else {"readout": self.readout})

    @property
    def patches(self) -> int:
        return 1 if self.paradigm == "joint" else PATCHES

    @property
    def name(self) -> str:
        pooling = "" if self.pooling == files.MAX else self.pooling["kind"] + str(self.pooling.get("k", ""))
        readout = "" if self.readout is None else self.readout["kind"]
        width = "wide" if self.width else ""
        parts = (self.paradigm, self.geometry, self.similarity, pooling, readout, width, *sorted(self.options))
        return "accept/" + "-".join(part for part in parts if part)


def all_recipes() -> Iterator[Recipe]:
    """All of them."""
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
    for pooling in (BANKS, MASKED, top_mean(2), top_mean(5), MEAN, MEAN_DISTANCE):
        yield Recipe("projection", "euclidean", pooling=pooling)
        yield Recipe("top_k", "euclidean", pooling=pooling)
    for pooling in (BANKS, MASKED, top_mean(2), MEAN):
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
    for geometry in ("euclidean-unbounded", "cosine-bare", "inner_product-ball"):
        yield Recipe("projection", geometry, width=2.0**-4)
    yield Recipe("triangle", "euclidean", width=2.0**-6)
    yield Recipe("simplex", "softmax", width=2.0**-6)
    yield Recipe("top_k", "euclidean", width=2.0**-6)
    yield Recipe("top_k", "euclidean", options=frozenset({"except"}))
    yield Recipe("top_k", "inner_product", "quadratic", options=frozenset({"except"}))
    yield Recipe("projection", "euclidean", options=frozenset({"float32"}))
    yield Recipe("projection", "cosine", options=frozenset({"images"}))
    yield Recipe("projection", "euclidean", options=frozenset({"nchw"}))
    # Every paradigm of cosines and softmax in a box, and every geometry in a half-open one.
    for paradigm, geometry in product(("top_k", "projection", "triangle", "hypersphere"), ("cosine", "rooted_cosine")):
        yield Recipe(paradigm, f"{geometry}-boxed")
    for paradigm in ("top_k", "sparse", "simplex", "assignment"):
        yield Recipe(paradigm, "softmax-boxed")
    for geometry, end in product(("euclidean", "cosine", "rooted_cosine", "inner_product-ball"), ("from", "to")):
        for paradigm in ("top_k", "projection"):
            yield Recipe(paradigm, f"{geometry}-{end}")
    yield Recipe("projection", "rooted_cosine-unbounded")
    for end, paradigm in product(("from", "to"), ("top_k", "simplex")):
        yield Recipe(paradigm, f"softmax-{end}")
    # Wide intervals under every paradigm and geometry that has none above.
    for geometry in ("cosine", "rooted_cosine", "inner_product", "softmax"):
        yield Recipe("top_k", geometry, width=2.0**-6)
    for geometry in ("cosine", "rooted_cosine", "inner_product"):
        yield Recipe("triangle", geometry, width=2.0**-6)
    for geometry in ("euclidean", "cosine", "rooted_cosine"):
        yield Recipe("hypersphere", geometry, width=2.0**-6)
    for paradigm in ("sparse", "assignment"):
        yield Recipe(paradigm, "softmax", width=2.0**-6)
    # Every geometry, by equalities and by wide intervals.
    for width in (0.0, 2.0**-6):
        yield Recipe("joint", "euclidean", "negated", width=width, options=frozenset({"scaled"}))
        for geometry in ("cosine", "rooted_cosine", "inner_product"):
            yield Recipe("joint", geometry, width=width)
    # One-sided statements under every paradigm and in every geometry, and both clauses.
    is_open = frozenset({"open"})
    for geometry in ("euclidean", "cosine", "rooted_cosine", "inner_product", "softmax"):
        yield Recipe("top_k", geometry, width=2.0**-6, options=is_open)
    for geometry in ("euclidean", "euclidean-unbounded", "cosine", "rooted_cosine", "inner_product-ball"):
        yield Recipe("projection", geometry, width=2.0**-6, options=is_open)
    yield Recipe("triangle", "inner_product", pooling=MASKED)
    yield Recipe("hypersphere", "euclidean", "quadratic", pooling=MASKED)
    yield Recipe("projection", "rooted_cosine", "rectified", pooling=MASKED, readout=MAXIMUM)
    for pooling in (BANKS, MASKED, top_mean(2), MEAN_DISTANCE):
        yield Recipe("projection", "euclidean-unbounded", pooling=pooling, options=is_open)
    yield Recipe("triangle", "inner_product", width=2.0**-6, options=is_open)
    yield Recipe("hypersphere", "euclidean-unbounded", options=is_open)
    for paradigm in ("sparse", "simplex", "assignment"):
        yield Recipe(paradigm, "softmax", width=2.0**-6, options=is_open)
    for geometry in ("euclidean", "cosine", "inner_product", "softmax"):
        yield Recipe("top_k", geometry, options=frozenset({"except", "floor"}))
    yield Recipe("top_k", "euclidean", pooling=MEAN, options=frozenset({"except", "floor", "open"}))
    # Statements of all forms, for similarities that are monotone.
    for geometry in ("euclidean", "euclidean-unbounded", "cosine", "cosine-bare", "rooted_cosine-unbounded"):
        yield Recipe("mixed", geometry, width=2.0**-6)
    for similarity in ("negated", "exp_distance", "exponential"):
        yield Recipe("mixed", "euclidean", similarity, options=frozenset({"scaled"}))
    yield Recipe("mixed", "cosine", "rectified")
    yield Recipe("mixed", "euclidean", options=frozenset({"except", "floor"}))
    yield Recipe("mixed", "cosine", options=frozenset({"except"}))
    yield Recipe("mixed", "euclidean", "exp_distance", readout=SOFT_TREE)
    yield Recipe("mixed", "cosine", readout=MAXIMUM)
    # Statements about activations and sums, in every geometry and with poolings that count many patches.
    for geometry in ("euclidean", "euclidean-unbounded", "cosine", "rooted_cosine", "inner_product", "softmax"):
        yield Recipe("evidence", geometry)
    for geometry in ("euclidean", "cosine-boxed", "inner_product-ball", "softmax"):
        yield Recipe("evidence", geometry, width=2.0**-6, options=frozenset({"open"}))
    for similarity in ("negated", "quadratic"):
        yield Recipe("evidence", "euclidean", similarity, options=frozenset({"scaled"}))
    for pooling in (BANKS, MASKED, top_mean(2), MEAN):
        yield Recipe("evidence", "cosine", pooling=pooling)
    yield Recipe("evidence", "euclidean", pooling=MEAN_DISTANCE)
    yield Recipe("evidence", "euclidean", options=frozenset({"except", "floor"}))


def draw_head(recipe: Recipe, generator: random.Random) -> Head:
    """A head whose prototypes favour their class; the last prototype equals the first."""

    def sixteenths(low: int, high: int) -> float:
        return generator.randrange(low, high + 1) / 16

    prototypes = None
    if recipe.parts["geometry"] != files.SOFTMAX:
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
    return Head(
        weight,
        prototypes,
        recipe.parts,
        bias=None if recipe.readout == SOFT_TREE else bias,
        scale=[generator.choice((0.5, 1.0, 3.0)) for _ in range(COUNT)] if scaled else None,
        peak=[sixteenths(0, 24) for _ in range(COUNT)] if kind == "quadratic" else None,
        mask=MASK if recipe.pooling == MASKED else None,
    )


def draw_image(head: Head, generator: random.Random) -> files.Matrix:
    """Latents in the head's domain, the patch 1 near a prototype."""
    low, high = (None if x is None else float.fromhex(x) for x in head.part("domain").values())
    radius = head.part("geometry").get("radius")

    def inside(z: list[float], far: float) -> list[float]:
        return [min(far if high is None else high, max(-far if low is None else low, x)) for x in z]

    if head.prototypes is None:
        return [inside([generator.randrange(-32, 49) / 16 for _ in range(COUNT)], 4.0) for _ in range(PATCHES)]
    image: files.Matrix = []
    near = generator.choice(head.prototypes)
    tries = 0
    while len(image) < PATCHES:
        tries += 1
        z = [generator.randrange(-16, 17) / 16 for _ in range(DEPTH)]
        if len(image) == 1 and tries < 99:  # a prototype may lie too far outside the domain
            z = [x + y / 16 for x, y in zip(near, z, strict=True)]
        z = inside(z, 1.5)
        if any(z) and (radius is None or arithmetic.product(z, z) <= Fraction(float.fromhex(radius)) ** 2):
            image.append(z)
    return image


def around(value: arithmetic.Number, width: float) -> tuple[float, float]:
    """An interval that holds a number, wider by `width` at either end."""
    low, high = arithmetic.ends(value)
    return arithmetic.below(low - Fraction(width)), arithmetic.above(high + Fraction(width))
