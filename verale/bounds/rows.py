"""Rows: the state of a spatial paradigm, one row a patch; a frozen dataclass of tensors with R rows each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from verale.errors import UsageError
from verale.head import Head
from verale.paradigms import PARADIGMS
from verale.rounding import Enclosure

__all__ = ["ExactParadigm", "Rows", "SpatialParadigm", "extend_all", "put", "require_geometry", "take"]


class Rows(Protocol):
    """The state of R patches: bounds of every observable, given the statements so far."""

    @property
    def range(self) -> Enclosure:
        """(R, P) bounds of the observables; a pair's own statement and the head's domain are included."""
        ...


R = TypeVar("R", bound=Any)


class SpatialParadigm(Protocol[R]):
    """A way from statements about pairs (patch, prototype) to bounds of all observables of each patch."""

    name: str

    ordered: bool
    """Whether the bounds depend on the order in which statements are entered, and dropping one may tighten them. Rows
    of such a paradigm also have `lost`, (R,) bool: where its bounds may be looser than those of the checker."""

    @property
    def size(self) -> int:
        """P."""
        ...

    def start(self, rows: int) -> R:
        """Rows without statements."""
        ...

    def extend(self, rows: R, prototype: Tensor, observed: Enclosure) -> R:
        """Rows after one more statement each: m(z_r, p_j) in observed[r] with j = prototype[r]; (R,) int64 and (R,)."""
        ...


@runtime_checkable
class ExactParadigm(SpatialParadigm[R], Protocol[R]):
    """A paradigm that gives the exact ranges of all observables: only under such a one is a statement surely needed."""

    def inner(self) -> ExactParadigm[R]:
        """The same paradigm, but its rows have ranges from within: each end is attained under the statements, or at
        least lies inside the exact range. Where float64 cannot tell, lower ends are infinity and upper ends minus
        infinity. They serve the claim of minimality, never a proof."""
        ...


def require_geometry(paradigm: str, head: Head, needs: str) -> None:
    """Raise UsageError, which says what the paradigm needs, unless it is defined for the head's geometry."""
    if head.geometry.kind not in PARADIGMS[paradigm].geometries:
        raise UsageError(f"paradigm {paradigm!r} needs {needs}")


def take(rows: R, index: Tensor) -> R:
    """A copy of the rows of an index (int64)."""
    taken: R = type(rows)(**{f.name: getattr(rows, f.name).index_select(0, index) for f in fields(rows)})
    return taken


def put(rows: R, index: Tensor, replacements: R) -> R:
    """`rows` with the rows of an index replaced, in place; only tensors with a grown trailing dimension are copied."""
    replaced = {}
    for f in fields(rows):
        old, new = getattr(rows, f.name), getattr(replacements, f.name)
        if old.shape[1:] != new.shape[1:]:
            shape = [max(a, b) for a, b in zip(old.shape[1:], new.shape[1:], strict=True)]
            old, new = _pad(old, shape), _pad(new, shape)
        replaced[f.name] = old.index_copy_(0, index, new)
    result: R = type(rows)(**replaced)
    return result


def extend_all(
    paradigm: SpatialParadigm[R],
    rows: R,
    where: list[int],
    prototypes: list[list[int]],
    observed: Enclosure,
    check: Callable[[], object] = lambda: None,
) -> R:
    """Rows after a list of statements each, one statement of every list at a time; lists may differ in length.

    Args:
        paradigm: how statements bound observables.
        rows: R of the paradigm's rows.
        where: for each of them, its patch: a row of `observed`.
        prototypes: for each of them, the prototypes to state, in order.
        observed: (N, P) the ends that statements give.
        check: called before each step, to raise where time is over.
    """
    patches = torch.tensor(where, dtype=torch.int64)
    for step in range(max(map(len, prototypes), default=0)):
        check()
        longer = [row for row, stated in enumerate(prototypes) if len(stated) > step]
        next_ = torch.tensor([prototypes[row][step] for row in longer])
        if len(longer) == len(where):
            rows = paradigm.extend(rows, next_, observed[patches, next_])
        else:
            index = torch.tensor(longer)
            rows = put(rows, index, paradigm.extend(take(rows, index), next_, observed[patches[index], next_]))
    return rows


def _pad(tensor: Tensor, shape: list[int]) -> Tensor:
    if list(tensor.shape[1:]) == shape:
        return tensor
    padded = tensor.new_zeros([tensor.shape[0], *shape])
    padded[tuple(slice(0, size) for size in tensor.shape)] = tensor
    return padded
