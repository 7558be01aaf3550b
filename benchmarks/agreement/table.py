"""What came of a comparison, in Markdown."""

from __future__ import annotations

from collections import Counter

from benchmarks.agreement.tally import Tally
from benchmarks.environment import listed
from verale.soundness.compare import KINDS, NAMES

__all__ = ["table"]

_LISTED = 60
"""Certificates that are listed of a set and kind."""

_TITLES = {
    "less": "What the proved checker does not prove, and the Python checker does",
    "more": "What the proved checker proves, and the Python checker does not",
    "apart": "What cannot be compared",
}


def table(tallies: dict[str, Tally], command: str, facts: dict[str, str]) -> str:
    """The table of some sets.

    Args:
        tallies: by the name of the set.
        command: what was run.
        facts: where and when.
    """
    total = sum((Counter(tally.kinds) for tally in tallies.values()), Counter[str]())
    wrong = [line for tally in tallies.values() for line in tally.wrong]
    lines = [
        "# Agreement of the Python checker and the proved one",
        "",
        f"Written by `{command}`; see [the suite](../../docs/soundness.md).",
        "",
        f"**{total['same']:,} of {total.total():,} verdicts are the same**; the proved checker proves more of"
        f" {total['more']:,} certificates and less of {total['less']:,}. {len(wrong)} are wrong.",
        "",
        "`same`: status and reason of `arb` and `proved`; `arb` and `mpmath` have to say the same of each. Minimality",
        "is asked for too. Seconds are of the processor, with the start of an executable for each head.",
        "",
        *listed(facts),
        "",
        f"| set | certificates | {' | '.join(KINDS)} | wrong | {' | '.join(f'{n}, s' for n in NAMES)} |",
        "|---|---:|" + "---:|" * (len(KINDS) + 1 + len(NAMES)),
    ]
    for name, tally in tallies.items():
        counts = [tally.kinds.total(), *(tally.kinds[kind] for kind in KINDS), len(tally.wrong)]
        seconds = [f"{tally.seconds[kernel]:,.1f}" for kernel in NAMES]
        lines.append(f"| {name} | {' | '.join([*(f'{count:,}' for count in counts), *seconds])} |")
    lines += ["", "| set | arb | proved | certificates |", "|---|---|---|---:|"]
    for name, tally in tallies.items():
        for (python, proved), count in tally.verdicts.most_common():
            verdicts = (" ".join(each).strip() for each in (python, proved))
            lines.append(f"| {name} | {' | '.join(verdicts)} | {count:,} |")
    for kind, title in _TITLES.items():
        lines += _listed(tallies, kind, title)
    lines += ["", "## Wrong", "", *([f"- {line}" for line in wrong] or ["nothing"])]
    return "\n".join(lines) + "\n"


def _listed(tallies: dict[str, Tally], kind: str, title: str) -> list[str]:
    lines = ["", f"## {title}", ""]
    for name, tally in tallies.items():
        differences = tally.worst_first(kind)
        if differences:
            lines += [f"{name}: {len(differences):,}", "", *(f"- {each}" for each in differences[:_LISTED])]
            lines += [f"- and {len(differences) - _LISTED:,} more"] * (len(differences) > _LISTED) + [""]
    return lines if len(lines) > 3 else [*lines, "nothing"]
