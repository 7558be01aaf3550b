"""Attribution: in which share of several explanations of one image each prototype and each patch stands; its files."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from verale.certificate import Certificate
from verale.certificate.statements import subjects_of
from verale.certificate.words import class_name, float_below
from verale.checker import AuditOptions, most_severe
from verale.errors import InputError, LatentsError, UsageError
from verale.options import keywords
from verale.runs.arguments import HeadFile
from verale.runs.audit import AuditSetup, audited_by, auditor_of
from verale.runs.listed import StoredBytes
from verale.runs.options import PROVING, audit_options
from verale.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

    from verale.runs.folder import Journal
    from verale.runs.options import RunOptions

_log = logging.getLogger(__name__)

IN_A_ROW = 100
"""The search ends when so many orders in a row give nothing new."""

_TYPE = "urn:verale:attribution:v1"


@dataclass(frozen=True)
class Share:
    """In how many explanations something stands.

    Attributes:
        kind: `prototype`, `patch`, `ceiling` or `floor`.
        number: of the prototype or the patch; None of a clause.
        count: how many explanations state something about it.
        share: the count divided by the number of explanations.
        statements: how many statements about it an explanation has, on average over all explanations.
    """

    kind: str
    number: int | None
    count: int
    share: float
    statements: float


@dataclass(frozen=True)
class Listed:
    """One explanation.

    Attributes:
        margin: the least margin that is proved, rounded down.
        minimal: whether it claims that every statement is needed; `verale audit --minimality` proves the claim.
        status: the checker's verdict on entailment and instance, and `reason`, why it is not PROVED.
    """

    certificate: str
    sha256: str
    size: int
    margin: float
    minimal: bool
    status: str
    reason: str


@dataclass(frozen=True, eq=False)
class Attribution:
    """Several explanations of one image, and what stands in them.

    Attributes:
        head: SHA-256 of the head.
        file, image: the latents and the number of the image there.
        predicted: the class, and `name`, what it is called.
        paradigm: of all explanations.
        seed: of the orders, and `orders`, how many were tried.
        complete: whether as many explanations were found as asked for.
        explanations: in the order in which they were found.
        shares: prototypes, patches and clauses, those that stand in no explanation left out; of each kind the most
            frequent first.
        certificates: the explanations.
        latents: the image, as it was stored, (1, D, H, W) or (1, L, D).
        exit_code: 0 if the checker proved all, otherwise that of the most severe verdict.
    """

    head: str
    file: str
    image: int
    predicted: int
    name: str
    paradigm: str
    seed: int
    orders: int
    complete: bool
    patches: int
    explanations: tuple[Listed, ...]
    shares: tuple[Share, ...]
    certificates: tuple[Certificate, ...]
    latents: Tensor
    exit_code: int

    def of(self, kind: str) -> list[Share]:
        """The shares of one kind."""
        return [share for share in self.shares if share.kind == kind]

    def record(self) -> dict[str, Any]:
        """Plain data, without certificates and latents."""
        return {
            "_type": _TYPE,
            "verale": __version__,
            "head": self.head,
            "latents": self.file,
            "image": self.image,
            "predicted": self.predicted,
            "class": self.name,
            "paradigm": self.paradigm,
            "seed": self.seed,
            "orders": self.orders,
            "complete": self.complete,
            "explanations": [asdict(each) for each in self.explanations],
            "shares": [asdict(each) for each in self.shares],
        }

    def rows(self) -> Iterator[tuple[object, ...]]:
        """The table: one row for each prototype, patch or clause that is stated."""
        yield "Kind", "Number", "Count", "Explanations", "Share", "Statements"
        for each in self.shares:
            yield each.kind, each.number, each.count, len(self.explanations), each.share, each.statements


@keywords(AuditOptions, *PROVING)
def attribute(
    head_file: str | HeadFile,
    latents_path: str,
    image: int = 0,
    count: int = 20,
    paradigm: str = "top_k",
    seed: int = 0,
    advance: Callable[[int], object] = lambda more: None,
    options: AuditOptions | str | None = None,
    how: RunOptions | None = None,
    journal: Journal | None = None,
    **fields: Any,
) -> Attribution:
    """Find several subset-minimal explanations of one image, and count what stands in them.

    Args:
        head_file: the head's file, or its path.
        latents_path: the latents file.
        image: its number in the latents.
        count: how many explanations.
        paradigm: one of `verale.search.several.SEVERAL` that the head has.
        seed: of the orders in which statements are dropped.
        advance: called with 1 for each explanation.
        options: what proves, and how long it may take.
        how: how the audits run.
        journal: notes what is found; what it has already is not searched again.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).

    Raises:
        InputError: a file that cannot be used, or an image that has no explanation under the paradigm.
        UsageError: numbers that cannot be used, or a paradigm that the head has not got.

    Soundness: the checker proves every explanation, its entailment and that its statements are true of the image. The
    shares are counts of what was found, not of all explanations that there are.
    """
    from verale.head import as_patches, digest, load_latents
    from verale.search.devices import one_thread
    from verale.search.problem import UnexplainedError
    from verale.search.several import anew, several

    proving = audit_options(options, fields, PROVING)
    if count < 1:
        raise UsageError(f"count is {count}, expected at least 1")
    file, stored = HeadFile.of(head_file), load_latents(latents_path)
    head = file.head
    try:
        images = as_patches(stored)
        if not 0 <= image < len(images):
            raise UsageError(f"image is {image}, expected a number from 0 to {len(images) - 1}: {latents_path}")
        asked = {"head": head.digest, "latents": digest(images[image]), "paradigm": paradigm, "seed": seed}
        remember = anew if journal is None else journal.of(**asked)
        certificates: list[Certificate] = []
        orders = latest = 0
        with one_thread():
            for tried in several(head, images[image], paradigm, seed, remember):
                orders += 1
                if tried.certificate is not None:
                    certificates.append(tried.certificate)
                    latest = orders
                    _log.info("order %d: %d statements", orders, tried.certificate.size)
                    advance(1)
                if len(certificates) == count or orders - latest >= IN_A_ROW:
                    break
    except LatentsError as error:
        raise InputError(latents_path, str(error)) from error
    except UnexplainedError as error:
        raise InputError(latents_path, f"image {image} has no explanation under {paradigm}: {error}") from error
    if not certificates:
        raise InputError(latents_path, f"image {image} has no explanation under {paradigm} that float64 can prove")
    setup = AuditSetup(file.path, latents_path, proving)
    outcomes = list(audited_by(auditor_of(setup, file.data), StoredBytes.numbered(certificates), setup, how))
    listed = [
        Listed(
            certificate=outcome.record["certificate"],
            sha256=outcome.record["sha256"],
            size=certificate.size,
            margin=float_below(certificate.margin),
            minimal=certificate.minimal,
            status=outcome.record["status"],
            reason=outcome.record["reason"],
        )
        for outcome, certificate in zip(outcomes, certificates, strict=True)
    ]
    predicted = certificates[0].predicted
    return Attribution(
        head=head.digest,
        file=latents_path,
        image=image,
        predicted=predicted,
        name=class_name(predicted, head.labels),
        paradigm=paradigm,
        seed=seed,
        orders=orders,
        complete=len(certificates) == count,
        patches=images.shape[1],
        explanations=tuple(listed),
        shares=shares_of(certificates),
        certificates=tuple(certificates),
        latents=stored[image : image + 1].clone(),
        exit_code=most_severe([outcome.exit_code for outcome in outcomes]),
    )


def shares_of(certificates: list[Certificate]) -> tuple[Share, ...]:
    """In how many certificates each prototype, patch and clause stands; of each kind the most frequent first.

    A prototype or a patch counts once a certificate, however many statements there are about it.
    """
    counts, statements = Counter[tuple[str, int | None]](), Counter[tuple[str, int | None]]()
    for certificate in certificates:
        said = [subject for statement in certificate.statements for subject in subjects_of(statement)]
        statements.update(said)
        counts.update(set(said))
    kinds = ("prototype", "patch", "ceiling", "floor", "sum")
    order = sorted(
        counts,
        key=lambda each: (kinds.index(each[0]), -counts[each], -statements[each], -1 if each[1] is None else each[1]),
    )
    total = len(certificates)
    return tuple(Share(*each, counts[each], counts[each] / total, statements[each] / total) for each in order)
