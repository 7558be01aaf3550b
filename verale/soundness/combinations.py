"""Random heads of every admissible combination of parts, in turn: none is left to chance.

A combination is a geometry, a similarity, a pooling and a readout that head files may hold together (`combinations`).
A draw of a combination also varies what is beside the parts: a bias, a scale or a peak, the domain, and the tolerance
of the explanations. `CYCLE` draws of a combination have each of these with each tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, TypeVar

import torch
from torch import Tensor

from verale.errors import HeadError
from verale.head import Box, Head, InnerProduct, Linear, MaskedMaxPooling, Maximum, SoftTree
from verale.head.fields import Kind
from verale.head.geometry import GEOMETRIES
from verale.head.pooling import POOLINGS
from verale.head.similarity import SIMILARITIES, NamedSteps, StepChain
from verale.paradigms import ORDERS, PARADIGMS
from verale.search.smallest import paradigms_taken

_T = TypeVar("_T")

TOLERANCES = (0.0, 0.001, 0.01, 0.1)
"""The tolerances of explanations that are tried, in the units of the observable."""

_VARIED = 4
"""With and without a bias, with and without the similarity's own tensor."""

_STEP = 37
"""Draws by number go on by so many combinations, so that a few have most parts; prime to the number of all."""

CYCLE = len(TOLERANCES) * _VARIED
"""So many draws of a combination in a row have every tolerance with and without each optional tensor."""


@dataclass(frozen=True)
class Combination:
    """The parts of a head by their kinds, as head files spell them."""

    geometry: str
    similarity: str
    pooling: str
    readout: str

    def __str__(self) -> str:
        return f"{self.geometry} {self.similarity} {self.pooling} {self.readout}"


@dataclass(frozen=True)
class Draw:
    """A head, latents (N, L, D) of its domain, and the tolerance to explain them with."""

    head: Head
    latents: Tensor
    tolerance: float


@dataclass(frozen=True)
class _Chance:
    """What is drawn from one generator, in turn."""

    generator: torch.Generator

    def whole(self, low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=self.generator))

    def one_of(self, *choices: _T) -> _T:
        return choices[self.whole(0, len(choices) - 1)]

    def numbers(self, *shape: int) -> Tensor:
        """Between 0 and 1."""
        return torch.rand(*shape, generator=self.generator)


_FIELDS: dict[str, Callable[[_Chance, int, float], dict[str, Any]]] = {
    "cosine": lambda chance, count, size: {"epsilon": chance.one_of(1e-8, 0.0, 0.25 * size)},
    "rooted_cosine": lambda chance, count, size: {"epsilon": chance.one_of(1e-4, 0.0, 0.25 * size)},
    "log_ratio": lambda chance, count, size: {"epsilon": chance.one_of(1e-4, 0.5)},
    "threshold": lambda chance, count, size: {"threshold": chance.one_of(0.1, 0.3)},
    "masked_max": lambda chance, count, size: vars(random_mask(count, chance.whole(1, 2), chance.generator)),
    "banks": lambda chance, count, size: {"class_token": chance.whole(1, count - 1)},
    "top_mean": lambda chance, count, size: {"k": chance.whole(1, 4)},
}
"""The fields of the kinds of parts that have some, drawn for so many prototypes and for latents of some size."""
_ONE: dict[str, Any] = {"kind": "add", "number": 1.0}
_BELL: list[dict[str, Any]] = [{"kind": kind} for kind in ("from_peak", "square", "negate", "exp")]
_OF_DISTANCE: list[dict[str, Any]] = [{"kind": "scale"}, {"kind": "reciprocal", "number": 1.0}]
_OF_COSINE = [{"kind": "negate"}, _ONE, *_OF_DISTANCE]
_STEPS: dict[str, tuple[list[dict[str, Any]], ...]] = {
    "euclidean": (_OF_DISTANCE, _BELL),
    "cosine": (_OF_COSINE, _BELL),
    "rooted_cosine": (_OF_COSINE, _BELL),
    "inner_product": (_BELL,),
    "softmax": ([{"kind": "scale"}, {"kind": "square"}],),
}
"""Similarities given by their steps, for each geometry."""


@cache
def combinations() -> tuple[Combination, ...]:
    """Every choice of parts from which a head can be built. Steps stand for the names that chains have."""
    poolings = sorted(POOLINGS, key=("max", "masked_max").__contains__, reverse=True)  # draws are numbered so
    similarities = [name for name, kind in SIMILARITIES.items() if not issubclass(kind.part, NamedSteps)]
    found = []
    for geometry, similarity in product(GEOMETRIES, similarities):
        if not _fits(Combination(geometry, similarity, "max", "linear")):  # then no pooling and no readout helps
            continue
        for kinds in product(poolings, ("linear", "maximum", "soft_tree")):
            if _fits(combination := Combination(geometry, similarity, *kinds)):
                found.append(combination)
    return tuple(found)


@cache
def _seeds() -> dict[Combination, int]:
    ordered = sorted(combinations(), key=lambda each: each.pooling == "masked_max")
    return {combination: number for number, combination in enumerate(ordered)}


def _fits(combination: Combination) -> bool:
    try:
        _head(combination, 2, 4, 2, _Chance(torch.Generator().manual_seed(0)), True, True, 1.0)
    except HeadError:
        return False
    return True


def draw(combination: Combination, number: int, images: int, small: bool = False) -> Draw:
    """The head, latents and tolerance of one draw of a combination; the same arguments give the same draw.

    A `small` head has two classes and two or three prototypes: then little stands between its bounds and latents that
    attain them.
    """
    seed = 1_000_003 * number + _seeds()[combination]
    chance = _Chance(torch.Generator().manual_seed(seed))
    whole = chance.whole
    tolerance, varied = TOLERANCES[number % len(TOLERANCES)], number // len(TOLERANCES) % _VARIED
    large = whole(0, 15) == 0
    classes, depth = whole(2, 6 if large else 4), whole(1, 12 if large else 7)
    count = classes * whole(1, 4)
    focal = combination.pooling.startswith("max_minus_mean")
    patches = whole(2 if focal or combination.pooling in ("banks", "masked_max") else 1, 9 if large else 5)
    if small:
        large, classes, depth, patches = False, 2, whole(2, 3), whole(2, 3)
        count = whole(2, 3)
    size = 2.0 ** whole(-40, 40) if whole(0, 5) == 0 and not tolerance and not small else 1.0
    head = _head(combination, classes, count, depth, chance, bool(varied & 1), bool(varied & 2), size)
    return Draw(head, _latents(head, images, patches, size, chance.generator), tolerance)


def draws(numbers: Iterable[int], images: int) -> Iterator[tuple[str, Draw]]:
    """The draws with these numbers, each with its name, of combinations in turn."""
    for number in numbers:
        every = combinations()
        combination = every[_STEP * number % len(every)]
        yield f"{combination}, draw {number}", draw(combination, number + number // len(every), images)


def _head(
    combination: Combination,
    classes: int,
    count: int,
    depth: int,
    chance: _Chance,
    biased: bool,
    own_tensor: bool,
    size: float,
) -> Head:
    """A head of a combination. Raises HeadError where its parts do not fit each other."""

    def drawn(kinds: Mapping[str, Kind[_T]], kind: str) -> _T:
        fields = _FIELDS[kind](chance, count, size) if kind in _FIELDS else {}
        return kinds[kind].part(**kinds[kind].implied, **fields)

    whole, rand, kind = chance.whole, chance.numbers, combination.geometry
    geometry = drawn(GEOMETRIES, kind)
    given = combination.similarity == "steps"
    similarity = StepChain(chance.one_of(*_STEPS[kind])) if given else drawn(SIMILARITIES, combination.similarity)
    pooling = drawn(POOLINGS, combination.pooling)
    weight = rand(classes, count) - 0.7
    weight[torch.arange(count) % classes, torch.arange(count)] += 1.5
    bias = rand(classes) * 0.2 if biased else None
    points = None if kind == "softmax" else _points(count, depth, whole(0, 4), chance.generator) * size
    domain = Box(None, None) if whole(0, 1) else Box(0.0, None)
    if kind == "inner_product" and whole(0, 1):
        geometry = InnerProduct(1.5 * size * depth**0.5)
    elif kind == "softmax":
        domain = chance.one_of(Box(None, None), Box(0.0, None), Box(-0.5, 12.5))
    elif kind == "inner_product" or (similarity.needs_bounded and kind == "euclidean") or whole(0, 2) == 0:
        domain = Box(0.0, size) if whole(0, 1) else Box(-0.5 * size, 1.5 * size)
    if points is not None and kind != "euclidean" and whole(0, 1):
        points = points - 0.5 * size
    scale = 10 ** (2 * rand(count) - 1) if own_tensor and "scale" in similarity.tensors else None
    peak = (rand(count) * 2 - 0.7) * size if own_tensor and "peak" in similarity.tensors else None
    readout: Linear | Maximum | SoftTree = Linear()
    if combination.readout == "maximum":
        weight = (torch.arange(count) % classes == torch.arange(classes)[:, None]).float()
        bias, readout = rand(count) * 0.2 if biased else None, Maximum()
    elif combination.readout == "soft_tree":
        readout, weight = random_tree(count, classes, chance.generator)
        bias = None
    return Head(weight, geometry, similarity, points, bias, scale, peak, domain, pooling, readout)


def random_mask(count: int, columns: int, generator: torch.Generator) -> MaskedMaxPooling:
    """A mask of that many prototypes: each looks at one column at least."""
    mask = torch.rand(count, columns, generator=generator) < 0.4
    mask[torch.arange(count), torch.randint(columns, (count,), generator=generator)] = True
    return MaskedMaxPooling(mask)


def random_tree(nodes: int, classes: int, generator: torch.Generator) -> tuple[SoftTree, Tensor]:
    """A tree of that many prototypes, unbalanced, and the classes' shares in its leaves (C, P + 1)."""
    absent, present = [-1] * nodes, [-1] * nodes
    free = [(0, False), (0, True)]
    for node in range(1, nodes):
        parent, side = free.pop(int(torch.randint(len(free), (), generator=generator)))
        (present if side else absent)[parent] = node
        free += [(node, False), (node, True)]
    for leaf, (parent, side) in enumerate(free):
        (present if side else absent)[parent] = -1 - leaf
    shares = torch.softmax(4 * torch.randn(classes, nodes + 1, generator=generator, dtype=torch.float64), 0)
    return SoftTree(tuple(absent), tuple(present)), shares


def _points(count: int, depth: int, kind: int, generator: torch.Generator) -> Tensor:
    """Prototypes (P, D) in [0, 1]: in general position, with duplicates, nearly equal, or on a line."""
    points = torch.rand(count, depth, generator=generator) * 0.98 + 0.01
    if kind == 1:
        points = points[torch.randint(count, (count,), generator=generator)]
    elif kind == 2:
        points = points[:1] * 0.99 + 1e-5 * torch.rand(count, depth, generator=generator)
    elif kind == 3:
        points = points[:1] + torch.rand(count, 1, generator=generator) * (points[-1:] - points[:1])
    return points


def _latents(head: Head, images: int, patches: int, size: float, generator: torch.Generator) -> Tensor:
    """Latents (N, L, D) in the domain; one patch of each image is near a prototype."""
    latents = torch.rand(images, patches, head.depth, generator=generator)
    if head.prototypes is None:
        return latents * float(torch.randint(1, 13, (), generator=generator))
    near = head.prototypes[torch.randint(head.size, (images,), generator=generator)] / size
    share = torch.rand(images, 1, generator=generator)
    patch = torch.randint(patches, (images,), generator=generator)
    latents[torch.arange(images), patch] = torch.lerp(latents[torch.arange(images), patch], near.clamp(0, 1), share)
    return latents * size


def searches(head: Head) -> list[tuple[str, str]]:
    """Every paradigm that is defined for the head and images of many patches, with every order that it has
    (certificates/v1.md, "Paradigms")."""
    return [
        (name, order)
        for name in paradigms_taken(head, patches=2)
        for order in (ORDERS if PARADIGMS[name].spatial else ORDERS[:1])
    ]
