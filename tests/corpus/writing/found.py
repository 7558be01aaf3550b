"""What `breaking` found, as it is stored: latents by the name of a case, as hex floats."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from verale.soundness.independent.arithmetic import Matrix

__all__ = ["found", "store"]

_FILE = Path(__file__).with_name("breaking.json")


@cache
def found() -> dict[str, Matrix]:
    """Latents by the name of a case."""
    stored = json.loads(_FILE.read_bytes()) if _FILE.exists() else {}
    return {name: [[float.fromhex(x) for x in z] for z in image] for name, image in stored.items()}


def store(images: dict[str, Matrix]) -> None:
    """Write them, a case on each line."""
    lines = [f" {json.dumps(name)}: {json.dumps([[x.hex() for x in z] for z in images[name]])}" for name in images]
    _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    found.cache_clear()
