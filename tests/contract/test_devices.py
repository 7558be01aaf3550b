"""Explanations whose statements a GPU's kernel chooses, here interpreted; devices that there are not."""

from __future__ import annotations

import logging
from concurrent.futures import ProcessPoolExecutor

import pytest
from support import in_blocks
from support.small import small_head, small_latents

from verale.errors import UsageError
from verale.search import devices
from verale.search.explain import explain

_PROVED = {"PROVED every claim that was checked is proved"}


@pytest.mark.long  # for cosines the next test has the same
def test_what_the_kernel_chooses_is_proved_and_minimal(interpreter: ProcessPoolExecutor) -> None:
    _, said, found, blocks = interpreter.submit(in_blocks.explained, "euclidean", images=2).result()
    assert said == _PROVED
    assert len(found) == 2 and all(minimal for _, minimal in found)
    assert blocks >= 2


def test_certificates_of_the_kernel_are_proved_minimal_and_the_same_whatever_the_batch(
    interpreter: ProcessPoolExecutor,
) -> None:
    together, one_by_one = (
        interpreter.submit(in_blocks.explained, "cosine", batch, images=2).result() for batch in (2, 1)
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
        pytest.param((-1e3,), id="the CPU", marks=pytest.mark.long),
        pytest.param((0.05,), id="too many", marks=pytest.mark.long),
    ],
)
def test_a_choice_that_is_not_proved_or_not_minimal_is_made_again(
    guards: tuple[float, ...], interpreter: ProcessPoolExecutor
) -> None:
    """Under the guard -1000 nothing is stated, and under a large one too much."""
    _, said, found, _ = interpreter.submit(in_blocks.explained, "cosine", 2, guards, images=2).result()
    assert said == _PROVED
    assert len(found) == 2 and all(minimal for _, minimal in found)


def test_a_kernel_has_no_means(interpreter: ProcessPoolExecutor) -> None:
    _, said, found, blocks = interpreter.submit(in_blocks.explained, "top mean", images=1).result()
    assert said == _PROVED and len(found) == 1
    assert blocks == 0


def test_what_a_device_does_not_search_the_cpu_does_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    head = small_head("cosine", 4)
    latents = small_latents(head, images=1, seed=4)
    monkeypatch.setattr("verale.search.batches.require_device", lambda device: None)
    with caplog.at_level(logging.WARNING):
        (there,) = explain(head, latents, "top_k", device="cuda")
    assert there == explain(head, latents, "top_k")[0]
    (line,) = caplog.messages
    assert line.startswith("top_k of this head is searched on the CPU: cuda searches projection alone")


def test_where_kernels_do_not_run_the_cpu_searches_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    head = small_head("cosine", 4)
    latents = small_latents(head, images=1, seed=4)
    monkeypatch.setattr("verale.search.batches.require_device", lambda device: None)
    monkeypatch.setattr(devices, "_without", set())
    devices._runs_on.cache_clear()
    with caplog.at_level(logging.WARNING):
        (there,) = explain(head, latents, "projection", device="cuda:99")
    assert there == explain(head, latents, "projection")[0]
    assert "kernels do not run on cuda:99, so the CPU searches" in caplog.messages[0]


@pytest.mark.parametrize("device", ["meta", "cuda:99", "mps", "abacus"])
def test_a_device_that_there_is_not_is_refused_before_the_search(device: str) -> None:
    head = small_head("cosine", 4)
    with pytest.raises(UsageError, match=f"device '{device}' cannot be used here"):
        explain(head, small_latents(head, images=1, seed=4), "top_k", device=device)
