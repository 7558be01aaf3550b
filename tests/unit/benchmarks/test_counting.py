"""Counts of operations, synchronisations, uploads and bytes, and what follows from them."""

from __future__ import annotations

import pytest
import torch

from benchmarks.counting import BANDWIDTH, LAUNCH, SYNCHRONISATION, UPLOAD, counted

NUMBERS = torch.arange(6, dtype=torch.float64)


def test_operations_are_counted_with_their_bytes_and_views_are_not() -> None:
    with counted() as counts:
        _ = NUMBERS.view(2, 3)[1].exp() + 1.0
    assert (counts.operations, counts.synchronisations, counts.uploads) == (2, 0, 0)
    assert counts.bytes == 2 * 2 * 3 * 8
    assert counts.seconds == pytest.approx(2 * LAUNCH)


@pytest.mark.parametrize(
    ("reads", "times"),
    [
        (lambda x: x[0].item(), 1),
        (lambda x: bool(x[0] > 1), 1),
        (lambda x: float(x.sum()), 1),
        (lambda x: x.tolist(), 1),
        (lambda x: x.cpu().numpy(), 2),
        (lambda x: x.nonzero(), 1),
        (lambda x: x[x > 2], 1),
        (lambda x: x.clone().__setitem__(x > 2, 0.0), 0),
        (lambda x: torch.where(x > 2, x, 0.0), 0),
        (lambda x: x[x.long()], 0),
    ],
)
def test_what_the_host_waits_for_is_counted(reads, times: int) -> None:
    with counted() as counts:
        reads(NUMBERS)
    assert counts.synchronisations == times
    assert counts.seconds == pytest.approx(LAUNCH * counts.operations + SYNCHRONISATION * times)


def test_numbers_of_the_host_are_uploads() -> None:
    with counted() as counts:
        torch.tensor([1.0, 2.0])
        NUMBERS.new_tensor([3.0])
    assert counts.uploads == 2
    assert counts.seconds >= 2 * UPLOAD


def test_many_bytes_take_longer_than_a_launch() -> None:
    many = torch.zeros(2_000_000, dtype=torch.float64)
    with counted() as counts:
        _ = many + many
    assert counts.seconds == pytest.approx(3 * many.numel() * 8 / BANDWIDTH)
    assert counts.times(2).seconds == pytest.approx(2 * counts.seconds)
