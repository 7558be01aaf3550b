"""numba without the settings of the current folder.

numba reads `.numba_config.yaml` there, when it is imported and whenever it compiles. The folder may be somebody else's,
and the settings name files that numba writes to. Variables NUMBA_* are read as usual. A program that has imported numba
before has chosen its settings.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, chdir, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["import_numba"]


def import_numba() -> ModuleType:
    """numba. Raises ImportError where it is not there, or does not fit numpy."""
    if "numba" not in sys.modules:
        here = Path(__file__).parent
        with ExitStack() as stack:
            with suppress(FileNotFoundError):  # a current folder that was removed holds nothing
                stack.enter_context(chdir(here))
            numba = import_module("numba")
        numba.core.config._config_fname = str(here / ".numba_config.yaml")  # there is none
    return import_module("numba")
