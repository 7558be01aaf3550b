"""Modules with the attributes of the papers' code: in memory, and saved in each way."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from support.commands import in_process
from support.own_network import own_images
from torch import Tensor, nn
from torch.nn import functional

import verale
from verale.adapters import head_of, load_published
from verale.adapters.published.stprotopnet import joined
from verale.errors import HeadError, InputError, UsageError
from verale.runs.check import check

CLASSES, SIZE, DEPTH = 3, 12, 6


class Backbone(nn.Module):
    """Features and an add-on, as most of them have."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 2, stride=2), nn.ReLU())
        self.add_on_layers = nn.Sequential(nn.Conv2d(8, DEPTH, 1), nn.Sigmoid())
        self.last_layer = nn.Linear(SIZE, CLASSES, bias=False)


class TESNet(Backbone):
    def __init__(self) -> None:
        super().__init__()
        self.prototype_vectors = nn.Parameter(torch.rand(SIZE, DEPTH, 1, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        units = functional.normalize(self.prototype_vectors, dim=1)
        products = functional.conv2d(self.add_on_layers(self.features(x)), units).amax((2, 3))
        return self.last_layer(products), -products


class PIPNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self._net, self._classification = nn.Conv2d(3, SIZE, 2, stride=2), nn.Linear(SIZE, CLASSES)
        self._net.weight.data *= 8
        self._classification.weight.data = torch.rand(CLASSES, SIZE) + 0.5

    def forward(self, xs: Tensor, inference: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        masses = self._net(xs).softmax(1)
        pooled = masses.amax((2, 3))
        pooled = torch.where(pooled < 0.1, 0.0, pooled) if inference else pooled
        return masses, pooled, self._classification(pooled)


class MGProto(Backbone):
    def __init__(self) -> None:
        super().__init__()
        self.add_on_layers = nn.Conv2d(8, DEPTH, 1)
        means = torch.randn(CLASSES, SIZE // CLASSES, DEPTH)
        self.prototype_means = nn.Parameter(functional.normalize(means, dim=2))
        self.prototype_covs = nn.Parameter(torch.full_like(means, 0.4))
        own = torch.eye(CLASSES).repeat_interleave(SIZE // CLASSES, dim=1)
        self.last_layer.weight.data = own / 4

    def forward(self, x: Tensor, gt: Tensor | None) -> tuple[Tensor, Tensor]:
        z = functional.normalize(self.add_on_layers(self.features(x)), dim=1).flatten(2).transpose(1, 2)
        normal = torch.distributions.Normal(self.prototype_means.flatten(0, 1), self.prototype_covs.flatten(0, 1))
        best = normal.log_prob(z[:, :, None]).sum(-1).exp().topk(2, dim=1).values
        return torch.stack([self.last_layer(each) for each in best.unbind(1)], dim=2).log(), x.mean((2, 3))


class STProtoPNet(nn.Module):
    """Of whole images, whose add-ons begin with an upsampling, or of cropped ones."""

    def __init__(self, cropped: bool) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 2, stride=2), nn.ReLU())
        for half in ("trivial", "support"):
            layers = [nn.Conv2d(8, DEPTH, 1), nn.Tanh()] if cropped else [nn.Identity(), nn.Conv2d(8, DEPTH, 1)]
            setattr(self, f"add_on_layers_{half}", nn.Sequential(*layers))
            setattr(self, f"prototype_vectors_{half}", nn.Parameter(torch.randn(SIZE, DEPTH, 1, 1)))
            setattr(self, f"last_layer_{half}", nn.Linear(SIZE, CLASSES, bias=False))
        self.cropped = cropped

    def forward(self, x: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
        logits, features = [], self.features(x)
        for half in ("trivial", "support"):
            z = getattr(self, f"add_on_layers_{half}")(features)
            z = z if self.cropped else functional.normalize(z, dim=1)
            units = functional.normalize(getattr(self, f"prototype_vectors_{half}"), dim=1)
            products = functional.conv2d(z, units).amax((2, 3))
            logits.append(getattr(self, f"last_layer_{half}")(products if self.cropped else products.relu()))
        return tuple(logits), features


class PrototypeChooser(Backbone):
    """ProtoPool."""

    def __init__(self) -> None:
        super().__init__()
        self.prototype_vectors = nn.Parameter(torch.rand(SIZE, DEPTH, 1, 1))
        self.proto_presence = nn.Parameter(torch.randn(CLASSES, SIZE, 4))

    def forward(self, x: Tensor, gumbel_scale: int = 0) -> tuple[Tensor, Tensor]:
        shares = self.proto_presence.softmax(1)
        z = self.add_on_layers(self.features(x)).flatten(2).transpose(1, 2)
        d = torch.cdist(z, self.prototype_vectors.flatten(1)[None], compute_mode="donot_use_mm_for_euclid_dist") ** 2
        near, mean = (torch.einsum("bp,cpn->bcn", each, shares) for each in (d.amin(1), d.mean(1)))
        values = torch.log((near + 1) / (near + 1e-4)) - torch.log((mean + 1) / (mean + 1e-4))
        return self.last_layer(values.flatten(1)), d


def made(kind, *arguments) -> nn.Module:
    torch.manual_seed(3)
    return kind(*arguments)


def explained(out, model: nn.Module, layer: str, **options):
    return verale.explain_model(model, layer, own_images(2), out=out, jobs=1, paradigm="top_k", **options)


@pytest.mark.parametrize(("kind", "layer"), [(TESNet, "add_on_layers"), (PIPNet, "_net"), (MGProto, "add_on_layers")])
def test_a_model_whose_tensors_and_class_tell_needs_no_architecture(kind, layer, tmp_path):
    run = explained(tmp_path / "OUT", made(kind), layer)
    assert run.comparison.agrees and len(run.certificates) == 2


def test_the_threshold_decides_how_pipnet_is_called(tmp_path):
    model = made(PIPNet)
    for threshold, inference in ((None, True), (0, False)):
        options = {} if threshold is None else {"threshold": threshold}
        run = explained(tmp_path / str(inference), model, "_net", arch="pipnet", options=options)
        assert torch.equal(run.comparison.logits, model(own_images(2), inference=inference)[2].detach())


def test_a_threshold_that_is_missing_or_too_much_is_named_as_it_is_written():
    model = made(PIPNet)
    comparison = verale.check(head_of("pipnet", model.state_dict()), model, "_net", own_images(2))
    assert "the logits agree with threshold=0; you gave 0.10000000149011612" in str(comparison)
    head = head_of("pipnet", model.state_dict(), threshold=0)
    said = str(verale.check(head, model, "_net", own_images(2), arguments={"inference": True}))
    assert "threshold=0.10000000149011612; you gave 0" in said


def test_what_a_model_takes_besides_is_asked_for():
    model = made(MGProto)
    head = head_of("mgproto", model.state_dict())
    with pytest.raises(UsageError, match=r"write arguments=\{'gt': \.\.\.\} for what it takes beside images"):
        verale.check(head, model, "add_on_layers", own_images(2))
    comparison = verale.check(
        *(head, model, "add_on_layers", own_images(2)), arguments={"gt": None}, logits=lambda output: output[0][..., 0]
    )
    assert comparison.agrees and comparison.returned == "log(logits)"


@pytest.mark.parametrize("cropped", [False, True])
def test_both_halves_of_st_protopnet_are_one_head(cropped, tmp_path):
    model = made(STProtoPNet, cropped)
    run = explained(tmp_path / "OUT", joined(model), "halves")
    assert run.comparison.agrees and run.head.size == 2 * SIZE and run.head.depth == 2 * DEPTH
    assert torch.equal(run.comparison.logits, sum(model(own_images(2))[0]).detach())
    with pytest.raises(UsageError, match=r"expected verale\.adapters\.published\.stprotopnet\.joined\(model\)"):
        explained(tmp_path / "other", model, "add_on_layers_trivial", arch="stprotopnet")


def test_soft_slots_are_told_and_can_be_hardened(tmp_path):
    model = made(PrototypeChooser)
    with pytest.raises(HeadError, match=r"12 of 12 slots are soft, .* To harden the network: hard = ") as refusal:
        explained(tmp_path / "soft", model, "add_on_layers", arch="protopool")
    exec(str(refusal.value).split("To harden the network: ")[1], {"model": model})
    run = explained(tmp_path / "hard", model, "add_on_layers", arch="protopool")
    assert run.comparison.agrees


def test_what_pickle_writes_is_converted_by_what_the_refusal_says(tmp_path, monkeypatch):
    model, path = made(TESNet), tmp_path / "model.pkl"
    with path.open("wb") as file:
        pickle.dump(model, file)
    with pytest.raises(InputError) as refusal:
        load_published(path, "tesnet")
    said = str(refusal.value)
    assert "\n" not in said and "import pathlib, pickle, torch; " in said
    monkeypatch.chdir(tmp_path)
    exec("import pathlib" + said.split(": import pathlib")[1].split(" (where saved")[0], {})
    assert load_published("state.pth", "tesnet").digest == head_of("tesnet", model.state_dict()).digest


def test_prototype_images_may_be_tensors_with_none_among_them(tmp_path):
    model = made(TESNet)
    images = [*own_images(SIZE - 1, seed=1), None]
    run = explained(tmp_path / "OUT", model, "add_on_layers", prototype_images=images)
    assert len(run.certificates) == 2 and len(list((tmp_path / "OUT" / "prototype_images").iterdir())) == SIZE - 1
    images[0] = images[0][:, 1:]
    with pytest.raises(UsageError, match="prototype_images are tensors of several shapes"):
        explained(tmp_path / "other", model, "add_on_layers", prototype_images=images)


def test_an_option_is_named_as_the_caller_writes_it(tmp_path):
    (tmp_path / "head.safetensors").write_bytes(b"mine")
    with pytest.raises(InputError) as refusal:
        explained(tmp_path, made(TESNet), "add_on_layers")
    assert str(refusal.value).endswith("choose another out")


PAGE = Path(__file__).parents[3] / "docs" / "architectures.md"


class Leaf(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self._dist_params = nn.Parameter(torch.randn(classes))

    def distribution(self) -> Tensor:
        return self._dist_params.softmax(0)

    def forward(self, similarities: Tensor, out_map: dict[nn.Module, int]) -> Tensor:
        return self.distribution().expand(len(similarities), -1)


class Branch(nn.Module):
    def __init__(self, absent: nn.Module, present: nn.Module) -> None:
        super().__init__()
        self.l, self.r = absent, present

    def forward(self, similarities: Tensor, out_map: dict[nn.Module, int]) -> Tensor:
        there = similarities[:, out_map[self], None]
        return (1 - there) * self.l(similarities, out_map) + there * self.r(similarities, out_map)


class Prototypes(nn.Module):
    def __init__(self, count: int, depth: int) -> None:
        super().__init__()
        self.prototype_vectors = nn.Parameter(torch.rand(count, depth, 1, 1))

    def forward(self, latents: Tensor) -> Tensor:
        apart = (latents.flatten(2)[:, None] - self.prototype_vectors.flatten(2)).square().sum(2)
        return (apart + 1e-14).sqrt()


class ProtoTree(nn.Module):
    """The published function, with its names: an unbalanced tree, whose nodes read prototypes in another order."""

    def __init__(self) -> None:
        super().__init__()
        last = Branch(Leaf(3), Leaf(3))
        first, other = Branch(Leaf(3), last), Branch(Leaf(3), Leaf(3))
        self._root = Branch(first, other)
        self._out_map = {other: 0, self._root: 1, last: 2, first: 3}
        self._add_on = nn.Sequential(nn.Conv2d(3, 5, 1), nn.Sigmoid())
        self.prototype_layer = Prototypes(4, 5)

    def forward(self, images: Tensor) -> tuple[Tensor, dict[str, Any]]:
        similarities = torch.exp(-self.prototype_layer(self._add_on(images)).amin(2))
        return self._root(similarities, self._out_map), {}


@pytest.fixture
def tree() -> ProtoTree:
    torch.manual_seed(0)
    return ProtoTree().eval()


def test_what_the_page_says_makes_its_head(tree: ProtoTree, tmp_path: Path) -> None:
    (text,) = re.findall(r"### A ProtoTree of the original code\n.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    written: dict[str, Any] = {}
    exec(compile(text, "<page>", "exec"), written)
    head, images = written["head_of_tree"](tree), 8 * torch.randn(6, 3, 4, 4)
    comparison = check(head, tree, "_add_on", images)
    assert comparison.agrees, comparison
    assert comparison.logits.std(0).min() > 1e-3, "the images differ"
    swapped = {node: 3 - at for node, at in tree._out_map.items()}
    tree._out_map = swapped
    assert not check(head, tree, "_add_on", images).agrees, "another order of prototypes is another function"
    assert check(written["head_of_tree"](tree), tree, "_add_on", images).agrees
    explained = verale.explain_model(
        tree, "_add_on", images[:1], head=written["head_of_tree"](tree), out=tmp_path / "out"
    )
    assert explained.head.compared


@pytest.mark.parametrize("whole", [False, True])
def test_its_files_are_refused_with_what_to_do(tree: ProtoTree, whole: bool, tmp_path: Path) -> None:
    torch.save(tree if whole else tree.state_dict(), tmp_path / "model.pth")
    done = in_process("head", "import", tmp_path / "model.pth", "-o", tmp_path / "h")
    assert done.returncode == 9 and not (tmp_path / "h").exists()
    assert "ProtoTree's original code" in done.stderr and "#a-prototree-of-the-original-code" in done.stderr
