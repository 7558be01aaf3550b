"""An attack: latents that satisfy every statement of a certificate and bring a rival as near as they can.

It knows no rule of a paradigm and imports neither the search nor the checker, but what a head is (`verale.head`). It
optimises in float64, then moves the result onto the statements in balls of 300 bits, where
`support.claims` decides whether it satisfies them and how far the rival is behind.

First every patch gets options: latents that satisfy what is stated of it and have an extreme observable. Patch by patch
the best option is taken, from several starts. From there all patches move together along the projected gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, nan

import flint
import torch
from support.arithmetic import PRECISION, Ball, Vector, ball, balls
from support.claims import Claim, interval
from support.exact import Values
from support.files import Document, activation_statement, given
from torch import Tensor

from verale.head.head import Evaluation, Head, evaluate_observed, observables

__all__ = ["Attempt", "attack"]

_FEASIBLE = 1e-7
_SETTLING, _STEPS, _SWEEPS, _RESTARTS, _DECIDED = 25, 40, 3, 6, 3
_FAR = 1e5
_REACHES, _CLIMBERS, _NEAR = (1.0, 0.3, 0.03), 8, 1e-5
"""The climb begins again from so many best images, with shorter steps, until the slack is as small as the last."""

_NARROW = 1e-9
"""Intervals narrower than this, relative to their size, are met in their middle."""

_Worth = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Attempt:
    """The best that the attack found against one margin.

    Attributes:
        rival: the class.
        gap: the least difference of logits among latents that certainly satisfy every statement, a ball.
        margin: the claimed one.
        start: the difference of logits at the certificate's image.
    """

    rival: int
    gap: Ball
    margin: Ball
    start: Ball

    @property
    def slack(self) -> float:
        """(gap - margin) / (start - margin); less than 0 refutes. NaN where the image itself attains the margin."""
        return nan if self.attained else float((self.gap - self.margin) / (self.start - self.margin))

    @property
    def attained(self) -> bool:
        """Whether the image attains the margin, but for rounding it to binary32."""
        return not bool(self.start - self.margin > ball(2) ** -20 * abs(self.start))

    def refutes(self, margin: Fraction | None = None) -> bool:
        """Whether the gap is certainly below a margin, the claimed one if none is given."""
        return bool(self.gap < (self.margin if margin is None else ball(margin)))


def attack(certificate: bytes, head: bytes, latents: bytes, seed: int = 0) -> list[Attempt]:
    """What the attack finds against each margin of a certificate that names an image."""
    with flint.ctx.workprec(PRECISION):
        return [*_attempts(Claim.read(certificate, head, latents), seed)]


def _attempts(claim: Claim, seed: int) -> Iterator[Attempt]:
    own = balls(given(claim.image))
    start = _logits(claim, own)
    search = _Search(claim, seed)
    for rival, margin in enumerate(claim.margins):
        if margin is None:
            continue
        begin = start[claim.predicted] - start[rival]
        gap = begin
        if Attempt(rival, gap, margin, begin).attained:
            yield Attempt(rival, gap, margin, begin)
            continue
        for image in search.candidates(rival):
            moved = search.complying(image)
            if moved is not None:
                logits = _logits(claim, moved)
                found = logits[claim.predicted] - logits[rival]
                gap = found if found < gap else gap
        yield Attempt(rival, gap, margin, begin)


def _logits(claim: Claim, image: list[Vector]) -> list[Ball]:
    return claim.head.at(image).logits


def _of_observed(claim: Claim, statement: Document) -> list[Document]:
    """A statement as it bounds observables or activations: of a sum, for each rival that one other prototype gives
    something, that one's activation. A sum of more is not searched for, but what breaks it satisfies no claim."""
    if "rivals" not in statement:
        return [statement]
    own, bounds = claim.head.weight[claim.predicted], []
    for rival in range(len(claim.head.weight)) if statement["rivals"] is None else statement["rivals"]:
        row = claim.head.weight[rival]
        gains = {j: row[j] - own[j] for j in range(claim.head.count) if row[j] != own[j]}
        others = [j for j in gains if any(each[j] > own[j] for each in claim.head.weight)]
        if len(others) == 1:
            end, above = float.fromhex(statement["upper"]) / gains[others[0]], gains[others[0]] > 0
            bounds.append(activation_statement(others[0], *((None, end) if above else (end, None))))
    return bounds


def _sizes(low: Tensor, high: Tensor) -> Tensor:
    """How large the ends of intervals are, at least 0.001: violations are relative to this."""
    return low.abs().nan_to_num(posinf=0.0).maximum(high.abs().nan_to_num(posinf=0.0)) + 1e-3


def _inside(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """The middles of narrow intervals, twice; the ends of wide ones a little inside: where latents can only just reach
    an end, they cannot be moved onto it."""
    narrow = high - low <= _NARROW * (1e-3 + low.abs().nan_to_num(posinf=0.0))
    by = 2.0**-20 * (high - low).minimum(_sizes(low, high))
    middle = (low + high) / 2
    return torch.where(narrow, middle, low + by), torch.where(narrow, middle, high - by)


def _solved(rows: Tensor, lacking: Tensor) -> Tensor:
    """(B, K, 1) x with rows rows^T x = lacking, on the range of the rows (B, K, n), which have length 1 or 0."""
    gram = rows @ rows.mT
    eye = torch.eye(gram.shape[-1], dtype=torch.float64)
    found: Tensor = torch.linalg.solve(gram + 1e-13 * eye, lacking[..., None])
    return found


def _observed(head: Head, images: Tensor) -> Tensor:
    """The observables (B, L, P) of images (B, L, D): of all patches as those of one image, which takes a tenth."""
    return observables(head, images.flatten(0, 1)[None]).reshape(*images.shape[:2], -1)


def _evaluated(head: Head, images: Tensor) -> Evaluation:
    return evaluate_observed(head, _observed(head, images))


class _Search:
    """The search for one claim: floats until `complying`."""

    def __init__(self, claim: Claim, seed: int) -> None:
        self._claim = claim
        self._statements = [each for statement in claim.statements for each in _of_observed(claim, statement)]
        self._head = claim.head.torch
        self._points = None if self._head.prototypes is None else self._head.prototypes.double()
        self._own = torch.tensor(given(claim.image), dtype=torch.float64)
        self._generator = torch.Generator().manual_seed(seed)
        self._patches, self._depth = self._own.shape
        self._count = claim.head.count
        self._of_patches, self._of_activations = self._intervals()
        self._options: list[Tensor] | None = None
        points = self._points
        self._size = float(self._own.abs().max() if points is None else max(points.abs().max(), self._own.abs().max()))
        self._size = 4.0 if points is None else self._size or 1.0

    def _intervals(self) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """The ends for the observables (L, P), and for the activations (P); infinite where nothing is stated."""
        ends = [torch.full((self._patches + 1, self._count), end, dtype=torch.float64) for end in (-inf, inf)]
        for statement in self._statements:
            low, high = interval(statement)
            if "except" in statement:
                about = [j for j in range(self._count) if j not in statement["except"]]
            else:
                about = [statement["prototype"]]
            row = statement.get("patch", -1)
            ends[0][row, about], ends[1][row, about] = (
                ends[0][row, about].clamp(min=low),
                ends[1][row, about].clamp(max=high),
            )
        lower, upper = ends
        return (lower[:-1], upper[:-1]), (lower[-1], upper[-1])

    # Onto the statements, in floats.

    def _into_domain(self, z: Tensor) -> Tensor:
        domain, radius = self._head.domain, self._head.geometry.radius
        z = z.nan_to_num(0.0, 1e150, -1e150)
        if domain.lower is not None or domain.upper is not None:
            z = z.clamp(domain.lower, domain.upper)
        if radius is not None:
            length = z.norm(dim=-1, keepdim=True)
            z = torch.where(length > radius, z * (radius * (1 - 1e-12) / length), z)
        return z

    def _stated(self, images: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of the K bounded observables, and activations if `low` has these too: how far each is outside, relative to
        its size (B, K); how far it has to go along its gradient (B, K); that gradient (B, K, n), of length 1 or 0."""
        bounded = (low > -inf) | (high < inf)
        low, high = low[bounded], high[bounded]
        values, rows = self._gradients(images, bounded)
        inner_low, inner_high = _inside(low, high)
        outside = values - values.clamp(low, high)
        lacking = values - values.clamp(inner_low, inner_high)
        length = rows.norm(dim=-1).clamp(min=1e-300)
        active = ((lacking != 0) | (inner_low == inner_high)) & (length > 1e-200)  # no step moves a flat value
        return outside / _sizes(low, high), lacking / length * active, rows / length[..., None] * active[..., None]

    def _gradients(self, images: Tensor, bounded: Tensor) -> tuple[Tensor, Tensor]:
        """Some of the observables and activations (B, K), in a row, and their gradients (B, K, n)."""
        free = images.detach().requires_grad_()
        observed = _observed(self._head, free)
        batch, count = len(images), observed[0].numel()
        values, needed = observed.flatten(1), bounded[:count].reshape(observed.shape[1:])
        rows = torch.zeros(batch, len(bounded), *images.shape[1:], dtype=torch.float64)
        for j in needed.any(0).nonzero().flatten().tolist():
            (each,) = torch.autograd.grad(observed[..., j].sum(), free, retain_graph=True)
            for patch in needed[:, j].nonzero().flatten().tolist():
                rows[:, patch * self._count + j, patch] = each[:, patch]
        if len(bounded) > count:
            activations = evaluate_observed(self._head, observed).activations
            values = torch.cat([values, activations], 1)
            for j in bounded[count:].nonzero().flatten().tolist():
                (rows[:, count + j],) = torch.autograd.grad(activations[:, j].sum(), free, retain_graph=True)
        return values.detach()[:, bounded], rows.flatten(2)[:, bounded].nan_to_num(0.0, 0.0, 0.0)

    def _settled(self, images: Tensor, low: Tensor, high: Tensor, steps: int = _SETTLING) -> Tensor:
        """Images moved towards the statements by Newton's steps of the least length."""
        images = self._into_domain(images)
        for _ in range(steps):
            _, lacking, rows = self._stated(images, low, high)
            images = self._into_domain(images - (rows.mT @ _solved(rows, lacking)).reshape(images.shape))
        return images

    def _satisfying(self, images: Tensor, low: Tensor, high: Tensor) -> Tensor:
        """(B) which images nearly satisfy the statements."""
        return (self._stated(images, low, high)[0].abs() < _FEASIBLE).all(-1)

    def _climbed(
        self, images: Tensor, low: Tensor, high: Tensor, worth: _Worth, reach: float = 1.0
    ) -> tuple[Tensor, Tensor]:
        """The best image (B, L, D) on each path along the gradient of `worth` (B), and its worth, -inf for none."""
        images = self._settled(images, low, high)
        best, most = images.clone(), torch.full((len(images),), -inf, dtype=torch.float64)
        for step in range(_STEPS + 1):
            free = images.detach().requires_grad_()
            value = worth(free)
            slope = torch.autograd.grad(value.sum(), free)[0].nan_to_num(0.0, 0.0, 0.0).flatten(1)
            outside, _, rows = self._stated(images, low, high)
            better = (outside.abs() < _FEASIBLE).all(-1) & (value.detach() > most)
            best[better], most[better] = images[better], value.detach()[better]
            if step == _STEPS:
                break
            slope = slope - (rows.mT @ _solved(rows, (rows @ slope[..., None])[..., 0])).flatten(1)
            slope = slope.reshape(images.shape)
            size = 3.0 if self._points is None else images.norm(dim=-1, keepdim=True).clamp(min=self._size)
            rate = 0.5 * 0.72**step * reach * size
            away = slope / slope.flatten(1).norm(dim=-1)[:, None, None].clamp(min=1e-300)
            images = self._settled(images + rate * away, low, high, 2)
        return best, most

    # Patch by patch.

    def _starts(self, count: int) -> Tensor:
        """Latents (N, D): prototypes and their opposites, near and far, corners of the domain, and random ones."""
        points = self._points
        noise = torch.randn(count, self._depth, generator=self._generator, dtype=torch.float64)
        if points is None:
            return self._into_domain(torch.cat([30 * torch.eye(self._depth, dtype=torch.float64), 3 * noise]))
        chosen = torch.cat([points, -points, _FAR * points, -_FAR * points, self._size * noise, _FAR * noise[:2]])
        corners = torch.stack([noise[0] * 0 - 1e6 * self._size, noise[0] * 0 + 1e6 * self._size])
        return self._into_domain(torch.cat([chosen, corners, self._own]))

    def _heirs(self, low: Tensor, high: Tensor) -> Tensor:
        """Softmax latents that have the stated masses, with all that is left on one channel, or on all alike."""
        stated = low > -inf
        free, tiny, shares = (~stated).double(), 1e-13, []
        raised = torch.eye(len(low), dtype=torch.float64)[stated]
        for at in (torch.zeros_like(low), torch.full_like(low, 0.5), torch.ones_like(low), *raised, *(1 - raised)):
            mass = (low + at.clamp(1e-9, 1 - 1e-9) * (high - low)).masked_fill(~stated, 0.0).clamp(min=0)
            left = (1 - mass.sum()).clamp(min=1e-12)
            shares.append(mass + left * free / free.sum().clamp(min=1))
            for heir in (~stated).nonzero().flatten().tolist():
                share = mass + tiny * free
                share[heir] = left - tiny * (free.sum() - 1)
                shares.append(share)
        masses = torch.stack(shares).clamp(min=1e-300).log()
        upper = self._head.domain.upper
        return masses if upper is None else masses + (upper - masses.amax(-1, keepdim=True))

    def _options_of(self, patch: int) -> Tensor:
        """Latents (N, D) that satisfy the statements about a patch: each observable's extremes, and others."""
        low, high = (end[patch] for end in self._of_patches)
        own = self._own[patch][None]
        if bool((low > -inf).any()) and self._points is None:
            heirs = self._settled(self._heirs(low, high)[:, None], low, high)
            return torch.cat([own, heirs[self._satisfying(heirs, low, high)][:, 0]])
        starts = self._starts(6)
        if not bool((low > -inf).any()):
            own = torch.cat([own, starts])
        turns = min(len(starts), 6)
        picked = torch.randperm(len(starts), generator=self._generator)[:turns]
        begin = torch.cat([self._own[patch][None], starts[picked]])
        aims = [(j, sign) for j in range(self._count) for sign in (1.0, -1.0)]
        which = torch.arange(len(aims)).repeat_interleave(len(begin))
        prototype = torch.tensor([j for j, _ in aims])[which]
        sign = torch.tensor([s for _, s in aims], dtype=torch.float64)[which]

        def worth(images: Tensor) -> Tensor:
            m = _observed(self._head, images)[:, 0]
            return sign * m[torch.arange(len(m)), prototype]

        images, values = self._climbed(begin.repeat(len(aims), 1)[:, None], low, high, worth)
        found = images[values > -inf][:, 0]
        return torch.cat([own, found])

    # Together.

    def _gap(self, images: Tensor, rival: int) -> Tensor:
        logits = _evaluated(self._head, images).logits
        return logits[..., self._claim.predicted] - logits[..., rival]

    def _combined(self, rival: int, start: Tensor) -> Tensor:
        """From an image, patch by patch the option that leaves the least gap."""
        options = given(self._options)
        low, high = self._of_activations
        slack = _FEASIBLE * _sizes(low, high)
        image, least = start.clone(), inf
        for _ in range(_SWEEPS):
            before = least
            for patch in torch.randperm(self._patches, generator=self._generator).tolist():
                images = image.repeat(len(options[patch]), 1, 1)
                images[:, patch] = options[patch]
                activations = _evaluated(self._head, images).activations
                fits = ((activations >= low - slack) & (activations <= high + slack)).all(-1)
                gaps = self._gap(images, rival).masked_fill(~fits, inf)
                if float(gaps.min()) < least:
                    least, image = float(gaps.min()), images[int(gaps.argmin())]
            if least == before:
                break
        return image

    def candidates(self, rival: int) -> list[list[list[float]]]:
        """Images that nearly satisfy all statements, the one with the least gap first."""
        if self._options is None:
            self._options = [self._options_of(patch) for patch in range(self._patches)]
        drawn = [
            torch.stack([each[int(torch.randint(len(each), (), generator=self._generator))] for each in self._options])
            for _ in range(_RESTARTS - 1)
        ]
        combined = torch.stack([self._combined(rival, image) for image in (self._own, *drawn)])
        low, high = (
            torch.cat([each.flatten(), more]) for each, more in zip(self._of_patches, self._of_activations, strict=True)
        )
        begin = torch.cat([combined, self._own[None], torch.stack(drawn)])
        activations = bool((self._of_activations[0] > -inf).any() or (self._of_activations[1] < inf).any())
        if not activations:
            low, high = low[: -self._count], high[: -self._count]
        images, values = begin, torch.full((len(begin),), -inf, dtype=torch.float64)
        margin, own = float(self._claim.margins[rival]), float(self._gap(self._own[None], rival))
        for reach in _REACHES:
            best = images[values.argsort(descending=True, stable=True)[: None if reach == 1 else _CLIMBERS]]
            climbed, most = self._climbed(best, low, high, lambda each: -self._gap(each, rival), reach)
            images, values = torch.cat([images, climbed]), torch.cat([values, most])
            if -float(values.max()) < margin + _NEAR * (own - margin):
                break
        kept = torch.cat([images[values > -inf], combined[self._satisfying(combined, low, high)]])
        gaps = self._gap(kept, rival)
        return [kept[index].tolist() for index in gaps.argsort()[:_DECIDED].tolist() if isfinite(float(gaps[index]))]

    # Onto the statements, in balls.

    def complying(self, image: list[list[float]]) -> list[Vector] | None:
        """An image that certainly satisfies every statement, near the one given; None where none is found."""
        claim = self._claim
        free = self._movable(torch.tensor(image, dtype=torch.float64))
        exact, far = balls(image), self._size + torch.tensor(image).norm()
        for _ in range(12):
            values = claim.head.at(exact)
            try:
                if claim.satisfied(exact, values):
                    return exact
            except ValueError:  # a mass that is too near to a threshold to be compared with it
                return None
            lacking, rows = self._lacking(values, image, free)
            if not len(rows):  # it lies outside the domain, and wide or one-sided statements do not lead back
                return None
            move = (rows.mT @ _solved(rows[None], lacking[None])[0])[:, 0].reshape(self._patches, self._depth)
            if not bool(move.norm() <= far):  # no way back from there
                return None
            exact = [
                [x - ball(float(d)) for x, d in zip(z, step, strict=True)]
                for z, step in zip(exact, move.tolist(), strict=True)
            ]
        return None

    def _movable(self, image: Tensor) -> Tensor:
        """(L, D) 1 where a coordinate lies inside the domain's box, 0 at its ends."""
        free = torch.ones_like(image)
        for end in (self._head.domain.lower, self._head.domain.upper):
            if end is not None:
                free[(image - end).abs() <= 1e-9 * self._size] = 0
        return free

    def _lacking(self, values: Values, image: list[list[float]], free: Tensor) -> tuple[Tensor, Tensor]:
        """How far each narrow or false statement is from its middle (K), and its gradient at the image (K, L * D)."""
        at = torch.tensor(image, dtype=torch.float64)
        lacking, rows = [], []
        for statement in self._statements:
            for j in [k for k in range(self._count) if k not in statement["except"]] if "except" in statement else [-1]:
                low, high = interval(statement)
                prototype, patch = statement.get("prototype", j), statement.get("patch")
                value = ball((values.activations if patch is None else values.observables[patch])[prototype])
                narrow = isfinite(low) and high - low <= _NARROW * (1e-3 + abs(low))
                if not narrow and bool(value >= ball(low)) and bool(value <= ball(high)):
                    continue
                inward = 1e-9 * min(high - low, 1e-3 + abs(float(value.mid())))
                target = ball(low) + ball(inward) if value < ball(low) else ball(high) - ball(inward)
                if narrow:
                    target = ball(low) / 2 + ball(high) / 2
                where = at.clone().requires_grad_()
                at_once = _evaluated(self._head, where[None])
                numbers = at_once.activations[0] if patch is None else at_once.observables[0, patch]
                row = (torch.autograd.grad(numbers[prototype], where)[0].nan_to_num(0.0, 0.0, 0.0) * free).flatten()
                length = float(row.norm()) or 1.0
                rows.append(row / length)
                lacking.append(float((value - target).mid()) / length)
        if not rows:
            return torch.zeros(0), torch.zeros(0)
        return torch.tensor(lacking, dtype=torch.float64), torch.stack(rows)
