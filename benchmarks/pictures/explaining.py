"""Explain some pictures of a network in a process of its own; run by `benchmarks.pictures`.

    python -m benchmarks.pictures.explaining FOLDER WAY START STOP PARADIGM

WAY is `latents`, from what float32 gives on this machine; or `real` or `float32`, from the picture.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.pictures.auditing import peak_memory
from verale.bounds.network import LatentRanges
from verale.certificate import Certificate
from verale.head import Head, load_latents
from verale.runs.seen import SeenPictures
from verale.search import SearchOptions
from verale.search.batches import Batches
from verale.search.through import ThroughNetwork

__all__ = ["main"]


@dataclass(frozen=True, eq=False)
class _Timed(ThroughNetwork):
    """Keeps what the last box took, and its greatest width."""

    last: dict[str, float] = field(default_factory=dict)

    def ranges(self, picture: Tensor) -> LatentRanges:
        start = time.process_time()
        found = super().ranges(picture)
        width = float((found.ends.upper - found.ends.lower).max())
        self.last.update(box=time.process_time() - start, width=width)
        return found


def main(folder: Path, way: str, start: int, stop: int, paradigm: str) -> None:
    """Write a certificate or a reason, and a line of numbers, for each of the pictures from `start` on."""
    torch.set_num_threads(1)
    head = Head.load(folder / "head.safetensors")
    if way == "latents":
        given, through = load_latents(folder / "latents.safetensors")[start:stop], None
    else:
        seen = SeenPictures.load(folder / "network.safetensors", folder / "pictures.safetensors")
        given = seen.pictures[start:stop]
        through = _Timed(seen.through.network, "real" if way == "real" else "float32")
    batches = Batches(head, given, SearchOptions(paradigm, batch=1), through)
    if stop - start > 1:
        batches.explain_images(batches.images[:1])  # imports what has to be imported
    with (folder / way / f"explained-{start:06}.jsonl").open("w") as lines:
        for number, image in enumerate(batches.images, start):
            begin = time.process_time()
            (result,) = batches.explain_images(image[None])
            row: dict[str, Any] = {"image": number, "seconds": time.process_time() - begin}
            if through is not None:
                row |= through.last
            explanation = result.explanation
            if isinstance(explanation, Certificate):
                explanation.save(folder / way / f"{number:06}.ale.json")
                row["size"] = explanation.size
            else:
                row["reason"] = explanation.reason
            lines.write(json.dumps(row | {"memory": peak_memory()}) + "\n")


if __name__ == "__main__":
    _folder, _way, _start, _stop, _paradigm = sys.argv[1:]
    main(Path(_folder), _way, int(_start), int(_stop), _paradigm)
