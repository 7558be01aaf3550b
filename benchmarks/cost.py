"""The cost of explaining an image: torch operations, their flops and bytes, and the time of Python functions.

    python -m benchmarks.cost --data DATA --head protopnet --image 0

Counts come from a run under torch's dispatch mode, times from another run without it.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.environment import describe
from benchmarks.heads import build
from verale.certificate import Certificate
from verale.search import best_paradigm
from verale.search.explain import explain

__all__ = ["Calls", "main"]

_VIEWS = ("view", "_unsafe_view", "expand", "select", "slice", "unsqueeze", "squeeze", "transpose", "permute", "alias")
_VIEWS += ("detach", "as_strided", "t.", "split", "unbind", "diagonal", "lift_fresh")
_FILLED = ("new_", "zeros", "ones", "full", "empty", "arange", "scalar_tensor")
"""Operations that only write: they read only the shapes of their arguments."""


class Calls(TorchDispatchMode):
    """Counts every operation that reaches a kernel, and the bytes of its input and output tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.views = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = str(function).removeprefix("aten.")
        if name.startswith(_VIEWS):
            self.views += 1
            return result
        self.calls[name] += 1
        tensors = [t for t in tree_leaves((args, kwargs, result)) if isinstance(t, torch.Tensor)]
        self.bytes[name] += sum(_traffic(name, t, result) for t in tensors)
        return result


def _traffic(name: str, tensor: torch.Tensor, result: Any) -> int:
    """The bytes of a tensor that an operation touches; of an indexed source, only as much as the result has."""
    size = tensor.numel() * tensor.element_size()
    if name.startswith(_FILLED) and tensor is not result:
        return 0
    if name.startswith(("index_copy_", "index_put_", "scatter_")) and tensor is result:
        return 0
    if name.startswith(("index.", "index_select", "gather")) and isinstance(result, torch.Tensor):
        return min(size, result.numel() * result.element_size())
    return size


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, time and profile one image."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost", description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--data",
        type=Path,
        help="trained heads and latents",
        default=Path(__file__).resolve().parents[2] / "shared" / "data",
    )
    parser.add_argument("--head", default="protopnet", help="a head of benchmarks.heads (default protopnet)")
    parser.add_argument("--image", type=int, default=0, help="index of the first image (default 0)")
    parser.add_argument("--batch", type=int, default=1, help="images explained together (default 1)")
    parser.add_argument("--paradigm", help="by default the head's best paradigm")
    parser.add_argument("--lines", type=int, default=14, help="lines of each list (default 14)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    subject = build(options.head, options.data, options.image + options.batch)
    paradigm = options.paradigm or best_paradigm(subject.head)
    images = subject.latents[options.image :]

    def once() -> Any:
        return explain(subject.head, images, paradigm, batch=options.batch)

    results = once()
    wall, cpu = time.perf_counter(), time.process_time()
    once()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    with FlopCounterMode(display=False) as flops, Calls() as calls:
        once()
    profile = cProfile.Profile()
    profile.runcall(once)

    for key, value in describe().items():
        print(f"{key}: {value}")
    print(f"{subject.name}: {subject.note}; {options.batch} image(s) from {options.image}, {paradigm}")
    print("statements:", *(r.size if isinstance(r, Certificate) else f"unexplained ({r.reason})" for r in results))
    total, moved = sum(calls.calls.values()), sum(calls.bytes.values())
    print(f"wall {wall:.3f} s, processor {cpu:.3f} s")
    print(f"torch calls without views: {total} ({1e6 * cpu / total:.2f} us each); views: {calls.views}")
    print(f"matrix flops: {flops.get_total_flops() / 1e9:.3f} G; bytes read and written: {moved / 1e9:.3f} G")
    print("\ncalls, MB, operation")
    for name, _ in calls.calls.most_common(options.lines):
        print(f"{calls.calls[name]:8d} {calls.bytes[name] / 1e6:10.1f}  {name}")
    print("\nPython functions of verale by cumulative time (with the cost of cProfile)")
    entries = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    ours = [(own, within, count, key) for key, (_, count, own, within, _) in entries.items() if "verale" in key[0]]
    for own, within, count, (file, line, name) in sorted(ours, key=lambda e: -e[1])[: options.lines + 6]:
        print(f"{within:8.3f} s cumulative {own:8.3f} s own {count:8d} x  {Path(file).name}:{line} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
