"""`verale explain`: nothing states what is avoided, costly statements are few, a tolerance is a number or a share;
wrong options are named in one line."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from support.small import small_head, small_latents

from verale.certificate import ActivationStatement, Certificate, PatchStatement
from verale.certificate.words import about
from verale.cli.explain import command
from verale.cli.terminal import Exit
from verale.errors import InputError, UsageError
from verale.head import Head, save_latents
from verale.runs.table import read_table
from verale.search import Costs

HEAD = small_head("euclidean", 3)


def run(folder, *arguments: str, paradigm: str = "projection", head: Head = HEAD):
    head.save(folder / "head.safetensors")
    save_latents(folder / "latents.safetensors", small_latents(head, images=3))
    inputs = ["--head", folder / "head.safetensors", "--latents", folder / "latents.safetensors"]
    options = ["--out", folder / "out", "--paradigm", paradigm, "--device", "cpu", *arguments]
    return CliRunner().invoke(command, [*map(str, inputs), *map(str, options)])


def certificates(folder) -> list[Certificate]:
    loaded = [Certificate.load(path) for path in sorted((folder / "out").glob("*.ale.json"))]
    assert loaded
    return loaded


def stated(folder, kind: type = PatchStatement) -> set[int]:
    """The prototypes that all certificates have statements about, of a kind."""
    return {each.prototype for one in certificates(folder) for each in one.statements if isinstance(each, kind)}


def test_without_an_explanation_the_table_says_what_to_try(tmp_path):
    done = run(tmp_path, "--tolerance", "50", paradigm="top_k")
    assert done.exit_code == 10
    assert "0 of 3 images have a certificate" in done.stderr
    assert "without one: 0: with a tolerance of 50 the class is not implied" in done.stderr
    assert done.stderr.endswith(f"all reasons are in {tmp_path / 'out' / 'explanations.csv'}\n")
    for row in read_table(tmp_path / "out" / "explanations.csv"):
        assert re.fullmatch(
            r"with a tolerance of 50 the class is not implied even by all statements;"
            r" try \d\S*, or --tolerance auto",
            row.reason,
        ), row.reason


def test_what_costs_much_is_stated_less_and_the_cost_is_told(tmp_path):
    assert run(tmp_path, paradigm="top_k").exit_code == 0
    dear, before = sorted(stated(tmp_path, ActivationStatement))[:3], certificates(tmp_path)
    costs = Costs.of(dict.fromkeys(dear, 100.0))
    arguments = ("--costs", f"prototypes:{','.join(map(str, dear))}=1e2", "--costs", "ceiling=1")
    assert isinstance(run(tmp_path, *arguments, paradigm="top_k").exception, InputError)  # OUT holds another run
    result = run(tmp_path, *arguments, "--overwrite", paradigm="top_k")
    sums = [costs.total(each.statements) for each in certificates(tmp_path)]
    assert sum(sums) < sum(costs.total(each.statements) for each in before)
    assert (
        f"an explanation costs {about(sum(sums) / 3)} on average, {about(min(sums))} to {about(max(sums))}"
        in result.stderr
    )
    assert json.loads((tmp_path / "out" / "run.json").read_text())["costs"] == str(costs)


@pytest.mark.parametrize(
    ("option", "text", "is_usage", "message"),
    [
        ("--avoid", "3", True, "'3' does not say what to avoid, expected prototypes:3,7-9 or patches:0-7"),
        ("--avoid", "prototypes:12", False, "prototypes to avoid: there is no 12, expected 0 to 11"),
        ("--avoid", "patches:0", False, "paradigm 'top_k' states activations, which speak of all patches: none can be"),
        ("--costs", "prototypes:3", True, "'prototypes:3' does not say what costs how much, expected "),
        ("--costs", "prototypes:3=-1", True, "the cost of prototypes:3 is -1, expected a number from 0"),
        ("--costs", "patches:3=nan", True, "the cost of patches:3 is nan, expected a number from 0"),
        ("--costs", "prototypes:12=2", False, "costs of prototypes: there is no 12, expected 0 to 11"),
        *(("--tolerance", each, True, "tolerance is ") for each in ("1 %", "automatic", "0.01x", "200%")),
    ],
)
def test_what_cannot_be_used_is_named(option, text, is_usage, message, tmp_path):
    result = run(tmp_path, option, text, paradigm="top_k" if text == "patches:0" else "projection")
    if is_usage:
        assert result.exit_code == Exit.USAGE and f"'{option}': {message}" in result.stderr
    else:
        assert isinstance(result.exception, UsageError) and str(result.exception).startswith(message)
    assert not (tmp_path / "out").exists()
