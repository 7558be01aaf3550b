"""The search on another device than the CPU: a stand-in whose arithmetic is as bad as the bounds allow."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest
from support import on_a_device
from support.small import small_head, small_latents

from verale.errors import UsageError
from verale.paradigms import PARADIGMS
from verale.search.explain import explain

_PROVED = "PROVED every claim that was checked is proved"
_SEARCHED = {
    "projection": ("cosine", 3),
    "triangle": ("euclidean", 3),
    "hypersphere": ("scaled", 3),
    "simplex": ("softmax", 3),
    "assignment": ("softmax", 3),
    "joint": ("inner product", 1),
    "evidence": ("softmax", 3),
    "sparse": ("softmax", 3),
    "top_k": ("inner product", 3),
    "mixed": ("cosine", 3),
}
"""By paradigm a head, and how many patches its images have."""
_VARIED = ("masked", "banks", "top mean", "tree", "maximum", "euclidean max_minus_mean")
"""Heads with poolings and readouts of their own, under `projection`."""


@pytest.fixture(scope="module")
def there() -> Iterator[ProcessPoolExecutor]:
    """A process that has the device."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        yield process


@pytest.mark.parametrize(
    ("paradigm", "digits"),
    [
        pytest.param(name, digits, marks=[pytest.mark.long] * ((at + which + 1) % 2))
        for at, name in enumerate(PARADIGMS)
        for which, digits in enumerate(("exact", "fewest"))
    ],
)
def test_every_paradigm_is_searched_on_a_bad_device_and_proved(
    paradigm: str, digits: str, there: ProcessPoolExecutor
) -> None:
    name, patches = _SEARCHED[paradigm]
    assert set(there.submit(on_a_device.verdicts, name, paradigm, digits, patches).result()) == {_PROVED}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (number % 2)) for number, name in enumerate(_VARIED)]
)
def test_every_pooling_and_readout_is_searched_on_a_bad_device(name: str, there: ProcessPoolExecutor) -> None:
    said = there.submit(on_a_device.verdicts, name, "projection", "exact", 4).result()
    assert set(said) == {_PROVED}


def test_a_device_without_memory_gets_fewer_images(there: ProcessPoolExecutor) -> None:
    words = "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"
    assert there.submit(on_a_device.without_memory, words, images=3, fit=2, patches=4).result() == (3, 1, True)


def test_a_device_without_memory_for_one_image_says_so(there: ProcessPoolExecutor) -> None:
    words = "cusolver error: CUSOLVER_STATUS_ALLOC_FAILED"
    said = there.submit(on_a_device.without_memory, words, images=1, fit=0, patches=5).result()
    assert said == "UsageError: memory ran out on a single image: use a smaller model or another device"


def test_another_failure_of_a_device_is_not_hidden(there: ProcessPoolExecutor) -> None:
    words = "CUDA error: misaligned address"
    assert (
        there.submit(on_a_device.without_memory, words, images=3, fit=2, patches=4).result() == f"RuntimeError: {words}"
    )


def test_the_stand_in_is_as_strict_as_a_device_and_as_inexact(there: ProcessPoolExecutor) -> None:
    units, same_quotients, same_products = there.submit(on_a_device.compared).result()
    assert 4 < units < 17 and not same_quotients and not same_products
    mixed, read = there.submit(on_a_device.refusals).result()
    assert "expected all tensors on one device" in mixed and "copy it to the host first" in read


@pytest.mark.parametrize("device", ["meta", "cuda:99", "cpu:99999999999", "mps", "abacus"])
def test_a_device_that_there_is_not_is_refused_before_the_search(device: str) -> None:
    head = small_head("cosine", 4)
    with pytest.raises(UsageError, match=f"device '{device}' cannot be used here"):
        explain(head, small_latents(head, images=1, seed=4), "top_k", device=device)
