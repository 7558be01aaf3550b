"""What `proofs/rocq` has for others: the project file, the package, its page. They name what is there."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from support.proved import build, theories

ROOT = Path(__file__).parents[2]
ROCQ = ROOT / "proofs" / "rocq"
THEORIES = sorted(path.name for path in (ROCQ / "theories").glob("*.v"))


def text_of(name: str) -> str:
    return (ROCQ / name).read_text(encoding="utf-8")


def test_the_project_lists_every_theory() -> None:
    first, *files = text_of("_CoqProject").split("\n\n", 1)
    assert first == "-Q theories Verale"
    assert files[0].split() == [f"theories/{name}" for name in THEORIES]


def test_the_documentation_says_what_every_theory_shows() -> None:
    page = (ROOT / "docs" / "proved.md").read_text(encoding="utf-8")
    rows = page.split("| files | what they show |")[1].split("\n\n")[0].splitlines()
    table = " ".join(row.split("|")[1] for row in rows[1:])
    assert sorted([*re.findall(r"`(\w+)`", table), "Semantics"]) == [Path(name).stem for name in THEORIES]


def test_every_theory_begins_with_what_it_is_about() -> None:
    for name in THEORIES:
        text = text_of(f"theories/{name}")
        assert text.startswith("(** "), name
        assert not re.search(r"^\(\* ", text, re.MULTILINE), f"{name}: a comment before a definition begins with (**"


def test_the_package_builds_from_the_project() -> None:
    package = text_of("coq-verale.opam")
    assert '"coq" {>= "8.16"}' in package and '"_CoqProject"' in package and '"logpath:Verale"' in package


def test_the_page_names_what_is_there() -> None:
    names = re.findall(r"`((?:theories/|front/)?\w+\.(?:v|ml|js|mk|opam))`", text_of("README.md"))
    assert len(names) > 10
    for name in names:
        assert any((ROCQ / folder / name).exists() for folder in ("", "theories", "front")), name
    targets = re.findall(r"make -C proofs/rocq (\w+)", text_of("README.md"))
    assert len(targets) == 4
    for target in targets:
        assert re.search(rf"^{target}:", text_of("Makefile"), re.MULTILINE), target


@pytest.mark.long  # all theories
def test_another_axiom_is_noticed(built, tmp_path) -> None:
    folder = tmp_path / "rocq"
    (folder / "theories").mkdir(parents=True)
    for name in ("Makefile", "javascript.mk", "Assumptions.v"):
        (folder / name).write_text(text_of(name))
    compiled = theories(built)

    def assumptions() -> subprocess.CompletedProcess[str]:
        command = ["make", "--directory", str(folder), "assumptions", f"BUILD={tmp_path / 'build'}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    (tmp_path / "build" / "rocq").mkdir(parents=True)
    (tmp_path / "build" / "rocq" / "theories").symlink_to(compiled)
    assert assumptions().returncode == 0
    with_axiom = text_of("Assumptions.v").replace(
        "Definition every_theorem :=\n  (", "Axiom unheard_of : True.\nDefinition every_theorem :=\n  (unheard_of, "
    )
    (folder / "Assumptions.v").write_text(with_axiom)
    done = assumptions()
    assert done.returncode != 0 and "unheard_of" in done.stderr


# The executable is built reproducibly, and its digests are listed


@pytest.fixture(scope="module")
def digests() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digests", ROCQ / "digests.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_is_of_these_sources(digests, tmp_path) -> None:
    """Whoever changes a source builds again: `python proofs/rocq/digests.py`."""
    about, rows = digests.listed()
    assert about == digests.sources_digest(), "python proofs/rocq/digests.py writes the list of these sources"
    assert rows and all(len(row) == len(rows[0]) and len(row[-1]) == len(row[-2]) == 64 for row in rows)


@pytest.mark.long  # four builds of the executable
def test_two_builds_give_the_same_bytes_which_are_listed(digests, tmp_path) -> None:
    build(tmp_path / "there")  # skips where the tools are missing
    first, second = digests.built_twice()
    assert first == second
    here = digests.tools()
    listed = [row[len(here) :] for row in digests.listed()[1] if row[: len(here)] == here]
    assert listed in ([], [tuple(first.values())])
