"""Changes to a stored file: its header, the description of a head, the entries of a tensor."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

from support import files
from support.files import Document


def split(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the body of a safetensors file."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(header: dict[str, Any], body: bytes) -> bytes:
    """A safetensors file of a header and a body."""
    return files.framed(json.dumps(header).encode(), body)


def described(head: bytes, change: Callable[[Document], None]) -> bytes:
    """A head with its description changed."""
    header, body = split(head)
    description = json.loads(header["__metadata__"]["verale.head"])
    change(description)
    header["__metadata__"]["verale.head"] = json.dumps(description)
    return joined(header, body)


def entries(head: bytes, name: str) -> tuple[list[float], Callable[[list[float]], bytes]]:
    """The entries of a tensor of binary64, and a function from other entries to the head with them."""
    header, body = split(head)
    begin, end = header[name]["data_offsets"]
    code = f"<{(end - begin) // 8}d"

    def rebuilt(values: list[float]) -> bytes:
        return joined(header, body[:begin] + struct.pack(code, *values) + body[end:])

    return list(struct.unpack(code, body[begin:end])), rebuilt
