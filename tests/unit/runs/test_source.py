"""`source.json`: built, written, read and compared in one class; read as what a report shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cases import every

from verale import files
from verale.adapters.fields import Origin, ReceptiveFields
from verale.errors import InputError
from verale.runs.source import Source, SourceFile, SourceImage, load_source

NETWORK = {
    "run": "/runs/final",
    "preprocessing": {"a": 1},
    "prototypes": [
        {"prototype": 1, "image": 7, "file": None, "row": 2, "column": 3},
        {"prototype": 0, "image": 4, "file": "/train/4.png", "row": 0, "column": 1},
        {"prototype": 1, "image": 9, "file": "/train/9.png", "row": 0, "column": 0},
    ],
}
IMAGES = [SourceImage("a/0.png", 0, "ab" * 32), SourceImage("b/1-\udcff.png", None)]


FIELDS = {"size": [4, 3], "rows": [[0, 3], [1, 4]], "columns": [[0, 3], [2, 2]], "unknown": ["attention"]}


def built() -> SourceFile:
    return SourceFile.build(NETWORK, "/images", ["a", "b"], IMAGES)


def test_what_is_written_is_read(tmp_path) -> None:
    (tmp_path / "source.json").write_bytes(built().to_bytes())
    assert SourceFile.read(tmp_path / "source.json", "") == built()
    source = load_source(tmp_path / "source.json", None)
    assert source == Source(
        folder=Path("/images"),
        files=(Path("/images/a/0.png"), Path("/images/b/1-\udcff.png")),
        labels=(0, None),
        digests=("ab" * 32, None),
        classes=("a", "b"),
        preprocessing={"a": 1},
        origins={1: Origin(1, 7, None, 2, 3), 0: Origin(0, 4, Path("/train/4.png"), 0, 1)},
    )
    moved = load_source(tmp_path / "source.json", tmp_path / "elsewhere")
    assert moved.files[0] == tmp_path / "elsewhere" / "a" / "0.png"


def test_receptive_fields_are_read_where_they_are_noted(tmp_path) -> None:
    """What describes the network does not change with them: earlier folders stay usable."""
    path = tmp_path / "source.json"
    for noted, fields in (
        (FIELDS, ReceptiveFields(((0, 3), (1, 4)), ((0, 3), (2, 2)), (4, 3), ("attention",))),
        (None, None),
    ):
        source = built().noting(receptive_fields=noted)
        path.write_bytes(source.to_bytes())
        assert load_source(path, None).fields == fields
        assert built().differences(source) == []
        assert fields is None or fields.record() == noted


def test_sources_are_compared_by_what_latents_are_made_from() -> None:
    earlier = built().noting(head_sha256="h", latents_digest="d")
    assert built().differences(earlier) == []
    other = SourceFile.build({**NETWORK, "run": "/other"}, "/images", None, IMAGES)
    assert other.differences(earlier) == ["run", "classes"]
    assert earlier.latents_digest == "d" and built().latents_digest is None
    assert earlier.is_of("h", "d")
    assert not earlier.is_of("h", "e") and not earlier.is_of("g", "d") and not built().is_of("h", "d")


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", '"text"', "[" * 100_000])
def test_anything_but_an_object_is_refused(text, tmp_path) -> None:
    (tmp_path / "source.json").write_text(text)
    with pytest.raises(InputError, match=r"source\.json: is not what verale explain writes \(.*\); do this"):
        SourceFile.read(tmp_path / "source.json", "do this")


@every(
    "changes",
    [
        {"images": [{"file": "../a.png", "label": None}]},
        {"images": [{"file": "/a.png", "label": None}]},
        {"images": [{"file": "a.png", "label": -1}]},
        {"images": [{"file": "a.png", "label": True}]},
        {"images": [{"file": 7, "label": None}]},
        {"images": [{"file": "\ud800", "label": None}]},
        {"images": [{"file": "a\0", "label": None}]},
        {"images_folder": "\ud800"},
        {"image_latents": ["ab"]},
        {"image_latents": ["ab", 7]},
        {"latents_digest": 7},
        {"prototypes": [{"prototype": 0, "image": 0, "file": "\0", "row": 0, "column": 0}]},
        {"images": [{"file": "a.png"}]},
        {"images": [{"file": "a.png", "label": None, "sha256": 7}]},
        {"images": 7},
        {"classes": [1]},
        {"images_folder": None},
        {"prototypes": [{"prototype": 0}]},
        {"prototypes": [7]},
        {"receptive_fields": 7},
        {"receptive_fields": {}},
        *(
            {"receptive_fields": FIELDS | change}
            for change in (
                {"size": [4]},
                {"size": [0, 3]},
                {"size": [4, 2**30]},
                {"size": [4.0, 3]},
                {"size": {"0": 4, "1": 3}},
                {"rows": [[0, 5]]},
                {"rows": [[2, 1]]},
                {"rows": [[-1, 1]]},
                {"rows": [[0, 1, 2]]},
                {"rows": ["01"]},
                {"rows": [[0, 1]] * 5000},
                {"columns": [[0, 4]]},
                {"columns": [[0, True]]},
                {"columns": None},
                {"unknown": "layer"},
                {"unknown": [7]},
                {"unknown": ["a"] * 101},
                {"unknown": ["a" * 5000]},
            )
        ),
    ],
)
def test_entries_of_another_kind_are_refused(changes, tmp_path) -> None:
    (tmp_path / "source.json").write_bytes(built().noting(**changes).to_bytes())
    with pytest.raises(InputError, match=r"is not what verale explain writes .*remove it"):
        load_source(tmp_path / "source.json", None)


def test_without_a_file_images_come_from_the_folder(tmp_path) -> None:
    assert load_source(None, None) == Source()
    for name in ("1.png", "0.png"):
        (tmp_path / name).write_bytes(b"")
    source = load_source(None, tmp_path)
    assert source.files == (tmp_path / "0.png", tmp_path / "1.png")
    (tmp_path / "source.json").write_bytes(SourceFile.build(NETWORK, "/images", ["a"], []).to_bytes())
    assert load_source(tmp_path / "source.json", None).files == ()
    listless = load_source(tmp_path / "source.json", tmp_path)
    assert (listless.files, listless.digests, listless.classes) == (source.files, source.digests, ("a",))
    assert source.labels == source.digests == (None, None)


def test_the_work_that_a_source_asks_for_is_bounded(tmp_path, monkeypatch) -> None:
    """Each file is looked for once, however many prototypes come from it; too many entries are refused."""
    monkeypatch.setattr("verale.runs.source._MOST_ORIGINS", 2**10)
    entry = {"prototype": 0, "image": 0, "file": "a.png", "row": 0, "column": 0}
    record = {**built().record, "prototypes": [entry | {"prototype": j} for j in range(2**10)]}
    (tmp_path / "source.json").write_text(json.dumps(record))
    source = load_source(tmp_path / "source.json").within(tmp_path / "images")
    followed, looked = files.followed, []
    monkeypatch.setattr("verale.runs.source.followed", lambda path: looked.append(path) or followed(path))
    assert len(source.origins) == 2**10 and source.outside()
    assert looked.count(tmp_path / "a.png") <= 2 and len(looked) < 100
    (tmp_path / "source.json").write_text(json.dumps({**record, "prototypes": [entry] * (2**10 + 1)}))
    with pytest.raises(InputError, match=r"'prototypes' has 1025 entries, expected at most 1024.*explain the images"):
        load_source(tmp_path / "source.json")
