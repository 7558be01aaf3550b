"""Another processor's last bits, here: with a number in SHAKE, the seed, what torch and `math` compute comes out as
another library may give it. No test may depend on that.

- Products of matrices, sums, means, norms, variances and distances are added in another order. So all that is proved
  for any order stays true, and what is exact in any order stays as it is. Running sums come in two blocks;
- systems of equations are eliminated in another order;
- exp, log and what else libraries do not round correctly are moved by a unit in the last place, unless they are 0,
  infinite, no numbers, or so short that they are exact.

What IEEE 754 rounds correctly, + - * /, is never moved: `verale.rounding` rests on it. But torch's square roots are,
since Intel's library does not round them correctly. Nor are GPUs, the checker, which computes in whole numbers, and
processes that tests start.

torch's kernels for the CPU are replaced below all of its names: methods, operators, functions of `linalg` and
`nn.functional`, in-place and `out=` forms, and what runs backwards, call the same ones. A kernel is found by its
operator's schema, so a torch without one of these operators is shaken in the others. The same input gives the same
output, in every thread.

numpy brings kernels for several processors: `make test-shaken` tells it (NPY_DISABLE_CPU_FEATURES) and its BLAS
(OPENBLAS_CORETYPE) to take those of an old one. numpy's sums along rows, scipy's sparse products and its linear
programmes are the same on each: one build, without fused operations. Python's sums of floats are compensated from 3.12
on: CI runs the tests with the Python before, too.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

_SEED = int(os.environ.get("SHAKE") or "0")

WAYS = 2
"""So many other orders are tried."""

_PRIME = 2**31 - 1
_MANY = 2**16

_LAYOUT = {np.dtype(np.float64): (np.int64, 52, 26, 2**63 - 1), np.dtype(np.float32): (np.int32, 23, 12, 2**31 - 1)}
"""Of each dtype the whole numbers of its size, the bits of its fraction, how many of them are 0 in a number that is
taken for exact: exp(0), a logarithm of 1, or tanh where it is 1; and all bits but the sign."""


def order(count: int, way: int) -> np.ndarray[Any, Any]:
    """Another order of so many terms, one of WAYS; never the order that they have, if there are two."""
    return _order(count, way, seed())


def _index(count: int, way: int) -> Tensor:
    """The same as a tensor, which nobody writes to."""
    return _index_of(count, way, seed())


@lru_cache(maxsize=512)
def _index_of(count: int, way: int, of: int) -> Tensor:
    return torch.from_numpy(_order(count, way, of))


@lru_cache(maxsize=512)
def _order(count: int, way: int, of: int) -> np.ndarray[Any, Any]:
    backwards = np.arange(count)[::-1].copy()
    if count > _MANY:
        return backwards
    mixed = np.random.default_rng((of, count, way)).permutation(count)
    return backwards if (mixed == np.arange(count)).all() else mixed


def choose(result: np.ndarray[Any, Any], others: list[np.ndarray[Any, Any]]) -> None:
    """Write over a result what it is in other orders of its terms: of each entry the least or the greatest, such that
    it differs where it can.

    What is not finite in one of the orders stays: it overflows, or comes from a matrix that is singular.
    """
    if result.dtype not in _LAYOUT or not result.size:
        return
    least, most = result, result
    for other in others:
        least, most = np.minimum(least, other), np.maximum(most, other)
    up = ((_steps(_size(result), seed(), 2) > 0) | (least == result)) & (most != result)
    np.copyto(result, np.where(up, most, least), where=np.isfinite(least) & np.isfinite(most))


def _take(result: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    """Write another solution over one, where both are finite: what a singular matrix gives is nobody's.

    Whole ones: errors of a solution belong together, and entries of several solutions may solve nothing.
    """
    result[...] = np.where(np.isfinite(result) & np.isfinite(other), other, result)


def move(values: np.ndarray[Any, Any], most: int = 1) -> None:
    """Move numbers in place, by at most so many units in the last place.

    0, subnormal numbers, what is not finite and what is exact stay. The sign does not matter: odd functions stay odd.
    """
    if values.dtype not in _LAYOUT or not values.size:
        return
    whole, fraction, short, _ = _LAYOUT[values.dtype]
    bits, size = values.view(whole), _size(values)
    exponent = size >> fraction
    largest = (1 << (8 * values.itemsize - 1 - fraction)) - 1
    stays = (exponent == 0) | (exponent >= largest - 1) | (size & ((1 << short) - 1) == 0)
    bits += np.where(stays, 0, _steps(size, seed(), most)).astype(whole)


def _size(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of a number without its sign, as a whole number."""
    whole, _, _, all_but_sign = _LAYOUT[values.dtype]
    return (values.view(whole) & all_but_sign).astype(np.int64, copy=False)


def _steps(size: Any, of: int, most: int) -> Any:
    """Steps from -most to most, as they follow from whole numbers from 0 on."""
    return (size % _PRIME * (48271 + 2 * of) + 7919 * of) % _PRIME % (2 * most + 1) - most


Call = Callable[..., Any]
Named = dict[str, Any]
Change = Callable[[Call, Named, list[str]], Any]
Other = Callable[[Call, Named, int], Tensor | None]


def seed() -> int:
    """The seed; 0 where nothing is shaken."""
    return _SEED


def start() -> None:
    """Shake torch and `math` in this process. What has imported a function of `math` by its name keeps it."""
    global _LIBRARY
    if _LIBRARY is not None:
        return
    if not hasattr(torch.library, "get_kernel"):
        raise RuntimeError(f"torch {torch.__version__} does not give its kernels away: SHAKE takes torch 2.9 or later")
    _LIBRARY = torch.library.Library("aten", "IMPL")  # what it registers lasts as long as it does
    for name in _OF_MATH:
        setattr(math, name, _moved_float(getattr(math, name)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is replaced
        for names, change in _CHANGES:
            for name in names:
                for overload in _overloads(name):
                    _replace(overload, change)


_LIBRARY: Any = None
_OF_MATH = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "erfc", "exp", "expm1"),
    *("gamma", "lgamma", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh"),
)
"""What the C library computes, and no standard says how well. `math.hypot` and `math.dist` are Python's own."""
_COMPOSITE = ("aten::convolution",)
"""What calls a kernel of one library or another, and none of the operators below."""


def _moved_float(function: Callable[..., float]) -> Callable[..., float]:
    def shaken(*arguments: Any) -> float:
        value = np.array([function(*arguments)])
        move(value)
        return float(value[0])

    return shaken


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
    if math.prod(values.shape[dimension] for dimension in dimensions) < 3:
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
    mixed = _index(len(indices), way)
    bag = torch.searchsorted(offsets, torch.arange(len(indices)), right=True)
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
    _take(results[0].detach().numpy(), other.numpy())
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
    (("_embedding_bag", "_embedding_bag_forward_only"), _chosen(_bags)),
    (("cumsum",), _running(torch.add)),
    (("cumprod",), _running(torch.mul)),
    (("linspace", "arange"), _stepped),
    (("convolution",), _chosen(_convolution)),
    (("_linalg_solve_ex",), _solved),
)
