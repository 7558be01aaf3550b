"""Forked processes: only from a process of one thread, without its files, and none is left when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.commands import in_process
from support.small import small_head, small_latents

import verale
from verale.head import save_latents
from verale.runs.workers.local import can_fork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads are not counted elsewhere, and nothing forks")


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own, in which nobody has chosen a number of threads."""
    paths = os.pathsep.join([str(Path(verale.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    given = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    given["PYTHONPATH"] = paths
    command = [sys.executable, "-c", script]
    # A session of its own, in which none but the script waits for processes.
    return subprocess.run(
        command, cwd=folder, env=given, capture_output=True, text=True, timeout=600, start_new_session=True
    )


def test_a_process_of_two_threads_does_not_fork() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    assert not can_fork()
    end.set()
    thread.join()


def test_a_fork_has_its_own_input_output_and_group_and_no_other_file(tmp_path) -> None:
    script = """
import os, sys
from verale.runs.workers.local import Forked, can_fork

assert can_fork()
kept = open("kept", "w")
here = os.path.realpath("kept")
print("once", end="")

def serve():
    line = sys.stdin.readline()
    files = {os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd") if int(number) > 2}
    is_group = os.getpgid(0) == os.getpid() != os.getsid(0)
    text = f"{line.strip()} {is_group} {os.environ['NAMED']} {files & {here, '/dev/null'}}"
    os.write(1, text.encode())

process = Forked(serve, {"NAMED": "there"})
process.stdin.write(b"told\\n")
process.stdin.flush()
print(":", process.stdout.read().decode(), os.environ.get("NAMED"))
process.kill()
process.wait()
"""
    done = run(script, tmp_path)
    assert (done.stdout, done.stderr) == ("once: told True there {'/dev/null'} None\n", "")


def test_what_is_freed_in_a_fork_closes_no_file_of_its_own(tmp_path) -> None:
    """A log file of the caller's is freed where processes send what they log."""
    script = """
import logging
from collections import deque
from operator import methodcaller
from verale.runs.workers.local import Processes

logging.getLogger("verale").addHandler(logging.FileHandler("run.log"))
with Processes(methodcaller, ("bit_length",), deque([1, 2, 300]), lambda task: (task,)) as processes:
    print(processes.start(1, fork=True))
    processes.begin()
    done = [processes.awaited() for _ in range(3)]
print(sorted((each.task, each.result, each.died) for each in done))
"""
    done = run(script, tmp_path)
    assert done.stdout == "True\n[(1, 1, False), (2, 2, False), (300, 9, False)]\n", done.stderr


STOP = """
def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    threads = Path(f"/proc/{pid}/task")
    while any(stat.read_text().rpartition(")")[2].split()[0] != "T" for stat in threads.glob("*/stat")):
        time.sleep(0.01)
"""
"""Stops a process as a debugger does, or a batch system that suspends a job: all its threads, as only then the system
takes it for stopped, and wakes it when nobody waits for it."""


@pytest.mark.parametrize("start", ["Forked(serve, {})", "_fresh()"], ids=["forked", "fresh"])
@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
def test_processes_end_when_the_one_that_asks_is_killed(stopped, start, tmp_path) -> None:
    """Also those that are stopped, which read no end of their input."""
    script = f"""
import os, signal, time
from pathlib import Path
from verale.runs.workers.local import Forked
from verale.runs.workers.local import _fresh, serve
{STOP}
started = [{start}, {start}]
pids = [getattr(one, "_pid", None) or one.pid for one in started]
print(*pids, flush=True)
if {stopped}:
    for pid in pids:
        stop(pid)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = run(script, tmp_path)
    assert done.returncode == -9
    begin = time.monotonic()
    while any(is_there(int(pid)) for pid in done.stdout.split()):
        assert time.monotonic() < begin + 300, "a process is left"
        time.sleep(0.01)


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


COUNTED = """
import sys
from verale.cli import main
from verale.runs.workers import local

def start(self, *arguments, original=local.Forked.__init__):
    print("forked", file=sys.stderr)
    original(self, *arguments)

local.Forked.__init__ = start
sys.argv[1:] = "explain --head head --latents latents --paradigm projection --batch 3 --jobs 2 --out 2".split()
main()
"""


def test_explain_forks_and_the_bytes_are_those_of_one_process(tmp_path) -> None:
    head = small_head("euclidean")
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", small_latents(head, images=9))
    options = ["--head", "head", "--latents", "latents", "--paradigm", "projection", "--batch", "3", "--jobs", "1"]
    for done, forked in ((in_process("explain", *options, "--out", "1", cwd=tmp_path), 0), (run(COUNTED, tmp_path), 1)):
        assert done.returncode in (0, 10), done.stderr
        assert done.stderr.count("forked") == forked
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / jobs).glob("*.ale.json")} for jobs in "12")
    assert one == two and one


@pytest.mark.parametrize("fork", [True, False])
def test_an_interrupt_ends_processes_that_are_stopped(fork, tmp_path) -> None:
    script = f"""
import os, signal, time
from collections import deque
from operator import methodcaller
from pathlib import Path
from verale.runs.workers.local import Processes
{STOP}
with Processes(methodcaller, ("bit_length",), deque([1] * 10), lambda task: (task,)) as processes:
    processes.start(2, fork={fork})
    started = [piped._process for piped, _ in processes._processes]
    pids = [getattr(one, "_pid", None) or one.pid for one in started]
    for pid in pids:
        stop(pid)
    processes.begin()
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        processes.awaited()
    except KeyboardInterrupt:
        print("interrupted")
print([Path(f"/proc/{{pid}}").exists() for pid in pids])
"""
    done = run(script, tmp_path)
    assert (done.returncode, done.stdout) == (0, "interrupted\n[False, False]\n"), done.stderr
