"""A folder as `verale demo` leaves it stands for its certificates; a path that is not there is what is named."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands import in_process
from support.small import small_head, small_latents

from verale.head import save_latents

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


def test_a_parquet_file_beside_them_changes_nothing(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "DEMO", tmp_path / "DEMO")
    (tmp_path / "DEMO" / "table.parquet").write_bytes(b"")
    assert in_process("audit", "DEMO", cwd=tmp_path).returncode == 0


def test_own_certificates_come_before_those_of_a_subfolder(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "DEMO", tmp_path / "DEMO")
    shutil.copy(tmp_path / "DEMO" / "certificates" / "000001.ale.json", tmp_path / "DEMO")
    done = in_process("audit", "DEMO", cwd=tmp_path)
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["DEMO/000001.ale.json"]


def test_head_and_latents_are_those_beside_the_certificates(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "DEMO", tmp_path / "DEMO")
    small_head("euclidean", seed=1).save(tmp_path / "DEMO" / "head.safetensors")
    done = in_process("audit", "DEMO", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr.startswith("head DEMO/certificates/head.safetensors, sha256 ")


@pytest.mark.parametrize("arguments", [("contrast", "DEMO", "--class", "1"), ("refute", "DEMO")])
def test_a_command_for_one_certificate_names_one(arguments: tuple[str, ...], folder: Path) -> None:
    done = in_process(*arguments, cwd=folder)
    expected = "DEMO: is a folder, expected one certificate, such as DEMO/certificates/000000.ale.json"
    assert (done.returncode, done.stderr) == (9, f"error: {expected}\n")


@pytest.mark.parametrize(
    "arguments", [("audit",), ("gap",), ("necessity",), ("refute",), ("show",), ("contrast", "--class", "1")]
)
def test_a_path_that_is_not_there_is_what_is_named(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = in_process(*arguments, "nowhere", cwd=tmp_path)
    expected = "error: nowhere: there is no such file or folder; expected certificates\n"
    assert (done.returncode, done.stderr) == (9, expected)


def test_a_class_has_a_name(folder: Path) -> None:
    def asked(name: str) -> tuple[int, str]:
        given = ("DEMO/certificates/000000.ale.json", "--class", name, "--seconds", 0)
        done = in_process("contrast", *given, cwd=folder, merged=True)
        return done.returncode, done.stdout

    first = in_process("audit", "DEMO/certificates/000000.ale.json", cwd=folder).stdout
    predicted = int(first.split("class ")[1].split()[0])
    for number, label in enumerate(LABELS):
        if number != predicted:
            assert asked(label)[0] in (0, 11) and f"not class {number} ({label})?" in asked(label)[1]
    for name, problem in (
        (LABELS[predicted], f"class {LABELS[predicted]!r} is the predicted one, expected another class"),
        ("TRUCK", "class 'TRUCK' is the name of 2 classes: give a number, [1, 2]"),
        ("shipp", "class 'shipp' is unknown, expected a number of the head's classes, 0 to 2, or one of its labels"
                  " (did you mean ship?)"),
        ("3", "class '3' is unknown, expected a number of the head's classes, 0 to 2, or one of its labels"),
    ):  # fmt: skip
        code, text = asked(name)
        assert code == 9 and text.endswith(f"\nerror: {problem}\n"), text
