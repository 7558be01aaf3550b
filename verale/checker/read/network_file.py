"""The network file (certificates/network-v1.md), read and checked; nothing is computed of its tensors yet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

from ..dyadic import hex_float
from ..errors import FormatError, NetworkError
from .json_reader import brief, fields, index, text
from .layers import FIELDS, MOST_ENTRIES, PICTURE, TENSORS, Layer, Network, Pair, Settings, Shape, built
from .safetensors_reader import Tensor, read_described

__all__ = ["LARGEST", "METADATA_KEY", "MOST_LAYERS", "MOST_PRODUCTS", "is_name", "read_network"]

LARGEST = 2**30
"""Bytes."""
MOST_LAYERS = 4096
MOST_PRODUCTS = 2**36
"""Of all layers together."""
METADATA_KEY = "verale.network"
_NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_LONGEST_NAME = 128
_GREATEST = 4096
"""The largest stride, padding, dilation, kernel and scale."""


def read_network(data: bytes) -> Network:
    """The network of a file's bytes. Raises NetworkError, which names the field, layer or tensor."""
    try:
        return _read(data)
    except FormatError as error:
        raise NetworkError(f"network file: {error}") from None


def is_name(name: str) -> bool:
    """Whether a layer may have this name."""
    return _NAME.fullmatch(name) is not None and len(name) <= _LONGEST_NAME


def _read(data: bytes) -> Network:
    description, tensors = read_described(data, LARGEST, METADATA_KEY, ("version", "input", "layers"))
    start = fields(description["input"], "input", ("shape", "mean", "std"))
    shape = _shape(start["shape"])
    mean, std = (_numbers(start[name], f"input.{name}", shape[0]) for name in ("mean", "std"))
    if min(std) <= 0:
        raise FormatError("input.std has a number that is not positive, expected what a picture is divided by")
    layers = _layers(description["layers"], shape, tensors)
    return Network(hashlib.sha256(data).hexdigest(), len(data), shape, mean, std, layers)


def _layers(values: Any, shape: Shape, tensors: dict[str, Tensor]) -> tuple[Layer, ...]:
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_LAYERS:
        raise FormatError(f"layers is {brief(values)}, expected a list of 1 to {MOST_LAYERS} layers")
    shapes, layers = {PICTURE: shape}, []
    read: set[str] = set()
    belonging: set[str] = set()
    for number, value in enumerate(values):
        layer = _layer(value, f"layers[{number}]", shapes, tensors)
        belonging.update(f"{layer.name}.{own}" for own in layer.tensors)
        read.update(layer.inputs)
        shapes[layer.name] = layer.shape
        layers.append(layer)
    unread = [layer.name for layer in layers[:-1] if layer.name not in read]
    if unread:
        raise FormatError(f"layer {unread[0]} is read by no layer, expected this of the last one alone")
    for name in tensors:
        if name not in belonging:
            raise FormatError(f"tensor {brief(name)} belongs to no layer, expected NAME.weight, NAME.bias and the like")
    products = sum(layer.products for layer in layers)
    if products > MOST_PRODUCTS:
        raise FormatError(f"all layers have {products} products, expected at most {MOST_PRODUCTS}")
    return tuple(layers)


def _layer(value: Any, where: str, shapes: dict[str, Shape], tensors: dict[str, Tensor]) -> Layer:
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in FIELDS:
        raise FormatError(f"{where} is {brief(value)}, expected an object whose kind is one of {', '.join(FIELDS)}")
    fields(value, where, ("name", "kind", "inputs", *FIELDS[kind]))
    name, inputs = text(value["name"], f"{where}.name"), value["inputs"]
    if not is_name(name):
        raise FormatError(f"{where}.name is {brief(name)}, expected letters, digits and _ with single dots between")
    if name in shapes:
        raise FormatError(f"{where}.name is {brief(name)}, expected one that is neither {PICTURE} nor taken")
    if not isinstance(inputs, list):
        raise FormatError(f"{where}.inputs is {brief(inputs)}, expected a list of names")
    for each in inputs:
        if not isinstance(each, str) or each not in shapes:
            raise FormatError(f"{where} ({name}) reads {brief(each)}, expected {PICTURE} or an earlier layer")
    own = {each: tensors[f"{name}.{each}"] for each in TENSORS.get(kind, ()) if f"{name}.{each}" in tensors}
    if kind in TENSORS and "weight" not in own:
        raise FormatError(f"the tensor '{name}.weight' is missing")
    given: dict[str, Any] = {field: _READERS[field](value[field], f"{where}.{field}") for field in FIELDS[kind]}
    return built(name, kind, shapes, inputs, own, Settings(**given))


def _slope(value: Any, where: str) -> Fraction:
    slope = _number(value, where)
    if not 0 <= slope <= 1:
        raise FormatError(f"{where} is {brief(value)}, expected a number from 0 to 1")
    return slope


def _padding(value: Any, where: str) -> Pair:
    return _pair(value, where, 0)


def _pair(value: Any, where: str, least: int = 1) -> Pair:
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError(f"{where} is {brief(value)}, expected two integers, [of rows, of columns]")
    first, second = (index(each, where) for each in value)
    if not (least <= first <= _GREATEST and least <= second <= _GREATEST):
        raise FormatError(f"{where} is {brief(value)}, expected integers from {least} to {_GREATEST}")
    return first, second


_READERS: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("stride", "dilation", "kernel", "scale"), _pair),
    "padding": _padding,
    "groups": index,
    "slope": _slope,
}


def _shape(value: Any) -> tuple[int, int, int]:
    if not isinstance(value, list) or len(value) != 3:
        raise FormatError(f"input.shape is {brief(value)}, expected [C, H, W]")
    channels, rows, columns = (index(each, "input.shape") for each in value)
    if channels not in (1, 3) or min(rows, columns) < 1 or prod((channels, rows, columns)) > MOST_ENTRIES:
        raise FormatError(
            f"input.shape is {brief(value)}, expected 1 or 3 channels, rows and columns from 1, and at most"
            f" {MOST_ENTRIES} entries"
        )
    return channels, rows, columns


def _numbers(value: Any, where: str, count: int) -> tuple[Fraction, ...]:
    if not isinstance(value, list) or len(value) != count:
        raise FormatError(f"{where} is {brief(value)}, expected {count} hex floats, one a channel")
    return tuple(_number(each, where) for each in value)


def _number(value: Any, where: str) -> Fraction:
    number = hex_float(text(value, where))
    if number is None:
        raise FormatError(f"{where} is {brief(value)}, expected the hex float of a finite binary64, such as '0x1.8p+0'")
    return number
