"""The options of one engine: what the other one says, and that the page on Ray has the same table."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from verale.cli import audit, explain, shared
from verale.errors import UsageError

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"


@pytest.mark.parametrize("option", shared.REFUSED)
def test_an_option_of_one_engine_is_refused_by_the_other(option) -> None:
    engine, why = shared.REFUSED[option]
    command = audit.command if option == "--attest" else explain.command
    given = ["c"] if command is audit.command else ["--out", "o"]
    value = {"--gap": [], "--workers": ["2"]}.get(option, ["a"])
    other = "local" if engine == "ray" else "ray"
    with pytest.raises(UsageError, match=f"^{option} is for --engine {engine}: ") as error:
        CliRunner().invoke(command, [*given, option, *value, "--engine", other], catch_exceptions=False)
    assert str(error.value).endswith(why)


def test_the_page_on_ray_has_the_table() -> None:
    rows = [f"| `{option}` | {engine} | {why} |" for option, (engine, why) in shared.REFUSED.items()]
    assert "\n".join(rows) in PAGE.read_text()


@pytest.mark.parametrize(("jobs", "workers"), [(None, None), (2, None), (None, 2), (2, 2)])
def test_jobs_are_workers(jobs, workers) -> None:
    assert shared.is_ray("ray", jobs, workers)
    if workers is None:
        assert not shared.is_ray("local", jobs, workers)


def test_two_numbers_of_workers_are_refused() -> None:
    with pytest.raises(UsageError, match=r"--jobs is 2 and --workers 3, which with ray are the same: give one of them"):
        shared.is_ray("ray", 2, 3)
