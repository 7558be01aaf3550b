"""torch's kernels for the CPU. They are replaced below all of its names: methods, operators, functions of `linalg` and
`nn.functional`, in-place and `out=` forms, and what runs backwards, call the same ones.

A kernel is found by its operator's schema, so a torch without one of these operators is shaken in the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from .moves import WAYS, choose, move, order, take

__all__ = ["shake"]

Call = Callable[..., Any]
Named = dict[str, Any]
Change = Callable[[Call, Named, list[str]], Any]
Other = Callable[[Call, Named, int], Tensor | None]

_LIBRARY: Any = None


def shake(module: ModuleType) -> None:
    global _LIBRARY
    if not hasattr(torch.library, "get_kernel"):
        raise RuntimeError(f"torch {torch.__version__} does not give its kernels away: SHAKE takes torch 2.9 or later")
    _LIBRARY = torch.library.Library("aten", "IMPL")  # what it registers lasts as long as it does
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is replaced
        for names, change in _CHANGES:
            for name in names:
                for overload in _overloads(name):
                    _replace(overload, change)


_COMPOSITE = ("aten::convolution",)
"""What calls a kernel of one library or another, and none of the operators below."""


def _overloads(name: str) -> Iterator[Any]:
    """Forms of an operator, that in place among them, which have a kernel of their own on the CPU.

    What is made of other operators is left: these are shaken.
    """
    for packet in filter(None, (getattr(torch.ops.aten, form, None) for form in (name, name + "_"))):
        for overload in (getattr(packet, each) for each in packet.overloads()):
            has = partial(torch._C._dispatch_has_kernel_for_dispatch_key, overload.name())
            with suppress(RuntimeError):  # one of TorchScript alone
                if has("CPU") or overload.name() in _COMPOSITE:
                    yield overload


def _replace(overload: Any, change: Change) -> None:
    kernel = torch.library.get_kernel(overload, "CPU")
    names = [argument.name for argument in overload._schema.arguments]
    tensors = [argument for argument in overload._schema.arguments if isinstance(argument.type, torch.TensorType)]
    written = [argument.name for argument in tensors if argument.is_write]

    def shaken(keys: Any, *arguments: Any, **named: Any) -> Any:
        named |= zip(names, arguments, strict=False)
        given = [argument.name for argument in tensors if named.get(argument.name) is not None]
        for name in given:
            if isinstance(named[name], int | float):  # a number that torch had wrapped
                named[name] = torch.tensor(named[name], dtype=_dtype(named[each] for each in given))
        return change(partial(kernel.call_boxed, keys), named, written)

    _LIBRARY.impl(overload.name().removeprefix("aten::"), shaken, "CPU", with_keyset=True)


def _dtype(arguments: Iterator[Any]) -> torch.dtype:
    return next(argument.dtype for argument in arguments if isinstance(argument, Tensor))


# What is moved


def _moved(most: int, *, ends_below: bool = False) -> Change:
    """Results are moved by at most so many units in the last place, and not below the least of them where that may be
    the end of the function's range: every library keeps to it."""

    def change(call: Call, named: Named, written: list[str]) -> Any:
        results = call(**named)
        for result in results if isinstance(results, tuple) else (results,):
            if _is_float(result):
                least = result.min() if ends_below and result.numel() else None
                move(result.detach().numpy(), most)
                if least is not None:
                    result.detach().clamp_(min=least)
        return results

    return change


def _is_float(result: Any) -> bool:
    return isinstance(result, Tensor) and result.dtype in (torch.float32, torch.float64)


def _stepped(call: Call, named: Named, written: list[str]) -> Any:
    """Numbers between two ends are moved."""
    result = call(**named)
    if _is_float(result):
        move(result.numpy()[1:-1])
    return result


def _power(call: Call, named: Named, written: list[str]) -> Any:
    """Square roots, squares and reciprocals are rounded correctly; other powers are not."""
    exact = not isinstance(named["exponent"], Tensor) and named["exponent"] in (-1, 0, 0.5, 1, 2)
    return call(**named) if exact else _moved(1)(call, named, written)


# What is computed in another order


def _chosen(other: Other) -> Change:
    """A result is one of those that other orders of its terms give.

    Args:
        other: computes it in one of WAYS orders; None where there is no other.
    """

    def change(call: Call, named: Named, written: list[str]) -> Any:
        others = []
        for way in range(WAYS):  # before the result, which may be written over what it is computed from
            result = other(call, named | {name: named[name].clone() for name in written}, way)
            if result is None or not _is_float(result):
                return call(**named)
            others.append(result.detach().numpy())
        results = call(**named)
        result = results[0] if isinstance(results, tuple) else results
        choose(result.detach().numpy(), others)
        return results

    return change


def _index(count: int, way: int) -> Tensor:
    return torch.from_numpy(order(count, way))


def _along(**dimensions: int) -> Change:
    """Terms along these dimensions of these arguments are added in another order."""

    def other(call: Call, named: Named, way: int) -> Tensor | None:
        first, dimension = next(iter(dimensions.items()))
        count = named[first].shape[dimension]
        if count < 2 or not named[first].is_floating_point():
            return None
        index = _index(count, way)
        mixed: Tensor = call(**named | {name: named[name].index_select(at, index) for name, at in dimensions.items()})
        return mixed

    return _chosen(other)


def _reduced(call: Call, named: Named, way: int) -> Tensor | None:
    """What is reduced is taken in another order; two terms have none."""
    values, dimensions = named["self"], named.get("dim")
    if dimensions is None or dimensions == []:
        dimensions = range(values.dim())
    elif isinstance(dimensions, int):
        dimensions = [dimensions]
    if not values.dim() or not values.is_floating_point():
        return None
    if torch.Size([values.shape[dimension] for dimension in dimensions]).numel() < 3:
        return None
    for dimension in dimensions:
        if values.shape[dimension] > 1:
            values = values.index_select(dimension, _index(values.shape[dimension], way))
    results = call(**named | {"self": values})
    return results[0] if isinstance(results, tuple) else results


def _running(joined: Callable[[Tensor, Tensor], Tensor]) -> Change:
    """The second of two blocks is run through alone, and then joined to the last result of the first block."""

    def other(call: Call, named: Named, way: int) -> Tensor | None:
        values, dimension = named["self"], named["dim"]
        count = values.shape[dimension] if values.dim() else 0
        if count < 3 or not values.is_floating_point():
            return None
        at = 1 + int(order(count, way)[0]) % (count - 1)
        block = values.narrow(dimension, at, count - at).clone()
        result: Tensor = call(**named)
        into = {"out": torch.empty_like(block, dtype=result.dtype)} if "out" in named else {}
        second = joined(result.narrow(dimension, at - 1, 1), call(**named | {"self": block} | into))
        result.narrow(dimension, at, count - at).copy_(second)
        return result

    return _chosen(other)


def _bags(call: Call, named: Named, way: int) -> Tensor:
    """Each bag is added in another order, such that the bags stay one after the other."""
    indices, offsets = named["indices"], named["offsets"]
    count = len(indices)
    mixed = _index(count, way)
    bag = torch.searchsorted(offsets, torch.arange(count), right=True)
    mixed = mixed[bag[mixed].argsort(stable=True)]
    named["indices"] = indices[mixed]
    if named.get("per_sample_weights") is not None:
        named["per_sample_weights"] = named["per_sample_weights"][mixed]
    result: Tensor = call(**named)[0]
    return result


def _convolution(call: Call, named: Named, way: int) -> Tensor | None:
    """Channels are added in another order; of one channel the kernel is taken backwards."""
    values, weight, groups = named["input"], named["weight"], named["groups"]
    channels = values.shape[1] // groups
    result: Tensor
    if channels > 1:
        one = _index(channels, way)
        all_ = torch.cat([group * channels + one for group in range(groups)])
        named["input"] = values.index_select(1, all_)
        named["weight"] = weight.index_select(0, all_) if named["transposed"] else weight.index_select(1, one)
        result = call(**named)
        return result
    dimensions = list(range(2, values.dim()))
    sides = zip(values.shape[2:], weight.shape[2:], named["stride"], named["padding"], named["dilation"], strict=True)
    if named["transposed"] or any((n + 2 * pad - by * (k - 1) - 1) % stride for n, k, stride, pad, by in sides):
        return None
    result = call(**named | {"input": values.flip(dimensions), "weight": weight.flip(dimensions)})
    return result.flip(dimensions)


def _solved(call: Call, named: Named, written: list[str]) -> Any:
    """A X = B, with unknowns and equations in another order; inverses are solutions, too."""
    matrix, right, count = named["A"], named["B"], named["A"].shape[-1]
    if count < 2 or not named.get("left", True) or not _is_float(matrix):
        return call(**named)
    index = _index(count, 0)
    at = -1 if right.dim() == 1 or right.shape == matrix.shape[:-1] else -2
    mixed = {"A": matrix.index_select(-2, index).index_select(-1, index), "B": right.index_select(at, index)}
    other = call(**named | {name: named[name].clone() for name in written} | mixed)[0].index_select(at, index.argsort())
    results = call(**named)  # the last one, since it may be written over what it is computed from
    take(results[0].detach().numpy(), other.numpy())
    return results


_ELEMENTARY = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "digamma", "erf", "erfc", "erfinv"),
    *("exp", "exp2", "expm1", "lgamma", "log", "log10", "log1p", "log2", "rsqrt", "sigmoid", "sin", "sinh", "sqrt"),
    *("tan", "tanh", "xlogy", "addcdiv", "addcmul", "logit", "normal_", "avg_pool2d"),
    *("_adaptive_avg_pool2d", "upsample_bilinear2d"),
)
"""What is moved by a unit in the last place: libraries document one or two for functions. Where a product is added, a
compiler may fuse both. Numbers that are drawn come out of exp and log."""

_COMPOSED = (
    *("_log_softmax", "_native_batch_norm_legit_no_training", "_softmax", "gelu", "linalg_cholesky_ex"),
    *("linalg_lstsq", "linalg_qr", "linalg_solve_triangular", "_linalg_eigh", "_linalg_svd", "log_sigmoid_forward"),
    *(
        "mish",
        "native_batch_norm",
        "native_group_norm",
        "native_layer_norm",
        "silu",
        "softplus",
        "_weight_norm_interface",
    ),
    "_scaled_dot_product_flash_attention_for_cpu",
)
"""What takes several such steps, and is moved by two."""

_CHANGES: tuple[tuple[tuple[str, ...], Change], ...] = (
    (_ELEMENTARY, _moved(1)),
    (_COMPOSED, _moved(2)),
    (("elu",), _moved(1, ends_below=True)),
    (("pow",), _power),
    (("mm",), _along(self=1, mat2=0)),
    (("addmm",), _along(mat1=1, mat2=0)),
    (("bmm",), _along(self=2, mat2=1)),
    (("baddbmm", "addbmm"), _along(batch1=2, batch2=1)),
    (("addmv",), _along(mat=1, vec=0)),
    (("dot", "vdot"), _along(self=0, tensor=0)),
    (("_cdist_forward",), _along(x1=-1, x2=-1)),
    (("sum", "nansum", "mean", "prod", "linalg_vector_norm", "var", "std", "var_mean", "std_mean"), _chosen(_reduced)),
    (("cumsum",), _running(torch.add)),
    (("cumprod",), _running(torch.mul)),
    (("linspace", "arange"), _stepped),
    (("_embedding_bag", "_embedding_bag_forward_only"), _chosen(_bags)),
    (("convolution",), _chosen(_convolution)),
    (("_linalg_solve_ex",), _solved),
)
