"""The documents of `certificates/least`, as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from verale.checker.least import TYPE
from verale.soundness.corpus.least import INDEX, LeastCase
from verale.soundness.independent import files

__all__ = ["least_cases", "least_files"]

_FOLDER, _SUFFIX = "least/", ".least.json"


def least_files() -> dict[str, bytes]:
    """The cases as files, by their path, each file once, and the index."""
    written: dict[str, bytes] = {}
    path_of: dict[bytes, str] = {}
    index = {}
    for case in least_cases():
        written[_FOLDER + case.name + _SUFFIX] = case.document
        entry = {"status": case.status, "reason": case.reason, "comment": case.comment}
        parts = (("head", case.head), ("latents", case.latents), ("smaller", case.smaller))
        for part, data in parts:
            if data is None:
                continue
            suffix = ".smaller.ale.json" if part == "smaller" else f".{part}.safetensors"
            entry[part] = path_of.setdefault(data, _FOLDER + case.name + suffix)
            written[entry[part]] = data
        index[case.name] = entry
    written[INDEX] = (json.dumps(index, indent=1) + "\n").encode()
    return written


_BOX = {
    "geometry": {"kind": "inner_product", "radius": None},
    "similarity": files.IDENTITY,
    "domain": files.domain(0.0, 1.0),
}
_IMAGE = [[0.75, 0.25, 0.75, 0.25]]
_UNITS = [[float(d == j) for d in range(4)] for j in range(4)]
_ALL: dict[str, Any] = {"weights": [[1, 1]]}
_NONE: dict[str, Any] = {"weights": []}


def _split(what: str, at: float) -> dict[str, str]:
    return {"split": what, "at": at.hex()}


_TREE = [_split("ceiling", 1.0), _split("floor", 0.0), _ALL, _NONE, _split("floor", 0.0), _ALL, _ALL]
"""With a ceiling below the domain's end or without, and with a floor above its end or without."""


def least_cases() -> Iterator[LeastCase]:
    """All of them. Activations are the image's coordinates, those of class 0 less its rival's."""
    head = files.head([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]], _UNITS, [0.0, 0.5], **_BOX)
    latents = files.latents([_IMAGE])
    given = _document(head, 2, _TREE)

    def case(name: str, comment: str, status: str, reason: str = "", **changes: Any) -> LeastCase:
        return LeastCase(name, _encoded(given | changes), head, latents, status, reason, comment)

    yield case("two", "No statement alone is enough; a ceiling and a floor are.", "PROVED")
    yield case("one", "The same proof of one statement less.", "PROVED", least=1)
    yield case("none", "Nothing has to be proved of 0 statements.", "PROVED", least=0, cells=[_NONE])
    yield from _rivals()
    yield from _rest(head, latents)
    smaller = files.certificate(
        head, [files.order_clause([0, 2], 0.25), files.floor([1, 3], 0.75)], paradigm="top_k", image=_IMAGE
    )
    comment = "Three statements: a ceiling and a floor are two."
    yield LeastCase(
        "three", _encoded(given | {"least": 3}), head, latents, "NOT_PROVED", "entailment", comment, smaller
    )
    comment = "No weights where weights are needed."
    yield case("no-weights", comment, "NOT_PROVED", "entailment", cells=[_NONE if e == _ALL else e for e in _TREE])
    comment = "A cell of all explanations: clauses may say all that is true of the image."
    yield case("no-split", comment, "NOT_PROVED", "entailment", cells=[_ALL])
    comment = "Floors of 1/2 or more are told from others, but those below 1/2 say much already."
    other = [_split("ceiling", 1.0), _split("floor", 0.5), _ALL, _NONE, _split("floor", 0.5), _ALL, _ALL]
    document = _encoded(given | {"least": 3, "cells": other})
    yield LeastCase("split-elsewhere", document, head, latents, "NOT_PROVED", "entailment", comment, smaller)
    yield from _cut()
    yield case("another-head", "The digest of another head.", "NOT_PROVED", "subject", head="0" * 64)
    yield case("another-image", "The digest of another image.", "NOT_PROVED", "subject", latents="0" * 64)
    outside = [[1.25, 0.25, 0.75, 0.25]]
    data = _encoded(given | {"latents": files.digest(outside)})
    comment = "An image outside the domain."
    yield LeastCase("outside", data, head, files.latents([outside]), "NOT_PROVED", "instance", comment)
    tree = {"kind": "maximum"}
    chosen = files.head([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]], _UNITS, **_BOX, readout=tree)
    data, comment = _encoded(_document(chosen, 0, [_NONE])), "A head with the readout maximum."
    yield LeastCase("maximum", data, chosen, latents, "NOT_PROVED", "uncovered", comment)
    yield from _malformed(given, head, latents)


def _document(head: bytes, least: int, cells: list[Any], image: files.Matrix = _IMAGE) -> dict[str, Any]:
    subject = files.document(head, [], image=image)["subject"]
    digests = {each["name"]: each["digest"]["sha256"] for each in subject}
    return {"_type": TYPE, **digests, "predicted": 0, "least": least, "cells": cells}


def _encoded(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode()


def _rivals() -> Iterator[LeastCase]:
    """Two rivals, each of which takes a statement of its own: together they take two, one by one only one each."""
    weight = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    image = [[0.25, 0.0, 0.0, 1.0]]
    head = files.head(weight, _UNITS, [0.5, 0.0, 0.0], **_BOX)
    cells = [_split("ceiling", 1.0), {"weights": [[1, 1]]}, {"weights": [[1, 1], [2, 1]]}]
    comment = "Without a ceiling one statement bounds one rival; both rivals together take two."
    document = _encoded(_document(head, 1, cells, image))
    yield LeastCase("rivals-one", document, head, files.latents([image]), "PROVED", "", comment)
    smaller = files.certificate(head, [files.order_clause([0, 3], 0.0)], classes=3, paradigm="top_k", image=image)
    comment = "Two statements, though one ceiling bounds both rivals."
    document = _encoded(_document(head, 2, cells, image))
    latents = files.latents([image])
    yield LeastCase("rivals-two", document, head, latents, "NOT_PROVED", "entailment", comment, smaller)


def _cut() -> Iterator[LeastCase]:
    """One statement gives more than is needed, so that what counts of it is just what is needed: no less than that."""
    head = files.head([[1.0], [0.0]], [[1.0]], [0.0, 0.5], **_BOX)
    image, cells = [[0.75]], [_split("floor", 0.0), _ALL, _ALL]
    comment = "Two statements: but one gives more than is needed, of which what is needed counts."
    smaller = files.certificate(head, [files.activation_statement(0, 0.75, 0.75)], paradigm="top_k", image=image)
    document, latents = _encoded(_document(head, 2, cells, image)), files.latents([image])
    yield LeastCase("cut-at-what-is-needed", document, head, latents, "NOT_PROVED", "entailment", comment, smaller)
    comment = "One statement, which is needed."
    document = _encoded(_document(head, 1, [*cells[:2], _NONE], image))
    yield LeastCase("one-of-one", document, head, latents, "PROVED", "", comment)


def _rest(head: bytes, latents: bytes) -> Iterator[LeastCase]:
    """An image without an explanation."""
    image = [[0.25, 0.75, 0.25, 0.75]]
    comment = "The image has another class: it has no explanation, and every claim holds."
    cells = [{"weights": [[1, 3]]}]
    data = _encoded(_document(head, 10**18 - 1, cells, image))
    yield LeastCase("no-explanation", data, head, files.latents([image]), "PROVED", "", comment)


_CHANGES: list[tuple[str, str, dict[str, Any]]] = [
    ("unknown-type", "Another type.", {"_type": "urn:verale:least:v2"}),
    ("unknown-field", "A field more.", {"extensions": {}}),
    ("head-short", "A digest of 63 digits.", {"head": "0" * 63}),
    ("latents-upper-case", "A digest in upper case.", {"latents": "A" * 64}),
    ("head-a-number", "A digest that is a JSON integer.", {"head": 0}),
    ("predicted-negative", "A negative class.", {"predicted": -1}),
    ("predicted-outside", "A class that the head does not have.", {"predicted": 2}),
    ("least-negative", "A negative number of statements.", {"least": -1}),
    ("least-true", "A truth value for a number of statements.", {"least": True}),
    ("least-19-digits", "A number of 19 digits.", {"least": 10**18}),
    ("cells-an-object", "Cells that are not a list.", {"cells": {}}),
    ("cells-empty", "No cell.", {"cells": []}),
    ("cells-too-few", "A leaf less.", {"cells": _TREE[:-1]}),
    ("cells-too-many", "A leaf more.", {"cells": [*_TREE, _ALL]}),
    ("cells-too-few-of-one", "A split without leaves.", {"cells": [_TREE[0]]}),
    ("leaf-a-list", "A leaf that is a list.", {"cells": [[[1, 1]]]}),
    ("leaf-more", "A leaf with a field more.", {"cells": [{"weights": [], "at": "0x0p+0"}]}),
    ("split-unknown", "A split by something else.", {"cells": [{"split": "wall", "at": "0x0p+0"}, _ALL, _ALL]}),
    ("split-decimal", "A split at a decimal number.", {"cells": [{"split": "floor", "at": "0.5"}, _ALL, _ALL]}),
    ("split-nowhere", "A split without a number.", {"cells": [{"split": "floor"}, _ALL, _ALL]}),
    ("split-at-null", "A split at null.", {"cells": [{"split": "floor", "at": None}, _ALL, _ALL]}),
    ("weights-of-predicted", "A weight of the class itself.", {"cells": [{"weights": [[0, 1]]}]}),
    ("weights-outside", "A weight of a class that the head does not have.", {"cells": [{"weights": [[2, 1]]}]}),
    ("weights-twice", "A rival twice.", {"cells": [{"weights": [[1, 1], [1, 1]]}]}),
    ("weights-negative", "A negative weight.", {"cells": [{"weights": [[1, -1]]}]}),
    ("weights-a-float", "A weight that is a hex float.", {"cells": [{"weights": [[1, "0x1p+0"]]}]}),
    ("weights-of-three", "A weight of three numbers.", {"cells": [{"weights": [[1, 1, 1]]}]}),
    (
        "malformed-after-what-fails",
        "A leaf that proves nothing, then one that is no leaf.",
        {"least": 9, "cells": [_TREE[0], _NONE, 0]},
    ),
]


def _malformed(given: dict[str, Any], head: bytes, latents: bytes) -> Iterator[LeastCase]:
    def case(name: str, comment: str, document: bytes, **other: Any) -> LeastCase:
        whole = {"head": head, "latents": latents, "status": "MALFORMED", "reason": "malformed", **other}
        return LeastCase(name=name, document=document, comment=comment, **whole)

    for name, comment, changes in _CHANGES:
        yield case(name, comment, _encoded(given | changes))
    for name in given:
        less = {field: value for field, value in given.items() if field != name}
        yield case(f"lacks-{name.strip('_')}", f"Without {name}.", _encoded(less))
    data = _encoded(given)
    yield case("cut", "Cut before the last brace.", data.rstrip()[:-1])
    yield case("a-list", "A list for an object.", b"[" + data + b"]")
    yield case("repeated-key", "least twice.", data.replace(b'"least"', b'"least": 0, "least"'))
    yield case("fraction", "A number with a fraction.", data.replace(b'"least": 2', b'"least": 2.0'))
    other = _encoded(given | {"head": "0" * 64, "cells": 0})
    yield case("malformed-of-another-head", "The digest of another head, and cells that are a number.", other)
    broken = {"status": "INPUT_ERROR", "reason": "head", "head": head[:-1]}
    yield case("head-cut", "A head that is cut, and no document: the head comes first.", b"{}", **broken)
    broken = {"status": "INPUT_ERROR", "reason": "latents", "latents": latents[:-1]}
    yield case("latents-cut", "Latents that are cut, and no document.", b"{}", **broken)
