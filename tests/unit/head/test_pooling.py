"""Poolings: activations written out one number at a time, and what each one says of itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from support.cases import every
from support.small import small_head

from verale.checker.read.head_file import read_head_file
from verale.errors import HeadError
from verale.head import BankPooling, FocalPooling, Head, MaskedMaxPooling, MaxPooling, Pooling, TopMeanPooling
from verale.head.pooling import POOLINGS

MASK = [[1, 0], [0, 1], [1, 1], [0, 1]]
EVERY = [MaxPooling(), MaskedMaxPooling(torch.tensor(MASK)), BankPooling(2)]
EVERY += [TopMeanPooling(1), TopMeanPooling(2), TopMeanPooling(9)]
EVERY += [FocalPooling("max_minus_mean"), FocalPooling("max_minus_mean_distance")]


def test_every_pooling_is_tested():
    assert {pooling.kind for pooling in EVERY} == set(POOLINGS)


def expected(pooling: Pooling, similar: list[float], mean: float, prototype: int) -> float:
    match pooling:
        case MaxPooling():
            return max(similar)
        case MaskedMaxPooling():
            return max(each for patch, each in enumerate(similar) if MASK[prototype][min(patch, 1)])
        case BankPooling(bank):
            return similar[0] if prototype < bank else max(similar[1:])
        case TopMeanPooling(k):
            best = sorted(similar, reverse=True)[:k]
            return sum(best) / len(best)
        case FocalPooling("max_minus_mean"):
            return max(similar) - sum(similar) / len(similar)
    return max(similar) - mean


@every("pooling", EVERY)
@every("patches", [1, 2, 5])
def test_activations_are_the_formula(pooling: Pooling, patches: int):
    patches = max(patches, pooling.least_patches)
    observed = torch.rand(3, patches, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    activations = pooling.pool(observed, lambda m: 1 / (m + 1))
    for image in range(3):
        for j in range(4):
            values = observed[image, :, j].tolist()
            similar = [1 / (m + 1) for m in values]
            truth = expected(pooling, similar, 1 / (sum(values) / len(values) + 1), j)
            assert float(activations[image, j]) == pytest.approx(truth, rel=1e-13, abs=1e-15)


def test_a_mask_hides_patches_and_its_last_column_stands_for_all_further_ones():
    pooling = MaskedMaxPooling(torch.tensor(MASK))
    assert (~pooling.hidden(3, 4)).int().T.tolist() == [[1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 1, 1]]
    assert pooling == MaskedMaxPooling(torch.tensor(MASK).bool()) == MaskedMaxPooling(np.array(MASK))
    assert hash(pooling) == hash(MaskedMaxPooling(MASK)) and "4 prototypes and 2 columns" in repr(pooling)
    assert pooling not in (MaskedMaxPooling([[1, 1]]), MaxPooling())


def test_prototypes_fixed_to_positions():
    assert MaskedMaxPooling.at([2, [0, 1], 0], 3) == MaskedMaxPooling([[0, 0, 1], [1, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    ("positions", "patches", "said"),
    [
        ([0, 3], 3, "of prototype 1 hold 3, expected patches from 0 to 2"),
        ([0, [-1]], 3, "hold -1"),
        ([0, [True]], 3, "hold True"),
        ([0, ["1"]], 3, "hold '1'"),
        ([[0], []], 3, "of prototype 1 are .*, expected at least one patch"),
        ([[1, 1]], 3, "none twice"),
        ([0], 0, "are of 0 patches, expected 1 to 65536"),
        ([0], 2**16 + 1, "are of 65537 patches"),
        ([], 3, "shape \\[0, 3\\], expected \\[12, K\\]"),
    ],
)
def test_other_positions_are_refused(positions, patches: int, said: str):
    with pytest.raises(HeadError, match=said):
        replace(small_head("euclidean"), pooling=MaskedMaxPooling.at(positions, patches))


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ([[1, 0], [0, 0]], "row 1 is not of 0 and 1 with a 1"),
        ([[1, 0], [0.5, 1]], "row 1 is not of 0 and 1"),
        ([[float("nan"), 1]], "row 0 is not of 0 and 1"),
        ([1, 0], "shape"),
        ([[], []], "shape"),
        (torch.ones(1, 2**16 + 1), "with K from 1 to 65536"),
        ([[1], [1, 0]], "is list, expected"),
        ("mask", "is str, expected"),
        ([[1, 0]], "shape \\[1, 2\\], expected \\[12, K\\]"),
    ],
)
def test_other_masks_are_refused(mask, said: str):
    with pytest.raises(HeadError, match=said):
        replace(small_head("euclidean"), pooling=MaskedMaxPooling(mask))


def test_a_mask_is_kept_in_the_head_s_file():
    head = replace(small_head("euclidean"), pooling=MaskedMaxPooling(MASK * 3))
    again = Head.from_bytes(head.to_bytes())
    assert again.pooling == head.pooling and again.to_bytes() == head.to_bytes()
    stored = read_head_file(head.to_bytes())
    assert (stored.pooling.kind, stored.tensors["mask"].dtype) == ("masked_max", "F32")


def test_banks_do_not_look_at_the_other_s_patches():
    hidden = BankPooling(1).hidden(3, 2)
    assert hidden.tolist() == [[False, True], [True, False], [True, False]]
    assert MaxPooling().hidden(3, 2) is None
    with pytest.raises(HeadError, match="less than the 12 prototypes"):
        replace(small_head("euclidean"), pooling=BankPooling(12))
    assert replace(small_head("euclidean"), pooling=BankPooling(11)).pooling == BankPooling(11)
