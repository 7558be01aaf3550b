"""Measure verale and the papers' explainers on the same heads and latents, in one run.

    python -m benchmarks.run --data DATA --images 4

Writes images.csv, summary.csv, table.md and table.txt to --out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch

from benchmarks.baseline import methods_of
from benchmarks.environment import describe
from benchmarks.heads import HEADS, Subject, build
from benchmarks.measure import Measurement, measure_baseline, measure_verale
from benchmarks.table import images_csv, markdown, summarise, summary_csv, text
from verale.errors import UsageError
from verale.paradigms import PARADIGMS

__all__ = ["main", "measure"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 if every certificate was proved, otherwise 1."""
    options = _parser().parse_args(arguments)
    torch.set_num_threads(1)
    facts = describe(options.device)
    facts["command"] = "python -m benchmarks.run " + " ".join(sys.argv[1:] if arguments is None else arguments)
    begin, cpu = time.perf_counter(), time.process_time()
    measurements: list[Measurement] = []
    for name in options.heads:
        try:
            subject = build(name, options.data, options.images)
        except UsageError as error:
            print(f"{name}: skipped: {error}", file=sys.stderr)
            continue
        limit = options.time_limit if options.baseline else None
        for m in measure(subject, options, limit):
            print(_line(m), file=sys.stderr, flush=True)
            measurements.append(m)
        facts[name] = subject.note
        facts["wall / processor time so far"] = f"{(time.perf_counter() - begin) / (time.process_time() - cpu):.2f}"
        # After each head, so that an interrupted run keeps its results.
        _write(options.out, facts, measurements, options.time_limit)
    if measurements:
        print((options.out / "table.txt").read_text())
    bad = [m for m in measurements if m.outcome == "certificate" and m.verdict != "PROVED"]
    return 1 if bad else 0


def _write(out: Path, facts: dict[str, str], measurements: Sequence[Measurement], limit: float) -> None:
    rows = summarise(measurements)
    out.mkdir(parents=True, exist_ok=True)
    heading = [f"{key}: {value}" for key, value in facts.items()]
    caution = (
        f"The papers' methods: float32, NOT sound, stopped after {limit:g} s an image. "
        "Seconds are processor time of one thread."
    )
    (out / "images.csv").write_text(images_csv(measurements))
    (out / "summary.csv").write_text(summary_csv(rows))
    (out / "table.txt").write_text("\n".join([*heading, "", caution, "", text(rows)]))
    (out / "table.md").write_text("\n".join([*(f"- {h}" for h in heading), "", caution, "", markdown(rows)]))


def measure(subject: Subject, options: argparse.Namespace, limit: float | None) -> Iterator[Measurement]:
    """Every paradigm that is defined for the head, then every method of the papers, unless `limit` is None."""
    for paradigm in options.paradigms:
        try:
            yield from measure_verale(subject, paradigm, options.batch, options.device, options.order)
        except UsageError as error:
            print(f"{subject.name}: {paradigm} skipped: {error}", file=sys.stderr)
    if limit is not None and subject.published is not None:
        for method in methods_of(subject.published):
            yield from measure_baseline(subject, method, limit)


def _line(m: Measurement) -> str:
    size = "-" if m.size is None else str(m.size)
    return f"{m.head} {m.method} image {m.image}: {m.outcome} {size} {m.explain_seconds:.2f} s {m.verdict} {m.reason}"


def _names(known: Sequence[str], what: str) -> Callable[[str], list[str]]:
    def parse(given: str) -> list[str]:
        names = [name for name in given.split(",") if name]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown {what} {', '.join(unknown)}; known: {', '.join(known)}")
        return names

    return parse


def _parser() -> argparse.ArgumentParser:
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.split("\n", 1)[0])
    heads, paradigms = list(HEADS), list(PARADIGMS)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data", help="trained heads and latents")
    parser.add_argument("--order", default="rival", help="verale's order of statements: rival or nearest")
    parser.add_argument("--images", type=int, default=4, help="images a head (default 4)")
    parser.add_argument("--heads", type=_names(heads, "head"), default=heads, help=f"among {','.join(heads)}")
    parser.add_argument("--paradigms", type=_names(paradigms, "paradigm"), default=paradigms, help="comma separated")
    parser.add_argument("--baseline", action=argparse.BooleanOptionalAction, default=True, help="papers' methods too")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds an image, for the papers' methods")
    parser.add_argument("--batch", type=int, default=1, help="images explained together (default 1)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="folder for the tables")
    return parser


if __name__ == "__main__":
    sys.exit(main())
