"""A copy of the checker with some files changed: compiled under a name of its own. The true package stays as it is."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import verale.checker

__all__ = ["CHECKER", "Import", "injected"]

CHECKER = Path(verale.checker.__file__).parent
_NAME = "checker_mutant"

Import = Callable[[str], Any]
"""A module of a copy of the checker, by its name; "" for the package."""


@contextmanager
def injected(sources: Mapping[str, str]) -> Iterator[Import]:
    """A copy of the checker in which some files have another source: the function that imports a module of it.

    Raises:
        SyntaxError: a source is no program. Whoever asks whether a fault is noticed would be told yes.
    """
    finder = _Finder({CHECKER / file: compile(text, str(CHECKER / file), "exec") for file, text in sources.items()})
    sys.meta_path.insert(0, finder)
    try:
        yield lambda module: importlib.import_module(f"{_NAME}.{module}" if module else _NAME)
    finally:
        sys.meta_path.remove(finder)
        for loaded in [each for each in sys.modules if each.split(".")[0] == _NAME]:
            del sys.modules[loaded]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the modules of a copy, some of them changed."""

    def __init__(self, changed: dict[Path, CodeType]) -> None:
        self._changed = changed

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.split(".")[0] != _NAME:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=_file(fullname).name == "__init__.py")

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(_file(module.__name__))  # the checker tells the digest of its own sources
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, fullname: str) -> CodeType:
        """As `runpy` asks for it."""
        file = _file(fullname)
        return self._changed.get(file) or _true_code(file)


def _file(fullname: str) -> Path:
    path = CHECKER.joinpath(*fullname.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _true_code(file: Path) -> CodeType:
    return compile(file.read_text(encoding="utf-8"), str(file), "exec")
