"""The script instead of the executable: what it answers, and what becomes of an engine that fails."""

from __future__ import annotations

import asyncio
import hashlib

import pytest
from support.cases import every

from verale.checker import Auditor
from verale.checker.errors import ExecutableError, KernelError
from verale.checker.proved import SCRIPT, Script, find_program, find_script, script
from verale.checker.proved.dialogue import Answer
from verale.checker.proved.script import ScriptDialogue
from verale.soundness.independent import files


class FakeEngine:
    """Answers every line with the same; an exception is raised."""

    def __init__(self, said: object) -> None:
        self.said = said
        self.closed = False
        self.lines: list[str] = []

    def define(self, script: str) -> None:
        if self.said == "no script":
            raise ValueError("a script that cannot be read")

    def ask(self, line: str, seconds: float, megabytes: int) -> object:
        self.lines.append(line)
        if isinstance(self.said, BaseException):
            raise self.said
        return self.said

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def found() -> Script:
    return Script(str(SCRIPT), hashlib.sha256(SCRIPT.read_bytes()).hexdigest())


@pytest.mark.parametrize(
    ("question", "said", "answer"),
    [
        ("head", "ready", ("ready", "")),
        ("entails", "proved", ("proved", "")),
        ("instance", "not proved", ("not proved", "")),
        ("refuted", "not covered: a b", ("not covered", "a b")),
        ("entails", "limit: a list is too long", ("limit", "a list is too long")),
        ("entailment_hints", "hints: 40 80 c", ("hints", "40 80 c")),
        ("instance_settings", "not proved", ("not proved", "")),
    ],
)
def test_answers(found, question, said, answer):
    engine = FakeEngine(said)
    talk = ScriptDialogue(found, 500, engine)
    given = talk.ask(question, b"x y\n", 9)
    assert (given.word, given.why) == answer and given.milliseconds >= 0
    assert engine.lines == [f"{question} x y\n"] and talk.close.alive and not engine.closed


@every(
    "said",
    [
        *("", "Proved", "proved ", "proved\n", "ready", "error: why", "not covered:", "limit: ", "limit: \n"),
        *(None, True, 1, "not proved, proved", ["proved"], RuntimeError("broken"), "prov\u00e9d"),
    ],
)
def test_what_is_no_answer_proves_nothing(found, said):
    engine = FakeEngine(said)
    talk = ScriptDialogue(found, 500, engine)
    with pytest.raises(ExecutableError, match=r"which is no answer; nothing is proved"):
        talk.ask("entails", b"x\n", 9)
    assert engine.closed and not talk.close.alive


@pytest.mark.parametrize("said", ["proved", "not proved"])
def test_a_head_is_not_proved(found, said):
    with pytest.raises(ExecutableError):
        ScriptDialogue(found, 500, FakeEngine(said)).ask("head", b"x\n", 9)


@pytest.mark.parametrize(("question", "said"), [("entails", "hints: 1"), ("entailment_hints", "proved")])
def test_hints_answer_what_asks_for_hints(found, question, said):
    with pytest.raises(ExecutableError):
        ScriptDialogue(found, 500, FakeEngine(said)).ask(question, b"x\n", 9)


def test_what_takes_too_much_proves_nothing(found):
    late, large = FakeEngine(TimeoutError()), FakeEngine(MemoryError())
    assert ScriptDialogue(found, 500, late).ask("entails", b"x\n", 9) == Answer("limit", "it did not answer in time", 9)
    assert ScriptDialogue(found, 500, large).ask("entails", b"x\n", 9).why == "it took more than 500 MB"
    assert late.closed and large.closed


def test_what_cannot_be_run_or_changed(found, tmp_path):
    engine = FakeEngine("no script")
    with pytest.raises(ExecutableError, match="cannot be run"):
        ScriptDialogue(found, 500, engine)
    assert engine.closed
    with pytest.raises(KernelError, match="changed while"):
        ScriptDialogue(Script(found.path, "0" * 64), 500, FakeEngine("ready"))


def test_it_is_found_where_there_is_an_engine_and_no_executable(monkeypatch, tmp_path, found):
    monkeypatch.delenv("VERALE_PROVED", raising=False)
    monkeypatch.setattr("verale.checker.proved.executable._BUILT", tmp_path / "none")
    monkeypatch.setattr(script, "_ENGINE", "no_such_module")
    assert find_script() is None
    with pytest.raises(KernelError, match=r"pip install mini-racer"):
        find_program()
    monkeypatch.setattr(script, "_ENGINE", "json")
    assert find_program() == find_script() == found
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "wrong"))
    with pytest.raises(KernelError, match="wrong"):
        find_program()


def test_v8_proves_certificates_and_no_false_one(monkeypatch, tmp_path):
    """The whole way, where mini-racer is installed."""
    pytest.importorskip("py_mini_racer", reason="the script is not run here, which takes mini-racer")
    monkeypatch.delenv("VERALE_PROVED", raising=False)
    monkeypatch.setattr("verale.checker.proved.executable._BUILT", tmp_path / "none")
    image = [[0.0, 0.0]]
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    own = files.patch_statement(0, 0, 0.0, 2.0**-40)
    other = files.patch_statement(0, 1, 2.0, 2.0)
    for margin, status, claims in ((0.5, "PROVED", 2), (50.0, "NOT_PROVED", 1)):
        auditor = Auditor(head, files.latents([image]), "proved")
        assert isinstance(auditor.executable, Script)
        verdict = auditor.check(files.certificate(head, [own, other], image=image, margins=[None, margin]))
        assert verdict.status.value == status and list(verdict.claims.values()).count("proved") == claims


def test_v8_proves_where_an_event_loop_runs(monkeypatch, tmp_path):
    """As in a notebook."""
    pytest.importorskip("py_mini_racer", reason="the script is not run here, which takes mini-racer")
    monkeypatch.delenv("VERALE_PROVED", raising=False)
    monkeypatch.setattr("verale.checker.proved.executable._BUILT", tmp_path / "none")
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
    certificate = files.certificate(head, [files.patch_statement(0, 0, 0.0, 2.0**-40)], margins=[None, 0.5])

    async def proved():
        return Auditor(head, None, "proved").check(certificate, entailment_only=True).status.value

    assert asyncio.run(proved()) == "PROVED"
