"""Explanations on another processor may be others, and are proved here: libraries are told to be those of another one.

What is observed of an image, and so the ends of statements in exact numbers, has the same bits everywhere; but for
softmax, since an exponential is its library's.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.named import head_named
from support.small import small_latents

from verale.checker import Auditor, Status
from verale.head import save_latents

HERE = {"OPENBLAS_CORETYPE": "Haswell"}
ELSEWHERE = {"OPENBLAS_CORETYPE": "Nehalem", "MKL_CBWR": "COMPATIBLE", "ATEN_CPU_CAPABILITY": "avx2"}
"""What numpy's library, and torch's two, take for the processor."""

HEADS = ("euclidean", "scaled", "euclidean max_minus_mean_distance", "cosine", "cosine top mean", "softmax")

EXPLAIN = """
import hashlib, json, sys
import numpy, safetensors.torch, torch
from verale.certificate import Certificate
from verale.head import Head
from verale.search import best_paradigm
from verale.search.explain import explain

def digest(data):
    return hashlib.sha256(data).hexdigest()

torch.set_num_threads(1)
numbers = numpy.random.default_rng(0).random((2, 200, 200))
found = {
    "numpy": digest((numbers[0] @ numbers[1]).tobytes()),
    "torch": digest((torch.from_numpy(numbers[0]) @ torch.from_numpy(numbers[1])).numpy().tobytes()),
}
for folder in sys.argv[1:]:
    head = Head.from_bytes(open(folder + "/head", "rb").read())
    latents = safetensors.torch.load_file(folder + "/latents")["latents"]
    results = explain(head, latents, best_paradigm(head), digits="exact")
    found[folder] = [each.to_bytes().decode() for each in results if isinstance(each, Certificate)]
print(json.dumps(found))
"""


def explained(processor: dict[str, str], folders: list[Path]) -> dict[str, Any]:
    """The digests of two matrix products, and all certificates, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", EXPLAIN, *map(str, folders)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **processor},
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any], list[Path]]:
    """What was found here and elsewhere, and the folders of the heads."""
    folders = [tmp_path_factory.mktemp("head") for _ in HEADS]
    for name, folder in zip(HEADS, folders, strict=True):
        sizes = {"prototypes": 60, "depth": 64} if name != "softmax" else {"prototypes": 30}
        head = head_named(name, **sizes)
        head.save(folder / "head")
        save_latents(folder / "latents", small_latents(head, images=6, patches=16))
    return explained(HERE, folders), explained(ELSEWHERE, folders), folders


@pytest.mark.long  # all heads are explained in two processes
@pytest.mark.parametrize("number", range(len(HEADS)), ids=HEADS)
def test_what_is_found_elsewhere_is_proved_here(both, number: int) -> None:
    here, elsewhere, folders = both
    certificates = elsewhere[str(folders[number])]
    auditor = Auditor((folders[number] / "head").read_bytes(), (folders[number] / "latents").read_bytes())
    assert len(certificates) == len(here[str(folders[number])]) >= 3
    assert {auditor.check(each.encode()).status for each in certificates} == {Status.PROVED}


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(HEADS) - 1), ids=HEADS[:-1])
def test_statements_about_the_same_have_the_same_ends(both, number: int) -> None:
    here, elsewhere, folders = both
    shared = 0
    for certificates in zip(here[str(folders[number])], elsewhere[str(folders[number])], strict=True):
        first, second = (
            {(one["patch"], one["prototype"]): one for one in json.loads(each)["predicate"]["statements"]}
            for each in certificates
        )
        assert all(first[pair] == second[pair] for pair in first.keys() & second.keys())
        shared += len(first.keys() & second.keys())
    assert shared > 0


@pytest.mark.long
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_the_libraries_do_differ(both, library: str) -> None:
    """On processors of other makers these settings say nothing, and the tests above say less."""
    here, elsewhere, _ = both
    assert (here[library] != elsewhere[library]) == (platform.machine() in ("x86_64", "AMD64"))
