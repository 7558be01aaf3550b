"""A case of the corpora: the files of one certificate, the verdict it has to get, and a comment."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from verale.checker import Auditor, HeadError, LatentsError, NetworkError, PictureError, Verdict
from verale.checker.deployment import Deployment
from verale.soundness.corpus.truth import BEYOND, Truth
from verale.soundness.independent.files import given
from verale.soundness.paths import CERTIFICATES

MANIFEST = "corpora.json"
SIZES = "sizes/"
CERTIFICATE, HEAD, LATENTS = ".ale.json", ".head.safetensors", ".latents.safetensors"
BREAKS, WITNESS = ".breaks.safetensors", ".witness.safetensors"

_UNUSABLE = {HeadError: "head", LatentsError: "latents", NetworkError: "network", PictureError: "picture"}
"""The errors of files that cannot be used, and which file each is about."""


@dataclass(frozen=True)
class Inserted:
    """What is left out of a stored file, since it is the same text again and again.

    Attributes:
        at: the byte of the stored file before which it comes.
        text: what is repeated, a character a byte.
        times: how often.
    """

    at: int
    text: str
    times: int

    def into(self, stored: bytes) -> bytes:
        """The file."""
        return stored[: self.at] + self.text.encode("latin-1") * self.times + stored[self.at :]

    def left_out(self, data: bytes) -> bytes:
        """What is stored of the file."""
        return data[: self.at] + data[self.at + len(self.text) * self.times :]


@dataclass(frozen=True)
class Case:
    """One case. Minimality is always asked for.

    Attributes:
        name: its path below `certificates`, without a suffix.
        certificate: the certificate's bytes.
        head: the head's file.
        latents: the latents' file, or None.
        status: of the verdict, or INPUT_ERROR.
        reason: of the verdict; of an input error "head" or "latents".
        comment: what the case shows.
        truth: of a rejected case, whether what it claims is true; None of others.
        witness: the witness's file, where the verdict is one on it (v1.md, "Refutation by a witness"); else None.
        deployment: how the head is computed, where the auditor asks for that too (v1.md, "Deployment"); else None.
        inserted: what is left out of the stored files, by "certificate", "head" and "latents".
    """

    name: str
    certificate: bytes
    head: bytes
    latents: bytes | None
    status: str
    reason: str
    comment: str
    truth: Truth | None = None
    witness: bytes | None = None
    deployment: Deployment | None = None
    inserted: tuple[tuple[str, Inserted], ...] = ()

    def verdict(self, kernel: str) -> tuple[str, str]:
        """Status and reason that the checker gives."""
        if self.witness is not None:
            auditor, witness = Auditor(self.head, None, kernel), self.witness
            return outcome_of(lambda: auditor.refute(self.certificate, witness))
        return judged(Auditor, self.certificate, self.head, self.latents, kernel, self.deployment)

    def allows(self, verdict: tuple[str, str]) -> bool:
        """Whether a sound checker may give this verdict: a stronger one may prove what is marked beyond."""
        beyond = self.truth is not None and self.truth.mark == BEYOND
        return verdict == (self.status, self.reason) or (beyond and verdict[0] == "PROVED")


def judged(
    auditor: Any,
    certificate: bytes,
    head: bytes,
    latents: bytes | None,
    kernel: str = "arb",
    deployment: Deployment | None = None,
) -> tuple[str, str]:
    """Status and reason that the checker gives: see `outcome_of`."""
    asked: dict[str, Any] = {} if deployment is None else {"deployment": deployment}
    return outcome_of(lambda: auditor(head, latents, kernel).check(certificate, minimality=True, **asked))


def outcome_of(ask: Callable[[], Verdict]) -> tuple[str, str]:
    """Status and reason of a verdict or an input error. Any other exception passes through."""
    try:
        verdict = ask()
    except tuple(_UNUSABLE) as error:
        return "INPUT_ERROR", _UNUSABLE[type(error)]
    return verdict.status.value, verdict.reason


def stored() -> list[Case]:
    """The corpora as committed, but for the cases of `deployed` and `sized`."""
    return _indexed(lambda name, entry: "deployment" not in entry and not name.startswith(SIZES))


def accepted() -> list[Case]:
    """Those of `stored` that the checker proves."""
    return [case for case in stored() if case.status == "PROVED"]


def deployed() -> list[Case]:
    """Those of the corpora as committed that ask for a deployed head: a checker may leave them out."""
    return _indexed(lambda name, entry: "deployment" in entry)


def sized() -> list[Case]:
    """Those of the corpora as committed that are at a limit of v1.md, or one beyond it, or as large as real ones: they
    take longer, and most have files of which a part is left out."""
    return _indexed(lambda name, entry: name.startswith(SIZES))


def file_of(path: str | None) -> bytes | None:
    """A stored file; None where a case has none."""
    return None if path is None else (CERTIFICATES / path).read_bytes()


def _indexed(chosen: Callable[[str, dict[str, Any]], bool]) -> list[Case]:
    manifest = json.loads((CERTIFICATES / MANIFEST).read_bytes())

    def read(path: str | None, inserted: dict[str, Any] | None = None) -> bytes | None:
        data = file_of(path)
        return data if data is None or inserted is None else Inserted(**inserted).into(data)

    cases = []
    for name, entry in manifest.items():
        if not chosen(name, entry):
            continue
        inserted = entry.get("inserted", {})
        certificate = read(name + CERTIFICATE, inserted.get("certificate"))
        head = read(entry["head"], inserted.get("head"))
        cases.append(
            Case(
                name,
                given(certificate),
                given(head),
                read(entry.get("latents"), inserted.get("latents")),
                entry["status"],
                entry["reason"],
                entry["comment"],
                Truth.of(entry, read(entry.get("breaks"))),
                read(entry.get("witness")),
                Deployment(**entry["deployment"]) if "deployment" in entry else None,
                tuple((part, Inserted(**each)) for part, each in inserted.items()),
            )
        )
    return cases
