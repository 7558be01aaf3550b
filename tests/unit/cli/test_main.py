"""The entry point: every error is one line with an exit code, and commands load only when they are asked for."""

from __future__ import annotations

import sys

import pytest

from verale import cli
from verale.cli import main
from verale.cli.shared import EXTRA_OF, certificate_files, names
from verale.errors import InputError


def run(monkeypatch, capsys, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["verale", *arguments])
    monkeypatch.setattr(sys.stdout, "reconfigure", lambda **options: None, raising=False)
    monkeypatch.setattr(sys.stderr, "reconfigure", lambda **options: None, raising=False)
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["guess"], 2, "error: No such command 'guess'; see 'verale --help'"),
        (["refute"], 2, "error: Missing argument 'CERT'; see 'verale refute --help'"),
        (["summary", "x", "--json"], 2, "see 'verale summary --help'"),
        (["summary", "nowhere.csv"], 9, "error: nowhere.csv: there is no such file"),
    ],
)
def test_an_error_is_one_line(arguments, code, line, monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(monkeypatch, capsys, *arguments)
    assert (status, out, err.count("\n")) == (code, "", 1)
    assert line in err


def test_a_missing_module_is_an_extra_to_install(monkeypatch, capsys) -> None:
    def needs_torch() -> None:
        raise ModuleNotFoundError("no torch", name="torch.nn")

    monkeypatch.setattr(cli.cli, "main", lambda **options: needs_torch())
    code, out, err = run(monkeypatch, capsys)
    assert (code, out) == (9, "")
    assert err == "error: this command needs torch.nn: pip install 'verale[explain]'\n"
    assert EXTRA_OF["ray"] == "ray"


def test_a_module_of_no_extra_is_a_defect(monkeypatch) -> None:
    def fails() -> None:
        raise ModuleNotFoundError("no verale.nonsense", name="verale.nonsense")

    monkeypatch.setattr(cli.cli, "main", lambda **options: fails())
    monkeypatch.setattr(sys.stdout, "reconfigure", lambda **options: None, raising=False)
    monkeypatch.setattr(sys.stderr, "reconfigure", lambda **options: None, raising=False)
    with pytest.raises(ModuleNotFoundError):
        main()


def test_folders_stand_for_their_files(tmp_path) -> None:
    for name in ("b.ale.json", "a.ale.json", "c.txt"):
        (tmp_path / name).write_bytes(b"")
    listed = certificate_files((str(tmp_path), "given.txt"))
    assert listed == [f"{tmp_path}/a.ale.json", f"{tmp_path}/b.ale.json", "given.txt"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds no \*\.ale\.json"):
        certificate_files((str(tmp_path / "empty"),))


def test_a_completion_suggests_what_fits() -> None:
    complete = names("rival", "nearest")
    assert complete(None, None, "") == ["rival", "nearest"]
    assert complete(None, None, "n") == ["nearest"]
