"""Search: grow an explanation until it entails the class, then shrink it. No state is kept between images.

Names are imported when they are used: the options, from which the command line is made, need no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verale.search.batches import Batches, ImageResult
    from verale.search.costs import Avoid, Costs
    from verale.search.options import SearchOptions, Unexplained
    from verale.search.smallest import NotKept, best_paradigm

__all__ = ["Avoid", "Batches", "Costs", "ImageResult", "NotKept", "SearchOptions", "Unexplained", "best_paradigm"]

_HOME = {
    "Avoid": "costs",
    "Batches": "batches",
    "Costs": "costs",
    "ImageResult": "batches",
    "NotKept": "smallest",
    "SearchOptions": "options",
    "Unexplained": "options",
    "best_paradigm": "smallest",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'verale.search' has no attribute {name!r}")
    return getattr(import_module(f"verale.search.{_HOME[name]}"), name)
