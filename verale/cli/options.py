"""The options that commands share: one name, one metavar and one help for one thing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import click

from verale.cli.shared import log_to_stderr
from verale.errors import UsageError, nearest

__all__ = [
    "REFUSED", "allow", "choice", "deployment", "engine", "head", "in_json", "is_ray", "jobs", "kernel", "latents",
    "limit", "named", "names", "origins", "out", "overwrite", "prototype_pictures", "seconds", "verbose",
]  # fmt: skip

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What gives a command an option."""

KERNELS = ("proved-or-arb", "proved", "arb", "mpmath", "both", "all")
"""The choices of the checker, which is loaded later (`verale.checker.choices`)."""


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


def named(option: str, what: str, *known: str, **settings: Any) -> Option:
    """An option whose help says what its values mean."""
    return click.option(option, metavar="NAME", help=what, **one_of(*known), **settings)


def head(what: str = "The head file; by default head.safetensors beside the certificates.", **settings: Any) -> Option:
    """The option `--head`."""
    return click.option("--head", metavar="HEAD", type=click.Path(), help=what, **settings)


def latents(what: str = "The images' latents; by default those beside the certificates.", **settings: Any) -> Option:
    """The option `--latents`."""
    return click.option("--latents", metavar="LATENTS", type=click.Path(), help=what, **settings)


def out(what: str, metavar: str = "FOLDER", name: str = "out", **settings: Any) -> Option:
    """The option `-o/--out` of a command that writes: a folder, or a file."""
    return click.option(*("-o", "--out", name), metavar=metavar, type=click.Path(), help=what, **settings)


def overwrite(what: str = "Replace an existing file.") -> Option:
    """The option `--overwrite` of a command that writes."""
    return click.option("--overwrite", is_flag=True, help=what)


def in_json(what: str = "one object a certificate") -> Option:
    """The option `--json` of a command that prints a result (`verale.cli.shared.print_record`)."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print JSON, {what}, not lines for people.")


def jobs(what: str, **settings: Any) -> Option:
    """The option `--jobs`: a number of processes."""
    return click.option("--jobs", type=click.IntRange(1), metavar="NUMBER", help=what, **settings)


def seconds(default: float, what: str) -> Option:
    """The option `--seconds` of a command that searches."""
    return click.option("--seconds", default=default, show_default=True, metavar="SECONDS", help=what)


def prototype_pictures(what: str = "Pictures of prototypes, FOLDER/0000.png and so on.") -> Option:
    """The option `--prototype-pictures`."""
    return click.option("--prototype-pictures", metavar="FOLDER", type=click.Path(), help=what)


def kernel(what: str = "Which checker proves") -> Option:
    """The option `--kernel` of a command that proves; None where it is left out."""
    default = "the proved one where it is installed, and arb what that does not cover"
    said = f"{what}: by default {default}. Or arb, mpmath, both, proved, all, proved-or-arb."
    return named("--kernel", said, *KERNELS)


def limit(what: str) -> Option:
    """The option `--limit` of a command that proves, in seconds; None where it is left out."""

    def checked(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
        from verale.checker.limit import wrong_limit

        wrong = None if value is None else wrong_limit(value)
        if wrong is not None:
            raise UsageError(f"--{wrong}")
        return value

    return click.option("--limit", type=float, metavar="SECONDS", callback=checked, help=what)


def deployment(what: str, ulps: str) -> Option:
    """The options `--deployment` and `--ulps`: how a head computes in float32."""
    formula = f"{what}, with squared distances by direct, expanded or cdist."

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--ulps", metavar="NAME=ULPS,...", help=f"{ulps}; by default log=4,exp=4,sqrt=1.")(
            command
        )
        return named("--deployment", formula, "direct", "expanded", "cdist")(command)

    return add


def allow(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option `--allow`."""
    what = "Also show images in this folder that source.json names; may be repeated."
    return click.option("--allow", multiple=True, metavar="FOLDER", type=click.Path(), help=what)(command)


def origins(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options `--origins` and `--origin-images`."""
    what = "An origins file (verale origins), proved now: which training patch each prototype is."
    images = "The pictures that the origins file names: a tensor file, a PNG file or a folder of them."
    command = click.option("--origin-images", metavar="IMAGES", type=click.Path(), help=images)(command)
    return click.option("--origins", metavar="FILE", type=click.Path(), help=what)(command)


def verbose(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option `-v`, which sends verale's log to stderr, with times."""
    what = "Log progress, with times; -vv gives more detail."
    settings: dict[str, Any] = {"count": True, "expose_value": False, "callback": _set_level}
    return click.option("-v", "--verbose", help=what, **settings)(command)


def _set_level(ctx: click.Context, param: click.Parameter, value: int) -> None:
    if value:
        level = logging.INFO if value == 1 else logging.DEBUG
        log_to_stderr(level, "%(asctime)s %(levelname)s %(name)s: %(message)s")


REFUSED = {
    "--attest": ("local", "an attestation names the bytes that were checked, and workers read latents in parts"),
    "--address": ("ray", "only a cluster has one"),
}
"""The options that belong to one engine, and why the other one refuses them. `docs/scale.md` has the same table."""


def engine(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of the engines (`verale.cli.ray_engine`)."""
    cluster = "With ray: a cluster, as ray.init takes it; by default this machine."
    what = "local: this machine's processes; ray: many cores or machines, for large data (docs/scale.md)."
    command = click.option("--address", metavar="ADDRESS", help=cluster)(command)
    return click.option("--engine", default="local", show_default=True, help=what, **choice("local", "ray"))(command)


def is_ray(engine: str, **given: object) -> bool:
    """Whether the engine is ray.

    Args:
        engine: its name.
        given: by option, what is said with it.

    Raises:
        UsageError: an option that this engine refuses (`REFUSED`).
    """
    for option, value in given.items():
        of, why = REFUSED[f"--{option}"]
        if value and of != engine:
            raise UsageError(f"--{option} is for --engine {of}: {why}")
    return engine == "ray"
