"""The benchmark of rules: its page has the numbers of the rules, and its exit code says whether all is proved."""

from __future__ import annotations

import gzip
import struct
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.prototypedl import SIDE, save_whole, small

from benchmarks import rules
from verale.runs import rules as runs

COUNT = 24


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small network and images, under the names of those that are published."""
    save_whole(small(), tmp_path / "standard_model.pth")
    pixels = torch.randint(256, (COUNT, SIDE, SIDE), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    for name, shape, content in (
        ("t10k-images-idx3-ubyte.gz", pixels.shape, pixels.numpy().tobytes()),
        ("t10k-labels-idx1-ubyte.gz", (COUNT,), bytes(index % 3 for index in range(COUNT))),
    ):
        header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
        (tmp_path / name).write_bytes(gzip.compress(header + content))
    return tmp_path


def arguments(data: Path) -> list[str]:
    return ["--data", str(data), "--out", str(data / "rules.md"), "--count", "2", "--explained", "3"]


def test_the_page_has_rules_of_both_paradigms(data):
    assert rules.main(arguments(data)) == 0
    text = (data / "rules.md").read_text(encoding="utf-8")
    for paradigm in ("joint", "top_k"):
        (row,) = (line for line in text.splitlines() if line.startswith(f"| {paradigm} | ") and " of " in line)
        assert [cell.strip().split(" of ")[1] for cell in row.split("|")[3:5]] == ["12", "12"]
    assert "| any image | **2** | 12 | 12 |" in text  # the small network has one class for all images
    assert "activation at most " in text


def test_a_rule_that_is_not_proved_is_a_failure(data, monkeypatch):
    def unproved(*given, **more):
        return replace(true(*given, **more), exit_code=3)

    true = runs.fit_rules
    monkeypatch.setattr(rules, "fit_rules", unproved)
    assert rules.main([*arguments(data), "--count", "1", "--explained", "1"]) == 1
