"""The release check notices what does not belong into a release; `make release-check` itself fetches packages."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
NOTES = "verale-1.dist-info"
FILES = {"verale/a.py": b"1", "proofs/b.v": b"2", "certificates/c.json": b"3", "docs/d.md": b"4", "LICENSE": b"5"}
WHEEL = {
    "verale/a.py": b"1",
    "verale/soundness/proofs/b.v": b"2",
    "verale/soundness/certificates/c.json": b"3",
    f"{NOTES}/licenses/LICENSE": b"5",
    **{f"{NOTES}/{name}": b"" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")},
}


@pytest.fixture(scope="module")
def check() -> ModuleType:
    found = importlib.util.spec_from_file_location("release_check", ROOT / ".ci" / "release_check.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_a_wheel_of_the_commit_passes(check: ModuleType) -> None:
    check.require_wheel(WHEEL, FILES, NOTES, ["LICENSE"])


@pytest.mark.parametrize("name", [*WHEEL, "other/e.py", "verale/e.py", f"{NOTES}/e", f"{NOTES}/licenses/e"])
def test_a_wheel_with_more_or_less_is_noticed(name: str, check: ModuleType) -> None:
    other = {key: data for key, data in WHEEL.items() if key != name} if name in WHEEL else WHEEL | {name: b""}
    with pytest.raises(check.CheckError, match="does not hold what the commit holds"):
        check.require_wheel(other, FILES, NOTES, ["LICENSE"])


def test_a_changed_file_is_noticed(check: ModuleType) -> None:
    with pytest.raises(check.CheckError, match=r"a\.py"):
        check.require_wheel(WHEEL | {"verale/a.py": b"2"}, FILES, NOTES, ["LICENSE"])
    check.require_sdist({"PKG-INFO": b"", "docs/d.md": b"4"}, FILES)
    for strange in ({"docs/d.md": b"5"}, {"secret": b""}):
        with pytest.raises(check.CheckError, match="what the commit does not"):
            check.require_sdist({"PKG-INFO": b"", **strange}, FILES)


def test_pythons_are_found_by_their_version(check: ModuleType) -> None:
    here = "{}.{}".format(*sys.version_info)
    assert check.interpreter(here) is not None
    assert check.interpreter("2.99") is None


def test_what_fails_says_so(check: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(check.CheckError, match="ended with 3"):
        check.run(sys.executable, "-c", "raise SystemExit(3)", cwd=tmp_path)
