"""A conversation with an executable that lies, garbles, dies or hangs: nothing of it is an answer."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import files
from support.proved import fake

from verale.checker import Auditor, check
from verale.checker.errors import ExecutableError, KernelError
from verale.checker.proved import dialogue, program
from verale.checker.proved.dialogue import Answer, Dialogue, UnavailableError
from verale.checker.proved.program import SCRIPT, Program, find_executable, find_program, find_script
from verale.checker.proved.script_host import converse
from verale.soundness.corpus.cases import stored

Talks = Callable[..., Dialogue]
OF_QUESTIONS = "if question != 'head': "


@pytest.fixture
def talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Talks:
    """Begins a dialogue with a fake whose answers a function's body gives; or with the program of a script."""

    def begun(body: str = "pass", script: bytes = b"", told: bool = False) -> Dialogue:
        path = tmp_path / "other"
        if script:
            path.write_bytes(script)
            path.chmod(0o755)
        monkeypatch.setenv("VERALE_PROVED", str(path) if script else fake(tmp_path, body))
        talk = Dialogue(find_executable(), 500)
        assert not told or talk.ask("head", b"x\n", 1000).word == "ready"
        return talk

    return begun


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_answers_in_order(talks: Talks) -> None:
    talk = talks("return {'entails': 'proved', 'instance': 'not proved', 'refuted': 'not covered: a b'}.get(question)")
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
def test_an_answer_is_to_what_was_asked(question: str, said: str, talks: Talks) -> None:
    talk = talks(f"return '{said}' if asked[-1] == {question!r} else None", told=question != "head")
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
def test_what_is_no_answer_proves_nothing(said: str, talks: Talks) -> None:
    talk = talks(f"{OF_QUESTIONS}\n    sys.stdout.reconfigure(encoding='utf-8')\n    return '{said}'", told=True)
    pid = talk._process.pid
    with pytest.raises(ExecutableError, match=r"answers question 1, entails, with .* is no answer; nothing is proved"):
        talk.ask("entails", b"x\n", 1000)
    assert not talk.close.alive and not is_alive(pid)


def test_an_answer_that_is_given_twice_is_not_that_to_the_next_question(talks: Talks) -> None:
    """Whether the second comes with the first or later, it is no answer."""
    body = f"{OF_QUESTIONS}\n    print(number, 1, 'proved', flush=True)\n    time.sleep(.3)\n    return 'proved'"
    talk = talks(body, told=True)
    with pytest.raises(ExecutableError, match=r"answers question [12], entails, with .*1 1 proved"):
        for _ in range(2):
            assert talk.ask("entails", b"x\n", 1000).word == "proved"
    assert not talk.close.alive


@pytest.mark.parametrize(
    "body",
    [
        "os._exit(0)",
        "print('1 1 proved', end='', flush=True); os._exit(0)",
        "sys.stdout.close(); os.close(1); time.sleep(9)",
    ],
)
def test_an_executable_that_ends_proves_nothing(body: str, talks: Talks, monkeypatch) -> None:
    monkeypatch.setattr(dialogue, "_ENDING", 0.2)
    talk = talks(OF_QUESTIONS + body, told=True)
    with pytest.raises(ExecutableError, match="ended instead of answering"):
        talk.ask("entails", b"x\n", 1000)
    assert not talk.close.alive


@pytest.mark.parametrize(
    ("body", "milliseconds", "answer"),
    [
        *((body, 1000, Answer("ended", f"it ended {how}, as it does where memory is short or limited (ulimit -v)",
                              1000))
          for body, how in (("os._exit(3)", "with code 3"),
                            ("os.kill(os.getpid(), signal.SIGABRT)", "by signal SIGABRT"))),
        ("return 'limit: long'", 1000, Answer("limit", "long", 1)),
        ("time.sleep(600)", 10, Answer("limit", "it did not answer in time", 10)),
    ],
)  # fmt: skip
def test_that_it_dies_or_gives_up_or_hangs_is_an_answer_and_its_memory_is_free(
    body: str, milliseconds: int, answer: Answer, talks: Talks, monkeypatch
) -> None:
    """Where it dies the next checker is asked."""
    talk = talks(OF_QUESTIONS + body, told=True)
    pid = talk._process.pid
    assert talk.is_open
    monkeypatch.setattr(dialogue, "_STARTING", 0.1 if milliseconds == 10 else 30.0)
    assert talk.ask("entails", b"x\n", milliseconds) == answer
    assert not talk.is_open and not is_alive(pid)


def test_that_it_died_meanwhile_is_an_answer(talks: Talks) -> None:
    talk = talks("return 'proved'")
    talk._process.kill()
    talk._process.wait()
    assert not talk.is_open
    assert talk.ask("entails", b"x\n", 1000).word == "ended"


def test_an_executable_that_does_not_read_is_ended(talks: Talks, monkeypatch) -> None:
    """More is sent than a pipe holds."""
    talk = talks("time.sleep(600)")
    monkeypatch.setattr(dialogue, "_STARTING", 0.1)
    assert talk.ask("head", b"x" * 2**22, 10).word == "limit"


GREETS = "#!/bin/sh\nprintf '%s\\n' '{}'\ncat\n"


@pytest.mark.parametrize(
    ("script", "error", "why"),
    [
        ("#!/bin/sh\nexit 0\n", ExecutableError, "other ended instead"),
        *((f"#!/bin/sh\nexit {code}\n", UnavailableError, f"it ended with code {code}") for code in (1, 127)),
        *((GREETS.format(greeting), ExecutableError, r"greets with .*make proved") for greeting in (
            "verale-proved 1 x", "verale-proved 3 x", "hello", "", "verale-proved 2 x\nverale-proved 2 x")),
        ("\x00\x01\x02", ExecutableError, r"other cannot be run \(Exec format error\)"),
    ],
)  # fmt: skip
def test_another_program_is_refused(script: str, error: type[Exception], why: str, talks: Talks) -> None:
    with pytest.raises(error, match=why):
        talks(script=script.encode())


def test_where_nothing_more_can_run_it_is_unavailable(talks: Talks, monkeypatch) -> None:
    def scarce(*_: object) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(Program, "start", scarce)
    with pytest.raises(UnavailableError, match=r"it cannot be run now \(Cannot allocate memory\)"):
        talks()


def test_where_nobody_can_wait_for_a_pipe_a_timer_ends_it(talks: Talks, monkeypatch) -> None:
    """As on Windows."""
    monkeypatch.setattr(dialogue, "_CAN_WAIT", False)
    talk = talks("if question == 'refuted': time.sleep(600)\nreturn 'proved'[: 9 * len(asked) - 9]", told=True)
    assert talk.ask("entails", b"x\n", 1000).word == "proved"
    monkeypatch.setattr(dialogue, "_STARTING", 0.1)
    assert talk.ask("refuted", b"x\n", 10).word == "ended"
    assert not talk.is_open


def test_in_the_child_of_a_fork_it_is_closed_and_goes_on_in_its_parent(talks: Talks) -> None:
    talk = talks(f"{OF_QUESTIONS} return 'proved'", told=True)
    child = os.fork()
    if child == 0:
        code = 1 if talk.is_open else 0
        talk.close()
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert talk.is_open and talk.ask("entails", b"x\n", 1000).word == "proved"


def test_it_ends_with_its_dialogue(talks: Talks) -> None:
    talk = talks()
    pid = talk._process.pid
    assert is_alive(pid)
    del talk
    assert not is_alive(pid)


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
    monkeypatch.setattr(program, "_BUILT", Path(fake(tmp_path, "pass")))
    assert find_executable().path == str(tmp_path / "fake")


@pytest.mark.parametrize("named", ["fake", "./fake", "../{name}/fake"])
def test_a_relative_path_is_refused(named: str, tmp_path, monkeypatch) -> None:
    """It names another file in each folder, and the current one may be a stranger's."""
    fake(tmp_path, "return 'proved'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERALE_PROVED", named.format(name=tmp_path.name))
    with pytest.raises(KernelError, match="expected an absolute path: the current folder may be a stranger's"):
        find_executable()


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="nothing can be run by its descriptor here")
def test_what_runs_is_what_was_digested_whatever_has_its_name(talks: Talks, tmp_path, monkeypatch) -> None:
    """The file is exchanged between the digest and the start."""
    other, begun = fake(tmp_path, "return 'proved'", "other"), program._begun

    def exchanged(*arguments: Any) -> Any:
        os.replace(other, tmp_path / "fake")
        return begun(*arguments)

    monkeypatch.setattr(program, "_begun", exchanged)
    assert talks(f"{OF_QUESTIONS} return 'not proved'", told=True).ask("entails", b"x\n", 9).word == "not proved"


@pytest.mark.skipif(sys.platform != "linux", reason="a process's limits are set on Linux alone")
@pytest.mark.parametrize(("most", "expected"), [(2**40, 1000 * 2**20), (900 * 2**20, 900 * 2**20)])
def test_its_memory_is_never_more_than_that_of_this_process(most: int, expected: int, tmp_path) -> None:
    log = tmp_path / "limits"
    body = f"import resource\nopen({str(log)!r}, 'w').write(str(resource.getrlimit(resource.RLIMIT_AS)))"
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({most},) * 2)\n"
        "from verale.checker.proved.program import find_executable\n"
        "from verale.checker.proved.dialogue import Dialogue\n"
        "Dialogue(find_executable(), 500).ask('head', b'x\\n', 9)\n"
    )
    environment = os.environ | {"VERALE_PROVED": fake(tmp_path, body)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)
    assert log.read_text() == str((expected, expected))


# The script instead of the executable: where it is found, what its host answers, and that V8 proves.


IMAGE = [[0.0, 0.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
STATEMENTS = [files.patch_statement(0, 0, 0.0, 2.0**-40), files.patch_statement(0, 1, 2.0, 2.0)]


@pytest.fixture
def found() -> Program:
    """The script, where it can be run."""
    pytest.importorskip("py_mini_racer", reason="the script is not run here, which takes mini-racer")
    found = find_script()
    assert found is not None
    return found


@pytest.fixture
def without_executable(monkeypatch, tmp_path, found) -> None:
    monkeypatch.delenv("VERALE_PROVED", raising=False)
    monkeypatch.setattr("verale.checker.proved.program._BUILT", tmp_path / "none")
    monkeypatch.setattr("verale.checker.proved.program._BROUGHT", tmp_path / "none")


def defined(tmp_path: Path, ask: str, modules: str) -> Program:
    """A script that answers what the body of a function says."""
    path = tmp_path / "other.js"
    path.write_text(f"var verale = {{greeting: 'verale-proved 2 other', ask: (line) => {{{ask}}}}}")
    return Program(str(path), hashlib.sha256(path.read_bytes()).hexdigest(), modules=modules)


def large(_: str) -> object:
    raise MemoryError


def busy(_: str) -> object:
    began = time.process_time()
    while time.process_time() - began < 0.1:
        pass
    return "proved"


def failing(_: str) -> object:
    raise RuntimeError("broken")


@pytest.mark.parametrize(
    ("engine", "answer"),
    [
        *((lambda _, said=said: said, b"error: ") for said in (None, True, 1, ["proved"], b"proved")),
        (large, b"limit: it took more memory"),
        (busy, b"limit: it took more processor time"),
        (failing, b"error: RuntimeError: broken\n"),
    ],
)
def test_what_is_no_text_takes_too_much_or_fails_proves_nothing(engine, answer) -> None:
    """A line of the host, with an engine that is no V8; only one that is busy is to end at a limit, 10 ms."""
    said, goes_on = converse(b"entails 0 %x x\n" % (10 if engine is busy else 60_000), engine)
    assert said.split(b" ", 2)[2].startswith(answer) and not goes_on


@pytest.mark.parametrize(
    ("ask", "milliseconds", "why"),
    [
        ("const all = []; for (;;) all.push(new Array(1e5).fill(1.5));", 9999, "it took more memory than is allowed"),
        ("for (;;) {}", 200, "it took more processor time than was allowed"),
    ],
)
def test_v8_is_ended_where_it_takes_too_much(ask, milliseconds, why, found, tmp_path) -> None:
    talk = Dialogue(defined(tmp_path, f"if (line === 'head x\\n') return 'ready'; {ask}", found.modules), 100)
    assert talk.ask("head", b"x\n", 1000).word == "ready"
    answer = talk.ask("entails", b"x\n", milliseconds)
    assert (answer.word, answer.why) == ("limit", why)
    assert not talk.is_open


def test_what_cannot_be_run_proves_nothing_and_a_script_that_changes_is_refused(found, tmp_path) -> None:
    """Its digest stands in audit logs, and what runs are the bytes that have it."""
    broken = tmp_path / "broken.js"
    broken.write_text("this is no script")
    digest = hashlib.sha256(broken.read_bytes()).hexdigest()
    for path, sha256, modules, error, why in (
        (str(broken), digest, found.modules, UnavailableError, "it ended with code 1"),
        (found.path, found.sha256, str(tmp_path), UnavailableError, "it ended with code 1"),
        (found.path, "0" * 64, found.modules, KernelError, "changed while"),
    ):
        with pytest.raises(error, match=why):
            Dialogue(Program(path, sha256, modules=modules), 500)


def test_it_is_found_where_there_is_an_engine_and_no_executable(monkeypatch, without_executable, tmp_path, found):
    assert find_program() == found and found.path == str(SCRIPT)
    assert found.sha256 == hashlib.sha256(SCRIPT.read_bytes()).hexdigest()
    monkeypatch.setattr(program, "_ENGINE", "no_such_module")
    assert find_script() is None
    with pytest.raises(KernelError, match=r"pip install mini-racer"):
        find_program()
    monkeypatch.setattr(program, "_ENGINE", "json")
    assert find_script() == Program(found.path, found.sha256, modules=str(Path(json.__file__).parents[1]))
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "wrong"))
    with pytest.raises(KernelError, match="wrong"):
        find_program()


def test_v8_proves_certificates_and_no_false_one(without_executable):
    for margin, status, number in ((0.5, "PROVED", 2), (50.0, "NOT_PROVED", 1)):
        auditor = Auditor(HEAD, files.latents([IMAGE]), "proved")
        assert auditor.executable.modules
        verdict = auditor.check(files.certificate(HEAD, STATEMENTS, image=IMAGE, margins=[None, margin]))
        assert verdict.status.value == status and list(verdict.claims.values()).count("proved") == number


def test_v8_proves_where_an_event_loop_runs(without_executable):
    """As in a notebook."""
    certificate = files.certificate(HEAD, STATEMENTS[:1], margins=[None, 0.5])

    async def proved():
        return Auditor(HEAD, None, "proved").check(certificate, entailment_only=True).status.value

    assert asyncio.run(proved()) == "PROVED"


def test_a_network_that_is_too_large_is_refused_at_once(without_executable, monkeypatch):
    """And the next checker is asked by default, which the verdict says."""
    case = next(case for case in stored("picture") if case.name == "picture/euclidean-top_k")
    monkeypatch.setattr("verale.checker.proved.claims.MOST_PRODUCTS_OF_SCRIPT", 10)
    given = {"network": case.network, "pictures": case.pictures}
    verdict = check(case.certificate, case.head, kernel="proved", **given)
    assert (verdict.status.value, verdict.reason) == ("NOT_PROVED", "limit")
    assert "as JavaScript the proved checker takes networks of at most 10 products" in verdict.message
    verdict = check(case.certificate, case.head, **given)
    assert verdict.status.value == "PROVED" and verdict.by["picture"] == "arb"
    assert verdict.by["entailment"] == "proved"


LIMITED = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (40 * 2**30, 40 * 2**30))  # more than any machine has; V8 reserves more yet
from verale.checker import Auditor
from verale.checker.proved import program
program._BUILT = program._BROUGHT = Path("none")
head, certificate = (Path(name).read_bytes() for name in sys.argv[1:])
for kernel in (None, "proved"):
    verdict = Auditor(head, None, kernel).check(certificate, entailment_only=True)
    print(verdict.status.value, verdict.reason, verdict.by, verdict.message)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux alone")
def test_where_v8_cannot_run_the_next_checker_is_asked(found, tmp_path, monkeypatch) -> None:
    """V8 reserves more address space than batch systems allow (`ulimit -v`), and aborts its process."""
    monkeypatch.delenv("VERALE_PROVED", raising=False)
    (tmp_path / "head").write_bytes(HEAD)
    (tmp_path / "certificate").write_bytes(files.certificate(HEAD, STATEMENTS[:1], margins=[None, 0.5]))
    command = [sys.executable, "-c", LIMITED, "head", "certificate"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    first, second = done.stdout.splitlines()
    assert done.returncode == 0 and first.startswith("PROVED  {'entailment': 'arb'}")
    assert second.startswith("NOT_PROVED limit {} the proved checker could not be asked: it ended by signal ")
    assert list(tmp_path.iterdir()) == [tmp_path / "head", tmp_path / "certificate"] or len([*tmp_path.iterdir()]) == 2
