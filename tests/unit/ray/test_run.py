"""A run on a cluster is the run of one process: the same folder, bytes, lines and log, whatever dies. Without Ray."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import in_process as verale
from support.seen import COUNT as PICTURES
from support.seen import explain_pictures, write_pictures

from verale.certificate import Certificate
from verale.errors import VeraleError
from verale.files import certificates_in
from verale.head import Head, load_latents, save_latents
from verale.runs import audit as audits
from verale.runs.explain import open_run
from verale.runs.options import RunOptions
from verale.runs.parts import Explainer
from verale.runs.table import read_table
from verale.runs.workers import ray as pipeline
from verale.search import SearchOptions

SEARCH = SearchOptions("projection", batch=4)

pytestmark = pytest.mark.usefixtures("searched_once")


def opened(given, folder: Path, workers: int = 2, **options: object) -> AbstractContextManager:
    """A run into a folder on a cluster of so many workers."""
    head, latents = Head.load(given.head), load_latents(given.latents)
    return open_run(folder, head, latents, SEARCH, how=RunOptions(workers, engine="ray"), **options)


def certificates(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in certificates_in(folder)]


@pytest.mark.parametrize("workers", [1, 50])
def test_any_number_of_workers_gives_the_bytes_of_one_process(workers, given, tmp_path, without_ray) -> None:
    with opened(given, tmp_path, workers) as run:
        assert [row.index for row in run] == list(range(40))
    assert certificates(tmp_path) == given.certificates


def test_an_interrupted_run_goes_on_with_any_workers(given, tmp_path, without_ray) -> None:
    with opened(given, tmp_path) as run:
        next(row for row in run if row.index == 13)
    with opened(given, tmp_path, 5) as run:
        assert 14 <= len(run.by_index) < 40
        list(run)
    assert certificates(tmp_path) == given.certificates


def killing(monkeypatch, image: int, killed: type[BaseException], times: int | None = None) -> list[int]:
    """Whoever explains this image dies, so many times or always; the first images of the parts that died."""
    deaths: list[int] = []
    original = Explainer.part

    def part(self, batches, images, first, labels):
        if first <= image < first + len(images) and (times is None or len(deaths) < times):
            deaths.append(first)
            raise killed
        return original(self, batches, images, first, labels)

    monkeypatch.setattr(Explainer, "part", part)
    return deaths


def test_a_worker_that_dies_once_changes_no_byte(given, tmp_path, without_ray, monkeypatch, caplog) -> None:
    deaths = killing(monkeypatch, 21, without_ray, times=1)
    with opened(given, tmp_path) as run:
        list(run)
    assert certificates(tmp_path) == given.certificates and len(deaths) == 1
    assert "which are begun again" in caplog.text


def test_an_image_that_kills_every_worker_has_no_certificate_and_the_reason(
    given, tmp_path, without_ray, monkeypatch
) -> None:
    killing(monkeypatch, 21, without_ray)
    with opened(given, tmp_path) as run:
        list(run)
    rows = read_table(tmp_path / "explanations.csv")
    assert [(row.index, row.reason) for row in rows if row.certificate is None] == [
        (21, "2 workers died of this image, perhaps because memory ran out")
    ]
    there = {path.name: path.read_bytes() for path in certificates_in(tmp_path)}
    for index, data in enumerate(given.certificates):
        if index not in range(20, 24):  # explained one by one, since together they kill
            assert there[f"{index:06d}.ale.json"] == data
    for index in (20, 22, 23):
        latents = Certificate.from_bytes(there[f"{index:06d}.ale.json"]).latents
        assert latents == Certificate.from_bytes(given.certificates[index]).latents


def test_workers_that_all_die_end_the_run(given, tmp_path, without_ray, monkeypatch) -> None:
    def dying(*arguments: object) -> None:
        raise without_ray

    monkeypatch.setattr(Explainer, "part", dying)
    with (
        pytest.raises(VeraleError, match="workers died at every part they began, 3 so far"),
        opened(given, tmp_path) as run,
    ):
        list(run)


@pytest.mark.parametrize("wanted", ["nothing is left", "it cannot begin"])
def test_no_cluster_is_started_for_nothing(wanted, given, tmp_path, without_ray, monkeypatch) -> None:
    made = ("--head", given.head, "--latents", given.latents, "--paradigm", "projection", "--out", "out")
    if wanted == "nothing is left":
        assert verale("explain", *made, cwd=tmp_path).returncode == 0
    else:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "head.safetensors").write_bytes(b"mine")
    monkeypatch.setattr(pipeline, "start_ray", None)
    done = verale("explain", *made, "--engine", "ray", cwd=tmp_path)
    assert done.returncode == (0 if wanted == "nothing is left" else 9), done.stderr


@pytest.fixture
def folder(given, tmp_path: Path, without_ray) -> Path:
    (tmp_path / "H").write_bytes(Path(given.head).read_bytes())
    save_latents(tmp_path / "Z", load_latents(given.latents)[:6], [0, 1, 2, 0, 1, 2])
    return tmp_path


MADE = ("--head", "H", "--latents", "Z", "--paradigm", "projection", "--json")


def told(folder: Path, place: str, *arguments: object) -> tuple[list[dict], str]:
    """What `explain` prints: rows without their times and places, and lines."""
    done = verale("explain", *MADE, "--out", place, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row | {"seconds": 0, "certificate": Path(row["certificate"]).name} for row in rows], done.stderr.replace(
        place, "OUT"
    )


@pytest.mark.parametrize("asked", [(), ("--deployment", "direct", "--costs", "prototypes:0=2")], ids=["", "float32"])
def test_both_engines_print_and_write_the_same(asked, folder) -> None:
    assert told(folder, "A", *asked, "--engine", "ray", "--jobs", 1) == told(folder, "B", *asked)
    names = [sorted(path.name for path in (folder / place).iterdir()) for place in "AB"]
    assert names[0] == names[1]
    for name in {*names[0]} - {"explanations.csv", "files.json"}:
        assert (folder / "A" / name).read_bytes() == (folder / "B" / name).read_bytes(), name


def audited(folder: Path, *arguments: object) -> tuple[int, list[str], str]:
    """The exit code, the verdict lines without times, and what stderr says."""
    done = verale("audit", *arguments, cwd=folder)
    return done.returncode, [line.split("  ")[0] for line in done.stdout.splitlines()], done.stderr


def test_both_engines_audit_alike_with_log_and_attestation(folder) -> None:
    told(folder, "OUT")
    assert audited(folder, "OUT", "--engine", "ray", "--jobs", 2) == audited(folder, "OUT")
    with_log = ("OUT", "--engine", "ray", "--log", "log.jsonl")
    code, lines, _ = audited(folder, *with_log)
    assert code == 0 and len(lines) == 6
    code, again, said = audited(folder, *with_log)
    assert (code, again) == (0, lines) and "6 of 6 verdicts are taken from log.jsonl" in said
    assert audited(folder, "OUT", "--log", "log.jsonl")[2] == said, "the log of one engine is that of the other"
    assert audited(folder, "OUT", "--engine", "ray", "--attest", "A.json")[0] == 0
    (statement,) = map(json.loads, (folder / "A.json").read_text().splitlines())
    assert len(statement["subject"]) == 6 + 2, "certificates, head and latents"


def test_a_certificate_that_kills_its_workers_is_an_outcome(given, tmp_path, without_ray, monkeypatch) -> None:
    original = audits.outcome_of

    def dying(auditor, path):
        if path.name.endswith("000005.ale.json"):
            raise without_ray
        return original(auditor, path)

    monkeypatch.setattr(audits, "outcome_of", dying)
    done = verale("audit", given.packed, "--head", given.head, "--engine", "ray", "--json", cwd=tmp_path)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 9 and [record["status"] for record in records].count("PROVED") == 39
    assert records[5]["message"] == audits.DIED


def test_both_engines_explain_and_prove_pictures(tmp_path, without_ray) -> None:
    write_pictures(tmp_path)
    done = explain_pictures(tmp_path, "--engine", "ray", out="A")
    local = explain_pictures(tmp_path, out="B")
    assert (done.returncode, local.returncode) == (0, 0), done.stderr + local.stderr
    assert certificates(tmp_path / "A") == certificates(tmp_path / "B")
    proved = verale("audit", "A", "--kernel", "arb", "--engine", "ray", cwd=tmp_path)
    assert proved.returncode == 0 and proved.stdout.count("entailment+picture (real arithmetic) proved") == PICTURES


def in_parquet(folder: Path, label: Callable[[int], object] = lambda index: index % 3) -> None:
    latents = load_latents(folder / "Z").tolist()
    pq.write_table(pa.table({"latents": latents, "label": list(map(label, range(6)))}), folder / "z.parquet")


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_latents_in_parquet_become_those_of_the_folder(engine, folder) -> None:
    in_parquet(folder)
    made = ("--head", "H", "--latents", "z.parquet", "--paradigm", "projection", "--engine", engine)
    done = verale("explain", *made, "--out", "OUT", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert [row.label for row in read_table(folder / "OUT" / "explanations.csv")] == [0, 1, 2, 0, 1, 2]
    assert (load_latents(folder / "OUT" / "latents.safetensors") == load_latents(folder / "Z")).all()
    code, lines, _ = audited(folder, "OUT")
    assert code == 0 and len(lines) == 6
    again = verale("explain", *made, "--out", "OUT", cwd=folder)
    assert "6 of 6 images are explained in OUT already" in again.stderr
    in_parquet(folder, lambda index: None)
    refused = verale("explain", *made, "--out", "OUT", cwd=folder)
    assert refused.returncode == 9 and "z.parquet: column 'label' is null, expected a whole number" in refused.stderr
