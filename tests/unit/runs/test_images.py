"""Folders of images: flat or one subfolder for each class, never both, sorted part by part."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from support.small import small_head

from verale.errors import InputError
from verale.head import Head
from verale.runs.images import FolderClasses, classes_of_folders, image_files
from verale.runs.model_images import known_labels, model_images


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


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


TWELVE = [str(number) for number in range(12)]


def classes_of(
    folders: list[str], classes: int, names: list[str] | None = None, as_text: bool = False
) -> FolderClasses:
    return classes_of_folders("DIR", [f"{folder}/0.png" for folder in folders], classes, names, as_text)


@pytest.mark.parametrize(
    ("folders", "classes", "names", "expected"),
    [
        (["cat", "dog"], 2, ["dog", "cat"], [1, 0]),
        (["cat"], 3, ["dog", "cat", "owl"], [1]),
        (TWELVE, 12, TWELVE, list(range(12))),
        (["0", "1"], 2, ["1", "0"], [1, 0]),  # a name counts before a number
        (["Dog", "CAT"], 2, ["dog", "cat"], [0, 1]),
        (["Dog", "dog"], 2, ["dog", "Dog"], [1, 0]),  # alike, and exact
        (["e\u0301cureuil"], 2, ["loup", "\u00e9cureuil"], [1]),  # as macOS writes it
        (["003", "10"], 12, TWELVE, [3, 10]),
        (["001.Black_footed_Albatross"], 2, ["002.Laysan", "001.Black_footed_Albatross"], [1]),
        (["001.Black_footed_Albatross"], 2, ["Laysan", "Black-footed albatross"], [1]),
        (["Black_footed_Albatross", "laysan"], 2, ["002.Laysan", "001.Black_footed_Albatross"], [1, 0]),
        (["1.Black footed Albatross"], 2, ["002.Laysan", "001.Black_footed_Albatross"], [1]),
        (["2.cat"], 2, ["1.cat", "2.Cat"], [1]),
        (["a b", "a_b"], 2, ["a_b", "a b"], [1, 0]),  # a name counts as it is written first
        (["0", "1"], 2, ["dog", "cat"], [0, 1]),
        (TWELVE, 12, None, list(range(12))),
        (["3", "11"], 12, None, [3, 11]),
        (["00", "01", "02"], 3, None, [0, 1, 2]),
        (["1", "2", "10", *map(str, range(3, 10))], 10, None, [0, 1, 9, *range(2, 9)]),
        (["1", "2"], 3, None, [1, 2]),
        (["a", "b"], 2, None, [0, 1]),
    ],
)
def test_the_class_of_a_folder(folders, classes, names, expected) -> None:
    assert classes_of(folders, classes, names).labels(f"{folder}/1.png" for folder in folders) == expected


@pytest.mark.parametrize(
    ("folders", "classes", "names", "problem"),
    [
        (["bird", "dog"], 2, ["dog", "cat"], "DIR/bird: is the name of no class, expected one of dog, cat: rename"),
        (["0", "dog"], 2, ["dog", "cat"], "DIR/0: is the name of no class"),
        (["2", "1"], 2, ["dog", "cat"], None),
        (["3", "1"], 2, ["dog", "cat"], "DIR/1: is the name of no class"),
        (["DOG"], 3, ["dog", "Dog", "owl"], "DIR/DOG: is the name of 2 classes"),
        (["a"], 2, ["a", "a"], "DIR/a: is the name of 2 classes"),
        (["003.cat"], 2, ["001.cat", "002.dog"], "DIR/003.cat: is the name of no class"),
        (["cat"], 2, ["001.cat", "002.cat"], "DIR/cat: is the name of 2 classes"),
        (["001.cat", "002.cat"], 2, ["cat", "dog"], "DIR/001.cat: is the name of no class"),
        (["001.cat", "cat"], 2, ["cat", "dog"], "DIR/001.cat: is the name of no class"),
        (["1.5.cat"], 2, ["cat", "dog"], "DIR/1.5.cat: is the name of no class"),
        (["x"], 20, [f"class {n}" for n in range(20)], "class 11 and 8 more: rename the folder"),
        (["9" * 250], 2, ["dog", "cat"], "9: is the name of no class"),
    ],
)
def test_a_folder_of_no_class_is_an_error(folders, classes, names, problem) -> None:
    if problem is None:  # numbers from 1 on
        assert classes_of(folders, classes, names).index_of == {"1": 0, "2": 1}
        return
    with pytest.raises(InputError) as raised:
        classes_of(folders, classes, names)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("folders", "classes", "names", "reading"),
    [
        (["a", "b"], 2, ["b", "a"], ""),
        ([str(number) for number in range(10)], 10, None, ""),
        (["00", "01"], 2, None, ""),
        ([], 2, None, ""),
        (TWELVE, 12, None, "numbers of classes: 0 is class 0, 1 is class 1, 2 is class 2"),
        (["1", "2"], 2, None, "numbers of classes counted from 1 on: 1 is class 0, 2 is class 1"),
        (["1", "2"], 9, None, "numbers of classes: 1 is class 1, 2 is class 2"),
        (["0", "1"], 2, ["dog", "cat"], "numbers of classes: 0 is class 0, 1 is class 1"),
        (["a", "b"], 2, None, "in the order of text, since these have no names: a is class 0, b is class 1"),
        (["a", "b"], 3, None, "no true classes: the classes have no names, and DIR has 2 class folders"),
        (["1", "3"], 3, None, "no true classes"),
    ],
)
def test_nothing_but_names_is_read_without_a_word(folders, classes, names, reading, caplog) -> None:
    told = classes_of(folders, classes, names).tell()
    assert reading in told.reading and bool(reading) == bool(told.reading)
    assert caplog.messages == ([told.reading] if reading else [])


def test_a_network_that_was_trained_on_folders_in_the_order_of_text_counts_them_so() -> None:
    counted = classes_of(TWELVE, 12, as_text=True)
    assert counted.names == sorted(TWELVE) and "10 is class 2" in counted.reading
    assert classes_of(["3", "11"], 12, as_text=True).index_of is None
    assert classes_of(["03", "11"], 12, as_text=True).index_of == {"03": 3, "11": 11}
    assert classes_of(["3", "11"], 12, sorted(TWELVE), as_text=True).index_of == {"11": 3, "3": 5}


def a_head(*labels: str) -> Head:
    return replace(small_head("euclidean"), labels=labels or None)


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
