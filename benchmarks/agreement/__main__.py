"""Compare the verdicts of the kernels `arb`, `mpmath` and `proved`, and write a table.

The exit code is 0 only if nothing is wrong: no kernel proves what another refutes, or what is known to be false.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from support.mutants import mutated

from benchmarks.agreement.table import table
from benchmarks.agreement.tally import Tally, tallied
from verale.checker.errors import KernelError
from verale.checker.proved.program import find_executable
from verale.errors import UsageError
from verale.paradigms import ORDERS
from verale.soundness import compare
from verale.soundness.compare import Group

TRAINED = ("protopnet", "tesnet", "pipnet", "gaussian", "protopool")
"""Heads trained on CIFAR-100, as `benchmarks.heads` names them."""

_HEADS = 10**6
"""More than are tried with a seed."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agreement", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--mutants-one-in", type=int, default=100, help="take one in so many mutants; 0 for none")
    parser.add_argument("--emitted", type=int, default=300, help="certificates of random heads (default 300)")
    parser.add_argument("--seed", type=int, default=0, help="of mutants and random heads")
    parser.add_argument("--data", type=Path, help="folder of the trained heads cifar100_*.safetensors")
    parser.add_argument("--images", type=int, default=3, help="images of each trained head (default 3)")
    parser.add_argument("--out", type=Path, help="file for the table, in Markdown")
    given = parser.parse_args()
    command = f"python -m benchmarks.agreement {' '.join(sys.argv[1:])}".strip()
    text = ""
    try:
        facts = {"executable": find_executable().sha256} | _facts()
        tallies: dict[str, Tally] = {}
        for name, groups in _chosen(given):
            start = time.monotonic()
            tallies[name] = tallied(groups)
            counts = ", ".join(f"{count:,} {kind}" for kind, count in tallies[name].kinds.items())
            wrong = len(tallies[name].wrong)
            sys.stderr.write(f"{name}: {counts}, {wrong} wrong, in {time.monotonic() - start:.0f} s\n")
            text = table(tallies, command, facts)
            if given.out:
                given.out.write_text(text, encoding="utf-8")  # after each set: the last one may take long
    except (UsageError, KernelError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 9
    sys.stdout.write(text)
    return 1 if any(tally.wrong for tally in tallies.values()) else 0


def _chosen(given: argparse.Namespace) -> Iterator[tuple[str, Iterator[Group]]]:
    yield "corpora", compare.corpora()
    if given.mutants_one_in:
        yield "mutants", mutated(given.mutants_one_in, given.seed)
    if given.emitted:
        import torch

        torch.set_num_threads(1)
        yield "random heads", _emitted(given.emitted, given.seed)
    if given.data:
        yield "trained heads", _trained(given.data, given.images)


def _emitted(count: int, seed: int) -> Iterator[Group]:
    """Random heads, until that many certificates are emitted."""
    for group in compare.emitted(itertools.count(_HEADS * seed), 1):
        yield group
        count -= len(group.questions)
        if count <= 0:
            return


def _trained(data: Path, images: int) -> Iterator[Group]:
    """The trained heads of a folder, a few images of each explained under every paradigm."""
    from benchmarks.heads import build

    for name in TRAINED:
        subject = build(name, data, images)
        yield compare.explained(name, subject.head, subject.latents, orders=ORDERS[:1])


def _facts() -> dict[str, str]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        "load average at start": ", ".join(f"{load:.2f}" for load in os.getloadavg()),
    }


if __name__ == "__main__":
    sys.exit(main())
