"""The papers' tables, from a folder of trained networks.

    python -m benchmarks.tables RUNS --out tables.md
    python -m benchmarks.tables --heads cub-protopnet,cub-gaussian --count 4 --out tables.md

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.environment import describe
from benchmarks.heads import HEADS, build
from benchmarks.tables.explaining import METHODS, Kept, Method, Within, methods_of, read_kept, write_kept
from benchmarks.tables.page import Explanations, latex, markdown, theirs_of
from benchmarks.tables.runs import TrainedRun, chosen_images, runs_in
from verale.errors import InputError, UsageError, VeraleError, first_line
from verale.files import write_atomically
from verale.head import Head, as_patches, evaluate, load_latents, save_latents
from verale.runs.table import Explained
from verale.search.smallest import paradigms_taken
from verale.version import __version__

__all__ = ["main"]

_SYNTHETIC = [name for name in HEADS if name.startswith("cub-")]
_HEAD, _LATENTS, _ASKED = "head.safetensors", "latents.safetensors", "asked.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not kept yet, and write the tables."""
    args = (parser := _parser()).parse_args(arguments)
    if args.runs is None and not args.heads:
        parser.error("give RUNS, a folder of run folders, or --heads")
    torch.set_num_threads(1)
    facts = describe() | {
        "command": f"python -m benchmarks.tables {' '.join(sys.argv[1:] if arguments is None else arguments)}"
    }
    found: list[Explanations] = []
    skipped: list[str] = []
    try:
        runs = [] if args.runs is None else runs_in(args.runs)
        for one in (*runs, *args.heads):
            try:
                measured = _of_head(one, args) if isinstance(one, str) else _of_run(one, args)
            except (InputError, UsageError) as error:
                # One network that cannot be read is no reason to lose the tables of the others.
                skipped.append(first_line(error))
                print(f"skipped: {error}", file=sys.stderr)
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


def _of_run(run: TrainedRun, args: argparse.Namespace) -> tuple[Explanations, _Asked]:
    """A run's images, captured."""
    from verale.adapters.cabrnet import load

    network = load(run.path)
    chosen = chosen_images(run, args.data, args.images, args.per_class, network.head.classes)
    about = {"state": network.describe()["state_sha256"], "files": [str(file) for file in chosen.files]}
    asked = _Asked(args.out.with_suffix(".kept") / run.name, chosen.indices, chosen.labels, about)
    asked.keep(args.budget, network.head, lambda: network.capture(chosen.files).latents)
    return _explanations(run.name, run.architecture, run.dataset, asked, args.budget, theirs_of(run.path)), asked


def _of_head(name: str, args: argparse.Namespace) -> tuple[Explanations, _Asked]:
    """A synthetic head: each image is drawn until it gets its class."""
    subject = build(name, Path(), args.count)
    predicted = evaluate(subject.head, as_patches(subject.latents)).predicted.tolist()
    asked = _Asked(args.out.with_suffix(".kept") / name, range(args.count), predicted, {"head": subject.note})
    asked.keep(args.budget, subject.head, lambda: subject.latents)
    return _explanations(name, "Synthetic heads", "", asked, args.budget, {}), asked


@dataclass(frozen=True)
class _Asked:
    """What is asked of a network, and the folder that keeps it.

    Attributes:
        folder: the network's.
        indices: of the images, as the table names them.
        labels: their true classes.
        about: what else the measurements depend on.
    """

    folder: Path
    indices: Sequence[int]
    labels: Sequence[int]
    about: Mapping[str, object]

    def keep(self, budget: float, head: Head, latents: Callable[[], Tensor]) -> None:
        """Write head and latents, unless they are there. Raises InputError: what is there is of something else."""
        path = self.folder / _ASKED
        asked = {
            "verale": __version__,
            "head": head.digest,
            "indices": list(self.indices),
            "labels": list(self.labels),
            "budget": budget,
            **self.about,
        }
        if not path.is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            head.save(self.folder / _HEAD)
            save_latents(self.folder / _LATENTS, latents())
            write_atomically(path, (json.dumps(asked) + "\n").encode())
        elif json.loads(path.read_text(encoding="utf-8")) != asked:
            raise InputError(
                self.folder,
                "keeps measurements of another network, other images, another budget or version; remove it, or give"
                " another --out",
            )


def _explanations(
    name: str,
    architecture: str,
    dataset: str,
    asked: _Asked,
    budget: float,
    theirs: Mapping[str, Sequence[Explained]],
) -> Explanations:
    head, latents = Head.load(asked.folder / _HEAD), as_patches(load_latents(asked.folder / _LATENTS))
    sizes = (head.size, latents.shape[1], head.depth, head.classes)
    return Explanations(name, architecture, dataset, *sizes, budget, {}, theirs)


def _measured(measured: Explanations, asked: _Asked, names: Sequence[str] | None) -> Iterator[Method]:
    """Explain every image under every method, and keep each at once; gives each method that is done."""
    head = Head.load(asked.folder / _HEAD)
    predicted = evaluate(head, as_patches(load_latents(asked.folder / _LATENTS))).predicted.tolist()
    with Within(asked.folder / _HEAD, asked.folder / _LATENTS, measured.budget) as within:
        for method in methods_of(paradigms_taken(head, measured.patches), names):
            path = asked.folder / method.table
            kept = measured.kept[method] = read_kept(path) if path.is_file() else []
            for image in range(len(kept), len(asked.indices)):
                one = within.explain(image, method) or Kept(
                    Explained(image, predicted[image], reason=f"stopped after {measured.budget:g} s")
                )
                label = asked.labels[image]
                row = replace(one.row, index=asked.indices[image], label=label, correct=one.row.predicted == label)
                kept.append(replace(one, row=row))
                write_kept(path, kept)
            explained = sum(one.row.size is not None for one in kept)
            print(f"{measured.name}, {method.name}: {explained} of {len(kept)} explained", file=sys.stderr, flush=True)
            yield method


def _write(out: Path, found: Sequence[Explanations], facts: dict[str, str], skipped: Sequence[str]) -> None:
    write_atomically(out, markdown(found, facts, skipped).encode())
    write_atomically(out.with_suffix(".tex"), latex(found).encode())


def _methods(given: str) -> list[str]:
    known = [each.name for each in METHODS]
    if unknown := [name for name in given.split(",") if name not in known]:
        raise argparse.ArgumentTypeError(f"unknown method {', '.join(unknown)}; known: {', '.join(known)}")
    return given.split(",")


def _heads(given: str) -> list[str]:
    if unknown := [name for name in given.split(",") if name not in _SYNTHETIC]:
        raise argparse.ArgumentTypeError(f"unknown head {', '.join(unknown)}; known: {', '.join(_SYNTHETIC)}")
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
    parser.add_argument("runs", type=Path, metavar="RUNS", nargs="?", help="folder of run folders")
    parser.add_argument("--out", type=_output, default=Path("tables.md"), help="the page (default tables.md)")
    parser.add_argument("--data", type=Path, default=Path(), help="folder to which dataset.yml's paths are relative")
    parser.add_argument("--images", type=Path, help="one folder of images a class, instead of dataset.yml's test set")
    parser.add_argument(
        "--per-class", type=_count, help="images of each class, 0 for all (default: those listed, or 5)"
    )
    parser.add_argument(
        "--heads", type=_heads, default=[], help=f"synthetic heads too, some of {', '.join(_SYNTHETIC)}"
    )
    parser.add_argument("--count", type=_count, default=4, help="images of each synthetic head (default 4)")
    parser.add_argument("--budget", type=_seconds, default=60.0, help="processor seconds an image (default 60)")
    parser.add_argument("--methods", type=_methods, help=f"some of {', '.join(each.name for each in METHODS)}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
