"""True classes of images that a model in memory gets: from the names of folders, or given."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from support.small import small_head

from verale.errors import InputError
from verale.head import Head
from verale.runs.model_images import known_labels, model_images


def a_head(*labels: str) -> Head:
    return replace(small_head("euclidean"), labels=labels or None, _digest=None)


def files_in(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (2, 2)).save(folder / name)
    return [folder / name for name in names]


def known(images: object, head: Head, labels: list[int] | None = None) -> tuple[object, object]:
    return known_labels(model_images(images, str, "images"), labels, head)


def test_a_folder_with_one_subfolder_has_the_class_of_that_name(tmp_path) -> None:
    names = [f"class {number}" for number in range(small_head("euclidean").classes)]
    files_in(tmp_path, f"{names[1]}/a.png", f"{names[1]}/b.png")
    assert known(tmp_path, a_head(*names)) == ([1, 1], names)
    files_in(tmp_path, "unknown/a.png")
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}/unknown: is the name of no class")):
        known(tmp_path, a_head(*names))


def test_files_that_are_listed_need_not_lie_in_folders_of_classes(tmp_path, caplog) -> None:
    names = [f"class {number}" for number in range(small_head("euclidean").classes)]
    files = files_in(tmp_path, f"{names[0]}/a.png", f"{names[1]}/a.png")
    assert known(files[::-1], a_head(*names)) == ([1, 0], names)
    assert known([*files, *files_in(tmp_path, "monday/a.png")], a_head(*names)) == (None, names)
    assert "no true classes" in caplog.text
    assert known([*files, *files_in(tmp_path, "test/x/a.png")], a_head(*names)) == (None, names)


def test_labels_that_contradict_the_names_of_folders_are_refused(tmp_path) -> None:
    names = [f"class {number}" for number in range(small_head("euclidean").classes)]
    files = files_in(tmp_path, f"{names[0]}/a.png", f"{names[1]}/a.png")
    assert known(tmp_path, a_head(*names), [0, 1]) == ([0, 1], names)
    assert known(tmp_path, a_head(), [1, 0]) == ([1, 0], None), "the folders are no names of classes"
    with pytest.raises(InputError, match=re.escape(f"{files[0]}: lies in the folder of class 0, labels says 1")):
        known(tmp_path, a_head(*names), [1, 0])


def test_a_file_that_cannot_be_read_is_named_before_the_model_sees_any(tmp_path) -> None:
    first, second, last = files_in(tmp_path, "a.png", "b.png", "c.png")
    first.write_bytes(b"")
    last.write_bytes(last.read_bytes()[:45])
    with pytest.raises(InputError, match="2 of 3 images cannot be read") as raised:
        model_images(tmp_path, str, "images")
    assert str(first) in str(raised.value) and str(last) in str(raised.value) and str(second) not in str(raised.value)
