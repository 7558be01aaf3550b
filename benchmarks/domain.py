"""How much smaller `projection` would be if it used the head's domain of latents. An experiment, NOT sound.

    python -m benchmarks.domain --data DATA

The paradigm bounds <v, b_k> = <c, b_k> + <v - c, r> by rho |r|: v is the latent minus its base, c its projection
on the span of the anchors, r the part of b_k outside the span, rho >= |v - c|. If lo <= v <= hi in every coordinate,
then for any n, m >= 0 and any t in the span

    <v - c, r> = <v - c, r + n - m - t> - <v - c, n> + <v - c, m> <= rho |r + n - m - t| + <c - lo, n> + <hi - c, m>,

since <v - c, t> = 0. Given t, the best r + n - m - t is r - t cut to [-beta (c - lo), beta (hi - c)] with beta its own
length over rho; given n and m, the best t is their projection on the span. One cut, with t = 0 and beta = |r| / rho,
costs a few passes over P D numbers; cutting and projecting in turns approaches the best there are. On the sphere v =
z / (|z| + E), of which a non-negative domain says v >= 0 and nothing else.

Everything is rounded to nearest, so the sizes are estimates and nothing here is a proof.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.environment import describe
from benchmarks.heads import HEADS, build
from verale.bounds import Projection
from verale.head import Euclidean, Head, as_patches
from verale.rounding import Enclosure
from verale.search.problem import Pair, Problem
from verale.search.prove import without_doubtful
from verale.search.rounds.explain import explain_spatial
from verale.search.rounds.stepwise import first_statements

__all__ = ["DomainProjection", "main"]

_SLACK = 1e-9
_SHARES = (0.1, 0.5, 0.9, 0.99)


class DomainProjection(Projection):
    """`projection` whose rows use the domain in their range, computed on access and not at each statement.

    Args:
        head: a metric head.
        turns: how often t is chosen again.
    """

    def __init__(self, head: Head, turns: int = 0) -> None:
        super().__init__(head)
        assert head.prototypes is not None
        points, box = head.prototypes.double(), head.domain
        self._distances = isinstance(head.geometry, Euclidean)
        if self._distances:
            self._lower = -math.inf if box.lower is None else box.lower
            self._upper = math.inf if box.upper is None else box.upper
        else:
            points = points / points.norm(dim=1, keepdim=True)
            self._lower = -math.inf if box.lower is None or box.lower < 0 else 0.0
            self._upper = math.inf
        self._points = points
        self._turns = turns

    def ranges(self, stated: Sequence[Sequence[int]], observed: Enclosure, *_: Any, **__: Any) -> Enclosure:
        """(R, P) the range of every observable; the plain one for patches with too few statements."""
        plain = super().ranges(stated, observed)
        lower, upper = plain.lower.clone(), plain.upper.clone()
        for row, prototypes in enumerate(stated):
            if len(prototypes) > self._distances:
                low, high = self._of_one(list(prototypes), (observed.lower + observed.upper)[row, list(prototypes)] / 2)
                lower[row] = torch.maximum(lower[row], low - _SLACK)
                upper[row] = torch.minimum(upper[row], high + _SLACK)
        return Enclosure.unchecked(lower, upper)

    def _of_one(self, prototypes: list[int], observed: Tensor) -> tuple[Tensor, Tensor]:
        origin, square = self._points.new_zeros(self._points.shape[1]), 1.0
        anchors, along = self._points[prototypes], observed
        if self._distances:
            origin, square = anchors[0], float(observed[0])
            anchors = anchors[1:] - origin
            along = (square + anchors.square().sum(1) - observed[1:]) / 2
        targets = self._points - origin
        basis = torch.linalg.svd(anchors, full_matrices=False)
        kept = _SLACK * basis.S.amax() < basis.S
        rows, centre = basis.Vh[kept], (basis.U.T @ along)[kept] / basis.S[kept]
        rho = max(square - float(centre.square().sum()), 0.0) ** 0.5 + _SLACK
        dual = targets @ rows.T
        rest, foot = torch.addmm(targets, dual, rows, alpha=-1), origin + centre @ rows
        middle, below, above = dual @ centre, foot - self._lower, self._upper - foot
        highest = middle + self._support(rest, below, above, rho, rows)
        lowest = middle - self._support(-rest, below, above, rho, rows)
        if self._distances:
            squares = targets.square().sum(1)
            return square + squares - 2 * highest, square + squares - 2 * lowest
        return lowest, highest

    def _support(self, rest: Tensor, below: Tensor, above: Tensor, rho: float, basis: Tensor) -> Tensor:
        """(P,) upper bounds of <v - c, r>: r the rows of `rest`, -below <= v - c <= above, |v - c| <= rho."""
        best = rho * rest.norm(dim=1)
        cut = free = rest
        for turn in range(self._turns + 1):
            beta = cut.norm(dim=1, keepdim=True) / rho
            cut = free
            if self._lower > -math.inf:
                cut = torch.maximum(cut, beta * -below)
            if self._upper < math.inf:
                cut = torch.minimum(cut, beta * above)
            added = cut - free
            price = torch.zeros_like(best)
            if self._lower > -math.inf:
                price += added.clamp(min=0) @ below
            if self._upper < math.inf:
                price -= added.clamp(max=0) @ above
            best = torch.minimum(best, price + rho * cut.norm(dim=1))
            if turn < self._turns:
                whole = rest + added
                cut = torch.addmm(whole, whole @ basis.T, basis, alpha=-1)
                free = cut - added
                best = torch.minimum(best, price + rho * cut.norm(dim=1))
        return best


def _tightening(problem: Problem, plain: Projection, tighter: DomainProjection, pairs: list[Pair]) -> Tensor:
    """How much shorter, relatively, the domain makes the ranges under a finished explanation.

    Only patches with a direction count, and of them only pairs that are not stated.
    """
    stated = [[j for where, j in pairs if where == patch] for patch in range(problem.patches)]
    ranges, shorter = (each.ranges(stated, problem.observed) for each in (plain, tighter))
    has_directions = torch.tensor([len(each) > problem.head.geometry.is_distance for each in stated])
    counted = has_directions[:, None].expand_as(ranges.lower).clone()
    counted[tuple(torch.tensor(pairs).T)] = False
    shares: Tensor = 1 - (shorter.upper - shorter.lower)[counted] / (ranges.upper - ranges.lower)[counted]
    return shares


def _sizes(problem: Problem, plain: Projection, turns: int) -> Iterator[tuple[str, int, float]]:
    """Statements and processor seconds: plain, and with the domain where statements are dropped."""
    begin = time.process_time()
    explanation = explain_spatial(problem, plain, "rival")[0]
    yield "plain", len(getattr(explanation, "pairs", [])), time.process_time() - begin
    begin = time.process_time()
    grown = first_statements(problem, plain, problem.observed.lower.numel())
    kept = without_doubtful(problem, DomainProjection(problem.head, turns), grown, grown[::-1])
    yield "shrink", len(kept), time.process_time() - begin


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.domain", description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--data",
        type=Path,
        help="trained heads and latents",
        default=Path(__file__).resolve().parents[2] / "shared" / "data",
    )
    parser.add_argument("--heads", default="tesnet,protopnet", help=f"metric heads among {','.join(HEADS)}")
    parser.add_argument("--images", type=int, default=12, help="number of images (default 12)")
    parser.add_argument("--turns", default="0", help="how often t is chosen again, comma separated (default 0)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for key, value in describe().items():
        print(f"{key}: {value}")
    for name in options.heads.split(","):
        subject = build(name, options.data, options.images)
        print(f"{name}: {subject.note}")
        plain = Projection(subject.head)
        for turns in map(int, options.turns.split(",")):
            _report(subject.head, as_patches(subject.latents), plain, turns)
    return 0


def _report(head: Head, images: Tensor, plain: Projection, turns: int) -> None:
    shares, results = [], []
    for number, image in enumerate(images):
        problem = Problem.of(head, image[None])
        explanation = explain_spatial(problem, plain, "rival")[0]
        if isinstance(explanation, str):
            print(f"image {number}: unexplained ({explanation})")
            continue
        shares.append(_tightening(problem, plain, DomainProjection(head, turns), explanation.pairs))
        results.append(list(_sizes(problem, plain, turns)))
        print(f"image {number}:", *(f"{n} {size} in {s:.2f} s;" for n, size, s in results[-1]), flush=True)
    all_shares = torch.cat(shares).sort().values
    quantiles = ", ".join(f"{q:g}: {float(all_shares[int(q * len(all_shares))]):.4f}" for q in _SHARES)
    print(f"turns {turns}: ranges shorter by {float(all_shares.mean()):.4f} on average; quantiles {quantiles}")
    for variant in zip(*results, strict=True):
        size = sum(s for _, s, _ in variant) / sum(row[0][1] for row in results)
        each = sum(s / row[0][1] for (_, s, _), row in zip(variant, results, strict=True)) / len(results)
        seconds = sum(t for _, _, t in variant) / sum(row[0][2] for row in results)
        print(f"  {variant[0][0]}: size {size:.4f} of plain, image by image {each:.4f}; time {seconds:.2f} of plain")


if __name__ == "__main__":
    sys.exit(main())
