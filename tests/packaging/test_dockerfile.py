"""The image for auditors has the core alone, of these files. That its line of pip installs them is tried by hand."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_copies_what_a_wheel_is_built_of_and_installs_no_extra() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [name for line in lines if line.startswith("COPY") for name in line.split()[1:-1]]
    assert all(list(ROOT.glob(name)) for name in copied)
    assert {"pyproject.toml", "README.md", "LICENSE.*.txt", "proofs", "certificates", "verale"} == set(copied)
    assert "RUN python -m pip install --no-cache-dir /source" in lines
    assert lines[-1] == 'ENTRYPOINT ["verale"]'
