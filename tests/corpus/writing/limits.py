"""Cases at a limit of v1.md, which are proved, and one beyond it, which are refused.

Of files that are large by repetition the repeated part is left out where they are stored (`Inserted`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from corpus.writing.accept.chosen import NEGATED
from corpus.writing.storing import encoded

from verale.soundness.corpus.cases import SIZES, Case, Inserted
from verale.soundness.corpus.recipes import top_mean
from verale.soundness.independent import files
from verale.soundness.independent.readers import Document

__all__ = ["limit_cases"]

_MEBIBYTE = 2**20
_COUNT = 2**19
"""Strings, commas and brackets of a JSON text."""
_IMAGE = [[0.0, 0.0]]
_PROVED, _UNCLAIMED, _MALFORMED = ("PROVED", ""), ("PROVED", "unclaimed"), ("MALFORMED", "malformed")
_HEAD, _LATENTS = ("INPUT_ERROR", "head"), ("INPUT_ERROR", "latents")
_BYTES = {1: ("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2"), 2: ("U16", "I16", "F16", "BF16"), 4: ("U32", "I32", "F32")}
_BYTES |= {8: ("U64", "I64", "F64")}


def limit_cases() -> Iterator[Case]:
    """All of them."""
    yield from _of_text()
    yield from _of_numbers()
    yield from _of_headers()
    yield from _of_heads()
    yield from _of_latents()


def _head() -> bytes:
    return files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]], **NEGATED)


def _document(head: bytes, *stated: Document, **options: Any) -> Document:
    """A certificate of one image at the first prototype, or what is told instead."""
    stated = stated or (files.patch_statement(0, 0, 0.0, 0.0),)
    return files.document(head, list(stated), **{"image": _IMAGE, "margins": [None, 0.5], **options})


def _case(
    name: str,
    comment: str,
    certificate: bytes,
    head: bytes,
    latents: bytes | None,
    outcome: tuple[str, str] = _PROVED,
    inserted: dict[str, Inserted] | None = None,
) -> Case:
    """A case whose files are given as they are stored."""
    data: dict[str, Any] = {"certificate": certificate, "head": head, "latents": latents}
    parts = (inserted or {}).items()
    data |= {part: each.into(data[part]) for part, each in parts}
    return Case(SIZES + name, data["certificate"], data["head"], data["latents"], *outcome, comment, inserted=(*parts,))


def _of_text() -> Iterator[Case]:
    head, latents = _head(), files.latents([_IMAGE])

    def twice(name: str, comment: str, data: bytes, at: int, text: str, times: int) -> Iterator[Case]:
        """So many times, and once more."""
        for suffix, more, outcome in (("", 0, _PROVED), ("-and-one", 1, _MALFORMED)):
            said = comment + (", and one more." if more else ".")
            yield _case(
                name + suffix, said, data, head, latents, outcome, {"certificate": Inserted(at, text, times + more)}
            )

    data = encoded(_document(head), "White space follows.")
    yield from twice("text-8-MiB", "A certificate of 8 MiB", data, len(data), " ", 8 * _MEBIBYTE - len(data))
    data = encoded(_document(head) | {"extensions": {"list": [0]}})
    at = data.index(b"0", data.index(b"list")) + 1
    yield from twice("text-counts", "2^19 strings, commas and brackets", data, at, ",0", _COUNT - _counted(data))
    data = encoded(_document(head) | {"extensions": {"list": [""]}})
    at = data.index(b'"', data.index(b"[", data.index(b"list"))) + 1
    comment = "2^19 commas and brackets in a string, which do not count."
    yield _case(
        "text-counts-in-a-string", comment, data, head, latents, _PROVED, {"certificate": Inserted(at, ",]", _COUNT)}
    )
    for depth, outcome in ((16, _PROVED), (17, _MALFORMED)):
        nested: Any = []
        for _ in range(depth - 4):
            nested = [nested]
        data = encoded(_document(head) | {"extensions": {"nested": [nested, []]}})
        yield _case(f"text-{depth}-brackets", f"{depth} brackets open at once.", data, head, latents, outcome)


def _counted(text: bytes) -> int:
    """Strings, commas and brackets."""
    without, strings = re.subn(rb'"[^"]*"', b"", text)
    return strings + sum(without.count(each) for each in (b",", b"[", b"]", b"{", b"}"))


def _of_numbers() -> Iterator[Case]:
    """The domain alone proves the class, so that an interval may be as wide as it likes."""
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [2.0, 0.0]], [64.0, 0.0], **NEGATED)
    latents = files.latents([_IMAGE])

    def changed(name: str, comment: str, outcome: tuple[str, str] = _PROVED, **fields: str) -> Case:
        """Texts in the place of JSON values of the certificate."""
        data = encoded(_document(head) | {"extensions": {"number": 0}})
        for field, text in fields.items():
            data, found = re.subn(rb'"%s": (\[[^\]]*\]|[^,\n]*)' % field.encode(), f'"{field}": {text}'.encode(), data)
            if found != 1:
                raise ValueError(f"{name}: {field} is there {found} times")
        return _case(name, comment, data, head, latents, outcome)

    for name, digits in (("18-digits", 18), ("18-digits-negative", -18)):
        comment = "An integer of 18 digits in extensions."
        yield changed(f"integer-{name}", comment, number="-" * (digits < 0) + "9" * abs(digits))
    yield changed("integer-minus-zero", "The class, the patch and the prototype are -0.", predicted="-0", patch="-0")
    spelled = {
        "zero-of-any-exponent": ("0x0.0p+9999", "-0x0p-9999"),
        "least-and-greatest": ("-0x1.fffffffffffffp+1023", "0x1.fffffffffffffp+1023"),
        "subnormal": ("-0x0.0000000000001p-1022", "0x1p-1074"),
        "subnormal-in-another-spelling": ("-0x1.0p-1074", "0x0.8p-1073"),
        "exponent-of-four-digits": ("-0x1p-0001", "0x1p+0001"),
        "thirteen-digits": ("-0x1.0000000000000p+0", "0x0.fffffffffffffp+0"),
    }
    for name, ends in spelled.items():
        comment = f"The interval {' to '.join(ends)}."
        yield changed(f"float-{name}", comment, interval=json.dumps(ends))
    beyond = {
        "half-of-the-least": ("-0x0.8p-1074", "0x1p+0"),
        "no-multiple-of-the-least": ("0x0p+0", "0x1.8p-1074"),
        "beyond-below": ("-0x1p+1024", "0x1p+0"),
        "exponent-of-five-digits": ("0x0p+00000", "0x1p+0"),
        "fourteen-digits": ("0x0p+0", "0x1.00000000000000p+0"),
    }
    for name, ends in beyond.items():
        yield changed(f"float-{name}", f"The interval {' to '.join(ends)}.", _MALFORMED, interval=json.dumps(ends))


def _of_headers() -> Iterator[Case]:
    """Headers of 4 MiB by white space, and of a byte more."""
    for part in ("head", "latents"):
        for suffix, more in (("", 0), ("-and-one", 1)):
            size = 4 * _MEBIBYTE + more
            given = {"head": _head(), "latents": files.latents([_IMAGE])}
            stored = given[part]
            length = int.from_bytes(stored[:8], "little")
            stored = size.to_bytes(8, "little") + stored[8:]
            inserted = Inserted(8 + length, " ", size - length)
            document = _document(inserted.into(stored) if part == "head" else given["head"])
            outcome = {"head": _HEAD, "latents": _LATENTS}[part] if more else _PROVED
            comment = "A header of 4 MiB" + (" and a byte." if more else ", most of it white space after the object.")
            given[part] = stored
            yield _case(
                f"{part}-header-4-MiB{suffix}",
                comment,
                encoded(document, comment),
                given["head"],
                given["latents"],
                outcome,
                {part: inserted},
            )


def _of_heads() -> Iterator[Case]:
    parts = NEGATED | {"pooling": {"kind": "masked_max"}, "geometry": files.EUCLIDEAN}
    for columns, outcome in ((2**16, _UNCLAIMED), (2**16 + 1, _HEAD)):
        # The mask's zeros are left out: of each prototype all but the last entry.
        tensors = {
            "weight": files.tensor([[1.0], [0.0]], "F32"),
            "bias": files.tensor([33.0, 0.0], "F32"),
            "prototypes": files.tensor([[0.0, 0.0]], "F32"),
            "mask": files.tensor([0.0] * (columns - 1) + [1.0], "F32", [1, columns]),
        }
        whole = files.safetensors(tensors, {"verale.head": json.dumps(files.description(**parts))})
        inserted = Inserted(len(whole) - 4 * columns, "\0", 4 * (columns - 1))
        comment = f"A mask of {columns} columns."
        document = files.document(whole, [], patches=columns, margins=[None, 1.0])
        data = encoded(document, comment)
        yield _case(f"mask-{columns}", comment, data, inserted.left_out(whole), None, outcome, {"head": inserted})
    greatest = 10**18 - 1
    head = files.head([[1.0], [0.0]], [[0.0, 0.0]], [33.0, 0.0], **NEGATED, pooling=top_mean(greatest))
    comment = "The mean of 10^18 - 1 patches, or of all that there are."
    data = encoded(_document(head, margins=[None, 1.0]), comment)
    yield _case("top_mean-18-digits", comment, data, head, files.latents([_IMAGE]))
    beyond = files.head([[1.0], [0.0]], [[0.0, 0.0]], [33.0, 0.0], **NEGATED, pooling=top_mean(10**18))
    comment = "The mean of 10^18 patches, a number of 19 digits."
    data = encoded(_document(beyond, margins=[None, 1.0]), comment)
    yield _case("top_mean-19-digits", comment, data, beyond, files.latents([_IMAGE]), _HEAD)


def _of_latents() -> Iterator[Case]:
    head, latents = _head(), {"latents": files.tensor([_IMAGE])}
    data = encoded(_document(head))
    dtypes = {name: (name, [3], bytes(3 * size)) for size, names in _BYTES.items() for name in names}
    others: list[tuple[str, str, dict[str, Any], tuple[str, str]]] = [
        ("8-dimensions", "Another tensor of 8 dimensions.", {"other": ("U8", [1] * 8, b"\0")}, _PROVED),
        ("9-dimensions", "Another tensor of 9 dimensions.", {"other": ("U8", [1] * 9, b"\0")}, _LATENTS),
        ("no-dimension", "Another tensor of no dimension, which has one entry.", {"a": ("F64", [], bytes(8))}, _PROVED),
        ("every-dtype", "Other tensors of every dtype.", dtypes, _PROVED),
        ("no-entry", "Another tensor without an entry.", {"a": ("F64", [2, 0, 3], b"")}, _PROVED),
    ]
    for name, comment, tensors, outcome in others:
        yield _case(f"latents-{name}", comment, data, head, files.safetensors(tensors | latents), outcome)
    none = files.safetensors({"latents": files.tensor([], sizes=[0, 1, 2])})
    head = files.head([[1.0], [0.0]], [[0.0, 0.0]], [33.0, 0.0], **NEGATED)
    comment = "Latents of no image, which no certificate names."
    data = encoded(files.document(head, [], margins=[None, 1.0]), comment)
    yield _case("latents-no-image", comment, data, head, none, _UNCLAIMED)
