"""Coverage-guided fuzzing of the checker, readers and kernels included; `tests/support/fuzzing.py` says what must hold.

    PYTHONPATH=tests python -m support.fuzz FOLDER [libFuzzer's options, such as -max_total_time=20]

FOLDER gets the seeds and keeps what was found. Needs the extra `fuzz`.
"""

from __future__ import annotations

import hashlib
import random
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["verale"]):
    from support import fuzzing

    import verale.checker.arb
    import verale.checker.series  # noqa: F401

OPTIONS = {"max_len": 8192, "mutate_depth": 3, "timeout": 20, "rss_limit_mb": 2048}


def mutated(data: bytes, largest: int, seed: int) -> bytes:
    """One mutation in eight is libFuzzer's own: most of those are told apart by the JSON reader already."""
    found = fuzzing.varied(data, random.Random(seed)) if seed % 8 else None
    return atheris.Mutate(data, largest) if found is None or len(found) > largest else found


def main() -> None:
    folder, *options = sys.argv[1:]
    Path(folder).mkdir(parents=True, exist_ok=True)
    for seed in fuzzing.seeds():
        Path(folder, hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    named = {option.split("=")[0].lstrip("-") for option in options}
    options += [f"-{name}={value}" for name, value in OPTIONS.items() if name not in named]
    atheris.Setup([sys.argv[0], folder, *options], fuzzing.judge, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
