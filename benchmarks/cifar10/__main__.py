"""Train five architectures of "Beyond L2" on CIFAR-10 with CaBRNet, explain test images, audit every certificate.

    python -m benchmarks.cifar10 train --data CIFAR10 --runs RUNS        # one model after the other, in one thread
    python -m benchmarks.cifar10 explain --data CIFAR10 --runs RUNS      # from the run directories
    python -m benchmarks.cifar10 table --runs RUNS --out FILE            # Markdown; exit code 1 if one is not proved

CIFAR10 holds train/CLASS/*.jpg and test/CLASS/*.jpg, or is the zip file of such a folder; it is unpacked next to RUNS.
Finished work is not repeated: a training continues from its last epoch, and explained models and paradigms are
kept.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

import torch

from benchmarks.cifar10.models import IMAGES, MODELS

__all__ = ["main"]


def main() -> int:
    """Run one stage."""
    parser = argparse.ArgumentParser(prog="benchmarks.cifar10", description="CIFAR-10, five architectures.")
    parser.add_argument("stage", choices=("train", "explain", "table"))
    parser.add_argument("--runs", type=Path, required=True, help="folder for models and measurements")
    parser.add_argument("--data", type=Path, help="CIFAR-10, a folder or a zip file")
    parser.add_argument("--models", default=",".join(MODELS), help="comma separated (default all)")
    parser.add_argument("--share", type=float, default=IMAGES, help=f"of the images, to train on (default {IMAGES})")
    parser.add_argument("--per-class", type=int, default=5, help="images of each class to explain (default 5)")
    parser.add_argument("--limit", type=float, default=300, help="processor seconds a model and paradigm (default 300)")
    parser.add_argument("--out", type=Path, help="file for the tables")
    args = parser.parse_args()
    names = args.models.split(",")
    if unknown := set(names) - set(MODELS):
        parser.error(f"unknown models {', '.join(sorted(unknown))}, expected some of {', '.join(MODELS)}")
    torch.set_num_threads(1)
    if args.stage == "table":
        from benchmarks.cifar10.table import report

        text, proved = report(names, args.runs, f"python -m benchmarks.cifar10 {' '.join(sys.argv[1:])}")
        print(text)
        if args.out:
            args.out.write_text(text, encoding="utf-8")
        return 0 if proved else 1
    if args.data is None:
        parser.error(f"{args.stage} needs --data")
    data = _unpacked(args.data, args.runs)
    for name in names:
        if args.stage == "train":
            from benchmarks.cifar10.training import train

            train(name, data, args.runs, args.share)
        else:
            from benchmarks.cifar10.explaining import explain_model

            explain_model(name, args.runs, data, args.per_class, args.limit)
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
