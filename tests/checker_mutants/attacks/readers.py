"""Attacks on what reads files, at the very limits that certificates/v1.md sets. Each returns what it finds wrong, ""
for nothing."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from math import prod
from typing import Any
from unittest.mock import patch

from checker_mutants.mutant import Import
from support import files
from support.editing import joined, split

from verale.soundness.paths import CERTIFICATES

__all__ = ["json_at_its_limits", "tensors_at_their_limits"]

_MEGABYTE = 2**20
_SIZES = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2}
_SIZES |= {"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8}


def json_at_its_limits(module: Import, kernel: str) -> str:
    """What v1.md just admits is read, and what it just does not is a FormatError."""
    reader, error = module("read.formats"), module("errors").FormatError

    def taken(text: str | bytes, limit: int = reader.LARGEST) -> bool:
        reader.LARGEST, true = limit, reader.LARGEST
        try:
            reader.read_object(text if isinstance(text, bytes) else text.encode(), "it")
        except error:
            return False
        finally:
            reader.LARGEST = true
        return True

    for right, text in _texts():
        if taken(text) != right:
            return f"{'refused' if right else 'taken'}: {text[:40]}"
        if taken(text, len(text.encode())) != right or taken(text, len(text.encode()) - 1):
            return "the limit on bytes"
    for data in (b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}', b"\xef\xbb\xbf{}", "{}".encode("utf-16"), b'{"a": 0}\0'):
        if taken(data):
            return f"taken: {data!r}"
    for value, right in ((0, True), (7, True), (-1, False), (True, False), (False, False), ("0", False), (None, False)):
        try:
            same = reader.index(value, "it") == value
        except error:
            same = False
        if same != right:
            return f"index {value!r}"
    fields = reader.fields
    for given, right in (({"a": 1}, True), ({"a": 1, "b": 2}, True), ({"b": 2}, False), ({"a": 1, "c": 3}, False)):
        try:
            same = fields(given, "it", ("a",), ("b",)) == given
        except error:
            same = False
        if same != right:
            return f"fields {given}"
    return ""


def _texts() -> Iterator[tuple[bool, str]]:
    """Texts, and whether they are read."""
    for deep, right in ((15, True), (16, False)):
        yield right, '{"a": ' + "[" * deep + "]" * deep + "}"
        yield right, '{"a": ' * deep + "{}" + "}" * deep
        yield right, '{"a": [], "b": {}, "c": ' + "[" * deep + "]" * deep + "}"
    yield True, '{"a": [' + "[]," * 40 + '"' + "[{" * 40 + '", "\\"[[[[[[[[[[[[[[[[[[[[", "\\\\"]}'
    for digits, right in ((18, True), (19, False)):
        yield right, '{"a": ' + "9" * digits + "}"
        yield right, '{"a": -' + "9" * digits + "}"
    for commas, right in ((2**19 - 5, True), (2**19 - 4, False)):
        yield right, '{"a":[' + "0," * commas + "0]}"
    for text in ("\\ud83d\\ude00", "\\uD83D\\uDE00", "é", "\\u00e9", "\\\\ud800"):
        yield True, '{"a": [{"' + text + '": "' + text + '"}]}'
    for text in ("\\ud800", "\\uDFFF", "\\ude00\\ud83d", "\\ud83d \\ude00"):
        yield False, '{"' + text + '": 0}'
        yield False, '{"a": [0, {"b": "' + text + '"}]}'
    for text in ("[]", "0", '"a"', "null", "", "{}{}", '{"a": 0,}', '{"a": 0, "a": 0}', '{"a": {"b": 0, "b": 1}}'):
        yield False, text
    for text in ("NaN", "Infinity", "-Infinity", "0.0", "1e3", "1E3", "-0.5", "01", "+1", "nan", "0x10"):
        yield False, '{"a": ' + text + "}"
    yield True, "{}"
    yield True, ' {"a": [true, false, null, -0]}\n'


def tensors_at_their_limits(module: Import, kernel: str) -> str:
    """Limits on bytes and dimensions are those of v1.md; tensors of any dtype may lie beside the latents."""
    reader, errors = module("read.formats"), module("errors")
    limits = {"certificate": 8 * _MEGABYTE, "read.head_file": 128 * _MEGABYTE}
    if any(limit != module(name).LARGEST for name, limit in limits.items()):
        return "the limit of a file"
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]])
    header, body = split(head)
    if module("head").read_head(joined(dict(reversed(header.items())), body)).weight.rows != [[1, 0], [0, 1]]:
        return "tensors in another order than their bytes"
    length = int.from_bytes(head[:8], "little")
    for name, limit, size in (
        ("read.head_file", "LARGEST", len(head)),
        ("read.formats", "_LONGEST_HEADER", length),
    ):
        true = getattr(module(name), limit)
        if limit != "LARGEST" and true != 4 * _MEGABYTE:
            return limit
        for most, right in ((size, True), (size - 1, False)):
            setattr(module(name), limit, most)
            if _reads(lambda: module("head").read_head(head), errors.HeadError) != right:
                return limit
        setattr(module(name), limit, true)
    for dimensions, right in ((0, True), (1, True), (8, True), (9, False)):
        data = files.safetensors({"a": ("U8", [1] * dimensions, b"\0")})
        if _reads(lambda data=data: reader.read_tensors(data), errors.FormatError) != right:
            return f"{dimensions} dimensions"
    for size in range(11):
        data = files.safetensors({})[:size]
        if _reads(lambda data=data: reader.read_tensors(data), errors.FormatError) != (size == 10):
            return f"{size} bytes"
    for data, right in (
        (b"\3\0\0\0\0\0\0\0{} ", True),
        (b"\4\0\0\0\0\0\0\0{} ", False),
        (b"\3" + b"\0" * 7 + b" {}", False),
    ):
        if _reads(lambda data=data: reader.read_tensors(data), errors.FormatError) != right:
            return "the length of a header"
    return _wrong_images(module, errors) or _wrong_latents(module, errors.LatentsError)


def _wrong_latents(module: Import, error: type[Exception]) -> str:
    """How large a latents file may be; and one for which there is too little memory."""
    auditor = module("file_auditor")
    base = str(CERTIFICATES / "accept" / "projection-euclidean")
    given = base + ".head.safetensors", base + ".latents.safetensors"
    if auditor.LARGEST_LATENTS != 16 * 1024 * _MEGABYTE:
        return "the limit of latents"
    size = os.stat(given[1]).st_size
    for most, right in ((size, True), (size - 1, False)):
        with patch.object(auditor, "LARGEST_LATENTS", most):
            if _reads(lambda: auditor.FileAuditor(*given), error) != right:
                return "latents at their limit"
    with patch.object(auditor, "Auditor", side_effect=MemoryError):
        if _reads(lambda: auditor.FileAuditor(*given), error):
            return "too little memory"
    return ""


def _reads(read: Any, error: type[Exception]) -> bool:
    try:
        read()
    except error:
        return False
    return True


def _wrong_images(module: Import, errors: Any) -> str:
    """Every image of a file is found by its digest, in either order of storage, whatever lies beside it."""
    generator = random.Random(11)
    for images, patches, depth in ((1, 4, 3), (3, 4, 2), (2, 6, 3), (3, 1, 1)):
        values = [[[generator.uniform(-9, 9) for _ in range(depth)] for _ in range(patches)] for _ in range(images)]
        for data in (
            files.latents(values),
            files.latents_nchw(values, 1, patches),
            files.latents_nchw(values, patches, 1),
        ):
            file = module("read.latents").Latents(data, depth)
            order = list(range(images))
            generator.shuffle(order)
            for number in order:
                found = file.find(files.digest(values[number]))
                if found is None or found.patches != patches or found.values.tolist() != files.flat(values[number]):
                    return "an image is not found"
            if file.find("0" * 64) is not None:
                return "an image of no such digest"
            if _reads(file.only, errors.LatentsError) != (images == 1):
                return "the only image"
    beside = {
        f"t{number}": (dtype, [2, 3], b"\xff" * prod((2, 3, size)))
        for number, (dtype, size) in enumerate(_SIZES.items())
    }
    image = [[1.0, 2.0]]
    for tensors in (beside | {"latents": files.tensor([image])}, {"latents": files.tensor([image])} | beside):
        if module("read.latents").Latents(files.safetensors(tensors), 2).find(files.digest(image)) is None:
            return "other tensors beside the latents"
    for dtype in set(_SIZES) - {"F32", "F64"}:
        data = files.safetensors({"latents": (dtype, [1, 1, 2], b"\0" * 2 * _SIZES[dtype])})
        if _reads(lambda data=data: module("read.latents").Latents(data, 2), errors.LatentsError):
            return f"latents of {dtype}"
    return ""
