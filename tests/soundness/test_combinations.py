"""Random heads of every combination of parts: all that certificates/v1.md admits, and each with every option."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from support.cases import every

from verale.bounds import check_domain
from verale.errors import UsageError
from verale.head import as_patches
from verale.paradigms import ORDERS, PARADIGMS
from verale.search.explain import explain
from verale.soundness.combinations import COMBINATIONS, CYCLE, TOLERANCES, draw, searches

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
    assert [*map(str, COMBINATIONS)] == [*dict.fromkeys(map(str, COMBINATIONS))]
    assert {*map(str, COMBINATIONS)} == admissible()


@every("combination", COMBINATIONS[::6])
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
    first, second = draw(COMBINATIONS[3], 5, 2), draw(COMBINATIONS[3], 5, 2)
    assert first.head.digest == second.head.digest
    assert torch.equal(first.latents, second.latents)


@pytest.mark.parametrize(
    "combination",
    [pytest.param(each, marks=[pytest.mark.long] * (index % 6)) for index, each in enumerate(COMBINATIONS[::9])],
    ids=str,
)
def test_searches_are_those_that_explain_admits(combination):
    drawn = draw(combination, 0, 1)
    admitted = []
    for paradigm in PARADIGMS:
        for order in ORDERS if PARADIGMS[paradigm].spatial else ORDERS[:1]:
            try:
                explain(drawn.head, drawn.latents, paradigm, order=order)
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
