"""Search: grow an explanation until it entails the class, then shrink it. No state is kept between images."""

from verale.search.avoid import Avoid
from verale.search.batches import Batches, ImageResult, best_paradigm
from verale.search.costs import Costs
from verale.search.options import SearchOptions, Unexplained
from verale.search.smallest import NotKept

__all__ = ["Avoid", "Costs", "NotKept", "Batches", "ImageResult", "SearchOptions", "Unexplained", "best_paradigm"]
