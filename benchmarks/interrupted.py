"""Long work that is interrupted: `verale explain` of many images, stopped again and again, ends with the same folder.

    python -m benchmarks.interrupted --images 10000 --jobs 2 --stops int,kill,int,kill --out FILE
    python -m benchmarks.interrupted --images 2000 --jobs 2 --engine ray --stops kill

Images are random latents of a random small head. They are explained once undisturbed. Then the same command starts in
another folder and is stopped: by `int`, which all its processes get, as from Ctrl-C at a terminal, or by `kill`
(SIGKILL), which its first process alone gets. Stops come after equal shares of the images; after each one the command
starts again. Both folders are compared, file by file, byte for byte: all but the seconds that the table names. The exit
code is 1 if they differ, or if a command ends otherwise than it should.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from benchmarks.environment import describe, listed
from verale.head import Box, Euclidean, Head, LogRatio, save_latents
from verale.runs.table import read_table

__all__ = ["Part", "differences", "main", "run"]

_SIGNALS = {"int": signal.SIGINT, "kill": signal.SIGKILL}
_CODES = {"": (0, 10), "int": (130,), "kill": (-signal.SIGKILL,)}
"""How a command should end that is stopped so; 10: some images have no certificate."""
_EVERY = 0.05


@dataclass(frozen=True)
class Part:
    """One start of the command.

    Attributes:
        stop: the name of the signal that stopped it; empty where it ended by itself.
        seconds: on the clock, its end and that of its processes included.
        before, after: the certificates in the folder when it began, and when it had ended.
        code: its exit code.
    """

    stop: str
    seconds: float
    before: int
    after: int
    code: int

    @property
    def is_as_expected(self) -> bool:
        """Whether it ended as it should; what was stopped may have ended by itself just before."""
        return self.code in (*_CODES[self.stop], *_CODES[""])


def _subject(folder: Path, images: int) -> list[str]:
    """Files of a random head and of latents near its prototypes, as options of `verale explain`."""
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(24, 8, generator=generator)
    weight = torch.eye(6).repeat_interleave(4, 1) - 0.1 * torch.rand(6, 24, generator=generator)
    Head(weight, Euclidean(), LogRatio(1e-4), points, domain=Box(0, 1)).save(folder / "head")
    near = points[torch.randint(24, (images, 4), generator=generator)]
    latents = (near + 0.1 * torch.randn(near.shape, generator=generator)).clamp(0, 1)
    save_latents(folder / "latents", latents)
    return ["--head", str(folder / "head"), "--latents", str(folder / "latents")]


def _certificates(out: Path) -> int:
    return sum(1 for _ in out.glob("*.ale.json"))


def run(options: Sequence[str], out: Path, stop: str = "", at: int = 0) -> Part:
    """Run `verale explain` until it ends; with a signal to stop it once the folder has `at` certificates."""
    before, clock = _certificates(out), time.perf_counter()
    command = [sys.executable, "-m", "verale", "explain", *options, "--out", str(out)]
    read, write = os.pipe()  # its last process closes it
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True, pass_fds=(write,)
    )
    os.close(write)
    while stop and process.poll() is None and _certificates(out) < at:
        time.sleep(_EVERY)
    if stop and process.poll() is None:
        (os.killpg if stop == "int" else os.kill)(process.pid, _SIGNALS[stop])
    _, errors = process.communicate()
    with os.fdopen(read, "rb") as ended:
        ended.read()
    part = Part(stop, time.perf_counter() - clock, before, _certificates(out), process.returncode)
    if not part.is_as_expected:
        sys.stderr.write(errors.decode(errors="replace"))
    print(part, file=sys.stderr, flush=True)
    return part


def differences(one: Path, other: Path) -> list[str]:
    """The files that differ between two folders; the table's seconds, and so its digest, may."""
    names = sorted({path.name for folder in (one, other) for path in folder.iterdir()})
    return [name for name in names if _content(one / name) != _content(other / name)]


def _content(path: Path) -> object:
    if not path.exists():
        return None
    if path.name == "explanations.csv":
        return [replace(row, seconds=None) for row in read_table(path)]
    if path.name == "files.json":
        noted = map(json.loads, path.read_text().splitlines())
        return [each | ({"sha256": ""} if each.get("file") == "explanations.csv" else {}) for each in noted]
    return path.read_bytes()


def _page(whole: Part, parts: Sequence[Part], differing: Sequence[str], facts: dict[str, str]) -> str:
    lines = [
        "# Long work, interrupted",
        "",
        f"Written by `python -m benchmarks.interrupted {' '.join(sys.argv[1:])}`; see `benchmarks/README.md`.",
        "",
        *listed(facts),
        "",
        "| stopped by | seconds | certificates before | after | images/s | exit code |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, each in (("nothing: the undisturbed run", whole), *((part.stop or "nothing", part) for part in parts)):
        speed = (each.after - each.before) / each.seconds
        lines.append(f"| {name} | {each.seconds:.1f} | {each.before:,} | {each.after:,} | {speed:.1f} | {each.code} |")
    same = f"Different: {', '.join(differing)}." if differing else "Both folders are the same, byte for byte."
    lines += ["", f"{same} Seconds are of the clock; each start of Python and of its processes is included."]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, compare, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=10_000, help="number of images (default 10000)")
    parser.add_argument("--paradigm", default="projection", help="of verale explain (default projection)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--engine", default="local", help="local or ray (default local)")
    parser.add_argument("--stops", default="int,kill", help="comma separated: int or kill (default int,kill)")
    parser.add_argument("--out", type=Path, help="file for the page")
    args = parser.parse_args(arguments)
    stops = [each for each in args.stops.split(",") if each]
    if not set(stops) <= set(_SIGNALS):
        parser.error(f"--stops is {args.stops}, expected int and kill")
    machine = describe()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        options = [*_subject(folder, args.images), "--paradigm", args.paradigm, "--digits", "exact"]
        options += ["--jobs", str(args.jobs), "--engine", args.engine]
        whole = run(options, folder / "whole")
        places = [(place + 1) * args.images // (len(stops) + 1) for place in range(len(stops))]
        parts = [run(options, folder / "parts", stop, at) for stop, at in zip(stops, places, strict=True)]
        parts.append(run(options, folder / "parts"))
        differing = differences(folder / "whole", folder / "parts")
        size = sum(path.stat().st_size for path in (folder / "whole").iterdir())
    facts = {
        "images": f"{args.images:,}",
        "paradigm": f"{args.paradigm}, exact digits",
        "processes": f"{args.jobs}, {args.engine}",
        "bytes of the folder": f"{size:,}",
        "load average at the end": " ".join(f"{each:.2f}" for each in os.getloadavg()),
    }
    text = _page(whole, parts, differing, facts | machine)
    print(text)
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    return 0 if not differing and all(each.is_as_expected for each in (whole, *parts)) else 1


if __name__ == "__main__":
    sys.exit(main())
