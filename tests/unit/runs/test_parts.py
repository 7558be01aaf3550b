"""Images explained in several processes: the bytes of one, whatever fails or dies, and nothing is left running."""

from __future__ import annotations

import logging
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from support.joint import joint_head
from support.small import small_head, small_latents

from verale.errors import UsageError
from verale.head import Head, as_patches
from verale.runs import parts as module
from verale.runs.explain import gaps, in_order, open_run
from verale.runs.options import RunOptions
from verale.runs.parts import Range, cut
from verale.runs.table import Explained, read_table
from verale.runs.workers import local
from verale.search import Batches, SearchOptions

HEAD = small_head("euclidean")
LATENTS = small_latents(HEAD, images=9)
LABELS = [0, 1, 2] * 3
ALONE = SearchOptions("projection", "nearest", batch=2)
IN_LOCKSTEP = SearchOptions("joint", batch=2)
"""It is for images of one patch."""
pytestmark = pytest.mark.usefixtures("searched_once")
OF_ONE_PATCH = joint_head("negated"), as_patches(small_latents(joint_head("negated"), images=9))[:, :1]


def explained(
    folder: Path, jobs: int | None, options: SearchOptions = ALONE, head: Head = HEAD, latents: torch.Tensor = LATENTS
) -> dict[str, object]:
    """Explain into a folder; return its files, and the table without its times."""
    with open_run(folder, head, latents, options, LABELS, RunOptions(jobs)) as run:
        assert [row.index for row in run] == list(range(9))
    files: dict[str, Any] = {path.name: path.read_bytes() for path in folder.iterdir()}
    table = read_table(folder / "explanations.csv")
    assert [row.index for row in table] == list(range(9))
    noted = files["files.json"].splitlines()
    files["files.json"] = [line for line in noted if b"explanations.csv" not in line]
    files["explanations.csv"] = [(row.index, row.sha256, row.label, row.score, row.others) for row in table]
    return files


def started_under(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started."""
    processes: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen

    def counted(*arguments, **keywords):
        processes.append(original(*arguments, **keywords))
        return processes[-1]

    monkeypatch.setattr(local.subprocess, "Popen", counted)
    return processes


def taken_under(monkeypatch: pytest.MonkeyPatch) -> list[Range]:
    """The parts that other processes take; this one takes a second part only when one of them has taken its first."""
    parts: list[Range] = []
    taking, original, own = threading.Event(), local.popped, []

    def popped(todo):
        if threading.current_thread() is threading.main_thread():
            if own:
                assert taking.wait(300)
            own.append(1)
            return original(todo)
        part = original(todo)
        if part is not None:
            parts.append(part)
            taking.set()
        return part

    monkeypatch.setattr(local, "popped", popped)
    monkeypatch.setattr(module, "popped", popped)
    return parts


@pytest.fixture(autouse=True, scope="module")
def without_forks():
    """These tests are about processes that begin anew; whether this one could fork depends on the machine's cores."""
    with pytest.MonkeyPatch.context() as patch:
        for each in (local, module):
            patch.setattr(each, "can_fork", lambda: False)
        yield


started = pytest.fixture(started_under, name="started")
taken = pytest.fixture(taken_under, name="taken")


@pytest.fixture(scope="module")
def of_one_process(tmp_path_factory) -> dict[str, object]:
    """What this process gives without others, for images that are searched alone."""
    return explained(tmp_path_factory.mktemp("one"), 1)


THREADS = (
    "import logging, os, torch, verale.runs.parts as p; explain = p.Explainer.part; p.Explainer.part = lambda *a: "
    "(logging.getLogger('verale').info('%d %s', torch.get_num_threads(), os.environ['OMP_NUM_THREADS']), "
    "explain(*a))[1]; "
)
"""What makes another process log the numbers of threads with which it explains."""


NO_MODULE = "raise SystemExit('a file of the user was imported')"


@dataclass(frozen=True)
class Several:
    """What two processes gave, and what was seen of them."""

    files: dict[str, object]
    taken: list[Range]
    started: list[subprocess.Popen[bytes]]
    logged: list[logging.LogRecord]
    threads_here: list[int]
    threads_left: int


@pytest.fixture(scope="module")
def of_two_processes(tmp_path_factory) -> Several:
    """The same images explained in two processes, from a process with two threads, where a file looks like a module."""
    logged: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = logged.append  # type: ignore[method-assign]
    log, here, original = logging.getLogger("verale"), [], module.Explainer.part
    level, threads = log.level, torch.get_num_threads()

    def counted(*arguments):
        here.append(torch.get_num_threads())
        return original(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        parts, processes = taken_under(patch), started_under(patch)
        patch.setattr(local, "_PROGRAM", local._PROGRAM.replace("from verale", THREADS + "from verale"))
        patch.setattr(module.Explainer, "part", counted)
        patch.setenv("OMP_NUM_THREADS", "2")
        patch.chdir(tmp_path_factory.mktemp("current"))
        Path("json.py").write_text(NO_MODULE)
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        torch.set_num_threads(2)
        try:
            files = explained(tmp_path_factory.mktemp("several"), 2)
            return Several(files, parts, processes, logged, here, torch.get_num_threads())
        finally:
            torch.set_num_threads(threads)
            log.setLevel(level)
            log.removeHandler(handler)


def test_the_bytes_are_those_of_one_process(of_two_processes, of_one_process) -> None:
    assert Batches(HEAD, LATENTS, ALONE).are_alone
    assert of_two_processes.taken, "otherwise this process has done everything"
    (process,) = of_two_processes.started
    assert process.returncode is not None
    assert of_two_processes.files == of_one_process


@pytest.mark.long  # two processes whose images are searched alone are in the short run
@pytest.mark.parametrize(("jobs", "options"), [(2, IN_LOCKSTEP), (3, ALONE)], ids=["two in lockstep", "three alone"])
def test_the_bytes_of_more_processes_or_batches_are_those_of_one_process(
    jobs, options, tmp_path, started, taken
) -> None:
    given = (HEAD, LATENTS) if options is ALONE else OF_ONE_PATCH
    assert Batches(*given, options).are_alone == (options is ALONE)
    several = explained(tmp_path / "several", jobs, options, *given)
    assert taken, "otherwise this process has done everything"
    assert len(started) == jobs - 1 and all(process.returncode is not None for process in started)
    assert several == explained(tmp_path / "one", 1, options, *given)
    assert len(started) == jobs - 1


GIVEN = (
    "import contextlib, os, pickle, pickletools, sys, types\n"
    "given = types.SimpleNamespace(read=sys.stdin.buffer.read, readline=sys.stdin.buffer.readline)\n"
)
"""What a process is given, without `tell`, which a pipe does not have."""
DIES = GIVEN + ("for message in ('setup', 'part'):\n    list(pickletools.genops(given))\nos.kill(os.getpid(), 9)")
"""Reads what it needs and a part, which takes no time where nothing is made of them, and is killed."""

FAILS = local._PROGRAM.replace(
    "from verale", "import verale.runs.parts as p; p.Explainer.part = lambda *a: 1 / 0; from verale"
)
SAYS_THAT_IT_FAILED = GIVEN + (
    "with contextlib.suppress(ValueError):\n"  # which says that there is no more
    "    list(pickletools.genops(given))\n"
    "    while list(pickletools.genops(given)):\n"
    "        pickle.dump(None, sys.stdout.buffer)\n"
    "        sys.stdout.flush()\n"
)
"""Reads what it needs, and answers each part as a process does whose search has failed."""
NEVER_BEGINS = "raise SystemExit"


@pytest.mark.parametrize(
    "fault",
    [DIES, SAYS_THAT_IT_FAILED, NEVER_BEGINS, pytest.param(FAILS, marks=pytest.mark.long)],
    ids=["dies", "says that it failed", "never begins", "fails"],
)
def test_what_another_process_does_not_do_is_done_here(
    fault, of_one_process, tmp_path, monkeypatch, taken, caplog
) -> None:
    monkeypatch.setattr(local, "_PROGRAM", fault)
    several = explained(tmp_path / "several", 2)
    assert taken
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    dead = [f"a process died, perhaps because memory ran out; images {taken[0][0]} to {taken[0][1] - 1}"]
    assert [line.split(" are explained")[0] for line in said] == ([] if fault in (FAILS, SAYS_THAT_IT_FAILED) else dead)
    assert several == of_one_process


def test_an_error_is_raised_here_and_ends_all(tmp_path, monkeypatch, started) -> None:
    def failing(self, batches, images, first, *others):
        raise UsageError("memory ran out on a single image")

    monkeypatch.setattr(module.Explainer, "part", failing)
    with pytest.raises(UsageError, match="memory ran out"):
        explained(tmp_path, 2)
    assert len(started) == 1 and started[0].returncode is not None


def test_leaving_early_ends_all_and_the_rest_can_be_explained(tmp_path, of_one_process, started, monkeypatch) -> None:
    with open_run(tmp_path / "several", HEAD, LATENTS, ALONE, LABELS, RunOptions(2)) as run:
        for _ in run:
            break
    assert len(started) == 1 and started[0].returncode is not None
    monkeypatch.setattr(local, "_PROGRAM", NEVER_BEGINS)  # all is done here
    with open_run(tmp_path / "several", HEAD, LATENTS, ALONE, LABELS, RunOptions(2)) as run:
        assert [row.index for row in run.rows] == [0]
        assert [row.index for row in run] == list(range(1, 9))
    assert {path.name: path.read_bytes() for path in (tmp_path / "several").glob("*.ale.json")} == {
        name: data for name, data in of_one_process.items() if name.endswith(".ale.json")
    }


def test_what_the_others_log_is_logged_here(of_two_processes) -> None:
    lines = [each for each in of_two_processes.logged if each.getMessage().startswith("tolerance 0: 1 of 1")]
    assert len(lines) == 9
    assert {record.process for record in lines} > {lines[0].process}


def test_others_are_started_unasked_only_where_the_images_take_long(tmp_path, monkeypatch, started) -> None:
    monkeypatch.setattr(module, "cores", lambda: 3)
    monkeypatch.setattr(module, "_WORTH_STARTING", float("inf"))
    explained(tmp_path / "short", None)
    assert started == []
    monkeypatch.setattr(module, "_WORTH_STARTING", 0.0)
    monkeypatch.setattr(local, "_PROGRAM", NEVER_BEGINS)
    explained(tmp_path / "long", None)
    assert len(started) == 2


def test_processes_have_one_thread_each(of_two_processes) -> None:
    assert of_two_processes.threads_here and set(of_two_processes.threads_here) == {1}
    assert of_two_processes.threads_left == 2
    messages = [record.getMessage() for record in of_two_processes.logged]
    assert "1 1" in messages and "2 2" not in messages


@pytest.mark.parametrize(
    ("device", "most", "needed", "jobs", "expected"),
    [
        ("cpu", 100.0, 10.0, 4, 4),
        ("cpu", 100.0, 40.0, 4, 2),
        ("cpu", 100.0, 200.0, 4, 1),
        ("cpu", 100.0, 10.0, None, 3),
        ("cpu", 20.0, 10.0, None, 2),
        ("meta", 100.0, 10.0, 4, 1),
    ],
)
def test_the_memory_allowed_is_that_of_all(device, most, needed, jobs, expected, monkeypatch, caplog) -> None:
    monkeypatch.setattr(module, "cores", lambda: 3)
    batches: Any = SimpleNamespace(options=SimpleNamespace(device=device, bytes=most), bytes_at_once=needed)
    assert module._processes(batches, jobs) == expected
    less = device == "cpu" and jobs is not None and expected < jobs
    assert [record.getMessage() for record in caplog.records] == (
        [f"{expected} processes explain, not 4: more would exceed the memory allowed (max_memory)"] if less else []
    )


@pytest.mark.parametrize(
    ("alone", "left", "processes", "expected"),
    [(True, 1000, 2, 16), (True, 40, 2, 2), (True, 4, 2, 1), (True, 40, 1, 16), (False, 40, 2, 16)],
)
def test_parts_are_smaller_where_images_are_searched_alone(alone, left, processes, expected) -> None:
    batches: Batches = SimpleNamespace(size=16, are_alone=alone)  # type: ignore[assignment]
    assert module._part_size(batches, left, processes) == expected


def told_after(done: list[range], left: list[int]) -> list[list[int]]:
    """The images whose rows are told_after after each part that is done."""
    parts: list[list[int]] = []

    def finishing():
        for part in done:
            parts.append([])
            yield [Explained(index) for index in part]

    for row in in_order(finishing(), left):
        parts[-1].append(row.index)
    return parts


def test_rows_are_told_in_order_as_soon_as_all_before_them_are_there() -> None:
    done = [range(2, 4), range(4, 6), range(2), range(6, 7)]
    assert told_after(done, [*range(7)]) == [[], [], [0, 1, 2, 3, 4, 5], [6]]


def test_gaps_are_cut_at_whole_batches() -> None:
    assert gaps({*range(8, 16), *range(3)}, 20) == [(3, 8), (16, 20)]
    assert gaps({0}, 1) == []
    assert cut([(3, 8), (16, 20)], 4) == [(3, 4), (4, 8), (16, 20)]
