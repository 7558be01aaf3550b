"""The command line. Commands load what they need when they run."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from importlib.abc import MetaPathFinder
from textwrap import shorten
from typing import Any, NoReturn

import click

from verale.cli.terminal import EXTRA_OF, Exit, log_to_stderr
from verale.errors import VeraleError, nearest, on_the_command_line
from verale.version import __version__, installing

__all__ = ["cli", "main"]

_GROUPS = {
    "Explain": ("explain", "demo", "head", "latents", "network", "origins"),
    "Audit": ("audit", "soundness"),
    "Show": ("show", "report", "summary", "compare"),
    "Ask more": ("refute", "contrast", "necessity", "gap", "attribute", "cover", "rules"),
    "Files": ("export", "certificates"),
    "This installation": ("doctor", "completion"),
}
"""The commands, in the groups of the help. Each is a module of this room, or stands in one with others."""
_TOGETHER = {
    "export": ("export", "certificates"),
    "network": ("network", "latents"),
    "patterns": ("attribute", "cover", "rules"),
    "questions": ("refute", "contrast", "necessity", "gap"),
}
_COMMANDS = tuple(sorted(name for group in _GROUPS.values() for name in group))

_WRITERS = ("compare", "export rocq", "head compare", "head import", "latents", "network export", "report")

FORMER: dict[tuple[str, str], str] = {
    ("", "export-vnnlib"): "verale export vnnlib",
    ("", "theorem"): "verale export rocq",
    **{(command, "--output"): "--out" for command in _WRITERS},
    ("audit", "--pictures"): "--images",
    ("audit", "--report"): "--log",
    ("audit", "--workers"): "--jobs",
    ("explain", "--cost"): "--costs",
    ("explain", "--gap"): "verale gap FOLDER",
    ("explain", "--pictures"): "--images",
    ("explain", "--workers"): "--jobs",
    ("export rocq", "--no-instance"): "--entailment-only",
    **{(command, "--pictures"): "--prototype-pictures" for command in ("attribute", "latents", "report", "rules")},
    ("report", "--check"): "--provable",
    ("report", "--compare"): "--same-as",
    ("report", "--verdicts"): "--log",
}
"""By the command, "" for verale itself, and by what was written: what to write."""

_READ_AT_IMPORT = (
    "TORCH", "PYTORCH", "NUMPY_", "NPY_", "OMP_", "KMP_", "MKL_", "OPENBLAS_", "CUDA_", "RAY_", "MPL",
)  # fmt: skip
"""How variables begin that the libraries of the extras read when they are imported."""

_READ_IN_C = "PYTORCH"
"""How variables begin of which torch's C++ code may die, such as PYTORCH_CUDA_ALLOC_CONF."""

_TRIAL = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import torch"

_HELP: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""What click raises, from version 8.2 on, where a group is called without a command: its message is the help."""


def _now(path: str, name: str) -> str | None:
    """What a command, or an option of the command at `path`, is called now; None unless it was renamed."""
    return FORMER.get((path.removeprefix("verale").strip(), name))


class _Commands(click.Group):
    """Imports a command's module only when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = next((module for module, names in _TOGETHER.items() if cmd_name in names), cmd_name)
        name = cmd_name if module in _TOGETHER else "command"
        command: click.Command = getattr(import_module(f"verale.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            renamed = _now(ctx.command_path, args[0])
            unknown = error.message.rstrip(".") + nearest(args[0], _COMMANDS)
            raise click.UsageError(f"{args[0]} is now {renamed}" if renamed else unknown, ctx) from error

    def invoke(self, ctx: click.Context) -> object:
        try:
            with on_the_command_line():
                return super().invoke(ctx)
        except click.NoSuchOption as error:
            renamed = _now(error.ctx.command_path, error.option_name) if error.ctx is not None else None
            if renamed is None:
                raise
            raise click.UsageError(f"{error.option_name} is now {renamed}", error.ctx) from error
        except KeyboardInterrupt:
            _exit("interrupted", Exit.INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups."""
        for title, names in _GROUPS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(
                    [(name, each.get_short_help_str(110)) for name, each in commands if each is not None]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code.value), code.meaning) for code in Exit])


@click.group(
    name="verale", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="verale")
def cli() -> None:
    """Certified explanations of prototype networks, re-proved by an independent checker.

    Begin with `verale demo`: it needs no file, and shows what the other commands do. With a network of your own, the
    way is `verale head import`, `verale explain`, `verale audit` and `verale report`.
    """


def main() -> None:
    """Entry point, whatever the standard streams are. It ends by SystemExit."""
    from verale.checker.verdict import standard_streams

    with standard_streams():
        _run()


def _run() -> NoReturn:
    """Run a command. An error that verale raises on purpose becomes one line and an exit code, never a traceback."""
    log_to_stderr(logging.WARNING, "%(levelname)s: %(message)s")
    environment = dict(os.environ)
    if sys.platform == "linux" and sys.argv[1:2] in (["explain"], ["demo"]):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's; idle there, but they would forbid to fork
    if "torch" not in sys.modules:
        sys.meta_path.insert(0, _Trial(environment))
    try:
        sys.exit(cli.main(prog_name="verale", standalone_mode=False))
    except click.Abort as error:  # by Ctrl-C, before the command has begun; of an EOFError click makes one, too
        if isinstance(error.__cause__, EOFError):
            raise
        _exit("interrupted", Exit.INTERRUPTED)
    except click.UsageError as error:
        message, path = error.format_message(), "verale" if error.ctx is None else error.ctx.command_path
        if isinstance(error, _HELP):
            click.echo(message, err=True)
            sys.exit(Exit.USAGE)
        _exit(f"error: {message.rstrip('.')}; see '{path} --help'", Exit.USAGE)
    except VeraleError as error:
        _exit(f"error: {error}", error.exit_code)
    except OSError as error:  # such as a name that is too long, or a folder that may not be listed
        _exit(f"error: {error if error.filename is None else f'{error.filename}: {error.strerror}'}")
    except MemoryError:
        _exit("error: this takes more memory than there is; give smaller files, or fewer images at once")
    except ModuleNotFoundError as error:
        extra = EXTRA_OF.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        _exit(f"error: this command needs {error.name}: {installing(extra)}")
    except Exception as error:
        for frame, _ in traceback.walk_tb(error.__traceback__):  # was it raised as a library of an extra was imported?
            library = str(frame.f_globals.get("__name__")).split(".")[0]
            if frame.f_code.co_name == "<module>" and library in EXTRA_OF:
                _exit(f"error: {_unimportable(library, str(error), environment)}")
        raise


class _Trial(MetaPathFinder):
    """Lets another process import torch first, if variables are set that its C++ code reads then: of what that cannot
    read, it ends the process by a signal. Raises VeraleError.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._read = {name: value for name, value in environment.items() if name.startswith(_READ_IN_C)}

    def find_spec(self, name: str, *arguments: object) -> None:
        if name != "torch" or not self._read:
            return
        command = [sys.executable, "-P", "-c", _TRIAL, json.dumps(sys.path)]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if ended.returncode not in (0, 1):  # an error that Python raises is raised here too
            said = re.search(r"what\(\): *(.*)", ended.stderr.decode(errors="replace"))
            why = said[1] if said else f"its process ended with {ended.returncode}"
            raise VeraleError(_unimportable(name, why, self._read))
        self._read = {}


def _unimportable(library: str, why: str, environment: Mapping[str, str]) -> str:
    """That a library cannot be imported, and which variables to unset: of those that libraries read when they are
    imported, those that the reason is about, if any."""
    names = sorted(name for name in environment if name.startswith(_READ_AT_IMPORT))
    words = set(re.findall(r"\w+", why))
    variables = [name for name in names if not words.isdisjoint((name, environment[name]))] or names
    remedy = f"; unset {' or '.join(variables)}, which the environment sets" if variables else ""
    return f"{library} cannot be imported: {shorten(why, 200)}{remedy}"


def _exit(line: str, code: int = Exit.UNUSABLE) -> NoReturn:
    """Print a line on stderr, and exit."""
    from verale.checker.verdict import print_line

    print_line(line, sys.stderr)
    sys.exit(code)
