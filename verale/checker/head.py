"""A head in exact numbers, as every rule computes with it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from itertools import compress
from operator import eq

from .chain import Similarity
from .dyadic import Exact, exact
from .read.head_file import HeadFile, read_head_file


class Head:
    """A prototype head.

    Attributes:
        sha256: digest of the file's bytes.
        geometry, pooling, readout: the kinds of these parts, by the names that v1.md gives them.
        similarity: with its numbers (`chain`).
        lower, upper: the domain of every latent coordinate, None where unbounded.
        weight: (C, P); for a soft tree (C, P + 1), its leaves.
        bias: (1, C), zeros if the file has none; for the readout `maximum` (1, P).
        prototypes: (P, D); no rows for softmax.
        classes, count, depth: C, P and D.
        epsilon: of a cosine; otherwise 0.
        radius: of inner products; None without a ball.
        k: of the pooling top_mean.
        mask: for each prototype the columns that it looks at, rising. Two banks are a mask of two columns; any other
            pooling than masked_max has one of one column.
        columns: how many there are; the last one stands for all further patches.
        absent, present: the children of each node of a soft tree: a later node, or a leaf q as -1 - q.
    """

    def __init__(self, file: HeadFile) -> None:
        def matrix(name: str, columns: int, default: list[list[int]]) -> Exact:
            return exact(file.tensors[name].floats(), columns) if name in file.tensors else Exact(default, 0)

        self.sha256, self.lower, self.upper = file.sha256, file.lower, file.upper
        self.classes, self.count, self.depth = file.classes, file.count, file.depth
        self.geometry, self.readout = file.geometry.kind, file.readout.kind
        self.pooling = "masked_max" if file.pooling.kind == "banks" else file.pooling.kind
        scale, peak = (matrix(name, file.count, [[each] * file.count]) for name, each in (("scale", 1), ("peak", 0)))
        self.similarity = Similarity(file.similarity.kind, file.chain, file.similarity.numbers, scale, peak)
        biases = file.count if self.readout == "maximum" else file.classes
        self.weight, self.bias = matrix("weight", file.columns, []), matrix("bias", biases, [[0] * biases])
        self.prototypes = matrix("prototypes", file.depth, [])
        self.epsilon: Fraction = file.geometry.numbers.get("epsilon", Fraction(0))
        self.radius: Fraction | None = file.geometry.numbers.get("radius")
        self.k: int = file.pooling.numbers.get("k", 0)
        self.mask, self.columns = _mask(file)
        self.absent: tuple[int, ...] = file.readout.numbers.get("absent", ())
        self.present: tuple[int, ...] = file.readout.numbers.get("present", ())

    @cached_property
    def _greatest(self) -> list[int]:
        return [max(column) for column in zip(*self.weight.rows, strict=True)]

    def belong(self, c: int) -> list[bool]:
        """(P,) which prototypes belong to a class: no class has a greater weight for them (linear readouts)."""
        return list(map(eq, self.weight.rows[c], self._greatest))

    def column(self, patch: int) -> int:
        """The column of the mask that stands for a patch."""
        return min(patch, self.columns - 1)

    def patches_of(self, prototype: int, patches: int) -> list[int]:
        """Which of so many patches a prototype looks at."""
        seen = self.mask[prototype]
        return [*seen, *(range(self.columns, patches) if seen[-1] == self.columns - 1 else ())]

    def left(self, patches: int, but: Iterable[int]) -> list[int]:
        """For each column how many of so many patches it stands for, but for these."""
        left = [1] * (self.columns - 1) + [patches - self.columns + 1]
        for patch in but:
            left[self.column(patch)] -= 1
        return left


def read_head(data: bytes) -> Head:
    """The head of a file's bytes. Raises HeadError, which names the field or tensor."""
    return Head(read_head_file(data))


def _mask(file: HeadFile) -> tuple[tuple[tuple[int, ...], ...], int]:
    """For each prototype the columns that it looks at, and how many there are."""
    if file.pooling.kind == "banks":
        token = file.pooling.numbers["class_token"]
        return ((0,),) * token + ((1,),) * (file.count - token), 2
    if file.pooling.kind != "masked_max":
        return ((0,),) * file.count, 1
    columns = file.tensors["mask"].shape[1]
    entries, every = file.tensors["mask"].floats(), range(columns)
    rows = range(0, len(entries), columns)
    return tuple(tuple(compress(every, entries[start : start + columns])) for start in rows), columns
