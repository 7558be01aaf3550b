"""The cost of the Ray engine compared with the same work in one process: images and certificates a second.

    python -m benchmarks.engine --head demo --images 300 --workers 1,2
    python -m benchmarks.engine --head protopnet --data DATA --images 64 --workers 1,2

Processor seconds are those of the workers' processes while they produce parts, including the creation of the job. Wall
seconds run from the request for the first part to the published dataset, including the start of the workers but not of
Ray itself. Certificates are compared byte for byte with those of one process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import environment
from verale.datasets.certificates import packed_certificates
from verale.datasets.latents import open_latents
from verale.head import Head, save_latents
from verale.runs.audit import audit_files
from verale.runs.audit_dataset import audit_rows
from verale.runs.auditor import AuditSetup
from verale.runs.explain import open_run
from verale.runs.explain_dataset import explain_latents
from verale.runs.parts import Explainer
from verale.runs.workers.ray import Workers, start_ray
from verale.search import SearchOptions


@dataclass
class Spent:
    """Processor and wall seconds that some work took."""

    processor: float = 0.0
    wall: float = 0.0


@contextmanager
def spent(here: bool = True) -> Iterator[Spent]:
    """The seconds of the block; processor seconds only where this process does the work."""
    total, wall, processor = Spent(), time.perf_counter(), time.process_time()
    yield total
    total.wall = time.perf_counter() - wall
    if here:
        total.processor = time.process_time() - processor


def subject(name: str, data: Path, images: int) -> tuple[Head, Tensor]:
    """A head and so many latents; the available ones are repeated in order."""
    if name == "demo":
        from verale.adapters.cabrnet import load_head
        from verale.demo.network import RUN, load_images, load_network

        head, latents = load_head(RUN), load_network().latents(load_images().images)
    else:
        from benchmarks.heads import build

        built = build(name, data, images)
        head, latents = built.head, built.latents
    return head, latents.repeat(-(-images // len(latents)), *[1] * (latents.dim() - 1))[:images]


def measure(head: Head, latents: Tensor, folder: Path, workers: list[int]) -> Iterator[tuple[str, str, int, Spent]]:
    """Rows: the work, who did it, how often, and the seconds spent."""
    images = len(latents)
    head.save(folder / "head")
    save_latents(folder / "latents", latents)
    with spent() as here, open_run(folder / "here", head, latents, SearchOptions("projection")) as begun:
        list(begun)
    expected = [path.read_bytes() for path in sorted((folder / "here").glob("*.ale.json"))]
    yield "explain", "one process", images, here
    audit = AuditSetup(str(folder / "head"), str(folder / "latents"))
    for number in workers:
        with start_ray(number, device="cpu"):
            explainer, opened = Explainer(head, SearchOptions("projection")), open_latents(str(folder / "latents"))
            out = folder / f"{number}.parquet"
            with spent(here=False) as there:
                run = explain_latents(explainer, opened, str(out), Workers(number))
                there.processor = sum(part.seconds for part in run.parts())
            if [one.read() for one in packed_certificates(str(out))[0]] != expected:
                raise SystemExit(f"{number} workers: the certificates differ from those of one process")
            yield "explain", f"Ray, {number}", images, there
            with spent(here=False) as there:
                audits = audit_rows(str(out), audit, str(folder / f"{number}.report"), Workers(number))
                parts = list(audits.parts)
                audits.staged.publish(audits.total)
                there.processor = sum(part.seconds for part in parts)
            codes = [one.exit_code for part in parts for one in part.result]
            if any(codes):
                raise SystemExit(f"{number} workers: a certificate was not proved")
            yield "audit", f"Ray, {number}", len(codes), there
    with spent() as here:
        outcomes = list(audit_files(packed_certificates(str(folder / f"{workers[0]}.parquet"))[0], audit))
    yield "audit", "one process", len(outcomes), here


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
    print("\n| work | by | processor s each | to one process | wall s | a second of wall |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measure(head, latents, Path(folder), [int(each) for each in given.workers.split(",")]))
    alone = {work: took.processor / count for work, by, count, took in rows if by == "one process"}
    for work, by, count, took in sorted(rows, key=lambda row: (row[0] != "explain", row[1] != "one process")):
        each = took.processor / count
        print(
            f"| {work} | {by} | {each:.4f} | {each / alone[work]:.2f} | {took.wall:.1f} | {count / took.wall:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
