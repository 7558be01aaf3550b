"""One suite that every spatial paradigm passes on every geometry it is defined for. Tolerance zero; exact truth.

A case is a head and latents; statements are the observables of those latents, entered pair by pair; after each, the
true observables must lie within the bounds. Cases include what breaks formulas: duplicate, collinear, zero, huge, tiny
and denormal prototypes, one dimension, one patch, one prototype, more statements than dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import flint
import pytest
import torch
from support.exact import PRECISION, inside, observable
from torch import Tensor

from verale.bounds import Assignment, Hypersphere, Projection, Simplex, SpatialParadigm, Triangle, observe
from verale.errors import UsageError
from verale.head import Box, Cosine, Euclidean, FocalPooling, Head, Identity, InnerProduct, LogRatio, Softmax
from verale.rounding import Enclosure


@dataclass(frozen=True)
class Case:
    name: str
    paradigm: type
    head: Head
    latents: Tensor

    def __str__(self) -> str:
        return f"{self.paradigm.__name__}-{type(self.head.geometry).__name__}-{self.name}"


def metric(geometry: Euclidean | Cosine | InnerProduct, points: Tensor, domain: Box | None = None) -> Head:
    similarity = LogRatio() if isinstance(geometry, Euclidean) else Identity()
    return Head(torch.ones(2, len(points)), geometry, similarity, prototypes=points, domain=domain or Box())


def cases() -> list[Case]:
    generator = torch.Generator().manual_seed(7)

    def rand(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    points = rand(10, 5) + 0.01
    line = points[:1] + torch.arange(10)[:, None] * (points[1:2] - points[:1]) / 8
    clouds: dict[str, tuple[Tensor, Tensor]] = {
        "random": (points, rand(4, 5)),
        "duplicates": (points[[0, 0, 1, 1, 1, 2, 3, 0]], rand(4, 5)),
        "nearly duplicates": (points[:1] + 1e-6 * rand(10, 5), rand(4, 5)),
        "collinear": (line, rand(4, 5)),
        "latents on prototypes": (points, points[:4].clone()),
        "latents between prototypes": (points, (points[:4] + points[4:8]) / 2),
        "one dimension": (points[:, :1], rand(4, 1)),
        "two dimensions": (points[:, :2], rand(4, 2)),
        "one patch": (points, rand(1, 5)),
        "one prototype": (points[:1], rand(4, 5)),
        "huge": (points * 1e15, rand(4, 5) * 1e15),
        "tiny": (points * 1e-18, rand(4, 5) * 1e-18),
        "denormal": (points * 1e-40, rand(4, 5) * 1e-40),
        "huge and tiny": (points * torch.logspace(-20, 15, 10)[:, None], rand(4, 5)),
        "negative": (points - 0.5, rand(4, 5) - 0.5),
        "far from the origin": (points + 1000, rand(4, 5) + 1000),
    }
    found = []
    for name, (prototypes, latents) in clouds.items():
        for geometry in (Euclidean(), Cosine(1e-8), Cosine(0.0), Cosine(1e-4, rooted=True)):
            head = metric(geometry, prototypes)
            found += [
                Case(f"{name}-{geometry}", paradigm, head, latents) for paradigm in (Projection, Triangle, Hypersphere)
            ]
        low, high = float(latents.min()), float(latents.max())
        longest = float(latents.double().norm(dim=1).max()) * 1.0001
        for geometry, domain in (
            (InnerProduct(), Box(low, high + (low == high))),
            (InnerProduct(longest), Box()),
            (InnerProduct(longest), Box(min(low, 0.0), None)),
            (InnerProduct(longest), Box(low - longest, high + longest)),
        ):
            head = metric(geometry, prototypes, domain)
            found += [
                Case(f"{name}-{geometry}-{domain}", paradigm, head, latents) for paradigm in (Projection, Triangle)
            ]
    one_sided = metric(Cosine(1e-8), points - 0.5, Box(0, None))
    found += [
        Case("zero prototype", Hypersphere, metric(Euclidean(), torch.cat([points, torch.zeros(1, 5)])), rand(4, 5)),
        Case("box", Hypersphere, metric(Euclidean(), points, Box(0, 1)), rand(4, 5)),
        Case("orthant", Hypersphere, one_sided, rand(4, 5)),
        Case("zero latent", Hypersphere, one_sided, torch.zeros(1, 5)),
        Case("zero prototype", Projection, metric(Euclidean(), torch.cat([points, torch.zeros(1, 5)])), rand(4, 5)),
        Case("box", Projection, metric(Euclidean(), points, Box(0, 1)), rand(4, 5)),
        Case("half box", Projection, metric(Euclidean(), points - 0.5, Box(0, None)), rand(4, 5)),
        Case("orthant", Projection, metric(Cosine(1e-8), points - 0.5, Box(0, None)), rand(4, 5)),
        Case("zero latent", Projection, metric(Cosine(1e-8), points - 0.5, Box(0, None)), torch.zeros(1, 5)),
    ]
    for name, latents in {
        "random": rand(4, 6) * 5,
        "peaked": torch.eye(4, 6) * 60,
        "flat": torch.zeros(4, 6),
        "one channel": rand(4, 1),
        "two channels": rand(4, 2) * 9,
        "huge": rand(4, 6) * 1e30,
    }.items():
        head = Head(torch.ones(2, latents.shape[1]), Softmax(), Identity())
        found += [Case(name, paradigm, head, latents) for paradigm in (Simplex, Assignment)]
    return found


def entered(case: Case, seed: int) -> list[tuple[SpatialParadigm, object, Tensor]]:
    """The paradigm's rows after each of several statements a patch, in a random order without repetition."""
    generator = torch.Generator().manual_seed(seed)
    paradigm = case.paradigm(case.head)
    patches = case.latents.to(torch.float64)
    observed = observe(case.head, patches)
    order = torch.stack([torch.randperm(case.head.size, generator=generator) for _ in patches])
    rows = paradigm.start(len(patches))
    states = [rows]
    each = torch.arange(len(patches))
    for step in range(min(case.head.size, 7)):
        rows = paradigm.extend(rows, order[:, step], observed[each, order[:, step]])
        states.append(rows)
    return states


@pytest.mark.parametrize("case", cases(), ids=str)
def test_true_observables_lie_within_the_bounds(case):
    with flint.ctx.workprec(PRECISION):
        patches = case.latents.to(torch.float64).tolist()
        truth = [[observable(case.head, z, j) for j in range(case.head.size)] for z in patches]
        observed = observe(case.head, case.latents.to(torch.float64))
        states = [observed] + [rows.range for seed in range(3) for rows in entered(case, seed)]
        for bounds in states:
            for row, lowers, uppers in zip(truth, bounds.lower.tolist(), bounds.upper.tolist(), strict=True):
                for value, lower, upper in zip(row, lowers, uppers, strict=True):
                    assert inside(value, lower, upper)


@pytest.mark.parametrize("case", cases(), ids=str)
def test_a_statement_entered_last_never_loosens_a_bound(case):
    states = entered(case, seed=3)
    for before, after in pairwise(states):
        assert (after.lower >= before.lower).all()
        assert (after.upper <= before.upper).all()


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(0.0), InnerProduct(1.5)], ids=str)
@pytest.mark.parametrize("stated", [1, 2, 4])
def test_projection_is_attained(geometry, stated):
    """A latent that satisfies the statements comes within 1e-6 of either end: the bounds are the exact range."""
    generator = torch.Generator().manual_seed(stated)
    points = torch.rand(8, 7, generator=generator)
    head = metric(geometry, points)
    z = torch.rand(1, 7, generator=generator, dtype=torch.float64)
    if isinstance(geometry, InnerProduct):
        z *= 1.5 * (1 - 1e-14) / z.norm()
    observed = observe(head, z)
    paradigm = Projection(head)
    rows = paradigm.start(1)
    for j in range(stated):
        rows = paradigm.extend(rows, torch.tensor([j]), observed[[0], [j]])
    x = points.double()
    if isinstance(geometry, Cosine):
        x, z = x / x.norm(dim=1, keepdim=True), z / z.norm()
    origin = x[0] if isinstance(geometry, Euclidean) else torch.zeros(7, dtype=torch.float64)
    spanned = x[1:stated] - origin if isinstance(geometry, Euclidean) else x[:stated]
    basis = torch.linalg.qr(spanned.T).Q if len(spanned) else torch.zeros(7, 0, dtype=torch.float64)
    hull = origin + basis @ (basis.T @ (z[0] - origin))
    radius = (z[0] - hull).norm()
    for k in range(stated, 8):
        away = x[k] - origin - basis @ (basis.T @ (x[k] - origin))
        found = []
        for sign in (-1, 1):
            extreme = hull + sign * radius * away / away.norm()
            for j in range(stated):
                assert float((extreme - x[j]).norm()) == pytest.approx(float((z[0] - x[j]).norm()), abs=1e-12)
            found.append(float((extreme - x[k]).square().sum() if isinstance(geometry, Euclidean) else extreme @ x[k]))
        assert sorted(found) == pytest.approx([float(rows.lower[0, k]), float(rows.upper[0, k])], abs=1e-6)


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(1e-8)], ids=str)
def test_projection_is_never_looser_than_triangle(geometry):
    """Up to rounding, which projection has more of."""
    generator = torch.Generator().manual_seed(4)
    head = metric(geometry, torch.rand(12, 6, generator=generator))
    observed = observe(head, torch.rand(5, 6, generator=generator, dtype=torch.float64))
    wide, tight = Triangle(head), Projection(head)
    loose, exact = wide.start(5), tight.start(5)
    for _ in range(5):
        j = torch.randperm(12, generator=generator)[:5]
        said = observed[torch.arange(5), j]
        loose, exact = wide.extend(loose, j, said), tight.extend(exact, j, said)
        assert (exact.lower >= loose.lower - 1e-9).all() and (exact.upper <= loose.upper + 1e-9).all()
    assert float((exact.upper - exact.lower).mean()) < 0.9 * float((loose.upper - loose.lower).mean())


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(1e-8)], ids=str)
def test_projection_is_never_looser_than_hypersphere(geometry):
    """Up to rounding, which projection has more of: it takes roots of small differences."""
    generator = torch.Generator().manual_seed(5)
    head = metric(geometry, torch.rand(12, 6, generator=generator))
    observed = observe(head, torch.rand(5, 6, generator=generator, dtype=torch.float64))
    wide, tight = Hypersphere(head), Projection(head)
    loose, exact = wide.start(5), tight.start(5)
    order = torch.stack([torch.randperm(12, generator=generator) for _ in range(5)])
    for j in order[:, :5].T:
        said = observed[torch.arange(5), j]
        loose, exact = wide.extend(loose, j, said), tight.extend(exact, j, said)
        assert (exact.lower >= loose.lower - 1e-7).all() and (exact.upper <= loose.upper + 1e-7).all()
    assert float((exact.upper - exact.lower).mean()) < 0.9 * float((loose.upper - loose.lower).mean())


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(1e-8)], ids=str)
def test_the_first_sphere_is_the_triangle_inequality_and_two_say_more_than_each(geometry):
    generator = torch.Generator().manual_seed(6)
    head = metric(geometry, torch.rand(12, 6, generator=generator))
    z = torch.rand(5, 6, generator=generator, dtype=torch.float64)
    observed, first, second = observe(head, z), torch.zeros(5, dtype=torch.int64), torch.ones(5, dtype=torch.int64)
    sphere, triangle = Hypersphere(head), Triangle(head)
    one, same = (p.extend(p.start(5), first, observed[:, 0]) for p in (sphere, triangle))
    torch.testing.assert_close(one.lower, same.lower, rtol=0, atol=1e-6)
    torch.testing.assert_close(one.upper, same.upper, rtol=0, atol=1e-6)
    two, both = sphere.extend(one, second, observed[:, 1]), triangle.extend(same, second, observed[:, 1])
    assert float((two.upper - two.lower).mean()) < float((both.upper - both.lower).mean())


@pytest.mark.parametrize("geometry", [Euclidean(), Cosine(1e-8)], ids=str)
def test_spheres_depend_on_the_order_and_fewer_statements_can_say_more(geometry):
    generator = torch.Generator().manual_seed(8)
    head = metric(geometry, torch.rand(12, 6, generator=generator))
    observed = observe(head, torch.rand(9, 6, generator=generator, dtype=torch.float64))
    paradigm = Hypersphere(head)
    assert paradigm.ordered and not Projection.ordered and not Triangle.ordered and not Simplex.ordered

    def bounds(*stated: int) -> Tensor:
        rows = paradigm.start(9)
        for j in stated:
            rows = paradigm.extend(rows, torch.full((9,), j), observed[:, j])
        return rows.upper[:, 4:]

    assert (bounds(0, 1, 2) - bounds(2, 1, 0)).abs().max() > 1e-3
    assert (bounds(1, 2, 3) < bounds(0, 1, 2, 3) - 1e-3).any()


def test_a_patch_is_lost_where_float64_cannot_follow():
    """Two statements whose widths leave the foot open; a statement that does not move the centre loses nothing."""
    points = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    head = metric(Euclidean(), points)
    paradigm = Hypersphere(head)

    def enter(rows: object, j: int, value: float) -> object:
        return paradigm.extend(rows, torch.tensor([j]), Enclosure.exact(torch.tensor([value], dtype=torch.float64)))

    once = enter(paradigm.start(1), 0, 0.5)
    kept = enter(once, 2, 0.5)
    assert not kept.lost and int(kept.count) == 1 and torch.equal(kept.upper[0, 1], once.upper[0, 1])
    moved = enter(kept, 1, 0.5)
    assert not moved.lost and int(moved.count) == 2 and moved.weights[0, :2].tolist() == [0.5, 0.5]
    # The foot lies between two multiples of 2^-18, and neither is nearer.
    between = enter(kept, 1, 0.5 + 2.0**-18)
    assert between.lost and int(between.count) == 1
    assert torch.equal(between.upper[0, 3], kept.upper[0, 3])
    assert float(between.upper[0, 1]) == 0.5 + 2.0**-18
    again = enter(between, 3, 0.5)
    assert again.lost and int(again.count) == 1 and float(again.upper[0, 3]) == 0.5


def test_a_duplicate_of_a_stated_prototype_is_known():
    """Distance to the hull is 0: no division, and the bound is nearly as sharp as the statement."""
    points = torch.rand(5, 4, generator=torch.Generator().manual_seed(1))
    points[3] = points[0]
    head = metric(Euclidean(), points)
    z = torch.rand(1, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    observed = observe(head, z)
    paradigm = Projection(head)
    rows = paradigm.extend(paradigm.start(1), torch.tensor([0]), observed[[0], [0]])
    assert float(rows.upper[0, 3] - rows.lower[0, 3]) < 1e-5
    rows = paradigm.extend(rows, torch.tensor([3]), observed[[0], [3]])
    assert int(rows.count) == 0


def test_paradigms_refuse_geometries_they_are_not_defined_for():
    softmax = Head(torch.ones(2, 3), Softmax(), Identity())
    with pytest.raises(UsageError, match="simplex"):
        Projection(softmax)
    with pytest.raises(UsageError, match="projection"):
        Simplex(metric(Euclidean(), torch.rand(3, 2)))
    with pytest.raises(UsageError, match="hypersphere"):
        Hypersphere(softmax)
    with pytest.raises(UsageError, match="assignment"):
        Assignment(metric(Euclidean(), torch.rand(3, 2)))
    with pytest.raises(UsageError, match="needs max pooling"):
        Assignment(replace(softmax, pooling=FocalPooling("max_minus_mean")))


def test_the_last_mass_is_what_the_others_leave():
    head = Head(torch.ones(2, 3), Softmax(), Identity())
    z = torch.tensor([[1.0, 0.0, 2.0]], dtype=torch.float64)
    observed = observe(head, z)
    paradigm = Simplex(head)
    rows = paradigm.start(1)
    for j in (0, 1):
        rows = paradigm.extend(rows, torch.tensor([j]), observed[[0], [j]])
    assert float(rows.lower[0, 2]) == pytest.approx(float(observed.lower[0, 2]), rel=1e-12)
    assert float(rows.upper[0, 2]) == pytest.approx(float(observed.upper[0, 2]), rel=1e-12)
