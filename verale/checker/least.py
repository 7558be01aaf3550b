"""A proof that no explanation of an image under `top_k` has fewer statements than a number (`reading/least.py`).

The document is a JSON object:

    {"_type": "urn:verale:least:v1", "head": SHA-256, "latents": SHA-256, "predicted": p, "least": k, "cells": [...]}

`cells` is a binary tree in preorder, whose root is the cell of all explanations. A node
`{"split": "ceiling", "at": t}` (or `"floor"`; t a hex float) has two children: first the explanations whose ceiling is
at most t, then those whose ceiling is at least t, or that have none; of a floor, first at most t or none, then at least
t. So the leaves together hold all explanations. A leaf `{"weights": [[c, y], ...]}` has a non-negative integer weight
for some rivals; the rule has to exclude less than k statements with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .choices import CHOICES, KERNELS, PROVED, load_arithmetic
from .errors import FormatError, UnprovedError
from .head import Head, read_head
from .limit import LIMIT, allowed
from .network.enclosure import EnclosedLatents
from .read.formats import Readers, digest, index, listed, number, read_object, record, such, text
from .read.latents import Latents
from .reading.evaluation import Evaluation
from .reading.instance import require_domain
from .reading.least import Cell, excludes
from .reading.pooling import Pooling
from .reading.space import Space

__all__ = ["TYPE", "proved_least"]

TYPE = "urn:verale:least:v1"


def proved_least(document: bytes, head: bytes, latents: bytes, kernel: str = "arb", limit: float = LIMIT) -> int:
    """The number k of a document, if it proves that no explanation of its image has fewer than k statements.

    Args:
        document: the bytes of the document.
        head: the bytes of the head file.
        latents: the bytes of a latents file that holds the image.
        kernel: `arb`, `mpmath`, or `both`: what is proved is what each of them proves.
        limit: the most seconds of processor time for each megabyte of document, head and image.

    Raises:
        FormatError: a document that is malformed.
        UnprovedError: another head or image, a cell that is not excluded, too much work; or what is not covered: the
            kernel `proved`, alone or with others, or a readout that is not linear.
        HeadError, LatentsError: a file that cannot be used.
        KernelError: a kernel that is unknown or not installed.

    Soundness: a cell that is split lies in the union of the two it is split into, so the leaves hold all explanations,
        and the rule proves of each leaf that its explanations have at least k statements.
    """
    if PROVED in CHOICES.get(kernel, ()):
        raise UnprovedError(
            "uncovered",
            f"the proof of the kernel {PROVED} does not cover the least size of explanations;"
            f" choose one of {', '.join(KERNELS)}, both",
        )
    subject = read_head(head)
    images = Latents(latents, subject.depth)
    claim = record(read_object(document, "the document"), "the document", _DOCUMENT, prefix="")
    predicted: int = claim["predicted"]
    least: int = claim["least"]
    leaves = _leaves(claim["cells"], predicted)
    if claim["head"] != subject.sha256:
        raise UnprovedError("subject", "the document speaks of another head")
    image = images.find(claim["latents"])
    if image is None:
        raise UnprovedError("subject", "no image of the latents file has the document's digest")
    _require_classes(predicted, leaves, subject)
    if subject.readout != "linear":
        raise UnprovedError("uncovered", f"the readout is {subject.readout}, expected linear")
    own = EnclosedLatents.exactly(image.exact)
    require_domain(subject, own, image.patches)
    seconds = allowed(limit, len(document) + len(head) + 8 * len(image.values))
    for name in CHOICES.get(kernel, (kernel,)):
        space = Space(subject, load_arithmetic(name))
        space.arithmetic.clock.start(seconds)
        _require_excluded(leaves, predicted, least, space, own)
    return least


_Leaf = tuple[str, Cell, dict[int, int]]
"""Where it stands in the document, its cell, and weights by rival."""


def _require_classes(predicted: int, leaves: list[_Leaf], head: Head) -> None:
    """Raises FormatError unless the head has every class of the document."""
    if predicted >= head.classes:
        raise FormatError(f"predicted is {predicted}, expected less than the head's {head.classes} classes")
    for where, _, weights in leaves:
        if max(weights, default=0) >= head.classes:
            raise FormatError(f"{where}.weights has class {max(weights)}, expected less than {head.classes}")


def _require_excluded(leaves: list[_Leaf], predicted: int, least: int, space: Space, latents: EnclosedLatents) -> None:
    """Raises UnprovedError unless every leaf excludes what is smaller than `least`."""
    patches, image = len(latents.lower), Evaluation(space, latents).activations(space.bits)
    domain = None if space.within is None else Pooling(space, True).box({}, patches).filled()
    if domain is None:
        raise UnprovedError("uncovered", "the domain is too narrow: the range of an activation is lost by rounding")
    for where, cell, weights in leaves:
        count = least - 1 - cell.cost
        space.arithmetic.clock.look()
        if count >= 0 and not excludes(space.head, predicted, domain, image, cell, weights, count):
            raise UnprovedError("entailment", f"{where} does not exclude {least - 1} statements in its cell")


def _leaves(nodes: Sequence[dict[str, Any]], predicted: int) -> list[_Leaf]:
    """The leaves of a tree in preorder. Raises FormatError."""
    leaves: list[_Leaf] = []
    left = [Cell()]
    for place, node in enumerate(nodes):
        where = f"cells[{place}]"
        if not left:
            raise FormatError(f"{where} comes after the last leaf, expected no more")
        cell = left.pop()
        if "split" in node:
            left += reversed(_split(cell, **node))
        else:
            leaves.append((where, cell, _weights(node["weights"], where, predicted)))
    if left:
        raise FormatError(f"cells lacks {len(left)} leaves")
    return leaves


def _split(cell: Cell, split: str, at: Fraction) -> tuple[Cell, Cell]:
    """The two cells that together hold a cell's explanations."""

    def end(nearer: Callable[[Fraction, Fraction], Fraction], stated: Fraction | None) -> Fraction:
        return at if stated is None else nearer(stated, at)

    if split == "ceiling":
        return replace(cell, u2=end(min, cell.u2)), replace(cell, u1=end(max, cell.u1))
    return replace(cell, v2=end(min, cell.v2)), replace(cell, v1=end(max, cell.v1))


def _weights(pairs: Sequence[tuple[int, ...]], where: str, predicted: int) -> dict[int, int]:
    """The weights of a leaf, by rival. Raises FormatError."""
    weights: dict[int, int] = {}
    for rival, weight in pairs:
        if rival == predicted or rival in weights:
            raise FormatError(f"{where}.weights has class {rival}, expected each rival of {predicted} at most once")
        weights[rival] = weight
    return weights


def _node(value: Any, where: str) -> dict[str, Any]:
    return record(value, where, _SPLIT if isinstance(value, dict) and "split" in value else _LEAF)


_SPLIT: Readers = {"split": such(text, ("ceiling", "floor").__contains__, "'ceiling' or 'floor'"), "at": number}
_LEAF: Readers = {"weights": listed(listed(index, 2, "pairs of a rival and a weight"))}
_DOCUMENT: Readers = {
    "_type": such(text, TYPE.__eq__, repr(TYPE)),
    "head": digest,
    "latents": digest,
    "predicted": index,
    "least": index,
    "cells": listed(_node),
}
