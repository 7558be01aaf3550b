"""Pictures of a deep network, of whose latents floats know nothing: what is written is proved."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import in_process
from support.seen import COUNT, explain_pictures, write_pictures
from support.torch_networks import deep_network
from torch import nn


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_pictures(tmp_path, deep_network(30, nn.LeakyReLU(0.1)))


def test_what_is_written_is_proved_by_an_audit(folder: Path) -> None:
    done = explain_pictures(folder)
    assert done.returncode == 0 and f"{COUNT} of {COUNT} images have a certificate" in done.stderr, done.stderr
    audited = in_process("audit", folder / "out")
    assert audited.returncode == 0 and audited.stdout.count("PROVED ") >= COUNT, audited.stdout


def test_a_network_file_that_other_software_wrote_is_asked_about_by_its_numbers(folder: Path) -> None:
    """Its bytes are others, and certificates name those."""
    data = (folder / "n").read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    (folder / "n").write_bytes(end.to_bytes(8, "little") + data[8:end] + b" " * 8 + data[end:])
    done = explain_pictures(folder)
    assert done.returncode == 0 and f"{COUNT} of {COUNT} images have a certificate" in done.stderr, done.stderr
    assert in_process("audit", folder / "out").returncode == 0
