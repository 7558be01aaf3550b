"""`certificates/reject`: attacks, each described in its certificate.

An attack that rests on a bound that does not hold comes twice: with an image that satisfies every statement and is
classified as claimed (the proof fails), and, `-refuted`, with one that satisfies them too and is classified otherwise.
"""

from __future__ import annotations

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.reject.heads import of_heads
from verale.soundness.corpus.reject.proofs import of_proofs
from verale.soundness.corpus.reject.published import published_attacks
from verale.soundness.corpus.reject.statements import of_statements
from verale.soundness.corpus.reject.subjects import of_subjects

__all__ = ["rejected"]


def rejected(cases: list[Case]) -> list[Case]:
    """All attacks, given the accepted cases, in the order of the manifest."""
    by_name = {case.name.removeprefix("accept/"): case for case in cases}
    return [
        *published_attacks(),
        *of_statements(by_name),
        *of_subjects(by_name),
        *of_heads(by_name),
        *of_proofs(by_name),
    ]
