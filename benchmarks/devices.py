"""The search on a GPU beside one thread of the CPU: the same images, seconds an image, and what was found.

    python -m benchmarks.devices --data DATA --heads protopnet,gaussian --images 100 --batches 1,100 --out FILE

Wall time of `explain` after one image that imports what is needed, with the options of a row; an image's share. The
certificates lie in --certificates, a folder for each row with head and latents, for `verale audit` on any machine.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks import environment
from benchmarks.heads import Subject, build
from verale.certificate import Certificate
from verale.head import save_latents
from verale.search.explain import explain

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


def row(subject: Subject, setting: Setting, keep: Path | None) -> list[str]:
    """What a setting does for all images of a subject."""
    on_gpu = setting.device != "cpu"
    arguments = {"paradigm": setting.paradigm, "digits": setting.digits, "device": setting.device}
    explain(subject.head, subject.latents[:1], **arguments)
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    begin = time.perf_counter()
    results = explain(subject.head, subject.latents, **arguments, batch=setting.batch)
    seconds = (time.perf_counter() - begin) / len(results)
    found = [each for each in results if isinstance(each, Certificate)]
    if keep is not None:
        folder = keep / f"{subject.name}-{setting.paradigm}-{setting.digits}-{setting.device}-{setting.batch}"
        folder.mkdir(parents=True)
        subject.head.save(folder / "head.safetensors")
        save_latents(folder / "latents.safetensors", subject.latents)
        for index, each in enumerate(results):
            if isinstance(each, Certificate):
                (folder / f"{index:06}.ale.json").write_bytes(each.to_bytes())
    return [
        *(subject.name, setting.paradigm, setting.digits, setting.device, str(setting.batch)),
        *(str(len(results)), str(len(found))),
        f"{sum(each.size for each in found) / max(len(found), 1):.1f}",
        str(sum(each.minimal for each in found)),
        *(f"{seconds:.4f}", f"{1 / seconds:.1f}"),
        f"{torch.cuda.max_memory_allocated() / 2**20:.0f}" if on_gpu else "",
    ]


def rows(options: argparse.Namespace) -> Iterator[list[str]]:
    """A row for each head and setting; batches of more than one image only on a GPU, where they share launches."""
    for name in options.heads.split(","):
        subject = build(name, options.data, options.images)
        for paradigm in options.paradigms.split(","):
            for digits in options.digits.split(","):
                for device in options.devices.split(","):
                    batches = [1] if device == "cpu" else map(int, options.batches.split(","))
                    for batch in batches:
                        yield row(subject, Setting(paradigm, digits, device, batch), options.certificates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the trained heads")
    parser.add_argument("--heads", default="protopnet,gaussian,tesnet")
    parser.add_argument("--paradigms", default="projection")
    parser.add_argument("--digits", default="exact,fewest")
    parser.add_argument("--devices", default="cpu,cuda")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--batches", default="1,100", help="how many images a GPU gets together")
    parser.add_argument("--certificates", type=Path, help="a new folder for the certificates")
    parser.add_argument("--out", type=Path, help="the page")
    options = parser.parse_args()
    torch.set_num_threads(1)
    named = "cuda" if "cuda" in options.devices else "cpu"
    lines = environment.listed(environment.describe(named))
    lines += ["", f"| {' | '.join(_COLUMNS)} |", "|---" * len(_COLUMNS) + "|"]
    for each in rows(options):
        lines.append(f"| {' | '.join(each)} |")
        print(lines[-1], file=sys.stderr, flush=True)
        if options.out:  # after each row, so that an interrupted run keeps its results
            options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
