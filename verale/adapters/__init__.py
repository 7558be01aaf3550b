"""Adapters: heads and latents from existing checkpoints.

`published` has one file an architecture, `cabrnet` reads CaBRNet's run directories, `plugins` are classes that CaBRNet
loads, and `latents` captures the output of a layer of any torch model. Names are resolved when first used, so that
`import verale.adapters` loads no torch.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verale.adapters.checkpoint import load_model
    from verale.adapters.latents import capture
    from verale.adapters.modules import SavedModel
    from verale.adapters.published import head_of, load_published
    from verale.adapters.state import load_state

__all__ = ["ARCHITECTURES", "SavedModel", "capture", "head_of", "load_model", "load_published", "load_state"]

ARCHITECTURES = tuple(sorted(file.name for file in iter_modules([str(Path(__file__).parent / "published")])))
"""The architectures of `head_of`: each is a file of `verale/adapters/published`."""

_HOME = {
    "SavedModel": "verale.adapters.modules",
    "capture": "verale.adapters.latents",
    "head_of": "verale.adapters.published",
    "load_model": "verale.adapters.checkpoint",
    "load_published": "verale.adapters.published",
    "load_state": "verale.adapters.state",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'verale.adapters' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
