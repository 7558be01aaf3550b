"""Runs with Ray, resumed: a part counts if it is about the bytes that lie there now. Without Ray."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from verale.checker.file_auditor import Outcome
from verale.datasets.certificates import ParquetRows
from verale.datasets.latents import open_latents
from verale.errors import InputError
from verale.head import Head, save_latents
from verale.runs import audit_dataset as audit
from verale.runs import explain_dataset as explain
from verale.runs.auditor import AuditOptions, AuditSetup
from verale.runs.parts import Explainer
from verale.runs.workers.ray import Workers
from verale.search import SearchOptions

PARTS = 4
ROWS = 3
"""Rows of each part."""


@pytest.fixture
def folder(given, tmp_path: Path) -> Path:
    fill(tmp_path, given)
    return tmp_path


def fill(folder: Path, given) -> None:
    """Head, latents, and twelve certificates in four Parquet files that nothing compresses."""
    (folder / "head").write_bytes(Path(given.head).read_bytes())
    (folder / "latents").write_bytes(Path(given.latents).read_bytes())
    (folder / "set").mkdir()
    for part in range(PARTS):
        write(folder, part, given.certificates[part * ROWS : (part + 1) * ROWS])


def write(folder: Path, part: int, certificates: list[bytes | None], names: list[str] | None = None) -> None:
    rows = range(part * ROWS, part * ROWS + len(certificates))
    columns = {"index": list(rows), "name": names or [f"{row:06d}.ale.json" for row in rows]}
    table = pa.table(columns | {"certificate": pa.array(certificates, pa.binary())})
    pq.write_table(table, folder / "set" / f"part-{part}.parquet", compression="none")


def wrong(certificate: bytes) -> bytes:
    """The certificate with another class: as long as it was, and refuted by the checker."""
    document = json.loads(certificate)
    predicted = document["predicate"]["predicted"]
    changed = certificate.replace(b'"predicted": %d' % predicted, b'"predicted": %d' % ((predicted + 1) % 3))
    assert len(changed) == len(certificate) and changed != certificate
    return changed


def run(folder: Path, publish: bool = True, **options: Any) -> list[Outcome]:
    """The outcomes of an audit, which is interrupted after its last part or published."""
    opened = audit.audit_rows(
        str(folder / "set"),
        AuditSetup(str(folder / "head"), str(folder / "latents"), AuditOptions(**options)),
        str(folder / "log"),
        Workers(2),
    )
    outcomes = [outcome for part in opened.parts for outcome in part.result]
    if publish:
        opened.staged.publish(opened.total)
        rows = ParquetRows.open(str(folder / "log"), "record")
        table = rows.take(0, len(rows), ("record", "status", "exit_code")).to_pylist()
        assert [json.loads(row["record"]) for row in table] == [outcome.record for outcome in outcomes]
        for row, outcome in zip(table, outcomes, strict=True):
            assert (row["status"], row["exit_code"]) == (outcome.record["status"], outcome.exit_code)
    return outcomes


def statuses(outcomes: list[Outcome]) -> list[str]:
    return [outcome.record["status"] for outcome in outcomes]


def reused(outcomes: list[Outcome]) -> list[bool]:
    return [outcome.reused for outcome in outcomes]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `prepared` keeps what is done once for all tests here."""
    return tmp_path_factory.mktemp("kept")


def prepared(kept: Path, name: str, prepare: Callable[[Path], None]) -> Path:
    """A folder as it is once it is prepared: at the same place in every test, since its files name that place."""
    folder, copy = kept / name, kept / f"{name} as it was"
    shutil.rmtree(folder, ignore_errors=True)
    if not copy.exists():
        folder.mkdir()
        prepare(folder)
        shutil.copytree(folder, copy)
    else:
        shutil.copytree(copy, folder)
    return folder


@pytest.fixture
def interrupted(kept: Path, given, without_ray) -> Path:
    """An audit of everything that was not published."""

    def prepare(folder: Path) -> None:
        fill(folder, given)
        assert statuses(run(folder, publish=False)) == ["PROVED"] * PARTS * ROWS

    return prepared(kept, "interrupted", prepare)


def parts(folder: Path, log: str = "log") -> list[Path]:
    return sorted((folder / f"{log}.partial").glob("part-*"))


def noted(path: Path) -> None:
    """Note a part that was changed, as whoever can change it can."""
    name = f"{path.name}.{hashlib.sha256(path.read_bytes()).hexdigest()}"
    (path.parent / "_files").mkdir(exist_ok=True)
    (path.parent / "_files" / name).touch()


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the rows of a written part of the log, `record` as an object."""
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        row["record"] = json.loads(row["record"])
    change(rows)
    for row in rows:
        row["record"] = json.dumps(row["record"])
    pq.write_table(pa.Table.from_pylist(rows, schema=audit.records_schema()), path)
    noted(path)


def test_what_is_still_true_is_taken_over_and_says_so(interrupted) -> None:
    outcomes = run(interrupted)
    assert statuses(outcomes) == ["PROVED"] * PARTS * ROWS and all(reused(outcomes))
    assert all(outcome.line.endswith("  taken from the audit log") for outcome in outcomes)


def test_bytes_of_the_old_length_and_time_are_audited(interrupted, given) -> None:
    """By path, size and time of the file they were called PROVED."""
    path = interrupted / "set" / "part-1.parquet"
    before = path.stat()
    write(interrupted, 1, [given.certificates[3], wrong(given.certificates[4]), given.certificates[5]])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    outcomes = run(interrupted)
    assert [outcome.record["status"] != "PROVED" for outcome in outcomes] == [row == 4 for row in range(12)]
    assert reused(outcomes) == [True] * 3 + [False] * 3 + [True] * 6


def test_the_same_bytes_of_another_time_are_not_audited_again(interrupted) -> None:
    for path in (interrupted / "set").iterdir():
        os.utime(path, (1, 1))
    assert all(reused(run(interrupted)))


def test_two_certificates_that_change_places_are_audited(interrupted, given) -> None:
    """Each digest is still there, but of another row."""
    write(interrupted, 0, [given.certificates[row] for row in (1, 0, 2)])
    assert reused(run(interrupted)) == [False] * 3 + [True] * 9


def test_a_certificate_of_another_name_is_audited(interrupted, given) -> None:
    write(interrupted, 0, given.certificates[:3], ["000000.ale.json", "other.ale.json", "000002.ale.json"])
    outcomes = run(interrupted)
    assert reused(outcomes) == [False] * 3 + [True] * 9
    assert outcomes[1].record["certificate"] == f"{interrupted}/set/other.ale.json"


def test_names_that_several_rows_have_are_told_apart(interrupted, given) -> None:
    write(interrupted, 3, given.certificates[9:12], [f"{row:06d}.ale.json" for row in (0, 10, 11)])
    outcomes = run(interrupted)
    names = [outcome.record["certificate"].removeprefix(f"{interrupted}/set/") for outcome in outcomes]
    expected = [f"{row:06d}.ale.json" for row in range(12)]
    assert names == ["000000.ale.json#0", *expected[1:9], "000000.ale.json#9", *expected[10:]]
    assert reused(outcomes) == [False] * 3 + [True] * 6 + [False] * 3


def test_a_row_whose_certificate_is_gone_or_new_is_noticed(interrupted, given) -> None:
    write(interrupted, 2, [given.certificates[6], None, given.certificates[8]])
    assert reused(run(interrupted, publish=False)) == [True] * 6 + [False] * 2 + [True] * 3
    assert reused(run(interrupted, publish=False)) == [True] * 11
    write(interrupted, 2, given.certificates[6:9])
    assert reused(run(interrupted)) == [True] * 6 + [False] * 3 + [True] * 3


@pytest.mark.parametrize("rows", [2, 4])
def test_another_number_of_rows_is_another_dataset(rows, interrupted, given) -> None:
    before = [path.read_bytes() for path in parts(interrupted)]
    write(interrupted, 1, given.certificates[:rows])
    with pytest.raises(InputError, match="was begun with another certificates; remove it"):
        run(interrupted)
    assert [path.read_bytes() for path in parts(interrupted)] == before


def test_other_files_are_another_dataset(interrupted) -> None:
    """Its verdicts are not removed as if they were wrong."""
    before = [path.read_bytes() for path in parts(interrupted)]
    (interrupted / "set" / "part-3.parquet").rename(interrupted / "set" / "part-4.parquet")
    with pytest.raises(InputError, match="was begun with another certificates; remove it"):
        run(interrupted)
    assert [path.read_bytes() for path in parts(interrupted)] == before


@pytest.mark.parametrize("field", ["head", "latents"])
def test_another_head_or_other_latents_are_another_run(field, interrupted, given) -> None:
    """Of the old length and time, too: their bytes count."""
    path = interrupted / field
    before, data = path.stat(), path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(InputError, match="was begun with another run; remove it"):
        run(interrupted)
    with pytest.raises(InputError, match="was begun with another run; remove it"):
        path.write_bytes(data)
        run(interrupted, minimality=True)
    assert all(reused(run(interrupted)))


def prove(rows: list[dict[str, Any]]) -> None:
    rows[1]["record"] |= {"status": "PROVED", "reason": "", "exit_code": 0}


LIES: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "status": lambda rows: rows[1]["record"].update(status="REFUTED"),
    "exit code": lambda rows: rows[1]["record"].update(exit_code=4),
    "digest": lambda rows: rows[1]["record"].update(sha256="0" * 64),
    "digest of none": lambda rows: rows[1]["record"].update(sha256=None),
    "name": lambda rows: rows[1]["record"].update(certificate="other"),
    "run": lambda rows: rows[1]["record"]["run"].update(limit=7),  # which contradicts nothing else in the record
    "checker": lambda rows: rows[1]["record"]["run"]["checker"].update(sha256="0" * 64),
    "latents": lambda rows: rows[1]["record"]["run"].update(latents=None),
    "a field too few": lambda rows: rows[1]["record"].pop("margins"),
    "a field too many": lambda rows: rows[1]["record"].update(mine=1),
    "another type": lambda rows: rows[1].update(record=[1]),
    "a row too few": lambda rows: rows.pop(),
    "a row too many": lambda rows: rows.append(rows[0]),
    "another order": lambda rows: rows.reverse(),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_part_that_lies_is_audited_again(lie, interrupted) -> None:
    rewrite(parts(interrupted)[2], LIES[lie])
    outcomes = run(interrupted)
    assert statuses(outcomes) == ["PROVED"] * PARTS * ROWS
    assert reused(outcomes) == [True] * 6 + [False] * 3 + [True] * 3


def test_a_part_with_another_verdict_on_the_same_bytes_is_audited_again(interrupted, given) -> None:
    write(interrupted, 2, given.certificates[:3])
    run(interrupted, publish=False)
    refused = {"status": "NOT_PROVED", "reason": "entailment", "exit_code": 3, "margin": None, "by": {}}

    def contradict(rows: list[dict[str, Any]]) -> None:
        record = rows[1]["record"]
        record |= refused | {"claims": dict.fromkeys(record["claims"], "not checked")}

    rewrite(parts(interrupted)[2], contradict)
    outcomes = run(interrupted)
    assert statuses(outcomes) == ["PROVED"] * PARTS * ROWS
    assert reused(outcomes) == [True] * 6 + [False] * 3 + [True] * 3


def test_columns_that_contradict_their_record_do_not_survive(interrupted) -> None:
    """A part is written again from its records; `run` compares the columns with them."""
    rewrite(parts(interrupted)[2], lambda rows: rows[1].update(status="REFUTED", exit_code=4))
    assert all(reused(run(interrupted)))


@pytest.mark.parametrize("data", [b"", b"PAR1", b"\0" * 1000])
def test_a_damaged_part_is_audited_again(data, interrupted) -> None:
    parts(interrupted)[2].write_bytes(data)
    noted(parts(interrupted)[2])
    assert reused(run(interrupted)) == [True] * 6 + [False] * 3 + [True] * 3


def test_a_part_that_verale_did_not_write_as_it_is_stays(interrupted) -> None:
    """It has the name of a part; whose it is, nobody knows."""
    path = parts(interrupted)[2]
    path.write_bytes(b"mine")
    with pytest.raises(InputError, match=rf"holds '{path.name}', which verale did not write, or which"):
        run(interrupted)
    assert path.read_bytes() == b"mine"
    path.unlink()
    assert reused(run(interrupted)) == [True] * 6 + [False] * 3 + [True] * 3


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, "{}", "null", '"PROVED"', None])
def test_a_record_that_is_not_one_is_audited_again(text, interrupted) -> None:
    path = parts(interrupted)[2]
    rows = pq.read_table(path).to_pylist()
    rows[1]["record"] = text
    pq.write_table(pa.Table.from_pylist(rows, schema=audit.records_schema()), path)
    noted(path)
    assert reused(run(interrupted)) == [True] * 6 + [False] * 3 + [True] * 3


def test_a_part_beside_the_others_is_not_published(interrupted) -> None:
    path = parts(interrupted)[2]
    (path.parent / "mine.parquet").write_bytes(path.read_bytes())
    with pytest.raises(InputError, match=r"holds .mine\.parquet., which is not a part of this dataset"):
        run(interrupted)
    assert not (interrupted / "log").exists()


def test_latents_that_change_while_certificates_are_audited(folder, without_ray, monkeypatch) -> None:
    """Workers read them part by part, after their digest was taken: what the records say would not be true."""

    class Changing(audit._AuditRows):
        def __call__(self, start, stop):
            if start == ROWS:
                latents = open_latents(str(folder / "latents")).whole()
                latents[-1] = latents[-2]
                save_latents(folder / "latents", latents)
            return super().__call__(start, stop)

    monkeypatch.setattr(audit, "_AuditRows", Changing)
    with pytest.raises(InputError, match="latents: changed while certificates were audited; run the command again"):
        run(folder)
    assert not (folder / "log").exists() and not (folder / "log.partial").exists()


def test_a_record_names_the_checker_that_gave_the_verdict(folder, without_ray, monkeypatch) -> None:
    """A worker elsewhere may have other libraries than the process that started it."""

    class Elsewhere(audit._AuditRows):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self._run = self._run | {"libraries": {"python": "2.7"}, "kernel": "mpmath"}

    here = run(folder, publish=False)[0].record["run"]
    (folder / "log.partial").rename(folder / "before")
    monkeypatch.setattr(audit, "_AuditRows", Elsewhere)
    assert [outcome.record["run"] for outcome in run(folder)] == [here] * PARTS * ROWS


def test_a_file_that_changed_within_the_process_is_read_again(folder, without_ray, given) -> None:
    """A row group is kept in memory, but not for the next audit."""
    for part in range(1, PARTS):
        (folder / "set" / f"part-{part}.parquet").unlink()
    assert statuses(run(folder)) == ["PROVED"] * ROWS
    write(folder, 0, [wrong(one) for one in given.certificates[:ROWS]])
    (folder / "log").rename(folder / "before")
    assert "PROVED" not in statuses(run(folder))


# verale explain --engine ray


def explained(folder: Path) -> tuple[int, list[bytes]]:
    """How many images were taken over, and all certificates."""
    explainer = Explainer(Head.load(folder / "head"), SearchOptions("projection", batch=4))
    begun = explain.explain_latents(explainer, open_latents(str(folder / "latents")), str(folder / "out"), Workers(2))
    before = begun.done
    list(begun)
    rows = ParquetRows.open(str(folder / "out"), "certificate")
    found = rows.take(0, len(rows), ("certificate",))["certificate"].to_pylist()
    (folder / "out").rename(folder / "out.partial")
    (folder / "out.partial" / "_SUCCESS").unlink()
    return before, found


@pytest.fixture
def begun(kept: Path, without_ray, given) -> Path:
    """An explanation of 40 images in parts of 8, interrupted after the last one."""

    def prepare(folder: Path) -> None:
        fill(folder, given)
        assert explained(folder) == (0, given.certificates)
        assert len(parts(folder, "out")) == 10 // 2

    return prepared(kept, "begun", prepare)


def change(path: Path, column: str, row: int, value: object) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[row][column] = value
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    noted(path)


def test_whole_parts_are_taken_over(begun, given) -> None:
    assert explained(begun) == (40, given.certificates)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("certificate", b"{}"),
        ("certificate", None),
        ("sha256", "0" * 64),
        ("sha256", None),
        ("index", 0),
        ("index", None),
    ],
)
def test_a_part_with_another_certificate_is_explained_again(column, value, begun, given) -> None:
    change(parts(begun, "out")[1], column, 3, value)
    assert explained(begun) == (32, given.certificates)


@pytest.mark.parametrize("data", [b"", b"PAR1"])
def test_a_damaged_part_is_explained_again(data, begun, given) -> None:
    parts(begun, "out")[1].write_bytes(data)
    noted(parts(begun, "out")[1])
    assert explained(begun) == (32, given.certificates)


@pytest.mark.parametrize("field", ["head", "latents"])
def test_another_head_or_other_latents_are_another_explanation(field, begun) -> None:
    path = begun / field
    before, data = path.stat(), path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(InputError, match=f"was begun with another {field}; remove it"):
        explained(begun)
