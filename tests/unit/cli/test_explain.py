"""`verale explain`: what is avoided is in no certificate, and how a tolerance is given; or one line says why not."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from support.small import small_head, small_latents

from verale.certificate import Certificate
from verale.cli.explain import command
from verale.errors import InputError, UsageError
from verale.head import save_latents
from verale.runs.table import read_table

HEAD = small_head("euclidean", 3)


def run(folder, *arguments: str, paradigm: str = "projection"):
    HEAD.save(folder / "head.safetensors")
    save_latents(folder / "latents.safetensors", small_latents(HEAD, images=3))
    inputs = ["--head", folder / "head.safetensors", "--latents", folder / "latents.safetensors"]
    options = ["--out", folder / "out", "--paradigm", paradigm, "--device", "cpu", *arguments]
    return CliRunner().invoke(command, [*map(str, inputs), *map(str, options)])


def stated(folder) -> set[int]:
    """The prototypes of all certificates."""
    certificates = [Certificate.load(path) for path in sorted((folder / "out").glob("*.ale.json"))]
    assert certificates
    return {each.prototype for certificate in certificates for each in certificate.statements}


def test_what_is_avoided_is_in_no_certificate_and_in_the_run(tmp_path):
    assert run(tmp_path).exit_code == 0
    assert {1, 4, 5} & stated(tmp_path)
    avoiding = ("--avoid", "prototypes:1", "--avoid", "prototypes:4-5")
    assert isinstance(run(tmp_path, *avoiding).exception, InputError)  # OUT holds another run
    result = run(tmp_path, *avoiding, "--overwrite")
    assert result.exit_code in (0, 10), result.output
    assert not {1, 4, 5} & stated(tmp_path)
    assert json.loads((tmp_path / "out" / "run.json").read_text())["avoid"] == "prototypes 1, 4-5"


@pytest.mark.parametrize(
    ("text", "paradigm", "message"),
    [
        ("3", "projection", "'3' does not say what to avoid, expected prototypes:3,7-9 or patches:0-7"),
        ("prototypes:12", "projection", "prototypes to avoid: there is no 12, expected 0 to 11"),
        ("patches:0", "top_k", "paradigm 'top_k' states activations, which speak of all patches: none can be avoided"),
    ],
)
def test_what_cannot_be_avoided_is_named(text, paradigm, message, tmp_path):
    result = run(tmp_path, "--avoid", text, paradigm=paradigm)
    assert isinstance(result.exception, UsageError) and str(result.exception) == message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("text", "kept"), [("0", 0.0), ("0.01", 0.01), ("1%", "1%"), ("auto", "auto")])
def test_the_run_says_which_tolerance_it_has(text, kept, tmp_path):
    assert run(tmp_path, "--tolerance", text, paradigm="top_k").exit_code in (0, 10)
    assert json.loads((tmp_path / "out" / "run.json").read_text())["tolerance"] == kept


def test_a_percentage_gives_few_digits_in_words(tmp_path):
    """1% of a number has two digits, and what is at most that a third."""
    assert run(tmp_path, "--tolerance", "1%", paradigm="top_k").exit_code == 0
    statements = [
        statement for path in (tmp_path / "out").glob("*.ale.json") for statement in Certificate.load(path).statements
    ]
    said = re.findall(r"[\d.]+", " ".join(statement.in_words()[1] for statement in statements))
    assert len(said) >= 3 and max(len(number.replace(".", "").lstrip("0")) for number in said) <= 3


@pytest.mark.parametrize("text", ["1 %", "automatic", "0.01x", "200%"])
def test_a_tolerance_that_is_none_is_a_usage_error(text, tmp_path):
    result = run(tmp_path, "--tolerance", text)
    assert result.exit_code == 2 and "'--tolerance': tolerance is " in result.output
    assert not (tmp_path / "out").exists()


def test_without_an_explanation_the_table_says_what_to_try(tmp_path):
    assert run(tmp_path, "--tolerance", "50", paradigm="top_k").exit_code == 10
    for row in read_table(tmp_path / "out" / "explanations.csv"):
        assert re.fullmatch(
            r"with a tolerance of 50 the class is not implied even by all statements;"
            r" try \d\S*, or --tolerance auto",
            row.reason,
        ), row.reason
