"""What a run holds does not grow with its images, but for their latents, once, and a row for each."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.small import small_head, small_latents

from verale.runs import parts as rows
from verale.runs.explain import open_run
from verale.runs.options import RunOptions
from verale.search import SearchOptions

HEAD = small_head("euclidean")


@pytest.fixture(scope="module")
def all_else_is_kept() -> Iterator[None]:
    """What is there already is not looked at each time that garbage is collected: that takes long late in a run."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("all_else_is_kept")
def test_of_results_only_those_of_a_batch_are_held(tmp_path: Path, monkeypatch) -> None:
    images = 12
    results: list[weakref.ref[object]] = []
    held, original = [], rows.rows_and_certificates

    def counted(found, *arguments):
        results.extend(map(weakref.ref, found))
        gc.collect()
        held.append(sum(each() is not None for each in results))
        return original(found, *arguments)

    monkeypatch.setattr(rows, "rows_and_certificates", counted)
    options = SearchOptions("projection", batch=2)
    with open_run(tmp_path, HEAD, small_latents(HEAD, images=images), options, how=RunOptions(1)) as run:
        assert len(list(run)) == images
    assert len(results) == images and held == [2] * (images // 2)
