"""Explain test images of a trained model under every paradigm its head has; audit every certificate in the same run."""

from __future__ import annotations

import csv
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import torch
from safetensors.torch import save

from verale.adapters.cabrnet import Network, load
from verale.certificate import Certificate
from verale.checker import Auditor
from verale.files import write_atomically
from verale.head import Head, Softmax, evaluate
from verale.head.latents import as_patches
from verale.paradigms import PARADIGMS, paradigms_of
from verale.search.explain import explain

__all__ = ["Facts", "Line", "explain_model", "read_facts", "read_lines"]

SPATIAL, MASSES = paradigms_of("euclidean", patches=64), paradigms_of("softmax", patches=64)
"""The paradigms of metric heads (euclidean and cosine have the same) and of softmax heads."""


@dataclass(frozen=True)
class Line:
    """One image under one paradigm.

    `outcome` is `certificate`, `none` (the search has no explanation), or `not tried` (the paradigm's time was over).
    """

    model: str
    paradigm: str
    image: str
    label: str
    predicted: str
    correct: bool
    outcome: str
    size: int | None = None
    share: float | None = None
    seconds: float | None = None
    audit_seconds: float | None = None
    verdict: str = ""
    message: str = ""


@dataclass(frozen=True)
class Facts:
    """A trained model: its accuracy on the whole test set, and how far its head's logits are from CaBRNet's there."""

    model: str
    accuracy: float
    tested: int
    prototypes: int
    patches: int
    depth: int
    other_class: int
    largest_difference: float
    largest_share: float
    training: str


def explain_model(name: str, runs: Path, data: Path, per_class: int, limit: float) -> None:
    """Write `runs/name/facts.csv` and `runs/name/PARADIGM.csv`, each unless it exists.

    Args:
        name: the model; `runs/name/final` is its run directory.
        runs: the folder of the models.
        data: CIFAR-10, `test/CLASS/*.jpg`.
        per_class: how many images of each class to explain, from the first.
        limit: processor seconds of a paradigm; later images are `not tried`.
    """
    network = load(runs / name / "final")
    folders = sorted(folder for folder in (data / "test").iterdir() if folder.is_dir())
    classes = [folder.name for folder in folders]
    if not (runs / name / "facts.csv").is_file():
        _write(runs / name / "facts.csv", Facts, [_facts(name, network, folders, runs / name / "trained.txt")])
    kept = [sorted(folder.iterdir())[:per_class] for folder in folders]
    # One image of each class, then the next of each, so that a time limit leaves out equal numbers.
    files = [file for row in zip(*kept, strict=True) for file in row]
    latents = network.capture(files).latents
    for paradigm in MASSES if isinstance(network.head.geometry, Softmax) else SPATIAL:
        path = runs / name / f"{paradigm}.csv"
        if not path.is_file():
            lines = _explain(name, network.head, latents, files, classes, paradigm, limit)
            _write(path, Line, lines)
            print(
                f"{name}, {paradigm}: {sum(line.outcome == 'certificate' for line in lines)} certificates", flush=True
            )


def _facts(name: str, network: Network, folders: list[Path], trained: Path) -> Facts:
    files = [(file, label) for label, folder in enumerate(folders) for file in sorted(folder.iterdir())]
    right = other = 0
    difference = share = 0.0
    for start in range(0, len(files), 500):
        part = files[start : start + 500]
        captured = network.capture([file for file, _ in part])
        right += int((captured.logits.argmax(1) == torch.tensor([label for _, label in part])).sum())
        other += int(captured.undecided.sum())
        difference = max(difference, float(captured.off.max()))
        share = max(share, captured.share)
        patches = captured.latents[0, 0].numel()
    head = network.head
    training = trained.read_text().splitlines()[-1] if trained.is_file() else ""
    return Facts(
        *(name, right / len(files), len(files), head.size, patches, head.depth, other, difference, share, training)
    )


def _explain(
    name: str, head: Head, latents: torch.Tensor, files: list[Path], classes: list[str], paradigm: str, limit: float
) -> list[Line]:
    auditor = Auditor(head.to_bytes(), save({"latents": latents.contiguous()}), "arb")
    predicted = evaluate(head, as_patches(latents)).predicted.tolist()
    possible = head.size * (latents[0, 0].numel() if PARADIGMS[paradigm].spatial else 1)
    lines: list[Line] = []
    begin = time.process_time()
    for image, (file, chosen) in enumerate(zip(files, predicted, strict=True)):
        label = file.parent.name
        start = time.process_time()
        known = (name, paradigm, f"{label}/{file.name}", label, classes[chosen], classes[chosen] == label)
        if start - begin > limit:
            lines.append(Line(*known, "not tried", message=f"{limit:.0f} s were over"))
            continue
        (result,) = explain(head, latents[image : image + 1], paradigm)
        seconds = time.process_time() - start
        if not isinstance(result, Certificate):
            lines.append(Line(*known, "none", seconds=seconds, message=result.reason))
            continue
        start = time.process_time()
        verdict = auditor.check(result.to_bytes())
        audit = time.process_time() - start
        size = (result.size, result.size / possible)
        lines.append(Line(*known, "certificate", *size, seconds, audit, verdict.status.value, verdict.message))
    return lines


def _write(path: Path, kind: type, records: list[Facts] | list[Line]) -> None:
    names = [field.name for field in fields(kind)]
    rows = [",".join(names)]
    for record in records:
        values = ("" if value is None else str(value).replace(",", ";").replace("\n", " ") for value in astuple(record))
        rows.append(",".join(values))
    write_atomically(path, ("\n".join(rows) + "\n").encode())


def read_lines(path: Path) -> list[Line]:
    """The lines of a PARADIGM.csv."""
    numbers = {"size": int, "share": float, "seconds": float, "audit_seconds": float}
    with path.open(encoding="utf-8", newline="") as stream:
        return [
            Line(
                **{
                    name: (value == "True" if name == "correct" else value)
                    if name not in numbers
                    else (numbers[name](value) if value else None)
                    for name, value in row.items()
                }
            )
            for row in csv.DictReader(stream)
        ]


def read_facts(path: Path) -> dict[str, str]:
    """The line of a facts.csv, as text."""
    with path.open(encoding="utf-8", newline="") as stream:
        return next(csv.DictReader(stream))
