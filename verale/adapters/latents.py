"""Latents from any torch model: what one of its layers gives out."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor, nn

from verale.errors import LatentsError, UsageError

__all__ = ["capture"]


def capture(model: nn.Module, layer: str, inputs: Any) -> Tensor:
    """What the named layer gives out for the inputs, in evaluation mode and without gradients.

    Args:
        model: any torch model. It is left as it was: training flags, hooks and, in evaluation mode, buffers.
        layer: a name of `model.named_modules()`, such as "add_on_layers": the last layer before the head. For a softmax
            head that is the layer before the softmax.
        inputs: a batch of images, or a tuple of arguments for the model.

    Returns:
        (N, D, H, W) or (N, L, D) float32 (float64 stays), on the model's device: what the layer gave, cast up if it
        was half precision.

    Raises:
        UsageError: the model has no such layer.
        LatentsError: the layer was not called exactly once, or gave anything else than such a tensor.
    """
    modules = dict(model.named_modules())
    if layer not in modules:
        near = get_close_matches(layer, modules, n=5) or [name for name in modules if name and "." not in name]
        raise UsageError(
            f"layer {layer!r} is unknown, expected a name of model.named_modules(): {', '.join(near)}, ..."
        )
    found: list[Any] = []
    training = {module: module.training for module in modules.values()}
    hook = modules[layer].register_forward_hook(lambda module, arguments, output: found.append(output))
    try:
        model.eval()
        with torch.no_grad():
            model(*(inputs if isinstance(inputs, tuple) else (inputs,)))
    finally:
        hook.remove()
        for module, flag in training.items():
            module.training = flag
    if len(found) != 1:
        raise LatentsError(f"layer {layer!r} was called {len(found)} times, expected once: name another layer")
    latents = found[0]
    if not isinstance(latents, Tensor):
        raise LatentsError(
            f"layer {layer!r} gives a {type(latents).__name__}, expected a tensor: name a layer inside it"
        )
    if latents.dim() not in (3, 4) or not latents.is_floating_point():
        raise LatentsError(
            f"layer {layer!r} gives {tuple(latents.shape)} {latents.dtype}, expected floats (N, D, H, W) or (N, L, D)"
        )
    return latents.detach() if latents.dtype == torch.float64 else latents.detach().to(torch.float32)
