"""Latents from any torch model: the output of one of its layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from verale.errors import LatentsError, UsageError, first_line
from verale.head import described, patches_of, tensor_of

_COMPILED = "_orig_mod"
"""Where the module that `torch.compile` returns keeps the model."""

_COLOURS = (1, 3)
"""The channels of a picture."""


def capture(
    model: nn.Module, layer: str, inputs: object, calls: int = 1, arguments: Mapping[str, object] | None = None
) -> Tensor:
    """The output of the named layer for the inputs, in evaluation mode and without gradients.

    Args:
        model: any torch model. It is unchanged afterwards: training flags, hooks and, in evaluation mode, buffers.
        layer: a name of `model.named_modules()`, such as "add_on_layers": the last layer before the head. For a softmax
            head that is the layer before the softmax.
        inputs: a batch of images, or a tuple of arguments for the model; numpy arrays become tensors.
        calls: how often the model calls the layer; returning the same tensor again does not count. ProtoPFormer calls
            its add-on 2 times, for the class token and for the image tokens.
        arguments: what the model takes besides, by name, such as `{"inference": True}`.

    Returns:
        (N, D, H, W) or (N, L, D) float32 (float64 stays), on the model's device: the layer's output, cast up from half
        precision. Several calls give (N, L, D), the patches of each call after those of the call before.

    Raises:
        UsageError: the model is no torch module, has no such layer, or does not take these inputs.
        LatentsError: the layer was not called that often, or its output has another type or shape.
    """
    return capture_and_run(model, layer, inputs, calls, arguments)[0]


def capture_and_run(
    model: nn.Module, layer: str, inputs: object, calls: int = 1, arguments: Mapping[str, object] | None = None
) -> tuple[Tensor, Any]:
    """What `capture` returns, and the model's own output for the same inputs. Raises as `capture` does."""
    require_module(model, "capture(model, layer, images)")
    if type(calls) is not int or calls < 1:
        raise UsageError(f"calls is {calls if type(calls) is int else described(calls)}, expected a number from 1 on")
    if not isinstance(arguments, Mapping | None):
        raise UsageError(f"arguments are {described(arguments)}, expected a dictionary such as {{'inference': True}}")
    model, layer, module = find_layer(model, layer)
    outputs: list[tuple[Any, Any]] = []

    def hook(module: nn.Module, arguments: object, output: object) -> None:
        if not any(output is earlier for earlier, _ in outputs):
            # Copied, because a later layer may change it in place.
            outputs.append((output, output.detach().clone() if isinstance(output, Tensor) else output))

    given: list[Any] = [
        tensor_of(each) if isinstance(each, np.ndarray) else each
        for each in (inputs if isinstance(inputs, tuple) else (inputs,))
    ]
    handle = module.register_forward_hook(hook)
    try:
        with evaluating(model), torch.no_grad():
            returned = model(*given, **(arguments or {}))
    except Exception as error:  # whatever a network's own code raises
        what = ", ".join(str(tuple(each.shape)) if isinstance(each, Tensor) else described(each) for each in given)
        remedy = _remedy(model, given, arguments)
        raise UsageError(
            f"the model does not take inputs {what} ({type(error).__name__}: {first_line(error)}){remedy}"
        ) from error
    finally:
        handle.remove()
    if len(outputs) != calls:
        raise LatentsError(
            f"layer {layer!r} was called {len(outputs)} times, expected {calls}: name another, or set calls"
        )
    latents = []
    for _, output in outputs:
        if not isinstance(output, Tensor):
            kind = type(output).__name__
            raise LatentsError(f"layer {layer!r} returns a {kind}, expected a tensor: name another layer")
        if output.dim() not in (3, 4) or not output.is_floating_point():
            raise LatentsError(
                f"layer {layer!r} returns {tuple(output.shape)} {output.dtype}, expected floats (N, D, H, W) or"
                " (N, L, D)"
            )
        latents.append(output if output.dtype == torch.float64 else output.to(torch.float32))
    joined = latents[0] if calls == 1 else torch.cat(list(map(patches_of, latents)), dim=1)
    return joined, returned


def find_layer(model: nn.Module, layer: str) -> tuple[nn.Module, str, nn.Module]:
    """The model, as it was before `torch.compile`, the layer's name in it, and the layer. Raises UsageError.

    What is compiled computes the same up to rounding, but calls its layers where no hook sees it.
    """
    while (inner := dict(model.named_children()).get(_COMPILED)) is not None:
        model = inner
        layer = layer.removeprefix(f"{_COMPILED}.") if isinstance(layer, str) else layer
    modules = dict(model.named_modules())
    if not isinstance(layer, str):
        own = [f": write layer={name!r}" for name, module in modules.items() if module is layer]
        raise UsageError(f"layer is {described(layer)}, expected a name of model.named_modules(){''.join(own[:1])}")
    if layer not in modules:
        near = get_close_matches(layer, modules, n=5) or [name for name in modules if name and "." not in name]
        raise UsageError(f"layer {layer!r} is unknown, expected a name of model.named_modules(): {', '.join(near)} ...")
    return model, layer, modules[layer]


def _remedy(model: nn.Module, given: list[Any], arguments: Mapping[str, object] | None) -> str:
    """What to write where the model takes more than images, or where their colours stand last; else nothing."""
    missing = [
        parameter.name
        for parameter in list(signature(model.forward).parameters.values())[len(given) :]
        if parameter.default is Parameter.empty
        and parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        and parameter.name not in (arguments or {})
    ]
    if missing:
        return (
            f": write arguments={{{', '.join(f'{name!r}: ...' for name in missing)}}} for what it takes beside images"
        )
    shape = tuple(given[0].shape) if given and isinstance(given[0], Tensor) else ()
    if len(shape) == 4 and shape[3] in _COLOURS and shape[1] not in _COLOURS:
        return ": these look like (N, H, W, C), expected (N, C, H, W); write torch.as_tensor(images).movedim(-1, 1)"
    return ""


def require_module(model: object, call: str) -> None:
    """Raise UsageError, which says what to write instead, unless this is a torch module with numbers."""
    if not isinstance(model, nn.Module):
        raise UsageError(f"model is {described(model)}, expected a torch module: write {call}")
    if any(parameter.is_meta for parameter in model.parameters()):
        raise UsageError(
            "model holds no numbers (its parameters are on the device meta): load its state dictionary first"
        )


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Keep a model in evaluation mode."""
    training = {module: module.training for module in model.modules()}
    try:
        model.eval()
        yield
    finally:
        for module, flag in training.items():
            module.training = flag


@contextmanager
def in_float32() -> Iterator[None]:
    """Keep CUDA from computing float32 products in TF32, which has 11 bits, and autocast from halving them."""
    backends: tuple[Any, ...] = (torch.backends.cuda.matmul, torch.backends.cudnn)
    allowed = [backend.allow_tf32 for backend in backends]
    try:
        for backend in backends:
            backend.allow_tf32 = False
        with torch.autocast("cuda", enabled=False), torch.autocast("cpu", enabled=False):
            yield
    finally:
        for backend, flag in zip(backends, allowed, strict=True):
            backend.allow_tf32 = flag
