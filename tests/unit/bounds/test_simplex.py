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


def test_the_remainder_is_above_the_exact_one_and_never_negative():
    head = Head(torch.ones(2, 4), Softmax(), Identity())
    paradigm = Simplex(head)
    masses = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.7, 0.3 + 2**-40, 0.0, 0.0]], dtype=torch.float64)
    left = [Fraction(1), Fraction(1)]
    for j in range(3):
        patch, prototype = stated_pairs([list(range(j + 1))] * 2)
        rows = paradigm.from_statements(2, patch, prototype, Enclosure.exact(masses[patch, prototype]))
        left = [rest - Fraction(mass) for rest, mass in zip(left, masses[:, j].tolist(), strict=True)]
        for row, rest in enumerate(left):
            assert Fraction(float(rows.remainder[row])) >= max(rest, Fraction(0))
            assert Fraction(float(rows.shortfall[row])) <= rest
            assert float(rows.remainder[row]) == pytest.approx(max(0.0, float(rest)), abs=1e-15)
        assert (rows.upper[0, j + 1 :] == rows.remainder[0]).all()
    assert (rows.lower[1] >= 0).all()  # one mass is left, and the statements leave less than nothing for it


def test_the_last_mass_is_what_the_others_leave():
    head = Head(torch.ones(2, 3), Softmax(), Identity())
    z = torch.tensor([[1.0, 0.0, 2.0]], dtype=torch.float64)
    observed = observe(head, z)
    paradigm = Simplex(head)
    rows = paradigm.ranges([[0, 1]], observed)
    assert float(rows.lower[0, 2]) == pytest.approx(float(observed.lower[0, 2]), rel=1e-12)
    assert float(rows.upper[0, 2]) == pytest.approx(float(observed.upper[0, 2]), rel=1e-12)


@pytest.mark.parametrize("size", [2, 5, 40])
def test_remainders_of_many_statements_are_outside_the_exact_ones(size):
    """No patch stated, some, all masses but one, all; remainders are outside the exact ones."""
    head = Head(torch.ones(2, size), Softmax(), Identity())
    z = 6 * torch.rand(4, size, generator=torch.Generator().manual_seed(size), dtype=torch.float64)
    observed, paradigm = observe(head, z), Simplex(head)
    counts = [0, size // 2, size - 1, size]
    pairs = [(patch, j) for patch, count in enumerate(counts) for j in range(count)]
    patch, prototype = torch.tensor(pairs).T
    rows = paradigm.from_statements(4, patch, prototype, observed[patch, prototype])
    for row, count in enumerate(counts):
        one = paradigm.ranges([list(range(count))], observed[[row]])
        assert torch.allclose(rows.lower[row], one.lower[0], rtol=0, atol=1e-13)
        assert torch.allclose(rows.upper[row], one.upper[0], rtol=0, atol=1e-13)
        low, high = (1 - sum(map(Fraction, end[row, :count].tolist())) for end in (observed.lower, observed.upper))
        assert Fraction(float(rows.remainder[row])) >= max(low, Fraction(0))
        assert Fraction(float(rows.shortfall[row])) <= high


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
