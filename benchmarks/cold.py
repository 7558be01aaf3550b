"""The processor time before the first explanation.

    python -m benchmarks.cold --heads demo,pipnet --data DATA --paradigms default,smallest --images 2

Each line is a process of its own. Its time includes Python's start and all imports.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.engine import subject
from benchmarks.environment import describe, listed
from verale.head import save_latents

__all__ = ["main", "seconds"]

_PROGRAM = """
import sys, time
import safetensors.torch, torch
torch.set_num_threads(1)
import verale
folder, paradigm = sys.argv[1:]
head = verale.Head.load(folder + "/head")
latents = safetensors.torch.load_file(folder + "/latents")["latents"]
verale.explain(head, latents, paradigm)
print(time.process_time())
"""


def seconds(folder: Path, paradigm: str) -> float:
    """Processor seconds of a process that explains the latents of a folder."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(folder), paradigm],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heads", default="demo", help="demo, or of benchmarks.heads, comma separated (default demo)")
    parser.add_argument("--paradigms", default="projection,readable", help="comma separated (projection,readable)")
    parser.add_argument("--data", type=Path, default=Path("data"), help="trained heads and latents (default data)")
    parser.add_argument("--images", type=int, default=2, help="number of images (default 2)")
    given = parser.parse_args()
    print("\n".join(listed(describe())))
    print("\n| head | paradigm | images | seconds |\n|---|---|---:|---:|")
    for name in given.heads.split(","):
        head, latents = subject(name, given.data, given.images)
        for paradigm in given.paradigms.split(","):
            with tempfile.TemporaryDirectory() as folder:
                head.save(Path(folder) / "head")
                save_latents(Path(folder) / "latents", latents)
                first = seconds(Path(folder), paradigm)
            print(f"| {name} | {paradigm} | {given.images} | {first:.1f} |", flush=True)


if __name__ == "__main__":
    main()
