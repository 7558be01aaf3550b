"""CaBRNet models in memory: their head is that of the run directory, and they are explained in one call."""

from __future__ import annotations

import pytest
from support.commands import in_process
from support.runs import FAMILIES, IMAGES, final, imported
from torch import nn

import verale
from verale.adapters.cabrnet import load, load_head
from verale.adapters.cabrnet.heads import head_of_model, is_cabrnet
from verale.errors import UsageError

FILES = sorted(IMAGES.glob("*/*.png"))


@pytest.fixture(scope="module", autouse=True)
def cabrnet() -> None:
    imported()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_head_is_that_of_the_run_and_computes_the_models_logits(family):
    network = load(final(family))
    model = network._model
    head = head_of_model(model)
    assert is_cabrnet(model) and head.digest == load_head(final(family)).digest
    comparison = verale.check(head, model, "extractor", network.preprocess(FILES))
    assert comparison.agrees, str(comparison)
    assert comparison.closer is None


def test_a_model_is_explained_in_one_call(tmp_path):
    network = load(final("protopnet"))
    run = verale.explain_model(
        network._model, "extractor", IMAGES, preprocess=network._transform, out=tmp_path / "OUT", paradigm="top_k"
    )
    assert run.comparison.agrees and run.head.digest == network.with_compared_head().head.digest
    assert [row.label for row in run.rows] == [int(file.parent.name) for file in FILES]
    for command in ("audit", "report", "summary"):
        done = in_process(command, str(tmp_path / "OUT"))
        assert done.returncode == 0, done.stderr


def test_parts_that_verale_does_not_know_are_named():
    model = load(final("protopnet"))._model

    class Own(type(model.classifier)):
        """A classifier of somebody else."""

    model.classifier.__class__ = Own
    with pytest.raises(UsageError, match=r"has .*Own as its classifier, which verale does not know: give head="):
        head_of_model(model)


def test_a_domain_that_the_extractor_does_not_say_is_asked_for():
    model = load(final("protopnet"))._model
    model.extractor.add_on.add_module("last", nn.GELU())
    with pytest.raises(UsageError, match=r"CaBRNet model ProtoPNet .* ends in GELU"):
        head_of_model(model)
