"""What the checker says of each file of the corpora that breaks a rule of its format, or cannot be used: messages.txt.

Whether it is refused, and for which reason, says the manifest; here stands the wording, which names the field, what was
found and what is expected. `PYTHONPATH=tests python -m corpus.messages --write` renews it: read what changes in it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from verale.checker import Auditor, HeadError, LatentsError, NetworkError, PictureError
from verale.checker.errors import FormatError
from verale.checker.least import proved_least
from verale.checker.origins import judge_origins
from verale.soundness.corpus.cases import FOLDERS, Case, stored

__all__ = ["FILE", "message_of", "refused"]

FILE = Path(__file__).with_name("messages.txt")


def refused() -> Iterator[Case]:
    """All but those of `sizes`, which are large."""
    for case in stored(*(name for name in FOLDERS if name != "sizes")):
        if case.status in ("MALFORMED", "INPUT_ERROR"):
            yield case


def message_of(case: Case) -> str:
    """In one line. What ought to be refused and is not says so, too.

    Without the words of Python's `json` and of zlib, which other versions say otherwise.
    """
    return re.sub(r"(not JSON|inflated) \(.*\)", r"\1", _said_of(case))


def _said_of(case: Case) -> str:
    try:
        if case.name.startswith("least/"):
            return f"proves {proved_least(case.certificate, case.head, case.latents or b'', 'arb')}"
        auditor = Auditor(case.head, case.latents, "arb", network=case.network, pictures=case.pictures)
        if case.name.startswith("origins/"):
            return f"judges {judge_origins(auditor, case.certificate)}"
        if case.witness is not None:
            return auditor.refute(case.certificate, case.witness).message
        return auditor.check(case.certificate).message
    except (FormatError, HeadError, LatentsError, NetworkError, PictureError) as error:
        return str(error)


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        FILE.write_text("".join(f"{case.name}: {message_of(case)}\n" for case in refused()), encoding="utf-8")
