"""One thread within the search, and what the process had after it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from support.small import small_head, small_latents, varied_head
from threadpoolctl import threadpool_info, threadpool_limits

from verale.search import Batches, SearchOptions
from verale.search import devices as threads_of_search
from verale.search.devices import computing_on, head_on, one_thread
from verale.search.paradigms.base import ParadigmSearch


@pytest.fixture(autouse=True)
def three() -> Iterator[None]:
    threads_of_search._controller.cache_clear()  # libraries that only other tests load count here, too
    before = torch.get_num_threads()
    with threadpool_limits(3, user_api="blas"):
        torch.set_num_threads(3)
        yield
        torch.set_num_threads(before)


def of_blas() -> set[int]:
    """The numbers of threads of every BLAS."""
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def threads() -> set[int]:
    return {torch.get_num_threads(), *of_blas()}


def test_a_block_has_one_and_then_the_process_has_what_it_had() -> None:
    assert threads() == {3}
    with one_thread():
        assert threads() == {1}
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {3}


def test_it_ends_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == {3}


def test_threads_of_python_may_have_a_block_each() -> None:
    entered, leave = threading.Event(), threading.Event()
    seen: list[set[int]] = []

    def other() -> None:
        with one_thread():
            seen.append(threads())
            entered.set()
            leave.wait(60)
        seen.append(threads())

    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        assert entered.wait(60)
        assert threads() == {1}
    assert threads() == {3}
    leave.set()
    thread.join()
    assert threads() == {3}
    assert seen == [{1}, {3}]
    later: list[int] = []
    thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert later == [3]


def test_a_block_that_is_not_entered_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threads_of_search._blocks, "enter", interrupted)
        with pytest.raises(KeyboardInterrupt), one_thread():
            pass
    with one_thread():
        assert threads() == {1}
    assert threads() == {3}


def test_images_are_explained_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    head = small_head("euclidean")
    seen: set[int] = set()
    solve = ParadigmSearch.solve

    def watched(self: ParadigmSearch, *arguments: Any) -> Any:
        seen.update(threads())
        return solve(self, *arguments)

    monkeypatch.setattr(ParadigmSearch, "solve", watched)
    batches = Batches(head, small_latents(head), SearchOptions("projection"))
    assert batches.explain(0)
    assert seen == {1}
    assert threads() == {3}


# What is moved to a device, and where new tensors are made.


def test_new_tensors_are_made_on_the_device_within_the_block_alone() -> None:
    with computing_on("meta"):
        assert torch.zeros(2).device.type == "meta"
    assert torch.zeros(2).device.type == "cpu"


def test_the_cpu_needs_no_block_and_no_copy() -> None:
    head = small_head("cosine")
    with computing_on("cpu"):
        assert torch.zeros(2).device.type == "cpu"
    assert head_on(head, "cpu") is head


@pytest.mark.parametrize("name", ["masked", "tree", "cosine quadratic"])
def test_all_tensors_of_a_head_are_moved_and_the_given_one_stays(name: str) -> None:
    head = varied_head(name)
    there = head_on(head, "meta")
    tensors = {key: value for key, value in vars(there).items() if isinstance(value, torch.Tensor)}
    tensors |= there.pooling.tensors
    assert len(tensors) >= 2 and {each.device.type for each in tensors.values()} == {"meta"}
    assert head.weight.device.type == "cpu" and there.weight.shape == head.weight.shape
