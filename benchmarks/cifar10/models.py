"""The YAML files for `cabrnet train`, as dictionaries.

All five share an extractor: the first convolution of a ResNet-18 (stride 2), three 3x3 convolutions and a 1x1, an 8x8
grid; trained without pretraining on `IMAGES` of the 50,000 training images, each with a random shift and flip.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

__all__ = ["MODELS", "configuration"]

CLASSES = 10
PROTOTYPES_PER_CLASS = 10
DEPTH = 64
CHANNELS = 128
"""The channels of PIP-Net, which are its prototypes."""

IMAGES = 0.4
"""The share of the training images to train on; prototypes come from a quarter of these."""
EPOCHS = 10
FINE_TUNING_EPOCHS = 2
BATCH = 64
BATCHES = int(50_000 * IMAGES) // BATCH

_NORMALISED = [
    {"type": "ToTensor"},
    {"type": "Normalize", "params": {"mean": [0.4914, 0.4822, 0.4465], "std": [0.247, 0.2435, 0.2616]}},
]
_SHIFTED = [{"type": "RandomCrop", "params": {"size": 32, "padding": 4}}, {"type": "RandomHorizontalFlip"}]
_TWO_VIEWS = [
    *_SHIFTED,
    {
        "module": "cabrnet.core.utils.custom_preprocess",
        "type": "AugmentationSplitter",
        "params": {
            "num_samples": 2,
            "transform": {
                "type": "Compose",
                "transforms": [
                    {"module": "cabrnet.core.utils.custom_preprocess", "type": "TrivialAugmentWideNoShape"},
                    {"type": "RandomCrop", "params": {"size": 32, "padding": 1}},
                    *_NORMALISED,
                ],
            },
        },
    },
]


def _steps(steps: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {f"step{number}": deepcopy(step) for number, step in enumerate(steps)}


def _set(root: Path, steps: list[dict[str, Any]], shuffle: bool, **more: Any) -> dict[str, Any]:
    params = {"root": str(root), "transform": _steps(steps)}
    return {
        "name": "ImageFolder",
        "module": "torchvision.datasets",
        "params": params,
        "batch_size": BATCH,
        "shuffle": shuffle,
        "num_workers": 0,
        **more,
    }


def _dataset(data: Path, two_views: bool, share: float) -> dict[str, Any]:
    part: dict[str, Any] = {"partition": [0.0, share], "partition_seed": 42}
    projected = {"partition": [0.0, share / 4], "partition_seed": 42}
    if two_views:
        part |= {"collate_fn": "concat_collate", "drop_last": True}
    train = _set(data / "train", _TWO_VIEWS if two_views else [*_SHIFTED, *_NORMALISED], True, **part)
    return {
        "train_set": train,
        **({"pretrain_set": deepcopy(train)} if two_views else {}),
        "projection_set": _set(data / "train", _NORMALISED, False, **projected),
        "test_set": _set(data / "test", _NORMALISED, False),
    }


def _extractor(depth: int, sigmoid: bool) -> dict[str, Any]:
    layers: dict[str, Any] = {"init_mode": "PROTOPNET"}
    for number, (channels, stride) in enumerate([(64, 1), (96, 2), (96, 1)]):
        layers[f"conv{number}"] = {
            "type": "Conv2d",
            "params": {"out_channels": channels, "kernel_size": 3, "stride": stride, "padding": 1, "bias": False},
        }
        layers[f"bn{number}"] = {"type": "BatchNorm2d", "params": {"num_features": channels}}
        layers[f"relu{number}"] = {"type": "ReLU"}
    layers["last"] = {"type": "Conv2d", "params": {"out_channels": depth, "kernel_size": 1, "bias": True}}
    if sigmoid:
        layers["sigmoid"] = {"type": "Sigmoid"}
    return {
        "backbone": {"arch": "resnet18", "weights": "None"},
        "convnet": {"source_layer": "relu", "add_on": layers},
    }


def _architecture(
    top: tuple[str, str], classifier: tuple[str, str], similarity: dict[str, Any], **params: Any
) -> dict[str, Any]:
    depth = params.setdefault("num_features", DEPTH)
    return {
        "top_arch": {"module": top[0], "name": top[1]},
        "extractor": _extractor(depth, sigmoid=top[1] != "PIPNet"),
        "similarity": similarity,
        "classifier": {
            "module": classifier[0],
            "name": classifier[1],
            "params": {"num_classes": CLASSES, **params},
        },
    }


def _cosine(steps: int) -> dict[str, Any]:
    return {"type": "CosineAnnealingLR", "params": {"T_max": steps, "eta_min": 1e-4}}


def _training(groups: dict[str, Any], rates: dict[str, float], epilogue: dict[str, Any], **auxiliary: Any) -> Any:
    return {
        "num_epochs": EPOCHS,
        "param_groups": {"extractor": "extractor", "last_layer": "classifier.last_layer", **groups},
        "optimizers": {
            "main_optimizer": {
                "type": "AdamW",
                "groups": {
                    "extractor": {"lr": 0.003, "weight_decay": 0.01},
                    **{name: {"lr": rate, "weight_decay": 0.0} for name, rate in rates.items()},
                },
                "scheduler": _cosine(EPOCHS),
            },
            "last_layer_optimizer": {"type": "Adam", "groups": {"last_layer": {"lr": 0.003}}},
        },
        "periods": {"joint": {"num_epochs": EPOCHS, "optimizers": "main_optimizer"}},
        "auxiliary_info": auxiliary,
        "epilogue": {"num_fine_tuning_epochs": FINE_TUNING_EPOCHS, **epilogue},
    }


def _protopnet_training(prototypes: str | list[str] = "classifier.prototypes", **coefficients: float) -> Any:
    # Prototypes are projected once, at the end; CaBRNet 1.2 trains the last layer further only where it may also prune.
    return _training(
        {"prototypes": prototypes},
        {"prototypes": 0.003, "last_layer": 0.003},
        {"num_nearest_patches": 1, "pruning_threshold": 0, "disable_pruned_prototypes": True},
        loss_coefficients={"clustering": 0.2, "separability": -0.02, "regularization": 1e-4, **coefficients},
        projection_config={"start_epoch": EPOCHS},
    )


def _pipnet_training() -> Any:
    pretrain, fine_tuning = 1, 1
    return {
        "num_epochs": EPOCHS - 2,
        "param_groups": {"extractor": "extractor", "last_layer": "classifier.last_layer"},
        "optimizers": {
            "optimizer_net": {
                "type": "AdamW",
                "groups": {"extractor": {"lr": 0.003, "weight_decay": 0.01}},
                "scheduler": {"trigger": "batch", **_cosine(BATCHES * (EPOCHS - 3 - pretrain))},
            },
            "optimizer_classifier": {
                "type": "Adam",
                "groups": {"last_layer": {"lr": 0.05}},
                "scheduler": {
                    "type": "CosineAnnealingWarmRestarts",
                    "trigger": "batch",
                    "params": {"T_0": EPOCHS, "eta_min": 0.001, "T_mult": 1},
                },
            },
        },
        "periods": {
            "pretrain": {"num_epochs": pretrain, "freeze": ["last_layer"], "optimizers": "optimizer_net"},
            "fine_tuning": {"num_epochs": fine_tuning, "freeze": ["extractor"], "optimizers": "optimizer_classifier"},
            "joint": {
                "num_epochs": EPOCHS - 2 - pretrain - fine_tuning,
                "optimizers": ["optimizer_net", "optimizer_classifier"],
            },
        },
        "epilogue": {"num_samples_per_prototype": 1},
    }


_PROTOPNET = ("cabrnet.archs.protopnet.model", "ProtoPNet")
_PROTOPNET_CLASSIFIER = ("cabrnet.archs.protopnet.decision", "ProtoPNetClassifier")
_PLUGINS = "verale.adapters.plugins"

MODELS: dict[str, tuple[dict[str, Any], Any]] = {
    "protopnet": (
        _architecture(
            _PROTOPNET,
            _PROTOPNET_CLASSIFIER,
            {"name": "ProtoPNetSimilarity"},
            num_proto_per_class=PROTOTYPES_PER_CLASS,
            proto_init_mode="UNIFORM",
        ),
        _protopnet_training(),
    ),
    "tesnet": (
        _architecture(
            (f"{_PLUGINS}.tesnet", "TesNet"),
            (f"{_PLUGINS}.tesnet", "TesNetClassifier"),
            {"name": "CosineSimilarity"},
            num_proto_per_class=PROTOTYPES_PER_CLASS,
            proto_init_mode="UNIFORM",
        ),
        _protopnet_training(),
    ),
    "gaussian": (
        _architecture(
            _PROTOPNET,
            _PROTOPNET_CLASSIFIER,
            {
                "module": f"{_PLUGINS}.gaussian",
                "name": "MahalanobisLogDistance",
                "params": {"cov_type": "isotropic", "stability_factor": 1e-4},
            },
            num_proto_per_class=PROTOTYPES_PER_CLASS,
            proto_init_mode="UNIFORM",
        ),
        _protopnet_training(["classifier.prototypes", "classifier.similarity_layer"]),
    ),
    "protopool": (
        _architecture(
            (f"{_PLUGINS}.protopool", "ProtoPool"),
            ("cabrnet.archs.protopool.decision", "ProtoPoolClassifier"),
            {"name": "ProtoPNetSimilarity"},
            num_prototypes=80,
            num_slots_per_class=5,
            proto_init_mode="UNIFORM",
        ),
        _training(
            {"prototypes": "classifier.prototypes", "slots": "classifier.proto_slot_map"},
            {"prototypes": 0.003, "slots": 0.01, "last_layer": 0.003},
            {},
            loss_coefficients={"clustering": 0.2, "separability": -0.02, "regularization": 1e-4},
            training_config={"gumbel_epochs": EPOCHS - 2, "use_mix_up": False},
        ),
    ),
    "pipnet": (
        _architecture(
            ("cabrnet.archs.pipnet.model", "PIPNet"),
            ("cabrnet.archs.pipnet.decision", "PIPNetClassifier"),
            {"name": "SimilarityLayerStub"},
            num_features=CHANNELS,
        ),
        _pipnet_training(),
    ),
}


def configuration(name: str, data: Path, share: float = IMAGES) -> dict[str, Any]:
    """The three files of a model by name: architecture, dataset at `data` (train/ and test/ by class), training.

    Args:
        share: of the training images to train on.
    """
    architecture, training = MODELS[name]
    return deepcopy(
        {
            "model_arch.yml": architecture,
            "dataset.yml": _dataset(data, name == "pipnet", share),
            "training.yml": training,
        }
    )
