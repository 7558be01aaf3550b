"""A run's folder: an interrupted run ends with the same bytes, and the folder holds one run only."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from support.cases import every
from support.small import small_head, small_latents

from verale.certificate import Certificate
from verale.errors import InputError, LatentsError, UsageError
from verale.head import as_patches, digest_of_all, evaluate
from verale.runs import written as module
from verale.runs.explain import open_run
from verale.runs.folder import ResultFolder, locked
from verale.runs.inputs import HEAD as HEAD_FILE
from verale.runs.inputs import TABLE
from verale.runs.listed import StoredBytes
from verale.runs.options import RunOptions
from verale.runs.table import Explained, read_table
from verale.runs.written import HeldFolder, WrittenFiles
from verale.search import Avoid, Costs, SearchOptions
from verale.search.paradigms.of_patches import OfPatches

HEAD = small_head("euclidean")
LATENTS = small_latents(HEAD, images=5)
OPTIONS = SearchOptions("projection", batch=2)
IMAGES = [f"{index:06d}.ale.json" for index in range(6)]

pytestmark = pytest.mark.usefixtures("searched_once")


def run(folder: Path, most: int | None = None, **changes: object) -> list[Explained]:
    """Explain into a folder, or leave after so many images; return the rows without times."""
    arguments = {"head": HEAD, "latents": LATENTS, "options": OPTIONS} | changes
    rows = []
    with open_run(folder, **arguments) as opened:
        for one in opened:
            if most is not None and len(rows) == most:
                break
            rows.append(one)
        return [replace(one, seconds=None) for one in opened.rows]


def contents(folder: Path) -> dict[str, object]:
    """Every file's bytes, and the table without its times, of which it has another digest each time."""
    files: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir()}
    noted = [json.loads(line) for line in (folder / "files.json").read_text().splitlines()]
    files["files.json"] = [each | ({"sha256": ""} if each.get("file") == "explanations.csv" else {}) for each in noted]
    files["explanations.csv"] = [replace(row, seconds=None) for row in read_table(folder / "explanations.csv")]
    return files


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("whole")
    run(folder)
    return contents(folder)


def test_the_folder_holds_certificates_a_table_and_what_the_run_was(whole) -> None:
    inputs = ["head.safetensors", "latents.safetensors"]
    assert sorted(whole) == [*IMAGES[:5], "explanations.csv", "files.json", *inputs, "run.json"]
    described = json.loads(whole["run.json"])
    assert described["head"] == HEAD.digest and described["latents"] == digest_of_all(as_patches(LATENTS))
    assert (described["images"], described["batch"], described["paradigm"]) == (5, 2, "projection")


def test_the_table_tells_what_other_paradigms_gave(tmp_path) -> None:
    rows, paradigms = (
        run(tmp_path, options=SearchOptions("readable", batch=2)),
        {"evidence", "top_k", "mixed", "projection"},
    )
    described = json.loads((tmp_path / "run.json").read_text())
    assert described["paradigm"] == "readable" and set(described["paradigms"]) == paradigms
    for row in rows:
        others = dict(other.split(" ", 1) for other in row.others.split("; "))
        assert {row.paradigm, *others} == paradigms
        assert all(rest.startswith(("given up at ", "not tried: ")) or int(rest) > 0 for rest in others.values())
    assert all(row.others is None for row in run(tmp_path / "one", options=SearchOptions("top_k")))


@pytest.mark.parametrize("most", range(6))
def test_an_interrupted_run_ends_as_it_would_have(most, tmp_path, whole) -> None:
    run(tmp_path, most)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.ale.json")}
    assert len(before) == min(5, (most + 2) // 2 * 2)
    run(tmp_path)
    assert contents(tmp_path) == whole
    assert {path: path.stat().st_mtime_ns for path in before} == before, "what was there is not written again"


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "000002.ale.json").unlink(),
        lambda folder: (folder / "explanations.csv").unlink(),
        lambda folder: [(folder / name).unlink() for name in ("000001.ale.json", "explanations.csv", "run.json")],
        lambda folder: (folder / "head.safetensors").unlink(),
    ],
)
def test_what_was_lost_is_explained_again(damage, tmp_path, whole) -> None:
    run(tmp_path)
    damage(tmp_path)
    run(tmp_path, how=RunOptions(overwrite=not (tmp_path / "run.json").exists()))
    assert contents(tmp_path) == whole


def of_file(name: str, change: Callable[[bytes], bytes]) -> tuple[str, Callable[[Path], object]]:
    return name, lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        of_file("000003.ale.json", lambda data: b""),
        of_file("000003.ale.json", lambda data: data.replace(b'"predicted": ', b'"predicted" :')),
        ("000004.ale.json", lambda folder: (folder / "000003.ale.json").rename(folder / "000004.ale.json")),
        of_file("explanations.csv", lambda data: b""),
        of_file("explanations.csv", lambda data: data[:-30]),
        of_file("explanations.csv", lambda data: data.replace(b"000002.ale.json", b"000004.ale.json")),
        of_file("explanations.csv", lambda data: data + b"5,,,,\n"),
        of_file("head.safetensors", lambda data: data[:-1]),
        of_file("files.json", lambda data: data.replace(b"sha256", b"sha512")),
    ],
)
def test_what_was_changed_is_named_and_stays(name, damage, tmp_path, whole) -> None:
    """Whoever changed it may want it; once it is moved away, the run ends as it would have."""
    run(tmp_path)
    damage(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for overwrite in (False, True):
        with pytest.raises(InputError, match=rf"/{re.escape(name)}: .*move it away"):
            run(tmp_path, how=RunOptions(overwrite=overwrite))
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    (tmp_path / name).unlink()
    if name != "files.json":  # without which nothing is known to be ours
        run(tmp_path)
        assert contents(tmp_path) == whole


@pytest.mark.parametrize(("alone", "again"), [(False, [2, 3]), (True, [3])])
def test_a_batch_is_explained_again_as_a_whole_unless_images_are_searched_alone(
    alone, again, tmp_path, monkeypatch
) -> None:
    """Since the bytes of a certificate may depend on the others in its batch, as they do on a GPU."""
    monkeypatch.setattr(OfPatches, "is_alone", alone)
    options = SearchOptions("projection", batch=2)
    run(tmp_path, options=options)
    (tmp_path / "000003.ale.json").unlink()
    with open_run(tmp_path, HEAD, LATENTS, options) as opened:
        assert [one.index for one in opened.rows] == [index for index in range(5) if index not in again]
        assert [one.index for one in opened] == again
    assert [row.index for row in read_table(tmp_path / "explanations.csv")] == list(range(5))


def projection(**changes: object) -> dict[str, object]:
    return {"options": SearchOptions("projection", **{"batch": 2} | changes)}  # type: ignore[arg-type]


@every(
    ("changes", "named"),
    [
        ({"head": small_head("euclidean", seed=7)}, "head"),
        ({"latents": LATENTS * 0.5}, "latents"),
        ({"latents": LATENTS[:4]}, "images 5 there, 4 here"),
        ({"options": SearchOptions("top_k", batch=2)}, "paradigm projection there, top_k here"),
        (projection(order="nearest"), "order"),
        (projection(tolerance=0.01), "tolerance 0.0 there, 0.01 here"),
        (projection(batch=3), "batch 2 there, 3 here"),
        (projection(avoid=Avoid((3,))), "avoid nothing there, prototypes 3 here"),
        (projection(costs=Costs.of({3: 2})), "costs nothing there, prototypes:3=2 here"),
        ({"labels": [0, 1, 2, 0, 1]}, "labels nothing there"),
    ],
)
def test_another_run_is_refused_and_nothing_is_changed(changes, named, begun) -> None:
    before = contents(begun)
    with pytest.raises(InputError, match=f"holds certificates of another run .*{named}.*overwrite=True"):
        run(begun, **changes)
    assert contents(begun) == before


@pytest.fixture
def begun(tmp_path) -> Path:
    """A run that has explained two images of five."""
    run(tmp_path, 2)
    return tmp_path


def test_a_stranger_among_the_run_s_files_is_refused(begun) -> None:
    (begun / "000005.ale.json").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"holds 000005\.ale\.json, which is not of this run; move it away"):
        run(begun)


@every("text", ["{", "[]", "[" * 100_000])
def test_an_invalid_description_is_refused(text, begun) -> None:
    (begun / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json: is not what verale explain writes.*move it away"):
        run(begun)
    with pytest.raises(InputError, match=r"run\.json: is there already; verale did not write it, or it was changed"):
        run(begun, how=RunOptions(overwrite=True))
    (begun / "run.json").unlink()
    run(begun, how=RunOptions(overwrite=True))


def test_latents_captured_in_the_folder_and_others_do_not_mix(tmp_path) -> None:
    digest = digest_of_all(as_patches(LATENTS))
    for head, latents in (("0", digest), (HEAD.digest, "0")):
        (tmp_path / "source.json").write_text(json.dumps({"head_sha256": head, "latents_digest": latents}))
        with pytest.raises(InputError, match=r"source\.json: describes another head or other latents"):
            run(tmp_path, how=RunOptions(overwrite=True))
    (tmp_path / "source.json").write_text("{")
    with pytest.raises(InputError, match=r"source\.json: is not what verale explain writes"):
        run(tmp_path)
    (tmp_path / "source.json").write_text(json.dumps({"head_sha256": HEAD.digest, "latents_digest": digest}))
    assert len(run(tmp_path)) == 5


@every(
    ("changes", "error"),
    [
        ({"options": SearchOptions("sparse")}, UsageError),
        ({"latents": LATENTS[..., :3]}, LatentsError),
        ({"labels": [0, 1]}, LatentsError),
        ({"labels": [0, 1, 2, 0, 3]}, LatentsError),
        ({"labels": [0, 1, 2, 0, -1]}, LatentsError),
    ],
)
def test_what_cannot_be_explained_leaves_no_folder(changes, error, tmp_path) -> None:
    with pytest.raises(error):
        run(tmp_path / "out", **changes)
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match=r"file/out: cannot be created"):
        run(tmp_path / "file" / "out")


def test_a_line_says_what_the_head_and_the_certificate_say(tmp_path) -> None:
    head = small_head("cosine")
    latents = small_latents(head)
    labels = [0, 1, 2, 0]
    logits = evaluate(head, as_patches(latents)).logits
    for row in run(tmp_path, head=head, latents=latents, options=SearchOptions("top_k"), labels=labels):
        certificate = Certificate.load(tmp_path / row.certificate)
        assert (row.predicted, row.size) == (certificate.predicted, certificate.size)
        assert row.label == labels[row.index] and row.correct == (row.label == row.predicted)
        assert row.relative_size == pytest.approx(row.size / head.size, rel=1e-5)
        first, second = logits[row.index].sort(descending=True).values[:2].tolist()
        assert (row.score, row.second_score) == pytest.approx((first, second), rel=1e-9)
        shares = torch.softmax(logits[row.index], 0)
        assert row.probability == pytest.approx(float(shares[row.predicted]))
        assert row.second_probability == pytest.approx(float(shares[row.second]))
        assert row.score_difference == pytest.approx(first - second)


SIX = small_latents(HEAD, images=6)
ONE_BY_ONE = SearchOptions("projection", batch=1)
MOVED = "was moved, or replaced by another folder, while this command wrote into it"


def run_until(folder: Path, meanwhile: Callable[[], object] = lambda: None, after: int = 2) -> None:
    """Explain into a folder, in which something happens after so many images."""
    with open_run(folder, HEAD, SIX, ONE_BY_ONE, how=RunOptions(1)) as opened:
        for index, _ in enumerate(opened, 1):
            if index == after:
                meanwhile()


def require_whole(folder: Path) -> None:
    """The same command ends the run."""
    run_until(folder)
    assert certificates(folder) == IMAGES and len(read_table(folder / TABLE)) == 6


def certificates(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.ale.json"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.mark.parametrize("after", [1, 6])
def test_a_run_whose_folder_is_moved_ends_and_goes_on_there(after: int, out: Path, tmp_path: Path) -> None:
    to = tmp_path / "moved"
    with pytest.raises(InputError, match=MOVED):
        run_until(out, lambda: out.rename(to), after)
    assert not out.exists(), "nothing is written at the old path"
    assert certificates(to) == IMAGES[:after]
    assert [row.index for row in read_table(to / TABLE)] == list(range(after)), "every certificate counts"
    require_whole(to)


REMOVALS: dict[str, tuple[Callable[[Path], object], str]] = {
    "the folder": (shutil.rmtree, "was removed while .* and so is what it has written: the same command begins anew"),
    "a certificate": (
        lambda out: (out / IMAGES[0]).unlink(),
        rf"lacks 1 of the certificates that this run wrote \({IMAGES[0]}\).*The same command writes them again",
    ),
    "the description": (
        lambda out: (out / "run.json").unlink(),
        r"run\.json: was removed while this command wrote here, and is there again",
    ),
}


@pytest.mark.parametrize("what", REMOVALS)
def test_what_is_removed_meanwhile_is_missed_and_written_again(what: str, out: Path) -> None:
    """Of a folder that is removed no other one is made."""
    remove, said = REMOVALS[what]
    for after in (2, 6):
        folder = out / f"{after}"
        with pytest.raises(InputError, match=said):
            run_until(folder, partial(remove, folder), after)
        assert folder.exists() == (what != "the folder")
        require_whole(folder)


def test_two_runs_are_never_in_one_folder(out: Path, tmp_path: Path) -> None:
    """Another run begins at the path, while the first one writes."""
    other = small_head("cosine")

    def replace() -> None:
        out.rename(tmp_path / "moved")
        with open_run(out, other, small_latents(other, images=1), ONE_BY_ONE) as opened:
            assert len(list(opened)) == 1

    with pytest.raises(InputError, match=MOVED):
        run_until(out, replace)
    assert certificates(out) == IMAGES[:1] and len(read_table(out / TABLE)) == 1
    assert certificates(tmp_path / "moved") == IMAGES[:2]


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("name", ["run.json", IMAGES[0]])
@pytest.mark.parametrize("how", ["another", "changed", "link"])
def test_files_that_are_replaced_are_missed_and_stay(how: str, name: str, goes_on: bool, out: Path) -> None:
    if goes_on:
        with pytest.raises(KeyboardInterrupt):
            run_until(out, interrupt, 1)
    file, whole = out / name, b""

    def replace() -> None:
        nonlocal whole
        whole = file.read_bytes()
        if how != "changed":
            file.unlink()
        if how == "link":
            (out.parent / "elsewhere").write_bytes(whole)
            file.symlink_to(out.parent / "elsewhere")
        else:
            file.write_bytes(b"{}")

    with pytest.raises(InputError, match=f"{name}: (was replaced while|is not as this run left it)"):
        run_until(out, replace, 3)
    assert file.is_symlink() if how == "link" else file.read_bytes() == b"{}", "it is somebody else's"
    file.unlink()
    if name == "run.json":
        file.write_bytes(whole)
    require_whole(out)


def interrupt() -> None:
    raise KeyboardInterrupt


def test_what_is_written_goes_where_the_lock_is(out: Path, tmp_path: Path) -> None:
    """Also where the folder is moved between the last look and the writing."""
    with locked(out) as held, patch.object(HeldFolder, "require_there"):
        written = WrittenFiles(out, held)
        written.write("a", b"1")
        written.write("deep/er/b", b"2")
        out.rename(tmp_path / "moved")
        out.mkdir()
        written.write("c", b"3")
        written.write("deep/er/d", b"4")
        written.note("e", "0" * 64)
        written._unlink("a")
        assert list(out.iterdir()) == []
    moved = tmp_path / "moved"
    assert {path.relative_to(moved).as_posix() for path in moved.rglob("*") if path.is_file()} == {
        *("files.json", "c", "deep/er/b", "deep/er/d")
    }
    assert b'"e"' in (moved / "files.json").read_bytes()


def test_a_folder_that_is_replaced_before_it_is_locked_is_not_locked(out: Path, tmp_path: Path) -> None:
    opened = os.open

    def moving(path: object, *rest: object, **options: object) -> int:
        handle = opened(path, *rest, **options)  # type: ignore[arg-type]
        if path == out and not (tmp_path / "moved").exists():
            out.rename(tmp_path / "moved")
            out.mkdir()
        return handle

    with patch("os.open", moving), pytest.raises(InputError, match=MOVED), locked(out):
        pass
    assert list(out.iterdir()) == list((tmp_path / "moved").iterdir()) == []


FILES = {"rules.json": b"{}\n", "rules.csv": b"", "rules.html": b"page", HEAD_FILE: b"h", "000000.ale.json": b"c"}


def write(folder: Path, overwrite: bool = False, **more: bytes) -> None:
    """Write results, which these files are."""
    certificates = [StoredBytes(f"{name}.ale.json", data) for name, data in ({"000000": b"c"} | more).items()]
    ResultFolder("rules", folder, b"h", overwrite).write({}, [], b"page", certificates)


@pytest.mark.parametrize("name", ["rules.json", "mine.ale.json", HEAD_FILE, module.FILES])
@pytest.mark.parametrize("overwrite", [False, True])
def test_results_replace_no_file_of_somebody_else(name, overwrite, tmp_path) -> None:
    (tmp_path / name).write_bytes(b"mine")
    for act in (ResultFolder("rules", tmp_path, b"h", overwrite).require_room, lambda: write(tmp_path, overwrite)):
        with pytest.raises(InputError, match=rf"{name}: .*verale did not write it, or it was changed"):
            act()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"mine")]


def test_results_are_complete_where_the_record_is(tmp_path, monkeypatch) -> None:
    """An interruption at any file leaves the record unwritten, and nothing removes a head that is needed again."""
    write(tmp_path, another=b"d")
    with pytest.raises(InputError, match=r"rules\.json: is there already; choose another out, or say overwrite=True"):
        write(tmp_path)
    real, stop = module.write_atomically, {"at": ""}

    def interrupted(path: Path, *rest: object) -> object:
        return interrupt() if path.name == stop["at"] else real(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "write_atomically", interrupted)
    for stop["at"] in ("000000.ale.json", "rules.csv", "rules.json"):
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path, overwrite=True)
        assert (tmp_path / HEAD_FILE).read_bytes() == b"h" and not (tmp_path / "rules.json").exists()
    stop["at"] = ""
    write(tmp_path, overwrite=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != module.FILES} == FILES
