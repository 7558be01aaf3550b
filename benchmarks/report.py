"""The time, the memory and the bytes of a report of many images, beside another commit; and how a browser opens it.

    python -m benchmarks.report [--counts 500,2000,20000] [--against HEAD~1] [--browser] [--images] [--list]
                                [--out PAGE.md]

The images are the 50 of the packaged demonstration with noise added to their latents, 500 in all, each explained; a
folder of more has the certificates and latents of these again, under other numbers. Nothing gains by that: a page holds
each of them by its own name, and what is deflated together are images that differ. Each report is `verale report
--no-audit` in a process of its own, of which the processor seconds and the greatest memory are taken; the two trees
take turns. `certificates read` is the floor: a process that reads every certificate once. `--images` gives each image a
file of 224 x 224 pixels of clouds of noise, which compress about as well as a photograph. `--browser` needs the
group `test`, and a Chromium; of what it does with the list, the least of several times counts. `--list` leaves out the
head, so that no certificate is told in points: a browser's list is the same, and is written in a minute.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from PIL import Image

from benchmarks.against import unpack
from benchmarks.environment import ROOT, describe, listed
from verale.adapters.cabrnet import load_head
from verale.certificate import Certificate
from verale.demo.network import RUN, load_images, load_network
from verale.files import certificate_name
from verale.head import save_latents
from verale.search.explain import explain

SIDE = 224
DISTINCT = 500
NOISE = 0.05
MIXED = 8
"""One image in so many is explained by `mixed`, as many as `readable` keeps of these; the others by `top_k`."""
READ = "import sys, pathlib\nfor path in pathlib.Path(sys.argv[1]).glob('*.ale.json'): path.read_bytes()"
"""What reads every certificate once."""
LAUNCH = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(child, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command and prints its processor seconds and its greatest memory in MB. A process of its own, and a small one,
because Linux counts what the starting process has as the started one's."""


LIST = """async (rounds) => {
  const least = {}, box = document.getElementById("f-text"), view = document.getElementById("table");
  const take = async (name, act) => {
    const start = performance.now();
    act();
    view.getBoundingClientRect();
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
    least[name] = Math.min(least[name] ?? Infinity, (performance.now() - start) / 1000);
  };
  const type = (text) => () => { box.value = text; box.dispatchEvent(new Event("input", { bubbles: true })); };
  for (let round = 0; round < rounds; round++) {
    await take("searched, s", type("7"));
    await take("search cleared, s", type(""));
    await take("sorted, s", () => document.querySelector('[data-sort="why"]').click());
    await take("turned, s", () => turn((round + 1) % 2));
    await take("scrolled, s", () => window.scrollTo({ top: 4000 * ((round + 1) % 2), behavior: "instant" }));
  }
  return least;
}"""
"""What takes each action on the list, until it is painted: the least of some rounds."""
ROUNDS = 7


@dataclass(frozen=True)
class Cost:
    """What a process took: processor seconds, and its greatest memory in MB."""

    seconds: float
    memory: float


def cost(command: Sequence[str], package: Path) -> Cost:
    """Run a command with the package of a tree. Raises SystemExit if it fails."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "MKL", "OPENBLAS")}
    environment = {**os.environ, **threads, "PYTHONPATH": str(package)}
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, *command], env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: ended with {done.returncode}")
    seconds, memory = map(float, done.stdout.split())
    return Cost(seconds, memory)


def prepare(folder: Path) -> tuple[torch.Tensor, list[bytes]]:
    """Latents and certificates of the distinct images; the head's file is written."""
    head = load_head(RUN)
    head.save(folder / "head.safetensors")
    latents = load_network().latents(load_images().images).float()
    noisy = latents.repeat(DISTINCT // len(latents), 1, 1, 1)
    noise = NOISE * torch.randn(noisy.shape, generator=torch.Generator().manual_seed(0))
    noisy = (noisy * (1 + noise)).clamp(0, 1)  # the domain of the demonstration's head
    top = explain(head, noisy, paradigm="top_k")
    mixed = explain(head, noisy[::MIXED], paradigm="mixed")
    explained = [mixed[index // MIXED] if index % MIXED == 0 else each for index, each in enumerate(top)]
    return noisy, [each.to_bytes() for each in explained if isinstance(each, Certificate)]


def cloud(generator: np.random.Generator) -> Image.Image:
    """An image with detail of every size."""
    total = np.zeros((SIDE, SIDE, 3))
    for cells in (4, 8, 16, 32, 64, 112):
        noise = generator.integers(0, 256, (cells, cells, 3), dtype=np.uint8)
        total += np.asarray(Image.fromarray(noise).resize((SIDE, SIDE), Image.Resampling.BICUBIC), float) / cells
    return Image.fromarray((255 * (total - total.min()) / (total.max() - total.min())).astype(np.uint8))


def write(
    folder: Path, latents: torch.Tensor, certificates: list[bytes], count: int, images: bool, with_head: bool
) -> None:
    """Write so many certificates, with head and latents if there is to be a head, and an image for each if there are to
    be images."""
    folder.mkdir()
    if with_head:
        shutil.copy(folder.parent / "head.safetensors", folder)
        save_latents(folder / "latents.safetensors", latents[torch.arange(count) % DISTINCT])
    for index in range(count):
        (folder / certificate_name(index)).write_bytes(certificates[index % DISTINCT])
    if images:
        (folder / "images").mkdir()
        generator = np.random.default_rng(0)
        for index in range(count):
            cloud(generator).save(folder / "images" / f"{index:06d}.jpg", quality=90)


def opened(page: Path) -> dict[str, float]:
    """How a browser opens a page: the seconds until the list appears, from a click until a certificate does, and of
    what is done with the list (`LIST`); and the MB that scripts have in use."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox", "--disable-gpu"])
        tab = chromium.new_page()
        start = perf_counter()
        tab.goto(f"file://{page}")
        tab.wait_for_selector("html[data-ready]", state="attached")
        ready = perf_counter() - start
        start = perf_counter()
        tab.click("a[href^='#certificate-']")
        tab.wait_for_selector("#title")
        clicked = perf_counter() - start
        tab.click(".steps a[href='#list']")
        of_list: dict[str, float] = tab.evaluate(LIST, ROUNDS)
        heap = tab.evaluate("performance.memory.usedJSHeapSize") / 2**20
        chromium.close()
    return {"opened, s": ready, "clicked, s": clicked, **of_list, "scripts, MB": heap}


def _chromium() -> str:
    """The path of a Chromium. Raises SystemExit, which says how to install one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    raise SystemExit("no chromium is installed: apt-get install chromium")


def measure(folder: Path, trees: dict[str, Path], images: bool, browser: bool, rounds: int) -> list[dict[str, object]]:
    """A row for each tree that writes the folder's page: the trees take turns, those that began come again."""
    costs: dict[str, list[Cost]] = {name: [] for name in trees}
    pages = {name: folder.parent / f"{folder.name}-{number}.html" for number, name in enumerate(trees)}
    for names in [list(trees), list(reversed(trees))] * (rounds // 2) + [list(trees)] * (rounds % 2):
        for name in names:
            command = [sys.executable, "-P", "-m", "verale", "report", str(folder), "--no-audit", "--overwrite"]
            command += ["-o", str(pages[name]), *(["--images", str(folder / "images")] if images else [])]
            costs[name].append(cost(command, trees[name]))
    floor = cost([sys.executable, "-c", READ, str(folder)], ROOT).seconds
    rows: list[dict[str, object]] = []
    for name, several in costs.items():
        rows.append(
            {
                "images": len(list(folder.glob("*.ale.json"))),
                "tree": name,
                "processor s": min(each.seconds for each in several),
                "memory, MB": max(each.memory for each in several),
                "bytes": pages[name].stat().st_size,
                "certificates read, s": floor,
                **(opened(pages[name]) if browser else {}),
            }
        )
    for row in rows:
        for column in ("processor s", "memory, MB", "bytes"):
            row[f"{column}, ratio"] = row[column] / rows[0][column]  # type: ignore[operator]
    return rows


def page(rows: Sequence[dict[str, object]], facts: dict[str, str]) -> str:
    """The table in Markdown."""
    columns = list(rows[0])
    lines = [[_cell(name, row[name]) for name in columns] for row in rows]
    table = [f"| {' | '.join(each)} |" for each in (columns, ["---"] * len(columns), *lines)]
    return "\n".join(["# A report of many images", "", *listed(facts), "", *table, ""])


def _cell(column: str, value: object) -> str:
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return (
        f"{value:.0f}"
        if column.endswith("MB")
        else f"{value:.3f}"
        if column.endswith("ratio")
        else f"{value:.3f}"
        if value < 1
        else f"{value:.2f}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__.splitlines()[0])
    parser.add_argument("--counts", default="500,2000,20000", help="numbers of images (default 500,2000,20000)")
    parser.add_argument("--against", metavar="COMMIT", help="a commit to compare with, which comes first")
    parser.add_argument("--rounds", type=int, default=2, help="how often each tree writes each page (default 2)")
    parser.add_argument("--images", action="store_true", help="give each image a file")
    parser.add_argument("--list", action="store_true", help="leave out the head: the page's list is what counts")
    parser.add_argument("--browser", action="store_true", help="open the pages too")
    parser.add_argument("--out", type=Path, help="file for the page")
    args = parser.parse_args(arguments)
    facts = describe() | {
        "compared with": args.against or "nothing",
        "command": f"python -m benchmarks.report {' '.join(sys.argv[1:] if arguments is None else arguments)}",
    }
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        trees = {"this": ROOT}
        if args.against:
            unpack(args.against, folder / "before")
            trees = {args.against: folder / "before", **trees}
        latents, certificates = prepare(folder)
        for count in map(int, args.counts.split(",")):
            write(folder / str(count), latents, certificates, count, args.images, not args.list)
            rows += measure(folder / str(count), trees, args.images, args.browser, args.rounds)
            print(page(rows, facts), flush=True)
            if args.out:  # after each count, so that an interrupted run keeps its results
                args.out.write_text(page(rows, facts), encoding="utf-8")
            shutil.rmtree(folder / str(count))


if __name__ == "__main__":
    main()
