"""Where and when a measurement ran."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["describe", "listed"]

ROOT = Path(__file__).resolve().parents[1]


def describe(device: str = "cpu") -> dict[str, str]:
    """Date, processor, versions, threads, load of the machine, commit."""
    import torch  # what only reads a file of this package's attacks does not need it

    facts = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": f"{_processor()}, {os.cpu_count()} cores",
        "torch": f"{torch.__version__}, {torch.get_num_threads()} thread(s)",
        "python": platform.python_version(),
        "commit": _commit(),
        "load average at start": ", ".join(f"{x:.2f}" for x in os.getloadavg()),
    }
    if device != "cpu":
        name = torch.cuda.get_device_name(device) if device.startswith("cuda") else device
        facts["device"] = name
    return facts


def listed(facts: Mapping[str, object]) -> list[str]:
    """Facts as the lines of a list in Markdown, as pages of results begin."""
    return [f"- {name}: {value}" for name, value in facts.items()]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    name = next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), platform.machine())
    model = next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model\t")), "")
    return f"{name} (model {model})" if model else name


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=20
        ).stdout.strip()

    try:
        changed = git("status", "--short", "--", ".", ":!benchmarks/results")  # pages that were made say nothing else
        return git("rev-parse", "--short", "HEAD") + (", with uncommitted changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
