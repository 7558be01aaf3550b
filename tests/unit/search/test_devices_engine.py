"""What goes to the kernel, and what goes on as before; tests/contract/test_devices.py has whole explanations."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.compiled import head_named, problem_named
from support.small import small_head
from triton.runtime.errors import OutOfResources

from verale.bounds import Projection, Triangle
from verale.search import devices
from verale.search.costs import Costs
from verale.search.devices import engine, launch
from verale.search.machine_code import MachineCode
from verale.search.problem import Problem
from verale.search.prove import SpatialExplanation, propose_and_prove
from verale.search.spatial import explain_spatial, is_launched


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels run on the CPU too; or so it is said."""
    monkeypatch.setattr(devices, "is_available", lambda device: True)


def machine_code(problem: Problem) -> SpatialExplanation:
    """The explanation of the only image, in machine code."""
    explained = propose_and_prove(MachineCode(problem, Projection(problem.head)))[0]
    assert isinstance(explained, SpatialExplanation)
    return explained


def test_equations_of_equal_cost_go_to_the_kernel(everywhere: None) -> None:
    head = problem_named("euclidean").head
    assert is_launched(head, Projection(head), "rival", "cuda")
    assert not is_launched(head, Projection(head), "sweep", "cuda")
    assert not is_launched(head, Triangle(head), "rival", "cuda")


def test_wide_statements_do_not(everywhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_named("euclidean", tolerance=0.01).take([0])
    monkeypatch.setattr(engine, "choose_statements", None)
    (explanation,) = explain_spatial(problem, Projection(problem.head), "rival", device="cuda")
    assert isinstance(explanation, SpatialExplanation)


def test_costs_are_searched_on_the_cpu(everywhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_named("euclidean").take([0])
    monkeypatch.setattr(engine, "choose_statements", None)
    costly = replace(problem, costs=Costs(prototypes=((0, 2.0),)))
    (explanation,) = explain_spatial(costly, Projection(costly.head), "rival")
    assert explanation.pairs


def test_on_the_cpu_nothing_is_launched() -> None:
    problem = problem_named("cosine")
    assert not is_launched(problem.head, Projection(problem.head), "rival", "cpu")


def test_what_the_kernel_gives_up_is_said_and_what_it_cannot_do_is_done_elsewhere(
    everywhere: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problem_named("euclidean").take([0, 1, 2])
    paradigm = Projection(problem.head)
    before = [machine_code(problem.take([image])) for image in range(3)]
    answers = {0: "given up", 1: None, 2: before[2].pairs}

    def choose(asked: Problem, *_: object) -> list[object]:
        return list(answers.values())[: len(asked)]

    monkeypatch.setattr(engine, "choose_statements", choose)
    given_up, elsewhere, proved = explain_spatial(problem, paradigm, "rival")
    assert given_up == "given up"
    assert elsewhere.minimal and (elsewhere.margins > 0).all()
    assert proved.pairs == before[2].pairs and proved.minimal
    assert torch.allclose(proved.margins, before[2].margins, atol=1e-9)


def test_statements_that_prove_too_little_are_not_taken(everywhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_named("euclidean").take([0])
    paradigm = Projection(problem.head)
    asked = []

    def choose(some: Problem, _: object, guard: float, *rest: object) -> list[object]:
        asked.append(guard)
        return [[(0, 0)] for _ in range(len(some))]

    monkeypatch.setattr(engine, "choose_statements", choose)
    (explanation,) = explain_spatial(problem, paradigm, "rival")
    assert asked == sorted(asked) and len(asked) == 3
    assert len(explanation.pairs) > 1 and (explanation.margins > 0).all()


def test_a_kernel_that_is_not_compiled_is_told_once_and_done_without(
    everywhere: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Refused:
        def __getitem__(self, grid: object) -> object:
            raise OutOfResources(300_000, 232_448, "shared memory")

    problem = problem_named("cosine").take([0])
    paradigm = Projection(problem.head)
    monkeypatch.setattr(launch, "choose_in_blocks", Refused())
    monkeypatch.setattr(devices, "_without", set())
    for _ in range(2):
        (explanation,) = explain_spatial(problem, paradigm, "rival")
        assert explanation.pairs == machine_code(problem).pairs
    (line,) = caplog.messages
    assert "kernels do not run on cpu, so the CPU searches" in line and "shared memory" in line


def test_heads_without_the_kernel_need_no_memory_for_it() -> None:
    assert devices.kernel_bytes(head_named("euclidean"), 5) > 0
    assert devices.kernel_bytes(small_head("softmax"), 5) == 0
