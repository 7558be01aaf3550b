"""A case of the corpora: the files of one certificate, the verdict it is to get, and what it is about."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from verale.checker import Auditor, HeadError, LatentsError
from verale.soundness.paths import CERTIFICATES

MANIFEST = "corpora.json"
CERTIFICATE, HEAD, LATENTS = ".ale.json", ".head.safetensors", ".latents.safetensors"


@dataclass(frozen=True)
class Case:
    """`status` and `reason` are those of the verdict; of an input error INPUT_ERROR, and `head` or `latents`.
    Minimality is asked for everywhere."""

    name: str
    certificate: bytes
    head: bytes
    latents: bytes | None
    status: str
    reason: str
    comment: str

    def found(self, kernel: str) -> tuple[str, str]:
        """Status and reason that the checker gives."""
        return judged(Auditor, self.certificate, self.head, self.latents, kernel)


def judged(
    auditor: Any, certificate: bytes, head: bytes, latents: bytes | None, kernel: str = "arb"
) -> tuple[str, str]:
    """Status and reason of a verdict; an input error is one too. Anything else that is raised goes through."""
    try:
        verdict = auditor(head, latents, kernel).check(certificate, minimality=True)
    except HeadError:
        return "INPUT_ERROR", "head"
    except LatentsError:
        return "INPUT_ERROR", "latents"
    return verdict.status.value, verdict.reason


def files(cases: Iterable[Case]) -> dict[str, bytes]:
    """The corpora as files, by their path: every certificate, each head and latents file once, and the manifest."""
    found: dict[str, bytes] = {}
    place: dict[bytes, str] = {}
    manifest = {}
    for case in cases:
        entry = {"status": case.status, "reason": case.reason, "comment": case.comment}
        for part, suffix in ((case.certificate, CERTIFICATE), (case.head, HEAD), (case.latents, LATENTS)):
            if part is None:
                continue
            if suffix == CERTIFICATE or part not in place:
                place[part] = case.name + suffix
                found[case.name + suffix] = part
            if suffix != CERTIFICATE:
                entry[suffix.split(".")[1]] = place[part]
        manifest[case.name] = entry
    found[MANIFEST] = (json.dumps(manifest, indent=1) + "\n").encode()
    return found


def stored() -> list[Case]:
    """The corpora as committed."""
    manifest = json.loads((CERTIFICATES / MANIFEST).read_bytes())

    def read(path: str | None) -> bytes | None:
        return None if path is None else (CERTIFICATES / path).read_bytes()

    return [
        Case(
            name,
            (CERTIFICATES / (name + CERTIFICATE)).read_bytes(),
            (CERTIFICATES / entry["head"]).read_bytes(),
            read(entry.get("latents")),
            entry["status"],
            entry["reason"],
            entry["comment"],
        )
        for name, entry in manifest.items()
    ]


def encoded(document: dict[str, Any], comment: str = "") -> bytes:
    """A certificate's bytes, with the comment in its extensions."""
    if comment:
        document = document | {"extensions": {"comment": comment}}
    return (json.dumps(document, indent=1) + "\n").encode()
