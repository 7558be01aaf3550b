"""What commands share: JSON, the log, and the extra that brings a module."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping

__all__ = ["EXTRA_OF", "log_to_stderr", "print_record"]

EXTRA_OF = {
    **dict.fromkeys(("torch", "numpy", "safetensors", "scipy", "threadpoolctl", "PIL", "yaml"), "explain"),
    **dict.fromkeys(("cabrnet", "torchvision", "loguru"), "cabrnet"),
    **dict.fromkeys(("jinja2", "matplotlib", "pandas", "pyarrow"), "report"),
    "z3": "soundness",
    "onnx": "vnnlib",
    **dict.fromkeys(("ray", "fsspec"), "ray"),
}
"""For each module, the extra that brings it."""


def print_record(kind: str, record: Mapping[str, object]) -> None:
    """Print a result as one line of JSON, whose first field says what it is: `urn:verale:KIND:v1`."""
    from verale.checker.output import print_line

    print_line(json.dumps({"_type": f"urn:verale:{kind}:v1", **record}))


class _Lines(logging.Handler):
    """Prints each record of the log on stderr, as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        from verale.checker.output import print_line

        print_line(self.format(record), sys.stderr)


def log_to_stderr(level: int, form: str) -> None:
    """Send verale's log to stderr, from a level on, in a format of `logging`."""
    handler = _Lines()
    handler.setFormatter(logging.Formatter(form))
    log = logging.getLogger("verale")
    log.handlers = [handler]
    log.setLevel(level)
