"""Every operation of both kernels, at drawn arguments, against exact numbers and the other kernel's library."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.cases import every
from support.enclosures import OF_A_KERNEL, OF_NONE

from verale.checker.options import KERNELS, load_arithmetic


@pytest.mark.parametrize("samples", [500, pytest.param(5_000, marks=pytest.mark.long)])  # as many for either kernel
def test_every_enclosure_holds(samples: int) -> None:
    kernels = [load_arithmetic(name) for name in KERNELS]
    drawn = [(operation, (kernel,)) for operation in OF_A_KERNEL for kernel in kernels]
    for operation, of in [*drawn, *((operation, ()) for operation in OF_NONE)]:
        generator = random.Random(operation.__name__)
        assert all(operation(*of, generator) for _ in range(samples)), (operation, of)


class Inward:
    """A kernel that gives an end as one too much, or too little."""

    def __init__(self, kernel: Any, by: tuple[int, int]) -> None:
        self._kernel, self._by = kernel, by

    def __getattr__(self, name: str) -> Any:
        of_kernel, (low, high) = getattr(self._kernel, name), self._by
        match name:
            case "log" | "exp":
                return lambda *arguments: tuple(map(sum, zip(of_kernel(*arguments), (low, high), strict=True)))
            case "product":
                return lambda *arguments: [[entry + low + high for entry in row] for row in of_kernel(*arguments)]
        return of_kernel


@every("by", [(1, 0), (0, -1)])
@every("name", KERNELS)
@every("operation", OF_A_KERNEL)
def test_one_unit_inward_is_found(operation: Any, name: str, by: tuple[int, int]) -> None:
    generator = random.Random(1)
    wrong = sum(not operation(Inward(load_arithmetic(name), by), generator) for _ in range(100))
    assert wrong > 20
