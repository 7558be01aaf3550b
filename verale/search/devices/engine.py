"""The engine on a GPU: one launch proposes for all images; machine code proves on the CPU."""

from __future__ import annotations

from typing import Any

import torch

from verale.search.devices.launch import choose_statements
from verale.search.machine_code import MachineCode
from verale.search.problem import Pair, Problem

__all__ = ["Launched"]


class Launched(MachineCode):
    """See `verale.search.prove.Engine`. `choose` raises NotCompiledError where the kernel does not run."""

    guards = tuple(guard for guard in MachineCode.guards if guard >= MachineCode.guards[0])

    def __init__(self, problem: Problem, paradigm: Any, device: torch.device) -> None:
        super().__init__(problem, paradigm)
        self._device = device

    def choose(
        self, images: list[int], guard: float, most: list[float], early: list[list[Pair]]
    ) -> list[list[Pair] | str | None]:
        """See `Engine`."""
        if not images:
            return []
        return choose_statements(self.problem.take(images), self.paradigm, guard, most, early, self._device)
