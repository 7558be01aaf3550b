"""Whose state dictionary it is, what a checkpoint states, and where prototypes lie."""

from __future__ import annotations

import logging
from argparse import Namespace
from dataclasses import replace

import pytest
import torch
from support.own_network import OwnNetwork
from support.saves import Saves
from torch import Tensor, nn

from benchmarks.architectures import cases
from verale.adapters import head_of, load_published
from verale.adapters.accounts import prototypes_outside
from verale.adapters.published import fitting, head_of_own, load_with_options
from verale.adapters.state import load_described, unwrap
from verale.errors import HeadError, InputError, UsageError, VeraleError
from verale.head import Box

STATE = cases()["genetic"].state
FIELD = [40, 8, 46, 4.0]
"""A receptive field as published code computes it: positions, step, size, start."""


@pytest.mark.parametrize(
    ("name", "given", "key"),
    [
        ("genetic", "protopnet", "features.conv1.weight"),
        ("genetic", "tesnet", "features.conv1.weight"),
        ("genetic", "deformable", "features.conv1.weight"),
        ("protopnet", "genetic", "features.conv1.weight"),
        ("protopnet", "deformable", "features.conv1.weight"),
        ("protopformer", "protopnet", "prototype_vectors_global"),
        ("protopformer", "tesnet", "prototype_vectors_global"),
        ("protopool", "protopnet", "proto_presence"),
    ],
)
def test_a_refusal_names_the_tensor_and_the_right_network(name, given, key):
    with pytest.raises(HeadError, match=rf"this is the state of .*{name}.*, not of {given}: give that") as refusal:
        head_of(given, cases()[name].state, **({"patches": 5} if given == "genetic" else {}))
    assert refusal.value.field == key


@pytest.mark.parametrize("name", ["protopnet", "deformable", "tesnet"])
@pytest.mark.parametrize("shape", [(6, 8, 4), (6, 8, 1, 1)])
def test_protovit_is_refused_by_name(name, shape):
    """Its sub-patches are matched one after the other, which no head computes, whatever shape they are stored in."""
    state = {key: torch.rand(shape) for key in ("prototype_vectors", "ones")}
    state |= {"patch_select": torch.ones(1, 6, shape[2]), "last_layer.weight": torch.rand(2, 6)}
    with pytest.raises(HeadError, match="this is the state of ProtoViT, which no head of verale computes") as refusal:
        head_of(name, state)
    assert refusal.value.field == "patch_select" and fitting(state) == []


def test_an_add_on_alone_tells_too():
    """Of a backbone with other names, or of one along a sequence."""
    state = {key: tensor for key, tensor in cases()["protopnet"].state.items() if not key.startswith("features.")}
    for more in ({}, {"features.conv1.weight": STATE["features.conv1.weight"]}):
        assert fitting(state | more) == ["protopnet", "tesnet"]
        with pytest.raises(HeadError, match=r"'add_on_layers\.0\.weight': is there, and no conv_offset.0.weight"):
            head_of("deformable", state | more)


def head_tensors() -> dict[str, Tensor]:
    return {key: STATE[key] for key in ("prototype_vectors", "last_layer.weight")}


def test_the_tensors_of_a_head_alone_may_be_of_three_networks():
    assert fitting(head_tensors()) == ["genetic", "protopnet", "tesnet"]
    assert head_of("protopnet", head_tensors()).size == head_of("genetic", head_tensors(), patches=9).size
    uneven = {key: tensor[:11] if len(tensor) == 12 else tensor[:, :11] for key, tensor in head_tensors().items()}
    assert fitting(uneven) == ["protopnet", "tesnet"]


class PPNet(Saves):
    pass


class TESNet(PPNet):
    """The same of another class."""


FIXED = {"prototype_distance_function": "cosine", "fix_prototypes": True}


@pytest.mark.parametrize(
    "content",
    [
        lambda: PPNet(STATE, proto_layer_rf_info=FIELD, **FIXED),
        lambda: nn.DataParallel(PPNet(STATE, proto_layer_rf_info=FIELD, **FIXED)),
        lambda: {"model": PPNet(STATE, proto_layer_rf_info=FIELD), "epoch": 3},
        lambda: {"state_dict": STATE, "proto_layer_rf_info": FIELD},
        lambda: {"model_state_dict": STATE | {"proto_layer_rf_info": FIELD}},
        lambda: STATE | {"proto_layer_rf_info": torch.tensor(FIELD)},
        lambda: {"state_dict": STATE, "args": Namespace(proto_layer_rf_info=FIELD)},
        lambda: {"state_dict": STATE, "hparams": {"proto_layer_rf_info": tuple(FIELD)}},
    ],
)
def test_a_file_states_how_many_positions_there_are(content, tmp_path):
    path = tmp_path / "genetics.pth"
    torch.save(content(), path)
    assert fitting(*load_described(path)) == ["genetic"]
    head, options = load_with_options(path, "genetic", {})
    assert options["patches"] == 40 and head.digest == head_of("genetic", STATE, patches=40).digest
    assert load_published(path, "genetic", patches=40).digest == head.digest
    said = r"genetics.pth: .*'proto_layer_rf_info': says patches=40, and option patches is 60, expected 40: leave it"
    with pytest.raises(InputError, match=said):
        load_published(path, "genetic", patches=60)


@pytest.mark.parametrize(
    "field", [None, [], "40", [True], [10**5000], [0, 1], [40.5], [float("nan")], [[40]], {"n": 40}]
)
def test_what_is_no_receptive_field_states_nothing(field):
    with pytest.raises(UsageError, match="option patches is missing"):
        head_of("genetic", STATE | {"proto_layer_rf_info": field})
    assert head_of("genetic", STATE | {"proto_layer_rf_info": field}, patches=60).size == 12


def test_a_state_in_memory_states_it_too():
    expected = head_of("genetic", STATE, patches=40).digest
    assert head_of("genetic", {"state_dict": STATE, "proto_layer_rf_info": FIELD}).digest == expected
    assert head_of_own("genetic", PPNet(STATE, proto_layer_rf_info=FIELD), {}).digest == expected


@pytest.mark.parametrize(
    ("name", "attributes", "option", "value"),
    [
        ("protopnet", {"epsilon": 1e-5}, "epsilon", 1e-5),
        ("protopnet", {"prototype_activation_function": "linear"}, "activation", "linear"),
        ("protopformer", {"args": Namespace(global_coe=0.25)}, "g", 0.25),
        ("protopool", {"epsilon": 1e-5}, "epsilon", 1e-5),
        ("nonparam", {"hparams": {"temperature": 0.5}}, "temperature", 0.5),
    ],
)
def test_other_options_that_a_file_states(name, attributes, option, value, tmp_path):
    state = unwrap(cases()[name].state)
    torch.save({"state_dict": state} | attributes, tmp_path / "state.pth")
    head, options = load_with_options(tmp_path / "state.pth", name, {})
    assert options[option] == value and head.digest == head_of(name, state, **{option: value}).digest
    with pytest.raises(InputError, match=f"says {option}={value}, and option {option} is "):
        load_published(tmp_path / "state.pth", name, **{option: "log" if option == "activation" else 0.125})


@pytest.mark.parametrize(
    ("model", "given", "field", "said"),
    [
        (
            PPNet(head_tensors(), **FIXED),
            "protopnet",
            "fix_prototypes",
            "this is the state of genetic, not of protopnet",
        ),
        (
            PPNet(head_tensors(), **FIXED | {"fix_prototypes": False}),
            "genetic",
            "fix_prototypes",
            "the state of none of",
        ),
        (
            PPNet(head_tensors(), prototype_distance_function="l2"),
            "genetic",
            "prototype_distance_function",
            "the state of protopnet, not of genetic",
        ),
        (TESNet(cases()["tesnet"].state), "protopnet", "class", "the state of tesnet, not of protopnet"),
        (PPNet(cases()["protopnet"].state), "tesnet", "class", "the state of genetic or protopnet, not of tesnet"),
    ],
)
def test_a_whole_model_says_more_than_its_tensors(model, given, field, said, tmp_path):
    torch.save(model, tmp_path / "model.pth")
    with pytest.raises(InputError, match=f"model.pth: head field '{field}': .*{said}"):
        load_published(tmp_path / "model.pth", given, **({"patches": 9} if given == "genetic" else {}))


def test_a_network_of_ones_own_may_have_anything_beside_its_head():
    """Its logits are compared with the head's."""
    model = PPNet(STATE, epsilon=0.5)
    assert head_of_own("protopnet", model, {}).digest == head_of("protopnet", head_tensors()).digest
    with pytest.raises(UsageError, match="option 'patches' is unknown"):
        head_of_own("protopnet", model, {"patches": 3})


def test_prototypes_outside_the_domain_are_counted():
    head = head_of("protopnet", OwnNetwork().state_dict())
    assert prototypes_outside(head) is None
    points = head.prototypes.clone()
    points[3, 2], points[5, 1], points[5, 0] = -0.5, 3.25, -1.0
    said = prototypes_outside(replace(head, prototypes=points))
    assert said.startswith("2 of 12 prototypes lie outside the head's domain 0:1, the farthest (prototype 5) by 2.25:")
    assert prototypes_outside(replace(head, prototypes=points, domain=Box(-1, 4))) is None
    below = prototypes_outside(replace(head, prototypes=points, domain=Box(-0.75, 4)))
    assert below.startswith(
        "1 of 12 prototypes lie outside the head's domain -0.75:4, the farthest (prototype 5) by 0.25"
    )
    assert prototypes_outside(cases()["pipnet"].head()) is None


@pytest.mark.parametrize("name", cases())
def test_every_import_warns_of_prototypes_outside_its_domain(name, caplog):
    """A case's prototypes lie in its domain or, of cosines and of what is not bounded, anywhere."""
    case = cases()[name]
    with caplog.at_level(logging.WARNING, "verale"):
        head = case.head()
        warned = "lie outside" in caplog.text
        assert warned == (prototypes_outside(head) is not None)
        caplog.clear()
        if head.prototypes is None or case.architecture == "deformable":
            return
        try:
            head_of(case.architecture, case.state, **case.options | {"domain": Box(0.4, 0.6)})
        except VeraleError as error:
            pytest.fail(str(error))
    assert f"{case.architecture}: " in caplog.text and "prototypes lie outside the head's domain 0.4:0.6" in caplog.text
