"""The gap of files: the checker decides, and each wrong input is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.boxes import save_coordinates
from support.small import small_latents, varied_head

from verale.checker.least import proved_least
from verale.errors import InputError, UsageError
from verale.head import save_latents
from verale.runs.gap import gap
from verale.search.explain import explain


def test_one_statement_is_enough_where_three_are_made(tmp_path) -> None:
    """A ceiling over all three does what the three statements do."""
    certificate, head, latents = save_coordinates(tmp_path, 3, (0.5, 0.0))
    result = gap(certificate, head, latents, tmp_path / "proof")
    assert (result.certificate.size, result.least, result.is_smallest) == (3, 1, False)
    assert proved_least((tmp_path / "proof").read_bytes(), head.read_bytes(), latents.read_bytes()) == 1


def test_nothing_is_smaller_than_one_statement_that_is_needed(tmp_path) -> None:
    certificate, head, latents = save_coordinates(tmp_path, 1, (0.5, 0.0))
    assert gap(certificate, head, latents, kernel="both").record() == {
        "predicted": 0,
        "paradigm": "top_k",
        "statements": 1,
        "least": 1,
        "smallest": True,
    }


def test_without_time_the_bound_is_weak_and_proved(files) -> None:
    fast = gap(files.certificates[0], files.head_path, files.latents_path, seconds=0)
    assert fast.least <= gap(files.certificates[0], files.head_path, files.latents_path).least


def test_wrong_inputs_are_named(files, tmp_path) -> None:
    certificate = files.certificates[0]
    with pytest.raises(UsageError, match="seconds is -1"):
        gap(certificate, files.head_path, files.latents_path, seconds=-1)
    for kernel in ("proved", "all"):
        with pytest.raises(UsageError, match=f"kernel {kernel}: the proof of proved does not cover"):
            gap(certificate, files.head_path, files.latents_path, kernel=kernel)
    with pytest.raises(InputError, match="has no latents beside it"):
        gap(certificate, files.head_path, None)
    record = json.loads(Path(certificate).read_bytes())
    record["subject"].pop()
    record["predicate"]["claims"].remove("instance")
    (tmp_path / "anonymous").write_text(json.dumps(record))
    save_latents(tmp_path / "one", small_latents(files.head, images=1))
    with pytest.raises(InputError, match="names no image"):
        gap(tmp_path / "anonymous", files.head_path, tmp_path / "one")
    head = varied_head("maximum")
    latents = small_latents(head, images=1)
    head.save(tmp_path / "other")
    save_latents(tmp_path / "one", latents)
    explain(head, latents)[0].save(tmp_path / "certificate")
    with pytest.raises(UsageError, match="the readout is maximum"):
        gap(tmp_path / "certificate", tmp_path / "other", tmp_path / "one")
