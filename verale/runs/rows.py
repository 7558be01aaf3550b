"""What a run keeps of an image: its row of the table and its certificate."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verale.files import certificate_name
from verale.paradigms import PARADIGMS
from verale.runs.table import Explained

if TYPE_CHECKING:
    from torch import Tensor

    from verale.certificate import Certificate
    from verale.search import ImageResult, NotKept

__all__ = ["reach_of", "rows_and_certificates"]


def rows_and_certificates(
    results: list[ImageResult],
    first: int,
    prototypes: int,
    seconds: float,
    labels: Sequence[int | None] | None = None,
) -> tuple[list[Explained], list[tuple[str, bytes]]]:
    """The table's rows for a batch, and its certificates (name, bytes).

    Args:
        results: one for each image of the batch.
        first: the index of its first image.
        prototypes: P of the head.
        seconds: the time spent on one image.
        labels: the true classes of the batch's images, if they are known.
    """
    from verale.certificate import Certificate
    from verale.certificate.words import float_below

    rows, certificates = [], []
    for index, (result, label) in enumerate(zip(results, labels or [None] * len(results), strict=True), first):
        explanation = result.explanation
        values: dict[str, Any] = {
            "index": index,
            "predicted": explanation.predicted,
            "seconds": seconds,
            "label": label,
            "correct": None if None in (label, explanation.predicted) else label == explanation.predicted,
            "others": "; ".join(map(_attempt, result.others)) or None,
            **_confidence(result.logits, explanation.predicted),
        }
        if isinstance(explanation, Certificate):
            data, name = explanation.to_bytes(), certificate_name(index)
            certificates.append((name, data))
            possible = prototypes * (explanation.patches if PARADIGMS[explanation.paradigm].spatial else 1)
            values |= {
                "size": explanation.size,
                "relative_size": round(explanation.size / possible, 6),
                "margin": float_below(explanation.margin),
                "paradigm": explanation.paradigm,
                "certificate": name,
                "sha256": hashlib.sha256(data).hexdigest(),
                **reach_of(explanation, prototypes),
            }
        else:
            values["reason"] = explanation.reason
        rows.append(Explained(**values))
    return rows, certificates


def reach_of(certificate: Certificate, prototypes: int) -> dict[str, Any]:
    """What a certificate's statements bound, and of how much, as fields of its row.

    Args:
        prototypes: P of the head.
    """
    from verale.certificate.reach import bounded

    reach = bounded(certificate.statements, prototypes, certificate.patches)
    return {
        "bounded_prototypes": reach.prototypes,
        "prototypes": prototypes,
        "bounded_pairs": reach.pairs,
        "pairs": prototypes * certificate.patches,
    }


def _attempt(other: NotKept) -> str:
    return f"{other.paradigm} {other.reason if other.size is None else other.size}"


def _confidence(logits: Tensor | None, predicted: int | None) -> dict[str, object]:
    """The predicted class and the next one, by their logits (C,); None where a logit is infinite, and nothing where
    logits or class are not known."""
    import torch

    if logits is None or predicted is None:
        return {}
    second = next(each for each in logits.argsort(descending=True).tolist() if each != predicted)
    (score, second_score), (share, second_share) = (
        values[[predicted, second]].tolist() for values in (logits, torch.softmax(logits, dim=0))
    )
    numbers = {
        "score": score,
        "probability": share,
        "second_score": second_score,
        "second_probability": second_share,
        "score_difference": score - second_score,
        "probability_difference": share - second_share,
    }
    return {"second": second} | {key: value if math.isfinite(value) else None for key, value in numbers.items()}
