"""`certificates/picture`: certificates that claim a picture, and the outcome that each has to get."""

from __future__ import annotations

import json
from dataclasses import dataclass

from verale.checker import Auditor, HeadError, LatentsError, NetworkError, PictureError
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
        try:
            auditor = Auditor(self.head, None, kernel, network=self.network, pictures=self.pictures)
        except (HeadError, LatentsError):
            return "INPUT_ERROR", "head"
        except NetworkError:
            return "INPUT_ERROR", "network"
        except PictureError:
            return "INPUT_ERROR", "picture"
        verdict = auditor.check(self.certificate, minimality=True)
        return verdict.status.value, verdict.reason


def stored_pictures() -> list[PictureCase]:
    """The cases as committed."""

    def read(path: str | None) -> bytes | None:
        return None if path is None else (CERTIFICATES / path).read_bytes()

    return [
        PictureCase(
            name,
            (CERTIFICATES / entry["certificate"]).read_bytes(),
            (CERTIFICATES / entry["head"]).read_bytes(),
            read(entry.get("network")),
            read(entry.get("pictures")),
            entry["status"],
            entry["reason"],
            entry["comment"],
        )
        for name, entry in json.loads((CERTIFICATES / INDEX).read_bytes()).items()
    ]
