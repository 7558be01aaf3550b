"""The papers' tables, from a folder of trained networks.

    python -m benchmarks.tables RUNS --out tables.md

RUNS holds run folders as `cabrnet train` and the authors' release have them (RUN/final/model_state.pth, with
model_arch.yml and dataset.yml). The test images that `random_indices.txt` lists, or else five of each class, are
explained under every paradigm of the head, each within a budget of processor time, and every certificate is audited.
tables.md has the tables, tables.tex the same in LaTeX; both are written anew after each method. What was measured is
kept in tables.kept: the same command continues an interrupted run. The exit code is 1 if a certificate was not proved.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.environment import describe
from benchmarks.tables.explaining import METHODS, Kept, Method, Within, methods_of, read_kept, write_kept
from benchmarks.tables.page import Explanations, latex, markdown, theirs_of
from benchmarks.tables.runs import ChosenImages, TrainedRun, chosen_images, runs_in
from verale.errors import InputError, VeraleError, first_line
from verale.files import write_atomically
from verale.head import Head, as_patches, evaluate, load_latents, save_latents
from verale.paradigms import paradigms_of
from verale.runs.table import Explained
from verale.version import __version__

__all__ = ["main"]

_HEAD, _LATENTS, _ASKED = "head.safetensors", "latents.safetensors", "asked.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not kept yet, and write the tables."""
    args = _parser().parse_args(arguments)
    torch.set_num_threads(1)
    facts = describe() | {
        "command": f"python -m benchmarks.tables {' '.join(sys.argv[1:] if arguments is None else arguments)}"
    }
    found: list[Explanations] = []
    skipped: list[str] = []
    try:
        for run in runs_in(args.runs):
            try:
                measured = _prepared(run, args)
            except InputError as error:
                # One network that cannot be read is no reason to lose the tables of the others.
                skipped.append(first_line(error))
                print(f"{run.name}: skipped: {error}", file=sys.stderr)
                continue
            found.append(measured[0])
            for _ in _measured(*measured, args.methods):
                _write(args.out, found, facts, skipped)
        _write(args.out, found, facts, skipped)
    except VeraleError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(args.out.read_text(encoding="utf-8"))
    emitted = [one for each in found for kept in each.kept.values() for one in kept if one.row.size is not None]
    return 0 if found and all(one.verdict == "PROVED" for one in emitted) else 1


def _prepared(run: TrainedRun, args: argparse.Namespace) -> tuple[Explanations, ChosenImages, Path]:
    """Head and latents of a run in its folder of what is kept. What is kept of other images or networks is refused."""
    from verale.adapters.cabrnet import load

    folder = args.out.with_suffix(".kept") / run.name
    network = load(run.path)
    chosen = chosen_images(run, args.data, args.images, args.per_class, network.head.classes)
    asked = {
        "verale": __version__,
        "state": network.describe()["state_sha256"],
        "indices": list(chosen.indices),
        "labels": list(chosen.labels),
        "files": [str(file) for file in chosen.files],
        "budget": args.budget,
    }
    path = folder / _ASKED
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        network.head.save(folder / _HEAD)
        save_latents(folder / _LATENTS, network.capture(chosen.files).latents)
        write_atomically(path, (json.dumps(asked) + "\n").encode())
    elif json.loads(path.read_text(encoding="utf-8")) != asked:
        raise InputError(
            folder, "keeps measurements of another network, other images, another budget or version; remove it, or give"
            " another --out"
        )  # fmt: skip
    head, latents = network.head, as_patches(load_latents(folder / _LATENTS))
    sizes = (head.size, latents.shape[1], head.depth, head.classes)
    return Explanations(run, *sizes, args.budget, {}, theirs_of(run.path)), chosen, folder


def _measured(
    measured: Explanations, chosen: ChosenImages, folder: Path, names: Sequence[str] | None
) -> Iterator[Method]:
    """Explain every image under every method, and keep each at once; gives each method that is done."""
    head = Head.load(folder / _HEAD)
    predicted = evaluate(head, as_patches(load_latents(folder / _LATENTS))).predicted.tolist()
    with Within(folder / _HEAD, folder / _LATENTS, measured.budget) as within:
        for method in methods_of(paradigms_of(head.geometry.kind, measured.patches), names):
            path = folder / method.table
            kept = measured.kept[method] = read_kept(path) if path.is_file() else []
            for image in range(len(kept), len(chosen.indices)):
                one = within.explain(image, method) or Kept(
                    Explained(image, predicted[image], reason=f"stopped after {measured.budget:g} s")
                )
                label = chosen.labels[image]
                row = replace(one.row, index=chosen.indices[image], label=label, correct=one.row.predicted == label)
                kept.append(replace(one, row=row))
                write_kept(path, kept)
            explained = sum(one.row.size is not None for one in kept)
            print(
                f"{measured.run.name}, {method.name}: {explained} of {len(kept)} explained", file=sys.stderr, flush=True
            )
            yield method


def _write(out: Path, found: Sequence[Explanations], facts: dict[str, str], skipped: Sequence[str]) -> None:
    write_atomically(out, markdown(found, facts, skipped).encode())
    write_atomically(out.with_suffix(".tex"), latex(found).encode())


def _methods(given: str) -> list[str]:
    known = [each.name for each in METHODS]
    if unknown := [name for name in given.split(",") if name not in known]:
        raise argparse.ArgumentTypeError(f"unknown method {', '.join(unknown)}; known: {', '.join(known)}")
    return given.split(",")


def _seconds(given: str) -> float:
    seconds = float(given)
    if not 0 < seconds < 1e6:
        raise ValueError(given)
    return seconds


def _count(given: str) -> int:
    if not 0 <= int(given) < 2**31:
        raise ValueError(given)
    return int(given)


def _output(given: str) -> Path:
    path = Path(given)
    if path.suffix != ".md":
        raise argparse.ArgumentTypeError(f"{given!r}: expected a file that ends in .md")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.tables", description="The papers' tables, from trained networks.")
    parser.add_argument("runs", type=Path, metavar="RUNS", help="folder of run folders")
    parser.add_argument("--out", type=_output, default=Path("tables.md"), help="the page (default tables.md)")
    parser.add_argument("--data", type=Path, default=Path(), help="folder to which dataset.yml's paths are relative")
    parser.add_argument("--images", type=Path, help="one folder of images a class, instead of dataset.yml's test set")
    parser.add_argument(
        "--per-class", type=_count, help="images of each class, 0 for all (default: those listed, or 5)"
    )
    parser.add_argument("--budget", type=_seconds, default=60.0, help="processor seconds an image (default 60)")
    parser.add_argument("--methods", type=_methods, help=f"some of {', '.join(each.name for each in METHODS)}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
