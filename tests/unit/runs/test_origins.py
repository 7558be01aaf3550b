"""The search for origins: the nearest patch of all pictures, a distance that is proved, and where it goes on."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from support import files
from support.cases import every
from support.networks import drawn_picture, network_file, picture_digest, pictures_file, png, small_layers

from verale.checker.auditor import Auditor
from verale.checker.origins import judge_origins
from verale.errors import InputError, UsageError
from verale.head import Head, as_patches, observables
from verale.network import FrozenNetwork
from verale.pictures import read_picture
from verale.runs import origins
from verale.runs.audit import judged_origins, origins_auditor
from verale.runs.origins import FoundOrigin, OriginSearch, Unstated
from verale.runs.source import load_source

PICTURES = [drawn_picture((1, 4, 4), seed) for seed in range(9)]
COSINE = {"geometry": {"kind": "cosine", "epsilon": (2.0**-10).hex()}, "similarity": files.IDENTITY}
WEIGHT = [[1.0] * 3, [-1.0] * 3]
PROTOTYPES = [[0.25, 0.75], [0.5, 0.5], [0.875, 0.125]]


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Of a head of distances, unless a test asks for others."""
    head = files.head(WEIGHT, PROTOTYPES, **getattr(request, "param", {}))
    (tmp_path / "head.safetensors").write_bytes(head)
    (tmp_path / "network.safetensors").write_bytes(network_file(*small_layers(), mean=[0.5], std=[0.25]))
    (tmp_path / "images").mkdir()
    for number, picture in enumerate(PICTURES):
        (tmp_path / "images" / f"{number}.png").write_bytes(png(picture))
    (tmp_path / "all.safetensors").write_bytes(pictures_file(PICTURES))
    return tmp_path


def search(folder: Path, images: str = "images", overwrite: bool = False) -> OriginSearch:
    where = folder / "head.safetensors", folder / "network.safetensors", folder / images, folder / "origins.json"
    return OriginSearch(*where, overwrite)


def interrupt(*given: object) -> None:
    raise KeyboardInterrupt


def interrupted(folder: Path, when: Callable[[dict[str, Any]], bool] = lambda noted: False) -> dict[str, Any]:
    """Search until what is noted is so, or until the file is to be written; what is noted then."""
    partial = folder / "origins.json.partial"

    def stop(done: int) -> None:
        if done and partial.exists() and when(json.loads(partial.read_bytes())):
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(origins, "write_output", interrupt)
        search(folder).run(stop)
    return json.loads(partial.read_bytes())


def judged(folder: Path, kernel: str | None = None) -> list[int]:
    data = [(folder / f"{name}.safetensors").read_bytes() for name in ("head", "network", "all")]
    auditor = Auditor(data[0], None, kernel, network=data[1], pictures=data[2])
    return [each.exit_code for each in judge_origins(auditor, (folder / "origins.json").read_bytes())]


OF_BOTH = pytest.mark.parametrize("folder", [{}, COSINE], ids=["euclidean", "cosine"], indirect=True)


@OF_BOTH
@pytest.mark.parametrize(("images", "at_once"), [("images", 4), ("all.safetensors", 1), ("all.safetensors", 64)])
def test_the_nearest_patch_of_all_is_found_and_proved(
    folder: Path, images: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origins, "_MOST_PICTURES", at_once)
    done: list[int] = []
    looking = search(folder, images)
    assert looking.total == len(PICTURES)
    found = looking.run(done.append)
    assert sum(done) == len(PICTURES)
    head, network = Head.load(folder / "head.safetensors"), FrozenNetwork.load(folder / "network.safetensors")
    latents = as_patches(network.latents(torch.tensor(PICTURES, dtype=torch.uint8)))
    observed = observables(head, latents).flatten(0, 1)
    best = observed.min(0) if head.geometry.is_distance else observed.max(0)
    for number, each in enumerate(found):
        assert isinstance(each, FoundOrigin)
        assert (each.prototype, each.patch) == (number, int(best.indices[number]) % 4)
        assert each.picture == picture_digest(PICTURES[int(best.indices[number]) // 4])
        if head.geometry.is_distance:
            assert each.distance is not None and each.cosine is None
            assert 1 <= each.distance**2 / float(best.values[number]) < 1.02
        else:
            assert each.cosine is not None and each.distance is None
            assert 0 <= float(best.values[number]) - each.cosine < 0.02 * (1 - each.cosine)
    assert json.loads((folder / "origins.json").read_bytes())["origins"] == [each.record() for each in found]
    assert judged(folder) == judged(folder, "arb") == [0, 0, 0]
    assert not (folder / "origins.json.partial").exists()


def test_what_was_interrupted_goes_on_with_the_same_result(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "_MOST_PICTURES", 2)
    monkeypatch.setattr(origins, "_SECONDS", 0.0)
    whole = search(folder).run()
    expected = (folder / "origins.json").read_bytes()
    (folder / "origins.json").unlink()

    assert interrupted(folder, lambda noted: noted["pictures"] == 2) and not (folder / "origins.json").exists()
    computed: list[int] = []
    seen = origins.observables
    monkeypatch.setattr(origins, "observables", lambda head, z: computed.append(len(z)) or seen(head, z))
    assert search(folder).run() == whole
    assert sum(computed) == len(PICTURES) - 2
    assert (folder / "origins.json").read_bytes() == expected


@every(
    "forged",
    [
        {"stated": [{"prototype": 0, "picture": "0" * 64, "patch": 0, "name": "x.png", "distance": "0x0p+0"}]},
        *({"places": [place] * 3} for place in ([99, 0, 0], [0, -2, 0], [0, 0, 4], [0, 0, -1], [0.0, 0.0, 0.0], [0])),
    ],
)
def test_nothing_that_a_noted_search_says_is_stated_unproved(
    folder: Path, forged: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origins, "_SECONDS", 0.0)
    whole = search(folder, overwrite=True).run()
    (folder / "origins.json").unlink()
    noted = interrupted(folder)
    assert noted["pictures"] == len(PICTURES)
    (folder / "origins.json.partial").write_text(json.dumps(noted | forged))
    assert search(folder).run() == whole and judged(folder) == [0, 0, 0]


@pytest.mark.parametrize("change", ["picture", "fewer", "head"])
def test_what_was_found_among_other_pictures_or_for_another_head_is_not_taken(
    folder: Path, change: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(origins, "_MOST_PICTURES", 3)
    monkeypatch.setattr(origins, "_SECONDS", 0.0)

    interrupted(folder, lambda noted: noted["pictures"] == 6)
    if change == "picture":
        (folder / "images" / "1.png").write_bytes(png(drawn_picture((1, 4, 4), 99)))
    elif change == "fewer":
        for number in range(3, 9):
            (folder / "images" / f"{number}.png").unlink()
    else:
        head = files.head(WEIGHT, PROTOTYPES[::-1])
        (folder / "head.safetensors").write_bytes(head)
    resumed = search(folder).run()
    assert "the search begins again" in caplog.text
    (folder / "origins.json").unlink()
    assert resumed == search(folder).run()


SEARCH = b'{"_type": "urn:verale:origins-search:v1"'
TOO_LARGE = SEARCH + b', "head": "", "network": "", "turned": [1' + b"0" * 400 + b"]}"


@every("data", [b"", b"[]", b"{}", SEARCH + b"}", TOO_LARGE, b"\xff"])
def test_a_file_in_the_way_of_what_is_noted_is_refused_and_kept(folder: Path, data: bytes) -> None:
    (folder / "origins.json.partial").write_bytes(data)
    with pytest.raises(InputError, match="is no unfinished search of this command"):
        search(folder).run()
    assert (folder / "origins.json.partial").read_bytes() == data
    assert not (folder / "origins.json").exists()


def test_files_that_cannot_be_read_are_left_out_and_named(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = search(folder).run()
    (folder / "images" / "A.png").write_bytes(b"no picture")
    (folder / "images" / "B.png").write_bytes(png(drawn_picture((1, 5, 4), 1)))
    assert search(folder, overwrite=True).run() == whole
    assert "A.png is left out" in caplog.text and "B.png is left out" in caplog.text


INNER_PRODUCT = {"geometry": {"kind": "inner_product", "radius": None}, "similarity": files.IDENTITY}


@every(
    ("head", "said"),
    [
        (files.head(WEIGHT, PROTOTYPES, **INNER_PRODUCT), "inner_product"),
        (files.head([[1.0] * 2, [-1.0] * 2], geometry=files.SOFTMAX, similarity=files.IDENTITY), "softmax"),
        (files.head([[1.0], [-1.0]], [[0.5]]), "gives 2 channels, the head receives 1"),
    ],
)
def test_a_head_without_origins_or_of_another_network_is_refused(folder: Path, head: bytes, said: str) -> None:
    (folder / "head.safetensors").write_bytes(head)
    with pytest.raises(UsageError, match=said):
        search(folder)


def test_of_latents_outside_the_domain_nothing_is_stated(folder: Path) -> None:
    head = files.head(WEIGHT, PROTOTYPES, domain=files.domain(0.0, 2.0**-6))
    (folder / "head.safetensors").write_bytes(head)
    found = search(folder).run()
    assert all(isinstance(each, Unstated) and "beyond the head's domain" in each.why for each in found)
    assert not (folder / "origins.json").exists()


@every("square", [0.0, 5e-324, 1e-30, 0.25, 2.0, 1e10, 1.7e308])
def test_a_stated_distance_is_no_less_and_little_more(square: float) -> None:
    stated = origins._distance(square)
    assert Fraction(stated) ** 2 >= Fraction(square)
    assert stated <= 1.02 * math.sqrt(square) + 5e-324


@every("cosine", [-1.0, -0.3, 0.0, 0.5, 0.999999, math.nextafter(1.0, 0.0), 1.0])
def test_a_stated_cosine_is_no_greater_and_little_less(cosine: float) -> None:
    stated = origins._cosine(cosine)
    assert Fraction(stated) <= Fraction(cosine)
    assert 1 - stated <= 1.02 * (1 - cosine) + 2.0**-52


def as_tiff(folder: Path, *numbers: int) -> None:
    """Pictures as TIFF files, in the place of PNG files; nothing is lost."""
    for number in numbers:
        file = folder / "images" / f"{number}.png"
        Image.open(file).save(file.with_suffix(".tif"))
        file.unlink()


def kept(folder: Path) -> list[str]:
    return sorted(each.name for each in (folder / "origins.json.pictures").glob("*.png"))


def of_kept(folder: Path) -> list[int]:
    """What an audit with the pictures that were kept gives."""
    pictures = folder / "origins.json.pictures"
    auditor = origins_auditor(folder / "head.safetensors", folder / "network.safetensors", pictures)
    return [each.exit_code for each in judged_origins(folder / "origins.json", auditor, pictures)]


def test_of_other_files_the_pictures_that_are_named_become_png_files_which_are_proved(folder: Path) -> None:
    whole = search(folder).run()
    expected = json.loads((folder / "origins.json").read_bytes())
    as_tiff(folder, *range(0, 9, 2))
    found = search(folder, overwrite=True).run()
    assert json.loads((folder / "origins.json").read_bytes()) == expected
    assert [Path(each.name).stem for each in found] == [Path(each.name).stem for each in whole]
    names = kept(folder)
    assert names == sorted({f"{Path(each.name).stem}.png" for each in whole}) and len(names) < 9
    assert of_kept(folder) == [0, 0, 0]
    source = load_source(folder / "origins.json.pictures" / "source.json")
    made = [name for name in names if int(Path(name).stem) % 2 == 0]
    assert source.decoded == f"{len(made)} pictures were decoded by Pillow {Image.__version__}"
    assert source.pictures == tuple(picture_digest(PICTURES[int(Path(name).stem)]) for name in names)
    record = json.loads((folder / "origins.json.pictures" / "source.json").read_bytes())["decoded"]["files"]
    assert record == {
        name: {"file": given.name, "sha256": hashlib.sha256(given.read_bytes()).hexdigest()}
        for name, given in ((name, folder / "images" / f"{Path(name).stem}.tif") for name in made)
    }


def test_pictures_are_scaled_and_those_of_an_earlier_file_go(folder: Path) -> None:
    as_tiff(folder, 0)
    search(folder).run()
    before = kept(folder)
    for number, (file, picture) in enumerate(zip(sorted((folder / "images").iterdir()), PICTURES[::-1], strict=True)):
        image = Image.open(io.BytesIO(png(picture)))
        image.resize((8 + number, 8)).save(folder / "images" / f"{number}-large.tif")
        file.unlink()
    where = folder / "head.safetensors", folder / "network.safetensors", folder / "images", folder / "origins.json"
    with pytest.raises(InputError, match="or give resize"):
        OriginSearch(*where, True).run()
    assert kept(folder) == before
    found = OriginSearch(*where, True, 4).run()
    assert kept(folder) == sorted({f"{Path(each.name).stem}.png" for each in found})
    sizes = {read_picture(each).size for each in (folder / "origins.json.pictures").glob("*.png")}
    assert sizes == {(4, 4)}
    assert of_kept(folder) == [0, 0, 0]


def test_where_png_files_cannot_be_kept_nothing_is_searched(folder: Path) -> None:
    as_tiff(folder, 1)
    where = folder / "head.safetensors", folder / "network.safetensors", folder / "images"
    with pytest.raises(InputError, match="would get copies of its pictures"):
        OriginSearch(*where, folder / "images" / "origins.json", False)
    (folder / "origins.json.pictures").mkdir()
    (folder / "origins.json.pictures" / "1.png").write_bytes(b"mine")
    with pytest.raises(InputError, match="is in the way"):
        search(folder)
    assert (folder / "origins.json.pictures" / "1.png").read_bytes() == b"mine"
    (folder / "images" / "1.png").write_bytes(png(PICTURES[0]))
    with pytest.raises(InputError, match="would be two pictures of this name"):
        search(folder)
    with pytest.raises(UsageError, match="resize is for picture files"):
        OriginSearch(*where[:2], folder / "all.safetensors", folder / "origins.json", False, 4)


def test_a_photograph_that_is_changed_meanwhile_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_tiff(folder, *range(9))
    of_picture = OriginSearch._of_picture

    def changed(self: OriginSearch, *given: Any) -> object:
        for number in range(9):
            Image.open(io.BytesIO(png(drawn_picture((1, 4, 4), 50 + number)))).save(folder / f"images/{number}.tif")
        return of_picture(self, *given)

    monkeypatch.setattr(OriginSearch, "_of_picture", changed)
    with pytest.raises(InputError, match="was changed meanwhile; start again"):
        search(folder).run()
    assert not (folder / "origins.json").exists() and not kept(folder)
