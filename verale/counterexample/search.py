"""The search for a counterexample: latents that satisfy every statement of a certificate and get another class.

Nothing here is proved, and nothing has to be: the checker evaluates every counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from verale.bounds import Projection, Simplex, activation, check_domain, domain_range
from verale.certificate import Certificate, PatchStatement
from verale.certificate.statements import activations_bounded
from verale.counterexample.demands import (
    GRACE,
    TOGETHER,
    Clock,
    TimeIsUpError,
    demands_of,
    into_domain,
    require_searchable,
)
from verale.counterexample.repair import repair
from verale.head import Head, evaluate, evaluate_observed, observables
from verale.rounding import Enclosure

_IMAGES = 8
"""How many images climb together."""

_ASCENTS = (300, 1200)
"""Steps of a climb: in the first round, and in later ones."""

_RIVALS = 3
"""How many of the rivals asked for are tried in the first round; twice as many in each later one."""


_RATE = 0.1
"""The size of the first steps, for prototypes whose coordinates are 1 in the mean."""
_LIGHT, _HEAVY = 0.5, 1e3
"""The penalty's weight at the first and at the last step, for logits of size 1 and prototypes as above."""
_ENOUGH = 0.05
"""A lead of more than this share of the greatest logit is no better."""

_SETTLING = 40
_FEASIBLE = 1e-9
"""The largest relative violation of a demand that is worth a repair."""
_AHEAD = 1e-3
"""The share of the greatest logit by which a goal stays ahead where patches are restored."""
_MOST_TARGETS = 1024
"""The most patches that are moved to show a prototype."""


def counterexamples(
    head: Head,
    certificate: Certificate,
    given: Tensor | None,
    seconds: float,
    rivals: Sequence[int] | None = None,
    goal: int | None = None,
    grace: float = GRACE,
) -> Iterator[Tensor]:
    """Latents (L, D) float64 that may refute a certificate, the most promising first; it ends when the time is over.

    It starts from a base, the given image or a random one, and takes one rival after the other. The bounds say how
    similar each patch may get to each prototype under the statements; the patches that could help the rival most move
    as near to their prototype as the statements allow. From there, with random latents for patches without statements,
    Adam's steps raise the rival's lead less a penalty for what does not comply, whose weight grows. Where the rival is
    ahead, the latents are repaired until they comply exactly.

    Args:
        head: the certificate's head.
        certificate: any certificate, proved or not, whose indices fit the head.
        given: (L, D) float64 latents of the domain to start from, or None; L is the certificate's number of patches.
        seconds: when to stop. One climb for one rival begins in any case, and may take `grace` seconds more.
        rivals: the classes to try, in this order; by default all, the one with the greatest logit first.
        goal: a class that shall be ahead of all others, in place of any rival ahead of the predicted class alone.
        grace: seconds that what began may take beyond those asked for.

    Raises:
        UsageError: a certificate too large to search in this time, or at all.
        LatentsError: fewer patches than the head needs.
    """
    require_searchable(head, certificate, seconds)
    clock, generator, rounds = Clock.of(seconds, grace), torch.Generator().manual_seed(0), 0
    try:
        while True:
            base = _drawn(head, 1, certificate.patches, generator)[0]
            check_domain(head, base[None])
            if given is not None and (rounds % 2 == 0 or _bounds_all_patches(head, certificate)):
                base = given
            if base is given and not rounds:
                yield base
            search = _Search(head, certificate, base, base is given, generator, clock, goal)
            tried = search.rivals() if rivals is None else rivals[: _RIVALS << rounds]
            for rival in tried if goal is None else [goal]:
                yield from search.attempts(rival, rounds)
                if clock.is_over:
                    return
            rounds += 1
    except TimeIsUpError:
        return


def _drawn(head: Head, images: int, patches: int, generator: torch.Generator) -> Tensor:
    """(N, L, D) random latents of the domain: mixtures of two prototypes with noise, or logits of a few units."""
    shape = (images, patches)
    if head.prototypes is None:
        return into_domain(head, 3 * torch.randn(*shape, head.depth, generator=generator, dtype=torch.float64))
    points = head.prototypes.to(torch.float64)
    first, second = (points[torch.randint(head.size, shape, generator=generator)] for _ in range(2))
    share = torch.rand(*shape, 1, generator=generator, dtype=torch.float64)
    noise = torch.randn(*shape, head.depth, generator=generator, dtype=torch.float64)
    spread = (points - points.mean(0)).square().mean().sqrt() + 1e-6
    return into_domain(head, share * first + (1 - share) * second + spread * noise * torch.rand(1, generator=generator))


class _Search:
    """The search from one base image (L, D). Only patches that are neither pinned nor `held` move.

    Args:
        given: whether the statements are about the base.
        goal: the class that shall be ahead of all others, or None: a rival ahead of the predicted class is enough.

    Attributes:
        demands: what images that resemble the base have to satisfy.
        reach: (L, P) upper bounds of similarities under the statements; minus infinity where pooling ignores a pair.
        activations: (P,) of the base.
        held: (L,) patches that show what statements demand of activations; none unless `whole`.
        whole: whether statements about activations bound every patch.
    """

    def __init__(
        self,
        head: Head,
        certificate: Certificate,
        base: Tensor,
        given: bool,
        generator: torch.Generator,
        clock: Clock,
        goal: int | None = None,
    ) -> None:
        self.head, self.certificate, self.base, self.goal = head, certificate, base, goal
        self.generator, self.clock = generator, clock
        evaluated = evaluate(head, base[None])
        self.activations = evaluated.activations[0]
        hidden = head.pooling.hidden(len(base), head.size)
        reach = activation(head, _reachable(head, certificate, clock)).upper
        self.reach = reach if hidden is None else reach.masked_fill(hidden, -torch.inf)
        self.demands = demands_of(head, certificate, base, given, clock)
        self.held, self.whole = torch.zeros(len(base), dtype=torch.bool), _bounds_all_patches(head, certificate)
        if self.whole:
            similar = activation(head, Enclosure.exact(evaluated.observables[0])).upper
            similar = similar if hidden is None else similar.masked_fill(hidden, -torch.inf)
            bounds = (
                each for statement in certificate.statements for each in activations_bounded(statement, head.size)
            )
            shown = {prototype for prototype, lower, _ in bounds if lower > -torch.inf}
            self.held[similar[:, sorted(shown)].argmax(0)] = True

    def rivals(self) -> list[int]:
        """The rivals, the one with the highest logit at the base first."""
        logits = evaluate(self.head, self.base[None]).logits[0]
        return [c for c in logits.argsort(descending=True).tolist() if c != self.certificate.predicted]

    def attempts(self, rival: int, rounds: int) -> Iterator[Tensor]:
        """Latents that comply and may be classified as the rival."""
        starts, size = self._starts(rival, rounds), self.base.numel() + self.reach.numel()
        for number in count():
            batch = list(islice(starts, max(1, min(_IMAGES, TOGETHER // size))))
            if not batch or (number and self.clock.is_over):
                return
            images = torch.stack(batch)
            if rounds or self.whole:  # noise on the patches that may change
                noise = torch.randn(images.shape, generator=self.generator, dtype=torch.float64)
                spread = 0.3 if self.head.prototypes is None else 0.05 * float(self.head.prototypes.abs().mean())
                kept = (self.demands.pinned | self.held)[:, None]
                images = torch.where(kept, images, into_domain(self.head, images + spread * noise))
            images, values = self._ascended(rival, self.demands.comply(images, _SETTLING), _ASCENTS[min(rounds, 1)])
            for index in values.argsort(descending=True).tolist():
                image = self.demands.comply(images[index : index + 1], _SETTLING)
                if float(values[index]) < 0 or float(self.demands.violation(image)) > _FEASIBLE:
                    continue
                restored = image[0] if self.goal is None else self._restored(rival, image[0])
                repaired = repair(self.demands, restored, np.random.default_rng(rounds))
                if repaired is not None:
                    yield repaired

    def _restored(self, rival: int, image: Tensor) -> Tensor:
        """An image (L, D) with as many patches as those of the base as leave the rival ahead; in ever smaller parts."""
        order = (image - self.base).norm(dim=1).argsort().tolist()
        part = len(order)
        while part:
            for start in range(0, len(order), part):
                self.clock.check()
                tried = image.clone()
                tried[order[start : start + part]] = self.base[order[start : start + part]]
                logits = evaluate_observed(self.head, _observables(self.head, tried[None])).logits
                ahead = float(self._lead(rival, logits)[0]) > _AHEAD * (1 + float(logits.abs().amax()))
                if ahead and float(self.demands.violation(tried[None])) <= _FEASIBLE:
                    image = tried
            part //= 2
        return image

    def _starts(self, rival: int, rounds: int) -> Iterator[Tensor]:
        """(L, D) each: the base with more and more of its patches moved to where they help the rival most."""
        patches, count = len(self.base), self.head.size
        weight, predicted = self.head.weight.to(torch.float64), self.certificate.predicted
        others = [predicted] if self.goal is None else [c for c in range(self.head.classes) if c != rival]
        # (P,) what the rival gains from a unit of each activation; a goal, over the class that gains most.
        worth = torch.stack([self.head.readout.pull(self.activations, weight, rival, c) for c in others]).amin(0)
        chance = 1.0 if rounds == 0 else 0.5 + torch.rand(patches, count, generator=self.generator, dtype=torch.float64)
        gain = worth.clamp(min=0) * (self.reach - self.activations).clamp(min=0) * chance
        gain[self.demands.pinned | self.held] = 0
        targets: list[tuple[int, int]] = []  # of patches and prototypes, each once, the greatest gain first
        while len(targets) < min(*gain.shape, _MOST_TARGETS):
            patch, prototype = divmod(int(gain.argmax()), gain.shape[1])
            if not float(gain[patch, prototype]) > 0:
                break
            targets.append((patch, prototype))
            gain[patch], gain[:, prototype] = 0, 0
        loose = torch.tensor([not asked for asked in self.demands.exact]).nonzero().flatten()
        sizes = {0, 1, 2, 4, 8, len(targets) // 2, len(targets)}
        if self.whole:
            sizes = {len(targets), len(targets) // 4} if rounds else {len(targets)}
        for size in sorted((size for size in sizes if size <= len(targets)), reverse=True):
            for spread in (False, True) if len(loose) else (False,):
                self.clock.check()
                image = self.base.clone()
                if spread:
                    drawn = _drawn(self.head, 1, patches, self.generator)[0]
                    shown = [self._most_similar(prototype) for _, prototype in targets[:size]]
                    # A copy of a patch that shows a prototype changes no maximum.
                    image[loose] = torch.stack(shown)[loose % len(shown)] if shown else drawn[loose]
                for patch, prototype in targets[:size]:
                    image[patch] = self._most_similar(prototype)
                yield image

    def _most_similar(self, prototype: int) -> Tensor:
        """The latent (D,) of the domain that is most similar to a prototype."""
        if self.head.prototypes is None:
            chosen = self.base.new_zeros(self.head.size)
            chosen[prototype] = 15.0
            return into_domain(self.head, chosen)
        return into_domain(self.head, self.head.prototypes[prototype].to(torch.float64))

    def _lead(self, rival: int, logits: Tensor) -> Tensor:
        """(N,) how far a rival is ahead of the predicted class, or a goal of all other classes; from logits (N, C)."""
        if self.goal is None:
            return logits[:, rival] - logits[:, self.certificate.predicted]
        others = [c for c in range(logits.shape[1]) if c != rival]
        lead: Tensor = logits[:, rival] - logits[:, others].amax(1)
        return lead

    def _ascended(self, rival: int, images: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Images (N, L, D) that comply or nearly do, where the rival has a greater lead, and that lead (N,): Adam's
        steps on the lead less a penalty.

        The penalty is the sum over all demands of the squared distance by which an observable misses its interval, and
        its weight grows from step to step. Patches that are pinned stay as they are.
        """
        demands, head = self.demands, self.head
        size = 1.0 if head.prototypes is None else float(head.prototypes.abs().mean()) + 1e-6
        lower, upper = (_length(head, end)[None] for end in (demands.lower, demands.upper))
        index = demands.index[None].expand(len(images), -1, -1)
        first, second = torch.zeros_like(images), torch.zeros_like(images)
        images = images.clone()
        for step in range(steps):
            self.clock.check()
            with torch.enable_grad():
                images.requires_grad_()
                observed = _observables(head, images)
                logits = evaluate_observed(head, observed).logits
                scale = 1 + logits.detach().abs().amax(1)
                mine = _length(head, observed.gather(2, index))
                missing = ((lower - mine).clamp(min=0).square() + (mine - upper).clamp(min=0).square()).sum((1, 2))
                weight = _LIGHT * (_HEAVY / _LIGHT) ** (step / steps) / size**2
                loss = weight * missing - (self._lead(rival, logits) / scale).clamp(max=_ENOUGH)
                slope = torch.autograd.grad(loss.sum(), images)[0].nan_to_num(0.0, 0.0, 0.0)
            images = images.detach()
            slope[:, demands.pinned] = 0
            first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope.square()
            move = first / (1 - 0.9 ** (step + 1)) / ((second / (1 - 0.99 ** (step + 1))).sqrt() + 1e-12)
            kept = images[:, demands.pinned]
            images = into_domain(head, images - _RATE * size * (1 - step / steps) * move)
            images[:, demands.pinned] = kept
        images = demands.comply(images, _SETTLING)
        return images, self._lead(rival, evaluate_observed(head, observables(head, images)).logits)


def _bounds_all_patches(head: Head, certificate: Certificate) -> bool:
    """Whether statements about activations bound every patch, where patches can be moved one by one to comply."""
    if head.prototypes is None or head.pooling.needs_all_patches:
        return False
    return not all(isinstance(each, PatchStatement) for each in certificate.statements)


def _reachable(head: Head, certificate: Certificate, clock: Clock) -> Enclosure:
    """(L, P) bounds of the observables, given the statements about patches, where these are not too many to be of use.

    They only order what is tried.
    """
    patches = certificate.patches
    by_patch: dict[int, list[PatchStatement]] = {}
    for statement in certificate.statements:
        if isinstance(statement, PatchStatement):
            by_patch.setdefault(statement.patch, []).append(statement)
    domain = domain_range(head)
    ranges = Enclosure(*(end.repeat(patches, 1) for end in (domain.lower, domain.upper)))
    own = max(map(len, by_patch.values()), default=0)
    together = len(by_patch) * (head.size + 8 * own * own)  # so many tables of all pairs live at once
    if not by_patch or max(head.points.numel() and head.size * head.size, together) > 8 * TOGETHER:
        return ranges
    paradigm: Any = Projection(head) if head.geometry.has_prototypes else Simplex(head)
    # The domain's ends stand for those that are not stated.
    lower, upper = ranges.lower.clone(), ranges.upper.clone()
    for patch, of_patch in by_patch.items():
        for each in of_patch:
            lower[patch, each.prototype] = max(float(lower[patch, each.prototype]), each.lower)
            upper[patch, each.prototype] = min(float(upper[patch, each.prototype]), each.upper)
    within = Enclosure(torch.minimum(lower, upper), upper)
    stated = [[each.prototype for each in by_patch.get(patch, ())] for patch in range(patches)]
    clock.check()
    known: Enclosure = paradigm.ranges(stated, within)
    return known


def _observables(head: Head, images: Tensor) -> Tensor:
    """(N, L, P), fast: squared distances come from inner products, which is inexact near a prototype."""
    if not head.geometry.is_distance:
        return observables(head, images)
    points = head.points.to(images)
    inner = images @ points.T
    squared: Tensor = images.square().sum(2, keepdim=True) - 2 * inner + points.square().sum(1)
    return squared.clamp(min=0)


def _length(head: Head, observed: Tensor) -> Tensor:
    """Observables on the scale of latents: distances in place of their squares."""
    return observed.clamp(min=1e-12).sqrt() if head.geometry.is_distance else observed
