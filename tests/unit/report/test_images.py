"""Images in folders of classes: what contradicts a label or a certificate, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from verale.errors import InputError
from verale.report.collect import Item
from verale.report.images import (
    AS_NOTED,
    BY_ORDER,
    GONE,
    Match,
    Matcher,
    prototype_pictures,
    require_consistent,
)
from verale.runs.source import Source

ROOT = Path("/images")
TEN = [str(number) for number in range(11)]


def consistent(
    folders: list[str],
    labels: list[int | None],
    note: str = BY_ORDER,
    names: tuple[str, ...] | None = None,
    classes: int | None = None,
    predicted: int | None = None,
) -> bool:
    """Whether one image a folder, in this order, contradicts nothing."""
    files = tuple(ROOT / folder / f"{index}.png" for index, folder in enumerate(folders))
    digest = None if note == BY_ORDER else "0"
    source = Source(ROOT, files, (None,) * len(files), (digest,) * len(files))
    placed = [
        Item(None, predicted=predicted, label=label, image=Match(file, digest, label, note))
        for file, label in zip(files, labels, strict=True)
    ]
    try:
        require_consistent(placed, source, names, classes)
    except InputError as error:
        assert "lies in the folder" in str(error)
        return False
    return True


@pytest.mark.parametrize(
    ("folders", "names", "classes", "labels", "expected"),
    [
        (["ant", "bee"], ("ant", "bee", "cat"), 3, [0, 1], True),
        (["ant", "bee"], ("ant", "bee", "cat"), 3, [0, 2], False),
        (["a", "b"], None, 2, [0, 1], True),
        (["a", "b"], ("ant", "bee"), 2, [1, 0], False),
        (sorted(TEN), None, 11, list(range(11)), True),  # as torchvision counts folders: "10" comes after "1"
        (sorted(TEN), None, 11, [int(folder) for folder in sorted(TEN)], True),
        (sorted(TEN), None, 11, [*range(10), 9], False),
        (["3", "5"], None, 10, [3, 5], True),
        (["3", "5"], None, 10, [0, 1], False),
        (["a", "a", "b"], None, 7, [4, 4, 6], True),  # some of the classes: a folder has one class, whichever
        (["a", "a", "b"], None, 7, [4, 5, 6], False),
        (["a", "b"], None, 7, [None, None], True),
        (["", ""], None, 2, [1, 1], True),  # no folders of classes
    ],
)
def test_folders_and_labels(folders, names, classes, labels, expected) -> None:
    assert consistent(folders, labels, names=names, classes=classes) is expected


def test_the_class_of_a_certificate_counts_where_nothing_else_is_known() -> None:
    assert not consistent(["0", "1"], [None, None], predicted=1, classes=2)
    assert consistent(["0", "1"], [0, 1], predicted=1, classes=2), "a network may be wrong"
    assert consistent(["0", "1"], [None, None], note="", predicted=1, classes=2), "these are the images"
    assert consistent(["0", "1"], [None, None], note=GONE, predicted=1, classes=2), "these are not shown"


def test_known_bytes_may_lie_in_folders_of_any_kind_but_not_in_another_class() -> None:
    assert consistent(["monday", "monday", "friday"], [0, 1, 1], note="", classes=9)
    assert not consistent(["b", "a"], [0, 1], note="", names=("a", "b"))


def test_numbers_of_equal_latents_are_kept_and_unknown_latents_have_none() -> None:
    matcher = Matcher(Source(), ["x", "y", "x"], ROOT)
    assert [matcher.index_of("x", number) for number in (0, 1, 2, 7, None)] == [0, 0, 2, 0, 0]
    assert (matcher.index_of("z", 1), matcher.index_of(None, 1)) == (None, None)
    assert Matcher(Source(), None, ROOT).index_of("x", 1) == 1
    assert matcher.image(1, True) is None, "there are no images"


def test_a_digest_without_the_latents_binds_nothing(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(b"a")
    sha256 = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    source = Source(tmp_path, (tmp_path / "a.png",), (None,), (sha256,))
    match = Matcher(source, ["x"], ROOT).image(0, True)
    assert match is not None and (match.sha256, match.note) == (sha256, BY_ORDER)
    bound = Source(tmp_path, (tmp_path / "a.png",), (None,), (sha256,), ("x",))
    assert [Matcher(bound, None, ROOT).image(0, by_latents).note for by_latents in (True, False)] == [
        AS_NOTED,
        BY_ORDER,
    ]
    (tmp_path / "a.png").write_bytes(b"b")
    assert Matcher(bound, None, ROOT).image(0, True).note == GONE
    for name in ("b.png", "deep/a.png"):  # wherever it lies now, in the folder of its name first
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"a")
        found = Matcher(bound, None, ROOT).image(0, True)
        assert found is not None and (found.file, found.note) == (tmp_path / "b.png", AS_NOTED)


def test_pictures_of_prototypes_are_files_whose_names_are_numbers(tmp_path) -> None:
    assert prototype_pictures(tmp_path) == {}, "there need not be any"
    (tmp_path / "prototypes").mkdir()
    names = ["0003.png", "12.JPG", "cover.png", "7.txt", "\u0663.png", "1234567890.png"]
    for name in names:
        (tmp_path / "prototypes" / name).touch()
    found = prototype_pictures(tmp_path)
    assert {number: path.name for number, path in found.items()} == {3: "0003.png", 12: "12.JPG"}
    assert prototype_pictures(tmp_path / "none", tmp_path / "prototypes") == found
    with pytest.raises(InputError, match="no such folder; expected pictures"):
        prototype_pictures(tmp_path, tmp_path / "none")
    with pytest.raises(InputError, match="no picture whose name is a prototype's number"):
        prototype_pictures(tmp_path, tmp_path)
