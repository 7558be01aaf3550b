"""`verale head`: heads from checkpoints, and what is in them."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.group(name="head")
def command() -> None:
    """Make head files from checkpoints, or show what is in one."""


@command.command(name="show")
@click.argument("head_path", metavar="H", type=click.Path())
def show(head_path: str) -> None:
    """Show what a head file holds."""
    from rich.console import Console
    from rich.table import Table

    from verale.head import Head

    head = Head.load(head_path)
    table = Table("field", title=str(head_path), title_justify="left")
    table.add_column("value", overflow="fold")
    for name, value in (
        ("sha256", head.digest),
        ("classes C", head.classes),
        ("prototypes P", head.size),
        ("channels D", head.depth),
        ("geometry", head.geometry),
        ("similarity", head.similarity),
        ("pooling", head.pooling),
        ("domain", head.domain),
        ("bias", "none" if head.bias is None else "yes"),
        ("labels", "none" if head.labels is None else ", ".join(head.labels)),
    ):
        table.add_row(name, str(value))
    Console().print(table)


@command.command(name="import")
@click.argument("run", metavar="RUN", type=click.Path())
@click.option("-o", "--output", required=True, metavar="H", type=click.Path(), help="The head file to write.")
def import_(run: str, output: str) -> None:
    """Make a head file from a CaBRNet run directory (RUN/final) of a ProtoPNet."""
    from verale.adapters.cabrnet import load_head

    head = load_head(run)
    head.save(output)
    click.echo(f"{output}: {head.classes} classes, {head.size} prototypes, sha256 {head.digest}", err=True)
