"""The example of photographs, with small pictures and a small backbone in place of what it fetches."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
from PIL import Image
from support.commands import in_process
from torch import nn

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "photographs"
FILES = ("pictures", "network", "run")
COLOURS = dict(zip(("bird", "fish", "flower", "fruit", "hoofed", "insect", "tool"), range(0, 256, 40), strict=False))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The example's program: its files import each other by short names, which are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    for name in FILES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    import run

    assert Path(run.__file__).parent == EXAMPLE
    yield run
    for name in FILES:
        sys.modules.pop(name, None)


@pytest.fixture
def packages(run: ModuleType, tmp_path: Path) -> Path:
    """The packages as they are unpacked: stamps of one colour a class, landscapes of grey."""
    pictures = sys.modules["pictures"]
    stamps, landscapes = (tmp_path / name / within for name, within in pictures.PACKAGES.items())
    for name, folders in pictures.CLASSES.items():
        (stamps / folders[0]).mkdir(parents=True)
        for number in range(4):
            stamp = Image.new("RGBA", (40, 30 + number), (0, 0, 0, 0))
            stamp.paste((COLOURS[name], 255 - COLOURS[name], 80, 255), (4, 5, 30, 25))
            stamp.save(stamps / folders[0] / f"{number}.png")
    landscapes.mkdir(parents=True)
    for number in range(4):
        Image.new("RGB", (300, 260), (100 + 5 * number,) * 3).save(landscapes / f"{number}.jpg")
    photograph = Image.new("RGB", (300, 260), (110, 110, 110))
    photograph.paste((COLOURS["flower"], 255 - COLOURS["flower"], 80), (60, 40, 200, 180))
    photograph.save(landscapes / pictures.PHOTOGRAPH, quality=95)
    return tmp_path


def small_backbone() -> nn.Module:
    """In the form of an EfficientNet: pictures to 3 x 3 patches of 8 features."""
    torch.manual_seed(1)
    stem = nn.Conv2d(3, 8, 64, stride=64)
    block = nn.Conv2d(8, 8, 1)
    block._bn1, block._swish = nn.BatchNorm2d(8), nn.ReLU6()
    parts = {"_conv_stem": stem, "_bn0": nn.BatchNorm2d(8), "_blocks": [block]}
    made = sys.modules["network"].Backbone(SimpleNamespace(**parts))
    return made.eval().requires_grad_(False)


def test_no_stamp_and_no_landscape_is_in_both_parts(run: ModuleType) -> None:
    files = [Path(f"{number}.png") for number in range(10)]
    split = sys.modules["pictures"].split
    assert sorted(split(files, False) + split(files, True)) == files and split(files, True) == [files[3], files[7]]


def test_prototypes_are_patches_of_pictures_of_their_class(run: ModuleType) -> None:
    network = sys.modules["network"]
    torch.manual_seed(0)
    labels = torch.arange(40) % 2
    features = torch.rand(40, 6, 2, 2)
    features[:, :2] += 3 * torch.nn.functional.one_hot(labels, 2)[:, :, None, None]
    model = network.Photographs(nn.Identity(), 6, 2)
    origins = network.train(model, features, labels, 60)
    latents = model.add_on(features)
    assert (model.logits(latents).argmax(1) == labels).float().mean() > 0.9
    assert (labels[origins[:, 0]] == torch.arange(2 * network.PER_CLASS) // network.PER_CLASS).all()
    patches = latents.flatten(2)[origins[:, 0], :, origins[:, 1]]
    assert torch.equal(model.prototypes, patches)


def mostly_here(by_a_process: Callable[..., int]) -> Callable[..., int]:
    """The commands that the example runs, in this process; by one of its own what loads no torch."""

    def command(*words: str | Path) -> int:
        if words[0] == "summary":
            return by_a_process(*words)
        done = in_process(*words)
        print(done.stdout, done.stderr)  # noqa: T201
        return done.returncode

    return command


@pytest.mark.long  # a network is trained, and its pictures proved
def test_from_pictures_to_a_page_and_training_once(
    run: ModuleType, packages: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "COUNTS", {"train": 12, "test": 2})
    monkeypatch.setattr(run, "EXPLAINED", 1)
    monkeypatch.setattr(run, "STEPS", 40)
    monkeypatch.setattr(run, "CHANNELS", 8)
    monkeypatch.setattr(run, "backbone", lambda work: small_backbone())
    monkeypatch.setattr(run, "command", mostly_here(run.command))
    code = run.main(["--work", str(packages)])
    said = "".join(capfd.readouterr())
    assert code == 0, said
    assert "7 of 7 images have a certificate" in said and "7 certificates, 7 PROVED" in said
    assert "test pictures are rightly classified" in said
    assert "1 of 1 pictures are decoded by Pillow" in said and "(real arithmetic) proved" in said, said
    whole = (packages / "proved" / "report.html").read_text()
    assert "1 picture was decoded by Pillow" in whole and "proved: prototype " in whole
    page, prototypes = packages / "explained" / "report.html", sorted((packages / "prototypes").iterdir())
    assert page.is_file() and len(prototypes) == 70 and (packages / "network.safetensors").is_file()

    made = {path: path.stat().st_mtime_ns for name in ("pictures", "features.safetensors", "trained.safetensors")
            for path in (packages / name, *(packages / name).rglob("*"))}  # fmt: skip
    monkeypatch.setattr(run, "shown", lambda work, given, each: 0)
    monkeypatch.setattr(run, "proved", lambda work, given: 0)
    assert run.main(["--work", str(packages)]) == 0
    assert made == {path: path.stat().st_mtime_ns for path in made}, "what was there was used again"


@pytest.mark.parametrize("missing", ["package", "backbone"])
def test_what_cannot_be_fetched_is_named_with_a_remedy(
    missing: str, run: ModuleType, packages: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def offline(*command: str, cwd: Path | None = None) -> None:
        raise subprocess.CalledProcessError(100, command, stderr="W: old lists\nE: no network\n")

    work = packages if missing == "backbone" else packages / "empty"
    monkeypatch.setattr(run, "COUNTS", {"train": 2, "test": 2})
    for name in FILES[:2]:
        monkeypatch.setattr(sys.modules[name], "run", offline)
    assert run.main(["--work", str(work)]) == 1
    said = capsys.readouterr().err
    what = "backbone" if missing == "backbone" else "tuxpaint-stamps-default"
    assert said.startswith(f"error: {work / what} is missing and cannot be made (E: no network): ")
    assert "network; or " in said and not (work / what).exists()
