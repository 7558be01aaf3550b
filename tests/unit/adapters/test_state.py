"""State dictionaries from files: nothing in them is executed, wrappers and prefixes come off, tensors are checked."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
import torch
from torch import nn

from verale.adapters import load_state
from verale.adapters.state import Layer, blocks, numbers, side_by_side, unwrap
from verale.errors import HeadError, InputError

WEIGHT = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "checkpoint",
    [
        {"layer.weight": WEIGHT},
        {"layer.weight": WEIGHT, "epoch": 3, "names": ["a"]},
        {"model_state_dict": {"layer.weight": WEIGHT}, "optimizer_state_dict": {"x": WEIGHT}},
        {"state_dict": {"model.layer.weight": WEIGHT}, "epoch": 3},
        {"model": {"layer.weight": WEIGHT}, "model_ema": {"layer.weight": -WEIGHT}},
        {"module.layer.weight": WEIGHT},
        {"module._orig_mod.model.layer.weight": WEIGHT},
    ],
)
def test_wrappers_and_prefixes_come_off(checkpoint, tmp_path):
    torch.save(checkpoint, tmp_path / "state.pth")
    for state in (load_state(tmp_path / "state.pth"), unwrap(checkpoint)):
        assert list(state) == ["layer.weight"] and torch.equal(state["layer.weight"], WEIGHT)


def test_what_is_refused_has_a_recipe_that_works(tmp_path):
    path, model = tmp_path / "model.pth", nn.Linear(3, 2)
    model.ratio = Fraction(1, 3)
    torch.save(model, path)
    with pytest.raises(InputError, match=r"model\.pth: holds a call of fractions\.Fraction beside tensors") as error:
        load_state(path)
    recipe = str(error.value).split("wrote it: ")[1].split(" (where")[0]
    converted = str(tmp_path / "state.pth")
    exec(recipe.replace("'state.pth'", repr(converted)), {"torch": torch})
    assert set(load_state(converted)) == {"weight", "bias"}


def explode():
    pytest.fail("the file was executed")


class Bomb:
    def __reduce__(self):
        return (explode, ())


def test_what_a_file_says_is_not_done(tmp_path):
    torch.save({"layer.weight": WEIGHT, "x": Bomb()}, tmp_path / "bomb.pth")
    with pytest.raises(InputError, match="would execute code from the file"):
        load_state(tmp_path / "bomb.pth")
    (tmp_path / "bare.pth").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError, match=r"bare\.pth"):
        load_state(tmp_path / "bare.pth")
    model = nn.Linear(3, 2)
    model.more = Bomb()
    for protocol in (2, 3, 4, 5):
        for options in ({}, {"_use_new_zipfile_serialization": False}):
            torch.save(model, tmp_path / "model.pth", pickle_protocol=protocol, **options)
            with pytest.raises(
                InputError, match=r"holds a call of .*explode beside tensors, and reading .* would exec"
            ):
                load_state(tmp_path / "model.pth")


def test_files_that_are_no_state_dictionaries(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        load_state(tmp_path / "none.pth")
    path = tmp_path / "state.pth"
    torch.save({"layer.weight": WEIGHT}, path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="200 bytes that verale cannot read"):
        load_state(path)
    torch.save(WEIGHT, path)
    with pytest.raises(InputError, match="holds a Tensor, expected a state dictionary"):
        load_state(path)
    torch.save({"epoch": 3}, path)
    with pytest.raises(InputError, match="holds epoch, none of them tensors"):
        load_state(path)
    torch.save({}, path)
    with pytest.raises(InputError, match="holds nothing"):
        load_state(path)
    torch.save({"module.w": WEIGHT, "w": WEIGHT}, path)
    with pytest.raises(InputError, match="occurs twice, under different prefixes"):
        load_state(path)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
def test_broken_bytes_are_refused_and_nothing_else_is_raised(zipped, whole, tmp_path):
    path = tmp_path / "state.pth"
    torch.save(nn.Linear(3, 2) if whole else {"layer.weight": WEIGHT}, path, _use_new_zipfile_serialization=zipped)
    data = path.read_bytes()
    refused = 0
    for index in range(0, len(data), 17):
        path.write_bytes(data[:index] + bytes([data[index] ^ 0x11]) + data[index + 1 :])
        try:
            load_state(path)
        except InputError:
            refused += 1
    assert refused > 10


def test_a_missing_key_names_its_neighbours():
    with pytest.raises(HeadError, match=r"'prototype_vectors': is missing .* holds prototype_vector:"):
        numbers({"prototype_vector": WEIGHT, "a": WEIGHT}, "prototype_vectors", "P D")
    many = {f"{i}": WEIGHT for i in range(9)}
    with pytest.raises(HeadError, match="holds 0, 1, 2, 3, 4 and 4 more: is it"):
        numbers(many, "prototype_vectors", "P D")


def test_half_precision_is_cast_up_and_gradients_are_left_behind():
    half = torch.tensor([0.1, 2.0], dtype=torch.float16, requires_grad=True)
    tensor = numbers({"x": half}, "x", "P")
    assert tensor.dtype == torch.float32 and not tensor.requires_grad and torch.equal(tensor.half(), half.detach())


def test_folding():
    layer = Layer(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([10.0, 20.0]))
    a, factor, constant = (torch.tensor(x, dtype=torch.float64) for x in ([5.0, 6.0], [0.5, 2.0], [7.0, -1.0]))
    folded = layer.after(factor, constant)
    expected = layer.weight.double() @ (factor * a + constant) + layer.bias
    assert torch.equal(folded.weight @ a + folded.bias, expected)
    assert torch.equal(layer.after(2.0).bias, layer.bias)  # a constant of the layer, not of the activations
    assert torch.equal(layer.times(2.0).bias, 2 * layer.bias.double())
    both = side_by_side([layer, Layer(torch.ones(2, 1))])
    assert both.weight.tolist() == [[1.0, 2.0, 1.0], [3.0, 4.0, 1.0]] and both.bias.tolist() == [10.0, 20.0]
    assert blocks(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 4.0]]
