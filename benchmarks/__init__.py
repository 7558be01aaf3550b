"""Benchmarks: verale beside the papers' explainers, on the same heads and latents, in the same run.

Some of them take mutants and files made by hand from `support`, the room of the tests' helpers.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
