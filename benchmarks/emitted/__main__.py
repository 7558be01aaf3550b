"""Run cases until enough certificates are emitted, and write the table; see `benchmarks.emitted`."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

from benchmarks import environment
from benchmarks.emitted import state
from benchmarks.emitted.case import run_case
from benchmarks.emitted.table import emitted_of, table
from verale.soundness.combinations import combinations


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.emitted", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="certificates; every combination gets as many draws")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/emitted"), help="OUT.jsonl and OUT.md")
    parser.add_argument("--images", type=int, default=12, help="images a head (default 12)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    given = parser.parse_args()
    header, facts = state.depends_on(given.images), environment.describe()
    try:
        with state.opened(given.out.with_suffix(".jsonl"), header) as (records, file):
            total, shown = sum(map(emitted_of, records)), time.monotonic()
            with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
                while total < given.count or len(records) % len(combinations()):
                    turn = len(records) // len(combinations()) + 1
                    cases = [(number, given.images) for number in range(len(records), turn * len(combinations()))]
                    for record in pool.imap(run_case, cases):
                        state.append(file, record)
                        records.append(record)
                        total += emitted_of(record)
                        if time.monotonic() > shown + 10:
                            shown = time.monotonic()
                            print(f"{len(records):,} heads, {total:,} certificates", file=sys.stderr)
    except state.StateError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    given.out.with_suffix(".md").write_text(table(records, header, facts))
    unproved = sum(len(record["unproved"]) for record in records)
    print(f"{unproved} unproved of {total:,} emitted by {len(records):,} heads: {given.out.with_suffix('.md')}")
    return 1 if unproved else 0


if __name__ == "__main__":
    sys.exit(main())
