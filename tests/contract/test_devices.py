"""Devices that there are not, and those that the search does not compute on."""

from __future__ import annotations

import logging

import pytest
from support.small import small_head, small_latents

from verale.errors import UsageError
from verale.search.explain import explain


def test_what_a_device_does_not_search_the_cpu_does_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    head = small_head("cosine", 4)
    latents = small_latents(head, images=1, seed=4)
    monkeypatch.setattr("verale.search.batches.require_device", lambda device: None)
    with caplog.at_level(logging.WARNING):
        (there,) = explain(head, latents, "top_k", device="cuda")
    assert there == explain(head, latents, "top_k")[0]
    assert caplog.messages == ["the search does not compute on cuda yet, but on the CPU"]


@pytest.mark.parametrize("device", ["meta", "cuda:99", "mps", "abacus"])
def test_a_device_that_there_is_not_is_refused_before_the_search(device: str) -> None:
    head = small_head("cosine", 4)
    with pytest.raises(UsageError, match=f"device '{device}' cannot be used here"):
        explain(head, small_latents(head, images=1, seed=4), "top_k", device=device)
