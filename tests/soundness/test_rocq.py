"""The Rocq theories: they compile, nothing is admitted, and what is extracted from them is what is committed.

Where Coq is not installed these tests are skipped; `.ci/run` installs it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.proved import theories

ROCQ = Path(__file__).parents[2] / "proofs" / "rocq"
THEORIES = sorted((ROCQ / "theories").glob("*.v"))
_HERE = ("-Q", "build/rocq/theories", "Verale")
EXTRACTED = ("checker.ml", "checker.mli")

THEOREMS = (
    *("unproved_sound", "check_sound", "check_learned_sound", "check_instance_sound", "check_refuted_sound"),
    *("check_classified", "check_minimal_sound", "needed_sound", "reference_margin_at_ends", "no_range_is_empty"),
    *("check_picture_sound", "check_classified_picture"),
    *("bounds_sound", "image_values_sound", "picture_latents_sound"),
)
CHECKED = ("Verale.Classified", "Verale.Minimal", "Verale.ReferenceMargin", "Verale.Numbers")
AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""Those of Coq's real numbers and of classical logic."""


def run(*command: str, folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=3000)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def compiled(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of `proofs/rocq` in which everything is extracted again, from theories that are checked once a run."""
    checked = theories(built)
    copy = tmp_path_factory.mktemp("rocq")
    (copy / "build" / "rocq").mkdir(parents=True)
    (copy / "build" / "rocq" / "theories").symlink_to(checked)
    for path in (*ROCQ.glob("*.mk"), ROCQ / "Makefile", ROCQ / "Extract.v"):
        shutil.copy(path, copy / path.relative_to(ROCQ))
    run("make", "extract", f"BUILD={copy / 'build'}", folder=copy)
    return copy


def without_comments(text: str) -> str:
    """Coq's comments may be nested."""
    depth, kept = 0, []
    for token in re.split(r"(\(\*|\*\))", text):
        depth += (token == "(*") - (token == "*)")
        if depth == 0 and token != "*)":
            kept.append(token)
    return "".join(kept)


FORBIDDEN = re.compile(
    r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Unset\s+(Guard|Positivity|Universe)\s+Checking"
    r"|bypass_check|Local\s+Unset|give_up)\b"
)


def test_no_theory_assumes_anything() -> None:
    assert THEORIES
    for path in THEORIES:
        assert FORBIDDEN.findall(without_comments(path.read_text(encoding="utf-8"))) == [], path.name


@pytest.mark.parametrize("text", ["Proof. Admitted.", "Axiom a : False.", "Unset Guard Checking.", "(* a *) admit."])
def test_an_assumption_is_noticed(text: str) -> None:
    assert FORBIDDEN.search(without_comments(text))
    assert not FORBIDDEN.search(without_comments(f"(* {text} (* nested *) {text} *)"))


@pytest.mark.long  # all theories
def test_what_is_committed_is_what_is_extracted(compiled) -> None:
    for name in EXTRACTED:
        assert (compiled / "extracted" / name).read_text() == (ROCQ / "extracted" / name).read_text(), (
            f"proofs/rocq/extracted/{name} is not what the theories give: `make -C proofs/rocq extract`"
        )


def test_the_file_of_assumptions_is_of_every_theorem() -> None:
    """`make assumptions` refuses axioms that are none of these. Theorems that end a file are `Theorem`s or
    `Corollary`s."""
    allowed = re.search(r"^AXIOMS := (.*)$", (ROCQ / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert allowed is not None and set(allowed[1].split("|")) == AXIOMS
    named = set(re.findall(r"\w+", without_comments((ROCQ / "Assumptions.v").read_text(encoding="utf-8"))))
    for name in ("Check", "CheckImage", "Classified", "Picture", "Numbers"):
        text = without_comments((ROCQ / "theories" / f"{name}.v").read_text(encoding="utf-8"))
        theorems = re.findall(r"^(?:Theorem|Corollary) (\w+)", text, re.MULTILINE)
        assert theorems and set(theorems) <= named, name
    assert set(THEOREMS) <= named


@pytest.mark.long
def test_the_independent_checker_of_coq_agrees(compiled) -> None:
    """It checks every proof term again, and says what is assumed."""
    printed = run("coqchk", "-silent", "-o", *_HERE, *CHECKED, folder=compiled)
    summary = printed.split("CONTEXT SUMMARY")[1]
    parts = dict(re.findall(r"^\* ([^:\n]+):((?:\n? +[^\n]*)*)", summary, re.MULTILINE))
    axioms = set(parts.pop("Axioms").split())
    assert {".".join(axiom.split(".")[-2:]) for axiom in axioms} <= AXIOMS
    assert {value.strip() for name, value in parts.items() if name != "Theory"} == {"<none>"}
