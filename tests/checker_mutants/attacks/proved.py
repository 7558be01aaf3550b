"""The kernel `proved`: its texts, the verdicts that it makes of answers, and executables that give none."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from checker_mutants.mutant import Import
from support import files
from support.files import read_latents
from support.independent_text import (
    text_of_addition,
    text_of_certificate,
    text_of_head,
    text_of_image,
    text_of_prices,
)

from verale.soundness.corpus.cases import Case, stored

__all__ = ["dialogues", "forks", "proved_verdicts", "scripted", "scripts", "texts_differ", "threads"]

Script = dict[str, str]
"""The answer to a question, `proved` to all that are not named. `entails as stated` is of GOOD's own margins."""


@cache
def _texts() -> list[tuple[Case, list[bytes]]]:
    """Well-formed cases with the texts of head, certificate, prices, addition and images."""
    cases = [case for case in stored() if case.status not in ("MALFORMED", "INPUT_ERROR")]
    return [
        (
            case,
            [
                text_of_head(case.head),
                text_of_certificate(case.certificate),
                text_of_prices(case.certificate, case.head),
                text_of_addition(case.certificate),
                *([] if case.latents is None else map(text_of_image, read_latents(case.latents))),
            ],
        )
        for case in cases
    ]


def texts_differ(module: Import, kernel: str) -> str:
    """The texts are those of the independent writer."""
    text, latents = module("proved.text"), module("read.latents")
    for case, expected in _texts():
        head = module("head").read_head(case.head)
        certificate = module("certificate").read_certificate(case.certificate)
        images = [] if case.latents is None else read_latents(case.latents)
        given = [
            text.head_text(head),
            text.certificate_text(certificate),
            text.prices_text(certificate, len(head.weight.rows[0])),
            text.addition_text(certificate),
            *(text.image_text(latents.Image(array("d", files.flat(image)), head.depth)) for image in images),
        ]
        if given != expected:
            return f"the text of {case.name}"
    return ""


# Verdicts.

IMAGE, ELSEWHERE = [[0.0, 0.0]], [[1.0, 1.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
OWN = files.patch_statement(0, 0, 0.0, 2.0**-40)
GOOD = files.certificate(HEAD, [OWN, files.patch_statement(0, 1, 2.0, 2.0)], image=IMAGE, margins=[None, 0.5])
MINIMAL = files.certificate(HEAD, [OWN, files.patch_statement(0, 1, 2.0, 2.0)], image=IMAGE, minimality=True)
MALFORMED = files.certificate(HEAD, [files.patch_statement(0, 2, 0.0, 1.0)], image=IMAGE)
OTHER_HEAD = files.certificate(HEAD + b" ", [OWN], image=IMAGE)
FALSE = files.certificate(HEAD, [], image=ELSEWHERE)
FALSE_OF_ALL = files.certificate(HEAD, [], image=ELSEWHERE, minimality=True)
WEAK = files.certificate(HEAD, [OWN], image=IMAGE, margins=[None, 100.0])
UNTRUE = files.certificate(HEAD, [files.patch_statement(0, 0, 1.0, 2.0)], image=IMAGE)
OUTSIDE = files.certificate(HEAD, [], image=[[9.0, 0.0]])
LATENTS = files.latents([IMAGE, ELSEWHERE, [[9.0, 0.0]]])

_UNENTAILED = "instance entails refuted entails"

VERDICTS: list[tuple[bytes, Script, str, str, str]] = [
    (GOOD, {}, "PROVED", "", "instance entails"),
    (GOOD, {"instance": "not proved"}, "NOT_PROVED", "instance", "instance instance"),
    (GOOD, {"entails": "not proved"}, "REFUTED", "refuted", "instance entails refuted"),
    (
        GOOD,
        {"entails": "not proved", "refuted": "not proved"},
        "NOT_PROVED",
        "entailment",
        "instance entails refuted entails",
    ),
    (
        GOOD,
        {"entails as stated": "not proved", "refuted": "not proved"},
        "NOT_PROVED",
        "margin",
        "instance entails refuted entails",
    ),
    (
        GOOD,
        {"entails": "not proved", "refuted": "not covered"},
        "NOT_PROVED",
        "entailment",
        "instance entails refuted entails",
    ),
    (GOOD, {"entails": "not proved", "refuted": "limit"}, "NOT_PROVED", "limit", "instance entails refuted"),
    (GOOD, {"entails": "not covered"}, "NOT_PROVED", "uncovered", "instance entails"),
    (GOOD, {"instance": "not covered"}, "NOT_PROVED", "uncovered", "instance"),
    (GOOD, {"entails": "limit"}, "NOT_PROVED", "limit", "instance entails"),
    (GOOD, {"instance": "slow"}, "NOT_PROVED", "limit", "instance"),
    (MINIMAL, {}, "PROVED", "", "instance entails minimal"),
    (MINIMAL, {"minimal": "not proved"}, "PROVED", "", "instance entails minimal needed needed"),
    (
        MINIMAL,
        {"minimal": "not proved", "needed": "not proved"},
        "NOT_PROVED",
        "minimality",
        "instance entails minimal needed",
    ),
    (MINIMAL, {"minimal": "not covered"}, "NOT_PROVED", "uncovered", "instance entails minimal"),
    (MINIMAL, {"minimal": "limit"}, "NOT_PROVED", "limit", "instance entails minimal"),
    (MINIMAL, {"entails": "not proved", "refuted": "not proved"}, "NOT_PROVED", "entailment", _UNENTAILED),
    (MALFORMED, {}, "MALFORMED", "malformed", ""),
    (OTHER_HEAD, {}, "NOT_PROVED", "subject", ""),
]
"""Certificates and answers, the verdict with minimality asked for, and what is asked."""

WITNESSES: list[tuple[bytes, Script, str, str]] = [
    (GOOD, {}, "REFUTED", "refuted"),
    (GOOD, {"refuted": "not proved"}, "NOT_REFUTED", "witness"),
    (GOOD, {"refuted": "not proved", "instance": "not proved"}, "NOT_REFUTED", "instance"),
    (GOOD, {"refuted": "not covered"}, "NOT_REFUTED", "uncovered"),
    (OTHER_HEAD, {}, "NOT_REFUTED", "subject"),
    (MALFORMED, {}, "MALFORMED", "malformed"),
]

OF_ALL: list[tuple[bytes, Script, str, str, str]] = [
    (GOOD, {}, "PROVED", "", ""),
    (
        GOOD,
        {"entails": "not proved", "refuted": "not proved"},
        "NOT_PROVED",
        "entailment",
        "(arb: PROVED, mpmath: PROVED)",
    ),
    (GOOD, {"entails": "not proved"}, "NOT_PROVED", "kernels", "report it"),
    (GOOD, {"entails": "not covered"}, "NOT_PROVED", "uncovered", "(arb: PROVED, mpmath: PROVED)"),
    (GOOD, {"entails": "limit"}, "NOT_PROVED", "limit", "(arb: PROVED, mpmath: PROVED)"),
    (WEAK, {}, "NOT_PROVED", "margin", "(proved: PROVED)"),
    (WEAK, {"entails": "not proved"}, "NOT_PROVED", "margin", "(proved: REFUTED)"),
    (WEAK, {"instance": "not covered"}, "NOT_PROVED", "uncovered", "(arb: margin, mpmath: margin)"),
    (UNTRUE, {}, "NOT_PROVED", "kernels", "report it"),
    (UNTRUE, {"entails": "not proved"}, "NOT_PROVED", "kernels", "report it"),
    (UNTRUE, {"entails": "not proved", "refuted": "not proved"}, "NOT_PROVED", "kernels", "report it"),
    (UNTRUE, {"instance": "not proved"}, "NOT_PROVED", "instance", ""),
    (OUTSIDE, {}, "NOT_PROVED", "kernels", "report it"),
    (FALSE, {}, "NOT_PROVED", "kernels", "report it"),
    (FALSE, {"entails": "not proved"}, "REFUTED", "refuted", ""),
    (
        FALSE,
        {"entails": "not proved", "refuted": "not proved"},
        "NOT_PROVED",
        "entailment",
        "(arb: REFUTED, mpmath: REFUTED)",
    ),
]
"""Of the kernel `all`, without minimality: those with rules prove GOOD, refute FALSE, and know that the instances of
UNTRUE and OUTSIDE are false. Last, how the message ends where another kernel is named."""


class _Dialogue:
    """A dialogue that answers by a script."""

    def __init__(self, module: Import, script: Script, asked: list[str]) -> None:
        self.is_open = True
        self._answer, self._script, self._asked = module("proved.dialogue").Answer, script, asked

    def ask(self, question: str, text: bytes, milliseconds: int) -> Any:
        if question in ("head", "network"):
            return self._answer("ready", "", 1)
        self._asked.append(question)
        if (b" image " in text) != (question in ("instance", "refuted")):
            raise ValueError(f"{question} with or without an image")
        as_stated = question == "entails" and b" 2 2 0 1 prices " in text
        default = self._script.get(question, "proved")
        word = self._script.get("entails as stated", default) if as_stated else default
        return self._answer("proved" if word == "slow" else word, "it", 10**9 if word == "slow" else 1)


@contextmanager
def scripted(module: Import, script: Script) -> Iterator[list[str]]:
    """The copy's questions are answered by a script; what it asked."""
    asked: list[str] = []
    proved, claims = module("proved.program"), module("proved.claims")
    true = proved.find_program, proved.find_program_if_any, claims.Dialogue
    proved.find_program = proved.find_program_if_any = lambda: proved.Program("nowhere", "0" * 64)
    claims.Dialogue = lambda *arguments: _Dialogue(module, script, asked)
    try:
        yield asked
    finally:
        proved.find_program, proved.find_program_if_any, claims.Dialogue = true


_BOTH_BY = {"instance": "proved", "entailment": "proved"}
OF_EITHER: list[tuple[bytes, Script, str, str, dict[str, str]]] = [
    (GOOD, {}, "PROVED", "", _BOTH_BY),
    (GOOD, {"entails": "not proved", "refuted": "not proved"}, "PROVED", "", _BOTH_BY | {"entailment": "arb"}),
    (GOOD, {"entails": "limit", "instance": "limit"}, "PROVED", "", dict.fromkeys(_BOTH_BY, "arb")),
    (GOOD, {"instance": "slow"}, "NOT_PROVED", "limit", {"instance": "proved"}),
    (MINIMAL, {"minimal": "not covered"}, "NOT_PROVED", "minimality", _BOTH_BY),
    (FALSE_OF_ALL, {"minimal": "not covered"}, "NOT_PROVED", "kernels", {}),
]
"""Of the default choice, with minimality: the verdict, and what proved the claims that are proved."""


def proved_verdicts(module: Import, kernel: str) -> str:
    """What is answered becomes the verdict, and nothing else is asked."""
    auditor = module("auditor").Auditor
    for number, (data, script, status, reason, questions) in enumerate(VERDICTS):
        with scripted(module, script) as asked:
            verdict = auditor(HEAD, LATENTS, "proved").check(data, minimality=True)
        if (verdict.status.value, verdict.reason, " ".join(asked)) != (status, reason, questions):
            return f"answers {number}: {verdict.status.value} {verdict.reason}, asked {asked}"
        proved = {claim for claim, state in verdict.claims.items() if state == "proved"}
        shown = "instance" in questions and script.get("instance", "slow") == "slow"
        entailed = status == "PROVED" or "minimal" in questions
        expected = {
            "instance": shown,
            "entailment": entailed,
            "minimality": status == "PROVED" and "minimal" in questions,
        }
        if proved != {claim for claim, expects in expected.items() if expects}:
            return f"answers {number}: {proved} proved"
    with scripted(module, {}) as asked:
        if auditor(HEAD, None, "proved").check(GOOD).claims["instance"] != "not checked" or asked != ["entails"]:
            return "an instance without latents"
    for number, (data, script, status, reason) in enumerate(WITNESSES):
        with scripted(module, script):
            verdict = auditor(HEAD, None, "proved").refute(data, files.latents([IMAGE]))
        if (verdict.status.value, verdict.reason) != (status, reason):
            return f"witness {number}: {verdict.status.value} {verdict.reason}"
    for number, (data, script, status, reason, said) in enumerate(OF_ALL):
        with scripted(module, script):
            verdict = auditor(HEAD, LATENTS, "all").check(data)
        if (verdict.status.value, verdict.reason) != (status, reason):
            return f"all {number}: {verdict.status.value} {verdict.reason}"
        if not verdict.message.endswith(said) or verdict.message.endswith(")") != said.endswith(")"):
            return f"all {number}: {verdict.message}"
        if reason == "kernels" and "proved" in verdict.claims.values():
            return f"all {number}: claims of kernels that disagree"
    for number, (data, script, status, reason, by) in enumerate(OF_EITHER):
        with scripted(module, script):
            verdict = auditor(HEAD, LATENTS, "proved-or-arb").check(data, minimality=True)
        if (verdict.status.value, verdict.reason, verdict.by) != (status, reason, by):
            return f"either {number}: {verdict.status.value} {verdict.reason} by {verdict.by}"
        if {claim for claim, state in verdict.claims.items() if state == "proved"} != set(by):
            return f"either {number}: {verdict.claims}"
    return ""


# Executables.

_SHELL = """#!/bin/sh
echo '{greeting}'
while read -r question number milliseconds text; do
case $question in
head) echo "$number 1 ready" ;;
*) {does} ;;
esac
done
"""
ANSWERS = {
    'echo "$number 1 proved"': "proved",
    'echo "$number 1 not proved"': "not proved",
    'echo "$number 1 not covered: it"': "not covered",
    'echo "$number 1 limit: it"': "limit",
    "sleep 9": "limit",
    "exit 1": "ended",
    "kill -9 $$": "ended",
}
NO_ANSWERS = (
    "echo proved",
    "echo 0 1 proved",
    'echo "$number 1 ready"',
    'echo "$number 1 proved "',
    'echo "$number 1 proved it"',
    'echo "$number 1 Proved"',
    'echo "$number proved"',
    'printf "%s 1 proved\\n%s 1 proved\\n" "$number" "$number"',
    'printf "%s 1 proved" "$number"; exit 0',
    "exit 0",
    "echo error: it",
)


def dialogues(module: Import, kernel: str) -> str:
    """An executable's answer is taken as it is, and what is no answer is an error."""
    dialogue, errors, executable = module("proved.dialogue"), module("errors"), module("proved.program")
    dialogue._STARTING, dialogue._PATIENCE, dialogue._ENDING = 5.0, 0, 0.5
    with tempfile.TemporaryDirectory() as folder:
        numbers = count()

        def said(does: str, greeting: str = "verale-proved 2 x") -> str:
            path = Path(folder) / str(next(numbers))
            path.write_text(_SHELL.format(greeting=greeting, does=does))
            path.chmod(0o755)
            before = os.environ.get("VERALE_PROVED")
            os.environ["VERALE_PROVED"] = str(path)
            try:
                found = executable.find_executable()
            finally:
                os.environ.pop("VERALE_PROVED")
                if before is not None:
                    os.environ["VERALE_PROVED"] = before
            if (found.path, found.sha256) != (str(path), hashlib.sha256(path.read_bytes()).hexdigest()):
                return "another executable"
            talk = dialogue.Dialogue(found, 100)
            try:
                if talk.ask("head", b"x\n", 9).word != "ready":
                    return "the head is not ready"
                if does == "sleep 9":
                    dialogue._STARTING = 0.3
                return str(talk.ask("entails", b"x\n", 9).word)
            except errors.ExecutableError:
                return "" if not talk.close.alive else "an executable that failed goes on"
            finally:
                dialogue._STARTING = 5.0
                talk.close()

        for does, word in ANSWERS.items():
            if said(does) != word:
                return f"the answer of {does}"
        for does in NO_ANSWERS:
            if said(does):
                return f"no answer: {does}"
        try:
            said("echo", greeting="verale-proved 3 x")
            return "another greeting"
        except errors.ExecutableError:
            pass
        return _changed(module, Path(folder))


def _changed(module: Import, folder: Path) -> str:
    """An executable with other bytes than its digest says is not run, and one with a relative path is none."""
    executable, errors = module("proved.program"), module("errors")
    before = os.environ.get("VERALE_PROVED")
    os.environ["VERALE_PROVED"] = os.path.relpath("/bin/sh")
    try:
        executable.find_executable()
        return "an executable of whatever folder is the current one"
    except errors.KernelError:
        pass
    finally:
        os.environ.pop("VERALE_PROVED")
        if before is not None:
            os.environ["VERALE_PROVED"] = before
    path = folder / "changed"
    path.write_text(_SHELL.format(greeting="verale-proved 2 x", does="exit"))
    path.chmod(0o755)
    found = executable.Program(str(path), "0" * 64)
    try:
        module("proved.dialogue").Dialogue(found, 100).close()
        return "an executable that changed"
    except errors.KernelError:
        return ""


def forks(module: Import, kernel: str) -> str:
    """The child of a fork asks a program of its own: two that ask one get each other's answers."""
    with tempfile.TemporaryDirectory() as folder:
        asked, path = Path(folder) / "asked", Path(folder) / "program"
        path.write_text(
            _SHELL.format(greeting="verale-proved 2 x", does=f'echo $$ >> {asked}; echo "$number 1 proved"')
        )
        path.chmod(0o755)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        executable = module("proved.program").Program(str(path), digest)
        proved = module("proved.program")
        true = proved.find_program
        proved.find_program = lambda: executable
        try:
            auditor = module("auditor").Auditor(HEAD, LATENTS, "proved")
        finally:
            proved.find_program = true
        auditor.check(GOOD)
        child = os.fork()
        if child == 0:
            try:
                auditor.check(GOOD)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        auditor.check(GOOD)
        numbers = asked.read_text().split()
        return "" if len(numbers) == 6 and numbers[0] == numbers[1] == numbers[4] != numbers[2] else "one program"


def threads(module: Import, kernel: str) -> str:
    """A thread waits for the one that is in."""
    exclusive, entered = module("auditor").Exclusive(), threading.Event()

    def enter() -> None:
        with exclusive.alone():
            entered.set()

    with exclusive.alone():
        thread = threading.Thread(target=enter)
        thread.start()
        if entered.wait(0.2):
            return "two threads are in"
    thread.join()
    return "" if entered.is_set() else "a thread never enters"


# Scripts.


SAID: tuple[tuple[object, str], ...] = (
    *((said, said) for said in ("proved", "not proved", "not covered: it", "limit: it", "proved it", "")),
    ("proved\n", "proved"),
    (None, "error: NoneType"),
    (True, "error: bool"),
    (MemoryError(), "limit: it took more memory than is allowed"),
    (ValueError("it"), "error: ValueError: it"),
)
"""What V8 gives for a question, and what its host says."""


def scripts(module: Import, kernel: str) -> str:
    """A host says what its script answers and nothing else, and no script is run in another's place."""
    errors, program = module("errors"), module("proved.program")
    converse = module("proved.script_host").converse
    for answer, expected in SAID:
        asked: list[str] = []

        def engine(line: str, answer: object = answer, asked: list[str] = asked) -> object:
            asked.append(line)
            if isinstance(answer, Exception):
                raise answer
            return answer

        said, goes_on = converse(b"entails 7 3e8 x\n", engine)
        number, _, rest = said.decode().split(" ", 2)
        if (number, rest.splitlines()[0], asked) != ("7", expected, ["entails x\n"]) or goes_on != isinstance(
            answer, str
        ):
            return f"the answer {answer!r}"
    with tempfile.NamedTemporaryFile(suffix=".js") as file:
        file.write(b"here")
        file.flush()
        begun, program._begun = program._begun, lambda *_: None
        digest = hashlib.sha256(b"here").hexdigest()
        try:
            if program.Program(file.name, digest, modules="nowhere").start(1)[1] != b"4\nhere":
                return "another script"
            program.Program(file.name, "0" * 64, modules="nowhere").start(1)
            return "a script that changed"
        except errors.KernelError:
            pass
        finally:
            program._begun = begun
    return _chosen(program, errors)


def _chosen(program: Any, errors: Any) -> str:
    """The script where no executable is built, and not where one is named that is not there."""
    program.find_script = lambda: program.Program("nowhere", "0" * 64, modules="nowhere")
    program.find_executable = _missing(errors)
    before = os.environ.pop("VERALE_PROVED", None)
    try:
        if not program.find_program().modules:
            return "no script"
        os.environ["VERALE_PROVED"] = "nowhere"
        found = [_refused(find, errors) for find in (program.find_program, program.find_program_if_any)]
        return "" if all(found) else "another program than the one that is named"
    finally:
        os.environ.pop("VERALE_PROVED", None)
        if before is not None:
            os.environ["VERALE_PROVED"] = before


def _refused(find: Any, errors: Any) -> bool:
    try:
        find()
    except errors.KernelError:
        return True
    return False


def _missing(errors: Any) -> Any:
    def find() -> None:
        raise errors.KernelError("there is no executable")

    return find
