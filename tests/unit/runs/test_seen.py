"""Pictures of a run: explained, kept beside the certificates, resumed."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from support.commands import in_process
from support.seen import COUNT, explain_pictures, write_pictures
from support.seen import explain_pictures as explain
from support.small import small_head
from support.torch_networks import SHAPE, deep_network
from torch import nn

from verale.certificate import Certificate
from verale.cli.terminal import Exit
from verale.errors import InputError, UsageError
from verale.head import Box, Head, as_patches, digest_of_all, load_latents, patches_of
from verale.network import FrozenNetwork, picture_digest
from verale.network.layers import Convolution, NetworkLayer
from verale.runs.seen import Decoder, SeenPictures
from verale.runs.source import SourceFile, load_source
from verale.runs.summary import summarize
from verale.runs.table import read_table
from verale.search.through import ThroughNetwork

pytestmark = pytest.mark.usefixtures("searched_once")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_pictures(tmp_path)


def test_png_files_are_explained_and_kept(folder: Path) -> None:
    done = explain(folder)
    assert done.returncode == 0, done.stderr
    out = folder / "out"
    assert (out / "network.safetensors").read_bytes() == (folder / "n").read_bytes()
    seen = SeenPictures.load(folder / "n", folder / "p")
    assert seen.labels(Head.load(folder / "h")) == [0, 0, 1, 2] and seen.names[0] == "class 0/0.png"
    for number, (name, picture) in enumerate(zip(seen.names, seen.pictures, strict=True)):
        assert (out / "pictures" / name).read_bytes() == (folder / "p" / name).read_bytes()
        certificate = Certificate.load(out / f"{number:06d}.ale.json")
        assert certificate.picture == picture_digest(picture)
        assert certificate.network == hashlib.sha256((folder / "n").read_bytes()).hexdigest()
    run = json.loads((out / "run.json").read_text())
    assert run["arithmetic"] == "real" and run["network"] == certificate.network
    source = load_source(out / "source.json", None)
    assert source.files[0] == out / "pictures" / "class 0/0.png" and source.labels == (0, 0, 1, 2)


def test_an_orientation_of_a_picture_is_told_and_what_is_no_image_is_named(folder: Path) -> None:
    turned, file = Image.Exif(), folder / "p" / "class 0" / "0.png"
    turned[0x0112] = 8
    with Image.open(file) as picture:
        picture.save(file, exif=turned)
    (folder / "p" / "class 1" / "x.gif").touch()
    (folder / "p" / ".hidden").touch()
    done = explain(folder)
    assert done.returncode == 0
    assert "1 images note an orientation (EXIF), which is not applied" in done.stderr and "class 0/0.png" in done.stderr
    assert "1 files or folders within class folders are left out: class 1/x.gif;" in done.stderr


def test_pictures_that_cannot_be_used_are_listed_at_the_end_where_that_was_asked(folder: Path) -> None:
    Image.new("L", (2, 2)).save(folder / "p" / "class 1" / "small.png")
    done = explain(folder, "--skip-unreadable")
    assert done.returncode == 18 and explain(folder, out="other").returncode == 9
    assert done.stderr.index("images have a certificate") < done.stderr.index("left out: ")
    assert "class 1/small.png" in done.stderr[done.stderr.index("left out: ") :]


def test_an_audit_finds_network_and_pictures_and_proves_them(folder: Path) -> None:
    done = explain(folder, "--arithmetic", "float32", pictures="p.safetensors")
    assert done.returncode == 0 and "not TF32, bfloat16 or half" in done.stderr
    audited = in_process("audit", folder / "out", "--kernel", "arb")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert audited.stdout.count("entailment+picture (float32) proved") == COUNT
    assert f"network {folder / 'out' / 'network.safetensors'}, sha256 " in audited.stderr
    shown = in_process("show", folder / "out" / "000001.ale.json", "--kernel", "arb")
    assert shown.returncode == 0 and "From the bytes of the picture, this network" in shown.stdout
    (folder / "out" / "network.safetensors").unlink()
    unseen = in_process("show", folder / "out" / "000001.ale.json", "--kernel", "arb")
    assert "That the network gives the picture such latents was not checked." in unseen.stdout


def test_a_table_gives_the_classes_and_scores_of_the_network_itself(tmp_path: Path) -> None:
    network = deep_network(12, nn.Sigmoid())
    write_pictures(tmp_path, network)
    done = explain(tmp_path, "--arithmetic", "float32")
    assert done.returncode == Exit.UNEXPLAINED and "0 of 4 images have a certificate" in done.stderr, done.stderr
    head = Head.load(tmp_path / "h")
    rows = read_table(tmp_path / "out" / "explanations.csv")
    pictures = SeenPictures.load(tmp_path / "n", tmp_path / "p").pictures
    logits = head.logits(as_patches(network.latents(pictures)))
    assert len(rows) == COUNT and len({row.score for row in rows}) == COUNT
    for row, said in zip(rows, logits, strict=True):
        assert row.certificate is None and row.reason is not None and "--arithmetic real" in row.reason
        assert row.predicted == int(said.argmax()) and row.correct == (row.label == row.predicted)
        assert row.score == pytest.approx(float(said.max()), rel=1e-12)
        assert row.second_score == pytest.approx(float(said.sort().values[-2]), rel=1e-12)
    right = sum(row.correct is True for row in rows)
    (summary, *_) = summarize(str(tmp_path / "out"))
    assert (summary.labelled, summary.right) == (COUNT, right)
    told = in_process("summary", tmp_path / "out").stderr
    assert f"{tmp_path / 'out'}: without one: 0, 1, 2, 3: the class is not certain over the box" in told
    shown = in_process("show", tmp_path / "out", "1")
    assert shown.returncode == 9 and "there is no certificate of this image: the class is not certain" in shown.stderr


def test_a_network_that_overflows_is_refused_with_picture_and_layer(folder: Path) -> None:
    weights = [torch.full((8, channels, 3, 3), 1e200, dtype=torch.float64) for channels in (3, 8)]
    layers = [
        NetworkLayer(name, (read,), Convolution((1, 1), (0, 0), (1, 1), 1, weight))
        for name, read, weight in zip(("first", "second"), ("picture", "first"), weights, strict=True)
    ]
    FrozenNetwork(SHAPE, (0.0,) * 3, (1.0,) * 3, tuple(layers)).save(folder / "n")
    replace(small_head("euclidean", depth=8), domain=Box()).save(folder / "h")
    done = explain(folder)
    assert done.returncode == 9 and not (folder / "out" / "explanations.csv").exists()
    assert "class 0/0.png: has no latents: in layer second the network's numbers are beyond float64" in done.stderr


def test_what_the_head_does_not_describe_has_neither_class_nor_score(folder: Path) -> None:
    head = Head.load(folder / "h")
    replace(head, domain=Box(0.4, 0.6)).save(folder / "h")
    assert explain(folder).returncode == Exit.UNEXPLAINED
    table = folder / "out" / "explanations.csv"
    for row in read_table(table):
        assert (row.predicted, row.correct, row.score, row.second, row.label) == (None, None, None, None, row.label)
        assert row.reason is not None and "beyond the head's domain" in row.reason
    for command in (("summary",), ("summary", "--by", "class"), ("report",)):
        done = in_process(command[0], folder / "out", *command[1:])
        assert done.returncode == (Exit.UNEXPLAINED if command == ("report",) else 0), done.stderr
    compared = in_process("compare", folder / "out", folder / "out")
    assert f"Of {COUNT} images, A or B does not know the class." in compared.stdout
    assert f"0 of {COUNT} images keep their class" in compared.stdout
    assert explain(folder).returncode == Exit.UNEXPLAINED  # whose rows are read again
    text = table.read_text()
    table.write_text(text.replace(read_table(table)[0].reason or "", "", 1))
    refused = in_process("summary", folder / "out")
    assert refused.returncode == 9 and "column 'Pred Label' is ''" in refused.stderr


def test_a_runs_statements_are_true_of_its_own_latents(folder: Path) -> None:
    done = explain(folder, "--digits", "exact", "--paradigm", "projection")
    assert done.returncode == 0, done.stderr
    compared = in_process("compare", folder / "out", folder / "out")
    assert f"{COUNT} images keep their class; of these, {COUNT} satisfy all statements of A" in compared.stdout
    assert "B explains pictures: its latents are what its network gives in float64" in compared.stdout


def test_a_tensor_gives_the_same_certificates(folder: Path) -> None:
    assert explain(folder).returncode == 0
    assert explain(folder, pictures="p.safetensors", out="other").returncode == 0
    digests = {
        out: sorted(Certificate.load(path).picture for path in (folder / out).glob("*.ale.json"))
        for out in ("out", "other")
    }
    assert digests["out"] == digests["other"] and len(digests["out"]) == COUNT
    by_picture = {Certificate.load(path).picture: path.read_bytes() for path in (folder / "out").glob("*.ale.json")}
    for path in (folder / "other").glob("*.ale.json"):
        assert by_picture[Certificate.load(path).picture] == path.read_bytes()
    assert (folder / "other" / "pictures.safetensors").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--latents", "z"), "pictures need --head, --network and --images, and no latents"),
        (("--inflate",), "inflate is given, expected none with pictures"),
        (("--deployment", "direct"), "deployment is given, expected none with pictures"),
    ],
)
def test_options_that_pictures_do_not_have_are_refused(folder: Path, options: tuple[str, ...], expected: str) -> None:
    done = explain(folder, *options)
    assert done.returncode == 9 and expected in done.stderr and not (folder / "out").exists()


def test_what_cannot_be_used_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"expected one: 'verale\.network'"):
        SeenPictures.load(folder / "h", folder / "p")
    with pytest.raises(UsageError, match="arithmetic is"):
        SeenPictures.load(folder / "n", folder / "p", "float16")  # type: ignore[arg-type]
    Image.new("RGB", SHAPE[1:]).save(folder / "wrong.png")
    with pytest.raises(InputError, match=r"wrong\.png: PNG file: it has 10 rows and 12 columns"):
        SeenPictures.load(folder / "n", folder / "wrong.png")
    for alone in (("--network", folder / "n"), ("--arithmetic", "real")):
        assert in_process("explain", *alone, "--out", folder / "o").returncode == 9


def test_a_run_goes_on_where_latents_have_other_last_bits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert explain(folder, "--arithmetic", "real").returncode == 0
    (folder / "out" / "000002.ale.json").unlink()
    given = ThroughNetwork.latents
    monkeypatch.setattr(ThroughNetwork, "latents", lambda self, picture: given(self, picture) * (1 + 2.0**-52))
    before = (folder / "out" / "latents.safetensors").read_bytes()
    done = explain(folder, "--arithmetic", "real")
    assert done.returncode == 0, done.stderr
    assert (folder / "out" / "latents.safetensors").read_bytes() == before
    assert (folder / "out" / "000002.ale.json").exists()
    kept = digest_of_all(patches_of(load_latents(folder / "out" / "latents.safetensors")))
    assert SourceFile.read(folder / "out" / "source.json", "").latents_digest == kept


_, ROWS, COLUMNS = SHAPE


def encoded(picture: Image.Image, form: str) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, form)
    return stream.getvalue()


def drawn(rows: int, columns: int, seed: int = 0) -> Image.Image:
    """A picture of random bytes."""
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (rows, columns, 3), dtype=np.uint8))


@pytest.fixture
def photographs(tmp_path: Path) -> Path:
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


def test_what_is_decoded_is_kept_named_and_proved(photographs: Path) -> None:
    given = {file.relative_to(photographs / "p").as_posix(): file for file in (photographs / "p").rglob("*.*")}
    done = explain_pictures(photographs)
    assert done.returncode == 0, done.stderr
    assert f"3 of {COUNT} pictures are decoded by Pillow {Image.__version__}; the PNG files in pictures/" in done.stderr
    record = json.loads((photographs / "out" / "source.json").read_text())["decoded"]
    assert record["by"] == f"Pillow {Image.__version__}" and record["scaled"] is None
    assert sorted(record["files"]) == ["class 0/0.png", "class 1/1.png", "class 2/2.png"]
    for name, made_from in record["files"].items():
        file = given[made_from["file"]]
        assert made_from["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        kept = Image.open(photographs / "out" / "pictures" / name)
        assert kept.format == "PNG" and kept.tobytes() == Image.open(file).convert("RGB").tobytes()
    audited = in_process("audit", photographs / "out")
    assert audited.returncode == 0 and "entailment+picture" in audited.stdout, audited.stdout
    assert "3 pictures were decoded by Pillow" in load_source(photographs / "out" / "source.json").decoded
    again = explain_pictures(photographs)
    assert again.returncode == 0 and "nothing is left to do" in again.stderr, again.stderr


def test_a_page_says_what_is_not_proved(photographs: Path) -> None:
    assert explain_pictures(photographs).returncode == 0
    done = in_process("report", photographs / "out")
    assert done.returncode == 0, done.stderr
    page = (photographs / "out" / "report.html").read_text()
    assert "3 pictures were decoded by Pillow" in page and "begins at the pixels of the PNG files" in page


def test_scaling_is_torchvisions(tmp_path: Path) -> None:
    from torchvision import transforms  # takes more than a second

    through = transforms.Compose([transforms.Resize(15), transforms.CenterCrop((ROWS, COLUMNS))])
    for number, size in enumerate(((40, 31), (23, 57), (12, 10), (15, 15))):
        picture = drawn(*size, seed=number)
        data, _ = Decoder(SHAPE, 15).png(tmp_path / "a.png", encoded(picture, "PNG"))
        seen = Image.open(io.BytesIO(data))
        assert seen.size == (COLUMNS, ROWS) and seen.tobytes() == through(picture).tobytes()


def test_pictures_of_any_size_are_explained_where_they_are_scaled(photographs: Path) -> None:
    for number, file in enumerate(sorted((photographs / "p").rglob("*.*"))):
        file.unlink()
        file.with_suffix(".jpg").write_bytes(encoded(drawn(30 + number, 50, number), "JPEG"))
    refused = explain_pictures(photographs)
    assert refused.returncode == Exit.UNUSABLE and "or give --resize" in refused.stderr, refused.stderr
    small = explain_pictures(photographs, "--resize", "9")
    assert small.returncode == Exit.UNUSABLE and "give a greater --resize" in small.stderr, small.stderr
    done = explain_pictures(photographs, "--resize", "14")
    assert "scaled to a shorter side of 14 and cropped to the middle" in done.stderr, done.stderr
    seen = SeenPictures.load(photographs / "n", photographs / "out" / "pictures")
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
        Decoder(SHAPE).png(tmp_path / "a", encoded(picture, form))


def test_options_that_do_not_fit_are_refused(photographs: Path) -> None:
    with pytest.raises(UsageError, match="resize is 0"):
        Decoder(SHAPE, 0)
    with pytest.raises(UsageError, match="is for picture files"):
        SeenPictures.load(photographs / "n", photographs / "p.safetensors", resize=20)
    done = in_process("explain", "--head", "h", "--latents", "l", "--resize", "9", "--out", photographs / "out")
    assert done.returncode == Exit.UNUSABLE and "--resize is for pictures" in done.stderr
