"""Another processor's last bits, here: `SHAKE=1 make test` runs the tests as they may come out elsewhere.

Libraries add in another order on each processor, with or without fused operations, and no two give the same last bit of
an exponential. No test may depend on that. With a number in SHAKE, the seed, results come out as another library may
give them:

- products of matrices, sums, means, norms, variances and distances are added in another order. So all that is proved
  for any order stays true, and what is exact in any order stays as it is. Running sums come in two blocks;
- systems of equations are eliminated in another order;
- exp, log and what else libraries do not round correctly (`moves.moved`) are moved by a unit in the last place, unless
  they are 0, infinite, no numbers, or so short that they are exact;
- of Python's sums of floats the other one is taken: since 3.12 they are compensated, before they were not.

What IEEE 754 rounds correctly, + - * / and square roots, is never moved: `verale.rounding` rests on it. But torch's
square roots are, since Intel's library does not round them correctly. Nor are GPUs moved, the checker, which computes
in whole numbers, and the operator ** of Python.

The same input gives the same output, in every thread and process. Processes that tests start are shaken too, where they
inherit SHAKE and PYTHONPATH: what a test compares with a result of its own must come from the same processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["VARIABLE", "seed", "shake", "start"]

VARIABLE = "SHAKE"

_OWN = ("verale", "support", "benchmarks")
_NOT_PYTHON = ("verale.checker.",)
"""The checker computes in whole numbers."""

_LIBRARIES = {"torch": "of_torch", "numpy": "of_numpy", "scipy.optimize": "of_scipy", "scipy.sparse": "of_scipy"}
"""What is shaken as soon as it is imported, and the module here that does it, by a function `shake`."""


def seed() -> int:
    """The seed; 0 where nothing is shaken."""
    return int(os.environ.get(VARIABLE) or "0")


def start() -> None:
    """Shake what this process imports from now on, and what the processes import that it starts."""
    if not seed() or any(isinstance(finder, _Shaking) for finder in sys.meta_path):
        return
    already = [name for name in _LIBRARIES if name in sys.modules]
    if already:
        raise RuntimeError(f"{', '.join(already)} was imported before shaking started")
    sys.meta_path.insert(0, _Shaking())
    first = str(Path(__file__).parent / "start")
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", first)]
    os.environ["PYTHONPATH"] = os.pathsep.join([first, *paths])


def shake(module: ModuleType) -> None:
    """Shake what a module of Python calls by name: functions of `math` and of numpy, and sums."""
    import_module(f"{__name__}.of_python").shake(module)


class _Shaking(MetaPathFinder):
    """Finds what the other finders find, and has it shaken when it was imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in _LIBRARIES:
            then = _LIBRARIES[fullname]
        elif fullname.split(".")[0] in _OWN and not (fullname + ".").startswith((*_NOT_PYTHON, __name__ + ".")):
            then = "of_python"
        else:
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Followed(spec.loader, then)
        return spec


class _Followed(Loader):
    """A loader after which something else is done; all else of it is as it was."""

    def __init__(self, loader: Loader, then: str) -> None:
        self._loader, self._then = loader, then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        import_module(f"{__name__}.{self._then}").shake(module)
