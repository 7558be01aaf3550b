"""What the rules prove holds at latents of which the truth is known."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

from checker_mutants.attacks.extremes import combined, holds
from checker_mutants.mutant import Import
from checker_mutants.trials import Trial, set_grid, trials
from support import files
from support.recipes import COUNT, PATCHES

__all__ = ["ranges_contain"]


def ranges_contain(module: Import, kernel: str) -> str:
    """What is proved holds at the latents: on the usual grid and, where roundings show, on grids of a few bits."""
    own = module("options").load_arithmetic(kernel)
    fine = (128, 64, 256)
    for number, trial in enumerate(trials()[::3]):  # of four a head, so each draw is among them
        set_grid(module, *(fine, (6, 0, 8), (3, 0, 8))[number % 3])
        violation = _contained(module, own, trial, number)
        if violation:
            return f"{violation}, grid {number % 3}"
    set_grid(module, *fine)
    return ""


def _contained(module: Import, own: Any, trial: Trial, number: int) -> str:
    certificate = module("certificate")
    head = module("head").read_head(trial.data)
    space = module("reading.space").Space(head, own)
    stated = [certificate.PatchStatement(*statement) for statement in trial.statements]
    boxes = []
    for name in ["simplex" if head.geometry == "softmax" else "quadratic"]:
        rule = getattr(
            module({"simplex": "reading.masses"}.get(name, f"reading.{name}")),
            {"simplex": "Simplex", "quadratic": "QuadraticRule"}[name],
        )(space)
        groups = [[s for s in stated if s.patch == patch] for patch in range(PATCHES)]
        ranges = [rule.ranges(group) for group in groups]
        if not all(map(holds, [space] * PATCHES, ranges, trial.observables)):
            return name
        made = module("reading.paradigms").Activations
        spatial = made(space, rule)
        boxes.append((name, spatial.box(stated, PATCHES)))
    pooled = [certificate.ActivationStatement(*statement) for statement in trial.pooled]
    most = max(high for _, high in trial.activations[1::2])
    pooled.append(certificate.OrderStatement(tuple(range(0, COUNT, 2)), most))
    least = min(low for low, _ in trial.activations[1::2])
    pooled.append(certificate.FloorStatement(tuple(range(0, COUNT, 2)), least))
    boxes += [("top_k", spatial.box(pooled, PATCHES)), ("domain", spatial.box([], PATCHES))]
    if head.geometry not in ("softmax", "inner_product") and head.pooling == "max" and not head.similarity.unimodal:
        pooled.append(certificate.FloorStatement((0, 1), min(low for low, _ in trial.activations[2:])))
        mixed = made(space, rule)
        boxes += [("mixed", mixed.box(pooled[:count], PATCHES)) for count in range(len(pooled) + 1)]
        boxes += [("mixed", mixed.box([*stated, *pooled], PATCHES)), ("mixed", mixed.box(pooled[-2:], PATCHES))]
    latents = module("dyadic").exact(files.flat(trial.image), len(trial.image[0]))
    exactly = module("network.enclosure").EnclosedLatents.exactly(latents)
    evaluation = module("reading.evaluation").Evaluation(space, exactly)
    for bits in (0, 3, 20):
        boxes.append((f"evaluation at {bits}", evaluation.activations(bits)))
        for patch, j in product(range(PATCHES), range(COUNT)):
            low, high = evaluation.observable(patch, j, bits)
            least, greatest = trial.observables[patch][j]
            if not (low <= greatest and least <= high and high - low <= Fraction(16, 1 << bits)):
                return "observable"
        for some in ([0, 2], [1, 3], [0, 1, 2, 3]):
            exempt = tuple(j for j in range(COUNT) if j not in some)
            low, high = evaluation.bounded(certificate.OrderStatement(exempt, Fraction(0)), bits)
            if low > max(trial.activations[j][1] for j in some) or high < max(trial.activations[j][0] for j in some):
                return "greatest"
            if bits == 20 and high - low > Fraction(1, 1 << 10):  # else false clauses cannot be decided
                return "greatest is wide"
            low, high = evaluation.bounded(certificate.FloorStatement(exempt, Fraction(0)), bits)
            if low > min(trial.activations[j][1] for j in some) or high < min(trial.activations[j][0] for j in some):
                return "least"
            if bits == 20 and high - low > Fraction(1, 1 << 10):
                return "least is wide"
    if head.similarity.name in ("negated", "identity") and (head.pooling, head.readout) == ("max", "linear"):
        for each, observables in zip(groups, trial.observables, strict=True) if head.geometry != "softmax" else []:
            wrong = _joined(module, rule, each, observables)
            if wrong:
                return wrong
    bound = module("reading.margin").lower_bound
    for name, box in boxes:
        for (least, greatest), low, high in zip(trial.activations, box.lower, box.upper, strict=True):
            if Fraction(int(low), 1 << box.bits) > greatest or Fraction(int(high), 1 << box.bits) < least:
                return f"{name}: activation"
        for c, d in product(range(head.classes), repeat=2):
            if bound(head, box, c, d) > trial.logits[c][d][1]:
                return f"{name}: margin"
    if (head.geometry, head.similarity.name, head.pooling) == ("softmax", "identity", "max"):
        return _priced(module, space, trial, stated, dict(boxes)["simplex"], number)
    return ""


def _joined(module: Import, quadratic: Any, stated: Any, observables: list[tuple[Fraction, Fraction]]) -> str:
    """As one target no margin is more than what is so, whichever ends are stated; what is reached is in range."""
    head, certificate = quadratic.space.head, module("certificate")
    scale = head.similarity.scale
    for open_ in range(4):
        predicted = open_ % head.classes
        left = [
            certificate.PatchStatement(
                0,
                s.prototype,
                None if open_ % 2 and number % 2 else s.lower,
                None if open_ > 1 and not number % 2 else s.upper,
            )
            for number, s in enumerate(stated)
        ]
        high = tuple(None if c == predicted else Fraction(10**6) for c in range(head.classes))
        document = certificate.Certificate("0" * 64, None, predicted, "joint", 1, tuple(left), high, ("entailment",))
        none = tuple(None if c == predicted else Fraction(-(10**9)) for c in range(head.classes))
        rule = module("reading.joint").Joint(quadratic, document)
        if left and open_ == 0:
            shares = rule.target((predicted + 1) % head.classes).shares
            (low, most), value = combined(quadratic, left, shares), quadratic.combination_within(left, shares)
            if value is not None and not low <= value <= most:
                return "a value within"
        for c, margin in enumerate(rule.margins(None, none)):
            if margin is None:
                continue
            most = Fraction(head.bias.rows[0][predicted] - head.bias.rows[0][c], 1 << head.bias.bits)
            for j, ends in enumerate(observables):
                share = Fraction(head.weight.rows[predicted][j] - head.weight.rows[c][j], 1 << head.weight.bits)
                if head.geometry == "euclidean":
                    share *= Fraction(-scale.rows[0][j], 1 << scale.bits)
                most += max(share * end for end in ends)
            if margin > most:
                return "joint"
    return ""


def _priced(module: Import, space: Any, trial: Trial, stated: Any, box: Any, number: int) -> str:
    """No prices prove more than what is so, nor than the best matching leaves."""
    generator = random.Random(number)
    predicted = number % 3
    proved = module("reading.margin").proved_margins(space.head, box, predicted)
    for _ in range(4):
        prices = {
            c: {k: Fraction(generator.randrange(1, 40), 32) for k in range(COUNT) if generator.random() < 0.6}
            for c in range(3)
            if c != predicted
        }
        high = tuple(None if c == predicted else Fraction(10**6) for c in range(3))
        document = module("certificate").Certificate(
            "0" * 64, None, predicted, "assignment", PATCHES, tuple(stated), high, ("entailment",), prices
        )
        rule = module("reading.masses").Assignment(space, document)
        for c, margin in enumerate(rule.margins(box, proved)):
            if margin is not None and margin > trial.logits[predicted][c][1]:
                return "prices"
            if margin is not None and margin < proved[c]:
                return "prices prove less than simplex"
    return ""
