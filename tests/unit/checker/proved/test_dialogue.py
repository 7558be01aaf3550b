"""A conversation with an executable that lies, garbles, dies or hangs: nothing of it is an answer."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.proved import fake

from verale.checker.errors import ExecutableError, KernelError
from verale.checker.proved import dialogue, program
from verale.checker.proved.dialogue import Answer, Dialogue, UnavailableError
from verale.checker.proved.program import Program, find_executable


def started(path: str, monkeypatch: pytest.MonkeyPatch) -> Dialogue:
    monkeypatch.setenv("VERALE_PROVED", path)
    return Dialogue(find_executable(), 500)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_answers_in_order(tmp_path, monkeypatch) -> None:
    body = "return {'entails': 'proved', 'instance': 'not proved', 'refuted': 'not covered: a b'}.get(question)"
    talk = started(fake(tmp_path, body), monkeypatch)
    assert talk.greeting == "verale-proved 2 a fake"
    said = [talk.ask(question, b"x\n", 9).word for question in ("head", "entails", "instance")]
    assert said == ["ready", "proved", "not proved"]
    assert talk.ask("refuted", b"x y\n", 9) == Answer("not covered", "a b", 1)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("entails", "hints: 1"), ("instance", "hints: 1"), ("refuted", "hints: 1"), ("head", "hints: 1"),
        ("entailment_hints", "proved"), ("instance_settings", "proved"), ("entailment_hints", "ready"),
        ("entailment_hints", "hints:"), ("entailment_hints", "hints: 1\\t2"), ("head", "proved"),
        ("head", "not proved"),
    ],
)  # fmt: skip
def test_an_answer_is_to_what_was_asked(question, said, tmp_path, monkeypatch) -> None:
    talk = started(fake(tmp_path, f"return '{said}' if asked[-1] == {question!r} else None"), monkeypatch)
    if question != "head":
        talk.ask("head", b"x\n", 99)
    with pytest.raises(ExecutableError, match=r"is no answer; nothing is proved"):
        talk.ask(question, b"x\n", 99)


@pytest.mark.parametrize(
    "said",
    [
        "=", "=proved", "=0 1 proved", "=2 1 proved", "=1 1 Proved", "=1 1 proved ", "= 1 1 proved", "=1 proved",
        "=1 1 proved\\x00", "=1 1 ready", "=1 1 proved!", "=1 1 not  proved", "=1 1 not covered:", "=1 -1 proved",
        "=1 1 proved\\r", "=1 1 pr\\u00f6ved", "=\\uff11 1 proved", "=error: it is broken", "=yes", "={}" + "x" * 9999,
        "=1 1 proved\\n1 1 proved", "=1 1 not proved\\n1 1 proved", "=1 1 proved\\n", "=1 1 proved: why",
        "=1 1 limit: ", "=1 1 proved\\u2028", "=01 1 proved" + "0" * 9,
    ],
)  # fmt: skip
def test_what_is_no_answer_proves_nothing(said, tmp_path, monkeypatch) -> None:
    body = f"if question == 'entails':\n    sys.stdout.reconfigure(encoding='utf-8')\n    return '{said}'"
    talk = started(fake(tmp_path, body), monkeypatch)
    talk.ask("head", b"x\n", 1000)
    pid = talk._process.pid
    with pytest.raises(ExecutableError, match=r"answers question 1, entails, with .* is no answer; nothing is proved"):
        talk.ask("entails", b"x\n", 1000)
    assert not talk.close.alive and not is_alive(pid)


def test_an_answer_that_is_given_twice_is_not_that_to_the_next_question(tmp_path, monkeypatch) -> None:
    """Whether the second comes with the first or later, it is no answer."""
    body = (
        "if question == 'entails':\n    print(number, 1, 'proved', flush=True)\n    time.sleep(.3)\n    return 'proved'"
    )
    talk = started(fake(tmp_path, body), monkeypatch)
    talk.ask("head", b"x\n", 1000)
    with pytest.raises(ExecutableError, match=r"answers question [12], entails, with .*1 1 proved"):
        for _ in range(2):
            assert talk.ask("entails", b"x\n", 1000).word == "proved"
    assert not talk.close.alive


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os._exit(0)", "ended instead of answering"),
        ("print('1 1 proved', end='', flush=True)\nos._exit(0)", "ended instead of answering"),
        ("sys.stdout.close()\nos.close(1)\ntime.sleep(9)", "ended instead of answering"),
    ],
)
def test_an_executable_that_ends_proves_nothing(body, why, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(dialogue, "_ENDING", 0.2)
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    talk = started(fake(tmp_path, f"if question != 'head':\n{indented}"), monkeypatch)
    talk.ask("head", b"x\n", 1000)
    with pytest.raises(ExecutableError, match=why):
        talk.ask("entails", b"x\n", 1000)
    assert not talk.close.alive


@pytest.mark.parametrize(
    ("body", "how"),
    [("os._exit(3)", "with code 3"), ("os.kill(os.getpid(), signal.SIGABRT)", "by signal SIGABRT")],
)
def test_that_it_dies_is_an_answer(body, how, tmp_path, monkeypatch) -> None:
    """As it does where memory is short, and then the next checker is asked."""
    talk = started(fake(tmp_path, f"if question != 'head': {body}"), monkeypatch)
    talk.ask("head", b"x\n", 1000)
    answer = talk.ask("entails", b"x\n", 1000)
    assert answer == Answer("ended", f"it ended {how}, as it does where memory is short or limited (ulimit -v)", 1000)
    assert not talk.is_open


def test_that_it_died_meanwhile_is_an_answer(tmp_path, monkeypatch) -> None:
    talk = started(fake(tmp_path, "return 'proved'"), monkeypatch)
    talk._process.kill()
    talk._process.wait()
    assert not talk.is_open
    assert talk.ask("entails", b"x\n", 1000).word == "ended"


def test_a_limit_ends_it_so_that_its_memory_is_free(tmp_path, monkeypatch) -> None:
    talk = started(fake(tmp_path, "return None if question == 'head' else 'limit: long'"), monkeypatch)
    pid = talk._process.pid
    assert talk.ask("head", b"x\n", 1000).word == "ready" and talk.is_open
    assert talk.ask("entails", b"x\n", 1000) == Answer("limit", "long", 1)
    assert not talk.is_open and not is_alive(pid)


@pytest.mark.parametrize(("code", "error"), [(0, ExecutableError), (1, UnavailableError), (127, UnavailableError)])
def test_a_program_that_ends_before_it_greets(code, error, tmp_path, monkeypatch) -> None:
    (tmp_path / "other").write_text(f"#!/bin/sh\nexit {code}\n")
    (tmp_path / "other").chmod(0o755)
    with pytest.raises(error, match="other ended instead" if code == 0 else f"it ended with code {code}"):
        started(str(tmp_path / "other"), monkeypatch)


def test_where_nothing_more_can_run_it_is_unavailable(tmp_path, monkeypatch) -> None:
    def scarce(*_: object) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(Program, "start", scarce)
    with pytest.raises(UnavailableError, match=r"it cannot be run now \(Cannot allocate memory\)"):
        started(fake(tmp_path, "pass"), monkeypatch)


def test_where_nobody_can_wait_for_a_pipe_a_timer_ends_it(tmp_path, monkeypatch) -> None:
    """As on Windows."""
    monkeypatch.setattr(dialogue, "_CAN_WAIT", False)
    talk = started(
        fake(tmp_path, "if question == 'refuted': time.sleep(600)\nreturn 'proved'[: 9 * len(asked) - 9]"), monkeypatch
    )
    assert [talk.ask(question, b"x\n", 1000).word for question in ("head", "entails")] == ["ready", "proved"]
    monkeypatch.setattr(dialogue, "_STARTING", 0.5)
    assert talk.ask("refuted", b"x\n", 10).word == "ended"
    assert not talk.is_open


def test_in_the_child_of_a_fork_it_is_closed_and_goes_on_in_its_parent(tmp_path, monkeypatch) -> None:
    talk = started(fake(tmp_path, "return None if question == 'head' else 'proved'"), monkeypatch)
    talk.ask("head", b"x\n", 1000)
    child = os.fork()
    if child == 0:
        code = 1 if talk.is_open else 0
        talk.close()
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert talk.is_open and talk.ask("entails", b"x\n", 1000).word == "proved"


def test_an_executable_that_hangs_is_ended_and_proves_nothing(tmp_path, monkeypatch) -> None:
    talk = started(fake(tmp_path, "if question != 'head':\n    time.sleep(600)"), monkeypatch)
    talk.ask("head", b"x\n", 1000)
    monkeypatch.setattr(dialogue, "_STARTING", 0.5)
    pid, start = talk._process.pid, time.monotonic()
    assert talk.ask("entails", b"x\n", 10) == Answer("limit", "it did not answer in time", 10)
    assert time.monotonic() - start < 60
    assert not talk.close.alive and not is_alive(pid)


def test_an_executable_that_does_not_read_is_ended(tmp_path, monkeypatch) -> None:
    """More is sent than a pipe holds."""
    talk = started(fake(tmp_path, "time.sleep(600)"), monkeypatch)
    monkeypatch.setattr(dialogue, "_STARTING", 0.5)
    assert talk.ask("head", b"x" * 2**22, 10).word == "limit"


@pytest.mark.parametrize(
    "greeting", ["verale-proved 1 x", "verale-proved 3 x", "hello", "", "verale-proved 2 x\nverale-proved 2 x"]
)
def test_another_program_is_refused(greeting, tmp_path, monkeypatch) -> None:
    (tmp_path / "other").write_text(f"#!/bin/sh\nprintf '%s\\n' '{greeting}'\ncat\n")
    (tmp_path / "other").chmod(0o755)
    with pytest.raises(ExecutableError, match=r"greets with .*make proved"):
        started(str(tmp_path / "other"), monkeypatch)


def test_a_program_that_cannot_be_run_is_refused(tmp_path, monkeypatch) -> None:
    (tmp_path / "other").write_bytes(b"\x00\x01\x02")
    (tmp_path / "other").chmod(0o755)
    with pytest.raises(ExecutableError, match=r"other cannot be run \(Exec format error\)"):
        started(str(tmp_path / "other"), monkeypatch)


def test_an_executable_that_changes_is_refused(tmp_path, monkeypatch) -> None:
    """Its digest stands in audit logs."""
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, "pass"))
    executable = find_executable()
    fake(tmp_path, "return 'proved'")
    with pytest.raises(KernelError, match="fake changed while certificates were audited"):
        Dialogue(executable, 500)
    Path(executable.path).unlink()
    with pytest.raises(KernelError, match=r"fake cannot be read \(No such file"):
        Dialogue(executable, 500)


def test_where_make_puts_it_is_where_it_is_looked_for(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("VERALE_PROVED", raising=False)
    monkeypatch.setattr("verale.checker.proved.program._BUILT", Path(fake(tmp_path, "pass")))
    assert find_executable().path == str(tmp_path / "fake")


def test_it_ends_with_its_dialogue(tmp_path, monkeypatch) -> None:
    talk = started(fake(tmp_path, "pass"), monkeypatch)
    pid = talk._process.pid
    assert is_alive(pid)
    del talk
    assert not is_alive(pid)


@pytest.mark.parametrize("named", ["fake", "./fake", "../{name}/fake"])
def test_a_relative_path_is_refused(named, tmp_path, monkeypatch) -> None:
    """It names another file in each folder, and the current one may be a stranger's."""
    fake(tmp_path, "return 'proved'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERALE_PROVED", named.format(name=tmp_path.name))
    with pytest.raises(KernelError, match="expected an absolute path: the current folder may be a stranger's"):
        find_executable()


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="nothing can be run by its descriptor here")
def test_what_runs_is_what_was_digested_whatever_has_its_name(tmp_path, monkeypatch) -> None:
    """The file is exchanged between the digest and the start."""
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, "return None if question == 'head' else 'not proved'"))
    executable = find_executable()
    other = fake(tmp_path, "return 'proved'", "other")
    begun = program._begun

    def exchanged(*arguments: Any) -> Any:
        os.replace(other, executable.path)
        return begun(*arguments)

    monkeypatch.setattr(program, "_begun", exchanged)
    talk = Dialogue(executable, 500)
    assert [talk.ask(question, b"x\n", 9).word for question in ("head", "entails")] == ["ready", "not proved"]


@pytest.mark.skipif(sys.platform != "linux", reason="a process's limits are set on Linux alone")
def test_its_memory_is_never_more_than_that_of_this_process(tmp_path, monkeypatch) -> None:

    log = tmp_path / "limits"
    body = f"import resource\nopen({str(log)!r}, 'w').write(str(resource.getrlimit(resource.RLIMIT_AS)))"
    path = fake(tmp_path, body)
    program = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)\n"
        "from verale.checker.proved.program import find_executable\n"
        "from verale.checker.proved.dialogue import Dialogue\n"
        "Dialogue(find_executable(), 500).ask('head', b'x\\n', 9)\n"
    )
    for most, expected in ((2**40, 1000 * 2**20), (900 * 2**20, 900 * 2**20)):
        environment = os.environ | {"VERALE_PROVED": path}
        subprocess.run([sys.executable, "-c", program, str(most)], env=environment, check=True, timeout=60)
        assert log.read_text() == str((expected, expected))
