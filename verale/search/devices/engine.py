"""The engine on a GPU: one launch proposes for all images; machine code proves on the CPU."""

from __future__ import annotations

import torch

from verale.bounds import Projection
from verale.search.devices.launch import choose_statements
from verale.search.machine_code import MachineCode
from verale.search.problem import Pair, Problem

__all__ = ["Launched"]


class Launched(MachineCode):
    """See `verale.search.prove.Engine`. `choose` raises NotCompiledError where the kernel does not run."""

    guards = tuple(guard for guard in MachineCode.guards if guard >= MachineCode.guards[0])

    def __init__(self, problem: Problem, paradigm: Projection, device: torch.device) -> None:
        super().__init__(problem, paradigm)
        self._projection, self._device = paradigm, device

    def choose(
        self, images: list[int], guard: float, most: list[float], early: list[list[Pair]]
    ) -> list[list[Pair] | str | None]:
        """See `Engine`."""
        if not images:
            return []
        return choose_statements(self.problem.take(images), self._projection, guard, most, early, self._device)
