"""The options of one engine: what the other one says, and that the page on Ray has the same table."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from verale.cli import audit, explain, options
from verale.errors import UsageError

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"


@pytest.mark.parametrize("option", options.REFUSED)
def test_an_option_of_one_engine_is_refused_by_the_other(option) -> None:
    engine, why = options.REFUSED[option]
    command = audit.command if option == "--attest" else explain.command
    given = ["c"] if command is audit.command else ["--out", "o"]
    other = "local" if engine == "ray" else "ray"
    with pytest.raises(UsageError, match=f"^{option} is for --engine {engine}: ") as error:
        CliRunner().invoke(command, [*given, option, "a", "--engine", other], catch_exceptions=False)
    assert str(error.value).endswith(why)


def test_the_page_on_ray_has_the_table() -> None:
    rows = [f"| `{option}` | {engine} | {why} |" for option, (engine, why) in options.REFUSED.items()]
    assert "\n".join(rows) in PAGE.read_text()
