"""`certificates/reject`: attacks, each described in its certificate.

An attack that rests on a bound that does not hold comes twice: with an image that satisfies every statement and is
classified as claimed (the proof fails), and, `-refuted`, with one that satisfies them too and is classified otherwise.
`marks` says of each whether what it claims is true.
"""

from __future__ import annotations

from corpus.writing.reject.heads import of_heads
from corpus.writing.reject.joint import of_margins
from corpus.writing.reject.marks import marked, searched
from corpus.writing.reject.mixed import of_mixed
from corpus.writing.reject.open import of_open_ends
from corpus.writing.reject.proofs import of_proofs
from corpus.writing.reject.published import published_attacks
from corpus.writing.reject.statements import of_statements
from corpus.writing.reject.subjects import of_subjects

from verale.soundness.corpus.cases import Case

__all__ = ["rejected", "searched_cases"]


def rejected(cases: list[Case]) -> list[Case]:
    """All attacks with their marks, given the accepted cases, in the order of the manifest."""
    return marked(_unmarked(cases))


def searched_cases(cases: list[Case]) -> list[Case]:
    """The cases whose breaking latents `breaking` searches for: of the accepted ones, those that break a raised
    margin."""
    said = (b'"interval"', b'"except"')
    stated = [case for case in cases if case.latents is not None and any(name in case.certificate for name in said)]
    return [*stated, *searched(_unmarked(cases))]


def _unmarked(cases: list[Case]) -> list[Case]:
    by_name = {case.name.removeprefix("accept/"): case for case in cases}
    return [
        *published_attacks(),
        *of_statements(by_name),
        *of_subjects(by_name),
        *of_heads(by_name),
        *of_proofs(by_name),
        *of_open_ends(),
        *of_margins(),
        *of_mixed(),
    ]
