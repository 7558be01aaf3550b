"""Somebody else's tool is asked to refute certificates: Marabou, of heads that are piecewise linear.

    python -m benchmarks.marabou --tool PATH/Marabou --images 10 --out FILE

The heads have inner products, maxima and a linear readout; prototypes and images are drawn, small, since a complete
search takes time without bound. Of each image two questions are asked: that of its certificate, to which the answer
should be unsat, and that of the same certificate without statements, of which latents of another class are an example.
Install it with `pip install maraboupy`, in an environment of its own: it wants an older numpy.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks import environment
from verale.certificate import Certificate
from verale.head import Box, Head, Identity, InnerProduct
from verale.runs.vnnlib import question_of
from verale.search.explain import explain

_CLASSES, _EACH, _DEPTH, _PATCHES = 2, 2, 3, 2


def drawn(images: int) -> tuple[Head, torch.Tensor]:
    """A head, and latents."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.full((_CLASSES, _CLASSES * _EACH), -0.5)
    for c in range(_CLASSES):
        weight[c, c * _EACH : (c + 1) * _EACH] = 1
    points = torch.rand(_CLASSES * _EACH, _DEPTH, generator=generator) * 2 - 1
    head = Head(weight, InnerProduct(), Identity(), prototypes=points, domain=Box(-1, 1))
    return head, torch.rand(images, _PATCHES, _DEPTH, generator=generator) * 2 - 1


def answer(tool: str, head: Head, certificate: Certificate, seconds: int) -> tuple[str, float]:
    """What the tool says, or `no answer`, and how long it took."""
    question = question_of(head, certificate)
    with tempfile.TemporaryDirectory() as folder:
        network, asked = Path(folder) / "asked.onnx", Path(folder) / "asked.vnnlib"
        network.write_bytes(question.onnx)
        asked.write_text(question.vnnlib, encoding="utf-8")
        began = time.perf_counter()
        try:
            done = subprocess.run([tool, network, asked], capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return "no answer", float(seconds)
        said = [line for line in done.stdout.splitlines() if line in ("sat", "unsat")]
        return said[0] if said else "no answer", time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program Marabou")
    parser.add_argument("--images", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=20, help="for each question")
    parser.add_argument("--out", type=Path, help="the page")
    options = parser.parse_args()
    head, latents = drawn(options.images)
    lines = environment.listed(environment.describe())
    lines += ["", "| paradigm | question | answers | seconds, mean and most |", "|---|---|---|---|"]
    for paradigm in ("projection", "top_k"):
        found = [each for each in explain(head, latents, paradigm) if isinstance(each, Certificate)]
        for what, asked in (
            ("its statements", found),
            ("no statements", [replace(each, statements=(), minimal=False) for each in found]),
        ):
            said = [answer(options.tool, head, each, options.seconds) for each in asked]
            counts = ", ".join(f"{text} {count}" for text, count in Counter(text for text, _ in said).items())
            took = [seconds for _, seconds in said]
            lines.append(f"| {paradigm} | {what} | {counts} | {sum(took) / len(took):.2f}, {max(took):.2f} |")
    print("\n".join(lines))
    if options.out:
        options.out.write_text("# Certificates put to Marabou\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
