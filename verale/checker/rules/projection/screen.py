"""Screening: which patches need exact ranges, where observables are pooled over patches.

A pooled observable has its ends from one patch or two. So for every prototype the patch that looks best gets its exact
range. Every other patch whose coarse range (`coarse`) does not rule it out gets a tighter coarse range. Then the patch
that looks best now gets its exact range, and so do all that are still not ruled out.

**Rule.** Each patch has a closeness c_k in [low_k, high_k], and another may be `known` in the same way. The greatest
c_k lies between the greatest low end of some patches and the greatest high end of some patches, if every patch left
out of the latter is shown to have a c_k of at most that end.
*Proof.* The greatest is no less than any c_k, hence no less than any low end. The patch that attains it has a c_k of at
most its high end if it is not left out, and otherwise of at most the greatest of these high ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ...dyadic import floor_shift
from .coarse import Bound

__all__ = ["Candidate", "greatest"]


@dataclass(frozen=True)
class Candidate:
    """One patch: coarse ranges of the closeness to all prototypes, and ways to compute for some of them the exact ends,
    on the grid, and swings, which make the coarse ranges nearly as tight (`Bound.beside`)."""

    bound: Bound
    ends: Callable[[Sequence[int]], Iterable[tuple[int, int]]]
    swings: Callable[[Sequence[int]], Iterable[int]]


def greatest(
    candidates: Sequence[Candidate], low: Sequence[int] | None, high: Sequence[int] | None, lift: int
) -> tuple[list[int], list[int]]:
    """The ends, on the grid, of the greatest closeness among at least one candidate and a known patch, for every
    prototype.

    Args:
        low, high: the ends for the known patch; None if there is no such patch.
        lift: the coarse unit is 2^lift on the grid.
    """
    bounds = [candidate.bound for candidate in candidates]
    # Less than the low end of any candidate, so it is a low end too.
    nothing = min(min(bound.low) for bound in bounds) - 1
    unknown = [floor_shift(nothing, lift)] * len(bounds[0].low)
    lows, highs = list(unknown if low is None else low), list(unknown if high is None else high)

    def wanted(choose: Callable[..., list[list[int]]]) -> Iterable[tuple[Candidate, list[int]]]:
        reached = ([int(floor_shift(end, -lift)) for end in ends] for ends in (lows, highs))
        return zip(candidates, choose(bounds, *reached), strict=True)

    def exactly(choose: Callable[..., list[list[int]]]) -> None:
        for candidate, targets in wanted(choose):
            bound = candidate.bound
            for k, (least, most) in zip(targets, candidate.ends(targets), strict=True):
                if least > lows[k]:
                    lows[k] = least
                if most > highs[k]:
                    highs[k] = most
                bound.low[k] = bound.high[k] = bound.peak[k] = nothing  # so it is not wanted again

    exactly(_best)
    for candidate, targets in wanted(_open):
        _narrow(candidate.bound, targets, candidate.swings(targets))
    exactly(_best)
    exactly(_open)
    return lows, highs


def _narrow(bound: Bound, targets: Sequence[int], swings: Iterable[int]) -> None:
    """Tighten the ranges of some targets, given their swings. Only once: `peak` changes its meaning."""
    for k, swing in zip(targets, swings, strict=True):
        peak = bound.peak[k]
        bound.low[k], bound.high[k] = peak - bound.beside - swing, peak + swing
        bound.peak[k] = peak - swing + 2  # 2 for what is rounded in the swing


def _best(bounds: Sequence[Bound], least: Sequence[int], most: Sequence[int]) -> list[list[int]]:
    """For each patch the prototypes to which it seems the closest by either end, if that exceeds what is known."""
    wanted: list[list[int]] = [[] for _ in bounds]
    each = (zip(*ends, strict=True) for ends in ([bound.low for bound in bounds], [bound.high for bound in bounds]))
    for k, (lows, highs) in enumerate(zip(*each, strict=True)):
        for patch in {lows.index(max(lows)), highs.index(max(highs))}:
            if highs[patch] > most[k] or bounds[patch].peak[k] > least[k]:
                wanted[patch].append(k)
    return wanted


def _open(bounds: Sequence[Bound], least: Sequence[int], most: Sequence[int]) -> list[list[int]]:
    """For each patch the prototypes to which it may be closer than is known. If its ends do not exceed the known ones,
    they change nothing."""
    return [
        [
            k
            for k, (high, peak, one, other) in enumerate(zip(bound.high, bound.peak, most, least, strict=True))
            if high > one or peak > other
        ]
        for bound in bounds
    ]
