"""Which heads the kernel has, and the sizes that it is compiled for."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace

import pytest
import torch
from support.cases import every
from support.compiled import ADMITTED, OF_MAXIMA, head_named, problem_named

from verale.bounds import Projection, Triangle
from verale.search.devices import launch, tables


@every("name", ADMITTED)
def test_heads_with_max_pooling_are_admitted(name: str) -> None:
    head = head_named(name)
    assert tables.admits(head, Projection(head), "rival") == (name in OF_MAXIMA)


def test_what_else_is_not_admitted() -> None:
    head = head_named("euclidean")
    assert not tables.admits(head, Projection(head), "sweep")
    assert not tables.admits(head, Triangle(head), "rival")
    many = replace(head, weight=torch.zeros(4096, head.size), bias=None)
    assert not tables.admits(many, Projection(many), "rival")


@pytest.mark.parametrize("name", ["euclidean", "cosine"])
def test_sizes_are_powers_of_two_and_large_enough(name: str) -> None:
    head = head_named(name)
    sizes = tables.kernel_sizes(head, 5)
    numbers = [size for size in sizes[2:] if size & (size - 1) == 0]
    assert len(numbers) == len(sizes) - 2
    assert sizes.prototypes >= head.size and sizes.classes >= head.classes
    assert sizes.room > min(head.size, head.depth)
    assert tables.warps(sizes) == 1 and tables.warps(sizes._replace(prototypes=1024)) == 16


@pytest.mark.parametrize("name", ["euclidean", "cosine"])
def test_memory_is_not_underestimated(name: str) -> None:
    problem = problem_named(name).take([0])
    sizes = tables.kernel_sizes(problem.head, problem.patches)
    needed = [*launch.work_table(problem, sizes), *launch.image_table(problem, [1.0])]
    assert sum(table.nbytes for table in needed) <= tables.kernel_bytes(problem.head, problem.patches)


def test_what_is_documented_is_there() -> None:
    for table in (tables.KernelSizes, tables.HeadTable, tables.ImageTable, tables.WorkTable, tables.Block):
        documented = ast.get_docstring(ast.parse(inspect.getsource(table)).body[0]) or ""  # type: ignore[arg-type]
        assert all(field in documented for field in table._fields), table
