"""Whether the attack of `attacks.slack` is sharp: it refutes what checkers prove whose rules are cut.

    PYTHONPATH=tests python -m checker_mutants.teeth --one-in 8 --out benchmarks/results/attack.md

`attacks.targets` says which certificates. The cuts are of half a per cent (`CUTS`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path

import flint
import torch
from attacks.attacked import Attacked, targets
from attacks.slack import attack
from attacks.targets import KINDS, Target, of_corpora, some, verdict_of
from checker_mutants.mutant import CHECKER, injected
from support.arithmetic import PRECISION
from support.syntax import edited

__all__ = ["CUTS", "Bites", "bitten", "table"]

CUTS = {
    # Every range of an activation, by half a per cent at either end.
    "activations": (
        "reading/audit.py",
        "box = self._activations.box(self._certificate.statements, self._certificate.patches, quick)",
        """
        box = self._activations.box(self._certificate.statements, self._certificate.patches, quick)
        cuts = [(high - low) // 200 for low, high in zip(box.lower, box.upper)]
        lower = [low + cut for low, cut in zip(box.lower, cuts)]
        box = type(box)(lower, [high - cut for high, cut in zip(box.upper, cuts)], box.bits)
        """,
    ),
    # What prices leave to a rival, by half a per cent.
    "prices": (
        "reading/masses.py",
        "total += count * max(0, max(excess, default=0))",
        "total += count * max(0, max(excess, default=0))\ntotal = total * 199 // 200",
    ),
}
"""Rules of the checker that prove a little too much: the file, a statement of it, and what takes its place."""


@dataclass
class Bites(Attacked):
    """What the attack found, and what of it refutes after a cut.

    Attributes:
        bitten: how many were refuted after a cut; last in the key is its name, or `any`.
        toothless: the names of tight certificates that were refuted after no cut.
    """

    bitten: Counter[tuple[str, ...]] = field(default_factory=Counter)
    toothless: list[str] = field(default_factory=list)


def bitten(certificates: Iterable[Target]) -> Bites:
    """Attack certificates that are proved, and what checkers with a cut rule prove of the same statements."""
    tally = Bites()
    for target in certificates:
        attempts = attack(target.certificate, target.head, target.latents)
        tally.add(target, attempts)
        document = json.loads(target.certificate)
        with flint.ctx.workprec(PRECISION):
            bites = []
            for cut in CUTS:
                with injected(_with(cut)) as load:
                    margins = verdict_of(document, load("").Auditor(target.head, target.latents, "arb")).margins
                if margins and any(attempt.refutes(margins[attempt.rival]) for attempt in attempts):
                    bites.append(cut)
            tally.bitten.update((*target.key, target.kind, cut) for cut in [*bites, *["any"] * bool(bites)])
            if target.kind == "tight" and not bites:
                tally.toothless.append(target.name)
    return tally


@cache
def _with(cut: str) -> dict[str, str]:
    """The changed file. Raises ValueError if the statement is not there: nothing would be cut."""
    file, statement, others = CUTS[cut]
    return {file: edited((CHECKER / file).read_text(encoding="utf-8"), statement, others)}


def table(tally: Bites, command: str) -> str:
    """The table in Markdown."""
    total = {name: sum(count for key, count in tally.bitten.items() if key[-1] == name) for name in (*CUTS, "any")}
    tight = sum(count for (_, kind), count in tally.tried.items() if kind == "tight")
    lines = [
        "# Latents that satisfy certificates, and how near they come",
        "",
        f"Written by `{command}`; see [the suite](../../docs/soundness.md#attacks-of-a-clone).",
        "",
        f"**{len(tally.wrong)} of {tally.tried.total():,} proved certificates were refuted.** Of what checkers prove",
        f"whose rules are cut by half a per cent, {total['any']:,} were: "
        + ", ".join(f"{total[name]:,} with {name} cut" for name in CUTS)
        + ".",
        f"Of the {tight:,} *tight* ones, whose rule is attained, {tight - len(tally.toothless):,}.",
        "",
        "The last columns: how many certificates of each kind were refuted after a cut, of how many.",
        "",
        f"| paradigm | pooling | readout | least slack | median | least of tight | greatest of tight |"
        f" {' | '.join(KINDS)} |",
        "|---|---|---|" + "---:|" * (4 + len(KINDS)),
    ]
    for key in sorted({key for key, _ in tally.tried}):
        slacks = sorted(chain.from_iterable(tally.slacks.get((key, kind), []) for kind in KINDS))
        own = sorted(tally.slacks.get((key, "tight"), []))
        found = [_number(slacks[0]), _number(slacks[len(slacks) // 2])] if slacks else ["attained"] * 2
        found += [_number(own[0]), _number(own[-1])] if own else ["-"] * 2
        bites = [f"{tally.bitten[*key, kind, 'any']} of {tally.tried[key, kind]}" for kind in KINDS]
        lines.append(f"| {' | '.join([*key, *found, *bites])} |")
    lines += ["", *(f"- WRONG {line}" for line in tally.wrong), *(f"- no teeth: {line}" for line in tally.toothless)]
    return "\n".join(lines).rstrip() + "\n"


def _number(value: float) -> str:
    return f"{value:.0e}" if value < 0.1 else f"{value:.2g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=1, help="heads of each combination (default 1)")
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--one-in", type=int, default=1, help="take one in so many combinations")
    parser.add_argument("--mutants-one-in", type=int, default=100, help="take one in so many mutants of the corpora")
    parser.add_argument("--out", type=Path, help="file for the table, in Markdown")
    options = parser.parse_args()
    torch.set_num_threads(1)
    draws = range(options.first, options.first + options.draws)
    command = f"PYTHONPATH=tests python -m checker_mutants.teeth {' '.join(sys.argv[1:])}".strip()
    certificates = chain(targets(some(options.one_in), draws), of_corpora(options.mutants_one_in, options.first))
    text = table(tally := bitten(certificates), command)
    print(text, end="")
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 1 if tally.wrong or tally.toothless else 0


if __name__ == "__main__":
    sys.exit(main())
