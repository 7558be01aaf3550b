"""Pictures of a run: explained, kept beside the certificates, resumed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from PIL import Image
from support.commands import in_process
from support.seen import COUNT, write_pictures
from support.seen import explain_pictures as explain
from support.torch_networks import SHAPE

from verale.certificate import Certificate
from verale.errors import InputError, UsageError
from verale.head import Head
from verale.network import picture_digest
from verale.runs.explain import open_run
from verale.runs.seen import SeenPictures
from verale.runs.source import load_source
from verale.search import SearchOptions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_pictures(tmp_path)


def test_png_files_are_explained_and_kept(folder: Path) -> None:
    done = explain(folder)
    assert done.returncode == 0, done.stderr
    out = folder / "out"
    assert (out / "network.safetensors").read_bytes() == (folder / "n").read_bytes()
    seen = SeenPictures.load(folder / "n", folder / "p")
    assert seen.labels(3) == [0, 0, 1, 2] and seen.names[0] == "class 0/0.png"
    for number, (name, picture) in enumerate(zip(seen.names, seen.pictures, strict=True)):
        assert (out / "pictures" / name).read_bytes() == (folder / "p" / name).read_bytes()
        certificate = Certificate.load(out / f"{number:06d}.ale.json")
        assert certificate.picture == picture_digest(picture)
        assert certificate.network == hashlib.sha256((folder / "n").read_bytes()).hexdigest()
    run = json.loads((out / "run.json").read_text())
    assert run["arithmetic"] == "real" and run["network"] == certificate.network
    source = load_source(out / "source.json", None)
    assert source.files[0] == out / "pictures" / "class 0/0.png" and source.labels == (0, 0, 1, 2)


@pytest.mark.parametrize("arithmetic", ["real", "float32"])
@pytest.mark.parametrize("pictures", ["p", "p.safetensors"])
def test_an_audit_finds_network_and_pictures_and_proves_them(folder: Path, arithmetic: str, pictures: str) -> None:
    assert explain(folder, "--arithmetic", arithmetic, pictures=pictures).returncode == 0
    audited = in_process("audit", folder / "out", "--kernel", "arb")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert audited.stdout.count("entailment+picture proved") == COUNT
    assert f"network {folder / 'out' / 'network.safetensors'}, sha256 " in audited.stderr
    shown = in_process("show", folder / "out" / "000001.ale.json", "--kernel", "arb")
    assert shown.returncode == 0 and "From the bytes of the picture, this network" in shown.stdout
    (folder / "out" / "network.safetensors").unlink()
    unseen = in_process("show", folder / "out" / "000001.ale.json", "--kernel", "arb")
    assert "That the network gives the picture such latents was not checked." in unseen.stdout


def test_a_page_shows_the_pictures(folder: Path) -> None:
    assert explain(folder).returncode == 0
    done = in_process("report", folder / "out", "-o", folder / "page.html")
    assert done.returncode == 0, done.stderr
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Proofs begin at the bytes of the pictures" in page and "matched by order" not in page


def test_a_tensor_gives_the_same_certificates_and_processes_change_no_byte(folder: Path) -> None:
    assert explain(folder).returncode == 0
    assert explain(folder, "--jobs", "2", pictures="p.safetensors", out="other").returncode == 0
    digests = {
        out: sorted(Certificate.load(path).picture for path in (folder / out).glob("*.ale.json"))
        for out in ("out", "other")
    }
    assert digests["out"] == digests["other"] and len(digests["out"]) == COUNT
    by_picture = {Certificate.load(path).picture: path.read_bytes() for path in (folder / "out").glob("*.ale.json")}
    for path in (folder / "other").glob("*.ale.json"):
        assert by_picture[Certificate.load(path).picture] == path.read_bytes()
    assert (folder / "other" / "pictures.safetensors").exists()


def test_an_interrupted_run_goes_on_and_another_one_is_refused(folder: Path) -> None:
    assert explain(folder).returncode == 0
    whole = {path.name: path.read_bytes() for path in (folder / "out").glob("*.ale.json")}
    (folder / "out" / "000002.ale.json").unlink()
    done = explain(folder)
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_bytes() for path in (folder / "out").glob("*.ale.json")} == whole
    first = folder / "p" / "class 0" / "0.png"
    first.write_bytes((folder / "p" / "class 1" / "1.png").read_bytes())
    refused = explain(folder)
    assert refused.returncode == 9 and "choose another --out" in refused.stderr
    assert {path.name: path.read_bytes() for path in (folder / "out").glob("*.ale.json")} == whole
    assert explain(folder, "--overwrite", pictures="p.safetensors").returncode == 0
    assert not (folder / "out" / "source.json").exists() and (folder / "out" / "pictures.safetensors").exists()
    assert explain(folder, "--overwrite").returncode == 0
    assert (folder / "out" / "source.json").exists() and not (folder / "out" / "pictures.safetensors").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--latents", "z"), "pictures need --head, --network and --pictures, and no latents"),
        (("--gap",), "expected without --gap"),
        (("--inflate",), "inflate is given, expected none with pictures"),
        (("--deployment", "direct"), "deployment is given, expected none with pictures"),
    ],
)
def test_options_that_pictures_do_not_have_are_refused(folder: Path, options: tuple[str, ...], expected: str) -> None:
    done = explain(folder, *options)
    assert done.returncode == 9 and expected in done.stderr and not (folder / "out").exists()


def test_what_cannot_be_used_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="is no network file"):
        SeenPictures.load(folder / "h", folder / "p")
    with pytest.raises(UsageError, match="arithmetic is"):
        SeenPictures.load(folder / "n", folder / "p", "float16")  # type: ignore[arg-type]
    Image.new("RGB", SHAPE[1:]).save(folder / "p" / "class 0" / "wrong.png")
    with pytest.raises(InputError, match=r"wrong\.png: has 10 rows and 12 columns"):
        SeenPictures.load(folder / "n", folder / "p")
    assert in_process("explain", "--network", folder / "n", "--out", folder / "o").returncode == 9
    assert in_process("explain", "--arithmetic", "real", "--out", folder / "o").returncode == 9


def test_overwriting_leaves_no_picture_of_an_earlier_run(folder: Path) -> None:
    assert explain(folder).returncode == 0
    kept = folder / "out" / "pictures"
    (kept / "notes.txt").write_text("mine")
    (folder / "p" / "class 0" / "3.png").rename(folder / "p" / "class 0" / "9.png")
    assert explain(folder, "--overwrite").returncode == 0
    assert sorted(path.name for path in (kept / "class 0").iterdir()) == ["0.png", "9.png"]
    assert (kept / "notes.txt").read_text() == "mine"


def test_a_folder_with_another_network_is_refused(folder: Path) -> None:
    head, seen = Head.load(folder / "h"), SeenPictures.load(folder / "n", folder / "p")
    out = folder / "out"
    out.mkdir()
    (out / "network.safetensors").write_bytes(b"another")
    with (
        pytest.raises(InputError, match=r"network\.safetensors: is another file than this run's"),
        open_run(out, head, seen.latents(), SearchOptions("top_k"), seen=seen),
    ):
        pass
