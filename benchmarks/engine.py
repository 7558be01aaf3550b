"""The cost of the Ray engine compared with the same work in one process: images and certificates a second.

    python -m benchmarks.engine --head demo --images 300 --workers 1,2
    python -m benchmarks.engine --head protopnet --data DATA --images 64 --workers 1,2

Wall seconds include the start of the workers, but not of Ray itself. Certificates are compared byte for byte with those
of one process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import environment
from verale.head import Head, save_latents
from verale.runs.audit import AuditSetup, audit_groups
from verale.runs.explain import open_run
from verale.runs.options import RunOptions
from verale.runs.workers.ray import start_ray
from verale.search import SearchOptions


def subject(name: str, data: Path, images: int) -> tuple[Head, Tensor]:
    """A head and so many latents; the available ones are repeated in order."""
    if name == "demo":
        from verale.adapters.cabrnet import load_head
        from verale.demo.network import RUN, load_images, load_network

        head, latents = load_head(RUN), load_network().latents(load_images().images).float()
    else:
        from benchmarks.heads import build

        built = build(name, data, images)
        head, latents = built.head, built.latents
    return head, latents.repeat(-(-images // len(latents)), *[1] * (latents.dim() - 1))[:images]


def measure(head: Head, latents: Tensor, folder: Path, workers: list[int]) -> Iterator[tuple[str, str, float]]:
    """Rows: the work, who did it, and the wall seconds spent."""
    head.save(folder / "head")
    save_latents(folder / "latents", latents)
    audit = AuditSetup(str(folder / "head"), str(folder / "latents"))
    expected: list[bytes] = []
    for number in (0, *workers):
        by, out = f"Ray, {number}" if number else "one process", folder / str(number)
        how = RunOptions(number, engine="ray") if number else RunOptions(1)
        with start_ray(number) if number else nullcontext():  # so that its start is not measured
            clock = time.perf_counter()
            with open_run(out, head, latents, SearchOptions("projection"), how=how) as run:
                list(run)
            yield "explain", by, time.perf_counter() - clock
            paths = sorted(map(str, out.glob("*.ale.json")))
            certificates = [Path(path).read_bytes() for path in paths]
            if certificates != (expected := expected or certificates):
                raise SystemExit(f"{by}: the certificates differ from those of one process")
            clock = time.perf_counter()
            if any(one.exit_code for one in audit_groups([(paths, audit)], how)):
                raise SystemExit(f"{by}: a certificate was not proved")
            yield "audit", by, time.perf_counter() - clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--head", default="demo", help="demo, or one of benchmarks.heads")
    parser.add_argument("--data", type=Path, default=Path("data"), help="trained heads and latents (default data)")
    parser.add_argument("--images", type=int, default=300, help="number of images (default 300)")
    parser.add_argument("--workers", default="1,2", help="numbers of workers, comma separated (default 1,2)")
    given = parser.parse_args()
    torch.set_num_threads(1)
    head, latents = subject(given.head, given.data, given.images)
    print(f"{given.head}, {len(latents)} images")
    print("\n".join(environment.listed(environment.describe())))
    print("\n| work | by | wall s | a second of wall |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measure(head, latents, Path(folder), [int(each) for each in given.workers.split(",")]))
    for work, by, seconds in sorted(rows, key=lambda row: row[0] != "explain"):
        print(f"| {work} | {by} | {seconds:.1f} | {len(latents) / seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
