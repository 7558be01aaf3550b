"""Long work that is interrupted: folders are compared to the byte, and a stopped run ends with the same one."""

from __future__ import annotations

import shutil

import pytest
import torch

from benchmarks import interrupted
from verale.head import Box, Euclidean, Head, LogRatio
from verale.runs.explain import open_run
from verale.search import SearchOptions


def test_folders_differ_by_a_byte_but_not_by_seconds(tmp_path) -> None:
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(4, 3, generator=generator)
    head = Head(torch.eye(2).repeat_interleave(2, 1), Euclidean(), LogRatio(1e-4), points, domain=Box(0, 1))
    for name in ("one", "other"):
        with open_run(tmp_path / name, head, points[:, None], SearchOptions("projection", digits="exact")) as run:
            list(run)
    assert interrupted.differences(tmp_path / "one", tmp_path / "other") == []
    certificate = next((tmp_path / "other").glob("*.ale.json"))
    certificate.write_bytes(certificate.read_bytes() + b" ")
    assert interrupted.differences(tmp_path / "one", tmp_path / "other") == [certificate.name]
    certificate.unlink()
    assert interrupted.differences(tmp_path / "one", tmp_path / "other") == [certificate.name]
    shutil.copytree(tmp_path / "one", tmp_path / "other", dirs_exist_ok=True)
    assert interrupted.differences(tmp_path / "one", tmp_path / "other") == []


@pytest.mark.long  # five processes
def test_a_run_that_is_stopped_twice_ends_with_the_same_folder(tmp_path, capsys) -> None:
    options = ["--images", "300", "--jobs", "1", "--stops", "int,kill", "--out", str(tmp_path / "page.md")]
    assert interrupted.main(options) == 0, capsys.readouterr().err
    assert "Both folders are the same, byte for byte." in (tmp_path / "page.md").read_text()
