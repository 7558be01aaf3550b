"""The entry point: every error is one line with an exit code, and commands load only when they are asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from verale import cli
from verale.cli import FORMER, main
from verale.cli.terminal import EXTRA_OF, Exit
from verale.version import installing


def run(monkeypatch, capsys, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["verale", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def test_a_missing_module_is_an_extra_to_install_or_a_defect(monkeypatch, capsys) -> None:
    def without(name: str) -> None:
        raise ModuleNotFoundError(f"no {name}", name=name)

    monkeypatch.setattr(cli.cli, "main", lambda **options: without("torch.nn"))
    told = f"error: this command needs torch.nn: {installing('explain')}\n"
    assert run(monkeypatch, capsys) == (9, "", told) and EXTRA_OF["ray"] == "ray"
    monkeypatch.setattr(cli.cli, "main", lambda **options: without("verale.nonsense"))
    with pytest.raises(ModuleNotFoundError):
        main()


def test_an_end_of_file_that_nobody_expected_is_a_defect_and_no_interrupt(monkeypatch, capsys) -> None:
    def raised(error: BaseException) -> None:
        raise error

    for error in (EOFError(), KeyboardInterrupt()):
        monkeypatch.setattr(cli.cli, "invoke", lambda context, error=error: raised(error))
        if isinstance(error, EOFError):
            with pytest.raises(click.Abort):
                run(monkeypatch, capsys, "doctor")
        else:
            assert run(monkeypatch, capsys, "doctor")[0] == Exit.INTERRUPTED


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["head", "import", "x", "-o", "h", "--arch", "protopnt"], "protopnet"),
        (["latents", "x", "-o", "z", "--images", "i", "--arch", "prototypdl"], "prototypedl"),
        *(([name, "x", "--kernel", "mpmth", "--latents", "z"], "mpmath") for name in ("audit", "cover", "gap")),
        (["summary", "x", "--format", "markdwn"], "markdown"),
        (["report", "x", "--format", "parqet"], "parquet"),
        (["completion", "bsh"], "bash"),
        (["audit", "x", "--engine", "locl"], "local"),
        (["demo", "--paradigm", "topk"], "top_k"),
        (["attribute", "--head", "h", "--latents", "z", "--out", "o", "--paradigm", "topk"], "top_k"),
        (["explain", "--out", "o", "--engine", "ray", "--paradigm", "topk"], "top_k"),
        (["rules", "--head", "h", "--latents", "z", "--out", "o", "--paradigm", "topk"], "top_k"),
        (["explian", "--out", "o"], "explain"),
    ],
)
def test_what_is_misspelt_gets_the_nearest(arguments, near) -> None:
    refused = CliRunner().invoke(cli.cli, arguments, terminal_width=500)
    assert refused.exit_code == Exit.USAGE and f"(did you mean {near}?)" in refused.output


def test_what_is_like_no_command_gets_none() -> None:
    assert "did you mean" not in CliRunner().invoke(cli.cli, ["qqq"]).output


@pytest.mark.parametrize(("command", "name"), FORMER)
def test_a_former_name_ends_with_the_new_one(command, name) -> None:
    refused = CliRunner().invoke(cli.cli, [*command.split(), name], terminal_width=500)
    assert refused.exit_code == Exit.USAGE and f"{name} is now {FORMER[command, name]}\n" in refused.output


def test_former_names_are_gone_and_new_ones_are_there() -> None:
    for (command, name), new in FORMER.items():
        group, *inner = command.split() or new.removeprefix("verale ").split()
        found = cli.cli.get_command(click.Context(cli.cli), group)
        for each in inner:
            found = found.commands[each]
        options = {option for parameter in found.params for option in parameter.opts}
        assert name not in options and (new in options or not new.startswith("--")), (command, name)


def test_each_option_of_one_name_has_one_metavar() -> None:
    """`--head HEAD` in every command; what a command writes differs, and which network or number it means."""
    named: dict[str, set[object]] = {}
    for name in cli.cli.list_commands(click.Context(cli.cli)):
        command = cli.cli.get_command(click.Context(cli.cli), name)
        for each in (command, *getattr(command, "commands", {}).values()):
            for option in each.params:
                if isinstance(option, click.Option) and not option.is_flag and option.metavar:
                    named.setdefault(option.opts[-1], set()).add(option.metavar)
    various = {"--out", "--arch", "--by", "--format", "--image", "--images", "--only", "--seed", "--labels"}
    assert {name: metavars for name, metavars in named.items() if len(metavars) > 1 and name not in various} == {}


def test_a_variable_that_a_library_refuses_is_named(monkeypatch, capsys) -> None:
    """Where its import raises, whatever it raises. An error elsewhere stays a defect."""
    library = compile("raise ValueError('Invalid log settings: garbage, must\\nbe others')", "torch.py", "exec")
    monkeypatch.setattr(cli.cli, "main", lambda **options: exec(library, {"__name__": "torch"}))
    monkeypatch.setenv("TORCH_LOGS", "garbage")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    code, out, err = run(monkeypatch, capsys)
    assert (code, out) == (9, "")
    assert err == (
        "error: torch cannot be imported: Invalid log settings: garbage, must be others;"
        " unset TORCH_LOGS, which the environment sets\n"
    )
    monkeypatch.setattr(cli.cli, "main", lambda **options: exec(library, {"__name__": "verale.nonsense"}))
    with pytest.raises(ValueError, match="garbage"):
        main()


@pytest.mark.parametrize(
    ("ends", "why", "named"),
    [
        (
            "sys.stderr.write('terminate called\\n  what():  no option garbage\\n')",
            "no option garbage",
            "PYTORCH_A",
        ),
        ("sys.stderr.write('\\n')", "its process ended with -6", "PYTORCH_A or PYTORCH_B"),
    ],
    ids=["said", "unsaid"],
)
def test_a_variable_of_which_torch_dies_is_named(ends, why, named, tmp_path) -> None:
    """As its C++ code does of PYTORCH_CUDA_ALLOC_CONF. What verale sets itself is not advised to be unset."""
    (tmp_path / "torch.py").write_text(f"import os, sys\n{ends}\nsys.stderr.flush()\nos.abort()\n")
    variables = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "PYTORCH_A": "garbage", "PYTORCH_B": "1"}
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTORCH")}
    ended = subprocess.run(
        [sys.executable, "-c", OF_TORCH],
        env=others | variables, cwd=tmp_path, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (9, "")
    assert ended.stderr == f"error: torch cannot be imported: {why}; unset {named}, which the environment sets\n"


OF_TORCH = "import verale.cli as cli; cli.cli.main = lambda **options: __import__('torch'); cli.main()"
"""A command that imports nothing but torch."""
