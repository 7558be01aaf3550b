"""This tree beside another commit: explain and audit the same images with both, in one run.

    python -m benchmarks.against HEAD~1 --data DATA --heads protopnet,cub-pipnet --images 4 --out /tmp/against.md

The commit's package is unpacked into a temporary folder. Each of the two trees, the other one being this one as it lies
on the disk, has a process of its own with one thread. They take turns, image by image, and which of them goes first
changes with each image: what else the machine does hits both. The exit code is 1 if this tree has lost anything: an
explanation, a proof, or a claim that every statement is needed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import source_tree
from benchmarks.engine import subject
from benchmarks.environment import ROOT, describe, listed
from benchmarks.heads import HEADS
from verale.errors import UsageError
from verale.head import Head, save_latents
from verale.search import best_paradigm

__all__ = ["Compared", "Tree", "compare", "main", "unpack"]

_THREADS = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "MKL", "OPENBLAS")}


def unpack(commit: str, folder: Path) -> None:
    """Put the package of a commit into a folder. Raises UsageError for an unknown commit."""
    archive = subprocess.run(["git", "archive", commit, "verale"], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        raise UsageError(f"commit {commit!r}: {archive.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")


class Tree:
    """A process that explains and audits with the package of one tree; ended by leaving its context.

    Attributes:
        cold_seconds: processor seconds from its start until the first image was explained.
    """

    def __init__(self, package: Path, files: Path, options: dict[str, Any]) -> None:
        # With -P the package's folder comes first in the path. What is compiled there is found again by that path.
        command = [sys.executable, "-P", source_tree.__file__, str(files), json.dumps(options)]
        self._package = package
        environment = {**os.environ, **_THREADS, "PYTHONPATH": str(package.parent)}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.cold_seconds = 0.0

    def __enter__(self) -> Tree:
        self._process.__enter__()
        try:
            begun = self._read()
            if Path(begun["verale"]).parent != self._package:
                raise UsageError(f"python took verale from {begun['verale']}, expected {self._package}")
        except BaseException:
            self.__exit__()
            raise
        self.cold_seconds = begun["cold_seconds"]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.__exit__(None, None, None)

    def next(self) -> list[dict[str, Any]]:
        """What the next batch gave, image by image."""
        if self._process.stdin is not None:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        answer: list[dict[str, Any]] = self._read()
        return answer

    def _read(self) -> Any:
        line = "" if self._process.stdout is None else self._process.stdout.readline()
        if not line:
            raise UsageError(f"a tree's process ended with code {self._process.wait()}; its message is above")
        return json.loads(line)


@dataclass
class Compared:
    """One head under one paradigm: what the two trees gave, image by image, the commit first.

    Attributes:
        head, paradigm: their names.
        before, after: an object an image as `source_tree` gives it, with the least seconds of all rounds.
        cold: processor seconds of each tree until its first image was explained.
    """

    head: str
    paradigm: str
    before: list[dict[str, Any]] = field(default_factory=list)
    after: list[dict[str, Any]] = field(default_factory=list)
    cold: tuple[float, float] = (0.0, 0.0)

    @property
    def lost(self) -> list[str]:
        """What this tree does not give, image by image."""
        lines = []
        for image, (old, new) in enumerate(zip(self.before, self.after, strict=True)):
            where = f"{self.head}, {self.paradigm}, image {image}"
            if "size" in old and "size" not in new:
                lines.append(f"{where}: no explanation: {new['reason']}")
            elif "size" in new and not new["proved"]:
                lines.append(f"{where}: not proved: {new['reason']}")
            elif old.get("minimal") and not new["minimal"]:
                lines.append(f"{where}: not every statement is claimed to be needed")
        return lines

    @property
    def both(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The images that both trees explain."""
        return [pair for pair in zip(self.before, self.after, strict=True) if all("size" in each for each in pair)]


def compare(name: str, head: Head, latents: Any, before: Path, options: dict[str, Any], repeat: int = 1) -> Compared:
    """Explain images (N, ...) with the package in the folder `before` and with this tree's, in turns.

    Args:
        name: the head's.
        options: those of `source_tree`.
        repeat: how many rounds; of each image the least seconds count.
    """
    compared = Compared(name, options["paradigm"])
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder).resolve()
        head.save(files / "head.safetensors")
        save_latents(files / "latents.safetensors", latents)
        with Tree(before / "verale", files, options) as first, Tree(ROOT / "verale", files, options) as second:
            trees = first, second
            compared.cold = first.cold_seconds, second.cold_seconds
            for _ in range(repeat):
                round_: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
                turn = 0
                while len(round_[0]) < len(latents):
                    for side in (turn, 1 - turn):
                        round_[side].extend(trees[side].next())
                    turn = 1 - turn
                compared.before, compared.after = map(_faster, (compared.before, compared.after), round_)
    return compared


def _faster(known: list[dict[str, Any]], again: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The second round, with the least seconds of both."""
    seconds = ("explain_seconds", "audit_seconds")
    return (
        [
            new | {name: min(old[name], new[name]) for name in seconds if name in old and name in new}
            for old, new in zip(known, again, strict=True)
        ]
        if known
        else again
    )


def _mean(images: list[dict[str, Any]], name: str) -> float:
    return fmean([image[name] for image in images if name in image] or [float("nan")])


def _beside(compared: Compared, name: str, factor: float, cell: Callable[[float], str]) -> tuple[str, str, str]:
    """Two means over the images that both trees explain, and the second divided by the first."""
    old, new = (factor * _mean([pair[side] for pair in compared.both], name) for side in (0, 1))
    return cell(old), cell(new), f"{new / old:.3f}" if old else "-"


def _milliseconds(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


COLUMNS = (
    *("head", "paradigm", "images", "explain ms", "here", "ratio", "audit ms", "here", "ratio"),
    *("size", "here", "ratio", "minimal", "here", "proved", "here", "same bytes", "cold s", "here"),
)
"""The headings; `here` is this tree, beside the commit."""


def _row(compared: Compared) -> str:
    counts = [
        str(sum(bool(image.get(name)) for image in side))
        for name in ("minimal", "proved")
        for side in (compared.before, compared.after)
    ]
    cells = (
        *(compared.head, compared.paradigm, str(len(compared.before))),
        *_beside(compared, "explain_seconds", 1000, _milliseconds),
        *_beside(compared, "audit_seconds", 1000, _milliseconds),
        *_beside(compared, "size", 1, lambda size: f"{size:.1f}"),
        *counts,
        str(sum(old["sha256"] == new["sha256"] for old, new in compared.both)),
        *(f"{seconds:.1f}" for seconds in compared.cold),
    )
    return f"| {' | '.join(cells)} |"


def page(rows: Sequence[Compared], facts: dict[str, str]) -> str:
    """The table in Markdown, and what was lost."""
    return "\n".join(
        [
            "# This tree beside another commit",
            "",
            *listed(facts),
            "",
            f"| {' | '.join(COLUMNS)} |",
            "|---|---|" + "---:|" * (len(COLUMNS) - 2),
            *map(_row, rows),
            "",
            *(f"- lost: {line}" for row in rows for line in row.lost),
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__.split("\n", 1)[0])
    parser.add_argument("commit", help="what to compare with, as git names it")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="trained heads and latents")
    parser.add_argument("--heads", default=",".join(HEADS), help="some of benchmarks.heads, or demo")
    parser.add_argument("--paradigms", default="", help="comma separated; by default the head's best spatial one")
    parser.add_argument("--order", help="by default verale's own choice")
    parser.add_argument("--tolerance", type=float, default=0.0, help="of statements (default 0)")
    parser.add_argument(
        "--digits", help="of statements: fewest, exact, or a number; by default each tree's own default"
    )
    parser.add_argument("--images", type=int, default=2, help="the first images of each head (default 2)")
    parser.add_argument("--batch", type=int, default=1, help="images explained together (default 1)")
    parser.add_argument("--repeat", type=int, default=1, help="rounds, of which the least seconds count (default 1)")
    parser.add_argument("--kernel", help="of the audits; by default each tree's own default")
    parser.add_argument("--out", type=Path, help="file for the page")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the page; 0 unless this tree has lost something."""
    args = _parser().parse_args(arguments)
    facts = describe() | {
        "compared with": args.commit,
        "command": f"python -m benchmarks.against {' '.join(sys.argv[1:] if arguments is None else arguments)}",
    }
    rows: list[Compared] = []
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder).resolve()
        try:
            unpack(args.commit, before)
        except UsageError as error:
            print(error, file=sys.stderr)
            return 2
        for name in args.heads.split(","):
            try:
                head, latents = subject(name, args.data, args.images)
            except UsageError as error:
                print(f"{name}: skipped: {error}", file=sys.stderr)
                continue
            for paradigm in args.paradigms.split(","):
                options = {
                    "paradigm": paradigm or best_paradigm(head),
                    **{key: getattr(args, key) for key in ("order", "tolerance", "digits", "batch", "kernel")},
                }
                rows.append(compare(name, head, latents, before, options, args.repeat))
                print(_row(rows[-1]), file=sys.stderr, flush=True)
                if args.out:  # after each row, so that an interrupted run keeps its results
                    args.out.write_text(page(rows, facts), encoding="utf-8")
    print(page(rows, facts))
    return 1 if any(row.lost for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
