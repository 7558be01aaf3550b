"""`verale show`: one certificate in words, and a verdict that was given now, for the bytes that are shown."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from time import process_time
from types import SimpleNamespace

import pytest
from support.commands import Completed, in_process
from support.reporting import folder_of, report_head
from support.small import small_head

import verale
from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement
from verale.cli.terminal import wrapped
from verale.report.explanation import Telling
from verale.report.single import WHY

FILE = "000001.ale.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("show") / "out", paradigm="top_k")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def show(*arguments: object) -> Completed:
    done = in_process("show", *arguments)
    assert "Traceback" not in done.stderr
    return done


def test_sentence_numbers_margins_size_image_and_verdict(folder: Path) -> None:
    certificate = Certificate.load(folder / FILE)
    done = show(folder / FILE)
    names, lines = report_head().labels or (), done.stdout.splitlines()
    assert done.returncode == 0
    wrong = "" if certificate.predicted == 1 else ", which is wrong: true class bee (as labelled)"
    scope = "from the latents given for the image, not from its pixels"
    assert lines[0] == f"PROVED {scope}: class {names[certificate.predicted]}{wrong}"
    assert lines[2].startswith(f"Proved: The class is {names[certificate.predicted]} whenever ")
    assert f"of the head's {report_head().size} prototypes" in "\n".join(lines)
    why = lines.index(WHY)
    together, taken, lead = (
        line.split(" at ", 1)[1].split(" ")[1] for line in lines[lines.index("", why) - 3 : lines.index("", why)]
    )
    assert Fraction(together) - Fraction(taken) == Fraction(lead) > 0, "points add up as they are shown"
    assert lines[3].startswith("Too long to read at a glance: ") and "verale contrast " in lines[3]
    for name in names:
        assert (f"  class {name}: " in done.stdout) == (name != names[certificate.predicted])
    right = "right" if certificate.predicted == 1 else "wrong"
    assert (
        f"image 1.png (matched by order, not verified): true class bee (as labelled), the network is {right}" in lines
    )
    assert lines[-1].startswith(f"PROVED      {folder / FILE}  class {certificate.predicted}  top_k  ")
    assert f"sha256 of the head that it names {certificate.head}" in lines
    assert done.stderr.startswith(f"head {folder / 'head.safetensors'}, sha256 {certificate.head}\n")


def test_an_image_of_a_folder_has_a_number_or_a_name(folder: Path) -> None:
    """Where it has no certificate it is said why; of a name that several have, what to say instead."""
    expected = show(folder / FILE).stdout
    for image in ("1", "000001", FILE, "1.png"):
        assert show(folder, image).stdout == expected
    (folder / "000003.ale.json").unlink()
    table = (folder / "explanations.csv").read_text().splitlines()
    table[4] = "3,0,,0.2,,the logits tie"
    (folder / "explanations.csv").write_text("\n".join(table) + "\n")
    refused = [
        ((folder,), f"{folder} holds 3 certificates: say which one, "),
        ((folder, "9"), "000009.ale.json: there is no such certificate"),
        ((folder, "9.png"), "names no image '9.png'"),
        ((folder / FILE, "1"), "is a file: leave out 1"),
        ((folder, "3"), "there is no certificate of this image: the logits tie"),
    ]
    for arguments, problem in refused:
        done = show(*arguments)
        assert done.returncode == 9 and done.stdout == "" and problem in done.stderr, done.stderr
    source = json.loads((folder / "source.json").read_text())
    source["images"] = [{"file": f"{n}/a.png", "label": None} for n in range(4)]
    (folder / "source.json").write_text(json.dumps(source))
    several = "names 4 images 'a.png' (0/a.png, 1/a.png, 2/a.png, ...); give one of these names"
    assert several in show(folder, "a.png").stderr
    assert show(folder, "1/a.png").returncode == 0


def test_without_a_head_nothing_is_proved(folder: Path) -> None:
    (folder / "head.safetensors").rename(folder / "h")
    done = show(folder / FILE)
    assert done.returncode == 9 and "PROVED" not in done.stdout
    assert done.stdout.startswith("NOT AUDITED: class ") and "Claimed, and not audited here: " in done.stdout
    assert "stays behind, by at least (claimed, not proved here)\n" in done.stdout
    html = verale.show(Certificate.load(folder / FILE))._repr_html_()
    assert "Leads (claimed, not proved here)" in html
    assert done.stdout.splitlines()[-1].endswith("without which nothing can be proved: give --head")
    proved = show(folder / FILE, "--head", folder / "h")
    assert proved.returncode == 0 and "stays behind, by at least\n" in proved.stdout


def changed(folder: Path, **fields: object) -> Path:
    certificate = Certificate.load(folder / FILE)
    replace(certificate, minimal=False, **fields).save(folder / FILE)  # type: ignore[arg-type]
    return folder / FILE


def test_what_does_not_follow_is_not_called_proved(folder: Path) -> None:
    for fields, code in (
        ({"statements": (ActivationStatement(0, 0.0, 1.0),), "latents": None}, 3),
        ({"latents": "0" * 64}, 6),
        ({"statements": (ActivationStatement(0, 90.0, 91.0), *Certificate.load(folder / FILE).statements[1:])}, 7),
    ):
        done = show(changed(folder, **fields))  # type: ignore[arg-type]
        assert done.returncode == code, done.stdout
        assert done.stdout.startswith("NOT PROVED: class ") and "Claimed, and not proved: " in done.stdout
        shutil.copy(folder / "000002.ale.json", folder / FILE)


def test_of_another_head_nothing_is_told(folder: Path) -> None:
    replace(small_head("euclidean", 1), labels=("x-1", "x-2", "x-3")).save(folder / "other")
    done = show(folder / FILE, "--head", folder / "other")
    assert done.returncode == 6 and done.stdout.startswith("NOT PROVED: class ")
    assert "x-" not in done.stdout and "of the head's" not in done.stdout


def test_what_claims_nothing_of_an_image_is_told(folder: Path) -> None:
    done = show(changed(folder, latents=None))
    assert done.returncode == 14 and done.stdout.startswith("PROVED, no instance claimed: class ")
    assert "It names no image: perhaps no input satisfies the statements." in done.stdout
    (folder / "latents.safetensors").unlink()
    shutil.copy(folder / "000002.ale.json", folder / FILE)
    done = show(folder / FILE)
    assert done.returncode == 0 and done.stdout.startswith("PROVED, instance not checked: class ")
    assert "That the image satisfies the statements was not checked." in done.stdout


def test_what_is_no_certificate(folder: Path) -> None:
    done = show(changed(folder, statements=(*Certificate.load(folder / FILE).statements,) * 2))
    assert done.returncode == 5 and done.stdout.startswith("MALFORMED ") and done.stdout.count("\n") == 1
    (folder / FILE).write_text("{")
    done = show(folder / FILE)
    assert done.returncode == 5 and done.stdout.startswith(f"MALFORMED   {folder / FILE}  malformed: ")
    (folder / "head.safetensors").unlink()
    done = show(folder / FILE)
    assert done.returncode == 9 and done.stdout == "" and "is not a certificate: " in done.stderr


def test_many_prototypes_take_no_time() -> None:
    """As many as a head of less than 1 MB can have, nearly all of them exempt from a clause each way."""
    count = 60_000
    clauses = (FloorStatement(tuple(range(3, count)), 1.0), OrderStatement(tuple(range(count // 2)), 1.0))
    certificate = Certificate("0" * 64, None, 0, "top_k", 1, clauses, (None, 1.0), False, "")
    head = SimpleNamespace(sha256="0" * 64, labels=None, prototypes=count, observable="softmax mass")
    start = process_time()
    telling = Telling.of(certificate.to_bytes(), head)
    assert process_time() - start < 5
    assert telling.statements[0] == ("prototypes 0, 1 and 2", "at least 1")
    assert telling.statements[1][0] == f"every prototype except {count // 2} prototypes (0-{count // 2 - 1})"
    assert telling.prototypes == (0, 1, 2)


def test_long_lists_are_folded(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "out", paradigm="projection")
    size = Certificate.load(folder / FILE).size
    short, whole = show(folder / FILE).stdout, show(folder / FILE, "--all").stdout
    assert size > 11 and f"  and {size - 10} more statements (--all)" in short
    assert whole.count("  patch ") == size and "(--all)" not in whole


def test_names_from_outside_stay_on_their_line(tmp_path: Path) -> None:
    label = "bee\nPROVED\x1b[2K\u202e"
    head = replace(report_head(), labels=(label, "b" * 300, "c"))
    folder = folder_of(tmp_path / "out", head, "top_k", names=("a\nPROVED.png", "b.png"))
    for index in range(2):
        done = show(folder, index)
        assert done.returncode == 0 and not set("\x1b\u202e") & set(done.stdout)
        assert [line for line in done.stdout.splitlines() if line.startswith("PROVED")] == [
            done.stdout.splitlines()[0],
            done.stdout.splitlines()[-1],
        ]


def test_it_needs_nothing_but_the_core(folder: Path) -> None:
    code = (
        "import sys; from verale.cli import cli\n"
        f"try: cli.main(['show', {str(folder / FILE)!r}], standalone_mode=False)\n"
        "except SystemExit as end: print(end.code, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    code_and_modules = done.stdout.splitlines()[-1].split()
    heavy = {"torch", "numpy", "safetensors", "PIL", "matplotlib", "jinja2", "pandas"}
    assert code_and_modules[0] == "0" and not heavy & {name.split(".")[0] for name in code_and_modules}


def test_lines_are_broken_between_words_at_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    line, name = f"  {'word ' * 60}end", "x\nPROVED"
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert [*wrapped(line)] == [line]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    parts = [*wrapped(line)]
    assert max(map(len, parts)) <= 60 and all(part.startswith("    ") for part in parts[1:])
    assert " ".join("".join(f"{part.strip()} " for part in parts).split()) == line.strip()
    assert [*wrapped(name)] == ["x\\nPROVED"] and [*wrapped("")] == [""]
    digest = "a" * 64
    assert [*wrapped(f"sha256 of the head {digest}")][-1].strip().endswith(digest)
