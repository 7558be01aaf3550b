"""What has to hold before a release: `make release-check`.

Of the last commit, not of the working tree:

1. source distribution and wheel are built, and the source distribution gives the same wheel;
2. `twine check --strict` accepts both;
3. they hold files of the commit, at their places and byte for byte, and the metadata, and nothing else;
4. in a clean environment of each Python that is here, the wheel installs, brings the core's packages alone, no torch
   among them, and proves packaged certificates, and all corpora;
5. where OCaml is here, so does the wheel for this platform, which brings the proved checker's executable, and nothing
   else besides.

Pythons are looked for on PATH and in pyenv. `--require` names those without which the check fails. Packages are fetched
from the package index that pip is set up for.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
EXECUTABLE = "verale/checker/proved/verale-proved"
INCLUDED = {"certificates/": "verale/soundness/certificates/", "proofs/": "verale/soundness/proofs/"}
"""What the wheel has from outside the package, and where."""
NOTES = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
HEAVY = ("torch", "numpy", "scipy", "z3-solver", "hypothesis", "cabrnet", "ray")


class CheckError(Exception):
    """A check that failed, in one sentence."""


def run(*command: object, cwd: Path, variables: Mapping[str, str] | None = None) -> str:
    """What a command prints on stdout. Raises CheckError with all that it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= variables or {}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True)
    if done.returncode != 0:
        printed = (done.stdout + done.stderr).decode(errors="replace")
        raise CheckError(f"`{' '.join(map(str, command))}` ended with {done.returncode}:\n{printed}")
    return done.stdout.decode()


def committed(folder: Path) -> dict[str, bytes]:
    """The files of the last commit, which are unpacked there."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def build(source: Path, to: Path, *targets: str, **variables: str) -> None:
    """Build them, with variables of the environment."""
    options = [f"--target={name}" for name in targets]
    run(sys.executable, "-m", "hatchling", "build", "-d", to, *options, cwd=source, variables=variables)


def in_wheel(path: Path) -> dict[str, bytes]:
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def in_sdist(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {
            member.name.split("/", 1)[1]: archive.extractfile(member).read()  # type: ignore[union-attr]
            for member in archive.getmembers()
            if not member.isdir()
        }


def require_wheel(found: dict[str, bytes], files: dict[str, bytes], notes: str, licences: Sequence[str]) -> None:
    """Raise CheckError unless the wheel is the package, what is included, and its notes."""
    expected = {name: data for name, data in files.items() if name.startswith("verale/")}
    for here, there in INCLUDED.items():
        expected |= {there + name.removeprefix(here): data for name, data in files.items() if name.startswith(here)}
    expected |= {f"{notes}/licenses/{name}": files[name] for name in licences}
    own = {name: data for name, data in found.items() if name not in {f"{notes}/{note}" for note in NOTES}}
    differing = sorted(name for name in expected.keys() | own.keys() if expected.get(name) != own.get(name))
    if differing or len(own) + len(NOTES) != len(found):
        raise CheckError(f"the wheel does not hold what the commit holds: {differing[:20]}")


def require_sdist(found: dict[str, bytes], files: dict[str, bytes]) -> None:
    """Raise CheckError if it holds anything but files of the commit, and the metadata."""
    strange = sorted(name for name, data in found.items() if name != "PKG-INFO" and files.get(name) != data)
    if strange:
        raise CheckError(f"the source distribution holds what the commit does not: {strange[:20]}")


def interpreter(version: str) -> str | None:
    """A Python of that version, if there is one here."""
    named = [shutil.which(f"python{version}"), sys.executable]
    in_pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for program in (*named, *map(str, in_pyenv)):
        asked = [program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"] if program else []
        done = subprocess.run(asked, capture_output=True, text=True) if program else None
        if done is not None and done.returncode == 0 and done.stdout.strip() == version:
            return program
    return None


def require_that_it_audits(python: str, wheel: Path, folder: Path) -> None:
    """Install the wheel, and nothing else, into a clean environment, and prove what it brings."""
    run(python, "-m", "venv", folder, cwd=wheel.parent)
    pip = (folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", wheel, cwd=folder)
    run(*pip, "check", cwd=folder)
    there = {one["name"].lower() for one in json.loads(run(*pip, "list", "--format=json", cwd=folder))}
    if heavy := there.intersection(HEAVY):
        raise CheckError(f"the core brings {', '.join(sorted(heavy))}")
    (package,) = folder.glob("lib/python*/site-packages/verale")
    sample = package / "runs" / "sample"
    given = (sample / "0.ale.json", "--head", sample / "head.safetensors", "--latents", sample / "latents.safetensors")
    verale = folder / "bin" / "verale"
    for program in ((verale, "audit"), (folder / "bin" / "python", "-m", "verale.checker")):
        if "entailment+instance" not in run(*program, *given, "--kernel", "both", cwd=folder):
            raise CheckError(f"{program[-1]} does not prove the packaged certificate")
    run(verale, "audit", *given, "--attest", "A.json", cwd=folder)
    if "VERALE_INSTANCE_PROVED" not in json.loads((folder / "A.json").read_bytes())["predicate"]["properties"]:
        raise CheckError("the attestation lacks what was proved")
    run(verale, "soundness", "--only", "corpora", cwd=folder)


def require_platform_wheel(work: Path, wheel: Path) -> None:
    """Build the wheel for this platform too. Raise CheckError unless it is the other one with the executable, which is
    asked by default."""
    run("make", "-C", "proofs/rocq", "../../build/static/verale-proved", cwd=work / "commit")
    program = work / "commit" / "build" / "static" / "verale-proved"
    build(work / "commit", work / "dist", "wheel", VERALE_WHEEL_EXECUTABLE=str(program))
    (special,) = work.glob("dist/*manylinux*.whl")
    found = {name: data for name, data in in_wheel(special).items() if ".dist-info/" not in name}
    if found.pop(EXECUTABLE, None) != program.read_bytes():
        raise CheckError(f"{special.name} does not bring the executable")
    if found != {name: data for name, data in in_wheel(wheel).items() if ".dist-info/" not in name}:
        raise CheckError(f"{special.name} holds something else than {wheel.name} besides the executable")
    require_that_it_audits(sys.executable, special, work / "platform")
    said = json.loads(run(work / "platform" / "bin" / "verale", "doctor", "--json", cwd=work))
    if not any(proof["works"] and proof["detail"].endswith(EXECUTABLE) for proof in said["proofs"]):
        raise CheckError(f"{special.name} installs an executable that is not asked")
    print(f"{special.name}: brings the executable of the proved checker, which is asked")


def check(required: Sequence[str], work: Path) -> None:
    files = committed(work / "commit")
    project = tomllib.loads(files["pyproject.toml"].decode())["project"]
    build(work / "commit", work / "dist", "sdist", "wheel")
    name = f"verale-{project['version']}"
    sdist, wheel = work / "dist" / f"{name}.tar.gz", work / "dist" / f"{name}-py3-none-any.whl"
    require_sdist(in_sdist(sdist), files)
    require_wheel(in_wheel(wheel), files, f"{name}.dist-info", project["license-files"])
    with tarfile.open(sdist) as archive:
        archive.extractall(work, filter="data")
    build(work / name, work / "again", "wheel")
    if in_wheel(work / "again" / wheel.name) != in_wheel(wheel):
        raise CheckError("the source distribution gives another wheel")
    print(f"{name}: source distribution and wheel hold the commit's files, {len(in_wheel(wheel))} in the wheel")
    run(sys.executable, "-m", "venv", work / "twine", cwd=work)
    run(work / "twine" / "bin" / "pip", "install", "--quiet", "twine", cwd=work)
    run(work / "twine" / "bin" / "twine", "check", "--strict", sdist, wheel, cwd=work)
    print("twine check --strict: both pass")
    for version in PYTHONS:
        python = interpreter(version)
        if python is None and version in required:
            raise CheckError(f"there is no Python {version} here")
        if python is None:
            print(f"Python {version}: NOT CHECKED, since it is not here")
            continue
        require_that_it_audits(python, wheel, work / version)
        print(f"Python {version}: the core installs without torch, and proves the packaged certificate and the corpora")
    if shutil.which("ocamlfind"):
        require_platform_wheel(work, wheel)
    else:
        print("the wheel for this platform: NOT BUILT, since OCaml is not here")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="a folder for what was checked, once all has passed")
    parser.add_argument("--require", nargs="*", default=[], choices=PYTHONS, help="Pythons that have to be here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        try:
            check(given.require, Path(work))
            if given.out is not None:
                shutil.copytree(Path(work) / "dist", given.out, dirs_exist_ok=True)
        except CheckError as failure:
            print(f"release check failed: {failure}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
