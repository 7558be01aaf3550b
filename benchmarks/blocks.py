"""The search on a GPU, counted without one: kernels, synchronisations, bytes, barriers, and images a second on paper.

    PYTHONPATH=tests python -m benchmarks.blocks --data DATA --heads protopnet --images 2 --out FILE

The tensor code runs on the stand-in device of the tests, which counts what would be launched; views and allocations are
no kernels. The kernel of the search is interpreted, which takes a minute an image, and compiled for an H100 (sm_90),
which needs none. What a step costs on a GPU is assumed, not measured: the assumptions are in the table.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from benchmarks import environment

LAUNCH = 5e-6
"""Seconds that the host takes for an operation of torch on a device."""

SYNCHRONISATION = 20e-6
"""Seconds that the host waits for a result, beside the work itself."""

PHASE = 2e-6
"""Seconds from one barrier of a block to the next: the latencies of two or three reads that need each other."""

PROCESSORS, LEVEL_TWO, MEMORY = 132, 5.5e12, 3.35e12
"""Of an H100 SXM: multiprocessors; bytes a second from the second-level cache, and from memory."""

_FREE = re.compile(r"empty|detach|lift_fresh|alias")


@dataclass(frozen=True)
class Searched:
    """What the search's kernel does for some images.

    Attributes:
        prototypes: of the head.
        sizes, compiled: the statements of each image, and those in machine code on the CPU.
        minimal: how many claim that all statements are needed.
        launches: of the kernel.
        steps: statements entered or deleted on trial.
        barriers, read, written: by all blocks; bytes.
    """

    prototypes: int
    sizes: list[int]
    compiled: list[int]
    minimal: int
    launches: int
    steps: int
    barriers: int
    read: int
    written: int


@dataclass(frozen=True)
class Proved:
    """What the tensor code does for some images whose statements are chosen, in one batch.

    Attributes:
        sizes: the statements of each image.
        kernels, synchronisations, moved: how many, and the bytes that its kernels read and write.
        shared_kernels, shared_synchronisations: of these, for all images together, however many there are: for each
            number of statements that a patch has, at once for all patches that have it.
    """

    sizes: list[int]
    kernels: int
    synchronisations: int
    moved: int
    shared_kernels: int
    shared_synchronisations: int


@dataclass(frozen=True)
class Compiled:
    """The search's kernel for a GPU.

    Attributes:
        threads: of a block.
        registers, stack, shared: of a thread, in bytes of it, and bytes of a block.
        barriers: in its machine code.
    """

    threads: int
    registers: int
    stack: int
    shared: int
    barriers: int


def searched(name: str, data: Path, images: int) -> Searched:
    """Search the first images of a head in blocks; where kernels are interpreted."""
    from support.blocks import interpreted
    from support.stand_in import DEVICE, StandIn

    from benchmarks.heads import build
    from verale.certificate import Certificate
    from verale.search import devices
    from verale.search.devices import launch
    from verale.search.explain import explain

    subject = build(name, data, images)
    compiled = [each for each in explain(subject.head, subject.latents, "projection") if isinstance(each, Certificate)]
    works, launched = [], launch.launched

    def kept(*arguments: Any) -> Any:
        works.append(launched(*arguments))
        return works[-1]

    with interpreted(races=False) as watch, StandIn(seed=None), patch.object(launch, "launched", kept):
        devices.is_available(torch.device(DEVICE))  # probes it
        before = watch.passed, watch.read, watch.written
        explained = explain(subject.head, subject.latents, "projection", device=DEVICE, batch=images)
    found = [each for each in explained if isinstance(each, Certificate)]
    return Searched(
        prototypes=subject.head.size,
        sizes=[each.size for each in found],
        compiled=[each.size for each in compiled],
        minimal=sum(each.minimal for each in found),
        launches=len(works),
        steps=sum(int(each.outcome.held[:, 2:].sum()) for each in works),
        barriers=watch.passed - before[0],
        read=watch.read - before[1],
        written=watch.written - before[2],
    )


def proved(name: str, data: Path, images: int) -> Proved:
    """Prove on the stand-in device, in one batch, what machine code chose for the first images of a head."""
    from support.stand_in import DEVICE, StandIn
    from torch.utils._pytree import tree_leaves

    from benchmarks.heads import build
    from verale.certificate import Certificate
    from verale.search import devices
    from verale.search.devices import engine
    from verale.search.explain import explain

    class Counting(StandIn):
        kernels = synchronisations = moved = 0

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = super().__torch_dispatch__(function, types, args, kwargs)
            there, words = [x for x in tree_leaves((args, kwargs, result)) if hasattr(x, "held")], str(function)
            if there and not function.is_view and not _FREE.search(words):
                reads = "_local_scalar_dense" in words or ("_to_copy" in words and not hasattr(result, "held"))
                self.synchronisations += reads or "nonzero" in words
                self.kernels += not reads
                self.moved += 0 if reads else sum(each.numel() * each.element_size() for each in there)
            return result

    shared, ranges_alike = [0, 0], engine.ranges_alike

    def alike(*arguments: Any) -> Any:
        before = device.kernels, device.synchronisations
        result = ranges_alike(*arguments)
        shared[0] += device.kernels - before[0]
        shared[1] += device.synchronisations - before[1]
        return result

    subject = build(name, data, images)
    explained = explain(subject.head, subject.latents, "projection")
    pairs = [[(each.patch, each.prototype) for each in one.statements] for one in explained]
    with (
        patch.object(devices, "is_available", lambda device: device.type == "lent"),
        patch.object(engine, "choose_statements", lambda problem, *_: pairs),
        patch.object(engine, "ranges_alike", alike),
        Counting(seed=None) as device,
    ):
        again = explain(subject.head, subject.latents, "projection", device=DEVICE, batch=images)
    found = [each for each in again if isinstance(each, Certificate)]
    if [each.size for each in found] != list(map(len, pairs)) or not all(each.minimal for each in found):
        raise RuntimeError("what machine code chose is not proved on the device")
    return Proved([each.size for each in found], device.kernels, device.synchronisations, device.moved, *shared)


def compiled_for_gpu(name: str, data: Path) -> Compiled:
    """The search's kernel for a head, compiled for sm_90; where kernels are compiled."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from benchmarks.heads import build
    from verale.bounds import Projection
    from verale.head import as_patches
    from verale.search.devices import launch
    from verale.search.devices.kernel import choose_in_blocks
    from verale.search.devices.tables import kernel_sizes, warps
    from verale.search.problem import Problem

    subject = build(name, data, 1)
    problem = Problem.of(subject.head, as_patches(subject.latents))
    sizes = kernel_sizes(problem.head, problem.patches)
    tables = {
        "head": launch.head_table(problem, Projection(problem.head), 1e-6),
        "images": launch.image_table(problem, [math.inf]),
        "works": launch.work_table(problem, sizes),
    }
    kinds = {"torch.float64": "*fp64", "torch.int32": "*i32", "torch.int8": "*i8"}
    signature: dict[str, Any] = {
        name: type(table)(*(kinds[str(each.dtype)] if hasattr(each, "dtype") else "i32" for each in table))
        for name, table in tables.items()
    }
    source = ASTSource(choose_in_blocks, signature={**signature, "sizes": "constexpr"}, constexprs={(3,): sizes})
    options = {"num_warps": warps(sizes), "enable_fp_fusion": True}
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(made.asm["cubin"])
        tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
        usage, code = (
            subprocess.run([str(tool), option, str(path)], capture_output=True, text=True, check=True).stdout
            for option in ("--dump-resource-usage", "-sass")
        )
    numbers = {key: int(value) for key, value in re.findall(r"(REG|STACK):(\d+)", usage)}
    return Compiled(32 * warps(sizes), numbers["REG"], numbers["STACK"], made.metadata.shared, code.count("BAR.SYNC"))


def header() -> Iterator[str]:
    """The title, where it ran, and what is assumed."""
    yield "# The search on a GPU, counted without one"
    yield ""
    yield from (f"- {what}: {value}" for what, value in environment.describe().items())
    yield ""
    yield (
        f"Assumed: {LAUNCH * 1e6:.0f} us an operation of torch, {SYNCHRONISATION * 1e6:.0f} us a synchronisation,"
        f" {PHASE * 1e6:.0f} us from barrier to barrier, {LEVEL_TWO / 1e12} TB/s from the cache for all blocks,"
        f" {MEMORY / 1e12} TB/s from memory. None of this was measured on a GPU."
    )
    yield ""


def page(name: str, blocks: Searched, tensors: Proved, kernel: Compiled) -> Iterator[str]:
    """The counts, and what they come to."""
    n, m = len(blocks.sizes), len(tensors.sizes)
    size, of_batch = sum(blocks.sizes) / n, sum(tensors.sizes) / m
    moved = blocks.read + blocks.written
    search = of_batch / size * (blocks.barriers * PHASE + moved / (LEVEL_TWO / PROCESSORS)) / n
    kernels = (tensors.kernels - tensors.shared_kernels) / m
    waits = (tensors.synchronisations - tensors.shared_synchronisations) / m
    shared = tensors.shared_kernels * LAUNCH + tensors.shared_synchronisations * SYNCHRONISATION
    host = kernels * LAUNCH + waits * SYNCHRONISATION + shared / PROCESSORS
    memory = tensors.moved / MEMORY / m
    per_second = 1 / (search / PROCESSORS + max(host, memory))
    yield f"## {name}"
    yield ""
    yield f"| the search's kernel, counted on {n} images of {blocks.prototypes} prototypes | an image |"
    yield "|---|---|"
    yield f"| statements, and in machine code on the CPU | {size:.1f}, {sum(blocks.compiled) / n:.1f} |"
    yield f"| claims that all are needed | {blocks.minimal} of {n} |"
    yield f"| launches, for the batch | {blocks.launches} |"
    yield f"| steps tried | {blocks.steps / n:,.0f} |"
    yield f"| barriers | {blocks.barriers / n:,.0f} |"
    yield f"| read and written by a block | {moved / n / 2**20:,.0f} MiB |"
    yield ""
    yield (
        f"Compiled for sm_90: {kernel.threads} threads a block, {kernel.registers} registers a thread, {kernel.stack}"
        f" bytes of stack, {kernel.shared} bytes shared, {kernel.barriers} barriers in its code; one block a"
        " multiprocessor."
    )
    yield ""
    yield f"| the tensor code: observing, and the rounded proofs of a batch of {m} | an image |"
    yield "|---|---|"
    yield f"| statements | {of_batch:.1f} |"
    yield f"| kernels | {kernels:,.0f}, and {tensors.shared_kernels:,} for the batch, however large |"
    yield f"| synchronisations | {waits:,.1f}, and {tensors.shared_synchronisations:,} for the batch |"
    yield f"| read and written | {tensors.moved / m / 2**20:,.0f} MiB |"
    yield ""
    yield f"| on paper, an H100, a batch of {PROCESSORS} images of {of_batch:.1f} statements | |"
    yield "|---|---|"
    yield f"| a block's search | {1e3 * search:.1f} ms |"
    yield f"| the search, {PROCESSORS} blocks at a time | {1e3 * search / PROCESSORS:.2f} ms an image |"
    yield f"| the tensor code: launches by the host | {1e3 * host:.2f} ms an image |"
    yield f"| the tensor code: bytes | {1e3 * memory:.2f} ms an image |"
    yield f"| images a second | {per_second:,.0f} |"
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the trained heads")
    parser.add_argument("--heads", default="protopnet", help="heads with max pooling, separated by commas")
    parser.add_argument("--images", type=int, default=2, help="searched in blocks: the first ones of each head")
    parser.add_argument("--batch", type=int, default=6, help="proved in one batch: the first ones of each head")
    parser.add_argument("--out", type=Path, help="the page")
    options = parser.parse_args()
    lines = list(header())
    spawn = multiprocessing.get_context("spawn")
    for name in options.heads.split(","):
        os.environ["TRITON_INTERPRET"] = "1"
        with ProcessPoolExecutor(1, mp_context=spawn) as process:
            blocks = process.submit(searched, name, options.data, options.images).result()
        del os.environ["TRITON_INTERPRET"]
        with ProcessPoolExecutor(1, mp_context=spawn) as process:
            tensors = process.submit(proved, name, options.data, options.batch).result()
            kernel = process.submit(compiled_for_gpu, name, options.data).result()
        lines += page(name, blocks, tensors, kernel)
    text = "\n".join(lines)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
