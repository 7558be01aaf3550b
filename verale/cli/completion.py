"""`verale completion`: a script with which a shell completes verale's commands, options and files."""

from __future__ import annotations

import click

from verale.cli import options
from verale.cli.terminal import exits

INSTALL = {
    "bash": "verale completion bash > ~/.local/share/bash-completion/completions/verale",
    "zsh": "verale completion zsh > ~/.zfunc/_verale, with fpath+=(~/.zfunc) before compinit in ~/.zshrc",
    "fish": "verale completion fish > ~/.config/fish/completions/verale.fish",
}
"""For each shell, a command that writes the script to where the shell looks for it."""


@click.command(name="completion", short_help="Print a shell's completion script.")
@click.argument("shell", **options.choice(*INSTALL))
@exits(done="printed")
def command(shell: str) -> None:
    """Print a shell's completion script; its last line says how to install it."""
    from click.shell_completion import get_completion_class

    from verale.cli import cli

    completion_class = get_completion_class(shell)
    if completion_class is None:
        raise click.UsageError(f"click has no completion for {shell}")
    click.echo(completion_class(cli, {}, "verale", "_VERALE_COMPLETE").source().strip())
    click.echo(f"# To install: {INSTALL[shell]}")
