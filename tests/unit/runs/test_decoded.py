"""Photographs become the PNG files that a network sees and that certificates name; what else they are is told."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from support.commands import in_process
from support.seen import COUNT, explain_pictures, write_pictures
from support.torch_networks import SHAPE
from torchvision import transforms

from verale.cli.terminal import Exit
from verale.errors import InputError, UsageError
from verale.runs.decoded import Decoder
from verale.runs.seen import SeenPictures
from verale.runs.source import load_source

_, ROWS, COLUMNS = SHAPE


def encoded(picture: Image.Image, form: str) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, form)
    return stream.getvalue()


def drawn(rows: int, columns: int, seed: int = 0) -> Image.Image:
    """A picture of random bytes."""
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (rows, columns, 3), dtype=np.uint8))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures in four formats, in the place of the PNG files."""
    write_pictures(tmp_path)
    forms = {0: "JPEG", 1: "WEBP", 2: "BMP"}
    for file in sorted((tmp_path / "p").rglob("*.png")):
        form = forms.get(int(file.stem))
        if form is not None:
            file.with_suffix({"JPEG": ".jpg"}.get(form, f".{form.lower()}")).write_bytes(
                encoded(Image.open(file), form)
            )
            file.unlink()
    return tmp_path


def test_what_is_decoded_is_kept_named_and_proved(folder: Path) -> None:
    given = {file.relative_to(folder / "p").as_posix(): file for file in (folder / "p").rglob("*.*")}
    done = explain_pictures(folder)
    assert done.returncode == 0, done.stderr
    assert f"3 of {COUNT} pictures are decoded by Pillow {Image.__version__}; the PNG files in pictures/" in done.stderr
    record = json.loads((folder / "out" / "source.json").read_text())["decoded"]
    assert record["by"] == f"Pillow {Image.__version__}" and record["scaled"] is None
    assert sorted(record["files"]) == ["class 0/0.png", "class 1/1.png", "class 2/2.png"]
    for name, made_from in record["files"].items():
        file = given[made_from["file"]]
        assert made_from["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        kept = Image.open(folder / "out" / "pictures" / name)
        assert kept.format == "PNG" and kept.tobytes() == Image.open(file).convert("RGB").tobytes()
    audited = in_process("audit", folder / "out")
    assert audited.returncode == 0 and "entailment+picture" in audited.stdout, audited.stdout
    assert "3 pictures were decoded by Pillow" in load_source(folder / "out" / "source.json").decoded
    again = explain_pictures(folder)
    assert again.returncode == 0 and "nothing is left to do" in again.stderr, again.stderr


def test_a_page_says_what_is_not_proved(folder: Path) -> None:
    assert explain_pictures(folder).returncode == 0
    done = in_process("report", folder / "out")
    assert done.returncode == 0, done.stderr
    page = (folder / "out" / "report.html").read_text()
    assert "3 pictures were decoded by Pillow" in page and "begins at the pixels of the PNG files" in page


def test_scaling_is_torchvisions(tmp_path: Path) -> None:
    through = transforms.Compose([transforms.Resize(15), transforms.CenterCrop((ROWS, COLUMNS))])
    for number, size in enumerate(((40, 31), (23, 57), (12, 10), (15, 15))):
        picture = drawn(*size, seed=number)
        data, made_from = Decoder(SHAPE, 15).png(tmp_path / "a.png", "a.png", encoded(picture, "PNG"))
        seen = Image.open(io.BytesIO(data))
        assert seen.size == (COLUMNS, ROWS) and seen.tobytes() == through(picture).tobytes()
        assert made_from.file == "a.png"


def test_pictures_of_any_size_are_explained_where_they_are_scaled(folder: Path) -> None:
    for number, file in enumerate(sorted((folder / "p").rglob("*.*"))):
        file.unlink()
        file.with_suffix(".jpg").write_bytes(encoded(drawn(30 + number, 50, number), "JPEG"))
    refused = explain_pictures(folder)
    assert refused.returncode == Exit.UNUSABLE and "or give --resize" in refused.stderr, refused.stderr
    small = explain_pictures(folder, "--resize", "9")
    assert small.returncode == Exit.UNUSABLE and "give a greater --resize" in small.stderr, small.stderr
    done = explain_pictures(folder, "--resize", "14")
    assert "scaled to a shorter side of 14 and cropped to the middle" in done.stderr, done.stderr
    seen = SeenPictures.load(folder / "n", folder / "out" / "pictures")
    assert tuple(seen.pictures.shape) == (COUNT, *SHAPE) and seen.pictures.dtype == torch.uint8


@pytest.mark.parametrize(
    ("picture", "form", "expected"),
    [
        (Image.new("RGBA", (COLUMNS, ROWS), (9, 9, 9, 99)), "WEBP", "has transparent pixels"),
        (drawn(COLUMNS, ROWS), "JPEG", "scale and crop it before"),
    ],
)
def test_what_cannot_be_decoded_is_refused(tmp_path: Path, picture: Image.Image, form: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        Decoder(SHAPE).png(tmp_path / "a", "a", encoded(picture, form))


def test_options_that_do_not_fit_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="resize is 0"):
        Decoder(SHAPE, 0)
    with pytest.raises(UsageError, match="is for picture files"):
        SeenPictures.load(folder / "n", folder / "p.safetensors", resize=20)
    done = in_process("explain", "--head", "h", "--latents", "l", "--resize", "9", "--out", folder / "out")
    assert done.returncode == Exit.UNUSABLE and "--resize is for pictures" in done.stderr
