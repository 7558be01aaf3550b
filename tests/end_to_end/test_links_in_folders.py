"""Links in a folder that somebody sent: nobody follows them out of it, and no page shows what lies there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from support.commands import in_process
from support.reporting import report_head, report_latents

from verale.errors import InputError
from verale.files import require_inside
from verale.head import save_latents

OUT = "is a link that leads out of its folder, to "
LINKED = [
    "000001.ale.json",
    "head.safetensors",
    "latents.safetensors",
    "explanations.csv",
    "run.json",
    "source.json",
]
COMMANDS = {
    "audit": lambda folder, to: ("audit", folder),
    "report": lambda folder, to: ("report", folder, "-o", to / "r.html"),
    "summary": lambda folder, to: ("summary", folder),
    "compare": lambda folder, to: ("compare", folder, folder),
    "show": lambda folder, to: ("show", folder, 1),
    "pack": lambda folder, to: ("certificates", "pack", folder, "--out", to / "p.parquet"),
    "cover": lambda folder, to: ("cover", folder, "--latents", to / "own.safetensors"),
}
READ = {
    "000001.ale.json": {*COMMANDS} - {"summary"},
    "head.safetensors": {*COMMANDS} - {"summary", "pack"},
    "latents.safetensors": {"audit", "report", "compare", "show"},
    "explanations.csv": {"audit", "report", "summary", "compare"},
    "run.json": {"audit", "report", "summary", "compare"},
    "source.json": {"report", "compare", "show"},
}
"""Which commands read which files of a folder."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    report_head().save(folder / "head")
    save_latents(folder / "latents", report_latents(report_head(), 3))
    given = ["--head", folder / "head", "--latents", folder / "latents", "--paradigm", "projection"]
    assert in_process("explain", *given, "--out", folder / "out").returncode == 0
    source = '{"preprocessing": null, "prototypes": [], "classes": null, "images_folder": "images"}'
    (folder / "out" / "source.json").write_text(source)
    return folder / "out"


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copy(made / "latents.safetensors", tmp_path / "own.safetensors")
    return Path(shutil.copytree(made, tmp_path / "out"))


def moved(folder: Path, name: str, to: Path) -> Path:
    """A file of the folder, moved elsewhere and linked there."""
    to.mkdir(exist_ok=True)
    target = to / "secret"
    (folder / name).rename(target)
    (folder / name).symlink_to(os.path.relpath(target, folder))
    return target


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_follows_a_link_out_of_a_folder(command: str, name: str, folder: Path, tmp_path: Path) -> None:
    """It names the link, and ends with 9; or 17, where it can do without the file."""
    target = moved(folder, name, tmp_path / "private")
    opened = os.open

    def watched(path: object, *rest: object, **options: object) -> int:
        assert not isinstance(path, str | Path) or Path(path).resolve() != target, path
        return opened(path, *rest, **options)  # type: ignore[arg-type]

    with patch("os.open", watched):
        done = in_process(*COMMANDS[command](folder, tmp_path))
    if command in READ[name]:
        assert done.returncode in (9, 17) and name in done.stderr and OUT in done.stderr, done.stderr
    assert not (tmp_path / "r.html").exists() or command not in READ[name]


@pytest.mark.parametrize("name", LINKED)
def test_a_link_within_the_folder_is_followed(name: str, folder: Path) -> None:
    moved(folder, name, folder / "elsewhere")
    for command in ("audit", "report", "summary", "compare", "show"):
        done = in_process(*COMMANDS[command](folder, folder.parent))
        assert done.returncode == 0, (command, done.stderr)


def test_certificates_in_a_folder_that_is_a_link_are_not_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "certificates").symlink_to(folder)
    for command in ("audit", "report", "summary"):
        done = in_process(*COMMANDS[command](tmp_path / "sent", tmp_path))
        assert done.returncode == 9 and OUT in done.stderr


def test_a_folder_that_is_named_by_a_link_is_meant(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert in_process("audit", tmp_path / "link").returncode == 0
    moved(folder, "000001.ale.json", tmp_path / "private")
    assert in_process("audit", folder / "000001.ale.json").returncode == 0, "the file itself is named"


PICTURES: dict[str, Callable[[Path, Path], object]] = {
    "network": lambda folder, private: (folder / "network.safetensors").symlink_to(private / "a.png"),
    "folder": lambda folder, private: (folder / "pictures").symlink_to(private),
    "picture": lambda folder, private: (folder / "pictures" / "a.png").symlink_to(private / "a.png"),
    "inner folder": lambda folder, private: (folder / "pictures" / "a").symlink_to(private),
}


@pytest.mark.parametrize("what", PICTURES)
def test_networks_and_pictures_lie_in_the_folder(what: str, folder: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "a.png").write_bytes(b"private")
    if what != "network":
        (folder / "network.safetensors").write_bytes(b"")
    if what != "folder":
        (folder / "pictures").mkdir()
        (folder / "pictures" / "b.png").write_bytes(b"")
    PICTURES[what](folder, private)
    for command in ("audit", "report"):
        done = in_process(*COMMANDS[command](folder, tmp_path))
        assert done.returncode == 9 and OUT in done.stderr, done.stderr


def test_links_in_circles_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InputError, match=OUT):
        require_inside(tmp_path / "a")
    (tmp_path / "file").touch()
    assert require_inside(tmp_path / "file") == tmp_path / "file"
    assert require_inside(tmp_path / "nowhere") == tmp_path / "nowhere"


def test_parts_of_a_dataset_lie_in_its_folder(folder: Path, tmp_path: Path) -> None:
    private = tmp_path / "private.parquet"
    assert in_process("certificates", "pack", folder, "--out", private).returncode == 0
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "part.parquet").symlink_to(private)
    done = in_process("audit", tmp_path / "sent", "--head", folder / "head.safetensors")
    assert done.returncode == 9 and OUT + str(private) in done.stderr
    assert in_process("audit", private, "--head", folder / "head.safetensors").returncode == 0
