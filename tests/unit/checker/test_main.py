"""The command: one line for each certificate, the most severe exit code, one bad file never stops the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import files
from support.cases import every

from verale.checker.__main__ import main
from verale.checker.file_auditor import FileAuditor, Outcome, print_outcome, unusable
from verale.checker.verdict import print_line

IMAGE = [[0.0, 0.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
OWN = files.patch_statement(0, 0, 0.0, 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in {
        "head": HEAD,
        "latents": files.latents([IMAGE]),
        "good": files.certificate(HEAD, [OWN], image=IMAGE, minimality=True),
        "weak": files.certificate(HEAD, [], image=IMAGE),
        "swapped": files.certificate(HEAD, [OWN], image=IMAGE, predicted=1),
        "broken": b"{",
        "false": files.certificate(HEAD, [files.patch_statement(0, 0, 1.0, 1.0)], image=IMAGE),
        "fat": files.certificate(HEAD, [OWN, files.patch_statement(0, 1, 2.0, 2.0)], minimality=True),
        "alone": files.certificate(HEAD, [OWN]),
        "foreign": files.certificate(HEAD + b" ", [OWN]),
    }.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def run(folder: Path, *names: str, options: tuple[str, ...] = ()) -> int:
    return main([*(str(folder / name) for name in names), "--head", str(folder / "head"), *options])


@every(
    ("name", "code", "status"),
    [
        ("good", 0, "PROVED"), ("weak", 3, "NOT_PROVED"), ("swapped", 4, "REFUTED"), ("broken", 5, "MALFORMED"),
        ("foreign", 6, "NOT_PROVED"), ("false", 7, "NOT_PROVED"), ("fat", 8, "NOT_PROVED"),
        ("alone", 14, "PROVED"),
    ],
)  # fmt: skip
def test_exit_codes(folder: Path, name: str, code: int, status: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--latents", str(folder / "latents"), "--kernel", "both", "--minimality")
    assert run(folder, name, options=options) == code
    out, err = capsys.readouterr()
    assert out.startswith(f"{status:<10}  {folder / name}  ")
    assert (out.count("\n"), err) == (1, "")


def test_one_bad_file_never_stops_the_rest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "broken", "nowhere", "good", "weak") == 5
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["MALFORMED", "PROVED", "NOT_PROVED"]
    assert "nowhere" in err
    assert run(folder, "nowhere", "weak") == 9
    assert run(folder, "good") == 0


def test_json_is_one_object_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "good", "weak", "broken", options=("--json",)) == 5
    good, weak, broken = map(json.loads, capsys.readouterr().out.splitlines())
    assert (good["status"], good["claims"]["entailment"], good["statements"]) == ("PROVED", "proved", 1)
    assert good["certificate"] == str(folder / "good") and good["seconds"] > 0 and float(good["margin"]) > 0
    assert (weak["reason"], weak["exit_code"], weak["margin"]) == ("entailment", 3, None)
    assert (broken["status"], broken["predicted"]) == ("MALFORMED", None)


def test_files_that_cannot_be_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = str(folder / "good")
    for options in (
        ["--head", str(folder / "nowhere")],
        ["--head", str(folder / "broken")],
        ["--head", str(folder / "head"), "--latents", str(folder / "nowhere")],
        ["--head", str(folder / "head"), "--latents", str(folder / "broken")],
    ):
        assert main([good, *options]) == 9
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error: ")


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["x"], ["x", "--head", "y", "--kernel", "float"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_as_a_module_with_a_name_that_is_no_text(folder: Path) -> None:
    odd = folder / "odd\udcff\n.json"
    odd.write_bytes((folder / "good").read_bytes())
    result = subprocess.run(
        [sys.executable, "-m", "verale.checker", odd, "--head", folder / "head"],
        capture_output=True, cwd=Path(__file__).parents[3], timeout=60, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.count(b"\n") == 1
    assert b"odd\\udcff\\n.json" in result.stdout


def test_an_interrupt_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = FileAuditor.audit

    def interrupted(self: FileAuditor, path: str) -> Outcome:
        if path.endswith("weak"):
            raise KeyboardInterrupt
        return audit(self, path)

    monkeypatch.setattr(FileAuditor, "audit", interrupted)
    assert run(folder, "good", "weak", "swapped") == 130
    out, err = capsys.readouterr()
    assert out.startswith("PROVED") and out.count("\n") == 1
    assert err == "interrupted: 1 of 3 certificates are checked\n"


@pytest.mark.parametrize("kernel", ["proved", "all"])
def test_what_the_kernel_proved_never_proves_is_not_begun(
    folder: Path, kernel: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise it would end after all other proofs, with nothing proved."""
    with pytest.raises(SystemExit) as ended:
        run(folder, "good", options=("--kernel", kernel, "--deployment", "direct"))
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert f"error: --deployment is not covered by the proof of the kernel proved, which kernel {kernel} asks" in err
    assert err.endswith("; leave it out, or choose one of proved-or-arb, arb, mpmath, both\n")


# What audits print, from whichever command.


def test_a_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("é 漢 a\\n", "a\nb\r\t\x1b[2K\u202e\u2028\u200b\x85\udcff\0", json.dumps({"a": "\n\x7fé\u202e"})):
        print_line(line)
    assert capsys.readouterr().out == (
        'é 漢 a\\n\na\\nb\\r\\t\\x1b[2K\\u202e\\u2028\\u200b\\x85\\udcff\\x00\n{"a": "\\n\\u007f\\u00e9\\u202e"}\n'
    )
    unusable_line = "error: x\\nPROVED: gone\\nPROVED\n"
    print_outcome(unusable("x\nPROVED", "gone\nPROVED", {}), as_json=False)
    assert capsys.readouterr().err == unusable_line
