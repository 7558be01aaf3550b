"""The speed of one thread of this machine: a roofline to compare measured times with.

    python -m benchmarks.machine

Double precision: matrix product, matrix-vector product, copies at three sizes, gather of rows, logarithms; and the
fixed cost of one call of torch.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import torch

from benchmarks.environment import describe

__all__ = ["main", "seconds_of"]


def seconds_of(call: Callable[[], object], least: float = 0.2) -> float:
    """Seconds of one call: the best of five rounds of calls, each round at least about `least` / 5 seconds long."""
    call()
    repeat, elapsed = 1, 0.0
    while elapsed < least / 5:
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        elapsed = time.perf_counter() - start
        repeat *= 2
    best = elapsed / (repeat // 2)
    for _ in range(4):
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        best = min(best, (time.perf_counter() - start) / repeat)
    return best


def main() -> int:
    """Measure and print."""
    torch.set_num_threads(1)
    for key, value in describe().items():
        print(f"{key}: {value}")
    print()
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, dtype=torch.float64, generator=generator)

    a, b = random(1024, 1024), random(1024, 1024)
    out = torch.empty_like(a)
    t = seconds_of(lambda: torch.mm(a, b, out=out))
    print(f"{'matrix product 1024^3':44} {2 * 1024**3 / t / 1e9:8.1f} Gflop/s")
    for name, size in (("2 x 256 KiB", 2**15), ("2 x 8 MiB", 2**20), ("2 x 256 MiB", 2**25)):
        source, target = random(size), random(size)
        t = seconds_of(lambda source=source, target=target: target.copy_(source))
        print(f"{f'copy, {name}':44} {16 * size / t / 1e9:8.1f} GB/s read and written")
    gram, m = random(1000, 1000), 16
    row, index = random(1, 1, m), torch.arange(m) * 61
    t = seconds_of(lambda: torch.bmm(row, gram[index][None]))
    print(
        f"{'gather of 16 rows of 1000 and their product':44} {1e6 * t:8.1f} us = {3 * 8 * m * 1000 / t / 1e9:.1f} GB/s"
    )
    weight, box = random(1000, 100), random(2, 1000)
    t = seconds_of(lambda: box @ weight)
    print(f"{'margins: (2, 1000) @ (1000, 100)':44} {1e6 * t:8.1f} us = {4 * 1000 * 100 / t / 1e9:.1f} Gflop/s")
    rows = random(64, 1000)
    t = seconds_of(lambda: rows.amin(0))
    print(f"{'pooling: minimum over 64 of (64, 1000)':44} {1e6 * t:8.1f} us = {8 * 64000 / t / 1e9:.1f} GB/s")
    line = random(1000)
    t = seconds_of(lambda: line.log1p())
    print(f"{'log1p of 1000':44} {1e6 * t:8.1f} us = {1e6 * t:.2f} ns each")
    t = seconds_of(lambda: torch.nextafter(line, line))
    print(f"{'nextafter of 1000':44} {1e6 * t:8.1f} us = {1e6 * t:.2f} ns each")
    one, many = random(1), random(2, 1000)
    t = seconds_of(lambda: one + one)
    print(f"{'a call of torch that adds one number':44} {1e6 * t:8.2f} us")
    t = seconds_of(lambda: many + many)
    print(f"{'a call of torch that adds 2000 numbers':44} {1e6 * t:8.2f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
