"""Certificates that the checker proves and that name an image, to be attacked (`slack`).

- `emitted`: what the search writes for random heads.
- `random`: statements drawn at random that are true of the same image; the margins are those that the checker proves.
- `tight`: certificates whose rule is attained (`tight`), so that the attack must attain it too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import flint
import safetensors.torch
from attacks.tight import around, tight
from support import files
from support.arithmetic import PRECISION, below
from support.claims import taken_back
from support.exact import Head
from support.files import read_latents

from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.paradigms import ORDERS
from verale.search.explain import explain
from verale.soundness.combinations import Combination, Draw, combinations, draw, searches

__all__ = ["Target", "of_heads", "of_tight_heads", "some", "verdict_of"]


@dataclass(frozen=True)
class Target:
    """A certificate that the checker proves, with its files; its kind is one of those above."""

    paradigm: str
    kind: str
    name: str
    certificate: bytes
    head: bytes
    latents: bytes


def some(one_in: int) -> tuple[Combination, ...]:
    """One in so many combinations, and at least one of softmax and one of the others with each pooling and readout."""
    groups: dict[tuple[bool, str, str], list[Combination]] = {}
    for each in combinations():
        groups.setdefault((each.geometry == "softmax", each.pooling, each.readout), []).append(each)
    return tuple(each for group in groups.values() for each in group[::one_in])


def of_heads(attacked: tuple[Combination, ...]) -> Iterator[Target]:
    """Certificates of a small random head and one image under every paradigm, and tight ones, of each combination."""
    for combination in attacked:
        drawn = draw(combination, 0, 1, small=True)
        for paradigm, order in searches(drawn.head):
            if order == ORDERS[0]:
                yield from _of_search(paradigm, f"{combination}, {paradigm}", drawn)
        yield from of_tight_heads(combination)


def of_tight_heads(combination: Combination) -> Iterator[Target]:
    """A tight certificate for each paradigm."""
    for each in tight(combination):
        name = f"{combination}, {each.paradigm}, {each.name}"
        certificate = _proved(each.document, Auditor(each.head, each.latents, kernel="arb"))
        if certificate is None:
            raise ValueError(f"{name}: a certificate that was built to be proved is not")
        yield Target(each.paradigm, "tight", name, certificate, each.head, each.latents)


def _of_search(paradigm: str, name: str, drawn: Draw) -> Iterator[Target]:
    """What the search writes for one image under one paradigm, and random statements."""
    subject = drawn.head.to_bytes(), safetensors.torch.save({"latents": drawn.latents})
    (result,) = explain(drawn.head, drawn.latents, paradigm, tolerance=drawn.tolerance)
    if not isinstance(result, Certificate):
        return
    emitted, auditor = result.to_bytes(), Auditor(*subject, kernel="arb")
    if auditor.check(emitted).status is Status.PROVED:
        yield Target(paradigm, "emitted", f"{name}, emitted", emitted, *subject)
    proved = _proved(_drawn(json.loads(emitted), *subject, random.Random(name)), auditor)
    if proved is not None:
        yield Target(paradigm, "random", f"{name}, random", proved, *subject)


def verdict_of(document: dict[str, Any], auditor: Any) -> Any:
    """The verdict on a certificate that claims no more than positive margins, and nothing of minimality."""
    document = _with(document)
    predicate = document["predicate"]
    least = [None if margin is None else (2.0**-1074).hex() for margin in predicate["margins"]]
    return auditor.check(files.encode(document | {"predicate": predicate | {"margins": least}}))


def _with(document: dict[str, Any], statements: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The same with other statements, if any are given, and without the claim of minimality."""
    predicate = document["predicate"] | {"claims": ["entailment", "instance"]}
    return document | {"predicate": predicate | ({} if statements is None else {"statements": statements})}


def _proved(document: dict[str, Any], auditor: Auditor) -> bytes | None:
    """The certificate with the margins that the checker proves, rounded down; None where they are not all positive."""
    verdict = verdict_of(document, auditor)
    if verdict.status is not Status.PROVED:
        return None
    margins = [None if margin is None else below(margin).hex() for margin in verdict.margins]
    return files.encode(document | {"predicate": document["predicate"] | {"margins": margins}})


def _opened(statement: dict[str, Any], generator: random.Random) -> dict[str, object]:
    """The statement as it is, or without one of its ends."""
    side = generator.randrange(3)
    if side == 2 or "interval" not in statement or None in statement["interval"]:
        return statement
    return statement | {"interval": [None if end == side else x for end, x in enumerate(statement["interval"])]}


def _drawn(document: dict[str, Any], head: bytes, latents: bytes, generator: random.Random) -> dict[str, object]:
    """The certificate with statements drawn at random that are true of its image, in about the same number."""
    predicate = document["predicate"]
    with flint.ctx.workprec(PRECISION):
        image, parsed = read_latents(latents)[0], Head.read(head)
        values = parsed.at(image)
        count = min(len(predicate["statements"]) + generator.randint(0, 1), parsed.count * len(image))
        if predicate["paradigm"] in ("top_k", "sparse", "evidence"):
            activations = values.activations
            chosen = generator.sample(range(parsed.count), min(count, parsed.count))
            stated = [files.activation_statement(j, *around(activations[j])) for j in sorted(chosen)]
            stated = [_opened(each, generator) for each in stated]
            if predicate["paradigm"] != "sparse":
                stated += _clauses(activations, generator)
            if predicate["paradigm"] == "evidence":
                stated += _sums(parsed, activations, predicate["predicted"], generator)
            return _with(document, stated)
        pairs = [(patch, j) for patch in range(len(image)) for j in range(parsed.count)]
        return _with(
            document,
            [
                _opened(files.patch_statement(patch, j, *around(values.observables[patch][j])), generator)
                for patch, j in sorted(generator.sample(pairs, count))
            ],
        )


def _clauses(activations: Sequence[object], generator: random.Random) -> list[dict[str, object]]:
    """A ceiling and a floor that hold of these activations; or one of them, or none."""
    clauses = []
    for of, pick, end in ((files.order_clause, max, 1), (files.floor, min, 0)):
        exempt = sorted(generator.sample(range(len(activations)), generator.randrange(len(activations))))
        if generator.randrange(2):
            others = [around(a)[end] for j, a in enumerate(activations) if j not in exempt]
            clauses.append(of(exempt, pick(others)))
    return clauses


def _sums(head: Head, activations: list[Any], predicted: int, generator: random.Random) -> list[dict[str, object]]:
    """A sum about all rivals that holds of these activations, or one about some of them, or none."""
    every = [c for c in range(len(head.weight)) if c != predicted]
    some = sorted(generator.sample(every, generator.randint(1, len(every))))
    rivals = generator.choice((None, some, []))
    if rivals == []:
        return []
    taken = [taken_back(head, activations, predicted, c) for c in (every if rivals is None else rivals)]
    return [files.total(rivals, max(0.0, *(around(each)[1] for each in taken)))]
