"""What a rejected case claims, in truth, as its mark says.

A mark is one of three:

- *false*, and shown to be. `breaks` are latents that satisfy every statement and fall short of a margin; or `claim`
  names what the certificate itself says wrongly: `instance` or `subject`; or `dropped` is the index of a statement that
  is needless, though minimality is claimed.
- *beyond*: true, or not known to be false, but more than the reference argument shows. `why` says in one sentence.
- *malformed*: it claims nothing, since it breaks a rule of the format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["BEYOND", "FALSE", "INSTANCE", "MALFORMED", "SUBJECT", "Truth"]

FALSE, BEYOND, MALFORMED = "false", "beyond", "malformed"
INSTANCE, SUBJECT = "instance", "subject"


@dataclass(frozen=True)
class Truth:
    """The mark of a rejected case.

    Attributes:
        mark: FALSE, BEYOND or MALFORMED.
        breaks: a latents file of one image that breaks the entailment claim, or None.
        claim: the claim that is false by what it says, INSTANCE or SUBJECT, or None.
        dropped: the index of a statement that is needless though minimality is claimed, or None.
        why: what makes the claim true, or hard to prove; "" of others.
    """

    mark: str
    breaks: bytes | None = None
    claim: str | None = None
    dropped: int | None = None
    why: str = ""

    @classmethod
    def of(cls, entry: dict[str, Any], breaks: bytes | None) -> Truth | None:
        """The mark in an entry of the manifest, None where it has none."""
        if "truth" not in entry:
            return None
        return cls(entry["truth"], breaks, entry.get("claim"), entry.get("dropped"), entry.get("why", ""))
