"""A launch: the images of a problem as tables on their device, and what the kernel chose for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, get_type_hints

import torch
from torch import Tensor
from triton.errors import TritonError

from verale.bounds import Projection
from verale.search.devices import NotCompiledError
from verale.search.devices.grow import GIVEN_UP, GROWN
from verale.search.devices.jit import interprets
from verale.search.devices.kernel import choose_in_blocks
from verale.search.devices.tables import HeadTable, ImageTable, KernelSizes, WorkTable, kernel_sizes, warps
from verale.search.problem import Pair, Problem, given_up

T = TypeVar("T", HeadTable, ImageTable)

_KINDS = {"f8": torch.float64, "i4": torch.int32, "i1": torch.int8}

__all__ = ["choose_statements", "chosen", "head_table", "image_table", "launched", "steps_of", "work_table"]


def choose_statements(
    problem: Problem,
    paradigm: Projection,
    guard: float,
    most: Sequence[float],
    early: Sequence[Sequence[Pair]] | None = None,
    device: torch.device | str = "cpu",
) -> list[list[Pair] | str | None]:
    """For each image statements that entail its class and none of which can be left out, as far as float64 tells.

    Args:
        problem: the images; one block searches each.
        paradigm: how statements bound observables.
        guard: margins up to this count as not positive.
        most: a search with more statements than this is given up.
        early: for each image, statements to leave out before others, where they can be.
        device: where the kernel runs; on the CPU only what interprets it.

    Returns:
        For each image the statements; why the search was given up; or None if the class stays open though every
        statement that could help is made, or if the kernel has no room for so many.
    """
    return chosen(problem, launched(problem, paradigm, guard, most, early, device))


def chosen(problem: Problem, work: WorkTable) -> list[list[Pair] | str | None]:
    """See `choose_statements`."""
    outcomes, statements, kept = work.outcome.tolist(), work.statements.tolist(), work.kept.tolist()
    choices: list[list[Pair] | str | None] = []
    for (outcome, count, *_), own, keep in zip(outcomes, statements, kept, strict=True):
        if outcome == GROWN.value:
            pairs = [divmod(pair, problem.head.size) for pair, stays in zip(own[:count], keep, strict=False) if stays]
            choices.append(pairs)
        else:
            choices.append(given_up(count) if outcome == GIVEN_UP.value else None)
    return choices


def launched(
    problem: Problem,
    paradigm: Projection,
    guard: float,
    most: Sequence[float],
    early: Sequence[Sequence[Pair]] | None = None,
    device: torch.device | str = "cpu",
) -> WorkTable:
    """What the kernel leaves behind; see `choose_statements`."""
    sizes = kernel_sizes(problem.head, problem.patches)
    head = _there(head_table(problem, paradigm, guard), device)
    images = _there(image_table(problem, most, early), device)
    work = work_table(problem, sizes, device)
    launch: Any = choose_in_blocks
    try:
        launch[(len(problem),)](
            head, images, work, steps_of(images, work), sizes=sizes, num_warps=warps(sizes), enable_fp_fusion=True
        )
    except TritonError as error:
        if interprets():
            raise
        raise NotCompiledError(str(error)) from error
    return work


def head_table(problem: Problem, paradigm: Projection, guard: float) -> HeadTable:
    """The head's numbers."""
    head = problem.head
    numbers = paradigm.numbers()
    left = problem.patches_left[:, None] & problem.prototypes_left
    hidden = head.pooling.hidden(problem.patches, head.size)
    weight = _wide(head.weight)
    one, zero = torch.ones(head.size), torch.zeros(head.size)
    scalars = [numbers.whole, numbers.least_residual, float(getattr(head.similarity, "epsilon", 0.0)), guard]
    return HeadTable(
        gram=numbers.gram.contiguous(),
        lower=_wide(numbers.domain.lower),
        upper=_wide(numbers.domain.upper),
        shift=_wide(numbers.shift),
        scale=_wide(one if head.scale is None else head.scale),
        peak=_wide(zero if head.peak is None else head.peak),
        weight=weight,
        columns=weight.T.contiguous(),
        bias=_wide(torch.zeros(head.classes) if head.bias is None else head.bias),
        hidden=(torch.zeros_like(left) if hidden is None else hidden).to(torch.int8).contiguous(),
        allowed=left.to(torch.int8).contiguous(),
        numbers=torch.tensor(scalars, dtype=torch.float64),
        size=head.size,
        classes=head.classes,
        patches=problem.patches,
    )


def image_table(problem: Problem, most: Sequence[float], early: Sequence[Sequence[Pair]] | None = None) -> ImageTable:
    """The images' numbers."""
    count, patches, size = len(problem), problem.patches, problem.head.size
    observed = (problem.observed.lower + problem.observed.upper) / 2
    dissimilar = problem.dissimilarities().masked_fill(~problem.patches_left[:, None], torch.inf)
    first = torch.zeros((count, patches, size), dtype=torch.int8)
    for image, pairs in enumerate(early or ()):
        for patch, prototype in pairs:
            first[image, patch, prototype] = 1
    return ImageTable(
        observed=observed.view(count, patches, size).contiguous(),
        actual=((problem.activations.lower + problem.activations.upper) / 2).contiguous(),
        attained=dissimilar.argmin(1).to(torch.int32),
        early=first,
        predicted=problem.margins.predicted.to(torch.int32),
        most=torch.tensor(list(most), dtype=torch.float64),
    )


def work_table(problem: Problem, sizes: KernelSizes, device: torch.device | str = "cpu") -> WorkTable:
    """Room on a device for what is known of the images."""
    patches, head = problem.patches, problem.head
    known = {"L": patches, "R": patches + 1, "P": head.size, "C": head.classes, "M": sizes.room, "S": sizes.statements}
    room = []
    for annotation in get_type_hints(WorkTable, include_extras=True).values():
        kind, *names = annotation.__metadata__[0].split()
        shape = [len(problem), *(known.get(name) or int(name) for name in names)]
        make = torch.zeros if kind == "i1" else torch.empty
        room.append(make(shape, dtype=_KINDS[kind], device=device))
    return WorkTable(*room)


def steps_of(images: ImageTable, work: WorkTable) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many numbers of each table an image has."""
    steps, room = (tuple(each.stride(0) for each in table) for table in (images, work))
    return steps, room


def _wide(tensor: Tensor) -> Tensor:
    return tensor.to(torch.float64).contiguous()


def _there(table: T, device: torch.device | str) -> T:
    """A table whose tensors are on a device."""
    return type(table)(*(each.to(device) if isinstance(each, Tensor) else each for each in table))
