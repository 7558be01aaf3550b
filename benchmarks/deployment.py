"""How many certificates hold in float32 too, by architecture, paradigm and formula; CaBRNet's own logits beside them.

    python -m benchmarks.deployment --runs RUNS --data CIFAR10 --heads DATA --out FILE

RUNS holds the models that `benchmarks.cifar10` wrote, CIFAR10 its images, DATA the heads trained on CIFAR-100
with their latents, of which a fourth as many images are taken. Every certificate is audited with `--deployment` under
each formula; what falls short under the one that the network uses is explained again with a reserve
(`verale.runs.parts`), under the first paradigm of each head. Then the logits that the network gave in float32 are
compared with what is proved of them: their differences are at least the margins that are left. The exit code is 1 if
one is not, or if a certificate is not proved in real arithmetic.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from statistics import median

import torch
from safetensors.torch import save
from torch import Tensor

from benchmarks.heads import build
from verale.certificate import Certificate
from verale.checker import Auditor
from verale.checker.deployment import FORMULAS, Deployment
from verale.head import Head, Softmax
from verale.head.latents import as_patches
from verale.runs.parts import Explainer, held_in_float32
from verale.search import SearchOptions
from verale.search.explain import explain
from verale.search.smallest import paradigms_taken

__all__ = ["main"]

USED = {
    "protopnet": "cdist",
    "protopool": "cdist",
    "gaussian": "direct",
    "tesnet": "cosine",
    "pipnet": "softmax",
}
"""The formula of each architecture's classifier: `cdist` is CaBRNet's `SquaredEuclideanDistance`; its legacy layers,
like the published ProtoPNet and ProtoTree, compute `expanded`; the Gaussian layer sums squares of differences."""
MODELS = ("protopnet", "gaussian", "protopool", "tesnet", "pipnet")


@dataclass
class Row:
    """One head under one paradigm.

    Attributes:
        held: by formula, how many certificates hold in float32.
        short: by formula, by how much the others fall short.
        lost: by formula, how much of the least margin is lost.
        refused: why a certificate is not covered.
        compared, broken: how many of the network's logits were compared, and how many were less than proved.
        unproved: how many are not proved in real arithmetic.
        reserved: how many hold of those explained with a reserve, and how many statements they have for each of before.
    """

    data: str
    model: str
    paradigm: str
    certificates: int = 0
    margins: list[float] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FORMULAS, 0))
    short: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FORMULAS})
    lost: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FORMULAS})
    refused: str = ""
    compared: int = 0
    broken: int = 0
    unproved: int = 0
    reserved: str = "-"


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="benchmarks.deployment", description="Certificates in float32.")
    parser.add_argument("--runs", type=Path, help="folder of the models of benchmarks.cifar10")
    parser.add_argument("--data", type=Path, help="CIFAR-10, a folder with test/CLASS/*.jpg")
    parser.add_argument("--heads", type=Path, help="folder of the heads trained on CIFAR-100")
    parser.add_argument("--images", type=int, default=20, help="images of each head (default 20)")
    parser.add_argument("--models", default=",".join(MODELS), help="comma separated (default all)")
    parser.add_argument("--paradigms", help="comma separated (default all that each head has)")
    parser.add_argument("--out", type=Path, help="file for the table")
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[Row] = []
    wanted = None if args.paradigms is None else args.paradigms.split(",")
    for data, model, head, latents, logits in _subjects(args):
        for paradigm in paradigms_taken(head, as_patches(latents).shape[1]):
            if wanted is not None and paradigm not in wanted:
                continue
            first = not rows or (rows[-1].data, rows[-1].model) != (data, model)
            row = _row(Row(data, model, paradigm), head, latents, logits, first)
            print(_line(row), flush=True)
            rows.append(row)
            text = _report(rows, args.images, f"python -m benchmarks.deployment {' '.join(sys.argv[1:])}")
            if args.out:
                args.out.write_text(text, encoding="utf-8")
    return int(any(row.broken or row.unproved for row in rows))


def _subjects(args: argparse.Namespace) -> Iterator[tuple[str, str, Head, Tensor, Tensor | None]]:
    """Data, model, head, latents, and the network's own logits where there is a network."""
    models = args.models.split(",")
    for model in models:
        if args.runs is not None and (args.runs / model / "final").is_dir():
            from verale.adapters.cabrnet import load

            network = load(args.runs / model / "final")
            folders = sorted(folder for folder in (args.data / "test").iterdir() if folder.is_dir())
            kept = [sorted(folder.iterdir())[: -(-args.images // len(folders))] for folder in folders]
            captured = network.capture([file for each in zip(*kept, strict=True) for file in each][: args.images])
            yield "CIFAR-10", model, network.head, captured.latents, captured.logits
    for model in models:
        if args.heads is not None:
            subject = build(model, args.heads, -(-args.images // 4))
            yield "CIFAR-100", model, subject.head, subject.latents, None


def _row(row: Row, head: Head, latents: Tensor, logits: Tensor | None, reserve: bool) -> Row:
    auditor = Auditor(head.to_bytes(), save({"latents": latents.contiguous()}))
    explained = explain(head, latents, row.paradigm)
    for image, certificate in enumerate(explained):
        if not isinstance(certificate, Certificate):
            continue
        row.certificates += 1
        for formula in FORMULAS:
            verdict = auditor.check(certificate.to_bytes(), deployment=Deployment(formula))
            if verdict.claims.get("instance") != "proved" or verdict.claims.get("entailment") != "proved":
                row.unproved += 1
                break
            if not verdict.deployed:
                row.refused = verdict.message
                continue
            real, left = (min(m for m in ends if m is not None) for ends in (verdict.margins, verdict.deployed))
            row.held[formula] += verdict.claims["deployment"] == "proved"
            row.lost[formula].append(float(real - left))
            if left <= 0:
                row.short[formula].append(float(-left))
            if formula == FORMULAS[0]:
                row.margins.append(float(real))
            if logits is not None and (formula == USED[row.model] or _one_formula(head)):
                row.compared += 1
                row.broken += not _keeps(logits[image], certificate.predicted, verdict.deployed)
    if reserve:
        explainer = Explainer(head, SearchOptions(row.paradigm), Deployment(_used(row)))
        kept = held_in_float32(explainer, as_patches(latents, head.depth), explained)
        pairs = [
            (a.size, b.size) for a, b in zip(explained, kept, strict=True) if a.size is not None and b.size is not None
        ]
        before, after = (sum(sizes) for sizes in zip(*pairs, strict=True)) if pairs else (1, 0)
        row.reserved = f"{len(pairs)}, {after / before:.2f} times"
    return row


def _one_formula(head: Head) -> bool:
    return isinstance(head.geometry, Softmax) or "cosine" in head.geometry.kind


def _keeps(logits: Tensor, predicted: int | None, left: tuple[Fraction | None, ...]) -> bool:
    """Whether computed logits differ by what is proved of them at least."""
    exact = [Fraction(x) for x in logits.tolist()]
    assert predicted is not None
    return all(margin is None or exact[predicted] - exact[c] >= margin for c, margin in enumerate(left))


def _line(row: Row) -> str:
    held = " | ".join(f"{row.held[name]}" for name in FORMULAS)
    lost = " | ".join(f"{median(row.lost[name]):.2g}" if row.lost[name] else "-" for name in FORMULAS)
    short = f"{max(each):.2g}" if (each := row.short[_used(row)]) else "-"
    margin = f"{median(row.margins):.2g}" if row.margins else "-"
    return (
        f"| {row.data} | {row.model} | {row.paradigm} | {row.certificates} | {margin} | {held} | {lost} | {short} |"
        f" {row.reserved} |"
    )


def _used(row: Row) -> str:
    return USED[row.model] if USED[row.model] in FORMULAS else FORMULAS[0]


def _report(rows: list[Row], images: int, command: str) -> str:
    lines = [
        "# Certificates that hold in float32 too",
        "",
        f"`{command}`, {images} images of each CIFAR-10 model and a fourth as many of each CIFAR-100 head,",
        f"torch {torch.__version__}; logarithms and exponentials within 4 ulps, roots within 1.",
        "",
        "For each certificate the checker bounds what float32 may lose, in any order of sums, for all latents that",
        "satisfy the statements (`verale audit --deployment`). **held**: it still proves the class. **lost**: the",
        "median of what the least margin loses. **short**: the most by which one falls short under the formula that",
        "the network uses: `cdist` for protopnet and protopool (CaBRNet's layer), `direct` for gaussian; cosines and",
        "masses have one formula. **with a reserve**: how many hold under it if explained again by",
        "`verale.runs.parts`, and how many statements these have for each one of before.",
        "",
        "| data | model | paradigm | certificates | median margin | direct held | expanded held | cdist held |"
        " direct lost | expanded lost | cdist lost | short | with a reserve |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        *map(_line, rows),
        "",
        "| data | model | formula used | certificates | hold |",
        "|---|---|---|---|---|",
    ]
    for data, model in dict.fromkeys((row.data, row.model) for row in rows):
        own = [row for row in rows if (row.data, row.model) == (data, model)]
        every, held = sum(row.certificates for row in own), sum(row.held[_used(row)] for row in own)
        lines.append(f"| {data} | {model} | {USED[model]} | {every} | {held} |")
    compared, broken = sum(row.compared for row in rows), sum(row.broken for row in rows)
    lines += [
        "",
        f"CaBRNet's own float32 logits were compared with what is proved in {compared} cases: {broken} are less.",
    ]
    lines += [f"{row.data}, {row.model}, {row.paradigm}: {row.refused}." for row in rows if row.refused]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
