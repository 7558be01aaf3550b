"""`verale soundness`: run the soundness suite."""

from __future__ import annotations

import sys
from dataclasses import asdict
from importlib.util import find_spec

import click

from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import EXTRA_OF, Exit, exits, print_record
from verale.soundness.suite import SECTIONS
from verale.version import __version__, installing


@click.command(name="soundness", short_help="Run the soundness suite.")
@click.option("--long", is_flag=True, help="Run everything, with many more draws: hours instead of minutes.")
@click.option(
    "--only", metavar="NAME,...", help=f"Run only some sections: {', '.join(section.name for section in SECTIONS)}."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="NUMBER", help="Seed of the draws."
)
@options.in_json("one object a section")
@exits(Exit.WRONG, done="nothing is wrong")
def command(long: bool, only: str | None, seed: int, as_json: bool) -> None:
    """Run the soundness suite: lemmas, certificates of random heads, corpora, agreement.

    It tries to find mistakes in verale. Prints one row for each section.
    """
    from verale.cli.tables import TextTable, print_table
    from verale.errors import UsageError
    from verale.soundness.suite import run

    known = [section.name for section in SECTIONS]
    names = tuple(known if only is None else only.split(","))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"unknown section {unknown[0]!r}; choose from {', '.join(known)}")
    missing = {  # a suite that silently left out a section would look complete
        extra: section.name
        for section in SECTIONS
        if section.name in names
        for extra in section.needs
        if any(find_spec(module) is None for module, of in EXTRA_OF.items() if of == extra)
    }
    if missing:
        rest = [s.name for s in SECTIONS if s.name in names and not set(s.needs) & set(missing)]
        instead = f", or choose --only {','.join(rest)}" if rest else ""
        raise UsageError(f"section {next(iter(missing.values()))} lacks extras: {installing(*missing)}{instead}")
    results = []
    for result in run(names, long, seed):
        results.append(result)
        if as_json:
            head = {"version": __version__, "long": long, "seed": seed}
            print_record("soundness", head | asdict(result))
        else:
            print_line(f"{result.section}: {result.seconds:.1f} s", sys.stderr)
        for line in result.wrong:
            print_line(f"WRONG  {result.section}: {line}", sys.stderr)
    if not as_json:
        table = TextTable(box=None, header_style="bold")
        table.add_column("section")
        for name in ("tried", "wrong", "seconds"):
            table.add_column(name, justify="right")
        table.add_column("", overflow="fold")
        for result in results:
            counts = f"{result.tried:,}", str(len(result.wrong)), f"{result.seconds:.1f}"
            table.add_row(result.section, *counts, result.detail)
        wrong = sum(len(result.wrong) for result in results)
        table.add_row("all", "", str(wrong), f"{sum(result.seconds for result in results):.1f}", "")
        print_table(table, width=None if sys.stdout.isatty() else 140)
    sys.exit(Exit.WRONG if any(result.wrong for result in results) else 0)
