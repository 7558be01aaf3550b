"""Damaged files, for every kind of file that a command reads. The draws depend on the generator alone."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

TEXTS = ("", "\n", "\x1b[2K", "é\u202e", "\ud800", "PROVED", "../../x", "/", "0x1p+0", "nan", "-1", "1e999", "a" * 300)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**40, 0.5, -0.0, 1e308, float("nan"), float("inf")),
    *([], {}, [[]], [None], {"": None}, *TEXTS),
)


def damaged(data: bytes, draw: random.Random) -> bytes:
    """A variant of a file: cut, changed, repeated, hostile, or, where it holds JSON, with other values in it."""
    kinds = [_cut, _flipped, _inserted, _repeated, _hostile]
    if data[:1] in (b"{", b"["):
        kinds += [_json] * 10
    elif 8 <= int.from_bytes(data[:8], "little") + 8 <= len(data):
        kinds += [_safetensors] * 10
    elif b"," in data[:20]:
        kinds += [_csv] * 5
    return draw.choice(kinds)(data, draw)


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _flipped(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 3, 30))):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _inserted(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice((b"\0", b"\xff\xfe", b"\n", b'"', b"[" * 3000, b"9" * 5000, b",")) + data[at:]


def _repeated(data: bytes, draw: random.Random) -> bytes:
    return data * draw.choice((2, 3))


def _hostile(data: bytes, draw: random.Random) -> bytes:
    texts = (
        b"",
        b"\0" * 64,
        b"null",
        b"[]",
        b"{}",
        b"1",
        b'"x"',
        b"\n\n",
        b"\xff" * 40,
        b"[" * 100000,
        b"PAR1",
        b"PK\3\4",
    )
    return draw.choice(texts)


def _json(data: bytes, draw: random.Random) -> bytes:
    """One of the documents in it (one a line, or one in all), with one or two values changed."""
    try:
        value = json.loads(data)
    except ValueError:
        lines = data.split(b"\n")
        at = draw.randrange(len(lines))
        return b"\n".join([*lines[:at], _json(lines[at], draw) if lines[at] else b"{}", *lines[at + 1 :]])
    for _ in range(draw.choice((1, 1, 2))):
        value = _varied(value, draw)
    return (json.dumps(value) + "\n" * data.endswith(b"\n")).encode("utf-8", "surrogatepass")


def _varied(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        if draw.random() < 0.15:
            return {name: each for name, each in value.items() if name != key}
        if draw.random() < 0.1:
            return {draw.choice(TEXTS) if name == key else name: each for name, each in value.items()}
        return value | {key: _varied(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        if draw.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], _varied(value[at], draw), *value[at + 1 :]]
    if isinstance(value, str) and value.startswith("{"):
        return json.dumps(_varied(json.loads(value), draw))
    return draw.choice(VALUES)


def _safetensors(data: bytes, draw: random.Random) -> bytes:
    """Its header changed, or its numbers."""
    length = int.from_bytes(data[:8], "little")
    header, body = data[8 : 8 + length], data[8 + length :]
    if draw.random() < 0.3 and len(body) >= 8:
        at = 4 * draw.randrange(len(body) // 4 - 1)
        word = struct.pack("<d", draw.choice((0.0, float("nan"), float("inf"), 1e308, 5e-324, -1.0)))
        return data[: 8 + length] + body[:at] + word + body[at + 8 :]
    header = _json(header.rstrip(), draw)
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + body


def _csv(data: bytes, draw: random.Random) -> bytes:
    """One cell changed."""
    lines = data.decode("utf-8", "replace").split("\n")
    at = draw.randrange(len(lines))
    cells = lines[at].split(",")
    cells[draw.randrange(len(cells))] = str(draw.choice((*VALUES, "9" * 5000, '"')))
    lines[at] = ",".join(cells)
    return "\n".join(lines).encode("utf-8", "surrogatepass")
