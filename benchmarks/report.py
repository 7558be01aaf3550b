"""The size of a report, and the time to write it and to open it in a browser.

    python -m benchmarks.report [--counts 1,100,10000] [--max-size 128]

The certificates are the 50 of the packaged demonstration, repeated. Each has its own image of 224 x 224 pixels, clouds
of noise that compress about as well as a photograph. Verdicts are the checker's, computed once for each of the 50.
Needs the extras `report` and `test`, and a Chromium.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from PIL import Image

from verale.adapters.cabrnet import load_head
from verale.demo.network import RUN, load_images, load_network
from verale.report.collect import collect
from verale.report.page import Limits, page
from verale.report.verdicts import audited
from verale.search.explain import explain

SIDE = 224


@dataclass(frozen=True)
class Measured:
    """One report.

    Attributes:
        certificates, full: how many there are, and how many are shown in full.
        size: bytes.
        written: processor seconds to write it.
        opened: seconds from the start of the navigation until the list appears.
        clicked: seconds from a click until a certificate appears.
        filtered: seconds to filter and sort the list.
        heap: MB of memory in use by scripts.
    """

    certificates: int
    full: int
    size: int
    written: float
    opened: float
    clicked: float
    filtered: float
    heap: float


def browser() -> str:
    """The path of a Chromium. Raises SystemExit, which says how to install one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    raise SystemExit("no chromium is installed: apt-get install chromium")


def prepare(folder: Path) -> tuple[list[bytes], Path]:
    """The demonstration's certificates, as bytes, and its head's file."""
    head = load_head(RUN)
    head.save(folder / "head.safetensors")
    certificates = explain(head, load_network().latents(load_images().images))
    return [certificate.to_bytes() for certificate in certificates], folder / "head.safetensors"


def cloud(generator: np.random.Generator) -> Image.Image:
    """An image with detail of every size."""
    total = np.zeros((SIDE, SIDE, 3))
    for cells in (4, 8, 16, 32, 64, 112):
        noise = generator.integers(0, 256, (cells, cells, 3), dtype=np.uint8)
        total += np.asarray(Image.fromarray(noise).resize((SIDE, SIDE), Image.Resampling.BICUBIC), float) / cells
    return Image.fromarray((255 * (total - total.min()) / (total.max() - total.min())).astype(np.uint8))


def write(folder: Path, certificates: list[bytes], count: int) -> None:
    """Write so many certificates, and an image for each."""
    generator = np.random.default_rng(0)
    (folder / "images").mkdir(parents=True)
    for index in range(count):
        (folder / f"{index:06d}.ale.json").write_bytes(certificates[index % len(certificates)])
        cloud(generator).save(folder / "images" / f"{index:06d}.jpg", quality=90)


def measure(folder: Path, head: Path, target: Path, limits: Limits) -> Measured:
    """Write a report of the folder and open it."""
    from playwright.sync_api import sync_playwright

    collection = collect(folder, head, images=folder / "images")
    verdicts: dict[str | None, object] = {}
    for item in collection.items[:50]:
        verdicts[item.sha256] = audited(collect(str(item.path), head)).items[0].record
    collection = collection.with_records(lambda item: verdicts[item.sha256], "when this page was written")
    start = process_time()
    data = page(collection, "Benchmark", limits)
    written = process_time() - start
    target.write_bytes(data)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox", "--disable-gpu"])
        tab = chromium.new_page()
        start = perf_counter()
        tab.goto(f"file://{target}")
        tab.wait_for_selector("html[data-ready]", state="attached")
        opened = perf_counter() - start
        full = tab.evaluate("rows.full.filter((index) => index >= 0).length")
        clicked = _timed(tab, "a[href^='#certificate-']", "#title")
        tab.click(".steps a[href='#list']")
        filtered = tab.evaluate(
            "() => { const start = performance.now(); document.getElementById('f-text').value = '7';"
            " state.order = 'margin'; select(); document.body.offsetHeight;"
            " return (performance.now() - start) / 1000; }"
        )
        heap = tab.evaluate("performance.memory.usedJSHeapSize") / 2**20
        chromium.close()
    return Measured(len(collection.items), full, len(data), written, opened, clicked, filtered, heap)


def _timed(tab: object, clicked: str, until: str) -> float:
    start = perf_counter()
    tab.click(clicked)  # type: ignore[attr-defined]
    tab.wait_for_selector(until)  # type: ignore[attr-defined]
    return perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", default="1,100,10000", help="numbers of certificates (default 1,100,10000)")
    parser.add_argument("--max-size", type=float, default=128.0, help="largest page in MiB (default 128)")
    args = parser.parse_args()
    print("| certificates | shown in full | bytes | written, s | opened, s | clicked, s | filtered, s | scripts, MB |")
    print("|---|---|---|---|---|---|---|---|")
    for count in map(int, args.counts.split(",")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            certificates, head = prepare(folder)
            write(folder / "all", certificates, count)
            m = measure(folder / "all", head, folder / "report.html", Limits(int(args.max_size * 2**20)))
        print(
            f"| {m.certificates:,} | {m.full:,} | {m.size:,} | {m.written:.2f} | {m.opened:.2f}"
            f" | {m.clicked:.2f} | {m.filtered:.3f} | {m.heap:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
