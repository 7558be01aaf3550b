"""`certificates/accept`: every paradigm and geometry, every similarity, pooling and readout.

`recipes` and `explained` draw heads and explain them; `chosen`, `together` and `mixed` have cases whose numbers are
chosen.
"""

from __future__ import annotations

from corpus.writing.accept.chosen import chosen_cases
from corpus.writing.accept.explained import explain
from corpus.writing.accept.mixed import mixed_cases
from corpus.writing.accept.together import together_cases

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import all_recipes

__all__ = ["accepted"]


def accepted() -> list[Case]:
    """All accepted cases, in the order of the manifest."""
    return [*map(explain, all_recipes()), *chosen_cases(), *mixed_cases(), *together_cases()]
