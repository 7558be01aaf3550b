"""Options are fields of dataclasses: here they become the keywords of a function, with their defaults and their help.

A field's default and the `help` of its metadata are written once. The command line (`verale.cli.options`), signatures,
docstrings and docs/cli.md are made from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import Field, fields
from inspect import Parameter, getdoc, signature
from textwrap import fill, indent
from typing import Any, TypeVar

from verale.errors import UsageError, nearest

_Function = TypeVar("_Function", bound=Callable[..., Any])


def options_of(kind: type, only: Iterable[str] = ()) -> dict[str, Field[Any]]:
    """The options of a dataclass by name, or some of them: the fields that have a help."""
    named = {each.name: each for each in fields(kind) if "help" in each.metadata}
    return {name: named[name] for name in (*only,) or named}


def in_words(kind: type, only: Iterable[str] = ()) -> str:
    """Each option and its help, as a docstring lists arguments."""
    lines = [f"{name}: {option.metadata['help']}" for name, option in options_of(kind, only).items()]
    return "\n".join(fill(line, 112, subsequent_indent="    ") for line in lines)


def require_known(kind: type, given: Iterable[str], only: Iterable[str] = (), also: Iterable[str] = ()) -> None:
    """Raise UsageError, which names the nearest one, for a name that is neither an option of the dataclass, of which
    only some may be taken, nor among the others that are taken."""
    known = [*options_of(kind, only), *also]
    for name in given:
        if name not in known:
            raise UsageError(f"option {name!r} is unknown, expected one of {', '.join(known)}{nearest(name, known)}")


def keywords(kind: type, *only: str) -> Callable[[_Function], _Function]:
    """Let the signature and the docstring of a function say what its last parameter, `**fields`, takes: the options of
    a dataclass, or only some of them."""

    def add(function: _Function) -> _Function:
        own = signature(function)
        *before, _ = own.parameters.values()
        named = options_of(kind, only)
        after = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type)
            for name, option in named.items()
            if name not in own.parameters
        ]
        function.__signature__ = own.replace(parameters=[*before, *after])  # type: ignore[attr-defined]
        listed = indent(in_words(kind, only), "    ")
        function.__doc__ = f"{getdoc(function)}\n\nOptions, by keyword:\n{listed}\n"
        return function

    return add
