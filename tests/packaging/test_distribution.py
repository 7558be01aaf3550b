"""Wheel and source distribution: what is in them, and that the core audits where nothing else is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Sequence
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from venv import EnvBuilder
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.proved import build as build_proved

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
CORE = {"click", "rich", "mini-racer", "mpmath", "python-flint"}
ACCEPTED = ROOT / "certificates" / "accept"


def build(source: Path, to: Path, *targets: str, **environment: str) -> None:
    arguments = [argument for target in targets for argument in ("-t", target)]
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(to), *arguments]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=300, env=os.environ | environment)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "wheel")
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return built / f"verale-{VERSION}-py3-none-any.whl"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    build(ROOT, folder, "sdist")
    with tarfile.open(folder / f"verale-{VERSION}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"verale-{VERSION}"


def contents(path: Path) -> dict[str, bytes]:
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def files(folder: Path, *patterns: str) -> dict[str, bytes]:
    """Everything below a folder that is no left-over of Python, by its path in it."""
    found = [path for pattern in patterns for path in folder.glob(pattern) if "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found if path.is_file()}


def test_the_wheel_is_the_package_the_corpora_and_the_lemmas_and_nothing_else(wheel: Path) -> None:
    expected = files(ROOT, "verale/**/*")
    for folder in ("certificates", "proofs"):
        expected |= {f"verale/soundness/{name}": data for name, data in files(ROOT, f"{folder}/**/*").items()}
    found = contents(wheel)
    notes = f"verale-{VERSION}.dist-info/"
    assert {name: data for name, data in found.items() if not name.startswith(notes)} == expected
    for name in (
        "py.typed",
        "soundness/certificates/v1.schema.json",
        "soundness/certificates/audit-log-v1.schema.json",
        "soundness/proofs/rocq/Makefile",
        "soundness/proofs/rocq/theories/Classified.v",
    ):
        assert f"verale/{name}" in found
    licences = {name.removeprefix(f"{notes}licenses/") for name in found if name.startswith(f"{notes}licenses/")}
    assert licences == set(PROJECT["license-files"])


@pytest.mark.long  # two builds
def test_a_source_distribution_gives_the_same_wheel(wheel: Path, unpacked: Path, tmp_path: Path) -> None:
    build(unpacked, tmp_path, "wheel")
    assert contents(tmp_path / wheel.name) == contents(wheel)


@pytest.mark.long  # another build; `make release-check` compares it with the commit too
def test_a_source_distribution_can_be_tested_and_documented(unpacked: Path) -> None:
    for name in ("tests", "docs", "examples", "benchmarks", "verale", "certificates", "proofs"):
        assert files(unpacked, f"{name}/**/*") == files(ROOT, f"{name}/**/*")
    for name in ("README.md", "CHANGELOG.md", "TRUSTED.md", "Makefile", "mkdocs.yml", *PROJECT["license-files"]):
        assert (unpacked / name).read_bytes() == (ROOT / name).read_bytes()


def closure(wanted: Sequence[str]) -> dict[str, Distribution]:
    """Installed distributions that the named ones need, themselves among them, without extras."""
    found: dict[str, Distribution] = {}
    left = list(wanted)
    while left:
        name = canonicalize_name(left.pop())
        if name not in found:
            found[name] = distribution(name)
            needs = map(Requirement, found[name].requires or ())
            left += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and what the core needs, and nothing else, not even pip."""
    folder = tmp_path_factory.mktemp("clean")
    EnvBuilder(symlinks=True, with_pip=False).create(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    with ZipFile(wheel) as archive:
        archive.extractall(site)
    installed = PathDistribution(site / f"verale-{VERSION}.dist-info")
    needs = [Requirement(line) for line in installed.requires or ()]
    core = [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    assert set(core) == CORE
    for one in closure(core).values():
        for file in one.files or ():
            if ".." not in file.parts and Path(one.locate_file(file)).exists():
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                (site / file).symlink_to(one.locate_file(file))
    (script,) = installed.entry_points.select(group="console_scripts", name="verale")
    (folder / "bin" / "verale").write_text(
        f"#!{folder / 'bin' / 'python'}\nfrom {script.module} import {script.attr}\n{script.attr}()\n"
    )
    (folder / "bin" / "verale").chmod(0o755)
    return folder / "bin"


def run(program: Path, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def test_the_clean_environment_has_the_core_alone(clean: Path, tmp_path: Path) -> None:
    said = run(clean / "python", "-c", "import verale; print(verale.__file__)", cwd=tmp_path)
    assert Path(said.stdout.strip()).is_relative_to(clean.parent)
    others = ("torch", "numpy", "safetensors", "PIL", "yaml", "hypothesis", "z3", "pip")
    code = f"from importlib.util import find_spec; print([name for name in {others} if find_spec(name)])"
    assert run(clean / "python", "-c", code, cwd=tmp_path).stdout == "[]\n"


NAME = ACCEPTED / "projection-euclidean"
FILES = (f"{NAME}.ale.json", "--head", f"{NAME}.head.safetensors")
GIVEN = (*FILES[1:], "--latents", f"{NAME}.latents.safetensors")
EVERYTHING = (FILES[0], *GIVEN, "--minimality", "--kernel", "both")
PROVED = r"PROVED .*entailment\+instance\+minimality proved  by arb and mpmath\n"
VERSIONS = "import verale\nfrom importlib.metadata import version\nassert verale.__version__ == version('verale')"


@pytest.mark.parametrize(
    ("program", "arguments", "code", "out", "err"),
    [
        ("verale", ("--version",), 0, rf"verale, version {VERSION}\n", ""),
        ("python", ("-c", VERSIONS), 0, "", ""),
        ("verale", ("audit", *EVERYTHING), 0, PROVED, ""),
        ("python", ("-m", "verale.checker", *EVERYTHING), 0, PROVED, ""),
        # The wheel for every platform brings no executable.
        ("verale", ("audit", *FILES), 0, r"PROVED .*  by the proved checker \(JavaScript\)\n", ""),
        ("verale", ("doctor",), 0, ".*ok kernel arb: PROVED.*-- cpu: torch is not installed.*", ""),
        ("verale", ("summary", "."), 0, ".+", ""),
        ("verale", ("completion", "fish"), 0, ".+", ""),
        (
            *("verale", ("explain", *GIVEN, "--out", "out"), 9, ""),
            r"error: this command needs torch: pip install 'verale\[explain\]'\n",
        ),
        # The corpora alone it judges: .ci/release_check.py
        ("verale", ("soundness",), 9, ".*", r".*pip install 'verale\[.*"),
    ],
)
def test_what_the_core_does_and_which_extra_it_lacks(
    program: str, arguments: tuple[str, ...], code: int, out: str, err: str, clean: Path, tmp_path: Path
) -> None:
    (tmp_path / "explanations.csv").write_text("Idx,Pred Label,Exp Size,Runtime (s)\n0,1,5,0.5\n")
    said = run(clean / program, *arguments, cwd=tmp_path)
    assert said.returncode == code, said.stderr
    assert re.fullmatch(out, said.stdout, re.DOTALL) and re.fullmatch(err, said.stderr, re.DOTALL)
    assert not (tmp_path / "out").exists()


@pytest.mark.long  # builds three wheels and a static executable
def test_a_wheel_for_a_platform_brings_the_executable_besides(
    wheel: Path, clean: Path, worker_id: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    shared = tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent
    proved = build_proved(shared / "proved")
    program = build_proved(shared / "proved", "static/verale-proved")
    build(ROOT, tmp_path, "wheel", VERALE_WHEEL_EXECUTABLE=str(program))
    (special,) = tmp_path.glob("*manylinux2014_*.whl")
    inside = "verale/checker/proved/verale-proved"
    code = {name: data for name, data in contents(special).items() if ".dist-info/" not in name}
    assert code.pop(inside) == program.read_bytes()
    assert code == {name: data for name, data in contents(wheel).items() if ".dist-info/" not in name}
    with ZipFile(special) as archive:
        assert archive.getinfo(inside).external_attr >> 16 & 0o111, "pip makes it executable"
    for wrong in (proved, ROOT / "README.md"):
        with pytest.raises(subprocess.CalledProcessError) as ended:
            build(ROOT, tmp_path, "wheel", VERALE_WHEEL_EXECUTABLE=str(wrong))
        assert b"is no executable that is linked statically" in ended.value.stderr
