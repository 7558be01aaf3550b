"""What CaBRNet is given to build: names that verale knows, and sizes that the run's tensors bear out.

CaBRNet calls what its configuration names. It fetches weights that are named there, torchvision's detectors and
segmenters fetch some unasked, and a line of YAML may describe a network of any size. The state replaces all weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from verale.adapters.cabrnet.run import ARCHITECTURE, DATASET, STATE, Run, load_yaml
from verale.head import Head

_ADD_ONS = frozenset({
    "AdaptiveAvgPool2d", "AdaptiveMaxPool2d", "AvgPool2d", "BatchNorm2d", "Conv2d", "Dropout", "Dropout2d", "ELU",
    "GELU", "Hardswish", "Identity", "LeakyReLU", "MaxPool2d", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softplus", "Tanh",
})  # fmt: skip
"""The add-on layers that are built: none enlarges the grid of latents beyond a limit (`_enlarges`)."""

_LARGEST_GRID = 64
"""The most rows or columns to which a layer pools whatever it receives."""

_FETCHING = ("weights", "weights_backbone", "pretrained", "pretrained_backbone", "progress")
"""Parameters of torchvision's networks that load pretrained weights."""

_CUSTOM = "cabrnet.core.utils.custom_preprocess"
_TRANSFORMS = ("torchvision.transforms", "torchvision.transforms.v2", _CUSTOM)
_STEPS = frozenset({
    "CenterCrop", "Compose", "ConvertImageDtype", "Grayscale", "Normalize", "PILToTensor", "RandomCrop", "Resize",
    "ToImage", "ToTensor", "convert_to_rgb",
})  # fmt: skip
"""Steps from image to tensor that are built: known modules have other attributes, and CaBRNet calls what it is told."""

_DTYPES = {"torch.float32": torch.float32, "torch.float": torch.float32}
"""What a step's `dtype` may be, the networks' own. CaBRNet evaluates the text as Python."""

LARGEST_SIDE = 1024
"""The largest `size` of a preprocessing step."""


def build(run: Run, head: Head) -> nn.Module:
    """CaBRNet's network, in evaluation mode. It is first built without memory, then gets the tensors of the state.

    Raises:
        InputError: a backbone, layer or parameter that verale does not let CaBRNet build, or a state that does not hold
            the network's tensors.
        Exception: of any kind, where CaBRNet or torch cannot build it.
    """
    from cabrnet.archs.generic.model import CaBRNet

    architecture = _described(run, head)
    with _WithoutMemory():
        model: nn.Module = CaBRNet.build_from_config(architecture)
    extractor = model.get_submodule("extractor")
    described = extractor.state_dict()
    for name, _ in extractor.named_buffers():
        if name not in described:
            raise run.refused(f"the extractor's buffer {name} is in no state, so its numbers are unknown")
    for name, tensor in described.items():
        held = run.state.get(f"extractor.{name}")
        if not isinstance(held, Tensor) or held.shape != tensor.shape:
            found = f"has shape {tuple(held.shape)}" if isinstance(held, Tensor) else "is missing"
            raise run.refused(f"extractor.{name} {found}, and {ARCHITECTURE} describes {tuple(tensor.shape)}", STATE)
    model.to_empty(device="cpu")
    model.load_state_dict(dict(run.state))
    for name, tensor in model.state_dict().items():
        held = run.state.get(name)
        if isinstance(tensor, Tensor) and not (isinstance(held, Tensor) and torch.equal(tensor, held.to(tensor.dtype))):
            raise run.refused(f"CaBRNet does not load {name} as it is stored: is it missing, or not finite?", STATE)
    return model.eval()


def _described(run: Run, head: Head) -> dict[str, object]:
    """The architecture for CaBRNet to build: one of torchvision's classifiers without pretrained weights, and sizes
    from the tensors, since the YAML states them as they were before pruning. Raises InputError."""
    import torchvision.models

    architecture: dict[str, Any] = deepcopy(dict(run.architecture))
    extractor, classifier = architecture["extractor"], architecture["classifier"]
    backbone = extractor["backbone"]
    arch, params = backbone.get("arch"), backbone.get("params") or {}
    if not isinstance(arch, str) or arch.lower() not in torchvision.models.list_models(module=torchvision.models):
        raise run.refused(f"backbone {arch!s:.80} is not one of torchvision's classification networks")
    if not isinstance(params, Mapping) or any(isinstance(value, (Mapping, list)) for value in params.values()):
        raise run.refused("extractor.backbone.params holds collections, expected numbers and strings")
    kept = {name: value for name, value in params.items() if name not in _FETCHING}
    extractor["backbone"] = {**backbone, "weights": "None", "params": kept}
    for name, layer in (extractor["convnet"].get("add_on") or {}).items():
        if name != "init_mode" and (layer["type"] not in _ADD_ONS or _enlarges(layer.get("params") or {})):
            known = ", ".join(sorted(_ADD_ONS))
            raise run.refused(
                f"add-on layer {name!r} is {layer['type']} with {layer.get('params')!s:.100}, expected one of {known},"
                f" without padding that enlarges the grid, or an output_size beyond {_LARGEST_GRID}"
            )
    sizes = {"num_classes": head.classes}
    if run.classifier != "PIPNetClassifier":
        prototypes = len(run.prototypes)
        if run.classifier == "ProtoTreeClassifier":
            sizes["depth"] = max(1, (prototypes + 1).bit_length() - 1)
        elif run.classifier == "ProtoPoolClassifier":
            slots = run.tensor("classifier.proto_slot_map").shape[2]
            sizes |= {"num_prototypes": prototypes, "num_slots_per_class": slots}
        else:
            sizes["num_proto_per_class"] = max(1, prototypes // head.classes)
    classifier["params"] = {**(classifier.get("params") or {}), **sizes}
    return architecture


def _enlarges(params: Mapping[str, object]) -> bool:
    """Whether a convolution or pooling gives more rows than it receives: its padding exceeds what its kernel takes.

    Layers that pool to a size may give more, within a limit; None keeps the size.
    """

    def numbers(name: str, default: int | None) -> list[Any]:
        value = params.get(name, default)
        return value if isinstance(value, list) else [value]

    sizes = [side for side in numbers("output_size", None) if side is not None]
    if not all(type(side) is int and 1 <= side <= _LARGEST_GRID for side in sizes):
        return True
    kernels, dilations, paddings = numbers("kernel_size", 1), numbers("dilation", 1), numbers("padding", 0)
    if paddings in (["same"], ["valid"]):
        return False
    if not all(type(number) is int for number in (*kernels, *dilations, *paddings)):
        return True
    return 2 * max(paddings, default=0) > min(dilations, default=1) * (min(kernels, default=1) - 1)


class _WithoutMemory(TorchFunctionMode):
    """Tensors that torch is told to make have shapes and no numbers. Sequences of numbers, from which torchvision takes
    the widths of some networks, are made as they are."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> object:
        made = {"device": "meta"} if function in _MAKERS else {}
        return function(*args, **{**(kwargs or {}), **made})


_MAKERS = frozenset({torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn})


def preprocessing(run: Run) -> tuple[Any, Mapping[str, Any]]:
    """The test set's transform as written, and the whole of dataset.yml, in which types of numbers are torch's.

    Raises:
        InputError: there is none, or one of its steps is unknown, has a large size or an unknown type of numbers.
    """
    dataset = load_yaml(run.path / DATASET)
    try:
        steps = dataset["test_set"]["params"]["transform"]
    except (KeyError, TypeError) as error:
        raise run.refused("has no test_set.params.transform: how are images preprocessed?", DATASET) from error
    if not steps:
        raise run.refused("test_set.params.transform is empty, expected ToTensor at least", DATASET)
    for step in each_step(run, steps):
        module, kind = step.get("module", _TRANSFORMS[0]), step["type"]
        if module not in _TRANSFORMS:
            raise run.refused(f"a transform comes from {module}, which is not loaded; known: {_TRANSFORMS}", DATASET)
        if not isinstance(kind, str) or kind not in _STEPS:
            raise run.refused(f"a transform is {kind}, which is not built; known: {', '.join(sorted(_STEPS))}", DATASET)
        if any(size > LARGEST_SIDE for size in _integers(step.get("params"))):
            raise run.refused(f"a transform {kind} has a size of more than {LARGEST_SIDE}", DATASET)
    written = deepcopy(steps)
    for step in each_step(run, steps):
        params = step.get("params")
        if isinstance(params, dict) and "dtype" in params:
            params["dtype"] = _dtype(run, step["type"], params["dtype"])
    return written, dataset


def _dtype(run: Run, kind: str, name: object) -> torch.dtype:
    """The type of numbers that a step names, or has already where an alias repeats the step. Raises InputError."""
    if isinstance(name, torch.dtype):
        return name
    if not isinstance(name, str) or name not in _DTYPES:
        known = ", ".join(_DTYPES)
        raise run.refused(f"a transform {kind} has the dtype {name!s:.80}, expected one of {known}", DATASET)
    return _DTYPES[name]


def each_step(run: Run, value: object) -> Iterator[Mapping[str, Any]]:
    """Every step of a transform, as CaBRNet reads it: one, a list of them, or a mapping of them."""
    if isinstance(value, Mapping) and "type" in value:
        yield value
        if "transforms" in value:
            yield from each_step(run, value["transforms"])
    elif isinstance(value, (Mapping, list)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from each_step(run, inner)
    else:
        raise run.refused(f"a transform is {value!s:.80}, expected a step with a type", DATASET)


def _integers(value: object) -> Iterator[float]:
    """Every number in a value, at any depth."""
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, (Mapping, list)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _integers(inner)
