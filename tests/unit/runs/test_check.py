"""Is this head this network's, and this network file? Every wrong option is noticed, and named."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.own_network import OwnNetwork, own_images
from support.small import small_head, small_latents, varied_head
from torch import Tensor, nn

import verale
from verale.adapters import head_of
from verale.certificate.words import written
from verale.errors import LatentsError, NetworkError, UsageError
from verale.head import Box, Cosine, Head, LogRatio, MaxPooling, TopMeanPooling
from verale.runs.check import Forward, check, compare, restored

LAYER = "add_on_layers"


def head_for(network: nn.Module, **options: object) -> Head:
    return head_of("protopnet", network.state_dict(), **options)


def compared(network: nn.Module, head: Head, layer: str = LAYER, **options: object):
    return check(head, network, layer, own_images(6), **options)


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
    assert lines[0] == "The head computes this network's logits on 6 images, up to float32's rounding."
    assert lines[1].startswith("largest difference ") and lines[1].endswith("(proved for any order of sums)")
    assert len(lines) == 2


DIFFERENT = {
    "a large epsilon": (OwnNetwork(epsilon=1e-3), head_for, LAYER, "epsilon=0.001; you gave 0.0001"),
    "a small epsilon": (OwnNetwork(epsilon=1e-6), head_for, LAYER, "epsilon=1e-6; you gave 0.0001"),
    "linear": (OwnNetwork(activation="linear"), head_for, LAYER, "activation='linear'; you gave 'log'"),
    "log": (OwnNetwork(epsilon=1e-5), lambda network: head_for(network, activation="linear"), LAYER,
            "activation='log' with epsilon=0.00001; you gave 'linear'"),
    "a bias": (OwnNetwork(bias=True), lambda network: replace(head_for(network), bias=None), LAYER,
               "one more bias a class ("),
    "no bias": (OwnNetwork(), lambda network: replace(head_for(network), bias=torch.tensor([1.0, 0.0, -1.0])), LAYER,
                "bias=None; you gave a bias"),
    "an early layer": (OwnNetwork(), head_for, "add_on_layers.0", "torch.sigmoid(latents): name the layer behind"),
    "a factor": (Wrapped(lambda logits, distances: 5 * logits), lambda model: head_for(model.network),
                 f"network.{LAYER}", "all logits times 5"),
    "what nothing explains": (Wrapped(lambda logits, distances: logits + logits.square()),
                              lambda model: head_for(model.network), f"network.{LAYER}", ""),
}  # fmt: skip
"""Networks and heads of which one is wrong, the layer, and how the cause is named that explains it."""


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_named(name):
    network, head, layer, cause = DIFFERENT[name]
    comparison = compared(network, head(network), layer)
    assert not comparison.agrees and "the two name different classes on" in str(comparison)
    if cause:  # rounding decides which of those is the closest that nothing tells apart
        assert any(each.startswith(cause) for each in comparison.alike), comparison.alike
        assert f"the logits agree with {comparison.alike[0]}" in str(comparison)
    else:
        assert comparison.alike == ()
        assert str(comparison).endswith("verale knows explains it: are layer, weights and formulas these?")
    assert ("outside the head's domain (from 0 to 1)" in str(comparison)) == (name == "an early layer")


OUTPUTS = {
    "softmax(logits)": lambda logits, distances: logits.softmax(1),
    "log_softmax(logits)": lambda logits, distances: logits.log_softmax(1),
}


@pytest.mark.parametrize("form", OUTPUTS)
@pytest.mark.parametrize("epsilon", [1e-4, 1e-2])
def test_of_outputs_that_leave_differences_these_are_compared(form, epsilon):
    """A head whose differences of logits are others is refused all the same."""
    model = Wrapped(OUTPUTS[form])
    comparison = compared(model, head_for(model.network, epsilon=epsilon), "network.add_on_layers")
    assert comparison.agrees == (epsilon == 1e-4)
    if comparison.agrees:
        assert f"the network returns {form}, which leaves the differences of an image's logits" in str(comparison)
        assert comparison.other_classes == 0 and comparison.difference <= float(comparison.allowed.max())


def test_a_logarithm_keeps_the_order():
    """As MGProto returns it."""
    model = Wrapped(lambda logits, distances: (logits - 2 * logits.min()).log())
    least = float(model.network(own_images(6))[0].detach().min())
    head = replace(head_for(model.network), bias=torch.full((3,), -2 * least))
    comparison = compared(model, head, "network.add_on_layers")
    assert comparison.agrees and comparison.returned == "log(logits)", str(comparison)
    assert not compared(
        model, replace(head, bias=head.bias + torch.tensor([0.01, 0, 0])), "network.add_on_layers"
    ).agrees


def test_a_softmax_that_rounds_to_0_says_only_that_it_is_small():
    own = torch.tensor([[300.0, 0.0, 100.0]], dtype=torch.float64)
    outputs = own.float().softmax(1).double()
    assert outputs.tolist() == [[1.0, 0.0, 0.0]]
    assert restored(outputs, own, own - 1e-3, own + 1e-3).form == "softmax(logits)"
    for other in (own.flip(1), torch.tensor([[50.0, 0.0, 10.0]], dtype=torch.float64)):
        assert restored(outputs, other, other - 1e-3, other + 1e-3) is None


@pytest.mark.parametrize("outputs", [[[torch.nan, 0.5]], [[torch.inf, 1.0]], [[2.0, 3.0]], [[0.2, 0.2]]])
def test_other_outputs_leave_no_logits(outputs):
    own = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    assert restored(torch.tensor(outputs, dtype=torch.float64), own, own - 1e-3, own + 1e-3) is None


@pytest.mark.parametrize(("epsilon", "given"), [(0.0375, 0.0376), (0.3, 1e-4), (2.5e-4, 3e-4)])
def test_an_epsilon_of_nobody_is_fitted(epsilon, given):
    """A number of few digits that explains the logits of all images, more than those to which it is fitted."""
    network = OwnNetwork(epsilon=epsilon)
    comparison = check(head_for(network, epsilon=given), network, LAYER, own_images(20))
    said = f"epsilon={written(epsilon)}, which explains all logits; you gave {written(given)}"
    assert not comparison.agrees and comparison.alike == (said,)
    assert f"the logits agree with {said}" in str(comparison)


def test_a_number_that_explains_a_few_images_alone_is_no_explanation():
    """The last image, of small differences, is not among those to which the number is fitted."""
    head = small_head("euclidean")
    latents = small_latents(head, images=18, patches=5)
    logits = replace(head, similarity=LogRatio(0.0375)).logits(latents)
    logits[7] = head.logits(latents)[7] + 1e-3
    comparison = compare(head, Forward(latents, logits))
    assert not comparison.agrees and not any("explains all" in cause for cause in comparison.alike)


def test_what_is_closer_within_rounding_is_mentioned():
    head = small_head("euclidean")
    latents = small_latents(head, images=4, patches=5)
    other = replace(head, similarity=LogRatio(1e-7))
    given = replace(head, similarity=LogRatio(1.5e-7))
    comparison = compare(given, Forward(latents, other.logits(latents)))
    assert comparison.agrees and comparison.closer == "epsilon=1e-7; you gave 1.5e-7"
    assert "times closer, or more, with epsilon=1e-7" in str(comparison)


@pytest.mark.parametrize(
    ("name", "change", "cause"),
    [
        ("rooted", {"geometry": Cosine(1e-2, rooted=True)}, "geometry=Cosine(epsilon=0.0001, rooted=True)"),
        ("top mean", {"pooling": MaxPooling()}, "pooling=TopMeanPooling(k=3)"),
        ("cosine top mean", {"pooling": TopMeanPooling(3)}, "pooling=TopMeanPooling(k=2)"),
        ("cosine rectified", {"similarity": varied_head("rooted").similarity}, "similarity=Rectified()"),
        ("threshold", {"similarity": varied_head("softmax top mean").similarity}, "threshold="),
    ],
)
def test_other_options_are_named(name, change, cause):
    true = varied_head(name)
    true = replace(true, bias=None, prototypes=None if true.prototypes is None else true.prototypes - 0.2)
    latents = small_latents(varied_head(name), images=6, patches=6)
    logits = true.logits(latents).float()
    comparison = compare(replace(true, **change), Forward(latents, logits))
    assert not comparison.agrees and comparison.alike[0].startswith(cause)


def right_and_wrong(right: int, images: int, classes: int = 3) -> tuple[Forward, Head, list[int]]:
    """Logits of a head, and labels of which so many are right."""
    head = replace(small_head("euclidean"), bias=None)
    latents = small_latents(head, images=images, patches=5)
    classes_of = head.logits(latents).argmax(1).tolist()
    return (
        Forward(latents, head.logits(latents)),
        head,
        [c if i < right else (c + 1) % 3 for i, c in enumerate(classes_of)],
    )


@pytest.mark.parametrize(
    ("right", "images", "warned"), [(3, 8, True), (0, 12, True), (4, 8, False), (8, 8, False), (0, 7, False)]
)
def test_how_many_images_are_right_is_said_where_labels_are_known(right, images, warned):
    given, head, labels = right_and_wrong(right, images)
    comparison = compare(head, given, labels)
    assert comparison.agrees and comparison.right == right
    assert f"The network is right on {right} of {images} images." in str(comparison).splitlines()
    said = f"the network is right on {right} of {images} images, hardly more than chance: are the images normalised"
    assert [each.startswith(said) for each in comparison.warnings] == [True] * warned
    assert (f"warning: {said}" in str(comparison)) == warned


def test_bytes_that_were_not_divided_are_told():
    network = OwnNetwork()
    comparison = check(head_for(network), network, LAYER, own_images(4) * 255)
    assert comparison.images == (float((own_images(4) * 255).min()), float((own_images(4) * 255).max()))
    (warning,) = comparison.warnings
    assert "expected normalised ones, below 10: are these bytes that were not divided by 255?" in warning
    assert f"warning: {warning}" in str(comparison)
    assert check(head_for(network), network, LAYER, own_images(4) * 4 - 2).warnings == []


@pytest.mark.parametrize(
    ("ending", "domain", "range_"),
    [
        (nn.Tanh(), Box(-0.95, 0.95), "Tanh, after which latents lie in -1:1"),
        (nn.Tanh(), Box(-1, 0.95), "Tanh, after which latents lie in -1:1"),
        (nn.Sequential(nn.Sigmoid(), nn.Dropout()), Box(0.001, 1), "Sigmoid, after which latents lie in 0:1"),
        (nn.ReLU(), Box(1e-6, None), "ReLU, after which latents lie in 0:"),
        (nn.Softmax(dim=1), Box(0, 0.9), "Softmax, after which latents lie in 0:1"),
    ],
)
def test_a_domain_that_leaves_out_what_the_layer_can_give_is_refused(ending, domain, range_):
    """Although these images lie in it."""
    network = OwnNetwork()
    network.add_on_layers[1] = ending
    network.add_on_layers[0].weight.data *= 0.01
    network.add_on_layers[0].bias.data.fill_(0.3)
    comparison = compared(network, head_for(network, domain=domain))
    assert comparison.in_domain and not comparison.agrees
    lower, upper = (written(end) if end is not None else "no end" for end in (domain.lower, domain.upper))
    assert f"the layer ends in {range_}: the head's domain (from {lower} to {upper}) is narrower" in str(comparison)


def test_a_domain_that_ends_where_the_layer_does_not_is_told():
    network = OwnNetwork()
    network.add_on_layers[1] = nn.ReLU()
    comparison = compared(network, head_for(network, domain=Box(0, 100)))
    assert comparison.agrees
    (warning,) = comparison.warnings
    assert warning.startswith(
        "the layer ends in ReLU, after which latents lie in 0:, and the head's domain ends (from 0"
    )
    wider = compared(network, head_for(network, domain=Box(-1, None)))
    assert wider.agrees and wider.warnings == []


def test_where_the_logits_are_can_be_said():
    model = Wrapped(lambda logits, distances: {"distances": distances, "scores": (logits, -logits)})
    head = head_for(model.network)
    with pytest.raises(UsageError, match=r"returns \(6, 12\), \(6, 3\), \(6, 3\), expected one tensor"):
        compared(model, head, "network.add_on_layers")
    assert compared(model, head, "network.add_on_layers", logits=lambda output: output["scores"][0]).agrees


@pytest.mark.parametrize("layer", [LAYER, f"_orig_mod.{LAYER}"])
def test_a_compiled_network_is_compared_as_it_was_before(layer):
    def compiler(graph, inputs):
        pytest.fail("the network was compiled")

    network = OwnNetwork()
    compiled = torch.compile(network, backend=compiler)
    assert compared(compiled, head_for(network), layer).agrees
    assert network.training


REFUSED = [
    ({"layer": "add_on"}, UsageError, "layer 'add_on' is unknown"),
    ({"layer": "features"}, LatentsError, r"6 channels in shape .*, expected the head.s 8"),
    ({"network": lambda net: net.half()}, UsageError, "torch.float16, expected float32"),
    ({"network": lambda net: net.bfloat16()}, UsageError, "torch.bfloat16, expected"),
    ({"network": lambda net: net.last_layer.half() and net}, UsageError, "torch.float16, expected float32"),
    ({"network": lambda net: net.to("meta")}, UsageError, "model holds no numbers"),
    ({"network": lambda net: head_for(net)}, UsageError, "model is a Head, expected a torch"),
    ({"head": lambda net: net}, UsageError, r"head is a module \(OwnNetwork\), expected a verale"),
    ({"images": own_images(2).movedim(1, -1)}, UsageError,
     r"does not take inputs \(2, 8, 8, 3\) .*look like \(N, H, W, C\), .*write .*images\)\.movedim\(-1, 1\)"),
    ({"images": own_images(2).to("meta")}, UsageError, "images holds no numbers"),
    ({"images": own_images(2).long()}, UsageError, "dtype torch.int64, expected"),
    ({"images": own_images(0)}, UsageError, r"shape \(0, 3, 8, 8\)"),
    ({"images": own_images(1)[0]}, UsageError, r"write images\[None\]"),
    ({"layer": nn.Sequential()}, UsageError, r"layer is a module \(Sequential\), expected a name "),
    ({"calls": 0}, UsageError, "calls is 0, expected a number"),
    ({"calls": "1"}, UsageError, "calls is the text '1'"),
    ({"logits": "0"}, UsageError, "logits is the text '0'"),
    ({"logits": lambda output: output["x"]}, UsageError, "logits fails on the model's output: TypeError: tuple"),
]  # fmt: skip
"""What is given otherwise than it should be."""


@pytest.mark.parametrize(("given", "error", "message"), REFUSED)
def test_what_cannot_be_compared(given, error, message):
    usual = {"head": head_for, "network": lambda net: net, "layer": LAYER, "images": own_images(2)}
    rest, network = usual | given, OwnNetwork()
    head, of, layer, images = (rest.pop(name) for name in usual)
    with pytest.raises(error, match=message):
        check(head(network), of(network), layer, images, **rest)


def compared_with_file(network: OwnNetwork, file: object, images=None):
    head = head_of("protopnet", network.state_dict())
    return verale.check(head, network, LAYER, own_images(6) if images is None else images, network=file)


def frozen(network: nn.Module, layer: str | None = LAYER, **options):
    return verale.export_network(network, layer, (3, 8, 8), **options)


def test_the_networks_own_file_agrees() -> None:
    network = OwnNetwork()
    comparison = compared_with_file(network, frozen(network))
    assert comparison.agrees and comparison.of_network == ""
    assert "The network file computes this network's latents, layer by layer in float64." in str(comparison)
    assert "network file" not in str(compared_with_file(network, None))


def test_the_first_layer_that_differs_is_named() -> None:
    network = OwnNetwork()
    file = frozen(network)
    with torch.no_grad():
        network.add_on_layers[0].weight[0, 0] += 1e-5
    comparison = compared_with_file(network, file)
    assert not comparison.agrees
    assert "layer 'add_on_layers.0' of the network file differs from the module's: numbers differ" in str(comparison)


def test_another_layers_file_is_noticed() -> None:
    network = OwnNetwork()
    comparison = compared_with_file(network, frozen(network, "features"))
    assert not comparison.agrees and "the latents are those of layer 'add_on_layers.1'" in str(comparison)


def test_another_normalisation_is_noticed() -> None:
    network = OwnNetwork()
    for numbers in ({"mean": (0.5, 0.5, 0.5)}, {"std": (0.5, 0.5, 0.5)}, {"mean": (2.0, 2.0, 2.0)}):
        comparison = compared_with_file(network, frozen(network, **numbers))
        assert not comparison.agrees and "does it have the network's normalisation?" in str(comparison)


def test_what_a_file_cannot_be_compared_with_is_refused() -> None:
    network = OwnNetwork()
    with pytest.raises(UsageError, match=r"network is a path .*, expected a network file"):
        compared_with_file(network, "network.safetensors")
    with pytest.raises(UsageError, match=r"expected \(N, C, H, W\) with the network's"):
        compared_with_file(network, replace(frozen(network), shape=(3, 10, 8)))
    file = frozen(network)
    network.add_on_layers[1] = nn.Mish()
    with pytest.raises(NetworkError, match="Mish"):
        compared_with_file(network, file)
