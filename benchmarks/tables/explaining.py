"""Explain images under a method, each within a budget of processor time, and audit what is found.

An image is explained in another process, which a timer of its own processor time ends, whatever it computes
then. The process is started again for the next image.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import executable
from benchmarks.limited import Limited, limited, prepare
from verale.errors import InputError, VeraleError, first_line
from verale.files import read, write_atomically
from verale.paradigms import PARADIGMS
from verale.runs.table import COLUMNS, Explained, csv_line, csv_lines, read_table

if TYPE_CHECKING:
    from torch import Tensor

    from verale.checker import Auditor
    from verale.head import Head

__all__ = ["METHODS", "Kept", "Method", "Within", "methods_of", "read_kept", "write_kept"]

_MORE = ("Audit (s)", "Verdict")


@dataclass(frozen=True)
class Method:
    """A paradigm with the order of its statements.

    Attributes:
        paradigm: as verale spells it.
        order: None for verale's own.
        published: the names under which the papers' `run_formal_exp.py` has it.
    """

    paradigm: str
    order: str | None = None
    published: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As tables and options have it."""
        return self.paradigm if self.order is None else f"{self.paradigm}/{self.order}"

    @property
    def table(self) -> str:
        """The name of its kept table."""
        return f"{self.name.replace('/', '-')}_explanations.csv"


METHODS = (
    Method("projection"),
    Method("mixed"),
    Method("triangle"),
    Method("triangle", "nearest", ("triangle", "cosine", "isotropic_log", "isotropic_gaussian")),
    Method("hypersphere"),
    Method(
        "hypersphere",
        "nearest",
        ("hypersphere", "cosine_hypersphere", "isotropic_log_hypersphere", "isotropic_gaussian_hypersphere"),
    ),
    Method("assignment"),
    Method("simplex"),
    Method("simplex", "nearest", ("simplex",)),
    Method("sparse", None, ("pip_sparse",)),
    Method("joint"),
    Method("evidence"),
    Method("top_k"),
    Method("top_k", "highest", ("top_k",)),
)
"""Every paradigm, and those of the papers in their order of statements."""


def methods_of(paradigms: Sequence[str], chosen: Sequence[str] | None) -> list[Method]:
    """The methods of a head that has these paradigms; all, or those of these names."""
    return [each for each in METHODS if each.paradigm in paradigms and (chosen is None or each.name in chosen)]


@dataclass(frozen=True)
class Kept:
    """One image under one method, as it is kept.

    Attributes:
        row: what `explanations.csv` says of it.
        audit_seconds: processor time of the audit.
        verdict: the checker's; empty where there is no certificate.
    """

    row: Explained
    audit_seconds: float | None = None
    verdict: str = ""


def read_kept(path: Path) -> list[Kept]:
    """The rows of a kept table. Raises InputError."""
    rows = read_table(path)
    lines = csv.DictReader(io.StringIO(read(path, "a kept table").decode(), newline=""))
    try:
        return [
            Kept(row, float(line[_MORE[0]]) if line[_MORE[0]] else None, line[_MORE[1]])
            for row, line in zip(rows, lines, strict=True)
        ]
    except (KeyError, ValueError) as error:
        raise InputError(path, f"has no columns {', '.join(_MORE)}; remove it to measure again") from error


def write_kept(path: Path, kept: Sequence[Kept]) -> None:
    """Write a kept table; a reader of the papers' tables reads it too."""
    lines = [csv_line((*COLUMNS, *_MORE))]
    lines += [f"{csv_lines([each.row]).rstrip()},{csv_line((each.audit_seconds, each.verdict))}" for each in kept]
    write_atomically(path, ("\n".join(lines) + "\n").encode())


class Within(Limited):
    """A process that explains the images of one head, each within a budget.

    Args:
        head: the head's file.
        latents: the file of its latents.
        budget: processor seconds an image; what comes before, such as starting Python, is not counted.
    """

    def __init__(self, head: Path, latents: Path, budget: float) -> None:
        super().__init__(_serve, head, latents, budget)
        self.budget = budget

    def explain(self, image: int, method: Method) -> Kept | None:
        """The explanation of an image, audited; None where the budget did not suffice."""
        kept: Kept | None = self.ask((image, method))
        return kept


def _serve(line: Connection, head_file: Path, latents_file: Path, budget: float) -> None:
    """Answer until the other end is closed."""
    import torch

    from verale.checker import Auditor
    from verale.head import Head, as_patches, load_latents
    from verale.search import best_paradigm
    from verale.search.explain import explain

    prepare()
    torch.set_num_threads(1)
    head, latents = Head.load(head_file), as_patches(load_latents(latents_file))
    explain(head, latents[:1], best_paradigm(head))  # imports are paid by no image
    auditor = Auditor(head_file.read_bytes(), latents_file.read_bytes())
    with suppress(EOFError):
        while True:
            image, method = line.recv()
            line.send(_of_one(head, latents, auditor, image, method, budget))


def _of_one(head: Head, latents: Tensor, auditor: Auditor, image: int, method: Method, budget: float) -> Kept:
    from verale.certificate import Certificate
    from verale.head import evaluate
    from verale.search import Unexplained
    from verale.search.explain import explain

    start = time.process_time()
    with limited(budget):
        try:
            (found,) = explain(head, latents[image : image + 1], method.paradigm, order=method.order)
        except VeraleError as error:  # such as one for memory: no reason to lose the other methods
            (predicted,) = evaluate(head, latents[image : image + 1]).predicted.tolist()
            found = Unexplained(predicted, first_line(error))
    seconds = time.process_time() - start
    if not isinstance(found, Certificate):
        return Kept(Explained(image, found.predicted, seconds, reason=found.reason))
    start = time.process_time() + executable.seconds(auditor)
    verdict = auditor.check(found.to_bytes())
    audit = time.process_time() + executable.seconds(auditor) - start
    possible = head.size * (latents.shape[1] if PARADIGMS[method.paradigm].spatial else 1)
    row = Explained(
        *(image, found.predicted, seconds),
        size=found.size,
        relative_size=found.size / possible,
        paradigm=found.paradigm,
    )
    return Kept(row, audit, verdict.status.value)
