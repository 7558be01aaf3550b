"""An audit taken up again: a verdict from the log belongs to the bytes that it was given for, whatever they are called.

The attacks that turned REFUTED into PROVED.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from support import files
from support.commands import Completed, in_process

from verale.datasets.rows import row_of, write_rows

SCHEMA = json.loads((Path(__file__).parents[2] / "certificates" / "audit-log-v1.schema.json").read_text())
IMAGE = [[0.0, 0.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
GOOD = files.certificate(HEAD, [files.patch_statement(0, 0, 0.0, 2.0**-40)], image=IMAGE)
WRONG = files.certificate(HEAD, [], image=IMAGE)
"""A certificate that nothing proves."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "head").write_bytes(HEAD)
    (tmp_path / "latents").write_bytes(files.latents([IMAGE]))
    return tmp_path


def parquet(path: Path, certificate: bytes) -> Path:
    """A part that holds a certificate, which is named 000000.ale.json in each."""
    path.parent.mkdir(exist_ok=True)
    write_rows(str(path), [row_of("000000.ale.json", certificate)])
    return path


def audited(folder: Path, *arguments: object) -> Completed:
    return in_process("audit", *arguments, "--head", folder / "head", "--latents", folder / "latents")


def locally(folder: Path, *arguments: object) -> Completed:
    return audited(folder, *arguments, "--log", folder / "R.json")


def statuses(done: Completed) -> list[str]:
    return [line.split()[0] for line in done.stdout.splitlines()]


def records(path: Path) -> list[dict]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for record in found:
        jsonschema.validate(record, SCHEMA)
    return found


@pytest.mark.parametrize(("order", "jobs"), [((WRONG, GOOD), 1), ((GOOD, WRONG), 2)])
def test_the_same_audit_twice_says_the_same(order, jobs, folder: Path) -> None:
    """Two parts with a certificate of the same name: by name, the second one's verdict was told for both."""
    for number, certificate in enumerate(order):
        parquet(folder / "set" / f"part-{number}.parquet", certificate)
    first = locally(folder, folder / "set")
    expected = ["PROVED" if each is GOOD else "NOT_PROVED" for each in order]
    assert (statuses(first), first.returncode) == (expected, 3)
    again = locally(folder, folder / "set", "--jobs", jobs)
    assert (statuses(again), again.returncode) == (expected, 3)
    assert [record["status"] for record in records(folder / "R.json")] == expected


def test_a_certificate_that_was_never_audited_is_not_proved_by_its_name(folder: Path) -> None:
    parquet(folder / "set" / "part-0.parquet", GOOD)
    assert locally(folder, folder / "set").returncode == 0
    parquet(folder / "set" / "part-1.parquet", WRONG)
    again = locally(folder, folder / "set")
    assert (statuses(again), again.returncode) == (["PROVED", "NOT_PROVED"], 3)


def test_another_certificate_under_the_old_name_is_audited(folder: Path) -> None:
    path = folder / "0.ale.json"
    path.write_bytes(GOOD)
    assert locally(folder, path).returncode == 0
    before = path.stat()
    path.write_bytes(WRONG)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert locally(folder, path).returncode == 3


def test_who_reads_a_verdict_sees_that_it_comes_from_the_log(folder: Path) -> None:
    """On the line, in JSON and in the log; never for what was proved now."""

    def reused(done: Completed) -> list[bool | None]:
        return [json.loads(line).get("reused") for line in done.stdout.splitlines()]

    (folder / "0.ale.json").write_bytes(GOOD)
    first = locally(folder, folder / "0.ale.json")
    (folder / "1.ale.json").write_bytes(WRONG)
    both = [folder / "0.ale.json", folder / "1.ale.json"]
    lines = locally(folder, *both).stdout.splitlines()
    assert "log" not in first.stdout and "taken from" not in lines[1]
    assert lines[0] == first.stdout.removesuffix("\n") + "  taken from the audit log"
    assert [record.get("reused") for record in records(folder / "R.json")] == [True, None]
    third = locally(folder, *both, "--json")
    assert reused(third) == [True, True]
    assert list(map(json.loads, third.stdout.splitlines())) == records(folder / "R.json")
    (folder / "R.json").unlink()
    assert reused(locally(folder, *both, "--json")) == [None, None]
