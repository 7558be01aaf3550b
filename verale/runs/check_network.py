"""Is a network file this module's? Its layers beside the module's own steps, in float64."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from verale.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from verale.network import FrozenNetwork

__all__ = ["network_difference"]

_OF_A_BYTE = 2.0**-10
"""How far (x std + mean) 255 of a float32 image may be from a byte: more than its roundings, less than a number counts
that is none."""


def network_difference(network: FrozenNetwork, model: nn.Module, layer: str, batches: Iterable[Tensor]) -> str | None:
    """What of a network file differs from a module, in words; None where nothing does.

    Args:
        network: the file's.
        model, layer: the module, and the layer whose output the head receives.
        batches: images (N, C, H, W), preprocessed as for the module.

    Raises:
        UsageError: no network, or images of another shape than the file's.
        NetworkError, InputError: the module computes something that network files do not know.
    """
    from verale.adapters.freezing import first_difference, frozen
    from verale.head import require_kind
    from verale.network import FrozenNetwork

    require_kind("network", network, FrozenNetwork, "a network file: write verale.network.FrozenNetwork.load(path)")
    given = frozen(model, layer, network.shape, network.mean, network.std)
    for images in batches:
        if tuple(images.shape[1:]) != network.shape:
            raise UsageError(
                f"images are {tuple(images.shape)}, expected (N, C, H, W) with the network's {network.shape}"
            )
        if not _are_pictures(network, images):
            return (
                f"images are not (v / 255 - mean) / std of bytes v with the file's mean {network.mean} and std"
                f" {network.std}: does it have the network's normalisation?"
            )
        difference = first_difference(given, network, images.cpu())
        if difference is not None:
            return f"layer {difference.layer!r} of the network file differs from the module's: {difference}"
    return None


def _are_pictures(network: FrozenNetwork, images: Tensor) -> bool:
    import torch

    mean, std = (torch.tensor(each, dtype=torch.float64)[:, None, None] for each in (network.mean, network.std))
    values = (images.cpu().double() * std + mean) * 255
    near = values.round()
    return bool(((values - near).abs() <= _OF_A_BYTE).all() and (near >= 0).all() and (near <= 255).all())
