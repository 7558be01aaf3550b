"""Which patches prototypes look at, from a file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from support.cases import every
from support.small import small_head, varied_head

from verale.adapters.positions import with_positions
from verale.errors import InputError
from verale.head import Head, MaskedMaxPooling, evaluate

POSITIONS = [0, [1, 2], 3, *[[0, 3]] * 9]


def written(folder, value) -> str:
    path = folder / "positions.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return str(path)


def test_prototypes_look_where_the_file_says(tmp_path):
    path = written(tmp_path, {"patches": 4, "positions": POSITIONS})
    before = Head.from_bytes(small_head("euclidean").to_bytes())
    head = with_positions(before, path)
    assert head.pooling == MaskedMaxPooling.at(POSITIONS, 4)
    assert head.digest == Head.from_bytes(head.to_bytes()).digest != before.digest
    latents = torch.rand(3, 4, head.depth, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (one,) = (evaluate(before, latents[:, position : position + 1]).activations[:, 2] for position in (3,))
    assert torch.equal(evaluate(head, latents).activations[:, 2], one)


@every(
    ("value", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is no object of patches and positions"),
        ({"patches": 4}, "is no object of patches and positions"),
        ({"patches": True, "positions": POSITIONS}, "that are no integers"),
        ({"patches": 4, "positions": 3}, "that are no integers"),
        ({"patches": 4, "positions": [*POSITIONS[:-1], "3"]}, "that are no integers"),
        ({"patches": 4, "positions": [*POSITIONS[:-1], [True]]}, "that are no integers"),
        ({"patches": 4, "positions": POSITIONS[:-1]}, "has 11 positions, expected 12"),
        ({"patches": 3, "positions": POSITIONS}, "of prototype 2 hold 3, expected patches from 0 to 2"),
        (" " * (8 * 2**20 + 1), "has more than 8388608 bytes"),
    ],
)
def test_another_file_is_refused(tmp_path, value, said):
    with pytest.raises(InputError, match=said):
        with_positions(small_head("euclidean"), written(tmp_path, value))


def test_another_pooling_is_refused(tmp_path):
    path = written(tmp_path, {"patches": 4, "positions": POSITIONS})
    with pytest.raises(InputError, match="expected one with MaxPooling"):
        with_positions(varied_head("banks"), path)
    with pytest.raises(InputError, match="readout is soft_tree"):
        with_positions(replace(varied_head("tree")), path)
