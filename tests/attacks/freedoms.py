"""What a verdict does not depend on: the order of statements, the names of prototypes, the unit of length."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from support import files
from support.exact import Head
from support.files import Document, read_latents
from support.judged import judged

from verale.checker import Auditor
from verale.soundness.corpus.cases import Case, stored

__all__ = ["accepted", "names_of_prototypes_are_free", "order_is_free", "require", "unit_of_length_is_free"]


def require(holds: bool, what: str) -> None:
    """Raise AssertionError, which says what was found, unless a property holds."""
    if not holds:
        raise AssertionError(what)


@cache
def accepted() -> list[Case]:
    """The accepted cases of the corpus that name an image."""
    return [case for case in stored() if case.name.startswith("accept") and case.latents is not None]


@dataclass(frozen=True)
class _Parts:
    """A case taken apart. Its margins are halved, as the last digits of what is proved may depend on the order."""

    head: Head
    images: list[files.Matrix]
    document: Document

    @classmethod
    def of(cls, case: Case) -> _Parts:
        document = json.loads(case.certificate)
        predicate = document["predicate"]
        predicate["margins"] = [m and (float.fromhex(m) / 2).hex() for m in predicate["margins"]]
        return cls(Head.read(case.head), read_latents(files.given(case.latents)), document)

    def verdict(self, head: Head, images: list[files.Matrix]) -> tuple[str, str]:
        """Status and reason of the document after it gets the digests of these."""
        data, subject = head.data, self.document["subject"]
        subject[0]["digest"]["sha256"] = hashlib.sha256(data).hexdigest()
        if len(subject) > 1:
            index = [files.digest(image) for image in self.images].index(subject[1]["digest"]["sha256"])
            subject[1]["digest"]["sha256"] = files.digest(images[index])
        return judged(Auditor, files.encode(self.document), data, files.latents(images))


def _by_patch(statements: list[Document]) -> dict[int, list[Document]]:
    groups: dict[int, list[Document]] = {}
    for statement in statements:
        groups.setdefault(statement["patch"], []).append(statement)
    return groups


def order_is_free(case: Case, shuffle: random.Random) -> str:
    """Under hypersphere that of the statements about one patch is kept: a centre moves from each to the next."""
    parts = _Parts.of(case)
    before = parts.verdict(parts.head, parts.images)
    predicate = parts.document["predicate"]
    shuffled = list(predicate["statements"])
    shuffle.shuffle(shuffled)
    if predicate["paradigm"] == "hypersphere":
        in_order = {patch: iter(group) for patch, group in _by_patch(predicate["statements"]).items()}
        shuffled = [next(in_order[statement["patch"]]) for statement in shuffled]
    predicate["statements"] = shuffled
    after = parts.verdict(parts.head, parts.images)
    require(after == before, f"{before}, in another order {after}")
    return before[0]


def names_of_prototypes_are_free(case: Case, order: list[int]) -> str:
    """Prototype `order[j]` becomes j. With two banks each keeps its own prototypes; a tree is left as it is."""
    parts = _Parts.of(case)
    head = parts.head
    order = [j for j in order if j < head.count] + list(range(len(order), head.count))
    pooling = head.part("pooling")
    if pooling["kind"] == "banks":
        order.sort(key=lambda j: j >= pooling["class_token"])
    new_index = {old: new for new, old in enumerate(order)}

    def moved(values: list[Any]) -> list[Any]:
        return [values[j] for j in order] + values[head.count :]

    readout = head.part("readout")
    if readout["kind"] == "soft_tree":  # its root is prototype 0
        return "tree"
    vectors: dict[str, Any] = {name: getattr(head, name) for name in ("prototypes", "scale", "peak", "mask")}
    if readout["kind"] == "maximum":
        vectors["bias"] = head.bias
    changed = {name: None if values is None else moved(values) for name, values in vectors.items()}
    other = replace(head, **(changed | {"weight": [moved(row) for row in head.weight]}))
    images = parts.images
    if head.prototypes is None:  # softmax: a latent has an entry a prototype
        images = [[moved(z) for z in image] for image in images]
    before = parts.verdict(head, parts.images)
    predicate = parts.document["predicate"]
    for statement in predicate["statements"]:
        if "except" in statement:
            statement["except"] = sorted(new_index[j] for j in statement["except"])
        elif "prototype" in statement:  # a sum names none
            statement["prototype"] = new_index[statement["prototype"]]
    for prices in predicate["hints"].get("prices", ()):
        pairs = sorted(zip((new_index[j] for j in prices["prototypes"]), prices["prices"], strict=True))
        prices["prototypes"], prices["prices"] = [j for j, _ in pairs], [price for _, price in pairs]
    after = parts.verdict(other, images)
    require(after == before, f"{before}, with prototypes in another order {after}")
    return before[0]


def unit_of_length_is_free(case: Case, power: int) -> str:
    """Every length multiplied by 2^power, in metric heads whose similarity can undo it."""
    parts = _Parts.of(case)
    head, unit = parts.head, 2.0**power
    kind, similarity = head.part("geometry")["kind"], head.part("similarity")["kind"]
    before = parts.verdict(head, parts.images)
    longer = [[unit * x for x in row] for row in files.given(head.prototypes)] if head.prototypes else None
    if kind == "euclidean" and similarity in ("log_ratio", "negated", "exponential"):
        ends = {name: end and (unit * float.fromhex(end)).hex() for name, end in head.part("domain").items()}
        scale = [x / unit**2 for x in (head.scale or [1.0] * head.count)]
        other = replace(head, prototypes=longer, scale=scale, parts={**head.parts, "domain": ends})
        images = [[[unit * x for x in z] for z in image] for image in parts.images]
        of_statement = unit**2
    elif "cosine" in kind:  # the length of a prototype cancels
        other, images, of_statement = replace(head, prototypes=longer), parts.images, 1.0
    else:
        return "no unit"
    for statement in parts.document["predicate"]["statements"]:
        if "patch" in statement:
            ends = statement["interval"]
            statement["interval"] = [end and (of_statement * float.fromhex(end)).hex() for end in ends]
    after = parts.verdict(other, images)
    require(after == before, f"{before}, in another unit {after}")
    return before[0]
