"""The command line: one file a command. Commands load what they need when they run."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from verale.errors import InputError, VeraleError
from verale.version import __version__

__all__ = [
    "EXIT_INTERRUPTED",
    "EXIT_UNEXPLAINED",
    "EXIT_UNUSABLE",
    "EXTRA_OF",
    "cli",
    "files_of",
    "main",
    "names",
    "progress",
    "verbose",
]

EXIT_USAGE = 2
"""A command, option or argument that there is not."""

EXIT_UNUSABLE = 9
"""A file, directory or option that cannot be used; the checker's code for the same."""

EXIT_UNEXPLAINED = 10
"""Every image was treated, but some have no certificate."""

EXIT_INTERRUPTED = 130
"""Ctrl-C."""

_COMMANDS = {
    "audit": "verale.cli.audit",
    "certificates": "verale.cli.certificates",
    "completion": "verale.cli.completion",
    "demo": "verale.cli.demo",
    "doctor": "verale.cli.doctor",
    "explain": "verale.cli.explain",
    "head": "verale.cli.head",
    "refute": "verale.cli.refute",
    "report": "verale.cli.report",
    "soundness": "verale.cli.soundness",
    "summary": "verale.cli.summary",
}

EXTRA_OF = {
    **dict.fromkeys(("torch", "numpy", "safetensors", "PIL", "yaml"), "explain"),
    **dict.fromkeys(("cabrnet", "torchvision", "loguru"), "cabrnet"),
    **dict.fromkeys(("jinja2", "matplotlib", "pandas", "pyarrow"), "report"),
    **dict.fromkeys(("z3", "hypothesis"), "soundness"),
    **dict.fromkeys(("ray", "fsspec"), "ray"),
}
"""The extra that brings a module."""


class _Commands(click.Group):
    """Finds a command by name and imports its file only then."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(_COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(EXIT_INTERRUPTED)


@click.group(
    name="verale", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="verale")
def cli() -> None:
    """Certified explanations of prototype networks, re-proved by an independent checker.

    Exit codes that every command has: 0 done; 2 a command, option or argument that there is not; 9 a file, directory or
    option that cannot be used; 130 interrupted. Others are those of `verale COMMAND --help`.
    """


def main() -> None:
    """Entry point: errors that verale raises on purpose are one line and an exit code, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # any file name can be printed
    try:
        sys.exit(cli.main(prog_name="verale", standalone_mode=False))
    except click.UsageError as error:
        message, path = error.format_message(), "verale" if error.ctx is None else error.ctx.command_path
        whole = "\n" in message  # a group without a command: its help
        click.echo(message if whole else f"error: {message.rstrip('.')}; '{path} --help' tells what there is", err=True)
        sys.exit(EXIT_USAGE)
    except VeraleError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_UNUSABLE)
    except BrokenPipeError:  # nobody reads any more (... | head)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except ModuleNotFoundError as error:
        extra = EXTRA_OF.get((error.name or "").split(".")[0])
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


def names(*known: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """What completes an option by these names; whether a value is one of them, the command says itself."""
    return lambda ctx, param, incomplete: [name for name in known if name.startswith(incomplete)]


_Command = TypeVar("_Command", bound=Callable[..., Any])


def verbose(command: _Command) -> _Command:
    """Give a command `-v`: what verale logs goes to stderr, with the time."""
    return click.option(
        *("-v", "--verbose"),
        count=True,
        expose_value=False,
        callback=_log_to_stderr,
        help="Log what is done, with times; -vv: in more detail.",
    )(command)


def _log_to_stderr(ctx: click.Context, param: click.Parameter, value: int) -> None:
    if value:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        log = logging.getLogger("verale")
        log.handlers = [handler]
        log.setLevel(logging.INFO if value == 1 else logging.DEBUG)


@contextmanager
def progress(
    label: str, total: int, done: int = 0, unit: str = "images", lines: bool = False
) -> Iterator[Callable[[int], None]]:
    """A bar on stderr with count, rate, elapsed and remaining time, and what advances it.

    Silent if stderr is no terminal, if what is done is logged, or if lines are printed meanwhile to a terminal.
    """
    logged = logging.getLogger("verale").isEnabledFor(logging.INFO)
    if not sys.stderr.isatty() or logged or (lines and sys.stdout.isatty()):
        yield lambda more: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Pace(ProgressColumn):
        """Rate and remaining time by all that was done since the beginning: batches are done all at once."""

        def render(self, task: Task) -> Text:
            new, elapsed = task.completed - done, task.elapsed
            if not new or not elapsed:
                return Text(f"- {unit}/s")
            left = timedelta(seconds=round(elapsed / new * (total - task.completed)))
            return Text(f"{new / elapsed:.3g} {unit}/s, {left} left")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), Pace())
    # Left to itself, rich would print on stderr what is meant for stdout.
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False) as bar:
        task = bar.add_task(label, total=total, completed=done)
        yield lambda more: bar.advance(task, more)
