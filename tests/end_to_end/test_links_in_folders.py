"""Links in a folder that somebody sent: nobody follows them out of it, and no page shows what lies there, not even
where a link takes the place of a file at the moment at which that is opened."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from unittest.mock import patch

import pytest
from PIL import Image
from support.commands import in_process
from support.opening import opening
from support.reporting import report_head, report_latents

from verale.checker.file_auditor import picture_files
from verale.errors import InputError
from verale.files import SentFile, opener_of, read
from verale.head import save_latents

OUT = "is a link that leads out of its folder, to "
LINKED = ["000001.ale.json", "head.safetensors", "latents.safetensors", "explanations.csv", "run.json", "source.json"]
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
    with opening() as opened:
        done = in_process(*COMMANDS[command](folder, tmp_path))
    assert opened and str(target) not in opened
    if command in READ[name]:
        assert done.returncode in (9, 17) and name in done.stderr and OUT in done.stderr, done.stderr
    assert not (tmp_path / "r.html").exists() or command not in READ[name]


@pytest.mark.parametrize("name", LINKED)
def test_a_link_within_the_folder_is_followed(name: str, folder: Path) -> None:
    moved(folder, name, folder / "elsewhere")
    for command in ("audit", "report", "summary", "compare", "show"):
        done = in_process(*COMMANDS[command](folder, folder.parent))
        assert done.returncode == 0, (command, done.stderr)


def test_a_link_that_is_named_is_meant(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "certificates").symlink_to(folder)
    assert in_process("audit", tmp_path / "certificates").returncode == 0
    moved(folder, "000001.ale.json", tmp_path / "private")
    assert in_process("audit", folder / "000001.ale.json").returncode == 0, "the file itself is named"


def test_certificates_in_a_folder_that_is_a_link_are_not_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "certificates").symlink_to(folder)
    for command in ("audit", "report", "summary"):
        done = in_process(*COMMANDS[command](tmp_path / "sent", tmp_path))
        assert done.returncode == 9 and OUT in done.stderr


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


def test_an_audit_has_the_verdicts_of_the_other_certificates(folder: Path, tmp_path: Path) -> None:
    moved(folder, "000001.ale.json", tmp_path / "private")
    for more in ((), ("--jobs", "2"), ("--log", tmp_path / "log")):
        done = in_process("audit", folder, *more)
        assert done.returncode == 9
        proved = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("PROVED ")]
        assert proved == [str(folder / name) for name in ("000000.ale.json", "000002.ale.json")]
        assert f"error: {folder / '000001.ale.json'}: " in done.stderr and OUT in done.stderr


@contextmanager
def replaced(path: Path, secret: Path) -> Iterator[list[str]]:
    """A link to a secret file or folder takes the place of a path when that, or what lies in it, is opened. Gives
    what is opened of the secret."""
    opened_of_it: list[str] = []

    def replace(file: Path) -> None:
        if not path.is_symlink() and file.is_relative_to(path):
            path.rename(path.with_name("away"))
            path.symlink_to(secret)

    with opening(replace) as opened:
        yield opened_of_it
    assert path.is_symlink(), "it was opened"
    opened_of_it += [file for file in opened if Path(file).is_relative_to(secret)]


@pytest.mark.parametrize(("command", "name"), [(command, name) for name in LINKED for command in sorted(READ[name])])
def test_a_link_that_takes_the_place_of_a_file_is_not_followed(
    command: str, name: str, folder: Path, tmp_path: Path
) -> None:
    secret = Path(shutil.copy(folder / name, tmp_path / "secret"))
    with replaced(folder / name, secret) as opened:
        done = in_process(*COMMANDS[command](folder, tmp_path))
    assert opened == [] and done.returncode in (9, 17) and OUT in done.stderr + done.stdout


@pytest.mark.parametrize("command", ["audit", "report", "summary"])
def test_a_link_that_takes_the_place_of_the_certificates_is_not_followed(
    command: str, folder: Path, tmp_path: Path
) -> None:
    secret = shutil.copytree(folder, tmp_path / "secret")
    (tmp_path / "sent").mkdir()
    folder.rename(tmp_path / "sent" / "certificates")
    with replaced(tmp_path / "sent" / "certificates", secret) as opened:
        done = in_process(*COMMANDS[command](tmp_path / "sent", tmp_path))
    assert opened == [] and done.returncode == 9 and OUT in done.stderr


def test_a_link_that_takes_the_place_of_a_part_is_not_followed(folder: Path, tmp_path: Path) -> None:
    part = tmp_path / "sent" / "part.parquet"
    assert in_process("certificates", "pack", folder, "--out", part).returncode == 0
    secret = Path(shutil.copy(part, tmp_path / "secret"))
    with replaced(part, secret) as opened:
        done = in_process("audit", tmp_path / "sent", "--head", folder / "head.safetensors")
    assert opened == [] and done.returncode == 9 and OUT in done.stderr


def test_a_link_that_takes_the_place_of_a_picture_is_not_followed(folder: Path, tmp_path: Path) -> None:
    picture, secret = folder / "prototypes" / "0000.png", tmp_path / "secret"
    picture.parent.mkdir()
    for path in (picture, secret):
        Image.new("RGB", (4, 4)).save(path, "PNG")
    with replaced(picture, secret) as opened:
        done = in_process("report", folder, "-o", tmp_path / "r.html")
    assert opened == [] and done.returncode == 0


WITHIN: dict[str, Callable[[Path], object]] = {
    "link": lambda sent: (sent / "a").symlink_to("in/b"),
    "absolute": lambda sent: (sent / "a").symlink_to(sent / "in" / "b"),
    "from above": lambda sent: (sent / "a").symlink_to(f"../{sent.name}/in/b"),
    "of links": lambda sent: ((sent / "a").symlink_to("c"), (sent / "c").symlink_to("in/../in/b")),
    "folder": lambda sent: (sent / "a").symlink_to("d/b") or (sent / "d").symlink_to("in"),
}


@pytest.mark.parametrize("how", WITHIN)
def test_links_within_a_folder_are_followed(how: str, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    (sent / "in").mkdir(parents=True)
    (sent / "in" / "b").write_bytes(b"data")
    WITHIN[how](sent)
    assert read(SentFile(sent / "a"), "a file") == b"data"
    assert read(SentFile(sent / "in" / ".." / "a", sent), "a file") == b"data"
    again = pickle.loads(pickle.dumps(SentFile(sent / "a")))
    assert again == str(sent / "a") and again.folder == sent


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("circle", OUT),
        ("above", OUT),
        ("../secret", OUT),
        ("folder/secret", OUT),
        ("nowhere", "there is no such file"),
        ("lost", "there is no such file"),
        ("file/a", "Not a directory"),
        ("here", "Is a directory"),
    ],
)
def test_what_is_no_file_of_a_folder_is_not_opened(name: str, problem: str, tmp_path: Path) -> None:
    sent, secret = tmp_path / "sent", tmp_path / "secret"
    sent.mkdir()
    secret.write_bytes(b"secret")
    (sent / "file").touch()
    for link, to in (("circle", "circle"), ("above", "../secret"), ("folder", ".."), ("lost", "no"), ("here", ".")):
        (sent / link).symlink_to(to)
    os.close(free := os.open(secret, os.O_RDONLY))
    with pytest.raises(InputError, match=problem):
        read(SentFile(sent / name, sent), "a file")
    os.close(again := os.open(secret, os.O_RDONLY))
    assert again == free, "nothing stays open"
    with patch("verale.files._HAS_DESCRIPTORS", False), pytest.raises(InputError, match=problem):
        read(SentFile(sent / name, sent), "a file")


def test_the_checker_opens_what_lies_in_a_folder_in_it(tmp_path: Path) -> None:
    """Such as pictures, of which it makes the paths itself."""
    sent, secret = tmp_path / "sent", tmp_path / "secret.png"
    (sent / "pictures").mkdir(parents=True)
    secret.write_bytes(b"secret")
    (sent / "pictures" / "a.png").symlink_to(secret)
    pictures = SentFile(sent / "pictures")
    assert picture_files(pictures)[0][0].read() == b"secret"
    assert picture_files(pictures, opener_of(None, pictures))[1] == picture_files(pictures, refusing)[1]


def refusing(path: str, flags: int) -> int:
    raise PermissionError(path)


def test_links_that_change_all_the_time_are_given_up(tmp_path: Path) -> None:
    links = [tmp_path / "a", tmp_path / "b"]
    for link, other in zip(links, reversed(links), strict=True):
        link.symlink_to(other)
    leads = [path for link in reversed(links) for path in (link, tmp_path)]
    changing = patch("verale.files.followed", side_effect=cycle(leads))
    with changing, pytest.raises(InputError, match="its links change while it is read"):
        read(SentFile(links[0]), "a file")


def test_parts_of_a_dataset_lie_in_its_folder(folder: Path, tmp_path: Path) -> None:
    private = tmp_path / "private.parquet"
    assert in_process("certificates", "pack", folder, "--out", private).returncode == 0
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent" / "part.parquet").symlink_to(private)
    done = in_process("audit", tmp_path / "sent", "--head", folder / "head.safetensors")
    assert done.returncode == 9 and OUT + str(private) in done.stderr
    assert in_process("audit", private, "--head", folder / "head.safetensors").returncode == 0
