"""How many statements explanations have: each paradigm of a head alone, and the most readable of each image.

    python -m benchmarks.sizes --data DATA --out benchmarks/results/sizes.md
    python -m benchmarks.sizes --data DATA --digits fewest,exact,2 --out benchmarks/results/digits.md

DATA holds the trained heads of `benchmarks.run`; the packaged digits need no file. The first images of each head are
explained under every paradigm that `readable` tries, then under `readable` itself, and every certificate is audited.
Beside them stands what `top_k` gives when it states the highest activations, as published, and then drops what is not
needed. The exit code is 0 only if every certificate was proved.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from statistics import fmean

import safetensors.torch
import torch
from torch import Tensor

from benchmarks import executable
from benchmarks.environment import describe, listed
from benchmarks.heads import HEADS, build
from verale.adapters.cabrnet import load_head
from verale.certificate import Certificate, PatchStatement
from verale.certificate.statements import bounded, to_read
from verale.certificate.words import lower_end, upper_end
from verale.checker import Auditor, Status
from verale.demo.network import RUN, load_images, load_network
from verale.head import Head, as_patches
from verale.paradigms import HIGHEST, READABLE
from verale.search import Batches, SearchOptions
from verale.search.digits import EXACT_DIGITS, FEWEST_DIGITS
from verale.search.paradigms.of_activations import TopKSearch
from verale.search.problem import NoExplanation, Problem

__all__ = ["Measured", "main", "measure", "measure_before", "page"]

DIGITS = "digits"
DEFAULT = ("protopnet", "gaussian", "tesnet", "pipnet", DIGITS)


@dataclass
class Measured:
    """What one paradigm made of some images; a size is None where an image has no explanation.

    Attributes:
        paradigm: its name.
        digits: of the numbers of statements, as the option of that name says.
        sizes: statements, image by image.
        under: how many explanations each paradigm gave.
        one_sided: statements with one stated end.
        minimal: how many explanations claim that no statement can be dropped.
        read: numbers and names that a reader of the explanations meets.
        bounded: prototypes that they bound, all together, and of how many.
        told: of each explanation the most digits that a number has.
        proved, unproved: certificates that the checker proved, and why it did not prove the others; None if there are
            no certificates, because only the size was computed.
        explain_seconds, audit_seconds: processor seconds, all images together.
        peak: the most memory, in GiB, that this process had until all images were explained, its libraries and what it
            did before counted.
    """

    paradigm: str
    digits: int | str = ""
    sizes: list[int | None] = field(default_factory=list)
    under: Counter[str] = field(default_factory=Counter)
    one_sided: int = 0
    minimal: int = 0
    read: int = 0
    bounded: tuple[int, int] = (0, 0)
    told: list[int] = field(default_factory=list)
    proved: int | None = 0
    unproved: list[str] = field(default_factory=list)
    explain_seconds: float = 0.0
    audit_seconds: float = 0.0
    peak: float = 0.0

    @property
    def found(self) -> list[int]:
        """The sizes of the explanations."""
        return [size for size in self.sizes if size is not None]


def measure(head: Head, latents: Tensor, paradigm: str, digits: int | str = FEWEST_DIGITS) -> Measured:
    """Explain images (N, L, D), and audit each certificate with its latents; its minimality too where that is quick."""
    measured = Measured(paradigm, digits)
    batches = Batches(head, latents, SearchOptions(paradigm, digits=digits))
    start = time.process_time()
    explanations = [result.explanation for first in batches.starts for result in batches.explain(first)]
    measured.explain_seconds, measured.peak = time.process_time() - start, _peak()
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents.contiguous()}))
    for explanation in explanations:
        if isinstance(explanation, Certificate):
            _audit(measured, auditor, explanation)
            _read(measured, explanation, head.size)
        measured.sizes.append(explanation.size if isinstance(explanation, Certificate) else None)
    return measured


def _peak() -> float:
    """GiB; on macOS the system counts bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def _audit(measured: Measured, auditor: Auditor, certificate: Certificate) -> None:
    start = time.process_time() + executable.seconds(auditor)
    of_patches = any(isinstance(each, PatchStatement) for each in certificate.statements)
    verdict = auditor.check(certificate.to_bytes(), minimality=certificate.minimal and not of_patches)
    measured.audit_seconds += time.process_time() + executable.seconds(auditor) - start
    if verdict.status is Status.PROVED and measured.proved is not None:
        measured.proved += 1
    else:
        measured.unproved.append(f"{measured.paradigm}, image {len(measured.sizes)}: {verdict.message}")
    measured.under[certificate.paradigm] += 1
    ends = [(getattr(each, "lower", None), getattr(each, "upper", None)) for each in certificate.statements]
    measured.one_sided += sum(-torch.inf in each or torch.inf in each for each in ends)


def _read(measured: Measured, certificate: Certificate, prototypes: int) -> None:
    """What a reader of a certificate meets."""
    statements = certificate.statements
    ends = [
        words(end)
        for each in statements
        for words, end in ((lower_end, getattr(each, "lower", math.inf)), (upper_end, getattr(each, "upper", math.inf)))
        if math.isfinite(end)
    ]
    measured.told.append(max((len(Decimal(end).normalize().as_tuple().digits) for end in ends), default=0))
    measured.minimal += certificate.minimal
    measured.read += to_read(statements, prototypes, certificate.patches)
    bounds, most = measured.bounded
    measured.bounded = bounds + bounded(statements, prototypes, certificate.patches).prototypes, most + prototypes


def measure_before(head: Head, latents: Tensor) -> Measured:
    """The sizes that `top_k` has without linear programming."""
    measured = Measured("top_k, before", proved=None)
    for image in latents:
        start = time.process_time()
        problem = Problem.of(head, as_patches(image[None]))
        search = TopKSearch(head, problem.patches, SearchOptions("top_k", order=HIGHEST, digits=EXACT_DIGITS))
        (found,) = search.solve(problem, [math.inf])
        measured.sizes.append(None if isinstance(found, NoExplanation) else len(found.statements))
        measured.explain_seconds += time.process_time() - start
    return measured


def measured_of(
    head: Head, latents: Tensor, paradigms: Sequence[str] | None, digits: Sequence[int | str] = (FEWEST_DIGITS,)
) -> Iterator[Measured]:
    """Each paradigm in turn, those first that `readable` tries first, and `readable` last."""
    for paradigm in paradigms or (*Batches(head, latents, SearchOptions(READABLE)).paradigms, READABLE):
        if paradigm == "top_k":
            yield measure_before(head, latents)
        for each in digits:
            yield measure(head, latents, paradigm, each)


def page(measured: dict[str, list[Measured]], facts: dict[str, str]) -> str:
    """The tables in Markdown."""
    every = [each for row in measured.values() for each in row if each.proved is not None]
    emitted, proved = sum(len(each.found) for each in every), sum(each.proved or 0 for each in every)
    lines = [
        "# Sizes of explanations",
        "",
        "Statements by paradigm on the same heads and latents; see `benchmarks/README.md`.",
        "",
        f"**{proved:,} of {emitted:,} certificates proved.**",
        "",
        *listed(facts),
        "",
        "| head | paradigm | digits | images | explained | proved | minimal | mean size | least | most |"
        " one end stated | to read | prototypes bounded | digits told | explain s | audit s | peak GiB |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(_row(name, each) for name, row in measured.items() for each in row),
        "",
        f"`{READABLE}` keeps of each image what has the least to read; in brackets how often each paradigm gave it."
        " `before`: the highest activations (`top_k`), or those that support the class (`sparse`), and then what is not"
        " needed dropped; sizes alone. Digits: the option of that name. Minimal: explanations that claim it. One end"
        " stated: statements about one observable with a bound on one side only, in % of all. To read: numbers and"
        " names, in the mean. Prototypes bounded: in % of all. Digits told: of the number with most: mean, most."
        " Seconds: processor seconds an image, one thread. Peak: the most memory that the process had until then, its"
        " libraries and what it did before counted. An audit proves entailment, the instance, and minimality"
        " where it is claimed of statements about activations, by what `verale audit` takes by default.",
        "",
        "## Image by image",
        "",
        *(
            f"- {name}, {each.paradigm} {each.digits}: {_listed(each.sizes)}"
            for name, row in measured.items()
            for each in row
        ),
        "",
        *(f"- not proved: {name}, {line}" for name, row in measured.items() for each in row for line in each.unproved),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _row(name: str, each: Measured) -> str:
    found = each.found
    named = each.paradigm
    if each.paradigm == READABLE:
        named += f" ({', '.join(f'{paradigm} {count}' for paradigm, count in each.under.most_common())})"
    audited = each.proved is not None
    cells = (
        *(name, named, f"{each.digits}", f"{len(each.sizes)}", f"{len(found)}", f"{each.proved}" if audited else "-"),
        f"{each.minimal}" if audited else "-",
        *((f"{fmean(found):.1f}", f"{min(found)}", f"{max(found)}") if found else ("-", "-", "-")),
        f"{100 * each.one_sided / max(1, sum(found)):.0f}" if audited else "-",
        f"{each.read / max(1, len(found)):.1f}" if audited else "-",
        f"{100 * each.bounded[0] / max(1, each.bounded[1]):.0f}" if audited else "-",
        f"{fmean(each.told):.1f}, {max(each.told)}" if each.told else "-",
        f"{each.explain_seconds / len(each.sizes):.3f}",
        f"{each.audit_seconds / max(1, len(found)):.3f}" if audited else "-",
        f"{each.peak:.2f}" if audited else "-",
    )
    return f"| {' | '.join(cells)} |"


def _listed(sizes: Sequence[int | None]) -> str:
    return " ".join("none" if size is None else str(size) for size in sizes)


def _subject(name: str, data: Path, images: int) -> tuple[Head, Tensor]:
    """A head and the latents (N, L, D) of its first images; of the digits all."""
    if name == DIGITS:
        return load_head(RUN), as_patches(load_network().latents(load_images().images)).float()
    subject = build(name, data, images)
    return subject.head, subject.latents


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(prog="benchmarks.sizes", description="Statements by paradigm.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the trained heads")
    parser.add_argument("--heads", default=",".join(DEFAULT), help=f"some of {', '.join((*HEADS, DIGITS))}")
    parser.add_argument("--images", type=int, default=10, help="how many images a head; of the digits all are taken")
    parser.add_argument("--paradigms", help="comma separated; by default those that `readable` tries, and `readable`")
    parser.add_argument("--digits", default=FEWEST_DIGITS, help="comma separated: fewest, exact, or numbers of digits")
    parser.add_argument("--out", type=Path, help="file for the page")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    facts = describe() | {
        "command": f"python -m benchmarks.sizes {' '.join(sys.argv[1:] if arguments is None else arguments)}"
    }
    measured: dict[str, list[Measured]] = {}
    digits = [int(each) if each.isdecimal() else each for each in args.digits.split(",")]
    for name in args.heads.split(","):
        head, latents = _subject(name, args.data, args.images)
        for each in measured_of(head, latents, args.paradigms.split(",") if args.paradigms else None, digits):
            measured.setdefault(name, []).append(each)
            print(_row(name, each), file=sys.stderr, flush=True)
            if args.out:
                args.out.write_text(page(measured, facts), encoding="utf-8")
    print(page(measured, facts))
    return 1 if any(each.unproved for row in measured.values() for each in row) else 0


if __name__ == "__main__":
    sys.exit(main())
