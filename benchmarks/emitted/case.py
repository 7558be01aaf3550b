"""One case: a draw of a combination, explained under every paradigm and order, and audited."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import safetensors.torch
import torch

from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.search.explain import explain
from verale.soundness.combinations import Draw, combinations, draw, searches

__all__ = ["Case", "run_case"]

_BOTH_KERNELS = 10
"""One in so many draws of a combination is audited by both kernels, at another turn for each combination."""


@dataclass(frozen=True)
class Case:
    """What came of a case.

    Attributes:
        case: its number.
        tolerance: of its explanations.
        kernel: that audited it.
        sizes: C, P, L and D.
        also: what the head has besides its parts: `bias`, `scale`, `peak`, `radius`, `lower`, `upper`.
        searches: by paradigm and order: certificates emitted, those of them that claim minimality, images without one.
        reasons: why images have none, with how many.
        unproved: what the checker did not prove, and exceptions, a line each.
        seconds: of the processor.
    """

    case: int
    tolerance: float
    kernel: str
    sizes: tuple[int, int, int, int]
    also: tuple[str, ...]
    searches: dict[str, tuple[int, int, int]]
    reasons: dict[str, int]
    unproved: tuple[str, ...]
    seconds: float

    def record(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self) | {"combination": str(combinations()[self.case % len(combinations())])}


def run_case(numbered: tuple[int, int]) -> dict[str, Any]:
    """The record of a case, given its number and the images a case; the same arguments give the same, but for time."""
    number, images = numbered
    torch.set_num_threads(1)
    start = time.process_time()
    turn, combination = divmod(number, len(combinations()))
    drawn = draw(combinations()[combination], turn, images)
    kernel = "both" if (turn + combination) % _BOTH_KERNELS == 0 else "arb"
    auditor = Auditor(drawn.head.to_bytes(), safetensors.torch.save({"latents": drawn.latents}), kernel)
    reasons: Counter[str] = Counter()
    unproved: list[str] = []
    found = {
        f"{paradigm} {order}": _search(drawn, paradigm, order, auditor, reasons, unproved)
        for paradigm, order in searches(drawn.head)
    }
    head, (_, patches, depth) = drawn.head, drawn.latents.shape
    present = {
        "bias": head.bias,
        "scale": head.scale,
        "peak": head.peak,
        "radius": head.geometry.radius,
        "lower": head.domain.lower,
        "upper": head.domain.upper,
    }
    return Case(
        number,
        drawn.tolerance,
        kernel,
        (head.classes, head.size, patches, depth),
        tuple(name for name, value in present.items() if value is not None),
        found,
        dict(reasons),
        tuple(unproved),
        round(time.process_time() - start, 3),
    ).record()


def _search(
    drawn: Draw, paradigm: str, order: str, auditor: Auditor, reasons: Counter[str], unproved: list[str]
) -> tuple[int, int, int]:
    """Certificates emitted, those that claim minimality, images without one; what is not proved goes to `unproved`."""
    try:
        results = explain(
            drawn.head, drawn.latents, paradigm, order=order, tolerance=drawn.tolerance, batch=len(drawn.latents)
        )
    except Exception as error:  # a finding of the run, not its end
        unproved.append(f"{paradigm} {order}: {type(error).__name__}: {error}")
        return 0, 0, 0
    emitted = minimal = 0
    for image, result in enumerate(results):
        if not isinstance(result, Certificate):
            reasons[result.reason] += 1
            continue
        emitted, minimal = emitted + 1, minimal + result.minimal
        try:
            verdict = auditor.check(result.to_bytes(), minimality=True)
            wrong = "" if verdict.status is Status.PROVED else f"{verdict.reason}: {verdict.message}"
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            unproved.append(f"{paradigm} {order}, image {image}: {wrong}")
    return emitted, minimal, len(results) - emitted
