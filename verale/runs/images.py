"""Image files: which files are images, and which of them a folder of images stands for."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from verale.errors import InputError

_log = logging.getLogger(__name__)

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
"""The suffixes of image files, as torchvision's ImageFolder has them."""
_LISTED = 12  # the most names of a message
_NUMBERED = re.compile(r"([0-9]+)\.(\D.*)", re.DOTALL)  # A number and a name
_MOST_DIGITS = 255  # of the number that a folder's name is


def image_files(folder: Path) -> list[Path]:
    """The images of a folder that holds either images or one subfolder of images for each class, sorted part by part.
    Raises InputError: there are none, or images lie both in the folder and in its subfolders."""
    files = (path for pattern in ("*", "*/*") for path in folder.glob(pattern))
    found = [path.relative_to(folder) for path in files if path.suffix.lower() in IMAGE_SUFFIXES]
    if len({len(path.parts) for path in found}) != 1:
        problem = "images and folders of images" if found else "no images" if folder.is_dir() else "no such folder"
        suffixes = ", ".join(IMAGE_SUFFIXES)
        raise InputError(folder, f"{problem}; expected images ({suffixes}), or one folder of images for each class")
    return [folder / path for path in sorted(found, key=lambda path: path.parts)]


def tell_left_out(folder: Path) -> None:
    """Say which files of a folder and its subfolders are not taken for images; hidden ones need no word."""
    paths = (path for pattern in ("*", "*/*") for path in sorted(folder.glob(pattern)))
    visible = [path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    others = [
        f"{path.relative_to(folder)}{'/' * path.is_dir()}"
        for path in visible
        if (path.is_dir() and path.parent != folder) or not (path.is_dir() or path.suffix.lower() in IMAGE_SUFFIXES)
    ]
    if others:
        _log.warning(
            "of %s %d files or folders within class folders are left out: %s; images have a name that ends in %s",
            *(folder, len(others), _shortened(others), ", ".join(IMAGE_SUFFIXES)),
        )


def readable(
    files: Sequence[Path], skip: bool = False, advance: Callable[[int], object] = lambda done: None
) -> tuple[list[Path], list[InputError]]:
    """The images that can be read, all of which are decoded here, before the first is explained; and what is wrong with
    the others, which `skip` allows. Which ones are to be turned, and are not, is told. `advance` is called with the
    number of images decoded since the last call. Raises InputError: none can be read; or one cannot, unless these are
    skipped. All are named."""
    from verale.pictures import is_turned, read_picture

    taken: list[Path] = []
    unreadable: list[InputError] = []
    turned: list[str] = []
    for file in files:
        try:
            turned += [str(file)] * is_turned(read_picture(file))
            taken.append(file)
        except InputError as error:
            unreadable.append(error)
        advance(1)
    if unreadable and not (skip and taken):
        first, *others = unreadable
        named = "".join(f"; {each}" for each in others)
        count = f" ({len(unreadable)} of {len(files)} images cannot be read, and nothing was explained)"
        raise InputError(first.path, f"{first.problem}{named}{count}")
    tell_turned(turned)
    return taken, unreadable


def tell_turned(files: Sequence[str]) -> None:
    """Say which images note that they are to be turned or mirrored."""
    if files:
        _log.warning(
            "%d images note an orientation (EXIF), which is not applied: the network gets the pixels as they are"
            " stored, as torchvision's ImageFolder gives them, and pages show them so: %s",
            *(len(files), _shortened(files)),
        )


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


@dataclass(frozen=True)
class FolderClasses:
    """What the subfolders of a folder of images say of their classes: the class of each, and the names of all, None
    where they are not known; and how the subfolders were read, for people, empty where nothing else can be meant."""

    index_of: Mapping[str, int] | None = None
    names: list[str] | None = None
    reading: str = ""

    def labels(self, images: Iterable[str]) -> list[int] | None:
        """The true classes of images, whose names are relative to the folder, with `/`; None where unknown."""
        return None if self.index_of is None else [self.index_of[name.split("/")[0]] for name in images]

    def tell(self) -> FolderClasses:
        """The same, after a warning that says how the subfolders were read."""
        if self.reading:
            _log.warning("%s", self.reading)
        return self


def classes_of_folders(
    folder: object, images: Iterable[str], classes: int, names: Sequence[str] | None, as_text: bool = False
) -> FolderClasses:
    """Which class each subfolder of a folder of images is: the one that has its name.

    Where the classes have no names, or subfolders are numbers and none is a name, it is the one with that number, from
    0 on or, if all are there, from 1 on. Otherwise one subfolder for each class are the classes in the order of text,
    as torchvision's ImageFolder has them; with `as_text` the network was trained so, numbers too. The images are named
    relative to the folder, with `/`. Raises InputError: a subfolder with the name of no class, or of several.
    """
    folders = sorted({name.split("/")[0] for name in images if "/" in name})
    if not folders:
        return FolderClasses()
    numbers = _numbers(folders, classes, as_text)
    if names is not None:
        matched = classes_named(names, folders)
        if any(matched.values()) or numbers is None:
            index_of = {each: _only(folder, each, found, names) for each, found in matched.items()}
            return FolderClasses(index_of, list(names))
    said = f"the class folders of {folder} are read as"
    if numbers is not None:
        complete = sorted(folders, key=numbers.__getitem__) if sorted(numbers.values()) == [*range(classes)] else None
        first = " counted from 1 on" if complete and int(complete[0]) == 1 else ""
        reading = f"{said} the numbers of classes{first}: {_listed(numbers)}"
        plain = names is None and folders == complete and not first
        return FolderClasses(numbers, complete if names is None else list(names), "" if plain else reading)
    if len(folders) != classes:
        expected = f"{classes} folders, or the numbers 0 to {classes - 1}"
        return FolderClasses(
            reading=f"no true classes: the classes have no names, and {folder} has {len(folders)} class folders,"
            f" expected {expected}"
        )
    ordered = {each: index for index, each in enumerate(folders)}
    return FolderClasses(
        ordered, folders, f"{said} the classes in the order of text, since these have no names: {_listed(ordered)}"
    )


def classes_named(names: Sequence[str], wanted: Iterable[str]) -> dict[str, list[int]]:
    """For each wanted name the classes that have it: exactly, or else apart from upper and lower case, from the Unicode
    form of letters, and from zeros before a number; or else as data sets name their folders (`_published`). Then two
    wanted names are no names of one class."""
    exact: dict[str, list[int]] = {}
    similar: dict[str, list[int]] = {}
    published: dict[str, list[tuple[str | None, int]]] = {}
    for index, name in enumerate(names):
        number, words = _published(name)
        exact.setdefault(name, []).append(index)
        similar.setdefault(_alike(name), []).append(index)
        published.setdefault(words, []).append((number, index))
    matched: dict[str, list[int]] = {}
    uncertain: list[str] = []
    for name in dict.fromkeys(wanted):
        matched[name] = exact.get(name) or similar.get(_alike(name), [])
        if not matched[name]:
            number, words = _published(name)
            uncertain.append(name)
            matched[name] = [
                index for other, index in published.get(words, []) if other == number or None in (other, number)
            ]
    times = Counter(index for found in matched.values() for index in found)
    return matched | {name: [] for name in uncertain if any(times[index] > 1 for index in matched[name])}


def _published(name: str) -> tuple[str | None, str]:
    """A number before a dot, and the words after it with spaces for `_` and `-`: `001.Black_footed_Albatross` of CUB is
    (1, black footed albatross). None where there is no number."""
    found = _NUMBERED.fullmatch(name)
    number = None if found is None else _alike(found[1])
    return number, _alike(" ".join(re.split(r"[\s_-]+", name if found is None else found[2])))


def _alike(name: str) -> str:
    """The same for names that are spelled alike."""
    if _is_number(name):
        return name.lstrip("0") or "0"
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()


def _only(folder: object, name: str, classes: Sequence[int], names: Sequence[str]) -> int:
    """The only class with the name of a subfolder. Raises InputError."""
    if len(classes) == 1:
        return classes[0]
    which = f"is the name of {len(classes)} classes" if classes else "is the name of no class"
    raise InputError(
        f"{folder}/{name}",
        f"{which}, expected one of {_shortened(names)}: rename the folder or, if the true classes do not matter, put"
        " all images into one folder without subfolders",
    )


def _numbers(folders: Sequence[str], classes: int, as_text: bool) -> dict[str, int] | None:
    """The classes of subfolders that are numbers; None where some is none, or is too large."""
    if not all(_is_number(each) and len(each) <= _MOST_DIGITS for each in folders) or (
        as_text and len(set(map(len, folders))) > 1
    ):
        return None
    numbers = {each: int(each) for each in folders}
    if sorted(numbers.values()) == list(range(1, classes + 1)):
        return {each: number - 1 for each, number in numbers.items()}
    return numbers if max(numbers.values()) < classes else None


def _listed(index_of: Mapping[str, int]) -> str:
    """Which subfolder is which class, in short."""
    shown = sorted(index_of, key=index_of.__getitem__)[:_LISTED]
    more = f" and {len(index_of) - len(shown)} more" if len(index_of) > len(shown) else ""
    return ", ".join(f"{each} is class {index_of[each]}" for each in shown) + more
