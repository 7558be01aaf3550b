"""What a command says about its files is about the bytes that it used, also where a link leads elsewhere meanwhile."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.commands import in_process
from support.opening import flipping
from support.reporting import folder_of, report_head
from support.small import small_head

from verale.certificate import Certificate
from verale.errors import InputError
from verale.head import Head
from verale.report.collect import collect
from verale.report.verdicts import audited

HEAD = "head.safetensors"


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
def test_the_digest_that_is_printed_is_that_of_the_head_that_is_used(command, made):
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
