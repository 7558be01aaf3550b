"""What the tests of the kernel for GPUs run, in a process that interprets it (the fixture `interpreter`).

The kernel is compiled or interpreted as it was decided when it was imported, so it is imported where it is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import safetensors.torch
from support.compiled import head_named, problem_named
from support.problems import problem_of
from support.small import small_head, small_latents, varied_head

from verale.bounds import Projection
from verale.certificate import Certificate
from verale.checker import Auditor
from verale.search.avoid import Avoid
from verale.search.explain import explain
from verale.search.problem import Pair, Problem

__all__ = ["Searched", "deleted_both_ways", "explained", "found_races", "probed", "searched"]

GUARD = 1e-6
PROTOTYPES, PATCHES = 8, 4


@dataclass(frozen=True)
class Searched:
    """What the kernel chose, and the search in machine code beside it.

    Attributes:
        chosen, compiled: for each image the statements, or why there are none; those in machine code are proved.
        grown: for each image the statements before shrinking.
        races: accesses without a barrier between them.
        off: how far the margins that the kernel kept up to date are from those of its patches, at most.
    """

    chosen: list[Any]
    compiled: list[Any]
    grown: list[list[Pair]]
    races: list[str]
    off: float


def searched(
    name: str,
    seed: int = 0,
    images: list[int] | None = None,
    most: float = math.inf,
    avoid: Avoid | None = None,
    early: list[list[Pair]] | None = None,
    guard: float = GUARD,
    beside: bool = True,
    races: bool = False,
) -> Searched:
    """Search some images of a head in blocks, and look for races if asked; interpreting is slow, so heads are small."""
    from support.blocks import interpreted

    from verale.search.devices import launch
    from verale.search.spatial import explain_spatial

    problem = problem_of(head_named(name, seed, prototypes=PROTOTYPES), seed=seed, patches=PATCHES)
    problem = problem.take([0, 1] if images is None else images)
    if avoid is not None:
        problem = replace(problem, avoid=avoid)
    paradigm, limits = Projection(problem.head), [most] * len(problem)
    with interpreted(races) as watch:
        work = launch.launched(problem, paradigm, guard, [3 * limit for limit in limits], early)
    beside_it = explain_spatial(problem, paradigm, "rival", limits) if beside else []
    compiled = [each if isinstance(each, str) else each.pairs for each in beside_it]
    grown = [
        [divmod(pair, problem.head.size) for pair in pairs[:count]]
        for pairs, (_, count, *_) in zip(work.statements.tolist(), work.outcome.tolist(), strict=True)
    ]
    off = max(_off(problem.take([image]), paradigm, work, image) for image in range(len(problem)))
    return Searched(launch.chosen(problem, work), compiled, grown, watch.races, off)


def _off(problem: Problem, paradigm: Projection, work: Any, number: int) -> float:
    """How far the margins of an image are from those of its patches."""
    from verale.search.compiled.image import image_arrays
    from verale.search.compiled.similarity import similarity

    image = image_arrays(problem, paradigm)
    ends = [work.near[number].amin(0).tolist(), work.far[number].amin(0).tolist()]
    high, low = (
        np.array([similarity(image.formula, image.scale[k], image.peak[k], end) for k, end in each])
        for each in map(enumerate, ends)
    )
    weights = image.weights
    margins = image.bias + np.where(weights > 0, weights * low[:, None], weights * high[:, None]).sum(0)
    kept = work.margins[number].numpy()
    return float(np.abs(kept[np.isfinite(kept)] - margins).max())


def deleted_both_ways(name: str, stated: list[int], deleted: int) -> tuple[float, float, int]:
    """State prototypes about a patch, then delete one: how far the patch's dissimilarities after a step are from those
    of a patch that is built without it, how far these are from those of the search in machine code, and the slot."""
    import torch
    from support.block_kernels import enter_and_delete
    from support.compiled import built

    from verale.search.compiled.image import image_arrays
    from verale.search.compiled.shrink import by_patch
    from verale.search.devices import launch
    from verale.search.devices.tables import kernel_sizes

    problem = problem_named(name).take([0])
    paradigm, sizes = Projection(problem.head), kernel_sizes(problem.head, problem.patches)
    head, images = launch.head_table(problem, paradigm, GUARD), launch.image_table(problem, [math.inf])
    work, slot = launch.work_table(problem, sizes), torch.zeros(1, dtype=torch.int32)
    kernel: Any = enter_and_delete
    kernel[(1,)](head, images, work, torch.tensor(stated, dtype=torch.int32), len(stated), deleted, slot, sizes=sizes)
    image = image_arrays(problem, paradigm)
    rest = np.array([[0, prototype] for prototype in stated if prototype != deleted])
    hulls, _, _ = built(image, by_patch(image, rest))
    lower, upper = torch.from_numpy(hulls.lower[0]), torch.from_numpy(hulls.upper[0])
    near, far = (lower, upper) if image.distance else (-upper, -lower)
    again, step = (torch.stack([work.step_near[0, i], work.step_far[0, i]]) for i in (0, 1))
    return float((again - step).abs().max()), float((again - torch.stack([near, far])).abs().max()), int(slot)


def found_races(name: str) -> list[str]:
    """The races of a kernel that lacks a barrier."""
    import torch
    from support import block_kernels
    from support.blocks import interpreted

    kernel: Any = getattr(block_kernels, name)
    with interpreted() as watch:
        kernel[(2,)](torch.zeros(8))
    return watch.races


def probed() -> bool:
    """Whether kernels are interpreted, and compute in float64."""
    from support.blocks import interpreted

    from verale.search.devices.jit import interprets, probe

    with interpreted():
        probe("cpu")
    return interprets()


def explained(
    name: str, batch: int = 3, guards: tuple[float, ...] | None = None, images: int = 3
) -> tuple[list[bytes], set[str], list[tuple[int, bool]], int]:
    """Projection's certificates where the kernel chooses, what the checker says of them, sizes and minimal claims, and
    how many blocks ran."""
    from support.blocks import interpreted

    from verale.search import devices
    from verale.search.devices.engine import Launched

    head = varied_head(name, 4, prototypes=7) if " " in name else small_head(name, 4, prototypes=7)
    latents = small_latents(head, images=images, patches=3, seed=4)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents.contiguous()}))
    with (
        interpreted(races=False) as watch,
        patch.object(devices, "is_available", lambda device: True),
        patch.object(Launched, "guards", guards or Launched.guards),
    ):
        results = explain(head, latents, "projection", batch=batch)
    found = [each for each in results if isinstance(each, Certificate)]
    written = [each.to_bytes() for each in found]
    checked = [auditor.check(each, minimality=True) for each in written]
    said = {f"{verdict.status.value} {verdict.message}".strip() for verdict in checked}
    return written, said, [(each.size, each.minimal) for each in found], watch.blocks
