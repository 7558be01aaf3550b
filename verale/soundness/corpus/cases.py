"""A case of the corpora: its files, the verdict that it has to get, and what it shows.

A rejected case has a mark that says what it claims, in truth:

- *false*, and shown to be. `breaks` are latents that satisfy every statement and fall short of a margin; or `claim`
  names what the certificate itself says wrongly: `instance` or `subject`; or `dropped` is the index of a statement that
  is needless, though minimality is claimed.
- *beyond*: true, or not known to be false, but more than the reference argument shows. `why` says in one sentence.
- *malformed*: it claims nothing, since it breaks a rule of the format.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from verale.checker import Auditor, HeadError, LatentsError, NetworkError, PictureError, Verdict
from verale.checker.deployment import Deployment
from verale.checker.errors import ExecutableError, FormatError, UnprovedError
from verale.checker.least import proved_least
from verale.checker.origins import judge_origins
from verale.checker.proved.claims import NOT_ASKED
from verale.checker.verdict import SEVERITY
from verale.soundness.paths import CERTIFICATES

FALSE, BEYOND, MALFORMED = "false", "beyond", "malformed"
INSTANCE, SUBJECT = "instance", "subject"
MANIFEST = "corpora.json"
FOLDERS = ("accept", "reject", "malformed", "witness", "deployment", "sizes", "least", "picture", "origins")
_EVERY_CHECKER = FOLDERS[:4]
"""The folders that every checker of v1.md judges. Another one may leave out the rest, as v1.md says of each."""
FILES = ("certificate", "document", "head", "latents", "witness", "breaks", "smaller", "network", "pictures")
"""The fields of an entry of the manifest that name a file. Without `certificate` and `document` it is NAME.ale.json."""
_SAID = ("status", "reason", "comment", "message", "claim", "dropped", "why")
"""Those that a case has under the same name."""

_LEAST, _ORIGINS = "least/", "origins/"
_UNUSABLE = {HeadError: "head", LatentsError: "latents", NetworkError: "network", PictureError: "picture"}
"""The errors of files that cannot be used, and which file each is about."""


@dataclass(frozen=True)
class Case:
    """One case. Minimality is always asked for.

    Attributes:
        name: its path below `certificates`, without a suffix.
        certificate: the certificate's bytes; in the folders `least` and `origins`
            those of a document of least-v1.md or origins-v1.md.
        head: the head's file.
        latents: the latents' file, or None.
        status: of the verdict, or INPUT_ERROR.
        reason: of the verdict; of an input error "head", "latents", "network" or "picture".
        comment: what the case shows.
        mark: of a rejected case FALSE, BEYOND or MALFORMED; "" of others.
        breaks: a latents file of one image that breaks the entailment claim, or None.
        claim: the claim that is false by what it says, INSTANCE or SUBJECT, or None.
        dropped: the index of a statement that is needless though minimality is claimed, or None.
        why: of what is BEYOND what makes the claim true, or hard to prove.
        witness: the witness's file, where the verdict is one on it (v1.md, "Refutation by a witness"); else None.
        deployment: how the head is computed, where the auditor asks for that too (v1.md, "Deployment"); else None.
        network, pictures: the files that the claim `picture` is checked with, or None.
        smaller: of a false document of least-v1.md a certificate under `top_k` with fewer statements, which is proved.
        message: what the reader's error says, among other things; "" where any text will do.
    """

    name: str
    certificate: bytes
    head: bytes
    latents: bytes | None
    status: str
    reason: str
    comment: str
    mark: str = ""
    breaks: bytes | None = None
    claim: str | None = None
    dropped: int | None = None
    why: str = ""
    witness: bytes | None = None
    deployment: Deployment | None = None
    network: bytes | None = None
    pictures: bytes | None = None
    smaller: bytes | None = None
    message: str = ""

    @property
    def expected(self) -> tuple[str, str]:
        """Status and reason."""
        return self.status, self.reason

    def verdict(self, kernel: str) -> tuple[str, str]:
        """Status and reason that the checker gives. ValueError where it proves another least size than is claimed."""
        if self.name.startswith(_LEAST):
            return self._least(kernel)
        auditor = partial(Auditor, self.head, self.latents, kernel, network=self.network, pictures=self.pictures)
        if self.name.startswith(_ORIGINS):
            return _of_origins(auditor, self.certificate)
        return outcome_of(auditor, self.certificate, self.witness, self.deployment)

    def _least(self, kernel: str) -> tuple[str, str]:
        try:
            least = proved_least(self.certificate, self.head, self.latents or b"", kernel)
        except FormatError:
            return "MALFORMED", "malformed"
        except UnprovedError as error:
            return "NOT_PROVED", error.reason
        except tuple(_UNUSABLE) as error:
            return "INPUT_ERROR", _UNUSABLE[type(error)]
        if least != json.loads(self.certificate)["least"]:
            raise ValueError(f"{self.name}: {least} is proved, which the document does not claim")
        return "PROVED", ""

    def allows(self, verdict: tuple[str, str]) -> bool:
        """Whether a sound checker may give this verdict: a stronger one may prove what is marked beyond."""
        return verdict == self.expected or (self.mark == BEYOND and verdict[0] == "PROVED")


def _of_origins(auditor: Callable[[], Auditor], document: bytes) -> tuple[str, str]:
    """The same of a file of origins-v1.md: of its origins that with the most severe outcome."""
    try:
        judged = judge_origins(auditor(), document)
    except FormatError:
        return "MALFORMED", "malformed"
    except UnprovedError as error:
        return "NOT_PROVED", error.reason
    except tuple(_UNUSABLE) as error:
        return "INPUT_ERROR", _UNUSABLE[type(error)]
    worst = min(judged, key=lambda each: SEVERITY.index(each.exit_code))
    return worst.status.value, worst.reason


def outcome_of(
    auditor: Callable[[], Any],
    certificate: bytes,
    witness: bytes | None = None,
    deployment: Deployment | None = None,
) -> tuple[str, str]:
    """Status and reason of the verdict on a certificate, minimality included, or on a witness against it; or of an
    input error. Any other exception passes through.

    Args:
        auditor: makes the one that is asked.

    Raises:
        ExecutableError: the verdict says that the program died. Elsewhere this may be for want of memory, here no
            program may.
    """
    asked: dict[str, Any] = {} if deployment is None else {"deployment": deployment}
    try:
        made = auditor()
        if witness is not None:
            verdict: Verdict = made.refute(certificate, witness)
        else:
            verdict = made.check(certificate, minimality=True, **asked)
    except tuple(_UNUSABLE) as error:
        return "INPUT_ERROR", _UNUSABLE[type(error)]
    if verdict.message.startswith(NOT_ASKED):
        raise ExecutableError(verdict.message)
    return verdict.status.value, verdict.reason


def manifest() -> dict[str, dict[str, Any]]:
    """The entries of the manifest, by the names of the cases."""
    entries: dict[str, dict[str, Any]] = json.loads((CERTIFICATES / MANIFEST).read_bytes())
    return entries


def paths_of(name: str, entry: dict[str, Any]) -> dict[str, str]:
    """The paths of a case's files below `certificates`, by the fields of its entry."""
    own = {} if entry.keys() & {"certificate", "document"} else {"certificate": f"{name}.ale.json"}
    return own | {field: entry[field] for field in FILES if field in entry}


def stored(*folders: str) -> list[Case]:
    """The cases of these folders; without any, those of accept, reject, malformed and witness."""
    chosen = folders or _EVERY_CHECKER
    return [case_of(name, entry, _read) for name, entry in manifest().items() if name.partition("/")[0] in chosen]


def accepted() -> list[Case]:
    """Those of `stored` that the checker proves."""
    return [case for case in stored() if case.status == "PROVED"]


def case_of(name: str, entry: dict[str, Any], read: Callable[[str], bytes]) -> Case:
    """The case of an entry, whose files are read by their paths below `certificates`."""
    inserted = entry.get("inserted", {})
    files: dict[str, Any] = {
        field: _whole(read(path), inserted.get(field)) for field, path in paths_of(name, entry).items()
    }
    certificate = files.pop("document" if "document" in files else "certificate")
    said = {field: entry[field] for field in _SAID if field in entry}
    deployment = None if "deployment" not in entry else Deployment(**entry["deployment"])
    files.setdefault("latents", None)
    return Case(name, certificate, mark=entry.get("truth", ""), deployment=deployment, **said, **files)


def _read(path: str) -> bytes:
    return (CERTIFICATES / path).read_bytes()


def _whole(stored: bytes, inserted: dict[str, Any] | None) -> bytes:
    """A file with what is left out of it, since it is the same text again and again: a character a byte, before a byte
    of what is stored."""
    if inserted is None:
        return stored
    at: int = inserted["at"]
    text: bytes = inserted["text"].encode("latin-1") * inserted["times"]
    return stored[:at] + text + stored[at:]
