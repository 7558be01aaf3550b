"""Attacks on the count of work. Returns what it finds wrong, "" for nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from checker_mutants.mutant import Import

from verale.soundness.corpus.cases import stored
from verale.soundness.independent import files

__all__ = ["work_is_counted"]

_COUNT, _DEPTH = 30, 8
_MEAN = {"pooling": {"kind": "top_mean", "k": 3}}
_MASKED: dict[str, Any] = {
    "pooling": {"kind": "masked_max"},
    "mask": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * (_COUNT // 3),
}
_SOFTMAX = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
_COUNTED: dict[tuple[str, int, int, float, str, bool], tuple[int, int]] = {
    ("projection", 1, 0, 0.0, "", False): (2639, 150),
    ("projection", 1, 0, 0.0, "", True): (4364, 150),
    ("projection", 1, 6, 0.0, "", False): (44473, 233),
    ("projection", 1, 6, 0.0, "", True): (4625093, 233),
    ("projection", 5, 3, 0.0, "", False): (121530, 545),
    ("projection", 5, 3, 0.0, "", True): (6173480, 545),
    ("projection", 2, 6, 0.5, "", False): (86307, 315),
    ("projection", 2, 6, 0.5, "", True): (9251188, 315),
    ("projection", 1, 0, 0.0, "mean", False): (2639, 150),
    ("projection", 1, 0, 0.0, "mean", True): (4364, 150),
    ("projection", 1, 6, 0.0, "mean", False): (44473, 233),
    ("projection", 1, 6, 0.0, "mean", True): (4625093, 233),
    ("projection", 5, 3, 0.0, "mean", False): (121530, 545),
    ("projection", 5, 3, 0.0, "mean", True): (6173480, 545),
    ("projection", 2, 6, 0.5, "mean", False): (86307, 315),
    ("projection", 2, 6, 0.5, "mean", True): (9251188, 315),
    ("simplex", 1, 6, 0.0, "softmax", False): (6332, 232),
    ("simplex", 1, 6, 0.0, "softmax", True): (26031, 232),
    ("assignment", 1, 6, 0.0, "softmax", False): (7565, 232),
    ("assignment", 1, 6, 0.0, "softmax", True): (27263, 232),
    ("assignment", 2, 6, 0.5, "softmax", False): (11581, 315),
    ("assignment", 2, 6, 0.5, "softmax", True): (54612, 315),
    ("top_k", 1, 6, 0.0, "", False): (5194, 157),
    ("top_k", 1, 6, 0.0, "", True): (8835, 157),
    ("projection", 1, 0, 0.0, "mask", False): (4268, 225),
    ("projection", 5, 3, 0.0, "mask", False): (123158, 620),
    ("projection", 5, 3, 0.0, "mask", True): (6196057, 620),
    ("top_k", 1, 6, 0.0, "mask", True): (11773, 233),
}
"""Paradigm, patches, statements about each, width, head, minimality: steps and numbers by kernel arb, as calibrated by
`benchmarks.prices` when the limit was set. Another count has to be calibrated again."""


def work_is_counted(module: Import, kernel: str) -> str:
    """Counts are those that were calibrated, and a proof ends where they exceed the limit."""
    wrong = _wrong_counts(module) or _wrong_shares(module, kernel)
    return wrong or _wrong_limits(module) or _wrong_audits(module, kernel)


def _wrong_counts(module: Import) -> str:
    for shape, expected in _COUNTED.items():
        for counted, right, what in zip(count(module, *shape), expected, ("steps", "numbers"), strict=True):
            if counted != right:
                return f"{what} of {shape}"
    return ""


def _wrong_shares(module: Import, kernel: str) -> str:
    """What a margin takes, and what distances and cosines at an image's latents take."""
    space, arithmetic = module("plain.space").Space, module("kernel").load_kernel(kernel)
    rows, identity = [[0.5, 0.25]] * 3, {"similarity": files.IDENTITY}
    tree: dict[str, Any] = {"similarity": {"kind": "exponential"}}
    tree["readout"] = {"kind": "soft_tree", "absent": [1, 2, -1], "present": [-2, -3, -4]}
    latents = module("dyadic").exact([0.5] * 20, 2)
    logarithm = module("plain.work").Work(kernel, 0).series
    for parts, columns, margin, observed, similar in (
        ({}, 3, 160 + 3 * 4, 40, 40 + logarithm),
        ({"geometry": files.cosine(0.5)} | identity, 3, 160 + 3 * 4, 80, 40),
        (tree, 4, 160 + 3 * 30, 40, 40 + logarithm),
    ):
        of = space(module("head").read_head(files.head([[1.0] * columns] * 2, rows, **parts)), arithmetic)
        if module("plain.margin").margin_steps(of.head) != margin:
            return "a margin"
        evaluation = module("plain.evaluation").Evaluation(of, latents)
        if evaluation._steps() != 3 * (10 * (3 * 2 + observed) + 2 * similar):
            return "the head at latents"
    return ""


def count(
    module: Import, paradigm: str, patches: int, each: int, width: float, of: str, minimality: bool
) -> tuple[int, int]:
    """The steps and the numbers of such a certificate."""
    parts: dict[str, Any] = {"": {}, "mask": _MASKED, "mean": _MEAN, "softmax": _SOFTMAX}[of]
    prototypes = None if of == "softmax" else [[0.5] * _DEPTH] * _COUNT
    head = module("head").read_head(files.head([[1.0] * _COUNT] * 2, prototypes, **parts))
    space = module("plain.space").Space(head, module("kernel").load_kernel("arb"))
    certificate = module("certificate")
    low, high = Fraction(0), Fraction(width)
    stated: list[Any] = [certificate.PatchStatement(i, j, low, high) for i in range(patches) for j in range(each)]
    if paradigm == "top_k":
        stated = [certificate.ActivationStatement(j, low, high) for j in range(each)]
    prices = {1: {0: Fraction(1)}} if paradigm == "assignment" else {}
    document = certificate.Certificate(
        "", None, 0, paradigm, patches + 1, tuple(stated), (None, Fraction(1)), ("entailment",), prices
    )
    counted = module("plain.cost").cost(document, space, minimality)
    return counted.steps, counted.numbers


def _wrong_limits(module: Import) -> str:
    cost, limit, error = module("plain.cost"), module("limit"), module("errors").UnprovedError
    for size, times in ((0, 1), (1, 1), (2**20, 1), (2**20 + 1, 2), (5 * 2**20, 5)):
        if limit.allowed(0.5, size) != 20_000_000 * times:
            return "the limit of larger files"
    for steps, numbers, right in ((28800, 0, True), (28801, 0, False), (0, 100, True), (0, 101, False)):
        if _within(lambda a=steps, b=numbers: cost.require_within(28800, cost.Cost(a, b)), error) != right:
            return "what is within the limit"
    work = module("plain.work").Work("arb", 512)
    work.allow(10, 4)
    if not _within(lambda: work.take(3), error) or _within(lambda: work.take(1), error):
        return "what is left"  # a step on 512 bits counts twice
    work.allow(None)
    if not _within(lambda: work.take(10**9), error):
        return "no limit"
    return "" if limit.LIMIT == 30 else "the limit"


def _within(action: Any, error: Any) -> bool:
    try:
        action()
    except error as unproved:
        return bool(unproved.reason != "limit")
    return True


def _wrong_audits(module: Import, kernel: str) -> str:
    """A proof passes where the limit is what it takes, to the step, and fails by the reason `limit` below."""
    auditor, second = module("").Auditor, module("limit").STEPS_A_SECOND
    names = {f"accept/{name}" for name in ("projection-euclidean", "top_k-euclidean", "assignment-prices")}
    for case in (case for case in stored() if case.name in names):
        numbers, module("plain.cost")._STEPS_A_NUMBER = module("plain.cost")._STEPS_A_NUMBER, 1
        low, high = 0, 2**40  # it fails with low steps, and is proved with high ones
        while high - low > 1:
            middle = (low + high) // 2
            verdict = auditor(case.head, case.latents, kernel, middle / second).check(case.certificate, True)
            if verdict.status.value == "PROVED":
                high = middle
            elif verdict.reason == "limit":
                low = middle
            else:
                return f"{verdict.reason} with {middle} steps"
        made = auditor(case.head, case.latents, kernel, 2**40 / second)
        made.check(case.certificate, True)
        space = made._plain[kernel].keywords["quadratic"].space
        used, document = 2**40 - space.work._left, module("certificate").read_certificate(case.certificate)
        if used != high or used <= module("plain.cost").cost(document, space, True).steps:
            return f"{case.name} uses {used} steps, and takes {high}"
        module("plain.cost")._STEPS_A_NUMBER = 2**41
        many = made.check(case.certificate, True).reason
        module("plain.cost")._STEPS_A_NUMBER = 1
        if many != "limit":
            return "numbers without a limit"
        without = auditor(case.head, case.latents, kernel, (high - 1) / second).check(case.certificate, False)
        unlatent = auditor(case.head, None, kernel, (high - 1) / second).check(case.certificate, True)
        if "PROVED" not in (without.status.value, unlatent.status.value) or not 1000 < high < 2**24:
            return f"{case.name} takes {high} steps"
        module("plain.cost")._STEPS_A_NUMBER = numbers
    return ""
