"""The remedy for a missing extra names what was installed, not whatever has the name in an index."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest

from verale import version
from verale.version import installing

FILE, GIT = "file:///a%20b/verale", "https://example.org/verale"


@pytest.mark.parametrize(
    ("noted", "command"),
    [
        (None, "pip install 'verale[explain,report]'"),
        ({"url": FILE, "dir_info": {}}, "pip install '/a b/verale[explain,report]'"),
        ({"url": FILE, "dir_info": {"editable": True}}, "pip install --editable '/a b/verale[explain,report]'"),
        ({"url": f"{FILE}.whl", "archive_info": {}}, "pip install '/a b/verale.whl[explain,report]'"),
        ({"url": f"{GIT}.whl", "archive_info": {}}, f"pip install 'verale[explain,report] @ {GIT}.whl'"),
        (
            {"url": GIT, "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
            f"pip install 'verale[explain,report] @ git+{GIT}@0a1b'",
        ),
    ],
)
def test_extras_come_from_where_verale_does(
    noted: dict[str, object] | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = None if noted is None else json.dumps(noted)
    monkeypatch.setattr(version, "distribution", lambda name: SimpleNamespace(read_text=lambda file: text))
    assert installing("explain", "report") == command


def test_without_a_distribution_there_is_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(version, "distribution", missing)
    assert installing("explain") == "pip install '.[explain]', in a clone of verale"
