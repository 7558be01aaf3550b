"""The certificate: the reject rules of certificates/v1.md, steps 2 and 4."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest
from support import files
from support.cases import every

from verale.checker import certificate
from verale.checker.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    read_certificate,
)
from verale.checker.errors import FormatError
from verale.checker.head import read_head

HEAD = files.head([[1.0] * 4, [0.0] * 4, [0.5] * 4], [[0.5, 0.25]] * 4)
SOFTMAX = files.head([[1.0] * 4, [0.0] * 4, [0.5] * 4], geometry=files.SOFTMAX, similarity=files.IDENTITY)
IMAGE = [[0.5, 0.5], [0.25, 0.75]]
STATEMENTS = [
    files.patch_statement(0, 3, 0.0, 0.5),
    files.patch_statement(1, 3, -0.25, -0.25),
    files.patch_statement(0, 1, 1.0, 2.0),
]


def document(statements: Any = STATEMENTS, **options: Any) -> dict[str, Any]:
    return files.document(HEAD, deepcopy(statements), predicted=1, classes=3, patches=2, image=IMAGE, **options)


def edited(edit: Callable[[Any], Any], **options: Any) -> dict[str, Any]:
    value = document(**options)
    edit(value)
    return value


def put(*path: Any) -> Callable[[Any], None]:
    """An edit that sets what the path, all but its last element, leads to."""
    *way, name, value = path

    def edit(target: Any) -> None:
        for step in way:
            target = target[step]
        target[name] = value

    return edit


def drop(*path: Any) -> Callable[[Any], None]:
    *way, name = path

    def edit(target: Any) -> None:
        for step in way:
            target = target[step]
        del target[name]

    return edit


P = "predicate"


def test_reads_a_certificate() -> None:
    certificate = read_certificate(
        files.encode(document(minimality=True) | {"extensions": {"any": [1, "thing", None]}})
    )
    assert (certificate.predicted, certificate.paradigm, certificate.patches) == (1, "projection", 2)
    assert certificate.claims == ("entailment", "instance", "minimality")
    assert certificate.latents == files.digest(IMAGE)
    assert certificate.statements[1] == PatchStatement(1, 3, -Fraction(1, 4), -Fraction(1, 4))
    assert certificate.margins[1] is None
    certificate.check_against(read_head(HEAD))


def test_reads_the_forms_of_top_k() -> None:
    statements = [files.activation_statement(2, 0.5, 1.0), files.order_clause([0, 2], 0.25), files.floor([1], 0.5)]
    certificate = read_certificate(files.encode(document(statements, paradigm="top_k")))
    half, quarter, one = Fraction(1, 2), Fraction(1, 4), Fraction(1)
    expected = (ActivationStatement(2, half, one), OrderStatement((0, 2), quarter), FloorStatement((1,), half))
    assert certificate.statements == expected
    certificate.check_against(read_head(HEAD))


@pytest.mark.parametrize(
    ("statements", "paradigm", "expected"),
    [
        ([files.patch_statement(1, 2, None, 1.0)], "projection", PatchStatement(1, 2, None, Fraction(1))),
        ([files.patch_statement(1, 2, 0.5, None)], "projection", PatchStatement(1, 2, Fraction(1, 2), None)),
        ([files.activation_statement(2, None, 1.0)], "top_k", ActivationStatement(2, None, Fraction(1))),
        ([files.activation_statement(2, 0.5, None)], "top_k", ActivationStatement(2, Fraction(1, 2), None)),
    ],
)
def test_reads_statements_with_one_end(statements: list[Any], paradigm: str, expected: Statement) -> None:
    certificate = read_certificate(files.encode(document(statements, paradigm=paradigm)))
    assert certificate.statements == (expected,)
    certificate.check_against(read_head(HEAD))


def prices(rival: Any = 0, prototypes: Any = (1, 3), values: Any = ("0x1p-3", "0x1p-4")) -> dict[str, Any]:
    return {"rival": rival, "prototypes": list(prototypes), "prices": list(values)}


def priced(*entries: Any) -> Callable[[Any], None]:
    """An edit that makes it a certificate of `assignment` with prices."""

    def edit(target: Any) -> None:
        target[P].update(paradigm="assignment", hints={"prices": list(entries)})

    return edit


def test_reads_prices() -> None:
    certificate = read_certificate(files.encode(edited(priced(prices(), prices(2, [], [])))))
    assert certificate.prices == {0: {1: Fraction(1, 8), 3: Fraction(1, 16)}, 2: {}}
    certificate.check_against(read_head(SOFTMAX))
    assert read_certificate(files.encode(edited(put(P, "paradigm", "assignment")))).prices == {}


STEP_1: dict[str, tuple[Callable[[Any], Any], str]] = {
    **{f"no {name}": (drop(name), f"lacks the field '{name}'") for name in ("_type", "subject", P)},
    "another field": (put("x", 1), "unknown field 'x'"),
    "another type": (put("_type", "urn:verale:certificate:v2"), "_type is"),
    "extensions that are a list": (put("extensions", []), "extensions is"),
    "a subject that is an object": (put("subject", {}), "subject is {}, expected a list"),
    "no subject": (put("subject", []), "subject has 0 entries"),
    "the latents twice": (lambda d: d["subject"].append(d["subject"][1]), "has the name 'latents', expected 'network'"),
    "four subjects": (lambda d: d["subject"].extend(d["subject"]), "subject has 4 entries"),
    "the latents first": (lambda d: d["subject"].reverse(), "has the name 'latents', expected 'head'"),
    "the head twice": (put("subject", 1, "name", "head"), "has the name 'head', expected 'latents'"),
    "a subject with another field": (put("subject", 0, "uri", "x"), "unknown field 'uri'"),
    "a subject without a digest": (drop("subject", 0, "digest"), "lacks the field 'digest'"),
    "another algorithm": (put("subject", 0, "digest", {"md5": "0"}), "lacks the field 'sha256'"),
    "a digest that is a number": (put("subject", 0, "digest", {"sha256": 0}), "expected a string"),
    "a short digest": (put("subject", 0, "digest", {"sha256": "0" * 63}), "64 lowercase hex digits"),
    "a digest with a line end": (put("subject", 0, "digest", {"sha256": "0" * 64 + "\n"}), "64 lowercase hex digits"),
    "an upper-case digest": (put("subject", 0, "digest", {"sha256": "A" * 64}), "64 lowercase hex digits"),
    "a predicate that is a list": (put(P, []), "predicate is"),
    **{
        f"no {name}": (drop(P, name), f"lacks the field '{name}'")
        for name in ("predicted", "paradigm", "patches", "statements", "margins", "claims", "hints", "generator")
    },
    "another field of the predicate": (put(P, "x", 1), "unknown field 'x'"),
    "a hint": (put(P, "hints", {"multipliers": []}), "hints has the unknown field"),
    "prices in another paradigm": (put(P, "hints", {"prices": []}), "hints has the unknown field"),
    "another hint of assignment": (
        lambda d: d[P].update(paradigm="assignment", hints={"multipliers": []}),
        "hints has the unknown field",
    ),
    "prices that are an object": (lambda d: d[P].update(paradigm="assignment", hints={"prices": {}}), "prices is {}"),
    "prices without a rival": (priced({"prototypes": [], "prices": []}), "lacks the field 'rival'"),
    "prices with another field": (priced(prices() | {"x": 1}), "unknown field 'x'"),
    "a price too few": (priced(prices(values=["0x1p-3"])), "has 1 prices for 2 prototypes"),
    "prices of a prototype twice": (priced(prices(prototypes=[1, 1])), "does not strictly increase"),
    "prices in reverse": (priced(prices(prototypes=[3, 1])), "does not strictly increase"),
    "a price of zero": (priced(prices(values=["0x1p-3", "0x0p+0"])), "has 0, expected positive"),
    "a negative price": (priced(prices(values=["-0x1p-3", "0x1p+0"])), "has -0.125, expected positive"),
    "a price that is a number": (priced(prices(values=[1, 2])), "expected a string"),
    "a negative priced prototype": (priced(prices(prototypes=[-1, 1])), r"prototypes\[0\] is -1"),
    "a rival twice": (priced(prices(), prices()), "expected rivals that strictly increase"),
    "rivals in reverse": (priced(prices(2), prices(0)), "expected rivals that strictly increase"),
    "a rival that is a string": (priced(prices("0")), "rival is '0'"),
    "hints that are a list": (put(P, "hints", []), "hints is"),
    "a generator without a version": (drop(P, "generator", "version"), "lacks the field 'version'"),
    "a generator whose name is a number": (put(P, "generator", "name", 1), "generator.name is 1"),
    "a generator whose version is null": (put(P, "generator", "version", None), "generator.version is None"),
    "predicted null": (put(P, "predicted", None), "predicted is None"),
    "predicted true": (put(P, "predicted", True), "predicted is True"),
    "predicted -1": (put(P, "predicted", -1), "predicted is -1"),
    "an unknown paradigm": (put(P, "paradigm", "pyramid"), "paradigm is 'pyramid'"),
    "a paradigm that is a list": (put(P, "paradigm", []), "paradigm is"),
    "no patches": (put(P, "patches", 0), "patches is 0, expected at least 1"),
    "patches as a string": (put(P, "patches", "2"), "patches is '2'"),
    "statements that are an object": (put(P, "statements", {}), "statements is {}"),
    "a statement that is a list": (put(P, "statements", 0, []), r"statements\[0\] is"),
    "a statement with another field": (put(P, "statements", 0, "x", 1), "unknown field 'x'"),
    "a statement without an interval": (drop(P, "statements", 0, "interval"), "lacks the field 'interval'"),
    "an interval of one end": (put(P, "statements", 0, "interval", ["0x0p+0"]), "expected .lower, upper."),
    "an interval that is an object": (put(P, "statements", 0, "interval", {}), "interval is"),
    "an interval of integers": (put(P, "statements", 0, "interval", [0, 1]), "expected a string"),
    "an interval of decimals": (put(P, "statements", 0, "interval", ["0.0", "1.0"]), "hex float"),
    "an interval with two nulls": (put(P, "statements", 0, "interval", [None, None]), "two ends that are null"),
    "an interval of one null": (put(P, "statements", 0, "interval", [None]), "expected .lower, upper."),
    "an interval that is null": (put(P, "statements", 0, "interval", None), "expected .lower, upper."),
    "an end that is an empty string": (put(P, "statements", 0, "interval", ["", "0x1p+0"]), "expected the hex float"),
    "an end that is infinite": (put(P, "statements", 0, "interval", ["-inf", "0x1p+0"]), "expected the hex float"),
    "an end that is false": (put(P, "statements", 0, "interval", [False, "0x1p+0"]), "expected a string"),
    "an infinite interval": (put(P, "statements", 0, "interval", ["0x0p+0", "inf"]), "hex float"),
    "an interval beyond binary64": (put(P, "statements", 0, "interval", ["0x0p+0", "0x1p+1024"]), "finite binary64"),
    "an interval finer than binary64": (
        put(P, "statements", 0, "interval", ["0x1p-1075", "0x1p+0"]),
        "finite binary64",
    ),
    "a negative patch": (put(P, "statements", 0, "patch", -1), r"statements\[0\].patch is -1"),
    "a negative prototype": (put(P, "statements", 0, "prototype", -1), "prototype is -1"),
    "both forms at once": (
        put(P, "statements", 0, {**files.patch_statement(0, 0, 0, 1), "except": [], "upper": "0x0p+0"}),
        "unknown",
    ),
    "an except that is a number": (put(P, "statements", 0, {"except": 1, "upper": "0x0p+0"}), "except is 1"),
    "an except of strings": (put(P, "statements", 0, {"except": ["1"], "upper": "0x0p+0"}), r"except\[0\] is '1'"),
    "an except without upper": (put(P, "statements", 0, {"except": []}), "lacks the field 'upper'"),
    "an except with two ends": (
        put(P, "statements", 0, {"except": [], "lower": "0x0p+0", "upper": "0x1p+0"}),
        "unknown field 'upper'",
    ),
    "a ceiling that is null": (put(P, "statements", 0, {"except": [], "upper": None}), "upper is None"),
    "a floor that is null": (put(P, "statements", 0, {"except": [], "lower": None}), "lower is None"),
    "a floor of numbers": (put(P, "statements", 0, {"except": [], "lower": 1}), "lower is 1"),
    "margins that are an object": (put(P, "margins", {}), "margins is"),
    "a margin that is an integer": (put(P, "margins", 0, 1), r"margins\[0\] is 1, expected a string"),
    "a margin that is a decimal": (put(P, "margins", 0, "0.5"), r"margins\[0\] is '0.5'"),
    "claims that are a string": (put(P, "claims", "entailment"), "claims is"),
    "a claim that is a number": (put(P, "claims", [1]), r"claims\[0\] is 1"),
    "no claims": (put(P, "claims", []), "claims is"),
    "no entailment": (put(P, "claims", ["instance"]), "claims is"),
    "an unknown claim": (put(P, "claims", ["entailment", "instance", "deployment"]), "claims is"),
    "claims in another order": (put(P, "claims", ["instance", "entailment"]), "in this order"),
    "a claim twice": (put(P, "claims", ["entailment", "entailment", "instance"]), "claims is"),
    "latents without an instance claim": (put(P, "claims", ["entailment"]), "claims and subject disagree"),
    "an instance claim without latents": (drop("subject", 1), "claims and subject disagree"),
}


@every("name", STEP_1)
def test_step_1_refuses(name: str) -> None:
    edit, fault = STEP_1[name]
    with pytest.raises(FormatError, match=fault):
        read_certificate(files.encode(edited(edit)))


TOP_K = {"paradigm": "top_k"}

STEP_4: dict[str, tuple[dict[str, Any], str]] = {
    "predicted out of range": (edited(put(P, "predicted", 3)), "less than the head's 3 classes"),
    "too few margins": (edited(drop(P, "margins", 2)), "margins has 2 entries, expected 3"),
    "too many margins": (document(margins=[1.0, None, 1.0, 1.0]), "margins has 4 entries, expected 3"),
    "no null": (document(margins=[1.0, 1.0, 1.0]), r"margins\[1\] is a number"),
    "null elsewhere": (document(margins=[None, None, 1.0]), r"margins\[0\] is null"),
    "a margin of zero": (document(margins=[1.0, None, 0.0]), r"margins\[2\] is 0, expected a positive"),
    "a margin below zero": (document(margins=[-1.0, None, 1.0]), r"margins\[0\] is -1,"),
    "a patch out of range": (document([files.patch_statement(2, 0, 0, 1)]), "less than patches, 2"),
    "a prototype out of range": (document([files.patch_statement(0, 4, 0, 1)]), "less than the head's 4"),
    "an activation out of range": (document([files.activation_statement(4, 0, 1)], **TOP_K), "less than the head's 4"),
    "a listed prototype out of range": (document([files.order_clause([0, 4], 1)], **TOP_K), "lists 4"),
    "a list that does not increase": (document([files.order_clause([1, 1], 1)], **TOP_K), "strictly increase"),
    "a list that decreases": (document([files.order_clause([2, 1], 1)], **TOP_K), "strictly increase"),
    "ends in reverse": (document([files.patch_statement(0, 0, 1, 0.5)]), r"\[1, 0.5\], expected lower <= upper"),
    "ends of an activation in reverse": (
        document([files.activation_statement(0, 1, 0.5)], **TOP_K),
        "expected lower <= upper",
    ),
    "a pair twice": (document([*STATEMENTS, files.patch_statement(1, 3, 0, 1)]), "statement 3 .* earlier statement"),
    "an activation twice": (
        document([files.activation_statement(1, 0, 1), files.activation_statement(1, 0, 1)], **TOP_K),
        "earlier",
    ),
    "two except forms": (document([files.order_clause([1], 1), files.order_clause([2], 1)], **TOP_K), "earlier"),
    "a patch in top_k": (
        document([files.patch_statement(0, 0, 0, 1)], **TOP_K),
        "does not belong to the paradigm top_k",
    ),
    "an activation in projection": (
        document([files.activation_statement(0, 0, 1)]),
        "does not belong to the paradigm projection",
    ),
    "two floors": (document([files.floor([1], 1), files.floor([2], 1)], **TOP_K), "earlier"),
    "a floor that lists a prototype out of range": (document([files.floor([0, 4], 1)], **TOP_K), "lists 4"),
    "a floor whose list does not increase": (document([files.floor([1, 1], 1)], **TOP_K), "strictly increase"),
    "a floor in projection": (document([files.floor([0], 1)]), "does not belong"),
    "a floor in sparse": (document([files.floor([0], 1)], paradigm="sparse"), "paradigm sparse"),
    "an except form in projection": (document([files.order_clause([0], 1)]), "does not belong"),
    "sparse for a euclidean head": (document([], paradigm="sparse"), "sparse is not defined for a euclidean head"),
    "assignment for a euclidean head": (edited(priced()), "assignment is not defined for a euclidean head"),
    "simplex for a euclidean head": (document(paradigm="simplex"), "simplex is not defined for a euclidean head"),
}


STEP_4_SOFTMAX: dict[str, tuple[dict[str, Any], str]] = {
    "a patch in sparse": (document(paradigm="sparse"), "does not belong to the paradigm sparse"),
    "an except form in sparse": (document([files.order_clause([0], 1)], paradigm="sparse"), "paradigm sparse"),
    "an activation in assignment": (
        document([files.activation_statement(0, 0, 1)], paradigm="assignment"),
        "paradigm assignment",
    ),
    "prices for the predicted class": (edited(priced(prices(1))), "prices for class 1, expected a rival of 1"),
    "prices for no class": (edited(priced(prices(3))), "prices for class 3"),
    "a price for no prototype": (edited(priced(prices(prototypes=[1, 4]))), "prototype 4, expected less than"),
}


@every("name", STEP_4_SOFTMAX)
def test_step_4_refuses_for_softmax(name: str) -> None:
    value, fault = STEP_4_SOFTMAX[name]
    certificate = read_certificate(files.encode(value))
    with pytest.raises(FormatError, match=fault):
        certificate.check_against(read_head(SOFTMAX))


@every("name", STEP_4)
def test_step_4_refuses(name: str) -> None:
    value, fault = STEP_4[name]
    certificate = read_certificate(files.encode(value))
    with pytest.raises(FormatError, match=fault):
        certificate.check_against(read_head(HEAD))


INNER = {"geometry": {"kind": "inner_product", "radius": None}, "similarity": files.IDENTITY}
UNDEFINED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "hypersphere of inner products": (INNER, {"paradigm": "hypersphere"}, "not defined for a inner_product head"),
    "simplex of inner products": (INNER, {"paradigm": "simplex"}, "not defined for a inner_product head"),
    "sparse of inner products": (INNER, {"paradigm": "sparse"}, "not defined for a inner_product head"),
    "assignment of thresholds": (
        {"geometry": files.SOFTMAX, "similarity": {"kind": "threshold", "threshold": "0x1p-3"}},
        {"paradigm": "assignment"},
        "assignment is not defined for threshold, the pooling max .*, expected identity and the pooling max",
    ),
    "assignment of a mean": (
        {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "pooling": {"kind": "top_mean", "k": 2}},
        {"paradigm": "assignment"},
        "for identity, the pooling top_mean",
    ),
    "banks of one patch": (
        {"pooling": {"kind": "banks", "class_token": 1}},
        {"paradigm": "top_k"},
        "patches is 1, expected at least 2, as many as the head's mask has columns",
    ),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_not_defined_for_a_head(name: str) -> None:
    changes, options, fault = UNDEFINED[name]
    points = None if changes.get("geometry") == files.SOFTMAX else [[0.5]] * 4
    head = read_head(files.head([[1.0] * 4] * 3, points, **changes))
    with pytest.raises(FormatError, match=fault):
        read_certificate(files.encode(edited(put(P, "patches", 1), statements=[], **options))).check_against(head)


@pytest.mark.parametrize("paradigm", ["projection", "triangle", "top_k"])
def test_what_is_defined_for_inner_products(paradigm: str) -> None:
    head = read_head(files.head([[1.0] * 4] * 3, [[0.5]] * 4, **INNER))
    read_certificate(files.encode(document([], paradigm=paradigm))).check_against(head)


def test_projection_is_not_defined_for_softmax() -> None:
    certificate = read_certificate(files.encode(document()))
    with pytest.raises(
        FormatError, match="projection is not defined for a softmax head, expected one of euclidean, cosine"
    ):
        certificate.check_against(read_head(SOFTMAX))


def test_statements_name_themselves() -> None:
    one = Fraction(1)
    assert [
        str(s)
        for s in (
            PatchStatement(1, 2, one, one),
            ActivationStatement(2, one, one),
            OrderStatement((1, 2), one),
            FloorStatement((1,), one),
        )
    ] == [
        "patch 1, prototype 2",
        "prototype 2",
        "ceiling, all but 2 prototypes",
        "floor, all but 1 prototypes",
    ]


def test_a_document_is_read_once_and_by_each_process_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def counted(data: bytes) -> certificate.Certificate:
        read.append(bytes(data))
        return true(data)

    true = certificate._read
    monkeypatch.setattr(certificate, "_read", counted)
    data = files.encode(document(STATEMENTS))
    once = certificate.Document(data)
    assert certificate.read_certificate(once) is certificate.read_certificate(once)
    assert certificate.read_certificate(once) == certificate.read_certificate(data) and read == [data, data]
    elsewhere = pickle.loads(pickle.dumps(once))
    assert elsewhere == data and not vars(elsewhere)
    for _ in range(2):
        with pytest.raises(FormatError):
            certificate.read_certificate(certificate.Document(b"{"))
