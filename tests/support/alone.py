"""Modules of the search in machine code without what their packages import: torch takes longer than what is tested."""

from __future__ import annotations

__all__ = ["WITHOUT_TORCH"]

WITHOUT_TORCH = """
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
for name in ("search", "search.compiled"):
    package = ModuleType(f"verale.{name}")
    package.__path__ = [str(Path(find_spec("verale").origin).parent.joinpath(*name.split(".")))]
    sys.modules[package.__name__] = package
"""
"""The first lines of a program: modules of these packages are imported as they are, the packages are empty."""
