"""`verale contrast` and `verale necessity`: what they print, write and return."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.boxes import save_coordinates
from support.commands import in_process as verale


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A certificate of which both statements have to be released; head and latents under the names that are found."""
    certificate, head, latents = save_coordinates(tmp_path, 2, (1.5, 0.0))
    head.rename(tmp_path / "head.safetensors")
    latents.rename(tmp_path / "latents.safetensors")
    return certificate.rename(tmp_path / "000000.ale.json")


def test_what_stands_in_the_way(two: Path) -> None:
    done = verale("contrast", two, "--class", 1, "--out", two.parent / "out")
    first, *lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert first == (
        f"{two}: why class 0 and not class 1? 2 of 2 statements stand in its way (no smaller set does: proved)"
    )
    values = []
    for j, line in enumerate(lines[:2]):
        start, value = line.split("; at the witness about ")
        assert start == f"  released: activation of prototype {j}: [0, 0]"
        values.append(float(value))
    assert sum(values) > 1.5
    assert lines[2].startswith("  the witness satisfies the other 0 and gets class 1, at least 0.")
    nearest = "nearest is patch 0 of image 0, about "
    assert any(line.startswith("  patch 0 moved by about ") and nearest in line for line in lines)
    out = two.parent / "out"
    head = ("--head", two.parent / "head.safetensors", "--latents", out / "witness.latents.safetensors")
    assert verale("refute", out / "rest.ale.json", *head, "--seconds", 0).returncode == 4
    assert verale("audit", out / "witness.ale.json", *head).returncode == 0
    record = json.loads(verale("contrast", two, "--class", 1, "--json").stdout)
    assert record["certificate"] == str(two)
    assert {**record, "certificate": None} == {"certificate": None, **json.loads((out / "contrast.json").read_bytes())}


def test_a_class_that_cannot_win_is_said_to_lose(tmp_path: Path) -> None:
    certificate, head, latents = save_coordinates(tmp_path, 1, (1.5, 0.0))
    given = ("contrast", certificate, "--class", 1, "--head", head, "--latents", latents)
    done = verale(*given)
    assert done.returncode == 11 and "the checker proves that it loses everywhere" in done.stdout
    assert verale(*given[:3], 0, *given[4:]).returncode == 9
    assert "give --out too" in verale(*given, "--model", head).stderr


def test_an_earlier_witness_does_not_stay(two: Path) -> None:
    """What lies in the folder belongs to the record there."""
    out = two.parent / "out"
    assert verale("contrast", two, "--class", 1, "--out", out).returncode == 0
    certificate, head, latents = save_coordinates(two.parent, 1, (1.5, 0.0))
    given = ("--head", head, "--latents", latents, "--out", out)
    assert verale("contrast", certificate, "--class", 1, *given).returncode == 11
    assert sorted(path.name for path in out.iterdir()) == ["contrast.json", "files.json"]


def test_which_statements_are_needed(tmp_path: Path, two: Path) -> None:
    (tmp_path / "needed").mkdir()
    certificate, head, latents = save_coordinates(tmp_path / "needed", 2, (0.5, 0.0))
    done = verale("necessity", certificate, "--head", head, "--latents", latents)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"{certificate}: 2 of 2 statements have a witness: minimal under any paradigm",
        *(f"  activation of prototype {j}: [0, 0]: needed: without it, class 1" for j in range(2)),
    ]
    done = verale("necessity", two, two, "--out", tmp_path / "out")
    assert done.returncode == 11
    assert "  activation of prototype 0: [0, 0]: not needed: the checker proves the class without it" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "2 explanations: 0 of 4 statements have a witness, 0.0 %; 0 explanations are minimal under any paradigm"
    )
    record = json.loads(verale("necessity", two, "--json").stdout)
    assert record == {"certificate": str(two), **json.loads((tmp_path / "out/000000/necessity.json").read_bytes())}


def test_how_small_an_explanation_can_be(two: Path) -> None:
    done = verale("gap", two, "--out", two.parent / "out")
    assert (done.returncode, done.stdout) == (
        0,
        f"{two}: 2 statements under top_k; with activations taken one by one, no explanation of this image under top_k"
        " has fewer than 1: proved by arb\n",
    )
    assert json.loads((two.parent / "out" / "000000.least.json").read_bytes())["least"] == 1
    assert json.loads(verale("gap", two, "--json").stdout) == {
        "_type": "urn:verale:gap:v1",
        "certificate": str(two),
        "predicted": 0,
        "paradigm": "top_k",
        "statements": 2,
        "least": 1,
        "least_paradigm": "top_k",
        "least_by": "arb",
        "smallest": False,
    }
    last = verale("gap", two, two).stdout.splitlines()[-1]
    assert (
        last == "2 explanations under top_k: mean size 2.00, mean bound 1.00; 0 have no statement more than their bound"
    )
