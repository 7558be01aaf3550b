"""Certificates and latents as rows of Parquet: the bytes of a certificate's file in a column, or an image's latents."""

from __future__ import annotations

import hashlib
import json
import posixpath
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.certificate.words import float_below
from verale.datasets import storage
from verale.datasets.footer import chunks_of, decoded, open_parquet, require_proportionate
from verale.errors import InputError
from verale.files import SentFile, certificate_index, certificate_name, followed

if TYPE_CHECKING:
    from pyarrow import Schema, Table
    from torch import Tensor

GROUP = 32
"""Rows of a row group: read at once, and audited by one worker at a time."""

_BINARY, _TEXT, _WHOLE = ("binary", "large_binary"), ("string", "large_string"), ("int64", "int32", "int16", "int8")
_KINDS = {"certificate": _BINARY, "name": _TEXT, "index": (*_WHOLE, *(f"u{kind}" for kind in _WHOLE))}
"""The types that columns of a dataset of certificates may have where they exist; of nulls only they may have none."""


def certificates_schema() -> Schema:
    """The columns of a dataset of certificates; `docs/scale.md` says what they mean."""
    import pyarrow as pa

    whole, text = dict.fromkeys(("index", "predicted", "size"), pa.int64()), pa.string()
    return pa.schema(
        {"name": text, **whole, "margin": pa.float64(), "paradigm": text, "sha256": text, "certificate": pa.binary()}
    )


def row_of(name: str, data: bytes) -> dict[str, object]:
    """The row of a certificate file. An invalid certificate gets a row too: the checker reports what is wrong."""
    import pyarrow as pa

    row: dict[str, Any] = {"name": name, "sha256": hashlib.sha256(data).hexdigest(), "certificate": data}
    index = certificate_index(name)
    if index is not None:
        row["index"] = index
    try:
        predicate = json.loads(data)["predicate"]
        margins = [float.fromhex(margin) for margin in predicate["margins"] if margin is not None]
        values = {
            "predicted": int(predicate["predicted"]),
            "paradigm": str(predicate["paradigm"]),
            "size": len(predicate["statements"]),
            "margin": float_below(min(margins)),
        }
        pa.Table.from_pylist([values], certificates_schema())  # whether Parquet can hold them
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return row
    return row | values


def write_rows(path: str, rows: Iterable[dict[str, Any]]) -> int:
    """Write certificates' rows as one file, group by group; return how many. Nobody sees half of the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, written = certificates_schema(), 0
    with storage.open_output(path) as stream, pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        rest = iter(rows)
        while group := list(islice(rest, GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema))
            written += len(group)
    return written


@dataclass(frozen=True)
class ParquetRows:
    """The rows of a Parquet file, or of all Parquet files of a directory, sorted by name.

    Attributes:
        groups: of each row group that is not empty, its file's path in its file system, its number there, its first row
            and the one after its last.
        opened: which call of `open` made this. A group that was read for one call is not taken for another.
    """

    path: str
    groups: tuple[tuple[str, int, int, int], ...]
    opened: str = field(default_factory=lambda: uuid.uuid4().hex, compare=False)

    @classmethod
    def open(cls, path: str, column: str) -> ParquetRows:
        """Raises InputError: no Parquet file, or one without that column or of other types; a part that a link leads
        to, out of its folder (`SentFile`)."""
        from pyarrow import ArrowException
        from pyarrow.fs import LocalFileSystem
        from pyarrow.types import is_dictionary, is_null

        files, root = storage.resolve(path)
        folder = followed(Path(root)) if isinstance(files, LocalFileSystem) else None
        folder = root.folder if isinstance(root, SentFile) else folder
        groups, first = [], 0
        for info in storage.files_under(path):
            file = root if info.path == root else info.path if folder is None else SentFile(info.path, folder)
            try:
                with storage.open_file(files, file) as stream:
                    footer, size = open_parquet(info.path, stream).metadata, stream.size()
                    schema, chunks = footer.schema.to_arrow_schema(), chunks_of(stream, footer)
            except (OSError, ValueError, ArrowException) as error:
                raise InputError(info.path, f"cannot be read as a Parquet file ({storage.reason(error)})") from error
            require_proportionate(info.path, size, footer, chunks)
            names = schema.names
            if names.count(column) != 1:
                raise InputError(
                    info.path, f"has the columns {', '.join(names) or 'none'}; expected one named {column!r}"
                )
            # Certificates, their names and indices need the right types.
            for name, kinds in _KINDS.items() if column == "certificate" else ():
                for place in schema.get_all_field_indices(name):
                    kind = schema.types[place]
                    kind = kind.value_type if is_dictionary(kind) else kind
                    if names.count(name) > 1 or not (is_null(kind) or str(kind) in kinds):
                        repeated = " and repeated" if names.count(name) > 1 else ""
                        raise InputError(info.path, f"column {name!r} is {kind}{repeated}, expected {kinds[0]}")
            for number in range(footer.num_row_groups):
                if rows := footer.row_group(number).num_rows:
                    groups.append((file, number, first, first + rows))
                    first += rows
        return cls(path, tuple(groups))

    def __len__(self) -> int:
        return self.groups[-1][-1] if self.groups else 0

    def take(self, start: int, stop: int, columns: tuple[str, ...]) -> Table:
        """The rows from `start` to `stop`, in those of the columns that exist."""
        import pyarrow as pa

        parts = []
        for file, group, first, after in self.groups:
            if first < stop and start < after:
                begin, end = max(start, first), min(stop, after)
                parts.append(_group(self.opened, self.path, file, group, columns).slice(begin - first, end - begin))
        if not parts:
            raise InputError(self.path, f"has {len(self)} rows; rows {start} to {stop} do not exist")
        return pa.concat_tables(parts)


@lru_cache(maxsize=1)
def _group(opened: str, path: str, file: str, group: int, columns: tuple[str, ...]) -> Table:
    """Those of the columns that exist, of one row group. Raises InputError: it cannot be read, or is too large."""
    import pyarrow.parquet as pq
    from pyarrow import ArrowException
    from pyarrow.types import is_binary, is_string

    try:
        with storage.open_file(storage.resolve(path)[0], file) as stream:
            plain = open_parquet(file, stream)
            shared = [field.name for field in plain.schema_arrow if is_binary(field.type) or is_string(field.type)]
            parquet = pq.ParquetFile(stream, metadata=plain.metadata, read_dictionary=shared)
            present = [name for name in plain.schema_arrow.names if name in columns]
            table = decoded(file, stream.size(), parquet.read_row_group(group, present))
        table.validate(full=True)  # so that all texts are UTF-8
        return table
    except (OSError, ValueError, ArrowException) as error:
        raise InputError(file, f"cannot be read ({storage.reason(error)})") from error


@dataclass(frozen=True)
class PackedCertificate:
    """A certificate in a dataset; `verale.runs.audit` audits these as it audits files.

    Attributes:
        name: in messages and records, after the dataset's path: the one in the column `name`, or NNNNNN.ale.json with
            the row's number where there is none. A name that several rows have, or that holds a `#`, is followed by `#`
            and the row's number: no two of them are alike.
        short: the certificate's name alone, which other rows may have too.
    """

    name: str
    short: str
    rows: ParquetRows
    index: int

    def read(self) -> bytes:
        """Its bytes. Raises InputError: the dataset cannot be read, or has no certificate there any more."""
        table = self.rows.take(self.index, self.index + 1, ("certificate",))
        data = table["certificate"][0].as_py() if table.num_rows and table.column_names else None
        if not isinstance(data, bytes):
            raise InputError(self.rows.path, f"changed while it was read: row {self.index} holds no certificate now")
        return data


def packed_certificates(path: str) -> tuple[list[PackedCertificate], int]:
    """The certificates of a dataset, and how many of its rows have none. Raises InputError."""
    rows = ParquetRows.open(path, "certificate")
    names: list[str] = []
    valid: list[bool] = []
    parts: list[ParquetRows] = []
    for group in rows.groups:
        _, _, start, stop = group
        part = replace(rows, groups=(group,))  # a process gets with a certificate what it needs for it, and no more
        parts += [part] * (stop - start)
        table = part.take(start, stop, ("name", "certificate"))
        given = table["name"].to_pylist() if "name" in table.column_names else [None] * len(table)
        names += [str(name or certificate_name(index)) for index, name in enumerate(given, start)]
        valid += table["certificate"].is_valid().to_pylist()
    plain = [name.lstrip("/") for name in names]  # which never leads out of the dataset, as a path from the root would
    times = Counter(plain)
    labels = [f"{name}#{row}" if times[name] > 1 or "#" in name else name for row, name in enumerate(plain)]
    first, chain, rest = path.partition("::")  # in a chained URI (`zip://a::b.zip`) a name joins the first part
    certificates = [
        PackedCertificate(posixpath.join(first, labels[row]) + chain + rest, names[row], parts[row], row)
        for row, is_one in enumerate(valid)
        if is_one
    ]
    return certificates, len(valid) - len(certificates)


def load_parquet(path: str) -> tuple[Tensor, list[int] | None]:
    """The latents (N, ...), unchanged to the last bit, and the true classes of all images, where known. Raises
    InputError: no such Parquet, or rows without latents, of several shapes, or with labels that are no whole numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import torch

    rows = ParquetRows.open(path, "latents")
    if not len(rows):
        raise InputError(path, "has no rows")
    table = rows.take(0, len(rows), ("latents", "label"))
    column = table["latents"]
    try:
        if column.null_count:
            raise ValueError("some rows have no latents")
        # Tensors or nested lists, one a row, as a writable array (N, ...).
        values = column.combine_chunks()
        stated = getattr(values.type, "shape", ())
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
        array = values.to_numpy(zero_copy_only=False).reshape(len(rows), *(stated or shape))
        latents = torch.as_tensor(array.copy())
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(
            path, f"column 'latents' is {column.type}, expected float tensors or lists of one shape ({error})"
        ) from error
    labels = table["label"].to_pylist() if "label" in table.column_names else None
    if labels is not None and not all(type(label) is int for label in labels):
        raise InputError(
            path, f"column 'label' is {table['label'].type}, expected a whole number for each image, or none"
        )
    return latents, labels
