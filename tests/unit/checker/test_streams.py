"""The standard streams of commands: closed, full, or read by nobody."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import verale
from verale.checker import verdict as output
from verale.checker.verdict import print_line, standard_streams

PACKAGES = str(Path(verale.__file__).parents[1])
ACCEPT = Path(__file__).parents[3] / "certificates" / "accept"
CERTIFICATE = ACCEPT / "projection-euclidean.ale.json"
HEAD = ACCEPT / "projection-euclidean.head.safetensors"
OTHER_HEAD = ACCEPT / "top_k-softmax.head.safetensors"
NOT_WHOLE = "error: standard output: {}; what is printed there is not whole\n"


def of_the_process(monkeypatch: pytest.MonkeyPatch, name: str, stream: io.TextIOWrapper | None) -> None:
    """Make this the stream that the process was started with."""
    for each in (name, f"__{name}__"):
        monkeypatch.setattr(sys, each, stream)


def ended(code: object, *lines: str) -> object:
    """The exit code of a command that prints lines."""
    with pytest.raises(SystemExit) as end, standard_streams():
        for line in lines:
            print_line(line)
        sys.exit(code)  # type: ignore[arg-type]
    return end.value.code


@pytest.mark.parametrize("buffered", [True, False], ids=["buffered", "python -u"])
def test_any_text_is_printed(buffered: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = io.FileIO(tmp_path / "out", "w")
    with io.TextIOWrapper(io.BufferedWriter(file) if buffered else file, encoding="ascii") as stream:  # type: ignore
        of_the_process(monkeypatch, "stdout", stream)
        assert ended(None, "\u00e9") == 0
        assert sys.stdout is not stream and sys.stdout.fileno() == stream.fileno() and not sys.stdout.isatty()
    assert (tmp_path / "out").read_text() == "\\xe9\n"


def test_the_streams_of_a_program_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as wrapped:
        for stream in (wrapped, io.StringIO()):
            monkeypatch.setattr(sys, "stdout", stream)
            assert ended(3, "\u00e9") == 3 and sys.stdout is stream
        assert wrapped.buffer.getvalue() == b"\\xe9\n"  # type: ignore[attr-defined]
    assert stream.getvalue() == "\u00e9\n"


@pytest.mark.parametrize("code", [0, 3, 6, 14, 9, 2, 4, 5, 10, 130])
def test_what_is_not_printed_whole_is_not_done(
    code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The code is that of the most severe outcome, and none is less severe than that of a file that cannot be used."""
    of_the_process(monkeypatch, "stdout", None)
    assert ended(code, "a line", "another") == (code if code in (2, 4, 5, 10, 130) else 9)
    assert capsys.readouterr().err == NOT_WHOLE.format(os.strerror(errno.EBADF))
    assert ended(code) == code  # where nothing is printed, nothing is missing


def test_a_reader_who_leaves_changes_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = os.pipe()
    os.close(ends[0])
    with open(ends[1], "w", encoding="utf-8") as stream:
        of_the_process(monkeypatch, "stdout", stream)
        assert ended(6, "a line", "another") == 6


def test_a_pipe_that_does_not_wait_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program, such as node at the other end of a terminal, may have made it one."""
    ends = os.pipe()
    read, waits = b"", []
    os.set_blocking(ends[1], False)

    def drained(*files: object) -> None:
        nonlocal read
        waits.append(files)
        read += os.read(ends[0], 1 << 20)

    monkeypatch.setattr(output.select, "select", drained)
    with open(ends[1], "w", encoding="utf-8") as stream:
        of_the_process(monkeypatch, "stdout", stream)
        assert ended(0, "x" * (1 << 18)) == 0
    drained()
    os.close(ends[0])
    assert len(waits) > 1 and read == b"x" * (1 << 18) + b"\n"


def test_the_numbers_of_closed_streams_are_taken(tmp_path: Path) -> None:
    """Otherwise the next file that is opened, here or by a program that is started here, is printed into."""
    program = """if True:
        import os, subprocess, sys
        from verale.checker.verdict import standard_streams
        opens = "import os; file = open({!r}, 'w'); os.write(1, b'printed')"
        with standard_streams():
            one = open("one", "w")
            subprocess.run([sys.executable, "-c", opens.format("two")], check=False)
            for number in (1, 2):
                try:
                    os.write(number, b"printed")
                except OSError:
                    pass
    """
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": PACKAGES}
    assert subprocess.run(closed, cwd=tmp_path, env=environment, check=False).returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == b""


VERALE = ("-P", "-m", "verale")
CHECKER = ("-P", "-m", "verale.checker")


def redirected(how: str, *arguments: object, cwd: Path | None = None) -> tuple[int, str, str]:
    """A command's exit code and what it prints, where its streams are redirected as a shell writes it."""
    command = ["bash", "-c", f'"$@" {how}; exit ${{PIPESTATUS[0]}}', "bash", sys.executable, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": PACKAGES}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


FULL, CLOSED = (NOT_WHOLE.format(os.strerror(code)) for code in (errno.ENOSPC, errno.EBADF))
PROVES = {"audit": (*VERALE, "audit", CERTIFICATE, "--head"), "checker": (*CHECKER, CERTIFICATE, "--head")}


@pytest.mark.parametrize(
    ("name", "how", "proved", "refused", "err"),
    [
        ("checker", ">&-", 9, 9, CLOSED),
        ("checker", ">&- 2>&- <&-", 9, 9, ""),
        ("checker", "2> /dev/full", 0, 6, ""),
        ("checker", "| head -c 0", 0, 6, ""),
        ("audit", "> /dev/full", 9, 9, FULL),
        ("audit", "| head -c 0", 0, 6, ""),
    ],
)
def test_a_verdict(name: str, how: str, proved: int, refused: int, err: str) -> None:
    code, out, said = redirected(how, *PROVES[name], HEAD)
    assert (code, said) == (proved, err) and ("PROVED" in out) == (how in ("2> /dev/full", "2>&- <&-"))
    assert refused == proved or redirected(how, *PROVES[name], OTHER_HEAD)[::2] == (refused, err)


@pytest.mark.parametrize("command", [[*VERALE, "show"], [*CHECKER]], ids=" ".join)
def test_commands_end_where_their_streams_say(command: list[str]) -> None:
    assert redirected("> /dev/full", *command, "--help") == (9, "", FULL)


def test_files_are_written_and_hold_nothing_that_is_printed(tmp_path: Path) -> None:
    files = ("--log", "log", "--attest", "attested")
    assert redirected("", *PROVES["audit"], HEAD, *files, cwd=tmp_path)[0] == 0
    log = (tmp_path / "log").read_text()
    attested = len((tmp_path / "attested").read_text().splitlines())
    (tmp_path / "log").unlink()
    assert redirected("<&- >&- 2>&-", *PROVES["audit"], HEAD, *files, cwd=tmp_path)[0] == 9
    again = (tmp_path / "log").read_text()
    assert log[: log.index('"seconds"')] == again[: again.index('"seconds"')] and again.count("\n") == 1
    assert len((tmp_path / "attested").read_text().splitlines()) == attested
