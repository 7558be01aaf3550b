"""The file of theorems: what it states, what it is called, and that names from outside say nothing in it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from support.commands import in_process
from support.proved import fake

from verale.runs import terms
from verale.runs.doctor import SAMPLE
from verale.runs.theorem import names_of

HEAD, CERTIFICATE, LATENTS = (SAMPLE / name for name in ("head.safetensors", "0.ale.json", "latents.safetensors"))
THEORIES = Path(__file__).parents[3] / "proofs" / "rocq" / "theories"
HINTS = "hints: 40 80 c 1" + " 0" * 12
FOUND = f"return {{'entailment_hints': {HINTS!r}, 'instance_settings': 'hints: 20 20 9'}}.get(question)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as `verale explain` writes it, of two certificates."""
    made = tmp_path / "explained"
    made.mkdir()
    for path in (HEAD, LATENTS):
        shutil.copy(path, made)
    for number in range(2):
        (made / f"{number:06d}.ale.json").write_bytes(CERTIFICATE.read_bytes() + b"\n" * number)
    return made


@pytest.fixture
def finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An executable that has hints for whatever it is asked."""
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, FOUND))


def written(folder: Path, *options: object) -> str:
    out = folder / "Proofs.v"
    done = in_process("export", "rocq", folder, "-o", out, *options)
    assert done.returncode == 0, done.stderr
    return out.read_text(encoding="ascii")


def without_comments(text: str) -> str:
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)


def test_each_certificate_has_its_theorems_whose_proofs_end_with_qed(folder, finds) -> None:
    text = written(folder)
    for name in ("000000", "000001"):
        assert f"Theorem entailed_{name} : entails the_head certificate_{name}." in text
        assert f"Theorem instance_{name} : instance the_head certificate_{name} image_{name}." in text
        assert f"Theorem classified_{name} : classified the_head image_{name} " in text
    assert text.count("Definition the_head : head :=") == 1
    assert text.count(" := prepare the_head ") == 1, "what is prepared of a head serves all with the same settings"
    assert "learn prepared_0 certificate_000000" in text and "learn learned_000000 certificate_000001" in text
    assert text.splitlines()[-1] == "Print Assumptions all_theorems."
    text = without_comments(text)
    assert text.count("Proof.") == text.count("Qed.") == len(re.findall(r"^(?:Theorem|Lemma) ", text, re.MULTILINE))
    assert not re.search(r"\b(Admitted|Axiom|Parameter|Hypothesis|admit)\b", text)


@pytest.mark.parametrize("option", ["--entailment-only", None])
def test_without_latents_no_instance_is_stated(option, folder, finds) -> None:
    if option is None:
        (folder / "latents.safetensors").unlink()
    text = written(folder, *[option] * (option is not None))
    assert "Theorem entailed_000000" in text
    assert "Theorem instance" not in text and "Theorem classified" not in text and "image_000000 :" not in text


FAMILIES = (
    *("certificate_", "hints_", "learned_", "ready_learned_", "entailed_", "image_", "instance_", "classified_"),
    *("prepared_", "ready_prepared_"),
)
"""How names begin that the file defines."""
HIDING = (
    *("instance_classified", "proved_sound", "proved", "pictured_classified", "once"),
    *("Theorem", "forall", "fun", "_"),
)
"""Names after which something would be called like what the theories define, and words of Rocq."""


def test_no_name_of_a_certificate_hides_one_of_the_theories(folder, finds) -> None:
    """`instance_classified.ale.json` defined `entailed_instance_classified`, by which the next line is proved."""
    body = without_comments(written(folder))
    defined = set(re.findall(r"^(?:Definition|Lemma|Theorem) (\w+)", body, re.MULTILINE))
    used = set(re.findall(r"(?<![\w.])[A-Za-z_][\w.]*\b", body)) - defined
    assert {"check_ready_sound", "Verale.CheckImage.instance_proved_sound", "entails", "learn_ready"} <= used
    for name in used:
        assert not name.startswith(FAMILIES), f"a certificate may hide {name}"


@pytest.mark.parametrize("name", HIDING)
def test_a_certificate_may_be_called_like_a_theorem_or_a_word_of_rocq(name, folder, finds) -> None:
    shutil.move(folder / "000001.ale.json", folder / f"{name}.ale.json")
    assert f"\nTheorem entailed_{name} : entails the_head certificate_{name}.\n" in written(folder)
    theories = "\n".join(path.read_text() for path in THEORIES.glob("*.v"))
    known = {*re.findall(r"^(?:Theorem|Lemma|Definition|Fixpoint) (\w+)", theories, re.MULTILINE)}
    like = {f"{family}{name}" for family in FAMILIES} & known
    assert bool(like) == (name in HIDING[:5]), "the first ones are called like theorems"


@pytest.mark.parametrize(("most", "machine"), [(0, True), (10**6, False)])
def test_large_heads_and_their_products_are_of_machine_integers(most, machine, folder, finds, monkeypatch) -> None:
    monkeypatch.setattr(terms, "MOST_PLAIN", most)
    text = written(folder)
    assert "(AboutPatch " in text
    for word in (" Sint63", " MachineProducts", "the_planes := planes the_head.", "learn_by the_planes", "PrimInt63"):
        assert (word in text) is machine, word
    assert ("learn_ready " in text) is not machine


def test_names_differ() -> None:
    assert names_of(["a/0.ale.json", "b/0.ale.json", "0_2.ale.json", "\u0430.ale.json", "\u0440.ale.json"]) == [
        "0", "0_2", "0_2_2", "_", "__2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "code", "word"),
    [
        ({"entailment_hints": "not proved"}, 3, "entailment"),
        ({"instance_settings": "not proved"}, 7, "instance"),
        ({"entailment_hints": "not covered: it"}, 15, "uncovered"),
        ({"entailment_hints": "limit: it"}, 12, "limit"),
    ],
)
def test_what_is_not_proved_is_named_and_nothing_is_written(answers, code, word, folder, tmp_path, monkeypatch) -> None:
    known = {"entailment_hints": HINTS, "instance_settings": "hints: 20 20 9", "refuted": "not proved"} | answers
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"return {known!r}.get(question)"))
    out = tmp_path / "Proofs.v"
    done = in_process("export", "rocq", folder, "-o", out)
    assert done.returncode == code and not out.exists()
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all(f"  {word}: " in line and ".ale.json" in line for line in lines)
    assert done.stderr.splitlines()[-1] == f"{out} is not written: 2 of 2 are not proved"


@pytest.mark.parametrize(
    "answer", ["proved", "ready", "hints: 40", "hints: 40 80 c 1 0", HINTS + " 0", "hints: Axiom", "=no"]
)
def test_what_are_no_hints_end_the_command(answer, folder, tmp_path, monkeypatch) -> None:
    known = {"entailment_hints": answer, "instance_settings": "hints: 20 20 9"}
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"return {known!r}.get(question)"))
    done = in_process("export", "rocq", folder, "-o", tmp_path / "Proofs.v")
    assert done.returncode == 9 and not (tmp_path / "Proofs.v").exists()
    assert done.stderr.splitlines()[-1].startswith("error: ") and "nothing is" in done.stderr


def test_a_malformed_certificate_and_one_of_another_head(folder, finds, tmp_path) -> None:
    (folder / "000001.ale.json").write_text("{}")
    text = (folder / "000000.ale.json").read_text()
    digest = re.search(r'"sha256": ?"([0-9a-f]{64})"', text) or re.search(r"([0-9a-f]{64})", text)
    assert digest is not None
    (folder / "000000.ale.json").write_text(text.replace(digest[1], "0" * 64))
    done = in_process("export", "rocq", folder, "-o", tmp_path / "Proofs.v")
    assert done.returncode == 5 and not (tmp_path / "Proofs.v").exists()
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["NOT_PROVED", "MALFORMED"]


def test_a_file_that_is_there_is_kept(folder, finds, tmp_path) -> None:
    out = tmp_path / "Proofs.v"
    out.write_text("mine")
    done = in_process("export", "rocq", folder, "-o", out)
    assert done.returncode == 9 and "already exists; choose another name, or say --overwrite" in done.stderr
    assert out.read_text() == "mine"
    assert in_process("export", "rocq", folder, "-o", out, "--overwrite").returncode == 0
    assert out.read_text() != "mine"


def test_what_cannot_be_used_is_one_line(folder, finds, tmp_path, monkeypatch) -> None:
    out = tmp_path / "Proofs.v"
    for name in ("Proofs.txt", "my-proofs.v", "1.v", "\u00e9.v", ".v"):
        assert "expected a name that coqc takes" in in_process("export", "rocq", folder, "-o", tmp_path / name).stderr
    assert "there is no such file" in in_process("export", "rocq", tmp_path / "nothing", "-o", out).stderr
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    refused = in_process("export", "rocq", folder, other, "-o", out)
    assert "several heads or latents" in refused.stderr
    (folder / "latents.safetensors").write_bytes(b"none")
    assert "latents file: " in in_process("export", "rocq", folder, "-o", out).stderr
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "nowhere"))
    missing = in_process("export", "rocq", folder, "-o", out, "--entailment-only")
    assert missing.returncode == 9 and "error: kernel proved: there is no executable at " in missing.stderr
    assert not out.exists()
