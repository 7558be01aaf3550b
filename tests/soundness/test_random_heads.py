"""A small run of the section `emitted` of `verale soundness`: both kernels prove every certificate of random heads.

Many more heads: `verale soundness --only emitted --long`, and `python -m benchmarks.emitted`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.cases import every
from torch import Tensor

from verale.bounds import check_domain
from verale.errors import UsageError
from verale.head import (
    Box,
    Cosine,
    Geometry,
    Head,
    Identity,
    InnerProduct,
    Pooling,
    Readout,
    Softmax,
    StepChain,
    as_patches,
    load_latents,
)
from verale.head.similarity import NamedSimilarity, NamedSteps
from verale.paradigms import ORDERS, PARADIGMS
from verale.search import Batches, SearchOptions
from verale.search.digits import LEAST_TOLERANCE
from verale.soundness.combinations import CYCLE, TOLERANCES, Draw, combinations, draw, draws, searches
from verale.soundness.compare import Group, Question, emitted, explained, unproved
from verale.soundness.corpus.cases import stored

FILES = Path(__file__).parents[1] / "fixtures" / "wide"
WIDE = {"6": 0.3, "27": 0.01, "52": 0.1}
"""Heads and tolerances at which the checker did not prove what was emitted: cosines under `hypersphere`, and the
minimality of `assignment` (27)."""
LARGER = (LEAST_TOLERANCE, 0.3)
"""Tolerances below and above those of draws."""


NUMBERS = (*range(48), 56, 65, 99, 101)
"""The draws that are tried: the last ones have what those before lack, as one of them alone has `assignment`."""


def drawn(numbers: Iterable[int]) -> list[Draw]:
    return [each for _, each in draws(numbers, images=2)]


GROUPS = [NUMBERS[start : start + 4] for start in range(0, len(NUMBERS), 4)]
"""The classes of some images tie, and then nothing is emitted; of four heads some is."""


@pytest.mark.parametrize("group", [pytest.param(g, marks=[pytest.mark.long] * (7 < g[0] < 48)) for g in GROUPS])
def test_what_is_emitted_is_proved(group):
    tried, lines = unproved(emitted(group, 1), "both")
    assert tried > 0 and lines == []


@pytest.mark.parametrize("number", [pytest.param(n, marks=[pytest.mark.long] * (n > 1)) for n in range(16)])
def test_what_is_emitted_within_other_tolerances_is_proved(number):
    """Within the greater one few heads have an explanation."""
    (each,) = drawn([101 + number])
    tried, lines = unproved([explained("", each.head, each.latents[:1], LARGER[number % 2])], "both")
    assert lines == []
    assert tried > 0 or LARGER[number % 2] > LEAST_TOLERANCE


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] * (n != "27")) for n in WIDE])
def test_what_once_was_not_proved_is_proved(name):
    head, latents = Head.load(FILES / f"{name}.head.safetensors"), load_latents(FILES / f"{name}.latents.safetensors")
    tried, lines = unproved([explained(name, head, latents, WIDE[name])], "both")
    assert tried > 0 and lines == []


def test_what_is_not_proved_is_told() -> None:
    case = next(case for case in stored("reject") if (case.status, case.reason) == ("NOT_PROVED", "margin"))
    tried, (line,) = unproved([Group(case.head, case.latents, (Question(case.name, case.certificate),))], "arb")
    assert tried == 1 and line.startswith(f"{case.name}: margin: ")


def parts(each: Draw) -> set[object]:
    """What the head of a draw is made of, and how it is explained."""
    head = each.head
    return {*(type(part) for part in (head.geometry, head.similarity, head.pooling, head.readout)), *searches(head)}


def kinds_of(base: type) -> set[type]:
    """What is derived from it, but for what is derived from again."""
    below = base.__subclasses__()
    return {base} if not below else set().union(*map(kinds_of, below))


def test_a_few_draws_have_every_part_and_tolerance() -> None:
    few = drawn(NUMBERS)
    had = set().union(*map(parts, few))
    similarities = {*NamedSimilarity.__subclasses__(), StepChain} - {NamedSteps}
    assert {*Geometry.__subclasses__(), *similarities, *kinds_of(Pooling)} <= had
    assert set(Readout.__subclasses__()) <= had
    assert set().union(*map(parts, drawn(range(200)))) <= had
    assert {each.tolerance for each in few} == set(TOLERANCES)


# Heads whose domain has a range of its own for every observable.


IMAGES, PATCHES, COUNT = 1, 3, 6


def bounded(kind: str, seed: int) -> tuple[Head, Tensor]:
    """A head and latents (IMAGES, PATCHES, D)."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.rand(3, COUNT, generator=generator) - 0.7
    weight[torch.arange(COUNT) % 3, torch.arange(COUNT)] += 1.5
    if kind == "softmax":
        width = (0.5, 2.0, 6.0)[seed % 3]
        latents = width * torch.rand(IMAGES, PATCHES, COUNT, generator=generator)
        return Head(weight, Softmax(), Identity(), domain=Box(0, width)), latents
    latents = torch.rand(IMAGES, PATCHES, 3, generator=generator)
    points = torch.rand(COUNT, 3, generator=generator) - (0.0 if seed % 2 else 0.3)
    latents[:, 0] = torch.lerp(latents[:, 0], points[:IMAGES].clamp(0.01, 1), 0.8)
    head = Head(weight, Cosine(0.0), Identity(), prototypes=points, domain=Box(0, None))
    match kind:
        case "bare cosine":
            return head, latents
        case "mirrored cosine":
            mirrored = replace(head, geometry=Cosine((0.0, 1e-4)[seed % 2], rooted=True), domain=Box(None, 0))
            return replace(mirrored, prototypes=-points), -latents
        case _:
            longest = float(latents.double().norm(dim=-1).max()) * 1.001
            box = Box(float(latents.min()), None) if kind == "half box" else Box(None, -float(latents.min()))
            sign = 1 if kind == "half box" else -1
            return replace(head, geometry=InnerProduct(longest), domain=box, prototypes=sign * points), sign * latents


KINDS = ("softmax", "bare cosine", "mirrored cosine", "half box", "mirrored half box")


def of_a_bounded_head(kind: str, seed: int, tolerance: float = 0.0) -> Group:
    return explained(kind, *bounded(kind, seed), tolerance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_what_is_emitted_of_bounded_heads_is_proved(kind: str, seed: int) -> None:
    tried, lines = unproved([of_a_bounded_head(kind, seed)], "both")
    assert tried > 0 and lines == []


def test_within_a_tolerance() -> None:
    tried, lines = unproved((of_a_bounded_head("softmax", seed, 0.05) for seed in range(3)), "arb")
    assert tried > 0 and lines == []


# Random heads of every combination of parts: all that certificates/v1.md admits, and each with every option.


SIMILARITIES = {
    "euclidean": ("log_ratio", "negated", "exp_distance", "exponential", "quadratic", "steps"),
    "cosine": ("identity", "exponential", "quadratic", "rectified", "steps"),
    "rooted_cosine": ("identity", "exponential", "quadratic", "rectified", "steps"),
    "inner_product": ("identity", "quadratic", "rectified", "steps"),
    "softmax": ("identity", "threshold", "steps"),
}
"""The table of geometries in certificates/v1.md."""


def admissible() -> set[str]:
    """What the paragraph below that table admits."""
    found = set()
    for geometry, similarities in SIMILARITIES.items():
        for similarity in similarities:
            for pooling in ("max", "masked_max", "banks", "top_mean"):
                found.add(f"{geometry} {similarity} {pooling} linear")
                if geometry != "softmax":
                    found.add(f"{geometry} {similarity} {pooling} maximum")
            if similarity in ("exp_distance", "exponential") or (similarity == "steps" and geometry != "softmax"):
                found.add(f"{geometry} {similarity} max soft_tree")
            if similarity in ("log_ratio", "identity"):
                found.add(f"{geometry} {similarity} max_minus_mean linear")
            if similarity == "log_ratio":
                found.add(f"{geometry} {similarity} max_minus_mean_distance linear")
    return found


def test_every_admissible_combination_is_there():
    assert [*map(str, combinations())] == [*dict.fromkeys(map(str, combinations()))]
    assert {*map(str, combinations())} == admissible()


@every("combination", combinations()[::31])
def test_a_cycle_has_every_tolerance_with_and_without_each_tensor(combination):
    drawn = [draw(combination, number, 2) for number in range(CYCLE)]
    for one in drawn:
        head = one.head
        parts = (head.geometry.kind, head.similarity.kind, head.pooling.kind, head.readout.kind)
        assert " ".join(parts) == str(combination)
        check_domain(head, as_patches(one.latents))
    found = {(one.tolerance, one.head.bias is None, (one.head.scale, one.head.peak) == (None, None)) for one in drawn}
    biased = {True, False} if combination.readout != "soft_tree" else {True}
    own = {True, False} if drawn[0].head.similarity.tensors else {True}
    assert found == {(t, b, o) for t in TOLERANCES for b in biased for o in own}


def test_the_same_draw_is_the_same():
    first, second = draw(combinations()[3], 5, 2), draw(combinations()[3], 5, 2)
    assert first.head.digest == second.head.digest
    assert torch.equal(first.latents, second.latents)


@pytest.mark.parametrize(
    "combination",
    [pytest.param(each, marks=[pytest.mark.long] * (index % 9)) for index, each in enumerate(combinations()[::9])],
    ids=str,
)
def test_searches_are_those_that_explain_admits(combination):
    drawn = draw(combination, 0, 1)
    admitted = []
    for paradigm in PARADIGMS:
        for order in ORDERS if PARADIGMS[paradigm].spatial else ORDERS[:1]:
            try:
                Batches(drawn.head, drawn.latents, SearchOptions(paradigm, order))
            except UsageError:
                continue
            admitted.append((paradigm, order))
    assert searches(drawn.head) == admitted


def test_no_module_of_the_suite_imports_what_only_a_clone_has():
    """Also within its functions."""
    for path in (Path(__file__).parents[2] / "verale" / "soundness").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        names = {str(node.module).split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
        names |= {each.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for each in node.names}
        assert not names & {"attacks", "benchmarks", "checker_mutants", "corpus", "support"}, path
