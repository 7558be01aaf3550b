"""Pictures of a deep network, whose latents the search estimates: what is written is proved, or it is not written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import in_process
from support.seen import COUNT, explain_pictures, write_pictures
from support.torch_networks import deep_network, frozen_network, random_pictures
from torch import nn

from verale.bounds.network import LatentRanges, latent_ranges
from verale.cli.terminal import Exit
from verale.runs.table import read_table
from verale.search import through


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_pictures(tmp_path, deep_network(30, nn.LeakyReLU(0.1)))


def test_only_what_is_estimated_says_so() -> None:
    (picture,) = random_pictures(1)
    assert latent_ranges(deep_network(30, nn.ReLU()), picture).estimated
    assert not latent_ranges(deep_network(30, nn.ReLU()), picture, "float32").estimated
    assert not latent_ranges(frozen_network("residual"), picture).estimated


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


def test_a_wrong_estimate_gives_no_false_certificate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Latents that are near those of the picture, as an estimate that is off would have them: what happens to be true
    of the picture nevertheless is kept."""

    def shifted(*given: Any) -> LatentRanges:
        found = latent_ranges(*given)
        off = 1e-5 * (1 + found.ends.upper.abs().amax())
        return replace(found, ends=replace(found.ends, lower=found.ends.lower + off, upper=found.ends.upper + off))

    monkeypatch.setattr(through, "latent_ranges", shifted)
    done = explain_pictures(folder, "--digits", "exact")
    assert done.returncode == Exit.UNEXPLAINED, done.stderr
    rows = read_table(folder / "out" / "explanations.csv")
    refused = [row.reason or "" for row in rows if row.certificate is None]
    assert len(rows) == COUNT and refused
    for reason in refused:
        assert re.match("statements were found, but an audit by arb does not prove them: statement .* is false", reason)
    kept = [str(path) for path in (folder / "out").glob("*.ale.json")]
    assert len(kept) == COUNT - len(refused)
    assert not kept or in_process("audit", folder / "out").returncode == 0
