"""Certificates as bytes and back: UTF-8 JSON, hex floats, one spelling."""

from __future__ import annotations

import json
from typing import Any

from verale.certificate.record import (
    ActivationStatement,
    Certificate,
    OrderStatement,
    PatchStatement,
    Prices,
    Statement,
)
from verale.errors import CertificateError

__all__ = ["TYPE", "decode", "encode"]

TYPE = "urn:verale:certificate:v1"


def encode(certificate: Certificate) -> bytes:
    """The certificate's file: one statement a line, so that two certificates can be compared with `diff`."""
    subject = [{"name": "head", "digest": {"sha256": certificate.head}}]
    claims = ["entailment"]
    if certificate.latents is not None:
        subject.append({"name": "latents", "digest": {"sha256": certificate.latents}})
        claims.append("instance")
    if certificate.minimal:
        claims.append("minimality")
    predicate = {
        "predicted": certificate.predicted,
        "paradigm": certificate.paradigm,
        "patches": certificate.patches,
        "statements": [],
        "margins": [None if margin is None else margin.hex() for margin in certificate.margins],
        "claims": claims,
        "hints": {"prices": [_encode_prices(each) for each in certificate.prices]} if certificate.prices else {},
        "generator": {"name": "verale", "version": certificate.version},
    }
    text = json.dumps({"_type": TYPE, "subject": subject, "predicate": predicate}, ensure_ascii=False)
    statements = ",\n".join(json.dumps(_encode_statement(statement)) for statement in certificate.statements)
    return (text.replace('"statements": []', f'"statements": [\n{statements}\n]', 1) + "\n").encode()


def decode(data: bytes) -> Certificate:
    """Read a certificate for use, not for proof: the checker has readers of its own. Raises CertificateError."""
    try:
        record = json.loads(data)
        if record["_type"] != TYPE:
            raise CertificateError(f"_type is {record['_type']!r}, expected {TYPE!r}")
        predicate = record["predicate"]
        digests = {entry["name"]: entry["digest"]["sha256"] for entry in record["subject"]}
        return Certificate(
            head=digests["head"],
            latents=digests.get("latents"),
            predicted=predicate["predicted"],
            paradigm=predicate["paradigm"],
            patches=predicate["patches"],
            statements=tuple(_decode_statement(statement) for statement in predicate["statements"]),
            margins=tuple(None if margin is None else float.fromhex(margin) for margin in predicate["margins"]),
            minimal="minimality" in predicate["claims"],
            version=predicate["generator"]["version"],
            prices=tuple(_decode_prices(each) for each in predicate["hints"].get("prices", [])),
        )
    except (ValueError, RecursionError, OverflowError) as error:
        raise CertificateError(f"is no certificate: {error}") from error
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise CertificateError(f"is no certificate v1: field {error} is missing or has another form") from error


def _encode_statement(statement: Statement) -> dict[str, Any]:
    match statement:
        case PatchStatement(patch, prototype, lower, upper):
            return {"patch": patch, "prototype": prototype, "interval": [lower.hex(), upper.hex()]}
        case ActivationStatement(prototype, lower, upper):
            return {"prototype": prototype, "interval": [lower.hex(), upper.hex()]}
        case OrderStatement(exempt, upper):
            return {"except": list(exempt), "upper": upper.hex()}


def _encode_prices(prices: Prices) -> dict[str, Any]:
    values = [value.hex() for value in prices.values]
    return {"rival": prices.rival, "prototypes": list(prices.prototypes), "prices": values}


def _decode_prices(value: dict[str, Any]) -> Prices:
    return Prices(value["rival"], tuple(value["prototypes"]), tuple(map(float.fromhex, value["prices"])))


def _decode_statement(value: dict[str, Any]) -> Statement:
    if "except" in value:
        return OrderStatement(tuple(value["except"]), float.fromhex(value["upper"]))
    lower, upper = map(float.fromhex, value["interval"])
    if "patch" in value:
        return PatchStatement(value["patch"], value["prototype"], lower, upper)
    return ActivationStatement(value["prototype"], lower, upper)
