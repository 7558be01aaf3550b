"""CaBRNet models in memory: their head, from the module and its state, as from a run directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from verale.adapters.cabrnet.heads import rebuild
from verale.adapters.cabrnet.run import Run, known_module
from verale.errors import InputError, UsageError
from verale.head import Head

__all__ = ["head_of_model", "is_cabrnet"]

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
