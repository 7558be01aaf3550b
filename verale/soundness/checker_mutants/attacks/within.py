"""What minimality is shown with lies within what is proved; and nothing is shown of statements that contradict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from verale.soundness.checker_mutants.trials import Trial, set_grid, trials
from verale.soundness.corpus.accept.recipes import COUNT, PATCHES
from verale.soundness.extremes import Import
from verale.soundness.independent import files

__all__ = ["ranges_lie_within"]

_FINE = (128, 64, 128)
_NEAR = Fraction(1, 2**20)


def ranges_lie_within(module: Import, kernel: str) -> str:
    """On grids of a few bits, where roundings show, and on the usual one, from which they are then mostly not far."""
    own = module("kernel").load_kernel(kernel)
    near: Counter[bool] = Counter()
    for number, trial in enumerate(trials()[::2]):
        grid = (_FINE, (6, 0, 8), (3, 0, 8))[number % 3]
        try:
            wrong = _compared(module, own, trial, grid, near)
            if not wrong and grid == _FINE:
                wrong = _contradicting(module, own, trial)
        finally:
            set_grid(module, *_FINE)
        if wrong:
            return f"{wrong}, grid {number % 3}"
    return _domains(module, own) or ("" if near[True] > 8 * near[False] else "ranges far within")


def _compared(module: Import, own: Any, trial: Trial, grid: tuple[int, int, int], near: Counter[bool]) -> str:
    outer = {}
    for name, rule, statements in _rules(module, own, trial):
        for index in range(len(statements)):
            outer[name, index] = rule.box([*statements[:index], *statements[index + 1 :]], PATCHES)
    set_grid(module, *grid)
    bound = module("rules.margin").lower_bound
    head = module("head_file").read_head(trial.data)
    for name, rule, statements in _rules(module, own, trial):
        for index, box in rule.boxes_without(statements, PATCHES):
            wide, gap = outer[name, index], Fraction(0)
            if box is None:
                near[False] += name == "quadratic" and grid == _FINE
                if name != "quadratic" and grid == _FINE:
                    return f"{name}: a range is empty"
                continue
            for low, high, least, most in zip(*_ends(box), *_ends(wide), strict=True):
                if low < least or high > most:
                    return f"{name}: an activation beyond its range"
                gap = max(gap, (low - least + most - high) / (1 + abs(least) + abs(most)))
            if name == "quadratic" and grid == _FINE:
                near[gap < _NEAR] += 1
            elif grid == _FINE and gap > _NEAR:
                return f"{name}: an activation far within its range"
            for c, d in product(range(head.classes), repeat=2):
                if bound(head, box, c, d) < bound(head, wide, c, d):
                    return f"{name}: a margin is too small"
    return ""


def _domains(module: Import, own: Any) -> str:
    """Masses of bounded logits and bare cosines in an orthant, on coarse grids."""
    ends, read = module("rules.domain").domain_ranges, module("head_file").read_head
    for bits in range(2, 24):
        for gap, count in product((0.25, 1.0, 3.0), (2, 3, 5)):
            domain = files.domain(0.0, gap)
            masses = files.head([[1.0] * count] * 2, geometry=files.SOFTMAX, similarity=files.IDENTITY, domain=domain)
            least, others = flint.arb(-gap).exp(), count - 1
            (low, *_), (high, *_) = ends(read(masses), own, bits, True)
            if not (low >= least / (least + others) * 2**bits and high <= 2**bits / (1 + others * least)):
                return "masses of bounded logits"
        for row in ([-2.0, -3.0], [-1.0, -1.0], [2.0, 3.0]):
            bare = {"geometry": files.cosine(0.0), "similarity": files.IDENTITY, "domain": files.domain(0.0, None)}
            (low,), (high,) = ends(read(files.head([[1.0], [0.0]], [row], **bare)), own, bits, True)
            short, long = (
                entry / flint.arb(row[0] ** 2 + row[1] ** 2).sqrt() * 2**bits for entry in (min(row), max(row))
            )
            if (row[0] > 0 and not low >= short) or (row[0] < 0 and not high <= long):
                return "cosines in an orthant"
    return ""


def _contradicting(module: Import, own: Any, trial: Trial) -> str:
    """With a statement that no latents satisfy, none of the others is shown to be needed."""
    certificate = module("certificate")
    for name, rule, statements in _rules(module, own, trial):
        for stated in statements:
            if isinstance(stated, certificate.OrderStatement):
                continue
            far = -(2**40) if name == "quadratic" else 2**40
            apart = [type(stated)(*_place(stated), stated.lower + far, stated.upper + far)]
            others = [each for each in statements if each is not stated]
            boxes = dict(rule.boxes_without([*apart, *others], PATCHES))
            if any(box is not None for index, box in boxes.items() if index):
                return f"{name}: shown with an empty range"
    return ""


def _place(statement: Any) -> Sequence[int]:
    return (statement.patch, statement.prototype) if hasattr(statement, "patch") else (statement.prototype,)


def _rules(module: Import, own: Any, trial: Trial) -> Iterator[tuple[str, Any, list[Any]]]:
    """The rules for the trial's head on the present grid, each with statements."""
    certificate = module("certificate")
    space = module("rules.space").Space(module("head_file").read_head(trial.data), own)
    name = "simplex" if space.head.geometry == "softmax" else "quadratic"
    patch_rule = getattr(module(f"rules.{name}"), name.capitalize())(space)
    stated = [certificate.PatchStatement(*statement) for statement in trial.statements]
    yield name, module("rules.spatial").SpatialRule(space, patch_rule), stated
    pooled: list[Any] = [certificate.ActivationStatement(*statement) for statement in trial.pooled]
    most = max(high for _, high in trial.activations[1::2])
    pooled.append(certificate.OrderStatement(tuple(range(0, COUNT, 2)), most))
    yield "top_k", module("rules.top_k").TopK(space), pooled


def _ends(box: Any) -> tuple[list[Fraction], list[Fraction]]:
    lower, upper = ([Fraction(int(end), 1 << box.bits) for end in side] for side in (box.lower, box.upper))
    return lower, upper
