"""Explanations that hold in float32: their margins outweigh what is lost, and the checker says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from safetensors.torch import save_file
from support.commands import in_process
from support.small import small_head, small_latents, varied_head
from torch import Tensor

import verale
from verale.certificate import Certificate
from verale.checker.deployment import Deployment
from verale.errors import UsageError
from verale.head import Box, Head, as_patches
from verale.runs.parts import Explainer, held_in_float32
from verale.search import SearchOptions, Unexplained
from verale.soundness.paths import CERTIFICATES

PROJECTION = SearchOptions("projection")


def held_of(head: Head, latents: Tensor, formula: str, options: SearchOptions) -> list[Certificate | Unexplained]:
    """Certificates that hold in float32."""
    images = as_patches(latents)
    found = verale.explain(head, images, options.paradigm)
    return held_in_float32(Explainer(head, options, Deployment(formula)), images, found)


def test_every_certificate_holds() -> None:
    formula = "cdist"
    head = small_head("euclidean", prototypes=9, depth=64)
    head = replace(head, weight=head.weight * 1e-2, bias=None)
    latents = small_latents(head, images=4)
    plain = verale.explain(head, latents, "projection")
    held = held_of(head, latents, formula, PROJECTION)
    more = 0
    for one, kept in zip(plain, held, strict=True):
        assert isinstance(one, Certificate) and isinstance(kept, Certificate)
        verdict = verale.audit(kept, head, latents, deployment=formula)
        assert verdict.claims == {"entailment": "proved", "instance": "proved", "deployment": "proved"} | (
            {"minimality": "not checked"} if kept.minimal else {}
        )
        assert kept.predicted == one.predicted and kept.latents == one.latents
        if verale.audit(one, head, latents, deployment=formula).claims["deployment"] != "proved":
            more += 1
            assert kept.margin > one.margin and not kept.minimal
        else:
            assert kept == one
    assert more


def test_a_head_from_a_file_that_is_written_otherwise_has_as_many_by_the_digest_of_that_file() -> None:
    head = small_head("euclidean", prototypes=9, depth=64)
    data, length = head.to_bytes(), int.from_bytes(head.to_bytes()[:8], "little")
    other = Head.from_bytes((length + 8).to_bytes(8, "little") + data[8 : 8 + length] + b" " * 8 + data[8 + length :])
    latents = small_latents(head, images=1)
    (mine,), (its,) = (held_of(each, latents, "cdist", PROJECTION) for each in (head, other))
    assert isinstance(mine, Certificate) and its == replace(mine, head=other.digest) != mine


def test_a_class_that_is_hardly_ahead_has_none() -> None:
    head = small_head("euclidean", prototypes=6, depth=8)
    latents = small_latents(head, images=1)
    found = held_of(replace(head, weight=head.weight * 1e-3 + 1e3, bias=None), latents, "cdist", PROJECTION)[0]
    assert isinstance(found, Unexplained) and "float32 may lose" in found.reason


def test_what_is_not_covered_is_said() -> None:
    head = replace(small_head("euclidean"), domain=Box())
    found = held_of(head, small_latents(head, images=1), "cdist", SearchOptions("top_k"))[0]
    assert isinstance(found, Unexplained) and "overflow" in found.reason


def test_another_readout_is_refused() -> None:
    with pytest.raises(UsageError, match="readout"):
        Explainer(varied_head("maximum"), PROJECTION, Deployment("cdist"))


def test_a_folder_of_them(tmp_path: Path) -> None:
    head = small_head("euclidean", prototypes=9, depth=64)
    head = replace(head, weight=head.weight * 1e-2, bias=None)
    head.save(tmp_path / "head.safetensors")
    save_file({"latents": small_latents(head, images=3)}, str(tmp_path / "latents.safetensors"))
    given = ["--head", str(tmp_path / "head.safetensors"), "--latents", str(tmp_path / "latents.safetensors")]
    out = str(tmp_path / "out")
    command = ["explain", *given, "--paradigm", "projection", "--deployment", "cdist", "--ulps", "log=2", "--out", out]
    assert in_process(*command).returncode == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["deployment"]["log"] == 2
    asked = ["audit", out, "--deployment", "cdist", "--ulps", "log=2", "--log", str(tmp_path / "log.json")]
    audited = in_process(*asked)
    assert (
        audited.returncode == 0
        and audited.stdout.count("entailment+instance+deployment (cdist, log=2,exp=4,sqrt=1) proved") == 3
    )
    schema = json.loads((CERTIFICATES / "audit-log-v1.schema.json").read_text())
    for line in (tmp_path / "log.json").read_text().splitlines():
        jsonschema.validate(json.loads(line), schema)
        assert json.loads(line)["run"]["deployment"] == {"formula": "cdist", "log": 2, "exp": 4, "sqrt": 1}
    again = in_process(*asked)
    assert again.returncode == 0 and again.stdout.count("taken from the audit log") == 3
    files = sorted(path.name for path in (tmp_path / "out").glob("*.ale.json"))
    assert len(files) == 3
    worse = in_process("audit", out, "--deployment", "cdist", "--ulps", "log=1000,exp=1000,sqrt=1000")
    assert worse.returncode == 16 and "falls short by" in worse.stdout
    for wrong in (["--deployment", "fast"], ["--ulps", "log=4"], ["--deployment", "direct", "--ulps", "tan=1"]):
        assert in_process("audit", out, *wrong).returncode == 2
