"""Certificates of pictures: what they name and claim."""

from __future__ import annotations

import json
from typing import Any

import pytest

from verale.certificate import ActivationStatement, Certificate
from verale.errors import CertificateError


def certificate(**fields: Any) -> Certificate:
    given: dict[str, Any] = {
        "head": "1" * 64,
        "latents": None,
        "network": "2" * 64,
        "picture": "3" * 64,
        "arithmetic": "real",
        "predicted": 0,
        "paradigm": "top_k",
        "patches": 4,
        "statements": (ActivationStatement(0, 0.5, 1.0),),
        "margins": (None, 0.25),
        "minimal": True,
        "version": "0.1.0",
    }
    return Certificate(**(given | fields))


def test_a_certificate_of_a_picture_survives_its_file() -> None:
    given = certificate()
    document = json.loads(given.to_bytes())
    assert [each["name"] for each in document["subject"]] == ["head", "network", "picture"]
    assert document["predicate"]["claims"] == ["entailment", "picture", "minimality"]
    assert document["predicate"]["arithmetic"] == "real"
    assert Certificate.from_bytes(given.to_bytes()) == given
    assert "picture 333333333333..., by the network 222222222222..." in str(given)


def test_a_certificate_of_latents_has_no_new_field() -> None:
    given = certificate(latents="4" * 64, network=None, picture=None, arithmetic=None)
    document = json.loads(given.to_bytes())
    assert [each["name"] for each in document["subject"]] == ["head", "latents"]
    assert "arithmetic" not in document["predicate"] and "instance" in document["predicate"]["claims"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"network": None}, "expected all or none"),
        ({"arithmetic": None}, "expected all or none"),
        ({"latents": "4" * 64}, "expected all or none"),
        ({"picture": "short"}, "the picture digest is 'short'"),
        ({"arithmetic": "float16"}, "arithmetic is 'float16', expected real or float32"),
    ],
)
def test_what_is_not_whole_is_refused(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(CertificateError, match=expected):
        certificate(**fields)
