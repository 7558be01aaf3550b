"""Head and latents of a run's folder: kept, found, told apart; copied or linked."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from pathlib import Path

import pytest
import safetensors.torch
import torch
from support.opening import opening
from support.small import small_head, small_latents

from verale.errors import InputError
from verale.head import Head, save_latents
from verale.runs import explain as explaining
from verale.runs.explain import open_run
from verale.runs.inputs import LINK, Inputs, find_inputs, sha256_of
from verale.runs.options import RunOptions
from verale.search import SearchOptions

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

    def test_a_copy_beside_it_counts_and_the_same_command_changes_nothing(self, out, files) -> None:
        before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
        run(out, files)
        assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
        shutil.copy(files[1], out / "latents.safetensors")
        assert find_inputs(out).latents == str(out / "latents.safetensors")
        run(out, files)

    def test_overwriting_with_a_copy_removes_it(self, out, files, monkeypatch) -> None:
        monkeypatch.setattr(explaining, "LARGEST_COPY", 2**30)
        run(out, files, overwrite=True)
        assert (out / "latents.safetensors").exists() and not (out / LINK).exists()

    @pytest.mark.parametrize(
        "change", [{"_type": "x"}, {"file": 3}, {"sha256": None}, {"file": "a\0"}, {"absolute": []}, None]
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
