"""What a search asks of a device: operations, synchronisations, uploads and bytes; and the time that follows.

Counted on the CPU, operation by operation, by a dispatch mode of torch: the operations are those of a GPU, because no
code of the search is for one device. The time is an estimate: nothing was measured on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

__all__ = ["BANDWIDTH", "LAUNCH", "SYNCHRONISATION", "UPLOAD", "Counts", "counted"]

LAUNCH = 6e-6
"""Seconds that an operation takes at least: Python, torch and CUDA launch it."""
SYNCHRONISATION = 20e-6
"""Seconds that the host waits for a number beyond the work before it: a copy of a few bytes, and an idle device."""
UPLOAD = 10e-6
"""Seconds that a small copy of the host's memory takes."""
BANDWIDTH = 4.8e12
"""Bytes a second of an H200's memory."""

_aten = torch.ops.aten
_READ = (_aten._local_scalar_dense.default,)
_SIZED = (_aten.nonzero.default, _aten.masked_select.default, _aten.repeat_interleave.Tensor)
"""How large their results are depends on the values: the host has to know it."""
_CHOSEN = (_aten.index.Tensor, _aten.gather.default, _aten.index_select.default, _aten.take.default)
"""Of the first argument they read as much as they write."""
_WRITTEN = (_aten.index_put_.default, _aten._index_put_impl_.default)
_COPIED = {torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.cpu, torch.Tensor.__array__}
_UPLOADED = {torch.tensor, torch.as_tensor, torch.from_numpy, torch.Tensor.new_tensor}


@dataclass
class Counts:
    """What was asked for.

    Attributes:
        operations: kernels launched; views are none.
        synchronisations: numbers or sizes that the host waits for.
        uploads: tensors made of the host's numbers.
        bytes: read and written.
        seconds: the estimate: of every operation the launch or its bytes, whichever takes longer, then what waits.
    """

    operations: float = 0
    synchronisations: float = 0
    uploads: float = 0
    bytes: float = 0
    seconds: float = 0

    def plus(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def times(self, factor: float) -> Counts:
        """The same so many times."""
        return Counts(*(factor * getattr(self, field.name) for field in fields(self)))


class _Operations(TorchDispatchMode):
    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if function in _READ:
            self._wait()
            return result
        if any(each.alias_info is not None and not each.alias_info.is_write for each in function._schema.returns):
            return result
        if function in _SIZED or _reads_mask(function, args):
            self._wait()
        moved = _bytes(result) + _bytes([args, kwargs or {}])
        if function in _CHOSEN or function in _WRITTEN:
            moved += _bytes(result if function in _CHOSEN else args[2]) - _bytes(args[0])
            moved -= _bytes(result) if function in _WRITTEN else 0
        self._counts.operations += 1
        self._counts.bytes += moved
        self._counts.seconds += max(LAUNCH, moved / BANDWIDTH)
        return result

    def _wait(self) -> None:
        self._counts.synchronisations += 1
        self._counts.seconds += SYNCHRONISATION


class _Copies(TorchFunctionMode):
    """What no dispatch mode sees of tensors of the host: that they are read as a whole, or made of numbers."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in _COPIED:
            self._counts.synchronisations += 1
            self._counts.seconds += SYNCHRONISATION
        elif function in _UPLOADED and not isinstance(args[-1], Tensor):
            self._counts.uploads += 1
            self._counts.seconds += UPLOAD
        return function(*args, **(kwargs or {}))


def _reads_mask(function: Any, args: Any) -> bool:
    """Whether rows are chosen by truth values: their number has to be known, unless one number is written there."""
    if function not in (_aten.index.Tensor, *_WRITTEN):
        return False
    masks = any(isinstance(each, Tensor) and each.dtype == torch.bool for each in args[1])
    return masks and not (function in _WRITTEN and args[2].numel() == 1)


def _bytes(values: Any) -> int:
    return sum(each.numel() * each.element_size() for each in tree_leaves(values) if isinstance(each, Tensor))


@contextmanager
def counted() -> Iterator[Counts]:
    """What is asked for within the block."""
    counts = Counts()
    with _Copies(counts), _Operations(counts):
        yield counts
