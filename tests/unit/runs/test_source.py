"""`source.json`: built, written, read and compared in one class; read as what a report shows."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from pathlib import Path

import pytest
import safetensors.torch
import torch
from support.cases import every
from support.opening import opening
from support.small import small_head, small_latents

from verale import files as of_files
from verale.adapters.fields import Origin, ReceptiveFields
from verale.errors import InputError
from verale.head import Head, save_latents
from verale.runs import explain as explaining
from verale.runs.explain import open_run
from verale.runs.inputs import LINK, Inputs, find_inputs, sha256_of
from verale.runs.options import RunOptions
from verale.runs.source import Source, SourceFile, SourceImage, load_source
from verale.search import SearchOptions

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
    followed, looked = of_files.followed, []
    monkeypatch.setattr("verale.runs.source.followed", lambda path: looked.append(path) or followed(path))
    assert len(source.origins) == 2**10 and source.outside()
    assert looked.count(tmp_path / "a.png") <= 2 and len(looked) < 100
    (tmp_path / "source.json").write_text(json.dumps({**record, "prototypes": [entry] * (2**10 + 1)}))
    with pytest.raises(InputError, match=r"'prototypes' has 1025 entries, expected at most 1024.*explain the images"):
        load_source(tmp_path / "source.json")


HEAD = small_head("euclidean")
LATENTS = small_latents(HEAD, images=3)
LABELS = [0, 1, 2]
OTHER_HEAD = small_head("euclidean", seed=7)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A head and latents as somebody else wrote them: with bytes that verale would not write."""
    data = HEAD.to_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.dumps(json.loads(data[8 : 8 + size]), indent=2).encode()
    (tmp_path / "h").write_bytes(len(header).to_bytes(8, "little") + header + data[8 + size :])
    tensors = {"other": torch.zeros(2), "labels": torch.tensor(LABELS, dtype=torch.int8), "latents": LATENTS}
    (tmp_path / "z").write_bytes(safetensors.torch.save(tensors))
    return str(tmp_path / "h"), str(tmp_path / "z")


def run(out: Path, files: tuple[str, str] | None, overwrite: bool = False, head: Head | None = None) -> None:
    """Explain into a folder; with a head, another one than that of the files."""
    head = head or (HEAD if files is None else Head.load(files[0]))
    with open_run(
        out, head, LATENTS, SearchOptions("projection", batch=2), LABELS, RunOptions(overwrite=overwrite), files
    ) as opened:
        assert len(list(opened)) + len(opened.rows) >= 3


def test_the_bytes_of_both_files_are_copied(files, tmp_path) -> None:
    run(tmp_path / "out", files)
    assert (tmp_path / "out" / "head.safetensors").read_bytes() == Path(files[0]).read_bytes()
    assert (tmp_path / "out" / "latents.safetensors").read_bytes() == Path(files[1]).read_bytes()
    assert find_inputs(tmp_path / "out") == Inputs(
        *(str(tmp_path / "out" / f"{n}.safetensors") for n in ("head", "latents"))
    )


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("name", ["head.safetensors", "latents.safetensors"])
def test_another_head_or_other_latents_stay_where_they_are(name, begun, files, tmp_path) -> None:
    out = tmp_path / "out"
    if begun:
        run(out, files)
    out.mkdir(exist_ok=True)
    OTHER_HEAD.save(out / name) if name[0] == "h" else save_latents(out / name, LATENTS * 0.5, LABELS)
    before = {path: path.read_bytes() for path in out.iterdir()}
    for overwrite in (False, True):
        with pytest.raises(InputError, match=f"{name}: (is another head|holds other latents).*move it away"):
            run(out, files, overwrite=overwrite)
        assert {path: path.read_bytes() for path in out.iterdir()} == before
    (out / name).unlink()
    run(out, files)
    assert (out / name).read_bytes() == Path(files["hl".index(name[0])]).read_bytes()


@pytest.mark.parametrize("which", [0, 1])
def test_a_file_that_changed_since_it_was_read_is_not_copied(which, files, tmp_path) -> None:
    head = Head.load(files[0])
    OTHER_HEAD.save(files[0]) if which == 0 else save_latents(files[1], LATENTS * 0.5)
    with pytest.raises(InputError, match="changed while it was read"):
        run(tmp_path / "out", files, head=head)
    assert not (tmp_path / "out" / ("head", "latents")[which]).with_suffix(".safetensors").exists()


def test_a_head_of_other_bytes_is_not_written_as_if_it_were_the_head(files, tmp_path, caplog) -> None:
    with caplog.at_level(logging.WARNING, "verale"):
        run(tmp_path / "out", None, head=Head.load(files[0]))
    assert not (tmp_path / "out" / "head.safetensors").exists() and "copy that file here" in caplog.text


def test_halves_that_a_killed_process_left_are_removed(files, tmp_path) -> None:
    run(tmp_path / "out", files)
    """They have the digests of the files that were being written; other hidden files are somebody else's."""
    mine = tmp_path / "out" / ".head.safetensors.swp"
    mine.write_bytes(b"mine")
    digests = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files]
    for digest in (*digests, "0" * 64):
        (tmp_path / "out" / f".{digest}.partial").write_bytes(b"half")
    run(tmp_path / "out", files)
    assert sorted((tmp_path / "out").glob(".*")) == [tmp_path / "out" / f".{'0' * 64}.partial", mine]


class TestLinks:
    """Latents that are too large for a copy."""

    @pytest.fixture
    def out(self, files, tmp_path, monkeypatch) -> Path:
        monkeypatch.setattr(explaining, "LARGEST_COPY", 100)
        run(tmp_path / "out", files)
        return tmp_path / "out"

    def test_a_link_has_the_digest_and_both_paths(self, out, files) -> None:
        assert not (out / "latents.safetensors").exists()
        link = json.loads((out / LINK).read_text())
        digest = hashlib.sha256(Path(files[1]).read_bytes()).hexdigest()
        assert link == {"_type": "urn:verale:link:v1", "file": "../z", "absolute": files[1], "sha256": digest}
        assert sha256_of(files[1]) == digest

    def linked(self, out: Path, **change: object) -> None:
        (out / LINK).write_text(json.dumps(json.loads((out / LINK).read_text()) | change))

    def test_it_is_followed_within_its_folder(self, out, files, tmp_path) -> None:
        (out / "deep").mkdir()
        shutil.move(files[1], out / "deep" / "z")
        self.linked(out, file="deep/z")
        out.rename(tmp_path / "elsewhere")
        assert Path(find_inputs(tmp_path / "elsewhere").latents) == tmp_path / "elsewhere" / "deep" / "z"
        save_latents(tmp_path / "elsewhere" / "deep" / "z", LATENTS * 0.5)
        with pytest.raises(InputError, match="another digest"):
            find_inputs(tmp_path / "elsewhere")
        (tmp_path / "elsewhere" / "deep" / "z").unlink()
        with pytest.raises(InputError, match=r"leads to deep/z, and there is no such file.*give latents"):
            find_inputs(tmp_path / "elsewhere")
        self.linked(tmp_path / "elsewhere", file="x" * 300)  # longer than the name of any file
        with pytest.raises(InputError, match=r"leads to x+, and there is no such file.*give latents"):
            find_inputs(tmp_path / "elsewhere")
        assert find_inputs(tmp_path / "elsewhere", latents="given").latents == "given"

    @pytest.mark.parametrize(
        ("file", "said"),
        [
            ("../z", r"leads to \S+/z, outside of this folder.*give latents \S+/z,"),
            ("{outside}", "outside of this folder"),
            ("inside", "outside of this folder"),
            ("folder/z", "outside of this folder"),
            ("../out/../z", "outside of this folder"),
            ("s3://bucket/z.parquet", r"leads to s3://bucket/z.parquet, an address \(s3\), outside of this folder"),
            ("file:///z", r"an address \(file\).*give latents file:///z,"),
            ("https://h/z;rm x", "give latents 'https://h/z;rm x',"),
        ],
    )
    def test_what_lies_elsewhere_is_opened_only_if_it_is_given(self, file, said, out, files) -> None:
        """`inside` and `folder` lie in the folder, and lead out of it."""
        (out / "inside").symlink_to(files[1])
        (out / "folder").symlink_to(Path(files[1]).parent)
        self.linked(out, file=file.format(outside=files[1]))
        with opening() as opened, pytest.raises(InputError, match=said):
            find_inputs(out)
        assert opened and all(Path(path).is_relative_to(out) for path in opened)
        assert find_inputs(out, latents="given").latents == "given"

    def test_the_same_command_changes_nothing_and_a_copy_that_replaces_it_removes_it(self, out, files, monkeypatch):
        before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
        run(out, files)
        assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
        monkeypatch.setattr(explaining, "LARGEST_COPY", 2**30)
        run(out, files, overwrite=True)
        assert find_inputs(out).latents == str(out / "latents.safetensors") and not (out / LINK).exists()

    @pytest.mark.parametrize(
        "change",
        [{"_type": "x"}, {"file": 3}, {"sha256": None}, {"file": "a\0"}, {"file": "\ud800"}, {"absolute": []}, None],
    )
    def test_another_form_is_refused(self, out, change) -> None:
        record = [] if change is None else json.loads((out / LINK).read_text()) | change
        (out / LINK).write_text(json.dumps(record))
        with pytest.raises(InputError, match=r"latents\.link\.json: is not what verale explain writes"):
            find_inputs(out)


def test_what_is_given_counts_and_a_difference_is_told(files, tmp_path, caplog) -> None:
    out = tmp_path / "out"
    run(out, files)
    with caplog.at_level(logging.WARNING, "verale"):
        assert find_inputs(out, *files) == Inputs(*files)
        assert find_inputs(out, str(out / "head.safetensors")).head == str(out / "head.safetensors")
        assert find_inputs(out, "nowhere", "nowhere") == Inputs("nowhere", "nowhere")
        assert caplog.text == ""
        OTHER_HEAD.save(tmp_path / "other")
        save_latents(tmp_path / "others", LATENTS)
        assert find_inputs(out, str(tmp_path / "other"), str(tmp_path / "others")).head == str(tmp_path / "other")
    assert [record.getMessage().split(" has other bytes than ")[0] for record in caplog.records] == [
        str(out / "head.safetensors"),
        str(out / "latents.safetensors"),
    ]


def test_a_head_that_was_replaced_is_not_taken_for_the_folder_s(files, tmp_path) -> None:
    out = tmp_path / "out"
    run(out, files)
    OTHER_HEAD.save(out / "head.safetensors")
    with pytest.raises(InputError, match=r"is not the head that was explained .* in run\.json\); give head,"):
        find_inputs(out)
    assert find_inputs(out, files[0]).head == files[0]
    (out / "run.json").write_text("[")
    assert find_inputs(out).head == str(out / "head.safetensors"), "the certificates name theirs"
