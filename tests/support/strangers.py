"""What a stranger puts into a folder so that it is run there, by whoever imports from it."""

from __future__ import annotations

import sys
from pathlib import Path

VERALE = Path(sys.executable).with_name("verale")
MODULES = (
    *("multiprocessing", "concurrent", "subprocess", "signal", "logging", "json", "pickle", "hashlib", "tempfile"),
    *("fractions", "socket", "site", "sitecustomize", "usercustomize", "encodings", "ctypes"),
    *("verale", "click", "rich", "flint", "mpmath", "gmpy2", "py_mini_racer"),
    *("numpy", "torch", "scipy", "threadpoolctl", "safetensors", "yaml", "PIL", "jinja2", "pandas", "matplotlib"),
    *("ray", "pyarrow", "cloudpickle", "fsspec", "z3", "hypothesis", "cabrnet", "torchvision", "head", "0000"),
)
"""What a command, a library or a process that one of them starts imports, or looks for."""


def plant(folder: Path, mark: Path) -> None:
    """Modules, each of which adds its name to the file `mark` where it is run; and settings of libraries."""
    for name in MODULES:
        is_package = name in ("verale", "concurrent", "torch")
        path = folder / name / "__init__.py" if is_package else folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(mark)!r}, 'a').write({name!r} + ' ')\nraise SystemExit(77)\n")
    (folder / "matplotlibrc").write_text(f"backend: module://{MODULES[0]}\n")
