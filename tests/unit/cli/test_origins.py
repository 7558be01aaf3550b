"""`verale origins` and `verale audit` of what it wrote."""

from __future__ import annotations

import io
import json
import re
import shutil
from base64 import b64decode
from contextlib import chdir
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from PIL import Image
from support import files
from support.networks import drawn_picture, network_file, png, small_layers

from verale.checker.read.pictures import Picture
from verale.cli import cli
from verale.errors import InputError, UsageError

HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.25, 0.75], [0.875, 0.125]])
SEEN = ("--head", "head.safetensors", "--network", "network.safetensors", "--images", "images")


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A head, a network, images, `origins.json` of them, and in `out` and `top_k` certificates of the pictures."""
    folder = tmp_path_factory.mktemp("origins")
    with chdir(folder):
        Path("head.safetensors").write_bytes(HEAD)
        Path("network.safetensors").write_bytes(network_file(*small_layers(), mean=[0.5], std=[0.25]))
        Path("images").mkdir()
        for number in range(3):
            Path("images", f"{number}.png").write_bytes(png(drawn_picture((1, 4, 4), number)))
        for out, paradigm in (("out", "projection"), ("top_k", "top_k")):
            assert run("explain", *SEEN, "--out", out, "--paradigm", paradigm)[0] in (0, 10)
        assert run("origins", *SEEN, "-o", "origins.json")[0] == 0
    return folder


@pytest.fixture(autouse=True)
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that, in which the test runs."""
    shutil.copytree(made, tmp_path / "folder")
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


def test_what_is_found_is_told_and_proved() -> None:
    code, said = run("origins", *SEEN, "-o", "found.json")
    assert code == 0 and len(said.splitlines()) == 2
    assert all(line.startswith(f"prototype {number}: patch ") for number, line in enumerate(said.splitlines()))
    assert "distance at most 0." in said
    code, said = run("audit", "found.json", *SEEN)
    assert code == 0
    assert [line.split("  ")[0].strip() for line in said.splitlines()] == ["PROVED", "PROVED"]
    assert "by the proved checker" in said


def test_in_json_an_object_a_prototype() -> None:
    code, said = run("origins", *SEEN, "-o", "found.json", "--json")
    found = [json.loads(line) for line in said.splitlines()]
    assert code == 0 and [each["_type"] for each in found] == ["urn:verale:origin:v1"] * 2
    assert {each["file"].partition("/")[0] for each in found} == {"images"}
    code, said = run("audit", "found.json", *SEEN, "--json", "--kernel", "arb")
    judged = [json.loads(line) for line in said.splitlines()]
    assert code == 0
    assert [(each["status"], each["by"], each["exit_code"]) for each in judged] == [("PROVED", "arb", 0)] * 2
    assert [each["distance"] for each in judged] == [each["distance"] for each in found]


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"distance": (0.0).hex()}, 7, "NOT_PROVED"),
        ({"picture": "0" * 64}, 6, "no picture that is given has the digest"),
        ({"prototype": 2}, 5, "expected less than the head's 2"),
        ({"patch": -1}, 5, "MALFORMED"),
    ],
    ids=["distance", "picture", "prototype", "patch"],
)
def test_what_is_changed_is_not_proved(change: dict[str, object], code: int, said: str) -> None:
    document = json.loads(Path("origins.json").read_bytes())
    document["origins"] = [document["origins"][0] | change]
    Path("origins.json").write_text(json.dumps(document))
    for more in ((), ("--json",)):
        found, printed = run("audit", "origins.json", *SEEN, "--kernel", "arb", *more)
        assert found == code and said in printed and '"PROVED"' not in printed


def test_about_another_head_nothing_is_proved() -> None:
    Path("head.safetensors").write_bytes(files.head([[1.0] * 2, [-1.0] * 2], [[0.25, 0.75], [0.5, 0.125]]))
    code, said = run("audit", "origins.json", *SEEN)
    assert code == 6 and said.startswith("NOT_PROVED") and "speaks of the head" in said


def test_of_what_is_outside_the_domain_nothing_is_stated() -> None:
    head = files.head([[1.0] * 2, [-1.0] * 2], [[0.25, 0.75], [0.875, 0.125]], domain=files.domain(0.0, 0.015625))
    Path("head.safetensors").write_bytes(head)
    assert run("origins", *SEEN, "-o", "found.json") == (11, "")
    assert not Path("found.json").exists()


BESIDE = ("--origins", "origins.json", "--origin-images", "images", "--kernel", "arb", "--head", "head.safetensors")


def test_show_says_which_patches_the_prototypes_are() -> None:
    certificate = str(next(Path("out").glob("*.ale.json")))
    _, said = run("show", certificate, *BESIDE)
    lines = said.splitlines()
    start = lines.index("Which patches the prototypes are, asked of the checker now")
    assert "prototype 0 is" in said and "(by arb)" in lines[start + 1]
    assert "asked of the checker now" not in run("show", certificate, *BESIDE[4:])[1]


def page_data(path: str) -> dict[str, Any]:
    """What a page's script is given."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', Path(path).read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_page_draws_the_picture_that_each_prototype_is_a_part_of() -> None:
    assert run("report", "out", "-o", "page.html", *BESIDE)[0] in (0, 10)
    data = page_data("page.html")
    noted = json.loads(Path("origins.json").read_bytes())["origins"]
    assert sorted(map(int, data["parts"])) == sorted(map(int, data["origins"])) == [each["prototype"] for each in noted]
    for each in noted:
        assert "this part of this picture" in data["origins"][str(each["prototype"])]
        place, *cell = data["parts"][str(each["prototype"])]
        assert cell == [each["patch"] // 2, each["patch"] % 2]
        pixels = Image.open(io.BytesIO(b64decode(data["training"][place].partition("base64,")[2]))).convert("L")
        assert Picture((1, *pixels.size[::-1]), pixels.tobytes()).digest == each["picture"]
    assert data["words"]["shown"] == ""


def test_the_page_says_that_pictures_of_prototypes_were_decoded() -> None:
    for number in range(3):
        Image.open(f"images/{number}.png").save(f"images/{number}.tif")
        Path("images", f"{number}.png").unlink()
    assert run("origins", *SEEN, "-o", "decoded.json")[0] == 0
    decoded = ("--origins", "decoded.json", "--origin-images", "decoded.json.pictures", *BESIDE[4:])
    assert run("report", "out", "-o", "page.html", *decoded)[0] in (0, 10)
    said = re.search(r"Of prototypes, (\d) pictures? w(?:as|ere) decoded by Pillow [\d.]+, as source.json says", text())
    names = {each["picture"] for each in json.loads(Path("decoded.json").read_bytes())["origins"]}
    assert said is not None and int(said[1]) == len(names)
    assert sorted(page_data("page.html")["parts"]) == ["0", "1"]
    run("report", "out", "-o", "page.html", "--overwrite", *BESIDE[4:])
    assert "Of prototypes, " not in text()


def text() -> str:
    return unescape(Path("page.html").read_text())


def test_without_its_picture_the_sentence_names_it() -> None:
    """Certificates beside another network, whose grid may be another one; and a page without room."""
    assert run("report", "out", "-o", "page.html", *BESIDE, "--max-size", "0.0001")[0] in (0, 10)
    data = page_data("page.html")
    assert data["parts"] == {} and all("of the picture" in said for said in data["origins"].values())
    assert not any("this picture" in said for said in data["origins"].values())


@pytest.mark.parametrize(("more", "out"), [((), "out"), (("--compact",), "out"), (("--compact",), "top_k")])
def test_figures_say_which_patches_the_prototypes_are(more: tuple[str, ...], out: str) -> None:
    """Small ones draw the pictures of a few prototypes, which `top_k` names."""
    certificate = str(next(Path(out).glob("*.ale.json")))
    assert run("report", certificate, "-o", "with.svg", *BESIDE, *more)[0] in (0, 10)
    assert run("report", certificate, "-o", "without.svg", *BESIDE[4:], *more)[0] in (0, 10)
    said, silent = (" ".join(comments(name)) for name in ("with.svg", "without.svg"))
    expected = "this part of this picture" if out == "top_k" else "of the picture"
    assert " is not shown to be a patch" in said and expected in said and "(by arb)" in said
    assert "Nothing proves what pictures of prototypes show" not in said
    assert " is not shown to be a patch" not in silent and "(by arb)" not in silent


def comments(path: str) -> list[str]:
    """The texts of a figure, which matplotlib writes as comments before their outlines."""
    return re.findall(r"<!-- (.*?) -->", Path(path).read_text())


@pytest.mark.parametrize("command", [("show",), ("report", "-o", "page.html")])
def test_a_page_says_nothing_of_origins_that_are_about_something_else(command: tuple[str, ...]) -> None:
    document = json.loads(Path("origins.json").read_bytes())
    Path("origins.json").write_text(json.dumps(document | {"network": "0" * 64}))
    certificate = str(next(Path("out").glob("*.ale.json")))
    with pytest.raises(InputError, match="speaks of the network"):
        run(*command, certificate if command[0] == "show" else "out", *BESIDE)
    assert not Path("page.html").exists()


AUDIT = ("audit", "origins.json")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*AUDIT, *SEEN[:4]), "give --head, --network and --images"),
        (AUDIT, "give --head, --network and --images"),
        ((*AUDIT, *SEEN, "--minimality"), "--minimality is not for origins files"),
        ((*AUDIT, *SEEN, "--log", "log.jsonl"), "--log is not for origins files"),
        ((*AUDIT, *SEEN, "--attest", "attest.json"), "--attest is not for origins files"),
        ((*AUDIT, *SEEN, "--latents", "latents.safetensors"), "--latents is not for origins files"),
        ((*AUDIT, *SEEN, "images/0.png"), "is no origins file"),
        (("show", "out", "--origins", "origins.json"), "belong together"),
        (("report", "out", "--origin-images", "images"), "belong together"),
        (("report", "out", *BESIDE[:4], "--no-audit"), "leave it out, or --no-audit"),
        (("report", "out", *BESIDE[:4], "-o", "table.csv"), "is for pages and pictures"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run(*arguments)
    assert not Path("log.jsonl").exists() and not Path("attest.json").exists()


def test_show_says_nothing_of_another_heads_prototypes() -> None:
    """The origins are those of the head that is given, the certificate is not."""
    Path("head.safetensors").write_bytes(files.head([[1.0, 0.0], [0.0, 1.0]], [[0.25, 0.5], [0.875, 0.125]]))
    run("origins", *SEEN, "-o", "origins.json", "--overwrite")
    code, said = run("show", str(next(Path("out").glob("*.ale.json"))), *BESIDE)
    assert code == 6 and "asked of the checker now" not in said


def test_of_photographs_the_png_files_are_named_and_proved() -> None:
    for number in range(3):
        Image.new("L", (7, 5), 40 * number).save(f"images/{number}.jpg")
        Path("images", f"{number}.png").unlink()
    result = CliRunner().invoke(cli, ["origins", *SEEN, "--resize", "4", "-o", "found.json"])
    assert result.exit_code == 0, result.output
    assert f"pictures are decoded by Pillow {Image.__version__}, scaled to a shorter side of 4" in result.stderr
    assert "the PNG files in found.json.pictures are proved" in result.stderr
    assert re.findall(r"images/\d.jpg", result.stdout)
    code, said = run("audit", "found.json", *SEEN[:-1], "found.json.pictures")
    assert code == 0 and said.count("PROVED") == 2
