"""The script instead of the executable: where it is found, what its host answers, and that V8 proves."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import files

from verale.checker import Auditor, check
from verale.checker.errors import KernelError
from verale.checker.proved import program
from verale.checker.proved.dialogue import Dialogue, UnavailableError
from verale.checker.proved.program import SCRIPT, Program, find_program, find_script
from verale.checker.proved.script_host import converse
from verale.soundness.corpus.cases import stored

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
    while time.process_time() - began < 0.3:
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
    """A line of the host, with an engine that is no V8."""
    said, goes_on = converse(b"entails 0 a x\n", engine)
    assert said.split(b" ", 2)[2].startswith(answer) and not goes_on


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        ("const all = []; for (;;) all.push(new Array(1e5).fill(1.5));", "it took more memory than is allowed"),
        ("for (;;) {}", "it took more processor time than was allowed"),
    ],
)
def test_v8_is_ended_where_it_takes_too_much(ask, why, found, tmp_path) -> None:
    talk = Dialogue(defined(tmp_path, f"if (line === 'head x\\n') return 'ready'; {ask}", found.modules), 100)
    assert talk.ask("head", b"x\n", 1000).word == "ready"
    answer = talk.ask("entails", b"x\n", 1000)
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
