"""`help(verale)` is a page, `dir` and completion know every public name, and functions tell their options."""

from __future__ import annotations

import inspect
import pydoc
import re
import rlcompleter
import subprocess
import sys

import pytest

import verale

FUNCTIONS = (
    "audit",
    "check",
    "contrast",
    "explain",
    "explain_model",
    "merge_slots",
    "necessity",
    "refute",
    "save_latents",
    "show",
)


def page() -> list[str]:
    return pydoc.render_doc(verale, renderer=pydoc.plaintext).splitlines()


def test_help_is_a_page_before_and_after_names_are_used() -> None:
    code = "import pydoc, verale; print(len(pydoc.render_doc(verale).splitlines()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 80
    for name in verale.__all__:
        assert getattr(verale, name) is not None
    assert len(page()) == int(done.stdout)


def test_the_page_names_what_is_public() -> None:
    text = "\n".join(page())
    assert [name for name in verale.__all__ if not re.search(rf"\b{name}\b", text)] == ["__version__"]


def test_completion_knows_the_names() -> None:
    completer = rlcompleter.Completer({"verale": verale})
    assert completer.complete("verale.expla", 0) == "verale.explain("
    assert {*verale.__all__} <= {*dir(verale)}


def test_a_star_imports_every_name() -> None:
    names: dict[str, object] = {}
    exec("from verale import *", names)
    assert {*verale.__all__} <= {*names}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_has_a_line_of_its_own(name: str) -> None:
    function = getattr(verale, name)
    told = inspect.getdoc(function) or ""
    told = told[told.index("Args:") :]
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"^    (\w+, )*{parameter}(, \w+)*: ", told, re.MULTILINE), parameter
    assert "see `SearchOptions`" not in told
