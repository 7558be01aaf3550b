"""Cases of the size of real heads: tens of prototypes, dimensions and patches, some hundred candidates for statements.

Each comes with a false twin: its margin is one that its own image does not reach.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import inf, nextafter
from typing import Any

import flint
from corpus.writing.accept.chosen import BARE_COSINE
from corpus.writing.storing import encoded

from verale.checker import Auditor, Status
from verale.soundness.corpus.cases import SIZES, Case, sized
from verale.soundness.corpus.recipes import BOX, UNBOUNDED, around, inner_product
from verale.soundness.corpus.truth import FALSE, Truth
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import PRECISION, above, below, ends
from verale.soundness.independent.claim import Claim
from verale.soundness.independent.head import Head
from verale.soundness.independent.readers import Document, read_json

__all__ = ["large_cases"]

_CLASSES = 5


@dataclass(frozen=True)
class Size:
    """What a large case is drawn from.

    Attributes:
        name: of the case, without its folder.
        paradigm: its name.
        count: prototypes.
        depth: dimensions.
        patches: of the image.
        parts: of the head.
        width: added to intervals at either end.
        minimal: whether minimality is claimed.
        bias: of the first class.
    """

    name: str
    paradigm: str
    count: int
    depth: int
    patches: int
    parts: dict[str, Any]
    width: float = 0.0
    minimal: bool = True
    bias: float = 0.0


_EUCLIDEAN = {"geometry": files.EUCLIDEAN, "similarity": files.log_ratio(2.0**-6), "domain": BOX}
_NEGATED = {"geometry": files.EUCLIDEAN, "similarity": {"kind": "negated"}, "domain": BOX}
_PRODUCT = {"geometry": inner_product(4.0), "similarity": files.IDENTITY, "domain": UNBOUNDED}
_SOFTMAX = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": UNBOUNDED}
_SIZES = (
    Size("large-projection-euclidean", "projection", 50, 32, 16, _EUCLIDEAN, bias=4.0),
    Size("large-projection-euclidean-wide", "projection", 50, 32, 16, _NEGATED, 2.0**-7, bias=-60.0),
    Size("large-projection-cosine", "projection", 50, 32, 16, BARE_COSINE, bias=2.5, minimal=False),
    Size("large-projection-inner_product", "projection", 30, 48, 9, _PRODUCT, bias=76.0, minimal=False),
    Size("large-hypersphere-euclidean", "hypersphere", 50, 32, 16, _EUCLIDEAN, bias=1.0, minimal=False),
    Size("large-joint-euclidean", "joint", 60, 48, 1, _NEGATED, bias=-370.0),
    Size("large-mixed-euclidean", "mixed", 50, 32, 16, _EUCLIDEAN, bias=0.5, minimal=False),
    Size("large-assignment-softmax", "assignment", 50, 50, 16, _SOFTMAX, bias=-5.0, minimal=False),
    Size("large-top_k-euclidean", "top_k", 200, 64, 49, _EUCLIDEAN),
)


def large_cases(again: bool) -> Iterator[Case]:
    """All of them. Their statements are searched for `again`, which takes minutes, or are those of the stored cases."""
    stored = {} if again else {case.name: case for case in sized()}
    for size in _SIZES:
        case = _explained(size, stored.get(SIZES + size.name))
        yield case
        yield _twin(case)


def _drawn(size: Size) -> tuple[Head, files.Matrix]:
    """A head, and an image whose patches lie near the prototypes of the first class."""
    generator = random.Random(size.name)

    def draw(middle: float, spread: float) -> float:
        return round(16 * max(-1.0, min(1.0, generator.gauss(middle, spread)))) / 16

    own = size.count // _CLASSES
    bias = [size.bias, *[0.0] * (_CLASSES - 1)]
    weight = [[1.0 if j // own == c else -0.5 * (c == 0) for j in range(size.count)] for c in range(_CLASSES)]
    near = [patch % own for patch in range(size.patches)]
    if size.parts is _SOFTMAX:
        image = [[draw(0.0, 0.5) + 6.0 * (j == k) for j in range(size.count)] for k in near]
        return Head([[max(0.0, x) for x in row] for row in weight], None, size.parts, bias), image
    rows = [[draw(0.0, 0.4) for _ in range(size.depth)] for _ in range(size.count)]
    return Head(weight, rows, size.parts, bias), [[draw(x, 0.2) for x in rows[k]] for k in near]


def _candidates(size: Size, head: Head, image: files.Matrix) -> list[Document]:
    """True statements: those that tell most first."""
    with flint.ctx.workprec(PRECISION):
        activations = [head.activation(image, j) for j in range(size.count)]
        far = 1.0 if size.parts["geometry"]["kind"] == "euclidean" else -1.0

        def patches() -> Iterator[tuple[float, Document]]:
            for patch, j in product(range(size.patches), range(size.count)):
                value = head.observable(image[patch], j)
                yield far * float(ends(value)[0]), files.patch_statement(patch, j, *around(value, size.width))

        def pooled() -> Iterator[tuple[float, Document]]:
            for j, value in enumerate(activations):
                yield -float(value), files.activation_statement(j, *around(value, size.width))

        stated = [*(pooled() if size.paradigm in ("top_k", "mixed") else patches())]
        first: list[Document] = []
        if size.paradigm in ("top_k", "mixed"):
            exempt = range(size.count // _CLASSES)
            first = [files.order_clause([*exempt], above(max(ends(a)[1] for a in activations[len(exempt) :])))]
        if size.paradigm == "mixed":
            stated += [each for each in patches() if each[1]["patch"] < 2]
    return [*first, *(document for _, document in sorted(stated, key=lambda each: each[0]))]


def _shortest(stated: list[Document], proved: Callable[[list[Document]], bool]) -> list[Document]:
    """The first statements that prove the class, without those that can be dropped. Raises ValueError where all of
    them prove nothing."""
    least, most = 0, 1
    while not proved(stated[:most]):  # with many more than are needed a proof takes long
        if most >= len(stated):
            raise ValueError("the statements prove nothing")
        least, most = most + 1, 2 * most
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if proved(stated[:middle]) else (middle + 1, most)
    kept = stated[:most]
    for one in list(kept):
        fewer = [other for other in kept if other is not one]
        if proved(fewer):
            kept = fewer
    return kept


def _explained(size: Size, stored: Case | None) -> Case:
    head, image = _drawn(size)
    data = files.head(head.weight, head.prototypes, head.bias, "F32", **head.parts)
    latents = files.latents([image], "F32")
    auditor = Auditor(data, latents, "arb")
    options: dict[str, Any] = {
        "classes": _CLASSES,
        "paradigm": size.paradigm,
        "patches": size.patches,
        "image": image,
        "minimality": size.minimal,
    }

    def proved(statements: list[Document]) -> bool:
        return auditor.check(files.certificate(data, statements, **options)).status is Status.PROVED

    candidates = _candidates(size, head, image)
    if stored is None:
        kept = _shortest(candidates, proved)
    else:
        chosen = read_json(stored.certificate)["predicate"]["statements"]
        kept = [each for each in candidates if each in chosen]
    margins = Auditor(data, latents, "both").check(files.certificate(data, kept, **options)).margins
    options["margins"] = [None if margin is None else below(margin) for margin in margins]
    comment = f"{len(kept)} statements, {size.count} prototypes of {size.depth} dimensions, {size.patches} patches."
    document = files.document(data, kept, **options)
    return Case(SIZES + size.name, encoded(document, comment), data, latents, "PROVED", "", comment)


def _twin(case: Case) -> Case:
    """The same with a margin above what the image itself has of it."""
    with flint.ctx.workprec(PRECISION):
        claim = Claim.read(case.certificate, case.head, case.latents)
        image = files.given(claim.image)
        logits = claim.head.logits([claim.head.activation(image, j) for j in range(claim.head.count)])
        gap = nextafter(above(ends(logits[claim.predicted] - logits[1])[1]), inf)
    document = read_json(case.certificate)
    document["predicate"]["margins"][1] = gap.hex()
    comment = "The margin of class 1 is more than the image has itself."
    truth = Truth(FALSE, breaks=files.latents([image]))
    twin = replace(case, name=f"{case.name}-false", certificate=encoded(document, comment), comment=comment)
    return replace(twin, status="NOT_PROVED", reason="margin", truth=truth)
