"""One measurement: explain an image, audit the certificate, count statements and time both."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import safetensors.torch
import torch
from torch import Tensor

from benchmarks import baseline
from benchmarks.heads import Subject
from verale.bounds import observe
from verale.certificate import Certificate, PatchStatement, Statement
from verale.checker import Auditor, Status
from verale.errors import LatentsError, UsageError
from verale.head import Head, Softmax, as_patches, digest
from verale.paradigms import PARADIGMS
from verale.search.explain import explain
from verale.version import __version__

__all__ = ["VERALE", "Measurement", "entailing", "equalities", "measure_baseline", "measure_verale"]

VERALE = "verale"
_LEAST = 2.0**-1000
"""A positive margin below any that a proof gives."""


@dataclass(frozen=True)
class Measurement:
    """One image, one method. The fields are the columns of images.csv.

    Attributes:
        head: the subject's name.
        source: `verale` or `baseline`.
        method: paradigm of verale, or of the papers.
        image: its index among the latents.
        predicted: the class explained.
        outcome: `certificate`, `unexplained`, `not sound` (a baseline explanation), `> limit` (baseline, out of time).
        size: statements; for `> limit` those at the end of the time; None where unexplained.
        share: size over the number of possible statements (L * P; P for top_k).
        grown: baseline: statements before deletion.
        explain_seconds: processor time of the one thread, which other programs inflate less than wall time; wall time
            on a device other than the CPU. verale: an equal share of the batch's time, including its set-up.
        explain_wall_seconds: wall time of the same.
        audit_seconds: processor time of Auditor.check, default kernel, instance claim included; not that of the proved
            program, a process of its own.
        bytes: of the certificate.
        verdict: the checker's status: PROVED, NOT_PROVED...; for the baseline, of the same statements as intervals in a
            certificate of the strongest paradigm. Empty where nothing was audited.
        reason: why there is no certificate, or no proof.
    """

    head: str
    source: str
    method: str
    image: int
    predicted: int
    outcome: str
    size: int | None
    share: float | None
    grown: int | None
    explain_seconds: float
    explain_wall_seconds: float
    audit_seconds: float | None
    bytes: int | None
    verdict: str
    reason: str


def measure_verale(
    subject: Subject, paradigm: str, batch: int, device: str = "cpu", order: str = "rival"
) -> Iterator[Measurement]:
    """Explain and audit every image of a subject; `batch` images are explained in lockstep and share its time equally.

    Raises:
        UsageError: a paradigm that is not defined for the head.
    """
    spatial = paradigm in PARADIGMS and PARADIGMS[paradigm].spatial
    method = paradigm if order == "rival" or not spatial else f"{paradigm}, {order} first"
    auditor = _auditor(subject)
    possible = subject.head.size * (subject.latents.shape[1] if spatial else 1)
    for start in range(0, len(subject.latents), batch):
        images = subject.latents[start : start + batch]
        begin, begin_cpu = time.perf_counter(), time.process_time()
        results = explain(subject.head, images, paradigm, order=order, device=device, batch=len(images))
        wall = (time.perf_counter() - begin) / len(images)
        seconds = (time.process_time() - begin_cpu) / len(images) if device == "cpu" else wall
        for index, result in enumerate(results, start):
            if not isinstance(result, Certificate):
                yield Measurement(
                    *(subject.name, VERALE, method, index, result.predicted, "unexplained"),
                    *(None, None, None, seconds, wall, None, None, "", result.reason),
                )
                continue
            certificate = result.to_bytes()
            audit, verdict, reason = _audit(auditor, certificate)
            yield Measurement(
                *(subject.name, VERALE, method, index, result.predicted, "certificate"),
                *(result.size, result.size / possible, None, seconds, wall, audit, len(certificate), verdict, reason),
            )


def measure_baseline(subject: Subject, method: str, limit: float) -> Iterator[Measurement]:
    """Explain every image with the published method, then ask the checker whether the statements entail the class."""
    published = subject.published
    if published is None:
        raise UsageError(f"the papers have no spatial bounds for {subject.name}")
    auditor = _auditor(subject)
    possible = subject.head.size * subject.latents.shape[1]
    for index, patches in enumerate(subject.latents):
        wall = time.perf_counter()
        explained = baseline.explain(published, patches, method, limit)
        wall = time.perf_counter() - wall
        verdict, reason = "", ""
        if explained.finished:
            verdict, reason = _verdict_on_baseline(subject, auditor, patches, explained)
        size = len(explained.pairs)
        yield Measurement(
            *(subject.name, "baseline", method, index, explained.predicted),
            "not sound" if explained.finished else "> limit",
            *(size, size / possible, explained.grown, explained.seconds, wall, None, None),
            *(verdict, reason),
        )


def _verdict_on_baseline(
    subject: Subject, auditor: Auditor, patches: Tensor, explained: baseline.Explained
) -> tuple[str, str]:
    """The checker's verdict on the baseline's statements, each with an interval that holds the true value.

    The certificate names the strongest paradigm, whose bounds are at least as tight as the papers'. PROVED means that
    the explanation entails the class. NOT_PROVED leaves it open: these bounds treat each patch alone, as the papers do.
    """
    image = as_patches(patches[None])[0]
    try:
        statements = equalities(subject.head, image, explained.pairs)
    except LatentsError as error:
        return "", str(error)
    paradigm = "simplex" if isinstance(subject.head.geometry, Softmax) else "projection"
    certificate = entailing(subject.head, image, explained.predicted, paradigm, statements)
    return _audit(auditor, certificate.to_bytes())[1:]


def equalities(head: Head, image: Tensor, pairs: Iterable[tuple[int, int]]) -> tuple[PatchStatement, ...]:
    """What an image (L, D) float64 has for pairs of a patch and a prototype, each an interval about the true value.

    Raises:
        LatentsError: latents that do not fit the head.
    """
    observed = observe(head, image)
    return tuple(
        PatchStatement(patch, j, float(observed.lower[patch, j]), float(observed.upper[patch, j])) for patch, j in pairs
    )


def entailing(head: Head, image: Tensor, predicted: int, paradigm: str, statements: Sequence[Statement]) -> Certificate:
    """A certificate that claims no more than that the statements entail the class, and are true of the image."""
    return Certificate(
        head=head.digest,
        latents=digest(image),
        predicted=predicted,
        paradigm=paradigm,
        patches=len(image),
        statements=tuple(statements),
        margins=tuple(None if c == predicted else _LEAST for c in range(head.classes)),
        minimal=False,
        version=__version__,
    )


def _audit(auditor: Auditor, certificate: bytes) -> tuple[float, str, str]:
    start = time.process_time()
    verdict = auditor.check(certificate)
    seconds = time.process_time() - start
    return seconds, verdict.status.value, "" if verdict.status is Status.PROVED else verdict.message


def _auditor(subject: Subject) -> Auditor:
    torch.set_num_threads(1)
    latents = safetensors.torch.save({"latents": subject.latents.contiguous()})
    return Auditor(subject.head.to_bytes(), latents)
