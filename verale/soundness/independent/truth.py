"""What a certificate says, judged without the checker: read again from bytes, and looked for counterexamples to.

Nothing here knows a rule of a paradigm. That a statement is true is decided in 300-bit balls; that statements entail a
class is attacked with latents that satisfy them: patches that are not stated go to prototypes and corners, stated ones
turn about the span of what is stated of them, as far as they can towards every prototype, and of each combination the
worst is kept.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import flint

from verale.soundness.independent import files as hm
from verale.soundness.independent import head as ref

arb = flint.arb
Vector: TypeAlias = list[Any]
Document: TypeAlias = dict[str, Any]


class WrongError(Exception):
    """A certificate that says what is not so."""


@dataclass(frozen=True)
class Real(ref.Made):
    """A head at latents of real coordinates, each a ball."""

    def observable(self, z: Vector, j: int) -> Any:
        geometry = self.part("geometry")
        if geometry["kind"] == "softmax":
            return 1 / sum(((x - z[j]).exp() for x in z), arb(0))
        p = list(map(arb, hm.given(self.prototypes)[j]))
        match geometry["kind"]:
            case "euclidean":
                return square([a - b for a, b in zip(z, p, strict=True)])
            case "inner_product":
                return dot(z, p)
        return dot(z, p) / (self.length(z) * square(p).sqrt())

    def length(self, z: Vector) -> Any:
        """|z| + E or (|z|^2 + E)^(1/2)."""
        geometry = self.part("geometry")
        epsilon = arb(float.fromhex(geometry["epsilon"]))
        return square(z).sqrt() + epsilon if geometry["kind"] == "cosine" else (square(z) + epsilon).sqrt()

    def admits(self, z: Vector) -> bool:
        """Whether a latent certainly lies in the domain."""
        low, high = (None if end is None else arb(float.fromhex(end)) for end in self.part("domain").values())
        radius, epsilon = (self.part("geometry").get(name) for name in ("radius", "epsilon"))
        return (
            (low is None or all(x >= low for x in z))
            and (high is None or all(x <= high for x in z))
            and (radius is None or bool(square(z) <= arb(float.fromhex(radius)) ** 2))
            and (epsilon is None or float.fromhex(epsilon) > 0 or bool(square(z) > 0))
        )

    def pooled(self, seen: list[tuple[Vector, Vector]], j: int) -> Any:
        """The activation, given the observables and the similarities of every patch."""
        pooling, similar = self.part("pooling"), [similarities[j] for _, similarities in seen]
        match pooling["kind"]:
            case "max":
                return ref.greatest(similar)
            case "banks":
                return similar[0] if j < pooling["class_token"] else ref.greatest(similar[1:])
            case "top_mean":
                kept = sorted(similar, key=float, reverse=True)[: pooling["k"]]
                return sum(kept, arb(0)) / len(kept)
            case "max_minus_mean":
                return ref.greatest(similar) - sum(similar, arb(0)) / len(similar)
            case _:
                mean = sum((observed[j] for observed, _ in seen), arb(0)) / len(seen)
                return ref.greatest(similar) - self.similarity(mean, j)

    def seen(self, z: Vector) -> tuple[Vector, Vector]:
        """Observables and similarities of one patch."""
        observed = [self.observable(z, j) for j in range(self.count)]
        return observed, [self.similarity(m, j) for j, m in enumerate(observed)]


def dot(left: Vector, right: Vector) -> Any:
    return sum((a * b for a, b in zip(left, right, strict=True)), arb(0))


def square(vector: Vector) -> Any:
    return dot(vector, vector)


def read_json(data: bytes) -> Any:
    """JSON without repeated keys and without numbers that are no integers."""

    def unique(pairs: list[tuple[str, Any]]) -> Document:
        if len(dict(pairs)) != len(pairs):
            raise WrongError("a key is repeated")
        return dict(pairs)

    def refuse(literal: str) -> Any:
        raise WrongError(f"the number {literal}")

    return json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_float=refuse, parse_constant=refuse)


def tensors(data: bytes) -> tuple[Document, dict[str, tuple[list[int], list[float]]]]:
    """Metadata, and of every tensor its shape and entries."""
    length = int.from_bytes(data[:8], "little")
    header = read_json(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    found = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        code, size = {"F32": ("f", 4), "F64": ("d", 8)}[entry["dtype"]]
        values = list(struct.unpack(f"<{(end - begin) // size}{code}", data[begin:end]))
        if any(value != value or abs(value) == float("inf") for value in values):
            raise WrongError(f"{name} is not finite")
        found[name] = entry["shape"], values
    return metadata, found


def read_head(data: bytes) -> Real:
    metadata, found = tensors(data)
    description = read_json(metadata["verale.head"].encode())

    def rows(name: str) -> hm.Matrix | None:
        if name not in found:
            return None
        (_, width), values = found[name]
        return [values[start : start + width] for start in range(0, len(values), width)]

    weight = hm.given(rows("weight"))
    parts = {name: description[name] for name in description if name not in ("version", "labels")}
    vectors = {name: found[name][1] for name in ("bias", "scale", "peak") if name in found}
    made = Real(weight, rows("prototypes"), parts, **vectors)
    if made.part("readout")["kind"] == "soft_tree" and made.prototypes is None:
        raise WrongError("a soft tree without prototypes")
    return made


def read_latents(data: bytes) -> list[hm.Matrix]:
    """The images (L, D) of a latents file."""
    shape, values = tensors(data)[1]["latents"]
    images = []
    size = len(values) // shape[0]
    for n in range(shape[0]):
        own = values[n * size : (n + 1) * size]
        if len(shape) == 4:
            depth, patches = shape[1], shape[2] * shape[3]
            images.append([[own[d * patches + patch] for d in range(depth)] for patch in range(patches)])
        else:
            images.append([own[start : start + shape[2]] for start in range(0, size, shape[2])])
    return images


def interval(statement: Document) -> tuple[Any, Any]:
    """The ends as balls; of the clause about all others the upper one alone."""
    if "except" in statement:
        return arb("-inf"), arb(float.fromhex(statement["upper"]))
    low, high = map(float.fromhex, statement["interval"])
    return arb(low), arb(high)


def holds(statement: Document, observed: Any, activations: Vector, certainly: bool) -> bool:
    """Whether a statement holds; `observed(patch, prototype)`. If not `certainly`, what balls cannot tell apart from
    an end counts as that end: a latent turned about a span satisfies its statements but for the last digits."""
    low, high = interval(statement)
    if "except" in statement:
        values = [a for j, a in enumerate(activations) if j not in statement["except"]]
    elif "patch" in statement:
        values = [observed(statement["patch"], statement["prototype"])]
    else:
        values = [activations[statement["prototype"]]]
    if certainly:
        # No cosine and no mass is greater than 1 in size, which a ball cannot show of 1.
        bounded = "patch" in statement
        return all(
            ((bounded and bool(low <= -1)) or bool(low <= value))
            and ((bounded and bool(high >= 1)) or bool(value <= high))
            for value in values
        )
    return not any(bool(value < low) or bool(value > high) for value in values)


class Sight:
    """A head and what it makes of latents, each patch evaluated once."""

    def __init__(self, head: Real) -> None:
        self.head = head
        self._seen: dict[int, tuple[tuple[Vector, Vector], Vector]] = {}

    def with_head(self, head: Real) -> Sight:
        """Of a head that differs in weights and biases alone."""
        other = Sight(head)
        other._seen = self._seen
        return other

    def of(self, z: Vector) -> tuple[Vector, Vector]:
        if id(z) not in self._seen:
            self._seen[id(z)] = self.head.seen(z), z  # z is kept, so that its id is
        return self._seen[id(z)][0]

    def activations(self, image: list[Vector]) -> Vector:
        seen = [self.of(z) for z in image]
        return [self.head.pooled(seen, j) for j in range(self.head.count)]

    def all_hold(self, statements: list[Document], image: list[Vector], activations: Vector, certainly: bool) -> bool:
        return all(
            holds(statement, lambda patch, j: self.of(image[patch])[0][j], activations, certainly)
            for statement in statements
        )


def balls(image: hm.Matrix) -> list[Vector]:
    return [list(map(arb, row)) for row in image]


@dataclass(frozen=True)
class Claim:
    """What a certificate says, as far as it is about the world."""

    head: Real
    predicted: int
    patches: int
    statements: list[Document]
    margins: list[Any]
    image: list[Vector] | None

    @classmethod
    def read(cls, certificate: bytes, head: bytes, latents: bytes | None) -> Claim:
        """Raises WrongError where names or numbers of things do not fit."""
        document = read_json(certificate)
        predicate, subject = document["predicate"], document["subject"]
        made = read_head(head)
        if subject[0]["digest"]["sha256"] != hashlib.sha256(head).hexdigest():
            raise WrongError("the certificate is of another head")
        image = None
        if len(subject) > 1 and latents is not None:
            named = [i for i in read_latents(latents) if hm.digest(i) == subject[1]["digest"]["sha256"]]
            if not named:
                raise WrongError("the certificate is of another image")
            image = balls(named[0])
            if len(image) != predicate["patches"]:
                raise WrongError("the number of patches is not the image's")
        margins = [None if m is None else arb(float.fromhex(m)) for m in predicate["margins"]]
        if len(margins) != len(made.weight) or any(
            (m is None) != (c == predicate["predicted"]) for c, m in enumerate(margins)
        ):
            raise WrongError("margins are not one a rival")
        if any(m is not None and not m > 0 for m in margins):
            raise WrongError("a margin is not positive")
        about = [json.dumps([s.get(name) for name in ("patch", "prototype")]) for s in predicate["statements"]]
        if len({*about}) != len(about):
            raise WrongError("two statements about one thing")
        if any(s.get("patch", 0) >= predicate["patches"] for s in predicate["statements"]):
            raise WrongError("a statement about a patch that is not there")
        return cls(made, predicate["predicted"], predicate["patches"], predicate["statements"], margins, image)

    def require_instance(self) -> None:
        """Raises WrongError unless the statements are certainly true of the image."""
        if self.image is None:
            return
        sight = Sight(self.head)
        if not all(map(self.head.admits, self.image)):
            raise WrongError("the latents lie outside the domain")
        activations = sight.activations(self.image)
        for statement in self.statements:
            true = self._exactly(statement) if "patch" in statement else None
            if true is None:
                true = holds(statement, lambda patch, j: sight.of(self.image[patch])[0][j], activations, certainly=True)
            if not true:
                raise WrongError("a statement is not true of the image")

    def _exactly(self, statement: Document) -> bool | None:
        """Whether a statement about a patch holds, in rationals; None where the observable is no rational."""
        kind, j = self.head.part("geometry")["kind"], statement["prototype"]
        if kind not in ("euclidean", "inner_product"):
            return None
        z = [float(x) for x in hm.given(self.image)[statement["patch"]]]  # they were floats
        truth = (hm.squared_distance if kind == "euclidean" else hm.product)(z, hm.given(self.head.prototypes)[j])
        low, high = map(float.fromhex, statement["interval"])
        return Fraction(low) <= truth <= Fraction(high)

    def counterexample(self, sight: Sight, witnesses: list[list[Vector]]) -> list[Vector] | None:
        """A witness that satisfies every statement and certainly falls short of a margin."""
        for image in witnesses:
            if len(image) != self.patches:
                continue
            activations = sight.activations(image)
            if not sight.all_hold(self.statements, image, activations, certainly=False):
                continue
            if not all(map(self.head.admits, image)):
                continue
            logits = self.head.logits(activations)
            for c, margin in enumerate(self.margins):
                # Balls are 2^-300 wide or so; latents satisfy their statements as nearly.
                if margin is not None and bool(logits[self.predicted] - logits[c] < margin - arb(2) ** -100):
                    return image
        return None


def witnesses(claim: Claim, generator: random.Random) -> list[list[Vector]]:
    """Images that satisfy the statements, or all but one of them, and are the worst that were found."""
    head, start = claim.head, claim.image
    sight = Sight(head)
    if start is None:
        start = [_anywhere(head, generator) for _ in range(claim.patches)]
    found = [start]
    sets = [claim.statements, *([s for s in claim.statements if s is not one] for one in claim.statements)]
    free = [[_anywhere(head, generator) for _ in range(6)] + _corners(head) for _ in range(claim.patches)]
    for statements in sets:
        options = []
        for patch, own in enumerate(start):
            stated = [s for s in statements if s.get("patch") == patch]
            turned = _turned(head, own, stated, generator) if stated else free[patch]
            options.append([own, *(z for z in turned if head.admits(z))])
        for rival in range(len(head.weight)):
            if rival != claim.predicted:
                found.append(_worst(sight, claim.predicted, rival, statements, start, options))
    return found


def _worst(
    sight: Sight,
    predicted: int,
    rival: int,
    statements: list[Document],
    start: list[Vector],
    options: list[list[Vector]],
) -> list[Vector]:
    """Patch by patch the option that leaves least."""

    def value(image: list[Vector]) -> float:
        activations = sight.activations(image)
        if not sight.all_hold(statements, image, activations, certainly=False):
            return float("inf")
        logits = sight.head.logits(activations)
        return float(logits[predicted] - logits[rival])

    image, least = list(start), value(start)
    for _ in range(2):
        for patch in range(len(image)):
            for z in options[patch]:
                other = [*image[:patch], z, *image[patch + 1 :]]
                if (found := value(other)) < least:
                    image, least = other, found
    return image


def _ends(head: Real) -> tuple[float, float]:
    low, high = (None if end is None else float.fromhex(end) for end in head.part("domain").values())
    return -4.0 if low is None else low, 4.0 if high is None else high


def _anywhere(head: Real, generator: random.Random) -> Vector:
    low, high = _ends(head)
    depth = len(head.prototypes[0]) if head.prototypes else head.count
    middle, share = min(high, max(low, 0.0)), 1.0
    while True:  # a small ball in many dimensions holds hardly any of a box: each try is nearer to its centre
        entries = [low + (high - low) * generator.randrange(1, 1024) / 1024 for _ in range(depth)]
        z = [arb(middle + share * (entry - middle)) for entry in entries]
        if head.admits(z):
            return z
        share *= 0.75


def _corners(head: Real) -> list[Vector]:
    """Prototypes, cut to the domain, and what lies against them; masses on one channel; equal ones."""
    low, high = _ends(head)
    if head.prototypes is None:
        return [[arb(200 * (k == j)) for k in range(head.count)] for j in range(-1, head.count)]
    found = [[arb(min(high, max(low, sign * x))) for x in p] for p in head.prototypes for sign in (1, -1)]
    return [*found, [arb(low)] * len(found[0]), [arb(high)] * len(found[0])]


def _turned(head: Real, z: Vector, stated: list[Document], generator: random.Random) -> list[Vector]:
    """Latents of which the same is true as of z, as far as it is stated."""
    chosen = [s["prototype"] for s in stated]
    width = max(high - low for low, high in (map(float.fromhex, s["interval"]) for s in stated))
    near = [[x + arb(width * generator.uniform(-1, 1)) for x in z] for _ in range(8 if width > 2**-40 else 0)]
    if head.prototypes is None:
        return near + _shared(head, z, chosen)
    points = [list(map(arb, p)) for p in head.prototypes]
    kind = head.part("geometry")["kind"]
    cosine = kind in ("cosine", "rooted_cosine")
    base = points[chosen[0]] if kind == "euclidean" else [arb(0)] * len(z)
    basis = _orthonormal([_minus(points[j], base) for j in chosen])
    own = _times(1 / head.length(z), z) if cosine else _minus(z, base)
    rest = _orthogonal(own, basis)
    foot, reaches = _minus(own, rest), [square(rest).sqrt()]
    if cosine:
        reaches.append(arb.max(1 - arb(2) ** -80 - square(foot), arb(0)).sqrt())
    radius = head.part("geometry").get("radius")
    if radius is not None:
        reaches.append(arb.max((1 - arb(2) ** -80) * arb(float.fromhex(radius)) ** 2 - square(foot), arb(0)).sqrt())
    found = []
    for point in points:
        away = _orthogonal(_minus(_minus(point, base), foot), basis)
        if not square(away) > arb(2) ** -60:
            continue
        for reach in reaches:
            for sign in (1, -1):
                moved = [f + x for f, x in zip(foot, _times(sign * reach / square(away).sqrt(), away), strict=True)]
                found.append(_lengthened(head, moved) if cosine else [a + b for a, b in zip(base, moved, strict=True)])
    return near + found


def _lengthened(head: Real, u: Vector) -> Vector:
    """The z with z / (|z| + E) = u, or z / (|z|^2 + E)^(1/2) = u."""
    geometry = head.part("geometry")
    epsilon, size = arb(float.fromhex(geometry["epsilon"])), square(u).sqrt()
    if not epsilon > 0:
        return u
    if geometry["kind"] == "cosine":
        return _times(epsilon / (1 - size), u)
    return _times((epsilon / (1 - size * size)).sqrt(), u)


def _shared(head: Real, z: Vector, chosen: list[int]) -> list[Vector]:
    """Softmax latents with the masses of z where they are stated; what is left goes to one channel, or to all alike."""
    masses = [head.observable(z, j) for j in range(head.count)]
    free = [j for j in range(head.count) if j not in chosen]
    left = sum((masses[j] for j in free), arb(0))
    tiny = arb(2) ** -200
    found = []
    for heir in free:
        given = [
            masses[j] if j in chosen else left - tiny * (len(free) - 1) if j == heir else tiny
            for j in range(head.count)
        ]
        found.append([mass.log() for mass in given])
    if free:
        found.append([(masses[j] if j in chosen else left / len(free)).log() for j in range(head.count)])
    return found


def _minus(left: Vector, right: Vector) -> Vector:
    return [a - b for a, b in zip(left, right, strict=True)]


def _times(factor: Any, vector: Vector) -> Vector:
    return [factor * x for x in vector]


def _orthogonal(vector: Vector, basis: list[Vector]) -> Vector:
    for direction in basis:
        vector = _minus(vector, _times(dot(vector, direction), direction))
    return vector


def _orthonormal(vectors: list[Vector]) -> list[Vector]:
    basis: list[Vector] = []
    for vector in vectors:
        rest = _orthogonal(vector, basis)
        if square(rest) > arb(2) ** -60:
            basis.append(_times(1 / square(rest).sqrt(), rest))
    return basis
