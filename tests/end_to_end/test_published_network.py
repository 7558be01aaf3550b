"""A whole published network, from its file and images to proved certificates, on the command line."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from support.commands import in_process
from support.prototypedl import SIDE, random_digits, save_whole, small, write_idx
from support.seen import COUNT as SEEN
from support.seen import explain_pictures, write_pictures
from support.torch_networks import deep_network
from torch import nn

from benchmarks import mnist
from verale.files import write_atomically
from verale.paradigms import paradigms_of

COUNT = 12
PIXELS = random_digits(COUNT)
LABELS = [index % 3 for index in range(COUNT)]


@pytest.fixture
def data(tmp_path) -> Path:
    """The files as they are published: the network, the test images and their classes."""
    save_whole(small(), tmp_path / "standard_model.pth")
    write_idx(tmp_path, "t10k-images-idx3", "t10k-labels-idx1", PIXELS, LABELS)
    return tmp_path


def capture(data: Path, *more: str, images: str = "t10k-images-idx3-ubyte.gz"):
    return in_process(
        *("latents", "standard_model.pth", "--arch", "prototypedl", "--images", images, "-o", "latents.safetensors"),
        *more,
        cwd=data,
    )


def test_from_the_file_to_proofs(data):
    done = in_process(
        "head", "import", "standard_model.pth", "--arch", "prototypedl", "-o", "head.safetensors", cwd=data
    )
    assert done.returncode == 0 and "3 classes, 6 prototypes, level=super, domain=0:1" in done.stderr
    done = capture(data, "--labels", "t10k-labels-idx1-ubyte.gz", "--prototype-pictures", "prototypes")
    assert done.returncode == 0, done.stderr
    tensors = load_file(data / "latents.safetensors")
    encoded, _, logits = small()(PIXELS.unsqueeze(1) / 255)
    torch.testing.assert_close(tensors["latents"], encoded.flatten(1)[:, None])
    assert tensors["labels"].tolist() == LABELS
    pictures = sorted((data / "prototypes").glob("*.png"))
    assert [picture.name for picture in pictures] == [f"{index:04d}.png" for index in range(6)]
    decoded = small().decoder(small().prototype.prototypes.unflatten(1, (2, 2, 2)))
    with Image.open(pictures[5]) as picture:
        assert picture.size == (SIDE, SIDE)
        shown = torch.tensor(list(picture.tobytes())).view(SIDE, SIDE) / 255
    torch.testing.assert_close(shown, decoded[5, 0], rtol=0, atol=0.51 / 255)
    files = ("--head", "head.safetensors", "--latents", "latents.safetensors")
    done = in_process("explain", *files, "--out", "explained", cwd=data)
    assert done.returncode == 0, done.stderr
    done = in_process("audit", "explained", *files, "--minimality", cwd=data)
    verdicts = done.stdout.splitlines()
    assert done.returncode == 0 and len(verdicts) == COUNT
    for verdict, of_class in zip(verdicts, logits.argmax(1).tolist(), strict=True):
        assert verdict.startswith("PROVED") and f"  class {of_class}  " in verdict
    done = in_process("report", "explained", "-o", "report.html", "--prototype-pictures", "prototypes", cwd=data)
    assert done.returncode == 0 and f"{COUNT} PROVED" in done.stderr
    assert '"pictures": {"0": 0, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5}' in (data / "report.html").read_text()


def test_images_in_folders(data):
    for index, pixels in enumerate(PIXELS):
        folder = data / "images" / f"class{LABELS[index]}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.numpy()).save(folder / f"{index:02d}.png")
    assert capture(data, images="images").returncode == 0
    tensors = load_file(data / "latents.safetensors")
    order = sorted(range(COUNT), key=lambda index: (LABELS[index], index))
    encoded, _, _ = small()(PIXELS[order].unsqueeze(1) / 255)
    torch.testing.assert_close(tensors["latents"], encoded.flatten(1)[:, None])
    assert tensors["labels"].tolist() == [LABELS[index] for index in order]
    done = capture(data, "--labels", "t10k-labels-idx1-ubyte.gz", images="images")
    assert done.returncode == 9 and "--labels is for an IDX file" in done.stderr
    Image.new("L", (SIDE, 20)).save(data / "images" / "class0" / "x.png")
    done = capture(data, images="images")
    assert done.returncode == 9 and "x.png: has (28, 20) pixels, expected (28, 28), as the first image" in done.stderr


def test_files_that_do_not_fit(data):
    write_atomically(data / "few.idx", struct.pack(">HBBI", 0, 8, 1, 2) + bytes(2))
    write_atomically(data / "small.idx", struct.pack(">HBB3I", 0, 8, 3, 1, 2, 2) + bytes(4))
    write_atomically(data / "none.idx", struct.pack(">HBB3I", 0, 8, 3, 0, SIDE, SIDE))
    images, labels = "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"
    refused = [
        (capture(data, images=labels), f"{labels}: is not an IDX file"),
        (capture(data, "--labels", images), f"{images}: is not an IDX file"),
        (capture(data, "--labels", "few.idx"), "few.idx: holds 2 classes, expected 12"),
        (capture(data, images="small.idx"), "it gives 2 numbers, prototypes have 8 (images of 2 x 2 pixels: small.idx"),
        (capture(data, images="none.idx"), "none.idx: holds (0, 28, 28) pixels, expected images"),
        (capture(data, "--level", "sub", "--prototype-pictures", "p"), "'prototype.sub_prototypes': is missing"),
    ]
    torch.save(small().state_dict(), data / "standard_model.pth")
    for done, said in (*refused, (capture(data), "standard_model.pth: holds no whole models")):
        assert done.returncode == 9 and said in done.stderr
    assert not (data / "latents.safetensors").exists()


def _rows(text: str) -> list[list[str]]:
    """The cells of the table of paradigms."""
    table = text.split("\n| paradigm |")[1].split("\n\n")[0].splitlines()[2:]
    return [line.strip("| ").split(" | ") for line in table]


def test_the_benchmark_on_a_small_network(data, capsys):
    assert mnist.main(["--data", str(data), "--out", str(data / "mnist.md"), "--images", "8"]) == 0
    text = (data / "mnist.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.startswith(text)
    right = (small()(PIXELS[:8].unsqueeze(1) / 255)[2].argmax(1) == torch.tensor(LABELS[:8])).float().mean()
    assert f"- accuracy of the head, float64: {100 * float(right):.2f} %\n" in text
    rows = {row[0]: row[1:4] for row in _rows(text)}
    assert sorted(rows) == sorted(paradigms_of("euclidean", patches=1))
    _, *by_evidence = rows.pop("evidence")  # it may leave a class open
    assert by_evidence[0] == by_evidence[1]
    assert list(rows.values()) == [["8", "8", "8"]] * len(rows)
    emitted = 8 * len(rows) + int(by_evidence[0])
    assert f"- certificates: {emitted} emitted, {emitted} proved\n" in text
    assert "- images with another class under the two: 0\n" in text
    with Image.open(data / "mnist-prototypes.png") as sheet:
        assert sheet.size == (5 * SIDE, 2 * SIDE)


def test_an_unproved_certificate_is_told(data, monkeypatch):
    explain = mnist.explain_batches

    def larger(*arguments):
        for results in explain(*arguments):
            yield [type(each)(**{**vars(each), "margins": tuple(m and 1e6 for m in each.margins)}) for each in results]

    monkeypatch.setattr(mnist, "explain_batches", larger)
    arguments = ["--data", str(data), "--out", str(data / "mnist.md"), "--images", "3", "--paradigms", "projection"]
    assert mnist.main(arguments) == 1
    text = (data / "mnist.md").read_text(encoding="utf-8")
    assert "- certificates: 3 emitted, 0 proved\n" in text and text.count("\n- not proved: image ") == 3


def test_pictures_of_a_deep_network_whose_file_other_software_wrote_are_proved(tmp_path):
    """Of its latents floats know nothing. The file's bytes are others, and certificates name those."""
    folder = write_pictures(tmp_path, deep_network(30, nn.LeakyReLU(0.1)))
    data = (folder / "n").read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    (folder / "n").write_bytes(end.to_bytes(8, "little") + data[8:end] + b" " * 8 + data[end:])
    done = explain_pictures(folder)
    assert done.returncode == 0 and f"{SEEN} of {SEEN} images have a certificate" in done.stderr, done.stderr
    audited = in_process("audit", folder / "out")
    assert audited.returncode == 0 and audited.stdout.count("PROVED ") >= SEEN, audited.stdout
