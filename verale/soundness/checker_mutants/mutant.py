"""A copy of the checker with one fault: compiled from the changed source under a name of its own.

The true package stays as it is.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

import verale.checker
from verale.soundness.extremes import Import

__all__ = ["CHECKER", "Fault", "injected"]

CHECKER = Path(verale.checker.__file__).parent
_NAME = "checker_mutant"


@dataclass(frozen=True)
class Fault:
    """The text `old`, which the file holds once, replaced by `new`; `wrong` says what is wrong then."""

    file: str
    wrong: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {self.wrong}"

    def code(self) -> CodeType:
        """The file with the fault, compiled.

        Raises:
            ValueError: the text is not there exactly once, so the fault would be another one, or none.
            SyntaxError: the changed file is no program: any attack would seem to detect the fault.
        """
        source = (CHECKER / self.file).read_text(encoding="utf-8")
        if source.count(self.old) != 1:
            raise ValueError(f"{self}: {self.old!r} is there {source.count(self.old)} times, expected once")
        return compile(source.replace(self.old, self.new), str(CHECKER / self.file), "exec")


@contextmanager
def injected(fault: Fault | None) -> Iterator[Import]:
    """A copy of the checker with the fault: the function that imports a module of it, "" for the package."""
    changed = {} if fault is None else {CHECKER / fault.file: fault.code()}
    finder = _Finder(changed)
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
