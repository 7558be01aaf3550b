"""A second checker, written in JavaScript from the text of certificates/v1.md alone, and run here.

README.md beside this file tells how it came to be. Its rules are in the files `*.js`, which need no host; this module
reads them as one function and runs it in V8 (mini-racer), in a process of its own, since V8 ends the one in which it
lacks memory. `comparison` compares its verdicts with the checker's.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from verale.errors import UsageError, first_line

if TYPE_CHECKING:
    from py_mini_racer import MiniRacer

__all__ = ["FAILED", "FOLDER", "SecondChecker", "SecondVerdict"]

FOLDER = Path(__file__).parent
"""Where its files lie."""

_FILES = (
    *("rational", "enclosures", "sha256", "json", "safetensors", "head", "certificate", "latents", "domain", "ranges"),
    *("similarity", "pooling", "readout", "known", "links", "assignment", "image", "verify"),
)
"""In the order in which they are read: what a file computes at once comes after what it needs."""

_WRAPPED = """
var second = (() => {{
"use strict";
{source}
const bytesOf = (text) => (text === null ? null : Uint8Array.from(text, (character) => character.charCodeAt(0)));
const told = ({{verdict, reason, detail}}) => [verdict, reason, detail];
return {{
  audit: (certificate, head, latents, limit) =>
    JSON.stringify(told(audit(bytesOf(certificate), bytesOf(head), bytesOf(latents), {{minimality: true, limit}}))),
  refute: (certificate, head, witness) =>
    JSON.stringify(told(refute(bytesOf(certificate), bytesOf(head), bytesOf(witness)))),
}};
}})();
"""
"""One function, so that it defines only `second`. Bytes come as text, a character each."""

_LIMIT = 1_000_000
"""Operations on integers that the ranges of one certificate may take, about a second; more is NOT_PROVED (`limit`)."""
_SECONDS = 120.0
"""What the engine lets it run. No certificate of the suite comes near."""

FAILED = "FAILED"
"""The status where it ends in an error of its own; the reason is the error."""


@dataclass(frozen=True)
class SecondVerdict:
    """What the second checker says.

    Attributes:
        status: of the verdict; INPUT_ERROR where v1.md has an input error; FAILED.
        reason: the reason.
        detail: the same in words.
    """

    status: str
    reason: str
    detail: str


class SecondChecker:
    """The second checker as it runs, until it is closed or nobody holds it. It keeps nothing between two questions.

    Args:
        folder: where its files are; another folder for a changed copy.

    Raises:
        UsageError: nothing is installed that runs JavaScript.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        if find_spec("py_mini_racer") is None:
            raise UsageError("the second checker is JavaScript, and nothing runs it here: pip install mini-racer")
        source = "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in _FILES)
        self._source = _WRAPPED.format(source=source)
        self._process = ProcessPoolExecutor(1, get_context("spawn"))
        self.close = finalize(self, self._process.shutdown, wait=False)

    def audit(self, certificate: bytes, head: bytes, latents: bytes | None) -> SecondVerdict:
        """The verdict on a certificate, minimality included."""
        return self._ask("audit", certificate, head, latents, _LIMIT)

    def refute(self, certificate: bytes, head: bytes, witness: bytes) -> SecondVerdict:
        """The verdict on a witness against a certificate."""
        return self._ask("refute", certificate, head, witness)

    def _ask(self, question: str, *given: bytes | int | None) -> SecondVerdict:
        arguments = [each.decode("latin-1") if isinstance(each, bytes) else each for each in given]
        try:
            return self._process.submit(_answer, self._source, f"second.{question}", arguments).result()
        except BrokenProcessPool:
            return SecondVerdict(FAILED, "its process ended, as it does where memory is short or limited", "")


@cache
def _engine(source: str) -> MiniRacer:
    """V8, in which a script has run."""
    from py_mini_racer import MiniRacer

    engine = MiniRacer()
    engine.eval(source)
    Finalize(None, engine.close, exitpriority=0)  # an engine that is still there keeps its process from ending
    return engine


def _answer(source: str, function: str, arguments: list[str | int | None]) -> SecondVerdict:
    """What a function of a script answers."""
    from py_mini_racer import JSEvalException

    try:
        return SecondVerdict(*json.loads(str(_engine(source).call(function, *arguments, timeout_sec=_SECONDS))))
    except (JSEvalException, TimeoutError) as error:
        return SecondVerdict(FAILED, first_line(error), "")
