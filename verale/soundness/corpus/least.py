"""`certificates/least`: documents of certificates/least-v1.md, and the outcome that each has to get."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from verale.checker.errors import FormatError, HeadError, LatentsError, UnprovedError
from verale.checker.least import proved_least
from verale.soundness.corpus.cases import file_of
from verale.soundness.independent.files import given
from verale.soundness.paths import CERTIFICATES

__all__ = ["INDEX", "LeastCase", "stored_least"]

INDEX = "least.json"
_FOLDER, _SUFFIX = "least/", ".least.json"


@dataclass(frozen=True)
class LeastCase:
    """One case.

    Attributes:
        name: without folder and suffix.
        document: its bytes.
        head: the head's file.
        latents: the latents' file.
        status: PROVED, NOT_PROVED, MALFORMED or INPUT_ERROR.
        reason: as least-v1.md names it; "" of what is proved.
        comment: what the case shows.
        smaller: of a false claim a certificate under `top_k` with fewer statements, which is proved; else None.
    """

    name: str
    document: bytes
    head: bytes
    latents: bytes
    status: str
    reason: str
    comment: str
    smaller: bytes | None = None

    def outcome(self, prove: Callable[..., int] = proved_least, **options: object) -> tuple[str, str]:
        """Status and reason that the checker gives. ValueError if it proves another number than the document has."""
        try:
            least = prove(self.document, self.head, self.latents, **options)
        except FormatError:
            return "MALFORMED", "malformed"
        except HeadError:
            return "INPUT_ERROR", "head"
        except LatentsError:
            return "INPUT_ERROR", "latents"
        except UnprovedError as error:
            return "NOT_PROVED", error.reason
        if least != json.loads(self.document)["least"]:
            raise ValueError(f"{self.name}: {least} is proved, which the document does not claim")
        return "PROVED", ""


def stored_least() -> list[LeastCase]:
    """The cases as committed."""
    return [
        LeastCase(
            name,
            *(
                given(file_of(_FOLDER + name + _SUFFIX)),
                given(file_of(entry["head"])),
                given(file_of(entry["latents"])),
            ),
            *(entry["status"], entry["reason"], entry["comment"]),
            file_of(entry.get("smaller")),
        )
        for name, entry in json.loads((CERTIFICATES / INDEX).read_bytes()).items()
    ]
