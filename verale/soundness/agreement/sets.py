"""The certificates on which verdicts are compared, by head: one process of the executable serves those of a head."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from verale.soundness.corpus.cases import Case, stored
from verale.soundness.corpus.mutants import mutants

__all__ = ["Group", "Question", "corpora", "emitted", "mutated", "with_margins"]


@dataclass(frozen=True)
class Question:
    """A certificate to judge.

    Attributes:
        name: where it comes from.
        certificate: its bytes.
        witness: a latents file; the verdict is one on this witness. None otherwise.
        false: whether what is claimed is known to be false.
    """

    name: str
    certificate: bytes
    witness: bytes | None = None
    false: bool = False


@dataclass(frozen=True)
class Group:
    """Certificates of one head.

    Attributes:
        head: the head's file.
        latents: the latents' file, or None.
        questions: the certificates, a few or many.
        base: the accepted case of which they are mutants, or None.
    """

    head: bytes
    latents: bytes | None
    questions: tuple[Question, ...]
    base: Case | None = None


def corpora() -> Iterator[Group]:
    """Every case."""
    for case in stored():
        question = Question(case.name, case.certificate, getattr(case, "witness", None), _is_false(case))
        yield Group(case.head, case.latents, (question,))


def _is_false(case: Case) -> bool:
    """Whether the corpora mark what a case claims, apart from minimality, as false."""
    truth = getattr(case, "truth", None)
    return truth is not None and truth.mark == "false" and truth.dropped is None


def mutated(one_in: int, seed: int = 0) -> Iterator[Group]:
    """One in so many mutants of every accepted case, from the seed on."""
    for case in stored():
        if case.status != "PROVED":
            continue
        chosen = [
            (f"{case.name}, mutant {number}, {mutant.kind}", mutant)
            for number, mutant in enumerate(mutants(case, random.Random(case.name)))
            if (number + seed) % one_in == 0
        ]
        for (head, latents), alike in groupby(chosen, lambda each: (each[1].head, each[1].latents)):
            yield Group(head, latents, tuple(Question(name, each.certificate) for name, each in alike), case)


def emitted(count: int, seed: int = 0, one_in: int = 1) -> Iterator[Group]:
    """Random heads of every combination in turn, or of one in so many, until that many certificates are emitted; each
    explained under every paradigm and order that it has. 16 turns have every tolerance."""
    import safetensors.torch

    from verale.certificate import Certificate
    from verale.soundness.combinations import COMBINATIONS, CYCLE, draw
    from verale.soundness.random_heads import explained

    made, turn = 0, CYCLE * seed
    while made < count:
        for combination in COMBINATIONS[turn % one_in :: one_in]:
            drawn = draw(combination, turn, 1)
            questions = tuple(
                Question(f"{combination}, draw {turn}, {each.paradigm} {each.order}", each.result.to_bytes())
                for each in explained(drawn.head, drawn.latents, drawn.tolerance)
                if isinstance(each.result, Certificate)
            )
            made += len(questions)
            if questions:
                yield Group(drawn.head.to_bytes(), safetensors.torch.save({"latents": drawn.latents}), questions)
            if made >= count:
                return
        turn += 1


def with_margins(certificate: bytes, share: float) -> bytes:
    """The certificate with that share of each stated margin."""
    document = json.loads(certificate)
    predicate = document["predicate"]
    predicate["margins"] = [
        None if text is None else (float.fromhex(text) * share).hex() for text in predicate["margins"]
    ]
    return json.dumps(document).encode()
