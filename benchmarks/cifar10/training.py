"""Train the models, one after the other; finished models are kept, and interrupted trainings continue."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import yaml

from benchmarks.cifar10.models import IMAGES, configuration
from benchmarks.environment import describe

__all__ = ["train"]

SEED = 42
THREADS = 1


def train(name: str, data: Path, runs: Path, share: float = IMAGES) -> None:
    """Write `runs/name/final`, CaBRNet's run directory, with `cabrnet train` in one thread, on a share of the images.

    Raises:
        subprocess.CalledProcessError, RuntimeError: CaBRNet failed; `runs/name/log.txt` says why.
    """
    run = runs / name
    if (run / "final").is_dir():
        print(f"{name}: {run / 'final'} exists already")
        return
    if (run / "latest").is_dir():
        source = ["--resume-from", str(run / "latest")]  # continues in its parent
    else:
        (run / "config").mkdir(parents=True, exist_ok=True)
        for file, content in configuration(name, data, share).items():
            (run / "config" / file).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        source = ["--config-dir", str(run / "config"), "--output-dir", str(run)]
    command = [
        *(sys.executable, "-m", "cabrnet.main", "train", "--device", "cpu", "--seed", str(SEED)),
        *(*source, "--save-best", "train_set/accuracy", "max", "--logger-level", "WARNING"),
    ]
    start = time.perf_counter()
    threads = {"OMP_NUM_THREADS": str(THREADS), "MKL_NUM_THREADS": str(THREADS)}
    subprocess.run(command, env=os.environ | threads, check=True)
    seconds = time.perf_counter() - start
    if not (run / "final").is_dir():  # CaBRNet's exit code may be 0 even then
        raise RuntimeError(f"{name}: CaBRNet wrote no {run / 'final'}; {run / 'log.txt'} or the lines above say why")
    facts = [f"{key}: {value}" for key, value in describe().items()]
    (run / "trained.txt").write_text("\n".join([*facts, f"command: {' '.join(command)}", f"seconds: {seconds:.0f}\n"]))
    print(f"{name}: trained in {seconds:.0f} s", flush=True)
