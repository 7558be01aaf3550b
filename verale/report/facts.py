"""What words about a certificate need of its head: names and numbers, read by the checker's reader, without torch."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from verale.checker.head_file import read_head
from verale.checker.safetensors_reader import read_tensors

__all__ = ["OBSERVABLES", "HeadFacts"]

OBSERVABLES = {
    "euclidean": "squared distance",
    "cosine": "cosine",
    "rooted_cosine": "cosine",
    "inner_product": "inner product",
    "softmax": "softmax mass",
}
"""By the geometry's name in head files: what comparing a patch with a prototype gives."""


@dataclass(frozen=True)
class HeadFacts:
    """A head, as far as words need it.

    Attributes:
        sha256: of its file.
        labels: the names of its classes, where it has some.
        prototypes: P.
        observable: what comparing a patch with a prototype gives.
    """

    sha256: str
    labels: tuple[str, ...] | None
    prototypes: int
    observable: str

    @classmethod
    def of(cls, data: bytes) -> HeadFacts:
        """Those of a head's file. Raises HeadError of the checker, which names the field."""
        head = read_head(data)
        (description,) = read_tensors(data)[0].values()
        labels = json.loads(description)["labels"]
        return cls(
            hashlib.sha256(data).hexdigest(),
            None if labels is None else tuple(labels),
            head.count,
            OBSERVABLES[head.geometry],
        )
