"""Triangle: the inequality itself, statement by statement, against exact numbers."""

from __future__ import annotations

import flint
import pytest
import torch
from support.small import metric_head

from verale.bounds import Triangle, observe
from verale.head import Box, Cosine, Euclidean, InnerProduct
from verale.rounding import Enclosure


def exact_ends(geometry, points, j, k, value):
    """The least and the greatest observable of p_k where that of p_j has this value; the centre of the ball is 0."""
    p, q = ([flint.arb(float(x)) for x in points[i]] for i in (j, k))
    inner, own, other = (sum(a * b for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (p, p), (q, q)))
    if isinstance(geometry, Euclidean):
        apart = own + other - 2 * inner
        return value + apart - 2 * (value * apart).sqrt(), value + apart + 2 * (value * apart).sqrt()
    if isinstance(geometry, InnerProduct):  # in the box [-1, 1]^D, and in the ball around it
        middle, reach = value * inner / own, sum(abs(b) for b in q)
        swing = ((len(p) - value**2 / own) * (other - inner**2 / own)).sqrt()
        return max(middle - swing, -reach), min(middle + swing, reach)
    cosine = inner / (own * other).sqrt()
    swing = ((1 - value**2) * (1 - cosine**2)).sqrt()
    return value * cosine - swing, value * cosine + swing


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(0.0), InnerProduct()], ids=lambda each: each.kind)
def test_both_ends_are_those_of_the_inequality_rounded_outward(geometry):
    """In 200 bits; every pair of prototypes, one statement at a time and element by element."""
    generator = torch.Generator().manual_seed(3)
    points = torch.randn(7, 5, generator=generator)
    domain = Box(-1, 1) if isinstance(geometry, InnerProduct) else Box(None, None)
    head = metric_head(geometry, points, domain=domain)
    latents = 0.3 * torch.randn(7, 5, generator=generator, dtype=torch.float64)
    observed, paradigm = observe(head, latents), Triangle(head)
    middle = (observed.lower + observed.upper) / 2
    every = torch.arange(7)
    for j in range(7):
        given = Enclosure.exact(middle[:, j])
        rows = paradigm.alone(torch.full((7,), j), given)
        for k in range(7):
            alone = paradigm.of(torch.full((7,), j), given, torch.full((7,), k))
            assert torch.allclose(alone.lower, rows.lower[:, k], rtol=0, atol=1e-12)
            assert torch.allclose(alone.upper, rows.upper[:, k], rtol=0, atol=1e-12)
            for row in every.tolist() if k != j else ():
                with flint.ctx.workprec(200):
                    least, most = exact_ends(geometry, points, j, k, flint.arb(float(middle[row, j])))
                    for ends in (rows[row, k], alone[row]):
                        assert flint.arb(float(ends.lower)) <= least and most <= flint.arb(float(ends.upper))
                        assert float(ends.lower) == pytest.approx(float(least), abs=1e-6)
                        assert float(ends.upper) == pytest.approx(float(most), abs=1e-6)


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(0.0), InnerProduct()], ids=lambda each: each.kind)
@pytest.mark.parametrize("width", [1e-9, 0.1, 10.0])
def test_a_wide_statement_holds_what_any_latent_in_it_has(geometry, width):
    generator = torch.Generator().manual_seed(4)
    domain = Box(-1, 1) if isinstance(geometry, InnerProduct) else Box(None, None)
    head = metric_head(geometry, torch.randn(7, 5, generator=generator), domain=domain)
    observed = observe(head, 2 * torch.rand(200, 5, generator=generator, dtype=torch.float64) - 1)
    paradigm = Triangle(head)
    for j in range(7):
        share = torch.rand(200, generator=generator, dtype=torch.float64)
        low, high = observed.lower[:, j] - width * share, observed.upper[:, j] + width * (1 - share)
        low = low.clamp(min=0) if isinstance(geometry, Euclidean) else low
        rows = paradigm.alone(torch.full((200,), j), Enclosure(low, high))
        assert (rows.lower <= observed.upper).all() and (observed.lower <= rows.upper).all()


def test_both_ends_of_a_wide_distance_bound_others():
    """p_0 and p_1 on a line at 0 and 9; a latent that is 1 or 2 away from p_0 lies between 7 and 11 away from p_1."""
    head = metric_head(Euclidean(), torch.tensor([[0.0, 0.0], [9.0, 0.0]]), domain=Box(None, None))
    rows = Triangle(head).alone(torch.tensor([0]), Enclosure(*torch.tensor([[1.0], [4.0]], dtype=torch.float64)))
    assert rows.lower[0, 1] <= 49 and rows.upper[0, 1] >= 121
    assert rows.lower[0, 1] == pytest.approx(1 + 81 - 36) and rows.upper[0, 1] == pytest.approx(121)


def test_what_has_no_end_says_nothing_of_others():
    head = metric_head(Euclidean(), torch.tensor([[0.0, 0.0], [3.0, 0.0]]), domain=Box(None, None))
    given = Enclosure(torch.tensor([4.0], dtype=torch.float64), torch.tensor([torch.inf], dtype=torch.float64))
    rows = Triangle(head).alone(torch.tensor([0]), given)
    assert rows.lower.tolist() == [[4.0, 0.0]] and rows.upper.tolist() == [[torch.inf, torch.inf]]
