"""What is moved to a device, and where new tensors are made."""

from __future__ import annotations

import pytest
import torch
from support.small import small_head, varied_head

from verale.search.devices import computing_on, head_on


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
