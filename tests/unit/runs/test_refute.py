"""Refuting files: the checker decides, and each wrong input is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.small import small_head, small_latents

import verale
from verale.checker import Status
from verale.errors import InputError, UsageError
from verale.head import load_latents, save_latents


def without_statements(certificate: str) -> Path:
    """A copy that states nothing, and so entails nothing."""
    record = json.loads(Path(certificate).read_bytes())
    record["predicate"]["statements"] = []
    copy = Path(certificate).with_name("empty.ale.json")
    copy.write_text(json.dumps(record))
    return copy


def test_a_certificate_without_statements_is_refuted_with_a_witness(files, tmp_path) -> None:
    certificate, out = without_statements(files.certificates[0]), tmp_path / "witness"
    verdict = verale.refute(certificate, files.head_path, files.latents_path, out)
    assert verdict.status is Status.REFUTED
    assert load_latents(out).shape[0] == 1


def test_no_time_finds_nothing_and_writes_nothing(files, tmp_path) -> None:
    verdict = verale.refute(files.certificates[0], files.head_path, out=tmp_path / "witness", seconds=0)
    assert (verdict.status, verdict.reason) == (Status.NOT_REFUTED, "witness")
    assert "proves nothing" in verdict.message
    assert not (tmp_path / "witness").exists()


def test_the_certificate_of_another_head_is_not_searched(files, tmp_path) -> None:
    small_head("euclidean", seed=7).save(tmp_path / "other")
    verdict = verale.refute(files.certificates[0], tmp_path / "other")
    assert (verdict.status, verdict.reason) == (Status.NOT_REFUTED, "subject")
    (tmp_path / "bad").write_bytes(b"{")
    assert verale.refute(tmp_path / "bad", files.head_path).status is Status.MALFORMED


def test_wrong_inputs_are_named(files, tmp_path) -> None:
    certificate = files.certificates[0]
    with pytest.raises(UsageError, match="seconds is -1"):
        verale.refute(certificate, files.head_path, seconds=-1)
    with pytest.raises(InputError, match="nowhere: there is no such file"):
        verale.refute(certificate, tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a folder"):
        verale.refute(certificate, files.head_path, out=tmp_path)
    save_latents(tmp_path / "others", small_latents(files.head, images=2, seed=9))
    with pytest.raises(InputError, match=r"others: holds no image with the digest .*latents of its image, or none"):
        verale.refute(certificate, files.head_path, tmp_path / "others")
    save_latents(tmp_path / "larger", small_latents(files.head, patches=7))
    with pytest.raises(InputError, match="larger: holds images of 7 patches, expected the certificate's 5"):
        verale.refute(certificate, files.head_path, tmp_path / "larger")
