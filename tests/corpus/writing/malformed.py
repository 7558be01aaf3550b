"""`certificates/malformed`: certificates, heads and latents files that each break a rule of their form."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

from corpus.writing.malformed_heads import ABSENT, malformed_heads, malformed_latents
from corpus.writing.malformed_steps import malformed_paradigms, malformed_twice
from corpus.writing.reject.heads import tensor_times

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.editing import described, joined, split
from verale.soundness.independent import files

Change = Callable[[dict[str, Any]], object]


def malformed(cases: list[Case]) -> list[Case]:
    """All of them, given the accepted cases."""
    by_name = {case.name.removeprefix("accept/"): case for case in cases}
    original = by_name["projection-euclidean"]
    malformed = [_case(original, name, comment, data) for name, comment, data in _of_bytes(original.certificate)]
    for name, comment, path, value in FIELDS:
        malformed.append(_case(original, name, comment, _with(original, path, value)))
    for base, name, comment, path, value in FIELDS_OF_OTHERS:
        malformed.append(_case(by_name[base], name, comment, _with(by_name[base], path, value)))
    return [
        *malformed,
        *_of_forms(by_name),
        *_of_heads(by_name),
        *malformed_heads(by_name),
        *malformed_latents(original),
        *malformed_paradigms(),
        *malformed_twice(by_name),
    ]


def _case(original: Case, name: str, comment: str, data: bytes) -> Case:
    return Case(f"malformed/{name}", data, original.head, original.latents, "MALFORMED", "malformed", comment)


def _with(original: Case, path: str, value: Any) -> bytes:
    """The certificate with the value at `path` replaced, or removed."""
    document = json.loads(original.certificate)
    document["extensions"] = {}
    *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    parent: Any = document
    for step in parents:
        parent = parent[step]
    if value is ABSENT:
        del parent[last]
    elif isinstance(parent, list) and last == len(parent):
        parent.append(value)
    else:
        parent[last] = value(copy.deepcopy(parent[last])) if callable(value) else value
    return (json.dumps(document, indent=1) + "\n").encode()


S, P = "predicate/statements", "predicate"
ONE = {"patch": 0, "prototype": 0, "interval": ["0x0p+0", "0x1p+4"]}
CLAUSE = {"except": [0, 1], "upper": "0x1p+4"}
NOTHING = {"prototype": 0, "interval": [None, None]}
FLOOR = {"except": [0, 1], "lower": "0x0p+0"}
FIELDS: list[tuple[str, str, str, Any]] = [
    *[
        (f"lacks-{path.split('/')[-1]}", f"Without {path}.", path, ABSENT)
        for path in (
            "_type",
            "subject",
            "predicate",
            *(f"{P}/{name}" for name in ("predicted", "paradigm", "patches", "statements")),
            *(f"{P}/{name}" for name in ("margins", "claims", "hints", "generator")),
        )
    ],
    ("unknown-field", "A field that v1 does not have.", f"{P}/proved", True),
    ("unknown-field-outside", "A field beside the predicate.", "signature", "0"),
    ("unknown-type", "The type of another version.", "_type", "urn:verale:certificate:v2"),
    ("paradigm-a-list", "A paradigm that is not a string.", f"{P}/paradigm", ["projection"]),
    ("paradigm-of-softmax", "simplex for a euclidean head.", f"{P}/paradigm", "simplex"),
    ("paradigm-assignment", "assignment for a euclidean head.", f"{P}/paradigm", "assignment"),
    ("paradigm-joint", "joint for log_ratio.", f"{P}/paradigm", "joint"),
    ("paradigm-of-activations", "top_k over statements about patches.", f"{P}/paradigm", "top_k"),
    ("extensions-a-list", "extensions that are not an object.", "extensions", []),
    ("subject-empty", "No subject.", "subject", []),
    ("subject-exchanged", "The latents before the head.", "subject", lambda subject: subject[::-1]),
    ("subject-three", "Three subjects.", "subject", lambda subject: [*subject, subject[1]]),
    ("digest-upper-case", "A digest in upper case.", "subject/0/digest/sha256", str.upper),
    ("digest-short", "A digest of 63 digits.", "subject/0/digest/sha256", lambda digest: digest[1:]),
    ("digest-line-end", "A digest and a line end.", "subject/0/digest/sha256", lambda digest: digest + "\n"),
    ("digest-unknown", "A digest of another kind.", "subject/0/digest", {"sha1": "00"}),
    ("predicted-negative", "A negative class.", f"{P}/predicted", -1),
    ("predicted-outside", "A class that the head does not have.", f"{P}/predicted", 3),
    ("predicted-true", "A truth value for a class.", f"{P}/predicted", True),
    ("predicted-a-string", "A string for a class.", f"{P}/predicted", "0"),
    ("patches-zero", "No patch.", f"{P}/patches", 0),
    ("patches-many-digits", "A number of 19 digits.", f"{P}/patches", 10**18),
    ("patches-null", "null patches.", f"{P}/patches", None),
    ("statements-an-object", "Statements that are not a list.", S, {}),
    ("statement-empty", "A statement without a field.", f"{S}/0", {}),
    ("statement-a-list", "A statement that is a list.", f"{S}/0", [0, 0, "0x0p+0", "0x1p+0"]),
    ("statement-of-both-forms", "A statement of two forms.", f"{S}/0", ONE | CLAUSE),
    ("statement-of-an-activation", "An activation under projection.", f"{S}/0/patch", ABSENT),
    ("statement-clause", "The clause about all others under projection.", f"{S}/0", CLAUSE),
    ("statement-with-a-name", "A statement with one field more.", f"{S}/0/name", "wing"),
    ("patch-negative", "A negative patch.", f"{S}/0/patch", -1),
    ("patch-true", "A truth value for a patch.", f"{S}/0/patch", False),
    ("prototype-outside", "A prototype that the head does not have.", f"{S}/0/prototype", 4),
    ("interval-reversed", "The greater end first.", f"{S}/0/interval", ["0x1p+0", "0x0p+0"]),
    ("interval-of-one", "One end.", f"{S}/0/interval", ["0x1p+0"]),
    ("interval-of-three", "Three ends.", f"{S}/0/interval", ["0x0p+0", "0x1p+0", "0x1p+1"]),
    ("interval-of-integers", "Ends that are JSON integers.", f"{S}/0/interval", [0, 4]),
    ("interval-of-nulls", "Two open ends.", f"{S}/0/interval", [None, None]),
    ("interval-of-one-null", "One end, which is null.", f"{S}/0/interval", [None]),
    ("interval-null", "An interval that is null.", f"{S}/0/interval", None),
    ("interval-of-false", "An end that is a truth value.", f"{S}/0/interval", [False, "0x1p+4"]),
    ("interval-of-text", "An end that is an empty string.", f"{S}/0/interval", ["", "0x1p+4"]),
    ("statement-floor", "The floor under projection.", f"{S}/0", FLOOR),
    ("float-decimal", "A decimal number.", f"{S}/0/interval/0", "0.5"),
    ("float-infinite", "Infinity.", f"{S}/0/interval/1", "inf"),
    ("float-nan", "NaN.", f"{S}/0/interval/1", "nan"),
    ("float-beyond", "An exponent beyond the greatest binary64.", f"{S}/0/interval/1", "0x1p+1024"),
    ("float-below", "An exponent below the smallest binary64.", f"{S}/0/interval/0", "0x1p-1075"),
    ("float-huge-exponent", "An exponent of ten digits.", f"{S}/0/interval/1", "0x1p+9999999999"),
    ("float-long", "More digits than a binary64 has.", f"{S}/0/interval/0", "0x1.00000000000001p+0"),
    ("float-upper-case", "Upper case digits.", f"{S}/0/interval/0", "0X1.8P+0"),
    ("float-plus", "A sign +.", f"{S}/0/interval/0", "+0x1p+0"),
    ("float-space", "A space before a number.", f"{S}/0/interval/0", " 0x1p+0"),
    ("float-line-end", "A line end after a number.", f"{S}/0/interval/0", "0x0p+0\n"),
    ("float-other-digits", "Digits of another script.", f"{S}/0/interval/0", "0x1p+\u0661"),
    ("float-two", "A leading digit 2.", f"{S}/0/interval/1", "0x2p+0"),
    ("margins-few", "One margin less.", f"{P}/margins", lambda margins: margins[:-1]),
    ("margins-many", "One margin more.", f"{P}/margins", lambda margins: [*margins, "0x1p-4"]),
    ("margins-all-null", "No margin at all.", f"{P}/margins", [None, None, None]),
    ("margins-none-null", "A margin of the predicted class.", f"{P}/margins", ["0x1p-9"] * 3),
    ("margins-a-number", "A margin that is a JSON integer.", f"{P}/margins", [1, 1, 1]),
    ("margins-minus-zero", "Margins of -0.", f"{P}/margins", lambda margins: [m and "-0x0p+0" for m in margins]),
    ("claims-empty", "No claim.", f"{P}/claims", []),
    ("claims-reordered", "Claims in another order.", f"{P}/claims", ["instance", "entailment", "minimality"]),
    ("claims-repeated", "A claim twice.", f"{P}/claims", ["entailment", "entailment", "instance"]),
    ("claims-unknown", "An unknown claim.", f"{P}/claims", ["entailment", "instance", "robustness"]),
    ("claims-no-entailment", "An instance without entailment.", f"{P}/claims", ["instance"]),
    ("claims-no-instance", "Latents named, the instance not claimed.", f"{P}/claims", ["entailment"]),
    ("claims-no-latents", "An instance claimed, no latents named.", "subject", lambda subject: subject[:1]),
    ("hints-prices", "Prices under projection.", f"{P}/hints", {"prices": []}),
    ("hints-a-list", "Hints that are not an object.", f"{P}/hints", []),
    ("generator-a-string", "A generator that is not an object.", f"{P}/generator", "verale"),
    ("generator-of-a-number", "A version that is a JSON integer.", f"{P}/generator/version", 1),
    ("generator-without-a-name", "A generator without a name.", f"{P}/generator/name", ABSENT),
    ("extensions-null", "null extensions.", "extensions", None),
    ("predicate-a-list", "A predicate that is a list.", "predicate", []),
    ("subject-an-object", "A subject that is not a list.", "subject", {}),
    ("subject-without-a-digest", "A subject without a digest.", "subject/0/digest", ABSENT),
    ("subject-more", "A subject with a field more.", "subject/0/uri", "file:head"),
    ("digest-of-two-kinds", "Two digests.", "subject/0/digest/sha512", "00"),
    ("digest-a-number", "A digest that is a JSON integer.", "subject/0/digest/sha256", 0),
    ("digest-not-hex", "A digest with the letter g.", "subject/1/digest/sha256", lambda digest: "g" + digest[1:]),
    ("statement-without-an-interval", "A statement without its interval.", f"{S}/0/interval", ABSENT),
    ("statement-without-a-prototype", "A statement without its prototype.", f"{S}/0/prototype", ABSENT),
    ("patch-null", "A patch that is null.", f"{S}/0/patch", None),
    ("patch-outside-alone", "A patch that the image does not have.", f"{S}/0/patch", 3),
    ("prototype-negative", "A negative prototype.", f"{S}/0/prototype", -1),
    ("prototype-true", "A truth value for a prototype.", f"{S}/0/prototype", True),
    ("interval-a-string", "An interval that is a string.", f"{S}/0/interval", "0x"),
    ("claims-a-string", "Claims that are a string.", f"{P}/claims", "entailment"),
    ("claims-of-numbers", "A claim that is a number.", f"{P}/claims", ["entailment", 1]),
    ("margins-an-object", "Margins that are not a list.", f"{P}/margins", {}),
    ("hints-more", "A hint that v1 does not have.", f"{P}/hints", {"order": []}),
    ("float-no-exponent", "A number without its exponent.", f"{S}/0/interval/0", "0x0"),
    ("float-no-sign", "An exponent without its sign.", f"{S}/0/interval/0", "0x0p0"),
    ("float-no-digits", "A point without digits.", f"{S}/0/interval/0", "0x0.p+0"),
]
PRICES = "predicate/hints/prices"
FIELDS_OF_OTHERS: list[tuple[str, str, str, str, Any]] = [
    ("triangle-euclidean", "unknown-paradigm", "An unknown paradigm.", f"{P}/paradigm", "trust"),
    (
        "top_k-euclidean-except",
        "clause-unsorted",
        "A clause with a list that does not increase.",
        f"{S}/0",
        CLAUSE | {"except": [1, 0]},
    ),
    (
        "top_k-euclidean-except",
        "clause-repeated",
        "A clause with a prototype twice.",
        f"{S}/0",
        CLAUSE | {"except": [1, 1]},
    ),
    (
        "top_k-euclidean-except",
        "clause-outside",
        "A clause with no such prototype.",
        f"{S}/0",
        CLAUSE | {"except": [4]},
    ),
    ("top_k-euclidean-except", "clause-twice", "Two clauses.", f"{S}/3", CLAUSE),
    ("joint-euclidean-negated-scaled", "joint-of-patches", "joint of two patches.", f"{P}/patches", 2),
    ("open-above-between", "joint-log_ratio", "joint for log_ratio, of one patch.", f"{P}/paradigm", "joint"),
    ("joint-cosine", "joint-hints", "Hints under joint.", "predicate/hints", {"prices": []}),
    (
        "joint-cosine",
        "joint-of-activations",
        "joint over a statement about an activation.",
        f"{S}/0",
        {"prototype": 0, "interval": ["-0x1p+0", "0x1p+0"]},
    ),
    ("sparse-softmax", "clause-of-sparse", "A clause under sparse.", f"{S}/0", CLAUSE),
    ("sparse-softmax", "floor-of-sparse", "A floor under sparse.", f"{S}/0", FLOOR),
    ("floor-and-ceiling", "floor-twice", "Two floors.", f"{S}/2", FLOOR),
    ("floor-and-ceiling", "floor-null", "A floor that is null.", f"{S}/0/lower", None),
    ("floor-and-ceiling", "floor-a-number", "A floor with a JSON integer.", f"{S}/0/lower", 0),
    ("floor-and-ceiling", "floor-unsorted", "A floor with a list that does not increase.", f"{S}/0/except", [2, 1]),
    ("floor-and-ceiling", "floor-outside", "A floor with no such prototype.", f"{S}/0/except", [3]),
    ("floor-and-ceiling", "floor-without-an-end", "A clause without an end.", f"{S}/0/lower", ABSENT),
    ("floor-and-ceiling", "floor-with-an-interval", "A clause with an interval.", f"{S}/0/interval", [None, "0x1p+0"]),
    ("floor-and-ceiling", "ceiling-null", "A ceiling that is null.", f"{S}/1/upper", None),
    ("floor-and-ceiling", "ceiling-twice", "Two ceilings.", f"{S}/2", CLAUSE),
    ("floor-and-ceiling", "activation-of-nulls", "An activation with two open ends.", f"{S}/0", NOTHING),
    ("top_k-euclidean", "patch-under-top_k", "A statement about a patch under top_k.", f"{S}/0", ONE),
    ("simplex-softmax", "paradigm-of-prototypes", "projection for a softmax head.", f"{P}/paradigm", "projection"),
    ("simplex-softmax-threshold", "assignment-threshold", "assignment with thresholds.", f"{P}/paradigm", "assignment"),
    ("triangle-inner_product", "hypersphere-products", "hypersphere for products.", f"{P}/paradigm", "hypersphere"),
    (
        "triangle-euclidean",
        "minimality-under-triangle",
        "Minimality under triangle, which does not say what else would be proved.",
        f"{P}/claims",
        ["entailment", "instance", "minimality"],
    ),
    (
        "hypersphere-cosine",
        "minimality-under-hypersphere",
        "Minimality under hypersphere, in the same way.",
        f"{P}/claims",
        ["entailment", "instance", "minimality"],
    ),
    (
        "projection-euclidean-masked_max",
        "mask-of-more-patches",
        "A patch fewer than the mask has columns.",
        f"{P}/patches",
        2,
    ),
    ("projection-euclidean-banks", "banks-of-one-patch", "One patch where two banks look.", f"{P}/patches", 1),
    ("assignment-prices", "prices-fewer", "Fewer prices than prototypes.", f"{PRICES}/0/prices", ["0x1p-3"]),
    ("assignment-prices", "prices-unsorted", "Prototypes that do not increase.", f"{PRICES}/0/prototypes", [2, 1]),
    (
        "assignment-prices",
        "prices-rival-twice",
        "A rival twice.",
        f"{PRICES}/1",
        {"rival": 1, "prototypes": [], "prices": []},
    ),
    ("assignment-prices", "prices-rival-outside", "No such rival.", f"{PRICES}/0/rival", 2),
    ("assignment-prices", "prices-an-object", "Prices that are not a list.", PRICES, {}),
    ("assignment-prices", "prices-of-no-rival", "Prices without a rival.", f"{PRICES}/0/rival", ABSENT),
    ("assignment-prices", "prices-with-more", "Prices with a field more.", f"{PRICES}/0/cost", "0x1p+0"),
    ("assignment-prices", "prices-a-list", "Prices that are a list.", f"{PRICES}/0", []),
    ("assignment-prices", "prices-zero", "A price of 0.", f"{PRICES}/0/prices/0", "0x0p+0"),
    ("assignment-prices", "prices-negative", "A negative price.", f"{PRICES}/0/prices/1", "-0x1p-3"),
    ("assignment-prices", "prices-twice", "A prototype twice.", f"{PRICES}/0/prototypes", [1, 1]),
    ("assignment-prices", "prices-outside", "No such prototype.", f"{PRICES}/0/prototypes", [1, 3]),
    ("assignment-prices", "prices-of-predicted", "Prices of the predicted class.", f"{PRICES}/0/rival", 0),
    ("assignment-prices", "hints-with-more", "A hint beside the prices.", "predicate/hints/order", []),
    (
        "top_k-euclidean-except",
        "clause-a-string",
        "A clause with a string for a list.",
        f"{S}/0",
        CLAUSE | {"except": "01"},
    ),
    ("top_k-euclidean-except", "clause-negative", "A clause with -1.", f"{S}/0", CLAUSE | {"except": [-1]}),
    (
        "top_k-euclidean-except",
        "clause-true",
        "A clause with truth values.",
        f"{S}/0",
        CLAUSE | {"except": [False, True]},
    ),
    ("top_k-euclidean-except", "clause-a-number", "A clause with a JSON integer.", f"{S}/0", CLAUSE | {"upper": 16}),
    ("top_k-euclidean-except", "clause-more", "A clause with two ends.", f"{S}/0", CLAUSE | {"lower": "0x0p+0"}),
]


def _of_forms(cases: dict[str, Case]) -> Iterator[Case]:
    """Faults that show only where nothing else is wrong."""
    original = cases["top_k-euclidean-except"]
    for name, listed in (("repeated", [1, 1]), ("unsorted", [1, 0]), ("outside", [4])):
        document = json.loads(original.certificate)
        clause = next(s for s in document["predicate"]["statements"] if "except" in s)
        clause["except"] = listed
        comment = f"The one clause with the list {listed}."
        yield _case(original, f"clause-alone-{name}", comment, json.dumps(document).encode())
    original = cases["projection-euclidean-banks"]
    document = json.loads(original.certificate)
    document["predicate"] |= {"patches": 1, "statements": []}
    yield _case(original, "banks-of-one-patch-alone", "One patch and no statement.", json.dumps(document).encode())
    for base, paradigm in (("projection-euclidean-masked_max", "mixed"), ("simplex-softmax-masked_max", "assignment")):
        document = json.loads(cases[base].certificate)
        document["predicate"] |= {"paradigm": paradigm, "claims": ["entailment", "instance"]}
        comment = f"{paradigm} where prototypes look at some patches."
        yield _case(cases[base], f"{paradigm}-masked_max", comment, json.dumps(document).encode())
    original = cases["projection-euclidean"]
    document = json.loads(original.certificate)
    document["predicate"] |= {"predicted": 3, "margins": ["0x1p-9"] * 3}
    comment = "A class that the head does not have, and a margin for every one that it has."
    yield _case(original, "predicted-outside-alone", comment, json.dumps(document).encode())
    document = json.loads(original.certificate)
    document["subject"].append(document["subject"][1])
    document["predicate"] |= {"claims": ["entailment"]}
    yield _case(original, "subject-three-alone", "Three subjects, and no instance.", json.dumps(document).encode())
    document = json.loads(original.certificate)
    document["predicate"] |= {"patches": 0, "statements": []}
    yield _case(original, "patches-zero-alone", "No patch and no statement.", json.dumps(document).encode())
    softmax = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
    four = files.head([[1.0, 0.0], [0.0, 0.5], [0.0, 0.25], [0.0, 0.125]], **softmax)
    document = files.document(four, [], classes=4, paradigm="assignment")
    for name, rivals in (("unsorted", (1, 3, 2)), ("repeated", (1, 3, 1)), ("again", (1, 1))):
        prices = [{"rival": rival, "prototypes": [1], "prices": ["0x1p-3"]} for rival in rivals]
        document["predicate"]["hints"] = {"prices": prices}
        data, comment = files.encode(document), f"Prices of the rivals {', '.join(map(str, rivals))}, in this order."
        yield Case(f"malformed/prices-rivals-{name}", data, four, None, "MALFORMED", "malformed", comment)
    for part, base in (("banks", "projection-euclidean-banks"), ("quadratic", "projection-euclidean-quadratic-scaled")):
        original = cases[base]
        document = json.loads(original.certificate)
        document["predicate"] |= {"paradigm": "mixed", "claims": ["entailment", "instance"]}
        yield _case(original, f"mixed-{part}", f"mixed for {part}.", json.dumps(document).encode())
    document = files.document(cases["mixed-near-one-near-another"].head, [], paradigm="mixed", minimality=True)
    comment = "Minimality under mixed, which has no reference ranges."
    yield _case(cases["mixed-near-one-near-another"], "minimality-under-mixed", comment, files.encode(document))
    original = cases["projection-euclidean-negated-maximum"]
    head = tensor_times(original.head, "weight", 2.0)
    comment = "The readout maximum with weights of 2."
    yield Case("malformed/head-weights-two", original.certificate, head, None, "INPUT_ERROR", "head", comment)


def _of_bytes(data: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Bytes that are not JSON, or not the JSON that v1 admits."""
    text = data.decode()
    yield "empty", "No byte.", b""
    yield "truncated", "Cut in the middle.", data[: len(data) // 2]
    yield "last-byte-missing", "Cut before the last brace.", data.rstrip()[:-1]
    yield "tail", "A second document after the first.", data + b"{}"
    yield "byte-order-mark", "UTF-8 with a byte order mark.", b"\xef\xbb\xbf" + data
    yield "utf-16", "UTF-16.", text.encode("utf-16")
    yield "not-utf-8", "A byte that is not UTF-8.", data.replace(b"projection", b"projectio\xff")
    yield "a-list", "A list for an object.", b"[" + data + b"]"
    yield "null", "null for an object.", b"null"
    yield "repeated-key", "predicted twice.", data.replace(b'"predicted"', b'"predicted": 0, "predicted"', 1)
    yield "repeated-key-extensions", "A key twice in extensions.", _extended(data, '{"a": 1, "a": 2}')
    yield "nan", "NaN in extensions.", _extended(data, '{"a": NaN}')
    yield "infinity", "-Infinity in extensions.", _extended(data, '{"a": -Infinity}')
    yield "fraction", "A number with a fraction in extensions.", _extended(data, '{"a": 0.5}')
    yield "exponent", "A huge exponent in extensions.", _extended(data, '{"a": 1e999999999}')
    yield "many-digits", "An integer of 5000 digits in extensions.", _extended(data, '{"a": ' + "7" * 5000 + "}")
    yield "deep", "Nested 17 deep.", _extended(data, '{"a":' + "[" * 15 + "]" * 15 + "}")
    yield "very-deep", "Nested 20000 deep.", _extended(data, '{"a":' + "[" * 20000 + "]" * 20000 + "}")
    yield "lone-surrogate", "Half a character in extensions.", _extended(data, '{"a": "\\ud800"}')
    yield "comment", "A comment.", b"// proved\n" + data
    yield "single-quotes", "Single quotes.", data.replace(b'"', b"'")
    yield "trailing-comma", "A comma before the last brace.", data.rstrip()[:-1] + b",}"
    yield "surrogate-in-a-key", "Half a character in a key.", _extended(data, '{"\\uDFFF": ["\\ud83d\\ude00"]}')
    yield "surrogate-in-a-list", "Half a character in a list.", _extended(data, '{"a": [0, "\\uD800\\ud800"]}')
    yield "digits-19", "An integer of 19 digits in extensions.", _extended(data, '{"a": ' + "7" * 19 + "}")
    yield "digits-19-negative", "A negative integer of 19 digits.", _extended(data, '{"a": -' + "7" * 19 + "}")
    yield "deep-objects", "Objects nested 17 deep.", _extended(data, '{"a":' * 16 + "0" + "}" * 16)
    yield (
        "deep-in-a-row",
        "Nested 17 deep at last.",
        _extended(data, '{"a":[[],[]' + ",[]" * 9 + "," + "[" * 14 + "]" * 15 + "}"),
    )
    yield "control-character", "A tab in a string.", data.replace(b"projection", b"projec\ttion")


def _extended(data: bytes, extensions: str) -> bytes:
    document = json.loads(data)
    document["extensions"] = "HERE"
    return json.dumps(document).replace('"HERE"', extensions).encode()


def _of_heads(cases: dict[str, Case]) -> Iterator[Case]:
    original = cases["projection-euclidean"]

    def case(name: str, comment: str, head: bytes, base: Case = original) -> Case:
        return Case(f"malformed/head-{name}", base.certificate, head, base.latents, "INPUT_ERROR", "head", comment)

    def header_with(change: Change) -> bytes:
        header, body = split(original.head)
        change(header)
        return joined(header, body)

    data = original.head
    yield case("empty", "No byte.", b"")
    yield case("truncated", "Cut in the middle.", data[: len(data) // 2])
    yield case("last-byte-missing", "Cut before the last byte.", data[:-1])
    yield case("tail", "A byte after the last tensor.", data + b"\0")
    yield case("length-huge", "A header of 2^64 - 1 bytes.", b"\xff" * 8 + data[8:])
    yield case("not-safetensors", "No brace after the length.", data[:8] + b" " + data[9:])
    yield case("dtype-i64", "Weights as integers.", header_with(lambda h: h["weight"].update(dtype="I64")))
    yield case("dtype-unknown", "An unknown dtype.", header_with(lambda h: h["weight"].update(dtype="F65")))
    yield case(
        "shape-swapped", "Classes and prototypes exchanged.", header_with(lambda h: h["weight"]["shape"].reverse())
    )
    yield case("shape-true", "A truth value for a size.", header_with(lambda h: h["weight"].update(shape=[True, 12])))
    yield case("offsets-overlap", "Two tensors at one place.", header_with(_overlap))
    yield case(
        "tensor-unknown", "A tensor that v1 does not have.", header_with(lambda h: h.update(extra=h.pop("bias")))
    )
    yield case("no-metadata", "No description.", header_with(lambda h: h.pop("__metadata__")))
    yield case("more-metadata", "Two descriptions.", header_with(lambda h: h["__metadata__"].update(format="pt")))
    for name, value in (("nan", b"\xff" * 8), ("infinity", b"\0\0\0\0\0\0\xf0\x7f")):
        yield case(name, f"A weight of {name}.", data[: len(data) - len(split(data)[1])] + value + split(data)[1][8:])
    for name, comment, change in (
        ("version-2", "Another version.", {"version": 2}),
        ("version-true", "A truth value for the version.", {"version": True}),
        ("geometry-unknown", "An unknown geometry.", {"geometry": {"kind": "hyperbolic"}}),
        ("similarity-unknown", "An unknown similarity.", {"similarity": {"kind": "tanh"}}),
        ("similarity-of-cosines", "A similarity of another geometry.", {"similarity": {"kind": "identity"}}),
        ("epsilon-one", "log_ratio with the epsilon 1.", {"similarity": files.log_ratio(1.0)}),
        ("epsilon-zero", "log_ratio with the epsilon 0.", {"similarity": files.log_ratio(0.0)}),
        ("epsilon-number", "An epsilon that is a JSON integer.", {"similarity": {"kind": "log_ratio", "epsilon": 0}}),
        ("domain-reversed", "The upper end below the lower one.", {"domain": files.domain(1.0, -1.0)}),
        ("domain-point", "A domain of one point.", {"domain": files.domain(1.0, 1.0)}),
        (
            "negated-unbounded",
            "negated without bounds.",
            {"similarity": {"kind": "negated"}, "domain": files.domain(None, 1.0)},
        ),
        ("k-zero", "The mean of none.", {"pooling": {"kind": "top_mean", "k": 0}}),
        ("class-token-all", "No prototype left for the image.", {"pooling": {"kind": "banks", "class_token": 4}}),
        ("labels-few", "Fewer labels than classes.", {"labels": ["a"]}),
        ("field-unknown", "A field that v1 does not have.", {"temperature": "0x1p+0"}),
    ):
        yield case(name, comment, described(data, lambda description, change=change: description.update(change)))
    cosine = cases["projection-cosine-bare"]
    zero = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]], geometry=files.cosine(0.0), similarity=files.IDENTITY)
    yield case("zero-prototype", "A cosine with a prototype of no direction.", zero, cosine)
    for name, radius, box, toward, comment in (
        ("empty", 1.0, (2.0, 3.0), 1.0, "box [2, 3] in two dimensions, radius 1."),
        ("empty-corner", 2.5, (None, -2.0), -1.0, "coordinates of at most -2 in two dimensions, radius 2.5."),
    ):
        ball = {"geometry": {"kind": "inner_product", "radius": radius.hex()}, "similarity": files.IDENTITY}
        empty = files.head([[1.0], [0.0]], [[toward, 0.0]], **ball, domain=files.domain(*box))
        proof, comment = files.encode(files.document(empty, [])), f"A domain without latents: {comment}"
        yield Case(f"malformed/head-domain-{name}", proof, empty, None, "INPUT_ERROR", "head", comment)
    tree = cases["projection-euclidean-exp_distance-soft_tree"]

    def crossed(description: dict[str, Any]) -> None:
        description["readout"]["present"][0] = 1

    yield case("tree-two-parents", "A node with two parents.", described(tree.head, crossed), tree)

    def cyclic(description: dict[str, Any]) -> None:
        description["readout"]["absent"][1] = 0

    yield case("tree-cycle", "A child before its parent.", described(tree.head, cyclic), tree)


def _overlap(header: dict[str, Any]) -> None:
    header["bias"]["data_offsets"] = [0, 24]
