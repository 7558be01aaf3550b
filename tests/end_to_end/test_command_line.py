"""The commands as a user runs them: real files, exit codes and messages; some in a process, the others in this one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import in_process as run
from support.commands import process
from support.strangers import VERALE, plant


@pytest.mark.long  # 50 digits, explained and audited
def test_the_demo_explains_and_proves_every_packaged_digit(tmp_path):
    sent, mark = tmp_path / "sent", tmp_path / "mark"
    sent.mkdir()
    plant(sent, mark)
    command = (VERALE, "demo", "--out", tmp_path / "demo")
    result = subprocess.run(command, capture_output=True, text=True, cwd=sent, timeout=600)
    assert result.returncode == 0, result.stderr
    assert not mark.exists(), "something of a stranger's folder was run"
    assert "50 images, 50 certificates, 50 proved" in result.stdout
    assert float(re.search(r"mean ([0-9.]+) statements", result.stdout)[1]) < 6
    assert len(list((tmp_path / "demo" / "certificates").glob("*.ale.json"))) == 50
    report = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert "<b>proved 50 of 50</b>" in report and "What is missing</h2>" not in report
    files = ("demo/certificates", "--head", "demo/head.safetensors", "--latents", "demo/latents.safetensors")
    again = process("audit", *files, "--jobs", "2", cwd=tmp_path)
    assert again.returncode == 0 and again.stdout.count("PROVED") == 50, again.stdout + again.stderr
    assert "Traceback" not in result.stderr
    assert run("summary", "demo", cwd=tmp_path).stdout.splitlines()[1].split()[:4] == ["demo", "readable", "all", "50"]
    refused = run("demo", "--out", tmp_path / "demo", "--paradigm", "top_k", cwd=tmp_path)
    assert refused.returncode == 9 and "paradigm readable there, top_k here" in refused.stderr
    certificates = {path: path.read_bytes() for path in (tmp_path / "demo" / "certificates").glob("*.json")}
    assert "50 images, 50 certificates, 50 proved" in run("demo", "--out", tmp_path / "demo", cwd=tmp_path).stdout
    assert {path: path.read_bytes() for path in certificates} == certificates
    script = Path(__file__).parents[2] / "examples" / "tampering.py"
    told = subprocess.run([sys.executable, script, tmp_path / "demo"], capture_output=True, text=True, timeout=300)
    codes = [int(line.rsplit(" ", 1)[1]) for line in told.stdout.splitlines() if "exit code" in line]
    assert codes == [0, 5, 6, 3, 7, 7], told.stdout + told.stderr


HELP = """
import click
from click.testing import CliRunner
from verale.cli import cli

names = cli.list_commands(click.Context(cli))
for name in names:
    for option in ("-h", "--help"):
        told = CliRunner().invoke(cli, [name, option], prog_name="verale")
        assert told.exit_code == 0 and told.output.startswith(f"Usage: verale {name}"), (name, told.output)
print(*names)
"""


def test_every_command_has_help():
    """In one process of their own: here, click would remember how other tests called a command."""
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert {"audit", "demo", "explain", "head", "refute", "report"} <= {*done.stdout.split()}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--version",), 0), (("head", "--help"), 0), (("audit", "nowhere", "--head", "nowhere"), 9)],
)
def test_a_process_prints_and_returns_the_same(arguments, code):
    """So the other tests of this file may run the commands in this process."""
    apart, here = process(*arguments), run(*arguments)
    assert (apart.returncode, apart.stdout, apart.stderr) == (here.returncode, here.stdout, here.stderr)
    assert apart.returncode == code
