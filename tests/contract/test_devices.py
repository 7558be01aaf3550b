"""The search on another device than the CPU: a stand-in whose arithmetic is as bad as the bounds allow."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest
from support import on_a_device
from support.small import GEOMETRIES, small_head, small_latents

from verale.errors import UsageError
from verale.search.explain import explain

_QUICK = ("cosine", "softmax")  # a mean is proved below
_PROVED = {"PROVED every claim that was checked is proved"}


@pytest.fixture(scope="module")
def there() -> Iterator[ProcessPoolExecutor]:
    """A process that has the device."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        yield process


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in _QUICK else pytest.mark.long) for name in on_a_device.HEADS]
)
def test_what_is_found_on_a_bad_device_is_proved(name: str, there: ProcessPoolExecutor) -> None:
    said = there.submit(on_a_device.verdicts, name).result()
    assert "top_k" in said if name in GEOMETRIES else len(said) == 2
    assert all(each == _PROVED for each in said.values()), said


def test_a_device_without_memory_gets_fewer_images(there: ProcessPoolExecutor) -> None:
    """tests/unit/search/test_explain.py has the words of other devices and libraries."""
    words = "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"
    rows = 3 * on_a_device.PATCHES
    assert there.submit(on_a_device.without_memory, words, rows, images=3).result() == (3, 1)


def test_memory_that_does_not_do_for_one_image_is_said(there: ProcessPoolExecutor) -> None:
    words = "CUDA error: out of memory"
    said = there.submit(on_a_device.without_memory, words, on_a_device.PATCHES, images=1).result()
    assert said == "UsageError: memory ran out on a single image: use a smaller model or another device"


def test_another_failure_of_a_device_is_not_hidden(there: ProcessPoolExecutor) -> None:
    words = "CUDA error: misaligned address"
    said = there.submit(on_a_device.without_memory, words, 3 * on_a_device.PATCHES, images=3).result()
    assert said == f"RuntimeError: {words}"


def test_the_stand_in_is_as_strict_as_a_device_and_as_inexact(there: ProcessPoolExecutor) -> None:
    units, same_quotients, same_products = there.submit(on_a_device.compared).result()
    assert 4 < units < 17 and not same_quotients and not same_products
    mixed, read = there.submit(on_a_device.refusals).result()
    assert "expected all tensors on one device" in mixed and "copy it to the host first" in read


@pytest.mark.long  # for cosines, and errors that are not drawn, the next test has the same
@pytest.mark.parametrize("name", ["euclidean", "cosine"])
def test_what_the_kernel_chooses_is_proved_and_minimal(name: str, interpreter: ProcessPoolExecutor) -> None:
    _, said, found, blocks = interpreter.submit(on_a_device.explained_in_blocks, name, images=2, seed=1).result()
    assert said == _PROVED
    assert len(found) == 2 and all(minimal for _, minimal in found)
    assert blocks >= 2


def test_certificates_of_the_kernel_are_proved_minimal_and_the_same_whatever_the_batch(
    interpreter: ProcessPoolExecutor,
) -> None:
    together, one_by_one = (
        interpreter.submit(on_a_device.explained_in_blocks, "cosine", batch, images=2).result() for batch in (2, 1)
    )
    assert len(together[0]) == 2 and together[0] == one_by_one[0]
    for _, said, found, blocks in (together, one_by_one):
        assert said == _PROVED
        assert len(found) == 2 and all(minimal for _, minimal in found)
        assert blocks >= 2


@pytest.mark.parametrize(
    "guards",
    [
        pytest.param((-1e3, 1e-6), id="next guard"),
        pytest.param((-1e3,), id="on tensors", marks=pytest.mark.long),
        pytest.param((0.05,), id="too many", marks=pytest.mark.long),
    ],
)
def test_a_choice_that_is_not_proved_or_not_minimal_is_made_again(
    guards: tuple[float, ...], interpreter: ProcessPoolExecutor
) -> None:
    """Under the guard -1000 nothing is stated, and under a large one too much."""
    _, said, found, _ = interpreter.submit(on_a_device.explained_in_blocks, "cosine", 2, guards, images=2).result()
    assert said == _PROVED
    assert len(found) == 2 and all(minimal for _, minimal in found)


def test_a_kernel_has_no_tolerance_and_no_means(interpreter: ProcessPoolExecutor) -> None:
    _, said, found, blocks = interpreter.submit(on_a_device.explained_in_blocks, "top mean", images=1).result()
    assert said == _PROVED and len(found) == 1
    assert blocks == 0


def test_a_device_without_numbers_is_refused_before_the_search() -> None:
    head = small_head("cosine", 4)
    with pytest.raises(UsageError, match="device 'meta' cannot be used here"):
        explain(head, small_latents(head, images=1, seed=4), "top_k", device="meta")
