"""verale beside the papers' own code, run as it is: the same heads, the same latents, one run.

    git clone https://github.com/julsoria/beyond_l2
    pip install 'verale[cabrnet]' torchinfo psutil
    python -m benchmarks.authors --code beyond_l2 --data DATA --images 2 --out benchmarks/results/authors.md

CODE is fetched by hand: `explain/subset_minimal_axp.py` and `explain/extended_explainers.py` of julsoria/beyond_l2, run
at commit 5e6511c (the page has their digests). Nothing of it is part of this project. It is imported from there, in a
process of its own with one thread. It gets the small model that it expects, made of the head, whose images are latents,
and its `explain_one` is called with its defaults, on the CPU. An image that takes longer than the limit ends the
process; verale has the same limit.

Its `run_formal_exp.py` makes one explainer for all images, and so does this. The spatial explainers keep bounds from
image to image: therefore an image that follows another one is also explained as `fresh`, by a new explainer. TesNet's
prototypes are stored with lengths that its hyperspheres take for one: `unit` gives them the length one, which leaves
all cosines as they are. The time of making an explainer is in no column.

What it returns are pairs of patch and prototype, or prototypes, with values in float32. Each becomes the statement that
the observable, or the activation, has the value that these latents truly have: an interval as narrow as floats allow,
which is the most that the returned value can mean. `top_k` also states that no other activation exceeds the least
stated one. The default audit says whether the statements entail the class, under `projection`, `simplex`, `top_k` or
`sparse`. Where it does not, the search of `verale refute` looks for latents that satisfy all of them and are of another
class: then the explanation entails nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from benchmarks.authors_code import FILES, Explainer, Outcome, explainers_of, serve
from benchmarks.environment import describe, listed
from benchmarks.heads import HEADS, SMALLER, Subject, build
from benchmarks.limited import Limited
from benchmarks.measure import entailing, equalities
from benchmarks.tables.explaining import Method, Within
from verale.bounds import activation, observe
from verale.certificate import ActivationStatement, OrderStatement, Statement
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.head import Cosine, Euclidean, Head, Negated, Softmax, as_patches, save_latents
from verale.runs.refute import refute

__all__ = ["Row", "Run", "main", "page", "theirs", "translated", "verales"]

DENSITY = "cub-density-40"
"""`cub-protopnet-40` with the papers' other Gaussian similarity, the logarithm of the density. All prototypes have the
variance 1 / (2 pi), whose density has no constant: none of the trained heads has this similarity."""

DEFAULT = ("cub-protopnet-40:5", DENSITY, "cub-cosine-40", "pipnet", "protopnet", "tesnet", "gaussian")
"""With the number of images where that is another one: the fifth of the small head is of the class of the first."""


def translated(
    head: Head, image: Tensor, explanation: Mapping[Any, float], ceiling: bool
) -> tuple[str, tuple[Statement, ...], float]:
    """What an explanation of theirs says, in verale's statements.

    Args:
        head: the head.
        image: (L, D) float64.
        explanation: by pair of patch and prototype, or by prototype, the value: a distance, 1 minus a cosine, a mass or
            an activation.
        ceiling: whether it also says that no other activation exceeds the least that is stated (`top_k`).

    Returns:
        The paradigm under which they entail most, the statements, and how far the farthest value is from the truth.
    """
    observed, keys = observe(head, image), sorted(explanation)
    statements: tuple[Statement, ...]
    if keys and not isinstance(keys[0], tuple):
        similar = activation(head, observed)
        lower, upper = similar.lower.amax(0), similar.upper.amax(0)
        true = ((lower + upper) / 2)[keys].tolist()
        statements = tuple(ActivationStatement(j, float(lower[j]), float(upper[j])) for j in keys)
        others = sorted({*range(head.size)} - {*keys})
        if ceiling and others:  # rounding may have put another one above it
            statements += (OrderStatement(tuple(keys), max(float(upper[keys].min()), float(upper[others].max()))),)
        paradigm = "top_k" if ceiling else "sparse"
    else:
        statements = equalities(head, image, keys)
        values = (observed.lower + observed.upper) / 2
        if isinstance(head.geometry, Euclidean):
            values = values.clamp(min=0).sqrt()
        elif isinstance(head.geometry, Cosine):
            values = 1 - values
        true = [float(values[key]) for key in keys]
        paradigm = "simplex" if isinstance(head.geometry, Softmax) else "projection"
    off = max((abs(value - explanation[key]) for key, value in zip(keys, true, strict=True)), default=0.0)
    return paradigm, statements, off


@dataclass(frozen=True)
class Row:
    """One image under one paradigm, of either program.

    Attributes:
        whose: `theirs` or `verale`.
        title: of the paradigm.
        image: its number.
        verdict: `proved`; `refuted`, it entails nothing; `open`, neither is known; `limit`, `failed` or `unexplained`.
        size: statements; None where there is no explanation.
        seconds: processor seconds; None where it did not end.
        off: how far the farthest value returned is from the true one.
        reason: why there is no explanation, or no proof.
        follows: whether its explainer had explained another image.
    """

    whose: str
    title: str
    image: int
    verdict: str
    size: int | None = None
    seconds: float | None = None
    off: float = 0.0
    reason: str = ""
    follows: bool = False


@dataclass(frozen=True)
class Run:
    """What both programs get.

    Attributes:
        subject: the head and its latents.
        head, latents: their files.
        limit: processor seconds an image.
        search: seconds for a counterexample.
    """

    subject: Subject
    head: Path
    latents: Path
    limit: float
    search: float

    @classmethod
    def of(cls, subject: Subject, folder: Path, limit: float, search: float) -> Run:
        """Write the files into a folder."""
        run = cls(subject, folder / "head", folder / "latents", limit, search)
        subject.head.save(run.head)
        save_latents(run.latents, subject.latents)
        return run


def theirs(run: Run, code: Path, explainers: Sequence[Explainer]) -> Iterator[Row]:
    """Their explanations of every image, audited; what is not proved is searched for a counterexample.

    Args:
        run: head, latents and limits.
        code: the folder with their code.
        explainers: their paradigms. Spatial ones are run as `fresh` too, for images that follow another one.
    """
    auditor = Auditor(run.head.read_bytes(), run.latents.read_bytes())
    for explainer in explainers:
        follow: list[int] = []
        for each in (explainer, replace(explainer, fresh=True)):
            with Limited(serve, code, run.head, run.latents, each, run.limit) as process:
                for image in follow if each.fresh else range(len(run.subject.latents)):
                    row = _row(run, auditor, each, image, process.ask(image))
                    follow += [image] * (row.follows and explainer.paradigm is not None)
                    yield row
                    if row.verdict == "failed":
                        process.end()


def _row(run: Run, auditor: Auditor, explainer: Explainer, image: int, outcome: Outcome | None) -> Row:
    head, latents = run.subject.head, run.subject.latents[image : image + 1]
    row = Row("theirs", explainer.title, image, "limit")
    if outcome is None or outcome.failed:
        return row if outcome is None else replace(row, verdict="failed", reason=outcome.failed)
    row = replace(row, seconds=outcome.seconds, follows=outcome.follows)
    patches = as_patches(latents)[0]
    paradigm, statements, off = translated(head, patches, outcome.explanation, ceiling=explainer.name == "top_k")
    certificate = entailing(head, patches, outcome.predicted, paradigm, statements)
    verdict = auditor.check(certificate.to_bytes())
    row = replace(row, size=len(statements), off=off, verdict="proved")
    if verdict.status is Status.PROVED:
        return row
    refuted = refute(certificate, head, latents, seconds=run.search).status is Status.REFUTED
    return replace(row, verdict="refuted" if refuted else "open", reason=verdict.message)


def verales(run: Run) -> Iterator[Row]:
    """verale's explanations of the same images, under the paradigms that answer to theirs and under its best one."""
    softmax = isinstance(run.subject.head.geometry, Softmax)
    for paradigm in _MASSES if softmax else _METRIC:
        with Within(run.head, run.latents, run.limit) as within:
            for image in range(len(run.subject.latents)):
                kept = within.explain(image, Method(paradigm))
                row = Row("verale", paradigm, image, "limit")
                if kept is not None:
                    verdict = "unexplained" if kept.row.size is None else _VERDICTS.get(kept.verdict, "open")
                    row = replace(row, verdict=verdict, size=kept.row.size, seconds=kept.row.seconds)
                yield row


_METRIC = ("top_k", "projection", "triangle", "hypersphere")
_MASSES = ("top_k", "simplex", "sparse", "assignment")
_VERDICTS = {Status.PROVED.value: "proved"}


def _subject(name: str, data: Path, images: int) -> Subject:
    if name != DENSITY:
        return build(name, data, images)
    subject = build("cub-protopnet-40", data, images)
    scale = torch.full((subject.head.size,), math.pi)  # -d^2 / (2 variance)
    head = replace(subject.head, similarity=Negated(), scale=scale)
    return Subject(name, head, None, subject.latents, f"{subject.note}; similarities are logarithms of densities")


def page(rows: Mapping[str, Sequence[Row]], notes: Mapping[str, str], facts: Mapping[str, object]) -> str:
    """The tables in Markdown."""
    lines = [
        "# Beside the papers' own code",
        "",
        "Their code as it is, and verale, on the same heads and latents in one run; see `benchmarks/authors.py`.",
        "",
        *listed(facts),
        "",
        "| head | whose | paradigm | images | over the limit | failed | explained | proved | entails nothing | open |"
        " statements | seconds | values off by |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, each in rows.items():
        lines += _lines(name, each)
    lines += [
        "",
        "Statements and seconds are means over what was explained; processor seconds of one thread, that of making an"
        " explainer not counted for theirs. Where `over the limit` is not 0, the mean is of the easier images. Fresh:"
        " images that follow another one of the same explainer, explained by a new one. Unit: prototypes of length one."
        " Entails nothing: latents that satisfy all statements are of another class, and the checker says so. Open:"
        " neither proved nor refuted. Values off by: the farthest of a returned value from the true one, of distances,"
        " 1 minus cosines, masses or activations.",
        "",
        "## Heads",
        "",
        *(f"- {name}: {note}" for name, note in notes.items()),
        "",
        "## Image by image",
        "",
        *(
            f"- {name}, {each.whose}, {each.title}, image {each.image}: {_told(each)}"
            for name in rows
            for each in rows[name]
        ),
    ]
    return "\n".join(lines) + "\n"


def _lines(name: str, rows: Sequence[Row]) -> Iterator[str]:
    for whose, title in dict.fromkeys((row.whose, row.title) for row in rows):
        these = [row for row in rows if (row.whose, row.title) == (whose, title)]
        counts = [
            sum(row.verdict == each for row in these) for each in ("limit", "failed", "proved", "refuted", "open")
        ]
        found = [row for row in these if row.size is not None]
        cells = (
            *(name, whose, title, len(these), *counts[:2], len(found), *counts[2:]),
            *(
                (f"{fmean(row.size or 0 for row in found):.1f}", f"{fmean(row.seconds or 0 for row in found):.3f}")
                if found
                else "--"
            ),
            f"{max(row.off for row in found):.1e}" if found and whose == "theirs" else "-",
        )
        yield f"| {' | '.join(map(str, cells))} |"


def _told(row: Row) -> str:
    size = "" if row.size is None else f", {row.size} statements"
    seconds = "" if row.seconds is None else f", {row.seconds:.3f} s"
    return row.verdict + size + seconds + (f" ({row.reason})" if row.reason else "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(prog="benchmarks.authors", description="verale beside the papers' own code.")
    parser.add_argument("--code", type=Path, required=True, help="a clone of github.com/julsoria/beyond_l2")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the trained heads")
    known = ", ".join((*HEADS, *SMALLER, DENSITY))
    parser.add_argument(
        "--heads", default=",".join(DEFAULT), help=f"some of {known}; NAME:N takes N images, NAME:I+J two"
    )
    parser.add_argument("--images", type=int, default=2, help="how many images a head")
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds an image, of either program")
    parser.add_argument("--search", type=float, default=10.0, help="seconds of a search for a counterexample")
    parser.add_argument("--out", type=Path, help="file for the page")
    args = parser.parse_args(arguments)
    if missing := [name for name in FILES if not (args.code / name).is_file()]:
        parser.error(f"--code: {args.code} has no {missing[0]}: git clone https://github.com/julsoria/beyond_l2")
    torch.set_num_threads(1)
    digests = [hashlib.sha256((args.code / name).read_bytes()).hexdigest()[:16] for name in FILES]
    facts = describe() | {f"SHA-256 of {name}": f"{digest}..." for name, digest in zip(FILES, digests, strict=True)}
    facts["command"] = f"python -m benchmarks.authors {' '.join(sys.argv[1:] if arguments is None else arguments)}"
    rows: dict[str, list[Row]] = {}
    notes: dict[str, str] = {}
    for asked in args.heads.split(","):
        name, _, count = asked.partition(":")
        try:
            chosen = [int(each) for each in count.split("+")] if "+" in count else range(int(count or args.images))
            subject = _subject(name, args.data, max(chosen, default=0) + 1)
            subject = replace(subject, latents=subject.latents[list(chosen)])
            explainers = explainers_of(subject.head)
        except (UsageError, ValueError) as error:
            parser.error(f"--heads {asked}: {error}")
        notes[name] = subject.note
        with tempfile.TemporaryDirectory() as folder:
            run = Run.of(subject, Path(folder), args.limit, args.search)
            for row in chain(theirs(run, args.code, explainers), verales(run)):
                rows.setdefault(name, []).append(row)
                print(f"{name}, {row.whose}, {row.title}, image {row.image}: {_told(row)}", file=sys.stderr, flush=True)
                if args.out:
                    args.out.write_text(page(rows, notes, facts), encoding="utf-8")
    print(page(rows, notes, facts))
    return 1 if any(row.verdict == "open" and row.whose == "verale" for name in rows for row in rows[name]) else 0


if __name__ == "__main__":
    sys.exit(main())
