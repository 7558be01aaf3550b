"""The tables of a run, in Markdown."""

from __future__ import annotations

import io
import statistics
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks import machine
from benchmarks.cifar10.explaining import MASSES, SPATIAL, Line, read_facts, read_lines
from benchmarks.environment import describe

__all__ = ["report"]

_PARADIGMS = tuple(dict.fromkeys((*SPATIAL, *MASSES)))


def report(names: Sequence[str], runs: Path, command: str) -> tuple[str, bool]:
    """The tables of all models in Markdown, and whether every certificate was proved."""
    lines = [
        line
        for name in names
        for paradigm in _PARADIGMS
        if (path := runs / name / f"{paradigm}.csv").is_file()
        for line in read_lines(path)
    ]
    emitted = [line for line in lines if line.outcome == "certificate"]
    proved = sum(line.verdict == "PROVED" for line in emitted)
    facts = [read_facts(path) for name in names if (path := runs / name / "facts.csv").is_file()]
    hardware = io.StringIO()
    with redirect_stdout(hardware):
        machine.main()
    missing = [
        f"{name} {paradigm}"
        for name in names
        for paradigm in (MASSES if name == "pipnet" else SPATIAL)
        if not (runs / name / f"{paradigm}.csv").is_file()
    ]
    text = f"""# CIFAR-10: architectures trained with CaBRNet, explained from their run directories

{chr(10).join(f"- {key}: {value}" for key, value in describe().items())}
- command: `{command}`
- certificates: {len(emitted)} emitted, {proved} proved
- not measured yet: {", ".join(missing) or "nothing"}

## Models
{_models(facts)}
## Explanations
{_explanations(lines)}
Mean ± standard deviation over the images with a certificate, separately for images that the network classifies
correctly and for the others. Seconds are processor seconds of one thread, one image at a time. Relative size:
statements over possible statements, L P (top_k, sparse: P). `none`: the search has no explanation. `not tried`: the
paradigm's time was over. Date, commit and load above are those of this table; trainings and measurements are kept from
stage to stage (`RUNS/MODEL/trained.txt` says when and how a model was trained).

## This machine
```
{hardware.getvalue().strip()}
```
"""
    return text, proved == len(emitted)


def _models(facts: list[dict[str, str]]) -> str:
    rows = [
        [
            *(
                fact["model"],
                f"{100 * float(fact['accuracy']):.1f} %",
                fact["prototypes"],
                fact["patches"],
                fact["depth"],
            ),
            *(fact["training"].removeprefix("seconds: "), fact["tested"]),
            *(f"{float(fact['largest_difference']):.1e}", f"{float(fact['largest_share']):.3f}", fact["other_class"]),
        ]
        for fact in facts
    ]
    heads = ("model", "test accuracy", "P", "L", "D", "training s")
    compared = ("images compared", "largest difference of logits", "of allowed", "other class")
    return _table((*heads, *compared), rows)


def _explanations(lines: list[Line]) -> str:
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.model, line.paradigm), []).append(line)
    rows = []
    for (model, paradigm), group in groups.items():
        kinds = [[line for line in group if line.correct is correct] for correct in (True, False)]
        counts = {outcome: sum(line.outcome == outcome for line in group) for outcome in ("none", "not tried")}
        emitted = [[line for line in kind if line.outcome == "certificate"] for kind in kinds]
        proved = sum(line.verdict == "PROVED" for kind in emitted for line in kind)
        rows.append(
            [
                *(model, paradigm, " + ".join(str(len(kind)) for kind in kinds)),
                *(" + ".join(str(len(kind)) for kind in emitted), str(proved)),
                *(str(count) for count in counts.values()),
                *(_spread([line.size for line in kind]) for kind in emitted),
                *(_spread([line.share for line in kind], 100) for kind in emitted),
                *(_spread([line.seconds for line in kind]) for kind in emitted),
                _spread([line.audit_seconds for kind in emitted for line in kind]),
            ]
        )
    heads = ("model", "paradigm", "images (correct + wrong)", "emitted", "proved", "none", "not tried")
    sizes = [f"{name}, {kind}" for name in ("size", "relative %", "explain s") for kind in ("correct", "wrong")]
    return _table((*heads, *sizes, "audit s"), rows)


def _spread(values: Sequence[float | None], factor: float = 1.0) -> str:
    known = [factor * value for value in values if value is not None]
    if not known:
        return "-"
    mean = _number(statistics.fmean(known), 3)
    return mean + (f" ± {_number(statistics.stdev(known), 2)}" if len(known) > 1 else "")


def _number(value: float, digits: int) -> str:
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def _table(heads: Sequence[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
