"""Certificates as theorems that Rocq itself proves: `verale export rocq`, then `coqc`. A false one does not compile."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest
from support.commands import in_process
from support.proved import theories

from verale.runs import terms
from verale.soundness.paths import CERTIFICATES

ACCEPT = CERTIFICATES / "accept"
CASES = (
    "projection-euclidean", "projection-cosine", "projection-inner_product-ball", "projection-euclidean-masked_max",
    "projection-euclidean-exp_distance-soft_tree", "projection-euclidean-negated-maximum", "joint-cosine",
    "assignment-prices", "floor-and-ceiling", "mixed-sum-of-angles", "mixed-euclidean-wide",
)  # fmt: skip
PARTS = ("ale.json", "head.safetensors", "latents.safetensors")
AXIOMS = {"sig_forall_dec", "sig_not_dec", "functional_extensionality_dep", "classic"}
"""Those of Coq's real numbers and of classical logic, which test_rocq.py allows."""
MACHINE = {"int", "sub", "ltb", "lsr", "land", "eqb"}
"""Machine integers, as far as `Sint63.to_Z` uses them."""
PRODUCTS = MACHINE | {"add", "mul", "lsl", "lor", "leb"}
SPECIFIED = {
    *("add_spec", "sub_spec", "mul_spec", "lsl_spec", "lsr_spec", "lor_spec", "leb_spec", "ltb_spec"),
    *("eqb_correct", "eqb_refl", "of_to_Z"),
}
"""And as far as products of prototypes do, with what Coq's library assumes of these operations."""

pytestmark = pytest.mark.long  # coqc, and all theories before


@pytest.fixture(scope="module")
def compiled(built: Path) -> Path:
    return theories(built)


@pytest.fixture
def written(proved_checker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes the theorems of a case of the corpus, and returns the file."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)

    def write(name: str) -> Path:
        out = tmp_path / "Proofs.v"
        paths = (ACCEPT / f"{name}.ale.json", "--head", ACCEPT / f"{name}.head.safetensors")
        done = in_process("export", "rocq", *paths, "--latents", ACCEPT / f"{name}.latents.safetensors", "-o", out)
        assert done.returncode == 0, done.stdout + done.stderr
        return out

    return write


def coqc(path: Path, compiled: Path) -> subprocess.CompletedProcess[str]:
    command = ["coqc", "-Q", str(compiled), "Verale", path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=300)


def axioms(printed: str) -> set[str]:
    assert "Axioms:\n" in printed
    lines = printed.split("Axioms:\n")[1].splitlines()
    return {line.split()[0].split(".")[-1] for line in lines if not line.startswith(" ")}


@pytest.mark.parametrize("name", CASES)
def test_rocq_proves_what_is_stated(name, written, compiled) -> None:
    file = written(name)
    done = coqc(file, compiled)
    assert done.returncode == 0, done.stdout + done.stderr
    assert axioms(done.stdout) == AXIOMS
    text = file.read_text()
    assert all(f"Theorem {claim}_" in text for claim in ("entailed", "instance", "classified"))


@pytest.mark.parametrize("name", ["projection-euclidean", "projection-cosine", "floor-and-ceiling"])
def test_large_matrices_rest_on_machine_integers(name, written, compiled) -> None:
    """Their products too, where statements are about patches."""
    with patch.object(terms, "MOST_PLAIN", 0):
        file = written(name)
    done = coqc(file, compiled)
    assert done.returncode == 0, done.stdout + done.stderr
    more = axioms(done.stdout) - AXIOMS
    assert ("learn_by" in file.read_text()) == bool(more & SPECIFIED) == name.startswith("projection")
    assert more and more <= (PRODUCTS | SPECIFIED if more & SPECIFIED else MACHINE)


NEXT_CLASS = lambda found: f"{found[1]} {(int(found[2]) + 1) % 3}%nat"  # noqa: E731
"""The head of the case has 3 classes."""
FALSE = {
    "entailed, larger margins": (r"\w+%positive( \[[^\[\]]*\]\)\.\nDefinition hints_)", r"1%positive\1"),
    "entailed, another class": (r"(\(Certificate) (\d+)%nat", NEXT_CLASS),
    "entailed, no statements": (r"(?s)\[\(About.*?\)\] ", "[] "),
    "instance, another image": (r"(\(Image \S+\n \[\[)[^;]*;", r"\g<1>0;"),
    "classified, another class of the image": (r"(: classified the_head image_\w+) (\d+)%nat", NEXT_CLASS),
    "classified, without a proof": (r"\[apply Nat\.ltb_lt; reflexivity\|", "[|"),
}
"""By the theorem that becomes false, and how, what is written in its file instead of what."""


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_does_not_compile(name, written, compiled) -> None:
    """Changed by hand: the program finds no hints for what is not proved, so it writes no such file."""
    file = written("projection-euclidean")
    text = file.read_text()
    changed = re.sub(*FALSE[name], text)
    assert changed != text
    file.write_text(changed)
    done = coqc(file, compiled)
    assert done.returncode != 0 and "Axioms:" not in done.stdout
    line = int(re.search(r"line (\d+), characters", done.stderr)[1])
    before = "\n".join(changed.splitlines()[:line])
    assert re.findall(r"Theorem (\w+?)_", before)[-1] == name.split(",")[0], done.stderr


def test_certificates_may_be_called_like_theorems_and_words_of_rocq(proved_checker, compiled, tmp_path, monkeypatch):
    """`instance_classified.ale.json` broke its own file: the theorem by which it is proved was hidden by its own."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    names = ("instance_classified", "proved_sound", "forall", "Type", "match", "a", "\u0430", "a b", "a_b", "0", "_")
    files = {part: (ACCEPT / f"projection-euclidean.{part}").read_bytes() for part in PARTS}
    for name in names:
        (tmp_path / f"{name}.ale.json").write_bytes(files["ale.json"])
    for part in PARTS[1:]:
        (tmp_path / part).write_bytes(files[part])
    out = tmp_path / "Classified.v"
    done = in_process("export", "rocq", tmp_path, "-o", out)
    assert done.returncode == 0, done.stdout + done.stderr
    done = coqc(out, compiled)
    assert done.returncode == 0, done.stdout + done.stderr
    assert axioms(done.stdout) == AXIOMS and out.read_text().count("Theorem entailed_") == len(names)
