"""Heads from the tensors of CaBRNet's classifiers, one function a family, as their code computes them outside training;
of run directories and of models in memory.

Sizes come from the tensors, never from the YAML: pruning leaves the YAML as it was.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from verale.adapters.accounts import Reading, Saved, prototypes_outside, require_explained
from verale.adapters.cabrnet.run import STATE, Run, known_module, open_run
from verale.errors import HeadError, InputError, UsageError
from verale.head import (
    Cosine,
    Euclidean,
    ExpDistance,
    FocalPooling,
    Head,
    Identity,
    LogRatio,
    Negated,
    Similarity,
    Softmax,
    SoftTree,
    merge_slots,
)

_log = logging.getLogger(__name__)

_WEIGHT = "classifier.last_layer.weight"

_SAVED = Saved(
    beside=(
        *("extractor.", "classifier.tree.", "classifier.proto_class_map", "classifier.slot_class_map", "_eye"),
        *("classifier._root_prob", "classifier._root_greedy_path", "classifier.similarity_layer._summation_kernel"),
        *("classifier.prototypes", "classifier.normalization_multiplier", "_extra_state"),
    )
)
"""What a state holds beside what its head reads. A tree's nodes say which of its leaves count."""


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """A head, and which of the run's prototypes it has.

    Attributes:
        head: the head.
        kept: for each prototype of the head, its index in the run; None where the indices are equal.
    """

    head: Head
    kept: tuple[int, ...] | None = None


def load_head(run: str | Path) -> Head:
    """The head of a trained network.

    Args:
        run: a CaBRNet 1.2 run directory (`RUN/final`) of a ProtoPNet, PIP-Net, ProtoPool, ProtoTree, TesNet or Gaussian
            ProtoPNet. CaBRNet need not be installed.

    A warning in the log says where prototypes lie outside its domain.

    Raises:
        InputError: a file is missing or broken, or verale cannot explain the network, or a tensor of it; the message
            says why.

    Soundness: sizes come from the tensors, never from the YAML; prototypes stay as stored. The float32 rounding
    of the framework's own logits is not part of the head: `Network.capture` compares the two.
    """
    content = open_run(run)
    reading = Reading(content.state)
    head = rebuild(replace(content, state=reading)).head
    try:
        require_explained(content.classifier, _SAVED, reading, {}, {})
    except HeadError as error:
        raise content.refused(str(error), STATE) from error
    outside = prototypes_outside(head)
    if outside is not None:
        _log.warning("%s: %s", run, outside)
    return head


def rebuild(run: Run) -> Rebuilt:
    """The head of a run. Raises InputError: tensors that do not fit, or a decision that no head can express."""
    try:
        return _FAMILIES[run.classifier](run)
    except HeadError as error:
        raise run.refused(str(error), STATE) from error
    except RecursionError as error:
        raise run.refused("its tree is nested too deeply", STATE) from error


def _protopnet(run: Run) -> Rebuilt:
    """ProtoPNet, Gaussian ProtoPNet: logits W S(min_l q_lj), where q is the squared distance, scaled if Gaussian.

    In compatibility mode S is ln((q + 1) / (q + 1e-4)), whatever similarity the YAML names.
    """
    prototypes, weight = run.prototypes, run.tensor(_WEIGHT)
    similarity, scale, constant = _of_distance(run, prototypes)
    if constant is None:
        bias = None
    elif weight.dim() == 2 and weight.shape[1] == len(constant):
        bias = weight.to(torch.float64) @ constant
    else:
        raise HeadError("weight", f"has shape {tuple(weight.shape)}, expected {len(constant)} columns, as variances")
    head = Head(weight, Euclidean(), similarity, prototypes, bias, scale, domain=run.domain)
    return Rebuilt(head)


def _tesnet(run: Run) -> Rebuilt:
    """TesNet: logits W max_l <z_l, p_j> / (|p_j| (|z_l| + epsilon))."""
    if run.similarity != "CosineSimilarity":
        raise run.refused(f"is a TesNet with {run.similarity}; supported: CosineSimilarity")
    epsilon = run.parameter("similarity", "stability_factor", 1e-8)
    weight = run.tensor(_WEIGHT)
    head = Head(weight, Cosine(_number(run, epsilon)), Identity(), run.prototypes, domain=run.domain)
    return Rebuilt(head)


def _pipnet(run: Run) -> Rebuilt:
    """PIP-Net: logits relu(W) max_l softmax(z_l) + b, without the original code's threshold."""
    bias = run.state.get("classifier.last_layer.bias")
    return Rebuilt(Head(run.tensor(_WEIGHT).clamp(min=0), Softmax(), Identity(), bias=bias))


def _protopool(run: Run) -> Rebuilt:
    """ProtoPool: a slot's activation is S(min_l d2) - S(mean_l d2) of the prototype it shows; W on slots is merged."""
    if run.compatible:
        raise run.refused(
            "is a ProtoPool in compatibility mode, whose slots mix all prototypes (softmax of the slot map) before the"
            " similarity, which no head can express; train it without that mode, so that slots are hardened"
        )
    prototypes, weight, slots = run.prototypes, run.tensor(_WEIGHT), run.tensor("classifier.proto_slot_map")
    similarity, scale, constant = _of_distance(run, prototypes)
    if constant is not None:
        raise run.refused(f"is a ProtoPool with {run.similarity}; supported: distances, not densities")
    head = Head(
        merge_slots(weight, slots),
        *(Euclidean(), similarity, prototypes),
        scale=scale,
        domain=run.domain,
        pooling=FocalPooling("max_minus_mean_distance"),
    )
    return Rebuilt(head)


def _prototree(run: Run) -> Rebuilt:
    """ProtoTree: (1 - s_i) o(absent) + s_i o(present) from the root down, s_i = max_l exp(-sqrt(d2 + epsilon)).

    A node comes before the nodes below it, the absent side first. Prototypes that no remaining node uses are left out.
    A leaf is softmax(its parameters), in float64.
    """
    if run.parameter("classifier", "log_probabilities", False) or run.parameter("similarity", "log_probabilities", 0):
        raise run.refused(
            "is a ProtoTree with log_probabilities, which CaBRNet 1.2 does not pass to its similarity layer, so that"
            " its output is not a distribution; train it without"
        )
    if run.similarity not in ("ProtoTreeSimilarity", "LegacyProtoTreeSimilarity"):
        raise run.refused(f"is a ProtoTree with {run.similarity}; supported: ProtoTreeSimilarity and its legacy form")
    similarity = ExpDistance(_number(run, run.parameter("similarity", "stability_factor", 1e-14)))
    prototypes = run.prototypes
    tree = _Tree(run)
    tree.grow(run.state.get("_extra_state"), "classifier.tree")
    if not tree.nodes:
        raise run.refused("its tree is one leaf, which gives every image the same class", STATE)
    if not all(0 <= index < len(prototypes) for index in tree.nodes):
        raise run.refused(
            f"its tree names prototypes {sorted(set(tree.nodes))}, but there are only {len(prototypes)}", STATE
        )
    head = Head(
        torch.stack(tree.leaves, dim=1),
        *(Euclidean(), similarity, prototypes[tree.nodes]),
        domain=run.domain,
        readout=SoftTree(tuple(tree.absent), tuple(tree.present)),
    )
    return Rebuilt(head, tuple(tree.nodes))


_LONGEST_NAME = 100
"""The most characters of a node's name; CaBRNet's have about ten."""


class _Tree:
    """A tree while it is read: prototypes and children of the nodes, and the leaves' distributions, in order."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.nodes: list[int] = []
        self.absent: list[int] = []
        self.present: list[int] = []
        self.leaves: list[Tensor] = []

    def grow(self, saved: Any, name: str) -> int:
        """Add a node and everything below it; returns its index, or -1 - leaf."""
        try:
            if saved["log_probabilities"]:
                raise self.run.refused("its tree was saved with log_probabilities, which are not supported", STATE)
            if saved["module"] == "LeafNode":
                self.leaves.append(self._leaf(f"{name}._relative_distribution", saved.get("num_classes")))
                return -len(self.leaves)
            if saved["module"] != "BinaryNode":
                raise self.run.refused(
                    f"its tree has a {saved['module']!s:.80}; supported: BinaryNode, LeafNode", STATE
                )
            (prototype,), (absent, present), own = saved["proto_idxs"], saved["children"], saved["node_id"]
            if type(prototype) is not int or type(own) is not str or len(own) > _LONGEST_NAME:
                raise TypeError("proto_idxs or node_id")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self.run.refused(f"its tree is malformed ({error}): is it a ProtoTree's state?", STATE) from error
        node = len(self.nodes)
        self.nodes.append(prototype)
        self.absent.append(0)
        self.present.append(0)
        self.absent[node] = self.grow(absent, f"{name}.{own}_child_nsim")
        self.present[node] = self.grow(present, f"{name}.{own}_child_sim")
        return node

    def _leaf(self, name: str, classes: object) -> Tensor:
        parameters = self.run.tensor(name)
        if parameters.dim() != 2 or len(parameters) != 1 or (self.leaves and len(self.leaves[0]) != parameters.numel()):
            raise self.run.refused(f"{name} has shape {tuple(parameters.shape)}, expected (1, C) of every leaf", STATE)
        if classes != parameters.numel():
            raise self.run.refused(f"{name} has {parameters.numel()} numbers, but the tree says {classes!s:.20}", STATE)
        return torch.softmax(parameters[0].to(torch.float64), dim=0)


def _of_distance(run: Run, prototypes: Tensor) -> tuple[Similarity, Tensor | None, Tensor | None]:
    """The similarity of squared distances, their scale, and the constant that is added to each activation."""
    name = run.similarity
    epsilon = 1e-4 if run.compatible else _number(run, run.parameter("similarity", "stability_factor", 1e-4))
    if name in ("ProtoPNetSimilarity", "LegacyProtoPNetSimilarity"):
        return LogRatio(epsilon), None, None
    if name not in ("MahalanobisLogDistance", "MahalanobisLogDensity"):
        raise run.refused(
            f"is a {run.architecture['top_arch']['name']} with {name}; supported: ProtoPNetSimilarity, its legacy form,"
            " MahalanobisLogDistance, MahalanobisLogDensity"
        )
    log_var = run.tensor("classifier.similarity_layer.log_var").to(torch.float64)
    if log_var.shape != prototypes.shape[:1]:
        raise run.refused(
            f"classifier.similarity_layer.log_var has shape {tuple(log_var.shape)}, expected ({len(prototypes)},): one"
            " variance a prototype (cov_type isotropic); others are not supported",
            STATE,
        )
    precision = torch.exp(-log_var)
    if not (torch.isfinite(precision) & (precision > 0)).all():
        raise run.refused("classifier.similarity_layer.log_var has no positive finite variances", STATE)
    if name == "MahalanobisLogDistance" or run.compatible:
        return LogRatio(epsilon), precision, None
    return Negated(), precision / 2, -prototypes.shape[1] / 2 * (math.log(2 * math.pi) + log_var)


def _number(run: Run, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise run.refused(f"similarity.params.stability_factor is {value!r}, expected a number") from None


_FAMILIES: dict[str, Callable[[Run], Rebuilt]] = {
    "ProtoPNetClassifier": _protopnet,
    "GaussianProtoPNetClassifier": _protopnet,
    "TesNetClassifier": _tesnet,
    "PIPNetClassifier": _pipnet,
    "ProtoPoolClassifier": _protopool,
    "ProtoTreeClassifier": _prototree,
}


_MODEL = ("cabrnet.archs.generic.model", "CaBRNet")


def is_cabrnet(model: nn.Module) -> bool:
    """Whether a module is a CaBRNet model, without importing CaBRNet."""
    return any((kind.__module__, kind.__qualname__) == _MODEL for kind in type(model).__mro__)


def head_of_model(model: nn.Module) -> Head:
    """The head of a CaBRNet model. Its latents are the output of the layer `extractor`.

    Raises:
        UsageError: verale cannot explain the model; the message says why.
    """
    run = Run(Path("the model"), _architecture(model), model.state_dict())
    try:
        return rebuild(run).head
    except InputError as error:
        raise UsageError(f"the CaBRNet model {type(model).__name__} {error.problem}") from error


def _architecture(model: nn.Module) -> dict[str, object]:
    """What `model_arch.yml` would say of the decision, from the modules themselves. Raises UsageError."""
    classifier = model.get_submodule("classifier")
    similarity = getattr(classifier, "similarity_layer", None)
    sections: dict[str, tuple[object, dict[str, Any]]] = {
        "top_arch": (model, {}),
        "classifier": (
            classifier,
            {
                "compatibility_mode": getattr(classifier, "_compatibility_mode", False),
                "log_probabilities": getattr(getattr(classifier, "tree", None), "log_probabilities", False),
            },
        ),
    }
    if similarity is not None:
        sections["similarity"] = (
            similarity,
            {
                name: getattr(similarity, name)
                for name in ("stability_factor", "log_probabilities")
                if hasattr(similarity, name)
            },
        )
    architecture: dict[str, Any] = {"similarity": {"name": "SimilarityLayerStub", "params": {}}}
    for section, (part, params) in sections.items():
        kind = type(part)
        if known_module(section, kind.__module__, kind.__qualname__) is None:
            raise UsageError(
                f"the CaBRNet model has {kind.__module__}.{kind.__qualname__} as its {section}, which verale does not"
                " know: give head=..."
            )
        architecture[section] = {"name": kind.__qualname__, "params": params}
    add_on = getattr(model.get_submodule("extractor"), "add_on", None)
    layers = list(add_on.children()) if isinstance(add_on, nn.Module) else []
    architecture["extractor"] = {
        "convnet": {"add_on": {str(number): {"type": type(layer).__name__} for number, layer in enumerate(layers)}}
    }
    return architecture
