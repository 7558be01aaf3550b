"""The numbers in the figures, all computed by verale: `figures()` returns one record a figure.

Ranges and margins come from the checker's rules, explanations from the search. The digits are images of `verale demo`.
Their latents are stored beside this file; `python docs/figures/make.py --latents` computes them again. (The licence of
the digits is CC BY 4.0: verale/demo/data/LICENSE.digits.txt.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import torch

import verale
from verale.certificate import PatchStatement
from verale.checker import certificate as checked
from verale.checker.certificate import read_certificate
from verale.checker.head import read_head
from verale.checker.options import load_arithmetic
from verale.checker.reading.margin import proved_margins
from verale.checker.reading.masses import Assignment, Simplex
from verale.checker.reading.paradigms import Activations
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Space
from verale.head import as_patches, evaluate

HERE = Path(__file__).parent
LATENTS = HERE / "digits.safetensors"
IMAGES = 8
TOLERANCES = (0.0, 1e-4, 1e-3, 3e-3, 1e-2, 2e-2, 3e-2, 5e-2)
RULES = ("triangle", "hypersphere", "projection")

ANCHORS, Z, WIDTH = [[0.0, 0.0], [3.0, 0.0]], [1.25, 1.5], Fraction(1, 2)
"""Two prototypes in a plane, a latent, and by how much its stated squared distances may be off."""

Record = dict[str, Any]


def save_latents() -> None:
    """Latents of the first image of each of some digits of the demo."""
    from verale.demo.network import load_images, load_network

    digits = load_images()
    first = [digits.labels.index(label) for label in range(IMAGES)]
    verale.save_latents(LATENTS, load_network().latents(digits.images[first]).float())


def figures() -> dict[str, Record]:
    """All numbers, by figure."""
    head, latents = digits_head(), verale.load_latents(LATENTS)
    return {
        "ball": ball(),
        "exact": exact(),
        "ranges": ranges(head, latents),
        "simplex": simplex(),
        "tolerance": tolerance(head, latents),
        "minimal": minimal(head, latents),
    }


def digits_head() -> verale.Head:
    from verale.adapters.cabrnet import load_head
    from verale.demo.network import RUN

    return load_head(RUN)


def space_of(head: verale.Head) -> Space:
    return Space(read_head(head.to_bytes()), load_arithmetic("arb"))


def distances(space: Space, rule: str, statements: Sequence[checked.PatchStatement]) -> list[tuple[float, float]]:
    """The range of every distance (not squared) of a patch, given its statements: what the checker proves from all of
    them (projection) or from each alone (triangle), and what one moving sphere says (hypersphere, in floats)."""
    if rule == "hypersphere":
        return moving_sphere(space, statements)
    quadratic = QuadraticRule(space)
    bounds = space.domain
    for group in [[each] for each in statements] if rule == "triangle" else [statements]:
        bounds = bounds.met(quadratic.ranges(group))
    return [
        (math.sqrt(max(0, int(low)) / 2**space.bits), math.sqrt(int(high) / 2**space.bits))
        for low, high in zip(bounds.lower, bounds.upper or [], strict=True)
    ]


def moving_sphere(space: Space, statements: Sequence[checked.PatchStatement]) -> list[tuple[float, float]]:
    """The range of every distance from one sphere about a centre that each stated distance, at its middle, moves."""
    points = torch.tensor(space.head.prototypes.rows, dtype=torch.float64) / 2**space.head.prototypes.bits
    found = [(0.0, math.inf)] * len(points)
    centre, radius = torch.zeros(0), 0.0
    for statement in statements:
        point, middle = points[statement.prototype], float(statement.lower + statement.upper) / 2
        if len(centre):
            apart = float((point - centre).square().sum())
            share = 0.5 + (radius - middle) / (2 * apart)
            radius = (1 - share) * radius + share * middle - share * (1 - share) * apart
            centre = (1 - share) * centre + share * point
        else:
            centre, radius = point, middle
        reach = math.sqrt(max(0.0, radius))
        each = [float((other - centre).square().sum()) ** 0.5 for other in points]
        found = [(max(low, abs(q - reach)), min(high, q + reach)) for (low, high), q in zip(found, each, strict=True)]
    return found


def plane(points: Sequence[Sequence[float]]) -> Space:
    """A Euclidean head with these prototypes."""
    prototypes = torch.tensor(points, dtype=torch.float64)
    box = verale.Box(-8, 8)
    return space_of(
        verale.Head(torch.eye(len(points)), verale.Euclidean(), verale.Negated(), prototypes=prototypes, domain=box)
    )


def square(point: Sequence[float], other: Sequence[float]) -> Fraction:
    return sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(point, other, strict=True)), Fraction(0))


def ball() -> Record:
    """The shells about c = (1 - t) p_0 + t p_1 that the ball lemma gives for two stated distances and some t.

    Raises ValueError if the checker's range of the distance to a prototype at c is not within the shell.
    """
    stated = [checked.PatchStatement(0, j, square(p, Z) - WIDTH, square(p, Z) + WIDTH) for j, p in enumerate(ANCHORS)]
    found: Record = {"z": Z, "points": ANCHORS, "shells": []}
    found["stated"] = [[math.sqrt(s.lower), math.sqrt(s.upper)] for s in stated]
    for t in (Fraction(1, 8), Fraction(1, 2), Fraction(5, 4)):
        weights = (1 - t, t)
        centre = [float(sum(w * Fraction(p[axis]) for w, p in zip(weights, ANCHORS, strict=True))) for axis in (0, 1)]
        kappa = t * (1 - t) * square(*ANCHORS)
        pairs = list(zip(weights, stated, strict=True))
        least = sum(w * (s.lower if w > 0 else s.upper) for w, s in pairs) - kappa
        most = sum(w * (s.upper if w > 0 else s.lower) for w, s in pairs) - kappa
        low, high = math.sqrt(max(0, least)), math.sqrt(most)
        proved = distances(plane([*ANCHORS, centre]), "projection", stated)[2]
        if proved[0] < low - 1e-12 or proved[1] > high + 1e-12:
            raise ValueError(f"t = {t}: projection gives {proved}, the shell is {low, high}")
        found["shells"].append({"t": float(t), "centre": centre, "low": low, "high": high})
    return found


def exact() -> Record:
    """Two stated distances in a plane, and what they say of the distance to a third prototype."""
    points = [*ANCHORS, [1.375, 0.625]]
    space = plane(points)
    found: Record = {"points": points, "z": Z, "distance": math.sqrt(square(points[2], Z))}
    for name, width in (("exact", Fraction(0)), ("wide", WIDTH)):
        stated = [
            checked.PatchStatement(0, j, square(points[j], Z) - width, square(points[j], Z) + width) for j in (0, 1)
        ]
        found[name] = {
            "stated": [[math.sqrt(s.lower), math.sqrt(s.upper)] for s in stated],
            **{rule: distances(space, rule, stated)[2] for rule in ("triangle", "projection")},
        }
    return found


def ranges(head: verale.Head, latents: torch.Tensor) -> Record:
    """Distances of the patch with the most statements to some other prototypes: their ranges by paradigm."""
    (certificate,) = explained(head, latents[:1])
    spoken = [s.patch for s in certificate.statements if isinstance(s, PatchStatement)]
    patch = max(set(spoken), key=lambda each: (spoken.count(each), -each))
    stated = [
        checked.PatchStatement(0, s.prototype, Fraction(s.lower), Fraction(s.upper))
        for s in certificate.statements
        if isinstance(s, PatchStatement) and s.patch == patch
    ]
    z = as_patches(latents[:1])[0, patch].double()
    if head.prototypes is None:
        raise TypeError("the head of the demo has prototypes")
    truth = (head.prototypes.double() - z).square().sum(1).sqrt().tolist()
    order = sorted(range(head.size), key=truth.__getitem__)
    shown = [j for j in order if j not in {s.prototype for s in stated}][:: max(1, head.size // 12)]
    space = space_of(head)
    return {
        "patch": patch,
        "statements": len(stated),
        "prototypes": shown,
        "truth": [truth[j] for j in shown],
        **{rule: [bounds[j] for j in shown] for rule in RULES if (bounds := distances(space, rule, stated))},
    }


def simplex() -> Record:
    """Three patches, and a rival with three prototypes: each remainder counts for every prototype, or is given once."""
    weight = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.75, 0.75, 0.75]])
    masses = torch.tensor(
        [[0.75, 0.125, 0.0625, 0.0625], [0.625, 0.125, 0.125, 0.125], [0.6875, 0.0625, 0.125, 0.125]],
        dtype=torch.float64,
    )
    head = verale.Head(weight, verale.Softmax(), verale.Identity(), bias=torch.tensor([0.0, 0.0]))
    image = masses.log()[None]
    (certificate,) = explained(head, image, "assignment")
    space = space_of(head)
    read = read_certificate(certificate.to_bytes())
    box = Activations(space, Simplex(space)).box(read.statements, read.patches)
    bounded = proved_margins(space.head, box, 0)
    stated = [s for s in certificate.statements if isinstance(s, PatchStatement)]
    return {
        "masses": masses.tolist(),
        "stated": [[s.patch, s.prototype, s.lower] for s in stated],
        "upper": [int(high) / 2**space.bits for high in box.upper],
        "lower": [int(low) / 2**space.bits for low in box.lower],
        "simplex": float(bounded[1] or 0),
        "assignment": float(Assignment(space, read).margins(box, bounded)[1] or 0),
        "image": float(evaluate(head, as_patches(image)).logits[0].diff()[0].neg()),
    }


def tolerance(head: verale.Head, latents: torch.Tensor) -> Record:
    """The number of statements that each image needs under each tolerance; None if all statements are not enough."""
    explained_under = [
        verale.explain(head, latents, "projection", tolerance=each, digits="exact") for each in TOLERANCES
    ]
    sizes = [
        [each.size if isinstance(each, verale.Certificate) else None for each in results] for results in explained_under
    ]
    return {"tolerances": list(TOLERANCES), "sizes": sizes, "of": head.size * latents[0, 0].numel()}


def minimal(head: verale.Head, latents: torch.Tensor) -> Record:
    """Two explanations of the same images, grown in two orders; the checker proves that each is minimal."""
    record: Record = {}
    for order in ("rival", "nearest"):
        certificates = explained(head, latents, order=order)
        record[order] = [certificate.size for certificate in certificates]
        record[f"{order} proved minimal"] = [proved_minimal(head, certificate) for certificate in certificates]
    return record


def proved_minimal(head: verale.Head, certificate: verale.Certificate) -> bool:
    """Whether the checker proves that no statement can be dropped."""
    from verale.checker import Auditor

    verdict = Auditor(head.to_bytes()).check(certificate.to_bytes(), minimality=True)
    return verdict.status.value == "PROVED" and verdict.claims["minimality"] == "proved"


def explained(
    head: verale.Head, latents: torch.Tensor, paradigm: str = "projection", **options: Any
) -> list[verale.Certificate]:
    """Certificates of every image. Raises ValueError if an image has none."""
    certificates = []
    for result in verale.explain(head, latents, paradigm, digits="exact", **options):
        if not isinstance(result, verale.Certificate):
            raise ValueError(f"no explanation: {result.reason}")
        certificates.append(result)
    return certificates
