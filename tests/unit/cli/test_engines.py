"""The options of one engine: what the other one says, and that the page on Ray has the same table."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from verale.cli import audit, explain
from verale.errors import UsageError

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"


def test_an_attestation_is_refused_by_ray() -> None:
    with pytest.raises(UsageError, match=r"^--attest is for --engine local: ") as error:
        CliRunner().invoke(audit.command, ["c", "--attest", "a", "--engine", "ray"], catch_exceptions=False)
    assert str(error.value).endswith(audit.UNATTESTED)


@pytest.mark.parametrize(("command", "given"), [(audit.command, ["c"]), (explain.command, ["--out", "o"])])
def test_an_address_is_refused_without_ray(command, given) -> None:
    refused = CliRunner().invoke(command, [*given, "--address", "a"])
    assert refused.exit_code == 2 and "is for engine='ray': only a cluster has one" in refused.output


def test_the_page_on_ray_has_the_table() -> None:
    rows = f"| `--attest` | local | {audit.UNATTESTED} |\n| `--address` | ray | only a cluster has one |"
    assert rows in PAGE.read_text()
