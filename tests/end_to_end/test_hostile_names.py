"""Names from outside cannot end a line, steer a terminal or forge a verdict, whichever command prints them."""

from __future__ import annotations

import io
import json
import shutil
import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from support.cases import case
from support.commands import in_process
from support.runs import IMAGES, final
from support.small import small_head, small_latents

from verale.checker.__main__ import main as checker_alone
from verale.cli.tables import in_markdown
from verale.datasets.rows import row_of, write_rows
from verale.head import save_latents
from verale.runs.inputs import TABLE
from verale.runs.table import csv_lines, read_table

FORGED = "PROVED      good.ale.json  class 0"
NAME = f"x\n{FORGED}\r\x1b[2K\x07\x7f\u202e\u2028\x85\u200b\udcff[red]é漢"
"""Line ends of every kind, terminal codes, what reorders or hides text, a byte that is not UTF-8, and real letters."""
TEXT = NAME.replace("\udcff", "")
"""The same in UTF-8."""

LONG = "x" * 5000
"""No file can have this name."""

SHOWN = f"x\\n{FORGED}\\r\\x1b[2K\\x07\\x7f\\u202e\\u2028\\x85\\u200b\\udcff[red]é漢"
"""On a line of its own."""
FIELD = SHOWN.replace(
    "PROVED      good.ale.json  class 0", "PROVED" + 6 * r"\x20" + "good.ale.json" + 2 * r"\x20" + "class 0"
)
"""As one field of several, which two spaces separate."""


def printed(folder: Path, *arguments: object) -> tuple[int, str]:
    """The exit code, and both streams in one, as under `2>&1`. Every line is printable, and none is forged."""
    done = in_process(*arguments, cwd=folder, merged=True)
    assert done.returncode in (0, 2, 4, 5, 9, 10, 11), done.stdout
    for line in done.stdout.split("\n"):
        assert line.isprintable(), line
        assert not line.startswith(FORGED), line
    assert done.stdout == "" or done.stdout.endswith("\n")
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where every name that a user may choose is hostile: a head with labels, latents, a run, Parquet, an audit log."""
    folder = tmp_path_factory.mktemp("made")
    head = small_head("euclidean")
    head = replace(head, labels=tuple(f"{TEXT}{n}" for n in range(head.classes)))
    head.save(folder / "head")
    save_latents(folder / "latents", small_latents(head, images=2), labels=[0, 1])
    assert printed(folder, "explain", "--head", "head", "--latents", "latents", "--out", "out")[0] == 0
    good = (folder / "out" / "000000.ale.json").read_bytes()
    (folder / "good.ale.json").write_bytes(good)
    (folder / "bad.ale.json").write_text(json.dumps({NAME[:40]: NAME[:40]}))
    (folder / NAME).mkdir()
    (folder / NAME / f"{NAME}.ale.json").write_bytes(good)
    (folder / "odd").mkdir()
    (folder / "odd" / f"{NAME}.parquet").touch()
    (folder / "dangling").mkdir()
    (folder / "dangling" / f"{NAME}.ale.json").symlink_to("nowhere")
    write_rows(str(folder / "hostile.parquet"), [row_of(f"{TEXT}.ale.json", good)])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "work", symlinks=True)
    return tmp_path / "work"


LATENTS = "--latents latents --out o"
WRONG: dict[str, tuple[str, ...]] = {
    "": ("NAME", "completion NAME", "doctor NAME", "soundness --only NAME", "demo --paradigm NAME"),
    "audit --head head": (
        *("-NAME", "NAME.gone", "NAME.parquet", "memory://NAME", "nowhereNAME://NAME", "dangling", "odd", "LONG"),
        *("good.ale.json --kernel NAME", "good.ale.json --limit NAME", "good.ale.json --log NAME/NAME.ale.json"),
    ),
    "audit good.ale.json --head": ("NAME", "LONG"),
    "refute --head head": ("good.ale.json NAME", "NAME.gone", "LONG", "good.ale.json --out NAME"),
    "show": ("NAME.gone", "good.ale.json NAME", "out NAME", "NAME 7"),
    "summary": ("out --format NAME", "LONG", "NAME"),
    "compare": ("out out -o NAME", "LONG out", "out NAME.gone", "out out --latents NAME.gone"),
    "report": ("NAME -o NAME/no/folder/NAME", "LONG -o r.html"),
    "report out -o": (
        *("NAME", "LONG.html", "r.html --format NAME"),
        *(f"r.html --{option} NAME.gone" for option in ("images", "head", "log")),
    ),
    "explain": (
        *("--out o --engine NAME", "--checkpoint-dir NAME --images NAME --out o"),
        "--checkpoint-dir out --images NAME.gone --out o",
    ),
    "explain --head head": (
        *(f"{LATENTS} --{option} NAME" for option in ("paradigm", "order", "device")),
        *("--latents latents --out LONG", "--latents latents --out NAME", "--latents NAME.gone --out o"),
    ),
    "head": ("show LONG", "show good.ale.json", "import NAME.gone -o h --arch protopnet"),
    "head import head -o h --arch protopnet --option": ("NAME=NAME", "domain=NAME"),
    "certificates pack": ("NAME --out p.parquet", "dangling --out p.parquet", "out --out NAME.parquet"),
    "certificates unpack": ("odd --out p", "NAME.gone --out p", "hostile.parquet --out p"),
    "demo --out": ("occupied/NAME",),
}
"""What commands cannot use: options, arguments and files, all of which are called so."""


def test_a_wrong_option_or_file_is_one_line(folder: Path) -> None:
    (folder / "occupied" / NAME).mkdir(parents=True)
    (folder / "occupied" / NAME / "head.safetensors").touch()
    for command, endings in WRONG.items():
        for ending in endings:
            words = [*command.split(), *ending.split()]
            with case(command, ending):
                code, text = printed(folder, *(word.replace("NAME", NAME).replace("LONG", LONG) for word in words))
                assert code in (2, 9) and text.count("\n") == 1
                assert text.startswith("error: ")


def test_a_verdict_names_its_file_on_one_line(folder: Path) -> None:
    for given in (NAME, f"{NAME}/{NAME}.ale.json"):
        code, text = printed(folder, "audit", given, "--head", "head")
        assert code == 0 and text.count("\n") == 1
        assert text.startswith(f"PROVED      {FIELD}/{FIELD}.ale.json  class "), text
    for log in (f"{NAME}.log", f"{NAME}.log"):
        code, text = printed(folder, "audit", NAME, "bad.ale.json", "--head", "head", "--log", log)
        assert code == 5
    assert text.splitlines()[-1] == f"2 of 2 verdicts are taken from {SHOWN}.log"
    code, text = printed(folder, "audit", "hostile.parquet", "--head", "head")
    assert code == 0 and text.startswith("PROVED      hostile.parquet/x\\nPROVED\\x20")
    assert json.loads(printed(folder, "audit", NAME, "--head", "head", "--json")[1])["certificate"].startswith(NAME)
    code, text = printed(folder, "refute", f"{NAME}/{NAME}.ale.json", "--head", "head", "--seconds", "0")
    assert code == 11 and text.startswith(f"NOT_REFUTED  {FIELD}/{FIELD}.ale.json  class ")


def test_what_is_written_is_named_on_one_line(folder: Path) -> None:
    code, text = printed(folder, "certificates", "pack", "out", "--out", f"{TEXT}.parquet")
    assert code == 0 and text.startswith("2 certificates in x\\nPROVED")
    code, text = printed(folder, "certificates", "unpack", f"{TEXT}.parquet", "--out", f"{NAME}2")
    assert (code, text) == (0, f"2 certificates in {SHOWN}2\n")
    for _ in range(2):
        code, text = printed(folder, "explain", "--head", "head", "--latents", "latents", "--out", f"{NAME}3")
        assert code == 0 and f"2 of 2 images have a certificate in {SHOWN}3\n" in text
    code, text = printed(folder, "report", NAME, "-o", f"{NAME}.html", "--head", "head")
    assert code == 0 and text.startswith(f"{SHOWN}.html: 1 certificates, 1 PROVED")
    code, text = printed(folder, "head", "show", "head")
    assert code == 0 and "\\u202e" in text and "é漢" in text


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "json"])
def test_a_summary_is_a_line_a_row(form: str, folder: Path) -> None:
    shutil.copytree(folder / "out", folder / f"{NAME}4")
    asked = ("--json",) if form == "json" else ("--format", form)
    code, text = printed(folder, "summary", f"{NAME}4", *asked)
    lines = {"text": 4, "csv": 4, "markdown": 5, "json": 3}[form]
    assert code == 0 and text.count("\n") == lines
    if form == "json":
        assert json.loads(text.splitlines()[0])["source"] == f"{NAME}4"
    else:
        assert (in_markdown(SHOWN) if form == "markdown" else SHOWN) in text
    rows = [replace(row, paradigm=TEXT) for row in read_table(folder / "out" / TABLE)]
    (folder / "table.csv").write_text(csv_lines(rows, heading=True), newline="")
    code, text = printed(folder, "summary", "table.csv", *asked)
    assert code == 0 and text.count("\n") == lines
    rows[0] = replace(rows[0], paradigm="b")
    (folder / "table.csv").write_text(csv_lines(rows, heading=True), newline="")
    code, text = printed(folder, "summary", "table.csv")
    assert code == 9 and text.count("\n") == 1


def test_a_warning_is_one_line(folder: Path) -> None:
    shutil.copytree(folder / "out", folder / f"{NAME}5")
    path = folder / f"{NAME}5" / TABLE
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    code, text = printed(folder, "summary", f"{NAME}5", "--json")
    assert code == 0
    assert text.splitlines()[0] == f"WARNING: {SHOWN}5: 1 of 2 images are explained so far"


def test_a_log_record_is_one_line(folder: Path) -> None:
    """Also where stderr is as under PYTHONIOENCODING=ascii."""
    command = ("explain", "--head", "head", "--latents", "latents", "--out", f"{NAME}6", "--paradigm", "projection")
    told = io.BytesIO()
    with io.TextIOWrapper(told, encoding="ascii", errors="backslashreplace", write_through=True) as stderr:
        done = in_process(*command, "-vv", cwd=folder, stderr=stderr)
        lines = told.getvalue().split(b"\n")
    assert done.returncode == 0 and done.stdout == "" and len(lines) > 3
    assert all(line.decode("ascii").isprintable() for line in lines)


def test_text_in_files_is_printed_on_one_line(folder: Path) -> None:
    """Fields of a certificate, a head, a table, an audit log and `source.json`."""
    code, text = printed(folder, "audit", "bad.ale.json", "--head", "head")
    assert code == 5 and text.count("\n") == 1
    (folder / "out" / "source.json").write_text(json.dumps({"images_folder": ".", NAME: NAME, "images": NAME}))
    assert printed(folder, "report", "out", "-o", "r.html")[0] == 9
    (folder / "out" / "source.json").write_text(
        json.dumps({"images_folder": ".", "images": [{"file": f"/{NAME}", "label": 0}], "classes": None})
    )
    assert printed(folder, "report", "out", "-o", "r.html")[0] == 9
    (folder / "out" / "source.json").unlink()
    (folder / "log").write_text(json.dumps({NAME: NAME}) + "\n")
    assert printed(folder, "report", "out", "-o", "r.html", "--log", "log")[0] == 9
    assert printed(folder, "audit", "out", "--head", "head", "--log", "log")[0] == 9
    table = (folder / "out" / TABLE).read_text()
    (folder / "out" / TABLE).write_text(table.replace("\n0,", f'\n"{NAME[:30]}",'))
    assert printed(folder, "report", "out", "-o", "r.html")[0] == 9
    assert printed(folder, "summary", "out")[0] == 9
    header = json.dumps({NAME: {"dtype": NAME, "shape": [1], "data_offsets": [0, 4]}}).encode()
    (folder / "strange").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    for arguments in (
        ("head", "show", "strange"),
        ("audit", "good.ale.json", "--head", "strange"),
        ("audit", "good.ale.json", "--head", "head", "--latents", "strange"),
        ("explain", "--head", "head", "--latents", "strange", "--out", "o"),
        ("head", "import", "strange", "-o", "h", "--arch", "protopnet"),
    ):
        code, text = printed(folder, *arguments)
        assert code == 9 and text.count("\n") == 1


def test_images_are_named_on_one_line(folder: Path) -> None:
    """By `explain` with a CaBRNet run, and by reports."""
    inside = folder / "images" / NAME
    inside.mkdir(parents=True)
    shutil.copy(IMAGES / "0" / "0000.png", inside / f"{NAME}.png")
    given = ("explain", "--checkpoint-dir", final("protopnet"), "--images", "images", "--out", "captured")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CaBRNet's own
        assert printed(folder, *given)[0] == 0
    for report in ("r.html", "r.csv", "r.parquet"):
        assert printed(folder, "report", "captured", "-o", report)[0] == 0
    assert printed(folder, "report", "captured/000000.ale.json", "-o", "r.svg")[0] == 0
    (inside / f"{NAME}.png").write_bytes(b"")
    assert printed(folder, *given)[1].count("\n") == 1
    code, text = printed(folder, "report", "captured", "-o", "2.html")
    assert code == 0 and text.count("\n") == 2 and "captured, in " in text and "are not shown" in text


@pytest.mark.parametrize("more", [(), (f"--{NAME}",), ("--kernel", NAME)])
def test_the_checker_alone_escapes_too(more: tuple[str, ...], folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) if more else nullcontext() as stop:
        code = checker_alone([NAME if not more else "good.ale.json", "--head", "head", *more])
    assert (stop.value.code if more else code) in (2, 9)
    lines = "".join(capsys.readouterr()).split("\n")
    assert all(line.isprintable() and not line.startswith("PROVED") for line in lines)
