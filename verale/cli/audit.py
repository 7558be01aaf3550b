"""`verale audit`: prove certificates again."""

from __future__ import annotations

import sys

import click

from verale.cli import files_of

__all__ = ["command"]


@click.command(name="audit")
@click.argument("certificates", nargs=-1, required=True, metavar="DIR|FILE...", type=click.Path())
@click.option("--head", required=True, metavar="H", type=click.Path(), help="The head file that they speak of.")
@click.option(
    "--latents", metavar="Z", type=click.Path(), help="The images' latents; without it no instance is checked."
)
@click.option(
    "--kernel", type=click.Choice(["arb", "mpmath", "both"]), default="arb", show_default=True, help="Arithmetic."
)
@click.option("--minimality", is_flag=True, help="Also prove that no statement can be dropped, where that is claimed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a certificate instead of a line for people.")
def command(
    certificates: tuple[str, ...], head: str, latents: str | None, kernel: str, minimality: bool, as_json: bool
) -> None:
    """Prove certificates again, in interval arithmetic, trusting nothing but the checker.

    One verdict line for each certificate on stdout. Exit code: 0 everything proved; 3 bounds do not reach; 4 refuted;
    5 malformed; 6 another head's or other latents'; 7 a statement is not true of the latents; 8 not minimal; 9 a file
    that cannot be used.
    """
    from verale.checker.__main__ import main

    arguments = ["--head", head, "--kernel", kernel]
    arguments += ["--latents", latents] if latents is not None else []
    arguments += ["--minimality"] if minimality else []
    arguments += ["--json"] if as_json else []
    sys.exit(main([*arguments, "--", *files_of(certificates, ".ale.json")]))
