"""Every published architecture, stated again step by step as its code computes it, and compared with its head."""

from __future__ import annotations

import math
from dataclasses import replace
from inspect import signature
from pathlib import Path

import pytest
import torch
from support.cases import every
from torch import Tensor
from torch.nn import functional

from benchmarks.architectures import CLASSES, PER_CLASS, Case, cases, heads
from verale.adapters import ARCHITECTURES, head_of
from verale.adapters.published import architecture, fitting
from verale.adapters.published.deformable import taps
from verale.adapters.state import unwrap
from verale.errors import HeadError, LatentsError, UsageError, VeraleError
from verale.head import Box, evaluate

# Below, x is a latent map (N, D, L, 1) and maps of distances or similarities are (N, P, L).


def squared(x: Tensor, kernels: Tensor) -> Tensor:
    """|x|^2 - 2 x p + |p|^2 by 1x1 convolutions, rectified."""
    kernels = kernels.double()
    products = functional.conv2d(x, kernels)
    norms = functional.conv2d(x**2, torch.ones_like(kernels))
    return functional.relu(norms - 2 * products + (kernels**2).sum((1, 2, 3)).view(-1, 1, 1)).flatten(2)


def log_ratio(d: Tensor, epsilon: float = 1e-4) -> Tensor:
    return torch.log((d + 1) / (d + epsilon))


def protopnet(state, x, activation="log"):
    least = -functional.max_pool1d(-squared(x, state["prototype_vectors"]), x.shape[2]).squeeze(2)
    return functional.linear(log_ratio(least) if activation == "log" else -least, state["last_layer.weight"].double())


def protopnext(state, x, activation="l2", k=1, part=""):
    kernels = state[f"{part}prototype_layer.prototype_tensors"].double()
    if activation == "l2":
        similarity = log_ratio(squared(x, kernels))
    elif activation == "exp_l2":
        similarity = torch.exp(-torch.sqrt(squared(x, kernels).abs() + 1e-14))
    else:
        x = 64 * x / torch.sqrt((x**2).sum(1, keepdim=True) + 1e-4)
        kernels = kernels / (torch.sqrt((kernels**2).sum(1, keepdim=True) + 1e-4) + 1e-4)
        similarity = torch.relu(functional.conv2d(x, kernels) / (64 * 1.01)).flatten(2)
    best = torch.topk(similarity, min(k, similarity.shape[-1]), dim=-1)[0].mean(-1)
    return functional.linear(best, state[f"{part}prototype_prediction_head.class_connection_layer.weight"].double())


def support_trivial(state, x, k=1):
    return sum(protopnext(state, x, "cosine", k, part) for part in ("_models.0.", "_models.1."))


def prototypedl(state, x):
    """From the encoder's output, flattened: squared norms and products, and a layer on the distances themselves."""
    z, prototypes = x.flatten(1), state["prototype.prototypes"].double()
    d = (z**2).sum(1).view(-1, 1) + (prototypes**2).sum(1).view(1, -1) - 2 * z @ prototypes.t()
    return functional.linear(d, state["prototype.linear1.weight"].double(), state["prototype.linear1.bias"].double())


def protopool(checkpoint, x):
    state = checkpoint["model_state_dict"]
    presence = functional.one_hot(state["proto_presence"].argmax(1), state["proto_presence"].shape[1])
    d = squared(x, state["prototype_vectors"])
    mixed = [torch.einsum("bp,cnp->bcn", pooled, presence.double()) for pooled in (d.amin(2), d.mean(2))]
    slots = log_ratio(mixed[0]) - log_ratio(mixed[1])
    if "last_layer.weight" not in state:
        return slots.sum(-1)
    return functional.linear(slots.flatten(1), state["last_layer.weight"].double())


def pipnet(checkpoint, x, threshold=None):
    state = checkpoint["model_state_dict"]
    pooled = functional.adaptive_max_pool2d(torch.softmax(x, dim=1), 1).flatten(1)
    if threshold is None:  # inference=True; 0.1 in float32
        pooled = torch.where(pooled < torch.tensor(0.1), 0.0, pooled)
    bias = state.get("module._classification.bias")
    weight = torch.relu(state["module._classification.weight"].double())
    return functional.linear(pooled, weight, None if bias is None else bias.double())


def tesnet(state, x):
    basis = functional.normalize(state["prototype_vectors"].double(), dim=1)
    return functional.linear(functional.conv2d(x, basis).amax((2, 3)), state["last_layer.weight"].double())


def stprotopnet(state, x, similarity="cosine"):
    """Latents are normalised before. Of each half the product, rectified if a cosine; both halves' logits are added."""
    logits = 0
    for half, latent in zip(("trivial", "support"), x.chunk(2, dim=1), strict=True):
        units = functional.normalize(state[f"prototype_vectors_{half}"].double(), dim=1)
        products = functional.conv2d(latent, units).amax((2, 3))
        activations = functional.relu(products) if similarity == "cosine" else products
        logits += functional.linear(activations, state[f"last_layer_{half}.weight"].double())
    return logits


def genetic(state, x, patches):
    """Each prototype as a kernel over the whole sequence, zero but at its position."""
    points, weight = state["prototype_vectors"].double(), state["last_layer.weight"].double()
    each = len(points) // len(weight)
    whole = points.new_zeros(len(points), points.shape[1], patches, 1)
    for j, point in enumerate(functional.normalize(points, dim=1)):
        whole[j, :, j % each] = point[..., 0]
    return functional.linear(functional.conv2d(functional.normalize(x, dim=1), whole).flatten(1), weight)


def hyperpg(checkpoint, x, pm_name):
    state = {key.removeprefix("model."): value.double() for key, value in checkpoint["state_dict"].items()}
    kernels = state["prototype_module.prototypes"].flatten(0, 1)
    s, mu = (
        state[f"prototype_module.{name}"].view(1, -1, 1) if f"prototype_module.{name}" in state else None
        for name in ("sigmas", "mus")
    )
    cos = functional.conv2d(functional.normalize(x, dim=1), functional.normalize(kernels, dim=1)).flatten(2)
    dot = functional.conv2d(x, kernels).flatten(2)
    d = squared(x, kernels)

    def bell(y: Tensor) -> Tensor:
        return -(y**2) / (2 * s**2 + 1e-6) - torch.log(2 * math.pi * s)

    density = {
        "hyperpg": lambda: bell(cos - mu),
        "vmf": lambda: cos / s,
        "cosine": lambda: cos,
        "gaussian": lambda: bell(d),
        "l2": lambda: log_ratio(d, 1e-6),
        "l2-distance": lambda: log_ratio(d, 1e-6),
        "l2-negated": lambda: -d,
        "attention": lambda: dot / math.sqrt(kernels.shape[1]),
        "gaussian_dot": lambda: bell(dot - mu),
    }[pm_name]()
    return functional.linear(density.amax(2), state["clf.2.weight"], state.get("clf.2.bias"))


def log_normal(x: Tensor, means: Tensor, deviations: Tensor) -> Tensor:
    """ln N (N, L, C, K) channel by channel."""
    z = x.flatten(2).transpose(1, 2)[:, :, None, None, :]
    means, deviations = means.double(), deviations.double()
    return torch.distributions.Normal(means, deviations).log_prob(z).sum(-1)


def mgproto(state, x):
    """Before the final logarithm."""
    probability = log_normal(functional.normalize(x, dim=1), state["prototype_means"], state["prototype_covs"]).exp()
    return functional.linear(probability.amax(1).flatten(1), state["last_layer.weight"].double())


def gmm(state, x, mixture="sum"):
    logs = log_normal(x, state["means"], state["diagonal"]).amax(1)
    if "weights" in state:
        logs = logs + state["weights"].double().log()
    return logs.exp().sum(-1) if mixture == "sum" else logs.amax(-1)


def protopformer(checkpoint, x, g):
    state = checkpoint["model"]
    of_token = log_ratio(squared(x[:, :, :1], state["prototype_vectors_global"])).amax(2)
    of_image = log_ratio(squared(x[:, :, 1:], state["prototype_vectors"])).amax(2)
    logits_global = functional.linear(of_token, state["last_layer_global.weight"].double())
    return g * logits_global + (1.0 - g) * functional.linear(of_image, state["last_layer.weight"].double())


def deformable(state, x):
    """From gathered taps: x (N, (D + 2) 4, L, 1), tap by tap."""
    p = state["prototype_vectors"].double()
    p = torch.cat([p, torch.full_like(p[:, :2], 1e-4)], dim=1)
    p = p / (torch.sqrt((p**2).sum(1, keepdim=True) + 1e-4) + 1e-4) / math.sqrt(4)
    taps = x.flatten(2).unflatten(1, (p.shape[1], 4))
    dot = sum(torch.einsum("ndl,pd->npl", taps[:, :, i], p.flatten(2)[:, :, i]) for i in range(4))
    return functional.linear(torch.relu(dot / (64 * 1.01)).amax(2), state["last_layer.weight"].double())


def nonparam(checkpoint, x):
    state = checkpoint["state_dict"]
    tokens = functional.normalize(x.flatten(2).transpose(1, 2), dim=-1)
    cosines = torch.einsum("bnd,ckd->bnck", tokens, functional.normalize(state["prototypes"].double(), dim=-1))
    shares = functional.softmax(state["classifier.weights"].double(), dim=-1) * PER_CLASS
    return (cosines.max(1).values[:, :-1] * shares).sum(-1) / checkpoint["hparams"]["temperature"]


def gaussian(state, x, density="log_distance"):
    log_var = state["classifier.similarity_layer.log_var"].double()
    means = state["classifier.prototypes"].double()
    z = x.flatten(2)[:, None]
    q = (torch.exp(-log_var).view(-1, 1, 1) * (z - means.flatten(1)[:, :, None]) ** 2).sum(2).amin(2)
    if density == "log_distance":
        a = log_ratio(functional.relu(q))
    else:
        depth = means.shape[1]
        a = -0.5 * q - 0.5 * (depth * math.log(2 * math.pi) + log_var[:, None].expand(-1, depth).sum(1))
    return functional.linear(a, state["classifier.last_layer.weight"].double())


REFERENCES = {
    "deformable": deformable,
    "gaussian": gaussian,
    "genetic": genetic,
    "gmm": gmm,
    "hyperpg": hyperpg,
    "mgproto": mgproto,
    "nonparam": nonparam,
    "pipnet": pipnet,
    "protopformer": protopformer,
    "protopnet": protopnet,
    "protopnext": protopnext,
    "protopool": protopool,
    "prototypedl": prototypedl,
    "stprotopnet": stprotopnet,
    "tesnet": tesnet,
}


def reference(name: str, case: Case, latents: Tensor) -> Tensor:
    function = support_trivial if name == "protopnext-st" else REFERENCES[case.architecture]
    return function(case.state, latents.double().transpose(1, 2)[..., None], **case.options)


@every("name", cases())
def test_the_head_computes_what_the_architecture_computes(name):
    case = cases()[name]
    expected = reference(name, case, case.latents)
    logits = evaluate(case.head(), case.latents.double()).logits
    assert expected.shape == logits.shape == (len(case.latents), CLASSES)
    torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-12)


def test_every_architecture_is_there():
    assert {case.architecture for case in cases().values()} == set(ARCHITECTURES) == set(REFERENCES)
    assert set(heads()) == set(cases())


@pytest.mark.parametrize("name", ["protopnet", "protopnet-linear", "tesnet"])
def test_prototypes_are_counted_in_the_tensors(name):
    """A pruned network has fewer than its configuration says, and `ones` may be left as it was."""
    case = cases()[name]
    kept = [0, 2, 3, 7, 11]
    state = case.state | {
        "prototype_vectors": case.state["prototype_vectors"][kept],
        "last_layer.weight": case.state["last_layer.weight"][:, kept],
    }
    pruned = replace(case, state=state)
    assert pruned.head().size == 5
    logits = evaluate(pruned.head(), case.latents.double()).logits
    torch.testing.assert_close(logits, reference(name, pruned, case.latents), rtol=1e-9, atol=1e-12)


def test_a_mass_on_the_threshold_counts():
    state = {"_classification.weight": torch.tensor([[1.0, 0.0], [0.0, 3.0]])}
    level = torch.zeros(1, 2, 2, dtype=torch.float64)  # both masses are exactly 1/2
    assert evaluate(head_of("pipnet", state, threshold=0.5), level).logits.tolist() == [[0.5, 1.5]]
    assert evaluate(head_of("pipnet", state, threshold=0.5 + 2**-53), level).logits.tolist() == [[0.0, 0.0]]
    assert head_of("pipnet", state).similarity.threshold == torch.tensor(0.1, dtype=torch.float32).item() > 0.1


def test_the_cases_reach_the_corners():
    """Peaks beyond every cosine, flipped prototypes, duplicates, more to average than there are patches."""
    assert (cases()["hyperpg-hyperpg"].head().peak > 1).any()
    flipped = cases()["hyperpg-vmf"]
    stored = flipped.state["state_dict"]["model.prototype_module.prototypes"].flatten(0, 1).flatten(1)
    assert 0 < (flipped.head().prototypes == -stored).all(1).sum() < len(stored)
    assert cases()["protopnext-cosine-10"].head().pooling.k > cases()["protopnext-cosine-10"].latents.shape[1]
    head = cases()["protopnet"].head()
    assert torch.equal(head.prototypes[0], head.prototypes[-1])


def deformable_network(depth: int, hidden: int) -> dict[str, Tensor]:
    """Its state, with offsets that reach beyond the grid."""
    generator = torch.Generator().manual_seed(hidden)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    state = {"prototype_vectors": normal(12, depth, 2, 2).abs(), "last_layer.weight": normal(CLASSES, 12)}
    if not hidden:
        return state | {"conv_offset.0.weight": 0.02 * normal(8, depth + 2, 3, 3)}
    return state | {
        "conv_offset.0.weight": 0.02 * normal(hidden, depth + 2, 4, 4),
        "conv_offset.0.bias": normal(hidden),
        "conv_offset.2.weight": 0.5 * normal(8, hidden, 2, 2),
        "conv_offset.2.bias": normal(8),
    }


@pytest.mark.parametrize("hidden", [0, 4])
def test_the_taps_of_a_deformable_prototype(hidden):
    """Its interpolation as a sum over the whole grid with tent weights, and its logits per tap and location."""
    state = deformable_network(3, hidden)
    x = torch.rand(2, 3, 5, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    x[0, :, 2, 3] = 0.0
    latents = taps({"model": state}, x)

    state = {key: value.double() for key, value in state.items()}
    p = state["prototype_vectors"]
    x, p = (torch.cat([maps, torch.full_like(maps[:, :2], 1e-4)], dim=1) for maps in (x, p))
    x = 64 * x / torch.sqrt((x**2).sum(1, keepdim=True) + 1e-4) / 2
    p = p / (torch.sqrt((p**2).sum(1, keepdim=True) + 1e-4) + 1e-4) / 2
    offset = functional.conv2d(x, state["conv_offset.0.weight"], state.get("conv_offset.0.bias"), padding=1)
    if hidden:
        offset = functional.conv2d(
            torch.relu(offset), state["conv_offset.2.weight"], state["conv_offset.2.bias"], padding=1
        )
    assert offset.abs().max() > 2

    def tent(coordinate: Tensor, size: int) -> Tensor:
        return torch.relu(1 - (coordinate[..., None] - torch.arange(size)).abs())

    dot = 0
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        dy, dx = offset[:, 4 * i + 2 * j], offset[:, 4 * i + 2 * j + 1]
        y, w = torch.arange(5)[:, None] - 1 + 2 * i + dy, torch.arange(6) - 1 + 2 * j + dx
        read = torch.einsum("nhwa,nhwb,ndab->nhwd", tent(y, 5), tent(w, 6), x**2).sqrt()
        torch.testing.assert_close(latents.unflatten(1, (5, 6)).unflatten(3, (5, 4))[..., 2 * i + j], read)
        dot = dot + torch.einsum("nhwd,pd->nphw", read, p[:, :, i, j])
    logits = functional.linear(torch.relu(dot / (64 * 1.01)).amax((2, 3)), state["last_layer.weight"])
    head = head_of("deformable", state)
    torch.testing.assert_close(evaluate(head, latents).logits, logits, rtol=1e-9, atol=1e-12)
    assert (latents >= 0).all() and (latents.norm(dim=-1) < 64).all()


def test_the_ball_of_a_deformable_head_holds_what_float32_reads():
    """Bright features everywhere and no offsets: taps as long as they can be."""
    depth = 2048
    state = deformable_network(depth, 0)
    state["conv_offset.0.weight"] = torch.zeros(8, depth + 2, 3, 3)
    features = 1e4 * torch.rand(1, depth, 3, 3, generator=torch.Generator().manual_seed(0))
    head = head_of("deformable", state)
    lengths = taps(state, features).double().norm(dim=-1)
    assert 63.99 < lengths.max() <= head.geometry.radius < 64.01
    assert 64 * (1 + depth * 2**-24) < head.geometry.radius and head.domain == Box(0, None)


def test_features_that_have_no_taps():
    state = deformable_network(3, 4)
    for features in (torch.rand(1, 4, 5, 5), torch.rand(3, 5, 5), torch.rand(1, 3, 1, 5)):
        with pytest.raises(LatentsError, match=r"expected \(N, 3, H, W\), H and W > 1"):
            taps(state, features)
    with pytest.raises(LatentsError, match="negative or NaN"):
        taps(state, -torch.rand(1, 3, 5, 5))
    with pytest.raises(LatentsError, match=r"offsets have shape \(1, 8, 5, 5\), expected \(8, 6, 6\) an image"):
        taps(state, torch.rand(1, 3, 5, 5), dilation=1)
    with pytest.raises(HeadError, match=r"conv_offset.0.weight.*expected \(O, 5, H, W\)"):
        taps(state | {"conv_offset.0.weight": torch.rand(4, 3, 4, 4)}, torch.rand(1, 3, 5, 5))


def test_the_logits_of_protopool_are_the_hard_ones_and_soft_maps_are_refused():
    state = cases()["protopool"].state["model_state_dict"]
    with pytest.raises(HeadError, match="does not show exactly one prototype"):
        head_of("protopool", state, presence="stored")
    shown = state["proto_presence"].argmax(1)
    hard = functional.one_hot(shown, state["proto_presence"].shape[1]).transpose(1, 2).float()
    stored = head_of("protopool", state | {"proto_presence": hard}, presence="stored")
    assert stored.digest == head_of("protopool", state).digest
    tied = state["proto_presence"].clone()
    tied[1, :, 1] = 0.0
    with pytest.raises(HeadError, match="class 1, slot 1 has two greatest logits"):
        head_of("protopool", state | {"proto_presence": tied})


def changed(name: str, key: str, change) -> tuple[str, dict, dict]:
    """A case's architecture, its state with one entry changed, and its options."""
    case = cases()[name]
    wrapper = next((w for w in ("model_state_dict", "state_dict", "model") if w in case.state), None)
    state = dict(case.state[wrapper] if wrapper else case.state)
    full = next(k for k in state if k.endswith(key))
    state[full] = change(state[full])
    return case.architecture, state, case.options


def at(index: tuple[int, ...], value: float):
    def change(tensor: Tensor) -> Tensor:
        tensor = tensor.clone()
        tensor[index] = value
        return tensor

    return change


REFUSALS = [
    ("protopnet", "prototype_vectors", at((0, 0, 0, 0), math.nan), r"holds nan at \[0, 0, 0, 0\], expected finite"),
    ("protopnet", "prototype_vectors", lambda p: p.expand(-1, -1, 2, 2), r"expected \(P, D, 1, 1\)"),
    ("protopnet", "prototype_vectors", lambda p: p[:0], r"has shape \(0, 6, 1, 1\)"),
    ("protopnet", "prototype_vectors", lambda p: p.long(), "has dtype torch.int64"),
    ("protopnet", "last_layer.weight", lambda w: w[:, 1:], r"has shape \(3, 11\), expected \(C, 12\)"),
    ("protopnext-st", "1.prototype_layer.prototype_tensors", lambda p: p[:, 1:], r"expected \(P, 6, 1, 1\)"),
    ("protopnext-st", "1.prototype_prediction_head.class_connection_layer.weight", lambda w: w[1:], "3 and 2 classes"),
    ("protopool", "proto_presence", lambda p: p[:, 1:], r"expected \(C, 12, S\)"),
    ("protopformer", "vectors_global", lambda p: p[:, 1:], r"prototype_vectors.*expected \(P, 5, 1, 1\)"),
    ("hyperpg-hyperpg", "sigmas", at((1, 2, 0), 0.0), "gives 0.0 at prototype 6, expected positive numbers"),
    ("hyperpg-gaussian", "sigmas", at((1, 2, 0), -1.0), "gives -1.0 at prototype 6, expected positive numbers"),
    ("hyperpg-vmf", "sigmas", at((1, 2, 0), 0.0), "expected numbers other than 0"),
    ("hyperpg-cosine", "prototypes", at((0, 1), 0.0), "row 1 is zero, which has no direction"),
    ("mgproto", "prototype_covs", at((2, 1, 3), 0.7), "differs between the channels of prototype 9"),
    ("mgproto", "prototype_covs", at((2, 1), -0.7), "expected positive numbers"),
    ("mgproto", "prototype_covs", at((2, 1), 1e-37), "float64 can hold"),
    ("mgproto", "last_layer.weight", at((0, 0), -0.1), "expected mixture weights"),
    ("gmm-sum", "diagonal", at((0, 0, 0), 0.7), "differs between the channels"),
    ("gmm-sum", "diagonal", lambda s: torch.full_like(s.double(), 1e-60), "mixture=max has no limit"),
    ("gmm-max", "weights", at((0, 0), 0.0), "weights.*expected positive numbers"),
    ("nonparam", "prototypes", lambda p: p[:-1], r"has shape \(3, 4, 6\), expected \(4, 4, D\)"),
    ("gaussian-log_distance", "log_var", lambda v: v[:, None].expand(-1, 6) + torch.arange(6.0), "only isotropic"),
    ("gaussian-log_distance", "log_var", at((0,), 1000.0), "inverse float64 can hold"),
    ("deformable", "prototype_vectors", lambda p: p[0], r"expected \(P, D, H, W\)"),
]


@pytest.mark.parametrize(("name", "key", "change", "message"), REFUSALS)
def test_refusals(name, key, change, message):
    architecture, state, options = changed(name, key, change)
    with pytest.raises(HeadError, match=message):
        head_of(architecture, state, **options)


@every("name", cases())
def test_no_tensor_is_dispensable(name):
    """Without any one of the tensors that the architecture reads, the import says which is missing."""
    case = cases()[name]
    wrapper = next((w for w in ("model_state_dict", "state_dict", "model") if w in case.state), None)
    state = dict(case.state[wrapper] if wrapper else case.state)
    refused = 0
    for key in state:
        rest = {other: tensor for other, tensor in state.items() if other != key}
        try:
            head_of(case.architecture, rest, **case.options)
        except HeadError as error:
            assert "is missing from the state dictionary" in str(error) or f"no {key}" in str(error)
            refused += 1
    assert refused >= (1 if case.architecture == "pipnet" else 2)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("protopnet", {"activation": "relu"}, "activation is 'relu', expected log or linear"),
        ("protopool", {"activation": "linear"}, "activation is 'linear', expected log"),
        ("protopool", {"presence": "softmax"}, "presence is 'softmax', expected argmax or stored"),
        ("protopnext-l2-1", {"activation": "l1"}, "expected l2 or exp_l2 or cosine"),
        ("protopnext-l2-1", {"k": 0}, "pooling.k"),
        ("hyperpg-cosine", {"pm_name": "mine"}, "pm_name is 'mine', expected hyperpg or vmf"),
        ("protopformer", {"g": 1.5}, "g is 1.5, expected a number from 0 to 1"),
        ("nonparam", {"temperature": 0.0}, r"says temperature=0.2, and option temperature is 0.0, expected 0.2"),
        ("gmm-sum", {"mixture": "mean"}, "expected sum or max"),
        ("gaussian-log_distance", {"density": "exp"}, "expected log_distance or log_density"),
        ("protopnet-linear", {"domain": Box()}, "unbounded"),
    ],
)
def test_options_that_mean_nothing_are_refused(name, options, message):
    case = cases()[name]
    with pytest.raises(VeraleError, match=message):
        head_of(case.architecture, case.state, **(case.options | options))


def test_full_covariances_are_refused():
    state = cases()["gaussian-log_distance"].state | {"classifier.similarity_layer.L_params": torch.eye(6)}
    with pytest.raises(HeadError, match=r"L_params.*full covariance"):
        head_of("gaussian", state)


def test_equal_variances_of_all_channels_are_one():
    state = cases()["gaussian-log_distance"].state
    key = "classifier.similarity_layer.log_var"
    wide = state | {key: state[key][:, None].expand(-1, 6)}
    assert head_of("gaussian", wide).digest == head_of("gaussian", state).digest


def test_biases_are_kept_where_a_network_has_them():
    """Networks trained with one, and blends of two."""
    case = cases()["protopformer"]
    biases = {
        "last_layer.bias": torch.tensor([1.0, 2.0, 3.0]),
        "last_layer_global.bias": torch.tensor([10.0, 0.0, 0.0]),
    }
    plain, biased = (head_of("protopformer", case.state["model"] | extra, g=0.25) for extra in ({}, biases))
    assert plain.bias is None and biased.bias.tolist() == [3.25, 1.5, 2.25]
    one = head_of("protopformer", case.state["model"] | dict([biases.popitem()]), g=0.25)
    assert one.bias.tolist() == [2.5, 0.0, 0.0]
    noisy = cases()["hyperpg-hyperpg"].head()
    assert noisy.bias is not None and noisy.bias.dtype == torch.float64


@pytest.mark.parametrize(
    ("options", "kept", "said"),
    [
        ({}, 12, "option patches is missing, expected the positions"),
        ({"patches": 3}, 12, "option patches is 3, expected at least 4"),
        ({"patches": 5}, 11, "has 11 prototypes of 3 classes, expected as many of each"),
        ({"patches": 2**16 + 1}, 12, "are of 65537 patches"),
    ],
)
def test_positions_that_a_genetic_network_does_not_have(options, kept, said):
    state = cases()["genetic"].state
    state = {
        "prototype_vectors": state["prototype_vectors"][:kept],
        "last_layer.weight": state["last_layer.weight"][:, :kept],
    }
    with pytest.raises(VeraleError, match=said):
        head_of("genetic", state, **options)


def test_an_unknown_architecture():
    with pytest.raises(UsageError, match=r"'protonet' is unknown, expected one of .*protopnet.*tesnet"):
        head_of("protonet", {})


@every("name", ARCHITECTURES)
def test_the_table_of_architectures_states_the_options_and_their_defaults(name):
    table = (Path(__file__).parents[3] / "docs" / "architectures.md").read_text(encoding="utf-8")
    row = next(line for line in table.splitlines() if line.startswith(f"| `{name}` |"))
    for option in list(signature(architecture(name)).parameters.values())[1:]:
        default = option.default
        if isinstance(default, Box):
            default = ":".join("" if end is None else f"{end:g}" for end in (default.lower, default.upper))
        assert (f"`{option.name}`" if default is None else f"`{option.name}={default}`") in row


@every("name", cases())
def test_the_tensors_of_a_network_fit_it(name):
    """And no other one, but for ProtoPNet and TesNet, which have the same; a head may need an option besides."""
    case = cases()[name]
    found = fitting({"model": {f"module.{key}": tensor for key, tensor in unwrap(case.state).items()}})
    assert found == (["protopnet", "tesnet"] if case.architecture in ("protopnet", "tesnet") else [case.architecture])


def test_other_tensors_fit_no_network():
    assert fitting({"fc.weight": torch.zeros(2, 3)}) == []
    lost = {key: tensor for key, tensor in unwrap(cases()["pipnet"].state).items() if key != "_classification.weight"}
    assert fitting(lost) == []
    with pytest.raises(HeadError, match="none of them tensors"):
        fitting({})
