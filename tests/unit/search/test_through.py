"""Explanations of pictures hold of every latent tensor in the box, and prove the class."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import pytest
import torch
from support.problems import small_problem
from support.small import small_head
from support.torch_networks import SHAPE, deep_network, frozen_network, random_pictures
from torch import nn

from verale.adapters.freezing import export_network
from verale.bounds import observe
from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    SumStatement,
)
from verale.errors import UsageError
from verale.head import Box, Head, as_patches, evaluate
from verale.network import FrozenNetwork, picture_digest
from verale.search import SearchOptions, Unexplained
from verale.search.batches import Batches, ImageResult
from verale.search.through import ThroughNetwork, holding

PICTURES = random_pictures(2)


def head_of(network: FrozenNetwork, geometry: str = "euclidean") -> Head:
    """A head whose prototypes are patches of the network's own latents."""
    patches = as_patches(network.latents(PICTURES))
    points = patches[:, :2].reshape(-1, patches.shape[2])[:6]
    weight = torch.randn(3, len(points), generator=torch.Generator().manual_seed(2))
    return replace(small_head(geometry), weight=weight, prototypes=points.float(), domain=Box(), labels=None, bias=None)


@cache
def residual() -> FrozenNetwork:
    return frozen_network("residual")


@cache
def fitting() -> Head:
    return head_of(residual())


def explained(head: Head, network: FrozenNetwork, arithmetic: str = "real", **options: object) -> list[ImageResult]:
    batches = Batches(
        head, PICTURES, SearchOptions(**{"paradigm": "projection"} | options), ThroughNetwork(network, arithmetic)
    )  # type: ignore[arg-type]
    assert batches.are_alone
    return [result for start in batches.starts for result in batches.explain(start)]


def holds(head: Head, certificate: Certificate, patches: torch.Tensor) -> bool:
    """Whether statements are true of latents (L, D), up to the rounding of float64."""
    seen, activations = observe(head, patches), evaluate(head, patches[None]).activations[0]
    slack = 1e-9
    for each in certificate.statements:
        match each:
            case PatchStatement(patch, prototype, lower, upper):
                low, high = seen.lower[patch, prototype], seen.upper[patch, prototype]
            case ActivationStatement(prototype, lower, upper):
                low = high = activations[prototype]
            case OrderStatement(exempt, upper) | FloorStatement(exempt, upper):
                kept = [j for j in range(head.size) if j not in exempt]
                low, high = activations[kept].amin(), activations[kept].amax()
                lower, upper = (-torch.inf, upper) if isinstance(each, OrderStatement) else (upper, torch.inf)
            case SumStatement(None, upper):
                gains = (head.weight - head.weight[certificate.predicted]).double()
                gains[:, (gains <= 0).all(0)] = 0.0
                lower, low, high = -torch.inf, -torch.inf, (gains @ activations).amax()
        if not (lower - slack <= low and high <= upper + slack):
            return False
    return True


@pytest.mark.parametrize("arithmetic", ["real", "float32"])
@pytest.mark.parametrize(
    ("geometry", "paradigm"),
    [*product(("euclidean", "cosine"), ("readable", "projection", "top_k")), ("cosine", "evidence")],
)
def test_statements_hold_of_what_torch_computes(arithmetic: str, paradigm: str, geometry: str) -> None:
    head = head_of(residual(), geometry)
    certificates = [each.explanation for each in explained(head, residual(), arithmetic, paradigm=paradigm)]
    assert all(isinstance(each, Certificate) for each in certificates), certificates
    for picture, certificate in zip(PICTURES, certificates, strict=True):
        assert (certificate.network, certificate.picture) == (residual().digest, picture_digest(picture))
        assert certificate.latents is None and certificate.arithmetic == arithmetic
        exact, single = (
            as_patches(residual().latents(picture[None], kind))[0] for kind in (torch.float64, torch.float32)
        )
        assert holds(head, certificate, exact)
        if arithmetic == "float32":
            assert holds(head, certificate, single)
        assert int(evaluate(head, exact[None]).predicted) == certificate.predicted
        assert min(each for each in certificate.margins if each is not None) > 0


def test_a_sum_is_of_all_latents_in_the_ranges() -> None:
    """It is widened to the most that is taken back at any of these activations."""
    problem = small_problem("euclidean", 4)
    weight, widened = problem.head.weight.double(), 0
    for image in range(len(problem)):
        one = problem.take([image])
        predicted = int(one.margins.predicted[0])
        gains = (weight - weight[predicted]) * (weight > weight[predicted]).any(0)
        most = (gains * torch.where(gains > 0, one.activations.upper[0], one.activations.lower[0])).sum(1)
        for rivals in (None, *((c,) for c in range(len(weight)) if c != predicted)):
            (wide,) = holding(one, [SumStatement(rivals, 0.0)])
            assert isinstance(wide, SumStatement) and wide.rivals == rivals
            least = max(0.0, float((most if rivals is None else most[list(rivals)]).amax()))
            assert least - 1e-9 <= wide.upper <= least + 1e-9
            widened += least > 0.1
    assert widened


@pytest.mark.parametrize("options", [{"digits": 3}, {"digits": "exact"}, {"tolerance": "1%"}, {"tolerance": "auto"}])
def test_statements_are_as_wide_as_is_asked(options: dict[str, object]) -> None:
    results = explained(fitting(), residual(), paradigm="top_k", **options)
    for picture, result in zip(PICTURES, results, strict=True):
        assert isinstance(result.explanation, Certificate), result.explanation
        assert holds(fitting(), result.explanation, as_patches(residual().latents(picture[None]))[0])


def test_a_class_that_is_not_certain_is_not_explained() -> None:
    tied = replace(fitting(), weight=fitting().weight[:1].repeat(3, 1) * (1 + 1e-13))
    for result in explained(tied, residual(), paradigm="top_k"):
        assert isinstance(result.explanation, Unexplained)
        assert "the class is not certain over the box" in result.explanation.reason


def test_latents_beyond_the_domain_are_not_explained_and_get_no_class() -> None:
    for result in explained(replace(fitting(), domain=Box(0.4, 0.6)), residual(), paradigm="top_k"):
        assert isinstance(result.explanation, Unexplained)
        assert "beyond the head's domain [0.4, 0.6]" in result.explanation.reason
        assert result.explanation.predicted is None and result.activations is None and result.logits is None
        assert str(result.explanation).startswith("No certificate for this image: latents may lie from")


@pytest.mark.parametrize("name", ["deep", "residual"])
def test_the_class_and_the_logits_of_a_picture_are_those_that_the_network_gives(name: str) -> None:
    network = deep_network(12, nn.Sigmoid()) if name == "deep" else frozen_network(name)
    head = head_of(network)
    results = explained(head, network, "float32", paradigm="top_k")
    assert [isinstance(each.explanation, Unexplained) for each in results] == [name == "deep"] * len(PICTURES)
    for picture, result in zip(PICTURES, results, strict=True):
        said = evaluate(head, as_patches(network.latents(picture[None])))
        assert result.explanation.predicted == int(said.predicted)
        assert result.logits is not None and torch.allclose(result.logits, said.logits[0], rtol=1e-12, atol=1e-12)
    first, second = (each.logits for each in results)
    assert first is not None and not torch.equal(first, second)


def test_a_network_that_is_not_enclosed_is_told_as_such() -> None:
    network = deep_network(12, nn.Sigmoid())
    for result in explained(head_of(network), network, "float32", paradigm="top_k"):
        assert isinstance(result.explanation, Unexplained)
        assert result.explanation.reason.startswith("the class is not certain over the box of latents that the network")
        assert "narrower in real arithmetic (--arithmetic real)" in result.explanation.reason
    layers = nn.Sequential(nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1), nn.AvgPool2d(5)).double().eval()
    for layer, bias in zip(layers, (2.0**110, -(2.0**110)), strict=False):
        nn.init.eye_(layer.weight.data[:, :, 0, 0])
        nn.init.constant_(layer.bias, bias)
    network = export_network(layers, None, SHAPE)
    for result in explained(head_of(network), network, "real", paradigm="top_k"):
        assert isinstance(result.explanation, Unexplained)
        assert "the search knows the network only roughly from layer" in result.explanation.reason


def test_what_does_not_fit_is_refused() -> None:
    through = ThroughNetwork(residual())
    with pytest.raises(UsageError, match="arithmetic is 'float16'"):
        ThroughNetwork(residual(), "float16")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"expected verale\.network\.FrozenNetwork\.load"):
        ThroughNetwork("network.safetensors")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected uint8"):
        Batches(fitting(), PICTURES.float(), SearchOptions("projection"), through)
    with pytest.raises(UsageError, match="the head receives 8: is it its network"):
        Batches(small_head("euclidean", depth=8), PICTURES, SearchOptions("projection"), through)
    with pytest.raises(UsageError, match="inflate is given"):
        Batches(fitting(), PICTURES, SearchOptions("top_k", inflate=True), through)


def test_pictures_are_searched_on_the_cpu_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("verale.search.batches.require_device", lambda device: None)
    with caplog.at_level("WARNING"):
        (there, *_) = explained(fitting(), residual(), device="cuda")
    assert there.explanation == explained(fitting(), residual())[0].explanation
    assert caplog.messages == ["pictures are searched on the CPU, not on cuda: so are the ranges of their networks"]
