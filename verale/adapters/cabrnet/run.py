"""A CaBRNet run directory as data: `model_arch.yml` says what the network is, `model_state.pth` holds its tensors.

Nothing here imports CaBRNet or executes what it reads. YAML files are read as plain data of bounded size.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from torch import Tensor

from verale.adapters.state import read_state
from verale.errors import InputError, first_line
from verale.files import read
from verale.head import Box

_BYTES, _VALUES, _DEPTH = 100_000, 20_000, 50
"""CaBRNet's own files have a few thousand bytes, two hundred values and ten levels."""


def load_yaml(path: Path) -> Any:
    """A YAML file's content: one document of plain values.

    Aliases are read, because `yaml.dump` writes them; the values are counted where they are repeated, too.

    Raises:
        InputError: a file that is not YAML, has more than 100,000 bytes, describes more than 20,000 values, nested at
            most 50 deep, or holds an integer beyond 64 bits.
    """
    data = read(path, "a CaBRNet configuration", _BYTES + 1)
    if len(data) > _BYTES:
        raise InputError(path, f"has more than {_BYTES} bytes: is it a CaBRNet configuration?")
    try:
        loader = _Loader(data)
        document = loader.get_single_node()
        if document is None:
            return None
        _values(document, {}, 0)
        return loader.construct_document(document)
    except RecursionError as error:
        raise InputError(path, f"is nested more than {_DEPTH} deep: is it a CaBRNet configuration?") from error
    except Exception as error:  # PyYAML raises errors of any kind on values of another type than their tag
        raise InputError(path, f"is not YAML that verale reads ({_brief(error)})") from error


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """PyYAML's loader of plain values, with integers of 64 bits, and the line in every error."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            line, kind = node.start_mark.line + 1, node.tag.rpartition(":")[2]
            raise _ValueError(f"line {line}: no value of type {kind} ({first_line(error)})") from error


class _ValueError(Exception):
    """A value that is not of the type that it seems to have."""


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int:
    if len(node.value) <= 100 and -(2**63) <= (value := int(loader.construct_yaml_int(node))) < 2**63:
        return value
    raise ValueError("an integer beyond 64 bits")


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def _values(node: yaml.Node, counts: dict[int, int | None], depth: int) -> int:
    """How many values a node describes, each alias counted as what it stands for. Raises ValueError: too many."""
    line = node.start_mark.line + 1
    if depth > _DEPTH:
        raise ValueError(f"line {line}: nested more than {_DEPTH} deep")
    if id(node) not in counts:
        counts[id(node)] = None
        parts = [] if isinstance(node, yaml.ScalarNode) else node.value
        inner = [part for pair in parts for part in pair] if isinstance(node, yaml.MappingNode) else parts
        counts[id(node)] = 1 + sum(_values(part, counts, depth + 1) for part in inner)
    count = counts[id(node)]
    if count is None:
        raise ValueError(f"line {line}: a value that contains itself")
    if count > _VALUES:
        raise ValueError(f"line {line}: aliases that stand for more than {_VALUES} values")
    return count


def _brief(error: Exception) -> str:
    """The first line of PyYAML's message, and where in the file it stands."""
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 1}: " if mark is not None else ""
    return place + (getattr(error, "problem", None) or first_line(error))


ARCHITECTURE, DATASET, STATE = "model_arch.yml", "dataset.yml", "model_state.pth"
PROJECTION = "projection_info.csv"
FILES = (ARCHITECTURE, DATASET, STATE, PROJECTION)
"""What is read of a run directory."""

_SIMILARITIES = "cabrnet.core.utils.similarities"
_PLUGINS = "verale.adapters.plugins"
_NAMES = {
    "top_arch": {
        ("cabrnet.archs.protopnet.model", "ProtoPNet"): None,
        ("cabrnet.archs.pipnet.model", "PIPNet"): None,
        ("cabrnet.archs.protopool.model", "ProtoPool"): None,
        ("cabrnet.archs.prototree.model", "ProtoTree"): None,
        ("beyond_l2_ext.tesnet.model", "TesNet"): f"{_PLUGINS}.tesnet",
        ("cabrnet.archs.tesnet.model", "TesNet"): f"{_PLUGINS}.tesnet",
        (f"{_PLUGINS}.tesnet", "TesNet"): None,
        (f"{_PLUGINS}.protopool", "ProtoPool"): None,
    },
    "classifier": {
        ("cabrnet.archs.protopnet.decision", "ProtoPNetClassifier"): None,
        ("cabrnet.archs.pipnet.decision", "PIPNetClassifier"): None,
        ("cabrnet.archs.protopool.decision", "ProtoPoolClassifier"): None,
        ("cabrnet.archs.prototree.decision", "ProtoTreeClassifier"): None,
        ("beyond_l2_ext.protopnet_gaussian", "GaussianProtoPNetClassifier"): f"{_PLUGINS}.gaussian",
        ("beyond_l2_ext.tesnet.decision", "TesNetClassifier"): f"{_PLUGINS}.tesnet",
        ("cabrnet.archs.tesnet.decision", "TesNetClassifier"): f"{_PLUGINS}.tesnet",
        (f"{_PLUGINS}.gaussian", "GaussianProtoPNetClassifier"): None,
        (f"{_PLUGINS}.tesnet", "TesNetClassifier"): None,
    },
    "similarity": {
        (_SIMILARITIES, "ProtoPNetSimilarity"): None,
        (_SIMILARITIES, "LegacyProtoPNetSimilarity"): None,
        (_SIMILARITIES, "ProtoTreeSimilarity"): None,
        (_SIMILARITIES, "LegacyProtoTreeSimilarity"): None,
        (_SIMILARITIES, "CosineSimilarity"): None,
        (_SIMILARITIES, "SimilarityLayerStub"): None,
        (_SIMILARITIES, "MahalanobisLogDistance"): f"{_PLUGINS}.gaussian",
        (_SIMILARITIES, "MahalanobisLogDensity"): f"{_PLUGINS}.gaussian",
        ("beyond_l2_ext.similarities", "MahalanobisLogDistance"): f"{_PLUGINS}.gaussian",
        ("beyond_l2_ext.similarities", "MahalanobisLogDensity"): f"{_PLUGINS}.gaussian",
        (f"{_PLUGINS}.gaussian", "MahalanobisLogDistance"): None,
        (f"{_PLUGINS}.gaussian", "MahalanobisLogDensity"): None,
    },
}
"""What a YAML may name, by section: (module, class), and the module to use instead, if any.

Verale's plug-ins, which hold the same tensors, replace the papers' package `beyond_l2_ext` and the private modules that
their networks were trained with. The table is complete because CaBRNet imports and calls whatever the YAML names.
"""

_UNNAMED_SIMILARITY = {
    "PIPNetClassifier": "SimilarityLayerStub",
    "ProtoPNetClassifier": "LegacyProtoPNetSimilarity",
    "ProtoTreeClassifier": "LegacyProtoTreeSimilarity",
}
"""The similarity where the YAML names none: CaBRNet 1.2's for the YAML of an older CaBRNet. PIP-Net has none."""

_DOMAIN_AFTER = {"Sigmoid": Box(0, 1), "Tanh": Box(-1, 1), "ReLU": Box(0, None), "Conv2d": Box(), "BatchNorm2d": Box()}
"""The domain of latents by the last add-on layer; closed, because float32 sigmoids reach 0 and 1."""

_UNCHANGED = ("Dropout", "Dropout2d", "Identity")
"""Layers that return their input, outside training."""


@dataclass(frozen=True)
class Run:
    """The content of a run directory.

    Attributes:
        path: the directory (`RUN/final`).
        architecture: `model_arch.yml` in the form of CaBRNet 1.2: `extractor.convnet`, `similarity`, modules that
            verale knows.
        state: `model_state.pth`, entries by name; a tree's `_extra_state` is not a tensor.
    """

    path: Path
    architecture: Mapping[str, Any]
    state: Mapping[str, Any]

    @property
    def similarity(self) -> str:
        """The similarity layer's class."""
        return str(self.architecture["similarity"]["name"])

    @property
    def classifier(self) -> str:
        """The classifier's class."""
        return str(self.architecture["classifier"]["name"])

    @property
    def compatible(self) -> bool:
        """CaBRNet's `compatibility_mode`: the formulas of the original code."""
        return bool(self.parameter("classifier", "compatibility_mode", False))

    def parameter(self, section: str, name: str, default: object) -> object:
        """A parameter of the similarity layer or the classifier, as CaBRNet passes it on: only from `params`."""
        return (self.architecture[section].get("params") or {}).get(name, default)

    def tensor(self, name: str) -> Tensor:
        """A tensor of the state. Raises InputError if it is missing."""
        value = self.state.get(name)
        if not isinstance(value, Tensor):
            raise self.refused(f"holds no tensor '{name}': is it the state of this network?", STATE)
        return value

    @property
    def prototypes(self) -> Tensor:
        """(P, D), as stored. Raises InputError."""
        prototypes = self.tensor("classifier.prototypes")
        if prototypes.dim() != 4 or prototypes.shape[2:] != (1, 1):
            raise self.refused(
                f"classifier.prototypes has shape {tuple(prototypes.shape)}, expected (P, D, 1, 1): one latent each",
                STATE,
            )
        return prototypes.flatten(1)

    @property
    def domain(self) -> Box:
        """The domain of latents, by the extractor's last layer. Raises InputError if that does not determine it."""
        add_on = self.architecture["extractor"]["convnet"].get("add_on") or {}
        layers = [layer["type"] for key, layer in add_on.items() if key != "init_mode"]
        while layers and layers[-1] in _UNCHANGED:
            layers.pop()
        last = layers[-1] if layers else "the backbone itself"
        if last not in _DOMAIN_AFTER:
            raise self.refused(
                f"the extractor ends in {last}, so the domain of its latents is unknown; known endings:"
                f" {', '.join(_DOMAIN_AFTER)}"
            )
        return _DOMAIN_AFTER[last]

    def refused(self, problem: str, file: str = ARCHITECTURE) -> InputError:
        """The error for a run that cannot be explained."""
        return InputError(self.path / file, problem)


def known_module(section: str, module: str, name: str) -> str | None:
    """The module from which verale takes a class that a section of `model_arch.yml` may name; None for others."""
    named = _NAMES[section]
    return (named[module, name] or module) if (module, name) in named else None


def open_run(path: str | Path) -> Run:
    """Read a run directory. Raises InputError: a file is missing, broken or names classes that verale does not know."""
    path = Path(path)
    return Run(path, _normalised(path / ARCHITECTURE), read_state(path / STATE)[0])


def _normalised(path: Path) -> dict[str, Any]:
    """`model_arch.yml` as CaBRNet 1.2 reads it. Raises InputError."""
    architecture = deepcopy(load_yaml(path))
    try:
        extractor, classifier = architecture["extractor"], architecture["classifier"]
        if extractor["backbone"].get("layer"):  # one layer, written as before CaBRNet 1.0
            extractor["convnet"] = {
                "source_layer": extractor["backbone"].pop("layer"),
                "add_on": extractor.pop("add_on", None),
            }
        similarity = architecture.get("similarity")
        if similarity is None or (
            classifier["name"] == "PIPNetClassifier" and similarity.get("name") in (None, "None")
        ):
            architecture["similarity"] = {"name": _UNNAMED_SIMILARITY[classifier["name"]]}
        architecture["similarity"].setdefault("module", _SIMILARITIES)
        for section, known in _NAMES.items():
            named = (architecture[section]["module"], architecture[section]["name"])
            module = known_module(section, *named)
            if module is None:
                names = ", ".join(sorted({name for _, name in known}))
                raise InputError(
                    path, f"{section} is {named[0]}.{named[1]}, which verale does not know; known: {names}"
                )
            architecture[section]["module"] = module
            if not isinstance(architecture[section].get("params") or {}, Mapping):
                raise TypeError(f"{section}.params")
        layers = [layer for key, layer in (extractor["convnet"].get("add_on") or {}).items() if key != "init_mode"]
        if not all(isinstance(layer["type"], str) for layer in layers) or set(extractor) - {"backbone", "convnet"}:
            raise TypeError("extractor")
        if not all(isinstance(layer.get("params") or {}, Mapping) for layer in layers):
            raise TypeError("params of an add-on layer")
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(path, f"field {error} is missing or malformed: is this a CaBRNet 1.2 run?") from error
    return dict(architecture)
