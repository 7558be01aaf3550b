"""Heads from run directories, read without CaBRNet: what is built, and what is refused and why."""

from __future__ import annotations

import math

import pytest
import torch
from support.runs import FAMILIES, changed, final

from verale.adapters.cabrnet import load_head
from verale.errors import InputError
from verale.head import (
    Box,
    Cosine,
    Euclidean,
    ExpDistance,
    FocalPooling,
    Identity,
    LogRatio,
    Negated,
    Softmax,
    SoftTree,
)

HEADS = {
    "protopnet": (12, Euclidean(), LogRatio(1e-4), Box(0, 1)),
    "legacy": (9, Euclidean(), LogRatio(1e-4), Box(0, 1)),
    "gaussian": (12, Euclidean(), LogRatio(1e-4), Box(0, 1)),
    "density": (12, Euclidean(), Negated(), Box(0, 1)),
    "tesnet": (12, Cosine(1e-8), Identity(), Box(-1, 1)),
    "protopool": (7, Euclidean(), LogRatio(1e-4), Box(0, 1)),
    "prototree": (11, Euclidean(), ExpDistance(1e-14), Box(0, 1)),
    "pipnet": (8, Softmax(), Identity(), Box()),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_head_has_the_parts_and_sizes_of_its_family(family):
    head = load_head(final(family))
    assert (head.size, head.geometry, head.similarity, head.domain) == HEADS[family]
    assert (head.classes, head.depth) == (4, 8)


def test_pooling_and_readout():
    assert load_head(final("protopool")).pooling == FocalPooling("max_minus_mean_distance")
    readout = load_head(final("prototree")).readout
    assert isinstance(readout, SoftTree)
    assert sorted(child for child in (*readout.absent, *readout.present) if child < 0) == list(range(-12, 0))


def test_a_tree_keeps_what_its_nodes_use_in_their_order():
    state = torch.load(final("prototree") / "model_state.pth", weights_only=True)
    used: list[int] = []

    def visit(node):
        if node["module"] == "BinaryNode":
            used.extend(node["proto_idxs"])
            for child in node["children"]:
                visit(child)

    visit(state["_extra_state"])
    head = load_head(final("prototree"))
    assert len(used) < len(state["classifier.prototypes"]), "nothing was pruned: the fixture tests less than it could"
    assert torch.equal(head.prototypes, state["classifier.prototypes"].flatten(1)[used])
    assert torch.allclose(head.weight.sum(0), torch.ones(12, dtype=torch.float64))


def test_gaussians_scale_squared_distances():
    state = torch.load(final("gaussian") / "model_state.pth", weights_only=True)
    log_var = state["classifier.similarity_layer.log_var"].double()
    assert torch.equal(load_head(final("gaussian")).scale, torch.exp(-log_var))


def test_a_density_folds_its_constants_into_the_bias():
    state = torch.load(final("density") / "model_state.pth", weights_only=True)
    log_var, weight = (
        state[f"classifier.{name}"].double() for name in ("similarity_layer.log_var", "last_layer.weight")
    )
    head = load_head(final("density"))
    assert torch.equal(head.scale, torch.exp(-log_var) / 2)
    norm = -8 / 2 * (math.log(2 * math.pi) + log_var)
    torch.testing.assert_close(head.bias, (weight * norm).sum(1), rtol=1e-12, atol=1e-12)


def test_compatibility_mode_takes_the_log_ratio_whatever_the_layer(tmp_path):
    def compatible(architecture):
        architecture["classifier"]["params"]["compatibility_mode"] = True

    head = load_head(changed("density", tmp_path, compatible))
    assert (head.similarity, head.bias) == (LogRatio(1e-4), None)


def test_dropout_after_the_last_activation_changes_no_domain(tmp_path):
    def dropout(architecture):
        architecture["extractor"]["convnet"]["add_on"]["zz"] = {"type": "Dropout"}

    assert load_head(changed("protopnet", tmp_path, dropout)).domain == Box(0, 1)


OLD_NAMES = [
    ("tesnet", "top_arch", "beyond_l2_ext.tesnet.model"),
    ("tesnet", "classifier", "beyond_l2_ext.tesnet.decision"),
    ("tesnet", "top_arch", "cabrnet.archs.tesnet.model"),
    ("tesnet", "classifier", "cabrnet.archs.tesnet.decision"),
    ("gaussian", "similarity", "beyond_l2_ext.similarities"),
    ("gaussian", "similarity", None),
    ("gaussian", "classifier", "beyond_l2_ext.protopnet_gaussian"),
    ("density", "similarity", "beyond_l2_ext.similarities"),
]


@pytest.mark.parametrize(("family", "section", "module"), OLD_NAMES)
def test_the_papers_modules_give_the_same_head(family, section, module, tmp_path):
    def rename(architecture):
        del architecture[section]["module"]
        if module is not None:
            architecture[section]["module"] = module

    assert load_head(changed(family, tmp_path, rename)).digest == load_head(final(family)).digest


def last_layer(kind):
    def change(architecture):
        architecture["extractor"]["convnet"]["add_on"]["zz"] = {"type": kind}

    return change


def second_layer(architecture):
    architecture["extractor"]["other"] = architecture["extractor"]["convnet"]


def without_layers(architecture):
    del architecture["extractor"]["convnet"]["add_on"]


def parameter(section, name, value):
    def change(architecture):
        architecture[section].setdefault("params", {})[name] = value

    return change


def params(section, value):
    def change(architecture):
        architecture[section]["params"] = value

    return change


def named(section, name, module=None):
    def change(architecture):
        architecture[section]["name"] = name
        if module is not None:
            architecture[section]["module"] = module

    return change


def section(name, value):
    def change(architecture):
        architecture[name] = value

    return change


ARCHITECTURES = [
    ("protopnet", last_layer("GELU"), "ends in GELU, so the domain of its latents is unknown"),
    ("protopnet", without_layers, "ends in the backbone itself"),
    ("protopnet", named("top_arch", "system", "os"), "top_arch is os.system, which verale does not know"),
    ("protopnet", named("classifier", "ProtoPNetClassifier", "evil"), "classifier is evil.ProtoPNetClassifier"),
    ("protopnet", named("similarity", "Nonsense"), "similarity is cabrnet.core.utils.similarities.Nonsense"),
    ("protopnet", named("similarity", "CosineSimilarity"), "is a ProtoPNet with CosineSimilarity"),
    ("protopnet", parameter("similarity", "stability_factor", "much"), "stability_factor is 'much', expected a number"),
    ("protopnet", parameter("similarity", "stability_factor", 2), "epsilon"),
    ("protopnet", section("extractor", None), "field .* is missing or malformed"),
    ("protopnet", params("similarity", [1]), "field similarity.params is missing or malformed"),
    ("protopnet", section("classifier", "ProtoPNet"), "field .* is missing or malformed"),
    ("tesnet", named("similarity", "ProtoPNetSimilarity"), "is a TesNet with ProtoPNetSimilarity"),
    ("protopool", parameter("classifier", "compatibility_mode", True), "slots mix all prototypes"),
    ("protopnet", second_layer, "field extractor is missing or malformed"),
    ("protopool", named("similarity", "MahalanobisLogDensity"), "log_var"),
    ("prototree", parameter("classifier", "log_probabilities", True), "with log_probabilities"),
    ("prototree", parameter("similarity", "log_probabilities", True), "with log_probabilities"),
    ("prototree", named("similarity", "ProtoPNetSimilarity"), "is a ProtoTree with ProtoPNetSimilarity"),
]


@pytest.mark.parametrize(("family", "change", "reason"), ARCHITECTURES)
def test_an_architecture_that_no_head_computes_is_refused(family, change, reason, tmp_path):
    with pytest.raises(InputError, match=reason):
        load_head(changed(family, tmp_path, change))


def test_a_protopool_of_densities_is_refused(tmp_path):
    def variances(state):
        state["classifier.similarity_layer.log_var"] = torch.zeros(7)

    run = changed("protopool", tmp_path, named("similarity", "MahalanobisLogDensity"), variances)
    with pytest.raises(InputError, match="supported: distances, not densities"):
        load_head(run)


def tensor(name, change):
    def inner(state):
        state[f"classifier.{name}"] = change(state[f"classifier.{name}"])

    return inner


def without(name):
    return lambda state: state.pop(f"classifier.{name}")


def tree(change):
    return lambda state: change(state["_extra_state"])


def leaf_only(state):
    state["_extra_state"] = {"module": "LeafNode", "log_probabilities": False, "node_id": "leaf", "num_classes": 4}
    state["classifier.tree._relative_distribution"] = torch.zeros(1, 4)


def of_classes(number):
    def change(node):
        for child in node.get("children", ()):
            change(child)
        if "children" not in node:
            node["num_classes"] = number

    return tree(change)


def another_leaf(state):
    name = next(key for key in state if key.endswith("_relative_distribution"))
    state[name] = torch.zeros(1, 5)


STATES = [
    ("protopnet", without("last_layer.weight"), "holds no tensor 'classifier.last_layer.weight'"),
    ("protopnet", tensor("prototypes", lambda p: p.expand(-1, -1, 2, 2).contiguous()), r"expected \(P, D, 1, 1\)"),
    ("protopnet", tensor("prototypes", lambda p: p[:5]), r"shape \[5, 8\], expected \[12, D\]"),
    ("protopnet", tensor("prototypes", lambda p: p * math.nan), "holds nan"),
    ("protopnet", tensor("last_layer.weight", lambda w: w * math.inf), "holds -?inf"),
    ("protopnet", tensor("last_layer.weight", lambda w: w.half()), "float16"),
    ("gaussian", without("similarity_layer.log_var"), "holds no tensor 'classifier.similarity_layer.log_var'"),
    ("gaussian", tensor("similarity_layer.log_var", lambda v: v[:, None].repeat(1, 8)), "one variance a prototype"),
    ("gaussian", tensor("similarity_layer.log_var", lambda v: v - 2000), "no positive finite variances"),
    ("gaussian", tensor("similarity_layer.log_var", lambda v: v + 2000), "no positive finite variances"),
    ("gaussian", tensor("similarity_layer.log_var", lambda v: v * math.nan), "no positive finite variances"),
    ("density", tensor("last_layer.weight", lambda w: w[:, :5]), "expected 12 columns, as variances"),
    ("tesnet", tensor("prototypes", torch.zeros_like), "is zero, which has no direction"),
    ("protopool", tensor("proto_slot_map", lambda s: s.softmax(1)), "does not show exactly one prototype"),
    ("protopool", tensor("proto_slot_map", lambda s: s[:, :, :1]), r"expected \(K, P, S\)"),
    ("prototree", lambda state: state.pop("_extra_state"), "its tree is malformed"),
    ("prototree", tree(lambda node: node.update(module="ComparativeNode")), "has a ComparativeNode"),
    ("prototree", tree(lambda node: node.update(log_probabilities=True)), "saved with log_probabilities"),
    ("prototree", tree(lambda node: node.update(proto_idxs=[0, 1])), "its tree is malformed"),
    ("prototree", tree(lambda node: node.update(proto_idxs=[99])), "names prototypes .*99.*, but there are only 15"),
    ("prototree", tree(lambda node: node["children"].pop()), "its tree is malformed"),
    ("prototree", leaf_only, "one leaf, which gives every image the same class"),
    ("prototree", of_classes(10**9), "has 4 numbers, but the tree says 1000000000"),
    ("prototree", tree(lambda node: node.update(node_id="n" * 101)), "its tree is malformed"),
    ("prototree", tree(lambda node: node.update(proto_idxs=["0"])), "its tree is malformed"),
    ("prototree", another_leaf, r"expected \(1, C\) of every leaf"),
    ("pipnet", tensor("last_layer.bias", lambda b: b[:2]), r"expected \[4\]"),
]


@pytest.mark.parametrize(("family", "change", "reason"), STATES)
def test_tensors_that_do_not_fit_are_refused(family, change, reason, tmp_path):
    with pytest.raises(InputError, match=rf"model_state\.pth: .*{reason}"):
        load_head(changed(family, tmp_path, state=change))


@pytest.mark.parametrize(("content", "reason"), [(b"[", "is not YAML"), (b"\x80", "is not YAML"), (b"", "malformed")])
def test_a_broken_architecture_is_refused(content, reason, tmp_path):
    run = changed("protopnet", tmp_path)
    (run / "model_arch.yml").write_bytes(content)
    with pytest.raises(InputError, match=reason):
        load_head(run)
