"""Folders and files of commands: which are found, which are too large, and whose bytes what is said is about."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from support.commands import in_process
from support.opening import flipping
from support.reporting import folder_of, report_head
from support.small import small_head, small_latents

from verale import files
from verale.certificate import Certificate
from verale.checker.__main__ import main
from verale.checker.file_auditor import FileAuditor
from verale.checker.read.latents import LARGEST
from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read
from verale.head import Head, save_latents
from verale.report.collect import collect
from verale.report.verdicts import audited
from verale.runs.doctor import SAMPLE
from verale.runs.inputs import sha256_of

LABELS = ("ship", "Truck", "truck")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where DEMO has the layout of a demo, and DEMO/certificates is a run."""
    folder = tmp_path_factory.mktemp("folders")
    head = replace(small_head("euclidean"), labels=LABELS)
    (folder / "DEMO").mkdir()
    head.save(folder / "DEMO" / "head.safetensors")
    save_latents(folder / "DEMO" / "latents.safetensors", small_latents(head, images=2), [0, 1])
    given = ("--head", "DEMO/head.safetensors", "--latents", "DEMO/latents.safetensors", "--paradigm", "top_k")
    assert in_process("explain", *given, "--out", "DEMO/certificates", cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize("name", ["DEMO", "DEMO/certificates"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("summary", None), "2"),
        (("audit", None), "PROVED      DEMO/certificates/000001.ale.json"),
        (("report", None, "-o", "r.csv", "--overwrite"), "2 certificates, 2 PROVED"),
        (("cover", None, "--latents", "DEMO/latents.safetensors"), "2 of 2 images are covered"),
        (("gap", None, "--seconds", "0"), "2 explanations under top_k"),
        (("show", None, "1"), "PROVED      DEMO/certificates/000001.ale.json"),
        (("certificates", "pack", None, "--out", "p.parquet", "--overwrite"), "2 certificates in p.parquet"),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, tuple) else None,
)
def test_a_folder_of_a_demo_is_taken(name: str, arguments: tuple[str | None, ...], said: str, folder: Path) -> None:
    done = in_process(*(name if each is None else each for each in arguments), cwd=folder, merged=True)
    assert done.returncode == 0 and said in done.stdout, done.stdout


def test_own_certificates_and_the_head_beside_them_come_first(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "DEMO", tmp_path / "DEMO")
    own = tmp_path / "DEMO" / "head.safetensors"
    shutil.copy(own, tmp_path)
    small_head("euclidean", seed=1).save(own)
    done = in_process("audit", "DEMO", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr.startswith("head DEMO/certificates/head.safetensors, sha256 ")
    shutil.move(tmp_path / "head.safetensors", own)
    shutil.copy(tmp_path / "DEMO" / "certificates" / "000001.ale.json", tmp_path / "DEMO")
    done = in_process("audit", "DEMO", cwd=tmp_path)
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["DEMO/000001.ale.json"]


NOWHERE = "nowhere: there is no such file or folder; expected certificates"
ONE = "DEMO: is a folder, expected one certificate, such as DEMO/certificates/000000.ale.json"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        *((each, NOWHERE) for each in ("audit", "gap", "necessity", "refute", "show", "contrast --class 1")),
        *((each, ONE) for each in ("refute", "contrast --class 1")),
    ],
)
def test_a_path_that_is_not_there_or_is_several_certificates_is_named(command: str, said: str, folder: Path) -> None:
    done = in_process(*command.split(), said.split(":")[0], cwd=folder)
    assert (done.returncode, done.stderr) == (9, f"error: {said}\n")


def test_a_class_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verale.counterexample.counterexamples", lambda *arguments: iter(()))

    def asked(name: str) -> tuple[int, str]:
        given = ("DEMO/certificates/000000.ale.json", "--class", name, "--seconds", 0)
        done = in_process("contrast", *given, cwd=folder, merged=True)
        return done.returncode, done.stdout

    first = in_process("audit", "DEMO/certificates/000000.ale.json", cwd=folder).stdout
    predicted = int(first.split("class ")[1].split()[0])
    for number, label in enumerate(LABELS):
        if number != predicted:
            code, text = asked(label)
            assert code in (0, 11) and f"not class {number} ({label})?" in text
    for name, problem in (
        (LABELS[predicted], f"class {LABELS[predicted]!r} is the predicted one, expected another class"),
        ("TRUCK", "class 'TRUCK' is the name of 2 classes: give a number, [1, 2]"),
        ("shipp", "class 'shipp' is unknown, expected a number of the head's classes, 0 to 2, or one of its labels"
                  " (did you mean ship?)"),
        ("3", "class '3' is unknown, expected a number of the head's classes, 0 to 2, or one of its labels"),
    ):  # fmt: skip
        code, text = asked(name)
        assert code == 9 and text.endswith(f"\nerror: {problem}\n"), text


HUGE = 2**42
CERTIFICATE, HEAD, LATENTS = "0.ale.json", "head.safetensors", "latents.safetensors"
GIVEN = (f"in/{CERTIFICATE}", "--head", f"in/{HEAD}", "--latents", f"in/{LATENTS}")


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    shutil.copytree(SAMPLE, tmp_path / "in")
    return tmp_path


def huge(path: Path) -> str:
    path.touch()
    os.truncate(path, HUGE)
    return str(path)


COMMANDS = {
    "audit": ("audit", "in"),
    "refute": ("refute", *GIVEN),
    "gap": ("gap", f"in/{CERTIFICATE}"),
    "report": ("report", "in", "--out", "r.html"),
    "contrast": ("contrast", f"in/{CERTIFICATE}", "--class", "1"),
    "necessity": ("necessity", f"in/{CERTIFICATE}"),
    "show": ("show", f"in/{CERTIFICATE}"),
    "explain": ("explain", *GIVEN[1:], "--out", "out"),
}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        *product(COMMANDS, (HEAD, LATENTS)),
        *product(("refute", "gap", "contrast", "necessity"), (CERTIFICATE,)),
        *(("report", "source.json"), ("report", "run.json"), ("summary", "explanations.csv")),
    ],
)
def test_every_command_refuses_it(command: str, name: str, sample: Path) -> None:
    huge(sample / "in" / name)
    done = in_process(*COMMANDS.get(command, (command, "in")), cwd=sample)
    assert (done.returncode, done.stdout) == (9, "")
    last, by_checker = done.stderr.splitlines()[-1], (command, name) == ("audit", HEAD)
    assert last.startswith(f"error: in/{name}: ")
    assert ("bytes, the most that are allowed" if by_checker else f" {HUGE} bytes, ") in last
    assert by_checker or ("give " if name in (HEAD, LATENTS) else "more than the ") in last
    assert not (sample / "r.html").exists() and not (sample / "out" / "run.json").exists()


def test_the_checker_alone_too(sample: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(sample / each) if each.startswith("in/") else each for each in GIVEN]
    huge(sample / "in" / LATENTS)
    assert main(given) == 9
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith(f"error: {given[-1]}: it has {HUGE} bytes, expected at most {LARGEST}; give ")


@pytest.mark.parametrize("where", ["read", "checker"])
def test_too_little_memory_is_one_line(where: str, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise MemoryError

    if where == "read":
        monkeypatch.setattr("verale.runs.audit.audit_groups", fails)
    else:
        monkeypatch.setattr("verale.checker.file_auditor.Auditor", fails)
    done = in_process("audit", *GIVEN, cwd=sample)
    assert (done.returncode, done.stdout) == (9, "") and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ") and "takes more memory than there is; give " in done.stderr


def test_a_limit_is_the_last_size_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Latents may be larger than other files; the checker, which imports nothing, has the same limit as the rest."""
    assert LARGEST_LATENTS == LARGEST
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    monkeypatch.setattr(files, "LARGEST", 3)
    assert read(path, "text") == b"abc"
    monkeypatch.setattr(files, "LARGEST", 2)
    with pytest.raises(InputError, match=r"x: has 3 bytes, more than the 2 that are read; expected text: give"):
        read(path, "text")
    assert read(path, "text", most=3) == b"abc" and read(path, "text", 1) == b"a"
    with pytest.raises(InputError, match="more than the"):
        sha256_of(huge(tmp_path / "huge"))


def test_a_latents_file_may_have_as_many_bytes_as_are_allowed(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = str(sample / "in" / HEAD), str(sample / "in" / LATENTS)
    monkeypatch.setattr("verale.checker.file_auditor.LARGEST_LATENTS", os.stat(given[1]).st_size)
    assert FileAuditor(*given).audit(str(sample / "in" / CERTIFICATE)).exit_code == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, Path, Path]:
    """A folder of certificates whose head is a link within it; the head that they are about, and another one."""
    folder = folder_of(tmp_path_factory.mktemp("inputs") / "out", report_head(labels=None))
    own, other = folder / "own", folder / "other"
    (folder / HEAD).rename(own)
    small_head("euclidean", 1).save(other)
    done = in_process("certificates", "pack", folder, "--out", folder / "packed.parquet")
    assert done.returncode == 0, done.stderr
    return folder, own, other


def arguments(command: str, folder: Path) -> list[object]:
    file = folder / "000000.ale.json"
    goal = (Certificate.load(file).predicted + 1) % 3
    return {
        "audit": ["audit", file],
        "refute": ["refute", file, "--seconds", 0.1],
        "necessity": ["necessity", file, "--seconds", 0],
        "gap": ["gap", file, "--seconds", 0],
        "contrast": ["contrast", file, "--class", goal, "--seconds", 0.1],
        "show": ["show", file],
        "cover": ["cover", file, "--latents", folder / "latents.safetensors"],
    }[command]


@pytest.mark.parametrize("command", ["audit", "refute", "necessity", "gap", "contrast", "show", "cover"])
def test_the_digest_that_is_printed_is_that_of_the_head_that_is_used(command, made, monkeypatch):
    monkeypatch.setattr(
        "verale.counterexample.counterexamples", lambda *arguments: iter(())
    )  # what is found does not matter
    folder, own, other = made
    for first, second in ((own, other), (other, own)):
        with flipping(folder / HEAD, first, second):
            done = in_process(*arguments(command, folder))
        printed = re.findall(r"^head .*, sha256 (\w+)$", done.stderr, re.MULTILINE)
        assert printed == [Head.load(first).digest], done.stderr
        assert done.returncode in ((0, 11) if first == own else (6, 9)), done.stderr + done.stdout


@pytest.mark.parametrize("command", ["attribute", "rules"])
def test_the_head_that_is_written_is_the_one_that_was_explained(command, made, tmp_path):
    folder, own, other = made
    with flipping(folder / HEAD, own, other):
        options = ["--head", folder / HEAD, "--latents", folder / "latents.safetensors", "--count", 2]
        done = in_process(command, *options, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    said = json.loads((tmp_path / "out" / {"attribute": "attribution.json"}.get(command, "rules.json")).read_text())
    assert said["head"] == Head.load(tmp_path / "out" / HEAD).digest == Head.load(own).digest


@pytest.mark.parametrize("options", [["--format", "csv"], [], ["--no-audit"], ["--provable"]])
def test_a_report_is_about_one_head(options, made, tmp_path):
    folder, own, other = made
    with flipping(folder / HEAD, own, other) as read:
        done = in_process("report", folder, *options, "-o", tmp_path / "r.html")
    assert done.returncode == 0 and read == [own], done.stderr
    if "--no-audit" not in options:
        assert re.search(r": (\d+) certificates, \1 PROVED ", done.stderr), done.stderr


def test_processes_that_audit_read_the_head_of_the_report(made):
    folder, own, other = made
    with flipping(folder / HEAD, own):
        collection = collect(folder)
    (folder / HEAD).unlink()
    (folder / HEAD).symlink_to(other)
    with pytest.raises(InputError, match="changed while certificates were audited"):
        audited(collection, jobs=2)
