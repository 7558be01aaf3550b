"""Published configurations of CaBRNet networks, unedited and at full size: from images to audited certificates.

    python -m benchmarks.published --configs beyond_l2/configs --out benchmarks/results/published.md

CONFIGS is the folder `configs` of julsoria/beyond_l2, fetched by hand: ARCHITECTURE/DATASET with `model_arch.yml` and
`dataset.yml`. Networks have random weights, because none is published, and no pretrained ones are fetched. Their batch
normalisation has the statistics of the random images, and ProtoPool's slots are hard, as its epilogue leaves them. Then
`verale explain --checkpoint-dir ... --images ...` and `verale audit` run as a user runs them, with default options.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import nn

from benchmarks.environment import describe, listed
from benchmarks.whole import measured
from verale.adapters.cabrnet.run import ARCHITECTURE, DATASET, STATE, known_module, load_yaml
from verale.head import Head, load_latents
from verale.runs.inputs import TABLE
from verale.runs.table import read_table

__all__ = ["configurations", "main", "with_random_weights"]

_SIDE = 256
"""Rows and columns of an image, before the configuration's own steps."""

_HEADER = (
    "| architecture | data set | backbone | prototypes | classes | latents | sizes | explain, s | processor s | GiB |"
    " audit, s | processor s | GiB | proved |",
    "|---|---|---|---:|---:|---|---|---:|---:|---:|---:|---:|---:|---:|",
)


def configurations(folder: Path) -> list[Path]:
    """The folders of configurations, ARCHITECTURE/DATASET, in order."""
    return sorted(path.parent for path in folder.glob(f"*/*/{ARCHITECTURE}"))


def images(folder: Path, count: int) -> None:
    """Random images: coarse patterns of different colours, enlarged."""
    generator = torch.Generator().manual_seed(0)
    for number in range(count):
        coarse = torch.randint(256, (8, 8, 3), generator=generator, dtype=torch.uint8)
        Image.fromarray(coarse.numpy()).resize((_SIDE, _SIDE), Image.Resampling.BICUBIC).save(folder / f"{number}.png")


def with_random_weights(configuration: Path, run: Path) -> None:
    """Make a run directory: the configuration's own files and the state of its network with random weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from cabrnet.archs.generic.model import CaBRNet
        from loguru import logger

    logger.disable("cabrnet")
    run.mkdir()
    for name in (ARCHITECTURE, DATASET):
        shutil.copyfile(configuration / name, run / name)
    architecture: dict[str, Any] = load_yaml(run / ARCHITECTURE)
    architecture["extractor"]["backbone"]["weights"] = "None"
    for section in ("top_arch", "classifier", "similarity"):
        part = architecture[section]
        module = known_module(section, part.get("module", "cabrnet.core.utils.similarities"), part["name"])
        if module is not None:
            part["module"] = module
    torch.manual_seed(0)
    model = CaBRNet.build_from_config(architecture)
    _normalise(model.get_submodule("extractor"))
    state = model.state_dict()
    slots = state.get("classifier.proto_slot_map")
    if slots is not None:
        state["classifier.proto_slot_map"] = torch.zeros_like(slots).scatter_(1, slots.argmax(1, keepdim=True), 1.0)
    torch.save(state, run / STATE)


def _normalise(extractor: nn.Module) -> None:
    """Give batch normalisation the statistics of random images: random layers alone saturate the last activation."""
    for module in extractor.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
    with torch.no_grad():
        extractor.train()(torch.randn(4, 3, 224, 224))


def _row(configuration: Path, pictures: Path, folder: Path) -> tuple[str, bool]:
    """A line of the table, and whether every image was explained and proved."""
    run, out = folder / "run", folder / "out"
    with_random_weights(configuration, run)
    given = ["--checkpoint-dir", str(run), "--images", str(pictures), "--out", str(out), "--device", "cpu"]
    backbone = load_yaml(run / ARCHITECTURE)["extractor"]["backbone"]["arch"]
    names = [configuration.parent.name, configuration.name, backbone]
    stages = [measured(f"{_name(configuration)} explain", ["explain", *given], folder / "stdout")]
    if stages[0].code == 0:
        stages.append(measured("audit", ["audit", str(out)], folder / "verdicts"))
    if any(stage.code for stage in stages):
        return "| " + " | ".join([*names, *[""] * 10, f"exit {stages[-1].code} of {stages[-1].name}"]) + " |", False
    cells = [*names, *_sizes(out)]
    for stage in stages:
        cells += [f"{stage.wall:.0f}", f"{stage.processor:.0f}", f"{stage.resident / 2**30:.1f}"]
    proved = sum(line.startswith("PROVED ") for line in (folder / "verdicts").read_text().splitlines())
    expected = len(list(pictures.iterdir()))
    return "| " + " | ".join([*cells, f"{proved} of {expected}"]) + " |", proved == expected


def _sizes(out: Path) -> list[str]:
    """Prototypes, classes, the shape of an image's latents and the statements of each explanation."""
    head = Head.load(out / "head.safetensors")
    sizes = [str(row.size) for row in read_table(out / TABLE)]
    shape = " x ".join(str(size) for size in load_latents(out / "latents.safetensors").shape[1:])
    return [str(head.size), str(head.classes), shape, ", ".join(sizes)]


def _page(rows: Sequence[str], facts: dict[str, str]) -> str:
    return "\n".join([
        "# Published configurations, from images to audits",
        "",
        f"Written by `python -m benchmarks.published {' '.join(sys.argv[1:])}`; see `benchmarks/README.md`.",
        "",
        *listed(facts),
        "",
        *_HEADER,
        *rows,
        "",
        "Seconds on the clock and of the processor, and the greatest memory, of `verale explain` and of `verale audit`,"
        " each with its start, for all images of a row. Latents are channels x rows x columns. Weights are random, so"
        " sizes say nothing about trained networks.",
    ]) + "\n"  # fmt: skip


def main() -> int:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(prog="benchmarks.published", description="Published configurations, to audits.")
    parser.add_argument("--configs", type=Path, required=True, help="the folder configs of beyond_l2")
    parser.add_argument("--only", default="", help="some of ARCHITECTURE/DATASET, comma separated (default all)")
    parser.add_argument("--images", type=int, default=2, help="random images a network (default 2)")
    parser.add_argument("--out", type=Path, help="file for the page")
    args = parser.parse_args()
    only = args.only.split(",")
    chosen = [path for path in configurations(args.configs) if not args.only or _name(path) in only]
    if not chosen:
        parser.error(f"{args.configs} holds no ARCHITECTURE/DATASET/{ARCHITECTURE}, or none of --only")
    facts, rows, well = describe(), [], True
    for configuration in chosen:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            (folder / "images").mkdir()
            images(folder / "images", args.images)
            row, proved = _row(configuration, folder / "images", folder)
        rows.append(row)
        well = well and proved
        text = _page(rows, facts)
        if args.out:
            args.out.write_text(text, encoding="utf-8")
    print(text)
    return 0 if well else 1


def _name(configuration: Path) -> str:
    return f"{configuration.parent.name}/{configuration.name}"


if __name__ == "__main__":
    sys.exit(main())
