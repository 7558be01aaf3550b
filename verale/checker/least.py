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

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .choices import CHOICES, KERNELS, PROVED, load_arithmetic
from .dyadic import hex_float
from .errors import FormatError, UnprovedError
from .head import Head, read_head
from .limit import LIMIT, allowed
from .network.enclosure import EnclosedLatents
from .read.formats import brief, digest, fields, index, read_object, text
from .read.latents import Latents
from .reading.evaluation import Evaluation
from .reading.instance import require_domain
from .reading.least import Cell, excludes
from .reading.pooling import Pooling
from .reading.space import Space

__all__ = ["TYPE", "proved_least"]

TYPE = "urn:verale:least:v1"
_FIELDS = ("_type", "head", "latents", "predicted", "least", "cells")


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
    claim = fields(read_object(document, "the document"), "the document", _FIELDS)
    if claim["_type"] != TYPE:
        raise FormatError(f"_type is {brief(claim['_type'])}, expected {TYPE!r}")
    digests = digest(claim["head"], "head"), digest(claim["latents"], "latents")
    predicted, least = index(claim["predicted"], "predicted"), index(claim["least"], "least")
    leaves = _leaves(claim["cells"], predicted)
    if digests[0] != subject.sha256:
        raise UnprovedError("subject", "the document speaks of another head")
    image = images.find(digests[1])
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


def _leaves(cells: Any, predicted: int) -> list[_Leaf]:
    """The leaves of a tree in preorder. Raises FormatError."""
    leaves: list[_Leaf] = []
    left = [Cell()]
    for number, entry in enumerate(_list(cells, "cells")):
        where = f"cells[{number}]"
        if not left:
            raise FormatError(f"{where} comes after the last leaf, expected no more")
        cell = left.pop()
        if isinstance(entry, dict) and "split" in entry:
            left += reversed(_split(cell, entry, where))
        else:
            leaves.append((where, cell, _weights(entry, where, predicted)))
    if left:
        raise FormatError(f"cells lacks {len(left)} leaves")
    return leaves


def _split(cell: Cell, entry: Mapping[str, Any], where: str) -> tuple[Cell, Cell]:
    """The two cells that together hold a cell's explanations."""
    fields(entry, where, ("split", "at"))
    at = hex_float(text(entry["at"], f"{where}.at"))
    if at is None:
        raise FormatError(f"{where}.at is {brief(entry['at'])}, expected the hex float of a finite binary64")
    match text(entry["split"], f"{where}.split"):
        case "ceiling":
            return replace(cell, u2=_least(cell.u2, at)), replace(cell, u1=_greatest(cell.u1, at))
        case "floor":
            return replace(cell, v2=_least(cell.v2, at)), replace(cell, v1=_greatest(cell.v1, at))
        case other:
            raise FormatError(f"{where}.split is {brief(other)}, expected 'ceiling' or 'floor'")


def _least(end: Fraction | None, at: Fraction) -> Fraction:
    return at if end is None else min(end, at)


def _greatest(end: Fraction | None, at: Fraction) -> Fraction:
    return at if end is None else max(end, at)


def _weights(entry: Any, where: str, predicted: int) -> dict[int, int]:
    """The weights of a leaf, by rival."""
    weights: dict[int, int] = {}
    for pair in _list(fields(entry, where, ("weights",))["weights"], f"{where}.weights"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise FormatError(f"{where}.weights has {brief(pair)}, expected pairs of a rival and a weight")
        rival, weight = (index(each, f"{where}.weights") for each in pair)
        if rival == predicted or rival in weights:
            raise FormatError(f"{where}.weights has class {rival}, expected each rival of {predicted} at most once")
        weights[rival] = weight
    return weights


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"{where} is {brief(value)}, expected a list")
    return value
