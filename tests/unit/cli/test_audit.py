"""`verale audit` over many files: processes, reports, pipes that close, Ctrl-C and processes that die."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import jsonschema
import pytest
from support import files
from support.commands import in_process, started, wait_until

import verale
from verale.datasets.rows import write_rows
from verale.errors import InputError, UsageError
from verale.runs.audit import AuditSetup, audit_files
from verale.runs.audit_log import AuditLog

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "certificates" / "audit-log-v1.schema.json").read_text())
IMAGE = [[0.0, 0.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A head, and a folder of six certificates, of which the third and the fifth are not proved."""
    (tmp_path / "head").write_bytes(HEAD)
    (tmp_path / "latents").write_bytes(files.latents([IMAGE]))
    (tmp_path / "all").mkdir()
    for number in range(6):
        own = files.patch_statement(0, 0, 0.0, number * 2.0**-40)
        (tmp_path / "all" / f"{number}.ale.json").write_bytes(
            {2: files.certificate(HEAD, []), 4: b"{"}.get(number, files.certificate(HEAD, [own], image=IMAGE))
        )
    return tmp_path


def run(folder: Path, *arguments: object) -> tuple[int, list[str], str]:
    done = in_process("audit", *arguments, "--head", "head", cwd=folder)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout.splitlines(), done.stderr


def patch(folder: Path, unless: str) -> None:
    """Let audits of files, in processes, begin with this."""
    (folder / "sitecustomize.py").write_text(
        "import os, time\n"
        "from verale.checker.file_auditor import FileAuditor\n"
        "audit = FileAuditor.audit\n"
        "def marked(self, path):\n"
        "    open(os.path.basename(path) + '.begun', 'w').close()\n"
        f"    return {unless} audit(self, path)\n"
        "FileAuditor.audit = marked\n"
    )


def records(path: Path) -> list[dict[str, object]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for record in found:
        jsonschema.validate(record, SCHEMA)
    return found


@pytest.mark.parametrize("jobs", [1, 3])
def test_lines_come_in_order_and_one_bad_file_stops_nothing(folder: Path, jobs: int) -> None:
    (folder / "empty").mkdir()
    code, lines, err = run(folder, "empty", "nowhere", "all", "all/0.ale.json", "--jobs", jobs)
    assert code == 5
    assert [line.split()[0] for line in lines] == ["PROVED", "PROVED", "NOT_PROVED", "PROVED", "MALFORMED"] + [
        "PROVED"
    ] * 2
    assert [line.split()[1] for line in lines] == [f"all/{number}.ale.json" for number in (0, 1, 2, 3, 4, 5, 0)]
    assert err.splitlines() == [
        "error: empty: holds no *.ale.json",
        "error: nowhere: cannot be read (No such file or directory)",
    ]


@pytest.mark.parametrize("given", ["empty", "none.parquet"])
def test_what_holds_no_certificate_is_code_9_beside_what_is_proved(given: str, folder: Path) -> None:
    (folder / "empty").mkdir()
    write_rows(str(folder / "none.parquet"), [])
    code, lines, err = run(folder, given, "all/0.ale.json")
    assert (code, len(lines)) == (9, 1) and lines[0].startswith("PROVED")
    assert err.startswith(f"error: {given}: holds no ") and err.count("\n") == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_option_reaches_the_audit(jobs: int, folder: Path) -> None:
    """Of a certificate that claims everything, and of one that names no latents."""
    own = files.patch_statement(0, 0, 0.0, 2.0**-40)
    (folder / "whole").write_bytes(files.certificate(HEAD, [own], image=IMAGE, minimality=True))
    (folder / "bare").write_bytes(files.certificate(HEAD, [own]))
    options = ("--latents", "latents", "--minimality", "--kernel", "mpmath", "--limit", 2**20, "--jobs", jobs, "--json")
    code, lines, _ = run(folder, "whole", "bare", *options)
    whole, bare = map(json.loads, lines)
    assert (code, whole["exit_code"], bare["exit_code"]) == (14, 0, 14)
    assert whole["claims"] == dict.fromkeys(("entailment", "instance", "minimality"), "proved")
    assert whole["run"]["kernel"] == "mpmath" and whole["run"]["limit"] == 2**20
    assert run(folder, "bare", "--entailment-only", "--jobs", jobs)[0] == 0


@pytest.mark.parametrize("kernel", ["proved", "all"])
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_what_the_kernel_proved_never_proves_is_not_begun(kernel: str, engine: str, folder: Path) -> None:
    """Otherwise it would end after all other proofs, with nothing proved."""
    asked = ("--kernel", kernel, "--deployment", "direct", "--engine", engine)
    done = in_process("audit", "all", "--head", "head", *asked, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --deployment is not covered by the proof of the kernel proved, which kernel ")
    assert "; leave it out, or choose one of proved-or-arb, arb, mpmath, both; see 'verale audit --help'" in done.stderr
    with pytest.raises(UsageError, match="is not covered by the proof of the kernel proved"):
        verale.audit(folder / "all" / "0.ale.json", folder / "head", kernel=kernel, deployment="direct")


def test_an_unusable_head_is_one_line_for_any_number_of_processes(folder: Path) -> None:
    (folder / "head").write_bytes(b"{")
    code, lines, err = run(folder, "all", "--jobs", 2)
    assert (code, lines, err.count("\n")) == (9, [], 1)
    assert err.startswith("error: head: head file: ")


def test_a_report_is_what_json_prints_and_is_taken_up_again(folder: Path) -> None:
    options = ("--latents", "latents", "--json", "--log", "R.json")
    code, lines, err = run(folder, "all", *options)
    assert (code, err) == (5, "")
    assert records(folder / "R.json") == list(map(json.loads, lines))
    first = records(folder / "R.json")
    assert [record["exit_code"] for record in first] == [0, 0, 3, 0, 5, 0]

    moved = folder / "all" / "0.ale.json"
    moved.rename(folder / "all" / "9.ale.json")
    (folder / "all" / "6.ale.json").write_bytes(files.certificate(HEAD + b" ", []))
    code, lines, err = run(folder, "all", *options, "--jobs", 2)
    assert (code, err) == (5, "6 of 7 verdicts are taken from R.json\n")
    second = records(folder / "R.json")
    assert second == list(map(json.loads, lines))
    assert second[-1] == first[0] | {"certificate": "all/9.ale.json", "reused": True}
    assert second[:-2] == [record | {"reused": True} for record in first[1:]]
    assert second[-2]["reason"] == "subject" and "reused" not in second[-2]

    for other in (("--kernel", "mpmath"), ("--minimality",), ("--entailment-only",), ("--limit", "1000000000")):
        assert "verdicts are taken" not in run(folder, "all", *options, *other)[2]
    assert [record["run"]["limit"] for record in records(folder / "R.json")] == [10**9] * 7


def test_a_report_that_cannot_be_written(folder: Path) -> None:
    report = AuditLog(folder / "R.json")
    (folder / "R.json").unlink()
    (folder / "R.json").mkdir()
    paths = [str(folder / "all" / "0.ale.json")]
    with pytest.raises(InputError, match="cannot be written"):
        list(audit_files(paths, AuditSetup(str(folder / "head")), log=report))


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_an_interrupt_leaves_a_report_that_is_taken_up_again(folder: Path, jobs: int) -> None:
    (folder / "all" / "1b.ale.json").write_bytes(b"")
    patch(folder, "time.sleep(600) if '/1b.' in path else")
    options = ("--log", "R.json", "--jobs", jobs, "--head", "head")
    process = started("audit", "all", *options, cwd=folder, start_new_session=True)
    assert process.stdout and process.stderr
    assert [process.stdout.readline().split()[1] for _ in range(2)] == ["all/0.ale.json", "all/1.ale.json"]
    begun = [folder / "1b.ale.json.begun", *[folder / "5.ale.json.begun"] * (jobs - 1)]
    wait_until(process, lambda: all(path.exists() for path in begun))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    done = "2 of 7 certificates are audited; R.json has their verdicts"
    assert err == f"interrupted: {done}, and the same command audits the rest\n"
    assert len(records(folder / "R.json")) == 2
    (folder / "all" / "1b.ale.json").unlink()
    code, lines, err = run(folder, "all", "--log", "R.json", "--jobs", jobs)
    assert (code, len(lines), err) == (5, 6, "2 of 6 verdicts are taken from R.json\n")


@pytest.mark.parametrize("patience", [0, pytest.param(1, marks=pytest.mark.long)])
def test_an_interrupt_while_processes_start_is_one_line(folder: Path, patience: int) -> None:
    """It reaches the command alone: what they import would end in a traceback each."""
    (folder / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "if 'workers.local' in ' '.join(sys.orig_argv):\n"
        "    open(f'{os.getpid()}.starts', 'w').close()\n"
        "    while not os.path.exists('interrupted'):\n"
        "        time.sleep(0.02)\n"
    )
    process = started("audit", "all", "--jobs", 2, "--head", "head", cwd=folder, start_new_session=True)
    wait_until(process, lambda: len(list(folder.glob("*.starts"))) > patience)
    os.killpg(process.pid, signal.SIGINT)
    (folder / "interrupted").touch()
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, "")
    assert err == "interrupted: 0 of 6 certificates are audited\n"


def test_a_file_that_kills_its_process_stops_nothing(folder: Path) -> None:
    patch(folder, "os._exit(1) if '/2.' in path or '/5.' in path else")
    process = started("audit", "all", "--jobs", 2, "--log", "R.json", "--head", "head", cwd=folder)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 5
    assert [line.split()[1] for line in out.splitlines()] == [f"all/{number}.ale.json" for number in (0, 1, 3, 4)]
    assert err.count("the process that audited it died") == 2
    assert [record["status"] for record in records(folder / "R.json")].count("UNUSABLE") == 2
    _, lines, err = run(folder, "all", "--log", "R.json")
    assert (len(lines), err) == (6, "4 of 6 verdicts are taken from R.json\n")
