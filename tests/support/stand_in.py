"""A stand-in for a GPU: a device named `lent` whose tensors lie in the host's memory but cannot be told from a GPU's.

What CUDA refuses is refused: operands on two devices, but for numbers and tensors without dimensions; a device's memory
read without a copy. What CUDA may compute otherwise than the CPU is made as bad as the bounds allow: exp and its like
are off by up to so many units in the last place, the terms of sums and of matrix products come in another order and in
two parts, and a quotient by a number of the host is a product by its reciprocal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("lent")
DEVICE = "lent:0"

_aten = torch.ops.aten
_INEXACT = (_aten.exp.default, _aten.log.default, _aten.log1p.default, _aten.expm1.default, _aten.rsqrt.default)
_QUOTIENTS = (_aten.div.Tensor, _aten.div.Scalar)
_PRODUCTS = (_aten.mm.default, _aten.bmm.default)
_INDEXED = (_aten.index.Tensor, _aten.index_put.default, _aten.index_put_.default, _aten._index_put_impl_.default)


class _Lent(torch.Tensor):
    """A tensor of the device; what it holds is `held`, on the host."""

    held: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: Tensor) -> _Lent:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=torch.device(DEVICE),
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{function} of the device lent, outside the stand-in")

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def new_tensor(self, data: Any, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
        return torch.tensor(data, dtype=dtype or self.dtype).to(self.device)

    def __getitem__(self, index: Any) -> Tensor:
        return super().__getitem__(_indices(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(_indices(index), value)

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert a tensor of the device lent to numpy: copy it to the host first")

    __array__ = numpy


class StandIn(TorchDispatchMode):
    """Lends the device.

    Args:
        ulps: how far exp and its like may be off, in units in the last place.
        seed: of the errors and the orders; None for none of either.
        out_of_memory: words with which an operation fails whose result is a table of so many `rows`.

    Attributes:
        launched: how many operations ran on the device.
        failed: how many of them failed for want of memory.
    """

    def __init__(self, ulps: int = 8, seed: int | None = 0, out_of_memory: str = "", rows: Sequence[int] = ()) -> None:
        super().__init__()
        self.launched = self.failed = 0
        self._ulps = ulps
        self._random = None if seed is None else torch.Generator().manual_seed(seed)
        self._words, self._rows = out_of_memory, rows

    def __enter__(self) -> StandIn:
        self._made = torch.tensor
        torch.tensor = self._tensor  # the real one fills the device's memory behind the mode's back
        super().__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        torch.tensor = self._made
        super().__exit__(*raised)

    def _tensor(self, data: Any, *, dtype: torch.dtype | None = None, device: Any = None, **more: Any) -> Tensor:
        device = torch.get_default_device() if device is None else device
        if torch.device(device).type != "lent":
            return self._made(data, dtype=dtype, device=device, **more)
        return self._made(data, dtype=dtype, **more).to(device)

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        leaves = tree_leaves((args, kwargs))
        lent = [leaf for leaf in leaves if isinstance(leaf, _Lent)]
        target = kwargs.get("device")
        target = None if target is None else torch.device(target).type
        if not lent and target != "lent":
            return function(*args, **kwargs)
        with _disable_current_modes():
            self.launched += 1
            if function in (_aten._to_copy.default, _aten.copy_.default):
                return self._copied(function, args, kwargs, target)
            host = [leaf for leaf in leaves if isinstance(leaf, Tensor) and not isinstance(leaf, _Lent)]
            self._require_one_device(function, args, host)
            held_args, held_kwargs = tree_map(_held, args), tree_map(_held, kwargs)
            if target is not None:
                held_kwargs["device"] = "cpu"
            held_kwargs.pop("pin_memory", None)
            result = self._computed(function, held_args, held_kwargs)
            if isinstance(result, Tensor) and result.dim() > 1 and len(result) in self._rows:
                self.failed += 1
                raise RuntimeError(self._words)
            if function is _aten._local_scalar_dense.default:
                return result
            written = [
                given
                for given, told in zip(args, function._schema.arguments, strict=False)
                if told.alias_info is not None and told.alias_info.is_write
            ]
            return written[0] if written else tree_map(_lent, result)

    def _copied(self, function: Any, args: Any, kwargs: Any, target: str | None) -> Any:
        """A copy, the one operation that may cross from host to device and back."""
        if function is _aten.copy_.default:
            _held(args[0]).copy_(_held(args[1]))
            return args[0]
        source = args[0]
        rest = {name: value for name, value in kwargs.items() if name != "device"}
        copy = function(_held(source), **rest)
        there = target == "lent" if target is not None else isinstance(source, _Lent)
        return _Lent(copy) if there else copy

    def _require_one_device(self, function: Any, args: Any, host: list[Tensor]) -> None:
        indices = tree_leaves(args[1]) if function in _INDEXED else []
        for each in host:
            number = each.dim() == 0 and (torch.Tag.pointwise in function.tags or function in _INDEXED)
            if not number and not any(each is index for index in indices):
                raise RuntimeError(f"{function}: expected all tensors on one device, found lent:0 and cpu {each.shape}")

    def _computed(self, function: Any, args: Any, kwargs: Any) -> Any:
        if function in _QUOTIENTS and isinstance(args[1], (int, float)) and args[0].is_floating_point():
            return args[0] * (1.0 / args[1])
        if self._random is not None and args and isinstance(args[0], Tensor) and args[0].dtype == torch.float64:
            if function in _INEXACT:
                return self._off(function(*args, **kwargs))
            if function in _PRODUCTS and args[0].shape[-1] > 1:
                order = torch.randperm(args[0].shape[-1], generator=self._random)
                left, right = args[0][..., order], args[1][..., order, :]
                half = len(order) // 2
                first = function(left[..., :half].contiguous(), right[..., :half, :].contiguous())
                return first + function(left[..., half:].contiguous(), right[..., half:, :].contiguous())
            if function is _aten.sum.dim_IntList and len(args[1]) == 1:
                order = torch.randperm(args[0].shape[args[1][0]], generator=self._random)
                return function(args[0].index_select(args[1][0], order), *args[1:], **kwargs)
        return function(*args, **kwargs)

    def _off(self, values: Tensor) -> Tensor:
        """Values moved by up to so many units in the last place."""
        steps = torch.randint(-self._ulps, self._ulps + 1, values.shape, generator=self._random)
        for step in range(self._ulps):
            towards = torch.where(steps > 0, torch.inf, -torch.inf).to(values.dtype)
            moves = (steps.abs() > step) & (values != 0) & values.isfinite()
            values = torch.where(moves, torch.nextafter(values, towards), values)
        return values


def _indices(index: Any) -> Any:
    """With lists as tensors of the device: torch copies them there by ways that no mode sees."""
    if isinstance(index, tuple):
        return tuple(map(_indices, index))
    return torch.tensor(index, dtype=None if index else torch.long, device=DEVICE) if isinstance(index, list) else index


def _held(value: Any) -> Any:
    return value.held if isinstance(value, _Lent) else value


def _lent(value: Any) -> Any:
    return _Lent(value) if isinstance(value, Tensor) and not isinstance(value, _Lent) else value
