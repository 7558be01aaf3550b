"""Backbones of torchvision and timm: which are exported, and what it takes to explain a picture and to prove it.

    python -m benchmarks.backbones [--size 64] [--arithmetic float32] [--kernel KERNEL] [--limit SECONDS] [NAME...]

Weights are random; statistics of batch normalisation are those of random pictures, so that numbers keep the sizes that
trained networks have. A head of cosines has patches of the network's own latents as prototypes. A row has the layers of
the file, processor seconds and peak memory of `verale explain` and `verale audit`, the start of Python included, and
the verdict: an audit by the reading says how wide the box of the latents is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

__all__ = ["BACKBONES", "main"]

BACKBONES = {
    **dict.fromkeys(("resnet18", "resnet34", "resnet50"), "layer4"),
    **dict.fromkeys(("vgg16", "densenet121", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small"), "features"),
    **dict.fromkeys(("efficientnet_b0", "convnext_tiny", "squeezenet1_1"), "features"),
    "mnasnet1_0": "layers",
    "shufflenet_v2_x0_5": "conv5",
    "regnet_y_400mf": "trunk_output",
}
"""The models of torchvision that are tried without a name, and the layer that gives the latents. Any other model of
torchvision is tried up to `features`; `timm:NAME` is one of timm, up to its last feature map."""
_PICTURES, _CALIBRATING = 3, 48


def _module(name: str) -> tuple[Any, str | None]:
    """The module of a name, and its layer."""
    if name.startswith("timm:"):
        import timm

        return timm.create_model(name.removeprefix("timm:"), pretrained=False, num_classes=0, global_pool=""), None
    import torchvision

    return torchvision.models.get_model(name, weights=None), BACKBONES.get(name, "features")


def _calibrated(module: Any, size: int) -> None:
    """Take the statistics of batch normalisation of random pictures."""
    import torch

    for each in module.modules():
        if isinstance(each, torch.nn.BatchNorm2d):
            each.momentum = None
    module.train()
    with torch.no_grad():
        module(torch.randn(_CALIBRATING, 3, size, size))
    module.eval()


def _prepared(name: str, size: int, folder: Path) -> tuple[str, int, float]:
    """Write head, network and a picture; the refusal or nothing, the layers of the file, the seconds of the export."""
    import torch

    import verale
    from verale.adapters.freezing import export_network
    from verale.errors import VeraleError
    from verale.head import as_patches
    from verale.network import pictures_file

    torch.manual_seed(0)
    module, layer = _module(name)
    _calibrated(module, size)
    begun = time.process_time()
    try:
        network = export_network(module, layer, (3, size, size), (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    except VeraleError as error:
        return str(error), 0, 0.0
    taken = time.process_time() - begun
    pictures = torch.randint(0, 256, (_PICTURES, *network.shape), dtype=torch.uint8)
    points = as_patches(network.latents(pictures))[:, :2].flatten(0, 1).float()
    weight = torch.eye(_PICTURES).repeat_interleave(len(points) // _PICTURES, 1)
    verale.Head(8 * weight, verale.Cosine(), verale.Identity(), points).save(folder / "head.safetensors")
    network.save(folder / "network.safetensors")
    (folder / "pictures.safetensors").write_bytes(pictures_file(pictures[:1]))
    return "", len(network.layers), taken


def _run(folder: Path, *arguments: str) -> tuple[str, float, int]:
    """What a command prints, its processor seconds, and its peak memory in MB."""
    with (folder / "output").open("w+") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "verale", *arguments], cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
        _, _, used = os.wait4(process.pid, 0)
        output.seek(0)
        return output.read(), used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def _row(name: str, options: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with ProcessPoolExecutor(1, get_context("spawn")) as apart:  # or its memory would count as that of commands
            refusal, layers, exported = apart.submit(_prepared, name, options.size, folder).result()
        if refusal:
            return f"| {name} | | | | | | | {refusal} |"
        inputs = ("--network", "network.safetensors", "--images", "pictures.safetensors")
        computed = ("--arithmetic", options.arithmetic)
        said, found, most = _run(folder, "explain", "--head", "head.safetensors", *inputs, *computed, "--out", "out")
        row = f"| {name} | {layers} | {exported:.1f} | {found:.1f} | {most} |"
        if not list((folder / "out").glob("*.ale.json")):
            return f"{row} | | {' '.join(said.split())} |"
        asked = ("--kernel", options.kernel, "--limit", str(options.limit))
        said, taken, most = _run(folder, "audit", "out", *inputs, *asked)
        verdict = next((line for line in said.splitlines() if ".ale.json" in line), said)
        return f"{row} {taken:.1f} | {most} | {' '.join(verdict.split())} |"


def main(arguments: list[str] | None = None) -> None:
    """Print the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of torchvision, or timm:NAME; by default some")
    parser.add_argument("--size", type=int, default=64, help="rows and columns of the pictures")
    parser.add_argument("--arithmetic", default="real", help="as `verale explain` takes it")
    parser.add_argument("--kernel", default="proved-or-arb", help="as `verale audit` takes it")
    parser.add_argument("--limit", type=float, default=30, help="as `verale audit` takes it")
    options = parser.parse_args(arguments)
    print("| model | layers | export s | explain s | MB | audit s | MB | verdict, or why there is none |")
    print("|---|---:|---:|---:|---:|---:|---:|---|", flush=True)
    for name in options.names or BACKBONES:
        print(_row(name, options), flush=True)


if __name__ == "__main__":
    main()
