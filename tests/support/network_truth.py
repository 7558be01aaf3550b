"""What a network gives, entry by entry from the formulas of certificates/network-v1.md, in numbers of any kind; and
random small networks.

Numbers are kept in dictionaries from places to values. Nothing is shared with the checker.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from math import prod
from operator import add, mul
from typing import Any

import flint
from support import files
from support.editing import entries, split
from support.networks import layer, network_file

Place = tuple[int, ...]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Numbers:
    """Numbers to compute in.

    Attributes:
        of: a number from a fraction.
        greatest: the greatest of some.
        functions: those of one number that are not rational.
        times: a product of two.
        sum: of products, given as pairs, and of numbers.
        mean: of some numbers, and of so many in all, the rest of which are 0.
    """

    of: Callable[[Fraction], Any]
    greatest: Callable[[Sequence[Any]], Any]
    functions: dict[str, Callable[[Any], Any]]
    times: Callable[[Any, Any], Any] = mul
    sum: Callable[[list[tuple[Any, Any]], list[Any]], Any] = lambda pairs, terms: reduce(
        add, (a * b for a, b in pairs), reduce(add, terms)
    )
    mean: Callable[[list[Any], int], Any] = lambda terms, count: reduce(add, terms) / count


FRACTIONS = Numbers(lambda value: value, max, {})


def balls() -> Numbers:
    """flint's balls, as precise as its context says."""
    return Numbers(
        lambda value: flint.arb(flint.fmpq(value.numerator, value.denominator)),
        lambda values: reduce(flint.arb.max, values),
        {
            "sigmoid": lambda x: 1 / (1 + (-x).exp()),
            "tanh": lambda x: x.tanh(),
            "gaussian": lambda x: (1 + (x / flint.arb(2).sqrt()).erf()) / 2,
            "inverse_root": lambda x: 1 / x.sqrt(),
        },
    )


@dataclass(frozen=True)
class Drawn:
    """A network of lists.

    Attributes:
        layers: of its description.
        tensors: nested lists.
        shape, mean, std: of the input.
        dtype: of its tensors.
    """

    layers: list[dict[str, Any]]
    tensors: dict[str, Any]
    shape: tuple[int, int, int]
    mean: list[float]
    std: list[float]
    dtype: str = "F64"

    def file(self) -> bytes:
        """Its file."""
        return network_file(self.layers, self.tensors, self.shape, self.mean, self.std, self.dtype)


def given(network: Drawn, picture: Sequence[int], numbers: Numbers) -> dict[str, tuple[Shape, dict[Place, Any]]]:
    """What every layer gives, and its shape.

    Args:
        picture: C H W bytes.
    """
    places = list(product(*map(range, network.shape)))
    start = {
        at: numbers.of((Fraction(v, 255) - Fraction(network.mean[at[0]])) / Fraction(network.std[at[0]]))
        for at, v in zip(places, picture, strict=True)
    }
    return given_of(network, start, numbers)


class _Seen(frozenset[tuple[int, int]]):
    """Pixels, (row, column), as if they were a number that is computed from them."""

    def __add__(self, other: _Seen) -> _Seen:
        return _Seen(self | other)

    __mul__ = __add__

    def __truediv__(self, count: int) -> _Seen:
        return self

    def __neg__(self) -> _Seen:
        return self


def pixels_seen(network: Drawn) -> dict[str, dict[tuple[int, int], frozenset[tuple[int, int]]]]:
    """The pixels, rows and columns, that the entries of each layer are computed from, whatever the weights are.

    Returns:
        By layer, and by row and column of what it gives.
    """
    start = {at: _Seen([at[1:]]) for at in product(*map(range, network.shape))}
    numbers = Numbers(lambda value: _Seen(), lambda seen: _Seen(_Seen().union(*seen)), dict.fromkeys(_SMOOTH, _Seen))
    layers: dict[str, dict[tuple[int, int], frozenset[tuple[int, int]]]] = {}
    for name, (shape, values) in given_of(network, start, numbers).items():
        places = product(*map(range, shape[1:])) if len(shape) == 3 else [()]
        channels = range(shape[0])
        layers[name] = {at or (0, 0): frozenset().union(*(values[c, *at] for c in channels)) for at in places}
    return layers


_SMOOTH = ("sigmoid", "tanh", "gaussian", "inverse_root")


def given_of(
    network: Drawn,
    start: dict[Place, Any],
    numbers: Numbers,
    then: Callable[[str, Place, Any], Any] = lambda name, at, value: value,
) -> dict[str, tuple[Shape, dict[Place, Any]]]:
    """What every layer gives of a normalised picture. `then`: what becomes of a number of a layer of that name."""
    known: dict[str, tuple[Shape, dict[Place, Any]]] = {"picture": (network.shape, start)}
    for each in network.layers:
        shape, values = _given(each, [known[name] for name in each["inputs"]], network.tensors, numbers)
        known[each["name"]] = shape, {at: then(each["name"], at, value) for at, value in values.items()}
    return known


def _given(
    each: dict[str, Any], read: list[tuple[Shape, dict[Place, Any]]], tensors: dict[str, Any], numbers: Numbers
) -> tuple[Shape, dict[Place, Any]]:
    (shape, x), kind, name = read[0], each["kind"], each["name"]
    if kind in ("conv2d", "linear"):
        weight = tensors[f"{name}.weight"]
        bias = [numbers.of(Fraction(b)) for b in tensors.get(f"{name}.bias", [0.0] * len(weight))]
    if kind == "linear":
        return (len(weight),), {
            (o,): numbers.sum([(numbers.of(Fraction(w)), x[i,]) for i, w in enumerate(row)], [bias[o]])
            for o, row in enumerate(weight)
        }
    if kind in ("conv2d", "max_pool2d", "avg_pool2d"):
        kernel = files.shape(weight)[2:] if kind == "conv2d" else each["kernel"]
        spread, stride, padding = each.get("dilation", [1, 1]), each["stride"], each["padding"]
        sizes = [(shape[1 + i] + 2 * padding[i] - spread[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)]
        every, out = list(product(*map(range, kernel))), {}

        def window(y: int, z: int, c: int) -> Iterator[tuple[Place, Place]]:
            """The places of a kernel, and those that they meet in a channel."""
            for a, b in every:
                at = c, y * stride[0] + a * spread[0] - padding[0], z * stride[1] + b * spread[1] - padding[1]
                if at in x:
                    yield (a, b), at

        if kind == "conv2d":
            groups, own = each["groups"], shape[0] // each["groups"]
            for o, y, z in product(range(len(weight)), *map(range, sizes)):
                first = o * groups // len(weight) * own
                pairs = [
                    (numbers.of(Fraction(weight[o][c][a][b])), x[at])
                    for c in range(own)
                    for (a, b), at in window(y, z, first + c)
                ]
                out[o, y, z] = numbers.sum(pairs, [bias[o]])
            return (len(weight), *sizes), out
        for c, y, z in product(range(shape[0]), *map(range, sizes)):
            seen = [x[at] for _, at in window(y, z, c)]
            out[c, y, z] = numbers.greatest(seen) if kind == "max_pool2d" else numbers.mean(seen, len(every))
        return (shape[0], *sizes), out
    if kind == "add":
        return shape, {at: numbers.sum([], [other[at] for _, other in read]) for at in x}
    if kind == "multiply":
        small, factors = read[1]
        factor = {at: factors[tuple(i % n for i, n in zip(at, small, strict=True))] for at in x}
        return shape, {at: numbers.times(value, factor[at]) for at, value in x.items()}
    if kind == "clamp":
        low, high = (numbers.of(Fraction(float.fromhex(each[end]))) for end in ("lower", "upper"))
        return shape, {at: -numbers.greatest([-high, -numbers.greatest([low, value])]) for at, value in x.items()}
    if kind == "concat":
        out, start = {}, 0
        for part, values in read:
            out |= {(start + at[0], *at[1:]): value for at, value in values.items()}
            start += part[0]
        return (start, *shape[1:]), out
    if kind == "flatten":
        return (prod(shape),), {((c * shape[1] + y) * shape[2] + z,): x[c, y, z] for c, y, z in x}
    if kind == "upsample_nearest":
        down, along = each["scale"]
        larger = (shape[0], shape[1] * down, shape[2] * along)
        return larger, {(c, y, z): x[c, y // down, z // along] for c, y, z in product(*map(range, larger))}
    if kind in numbers.functions:
        return shape, {at: numbers.functions[kind](value) for at, value in x.items()}
    slope = numbers.of(Fraction(float.fromhex(each["slope"]) if kind == "leaky_relu" else 0.0))
    return shape, {at: numbers.greatest([numbers.times(slope, value), value]) for at, value in x.items()}


def drawn(seed: int, smooth: bool = True, products: bool = False) -> Drawn:
    """A random network, with or without functions that are not rational, and products, clamps and the like."""
    source = random.Random(seed)
    channels = source.choice([1, 3])
    shape = (channels, source.randrange(3, 7), source.randrange(3, 7))
    dtype = source.choice(["F32", "F64"])
    layers: list[dict[str, Any]] = []
    tensors: dict[str, Any] = {}
    shapes: dict[str, Shape] = {"picture": shape}
    size = 2.0 ** source.choice([-20, -1, 0, 0, 3])

    def number(scale: float = 1.0) -> float:
        value = source.choice([source.gauss(0, scale), source.randrange(-8, 9) / 8 * scale, 0.0])
        return float(files.struct.unpack("<f", files.struct.pack("<f", value))[0]) if dtype == "F32" else value

    def put(kind: str, *inputs: str, **fields: Any) -> None:
        name = f"{kind}.{len(layers)}"
        each = layer(name, kind, *inputs, **fields)
        layers.append(each)
        zeros = dict.fromkeys(product(*map(range, shapes[inputs[0]])), 0)
        found, _ = _given(
            each,
            [
                (shapes[i], zeros if i == inputs[0] else dict.fromkeys(product(*map(range, shapes[i])), 0))
                for i in inputs
            ],
            tensors,
            _SHAPES,
        )
        shapes[name] = found

    def pair(low: int, high: int) -> list[int]:
        return [source.randint(low, high), source.randint(low, high)]

    def last() -> str:
        return layers[-1]["name"] if layers else "picture"

    kinds = ["conv2d", "relu", "leaky_relu", "max_pool2d", "avg_pool2d", "upsample_nearest", "add", "concat"]
    kinds += ["multiply", "clamp", "clamp"] if products else []
    functions = ["sigmoid", "tanh", *(["gaussian", "inverse_root"] if products else [])] if smooth else []
    for step in range(source.randint(3, 7)):
        kind = "conv2d" if step == 0 else source.choice([*kinds, "conv2d", *functions])
        now = shapes[last()]
        if kind == "conv2d":
            groups = source.choice([g for g in (1, 2, 3) if now[0] % g == 0])
            outputs = groups * source.randint(1, 2)
            dilation = pair(1, 2)
            padding = pair(0, 2)
            room = [(now[1 + i] + 2 * padding[i] - 1) // dilation[i] + 1 for i in (0, 1)]
            kernel = [source.randint(1, min(3, room[i])) for i in (0, 1)]
            name = f"conv2d.{len(layers)}"
            tensors[f"{name}.weight"] = [
                [[[number(size) for _ in range(kernel[1])] for _ in range(kernel[0])] for _ in range(now[0] // groups)]
                for _ in range(outputs)
            ]
            if source.random() < 0.7:
                tensors[f"{name}.bias"] = [number() for _ in range(outputs)]
            put("conv2d", last(), stride=pair(1, 2), padding=padding, dilation=dilation, groups=groups)
        elif kind in ("max_pool2d", "avg_pool2d"):
            padding = pair(0, 1)
            kernel = [max(2 * padding[i], source.randint(1, min(3, now[1 + i] + 2 * padding[i]))) for i in (0, 1)]
            put(kind, last(), kernel=kernel, stride=pair(1, 2), padding=padding)
        elif kind == "upsample_nearest":
            if prod(now) < 100:
                put(kind, last(), scale=pair(1, 2))
        elif kind in ("add", "concat"):
            others = [
                name for name, other in shapes.items() if other[1:] == now[1:] and (kind != "add" or other == now)
            ]
            put(kind, last(), source.choice(others))
        elif kind == "multiply":
            factor = last()
            if len(now) == 3 and source.random() < 0.6:
                if source.random() < 0.5:
                    put("avg_pool2d", last(), kernel=list(now[1:]), stride=[1, 1])
                else:
                    tensors[f"conv2d.{len(layers)}.weight"] = [[[[number()]] for _ in range(now[0])]]
                    put("conv2d", last())
            put(kind, factor, last())
        elif kind == "clamp":
            ends = sorted([number(), number(), source.choice([0.0, 0.1])])
            put(kind, last(), lower=ends[0].hex(), upper=ends[-1].hex())
        elif kind == "inverse_root":
            put("sigmoid", last())
            put(kind, last())
        elif kind == "leaky_relu":
            put(kind, last(), slope=source.choice([0.0, 0.25, 0.1, 1.0]).hex())
        else:
            put(kind, last())
    if source.random() < 0.4:
        put("flatten", last())
        rows = [[number(size) for _ in range(shapes[last()][0])] for _ in range(source.randint(1, 3))]
        tensors[f"linear.{len(layers)}.weight"] = rows
        put("linear", last())
    read = {name for each in layers for name in each["inputs"]}
    unread = [each["name"] for each in layers[:-1] if each["name"] not in read]
    if unread:  # a branch that was dropped
        raise ValueError(f"{unread} are read by no layer")
    mean, std = [number(0.5) for _ in range(channels)], [source.choice([1.0, 0.5, 0.229]) for _ in range(channels)]
    return Drawn(layers, tensors, shape, mean, std, dtype)


_SHAPES = Numbers(lambda value: 0, lambda values: 0, dict.fromkeys(_SMOOTH, lambda x: 0))
"""Numbers of which only their places matter."""


def of_program(count: int) -> list[Drawn]:
    """Networks of layers of every kind that the proved program knows, in binary64."""
    found: list[Drawn] = []
    for seed in range(10**6):
        with suppress(ValueError):
            network = replace(drawn(seed, products=True), dtype="F64")
            found += [network] * all(each["kind"] != "gaussian" for each in network.layers)
        if len(found) == count:
            break
    return found


def network_of(data: bytes) -> Drawn:
    """The network of a file, read again."""
    header, _ = split(data)
    description = json.loads(header["__metadata__"]["verale.network"])
    tensors = {name: _nested(entries(data, name)[0], each["shape"]) for name, each in header.items() if name[:1] != "_"}
    start = description["input"]
    mean, std = ([float.fromhex(end) for end in start[name]] for name in ("mean", "std"))
    return Drawn(description["layers"], tensors, tuple(start["shape"]), mean, std)


def _nested(values: list[float], shape: list[int]) -> Any:
    if len(shape) == 1:
        return values
    size = len(values) // shape[0]
    return [_nested(values[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def true_latents(network: Drawn, picture: list[list[list[int]]]) -> list[list[Any]]:
    """The latents (L, D), in balls."""
    shape, values = given(network, files.flat(picture), balls())[network.layers[-1]["name"]]
    return [[values[d, y, x] for d in range(shape[0])] for y, x in product(range(shape[1]), range(shape[2]))]
