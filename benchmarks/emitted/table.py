"""The table of a run, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from benchmarks.environment import listed
from verale.soundness.combinations import CYCLE, TOLERANCES, combinations, draw, searches

__all__ = ["emitted_of", "table"]

_COLUMNS = ("emitted", "unproved", "minimal", "unexplained")


def emitted_of(record: dict[str, Any]) -> int:
    """How many certificates a case emitted."""
    return sum(emitted for emitted, _, _ in record["searches"].values())


def table(records: list[dict[str, Any]], header: dict[str, Any], facts: dict[str, str]) -> str:
    """The table of some cases.

    Args:
        records: of the cases, in order.
        header: what they depend on.
        facts: where and when they ran.
    """
    seconds = sum(record["seconds"] for record in records)
    total, unproved = sum(map(emitted_of, records)), sum(len(record["unproved"]) for record in records)
    turns = len(records) // len(combinations())
    lines = [
        "# Emitted certificates of random heads, audited",
        "",
        "Written by `python -m benchmarks.emitted`; see `benchmarks/README.md`.",
        "",
        f"**{unproved} unproved of {total:,} emitted.** Each certificate was audited with its latents, and its",
        f"minimality where it claims that. {_both(records):,} were audited by both kernels, the others by arb.",
        "",
        f"- {len(records):,} heads: {turns} of each of the {len(combinations())} admissible combinations of geometry,"
        f" similarity, pooling and readout. {CYCLE} of a combination have every tolerance with and without a bias, and"
        " with and without a scale or peak",
        f"- coverage: {_coverage(records)}",
        f"- {header['images']} images a head; at most C = {_most(records, 0)}, P = {_most(records, 1)},"
        f" L = {_most(records, 2)}, D = {_most(records, 3)}",
        f"- {seconds:,.0f} processor seconds, {total / max(seconds, 1e-9):.0f} certificates a second",
        *listed(facts | header),
        "",
    ]
    for title, counts in _counted(records).items():
        lines += [f"| {title} | {' | '.join(_COLUMNS)} |", "|---|" + "---:|" * len(_COLUMNS)]
        lines += [f"| {name} | {' | '.join(f'{n:,}' for n in row)} |" for name, row in counts.items()]
        lines.append("")
    reasons = sum((Counter(record["reasons"]) for record in records), Counter[str]())
    lines += ["| why an image has no certificate | images |", "|---|---:|"]
    lines += [f"| {reason} | {count:,} |" for reason, count in reasons.most_common()]
    wrong = [
        f"- case {record['case']} ({record['combination']}, tolerance {record['tolerance']}), {line}"
        for record in records
        for line in record["unproved"]
    ]
    lines += ["", "## Unproved", "", *(wrong[:100] or ["none"])]
    if len(wrong) > 100:
        lines.append(f"- and {len(wrong) - 100:,} more")
    return "\n".join(lines) + "\n"


def _both(records: Iterable[dict[str, Any]]) -> int:
    return sum(emitted_of(record) for record in records if record["kernel"] == "both")


def _most(records: Iterable[dict[str, Any]], index: int) -> int:
    return max(int(record["sizes"][index]) for record in records)


def _coverage(records: list[dict[str, Any]]) -> str:
    """How many of the things to cover have a certificate, and which have none."""
    kinds = {
        str(combination): [" ".join(search) for search in searches(draw(combination, 0, 1).head)]
        for combination in combinations()
    }
    wanted = {
        (combination, search, tolerance)
        for combination, found in kinds.items()
        for search in found
        for tolerance in TOLERANCES
    }
    have = {
        (record["combination"], search, record["tolerance"])
        for record in records
        for search, (emitted, _, _) in record["searches"].items()
        if emitted
    }
    pairs, covered = {cell[:2] for cell in wanted}, {cell[:2] for cell in have}
    said = (
        f"{len(covered):,} of {len(pairs):,} pairs of a combination and a paradigm with its order have a certificate;"
        f" with each tolerance {len(have):,} of {len(wanted):,}"
    )
    missing = sorted(wanted - have)
    listed = ", ".join(f"{combination} {search} at {tolerance}" for combination, search, tolerance in missing[:5])
    return f"{said} (none: {listed}{', ...' if len(missing) > 5 else ''})" if missing else said


def _counted(records: list[dict[str, Any]]) -> dict[str, dict[str, list[int]]]:
    """Numbers in the order of the columns, by what they are counted by and its value."""
    counted: dict[str, dict[str, list[int]]] = {}
    for record in records:
        parts = dict(zip(("geometry", "similarity", "pooling", "readout"), record["combination"].split(), strict=True))
        head = parts | {"tolerance": str(record["tolerance"])}
        head |= {f"with a {name}": "yes" if name in record["also"] else "no" for name in ("bias", "scale", "peak")}
        head |= {"domain": _domain(record["also"])}
        for search, (emitted, minimal, unexplained) in record["searches"].items():
            paradigm, order = search.split()
            unproved = sum(line.startswith(search) for line in record["unproved"])
            for title, value in (head | {"paradigm": paradigm, "order": order}).items():
                row = counted.setdefault(title, {}).setdefault(value, [0] * len(_COLUMNS))
                for column, number in enumerate((emitted, unproved, minimal, unexplained)):
                    row[column] += number
    return counted


def _domain(also: list[str]) -> str:
    ends = sum(name in also for name in ("lower", "upper"))
    box = ("unbounded", "one end", "a box")[ends]
    return f"{box}, a ball" if "radius" in also else box
