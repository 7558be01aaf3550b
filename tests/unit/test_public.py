"""What `import verale` gives: a light module whose names resolve, a page of help, the remedy for a missing extra."""

from __future__ import annotations

import inspect
import json
import pydoc
import re
import rlcompleter
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

import verale
from verale import adapters, version
from verale.version import installing

FUNCTIONS = (
    *("audit", "check", "contrast", "explain", "explain_model", "merge_slots", "necessity", "refute", "save_latents"),
    "show",
)


def test_help_is_a_page_that_names_what_is_public() -> None:
    text = pydoc.render_doc(verale, renderer=pydoc.plaintext)
    assert len(text.splitlines()) < 80
    assert [name for name in verale.__all__ if not re.search(rf"\b{name}\b", text)] == ["__version__"]


def test_completion_and_a_star_know_every_name() -> None:
    completer = rlcompleter.Completer({"verale": verale})
    assert completer.complete("verale.expla", 0) == "verale.explain("
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


HEAVY = {
    *("torch", "numpy", "safetensors", "click", "rich", "flint", "mpmath", "matplotlib", "pandas", "PIL"),
    *("ray", "pyarrow", "fsspec"),
}
IN_TURN = {
    "verale": "import verale",
    "adapters": "import verale.adapters; verale.adapters.ARCHITECTURES",
    "at scale": "import verale.runs.workers.ray, verale.datasets.storage",
    "a head": "verale.Head",
    "capture": "from verale.adapters import capture",
}
"""What one process does, the light things first. What is loaded stays: nothing that comes later is lighter."""


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """All modules that are loaded after each of these statements, by their whole names."""
    code = "import sys\n" + "".join(f"{each}\nprint(*sys.modules)\n" for each in IN_TURN.values())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(zip(IN_TURN, (set(line.split()) for line in done.stdout.splitlines()), strict=True))


def test_what_is_light_loads_nothing_heavy(loaded):
    for name in ("verale", "adapters", "at scale"):
        assert not HEAVY & {module.split(".")[0] for module in loaded[name]}, name
    assert "torch" in loaded["a head"], "this can fail"
    assert "verale.adapters.latents" in loaded["capture"] - loaded["a head"]


@pytest.mark.parametrize("module", [verale, adapters])
def test_every_public_name_resolves(module):
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="guess"):
        _ = module.guess


FILE, GIT = "file:///a%20b/verale", "https://example.org/verale"


@pytest.mark.parametrize(
    ("noted", "command"),
    [
        (None, "pip install 'verale[explain,report]'"),
        ({"url": FILE, "dir_info": {}}, "pip install '/a b/verale[explain,report]'"),
        ({"url": FILE, "dir_info": {"editable": True}}, "pip install --editable '/a b/verale[explain,report]'"),
        ({"url": f"{FILE}.whl", "archive_info": {}}, "pip install '/a b/verale.whl[explain,report]'"),
        ({"url": f"{GIT}.whl", "archive_info": {}}, f"pip install 'verale[explain,report] @ {GIT}.whl'"),
        ({"url": GIT, "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
         f"pip install 'verale[explain,report] @ git+{GIT}@0a1b'"),
    ],
)  # fmt: skip
def test_extras_come_from_where_verale_does(noted, command, monkeypatch) -> None:
    text = None if noted is None else json.dumps(noted)
    monkeypatch.setattr(version, "distribution", lambda name: SimpleNamespace(read_text=lambda file: text))
    assert installing("explain", "report") == command


def test_without_a_distribution_there_is_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(version, "distribution", missing)
    assert installing("explain") == "pip install '.[explain]', in a clone of verale"
