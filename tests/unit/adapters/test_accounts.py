"""Every tensor and every number of a checkpoint is explained by its architecture, or its import is refused."""

from __future__ import annotations

import logging
from argparse import Namespace
from dataclasses import replace
from types import MappingProxyType

import pytest
import torch
from support.cases import every
from support.own_network import OwnNetwork
from support.runs import changed, final
from support.saves import Saves
from torch import Tensor, nn

from benchmarks.architectures import cases
from verale.adapters import head_of, load_published
from verale.adapters.accounts import prototypes_outside
from verale.adapters.cabrnet import load_head
from verale.adapters.published import fitting, head_of_own, load_with_options
from verale.adapters.state import load_described, unwrap
from verale.errors import HeadError, InputError, UsageError, VeraleError
from verale.head import Box

PROTOPNET = unwrap(cases()["protopnet"].state)
CAPS = {"cap_width_l2": torch.full((1, 12), 7.5), "non_vis_mask": torch.ones(12)}


class NonNegLinear(nn.Module):
    pass


class ScoreAggregation(nn.Module):
    pass


class PPNet(Saves):
    pass


class TESNet(Saves):
    pass


class PrototypeChooser(Saves):
    pass


class PIPNet(Saves):
    layers = MappingProxyType({"_classification": NonNegLinear})


class PNP(Saves):
    layers = MappingProxyType({"classifier": ScoreAggregation})


class CappedPPNet(PPNet):
    """Of another class, which may compute something else."""


class Capped(nn.Linear):
    """A last layer of another class."""


OF_PROTOPNET = {
    "img_size": 224,
    "prototype_shape": (12, 6, 1, 1),
    "num_prototypes": 12,
    "num_classes": 3,
    "epsilon": 1e-4,
    "prototype_activation_function": "log",
    "prototype_class_identity": torch.eye(3).repeat_interleave(4, dim=0),
    "proto_layer_rf_info": [7, 32, 299, 16.0],
}
"""The attributes of cfchen-duke/ProtoPNet's class."""


@every("name", cases())
def test_a_tensor_that_no_architecture_has_is_named(name):
    case = cases()[name]
    state = unwrap(case.state) | {"prototype_gain": torch.ones(3)}
    wrapped = {"state_dict": {f"module.{key}": tensor for key, tensor in state.items()}, "epoch": 3}
    said = rf"is a tensor \(3,\) of float32, which {case.architecture} does not explain"
    for given in (state, wrapped):
        with pytest.raises(HeadError, match=said):
            head_of(case.architecture, given, **case.options)
    assert fitting(wrapped) == (["genetic"] if name == "genetic" else [])  # which asks for an option first


NOTED = {"epoch": 3, "best_acc1": 0.5, "arch": "resnet34", "optimizer": {"state": {}, "param_groups": []}}


def with_layer() -> nn.Module:
    model = PPNet(PROTOPNET, **OF_PROTOPNET)
    model.last_layer = Capped(12, 3, bias=False)
    return model


STATE = cases()["genetic"].state
FIELD = [40, 8, 46, 4.0]
"""A receptive field as published code computes it: positions, step, size, start."""
FIXED = {"prototype_distance_function": "cosine", "fix_prototypes": True}


def head_tensors() -> dict[str, Tensor]:
    return {key: STATE[key] for key in ("prototype_vectors", "last_layer.weight")}


DEFORMED = PPNet(unwrap(cases()["deformable"].state), topk_k=3, using_deform=True)
OTHER = PPNet(head_tensors(), **FIXED | {"fix_prototypes": False})
UNEXPLAINED = "which protopnet does not explain"
REFUSED = [
    ("protopnet", {"state_dict": PROTOPNET} | NOTED | {"cap": torch.ones(3)}, "cap", UNEXPLAINED),
    ("protopnet", {"state_dict": PROTOPNET} | NOTED | {"caps": {"of": torch.ones(3)}}, "caps", UNEXPLAINED),
    ("protopnet", {"state_dict": PROTOPNET} | NOTED | {"gain": 0.5}, "gain", UNEXPLAINED),
    ("protopnet", {"state_dict": PROTOPNET, "args": Namespace(lr=0.1, topk_k=3)}, "topk_k", f"is 3, {UNEXPLAINED}"),
    ("protopnet", {"state_dict": PROTOPNET, "args": {"lr": 0.1, "topk_k": 3}}, "topk_k", f"is 3, {UNEXPLAINED}"),
    ("protopnet", PROTOPNET | {"topk_k": 3}, "topk_k", UNEXPLAINED),
    ("protopnet", PROTOPNET | {"gain": 0.5}, "gain", UNEXPLAINED),
    (
        *("protopnet", PROTOPNET | CAPS, "cap_width_l2"),
        r".* \(nor non_vis_mask\): .*tensors of its head alone.*verale\.check",
    ),
    ("protopnet", CappedPPNet(PROTOPNET, **OF_PROTOPNET), "class", "is 'CappedPPNet', expected PPNet of protopnet"),
    ("protopnet", with_layer(), "last_layer", f"is 'Capped', {UNEXPLAINED}"),
    ("deformable", DEFORMED, "topk_k", "is 3, expected 1 of deformable"),
    ("protopnet", PPNet(head_tensors(), **FIXED), "fix_prototypes", ".*the state of genetic, not of protopnet"),
    ("genetic", OTHER, "fix_prototypes", ".*the state of none of"),
    (
        *("genetic", PPNet(head_tensors(), prototype_distance_function="l2"), "prototype_distance_function"),
        ".*the state of protopnet, not of genetic",
    ),
    ("protopnet", TESNet(cases()["tesnet"].state), "class", ".*the state of tesnet, not of protopnet"),
    ("tesnet", PPNet(cases()["protopnet"].state), "class", ".*the state of genetic or protopnet, not of tesnet"),
    *(
        (given, cases()[name].state, key, rf".*this is the state of .*{name}.*, not of {given}: give that")
        for name, given, key in (
            *(("genetic", given, "features.conv1.weight") for given in ("protopnet", "tesnet", "deformable")),
            *(("protopnet", given, "features.conv1.weight") for given in ("genetic", "deformable")),
            *(("protopformer", given, "prototype_vectors_global") for given in ("protopnet", "tesnet")),
            ("protopool", "protopnet", "proto_presence"),
        )
    ),
]
"""Checkpoints and whole models with the entry that an architecture does not explain, or that another one has."""


@every(("name", "content", "key", "said"), REFUSED)
def test_what_an_architecture_does_not_explain_is_refused_by_name(name, content, key, said, tmp_path):
    torch.save(content, tmp_path / "model.pth")
    with pytest.raises(InputError, match=f"model.pth: head field '{key}': .*{said}"):
        load_published(tmp_path / "model.pth", name, **({"patches": 9} if name == "genetic" else {}))


@every(
    "content",
    [
        {"state_dict": PROTOPNET} | NOTED,
        {"state_dict": PROTOPNET, "args": Namespace(lr=0.1, k=7, topk_k=1)},
        PROTOPNET | {"epsilon": 1e-4, "epoch": 3},
    ],
)
def test_notes_on_the_training_and_what_changes_nothing_are_left_out(content):
    assert head_of("protopnet", content).size == 12
    with pytest.raises(HeadError, match=f"is a number of very many digits, {UNEXPLAINED}") as refusal:
        head_of("protopnet", content | {"gain": 10**5000})
    assert refusal.value.field == "gain"


WHOLE = {
    "protopnet": (PPNet, OF_PROTOPNET),
    "tesnet": (TESNet, OF_PROTOPNET | {"num_prototypes_per_class": 4}),
    "protopool": (PrototypeChooser, {"num_descriptive": 2, "use_thresh": True, "alfa": 1, "proto_depth": 6}),
    "pipnet": (PIPNet, {"_num_features": 0, "_num_classes": 3, "_num_prototypes": 12}),
    "nonparam": (PNP, {"gamma": 0.999, "n_prototypes": 4, "C": 4, "temperature": 0.2, "norm_prototypes": False}),
}
"""Whole models of published code with the attributes that it gives them."""


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("around", [lambda model: model, nn.DataParallel, lambda model: {"model": model, "epoch": 3}])
def test_what_a_whole_model_says_is_held_against_the_architecture(name, around, tmp_path):
    kind, attributes = WHOLE[name]
    state = unwrap(cases()[name].state)
    torch.save(around(kind(state, **attributes)), tmp_path / "model.pth")
    assert load_published(tmp_path / "model.pth", name).size == 12
    for key, value in (("topk_k", 3), ("class_specific", False), ("max_act", torch.ones(1)), ("cap", nn.Softplus())):
        torch.save(around(kind(state, **attributes | {key: value})), tmp_path / "model.pth")
        with pytest.raises(InputError, match=rf"model.pth: head field '{key}': is .*, which {name} does not explain"):
            load_published(tmp_path / "model.pth", name)
        assert name not in fitting(*load_described(tmp_path / "model.pth"))


class CosPrototypeActivation:
    """ProtoPNeXt's, which its prototype layer writes into the state dictionary."""

    relu_on_cos = True


def test_the_activation_that_a_state_names_counts(tmp_path):
    state = unwrap(cases()["protopnext-l2-1"].state)
    extra = {"activation_function": CosPrototypeActivation(), "latent_channels": 6}
    torch.save(state | {"prototype_layer._extra_state": extra}, tmp_path / "state.pth")
    head = load_published(tmp_path / "state.pth", "protopnext")
    assert head.digest == head_of("protopnext", state, activation="cosine").digest
    with pytest.raises(InputError, match="says activation=cosine, and option activation is l2"):
        load_published(tmp_path / "state.pth", "protopnext", activation="l2")


def test_a_run_of_cabrnet_is_accounted_for_too(tmp_path):
    assert load_head(final("protopnet")).size > 0

    def capped(state):
        state["classifier.cap"] = torch.ones(3)

    with pytest.raises(
        InputError, match=r"model_state.pth: .*'classifier.cap': .*ProtoPNetClassifier does not explain"
    ):
        load_head(changed("protopnet", tmp_path, state=capped))


def test_the_options_of_one_network_do_not_take_the_tensors_of_another():
    state = unwrap(cases()["hyperpg-hyperpg"].state)
    with pytest.raises(HeadError, match=r"'prototype_module\.mus': .*hyperpg does not explain"):
        head_of("hyperpg", state, pm_name="vmf")
    assert fitting(state) == ["hyperpg"]


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


def test_the_tensors_of_a_head_alone_may_be_of_three_networks():
    assert fitting(head_tensors()) == ["genetic", "protopnet", "tesnet"]
    assert head_of("protopnet", head_tensors()).size == head_of("genetic", head_tensors(), patches=9).size
    uneven = {key: tensor[:11] if len(tensor) == 12 else tensor[:, :11] for key, tensor in head_tensors().items()}
    assert fitting(uneven) == ["protopnet", "tesnet"]


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
