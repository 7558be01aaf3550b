"""CaBRNet run directories: `model_arch.yml` says what the network is, `model_state.pth` holds its tensors."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from verale.errors import HeadError, InputError
from verale.files import read
from verale.head import Box, Euclidean, Head, LogRatio

__all__ = ["load_head", "load_state", "load_yaml"]

_DOMAIN_AFTER = {"Sigmoid": Box(0, 1), "Tanh": Box(-1, 1), "ReLU": Box(0, None), "Conv2d": Box(), "BatchNorm2d": Box()}
"""Where latents live, by the last add-on layer; closed, since float32 sigmoids do reach 0 and 1."""

_DEFAULT_STABILITY = 1e-4


def load_head(run: str | Path) -> Head:
    """The head of a trained ProtoPNet.

    Args:
        run: a CaBRNet 1.2 run directory (`RUN/final`).

    Raises:
        InputError: a file that is missing or broken, or a network that verale cannot explain (yet).

    Soundness: sizes come from the tensors, never from the YAML; prototypes are kept as stored.
    """
    run = Path(run)
    path = run / "model_arch.yml"
    architecture = load_yaml(path)
    try:
        name = architecture["top_arch"]["name"]
        similarity = architecture["similarity"]
        add_on = architecture["extractor"]["convnet"]["add_on"]
        last = [layer["type"] for key, layer in add_on.items() if key != "init_mode"][-1]
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(path, f"field {error} is missing or has another form: is this a CaBRNet 1.2 run?") from error
    if name != "ProtoPNet" or similarity["name"] != "ProtoPNetSimilarity":
        raise InputError(path, f"is a {name} with {similarity['name']}; supported: ProtoPNet with ProtoPNetSimilarity")
    if last not in _DOMAIN_AFTER:
        raise InputError(path, f"ends in {last}, so nothing is known of its latents; known: {', '.join(_DOMAIN_AFTER)}")
    state = load_state(run / "model_state.pth")
    try:
        return Head(
            weight=state["classifier.last_layer.weight"],
            geometry=Euclidean(),
            similarity=LogRatio((similarity.get("params") or {}).get("stability_factor", _DEFAULT_STABILITY)),
            prototypes=state["classifier.prototypes"].flatten(1),
            domain=_DOMAIN_AFTER[last],
        )
    except KeyError as error:
        raise InputError(
            run / "model_state.pth", f"holds no tensor {error}: is it the state of this network?"
        ) from error
    except HeadError as error:
        raise InputError(run / "model_state.pth", str(error)) from error


def load_state(path: Path) -> Mapping[str, Tensor]:
    """The tensors of a state dictionary; nothing in the file is executed. Raises InputError."""
    size = len(read(path, "a state dictionary (model_state.pth)"))
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, ValueError, KeyError, pickle.UnpicklingError) as error:
        raise InputError(
            path, f"{size} bytes that torch cannot read as a state dictionary: truncated, or a whole pickled module?"
        ) from error
    # CaBRNet keeps other entries beside the tensors (a tree's architecture, say); tensors are looked up by name.
    tensors = {k: v for k, v in state.items() if isinstance(v, Tensor)} if isinstance(state, Mapping) else {}
    if not tensors:
        raise InputError(path, f"holds a {type(state).__name__} without tensors, expected a state dictionary")
    return tensors


def load_yaml(path: Path) -> Any:
    """A YAML file's content. Raises InputError."""
    try:
        return yaml.safe_load(read(path, "a CaBRNet configuration"))
    except yaml.YAMLError as error:
        raise InputError(path, f"is not YAML ({str(error).splitlines()[0]})") from error
