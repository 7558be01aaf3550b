"""Every tensor and every number of a checkpoint is explained by its architecture, or its import is refused."""

from __future__ import annotations

from argparse import Namespace
from types import MappingProxyType

import pytest
import torch
from support.cases import every
from support.runs import changed, final
from support.saves import Saves
from torch import nn

from benchmarks.architectures import cases
from verale.adapters import head_of, load_published
from verale.adapters.cabrnet import load_head
from verale.adapters.published import fitting
from verale.adapters.state import load_described, unwrap
from verale.errors import HeadError, InputError

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
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_tensor_that_no_architecture_has_is_named(name, wrapped):
    case = cases()[name]
    state = unwrap(case.state) | {"prototype_gain": torch.ones(3)}
    if wrapped:
        state = {"state_dict": {f"module.{key}": tensor for key, tensor in state.items()}, "epoch": 3}
    with pytest.raises(HeadError, match=rf"is a tensor \(3,\) of float32, which {case.architecture} does not explain"):
        head_of(case.architecture, state, **case.options)
    assert fitting(state) == (["genetic"] if name == "genetic" else [])  # which asks for an option first


@pytest.mark.parametrize("beside", [{"cap": torch.ones(3)}, {"caps": {"of_slots": torch.ones(3)}}, {"gain": 0.5}])
def test_what_stands_beside_a_state_dictionary_is_accounted_for(beside):
    noted = {"epoch": 3, "best_acc1": 0.5, "arch": "resnet34", "optimizer": {"state": {}, "param_groups": []}}
    assert head_of("protopnet", {"state_dict": PROTOPNET} | noted).size == 12
    (key,) = beside
    with pytest.raises(HeadError, match="which protopnet does not explain") as refusal:
        head_of("protopnet", {"state_dict": PROTOPNET} | noted | beside)
    assert refusal.value.field == key


@pytest.mark.parametrize("kind", [Namespace, dict])
def test_arguments_that_say_another_function_are_held_against_the_head(kind, tmp_path):
    for topk_k in (1, 3):
        torch.save({"state_dict": PROTOPNET, "args": kind(lr=0.1, k=7, topk_k=topk_k)}, tmp_path / "state.pth")
        if topk_k == 1:
            assert load_published(tmp_path / "state.pth", "protopnet").size == 12
            continue
        with pytest.raises(InputError, match="'topk_k': is 3, which protopnet does not explain"):
            load_published(tmp_path / "state.pth", "protopnet")


def test_numbers_among_the_tensors_are_accounted_for():
    assert head_of("protopnet", PROTOPNET | {"epsilon": 1e-4, "epoch": 3}).size == 12
    for key, value in (("topk_k", 3), ("gain", 0.5), ("prototype_activation_function", 10**5000)):
        with pytest.raises(HeadError, match=f"'{key}': is .*, which protopnet does not explain"):
            head_of("protopnet", PROTOPNET | {key: value})


def test_all_that_is_not_explained_is_named_with_the_remedy():
    with pytest.raises(
        HeadError, match=r"'cap_width_l2': .* \(nor non_vis_mask\): .*tensors of its head alone"
    ) as told:
        head_of("protopnet", PROTOPNET | CAPS)
    assert "verale.check" in str(told.value)


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


def test_a_whole_model_of_another_class_is_refused(tmp_path):
    torch.save(CappedPPNet(PROTOPNET, **OF_PROTOPNET), tmp_path / "model.pth")
    with pytest.raises(InputError, match="'class': is 'CappedPPNet', expected PPNet of protopnet"):
        load_published(tmp_path / "model.pth", "protopnet")


def test_a_layer_of_another_class_is_refused(tmp_path):
    model = PPNet(PROTOPNET, **OF_PROTOPNET)
    model.last_layer = Capped(12, 3, bias=False)
    torch.save(model, tmp_path / "model.pth")
    with pytest.raises(InputError, match="'last_layer': is 'Capped', which protopnet does not explain"):
        load_published(tmp_path / "model.pth", "protopnet")


def test_an_attribute_has_the_value_that_the_head_computes(tmp_path):
    model = PPNet(unwrap(cases()["deformable"].state), topk_k=3, using_deform=True)
    torch.save(model, tmp_path / "model.pth")
    with pytest.raises(InputError, match="'topk_k': is 3, expected 1 of deformable"):
        load_published(tmp_path / "model.pth", "deformable")


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
