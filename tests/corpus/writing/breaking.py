"""Search for the latents that break the claims of rejected cases: `python -m corpus.writing.breaking`,
with `PYTHONPATH=tests`; with `--new`, only of cases that are new or whose stored latents no longer comply.

It writes `breaking.json` (see `found`), which `make` reads: a search in floats gives other last bits on another
machine, so its results are stored. Nothing rests on the search: `truth` decides in balls whether latents break a claim.

Statements are often so narrow that few binary64 latents satisfy them. So every patch gets options that certainly
satisfy what is stated of it: the image's own latent, those of `slack` moved by multiples of their last bits, corners
and prototypes where nothing is stated, and points of the grid of 1/16 where the interval is a point.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import isqrt

import flint
import numpy as np
import torch
from corpus.writing.accept import accepted
from corpus.writing.found import found, store
from corpus.writing.reject import searched_cases
from corpus.writing.truth import gaps, satisfied

from verale.certificate import Certificate
from verale.counterexample.demands import Demands, demands_of
from verale.counterexample.repair import repair
from verale.head import Head as TorchHead
from verale.soundness.corpus.cases import Case
from verale.soundness.independent.arithmetic import PRECISION, Matrix
from verale.soundness.independent.claim import Claim, Evaluations, interval
from verale.soundness.independent.files import given
from verale.soundness.slack import nearly

__all__ = ["main", "nearest"]

_GRID = 16
"""Heads and latents of the corpora are multiples of 1/16: so are latents at a rational distance, or nearly none are."""

_FAR = 40
"""The largest radius, in units of the grid, of a sphere whose points are listed."""


def nearest(case: Case) -> Matrix:
    """Latents that satisfy a case's statements and have a difference of logits as far below a margin, or as little
    above it, as the search finds."""
    with flint.ctx.workprec(PRECISION):
        claim = Claim.read(case.certificate, case.head, case.latents)
        own = given(claim.image)
        starts = [own, *_complying(case, claim, [own, *nearly(claim)])]
        options = [_options(claim, patch, [image[patch] for image in starts]) for patch in range(claim.patches)]
        nearer = [_descended(claim, start, options) for start in sorted(starts, key=lambda z: _least(claim, z))[:4]]
        return min([*starts, *nearer], key=lambda image: _least(claim, image))


def _least(claim: Claim, image: Matrix) -> float:
    """How far the nearest rival is above its margin; infinite for latents that do not comply."""
    if not satisfied(claim, image):
        return float("inf")
    return min(float(gap - margin) for gap, margin in gaps(claim, image))


def _complying(case: Case, claim: Claim, images: list[Matrix]) -> Iterator[Matrix]:
    """Each image moved onto the statements, patch by patch; a patch that cannot be moved there is the image's own."""
    head, certificate = TorchHead.from_bytes(case.head), Certificate.from_bytes(case.certificate)
    own = torch.tensor(given(claim.image), dtype=torch.float64)
    for image in images:
        moved = torch.tensor(image, dtype=torch.float64)
        for start in (moved, own):
            demands = demands_of(head, certificate, start, False)
            rows = [_repaired(demands, moved, patch) for patch in range(claim.patches)]
            complying = [own[patch].tolist() if row is None else row[0].tolist() for patch, row in enumerate(rows)]
            if satisfied(claim, complying):
                yield complying


def _repaired(demands: Demands, image: torch.Tensor, patch: int) -> torch.Tensor | None:
    one = replace(demands, exact=(demands.exact[patch],), pinned=torch.zeros(1, dtype=torch.bool))
    with np.errstate(all="ignore"):  # latents far away overflow, and come to nothing
        return repair(one, image[patch : patch + 1], np.random.default_rng(0))


def _options(claim: Claim, patch: int, known: Matrix) -> Matrix:
    """Latents of one patch that may satisfy what is stated of it."""
    head = claim.head
    stated = [s for s in claim.statements if s.get("patch") == patch]
    depth = len(known[0])
    low, high = (None if end is None else float.fromhex(end) for end in head.part("domain").values())
    options = list(known)
    if not stated:
        rows = head.prototypes or [[8.0 * (j == d) for d in range(depth)] for j in range(depth)]
        rows = [*rows, *([-x for x in row] for row in rows), [-4.0] * depth, [4.0] * depth, [0.0] * depth]
        options += [[min(4.0 if high is None else high, max(-4.0 if low is None else low, x)) for x in r] for r in rows]
    elif head.kind("geometry") == "euclidean" and depth <= 3:
        options += _on_the_grid(given(head.prototypes)[stated[0]["prototype"]], interval(stated[0]))
    evaluations = Evaluations(head)
    return [
        z
        for z in options
        if head.admits(z) and all(evaluations.holds({**s, "patch": 0}, [z], [], certainly=True) for s in stated)
    ]


def _on_the_grid(centre: list[float], ends: tuple[float, float]) -> Iterator[list[float]]:
    """Points of the grid at this squared distance, where it is one number and not too large."""
    square = ends[0] * _GRID**2
    if ends[0] != ends[1] or square != int(square) or square > _FAR**2:
        return
    reach = isqrt(int(square))
    for first in product(range(-reach, reach + 1), repeat=len(centre) - 1):
        left = int(square) - sum(x * x for x in first)
        if left >= 0 and isqrt(left) ** 2 == left:
            for last in {isqrt(left), -isqrt(left)}:
                yield [c + x / _GRID for c, x in zip(centre, (*first, last), strict=True)]


def _descended(claim: Claim, start: Matrix, options: list[Matrix]) -> Matrix:
    """Patch by patch the option that brings a rival nearest, until none does."""
    image, least = start, _least(claim, start)
    while True:
        before = least
        for patch, each in enumerate(options):
            for z in each:
                other = [*image[:patch], z, *image[patch + 1 :]]
                if (value := _least(claim, other)) < least:
                    image, least = other, value
        if least == before:
            return image


def _complies(case: Case, image: Matrix | None) -> bool:
    """Whether latents that were found before satisfy a case's statements still."""
    if image is None:
        return False
    with flint.ctx.workprec(PRECISION):
        claim = Claim.read(case.certificate, case.head, case.latents)
        shape = {len(z) for z in image} == {len(given(claim.image)[0])} and len(image) == claim.patches
        return shape and satisfied(claim, image)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m corpus.writing.breaking", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--new", action="store_true", help="keep what was found before and still complies")
    known = found() if parser.parse_args().new else {}
    torch.set_num_threads(1)
    cases = searched_cases(accepted())
    store({case.name: known[case.name] if _complies(case, known.get(case.name)) else nearest(case) for case in cases})


if __name__ == "__main__":
    main()
