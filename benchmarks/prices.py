"""What a step of the checker's count takes: nanoseconds of processor time for each kind of work that is counted.

    python -m benchmarks.prices [--kernel mpmath] [--repeat 5] [--out benchmarks/results/prices.md]

A step is priced at 25 ns (`verale.checker.plain.work`), so that the limit of an audit is a limit of time. Each kind of
work is done alone, at several sizes. The least time of some repetitions is divided by the steps that the checker counts
for it. Much more than 25 ns breaks the promise; much less refuses proofs for which there is time.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from pathlib import Path
from typing import Any

from benchmarks.environment import describe, listed
from verale.checker.certificate import ActivationStatement, Certificate, PatchStatement, Statement
from verale.checker.dyadic import exact
from verale.checker.head import read_head
from verale.checker.kernel import KERNELS, load_kernel
from verale.checker.plain.cost import cost
from verale.checker.plain.evaluation import Evaluation
from verale.checker.plain.margin import lower_bound, margin_steps
from verale.checker.plain.quadratic import QuadraticRule
from verale.checker.plain.similarity import Box, SimilarityRule
from verale.checker.plain.simplex import Simplex
from verale.checker.plain.space import Space
from verale.checker.plain.spatial import SpatialRule
from verale.checker.plain.top_k import TopK
from verale.soundness.independent import files

__all__ = ["Kind", "kinds", "main"]

_COSINE = {"geometry": files.cosine(2.0**-20), "similarity": files.IDENTITY}
_SOFTMAX = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
_ENDLESS = 2**60
_COUNTS = {"arb": 400, "mpmath": 60}
"""Prototypes: enough that what is done once for all of them does not matter."""


@dataclass(frozen=True)
class Kind:
    """A kind of work: its name, a size of it, what does it, and the steps that are counted for it before it begins.
    Those that are counted while it runs are added."""

    name: str
    size: str
    space: Space
    action: Callable[[], object]
    before: int = 0


def kinds(kernel: str) -> Iterator[Kind]:
    """Every kind of work that is counted, alone, at some sizes."""
    count = _COUNTS[kernel]
    for geometry, parts in (("distances", {}), ("cosines", _COSINE)):
        for depth, several in ((64, (1, 4, 16, 48)), (512, (8,))):
            space, rows = _space(kernel, count, depth, **parts)
            for stated in several:
                size = f"{geometry}, D = {depth}, {stated} statements"
                yield from _ranges(space, size, "projection", _statements(space, rows, stated, 0.0))
        wide = _statements(space, rows, 6, 0.1)
        yield from _ranges(space, f"{geometry}, 6 wide statements", "projection", wide)
    space, _ = _space(kernel, 1000, 0, **_SOFTMAX)
    masses = [PatchStatement(0, j, Fraction(0), Fraction(1, 64)) for j in range(20)]
    yield from _ranges(space, "masses, 20 statements", "simplex", masses)
    yield from _activations(kernel)
    yield from _means(kernel)
    yield from _margins(kernel)
    yield from _latents(kernel)


def _space(kernel: str, count: int, depth: int, **parts: Any) -> tuple[Space, list[list[float]]]:
    """A head of random prototypes, float32 numbers."""
    generator = random.Random(1)
    rows = [list(array("f", [generator.uniform(0.25, 0.75) for _ in range(depth)])) for _ in range(count)]
    data = files.head([[1.0] * count, [0.0] * count], rows if depth else None, **parts)
    return Space(read_head(data), load_kernel(kernel)), rows


def _statements(space: Space, rows: list[list[float]], number: int, width: float) -> list[PatchStatement]:
    """True statements about one latent."""
    generator = random.Random(2)
    latent = [generator.uniform(0.3, 0.7) for _ in rows[0]]
    stated = []
    for j in generator.sample(range(len(rows)), number):
        middle = math.dist(latent, rows[j]) ** 2
        if space.head.geometry != "euclidean":
            product = sum(map(mul, latent, rows[j]))
            middle = product / (math.hypot(*rows[j]) * (math.hypot(*latent) + 2.0**-20))
        slack = width + 2.0**-40
        stated.append(PatchStatement(0, j, Fraction(middle * (1 - slack)), Fraction(middle * (1 + slack))))
    return stated


def _certificate(paradigm: str, statements: Sequence[Statement], patches: int = 1) -> Certificate:
    return Certificate("", None, 0, paradigm, patches, tuple(statements), (None, Fraction(1)), ("entailment",), {})


def _ranges(space: Space, size: str, paradigm: str, statements: list[PatchStatement]) -> Iterator[Kind]:
    """All ranges of one patch, rounded outward and inward: for entailment, and for the minimality of one statement."""
    rule: Any = Simplex(space) if paradigm == "simplex" else QuadraticRule(space)
    stated, none = _certificate(paradigm, statements), _certificate(paradigm, [])
    least = cost(none, space, False).steps
    yield Kind("ranges", size, space, lambda: rule.ranges(statements), cost(stated, space, False).steps - least)
    whole, statement = SpatialRule(space, rule), [*statements, PatchStatement(1, 0, None, None)]
    more = _certificate(paradigm, statement, 2)
    before = cost(more, space, True).steps - cost(more, space, False).steps
    yield Kind("ranges without", size, space, lambda: list(whole.boxes_without(statement, 2)), before)


def _activations(kernel: str) -> Iterator[Kind]:
    """Similarities, and cutting activations by statements about them."""
    for name, parts in (("logarithm", {}), ("exponential", {"similarity": {"kind": "exponential"}})):
        space, _ = _space(kernel, 2, 2, **parts)
        values = [k << space.bits - 12 for k in range(1, 2000)]

        def similar(space: Space = space, values: list[int] = values) -> None:
            rule = SimilarityRule(space)
            for value in values:
                rule.at(value, space.head.similarity.own.rows[0][0])

        yield Kind("similarities", name, space, similar)
    space, _ = _space(kernel, 2000, 2)
    rule, stated = TopK(space), [ActivationStatement(j, Fraction(0), Fraction(1)) for j in range(200)]
    once = _certificate("top_k", stated, 5)
    before = cost(once, space, True).steps - cost(once, space, False).steps
    yield Kind("activations without", "200 statements", space, lambda: list(rule.boxes_without(stated, 5)), before)


def _means(kernel: str) -> Iterator[Kind]:
    """Poolings with a mean over patches."""
    for name, pooling in (
        ("top_mean of 40", {"kind": "top_mean", "k": 40}),
        ("less a mean", {"kind": "max_minus_mean"}),
    ):
        space, _ = _space(kernel, 100, 4, **_COSINE, pooling=pooling)
        rule = SpatialRule(space, QuadraticRule(space))
        stated = [PatchStatement(i, i, None, Fraction(100)) for i in range(90)]
        once = _certificate("projection", stated, 91)
        yield Kind("means", name, space, lambda r=rule, s=stated: r.box(s, 91), cost(once, space, False).steps)


def _margins(kernel: str) -> Iterator[Kind]:
    """Lower bounds of a margin."""
    for count in (40, 2000):
        space, _ = _space(kernel, count, 2)
        yield from _margin(space, f"linear, {count} prototypes")
    absent, present = [*range(1, 2000), -1], [-2 - node for node in range(2000)]
    readout = {"kind": "soft_tree", "absent": absent, "present": present}
    data = files.head([[1.0] * 2001, [0.0] * 2001], [[0.5]] * 2000, similarity={"kind": "exponential"}, readout=readout)
    yield from _margin(Space(read_head(data), load_kernel(kernel)), "soft tree, 2000 nodes")


def _margin(space: Space, size: str) -> Iterator[Kind]:
    generator = random.Random(3)
    low = [generator.getrandbits(space.bits) for _ in range(space.head.count)]
    box, many = Box(low, [2 * end + 1 for end in low], space.bits), 20_000 // space.head.count

    def bounds() -> None:
        for _ in range(many):
            lower_bound(space.head, box, 0, 1)

    yield Kind("margins", size, space, bounds, space.work.scaled(many * margin_steps(space.head)))


def _latents(kernel: str) -> Iterator[Kind]:
    """The head at the latents of an image."""
    generator = random.Random(4)
    for name, count, depth, parts in (
        ("distances, D = 64", 200, 64, {}),
        ("cosines, D = 64", 200, 64, _COSINE),
        ("distances, D = 2", 200, 2, {}),
        ("masses", 60, 0, _SOFTMAX),
    ):
        space, _ = _space(kernel, count, depth, **parts)
        image = exact([generator.random() for _ in range(49 * (depth or count))], depth or count)
        evaluated = lambda s=space, i=image: Evaluation(s, i).activations(128)  # noqa: E731
        yield Kind("latents", name, space, evaluated)


def measured(kind: Kind, repeat: int) -> tuple[int, float]:
    """The steps that are counted, and the least processor time."""
    times = []
    for _ in range(repeat):
        kind.space.work.allow(_ENDLESS)
        start = time.process_time()
        kind.action()
        times.append(time.process_time() - start)
    return kind.before + _ENDLESS - kind.space.work._left, min(times)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prices", description="What a step takes.")
    parser.add_argument("--kernel", choices=KERNELS, action="append", help="the arithmetic (default: both)")
    parser.add_argument("--repeat", type=int, default=5, help="repetitions, of which the fastest counts (default: 5)")
    parser.add_argument("--out", type=Path, help="the file for the table (default: print it)")
    options = parser.parse_args(arguments)
    kernels = options.kernel or list(KERNELS)
    lines = ["# The price of a step\n", f"Written by `python -m benchmarks.prices --repeat {options.repeat}`. A step"
             " is priced at 25 ns of processor time.\n"]  # fmt: skip
    lines += listed(describe())
    lines += ["\n| kernel | work | size | 10^3 steps | ms | ns a step |", "|---|---|---|---:|---:|---:|"]
    for kernel in kernels:
        for kind in kinds(kernel):
            steps, seconds = measured(kind, options.repeat)
            each = f"{steps / 1e3:.0f} | {seconds * 1e3:.1f} | {seconds / steps * 1e9:.1f}"
            lines.append(f"| {kernel} | {kind.name} | {kind.size} | {each} |")
            print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
