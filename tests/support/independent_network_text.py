"""The texts of networks, as `verale/checker/proved/text.py` writes them, written again from the files, with readers
of its own."""

from __future__ import annotations

import json
from typing import Any

from support.editing import entries, split
from support.small_networks import network_text

__all__ = ["text_of_network"]


def text_of_network(data: bytes) -> bytes:
    """The text of a network file."""
    header, _ = split(data)
    description = json.loads(header["__metadata__"]["verale.network"])
    start = description["input"]
    numbers = {"picture": 0} | {each["name"]: at for at, each in enumerate(description["layers"], 1)}
    layers = [
        {"kind": each["kind"], "inputs": [numbers[name] for name in each["inputs"]], **_fields(each, data, header)}
        for each in description["layers"]
    ]
    mean, std = ([float.fromhex(end) for end in start[name]] for name in ("mean", "std"))
    return network_text({"shape": start["shape"], "mean": mean, "std": std, "layers": layers})


def _fields(each: dict[str, Any], data: bytes, header: dict[str, Any]) -> dict[str, Any]:
    fields = {name: each[name] for name in ("stride", "padding", "groups", "scale", "kernel") if name in each}
    fields |= {name: float.fromhex(each[name]) for name in ("slope", "lower", "upper") if name in each}
    if "kernel" in fields or "stride" in fields:
        fields["dilation"] = each.get("dilation", [1, 1])
    name = f"{each['name']}.weight"
    if each["kind"] not in ("conv2d", "linear"):
        return fields
    values, sizes = entries(data, name)[0], header[name]["shape"]
    if len(sizes) == 4:
        fields["kernel"] = sizes[2:]
    width = len(values) // sizes[0]
    fields["weight"] = [values[at : at + width] for at in range(0, len(values), width)]
    bias = f"{each['name']}.bias"
    return fields | {"bias": entries(data, bias)[0] if bias in header else [0.0] * sizes[0]}
