"""Builds the proved checker twice, compares the bytes, and lists their digests with what built them.

    python proofs/rocq/digests.py

writes `digests.md` beside this file. The two builds have folders, temporary folders, time zones and locales of their
own. Rows of other systems stay where they are about the same sources; all others go.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
LIST = HERE / "digests.md"
TARGETS = {"make proved": "verale-proved", "wheels": "static/verale-proved"}
"""For each executable where it is built, from `build` on."""
_ENVIRONMENTS = (
    {"TZ": "UTC", "LC_ALL": "C", "OCAMLPARAM": ""},
    {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "OCAMLPARAM": "g=1,_"},
)
_COLUMNS = ("system", "OCaml", "Zarith", "GMP", "gcc", "binutils", *TARGETS)


def built(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """SHA-256 of each executable, built from a copy of the sources in a folder. Raises CalledProcessError."""
    sources = folder / "proofs" / "rocq"
    shutil.copytree(HERE, sources, ignore=shutil.ignore_patterns("theories", "__pycache__"))
    (folder / "tmp").mkdir()
    environment = {**os.environ, **environment, "TMPDIR": str(folder / "tmp")}
    digests = {}
    for name, path in TARGETS.items():
        subprocess.run(
            ["make", "--directory", sources, f"../../build/{path}"], check=True, env=environment, capture_output=True
        )
        digests[name] = hashlib.sha256((folder / "build" / path).read_bytes()).hexdigest()
    return digests


def built_twice() -> list[dict[str, str]]:
    """The digests of two builds, which nothing but the sources and the tools have in common."""
    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder) / "a", Path(folder) / "another folder" / "deeper"
        return [built(place, environment) for place, environment in zip(places, _ENVIRONMENTS, strict=True)]


def sources_digest() -> str:
    """SHA-256 of what `sha256sum` prints for the files that are built, by their names, and for the Makefile."""
    names = sorted(["Makefile", *_makefile("SOURCES").split()])
    lines = (f"{hashlib.sha256((HERE / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def tools() -> tuple[str, ...]:
    """What builds here: the system, and the versions of the tools, in the order of the table."""
    gmp = _said(
        "sh",
        "-c",
        "printf '#include <gmp.h>\\n__GNU_MP_VERSION __GNU_MP_VERSION_MINOR __GNU_MP_VERSION_PATCHLEVEL'"
        " | gcc -E - | tail -1",
    )
    return (
        f"{platform.freedesktop_os_release()['PRETTY_NAME']}, {platform.machine()}",
        _said("ocamlfind", "ocamlopt", "-version"),
        _said("ocamlfind", "query", "-format", "%v", "zarith"),
        gmp.replace(" ", "."),
        _said("gcc", "-dumpfullversion"),
        _said("ld", "--version").splitlines()[0].split()[-1],
    )


def listed() -> tuple[str, list[tuple[str, ...]]]:
    """The digest of the sources that the list is about, and its rows; none where there is no list."""
    text = LIST.read_text() if LIST.exists() else ""
    about = re.search(r"`([0-9a-f]{64})`", text)
    rows = [
        tuple(part.strip(" `") for part in line.strip("|\n").split("|"))
        for line in text.splitlines()
        if line[:1] == "|"
    ]
    return "" if about is None else about[1], rows[2:]


def main() -> int:
    """Build and write the list; 1 where two builds differ."""
    first, second = built_twice()
    if first != second:
        sys.stderr.write(f"two builds differ: {first} and {second}\n")
        return 1
    (about, rows), here, sources = listed(), tools(), sources_digest()
    kept = [row for row in rows if about == sources and row[: len(here)] != here]
    table = sorted([*kept, (*here, *first.values())])
    text = [
        "# Digests of the proved checker's executable\n",
        f"Of the sources `{sources}`",
        "(SHA-256 of what `sha256sum` prints for the Makefile and what it compiles, sorted by name).",
        "`python proofs/rocq/digests.py` builds each executable twice, in two folders, and writes this list.\n",
        "| " + " | ".join(_COLUMNS) + " |",
        "|---" * len(_COLUMNS) + "|",
        *(
            "| " + " | ".join([*row[: len(here)], *(f"`{digest}`" for digest in row[len(here) :])]) + " |"
            for row in table
        ),
    ]
    LIST.write_text("\n".join(text) + "\n")
    return 0


def _makefile(variable: str) -> str:
    """What a variable of the Makefile says."""
    asked = ("--no-print-directory", "--eval", f"say: ; @echo $({variable})", "say")
    return _said("make", "--directory", str(HERE), *asked)


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
