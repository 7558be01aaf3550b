"""Train five architectures of "Beyond L2" on CIFAR-10 with CaBRNet, one after the other, in one thread.

    python -m benchmarks.cifar10 --data CIFAR10 --runs RUNS
    python -m benchmarks.tables RUNS --out tables.md                     # then explains them

CIFAR10 holds train/CLASS/*.jpg and test/CLASS/*.jpg, or is the zip file of such a folder; it is unpacked next to RUNS.
Finished work is not repeated: a training continues from its last epoch.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

import torch

from benchmarks.cifar10.models import IMAGES, MODELS
from benchmarks.cifar10.training import train

__all__ = ["main"]


def main() -> int:
    """Train the models that are not there yet."""
    parser = argparse.ArgumentParser(prog="benchmarks.cifar10", description="CIFAR-10, five architectures.")
    parser.add_argument("--runs", type=Path, required=True, help="folder for the models")
    parser.add_argument("--data", type=Path, required=True, help="CIFAR-10, a folder or a zip file")
    parser.add_argument("--models", default=",".join(MODELS), help="comma separated (default all)")
    parser.add_argument("--share", type=float, default=IMAGES, help=f"of the images, to train on (default {IMAGES})")
    args = parser.parse_args()
    names = args.models.split(",")
    if unknown := set(names) - set(MODELS):
        parser.error(f"unknown models {', '.join(sorted(unknown))}, expected some of {', '.join(MODELS)}")
    torch.set_num_threads(1)
    data = _unpacked(args.data, args.runs)
    for name in names:
        train(name, data, args.runs, args.share)
    return 0


def _unpacked(data: Path, runs: Path) -> Path:
    """The folder with train/ and test/."""
    if data.suffix == ".zip":
        folder = runs.resolve().parent / data.stem
        if not folder.is_dir():
            with zipfile.ZipFile(data) as archive:
                archive.extractall(folder)
        data = folder
    root = next((folder for folder in (data, data / "cifar10") if (folder / "test").is_dir()), None)
    if root is None:
        raise SystemExit(f"{data}: expected a folder with train/ and test/")
    return root.resolve()


if __name__ == "__main__":
    sys.exit(main())
