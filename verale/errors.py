"""Errors: one root, subclasses that carry what was found.

A message says what was found, what was expected and what to do about it.
"""

from __future__ import annotations

__all__ = ["CertificateError", "HeadError", "InputError", "LatentsError", "UsageError", "VeraleError", "first_line"]


class VeraleError(Exception):
    """Root of every error that verale raises on purpose."""


class InputError(VeraleError):
    """A file or a directory that cannot be used.

    Attributes:
        path: the file or directory.
        problem: what was found, what was expected and the remedy.
    """

    def __init__(self, path: object, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class HeadError(VeraleError):
    """A head that verale cannot explain: the field and the reason.

    Attributes:
        field: the field or tensor of the head.
        problem: what was found, what was expected.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"head field '{field}': {problem}")
        self.field = field
        self.problem = problem


class LatentsError(VeraleError):
    """Latents that do not fit the head, or are no latents at all."""


class CertificateError(VeraleError):
    """A record that does not follow certificates/v1.md."""


class UsageError(VeraleError):
    """An option or argument that has no meaning here, such as a paradigm not defined for a head."""


def first_line(error: object) -> str:
    """What another library says of an error, or its type where it says nothing: an error here is one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
