"""Folders of images: flat or one subfolder for each class, never both, sorted part by part."""

from __future__ import annotations

from pathlib import Path

import pytest

from verale.errors import InputError
from verale.runs.images import IMAGE_SUFFIXES, flat_or_nested, image_files


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


def test_images_are_known_by_their_suffix(tmp_path) -> None:
    names = [f"{number:02d}{suffix}" for number, suffix in enumerate(IMAGE_SUFFIXES)]
    fill(tmp_path, *names, "10.PNG", "notes.txt", "png")
    assert image_files(tmp_path) == [tmp_path / name for name in sorted([*names, "10.PNG"])]


def test_subfolders_are_sorted_before_the_files_in_them(tmp_path) -> None:
    """`a-b/0.png` comes after `a/1.png`, though `-` comes before `/`."""
    fill(tmp_path, "a-b/0.png", "a/1.png", "a/0.png", "a/deeper/2.png", "notes.txt")
    assert [path.relative_to(tmp_path).as_posix() for path in image_files(tmp_path)] == [
        "a/0.png",
        "a/1.png",
        "a-b/0.png",
    ]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ([], "no images"),
        (["notes.txt", "a/b/deep.png"], "no images"),
        (["a.png", "b/c.png"], "images and folders of images"),
    ],
)
def test_other_folders_are_refused(names, problem, tmp_path) -> None:
    with pytest.raises(InputError, match=rf"{tmp_path.name}: {problem}; expected images \(\.jpg, .*for each class"):
        image_files(fill(tmp_path, *names))


def test_a_folder_that_does_not_exist(tmp_path) -> None:
    with pytest.raises(InputError, match="nowhere: no such folder"):
        image_files(tmp_path / "nowhere")


def test_names_from_elsewhere_follow_the_same_rule() -> None:
    assert flat_or_nested("zip://a", ["b/1.png", "a/2.png", "a/1.png", "a/b/3.png"]) == [
        "a/1.png",
        "a/2.png",
        "b/1.png",
    ]
    with pytest.raises(InputError, match="zip://a: no images"):
        flat_or_nested("zip://a", ["a/b/3.png"])
