"""The kernel `proved` from the command line: in one process and in several, and the executable itself as a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
import safetensors.torch
import torch
from support.cases import every
from support.commands import in_process
from support.independent_text import text_of_certificate, text_of_head
from support.proved import fake

from verale.certificate import Certificate
from verale.checker import Auditor
from verale.checker.verdict import Status
from verale.head import Head, Identity, Softmax
from verale.runs.doctor import SAMPLE
from verale.search.explain import explain

HEAD, CERTIFICATE, LATENTS = (SAMPLE / name for name in ("head.safetensors", "0.ale.json", "latents.safetensors"))


def verale(*arguments: object, executable: str, module: str = "verale") -> tuple[int, str, str]:
    """`verale` in this process, unless it starts more; what else there is in one of its own."""
    if module == "verale" and "--jobs" not in arguments:
        with patch.dict(os.environ, VERALE_PROVED=executable):
            done = in_process(*arguments)
        return done.returncode, done.stdout, done.stderr
    result = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"VERALE_PROVED": executable},
    )
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [
        ("proved", 0, "PROVED"),
        ("not proved", 7, "NOT_PROVED"),
        ("not covered: it", 15, "NOT_PROVED"),
        ("limit: it", 12, "NOT_PROVED"),
        ("=yes", 9, None),
    ],
)
@pytest.mark.parametrize("module", ["verale", "verale.checker"])
def test_answers_become_lines_and_codes(answer, code, status, module, tmp_path) -> None:
    executable = fake(tmp_path, f"return None if question == 'head' else {answer!r}")
    command = ["audit"] * (module == "verale")
    files = (CERTIFICATE, "--head", HEAD, "--latents", LATENTS, "--kernel", "proved")
    got, out, err = verale(*command, *files, executable=executable, module=module)
    assert (got, out.split(" ")[0] or None) == (code, status)
    assert err == "" if status else "which is no answer; nothing is proved" in err


def test_without_the_executable_there_is_one_line(tmp_path) -> None:
    for module, command in (("verale", ["audit"]), ("verale.checker", [])):
        files = (CERTIFICATE, "--head", HEAD, "--kernel", "proved")
        code, out, err = verale(*command, *files, executable=str(tmp_path / "nowhere"), module=module)
        (last,) = err.splitlines()
        assert (code, out) == (9, "")
        assert last.startswith("error: kernel proved: there is no executable at ") and "make proved" in last


def test_several_processes_have_an_executable_each(tmp_path) -> None:
    log = tmp_path / "asked"
    noted = f"open({str(log)!r}, 'a').write(f'{{os.getpid()}} {{question}}\\n')"
    body = f"{noted}\nreturn None if question == 'head' else 'proved'"
    folder = tmp_path / "certificates"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.ale.json").write_bytes(CERTIFICATE.read_bytes() + b" " * number)
    options = ("--head", HEAD, "--kernel", "proved", "--jobs", "2", "--log", tmp_path / "log")
    code, out, err = verale("audit", folder, *options, executable=fake(tmp_path, body))
    assert (code, out.count("PROVED ")) == (0, 6), err
    asked = [line.split() for line in log.read_text().splitlines()]
    begun = [pid for pid, question in asked if question == "head"]
    assert 1 <= len(begun) == len({*begun}) <= 2 and sum(question == "entails" for _, question in asked) == 6
    records = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert len({record["run"]["checker"]["executable"] for record in records}) == 1


def test_a_log_is_of_one_executable(tmp_path) -> None:
    """Another executable is asked again, whatever the log says."""
    options = ("--head", HEAD, "--kernel", "proved", "--log", tmp_path / "log")
    for executable in (
        fake(tmp_path, "return None if question == 'head' else 'proved'"),
        fake(tmp_path, "return None if question == 'head' else 'not covered: it'", "other"),
    ):
        code, _, err = verale("audit", CERTIFICATE, *options, executable=executable)
        assert "taken from" not in err
        again, _, err = verale("audit", CERTIFICATE, *options, executable=executable)
        assert again == code and "1 of 1 verdicts are taken from" in err
    assert code == 15


def test_make_names_the_packages_where_they_are_missing(tmp_path) -> None:
    (tmp_path / "ocamlfind").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "ocamlfind").chmod(0o755)
    result = subprocess.run(
        ["make", "--directory", str(Path(__file__).parents[2] / "proofs" / "rocq"), f"BUILD={tmp_path / 'build'}"],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )
    assert result.returncode != 0 and not (tmp_path / "build").exists()
    assert "on Debian: apt-get install ocaml-nox ocaml-findlib libzarith-ocaml-dev" in result.stderr


# The executable itself.


def said(executable: str, *lines: bytes, memory: int = 500) -> tuple[list[str], int]:
    """Its answers and its exit code."""
    result = subprocess.run([executable, str(memory)], input=b"".join(lines), capture_output=True, timeout=300)
    greeting, *answers = result.stdout.decode().splitlines()
    assert greeting.startswith("verale-proved 2 OCaml ")
    return answers, result.returncode


HEAD_LINE = b"head 0 2710 " + text_of_head(HEAD.read_bytes())
CERTIFICATE_TEXT = text_of_certificate(CERTIFICATE.read_bytes())
QUESTION = CERTIFICATE_TEXT[:-1] + b" prices 0\n"
STATED = len(json.loads(CERTIFICATE.read_bytes())["predicate"]["statements"])


def test_it_answers_until_the_input_ends(proved_checker) -> None:
    assert said(proved_checker) == ([], 0)
    answers, code = said(proved_checker, HEAD_LINE, *[b"entails %x 2710 " % n + QUESTION for n in range(1, 20)])
    assert code == 0 and len(answers) == 20
    assert [int(answer.split()[0], 16) for answer in answers] == list(range(20))
    assert answers[0].endswith(" ready") and len({answer.split(" ", 2)[2] for answer in answers[1:]}) == 1


def breaking() -> Iterator[bytes]:
    """Lines that are no question."""
    yield from (b"\n", b"x\n", HEAD_LINE, b"entails 1 2710\n", b"proves 1 2710 " + QUESTION)
    yield from (b"entails %b " % numbers + QUESTION for numbers in (b"-1 2710", b"1 x"))
    yield from (b"entails 1 2710 " + line for line in (CERTIFICATE_TEXT, QUESTION[:-1] + b" 0\n", QUESTION[:-1]))
    yield b"entails 1 2710 " + CERTIFICATE_TEXT[:40]
    for question, rests in {
        b"entails": (b" image 1 0",),
        b"minimal": (b"", b" none", b" nothing 0"),
        b"needed": (b" nothing", b" nothing -1", b" nothing %x" % STATED, b" nothing 0 0"),
        b"instance": (b"", b" image 1 0000"),
    }.items():
        yield from (b"%b 1 2710 %b%b\n" % (question, CERTIFICATE_TEXT[:-1], rest) for rest in rests)


@every("line", breaking())
def test_a_question_that_breaks_the_grammar_ends_it(line, proved_checker) -> None:
    answers, code = said(proved_checker, HEAD_LINE, line, b"entails 2 2710 " + QUESTION)
    assert code == 2 and len(answers) == 2 and answers[1].startswith("error: ")


@pytest.mark.parametrize("part", [b"e", b"entails 1 ", b"entails 1 2710 " + CERTIFICATE_TEXT[:40]])
def test_half_a_line_and_a_question_before_the_head_are_errors(part, proved_checker) -> None:
    answers, code = said(proved_checker, HEAD_LINE, part)
    assert code == 2 and answers[1:] == ["error: the input ends within a line"]
    answers, code = said(proved_checker, b"entails 0 2710 " + QUESTION)
    assert code == 2 and answers[0].startswith("error: ")


def test_what_is_not_covered_is_said(proved_checker) -> None:
    """A soft tree of one prototype, whose activation is minus a distance."""
    head = b"head 1 1 2 euclidean negated max soft_tree 1 -1 1 -2 1 1 1 0 none none 1 2 2 1 0 2 0 1 2 0 0 1 0 1 0\n"
    certificate = b"certificate 0 1 1 0 1 2 0 1"
    image = b" image 1 " + b"0" * 16
    asked = (b"entails 1 2710 " + certificate + b" prices 0\n", b"instance 2 2710 " + certificate + image + b"\n")
    answers, code = said(proved_checker, b"head 0 2710 " + head, *asked)
    why = "not covered: a soft tree whose activations are not shown to lie in [0, 1]"
    assert ([answer.split(" ", 2)[2] for answer in answers], code) == (["ready", why, why], 0)


ROW = b" 40000" + b" 123456789abcdef0123456789abcdef" * 2**18
LONG = b"head 0 %x head 40000 4 2 euclidean log_ratio 1 400 max linear 1 4" + ROW * 4 + b"\n"
"""A head that takes much longer to read, within so many milliseconds."""


@pytest.mark.parametrize(
    ("milliseconds", "memory", "limit"),
    [(10, 500, "it took more processor time than was allowed"), (0xFFFFFF, 30, "it took more than 30 MB")],
)
def test_time_and_memory_are_limited(milliseconds, memory, limit, proved_checker) -> None:
    """The question after it is answered."""
    start = time.process_time()
    lines = LONG % milliseconds, HEAD_LINE.replace(b"head 0", b"head 1")
    answers, code = said(proved_checker, *lines, memory=memory)
    assert [answer.split(" ", 2)[2] for answer in answers] == [f"limit: {limit}", "ready"] and code == 0
    assert milliseconds > 10 or int(answers[0].split()[1], 16) < 5000
    assert time.process_time() - start < 60


def test_masses_of_many_patches_are_proved_by_sums(proved_checker, monkeypatch) -> None:
    """From 2^13 coordinates an image on, a patch's exponentials are enclosed by their sum: with it, statements are
    decided as without, close to the masses too."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    torch.manual_seed(0)
    head = Head(torch.rand(2, 64).round(decimals=1), Softmax(), Identity())
    latents = 4 * torch.randn(1, 2**13 // 64, 64)
    (certificate,) = explain(head, latents, "simplex")
    assert isinstance(certificate, Certificate)
    files = head.to_bytes(), safetensors.torch.save({"latents": latents})
    assert [Auditor(*files, kernel).check(certificate.to_bytes()).status for kernel in ("arb", "proved")] == [
        Status.PROVED
    ] * 2
    document = json.loads(certificate.to_bytes())
    first = document["predicate"]["statements"][0]
    high = float.fromhex(first["interval"][1])
    first["interval"] = [(1.000001 * high).hex(), (1.000002 * high).hex()]
    verdict = Auditor(*files, "proved").check(json.dumps(document).encode())
    assert (verdict.status, verdict.reason) == (Status.NOT_PROVED, "instance")
