"""Rules for a published network on MNIST, fitted to one half of the test images and measured on the other.

    python -m benchmarks.rules --data DATA --out benchmarks/results/rules.md

DATA is the folder of `benchmarks.mnist`. Under each paradigm rules are fitted, and the checker proves, image by image,
what they cover of both halves (`verale rules`). Then some images are explained and inflated; the page says of how many
test images each explanation holds. The exit code is 0 only if the checker proved every rule, and every inflated
explanation.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import safetensors.torch
import torch
from torch import Tensor

from benchmarks.environment import describe, listed
from verale.adapters import load_model, load_published
from verale.adapters.idx import read_idx
from verale.adapters.published.prototypedl import Autoencoder
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import Head, as_patches, save_latents
from verale.rules.coverage import coverage_of
from verale.runs.rules import RuleList, fit_rules
from verale.search import SearchOptions
from verale.search.explain import explain_batches

__all__ = ["Inflated", "Measured", "inflated", "main", "measure", "page"]

PARADIGMS = ("joint", "top_k")


@dataclass(frozen=True)
class Measured:
    """The rules of one paradigm.

    Attributes:
        rules: the list.
        seconds: the processor time of fitting, proving and measuring them.
    """

    rules: RuleList
    seconds: float


@dataclass(frozen=True)
class Inflated:
    """Explanations of some images, inflated.

    Attributes:
        paradigm: their paradigm.
        before, after: of each explanation, how many of all images satisfy its statements, as found and inflated.
        union: how many some inflated explanation covers.
        proved: how many inflated explanations the checker proved, with their images.
        seconds: the processor time to explain and inflate one image.
    """

    paradigm: str
    before: list[int]
    after: list[int]
    union: int
    proved: int
    seconds: float


def measure(head: str, fitted: str, held_out: str, paradigm: str, count: int) -> Measured:
    """Fit rules to one file of latents, and prove what they cover of it and of another; all paths are of files."""
    start = time.process_time()
    rules = fit_rules(head, fitted, held_out, count, paradigm)
    return Measured(rules, time.process_time() - start)


def inflated(head: Head, images: Tensor, chosen: int, paradigm: str) -> Inflated:
    """Explain the first images (N, 1, D), as they are and inflated, and count whom the explanations cover."""
    options = {False: SearchOptions(paradigm), True: SearchOptions(paradigm, inflate=True)}
    found: dict[bool, list[Certificate]] = {}
    seconds = 0.0
    for inflate, each in options.items():
        start = time.process_time()
        results = [one for part in explain_batches(head, images[:chosen], each) for one in part]
        seconds = (time.process_time() - start) / chosen
        found[inflate] = [one for one in results if isinstance(one, Certificate)]
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": images[:chosen].contiguous()}))
    verdicts = [auditor.check(one.to_bytes(), minimality=one.minimal).status for one in found[True]]
    before = torch.stack([coverage_of(head, images, one.statements, one.predicted).possible for one in found[False]])
    after = torch.stack([coverage_of(head, images, one.statements, one.predicted).certain for one in found[True]])
    return Inflated(
        paradigm,
        before.sum(1).tolist(),
        after.sum(1).tolist(),
        int(after.any(0).sum()),
        verdicts.count(Status.PROVED),
        seconds,
    )


def page(measured: Sequence[Measured], explained: Sequence[Inflated], machine: dict[str, str], command: str) -> str:
    """The results in Markdown."""
    lines = [
        "# MNIST: rules of a published network",
        "",
        f"Written by `{command}`; see `benchmarks/README.md`.",
        "",
        *listed(machine),
        "",
        "Rules are fitted to the first half of the test images and measured on the second. The checker proves each"
        " image that is covered.",
        "",
        "| paradigm | rules | fitted: covered | held out: covered | of these correct | statements, mean | s |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *map(_row, measured),
        "",
    ]
    for each in measured:
        lines += [
            f"## {each.rules.paradigm}",
            "",
            "| rule | class | covers, fitted | covers, held out | least margin |",
            "|---|---:|---:|---:|---:|",
            *(
                f"| {rule.words} | **{rule.name}** | {rule.fitted.images:,} |"
                f" {'-' if rule.held_out is None else f'{rule.held_out.images:,}'} | {rule.margin or 0:.2g} |"
                for rule in each.rules.rules
            ),
            "",
        ]
    lines += [
        "## Explanations, inflated",
        "",
        "How many of all test images satisfy the statements of one explanation: as found, and inflated. Seconds are"
        " those to explain and inflate an image.",
        "",
        "| paradigm | explanations | proved | as found, mean | inflated, mean | inflated, median | union | s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {each.paradigm} | {len(each.after):,} | {each.proved:,} | {fmean(each.before):.1f} |"
            f" {fmean(each.after):.1f} | {median(each.after):,.0f} | {each.union:,} | {each.seconds:.3f} |"
            for each in explained
        ),
    ]
    return "\n".join(lines) + "\n"


def _row(each: Measured) -> str:
    rules = each.rules
    fitted, held_out = rules.fitted, rules.held_out
    cells = (
        rules.paradigm,
        str(len(rules.rules)),
        f"{fitted.covered:,} of {fitted.images:,}",
        "-" if held_out is None else f"{held_out.covered:,} of {held_out.images:,}",
        "-" if held_out is None or held_out.correct is None else f"{held_out.correct:,}",
        f"{fmean(rule.size for rule in rules.rules):.1f}",
        f"{each.seconds:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(prog="benchmarks.rules", description="Rules of a published network on MNIST.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the network and the test images")
    parser.add_argument("--out", type=Path, help="file for the page")
    parser.add_argument("--images", type=int, help="only the first so many")
    parser.add_argument("--count", type=int, default=10, help="the most rules")
    parser.add_argument("--explained", type=int, default=200, help="images that are explained and inflated")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    machine = describe()
    model = load_model(args.data / "standard_model.pth")
    head, network = load_published(args.data / "standard_model.pth", "prototypedl"), Autoencoder(model)
    pixels = read_idx(args.data / "t10k-images-idx3-ubyte.gz", 3)[: args.images]
    labels = read_idx(args.data / "t10k-labels-idx1-ubyte.gz", 1)[: args.images].long().tolist()
    latents = network.latents(pixels.unsqueeze(1) / 255)
    half = len(latents) // 2
    command = f"python -m benchmarks.rules {' '.join(sys.argv[1:] if arguments is None else arguments)}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths = [str(folder / name) for name in ("head.safetensors", "fitted", "held_out")]
        head.save(paths[0])
        save_latents(paths[1], latents[:half], labels[:half])
        save_latents(paths[2], latents[half:], labels[half:])
        measured = [measure(*paths, paradigm, args.count) for paradigm in PARADIGMS]
    explained = [inflated(head, as_patches(latents), args.explained, paradigm) for paradigm in PARADIGMS]
    text = page(measured, explained, machine, command)
    print(text)
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    sound = all(each.rules.exit_code == 0 for each in measured) and all(
        each.proved == len(each.after) for each in explained
    )
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
