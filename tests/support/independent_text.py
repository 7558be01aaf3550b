"""The texts of `verale/checker/proved/text.py`, written again from the files' bytes: the same grammar, read apart.

Every float becomes a fraction, every group of numbers gets its unit from the fractions' denominators.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import Any

from support.arithmetic import Matrix, Vector
from support.editing import entries, split
from support.exact import Head
from support.files import flat

_IN_ORDER = {
    "cosine": ("epsilon",),
    "rooted_cosine": ("epsilon",),
    "log_ratio": ("epsilon",),
    "exp_distance": ("epsilon",),
    "threshold": ("threshold",),
    "top_mean": ("k",),
    "steps": ("steps",),
    "soft_tree": ("absent", "present"),
}
"""The fields of a kind. Those of inner_product are none, or its radius as an option."""


def text_of_head(data: bytes) -> bytes:
    """The text of a head file."""
    head = Head.read(data)
    tree, maximum = head.kind("readout") == "soft_tree", head.kind("readout") == "maximum"
    classes = len(head.weight)
    count = len(head.weight[0]) - tree
    points = head.prototypes or []
    ends = [None if end is None else float.fromhex(end) for end in map(head.part("domain").get, ("lower", "upper"))]
    bias = head.bias or [0.0] * (count if maximum else classes)
    items = ["head", _hex(len(points[0]) if points else count), _hex(count), _hex(classes)]
    items += [item for name in ("geometry", "similarity") for item in _part(head.part(name))]
    items += [*_pooling(head, count), *_part(head.part("readout"))]
    unit = _unit([*flat(points), *(end for end in ends if end is not None)])
    items += [_hex(unit), *_rows(points, unit)]
    for end in ends:
        items += ["none"] if end is None else ["some", _times(end, unit)]
    unit = _unit([*flat(head.weight), *bias])
    items += [_hex(unit), *_rows(head.weight, unit), *_row(bias, unit)]
    for own, default in ((head.scale, 1.0), (head.peak, 0.0)):
        kept = [] if own is None or set(own) == {default} else own
        items += [_hex(_unit(kept)), *_row(kept, _unit(kept))]
    return _joined(items)


def text_of_certificate(data: bytes) -> bytes:
    """The text of a certificate file."""
    predicate = json.loads(data)["predicate"]
    given = [s.get("interval", [s.get("lower"), s.get("upper")]) for s in predicate["statements"]]
    ends = [[None if end is None else float.fromhex(end) for end in interval] for interval in given]
    margins = [0.0 if margin is None else float.fromhex(margin) for margin in predicate["margins"]]
    unit = _unit(end for end in flat(ends) if end is not None)
    items = ["certificate", _hex(predicate["predicted"]), _hex(predicate["patches"])]
    items += [_hex(unit), _hex(len(predicate["statements"]))]
    for statement, interval in zip(predicate["statements"], ends, strict=True):
        if "rivals" in statement:
            rivals = statement["rivals"]
            items += ["sum", "none"] if rivals is None else ["sum", "some", _hex(len(rivals)), *map(_hex, rivals)]
            interval = interval[1:]
        elif "except" in statement:
            items += ["others", _hex(len(statement["except"])), *map(_hex, statement["except"])]
        elif "patch" in statement:
            items += ["patch", _hex(statement["patch"]), _hex(statement["prototype"])]
        else:
            items += ["activation", _hex(statement["prototype"])]
        items += ["none" if end is None else _times(end, unit) for end in interval]
    unit = _unit(margins)
    return _joined([*items, _hex(unit), *_row(margins, unit)])


def text_of_prices(certificate: bytes, head: bytes) -> bytes:
    """The text of the prices among a certificate's hints."""
    count = len(Head.read(head).weight[0])
    entries = json.loads(certificate)["predicate"]["hints"].get("prices", [])
    items = ["prices", _hex(len(entries))]
    for entry in entries:
        row = [0.0] * count
        for k, price in zip(entry["prototypes"], entry["prices"], strict=True):
            row[k] = float.fromhex(price)
        items += [_hex(entry["rival"]), _hex(_unit(row)), *_row(row, _unit(row))]
    return _joined(items)


def text_of_addition(certificate: bytes) -> bytes:
    """What the paradigm adds to the reference margin, in a word."""
    paradigm = json.loads(certificate)["predicate"]["paradigm"]
    return b"joint" if paradigm == "joint" else b"prices" if paradigm == "assignment" else b"nothing"


def text_of_image(image: Matrix) -> bytes:
    """The text of latents (L, D)."""
    return _joined(["image", _hex(len(image)), *(struct.pack(f">{len(row)}d", *row).hex() for row in image)])


def text_of_network(data: bytes) -> bytes:
    """The text of a network file."""
    header, _ = split(data)
    description = json.loads(header["__metadata__"]["verale.network"])
    start, layers = description["input"], description["layers"]
    numbers = {"picture": 0} | {each["name"]: at for at, each in enumerate(layers, 1)}
    items = ["network", *map(_hex, start["shape"])]
    items += [item for part in ("mean", "std") for item in (_hex(len(start[part])), *_ratios(start[part]))]
    items.append(_hex(len(layers)))
    for each in layers:
        items += [_hex(len(each["inputs"])), *(_hex(numbers[name]) for name in each["inputs"]), each["kind"]]
        weight = f"{each['name']}.weight"
        if "stride" in each:
            kernel = each["kernel"] if "kernel" in each else header[weight]["shape"][2:]
            items += map(_hex, [*kernel, *each["stride"], *each["padding"], *each.get("dilation", [1, 1])])
        items += [_hex(each["groups"])] if "groups" in each else []
        items += _ratios(each[name] for name in ("slope", "lower", "upper") if name in each)
        items += map(_hex, each.get("scale", ()))
        if weight in header:
            values, rows = entries(data, weight)[0], header[weight]["shape"][0]
            bias = f"{each['name']}.bias"
            biases = entries(data, bias)[0] if bias in header else [0.0] * rows
            width, unit = len(values) // rows, _unit([*values, *biases])
            items += [_hex(unit), *_rows([values[at : at + width] for at in range(0, len(values), width)], unit)]
            items += _row(biases, unit)
    return _joined(items)


def text_of_picture(picture: Iterable[int]) -> bytes:
    """The text of a picture's bytes."""
    return _joined(["picture", bytes(picture).hex()])


def _ratios(numbers: Iterable[str]) -> list[str]:
    return [item for number in numbers for item in _ratio(number)]


def _pooling(head: Head, count: int) -> list[str]:
    """The pooling; two banks are a mask of two columns."""
    part, mask = head.part("pooling"), head.mask
    if part["kind"] == "banks":
        token = part["class_token"]
        part, mask = {"kind": "masked_max"}, [[1.0, 0.0]] * token + [[0.0, 1.0]] * (count - token)
    return _part(part) if mask is None else [*_part(part), *_rows(mask, 1)]


def _part(part: dict[str, Any]) -> list[str]:
    """A part of a head: its kind, and the fields of the kind."""
    kind = part["kind"]
    items: list[str] = [kind]
    if kind == "inner_product":
        radius = part["radius"]
        return [*items, "none"] if radius is None else [*items, "some", *_ratio(radius)]
    for name in _IN_ORDER.get(kind, ()):
        match part[name]:
            case str() as number:
                items += _ratio(number)
            case [dict(), *_] as steps:
                items += [_hex(len(steps)), *(item for step in steps for item in _step(step))]
            case list() as children:
                items += map(_hex, (len(children), *children))
            case whole:
                items.append(_hex(whole))
    return items


def _step(step: dict[str, str]) -> list[str]:
    """A step of a similarity: its kind, and its numbers."""
    return [
        step["kind"],
        *(item for name in ("number", "over", "under") if name in step for item in _ratio(step[name])),
    ]


def _ratio(number: str) -> list[str]:
    return list(map(_hex, float.fromhex(number).as_integer_ratio()))


def _unit(values: Iterable[float]) -> int:
    """The least common denominator."""
    return lcm(*(value.as_integer_ratio()[1] for value in values))


def _rows(rows: Matrix, unit: int) -> list[str]:
    return [_hex(len(rows)), *(item for row in rows for item in _row(row, unit))]


def _row(row: Vector, unit: int) -> list[str]:
    return [_hex(len(row)), *(_times(value, unit) for value in row)]


def _times(value: float, unit: int) -> str:
    product = Fraction(value) * unit
    return _hex(product.numerator)


def _hex(number: int) -> str:
    return ("-" if number < 0 else "") + hex(abs(number))[2:]


def _joined(items: list[str]) -> bytes:
    return " ".join(items).encode() + b"\n"
