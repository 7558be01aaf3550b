"""The options that commands share: one name, one metavar and one help for one thing; and the head and the latents that
are meant where these are not given."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import Field
from functools import cache, partial, wraps
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verale.checker.options import AuditOptions
from verale.cli.terminal import log_to_stderr, print_wrapped
from verale.errors import InputError, UsageError, nearest
from verale.files import folder_of
from verale.options import options_of
from verale.runs.inputs import HEAD, Inputs, find_inputs
from verale.runs.options import RunOptions, audit_options

if TYPE_CHECKING:
    from verale.runs.arguments import HeadFile

FORMER_VALUES: dict[tuple[str, str], str] = {("--paradigm", "smallest"): "readable"}
"""By the option and the value that was written: the value to write."""


Option = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What gives a command an option."""


def names(*known: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """A shell completion for an option with these values. It only suggests: the command itself checks the value."""
    return lambda ctx, param, incomplete: [name for name in known if name.startswith(incomplete)]


def one_of(*known: str) -> dict[str, Any]:
    """What makes an option refuse, as a usage error, all but these values; shells complete them."""

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is not None and value not in known:
            if renamed := FORMER_VALUES.get((param.opts[0], value)):
                raise click.BadParameter(f"{value} is now {renamed}", ctx, param)
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


def path(option: str, metavar: str, what: str, **settings: Any) -> Option:
    """An option that is a file or a folder."""
    return click.option(option, metavar=metavar, type=click.Path(), help=what, **settings)


def files(metavar: str = "FOLDER|FILE...", name: str = "certificates") -> Option:
    """The argument of a command about any number of certificates."""
    return click.argument(name, nargs=-1, required=True, metavar=metavar, type=click.Path())


head = partial(path, "--head", "HEAD")
latents = partial(path, "--latents", "LATENTS")
resize = click.option(
    "--resize",
    metavar="N",
    type=int,
    help="Scale each picture, so that its shorter side has N pixels, and crop its middle to what --network takes.",
)


def out(what: str, metavar: str = "FOLDER", name: str = "out", **settings: Any) -> Option:
    """The option `-o/--out` of a command that writes: a folder, or a file."""
    return click.option(*("-o", "--out", name), metavar=metavar, type=click.Path(), help=what, **settings)


def overwrite(what: str = "Replace an existing file.") -> Option:
    """The option `--overwrite` of a command that writes."""
    return click.option("--overwrite", is_flag=True, help=what)


def in_json(what: str = "one object a certificate") -> Option:
    """The option `--json` of a command that prints a result (`verale.cli.terminal.print_record`)."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print JSON, {what}, not lines for people.")


def log(what: str = "Keep the verdict of each audit in an audit log; what is in it is not audited again.") -> Option:
    """The option `--log` of a command that audits."""
    return path("--log", "FILE", what)


def inputs(*only: str, **helps: str) -> Option:
    """The options `--head` and `--latents` of a command about certificates: its parameter `given`."""
    return fields_of(Inputs, "given", lambda given: Inputs(**given), *only, **helps)


def prototype_pictures(what: str = "Pictures of prototypes, 0000.png ...; by default those beside LATENTS.") -> Option:
    """The option `--prototype-pictures`."""
    return path("--prototype-pictures", "FOLDER", what)


def fields_of(kind: type, name: str, make: Callable[[Mapping[str, Any]], object], *only: str, **helps: str) -> Option:
    """The options of a dataclass, made from its fields (`verale.options`). The command gets them as one object.

    Args:
        kind: the dataclass.
        name: the command's parameter for the object.
        make: what makes it of values by field. Its UsageError is one of the command line.
        only: the fields; by default all.
        helps: another help for some of them.
    """
    named = options_of(kind, only)
    taken = [*named, *("ulps" for field in named.values() if "ulps" in field.metadata)]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def collect(**values: Any) -> Any:
            given = {each: values.pop(each) for each in taken}
            try:
                made = make(given)
            except UsageError as error:  # click says which one, where the message begins with its name
                about = str(error).split(" ", 1)[0]
                if about not in named:
                    raise click.UsageError(str(error)) from error
                raise click.BadParameter(str(error), param_hint=f"'{_flag(about)}'") from error
            return command(**values, **{name: made})

        collected: Callable[..., Any] = collect
        for field in reversed(named.values()):
            collected = _option(field, helps.get(field.name))(collected)
        return collected

    return add


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(field: Field[Any], what: str | None = None) -> Option:
    """The option of a field, made from its default and its metadata.

    Beside `help` and `metavar`, that may have `choices`, the only values; `completed`, values that shells complete;
    `least`, of whole numbers; `type`, where the default does not show it; `parse`, from text; and `several`, from all
    texts of an option that may be repeated.
    """
    about, default, flag = field.metadata, field.default, _flag(field.name)
    settings: dict[str, Any] = {"help": what or about["help"]}
    if isinstance(default, bool):
        settings |= {"is_flag": True}
    elif "several" in about:
        settings |= {"metavar": about["metavar"], "multiple": True, "callback": _parsed(about["several"])}
        settings["help"] += " May be repeated."
    else:
        settings |= {"metavar": about["metavar"], "default": default, "show_default": default is not None}
        if "parse" in about:
            settings |= {"type": str, "default": f"{default:g}" if isinstance(default, float) else default}
            settings |= {"callback": _parsed(about["parse"])}
        if "type" in about or "least" in about:
            settings["type"] = about.get("type") or click.IntRange(about["least"])
        settings |= one_of(*about["choices"]) if "choices" in about else {}
        settings |= {"shell_complete": names(*about["completed"])} if "completed" in about else {}
    option = click.option(flag, field.name, **settings)
    if "ulps" not in about:
        return option
    beside = click.option("--ulps", metavar="NAME=ULPS,...", help=about["ulps"])
    return lambda command: option(beside(command))


def _parsed(parse: Callable[[Any], object]) -> Callable[[click.Context, click.Parameter, Any], object]:
    """What makes a value of text, for click."""

    def parsed(ctx: click.Context, param: click.Parameter, value: Any) -> object:
        try:
            return parse(value)
        except UsageError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return parsed


def audit(*only: str, **helps: str) -> Option:
    """The options of an audit, or some of them: the command's parameter `audit`."""
    return fields_of(AuditOptions, "audit", lambda given: audit_options(None, given, only), *only, **helps)


def search(*only: str, **helps: str) -> Option:
    """How an explanation is found, or some of it: the command's parameter `search`."""
    from verale.search.options import SearchOptions  # no other command needs what it imports

    return fields_of(SearchOptions, "search", SearchOptions.of, *only, **helps)


def run(*only: str, **helps: str) -> Option:
    """How a run runs, or some of it: the command's parameter `run`."""
    return fields_of(RunOptions, "run", lambda given: RunOptions(**given), *only, **helps)


def allow(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option `--allow`."""
    what = "Also show images in this folder that source.json names; may be repeated."
    return path("--allow", "FOLDER", what, multiple=True)(command)


def origins(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options `--origins` and `--origin-images`: its parameter `origins`, both or None."""

    @wraps(command)
    def paired(*, origins: str | None, origin_images: str | None, **values: Any) -> Any:
        if (origins is None) != (origin_images is None):
            raise UsageError("--origins and --origin-images belong together: give both, or neither")
        return command(origins=None if origins is None else (origins, origin_images), **values)

    what = "An origins file (verale origins), proved now: which training patch each prototype is."
    images = "The pictures that the origins file names: a tensor file, a PNG file or a folder of them."
    return path("--origins", "FILE", what)(path("--origin-images", "IMAGES", images)(paired))


def verbose(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option `-v`, which sends verale's log to stderr, with times."""

    def set_level(ctx: click.Context, param: click.Parameter, value: int) -> None:
        if value:
            level = logging.INFO if value == 1 else logging.DEBUG
            log_to_stderr(level, "%(asctime)s %(levelname)s %(name)s: %(message)s")

    what = "Log progress, with times; -vv gives more detail."
    return click.option("-v", "--verbose", help=what, count=True, expose_value=False, callback=set_level)(command)


def inputs_finder(given: Inputs) -> Callable[[str], tuple[str, str | None]]:
    """A function that finds head and latents for an argument.

    Args:
        given: the files given as options, which count.

    Raises:
        InputError: (the function) nothing at the argument's path, no head, or as `find_inputs`.
    """

    @cache
    def in_folder(folder: Path) -> Inputs:
        return find_inputs(folder, given.head, given.latents)

    def find(path: str) -> tuple[str, str | None]:
        inputs = given if "://" in path else in_folder(folder_of(path))
        if inputs.head is None and "://" not in path and not lexists(path):
            raise InputError(path, "there is no such file or folder; expected certificates")
        if inputs.head is None:
            raise InputError(path, f"has no {HEAD} beside it, without which nothing can be proved: give --head")
        return inputs.head, inputs.latents

    return find


def inputs_reader(given: Inputs) -> Callable[[str], tuple[HeadFile, str | None]]:
    """A function that finds head and latents for an argument and reads the head, once; arguments as `inputs_finder`.

    It says on stderr what it found in a folder.
    """
    from verale.runs.arguments import HeadFile

    find = inputs_finder(given)

    @cache
    def in_file(path: str, images: str | None) -> HeadFile:
        file = HeadFile.of(path)
        print_found(Inputs(path, images), given, file.sha256)
        return file

    def read(argument: str) -> tuple[HeadFile, str | None]:
        found = find(argument)
        return in_file(*found), found[1]

    return read


def print_found(used: Inputs, given: Inputs, sha256: str) -> None:
    """Say on stderr which files were found in a folder, not given.

    Args:
        used: the files that are used.
        given: those that were given as options.
        sha256: of the head's bytes that are used. Its file is not read here: it may hold others by now.
    """
    if used.head != given.head:
        print_wrapped(f"head {used.head}, sha256 {sha256}", sys.stderr)
    if used.latents not in (None, given.latents):
        print_wrapped(f"latents {used.latents}", sys.stderr)
