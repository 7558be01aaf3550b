"""Is this head this network's? Every wrong option is noticed, and named."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.own_network import OwnNetwork, own_images
from support.small import small_head, small_latents, varied_head
from torch import Tensor, nn

from verale.adapters import head_of
from verale.adapters.neighbours import neighbours, widened
from verale.errors import LatentsError, UsageError
from verale.head import Box, Cosine, Head, LogRatio, MaxPooling, TopMeanPooling, as_patches
from verale.runs.check import Forward, check, compare

LAYER = "add_on_layers"


def head_for(network: nn.Module, **options: object) -> Head:
    return head_of("protopnet", network.state_dict(), **options)


def compared(network: nn.Module, head: Head, layer: str = LAYER, **options: object):
    return check(head, network, layer, own_images(12), **options)


class Wrapped(nn.Module):
    """A network whose output is something else."""

    def __init__(self, change) -> None:
        super().__init__()
        self.network, self.change = OwnNetwork(), change

    def forward(self, images: Tensor):
        return self.change(*self.network(images))


def test_the_right_head_agrees():
    network = OwnNetwork()
    comparison = compared(network, head_for(network))
    assert comparison.agrees and comparison.proved and comparison.alike == () and comparison.closer is None
    assert comparison.difference <= float(comparison.allowed.max()) < 0.05
    lines = str(comparison).splitlines()
    assert lines[0] == "The head computes this network's logits on 12 images, up to float32's rounding."
    assert lines[1].startswith("largest difference ") and lines[1].endswith("(proved for any order of sums)")
    assert len(lines) == 2


def test_the_logits_are_those_of_the_network():
    network = OwnNetwork()
    comparison = compared(network, head_for(network))
    assert torch.equal(comparison.logits, network(own_images(12))[0].detach())
    assert network.training


@pytest.mark.parametrize("epsilon", [1e-3, 1e-6])
def test_a_wrong_epsilon_is_named(epsilon):
    network = OwnNetwork(epsilon=epsilon)
    comparison = compared(network, head_for(network))
    assert not comparison.agrees
    assert comparison.alike[0] == f"epsilon={epsilon:g}; you gave 0.0001"
    assert f"the logits agree with epsilon={epsilon:g}; you gave 0.0001" in str(comparison)


def test_linear_instead_of_log_is_named():
    network = OwnNetwork(activation="linear")
    comparison = compared(network, head_for(network))
    assert not comparison.agrees and comparison.alike == ("activation='linear'; you gave 'log'",)
    assert "the two name different classes on" in str(comparison)


def test_log_instead_of_linear_is_named_with_its_epsilon():
    network = OwnNetwork(epsilon=1e-5)
    comparison = compared(network, head_for(network, activation="linear"))
    assert comparison.alike[0] == "activation='log' with epsilon=1e-05; you gave 'linear'"


def test_a_bias_that_the_head_lacks_is_named():
    network = OwnNetwork(bias=True)
    head = replace(head_for(network), bias=None)
    (cause,) = compared(network, head).alike
    assert cause.startswith("one more bias a class (") and cause.endswith("): the head lacks it")


def test_a_bias_that_the_network_lacks_is_named():
    network = OwnNetwork()
    head = replace(head_for(network), bias=torch.tensor([1.0, 0.0, -1.0]))
    assert compared(network, head).alike == ("bias=None; you gave a bias",)


def test_a_layer_that_is_one_too_early_is_named():
    network = OwnNetwork()
    comparison = compared(network, head_for(network), "add_on_layers.0")
    assert comparison.alike == ("torch.sigmoid(latents): name the layer behind it as layer",)
    assert "outside the head's domain (from 0 to 1)" in str(comparison)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda logits, distances: logits.softmax(1), "softmax"),
        (lambda logits, distances: logits.log_softmax(1), "log_softmax"),
        (lambda logits, distances: 5 * logits, "all logits times 5"),
    ],
)
def test_outputs_that_are_no_logits_are_named(change, cause):
    model = Wrapped(change)
    comparison = compared(model, head_for(model.network), "network.add_on_layers")
    assert not comparison.agrees and comparison.alike[0].startswith(cause)


def test_what_nothing_explains_is_said():
    network = OwnNetwork(epsilon=0.3)
    comparison = compared(network, head_for(network))
    assert not comparison.agrees and comparison.alike == ()
    assert str(comparison).endswith("no option that verale knows explains it: are layer, weights and formulas these?")


def test_a_domain_that_does_not_hold_the_latents_is_no_agreement():
    network = OwnNetwork()
    comparison = compared(network, head_for(network, domain=Box(0, 0.5)))
    assert not comparison.agrees and "outside the head's domain (from 0 to 0.5)" in str(comparison)


def test_what_is_closer_within_rounding_is_mentioned():
    head = small_head("euclidean")
    latents = small_latents(head, images=4, patches=5)
    other = replace(head, similarity=LogRatio(1e-7))
    given = replace(head, similarity=LogRatio(1.5e-7))
    comparison = compare(given, Forward(latents, other.logits(latents)))
    assert comparison.agrees and comparison.closer == "epsilon=1e-07; you gave 1.5e-07"
    assert "times closer, or more, with epsilon=1e-07" in str(comparison)


@pytest.mark.parametrize(
    ("name", "change", "cause"),
    [
        ("rooted", {"geometry": Cosine(1e-2, rooted=True)}, "geometry=Cosine(epsilon=0.0001, rooted=True)"),
        ("top mean", {"pooling": MaxPooling()}, "pooling=TopMeanPooling(k=3)"),
        ("cosine top mean", {"pooling": TopMeanPooling(3)}, "pooling=TopMeanPooling(k=2)"),
        ("cosine rectified", {"similarity": varied_head("rooted").similarity}, "similarity=Rectified()"),
        ("threshold", {"similarity": varied_head("softmax top mean").similarity}, "similarity=Threshold(threshold="),
    ],
)
def test_other_options_are_named(name, change, cause):
    true = varied_head(name)
    true = replace(true, bias=None, prototypes=None if true.prototypes is None else true.prototypes - 0.2)
    latents = small_latents(varied_head(name), images=6, patches=6)
    logits = true.logits(latents).float()
    comparison = compare(replace(true, **change), Forward(latents, logits))
    assert not comparison.agrees and comparison.alike[0].startswith(cause)


@pytest.mark.parametrize("name", ["negated", "cosine exponential", "inner product in a ball", "tree", "maximum"])
def test_a_neighbour_differs_in_what_it_says(name):
    head = varied_head(name)
    patches = as_patches(small_latents(head, images=2, patches=4))
    for each in neighbours(widened(head, patches), 4):
        assert each.head.digest != head.digest and each.value != each.given


def test_where_the_logits_are_can_be_said():
    model = Wrapped(lambda logits, distances: {"distances": distances, "scores": (logits, -logits)})
    head = head_for(model.network)
    with pytest.raises(UsageError, match=r"returns \(12, 12\), \(12, 3\), \(12, 3\), expected one tensor"):
        compared(model, head, "network.add_on_layers")
    assert compared(model, head, "network.add_on_layers", logits=lambda output: output["scores"][0]).agrees


def test_a_network_in_float64_agrees_too():
    network = OwnNetwork()
    assert compared(OwnNetwork().double(), head_for(network)).agrees


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda net, head: check(head, net, "add_on", own_images(2)), UsageError, "layer 'add_on' is unknown"),
        (
            lambda net, head: check(head, net, "features", own_images(2)),
            LatentsError,
            r"6 channels in shape .*, expected the head.s 8",
        ),
        (
            lambda net, head: check(head, net.half(), LAYER, own_images(2)),
            UsageError,
            "torch.float16, expected float32",
        ),
        (lambda net, head: check(head, net, LAYER, own_images(2).long()), UsageError, "dtype torch.int64, expected"),
        (lambda net, head: check(head, net, LAYER, own_images(0)), UsageError, r"shape \(0, 3, 8, 8\)"),
        (lambda net, head: check(head, net, LAYER, own_images(1)[0]), UsageError, r"write images\[None\]"),
        (
            lambda net, head: check(net, head, LAYER, own_images(1)),
            UsageError,
            r"head is a module \(OwnNetwork\), expected a verale",
        ),
        (lambda net, head: check(head, head, LAYER, own_images(1)), UsageError, "model is a Head, expected a torch"),
    ],
)
def test_what_cannot_be_compared(call, error, message):
    network = OwnNetwork()
    with pytest.raises(error, match=message):
        call(network, head_for(network))
