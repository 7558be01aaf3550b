"""Certificates in bulk: Parquet with one certificate a row, the bytes of its file in a column."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.datasets import storage
from verale.errors import InputError
from verale.files import certificate_index, certificate_name, certificates_in

if TYPE_CHECKING:
    from pyarrow import Array, Schema, Table

__all__ = [
    "GROUP",
    "MANIFEST",
    "SUCCESS",
    "PackedCertificate",
    "ParquetRows",
    "certificates_schema",
    "is_dataset",
    "packed_certificates",
    "row_of",
    "to_parquet",
    "to_table",
    "write_rows",
]

GROUP = 32
"""Rows of a row group: read at once, and audited by one worker at a time."""

MANIFEST, SUCCESS = "_verale.json", "_SUCCESS"
"""Files of a dataset that verale writes: what its rows depend on; and a mark that it is complete."""


def certificates_schema() -> Schema:
    """The columns of a dataset of certificates; `docs/scale.md` says what they mean."""
    import pyarrow as pa

    return pa.schema(
        {
            "index": pa.int64(),
            **dict.fromkeys(("name", "image"), pa.string()),
            **dict.fromkeys(("predicted", "label", "size"), pa.int64()),
            "correct": pa.bool_(),
            **dict.fromkeys(("relative_size", "margin"), pa.float64()),
            **dict.fromkeys(("paradigm", "sha256", "reason"), pa.string()),
            **dict.fromkeys(("seconds", "score", "probability"), pa.float64()),
            "second": pa.int64(),
            **dict.fromkeys(("second_score", "second_probability"), pa.float64()),
            "certificate": pa.binary(),
        }
    )


def row_of(name: str, data: bytes) -> dict[str, Any]:
    """The row of a certificate file. An invalid certificate gets a row too: the checker reports what is wrong."""
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
            "margin": min(margins),
        }
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return row
    return row | values


def to_table(rows: Sequence[dict[str, Any]], schema: Schema, columns: Mapping[str, Array] | None = None) -> Table:
    """A table of rows.

    Args:
        rows: values by column; a missing value becomes null.
        schema: the columns.
        columns: whole columns, taken as they are.
    """
    import pyarrow as pa

    arrays = {
        field.name: (columns or {}).get(field.name)
        or (
            pa.ExtensionArray.from_storage(field.type, pa.nulls(len(rows), field.type.storage_type))
            if isinstance(field.type, pa.BaseExtensionType)
            else pa.array([row.get(field.name) for row in rows], field.type)
        )
        for field in schema
    }
    return pa.table(arrays, schema=schema)


def to_parquet(table: Table) -> bytes:
    """The bytes of a Parquet file."""
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd", row_group_size=GROUP)
    return stream.getvalue()


def write_rows(path: str, rows: Iterable[dict[str, Any]]) -> int:
    """Write certificates' rows as one file, group by group; return how many. Nobody sees half of the file."""
    import pyarrow.parquet as pq

    schema, written = certificates_schema(), 0
    with storage.open_output(path) as stream, pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        rest = iter(rows)
        while group := list(islice(rest, GROUP)):
            writer.write_table(to_table(group, schema))
            written += len(group)
    return written


@dataclass(frozen=True)
class ParquetRows:
    """The rows of a Parquet file, or of all Parquet files of a directory, sorted by name.

    Attributes:
        path: as given.
        files: each file's path in its file system, and the sizes of its row groups.
    """

    path: str
    files: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def open(cls, path: str, column: str) -> ParquetRows:
        """Raises InputError: no Parquet file, one without that column, or an unfinished dataset."""
        import pyarrow.parquet as pq
        from pyarrow import ArrowInvalid

        infos = storage.files_under(path, ".parquet")
        if storage.exists(storage.join(path, MANIFEST)) and not storage.exists(storage.join(path, SUCCESS)):
            raise InputError(path, "is not finished; run the command that began it again")
        files, _ = storage.resolve(path)
        sizes = []
        for info in infos:
            try:
                with files.open_input_file(info.path) as stream:
                    footer = pq.ParquetFile(stream).metadata
            except (OSError, ArrowInvalid) as error:
                raise InputError(info.path, f"cannot be read as a Parquet file ({error})") from error
            names = footer.schema.to_arrow_schema().names
            if column not in names:
                raise InputError(info.path, f"has the columns {', '.join(names)}; expected one named {column!r}")
            sizes.append((info.path, tuple(footer.row_group(n).num_rows for n in range(footer.num_row_groups))))
        return cls(path, tuple(sizes))

    def __len__(self) -> int:
        return sum(sum(groups) for _, groups in self.files)

    @property
    def groups(self) -> list[tuple[int, int]]:
        """Where every row group starts and stops; empty groups are left out."""
        return [(start, start + size) for _, _, start, size in self._groups() if size]

    def take(self, start: int, stop: int, columns: tuple[str, ...]) -> Table:
        """The rows from `start` to `stop`, in those of the columns that exist."""
        import pyarrow as pa

        parts = []
        for file, group, first, size in self._groups():
            if first < stop and start < first + size:
                begin, end = max(start - first, 0), min(stop - first, size)
                parts.append(_group(self.path, file, group, columns).slice(begin, end - begin))
        if not parts:
            raise InputError(self.path, f"has {len(self)} rows; rows {start} to {stop} do not exist")
        return pa.concat_tables(parts)

    def _groups(self) -> Iterator[tuple[str, int, int, int]]:
        first = 0
        for file, groups in self.files:
            for number, size in enumerate(groups):
                yield file, number, first, size
                first += size


@lru_cache(maxsize=1)
def _group(path: str, file: str, group: int, columns: tuple[str, ...]) -> Table:
    import pyarrow.parquet as pq

    files, _ = storage.resolve(path)
    try:
        with files.open_input_file(file) as stream:
            parquet = pq.ParquetFile(stream)
            return parquet.read_row_group(group, [name for name in parquet.schema_arrow.names if name in columns])
    except OSError as error:
        raise InputError(file, f"cannot be read ({error})") from error


@dataclass(frozen=True)
class PackedCertificate:
    """A certificate in a dataset; `verale.runs.audit` audits these as it audits files.

    Attributes:
        name: the dataset's path and the certificate's name in it.
        short: the certificate's name alone.
        rows, index: the dataset, and the certificate's row in it.
    """

    name: str
    short: str
    rows: ParquetRows
    index: int

    @property
    def is_plain(self) -> bool:
        """Whether its short name can be the name of a file in any folder."""
        return self.short not in ("", ".", "..") and not set(self.short) & set("/\\:\0")

    def read(self) -> bytes:
        """Its bytes."""
        data: bytes = self.rows.take(self.index, self.index + 1, ("certificate",))["certificate"][0].as_py()
        return data


def packed_certificates(path: str) -> tuple[list[PackedCertificate], int]:
    """The certificates of a dataset, and how many of its rows have none. Raises InputError."""
    rows = ParquetRows.open(path, "certificate")
    certificates, without = [], 0
    for index, (name, has_one) in enumerate(_names(rows)):
        if has_one:
            certificates.append(PackedCertificate(storage.join(path, name), name, rows, index))
        without += not has_one
    return certificates, without


def _names(rows: ParquetRows) -> Iterable[tuple[str, bool]]:
    """Each row's name, and whether it has a certificate."""
    for start, stop in rows.groups:
        table = rows.take(start, stop, ("name", "certificate"))
        names = table["name"].to_pylist() if "name" in table.column_names else [None] * len(table)
        has_one = table["certificate"].is_valid().to_pylist()
        for index, (name, valid) in enumerate(zip(names, has_one, strict=True), start):
            yield name or certificate_name(index), valid


def is_dataset(path: str) -> bool:
    """Whether a path given by a user is Parquet rather than a certificate, or a folder of certificates."""
    if path.endswith(".parquet") or "://" in path:
        return True
    folder = Path(path)
    return folder.is_dir() and not certificates_in(folder) and any(folder.rglob("*.parquet"))
