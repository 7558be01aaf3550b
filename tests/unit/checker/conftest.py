"""A program of the kernel `proved` that answers as a test wants, and notes what it was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.proved import fake


@dataclass(frozen=True)
class Asked:
    """The questions that a program was asked, as its lines have them."""

    path: str
    log: Path

    @property
    def lines(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    @property
    def questions(self) -> str:
        """What was asked after what was told."""
        return " ".join(name for line in self.lines if (name := line.split(" ")[0]) not in ("head", "network"))


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Asked]:
    """Makes the program answer so: by question, where one that is not named is `proved`; or by a function's body, as
    `support.proved.fake` has it, where it returns nothing."""

    def answering(body: str = "", **answers: str) -> Asked:
        log = tmp_path / "asked"
        log.unlink(missing_ok=True)
        noted = f"open({str(log)!r}, 'a').write(line)\n{body}\nif question in ('head', 'network'): return\n"
        path = fake(tmp_path, f"{noted}return {answers!r}.get(question, 'proved')")
        monkeypatch.setenv("VERALE_PROVED", path)
        return Asked(path, log)

    return answering
