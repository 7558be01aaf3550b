"""The gap of files: the checker decides, and each wrong input is named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.boxes import save_coordinates
from support.commands import in_process
from support.small import small_head, small_latents, varied_head

from verale.checker.least import proved_least
from verale.errors import InputError, UsageError
from verale.head import save_latents
from verale.runs.contrast import contrast
from verale.runs.necessity import gap, necessity
from verale.search.explain import explain


def test_one_statement_is_enough_where_three_are_made(tmp_path) -> None:
    """A ceiling over all three does what the three statements do."""
    certificate, head, latents = save_coordinates(tmp_path, 3, (0.5, 0.0))
    result = gap(certificate, head, latents, tmp_path / "proof")
    assert (result.certificate.size, result.least, result.is_smallest) == (3, 1, False)
    assert proved_least((tmp_path / "proof").read_bytes(), head.read_bytes(), latents.read_bytes()) == 1


def test_one_below_a_bound_on_activations_taken_one_by_one_says_why(monkeypatch, files) -> None:
    """What activations say of each other may prove a smaller one."""
    certificate = files.certificates[0]
    found = gap(certificate, files.head_path, files.latents_path, seconds=0)
    of_activations = replace(found.certificate, paradigm="top_k")
    above = replace(found, certificate=of_activations, least=of_activations.size + 1)
    monkeypatch.setattr("verale.runs.necessity.gap", lambda *given: above)
    beside = ("--head", files.head_path, "--latents", files.latents_path)
    told = in_process("gap", certificate, *beside).stdout
    assert f"has fewer than {above.least}: proved by arb; this one has, by what activations say of each other" in told


def about(certificate: str, other: str, to: Path) -> Path:
    """A certificate that names the image of another one, and claims that its statements are true of it."""
    record, named = (json.loads(Path(each).read_bytes()) for each in (certificate, other))
    record["subject"] = named["subject"]
    to.write_text(json.dumps(record))
    return to


def test_a_certificate_that_is_not_about_its_image_is_refused(tmp_path) -> None:
    """It is of the other class: its statements entail it, and are false of this image."""
    head = small_head("euclidean", classes=2)
    latents = small_latents(head, images=8)
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", latents)
    of_class = {each.predicted: each for each in explain(head, latents, "top_k")}
    for number, each in of_class.items():
        each.save(tmp_path / f"{number}")
    false = about(tmp_path / "1", tmp_path / "0", tmp_path / "false")
    for ask in (gap, necessity, lambda *files: contrast(*files[:2], 0, files[2])):
        with pytest.raises(InputError, match=r"false: is NOT_PROVED .*expected a proved certificate"):
            ask(false, tmp_path / "head", tmp_path / "latents")


def test_what_is_under_another_paradigm_is_never_called_smallest(files) -> None:
    record = gap(files.certificates[0], files.head_path, files.latents_path, seconds=0).record()
    assert (record["paradigm"], record["least_paradigm"], record["smallest"]) == ("projection", "top_k", None)
    own = next(iter(explain(files.head, small_latents(files.head, images=3), "mixed")))
    own.save(files.folder / "mixed.ale.json")
    done = in_process(
        "gap",
        files.folder / "mixed.ale.json",
        "--head",
        files.head_path,
        "--latents",
        files.latents_path,
        "--seconds",
        "0",
    )
    assert done.stdout.endswith(" of those under mixed nothing is proved\n") and "smallest" not in done.stdout


def test_a_bound_about_another_class_is_not_this_images(files, monkeypatch) -> None:
    """Where two logits are closer than float64 tells, the search may take the other class."""
    monkeypatch.setattr("verale.search.least.least_document", lambda *given: (1, b'{"predicted": 99}'))
    with pytest.raises(InputError, match="in float64 the image has class 99"):
        gap(files.certificates[0], files.head_path, files.latents_path)


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
    with pytest.raises(InputError, match="names no latents"):
        gap(tmp_path / "anonymous", files.head_path, tmp_path / "one")
    head = varied_head("maximum")
    latents = small_latents(head, images=1)
    head.save(tmp_path / "other")
    save_latents(tmp_path / "one", latents)
    explain(head, latents)[0].save(tmp_path / "certificate")
    with pytest.raises(UsageError, match="the readout is maximum"):
        gap(tmp_path / "certificate", tmp_path / "other", tmp_path / "one")
