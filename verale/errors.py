"""Errors: one root class, and subclasses that carry the data.

A message says what is wrong, what was expected and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class VeraleError(Exception):
    """Root of every error that verale raises on purpose.

    Attributes:
        exit_code: with which a command ends that raises it.
    """

    exit_code = 9


class InputError(VeraleError):
    """A file or a directory that cannot be used.

    Attributes:
        path: the file or directory.
        problem: what is wrong, what was expected and the remedy.
    """

    def __init__(self, path: object, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class HeadError(VeraleError):
    """A head that verale cannot explain.

    Attributes:
        field: the field or tensor of the head; None where the problem names it.
        problem: what is wrong, and what was expected.
    """

    def __init__(self, field: str | None, problem: str) -> None:
        super().__init__(problem if field is None else f"head field '{field}': {problem}")
        self.field = field
        self.problem = problem


class NetworkError(VeraleError):
    """A network that verale cannot freeze, or whose file is malformed.

    Attributes:
        layer: the layer, or the field of the file; None where the problem names it.
        problem: what is wrong, and what was expected.
    """

    def __init__(self, layer: str | None, problem: str) -> None:
        super().__init__(problem if layer is None else f"network layer '{layer}': {problem}")
        self.layer = layer
        self.problem = problem


class LatentsError(VeraleError):
    """Latents that are invalid or do not fit the head."""


class CertificateError(VeraleError):
    """A certificate that does not follow certificates/v1.md."""


class UsageError(VeraleError):
    """An option or argument that cannot be used here, such as a paradigm not defined for the head."""


@contextmanager
def naming(path: object, *kinds: type[Exception]) -> Iterator[None]:
    """Make errors of these kinds an InputError, which names the file, or the directory, that they are about."""
    try:
        yield
    except kinds as error:
        raise InputError(path, str(error)) from error


_ON_THE_COMMAND_LINE: ContextVar[bool] = ContextVar("on_the_command_line", default=False)


@contextmanager
def on_the_command_line() -> Iterator[None]:
    """Let messages name options as they are written on the command line."""
    token = _ON_THE_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_THE_COMMAND_LINE.reset(token)


def option(name: str, value: object = None) -> str:
    """An option as the caller writes it: `--overwrite` on the command line, `overwrite=True` in Python.

    Args:
        name: the keyword.
        value: what to give; None where that is the caller's choice.
    """
    if _ON_THE_COMMAND_LINE.get():
        return f"--{name.replace('_', '-')}" + ("" if value is None or value is True else f" {value}")
    return name if value is None else f"{name}={value!r}"


def first_line(error: object) -> str:
    """The first line of an error's message, or its type if it has no message: messages of verale are one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def with_article(name: str) -> str:
    """A type's name as a message has it: `a Tensor`, `an ndarray`."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def nearest(given: str, known: Iterable[str]) -> str:
    """What a message about an unknown name ends with: the nearest known one, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(given, list(known), n=1, cutoff=0.7)
    return f" (did you mean {near[0]}?)" if near else ""
