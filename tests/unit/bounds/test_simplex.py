"""Masses: what stated ones leave, rounded outward; assignment bounds are below the truth for any prices."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import pytest
import torch
from support.cases import every
from support.small import small_head

from verale.bounds import Assignment, LinearMargins, Simplex, assignment_margins, observe
from verale.bounds.observables import stated_pairs
from verale.head import Head, Identity, Softmax
from verale.rounding import Enclosure


@pytest.mark.parametrize("size", [2, 5, 40])
@pytest.mark.parametrize("exceeding", [0.0, 2.0**-40])
def test_remainders_are_outside_the_exact_ones_and_never_negative(size, exceeding):
    """No mass of a patch is stated, some, all but one, all; of masses that sum to 1, or that are stated to be more."""
    head = Head(torch.ones(2, size), Softmax(), Identity())
    z = 6 * torch.rand(4, size, generator=torch.Generator().manual_seed(size), dtype=torch.float64)
    observed, paradigm = observe(head, z), Simplex(head)
    stated = Enclosure(observed.lower + exceeding, observed.upper + exceeding)
    counts = [0, size // 2, size - 1, size]
    patch, prototype = stated_pairs([list(range(count)) for count in counts])
    rows = paradigm.from_statements(4, patch, prototype, stated[patch, prototype])
    for row, count in enumerate(counts):
        one = paradigm.ranges([list(range(count))], stated[[row]])
        assert torch.allclose(rows.lower[row], one.lower[0], rtol=0, atol=1e-13)
        assert torch.allclose(rows.upper[row], one.upper[0], rtol=0, atol=1e-13)
        low, high = (1 - sum(map(Fraction, end[row, :count].tolist())) for end in (stated.lower, stated.upper))
        remainder, shortfall = Fraction(float(rows.remainder[row])), Fraction(float(rows.shortfall[row]))
        assert max(low, Fraction(0)) <= remainder <= max(low, Fraction(0)) + Fraction(1e-13)
        assert high - Fraction(1e-13) <= shortfall <= high
        assert (rows.lower[row] >= 0).all() and (rows.upper[row, count:] <= float(remainder)).all()
    if not exceeding:  # the last mass is what the others leave
        assert float(rows.lower[2, -1]) == pytest.approx(float(observed.lower[2, -1]), abs=1e-12)
        assert float(rows.upper[2, -1]) == pytest.approx(float(observed.upper[2, -1]), abs=1e-12)


PATCHES, RIVAL = 4, 1


def stated_masses(seed: int):
    """Masses that are exact and sum to 1, some of them stated; the head, and the paradigm's rows."""
    generator = torch.Generator().manual_seed(seed)
    head = small_head("softmax", seed, prototypes=6)
    parts = torch.multinomial(torch.rand(6, generator=generator), PATCHES * 64, replacement=True, generator=generator)
    masses = torch.stack([p.bincount(minlength=6) for p in parts.view(PATCHES, 64)]).double() / 64
    paradigm = Assignment(head)
    count = int(torch.randint(0, 4, (), generator=generator))
    patch, chosen = stated_pairs(torch.rand(PATCHES, 6, generator=generator).argsort(1)[:, :count].tolist())
    rows = paradigm.from_statements(PATCHES, patch, chosen, Enclosure.exact(masses[patch, chosen]))
    return head, masses, rows, generator


@every("seed", range(30))
def test_any_prices_stay_below_the_truth(seed):
    head, masses, rows, generator = stated_masses(seed)
    margins = LinearMargins.of(head, torch.tensor([0]), 5)
    for scale in (0.0, 0.1, 1.0, 100.0):
        prices = scale * torch.rand(2, 6, generator=generator, dtype=torch.float64)
        bounds = assignment_margins(rows, margins, torch.tensor([0, 0]), torch.tensor([1, 2]), by_prototype(prices))
        for rival, bound in zip((1, 2), bounds.tolist(), strict=True):
            assert Fraction(bound) <= difference(head, masses, rival)
            rule = exact_rule(head, rows, rival, prices[rival - 1].tolist())
            assert Fraction(bound) <= rule
            assert bound == pytest.approx(float(rule), abs=1e-12)


@every("seed", range(5))
def test_images_that_are_bounded_together_are_bounded_as_alone(seed):
    head, _, rows, generator = stated_masses(seed)
    others = [stated_masses(seed + 100 + n)[2] for n in range(3)]
    both = type(rows)(*(torch.cat([getattr(each, f.name) for each in (rows, *others)]) for f in fields(rows)))
    prices = by_prototype(torch.rand(8, 6, generator=generator, dtype=torch.float64))
    margins = LinearMargins.of(head, torch.zeros(4, dtype=torch.int64), 5)
    images, rivals = torch.arange(4).repeat(2), torch.tensor([1, 2]).repeat_interleave(4)
    together = assignment_margins(both, margins, images, rivals, prices)
    for at, image in enumerate(images.tolist()):
        one = LinearMargins.of(head, torch.tensor([0]), 5)
        (alone,) = assignment_margins((rows, *others)[image], one, torch.tensor([0]), rivals[at : at + 1], [prices[at]])
        assert float(together[at]) == pytest.approx(float(alone), abs=1e-12)


def by_prototype(prices):
    """Rows of prices (B, P) by prototype."""
    return [dict(enumerate(row)) for row in prices.tolist()]


def difference(head, masses, rival):
    """o_0 - o_rival at the latents themselves."""
    activations = [Fraction(x) for x in masses.amax(0).tolist()]
    total = Fraction(float(head.bias[0])) - Fraction(float(head.bias[rival]))
    for ours, theirs, a in zip(head.weight[0].tolist(), head.weight[rival].tolist(), activations, strict=True):
        total += (Fraction(ours) - Fraction(theirs)) * a
    return total


def exact_rule(head, rows, rival, prices):
    """The rule of certificates/v1.md in rationals, from masses that are exact."""
    stated = rows.stated.tolist()
    lower, upper = rows.lower.tolist(), rows.upper.tolist()
    left = [Fraction(1)] * PATCHES
    for patch, known in enumerate(stated):
        left[patch] -= sum(Fraction(lower[patch][k]) for k, is_stated in enumerate(known) if is_stated)
    total = Fraction(float(head.bias[0])) - Fraction(float(head.bias[rival]))
    gains = []
    for k, (ours, theirs) in enumerate(zip(head.weight[0].tolist(), head.weight[rival].tolist(), strict=True)):
        w = Fraction(theirs) - Fraction(ours)
        if w <= 0:
            total -= w * max(Fraction(row[k]) for row in lower)
            continue
        top = max(Fraction(row[k]) if known[k] else Fraction(0) for row, known in zip(upper, stated, strict=True))
        total -= w * top + Fraction(prices[k])
        gains.append((k, w, top))
    for rest, known in zip(left, stated, strict=True):
        excess = [w * max(0, rest - top) - Fraction(prices[k]) for k, w, top in gains if not known[k]]
        total -= max([Fraction(0), *excess])
    return total
