"""The documented gate passes what is proved of an image, and no statements that contradict each other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from support import files
from support.commands import in_process

from verale.datasets.rows import row_of, write_rows

ROOT = Path(__file__).parents[2]
CLASSES = 3
IMAGE = [[0.0, 0.0]]
HEAD = files.head(
    [[float(c == j) for j in range(CLASSES)] for c in range(CLASSES)], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
)
LATENTS = " --latents latents.safetensors"
STATED = [files.patch_statement(0, j, d, d) for j, d in enumerate((0.0, 2.0, 1.0))]
GOOD = files.certificate(HEAD, STATED, 0, CLASSES, image=IMAGE, minimality=False)


def gate() -> tuple[str, str]:
    text = (ROOT / "certificates" / "audit-log-v1.md").read_text(encoding="utf-8")
    audit, search = re.findall(r"^\$ (.*)$", text.split("## A gate\n")[1], re.MULTILINE)
    assert LATENTS in audit
    return audit, search


def codes(folder: Path, certificate: bytes, without: str = "", also: str = "") -> tuple[int, int]:
    """The exit codes of the gate's two commands; the first one without an option, and with another.

    A shell runs both in `test_documents.py`; here it runs the second one, and one process audits.
    """
    (folder / "explained").mkdir(exist_ok=True)
    (folder / "head.safetensors").write_bytes(HEAD)
    (folder / "latents.safetensors").write_bytes(files.latents([IMAGE]))
    (folder / "explained" / "0.ale.json").write_bytes(certificate)
    audit, search = gate()
    program, *arguments = shlex.split(audit.replace(without, "") + also)
    assert program == "verale"
    arguments[arguments.index("--jobs") + 1] = "1"  # of a single certificate
    audited = in_process(*arguments, cwd=folder)
    searched = subprocess.run(["bash", "-c", search], cwd=folder, timeout=600, capture_output=True)
    return audited.returncode, searched.returncode


def contradiction(predicted: int, image: files.Matrix | None) -> bytes:
    """The predicted class has its prototype, and no other prototype is as near as each of them is everywhere."""
    stated = [files.activation_statement(j, *((6.5, 7.0) if j == predicted else (0.0, 0.125))) for j in range(CLASSES)]
    return files.certificate(HEAD, stated, predicted, CLASSES, "top_k", image=image)


def test_what_is_proved_of_an_image_passes(tmp_path: Path) -> None:
    assert codes(tmp_path, GOOD) == (0, 0)


@pytest.mark.parametrize("predicted", range(CLASSES))
def test_statements_that_contradict_each_other_do_not_pass(predicted: int, tmp_path: Path) -> None:
    nowhere = [[0.5, 0.25]]
    assert codes(tmp_path, contradiction(predicted, None)) == (14, 1)
    assert codes(tmp_path, contradiction(predicted, None), also=" --entailment-only") == (0, 1)
    assert codes(tmp_path, contradiction(predicted, IMAGE))[0] == 7
    assert codes(tmp_path, contradiction(predicted, nowhere))[0] == 6
    assert codes(tmp_path, contradiction(predicted, nowhere), without=LATENTS) == (0, 1)


# A verdict that is taken from the log belongs to the bytes that it was given for, whatever they are called

WRONG = files.certificate(HEAD, [], 0, CLASSES, image=IMAGE, minimality=False)
"""A certificate that nothing proves."""


@pytest.mark.parametrize(("order", "jobs"), [((WRONG, GOOD), 1), ((GOOD, WRONG), 2)])
def test_the_same_audit_twice_says_the_same(order, jobs, tmp_path: Path) -> None:
    """Two parts with a certificate of the same name, the second of which comes later: by name, one verdict was told for
    both, and REFUTED turned into PROVED. Then another certificate, of the same age, takes the place of the first."""
    (tmp_path / "set").mkdir()
    for name, data in (("head", HEAD), ("latents", files.latents([IMAGE]))):
        (tmp_path / name).write_bytes(data)

    def written(number: int, certificate: bytes) -> Path:
        write_rows(str(path := tmp_path / "set" / f"part-{number}.parquet"), [row_of("000000.ale.json", certificate)])
        return path

    def statuses(*more: object) -> list[str]:
        command = ("audit", "set", "--head", "head", "--latents", "latents", "--log", "R.json", *more)
        return [line.split()[0] for line in in_process(*command, cwd=tmp_path).stdout.splitlines()]

    expected = ["PROVED" if each is GOOD else "NOT_PROVED" for each in order]
    first = written(0, order[0])
    assert statuses() == expected[:1]
    written(1, order[1])
    assert statuses() == statuses("--jobs", jobs) == expected
    before = first.stat()
    written(0, order[1])
    os.utime(first, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert statuses() == [expected[1]] * 2
