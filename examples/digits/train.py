"""Train the packaged demonstration network: CaBRNet 1.2's own ProtoPNet on the UCI handwritten digits.

    python examples/digits/train.py

writes the digits that scikit-learn ships as PNGs, runs `cabrnet train --device cpu` on the three YAML files
beside this script, copies the result to `verale/demo/data/`, and freezes the network there. It needs `cabrnet`
and `scikit-learn`, and downloads nothing.
"""

from __future__ import annotations

import argparse
import csv
import logging
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import torch
from PIL import Image
from sklearn.datasets import load_digits
from torch import Tensor, nn

from verale.adapters.cabrnet.building import build
from verale.adapters.cabrnet.heads import load_head
from verale.adapters.cabrnet.run import open_run
from verale.adapters.freezing import export_network

HERE = Path(__file__).resolve().parent
PACKAGED = HERE.parents[1] / "verale" / "demo" / "data"

SIZE = 32
TEST_EVERY = 5
PACKAGED_PER_CLASS = 5
SEED = 42
THREADS = 2
KEPT = ("dataset.yml", "model_arch.yml", "model_state.pth", "projection_info.csv", "training.yml")

log = logging.getLogger("digits")


def write_digits(root: Path) -> None:
    """Write the digits as `root/{train,test}/<label>/<index>.png`.

    Every fifth image of each class, in the set's order, is a test image. The 8x8 counts in 0..16 become
    bytes by `round(255 v / 16)`, and then 32x32 pixels by bicubic interpolation.
    """
    shutil.rmtree(root, ignore_errors=True)
    digits = load_digits()
    written: Counter[int] = Counter()
    for index, (counts, target) in enumerate(zip(digits.images, digits.target, strict=True)):
        label = int(target)
        written[label] += 1
        split = "test" if written[label] % TEST_EVERY == 0 else "train"
        folder = root / split / str(label)
        folder.mkdir(parents=True, exist_ok=True)
        small = Image.fromarray((counts * (255 / 16)).round().astype("uint8"))
        small.resize((SIZE, SIZE), Image.Resampling.BICUBIC).save(folder / f"{index:04d}.png", optimize=True)


def train(build: Path) -> Path:
    """Run `cabrnet train` in `build`, where dataset.yml's roots lie, and return the final run directory.

    The number of threads decides the order of the sums, so it is as much a part of the result as the seed.
    """
    command = [
        sys.executable, "-m", "cabrnet.main", "train", "--device", "cpu", "--seed", str(SEED),
        "--config-dir", str(HERE), "--output-dir", "run", "--save-best", "train_set/loss", "min",
    ]  # fmt: skip
    started = time.perf_counter()
    shutil.rmtree(build / "run", ignore_errors=True)
    subprocess.run(command, cwd=build, env=os.environ | {"OMP_NUM_THREADS": str(THREADS)}, check=True)
    log.info("%s: %.0f s", " ".join(command), time.perf_counter() - started)
    return build / "run" / "final"


def package(digits: Path, final: Path, packaged: Path) -> None:
    """Copy what CaBRNet saved without the files that nobody needs, the first five test images of each class, and the
    training images that the prototypes were taken from, named by their indices in the projection set."""
    shutil.rmtree(packaged / "run", ignore_errors=True)
    (packaged / "run" / "final").mkdir(parents=True)
    for name in KEPT:
        shutil.copy(final / name, packaged / "run" / "final" / name)

    shutil.rmtree(packaged / "images", ignore_errors=True)
    for folder in sorted((digits / "test").iterdir()):
        target = packaged / "images" / folder.name
        target.mkdir(parents=True)
        for image in sorted(folder.iterdir())[:PACKAGED_PER_CLASS]:
            shutil.copy(image, target / image.name)

    shutil.rmtree(packaged / "projection", ignore_errors=True)
    (packaged / "projection").mkdir()
    trained = [image for folder in sorted((digits / "train").iterdir()) for image in sorted(folder.iterdir())]
    with (final / "projection_info.csv").open() as rows:
        for index in {int(row["img_idx"]) for row in csv.DictReader(rows)}:
            shutil.copy(trained[index], packaged / "projection" / f"{index:04d}.png")


class Grey(nn.Module):
    """The network on pictures in grey, whose three colours are equal."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pictures: Tensor) -> Tensor:
        return self.network(torch.cat([pictures, pictures, pictures], 1))


def freeze(packaged: Path) -> None:
    """Write the network from the bytes of the packaged pictures to the latents, as dataset.yml normalises them."""
    run = packaged / "run" / "final"
    extractor = build(open_run(run), load_head(run)).get_submodule("extractor")
    export_network(Grey(extractor).eval(), None, (1, SIZE, SIZE), [0.5], [0.5]).save(packaged / "network.safetensors")


def report(final: Path) -> None:
    """Log how many different training patches the projection chose for the prototypes."""
    with (final / "projection_info.csv").open() as rows:
        patches = Counter((row["img_idx"], row["h"], row["w"]) for row in csv.DictReader(rows))
    log.info("%d prototypes on %d distinct patches", patches.total(), len(patches))


def main() -> None:
    """Run every step; `--images-only` stops after the PNGs, which is what `cabrnet evaluate` needs."""
    parser = argparse.ArgumentParser(description="Train the packaged demonstration network.")
    parser.add_argument("--build", type=Path, default=HERE / "build", help="working directory")
    parser.add_argument("--packaged", type=Path, default=PACKAGED, help="where the result is copied to")
    parser.add_argument("--images-only", action="store_true", help="write the PNGs and stop")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")

    write_digits(args.build / "digits")
    if args.images_only:
        return
    final = train(args.build)
    report(final)
    package(args.build / "digits", final, args.packaged)
    freeze(args.packaged)


if __name__ == "__main__":
    main()
