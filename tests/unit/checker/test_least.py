"""The reader of proofs that no explanation is smaller: what is malformed or not proved is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.small import small_head, small_latents

from verale.checker.errors import FormatError, KernelError, UnprovedError
from verale.checker.least import proved_least
from verale.head import Head, as_patches, digest, save_latents
from verale.search.least import least_document

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> tuple[bytes, Head, bytes]:
    """A document, its head and its latents."""
    path = tmp_path_factory.mktemp("searched") / "latents"
    head = small_head("euclidean", prototypes=12)
    latents = small_latents(head, images=2)
    save_latents(path, latents)
    _, document = least_document(head, as_patches(latents)[1])
    return document, head, path.read_bytes()


@pytest.fixture
def given(searched) -> tuple[dict[str, Any], Head, bytes]:
    """The same, the document for the test to change."""
    document, head, latents = searched
    return json.loads(document), head, latents


def proved(given: tuple[dict[str, Any], Head, bytes], **changes: Any) -> int:
    claim, head, latents = given
    return proved_least(json.dumps({**claim, **changes}).encode(), head.to_bytes(), latents)


def test_what_is_claimed_is_proved_and_no_more(given) -> None:
    claim = given[0]
    assert proved(given) == claim["least"]
    assert proved(given, least=1) == 1
    with pytest.raises(UnprovedError, match=r"cells\[\d+\] does not exclude"):
        proved(given, least=claim["least"] + 1)


def test_a_cell_without_cost_is_not_excluded_by_what_the_clauses_cost(given) -> None:
    """Whoever leaves out the cells with clauses, or proves one cell alone, proves nothing of the others."""
    with pytest.raises(UnprovedError, match="does not exclude"):
        proved(given, cells=[{"weights": []}], least=1)
    whole = [each for each in given[0]["cells"] if "weights" in each]
    with pytest.raises(FormatError, match="comes after the last leaf"):
        proved(given, cells=whole, least=0)


def test_another_subject_is_not_proved(given) -> None:
    claim, head, latents = given
    for name in ("head", "latents"):
        with pytest.raises(UnprovedError, match=r"speaks of another head|no image"):
            proved(given, **{name: "0" * 64})
    predicted = (claim["predicted"] + 1) % 3
    with pytest.raises((UnprovedError, FormatError)):
        proved(given, predicted=predicted, least=12)
    with pytest.raises(UnprovedError, match=r"takes more than 1e-09 s of processor time"):
        proved_least(json.dumps(claim).encode(), head.to_bytes(), latents, limit=1e-9)


def splits(*ends: tuple[str, float]) -> list[dict[str, str]]:
    return [{"split": name, "at": at.hex()} for name, at in ends]


def test_absurd_weights_and_numbers_prove_no_more(given) -> None:
    """The largest integer of the format as the only weight, as every weight, as the bound, and ends of any size."""
    claim, most = given[0], 10**18 - 1
    rivals = [c for c in range(3) if c != claim["predicted"]]
    for weights in ([[rivals[0], most]], [[c, most] for c in rivals], [[rivals[0], most], [rivals[1], 1]]):
        cells = [each if "split" in each else {"weights": weights} for each in claim["cells"]]
        with pytest.raises(UnprovedError, match="does not exclude"):
            proved(given, cells=cells, least=claim["least"] + 1)
    with pytest.raises(UnprovedError, match="does not exclude"):
        proved(given, least=most)
    for end in (2.0**1023, -(2.0**1023), 2.0**-1074):
        cells = [*splits(("ceiling", end), ("floor", end)), *[{"weights": []}] * 3]
        assert proved(given, cells=cells, least=0) == 0
        with pytest.raises(UnprovedError, match="does not exclude"):
            proved(given, cells=cells, least=1)


def test_a_deep_tree_lacks_its_leaves_or_is_proved(given) -> None:
    """More splits than Python nests calls, one below the other, to either side, on either clause."""
    deep = splits(("ceiling", 1.0), ("floor", 0.0)) * 5_000
    with pytest.raises(FormatError, match="cells lacks 10001 leaves"):
        proved(given, cells=deep, least=0)
    one_sided = [each for split in splits(("ceiling", 1.0)) * 6_000 for each in (split, {"weights": []})]
    assert proved(given, cells=[*one_sided, {"weights": []}], least=0) == 0


def test_many_leaves_end_at_the_limit(given, monkeypatch) -> None:
    monkeypatch.setattr("verale.checker.limit._BETWEEN", 0)
    rivals = [[c, 1] for c in range(3) if c != given[0]["predicted"]]
    cells = [each for split in splits(("ceiling", 1.0)) * 5000 for each in (split, {"weights": rivals})]
    claim, head, latents = given
    document = json.dumps({**claim, "cells": [*cells, {"weights": rivals}], "least": 0}).encode()
    with pytest.raises(UnprovedError, match=r"takes more than 0\.001 s of processor time"):
        proved_least(document, head.to_bytes(), latents, limit=1e-3)


def test_the_limit_counts_the_image(tmp_path) -> None:
    """As an audit does: an image of a megabyte may take twice the time."""
    head = small_head("euclidean", prototypes=12)
    latents = small_latents(head, images=1)
    image = as_patches(latents)[0][:1].repeat(2**15, 1)
    save_latents(tmp_path / "latents", image[None])
    claim = {"_type": "urn:verale:least:v1", "head": head.digest, "latents": digest(image), "predicted": 0}
    document = json.dumps({**claim, "least": 0, "cells": [{"weights": []}]}).encode()
    with pytest.raises(UnprovedError, match=r"takes more than 2e-09 s of processor time"):
        proved_least(document, head.to_bytes(), (tmp_path / "latents").read_bytes(), limit=1e-9)


@pytest.mark.parametrize("kernel", ["proved", "all"])
def test_the_kernel_proved_does_not_cover_it(given, kernel) -> None:
    claim, head, latents = given
    with pytest.raises(UnprovedError, match="the kernel proved does not cover") as caught:
        proved_least(json.dumps(claim).encode(), head.to_bytes(), latents, kernel)
    assert caught.value.reason == "uncovered"
    with pytest.raises(KernelError, match="'none' is unknown"):
        proved_least(json.dumps(claim).encode(), head.to_bytes(), latents, "none")


def test_the_schema_takes_what_is_written_and_not_what_is_malformed(given) -> None:
    schema = Draft202012Validator(json.loads((ROOT / "certificates" / "least-v1.schema.json").read_text()))
    claim = given[0]
    assert schema.is_valid(claim)
    for changes in (
        {"_type": "urn:verale:least:v2"},
        {"more": 1},
        {"least": -1},
        {"least": True},
        {"cells": {}},
        {"cells": []},
        {"cells": [{"split": "wall", "at": "0x1p+0"}]},
        {"cells": [{"split": "floor", "at": "1.0"}]},
        {"cells": [{"split": "floor"}]},
        {"cells": [{"split": "floor", "at": "0x1p+0", "weights": []}]},
        {"cells": [{"weights": [[1]]}]},
        {"cells": [{"weights": [[1, 2, 3]]}]},
        {"cells": [{"weights": [[0, -1]]}]},
        {"cells": [3]},
    ):
        assert not schema.is_valid({**claim, **changes})
        with pytest.raises(FormatError):
            proved(given, **changes)
