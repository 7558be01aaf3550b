"""What words mean: the numbers in the sentences are those that the head computes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from support.reporting import folder_of, report_head
from support.small import varied_head

from verale.adapters.fields import ReceptiveFields
from verale.head import FocalPooling, LogRatio, TopMeanPooling
from verale.report.collect import Collection, collect
from verale.report.vocabulary import of_activations, of_fields, of_kernel, of_observables, of_prototypes, of_squares


def test_prototypes_are_patches_of_training_images_where_the_source_says_so(tmp_path):
    known = collect(folder_of(tmp_path / "out"))
    assert "a patch of a training image" in of_prototypes(known)
    assert "a pattern that the network learned" in of_prototypes(Collection(tmp_path, ()))


def test_a_copy_gives_the_activation_of_no_distance():
    head = replace(report_head(), similarity=LogRatio(epsilon=0.001))
    assert f"; {math.log(1000):.4g} for an exact copy" in of_activations(head)
    assert "; 1 for an exact copy" in of_activations(report_head("cosine"))


def test_no_number_where_there_is_none():
    for name in ("cosine quadratic", "inner product"):
        assert of_activations(varied_head(name)).endswith("to the patch most like it. It has no unit.")
    assert "to the patch that it looks at most like it" in of_activations(varied_head("masked"))
    for pooling in (FocalPooling("max_minus_mean"), TopMeanPooling(2)):
        assert "all patches" in of_activations(replace(report_head(), pooling=pooling))
    assert of_activations(None) == of_observables(None) == of_observables(varied_head("inner product")) == ""


@pytest.mark.parametrize(
    ("geometry", "said"), [("euclidean", "squared distance"), ("cosine", "cosine"), ("softmax", "mass of 1")]
)
def test_observables(geometry, said):
    assert said in of_observables(report_head(geometry))


def test_squares_are_told_from_receptive_fields():
    part = ReceptiveFields(((0, 3), (1, 4)), ((0, 4),), (4, 4), ())
    whole = replace(part, rows=((0, 4),) * 2)
    said = [of_squares(each) for each in (None, part, whole, replace(whole, unknown=("a", "b", "c\n", "d")))]
    assert all("the cell of a patch in the latent grid" in each for each in said)
    assert "this page does not know on how much" in said[0] and "Dashed" in said[1]
    assert "it can depend on the whole image (its receptive field)." in said[2]
    assert all(each.endswith("Rows, columns and patches count from 0.") for each in said)
    assert "it is not known how far a, b, c\\n, ... reaches." in said[3]


def test_fields_that_the_checker_computed_are_told_from_those_that_are_noted():
    apart = ReceptiveFields(((0, 2), (2, 4)), ((0, 4),), (4, 4), (), by_checker=True)
    over = replace(apart, rows=((0, 3), (2, 4)))
    whole = replace(apart, rows=((0, 4),) * 2)
    assert all("which the checker computes from the network's file" in of_squares(each) for each in (apart, whole))
    assert "source.json" not in of_squares(apart) + of_fields(apart)
    assert "And of its square a patch sees alone at least 100.0 %." in of_squares(apart)
    assert "And of its square a patch sees alone at least 50.0 %, the best one 100.0 %." in of_squares(over)
    assert "And of its square a patch sees alone at least 50.0 %." in of_squares(replace(over, rows=((0, 3), (1, 4))))
    assert "And no part of a patch's square is seen by it alone." in of_squares(whole)
    assert "alone" not in of_squares(replace(whole, rows=((0, 4),)))
    noted = replace(apart, by_checker=False)
    assert of_fields(noted) == "As source.json says; not part of the proof."
    assert "as source.json says" in of_squares(noted) and "alone" not in of_squares(noted)


def test_kernels_are_told_by_what_they_are():
    assert "Rocq" in of_kernel("proved") and "Arb" in of_kernel("arb") and "Rocq" in of_kernel("all")
    assert all(word in of_kernel("proved-or-arb") for word in ("Rocq", "Arb", "does not cover"))
    assert of_kernel("another") == "that shares no code with what found the statements"


def test_a_program_that_the_environment_named_is_not_called_proved_right() -> None:
    assert of_kernel("proved", "VERALE_PROVED") == "that VERALE_PROVED named"
    assert "Rocq" not in of_kernel("proved-or-arb", "VERALE_PROVED") + of_kernel("all", "VERALE_PROVED")
    assert of_kernel("arb", "VERALE_PROVED") == of_kernel("arb")
