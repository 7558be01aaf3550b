"""Latents from any torch model: what one of its layers gives out."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor, nn

from verale.errors import LatentsError, UsageError

__all__ = ["capture"]


def capture(model: nn.Module, layer: str, inputs: Any, calls: int = 1) -> Tensor:
    """What the named layer gives out for the inputs, in evaluation mode and without gradients.

    Args:
        model: any torch model. It is left as it was: training flags, hooks and, in evaluation mode, buffers.
        layer: a name of `model.named_modules()`, such as "add_on_layers": the last layer before the head. For a softmax
            head that is the layer before the softmax.
        inputs: a batch of images, or a tuple of arguments for the model.
        calls: how often the model calls the layer; giving the same tensor again does not count. ProtoPFormer calls its
            add-on 2 times, for the class token and for the image tokens.

    Returns:
        (N, D, H, W) or (N, L, D) float32 (float64 stays), on the model's device: what the layer gave, cast up if it
        was half precision. Of several calls (N, L, D), the patches of each after those of the one before.

    Raises:
        UsageError: the model has no such layer.
        LatentsError: the layer was called another number of times, or gave anything else than such tensors.
    """
    modules = dict(model.named_modules())
    if layer not in modules:
        near = get_close_matches(layer, modules, n=5) or [name for name in modules if name and "." not in name]
        raise UsageError(f"layer {layer!r} is unknown, expected a name of model.named_modules(): {', '.join(near)} ...")
    given: list[tuple[Any, Any]] = []

    def hook(module: nn.Module, arguments: Any, output: Any) -> None:
        if not any(output is earlier for earlier, _ in given):
            # A layer behind this one may work in place.
            given.append((output, output.detach().clone() if isinstance(output, Tensor) else output))

    training = {module: module.training for module in modules.values()}
    handle = modules[layer].register_forward_hook(hook)
    try:
        model.eval()
        with torch.no_grad():
            model(*(inputs if isinstance(inputs, tuple) else (inputs,)))
    finally:
        handle.remove()
        for module, flag in training.items():
            module.training = flag
    if len(given) != calls:
        raise LatentsError(
            f"layer {layer!r} was called {len(given)} times, expected {calls}: name another, or set calls"
        )
    found = [_latents(layer, output) for _, output in given]
    return found[0] if calls == 1 else torch.cat([_patches(latents) for latents in found], dim=1)


def _latents(layer: str, output: Any) -> Tensor:
    if not isinstance(output, Tensor):
        raise LatentsError(f"layer {layer!r} gives a {type(output).__name__}, expected a tensor: name another layer")
    if output.dim() not in (3, 4) or not output.is_floating_point():
        raise LatentsError(
            f"layer {layer!r} gives {tuple(output.shape)} {output.dtype}, expected floats (N, D, H, W) or (N, L, D)"
        )
    return output if output.dtype == torch.float64 else output.to(torch.float32)


def _patches(latents: Tensor) -> Tensor:
    """(N, L, D), patch l = h * W + w."""
    return latents.flatten(2).transpose(1, 2) if latents.dim() == 4 else latents
