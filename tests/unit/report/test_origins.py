"""Sentences about origins: what is proved now, and what is not shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import flint
import pytest
from support import files
from support.arithmetic import PRECISION
from support.network_truth import network_of, true_latents
from support.networks import drawn_picture, network_file, picture_digest, png, small_layers

from verale.errors import InputError
from verale.report.collect import Collection
from verale.report.verdicts import told_origins
from verale.runs.arguments import HeadFile
from verale.runs.origins import OriginSearch

PICTURES = [drawn_picture((1, 4, 4), seed) for seed in range(3)]
COSINE = {"geometry": {"kind": "cosine", "epsilon": (0.0).hex()}, "similarity": files.IDENTITY}


@pytest.fixture(params=[{}, COSINE], ids=["euclidean", "cosine"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Prototype 0 is patch 3 of picture 1, prototype 1 is no patch."""
    network = network_file(*small_layers(), mean=[0.5], std=[0.25])
    with flint.ctx.workprec(PRECISION):
        patch = [float(x.mid()) for x in true_latents(network_of(network), PICTURES[1])[3]]
    head = files.head([[1.0] * 2, [-1.0] * 2], [patch, [1.0, 0.0]], **request.param)
    (tmp_path / "head.safetensors").write_bytes(head)
    (tmp_path / "network.safetensors").write_bytes(network)
    (tmp_path / "images").mkdir()
    for number, picture in enumerate(PICTURES):
        (tmp_path / "images" / f"{number}.png").write_bytes(png(picture))
    where = [tmp_path / name for name in ("head.safetensors", "network.safetensors", "images", "origins.json")]
    OriginSearch(*where, overwrite=False).run()
    return tmp_path


def sentences(folder: Path, kernel: str | None = None) -> dict[int, str]:
    head = HeadFile.of(folder / "head.safetensors")
    where = folder / "network.safetensors", folder / "images"
    told = told_origins(folder / "origins.json", head, *where, kernel)
    return {prototype: each.sentence for prototype, each in told.items()}


@pytest.mark.parametrize(("kernel", "by"), [(None, "the proved checker"), ("arb", "arb")])
def test_a_projected_prototype_is_the_patch_and_another_one_is_not_shown_to_be(
    folder: Path, kernel: str | None, by: str
) -> None:
    said = sentences(folder, kernel)
    assert sorted(said) == [0, 1]
    patch = f"the patch in row 1, column 1 of the picture {picture_digest(PICTURES[1])[:16]}..."
    assert said[0].startswith(f"proved: prototype 0 is {patch}, ") and said[0].endswith(f"(by {by})")
    assert said[1].startswith("prototype 1 is not shown to be a patch of these pictures; the nearest that was found is")
    assert ", proved to lie " in said[1] and said[1].endswith(f"(by {by})")


def test_what_is_not_proved_is_never_told_as_proved(folder: Path) -> None:
    document = json.loads((folder / "origins.json").read_bytes())
    document["origins"][0]["patch"] = 0
    (folder / "origins.json").write_text(json.dumps(document))
    said = sentences(folder)
    assert said[0].startswith("prototype 0 is not proved to be the patch in row 0, column 0")
    assert "proved:" not in said[0]


def test_of_a_prototype_that_is_left_out_that_is_said(folder: Path) -> None:
    document = json.loads((folder / "origins.json").read_bytes())
    document["origins"] = document["origins"][:1]
    (folder / "origins.json").write_text(json.dumps(document))
    assert sentences(folder)[1] == "prototype 1: of where it comes from the origins file says nothing"


def test_an_origins_file_of_another_head_is_refused(folder: Path) -> None:
    (folder / "head.safetensors").write_bytes(files.head([[1.0] * 2, [-1.0] * 2], [[0.5, 0.5], [1.0, 0.0]]))
    with pytest.raises(InputError, match="speaks of the head"):
        sentences(folder)


def test_the_head_that_was_read_counts(folder: Path) -> None:
    """Though another file has its name by now."""
    head = HeadFile.of(folder / "head.safetensors")
    (folder / "head.safetensors").write_bytes(b"another")
    told = told_origins(folder / "origins.json", head, folder / "network.safetensors", folder / "images", "arb")
    assert told[0].sentence.startswith("proved: ")


def test_a_caption_stands_beside_the_picture_and_its_patch_alone(folder: Path) -> None:
    """What is not proved has none, nor has a certificate of another network or none."""
    head = HeadFile.of(folder / "head.safetensors")
    where = folder / "network.safetensors", folder / "images"
    told = told_origins(folder / "origins.json", head, *where, "arb")
    assert told[0].caption.startswith("proved: prototype 0 is this part of this picture, ")
    assert "the nearest that was found is this part of this picture, proved to lie " in told[1].caption
    assert (told[0].picture.digest, told[0].cell) == (picture_digest(PICTURES[1]), (1, 1))
    (folder / "out").mkdir()
    (folder / "out" / "network.safetensors").write_bytes(where[0].read_bytes())
    beside = Collection(folder / "out", (), origins=told)
    picture, cell = beside.origin_of(0, told[0].network)
    assert (picture.digest, cell) == (picture_digest(PICTURES[1]), (1, 1))
    assert beside.origin_of(0, None) is beside.origin_of(7, told[0].network) is None
    other = replace(told[0], network="0" * 64)
    assert replace(beside, origins={0: other}).origin_of(0, told[0].network) is None
    assert replace(beside, folder=folder / "images").origin_of(0, told[0].network) is None
    document = json.loads((folder / "origins.json").read_bytes())
    document["origins"][0]["patch"] = 0
    (folder / "origins.json").write_text(json.dumps(document))
    unproved = told_origins(folder / "origins.json", head, *where, "arb")[0]
    assert unproved.caption == "" and unproved.picture is None


def test_a_picture_that_was_changed_meanwhile_is_not_drawn(folder: Path) -> None:
    head = HeadFile.of(folder / "head.safetensors")
    told = told_origins(folder / "origins.json", head, folder / "network.safetensors", folder / "images", "arb")
    for number in range(3):
        (folder / "images" / f"{number}.png").write_bytes(png(drawn_picture((1, 4, 4), 9)))
    try:
        kept = told[0].picture
    except InputError as error:
        assert "picture" in str(error)
    else:
        assert kept is not None and kept.digest == picture_digest(PICTURES[1])
