"""Search: how an explanation is found. Grow, then shrink; no state survives an image."""

from verale.search.batches import Batches, ImageResult, best_paradigm
from verale.search.options import SearchOptions, Unexplained

__all__ = ["Batches", "ImageResult", "SearchOptions", "Unexplained", "best_paradigm"]
