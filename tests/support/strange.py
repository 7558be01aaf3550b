"""Strange files: every oddity of safetensors, of JSON and of PNG that a lenient reader takes, or takes otherwise.

`of_tensors` changes any safetensors file, `of_description` the JSON in its metadata, `of_png` any PNG file of grey or
colours. Each gives the changed file by a name, and whether certificates/v1.md and network-v1.md refuse it.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from math import prod
from typing import Any

from support import files
from support.editing import joined, split
from support.networks import chunk

Strange = tuple[str, bytes, bool]
"""A name, a file, and whether it is refused."""
_TOKENS = 2**19
_WRONG_NUMBERS = (
    *("0x1p0", "0X1P+0", "+0x1p+0", " 0x1p+0", "0x1p+0 ", "0x2p+0", "0x1.p+0", "0x.8p+0", "1.0", "1", "inf", "-inf"),
    *("nan", "0x1p+1024", "0x1p-1075", "0x1.00000000000001p+0", "0x1p+00001", "\uff10x1p+0", ""),
)
"""What is no hex float."""


def of_tensors(data: bytes, tensor: str, floats: bool = True) -> Iterator[Strange]:
    """A safetensors file, its header, its tensors' places and its numbers changed.

    Args:
        data: one that is read.
        tensor: the name of one of its tensors.
        floats: whether this has floats; of F32 or F64, little-endian.
    """
    header, body = split(data)
    text = json.dumps(header)

    def headed(other: str | bytes, rest: bytes = body) -> bytes:
        return files.framed(other.encode() if isinstance(other, str) else other, rest)

    def having(name: str, value: Any, rest: bytes = body) -> bytes:
        return joined(header | {name: value}, rest)

    def with_entry(**changes: Any) -> bytes:
        return having(tensor, header[tensor] | changes)

    yield "as it is", data, False
    yield "white space behind the header", headed(text + " \n"), False
    yield "keys in another order", joined(dict(reversed(header.items())), body), False
    escaped = "".join(f"\\u{ord(c):04x}" for c in tensor)
    yield "escapes in names", headed(text.replace(f'"{tensor}"', f'"{escaped}"')), False
    yield "white space before the header", headed(" " + text), True
    yield "a byte order mark", headed(b"\xef\xbb\xbf" + text.encode()), True
    yield "UTF-16", headed(text.encode("utf-16-le")), True
    yield "a byte that is no UTF-8", headed(text.encode().replace(b"{", b'{"\xff": 0, ', 1)), True
    yield "an overlong encoding", headed(text.encode().replace(b"{", b'{"\xc0\xaf": 0, ', 1)), True
    yield "NUL behind the header", headed(text + "\0"), True
    yield "two objects", headed(text + text), True
    yield "a list", headed(f"[{text}]"), True
    yield "a comma at the end", headed(text[:-1] + ",}"), True
    yield "a comment", headed(text[:-1] + "/* */}"), True
    yield "single quotes", headed(text.replace('"', "'")), True
    yield "a repeated tensor", headed(text[:-1] + f', "{tensor}": {json.dumps(header[tensor])}}}'), True
    yield "repeated metadata", headed(text[:-1] + ', "__metadata__": {}, "__metadata__": {}}'), True
    entry = json.dumps(header[tensor])
    yield "a repeated shape", headed(text.replace(entry, entry[:-1] + f', "shape": {header[tensor]["shape"]}}}')), True
    yield "a repeated key, escaped", headed(text.replace(entry, entry[:-1] + ', "\\u0073hape": []}')), True
    yield "nested seventeen deep", headed(text[:-1] + ', "a": ' + "[" * 17 + "]" * 17 + "}"), True
    yield "2^19 commas", headed(text[:-1] + ', "a": [' + "0," * _TOKENS + "0]}"), True
    yield "a lone surrogate", headed(text[:-1] + ', "\\ud800": 0}'), True
    yield "a header of more than 4 MiB", headed(text + " " * 2**22), True
    yield "no header", struct.pack("<Q", 0) + body, True
    yield "a header longer than the file", struct.pack("<Q", 2**63) + data[8:], True
    yield "half a length", data[:4], True
    yield "nothing", b"", True
    yield "a byte behind the tensors", data + b"\0", True
    yield "a byte cut off", data[:-1], True
    end = len(body)
    one = {"dtype": "U8", "shape": [1]}
    yield "a hole at the end", having("z", one | {"data_offsets": [end + 1, end + 2]}, body + b"\0\0"), True
    yield "an overlap", having("z", one | {"data_offsets": [0, 1]}), True
    far = one | {"shape": [2**40], "data_offsets": [end, end + 2**40]}
    yield "a tensor behind the file", having("z", far), True
    begin, stop = header[tensor]["data_offsets"]
    yield "an end before the beginning", with_entry(data_offsets=[stop, begin]), True
    yield "three offsets", with_entry(data_offsets=[begin, stop, stop]), True
    yield "offsets with a fraction", with_entry(data_offsets=[float(begin), float(stop)]), True
    yield "an offset that is NaN", with_entry(data_offsets=[float("nan"), stop]), True
    yield "an offset that is a truth value", with_entry(data_offsets=[False, stop]), True
    yield "an offset of thirty digits", with_entry(data_offsets=[10**30, stop]), True
    shape = header[tensor]["shape"]
    yield "a shape whose product overflows", with_entry(shape=[2**62, 4, *shape[1:]]), True
    yield "a negative size", with_entry(shape=[-1, *shape[1:]]), True
    yield "nine dimensions", with_entry(shape=[1] * 8 + shape), True
    yield "a shape that is a number", with_entry(shape=shape[0]), True
    yield "a size that is a string", with_entry(shape=[str(shape[0]), *shape[1:]]), True
    exponent = entry.replace(f"[{shape[0]}", f"[{shape[0]}e0", 1)
    yield "a size with an exponent", headed(text.replace(entry, exponent)), True
    yield "a type in small letters", with_entry(dtype=header[tensor]["dtype"].lower()), True
    yield "an unknown type", with_entry(dtype="F4"), True
    yield "a type that is a number", with_entry(dtype=32), True
    halves = (stop - begin) // 2 // max(1, prod(shape))
    yield "half as many bits", with_entry(dtype="BF16", shape=[*shape, halves]), True
    yield "a field more of a tensor", with_entry(layout="C"), True
    yield "no offsets", having(tensor, {"dtype": header[tensor]["dtype"], "shape": shape}), True
    yield "a tensor that is null", having(tensor, None), True
    yield "metadata that is a list", having("__metadata__", []), True
    yield "metadata that is a number", having("__metadata__", {"a": 1}), True
    renamed = {("z" if name == tensor else name): value for name, value in header.items()}
    yield "no such tensor", joined(renamed, body), True
    if not floats:
        return
    code = {"F32": "<f", "F64": "<d"}[header[tensor]["dtype"]]
    size = struct.calcsize(code)
    for at, where in ((begin, "first"), (stop - size, "last")):
        for number, name in ((float("nan"), "NaN"), (float("inf"), "infinity"), (float("-inf"), "-infinity")):
            changed = body[:at] + struct.pack(code, number) + body[at + size :]
            yield f"{name} as the {where} number", headed(text, changed), True


def of_description(data: bytes, key: str) -> Iterator[Strange]:
    """A safetensors file, of which the JSON text in the one entry of its metadata is changed."""
    header, body = split(data)
    text = header["__metadata__"][key]

    def with_text(other: str) -> bytes:
        return joined(header | {"__metadata__": {key: other}}, body)

    def with_metadata(metadata: Any) -> bytes:
        return joined(header | {"__metadata__": metadata}, body)

    yield "white space around the description", with_text(f" \n{text}\t"), False
    yield "another order of its fields", with_text(json.dumps(dict(reversed(json.loads(text).items())))), False
    yield "no metadata", joined({name: value for name, value in header.items() if name != "__metadata__"}, body), True
    yield "two entries of metadata", with_metadata({key: text, "format": "pt"}), True
    yield "another entry of metadata", with_metadata({"verale.hat": text}), True
    yield "a description that is an object", with_metadata({key: json.loads(text)}), True
    yield "an empty description", with_text(""), True
    yield "a description that is null", with_text("null"), True
    yield "a byte order mark in the description", with_text("\ufeff" + text), True
    yield "a repeated version", with_text(text[:-1] + ', "version": 1}'), True
    yield "a repeated version, the first another", with_text(text.replace("{", '{"version": 2, ', 1)), True
    yield "something behind the description", with_text(text + "}"), True
    for version in ("1.0", "1e0", "true", '"1"', "2", "0", "null", "[1]", "01", "NaN", "1" + "0" * 400):
        yield f"the version {version[:20]}", with_text(text.replace('"version": 1', f'"version": {version}')), True
    yield "a field more", with_text(text.replace("{", '{"comment": "", ', 1)), True
    yield "a lone surrogate in the description", with_text(text.replace("{", '{"\\udfff": "", ', 1)), True
    yield "extensions", with_text(text.replace("{", '{"extensions": {}, ', 1)), True
    number = next((each for each in _hex_floats(json.loads(text))), None)
    if number is None:
        return
    for other in _WRONG_NUMBERS:
        yield f"the number {other!r}", with_text(text.replace(json.dumps(number), json.dumps(other), 1)), True
    value = float.fromhex(number)
    plain = str(int(value) if value == int(value) else value)
    yield "a number that is no string", with_text(text.replace(json.dumps(number), plain, 1)), True


def _hex_floats(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.startswith(("0x", "-0x")):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _hex_floats(each)


def chunks_of(data: bytes) -> list[tuple[bytes, bytes]]:
    """The types and the data of a PNG file's chunks."""
    found, at = [], 8
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def of_png(data: bytes) -> Iterator[Strange]:
    """A PNG file whose chunks, header or stream are changed."""
    (_, header), *_ = chunks = chunks_of(data)
    stream = b"".join(part for kind, part in chunks if kind == b"IDAT")
    lines = zlib.decompress(stream)
    columns, rows = struct.unpack(">II", header[:8])
    length = len(lines) // rows
    end = chunk(b"IEND", b"")

    def png(*parts: bytes, first: bytes = header) -> bytes:
        return data[:8] + chunk(b"IHDR", first) + b"".join(parts) + end

    def with_header(at: int, value: int) -> bytes:
        return png(image, first=header[:at] + bytes([value]) + header[at + 1 :])

    def with_stream(other: bytes) -> bytes:
        return png(chunk(b"IDAT", other))

    def wrong(kind: bytes, part: bytes) -> bytes:
        made = bytearray(chunk(kind, part))
        made[-1] ^= 1
        return bytes(made)

    def compressed(level: int = 9, bits: int = 15, **options: Any) -> bytes:
        made = zlib.compressobj(level, wbits=bits, **options)
        return made.compress(lines) + made.flush()

    image = chunk(b"IDAT", stream)
    half = len(stream) // 2
    yield "as it is", data, False
    for name, parts in {
        "gamma": (chunk(b"gAMA", struct.pack(">I", 100_000)), image),
        "a text behind the image": (image, chunk(b"tEXt", b"Comment\0IEND")),
        "transparency": (chunk(b"tRNS", bytes(len(header[9:10]) * 2 if header[9] == 0 else 6)), image),
        "a profile": (chunk(b"iCCP", b"a\0\0" + zlib.compress(b"no profile")), image),
        "significant bits": (chunk(b"sBIT", b"\1\1\1"), image),
        "an animation": (chunk(b"acTL", struct.pack(">II", 2, 0)), image, chunk(b"fdAT", bytes(4) + stream)),
        "an orientation": (chunk(b"eXIf", b"MM\0*" + bytes(8)), image),
        "an unknown chunk that may be left out": (chunk(b"veRa", b"le"), image),
        "an image in pieces": (chunk(b"IDAT", stream[:half]), chunk(b"IDAT", b""), chunk(b"IDAT", stream[half:])),
    }.items():
        yield name, png(*parts), False
    yield "stored, not compressed", with_stream(compressed(0)), False
    yield "a small window", with_stream(compressed(9, 9)), False
    for level in (0, 1, 2, 3, 4):
        other = b"".join(bytes([level]) + lines[y * length + 1 : (y + 1) * length] for y in range(rows))
        yield f"the filter {level}", with_stream(zlib.compress(other)), False
    for name, parts in {
        "a palette beside colours": (chunk(b"PLTE", bytes(3)), image),
        "a palette behind the image": (image, chunk(b"PLTE", bytes(3))),
        "an unknown chunk that has to be known": (chunk(b"VeRa", b"le"), image),
        "a chunk's type with a digit": (chunk(b"tE1t", b""), image),
        "two headers": (chunk(b"IHDR", header), image),
        "no image": (),
        "an empty image": (chunk(b"IDAT", b""),),
        "two images apart": (image, chunk(b"tEXt", b"a\0b"), chunk(b"IDAT", b"")),
        "a wrong checksum of the image": (wrong(b"IDAT", stream),),
        "a wrong checksum of a text": (wrong(b"tEXt", b"a\0b"), image),
        "two streams": (chunk(b"IDAT", stream + stream),),
        "a byte behind the stream": (chunk(b"IDAT", stream + b"\0"),),
    }.items():
        yield name, png(*parts), True
    yield "a byte behind the end", data + b"\0", True
    yield "another file behind the end", data + data, True
    yield "an archive behind the end", data + b"PK\x05\x06" + bytes(18), True
    yield "two ends", data + end, True
    yield "no end", data[: -len(end)], True
    yield "an end with data", data[: -len(end)] + chunk(b"IEND", b"\0"), True
    yield "a wrong checksum of the end", data[: -len(end)] + wrong(b"IEND", b""), True
    yield "a wrong checksum of the header", data[:8] + wrong(b"IHDR", header) + image + end, True
    yield "cut in the image", data[:-20], True
    yield "a length of 2^31", data[:8] + struct.pack(">I", 2**31) + data[12:], True
    yield "a text before the header", data[:8] + chunk(b"tEXt", b"a\0b") + data[8:], True
    yield "the signature of another system", data[:4] + b"\n\x1a\n" + data[8:], True
    for at, value, name in ((8, 16, "sixteen bits"), (8, 1, "one bit"), (9, 3, "a palette"), (9, 6, "alpha"),
                            (9, 4, "grey and alpha"), (9, 1, "the colour type 1"), (10, 1, "a compression of 1"),
                            (11, 1, "a filter method of 1"), (12, 1, "interlaced")):  # fmt: skip
        yield name, with_header(at, value), True
    for name, size in {"no columns": (0, rows), "no rows": (columns, 0), "turned": (rows, columns),
                       "a row more": (columns, rows + 1), "huge": (2**31 - 1, 2**31 - 1)}.items():  # fmt: skip
        yield name, png(image, first=struct.pack(">II", *size) + header[8:]), True
    yield "the filter 5", with_stream(zlib.compress(b"\5" + lines[1:])), True
    yield "a row cut", with_stream(zlib.compress(lines[:-1])), True
    yield "a byte more", with_stream(zlib.compress(lines + b"\0")), True
    yield "a checksum of the stream", with_stream(stream[:-1] + bytes([stream[-1] ^ 1])), True
    yield "no checksum of the stream", with_stream(stream[:-4]), True
    yield "a stream without a header", with_stream(compressed(9, -15)), True
    yield "a gzip stream", with_stream(compressed(9, 31)), True
    yield "a preset dictionary", with_stream(compressed(9, 15, zdict=lines[:4])), True
    yield "a stream that does not end", with_stream(compressed()[:-6]), True
    yield "a header's checksum", with_stream(bytes([stream[0], stream[1] ^ 1]) + stream[2:]), True
