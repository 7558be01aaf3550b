"""A whole data set by the commands: images explained, certificates audited, in minutes and GiB; and what a core adds.

    python -m benchmarks.whole --checkpoint-dir RUN --images DIR --paradigm projection --jobs 2 --out FILE
    python -m benchmarks.whole --mnist DATA --paradigm projection --jobs 2 --out FILE

RUN is a CaBRNet run directory and DIR a folder of images; DATA is that of `benchmarks.mnist`, whose network makes the
latents. `verale explain` and `verale audit` run as a user runs them, one after the other. Memory is that of a command
and of all processes that it starts, read from /proc every half second: resident pages, where a page that two processes
share counts twice; and proportional ones, where it counts once. With `--scaling N`, the first N images are then
explained by one process and by all, in turns: by seconds on the clock, so on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.environment import describe, listed

__all__ = ["Stage", "main", "measured", "memory_of"]

_EVERY = 0.5


@dataclass
class Stage:
    """What a command took.

    Attributes:
        name: the command.
        wall, processor: seconds.
        resident, proportional: the greatest memory of all its processes together, in bytes.
        code: its exit code.
    """

    name: str
    wall: float = 0.0
    processor: float = 0.0
    resident: int = 0
    proportional: int = 0
    code: int = 0


def memory_of(root: int) -> tuple[int, int]:
    """Resident and proportional bytes of a process and of all that descend from it."""
    resident = proportional = 0
    for number in _tree(root):
        try:
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()[1:]
        except OSError:  # it has just ended
            continue
        sizes = {name: int(rest.split()[0]) * 1024 for name, rest in (line.split(":") for line in lines)}
        resident, proportional = resident + sizes["Rss"], proportional + sizes["Pss"]
    return resident, proportional


def _tree(root: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    left = [root]
    while left:
        yield (number := left.pop())
        left += children.get(number, [])


def measured(name: str, command: Sequence[str], out: Path) -> Stage:
    """Run a command of verale, its standard output into a file, and measure it."""
    stage = Stage(name)
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with out.open("wb") as stream:
        process = subprocess.Popen([sys.executable, "-m", "verale", *command], stdout=stream)
        while process.poll() is None:
            resident, proportional = memory_of(process.pid)
            stage.resident, stage.proportional = max(stage.resident, resident), max(stage.proportional, proportional)
            time.sleep(_EVERY)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    stage.wall, stage.code = time.perf_counter() - clock, process.returncode
    stage.processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(stage, file=sys.stderr, flush=True)
    return stage


def _mnist(data: Path, folder: Path) -> list[str]:
    """Head and latents of the published network, as options of `verale explain`."""
    from verale.adapters import load_model, load_published
    from verale.adapters.idx import read_idx
    from verale.adapters.published.prototypedl import Autoencoder
    from verale.head import save_latents

    images = read_idx(data / "t10k-images-idx3-ubyte.gz", 3)
    labels = read_idx(data / "t10k-labels-idx1-ubyte.gz", 1).long()
    network = Autoencoder(load_model(data / "standard_model.pth"))
    load_published(data / "standard_model.pth", "prototypedl").save(folder / "head")
    save_latents(folder / "latents", network.latents(images.unsqueeze(1) / 255), labels)
    return ["--head", str(folder / "head"), "--latents", str(folder / "latents")]


def _scaling(run: Path, folder: Path, images: int, paradigm: str, jobs: int, rounds: int) -> list[tuple[Stage, Stage]]:
    """One process and all, in turns, on the first images of a run."""
    from verale.head import load_latents, save_latents

    save_latents(folder / "first", load_latents(run / "latents.safetensors")[:images])
    given = ["--head", str(run / "head.safetensors"), "--latents", str(folder / "first"), "--paradigm", paradigm]
    return [
        (
            measured("1", _explain(given, folder / "one", 1), folder / "stdout"),
            measured(str(jobs), _explain(given, folder / "all", jobs), folder / "stdout"),
        )
        for _ in range(rounds)
    ]


def _explain(given: Sequence[str], out: Path, jobs: int) -> list[str]:
    return ["explain", *given, "--out", str(out), "--jobs", str(jobs), "--overwrite"]


def _page(stages: Sequence[Stage], facts: dict[str, str], pairs: Sequence[tuple[Stage, Stage]], images: int) -> str:
    lines = [
        "# A whole data set",
        "",
        f"Written by `python -m benchmarks.whole {' '.join(sys.argv[1:])}`; see `benchmarks/README.md`.",
        "",
        *listed(facts),
        "",
        "| command | minutes | processor minutes | ms an image, processor | resident GiB | proportional GiB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    total = Stage(
        "together",
        sum(each.wall for each in stages),
        sum(each.processor for each in stages),
        max(each.resident for each in stages),
        max(each.proportional for each in stages),
    )
    for each in (*stages, total):
        lines.append(
            f"| {each.name} | {each.wall / 60:.2f} | {each.processor / 60:.2f} | {1e3 * each.processor / images:.1f} |"
            f" {each.resident / 2**30:.2f} | {each.proportional / 2**30:.2f} |"
        )
    lines += [
        "",
        "Explaining includes capturing the images, where they are given, and everything that is written. Memory: the"
        " greatest of a command and all its processes together; of resident pages, those that processes share count for"
        " each of them.",
    ]
    if pairs:
        ratios = [one.wall / several.wall for one, several in pairs]
        lines += [
            "",
            "| seconds of one process | processor | of all | processor | ratio of seconds |",
            "|---:|---:|---:|---:|---:|",
            *(
                f"| {one.wall:.1f} | {one.processor:.1f} | {several.wall:.1f} | {several.processor:.1f} |"
                f" {one.wall / several.wall:.2f} |"
                for one, several in pairs
            ),
            "",
            f"Median ratio {median(ratios):.2f}. Starting Python, verale and the processes is included.",
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(prog="benchmarks.whole", description="A whole data set by the commands.")
    parser.add_argument("--checkpoint-dir", type=Path, help="a CaBRNet run directory")
    parser.add_argument("--images", type=Path, help="a folder of images")
    parser.add_argument("--mnist", type=Path, help="instead: the folder of the published network on MNIST")
    parser.add_argument("--paradigm", default="projection", help="of verale explain (default projection)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--scaling", type=int, default=0, metavar="N", help="also one process and all, on N images")
    parser.add_argument("--rounds", type=int, default=3, help="how often (default 3)")
    parser.add_argument("--out", type=Path, help="file for the page")
    args = parser.parse_args()
    machine = describe()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run = folder / "run"
        if args.mnist is not None:
            given = _mnist(args.mnist, folder)
        elif args.checkpoint_dir is not None and args.images is not None:
            given = ["--checkpoint-dir", str(args.checkpoint_dir), "--images", str(args.images)]
        else:
            parser.error("give --checkpoint-dir and --images, or --mnist")
        given += ["--paradigm", args.paradigm]
        stages = [
            measured("explain", _explain(given, run, args.jobs), folder / "stdout"),
            measured("audit", ["audit", str(run), "--jobs", str(args.jobs)], folder / "verdicts"),
        ]
        proved = sum(line.startswith("PROVED ") for line in (folder / "verdicts").read_text().splitlines())
        certificates = list(run.glob("*.ale.json"))
        images = sum(1 for _ in (run / "explanations.csv").open()) - 1
        facts = {
            "images": f"{images:,}, {len(certificates):,} certificates, {proved:,} proved",
            "paradigm": args.paradigm,
            "processes": str(args.jobs),
            "bytes of the certificates": f"{sum(path.stat().st_size for path in certificates):,}",
            "load average at the end": " ".join(f"{each:.2f}" for each in os.getloadavg()),
        }
        pairs = _scaling(run, folder, args.scaling, args.paradigm, args.jobs, args.rounds) if args.scaling else []
        text = _page(stages, facts | machine, pairs, images)
    print(text)
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    return 0 if all(each.code == 0 for each in stages) and proved == images else 1


if __name__ == "__main__":
    sys.exit(main())
