"""A proof that no explanation of an image under `top_k`, activations taken one by one, is smaller than a number.

The document is a JSON object:

    {"_type": "urn:verale:least:v1", "head": SHA-256, "latents": SHA-256, "predicted": p, "least": k, "cells": [...]}

`cells` is a binary tree in preorder, whose root is the cell of all explanations. A node
`{"split": "ceiling", "at": t}` (or `"floor"`; t a hex float) has two children: first the explanations whose ceiling is
at most t, then those whose ceiling is at least t, or that have none; of a floor, first at most t or none, then at least
t. So the leaves together hold all explanations. A leaf `{"weights": [[c, y], ...]}` has a non-negative integer weight
for some rivals; the rule has to exclude less than k statements with it.

An *explanation* states intervals of some activations, T, and perhaps a ceiling and a floor, each with a list of
prototypes that it exempts; each of these counts 1. All that it states is true of one image, and all its margins for a
class p are positive (linear readouts) where activations are taken one by one: each has its range over the domain, cut
by what is stated of it. How small can it be? By what activations say of each other, a smaller one may be proved.

A **cell** is a set of explanations: those whose ceiling u lies in [u1, u2] and whose floor v in [v1, v2], where an
infinite u or v stands for none. Its *cost* is the number of clauses that all of them have: 1 if u2 is finite, and 1 if
v1 is.

**Rule.** Let a_j lie in [l_j, h_j] at the image, and let its reference range over the domain be [L_j, H_j]. Let
    hi_j = min(H_j, max(u1, l_j)) if l_j <= u2, else H_j;    lo_j = max(L_j, min(v2, h_j)) if h_j >= v1, else L_j.
For a rival c let D = W_p - W_c, worst_j = D_j lo_j if D_j > 0, else D_j hi_j, gain_j = max(0, D_j a_j - worst_j),
with D_j a_j replaced by its greatest value, and need = -(b_p - b_c) - sum_j worst_j. Take weights y_c >= 0 of rivals
with need_c > 0. If the sum of the t greatest of
    s_j = sum_c y_c min(gain_cj, need_c)    is less than    sum_c y_c need_c,
then every explanation of the cell has more than t statements about activations: its size is at least t + 1 + cost.

*Proof.* Take an explanation of the cell and a rival c. Each activation has a range, given what is stated:
(a) of j in T it contains the image's a_j, because all that is stated is true. So the least D_j a over the range is at
    most worst_j + gain_j.
(b) of any other j it contains [lo_j, hi_j], or its least D_j a is at most worst_j in any case: its upper end is H_j,
    unless the ceiling binds j. Then a_j <= u, as the ceiling is true; so l_j <= u <= u2, and the upper end is at least
    min(H_j, u) >= min(H_j, max(u1, l_j)) = hi_j. Likewise its lower end is at most lo_j.
The margin is the sum of these least values and b_p - b_c, and it is positive. So sum over T of
gain_cj > need_c. If need_c > 0, then sum over T of min(gain_cj, need_c) >= need_c: either one term is need_c, or no
term is cut. Multiply by y_c and add: the sum of s_j over T is at least sum_c y_c need_c. If T had at most t members,
that sum would be at most that of the t greatest s_j, as no s_j is negative: a contradiction. The clauses that every
explanation of the cell has count besides.

Rounding: (a) and (b) hold for any worst_j that is no less than the real one, so lo_j is rounded up and hi_j down: L, v2
and h up, H, u1 and l down. The conditions l_j <= u2 and h_j >= v1 may hold where the real ones do not, which narrows
[lo_j, hi_j]: so u2 is rounded up, and v1 down. The greatest D_j a_j is that of l_j or h_j, so gain_j is no less than
the real one; and need is rounded down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import sub
from typing import Any

from .dyadic import ceil_at, floor_at
from .errors import FormatError, UnprovedError
from .head import Head, read_head
from .limit import LIMIT, allowed
from .network.enclosure import EnclosedLatents
from .options import CHOICES, KERNELS, PROVED, load_arithmetic
from .read.formats import Readers, digest, index, listed, number, read_object, record, such, text
from .read.latents import Latents
from .reading.evaluation import Evaluation, require_domain
from .reading.margin import lower_bound
from .reading.pooling import Pooling
from .reading.space import Box, Space

TYPE = "urn:verale:least:v1"


@dataclass(frozen=True)
class Cell:
    """Explanations whose ceiling lies in [u1, u2] and whose floor lies in [v1, v2]; None is the infinite end."""

    u1: Fraction | None = None
    u2: Fraction | None = None
    v1: Fraction | None = None
    v2: Fraction | None = None

    @property
    def cost(self) -> int:
        """How many clauses all of them have."""
        return (self.u2 is not None) + (self.v1 is not None)

    def box(self, domain: Box, image: Box) -> Box:
        """The ranges [lo_j, hi_j], rounded inward, given [L_j, H_j], inward, and [l_j, h_j], outward, on one grid."""
        bits = domain.bits
        u1, v1 = (None if end is None else floor_at(end, bits) for end in (self.u1, self.v1))
        u2, v2 = (None if end is None else ceil_at(end, bits) for end in (self.u2, self.v2))
        lower, upper = list(domain.lower), list(domain.upper)
        for j, (low, high) in enumerate(zip(image.lower, image.upper, strict=True)):
            if u2 is None or low <= u2:
                upper[j] = min(upper[j], low if u1 is None else max(u1, low))
            if v1 is None or high >= v1:
                lower[j] = max(lower[j], high if v2 is None else min(v2, high))
        return Box(lower, upper, bits, True)


def excludes(
    head: Head, predicted: int, domain: Box, image: Box, cell: Cell, weights: Mapping[int, int], count: int
) -> bool:
    """Whether every explanation of a cell has more than `count` statements about activations, by these weights.

    Args:
        head: one with a linear readout.
        predicted: the class that is explained.
        domain: the activations' ranges over the domain, rounded inward.
        image: their ranges at the image, rounded outward, on the same grid.
        cell: the cell.
        weights: y_c >= 0 by rival.
        count: t.
    """
    box, rows = cell.box(domain, image), head.weight.rows
    sums, total, unit = [0] * head.count, 0, head.weight.bits + box.bits
    for rival, weight in weights.items():
        ends = zip(map(sub, rows[predicted], rows[rival]), box.lower, box.upper, image.lower, image.upper, strict=True)
        gains = [max(0, d * (high - lo) if d > 0 else d * (low - hi)) for d, lo, hi, low, high in ends]
        need = floor_at(-lower_bound(head, box, predicted, rival), unit)
        if need > 0:
            total += weight * need
            sums = [s + weight * min(gain, need) for s, gain in zip(sums, gains, strict=True)]
    return sum(sorted(sums, reverse=True)[:count]) < total


def proved_least(document: bytes, head: bytes, latents: bytes, kernel: str = "arb", limit: float = LIMIT) -> int:
    """The number k of a document, if it proves that no explanation, activations taken one by one, has fewer than k.

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
    if predicted >= subject.classes:
        raise FormatError(f"predicted is {predicted}, expected less than the head's {subject.classes} classes")
    for where, _, weights in leaves:
        if max(weights, default=0) >= subject.classes:
            raise FormatError(f"{where}.weights has class {max(weights)}, expected less than {subject.classes}")
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
    """The leaves of a tree in preorder: the two cells that a node has together hold its explanations. Raises
    FormatError."""
    leaves: list[_Leaf] = []
    left = [Cell()]
    for place, node in enumerate(nodes):
        where = f"cells[{place}]"
        if not left:
            raise FormatError(f"{where} comes after the last leaf, expected no more")
        cell = left.pop()
        if "split" in node:
            at, ceiling = node["at"], node["split"] == "ceiling"
            most, least = (cell.u2, cell.u1) if ceiling else (cell.v2, cell.v1)
            below, above = at if most is None else min(most, at), at if least is None else max(least, at)
            # What comes first is read first.
            left.append(replace(cell, u1=above) if ceiling else replace(cell, v1=above))
            left.append(replace(cell, u2=below) if ceiling else replace(cell, v2=below))
            continue
        weights: dict[int, int] = {}
        for rival, weight in node["weights"]:
            if rival == predicted or rival in weights:
                raise FormatError(f"{where}.weights has class {rival}, expected each rival of {predicted} at most once")
            weights[rival] = weight
        leaves.append((where, cell, weights))
    if left:
        raise FormatError(f"cells lacks {len(left)} leaves")
    return leaves


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
