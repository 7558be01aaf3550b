"""CITATION.cff names this version, its licences, and the papers that the README names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_version_and_licences_are_those_of_the_package() -> None:
    assert CITATION["version"] == PROJECT["version"]
    assert " OR ".join(CITATION["license"]) in PROJECT["license"]


def test_the_papers_are_those_of_the_readme() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert len(CITATION["references"]) == readme.count("arXiv ") == 2
    for paper in CITATION["references"]:
        assert f"*{paper['title']}* (arXiv {paper['url'].split('/')[-1]})" in readme
