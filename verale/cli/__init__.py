"""The command line: one file a command. Commands load what they need when they run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import click

from verale.errors import InputError, VeraleError
from verale.version import __version__

__all__ = ["EXIT_UNEXPLAINED", "EXIT_UNUSABLE", "files_of", "main", "progress"]

EXIT_UNUSABLE = 9
"""A file, directory or option that cannot be used; the checker's code for the same."""

EXIT_UNEXPLAINED = 10
"""Every image was treated, but some have no certificate."""

_COMMANDS = {
    "audit": "verale.cli.audit",
    "demo": "verale.cli.demo",
    "explain": "verale.cli.explain",
    "head": "verale.cli.head",
    "refute": "verale.cli.refute",
    "soundness": "verale.cli.soundness",
}

_EXTRA_OF = {
    **dict.fromkeys(("torch", "numpy", "safetensors", "PIL", "yaml"), "explain"),
    **dict.fromkeys(("cabrnet", "torchvision", "loguru"), "cabrnet"),
    **dict.fromkeys(("z3", "hypothesis"), "soundness"),
}


class _Commands(click.Group):
    """Finds a command by name and imports its file only then."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(_COMMANDS[cmd_name]).command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="verale")
def _verale() -> None:
    """Certified explanations of prototype networks, re-proved by an independent checker."""


def main() -> None:
    """Entry point: errors that verale raises on purpose are one line and an exit code, never a traceback."""
    try:
        sys.exit(_verale.main(standalone_mode=True))
    except VeraleError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_UNUSABLE)
    except ModuleNotFoundError as error:
        extra = _EXTRA_OF.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        click.echo(f"error: this command needs {error.name}: pip install 'verale[{extra}]'", err=True)
        sys.exit(EXIT_UNUSABLE)


def files_of(paths: tuple[str, ...], suffix: str) -> list[str]:
    """Files as given, and of each directory those with the suffix, in order. Raises InputError if it has none."""
    found = []
    for path in map(Path, paths):
        inside = sorted(str(p) for p in path.glob(f"*{suffix}")) if path.is_dir() else [str(path)]
        if not inside:
            raise InputError(path, f"holds no *{suffix}")
        found += inside
    return found


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr with count and remaining time, and what advances it; silent if stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)
