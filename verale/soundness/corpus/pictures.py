"""`certificates/picture`: certificates that claim a picture, and the outcome that each has to get."""

from __future__ import annotations

import json
from dataclasses import dataclass

from verale.checker import Auditor
from verale.soundness.corpus.cases import file_of, outcome_of
from verale.soundness.independent.files import given
from verale.soundness.paths import CERTIFICATES

__all__ = ["FOLDER", "INDEX", "SUFFIXES", "PictureCase", "stored_pictures"]

INDEX, FOLDER = "picture.json", "picture/"
SUFFIXES = {"certificate": ".ale.json", "head": ".head.safetensors", "network": ".network.safetensors"}


@dataclass(frozen=True)
class PictureCase:
    """One case. Minimality is always asked for.

    Attributes:
        name: without folder and suffix.
        certificate, head: their bytes.
        network, pictures: their bytes; None where the claim is not to be checked.
        status: of the verdict, or INPUT_ERROR.
        reason: of the verdict; of an input error "head", "network" or "picture".
        comment: what the case shows.
    """

    name: str
    certificate: bytes
    head: bytes
    network: bytes | None
    pictures: bytes | None
    status: str
    reason: str
    comment: str

    def outcome(self, kernel: str) -> tuple[str, str]:
        """Status and reason that the checker gives."""
        network, pictures = self.network, self.pictures
        return outcome_of(
            lambda: Auditor(self.head, None, kernel, network=network, pictures=pictures).check(self.certificate, True)
        )


def stored_pictures() -> list[PictureCase]:
    """The cases as committed."""
    return [
        PictureCase(
            name,
            *(given(file_of(entry["certificate"])), given(file_of(entry["head"]))),
            *(file_of(entry.get("network")), file_of(entry.get("pictures"))),
            *(entry["status"], entry["reason"], entry["comment"]),
        )
        for name, entry in json.loads((CERTIFICATES / INDEX).read_bytes()).items()
    ]
