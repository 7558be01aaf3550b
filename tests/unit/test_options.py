"""Options are declared once: command line, Python and docs/cli.md have the names, defaults and help of the fields."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from support.options import DOCUMENT, flag, renewed

import verale
from verale.checker.errors import KernelError, OptionError
from verale.checker.options import AuditOptions
from verale.cli import audit, demo, explain
from verale.cli.options import FORMER_VALUES
from verale.cli.terminal import Exit
from verale.errors import UsageError, on_the_command_line, option
from verale.options import keywords, options_of, require_known
from verale.runs.options import RunOptions
from verale.search.options import SearchOptions

COMMANDS = [(SearchOptions, explain.command), (AuditOptions, audit.command), (RunOptions, explain.command)]
FUNCTIONS = [(SearchOptions, verale.explain), (SearchOptions, verale.explain_model), (AuditOptions, verale.audit)]
PROVING = (verale.refute, verale.contrast, verale.necessity)


@pytest.mark.parametrize(("kind", "command"), COMMANDS, ids=lambda each: getattr(each, "name", ""))
def test_a_command_has_the_options_of_the_fields(kind: type, command: click.Command) -> None:
    context = click.Context(command)
    params = {param.name: param for param in command.params}
    for name, field in options_of(kind).items():
        param = params[name]
        assert isinstance(param, click.Option) and param.opts == [flag(name)]
        assert (param.help or "").startswith(field.metadata["help"])
        assert param.is_flag == isinstance(field.default, bool)
        given = param.process_value(context, param.get_default(context))
        assert kind(**{name: given}) == kind(), name


@pytest.mark.parametrize(("kind", "function"), FUNCTIONS, ids=lambda each: each.__name__)
def test_a_function_has_the_keywords_of_the_fields(kind: type, function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    text = " ".join((function.__doc__ or "").split())
    for name, field in options_of(kind).items():
        assert parameters[name].default == field.default and parameters[name].annotation == field.type
        assert f"{name}: {' '.join(field.metadata['help'].split())}" in text
    assert not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())


@pytest.mark.parametrize("function", PROVING, ids=lambda each: each.__name__)
def test_who_only_proves_takes_what_that_needs(function: Callable[..., Any]) -> None:
    assert {"kernel", "limit"} <= {*inspect.signature(function).parameters}
    assert "minimality" not in inspect.signature(function).parameters
    with pytest.raises(UsageError, match="option 'minimality' is unknown, expected one of kernel, limit"):
        function("c", "h", *([1] if function is verale.contrast else []), minimality=True)
    with pytest.raises(UsageError, match="minimality is for an audit, expected kernel and limit alone"):
        function("c", "h", *([1] if function is verale.contrast else []), options=AuditOptions(minimality=True))


def test_the_page_has_the_tables_of_the_fields() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert renewed(text) == text, "renew it: PYTHONPATH=tests python -m support.options --write"
    assert all(f"| `{flag(name)}` | `{name}` |" in text for kind, _ in COMMANDS for name in options_of(kind))


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"kernel": "float"}, KernelError, "kernel 'float' is unknown, expected one of proved-or-arb, "),
        ({"limit": 0}, OptionError, "limit is 0, expected a number of seconds above 0"),
        ({"limit": 10**30}, OptionError, "limit is 1000000000000000000000000000000, expected"),
        ({"deployment": 3}, OptionError, "deployment is 3, expected a Deployment"),
        ({"deployment": "fast"}, OptionError, "deployment: formula 'fast' is unknown"),
        ({"ulps": "log=4"}, OptionError, "deployment: ulps are given without a formula"),
        ({"kernal": "arb"}, TypeError, "kernal"),
    ],
    ids=str,
)
def test_an_audit_s_option_that_cannot_be_used_is_named(fields, error, message) -> None:
    with pytest.raises(error, match=f"(?s).*{message}"):
        AuditOptions.of(None, fields)


def test_an_auditor_s_options_are_told_apart() -> None:
    made = AuditOptions.of("both", {"limit": None, "deployment": "cdist", "ulps": "log=7"})
    assert (made.kernel, made.limit, made.deployment and made.deployment.log) == ("both", AuditOptions().limit, 7)
    assert AuditOptions.of(made, {"minimality": True}).deployment == made.deployment
    assert repr(AuditOptions(limit=30.0).limit) == "30"
    assert made.in_vain is None and AuditOptions.of(made, {"kernel": "all"}).in_vain is not None


@pytest.mark.parametrize(
    ("refused", "error", "message"),
    [
        (lambda: AuditOptions().asking({"kernel": "arb"}), OptionError, "kernel is the auditor's own; make another"),
        (lambda: RunOptions(jobs=0), UsageError, "jobs is 0, expected at least 1"),
        (lambda: RunOptions(address="a"), UsageError, "address is for engine"),
        (lambda: require_known(AuditOptions, ["kernal"]), UsageError,
         r"option 'kernal' is unknown, .*\(did you mean kernel\?\)"),
        (lambda: require_known(AuditOptions, ["kernel"], ["limit"], ["ulps"]), UsageError,
         "expected one of limit, ulps$"),
    ],
)  # fmt: skip
def test_what_is_no_option_here_is_refused_and_an_unknown_name_gets_the_nearest(refused, error, message) -> None:
    with pytest.raises(error, match=message):
        refused()
    require_known(AuditOptions, ["limit", "ulps"], ["limit"], ["ulps"])


def test_keywords_stand_in_a_signature() -> None:
    @keywords(AuditOptions, "limit")
    def function(limit: int, **fields: Any) -> None:
        """What it does."""

    told = "What it does.\n\nOptions, by keyword:\n    limit: The most processor time"
    assert [*inspect.signature(function).parameters] == ["limit"] and (function.__doc__ or "").startswith(told)


@pytest.mark.parametrize(("option", "value"), FORMER_VALUES)
@pytest.mark.parametrize("command", [explain.command, demo.command], ids=lambda each: each.name)
def test_a_former_value_ends_with_the_new_one(option, value, command) -> None:
    refused = CliRunner().invoke(command, [option, value])
    assert refused.exit_code == Exit.USAGE and f"{value} is now {FORMER_VALUES[option, value]}" in refused.output


def test_the_demo_refuses_paradigms_that_its_head_has_not_got(tmp_path) -> None:
    refused = CliRunner().invoke(demo.command, ["--paradigm", "simplex", "--out", str(tmp_path / "demo")])
    assert refused.exit_code == Exit.USAGE and "paradigm 'simplex' is not for the packaged head" in refused.output
    assert not (tmp_path / "demo").exists()


# Messages name options as their caller writes them (`verale.errors.option`), whichever file they stand in.


PACKAGE = Path(verale.__file__).parent
COMMAND_LINE = ("cli/", "checker/__main__.py", "soundness/", "report/page.py", "report/single.py")
"""Files that speak of the command line alone; a page, and `show`, are the same whoever writes them."""
OF_A_COMMAND = {
    "report/collect.py": 1,  # stands on pages
    "report/explanation.py": 1,
    "report/static_pages.py": 1,
    "report/page_check.py": 2,
    "report/page_full.py": 1,
    "search/batches.py": 1,  # a reason, which stands in the run's table
    "runs/source.py": 1,  # the options of a command, which is printed before them
}
WRITTEN = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def spelled(source: str) -> Iterator[int]:
    """The lines of texts with an option as the command line has it, but for those that name a whole command."""
    tree = ast.parse(source)
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            text = re.sub(r"(verale [a-z]+|ray start|: )[^;,]*?--[a-z-]+", "", node.value)
            if WRITTEN.search(text):
                yield node.lineno


@pytest.mark.parametrize("room", sorted(path.name for path in PACKAGE.iterdir() if path.is_dir()))
def test_no_message_has_the_command_lines_spelling(room: str) -> None:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(COMMAND_LINE):
            source = path.read_text(encoding="utf-8")
            lines = list(spelled(source)) if WRITTEN.search(source) else []
            assert len(lines) == OF_A_COMMAND.get(name, 0), f"{name}, lines {lines}: write option('...')"


def test_what_this_looks_for_and_both_spellings() -> None:
    assert list(spelled("x = f'give --latents {1}'")) == [1]
    assert not list(spelled('"""--latents"""\nx = "run verale audit OUT --latents Z"'))
    assert option("max_size", 3) == "max_size=3"
    with on_the_command_line():
        assert option("max_size", 3) == "--max-size 3"
