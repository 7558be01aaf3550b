"""Networks of a few numbers, as dictionaries that read as certificates/network-v1.md does: drawn at random, computed
exactly, and written as the text that `proofs/rocq/front/network_reader.ml` reads.

Each layer is a dictionary with `kind`, `inputs` (0 is the picture, 1 the first layer) and the fields of its kind;
`weight` is a list of rows, `bias` a list. What a layer gives is a list of planes, which are lists of rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

__all__ = ["drawn", "latents", "network_text", "picture_text", "shape_of"]

Planes = list[list[list[Fraction]]]
Layer = dict[str, Any]


def drawn(seed: int) -> tuple[dict[str, Any], list[int]]:
    """A network whose output has rows and columns, and a picture: layers of every kind, some with two inputs."""
    generator = random.Random(seed)
    shape = (generator.choice((1, 3)), generator.randint(3, 6), generator.randint(3, 6))
    network: dict[str, Any] = {
        "shape": shape,
        "mean": [_float(generator) for _ in range(shape[0])],
        "std": [abs(_float(generator)) + 0.25 for _ in range(shape[0])],
        "layers": [],
    }
    picture = [generator.randrange(256) for _ in range(shape[0] * shape[1] * shape[2])]
    shapes = [shape]
    kinds = ["conv2d", "relu", "leaky_relu", "sigmoid", "tanh", "max_pool2d", "avg_pool2d", "upsample_nearest"]
    kinds += ["clamp", "multiply", "multiply", "inverse_root"]
    for kind in generator.choices([*kinds, "add", "concat", "conv2d"], k=generator.randint(2, 5)):
        inputs = [generator.randrange(len(shapes))]
        if kind == "inverse_root":  # of what is positive
            network["layers"].append({"kind": "sigmoid", "inputs": inputs})
            shapes.append(shapes[inputs[0]])
            inputs = [len(shapes) - 1]
        if kind == "multiply":
            fits = [i for i, each in enumerate(shapes) if _repeats(shapes[inputs[0]], each)]
            inputs += [generator.choice(fits)]
        if kind == "concat":
            same = [i for i, each in enumerate(shapes) if each[1:] == shapes[inputs[0]][1:]]
            inputs += [generator.choice(same)]
        if kind == "add":
            inputs += [generator.choice([i for i, each in enumerate(shapes) if each == shapes[inputs[0]]])]
        layer = {"kind": kind, "inputs": inputs, **_fields(kind, shapes[inputs[0]], generator)}
        network["layers"].append(layer)
        shapes.append(shape_of(layer, [shapes[i] for i in inputs]))
    if generator.random() < 0.3:
        network["layers"].append({"kind": "flatten", "inputs": [len(shapes) - 1]})
        c, h, w = shapes[-1]
        rows = [[_float(generator) for _ in range(c * h * w)] for _ in range(2)]
        network["layers"].append({"kind": "linear", "inputs": [len(shapes)], "weight": rows, "bias": [0.5, -0.25]})
    return network, picture


def _repeats(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether a product can repeat what has the other shape."""
    return all(b in (a, 1) for a, b in zip(shape, other, strict=True))


def _fields(kind: str, shape: tuple[int, int, int], generator: random.Random) -> Layer:
    channels, height, width = shape
    if kind == "leaky_relu":
        return {"slope": generator.choice((0.0, 0.125, 0.3, 1.0))}
    if kind == "clamp":
        return dict(zip(("lower", "upper"), sorted((_float(generator), _float(generator))), strict=True))
    if kind == "upsample_nearest":
        return {"scale": (generator.randint(1, 2), generator.randint(1, 2))}
    if kind not in ("conv2d", "max_pool2d", "avg_pool2d"):
        return {}
    kernel = (generator.randint(1, min(3, height)), generator.randint(1, min(3, width)))
    stride = (generator.randint(1, 2), generator.randint(1, 2))
    if kind != "conv2d":
        padding = tuple(generator.randint(0, size // 2) for size in kernel)
        return {"kernel": kernel, "stride": stride, "padding": padding, "dilation": (1, 1)}
    dilation = tuple(
        generator.randint(1, 2) if 2 * (k - 1) < size else 1 for k, size in zip(kernel, shape[1:], strict=True)
    )
    groups = generator.choice([g for g in range(1, channels + 1) if channels % g == 0])
    outputs = groups * generator.randint(1, 2)
    terms = channels // groups * kernel[0] * kernel[1]
    return {
        "kernel": kernel,
        "stride": stride,
        "padding": (generator.randint(0, 2), generator.randint(0, 2)),
        "dilation": dilation,
        "groups": groups,
        "weight": [[_float(generator) for _ in range(terms)] for _ in range(outputs)],
        "bias": [_float(generator) for _ in range(outputs)],
    }


def _float(generator: random.Random) -> float:
    return generator.choice((0.0, 1.0, generator.uniform(-1, 1), generator.randint(-64, 64) / 32))


def shape_of(layer: Layer, shapes: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    """What a layer gives of what has these shapes."""
    channels, height, width = shapes[0]
    match layer["kind"]:
        case "conv2d" | "max_pool2d" | "avg_pool2d" as kind:
            rows, columns = (
                (size + 2 * p - d * (k - 1) - 1) // s + 1
                for size, k, s, p, d in zip((height, width), *_windows(layer), strict=True)
            )
            return (len(layer["weight"]) if kind == "conv2d" else channels, rows, columns)
        case "linear":
            return len(layer["weight"]), 1, 1
        case "concat":
            return sum(shape[0] for shape in shapes), height, width
        case "flatten":
            return channels * height * width, 1, 1
        case "upsample_nearest":
            return channels, height * layer["scale"][0], width * layer["scale"][1]
    return shapes[0]


def _windows(layer: Layer) -> list[tuple[int, int]]:
    return [layer[name] for name in ("kernel", "stride", "padding", "dilation")]


def latents(network: dict[str, Any], picture: list[int]) -> list[list[Fraction]]:
    """The latents (L, D), exact but for sigmoid, tanh and inverse roots, which are right to some 50 digits."""
    _, height, width = network["shape"]
    at = iter(picture)
    known: list[Planes] = [
        [
            [[(Fraction(next(at), 255) - Fraction(mean)) / Fraction(std) for _ in range(width)] for _ in range(height)]
            for mean, std in zip(network["mean"], network["std"], strict=True)
        ]
    ]
    for layer in network["layers"]:
        known.append(_given(layer, [known[i] for i in layer["inputs"]]))
    return [[plane[y][x] for plane in known[-1]] for y in range(len(known[-1][0])) for x in range(len(known[-1][0][0]))]


def _given(layer: Layer, read: list[Planes]) -> Planes:
    planes = read[0]
    size = len(planes), len(planes[0]), len(planes[0][0])
    channels, rows, columns = shape_of(layer, [(len(each), size[1], size[2]) for each in read])
    if layer["kind"] == "concat":
        return [plane for each in read for plane in each]

    def met(c: int, y: int, x: int) -> list[Fraction | None]:
        kernel, stride, padding, dilation = _windows(layer)
        found: list[Fraction | None] = []
        for a, b in product(range(kernel[0]), range(kernel[1])):
            row = y * stride[0] + a * dilation[0] - padding[0]
            column = x * stride[1] + b * dilation[1] - padding[1]
            inside = 0 <= row < size[1] and 0 <= column < size[2]
            found.append(planes[c][row][column] if inside else None)
        return found

    def entry(c: int, y: int, x: int) -> Fraction:
        match layer["kind"]:
            case "conv2d":
                own = size[0] // layer["groups"]
                first = c * layer["groups"] // channels * own
                values = [value or Fraction(0) for i in range(own) for value in met(first + i, y, x)]
                return Fraction(layer["bias"][c]) + _dot(layer["weight"][c], values)
            case "linear":
                return Fraction(layer["bias"][c]) + _dot(layer["weight"][c], [plane[0][0] for plane in planes])
            case "max_pool2d":
                return max(value for value in met(c, y, x) if value is not None)
            case "avg_pool2d":
                values = met(c, y, x)
                return sum((value or Fraction(0) for value in values), Fraction(0)) / len(values)
            case "add":
                return sum((each[c][y][x] for each in read), Fraction(0))
            case "multiply":
                factors = read[1]
                plane = factors[c % len(factors)]
                return planes[c][y][x] * plane[y % len(plane)][x % len(plane[0])]
            case "flatten":
                return planes[c // (size[1] * size[2])][c // size[2] % size[1]][c % size[2]]
            case "upsample_nearest":
                return planes[c][y // layer["scale"][0]][x // layer["scale"][1]]
        return _FUNCTIONS[layer["kind"]](planes[c][y][x], layer)

    return [[[entry(c, y, x) for x in range(columns)] for y in range(rows)] for c in range(channels)]


def _dot(weights: Iterable[float], values: Iterable[Fraction]) -> Fraction:
    return sum((Fraction(weight) * value for weight, value in zip(weights, values, strict=True)), Fraction(0))


def _exp(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def _inverse_root(x: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction(1 / (Decimal(x.numerator) / Decimal(x.denominator)).sqrt())


_FUNCTIONS: dict[str, Callable[[Fraction, Layer], Fraction]] = {
    "relu": lambda x, _: max(Fraction(0), x),
    "clamp": lambda x, layer: min(Fraction(layer["upper"]), max(Fraction(layer["lower"]), x)),
    "inverse_root": lambda x, _: _inverse_root(x),
    "leaky_relu": lambda x, layer: x if x >= 0 else Fraction(layer["slope"]) * x,
    "sigmoid": lambda x, _: 1 / (1 + _exp(-x)),
    "tanh": lambda x, _: (_exp(x) - _exp(-x)) / (_exp(x) + _exp(-x)),
}


def network_text(network: dict[str, Any]) -> bytes:
    """The text of a network."""
    items = ["network", *map(_hex, network["shape"])]
    for name in ("mean", "std"):
        items += [_hex(len(network[name])), *(item for each in network[name] for item in _ratio(each))]
    items.append(_hex(len(network["layers"])))
    for layer in network["layers"]:
        kind = layer["kind"]
        items += [_hex(len(layer["inputs"])), *map(_hex, layer["inputs"]), kind]
        if "kernel" in layer:
            items += [_hex(number) for pair in _windows(layer) for number in pair]
        items += [_hex(layer["groups"])] if kind == "conv2d" else []
        items += _ratio(layer["slope"]) if kind == "leaky_relu" else []
        items += [item for end in ("lower", "upper") if kind == "clamp" for item in _ratio(layer[end])]
        items += map(_hex, layer.get("scale", ()))
        if "weight" in layer:
            rows = [*layer["weight"], layer["bias"]]
            unit = lcm(*(float(value).as_integer_ratio()[1] for row in rows for value in row))
            times = [[_hex(int(Fraction(value) * unit)) for value in row] for row in rows]
            items += [_hex(unit), _hex(len(layer["weight"]))]
            items += [item for row in times for item in (_hex(len(row)), *row)]
    return " ".join(items).encode() + b"\n"


def picture_text(picture: list[int]) -> bytes:
    """The text of a picture."""
    return b"picture " + bytes(picture).hex().encode() + b"\n"


def _ratio(value: float) -> list[str]:
    return list(map(_hex, float(value).as_integer_ratio()))


def _hex(number: int) -> str:
    return ("-" if number < 0 else "") + hex(abs(number))[2:]
