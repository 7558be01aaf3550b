"""Exit codes have one meaning each, in every command; and every result in JSON says what it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click
import pytest
from support.commands import in_process
from support.small import small_head, small_latents

from verale.certificate import Certificate
from verale.checker import verdict
from verale.cli import cli
from verale.cli.terminal import VERDICTS, Exit
from verale.head import save_latents
from verale.search.explain import explain

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one certificate, which is proved."""
    folder = tmp_path_factory.mktemp("proved")
    head = small_head("euclidean")
    head.save(folder / "head.safetensors")
    save_latents(folder / "latents.safetensors", latents := small_latents(head, images=1), [0])
    (certificate,) = explain(head, latents, "top_k")
    assert isinstance(certificate, Certificate)
    certificate.save(folder / "000000.ale.json")
    return folder


@pytest.fixture(scope="module")
def unproved(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with margins that are larger than what follows: code 3."""
    unproved = tmp_path_factory.mktemp("unproved")
    for name in ("head.safetensors", "latents.safetensors"):
        (unproved / name).write_bytes((folder / name).read_bytes())
    certificate = Certificate.load(folder / "000000.ale.json")
    margins = tuple(None if margin is None else 2 * margin for margin in certificate.margins)
    replace(certificate, margins=margins).save(unproved / "000000.ale.json")
    return unproved


def given(folder: Path, out: Path) -> dict[str, tuple[object, ...]]:
    """By its name a command that needs a proof of the certificate of a folder."""
    file, latents = folder / "000000.ale.json", folder / "latents.safetensors"
    other = 1 if Certificate.load(file).predicted == 0 else 0
    return {
        "audit": ("audit", folder),
        "show": ("show", file),
        "report": ("report", folder, "--out", out / "report.csv"),
        "export rocq": ("export", "rocq", folder, "--out", out / "Proofs.v"),
        "cover": ("cover", folder, "--latents", latents),
        "gap": ("gap", folder, "--seconds", 0),
        "contrast": ("contrast", file, "--class", other, "--seconds", 0),
        "necessity": ("necessity", folder, "--seconds", 0),
    }


PROVING = ("audit", "show", "report", "export rocq", "cover", "gap", "contrast", "necessity")


@pytest.mark.parametrize("name", PROVING)
def test_what_is_not_proved_has_the_code_of_its_verdict(name: str, unproved: Path, tmp_path: Path) -> None:
    done = in_process(*given(unproved, tmp_path)[name])
    assert done.returncode == Exit.BOUNDS, (done.stdout, done.stderr)


def test_only_a_report_that_was_not_audited_as_asked_is_done(unproved: Path, folder: Path, tmp_path: Path) -> None:
    assert in_process("report", unproved, "--out", tmp_path / "a.csv", "--no-audit").returncode == Exit.DONE
    assert in_process("report", folder, "--out", tmp_path / "b.csv").returncode == Exit.DONE
    (tmp_path / "log").write_text("")
    done = in_process("report", folder, "--out", tmp_path / "c.csv", "--log", tmp_path / "log")
    assert done.returncode == Exit.UNUSABLE and (tmp_path / "c.csv").exists()


def test_each_code_of_a_verdict_has_a_meaning() -> None:
    codes = {*verdict._EXIT_CODES.values()}
    assert codes <= {*Exit} and {*verdict.SEVERITY} <= {*Exit}
    assert VERDICTS.startswith("3 to 8, 12, 14 to 16 ") and codes - {0, 11} == {*range(3, 9), 12, 14, 15, 16}


def test_the_page_and_the_help_list_all_codes() -> None:
    assert "\n".join(f"| {code.value} | {code.meaning} |" for code in Exit) in PAGE.read_text(encoding="utf-8")
    listed = in_process("--help").stdout
    assert all(f"\n  {code.value:<4} {code.meaning.split()[0]}" in listed for code in Exit)


def commands() -> dict[str, click.Command]:
    context, named = click.Context(cli), {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        inner = command.commands if isinstance(command, click.Group) else {"": command}
        named |= {f"{name} {each}".strip(): found for each, found in inner.items()}
    return named


def test_every_command_says_what_its_codes_are() -> None:
    for name, command in commands().items():
        assert "Exit code: 0 " in (command.help or ""), name


def test_every_command_that_prints_a_result_has_json() -> None:
    """The others write a file, and say so on stderr."""
    without = {name for name, each in commands().items() if all("--json" not in option.opts for option in each.params)}
    writing = {"certificates pack", "certificates unpack", "head compare", "head import", "latents", "network export"}
    assert without == writing | {"completion"}


@pytest.mark.parametrize("name", (*PROVING, "export vnnlib", "refute", "summary", "head show", "compare", "doctor"))
def test_json_says_what_it_is(name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verale.counterexample.counterexamples", lambda *arguments: iter(()))
    file, head = folder / "000000.ale.json", folder / "head.safetensors"
    others = {
        "export vnnlib": ("export", "vnnlib", folder, "--out", tmp_path / "asked"),
        "refute": ("refute", file, "--seconds", 0),
        "summary": ("summary", folder),
        "head show": ("head", "show", head),
        "compare": ("compare", folder, folder),
        "doctor": ("doctor",),
    }
    if name in ("summary", "compare"):
        out = tmp_path / "run"
        files = ("--head", head, "--latents", folder / "latents.safetensors", "--jobs", 1)
        explained = in_process("explain", *files, "--out", out, "--paradigm", "top_k", "--json")
        assert [json.loads(line)["_type"] for line in explained.stdout.splitlines()] == ["urn:verale:explained:v1"]
        others = {"summary": ("summary", out), "compare": ("compare", out, out)}
    done = in_process(*(given(folder, tmp_path) | others)[name], "--json")
    assert done.stdout, done.stderr
    for line in done.stdout.splitlines():
        record = json.loads(line)
        assert next(iter(record)) == "_type" and record["_type"].startswith("urn:verale:"), record
