"""Latents that satisfy a certificate's statements, or all but one, and fall as far short of its margins as possible.

Patches without statements go to prototypes and corners of the domain. Patches with statements turn about the span of
what is stated, or of that with two ends, as far as they can towards every prototype. Of each combination the worst is
kept.
"""

from __future__ import annotations

import random
from math import inf

from verale.soundness.independent.arithmetic import Ball, Vector, ball, balls, product
from verale.soundness.independent.claim import Claim, Evaluations, interval
from verale.soundness.independent.head import Head
from verale.soundness.independent.readers import Document


def is_refuted(claim: Claim) -> bool:
    """Whether some latents, always the same ones, satisfy every statement and certainly fall short of a margin."""
    return claim.counterexample(Evaluations(claim.head), witnesses(claim, random.Random(0))) is not None


def witnesses(claim: Claim, generator: random.Random) -> list[list[Vector]]:
    """The claim's image, and for every set of statements and rival the worst image that satisfies the set."""
    head = claim.head
    start = [_anywhere(head, generator) for _ in range(claim.patches)] if claim.image is None else balls(claim.image)
    evaluations = Evaluations(head)
    images = [start]
    sets = [claim.statements, *([s for s in claim.statements if s is not one] for one in claim.statements)]
    free = [[_anywhere(head, generator) for _ in range(6)] + _corners(head) for _ in range(claim.patches)]
    for statements in sets:
        options = []
        for patch, own in enumerate(start):
            stated = [s for s in statements if s.get("patch") == patch]
            turned = _turned(head, own, stated, generator) if stated else free[patch]
            if any(inf in (high, -low) for low, high in map(interval, stated)):
                narrow = [s for s in stated if inf not in map(abs, interval(s))]
                turned = [*turned, *(_turned(head, own, narrow, generator) if narrow else free[patch])]
            options.append([own, *(z for z in turned if head.admits(z))])
        for rival in range(len(head.weight)):
            if rival != claim.predicted:
                images.append(_worst(evaluations, claim.predicted, rival, statements, start, options))
    return images


def _worst(
    evaluations: Evaluations,
    predicted: int,
    rival: int,
    statements: list[Document],
    start: list[Vector],
    options: list[list[Vector]],
) -> list[Vector]:
    """Patch by patch the option that leaves the least difference of logits."""

    def difference(image: list[Vector]) -> float:
        activations = evaluations.activations(image)
        if not evaluations.all_may_hold(statements, image, activations):
            return float("inf")
        logits = evaluations.head.logits(activations)
        return float(logits[predicted] - logits[rival])

    image, least = list(start), difference(start)
    for _ in range(2):
        for patch in range(len(image)):
            for z in options[patch]:
                other = [*image[:patch], z, *image[patch + 1 :]]
                if (value := difference(other)) < least:
                    image, least = other, value
    return image


# Patches without statements.


def _ends(head: Head) -> tuple[float, float]:
    """The domain's ends; 4 in size where it has none."""
    low, high = (None if end is None else float.fromhex(end) for end in head.part("domain").values())
    return -4.0 if low is None else low, 4.0 if high is None else high


def _anywhere(head: Head, generator: random.Random) -> Vector:
    """A latent drawn from the domain."""
    low, high = _ends(head)
    depth = len(head.prototypes[0]) if head.prototypes else head.count
    middle, share = min(high, max(low, 0.0)), 1.0
    while True:  # a small ball in many dimensions fills hardly any of a box: each try is nearer to its centre
        entries = [low + (high - low) * generator.randrange(1, 1024) / 1024 for _ in range(depth)]
        z = [ball(middle + share * (entry - middle)) for entry in entries]
        if head.admits(z):
            return z
        share *= 0.75


def _corners(head: Head) -> list[Vector]:
    """Prototypes and their opposites, cut to the domain, and two corners; of softmax all mass on one channel, or equal
    masses."""
    low, high = _ends(head)
    if head.prototypes is None:
        return [[ball(200 * (k == j)) for k in range(head.count)] for j in range(-1, head.count)]
    points = [[ball(min(high, max(low, sign * x))) for x in p] for p in head.prototypes for sign in (1, -1)]
    return [*points, [ball(low)] * len(points[0]), [ball(high)] * len(points[0])]


# Patches with statements.


def _turned(head: Head, z: Vector, stated: list[Document], generator: random.Random) -> list[Vector]:
    """Latents with the same stated observables as z."""
    chosen = [s["prototype"] for s in stated]
    width = max(high - low if high - low < inf else 1.0 for low, high in map(interval, stated))
    near = [[x + ball(width * generator.uniform(-1, 1)) for x in z] for _ in range(8 if width > 2**-40 else 0)]
    if head.prototypes is None:
        return near + _redistributed(head, z, chosen)
    points = balls(head.prototypes)
    kind = head.kind("geometry")
    cosine = kind in ("cosine", "rooted_cosine")
    base = points[chosen[0]] if kind == "euclidean" else [ball(0)] * len(z)
    basis = _orthonormal([_minus(points[j], base) for j in chosen])
    own = _times(1 / head.length(z), z) if cosine else _minus(z, base)
    rest = _orthogonal(own, basis)
    foot = _minus(own, rest)
    reaches = _reaches(head, foot, rest)
    latents = []
    for point in points:
        away = _orthogonal(_minus(_minus(point, base), foot), basis)
        if not product(away, away) > ball(2) ** -60:
            continue
        for reach in reaches:
            for sign in (1, -1):
                step = _times(sign * reach / product(away, away).sqrt(), away)
                moved = _plus(foot, step)
                latents.append(_lengthened(head, moved) if cosine else _plus(base, moved))
    return near + latents


def _reaches(head: Head, foot: Vector, rest: Vector) -> list[Ball]:
    """How far from the foot a latent may lie: as far as z does, or to the edge of the unit ball or of the domain's."""
    inside, square = 1 - ball(2) ** -80, product(foot, foot)
    reaches = [product(rest, rest).sqrt()]
    if head.kind("geometry") in ("cosine", "rooted_cosine"):
        reaches.append((inside - square).max(ball(0)).sqrt())
    radius = head.part("geometry").get("radius")
    if radius is not None:
        reaches.append((inside * ball(float.fromhex(radius)) ** 2 - square).max(ball(0)).sqrt())
    return reaches


def _lengthened(head: Head, u: Vector) -> Vector:
    """The z with z / (|z| + E) = u, or z / (|z|^2 + E)^(1/2) = u."""
    epsilon, size = ball(float.fromhex(head.part("geometry")["epsilon"])), product(u, u).sqrt()
    if not epsilon > 0:
        return u
    if head.kind("geometry") == "cosine":
        return _times(epsilon / (1 - size), u)
    return _times((epsilon / (1 - size * size)).sqrt(), u)


def _redistributed(head: Head, z: Vector, chosen: list[int]) -> list[Vector]:
    """Softmax latents with the masses of z where they are stated; the rest goes to one channel, or to all alike."""
    masses = [head.observable(z, j) for j in range(head.count)]
    free = [j for j in range(head.count) if j not in chosen]
    left = sum((masses[j] for j in free), ball(0))
    tiny = ball(2) ** -200
    latents = []
    for heir in free:
        shares = [
            masses[j] if j in chosen else left - tiny * (len(free) - 1) if j == heir else tiny
            for j in range(head.count)
        ]
        latents.append([mass.log() for mass in shares])
    if free:
        latents.append([(masses[j] if j in chosen else left / len(free)).log() for j in range(head.count)])
    return latents


# Vectors of balls.


def _plus(left: Vector, right: Vector) -> Vector:
    return [a + b for a, b in zip(left, right, strict=True)]


def _minus(left: Vector, right: Vector) -> Vector:
    return [a - b for a, b in zip(left, right, strict=True)]


def _times(factor: Ball, vector: Vector) -> Vector:
    return [factor * x for x in vector]


def _orthogonal(vector: Vector, basis: list[Vector]) -> Vector:
    """What is left of a vector outside the span of an orthonormal basis."""
    for direction in basis:
        vector = _minus(vector, _times(product(vector, direction), direction))
    return vector


def _orthonormal(vectors: list[Vector]) -> list[Vector]:
    basis: list[Vector] = []
    for vector in vectors:
        rest = _orthogonal(vector, basis)
        if product(rest, rest) > ball(2) ** -60:
            basis.append(_times(1 / product(rest, rest).sqrt(), rest))
    return basis
