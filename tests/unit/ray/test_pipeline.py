"""ExplainRun and auditing part by part: the same bytes as in one go, whatever dies or is interrupted. Without Ray."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import safetensors.torch
from click.testing import CliRunner
from support.proved import fake

from verale.certificate import Certificate
from verale.checker.proved.program import find_executable
from verale.cli.audit import command as audit_command
from verale.datasets.certificates import ParquetRows, packed_certificates, write_rows
from verale.datasets.latents import open_latents
from verale.errors import InputError, UsageError, VeraleError
from verale.head import Head, save_latents
from verale.runs import audit_dataset as audit
from verale.runs import explain_dataset as explain
from verale.runs.audit import audit_files
from verale.runs.auditor import AuditOptions, AuditSetup
from verale.runs.explain import open_run
from verale.runs.parts import Explainer
from verale.runs.processes import DIED
from verale.runs.run import ExplainRun, gaps
from verale.runs.workers.ray import Workers
from verale.search import SearchOptions as Search
from verale.search.explain import explain as explain_here
from verale.search.paradigms.of_patches import OfPatches
from verale.search.problem import Problem


def begun(given, out: Path, workers: int = 2, latents: str | None = None, **options) -> ExplainRun:
    opened = open_latents(latents or given.latents)
    explainer = Explainer(Head.load(given.head), Search(**{"paradigm": "projection"} | options, batch=4))
    return explain.explain_latents(explainer, opened, str(out), Workers(workers))


def made(run: ExplainRun, count: int = 40) -> tuple[list[bytes | None], list[str | None], list[int]]:
    """Certificates, reasons, and the images without a certificate."""
    without = [row.index for row in [*run.rows, *run] if row.certificate is None]
    rows = ParquetRows.open(run.store.place, "certificate")
    table = rows.take(0, len(rows), ("index", "certificate", "reason"))
    assert table["index"].to_pylist() == list(range(count))
    return table["certificate"].to_pylist(), table["reason"].to_pylist(), without


def interrupted(run: ExplainRun) -> None:
    """Do what is left, and leave the dataset as it is without its last step."""
    list(run.work(gaps(run.store.done, run.total)))


def let_batches_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found for an image depends on the batch that it is in, and not by a last bit only.

    The search itself depends on it by the last bits of a product of matrices, which differ between processors.
    """
    problem_of = Problem.of.__func__

    def of(cls, head, images, *options):
        share = math.fsum(images.flatten().tolist()) % 1  # to the last bit, on every processor
        return problem_of(cls, head, images * (1 - 0.01 * share), *options)

    monkeypatch.setattr(Problem, "of", classmethod(of))
    monkeypatch.setattr(OfPatches, "is_alone", False)


batches_matter = pytest.fixture(let_batches_matter, name="batches_matter")


@pytest.fixture(scope="module")
def of_one_run(given) -> list[bytes]:
    """The certificates of a few images where batches matter, without parts."""
    with pytest.MonkeyPatch.context() as patch:
        let_batches_matter(patch)
        return explained_here(given, 0)


FEW = 18
"""So many images show which batches they are in; the last batch is half."""


def explained_here(given, start: int) -> list[bytes]:
    """The certificates that explaining here gives for a few images from one on, searched four together."""
    latents = open_latents(given.latents).take(start, FEW)
    return [one.to_bytes() for one in explain_here(Head.load(given.head), latents, "triangle", batch=4, digits="exact")]


def test_batches_matter_so_the_next_test_can_fail(given, of_one_run, batches_matter):
    assert not set(of_one_run) & set(explained_here(given, 2))


@pytest.mark.parametrize("workers", [1, 3, 100])
def test_parts_of_any_size_have_the_batches_of_one_run(
    workers, given, of_one_run, tmp_path, without_ray, batches_matter
):
    save_latents(tmp_path / "latents", open_latents(given.latents).take(0, FEW))
    run = begun(given, tmp_path / "out", workers, str(tmp_path / "latents"), paradigm="triangle", digits="exact")
    assert made(run, FEW) == (of_one_run, [None] * FEW, [])


def test_parts_give_the_bytes_of_one_run(given, tmp_path, without_ray):
    run = begun(given, tmp_path / "out", workers=3)
    assert made(run) == (given.certificates, [None] * 40, [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert (tmp_path / "out" / "_SUCCESS").exists()


def test_rows_say_what_the_table_of_a_local_run_says(given, tmp_path, without_ray):
    made(begun(given, tmp_path / "out"))
    latents = open_latents(given.latents).take(0, 40)
    with open_run(tmp_path / "here", Head.load(given.head), latents, Search("projection", batch=4)) as run:
        table = list(run)
    rows = ParquetRows.open(str(tmp_path / "out"), "certificate").take(
        0, 40, tuple(explain.certificates_schema().names)
    )
    for row, one, data in zip(rows.to_pylist(), table, given.certificates, strict=True):
        assert (row.pop("name"), row.pop("certificate"), row.pop("image")) == (one.certificate, data, None)
        assert row.pop("seconds") > 0
        assert row == {name: value for name, value in asdict(one).items() if name in row}


def test_an_image_that_kills_every_worker_is_left_out_with_the_reason(given, tmp_path, without_ray, monkeypatch):
    class Dying(explain._ExplainLatents):
        def __call__(self, start, stop):
            if start <= 21 < stop:
                raise without_ray
            return super().__call__(start, stop)

    monkeypatch.setattr(explain, "_ExplainLatents", Dying)
    found, reasons, without = made(begun(given, tmp_path / "out"))
    assert without == [21]
    assert [(index, reason) for index, reason in enumerate(reasons) if reason] == [
        (21, "2 workers died of this image, perhaps because memory ran out")
    ]
    batch = range(20, 24)  # explained one by one, since together they kill
    assert [one for n, one in enumerate(found) if n not in batch] == given.certificates[:20] + given.certificates[24:]
    for index in (20, 22, 23):
        assert Certificate.from_bytes(found[index]).latents == Certificate.from_bytes(given.certificates[index]).latents
    certificates, rows_without = packed_certificates(str(tmp_path / "out"))
    assert (len(certificates), rows_without) == (39, 1)


def test_workers_that_all_die_end_the_run(given, tmp_path, without_ray, monkeypatch):
    def doomed(*arguments):
        raise without_ray

    monkeypatch.setattr(explain, "_ExplainLatents", doomed)
    with pytest.raises(VeraleError, match="workers died at every part they began, 3 so far"):
        made(begun(given, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_bug_in_a_worker_is_one_line_and_a_log(given, tmp_path, without_ray, monkeypatch, caplog):
    def failing(*arguments):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(explain, "_ExplainLatents", failing)
    with pytest.raises(VeraleError, match=r"ZeroDivisionError: a bug\); please report it"):
        made(begun(given, tmp_path / "out"))
    assert "Traceback" in caplog.text


def test_latents_that_are_none_are_named(given, tmp_path, without_ray):
    latents = open_latents(given.latents).take(0, 40)
    latents[30, 0, 0] = float("nan")
    safetensors.torch.save_file({"latents": latents}, tmp_path / "latents")
    with pytest.raises(VeraleError, match="counted from image 24: latents of image 6 hold NaN"):
        made(begun(given, tmp_path / "out", latents=str(tmp_path / "latents")))


def test_an_interrupted_run_is_gone_on_with(given, tmp_path, without_ray):
    interrupted(begun(given, tmp_path / "out"))
    (tmp_path / "out.partial" / "part-000000008-000000016.parquet").unlink()
    (tmp_path / "out.partial" / f".part-000000008-000000016.parquet.{'a' * 32}").write_bytes(
        b"what a killed worker left"
    )
    with pytest.raises(InputError, match="begun with another options; remove it"):
        begun(given, tmp_path / "out", tolerance=0.1)
    again = begun(given, tmp_path / "out", workers=9)
    assert (again.done, again.total) == (32, 40)
    assert made(again) == (given.certificates, [None] * 40, [])
    assert not list((tmp_path / "out").glob(".*"))
    with pytest.raises(InputError, match="already exists"):
        begun(given, tmp_path / "out")


def test_a_run_without_images_is_whole(given, tmp_path, without_ray):
    save_latents(tmp_path / "latents", open_latents(given.latents).take(0, 40)[:0])
    run = begun(given, tmp_path / "out", latents=str(tmp_path / "latents"))
    assert list(run) == []
    assert packed_certificates(str(tmp_path / "out")) == ([], 0)


@pytest.mark.parametrize("latents", [False, True])
def test_audits_tell_what_they_tell_in_one_go(latents, given, tmp_path, without_ray):
    options = AuditSetup(given.head, given.latents if latents else None)
    run = audit.audit_rows(given.packed, options, str(tmp_path / "report"), Workers(2))
    told = [outcome.record for part in run.parts for outcome in part.result]
    run.staged.publish(run.total)
    here = [outcome.record for outcome in audit_files(packed_certificates(given.packed)[0], options)]
    assert [record | {"seconds": 0} for record in told] == [record | {"seconds": 0} for record in here]
    assert {record["status"] for record in told} == {"PROVED"}
    table = ParquetRows.open(str(tmp_path / "report"), "record").take(0, 40, ("certificate", "exit_code", "record"))
    assert [json.loads(record) for record in table["record"].to_pylist()] == told
    assert table["exit_code"].to_pylist() == [0] * 40


def test_a_worker_asks_the_proved_checker(given, tmp_path, without_ray, monkeypatch):
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, "return None if question == 'head' else 'proved'"))
    options = AuditSetup(given.head, given.latents, AuditOptions("proved"))
    run = audit.audit_rows(given.packed, options, str(tmp_path / "report"), Workers(2))
    told = [outcome.record for part in run.parts for outcome in part.result]
    assert [record["status"] for record in told] == ["PROVED"] * 40
    assert {record["run"]["checker"]["executable"] for record in told} == {find_executable().sha256}


@pytest.mark.parametrize("entailment_only", [False, True])
def test_a_certificate_that_claims_no_instance_is_accepted_only_where_that_is_asked_for(
    entailment_only, given, tmp_path, without_ray
):
    alone = replace(Certificate.from_bytes(given.certificates[0]), latents=None).to_bytes()
    write_rows(str(tmp_path / "some.parquet"), [{"index": 0, "certificate": alone}])
    options = AuditSetup(given.head, given.latents, AuditOptions(entailment_only=entailment_only))
    run = audit.audit_rows(str(tmp_path / "some.parquet"), options, str(tmp_path / "report"), Workers(2))
    (outcome,) = (outcome for part in run.parts for outcome in part.result)
    assert outcome.record["status"] == "PROVED" and outcome.record["claims"]["instance"] == "not claimed"
    assert outcome.record["run"]["entailment_only"] is entailment_only
    assert outcome.exit_code == (0 if entailment_only else 14)


def test_an_image_is_found_wherever_its_latents_are(given, tmp_path, without_ray):
    rows = [{"index": (n + 7) % 40, "certificate": given.certificates[n]} for n in (0, 3, 9)]
    write_rows(str(tmp_path / "some.parquet"), rows)
    options = AuditSetup(given.head, given.latents)
    run = audit.audit_rows(str(tmp_path / "some.parquet"), options, str(tmp_path / "report"), Workers(2))
    records = [outcome.record for part in run.parts for outcome in part.result]
    assert [record["claims"]["instance"] for record in records] == ["proved"] * 3
    assert records[2]["certificate"] == f"{tmp_path}/some.parquet/000002.ale.json"


def test_an_interrupted_audit_tells_everything_in_the_end(given, tmp_path, without_ray, monkeypatch):
    class Dying(audit._AuditRows):
        def __call__(self, start, stop):
            if start <= 33 < stop:
                raise without_ray
            return super().__call__(start, stop)

    monkeypatch.setattr(audit, "_AuditRows", Dying)
    arguments = given.packed, AuditSetup(given.head), str(tmp_path / "report"), Workers(2)
    first = [outcome for part in audit.audit_rows(*arguments).parts for outcome in part.result]
    assert [outcome.record["message"] == DIED for outcome in first] == [False] * 33 + [True] + [False] * 6
    (tmp_path / "report.partial" / "part-000000000-000000032.parquet").unlink()
    (tmp_path / "report.partial" / "part-000000035-000000036.parquet").unlink()
    again = [outcome for part in audit.audit_rows(*arguments).parts for outcome in part.result]
    told, once = ([{**one.record, "seconds": 0, "reused": True} for one in all_of] for all_of in (again, first))
    assert told == once
    assert [outcome.reused for outcome in again] == [False] * 32 + [True] * 3 + [False] + [True] * 4


def test_files_that_cannot_be_used_are_named_as_given(given, tmp_path, without_ray):
    (tmp_path / "bad").write_bytes(b"{")
    with pytest.raises(InputError, match=f"{tmp_path}/bad: head file"):
        audit.audit_rows(given.packed, AuditSetup(str(tmp_path / "bad")), str(tmp_path / "report"), Workers(2))
    save_latents(tmp_path / "other", open_latents(given.latents).take(0, 40)[:, :, :3])
    run = audit.audit_rows(
        given.packed, AuditSetup(given.head, str(tmp_path / "other")), str(tmp_path / "r"), Workers(2)
    )
    with pytest.raises(VeraleError, match=f"{tmp_path}/other: latents file: .* expected D = 8"):
        list(run.parts)
    latents = open_latents(given.latents).take(0, 40)
    safetensors.torch.save_file({"latents": latents * float("nan")}, tmp_path / "nan")
    run = audit.audit_rows(given.packed, AuditSetup(given.head, str(tmp_path / "nan")), str(tmp_path / "s"), Workers(2))
    with pytest.raises(VeraleError, match=f"{tmp_path}/nan: latents of image 0 hold NaN"):
        list(run.parts)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--engine", "ray"], "--log"),
        (["--engine", "ray", "--attest", "a"], "for --engine local: an attestation names the bytes"),
    ],
)
def test_options_of_the_other_engine(wrong, message, given):
    with pytest.raises(UsageError, match=message):
        CliRunner().invoke(audit_command, [given.packed, "--head", given.head, *wrong], catch_exceptions=False)


def test_ranges_are_cut_at_whole_batches():
    assert gaps([(4, 8), (16, 20)], 24) == [(0, 4), (8, 16), (20, 24)]
    assert gaps([(0, 24)], 24) == []
    assert explain.split([(0, 100)], 16, 1) == [(0, 32), (32, 64), (64, 96), (96, 100)]
    assert explain.split([(20, 40)], 8, 100) == [(20, 24), (24, 32), (32, 40)]
    assert explain.split([(0, 10**6)], 16, 4)[-2:] == [(999936 - 128, 999936), (999936, 10**6)]
    assert explain.split([(0, 300)], 200, 1) == [(0, 200), (200, 300)]
