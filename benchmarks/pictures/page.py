"""The results of `benchmarks.pictures` in Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

__all__ = ["WAYS", "page"]

WAYS = ("latents", "real", "float32")
_NAMES = {"latents": "from latents", "real": "real", "float32": "float32"}


def page(state: Path, names: Sequence[str]) -> tuple[str, bool]:
    """The page, and whether every certificate was proved."""
    found = {name: {way: _rows(state / name / way) for way in WAYS} for name in names}
    subjects = {name: json.loads((state / name / "subject.json").read_text()) for name in names}
    audited = [row for ways in found.values() for rows in ways.values() for row in rows if "status" in row]
    proved = sum(row["status"] == "PROVED" for row in audited)
    lines = [
        "# From the picture: how far it goes",
        "",
        "Written by `python -m benchmarks.pictures`; see `benchmarks/README.md`.",
        "",
        f"{len(audited):,} certificates, {proved:,} proved.",
        "",
        "## Networks",
        *_table(
            ("network", "what it is", "picture", "latents", "layers", "million products"),
            map(_subject, subjects.items()),
        ),
        "",
        "## Explanations",
        *_table(_HEADINGS, (_row(name, way, ways) for name, ways in found.items() for way in WAYS if ways[way])),
        "",
        *_EXPLANATION,
        *_reasons(found),
        "",
        "## Boxes by depth",
        *_table(_DEPTHS, (row for name, ways in found.items() for row in _widths(name, ways))),
        "",
        *_WIDTHS,
        "",
        "## Machines",
        *_machines(state, names),
    ]
    return "\n".join(lines).rstrip() + "\n", proved == len(audited)


_HEADINGS = (
    *("network", "arithmetic", "pictures", "explained", "proved", "statements", "/ from latents"),
    *("box, search s", "explain s", "MiB", "box, checker s", "audit s", "MiB"),
)
_EXPLANATION = (
    "Arithmetic `from latents`: explanations of the latents that float32 gave on that machine, without a network."
    " Statements: the mean of those explained, and its ratio to that of the same pictures from latents. Seconds: of one"
    " processor a picture, the mean; explaining contains the search's own box, an audit the checker's. That of the"
    " checker alone is measured on the first picture, with the conversion of the weights, which later pictures of a"
    " process find done where a layer has at most 2^21. MiB: the most memory of a process that explains, and of one"
    " that audits; the latter has no torch.",
    "",
)
_DEPTHS = (
    "network",
    "layer",
    "kind",
    "depth",
    "real, greatest",
    "real, median",
    "float32, greatest",
    "float32, median",
)
_WIDTHS = (
    "The checker's box of the first picture. Depth: convolutions and linear layers up to here. Widths: half of the"
    " width of an entry's interval, over the root of the mean square of the layer's entries; the greatest and the"
    " median of all entries.",
)


def _rows(folder: Path) -> list[dict[str, Any]]:
    """What was measured of each picture, by number; what explaining and auditing have in common is told apart."""
    rows: dict[int, dict[str, Any]] = {}
    for path in sorted(folder.glob("explained-*.jsonl")):
        for row in map(json.loads, path.read_text().splitlines()):
            own = {f"explain_{key}" if key in ("seconds", "memory") else key: value for key, value in row.items()}
            rows.setdefault(row["image"], {}).update(own)
    for path in sorted(folder.glob("audited-*.jsonl")):
        for row in map(json.loads, path.read_text().splitlines()):
            rows.setdefault(row["image"], {}).update(row)
    return [rows[image] for image in sorted(rows)]


def _subject(item: tuple[str, dict[str, Any]]) -> list[str]:
    name, facts = item
    shapes = [" x ".join(map(str, facts[each])) for each in ("picture", "latents")]
    return [name, facts["note"], *shapes, str(facts["layers"]), f"{facts['products'] / 1e6:,.1f}"]


def _row(name: str, way: str, ways: dict[str, list[dict[str, Any]]]) -> list[str]:
    rows = ways[way]
    sizes = {row["image"]: row["size"] for row in rows if "size" in row}
    before = {row["image"]: row["size"] for row in ways["latents"] if "size" in row}
    both = sizes.keys() & before.keys()
    proved = sum(row.get("status") == "PROVED" for row in rows)
    ratio = (
        "-" if not both or way == "latents" else f"{_mean(sizes[i] for i in both) / _mean(before[i] for i in both):.3f}"
    )
    memory = [max((row[key] for row in rows if key in row), default=0) for key in ("explain_memory", "memory")]
    return [
        *(name, _NAMES[way], f"{len(rows):,}", f"{len(sizes):,}", f"{proved:,}"),
        *(f"{_mean(sizes.values()):.2f}" if sizes else "-", ratio),
        *(_seconds(rows, "box"), _seconds(rows, "explain_seconds"), _mebibytes(memory[0])),
        *(_seconds(rows, "enclose"), _seconds(rows, "seconds"), _mebibytes(memory[1])),
    ]


def _mean(values: Iterable[float]) -> float:
    return fmean(list(values))


def _seconds(rows: list[dict[str, Any]], key: str) -> str:
    values = [row[key] for row in rows if key in row]
    return f"{fmean(values):.3g}" if values else "-"


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:,.0f}" if size else "-"


def _reasons(found: dict[str, dict[str, list[dict[str, Any]]]]) -> list[str]:
    """Why pictures are not explained, or not proved, and how often."""
    lines = []
    for name, ways in found.items():
        for way, rows in ways.items():
            reasons = Counter(row["reason"] for row in rows if "reason" in row)
            reasons.update(f"not proved: {row['message']}" for row in rows if row.get("status", "PROVED") != "PROVED")
            lines += [f"- {name}, {_NAMES[way]}, {count}: {reason}" for reason, count in reasons.most_common(3)]
    return ["Not explained:", "", *lines] if lines else []


def _widths(name: str, ways: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """Rows for the first layer, for sums of products at depths of powers of two, and for the last one."""
    traced = [next((row["widths"] for row in ways[way] if "widths" in row), []) for way in ("real", "float32")]
    longest = max(traced, key=len)
    if not longest:
        return []
    at = {each["depth"]: number for number, each in enumerate(longest) if each["kind"] in ("conv2d", "linear")}
    kept = {number for depth, number in at.items() if depth & (depth - 1) == 0} | {len(longest) - 1}
    rows = []
    for number in sorted(kept):
        each = longest[number]
        numbers = [
            f"{widths[number][key]:.1e}" if number < len(widths) else "-"
            for widths in traced
            for key in ("most", "median")
        ]
        rows.append([name, each["name"], each["kind"], str(each["depth"]), *numbers])
    return rows


def _machines(state: Path, names: Sequence[str]) -> list[str]:
    """Where, when and how each network was measured."""
    lines = []
    for name in names:
        paths = [state / name / way / "machine.json" for way in WAYS]
        facts = json.loads(next(path for path in paths if path.is_file()).read_text())
        lines.append(f"- {name}: " + "; ".join(f"{key} {value}" for key, value in facts.items()))
    return lines


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(line) + " |" for line in (heads, ["---"] * len(heads), *rows)]
