"""`verale completion`: what makes a shell complete verale's commands, options and files."""

from __future__ import annotations

import click

__all__ = ["command"]

INSTALL = {
    "bash": "verale completion bash > ~/.local/share/bash-completion/completions/verale",
    "zsh": "verale completion zsh > ~/.zfunc/_verale, with fpath+=(~/.zfunc) before compinit in ~/.zshrc",
    "fish": "verale completion fish > ~/.config/fish/completions/verale.fish",
}
"""Where each shell looks for completions."""


@click.command(name="completion", short_help="Print what makes a shell complete commands.")
@click.argument("shell", type=click.Choice(tuple(INSTALL)))
def command(shell: str) -> None:
    """Print a shell's completion script; its last line says where it goes.

    Exit code: 0 printed; 2 another shell.
    """
    from click.shell_completion import get_completion_class

    from verale.cli import cli

    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"click completes nothing in {shell}")
    click.echo(made(cli, {}, "verale", "_VERALE_COMPLETE").source().strip())
    click.echo(f"# To install: {INSTALL[shell]}")
