"""Latents in Parquet: the column `latents`, tensors of one shape or nested lists, and `label` where it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verale.datasets.certificates import ParquetRows
from verale.errors import InputError

if TYPE_CHECKING:
    from pyarrow import ChunkedArray
    from torch import Tensor

_LATENTS, _LABEL = "latents", "label"


def load_parquet(path: str) -> tuple[Tensor, list[int] | None]:
    """The latents (N, ...), unchanged to the last bit, and the true classes of all images, where known.

    Raises:
        InputError: no such Parquet, or rows without latents, of several shapes or with other labels than
            whole numbers.
    """
    import torch

    rows = ParquetRows.open(path, _LATENTS)
    if not len(rows):
        raise InputError(path, "has no rows")
    table = rows.take(0, len(rows), (_LATENTS, _LABEL))
    column = table[_LATENTS]
    try:
        if column.null_count:
            raise ValueError("some rows have no latents")
        latents = torch.as_tensor(_array(column))
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            path, f"column 'latents' is {column.type}, expected float tensors or lists of one shape ({error})"
        ) from error
    labels = table[_LABEL].to_pylist() if _LABEL in table.column_names else None
    if labels is not None and not all(type(label) is int for label in labels):
        raise InputError(
            path, f"column 'label' is {table[_LABEL].type}, expected a whole number for each image, or none"
        )
    return latents, labels


def _array(column: ChunkedArray) -> object:
    """Tensors or nested lists, one a row, as a writable array (N, ...). Raises ValueError: shapes differ."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.combine_chunks()
    rows, stated = len(values), getattr(values.type, "shape", ())
    if list(getattr(values.type, "permutation", None) or range(len(stated))) != list(range(len(stated))):
        raise ValueError("the dimensions are permuted")
    values = values.storage if isinstance(values.type, pa.BaseExtensionType) else values
    shape: list[int] = []
    while pa.types.is_nested(values.type):
        lengths = pc.unique(pc.list_value_length(values)).to_pylist()
        if len(lengths) != 1 or lengths[0] is None:
            raise ValueError("the rows differ in length")
        shape += lengths
        values = values.flatten()
    return values.to_numpy(zero_copy_only=False).reshape(rows, *(stated or shape)).copy()
