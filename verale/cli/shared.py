"""What commands share: exit codes, options, files given as arguments, and the extra that brings a module."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from os.path import lexists
from pathlib import Path
from typing import Any, TypeVar

import click

from verale.errors import InputError, UsageError, nearest
from verale.files import CERTIFICATE_SUFFIX, SentFile, certificates_folder, certificates_in
from verale.runs.listed import differences
from verale.runs.table import TABLE

__all__ = [
    "EXIT_INCOMPLETE",
    "EXIT_INTERRUPTED",
    "EXIT_SKIPPED",
    "EXIT_UNEXPLAINED",
    "EXIT_UNUSABLE",
    "EXIT_USAGE",
    "EXTRA_OF",
    "REFUSED",
    "Command",
    "allow_option",
    "certificate_files",
    "choice",
    "engine_options",
    "head_option",
    "is_ray",
    "json_option",
    "kernel_option",
    "latents_option",
    "limit_option",
    "log_to_stderr",
    "names",
    "one_certificate",
    "one_of",
    "require_distinct",
    "verbose",
]

EXIT_USAGE = 2
"""An unknown command, option or argument."""

EXIT_UNUSABLE = 9
"""A file, directory or option that cannot be used; the checker has the same code for it."""

EXIT_UNEXPLAINED = 10
"""All images are done, but some have no certificate."""

EXIT_INCOMPLETE = 17
"""A folder is not what its run's record lists; `verale.checker.verdict.most_severe` has its place."""
EXIT_SKIPPED = 18
"""Images that cannot be read were left out, as was asked."""

EXIT_INTERRUPTED = 130
"""Ctrl-C."""

_log = logging.getLogger(__name__)

EXTRA_OF = {
    **dict.fromkeys(("torch", "numpy", "safetensors", "scipy", "threadpoolctl", "PIL", "yaml"), "explain"),
    **dict.fromkeys(("cabrnet", "torchvision", "loguru"), "cabrnet"),
    **dict.fromkeys(("jinja2", "matplotlib", "pandas", "pyarrow"), "report"),
    "z3": "soundness",
    "onnx": "vnnlib",
    **dict.fromkeys(("ray", "fsspec"), "ray"),
}
"""For each module, the extra that brings it."""


def certificate_files(paths: tuple[str, ...], compared: bool = True) -> list[str]:
    """Files as given; for each directory its certificates, sorted. Raises InputError if it has none.

    Args:
        paths: files and directories.
        compared: whether a warning says in what a directory is not what its run's record lists.
    """
    files: list[str] = []
    for path in map(Path, paths):
        folder = certificates_folder(path) if path.is_dir() else None
        inside = [path] if folder is None else certificates_in(folder)
        if not inside:
            why = f": its {TABLE} says why" if lexists(path / TABLE) else ""
            raise InputError(path, f"holds no *{CERTIFICATE_SUFFIX}{why}")
        files += map(str if folder is None else SentFile, inside)
        for difference in differences(folder) if compared and folder is not None else ():
            _log.warning("%s %s", folder, difference)
    return files


def require_distinct(files: Sequence[str], out: str) -> None:
    """Raise InputError for two certificates of one name, since what is written of them to `out` has their names."""
    seen: dict[str, str] = {}
    for file in files:
        name = Path(file).name
        if name in seen and Path(seen[name]).resolve() != Path(file).resolve():
            raise InputError(
                file, f"has the name of {seen[name]}, and {out} would get a file of both; take another --out"
            )
        seen[name] = file


def one_certificate(path: str) -> str:
    """The file of a command that takes one. Raises InputError, which names one, for a folder of certificates."""
    inside = certificate_files((path,))
    if not Path(path).is_dir():
        return path
    raise InputError(path, f"is a folder, expected one certificate, such as {inside[0]}")


def names(*known: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """A shell completion for an option with these values. It only suggests: the command itself checks the value."""
    return lambda ctx, param, incomplete: [name for name in known if name.startswith(incomplete)]


def one_of(*known: str) -> dict[str, Any]:
    """What makes an option refuse, as a usage error, all but these values; shells complete them."""

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is not None and value not in known:
            expected = f"expected one of {', '.join(known)}{nearest(value, known)}"
            raise click.BadParameter(f"{value!r} is unknown, {expected}", ctx, param)
        return value

    return {"callback": check, "shell_complete": names(*known)}


def choice(*known: str) -> dict[str, Any]:
    """The same for an option whose help lists these values in the place of a metavar."""
    return {"metavar": f"[{'|'.join(known)}]", **one_of(*known)}


KERNELS = ("proved-or-arb", "proved", "arb", "mpmath", "both", "all")
"""The choices of the checker, which is loaded later (`verale.checker.choices`)."""

Command = TypeVar("Command", bound=Callable[..., Any])


def kernel_option(what: str = "Which checker proves") -> Callable[[Command], Command]:
    """The option `--kernel` of a command that proves; None where it is left out."""
    default = "the proved one where it is installed, and arb what that does not cover"
    return click.option(
        "--kernel",
        metavar="NAME",
        help=f"{what}: by default {default}. Or arb, mpmath, both, proved, all, proved-or-arb.",
        **one_of(*KERNELS),
    )


def limit_option(what: str) -> Callable[[Command], Command]:
    """The option `--limit` of a command that proves, in seconds; None where it is left out."""

    def checked(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
        from verale.checker.limit import wrong_limit

        wrong = None if value is None else wrong_limit(value)
        if wrong is not None:
            raise UsageError(f"--{wrong}")
        return value

    return click.option("--limit", type=float, metavar="SECONDS", callback=checked, help=what)


head_option = click.option(
    "--head", metavar="H", type=click.Path(), help="The head file; by default head.safetensors beside the certificates."
)
latents_option = click.option(
    "--latents", metavar="Z", type=click.Path(), help="The images' latents; by default those beside the certificates."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object a certificate, not lines for people."
)
allow_option = click.option(
    "--allow", multiple=True, metavar="DIR", type=click.Path(),
    help="Also show images in this folder that source.json names; may be repeated.",
)  # fmt: skip


def verbose(command: Command) -> Command:
    """Give a command the option `-v`, which sends verale's log to stderr, with times."""
    return click.option(
        *("-v", "--verbose"),
        count=True,
        expose_value=False,
        callback=_set_level,
        help="Log progress, with times; -vv gives more detail.",
    )(command)


class _Lines(logging.Handler):
    """Prints each record of the log on stderr, as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        from verale.checker.output import print_line

        print_line(self.format(record), sys.stderr)


def log_to_stderr(level: int, form: str) -> None:
    """Send verale's log to stderr, from a level on, in a format of `logging`."""
    handler = _Lines()
    handler.setFormatter(logging.Formatter(form))
    log = logging.getLogger("verale")
    log.handlers = [handler]
    log.setLevel(level)


def _set_level(ctx: click.Context, param: click.Parameter, value: int) -> None:
    if value:
        level = logging.INFO if value == 1 else logging.DEBUG
        log_to_stderr(level, "%(asctime)s %(levelname)s %(name)s: %(message)s")


REFUSED = {
    "--gap": ("local", "a bound is proved from files: verale certificates unpack writes them, verale gap takes them"),
    "--attest": (
        "local",
        "an attestation names the bytes that were checked, and workers read latents in parts",
    ),
    "--workers": ("ray", "workers are those of a cluster; --jobs says how many processes this machine has"),
    "--address": ("ray", "only a cluster has one"),
}
"""The options that belong to one engine, and why the other one refuses them. `docs/scale.md` has the same table."""


def engine_options(command: Command) -> Command:
    """Give a command the options of the engines (`verale.cli.ray_engine`)."""
    for add in (
        click.option(
            "--address",
            metavar="A",
            help="With ray: a cluster, as ray.init takes it; by default this machine.",
        ),
        click.option(
            "--workers", type=click.IntRange(1), metavar="N", help="With ray: how many; by default one for each core."
        ),
        click.option(
            "--engine",
            default="local",
            show_default=True,
            help="local: this process; ray: many cores or machines, for large data (docs/scale.md).",
            **choice("local", "ray"),
        ),
    ):
        command = add(command)
    return command


def is_ray(engine: str, jobs: int | None, workers: int | None, **given: object) -> bool:
    """Whether the engine is ray.

    Args:
        engine: its name.
        jobs, workers: how many processes, which are workers with ray.
        given: by option, what is said with it.

    Raises:
        UsageError: an option that this engine refuses (`REFUSED`), or two numbers of workers.
    """
    for option, value in (given | {"workers": workers}).items():
        of, why = REFUSED[f"--{option}"]
        if value and of != engine:
            raise UsageError(f"--{option} is for --engine {of}: {why}")
    if None not in (jobs, workers) and jobs != workers:
        raise UsageError(f"--jobs is {jobs} and --workers {workers}, which with ray are the same: give one of them")
    return engine == "ray"
