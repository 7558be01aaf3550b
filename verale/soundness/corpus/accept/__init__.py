"""`certificates/accept`: every paradigm and geometry, every similarity, pooling and readout.

`recipes` and `explained` draw heads and explain them; `chosen`, `together` and `mixed` have cases whose numbers are
chosen.
"""

from __future__ import annotations

from verale.soundness.corpus.accept.chosen import chosen_cases
from verale.soundness.corpus.accept.explained import explain
from verale.soundness.corpus.accept.mixed import mixed_cases
from verale.soundness.corpus.accept.recipes import all_recipes
from verale.soundness.corpus.accept.together import together_cases
from verale.soundness.corpus.cases import Case

__all__ = ["accepted"]


def accepted() -> list[Case]:
    """All accepted cases, in the order of the manifest."""
    return [*map(explain, all_recipes()), *chosen_cases(), *mixed_cases(), *together_cases()]
