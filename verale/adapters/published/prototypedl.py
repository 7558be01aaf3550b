"""PrototypeDL (OscarcarLi/PrototypeDL, and Sasafrass/PrototypeDL in torch): prototypes of whole images, with a decoder.

Li, Liu, Chen and Rudin, "Deep Learning for Case-Based Reasoning through Prototypes", 2018. Sasafrass/PrototypeDL has a
hierarchical network, too: two sets of prototypes on one encoder, super- and subprototypes, each with its own linear
layer and so with its own class. A head is one of the two levels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from verale.adapters.accounts import Saved
from verale.adapters.freezing import export_network
from verale.adapters.modules import Module, SavedModel
from verale.adapters.published import SIGMOID, choice
from verale.adapters.state import Layer, State, linear, numbers
from verale.errors import HeadError, LatentsError, first_line
from verale.head import Box, Euclidean, Head, Negated
from verale.network import FrozenNetwork

SAVED = Saved(
    ("PrototypeModel", "HierarchyModel"),
    (
        *("encoder.", "decoder.", "prototype.latent_size"),
        *("prototype.sup_prototypes", "prototype.sub_prototypes", "prototype.linear1.", "prototype.linear2."),
    ),  # of the other level too, which gives another class
    {"prototype": ("PrototypeClassifier", "HierarchyPrototypeClassifier")},
    tried=({"level": "super"}, {"level": "sub"}),
)

_CONVOLUTION, _TRANSPOSED = "torch.nn.modules.conv.Conv2d", "torch.nn.modules.conv.ConvTranspose2d"
_SIGMOID = "torch.nn.modules.activation.Sigmoid"

_MOST_LAYERS, _MOST_CHANNELS, _MOST_STEP = 8, 256, 4
"""Bounds on a network: layers, channels, and strides, paddings and dilations; so small images stay small."""

_BATCH = 32
"""Images that are encoded at once."""


_LEVELS = {
    "super": (("prototype.prototypes", "prototype.sup_prototypes"), "prototype.linear1"),
    "sub": (("prototype.sub_prototypes",), "prototype.linear2"),
}
"""For each level of a hierarchical network, the names that its prototypes may have, and its linear layer."""


def head(state: State, *, level: str = "super", domain: Box = SIGMOID) -> Head:
    """o = W d + b with d_j = |z - p_j|^2, where z is the whole image: there is one patch, of D numbers.

    The head has a_j = -d_j and the weights -W; both signs are exact. Without a hierarchy, all is the level `super`.
    """
    _, name = choice("level", level, _LEVELS)
    prototypes = prototypes_of(state, level)
    layer = linear(state, name, len(prototypes))
    return Layer(-layer.weight, layer.bias).head(Euclidean(), Negated(), prototypes, domain=domain)


def prototypes_of(state: State, level: str = "super") -> Tensor:
    """The prototypes of a level, (P, D). Raises HeadError, and UsageError for an unknown level."""
    names, _ = choice("level", level, _LEVELS)
    return numbers(state, next((name for name in names if name in state), names[0]), "P D")


class Autoencoder:
    """The encoder and the decoder of a saved model, rebuilt from the attributes of its convolutions.

    Args:
        model: the saved model.
        size: height and width of its images, which the file does not say: by default MNIST's.
        level: of a hierarchical network, whose prototypes are pictured: `super` or `sub`.

    Attributes:
        shape: channels, height and width of its images.
        classes: how many classes the level has.

    Raises:
        HeadError: a module is missing, or is not a convolution or a sigmoid as the published network has them.
    """

    def __init__(self, model: SavedModel, size: tuple[int, int] = (28, 28), level: str = "super") -> None:
        layers = [name for name in model.modules if name.startswith("encoder.convnet.")]
        kinds = [model.modules[name].kind for name in layers]
        if not 2 <= len(layers) <= 2 * _MOST_LAYERS or kinds != [_CONVOLUTION, _SIGMOID] * (len(layers) // 2):
            raise HeadError(
                "encoder.convnet",
                f"holds {', '.join(kinds)[:80] or 'nothing'}, expected at most {_MOST_LAYERS} convolutions, each"
                " followed by a sigmoid",
            )
        self._encoder = [_convolution(model, name, _CONVOLUTION) for name in layers[::2]]
        numbered = range(1, len(self._encoder) + 1)
        self._decoder = [_convolution(model, f"decoder.de{number}", _TRANSPOSED) for number in numbered]
        self._prototypes = prototypes_of(model.state, level)
        self.classes = len(linear(model.state, _LEVELS[level][1], len(self._prototypes)).weight)
        self.shape = (self._encoder[0].in_channels, *size)
        self._type = self._encoder[0].weight.dtype
        encoded = [torch.zeros(1, *self.shape, dtype=self._type)]
        try:
            with torch.no_grad():
                for layer in self._encoder:
                    encoded.append(layer(encoded[-1]))
            self._sizes = [maps.shape[2:] for maps in encoded[-2::-1]]
            self._map = encoded[-1].shape[1:]
            numbers_each = self._map.numel()
            if numbers_each != self._prototypes.shape[1]:
                raise ValueError(f"it gives {numbers_each} numbers, prototypes have {self._prototypes.shape[1]}")
            self.pictures()
        except (RuntimeError, ValueError) as error:
            raise HeadError(
                "encoder", f"does not fit images {self.shape} and the decoder: {first_line(error)}"
            ) from error

    def latents(self, images: Tensor) -> Tensor:
        """What the head receives: (N, 1, D) from images (N, channels, H, W) of numbers from 0 to 1.

        Raises:
            LatentsError: images of another shape or type.
        """
        if tuple(images.shape[1:]) != self.shape or not images.is_floating_point():
            raise LatentsError(
                f"images {tuple(images.shape)} {images.dtype} do not fit this network, expected floats (N, channels,"
                f" H, W) with {self.shape}"
            )
        return torch.cat(
            [self._encoded(images[i : i + _BATCH]).flatten(1).unsqueeze(1) for i in range(0, len(images), _BATCH)]
        )

    def frozen(self) -> FrozenNetwork:
        """The encoder as a network file has it: from bytes, divided by 255, to the latents. Raises NetworkError."""
        layers = [each for layer in self._encoder for each in (layer, nn.Sigmoid())]
        return export_network(nn.Sequential(*layers, nn.Flatten()), None, self.shape)

    def pictures(self, latents: Tensor | None = None) -> Tensor:
        """What the decoder makes of latents (N, D), by default of the prototypes: (N, channels, H, W) from 0 to 1."""
        maps = torch.reshape(self._prototypes if latents is None else latents, (-1, *self._map)).to(self._type)
        with torch.no_grad():
            for layer, size in zip(self._decoder, self._sizes, strict=True):
                maps = torch.sigmoid(layer(maps, output_size=size))
        return maps

    def _encoded(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            maps = images.to(self._type)
            for layer in self._encoder:
                maps = torch.sigmoid(layer(maps))
        return maps


def _convolution(model: SavedModel, name: str, kind: str) -> nn.Conv2d | nn.ConvTranspose2d:
    """A convolution with the saved numbers. Raises HeadError for others than those of the published network."""
    module = model.modules.get(name)
    if module is None or module.kind != kind:
        raise HeadError(name, f"is {module.kind if module else 'missing'}, expected {kind}")
    said = {"transposed": kind == _TRANSPOSED, "output_padding": (0, 0), "groups": 1, "padding_mode": "zeros"}
    for attribute, value in said.items():
        if module.attributes.get(attribute, value) != value:
            raise HeadError(name, f"has another {attribute} than {value}, which the published network does not have")
    weight = numbers(model.state, f"{name}.weight", "A B H W")
    if max(weight.shape) > _MOST_CHANNELS:
        raise HeadError(name, f"has a kernel {tuple(weight.shape)}, expected at most {_MOST_CHANNELS} channels")
    stride, padding, dilation = (_pair(name, module, attribute) for attribute in ("stride", "padding", "dilation"))
    sizes = (weight.shape[0], weight.shape[1]) if kind == _TRANSPOSED else (weight.shape[1], weight.shape[0])
    built = nn.ConvTranspose2d if kind == _TRANSPOSED else nn.Conv2d
    layer = built(*sizes, (weight.shape[2], weight.shape[3]), stride=stride, padding=padding, dilation=dilation)
    layer.to(weight.dtype)
    layer.load_state_dict({"weight": weight, "bias": numbers(model.state, f"{name}.bias", "C", C=sizes[1])})
    return layer.requires_grad_(False)


def _pair(name: str, module: Module, attribute: str) -> tuple[int, int]:
    """A stride, padding or dilation. Raises HeadError for one that would make small images large."""
    value = module.attributes.get(attribute)
    if (
        type(value) is not tuple
        or len(value) != 2
        or not all(type(each) is int and 0 <= each <= _MOST_STEP for each in value)
    ):
        raise HeadError(name, f"has no {attribute} of two numbers up to {_MOST_STEP}")
    return value
