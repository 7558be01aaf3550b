"""A published network on MNIST: every test image explained, every certificate audited, one page of results.

    python -m benchmarks.mnist --data DATA --out benchmarks/results/mnist.md

DATA holds `standard_model.pth` (Li et al. 2018, trained by others: Sasafrass/PrototypeDL), `t10k-images-idx3-ubyte.gz`
and `t10k-labels-idx1-ubyte.gz`. Nothing in the network's file is executed. The exit code is 0 only if every certificate
was proved, and every image has one under every paradigm but `evidence`, which leaves the classes of some images open.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev

import safetensors.torch
import torch
from torch import Tensor

from benchmarks.environment import describe, listed
from benchmarks.proved import Counted, Files
from verale.adapters import SavedModel, load_model, load_published
from verale.adapters.idx import read_idx
from verale.adapters.published.prototypedl import Autoencoder
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import Head, as_patches, evaluate
from verale.paradigms import PARADIGMS, paradigms_of
from verale.search import SearchOptions
from verale.search.explain import explain_batches

__all__ = ["Measured", "main", "measure", "page"]

BATCH = 16

NOT_ALWAYS = {"evidence"}


@dataclass
class Measured:
    """What one paradigm made of all images. A size is None where an image has no certificate."""

    paradigm: str
    sizes: list[int | None] = field(default_factory=list)
    stated: Counter[int] = field(default_factory=Counter)
    least: float = float("inf")
    proved: int = 0
    unproved: list[str] = field(default_factory=list)
    explain_seconds: float = 0.0
    audit_seconds: float = 0.0
    rocq_seconds: float | None = None


def measure(head: Head, latents: Tensor, paradigm: str, rocq: bool) -> Measured:
    """Explain all images in lockstep batches; audit each certificate with its latents, and its minimality if claimed.

    Args:
        head: the head.
        latents: (N, 1, D).
        paradigm: the paradigm.
        rocq: whether the kernel `proved` audits too, which proves no minimality.
    """
    stored = head.to_bytes(), safetensors.torch.save({"latents": latents.contiguous()})
    auditor = Auditor(*stored, "arb")
    counted = Counted(Files(Path(), *stored, [], 0.0, ""), "proved", True) if rocq else None
    measured = Measured(paradigm, rocq_seconds=0.0 if rocq else None)
    start = time.process_time()
    for results in explain_batches(head, latents, SearchOptions(paradigm, batch=BATCH)):
        measured.explain_seconds += time.process_time() - start
        for result in results:
            if not isinstance(result, Certificate):
                measured.sizes.append(None)
                continue
            data = result.to_bytes()
            start = time.process_time()
            verdict = auditor.check(data, minimality=result.minimal)
            measured.audit_seconds += time.process_time() - start
            if counted is not None and measured.rocq_seconds is not None:
                milliseconds, status = counted.check(data)
                measured.rocq_seconds += milliseconds / 1000
                if status != "PROVED":
                    measured.unproved.append(f"image {len(measured.sizes)}: kernel proved: {status}")
            if verdict.status is Status.PROVED:
                measured.proved += 1
            else:
                measured.unproved.append(f"image {len(measured.sizes)}: {verdict.message}")
            measured.sizes.append(result.size)
            if PARADIGMS[paradigm].spatial:
                measured.stated.update({statement.prototype for statement in result.statements})
            measured.least = min(measured.least, *(margin for margin in result.margins if margin is not None))
        start = time.process_time()
    return measured


def published_classes(state: dict[str, Tensor], latents: Tensor) -> Tensor:
    """The classes that the published code computes, in float32: |z|^2 + |p|^2 - 2 <z, p>, then its linear layer."""
    z, prototypes = latents.flatten(1), state["prototype.prototypes"]
    distances = z.square().sum(1, keepdim=True) + prototypes.square().sum(1) - 2 * z @ prototypes.t()
    return (distances @ state["prototype.linear1.weight"].t() + state["prototype.linear1.bias"]).argmax(1)


def page(
    model: SavedModel,
    head: Head,
    latents: Tensor,
    labels: Tensor,
    measured: Sequence[Measured],
    machine: dict[str, str],
    command: str,
) -> str:
    """The results in Markdown."""
    evaluation = evaluate(head, as_patches(latents))
    predicted, published = evaluation.predicted, published_classes(model.state, latents)
    correct = (predicted == labels).tolist()
    emitted = sum(size is not None for each in measured for size in each.sizes)
    unproved = [line for each in measured for line in each.unproved]
    facts = {
        "network": f"`{model.modules[''].kind}`, {sum(each.numel() for each in model.state.values()):,} numbers",
        "head": f"{head.classes} classes, {head.size} prototypes of {head.depth} numbers; SHA-256 {head.digest}",
        "test images": f"{len(labels):,}",
        "accuracy of the published code's formula, float32": f"{_percent((published == labels).float().mean())} %",
        "accuracy of the head, float64": f"{_percent((predicted == labels).float().mean())} %",
        "images with another class under the two": str(int((published != predicted).sum())),
        "certificates": f"{emitted:,} emitted, {emitted - len(unproved):,} proved",
    }
    lines = [
        "# MNIST: a network that others published",
        "",
        f"Written by `{command}`; see `benchmarks/README.md`.",
        "",
        *listed(facts | machine),
        "",
        "| paradigm | images | emitted | proved | size, all | size, correct | size, wrong | of possible | least margin"
        " | explain ms | audit ms | kernel proved ms |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(_row(each, correct, head.size) for each in measured),
        "",
        f"Size: statements of a certificate, mean ± standard deviation; possible are {head.size}, one a prototype,"
        " since an image is one patch. Least margin: the least proved margin of any image and rival. Milliseconds: of"
        f" processor time an image, one thread, explained in lockstep of {BATCH}. An audit proves entailment, the"
        " instance, and where claimed minimality (kernel `arb`); the kernel `proved` proves the first two.",
        "",
        f"## Prototypes under `{measured[0].paradigm}`",
        "![What the decoder makes of each prototype, in rows of five](mnist-prototypes.png)",
        "",
        "| prototype | class it speaks for most | stated in % of certificates | of its class |",
        "|---:|---:|---:|---:|",
        *_prototypes(head, measured[0], predicted),
        "",
        "A prototype speaks most for the class whose logit falls fastest with its distance. `of its class`: images that"
        " are predicted as this class, in % of all.",
        "",
        *(f"- not proved: {line}" for line in unproved),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _row(each: Measured, correct: Sequence[bool], possible: int) -> str:
    pairs = [(size, right) for size, right in zip(each.sizes, correct, strict=True) if size is not None]
    cells = (
        each.paradigm,
        f"{len(each.sizes):,}",
        f"{len(pairs):,}",
        f"{each.proved:,}",
        _spread([size for size, _ in pairs]),
        _spread([size for size, right in pairs if right]),
        _spread([size for size, right in pairs if not right]),
        f"{100 * fmean(size for size, _ in pairs) / possible:.1f} %" if pairs else "-",
        f"{each.least:.2e}" if pairs else "-",
        f"{1000 * each.explain_seconds / len(each.sizes):.2f}",
        f"{1000 * each.audit_seconds / max(1, len(pairs)):.2f}",
        "-" if each.rocq_seconds is None else f"{1000 * each.rocq_seconds / max(1, len(pairs)):.2f}",
    )
    return f"| {' | '.join(cells)} |"


def _prototypes(head: Head, each: Measured, predicted: Tensor) -> list[str]:
    emitted = sum(size is not None for size in each.sizes)
    shares = predicted.bincount(minlength=head.classes) / len(predicted)
    rows = []
    for prototype, of_class in enumerate(head.weight.argmax(0).tolist()):
        stated = 100 * each.stated[prototype] / max(1, emitted)
        rows.append(f"| {prototype} | {of_class} | {stated:.1f} | {100 * float(shares[of_class]):.1f} |")
    return rows


def _spread(values: list[int]) -> str:
    if not values:
        return "-"
    return f"{fmean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]}"


def _percent(share: Tensor) -> str:
    return f"{100 * float(share):.2f}"


def _sheet(network: Autoencoder, path: Path) -> None:
    """The prototypes' pictures in rows of five, as a PNG."""
    from PIL import Image

    pictures = network.pictures()[:, 0]
    blank = torch.zeros((-len(pictures)) % 5, *pictures.shape[1:])
    rows = torch.cat([pictures, blank]).unflatten(0, (-1, 5)).permute(0, 2, 1, 3).flatten(2).flatten(0, 1)
    Image.fromarray((rows * 255).round().byte().numpy()).save(path, optimize=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the page and the pictures."""
    parser = argparse.ArgumentParser(prog="benchmarks.mnist", description="A published network on MNIST.")
    parser.add_argument("--data", type=Path, required=True, help="folder of the network and the test images")
    parser.add_argument("--out", type=Path, help="file for the page; the prototypes' pictures go beside it")
    parser.add_argument("--images", type=int, help="only the first so many")
    parser.add_argument("--paradigms", help="comma separated; by default all of the head")
    parser.add_argument("--rocq", action="store_true", help="audit with the kernel `proved` too")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    machine = describe()
    model = load_model(args.data / "standard_model.pth")
    head, network = load_published(args.data / "standard_model.pth", "prototypedl"), Autoencoder(model)
    images = read_idx(args.data / "t10k-images-idx3-ubyte.gz", 3)[: args.images]
    labels = read_idx(args.data / "t10k-labels-idx1-ubyte.gz", 1)[: args.images].long()
    latents = network.latents(images.unsqueeze(1) / 255)
    command = f"python -m benchmarks.mnist {' '.join(sys.argv[1:] if arguments is None else arguments)}"
    paradigms = args.paradigms.split(",") if args.paradigms else paradigms_of("euclidean")
    measured, text = [], ""
    for paradigm in paradigms:
        measured.append(measure(head, latents, paradigm, args.rocq))
        print(f"{paradigm}: {measured[-1].proved} of {len(images)} images proved", file=sys.stderr, flush=True)
        text = page(model, head, latents, labels, measured, machine, command)
        if missing := ", ".join(paradigms[len(measured) :]):
            text += f"\nNot measured, because the run was ended before: {missing}.\n"
        if args.out:
            args.out.write_text(text, encoding="utf-8")
    print(text)
    if args.out:
        _sheet(network, args.out.with_name("mnist-prototypes.png"))
    return 0 if all(_is_whole(each) for each in measured) else 1


def _is_whole(measured: Measured) -> bool:
    """Whether every certificate was proved, and there are as many as there must be."""
    emitted = sum(size is not None for size in measured.sizes)
    enough = emitted == len(measured.sizes) or measured.paradigm in NOT_ALWAYS
    return enough and measured.proved == emitted and not measured.unproved


if __name__ == "__main__":
    sys.exit(main())
