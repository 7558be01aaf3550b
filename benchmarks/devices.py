"""The search on a GPU beside one thread of the CPU: the same images, seconds an image, and what was found.

    python -m benchmarks.devices --data DATA --heads protopnet,gaussian --images 100 --batches 1,100 --out FILE
    python -m benchmarks.devices --data DATA --heads protopnet,pipnet --count --images 4 --out FILE

With --count nothing is timed, and no GPU is needed: the page has what a batch of 100 images asks of a device under each
paradigm, and the time that follows on an H200, an ESTIMATE (`benchmarks.counting`): what --images images ask for in one
batch, and for each further one what the second half of these added to the first.

Otherwise: wall time of `explain` after one image that imports what is needed, with the options of a row; an image's
share. The certificates lie in --certificates, a folder for each row with head and latents, for `verale audit` on any
machine.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import torch

from benchmarks import environment
from benchmarks.counting import BANDWIDTH, LAUNCH, SYNCHRONISATION, UPLOAD, counted
from benchmarks.engine import subject
from verale.bounds import observables
from verale.certificate import Certificate
from verale.head import Head, MaxPooling, Negated, as_patches, save_latents
from verale.paradigms import READABLE
from verale.search import SearchOptions
from verale.search.batches import Batches
from verale.search.explain import explain
from verale.search.smallest import paradigms_taken

_COLUMNS = (
    *("head", "paradigm", "digits", "device", "batch", "images", "explained", "statements", "minimal"),
    *("s an image", "images/s", "GPU MiB"),
)


@dataclass(frozen=True)
class Setting:
    """How a row explains.

    Attributes:
        paradigm, digits, device: as `explain` takes them.
        batch: images explained together.
    """

    paradigm: str
    digits: str
    device: str
    batch: int


def row(name: str, head: Head, latents: torch.Tensor, setting: Setting, keep: Path | None) -> list[str]:
    """What a setting does for all images of a head."""
    on_gpu = setting.device != "cpu"
    arguments = {"paradigm": setting.paradigm, "digits": setting.digits, "device": setting.device}
    explain(head, latents[:1], **arguments)
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    results = explain(head, latents, **arguments, batch=setting.batch)
    seconds = (time.perf_counter() - begin) / len(results)
    found = [each for each in results if isinstance(each, Certificate)]
    if keep is not None:
        folder = keep / f"{name}-{setting.paradigm}-{setting.digits}-{setting.device}-{setting.batch}"
        folder.mkdir(parents=True)
        head.save(folder / "head.safetensors")
        save_latents(folder / "latents.safetensors", latents)
        for index, each in enumerate(results):
            if isinstance(each, Certificate):
                (folder / f"{index:06}.ale.json").write_bytes(each.to_bytes())
    return [
        *(name, setting.paradigm, setting.digits, setting.device, str(setting.batch)),
        *(str(len(results)), str(len(found))),
        f"{sum(each.size for each in found) / max(len(found), 1):.1f}",
        str(sum(each.minimal for each in found)),
        *(f"{seconds:.4f}", f"{1 / seconds:.1f}"),
        f"{torch.cuda.max_memory_allocated() / 2**20:.0f}" if on_gpu else "",
    ]


def rows(options: argparse.Namespace) -> Iterator[list[str]]:
    """A row for each head and setting; batches of more than one image only on a GPU, where they share launches."""
    for name in options.heads.split(","):
        head, latents = subject(name, options.data, options.images)
        latents = as_patches(latents, head.depth)
        for paradigm in options.paradigms.split(","):
            for digits in options.digits.split(","):
                for device in options.devices.split(","):
                    batches = [1] if device == "cpu" else map(int, options.batches.split(","))
                    for batch in batches:
                        yield row(name, head, latents, Setting(paradigm, digits, device, batch), options.certificates)


COUNTED = (
    *("head", "paradigm", "images", "searched", "operations", "synchronisations", "uploads", "GB"),
    *("estimated s", "estimated images/s"),
)
"""The headings of what a batch of 100 images asks for."""

_HUNDRED = 100


def count(name: str, head: Head, latents: torch.Tensor, paradigm: str, digits: str) -> list[str]:
    """What a batch of 100 images asks for: what the images that there are do together, and for each further one what
    the second half of them added to the first."""
    images, half = len(latents), len(latents) // 2
    explain(head, latents[:1], paradigm, digits=digits)  # what is computed once a head is not counted
    taken = []
    for number in (half, images):
        batches = Batches(head, latents[:number], SearchOptions(paradigm, digits=digits, batch=number))
        with counted() as counts, patch.object(observables, "_IN_CACHE", observables._ON_DEVICE):
            batches.explain(0)
        taken.append(counts)
    fewer, every = taken
    scaled = every.plus(every.plus(fewer.times(-1)).times((_HUNDRED - images) / (images - half)))
    # No less than it takes where launches cover all transfers.
    scaled.seconds = max(scaled.seconds, every.seconds + (scaled.bytes - every.bytes) / BANDWIDTH)
    return [
        *(name, paradigm, str(images), "one by one" if batches.are_alone else "together"),
        *(f"{each:,.0f}" for each in (scaled.operations, scaled.synchronisations, scaled.uploads)),
        *(f"{scaled.bytes / 1e9:.1f}", f"{scaled.seconds:.2f}", f"{_HUNDRED / scaled.seconds:.1f}"),
    ]


def counts(options: argparse.Namespace) -> Iterator[list[str]]:
    """A row for each head and paradigm; `joint`, which is for images of one patch, on a head of its own."""
    asked = None if options.paradigms == "all" else options.paradigms.split(",")
    for name in options.heads.split(","):
        head, latents = subject(name, options.data, options.images)
        latents = as_patches(latents, head.depth)
        taken = [(name, head, latents, each) for each in (*paradigms_taken(head, latents.shape[1]), READABLE)]
        if head.prototypes is not None and isinstance(head.pooling, MaxPooling):
            flat = Head(head.weight, head.geometry, Negated(), prototypes=head.prototypes, domain=head.domain)
            if "joint" in paradigms_taken(flat, 1):
                taken.append((f"{name}, negated, one patch", flat, latents[:, :1], "joint"))
        for each in taken:
            if asked is None or each[3] in asked:
                yield count(*each, options.digits.split(",")[-1])


_ESTIMATE = (
    f"ESTIMATED seconds of an H200, not measured: {1e6 * LAUNCH:.0f} us an operation, or its bytes at"
    f" {BANDWIDTH / 1e12} TB/s if that is longer; {1e6 * SYNCHRONISATION:.0f} us a synchronisation,"
    f" {1e6 * UPLOAD:.0f} us an upload; what the host computes beside that is not counted. A batch of 100 images."
)


def _command() -> str:
    return " ".join(["benchmarks.devices", *sys.argv[1:]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder with the trained heads; demo and cub-* need none")
    parser.add_argument("--heads", default="protopnet,gaussian,tesnet")
    parser.add_argument("--paradigms", default="projection", help="comma separated; with --count also all")
    parser.add_argument("--count", action="store_true", help="count what a batch of 100 images asks of a device")
    parser.add_argument("--digits", default="exact,fewest")
    parser.add_argument("--devices", default="cpu,cuda")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--batches", default="1,100", help="how many images a GPU gets together")
    parser.add_argument("--certificates", type=Path, help="a new folder for the certificates")
    parser.add_argument("--out", type=Path, help="the page")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.data = options.data or environment.ROOT.parent / "shared" / "data"
    named = "cuda" if "cuda" in options.devices and not options.count else "cpu"
    lines = environment.listed(environment.describe(named) | {"command": f"python -m {_command()}"})
    if options.count:
        lines += [f"- {_ESTIMATE}"]
    columns = COUNTED if options.count else _COLUMNS
    lines += ["", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for each in counts(options) if options.count else rows(options):
        lines.append(f"| {' | '.join(each)} |")
        print(lines[-1], file=sys.stderr, flush=True)
        if options.out:  # after each row, so that an interrupted run keeps its results
            options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
