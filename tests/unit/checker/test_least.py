"""The reader of proofs that no explanation is smaller: what is malformed or not proved is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.small import small_head, small_latents, varied_head

from verale.checker.errors import FormatError, UnprovedError
from verale.checker.least import proved_least
from verale.head import Head, as_patches, digest, save_latents
from verale.search.least import least_document


@pytest.fixture
def given(tmp_path) -> tuple[dict[str, Any], Head, bytes]:
    """A document, its head and its latents."""
    head = small_head("euclidean", prototypes=12)
    latents = small_latents(head, images=2)
    save_latents(tmp_path / "latents", latents)
    _, document = least_document(head, as_patches(latents)[1])
    return json.loads(document), head, (tmp_path / "latents").read_bytes()


def proved(given: tuple[dict[str, Any], Head, bytes], **changes: Any) -> int:
    claim, head, latents = given
    return proved_least(json.dumps({**claim, **changes}).encode(), head.to_bytes(), latents)


def test_what_is_claimed_is_proved_and_no_more(given) -> None:
    claim = given[0]
    assert proved(given) == claim["least"]
    assert proved(given, least=1) == 1
    with pytest.raises(UnprovedError, match=r"cells\[\d+\] does not exclude"):
        proved(given, least=claim["least"] + 1)


def test_less_is_not_proved_without_weights(given) -> None:
    cells = [each if "split" in each else {"weights": []} for each in given[0]["cells"]]
    with pytest.raises(UnprovedError, match="does not exclude"):
        proved(given, cells=cells)
    assert proved(given, cells=[{"weights": []}], least=0) == 0


def test_a_cell_without_cost_is_not_excluded_by_what_the_clauses_cost(given) -> None:
    """Whoever leaves out the cells with clauses, or proves one cell alone, proves nothing of the others."""
    with pytest.raises(UnprovedError, match="does not exclude"):
        proved(given, cells=[{"weights": []}], least=1)
    whole = [each for each in given[0]["cells"] if "weights" in each]
    with pytest.raises(FormatError, match="comes after the last leaf"):
        proved(given, cells=whole, least=0)


def test_weights_of_another_class_prove_no_more(given) -> None:
    """A shifted weighting is another proof, good or not; a bound beyond the least explanation has none."""
    cells = [
        each if "split" in each else {"weights": [[c, 2**45] for c in range(3) if c != given[0]["predicted"]]}
        for each in given[0]["cells"]
    ]
    with pytest.raises(UnprovedError):
        proved(given, cells=cells, least=12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"_type": "urn:verale:least:v2"}, "_type is"),
        ({"more": 1}, "unknown field"),
        ({"least": -1}, "least is -1"),
        ({"least": True}, "least is True"),
        ({"predicted": 3}, "predicted is 3, expected less than the head's 3 classes"),
        ({"cells": {}}, "cells is"),
        ({"cells": []}, "cells lacks 1 leaves"),
        ({"cells": [{"split": "ceiling", "at": "0x1p+0"}, {"weights": []}], "least": 0}, "cells lacks 1 leaves"),
        ({"cells": [{"split": "wall", "at": "0x1p+0"}]}, "split is 'wall'"),
        ({"cells": [{"split": "floor", "at": "1.0"}]}, "at is '1.0'"),
        ({"cells": [{"split": "floor"}]}, "lacks the field 'at'"),
        ({"cells": [{"weights": [[1]]}]}, "expected pairs"),
        ({"cells": [{"weights": [[7, 1]]}]}, "has class 7"),
        ({"cells": [{"weights": [[0, 1], [0, 1], [1, 1], [1, 1]]}]}, "at most once"),
        ({"cells": [{"weights": [[0, -1]]}]}, "weights is -1"),
        ({"cells": [3]}, "expected an object"),
    ],
)
def test_malformed_documents_are_named(given, changes, message) -> None:
    with pytest.raises(FormatError, match=message):
        proved(given, **changes)


def test_another_subject_is_not_proved(given) -> None:
    claim, head, latents = given
    for name in ("head", "latents"):
        with pytest.raises(UnprovedError, match=r"speaks of another head|no image"):
            proved(given, **{name: "0" * 64})
    predicted = (claim["predicted"] + 1) % 3
    with pytest.raises((UnprovedError, FormatError)):
        proved(given, predicted=predicted, least=12)
    with pytest.raises(UnprovedError, match="takes more than 10 steps"):
        proved_least(json.dumps(claim).encode(), head.to_bytes(), latents, limit=10)


def test_the_predicted_class_is_no_rival(given) -> None:
    predicted = given[0]["predicted"]
    with pytest.raises(FormatError, match=f"weights has class {predicted}, expected each rival of {predicted}"):
        proved(given, cells=[{"weights": [[predicted, 1]]}], least=0)


def test_latents_outside_the_domain_are_refused(given, tmp_path) -> None:
    claim, head, _ = given
    outside = small_latents(head, images=1) + 1
    save_latents(tmp_path / "outside", outside)
    claim["latents"] = digest(as_patches(outside)[0])
    with pytest.raises(UnprovedError, match="outside the head's domain"):
        proved_least(json.dumps(claim).encode(), head.to_bytes(), (tmp_path / "outside").read_bytes())


def test_other_readouts_are_not_covered(tmp_path) -> None:
    head = varied_head("maximum")
    latents = small_latents(head, images=1)
    save_latents(tmp_path / "latents", latents)
    claim = {
        "_type": "urn:verale:least:v1",
        "head": head.digest,
        "predicted": 0,
        "least": 0,
        "cells": [{"weights": []}],
    }
    claim["latents"] = digest(as_patches(latents)[0])
    with pytest.raises(UnprovedError, match="the readout is maximum, expected linear"):
        proved_least(json.dumps(claim).encode(), head.to_bytes(), (tmp_path / "latents").read_bytes())
