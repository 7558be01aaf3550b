"""What default explanations ask of a reader, how much they leave free, and how stable they are, head by head.

    python -m benchmarks.freedom --data DATA --out benchmarks/results/freedom.md
    python -m benchmarks.freedom --data DATA --heads protopnet,gaussian,tesnet,protopool,pipnet --images 4

DATA holds the photographs' heads (`photos/`), those trained on CIFAR-100, and `published/` with the network for MNIST;
the packaged digits need no file. The first images of each head are explained as `verale explain` does by default, and
audited. Then:

- Freedom: the share of the head's other images that satisfy an explanation's statements, proved in outward-rounded
  floats. Every one of them must be of the explained class, or a proof is wrong.
- Stability: the same latents with each number multiplied by 1 + 0.001 r, r drawn from a normal distribution, moved
  into the head's domain and rounded to float32, are explained again. Of the prototypes that were stated, the share that
  is stated again; and the share of nudged images that satisfy the first explanation.

The exit code is 0 only if every certificate was proved and no image that satisfies one is of another class.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

import safetensors.torch
import torch
from safetensors import safe_open
from torch import Tensor

from benchmarks import executable
from benchmarks.engine import subject
from benchmarks.environment import describe, listed
from verale.adapters import load_model, load_published
from verale.adapters.idx import read_idx
from verale.adapters.published.prototypedl import Autoencoder
from verale.certificate import Certificate
from verale.certificate.statements import to_read
from verale.checker import Auditor, Status
from verale.counterexample.demands import into_domain
from verale.head import Head, as_patches
from verale.paradigms import READABLE
from verale.rules.coverage import coverage_of
from verale.search import Batches, SearchOptions

__all__ = ["Measured", "heads", "main", "measure", "page"]

PHOTOGRAPHS = (
    *("p7_protopnet", "p7_protopnet_sparse", "p7_cosine", "p7_cosine_sparse", "p7_pip"),
    *("f_protopnet_raw", "f_protopnet", "f_protopnet_sparse", "f_cosine", "f_cosine_sparse", "f_pip"),
)
TRAINED = ("protopnet", "gaussian", "tesnet", "protopool", "pipnet")
GOOD = ("demo", *PHOTOGRAPHS, "mnist")
"""Networks that are mostly right; those trained on CIFAR-100 are not."""
HEADS = (*GOOD, *TRAINED)
RIGHT = dict(zip(PHOTOGRAPHS, (80, 78, 90, 90, 88, 73, 86, 90, 99.8, 99.8, 99.5), strict=True)) | {
    "demo": 97.5,
    "mnist": 98.8,
}
"""Rightly classified test images in %, as whoever trained the heads says; those of CIFAR-100 are in their files."""
NUDGE, SEED = 1e-3, 45
READ_AT_A_GLANCE = 14


@dataclass
class Measured:
    """What default explanations of some images are.

    Attributes:
        right: rightly classified test images in %, as the head's maker says.
        kinds: how many explanations each paradigm gave.
        sizes, read: statements, and numbers and names, image by image; of those that have an explanation.
        unexplained: images without explanation.
        unproved, wrong: why certificates were not proved, and images of another class that satisfy one.
        free: pairs of an explanation and another image: those where the image satisfies it, those where it has the
            same class, all.
        kept, still: of each explanation the share of prototypes that is stated again; whether the nudged image
            satisfies it.
        explain_seconds, audit_seconds: processor seconds, all images together.
    """

    right: float
    kinds: Counter[str] = field(default_factory=Counter)
    sizes: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    unexplained: int = 0
    unproved: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    free: tuple[int, int, int] = (0, 0, 0)
    kept: list[float] = field(default_factory=list)
    still: list[bool] = field(default_factory=list)
    explain_seconds: float = 0.0
    audit_seconds: float = 0.0


def heads(name: str, data: Path) -> tuple[Head, Tensor, float]:
    """A head by name, all its latents (N, L, D), and how many test images it classifies rightly, in %."""
    if name in PHOTOGRAPHS:
        latents = safetensors.torch.load_file(data / "photos" / f"{name}.latents.safetensors")["latents"]
        return Head.load(data / "photos" / f"{name}.head.safetensors"), as_patches(latents).float(), RIGHT[name]
    if name == "mnist":
        file = data / "published" / "standard_model.pth"
        images = read_idx(data / "published" / "t10k-images-idx3-ubyte.gz", 3)[:100]
        latents = Autoencoder(load_model(file)).latents(images.unsqueeze(1) / 255)
        return load_published(file, "prototypedl"), as_patches(latents).float(), RIGHT[name]
    head, latents = subject(name, data, 50 if name == "demo" else 100)
    if name == "demo":
        return head, as_patches(latents).float(), RIGHT[name]
    with safe_open(str(data / f"cifar100_{name}.safetensors"), "pt") as file:
        return head, as_patches(latents).float(), 100 * float(file.metadata()["test_accuracy"])


def measure(head: Head, latents: Tensor, images: int, right: float = 0.0) -> Measured:
    """Explain the first images of latents (N, L, D) float32, and compare the explanations with all of them."""
    measured = Measured(right)
    some = latents[:images]
    start = time.process_time()
    explanations = _explained(head, some)
    measured.explain_seconds = time.process_time() - start
    noise = torch.randn(some.shape, generator=torch.Generator().manual_seed(SEED))
    nudged = into_domain(head, some.double() * (1 + NUDGE * noise)).float()
    again = _explained(head, nudged)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": some.contiguous()}))
    predicted = head.logits(latents).argmax(1)
    for index, certificate in enumerate(explanations):
        if certificate is None:
            measured.unexplained += 1
            continue
        _audit(measured, auditor, certificate, index)
        measured.sizes.append(certificate.size)
        measured.read.append(to_read(certificate.statements, head.size, certificate.patches))
        measured.kinds[certificate.paradigm] += 1
        holds = _satisfied(head, latents, certificate)
        measured.wrong += [
            f"image {other}, class {int(predicted[other])}, satisfies the explanation of image {index}, class "
            f"{certificate.predicted}"
            for other in holds.nonzero()[:, 0].tolist()
            if int(predicted[other]) != certificate.predicted
        ]
        alike = predicted == certificate.predicted
        counts = int(holds.sum()) - int(holds[index]), int(alike.sum()) - 1, len(latents) - 1
        satisfied, of_class, pairs = map(sum, zip(measured.free, counts, strict=True))
        measured.free = satisfied, of_class, pairs
        measured.still.append(bool(_satisfied(head, nudged[index : index + 1], certificate)[0]))
        measured.kept.append(_kept(certificate, again[index]))
    return measured


def _explained(head: Head, latents: Tensor) -> list[Certificate | None]:
    batches = Batches(head, latents, SearchOptions(READABLE))
    found = [result.explanation for first in batches.starts for result in batches.explain(first)]
    return [each if isinstance(each, Certificate) else None for each in found]


def _audit(measured: Measured, auditor: Auditor, certificate: Certificate, index: int) -> None:
    start = time.process_time() + executable.seconds(auditor)
    verdict = auditor.check(certificate.to_bytes())
    measured.audit_seconds += time.process_time() + executable.seconds(auditor) - start
    if verdict.status is not Status.PROVED:
        measured.unproved.append(f"image {index}: {verdict.message}")


def _satisfied(head: Head, latents: Tensor, certificate: Certificate) -> Tensor:
    """(N,) bool: the images that certainly satisfy all statements."""
    return coverage_of(head, latents.double(), certificate.statements, certificate.predicted).certain


def _kept(certificate: Certificate, again: Certificate | None) -> float:
    """The share of stated prototypes that another explanation of the same class states too; 1 where none is stated."""
    named = {each.prototype for each in certificate.statements if hasattr(each, "prototype")}
    if again is None or again.predicted != certificate.predicted:
        return 0.0
    also = {each.prototype for each in again.statements if hasattr(each, "prototype")}
    return len(named & also) / len(named) if named else 1.0


def page(measured: dict[str, Measured], facts: dict[str, str]) -> str:
    """The table in Markdown."""
    rows = measured.values()
    proved = sum(len(each.sizes) - len(each.unproved) for each in rows)
    lines = [
        "# What explanations ask of a reader, and what they leave free",
        "",
        f"Default explanations (`{READABLE}`). **{proved:,} of {sum(len(each.sizes) for each in rows):,} certificates "
        f"proved; {sum(each.free[0] for each in rows):,} times another image satisfies one, "
        f"{sum(len(each.wrong) for each in rows)} times one of another class.**",
        "",
        *listed(facts),
        "",
        "| head | right % | images | unexplained | kept of | statements | to read | at a glance % | free % |"
        " of its class % | prototypes kept % | still true % | explain s | audit s |",
        "|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(_row(name, each) for name, each in measured.items()),
        "",
        "Right: test images that the head classifies rightly, as its maker says. Kept of: how many explanations each"
        " paradigm gave. Statements; numbers and names to read: mean (median, most). At a glance: explanations with"
        f" {READ_AT_A_GLANCE} or less to read, in % of all images. Free: of the head's other images, the share that"
        " satisfies an explanation, proved; each of them has its class. Of its class: of the other images of that class"
        f" alone; `-` where there are none. Nudged: each number of the latents times 1 + {NUDGE} r, r normal, in the"
        " domain and in float32, is explained again. Prototypes kept: of those stated the share that is stated again."
        " Still true: nudged images that satisfy the first explanation. Seconds: processor seconds an image, one"
        " thread, start-up apart.",
        "",
        *(f"- not proved: {name}, {line}" for name, each in measured.items() for line in each.unproved),
        *(f"- wrong: {name}, {line}" for name, each in measured.items() for line in each.wrong),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _row(name: str, each: Measured) -> str:
    explained = len(each.sizes)
    images = explained + each.unexplained
    glance = sum(read <= READ_AT_A_GLANCE for read in each.read)
    cells = (
        name,
        f"{each.right:.4g}",
        f"{images}",
        f"{each.unexplained}",
        ", ".join(f"{paradigm} {count}" for paradigm, count in each.kinds.most_common()),
        *(_spread(each.sizes), _spread(each.read)),
        f"{100 * glance / images:.0f}",
        f"{100 * each.free[0] / max(1, each.free[2]):.2g}",
        f"{100 * each.free[0] / each.free[1]:.2g}" if each.free[1] else "-",
        *(f"{100 * fmean(some):.0f}" if some else "-" for some in (each.kept, each.still)),
        f"{each.explain_seconds / images:.3f}",
        f"{each.audit_seconds / max(1, explained):.3f}",
    )
    return f"| {' | '.join(cells)} |"


def _spread(values: Sequence[int]) -> str:
    return f"{fmean(values):.1f} ({median(values):g}, {max(values)})" if values else "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(prog="benchmarks.freedom", description="Default explanations, head by head.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the heads")
    parser.add_argument("--heads", default=",".join(GOOD), help=f"some of {', '.join(HEADS)}")
    parser.add_argument("--images", type=int, default=10, help="how many images of a head are explained")
    parser.add_argument("--out", type=Path, help="file for the page")
    args = parser.parse_args(arguments)
    if unknown := [name for name in args.heads.split(",") if name not in HEADS]:
        parser.error(f"--heads: {', '.join(unknown)}; expected some of {', '.join(HEADS)}")
    torch.set_num_threads(1)
    command = " ".join(sys.argv[1:] if arguments is None else arguments)
    facts = describe() | {"command": f"python -m benchmarks.freedom {command}"}
    measured: dict[str, Measured] = {}
    for name in args.heads.split(","):
        head, latents, right = heads(name, args.data)
        measured[name] = measure(head, latents, args.images, right)
        print(_row(name, measured[name]), file=sys.stderr, flush=True)
        if args.out:
            args.out.write_text(page(measured, facts), encoding="utf-8")
    print(page(measured, facts))
    return 1 if any(each.unproved or each.wrong for each in measured.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
