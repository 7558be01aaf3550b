"""Which activations to state: a facility location problem, for HiGHS."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verale.bounds import LinearMargins
from verale.rounding import Enclosure

__all__ = ["Covering", "without_printing"]

_LOWER, _UPPER = 20, 6
"""So many statements are considered for each lower and each upper end."""
_CLEAR = 1e-7
"""What a margin has to exceed 0 by, so that rounding does not decide."""
_SLIGHT, _NOTHING = 2e-3, 1e-5
"""The least share of some rival's lack for which a statement about another activation is considered, and the least
that counts."""
_NODES = 200
"""Of the tree that the search for integers visits; a limit of time would make results depend on the machine. There is
no presolving, and every y is an integer too, so that HiGHS seldom has to mend a solution."""
_SMALL = 1000
"""With so many columns the simplex method is faster than interior points."""


@dataclass(frozen=True, eq=False)
class Covering:
    """The cheapest statements that lift every open rival's margin above 0; all of it estimates, for the search.

    x_k in {0, 1} says that a_k is stated. Each end of a_j is bounded by one of the statements, y_kj <= x_k, where that
    of a_k gains the margin of rival c the number g_ckj. Minimize sum_k e_k x_k, where the statement about a_k costs e_k
    (without costs 1, so that it is their number), subject to, for every open rival,
    sum_kj g_ckj y_kj >= 1, the unit being what the rival lacks, and for every end sum_k y_kj <= 1.

    Attributes:
        each: (P,) what statements cost.
        rivals: how many are open.
        columns: (Y,) the k of every y_kj.
        ends: (Y,) numbers the end that it bounds.
        gains: (R, Y).
        direct: (R, P) gains of x itself.
    """

    each: NDArray[np.float64]
    rivals: int
    columns: NDArray[np.int64]
    ends: NDArray[np.int64]
    gains: NDArray[np.float64]
    direct: NDArray[np.float64]

    @classmethod
    def of(cls, margins: LinearMargins, box: Enclosure, table: Enclosure, each: Tensor | None = None) -> Covering:
        """The covering of one image.

        Args:
            margins: of the image.
            box: (P,) the activations' ranges so far.
            table: (P, P) row k has the ranges that follow from the statement about a_k.
            each: (P,) what statements cost; 1 by default.
        """
        least = margins.lower(box[None, None])[0, 0]
        open_ = least <= 0
        lacks = (_CLEAR - least[open_])[:, None]
        columns: list[Tensor] = []
        ends: list[Tensor] = []
        gains: list[Tensor] = []
        for tighter, weights, most in (
            ((table.lower - box.lower).clamp(min=0), margins.positive[0], _LOWER),
            ((box.upper - table.upper).clamp(min=0), -margins.negative[0], _UPPER),
        ):
            shares = weights[:, open_].T / lacks
            best, sources = tighter.topk(min(most, len(tighter)), dim=0)
            gain = shares[:, None] * best  # (R, most, P)
            own = sources == torch.arange(len(tighter))
            used = (gain > torch.where(own, _NOTHING, _SLIGHT)).any(0)
            columns.append(sources[used])
            ends.append(used.nonzero()[:, 1] + len(ends) * len(tighter))
            gains.append(gain[:, used])
        every = torch.cat(gains, 1)
        every = every.masked_fill(every <= _NOTHING, 0.0)
        column, end = torch.cat(columns), torch.cat(ends)
        # Where an end has one candidate alone, y is x.
        alone = torch.bincount(end, minlength=1)[end] == 1
        direct = every.new_zeros(len(lacks), len(box.lower)).index_add_(1, column[alone], every[:, alone])
        rest = (each.cpu().numpy() for each in (column[~alone], end[~alone], every[:, ~alone], direct))
        costs = np.ones(len(box.lower)) if each is None else each.cpu().numpy()
        return cls(costs, len(lacks), *rest)

    @property
    def size(self) -> int:
        """P."""
        return len(self.each)

    def relaxed(self) -> tuple[float, Tensor] | None:
        """The least cost of x in [0, 1], and x (P,); None if there is none."""
        from scipy.optimize import linprog

        if not self.rivals:
            return 0.0, torch.zeros(self.size, dtype=torch.float64)
        method = "highs-ds" if len(self._costs) <= _SMALL else "highs-ipm"
        result = linprog(self._costs, A_ub=self._matrix, b_ub=self._limits, bounds=(0, 1), method=method)
        return None if result.x is None else (float(result.fun), torch.from_numpy(result.x[: self.size].copy()))

    def solved(self, otherwise: Tensor) -> Tensor:
        """x (P,) in integers: the cheapest, or the cheapest found; `otherwise` if none are found."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        if not self.rivals:
            return otherwise
        with without_printing():
            result = milp(
                self._costs,
                constraints=LinearConstraint(self._matrix, ub=self._limits),
                integrality=np.ones(self.size + len(self.columns)),
                bounds=Bounds(0, 1),
                options={"node_limit": _NODES, "presolve": False},
            )
        return otherwise if result.x is None else torch.from_numpy(result.x[: self.size].round())

    @property
    def _costs(self) -> NDArray[np.float64]:
        return np.concatenate([self.each, np.zeros(len(self.columns))])

    @property
    def _limits(self) -> NDArray[np.float64]:
        groups = len(np.unique(self.ends))
        return np.concatenate([-np.ones(self.rivals), np.ones(groups), np.zeros(len(self.columns))])

    @property
    def _matrix(self) -> Any:
        from scipy.sparse import block_array, csr_array

        count = len(self.columns)
        each, ones = np.arange(count), np.ones(count)
        _, groups = np.unique(self.ends, return_inverse=True)
        covered = [csr_array(-self.direct), csr_array(-self.gains)]
        if not count:
            return covered[0]
        once = csr_array((ones, (groups, each)))
        stated = csr_array((-ones, (each, self.columns)), shape=(count, self.size))
        return block_array([covered, [None, once], [stated, csr_array((ones, (each, each)))]], format="csr")


@contextmanager
def without_printing() -> Iterator[None]:
    """What C code prints on this process's stdout goes nowhere.

    HiGHS prints a line when it mends a solution, whatever it is told, among what a command prints for programs.
    """
    if os.name != "posix":
        yield
        return
    flush = ctypes.CDLL(None).fflush
    flush(None)
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(kept)
