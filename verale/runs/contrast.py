"""Contrast: a smallest set of statements whose release lets another class win, with latents that show it; and what
these look like: pictures by a decoder, or the nearest patches of images that are known."""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from verale.adapters.fields import Origin
from verale.certificate import ActivationStatement, Certificate, FloorStatement, PatchStatement, SumStatement
from verale.certificate.statements import activations_bounded
from verale.certificate.words import float_below
from verale.checker import AuditOptions, Auditor, Status
from verale.errors import HeadError, InputError, UsageError, naming
from verale.files import require_writable
from verale.head import Evaluation, Head, evaluate
from verale.head.head import belonging
from verale.options import keywords
from verale.runs.arguments import HeadFile, class_named, is_path, loaded_images, require_search
from verale.runs.folder import write_beside
from verale.runs.inputs import SOURCE
from verale.runs.options import PROVING, audit_options
from verale.runs.refute import Released, Witness, opened
from verale.runs.source import Source, load_source
from verale.runs.written import WrittenFiles

_log = logging.getLogger(__name__)

SECONDS = 60.0
EACH = 2.0
"""Seconds of the search with one set of statements released."""

_MOST_SETS = 256
"""Sets of one size are tried one by one if there are at most so many."""

_TYPE = "urn:verale:contrast:v1"
WITNESS, REST, PROOF, RECORD = "witness.latents.safetensors", "rest.ale.json", "witness.ale.json", "contrast.json"
PICTURE, BEFORE = "witness.png", "image.png"
_FILES = (WITNESS, REST, PROOF, PICTURE, BEFORE)
_BY = "contrast"


@dataclass(frozen=True)
class NearPatch:
    """A changed patch, and the patch of a known image whose latent is nearest to it.

    Attributes:
        image, at: the image's index in the latents file, and its patch.
        file: the image's file, where known.
        distance: between the latents; an estimate.
        moved: how far the changed one is from what it was.
    """

    patch: int
    image: int
    at: int
    file: str | None
    distance: float
    moved: float


@dataclass(frozen=True, eq=False)
class Found:
    """A set of statements whose release lets the class win.

    Attributes:
        released: their numbers, increasing.
        witness: latents that satisfy all others.
        proof: a proved certificate that the witness gets the class, and why.
    """

    released: tuple[int, ...]
    witness: Witness
    proof: Certificate


@dataclass(frozen=True, eq=False)
class Contrast:
    """Why a certificate's class, and not another one.

    Attributes:
        at_least: the checker proves that the class loses unless so many statements are released; more than there are if
            it loses everywhere.
        near: the patches that changed most, with the nearest ones of known images.
        origins: the training patches of prototypes, where known.
    """

    certificate: Certificate
    goal: int
    at_least: int
    found: Found | None
    near: tuple[NearPatch, ...] = ()
    origins: Mapping[int, Origin] = field(default_factory=dict)

    @property
    def is_smallest(self) -> bool:
        """Whether no smaller set lets the class win, as the checker proves."""
        return self.found is not None and len(self.found.released) == self.at_least

    @property
    def prototypes(self) -> list[int]:
        """The prototypes of which the released statements and the witness's explanation speak."""
        spoken = [self.certificate.statements[number] for number in self.found.released] if self.found else []
        spoken += self.found.proof.statements if self.found else ()
        return sorted({each.prototype for each in spoken if isinstance(each, PatchStatement | ActivationStatement)})

    def record(self, head: Head) -> dict[str, Any]:
        """Plain data for JSON."""
        record = {
            "_type": _TYPE,
            "predicted": self.certificate.predicted,
            "class": self.goal,
            "paradigm": self.certificate.paradigm,
            "statements": self.certificate.size,
            "at_least": self.at_least,
            "found": self.found is not None,
        }
        if self.found is None:
            return record
        at_witness = evaluate(head, self.found.witness.image[None])
        return {
            **record,
            "size": len(self.found.released),
            "smallest": "proved" if self.is_smallest else "found",
            "margin": float_below(self.found.proof.margin),
            "released": [
                {
                    "number": number,
                    "statement": self.certificate.statements[number].to_json(),
                    "at_witness": value_at(head, self.certificate, number, at_witness),
                }
                for number in self.found.released
            ],
            "explanation": [each.to_json() for each in self.found.proof.statements],
            "near": [asdict(each) for each in self.near],
            "prototypes": [self.origins[each].record() for each in self.prototypes if each in self.origins],
        }


@keywords(AuditOptions, *PROVING)
def contrast(
    certificate: str | Path | Certificate,
    head: str | Path | Head | HeadFile,
    goal: int | str,
    latents: object = None,
    out: str | Path | None = None,
    seconds: float = SECONDS,
    model: str | Path | None = None,
    options: AuditOptions | str | None = None,
    **fields: Any,
) -> Contrast:
    """A smallest set of statements of a proved certificate whose release lets another class win.

    Sets of one size are tried one by one as long as there are few, after those that the checker excludes: it proves
    that the class stays behind. Beyond that a set is grown, whole patches at a time, and reduced.

    Args:
        certificate: the certificate, or the path of its file.
        head: the head that it is about, or the path of its file.
        goal: the class that shall win, its number or its name among the head's labels.
        latents: latents with those of its image, or the path of their file, to start from.
        out: a folder for `witness.latents.safetensors`, the latents; `rest.ale.json`, the certificate without the
            released statements, which the latents refute; `witness.ale.json`, a certificate that they get the class;
            `contrast.json`; with a model, `witness.png` and `image.png`. Those of an earlier contrast are replaced,
            other files are not. None writes nothing.
        seconds: how long to search; what began may take some seconds more, and so may one search with all statements
            released, which there is in any case.
        model: a whole PrototypeDL model, whose decoder draws the witness.
        options: what proves, and how long it may take.
        fields: other values of some options, by their names (`verale.checker.options.AuditOptions`).

    Raises:
        InputError: a file that cannot be read or written, latents that do not fit, a certificate that is not proved, a
            model without a decoder for this head.
        LatentsError: latents, not in a file, whose shape or values do not fit the head.
        UsageError: a class that the head lacks or that is predicted, seconds below 0, an image too large to search,
            something else than a certificate or a head.

    Soundness: the checker says of the witness that it satisfies all statements but the released ones (it refutes
        `rest.ale.json`), and that it gets the class by a positive margin (it proves `witness.ale.json` with its
        instance). `at_least` is what the checker proves too, of every smaller set.
    """
    require_search(seconds, out)
    proving = audit_options(options, fields, PROVING)
    file = HeadFile.of(head)
    released = opened(certificate, file, latents, proving)
    rival = class_named(released.head, goal)
    if rival == released.certificate.predicted:
        raise UsageError(f"class {goal!r} is the predicted one, expected another class")
    pictures = None if model is None else decoder_of(model, released.head.depth)
    if out is not None:
        WrittenFiles(Path(out)).require_own((*_FILES, RECORD), _BY)
        require_writable(Path(out) / RECORD)
    search = _Search(released, file.data, rival, time.monotonic() + seconds)
    result = search.run()
    if result.found is not None:
        noted = Path(certificate).parent / SOURCE if is_path(certificate) else None
        source = load_source(noted if noted is not None and noted.exists() else None)
        near: list[NearPatch] = []
        if latents is not None and released.given is not None:
            images = loaded_images(latents, released.head.depth)
            near = near_patches(result.found.witness.image, released.given, images, source)
        result = replace(result, near=tuple(near), origins=source.origins)
    if out is None:
        return result
    files: dict[str, bytes] = {}
    if result.found is not None:
        witness = result.found.witness
        files |= {WITNESS: witness.latents, REST: witness.rest.to_bytes(), PROOF: result.found.proof.to_bytes()}
        if pictures is not None:
            files[PICTURE] = pictures(witness.image)
            files |= {} if released.given is None else {BEFORE: pictures(released.given)}
    record = f"{json.dumps(result.record(released.head), indent=1)}\n".encode()
    # The record, which says what is there, comes last.
    write_beside(Path(out), {**files, RECORD: record}, _BY, instead_of=(RECORD, *_FILES))
    return result


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for one certificate and one class."""

    released: Released
    head_bytes: bytes
    goal: int
    deadline: float

    def run(self) -> Contrast:
        certificate = self.released.certificate
        everything = range(certificate.size)
        if not self._is_open(self._margin(everything)):
            return Contrast(certificate, self.goal, certificate.size + 1, None)
        at_least, singles = 1, self._open_sets(1)
        if not singles:
            at_least = next((size for size in everything if size > 1 and self._open_sets(size, True)), certificate.size)
        hurried = time.monotonic() + _left(self.deadline) / 4
        found = self._first(singles, hurried)
        if found is None:
            found = self._grown()
        if found is not None:
            for size in range(max(2, at_least), len(found.released)):
                smaller = self._first(self._open_sets(size), self.deadline)
                if smaller is not None:
                    found = smaller
                    break
        return Contrast(certificate, self.goal, at_least, found)

    def _open_sets(self, size: int, any_will_do: bool = False) -> list[tuple[int, ...]]:
        """The sets of this size that the checker does not exclude, those first with which the class comes nearest.

        Where there are too many sets they are not tried, and there are none; but `any_will_do` asks whether there may
        be one, and then the first one is enough.
        """
        count = self.released.certificate.size
        if comb(count, size) > _MOST_SETS and size > 1:
            return [tuple(range(size))] if any_will_do else []
        margins: dict[tuple[int, ...], Fraction | None] = {}
        for freed in combinations(range(count), size):
            margin = self._margin(freed)
            if self._is_open(margin):
                margins[freed] = margin
                if any_will_do:
                    break
        return sorted(margins, key=lambda each: (margins[each] is not None, margins[each] or 0))

    def _first(self, sets: Sequence[tuple[int, ...]], until: float) -> Found | None:
        """What is found with the first of these sets with which something is found."""
        return next((found for freed in sets if _left(until) and (found := self._wins(freed)) is not None), None)

    def _margin(self, freed: Collection[int]) -> Fraction | None:
        """What the checker proves that the predicted class is ahead by; None where its proof is cut short."""
        return self.released.margins(self.released.without(freed))[self.goal]

    @staticmethod
    def _is_open(margin: Fraction | None) -> bool:
        return margin is None or margin <= 0

    def _wins(self, freed: Collection[int], in_any_case: bool = False) -> Found | None:
        """What is found with these statements released, as long as time is left; nothing where the checker excludes
        it. Of those, statements that the witness satisfies too are kept."""
        from verale.search.explain import explain

        released, certificate = self.released, self.released.certificate
        seconds, rest = EACH if in_any_case else min(EACH, _left(self.deadline)), released.without(freed)
        if not seconds or not self._is_open(self._margin(freed)):
            return None
        for witness in released.witnesses(rest, seconds, goal=self.goal):
            # A certificate that the witness gets the class, proved with its instance.
            proof = explain(released.head, witness.image[None], "top_k")[0]
            if not isinstance(proof, Certificate) or proof.predicted != self.goal:
                continue
            verdict = Auditor(self.head_bytes, witness.latents, released.auditor.options).check(proof.to_bytes())
            if verdict.status is not Status.PROVED or verdict.reason:
                continue
            evaluated, false = evaluate(released.head, witness.image[None]), []  # by floats
            for number in sorted(freed):
                statement = certificate.statements[number]
                value = value_at(released.head, certificate, number, evaluated)
                below = value < getattr(statement, "lower", -float("inf"))
                if below or value > getattr(statement, "upper", float("inf")):
                    false.append(number)
            without = released.without(false)
            if 0 < len(false) < len(freed) and released.refutes(without, witness.latents):
                return Found(tuple(false), Witness(witness.image, witness.latents, without), proof)
            return Found(tuple(sorted(freed)), witness, proof)
        return None

    def _grown(self) -> Found | None:
        """All statements, or a set grown by whole groups of them, twice as many each time; then reduced."""
        clauses, activations, by_patch = [], [], defaultdict[int, list[int]](list)
        for number, statement in enumerate(self.released.certificate.statements):
            match statement:
                case PatchStatement(patch):
                    by_patch[patch].append(number)
                case ActivationStatement():
                    activations.append([number])
                case _:
                    clauses.append([number])
        groups, count = [*clauses, *activations, *sorted(by_patch.values(), key=len)], 1
        found = self._wins(range(self.released.certificate.size), in_any_case=True)
        while found is not None and count < len(groups) and _left(self.deadline):
            grown = {number for group in groups[:count] for number in group}
            smaller = self._wins(grown) if len(grown) < len(found.released) else None
            if smaller is not None:
                found = smaller
                break
            count *= 2
        return None if found is None else self._reduced(found)

    def _reduced(self, found: Found) -> Found:
        """Fewer statements released, as long as time is left: half of them less, a quarter, and so on."""
        step = max(1, len(found.released) // 2)
        while True:
            for start in range(0, len(found.released), step):
                fewer = set(found.released) - set(found.released[start : start + step])
                smaller = self._wins(fewer) if fewer else None
                if smaller is not None:
                    _log.info("%d statements are enough", len(smaller.released))
                    found = smaller
                    break
            else:
                if step == 1:
                    return found
                step = max(1, step // 2)
            step = min(step, max(1, len(found.released) // 2))
            if not _left(self.deadline):
                return found


def _left(until: float) -> float:
    """Seconds that are left, 0 when the time is over."""
    return max(0.0, until - time.monotonic())


def value_at(head: Head, certificate: Certificate, number: int, evaluated: Evaluation) -> float:
    """What a statement is about, at one image: an estimate. Of a clause, the activation that is nearest to breaking it,
    or NaN if it exempts all prototypes; of a sum the most that is taken back."""
    activations, statement = evaluated.activations[0], certificate.statements[number]
    match statement:
        case SumStatement(rivals):
            about = [c for c in range(head.classes) if c != certificate.predicted] if rivals is None else list(rivals)
            mine = belonging(head, torch.tensor([certificate.predicted]))[0]
            weight = head.weight.to(activations)
            return float(((weight[about] - weight[certificate.predicted]) @ activations.masked_fill(mine, 0)).amax())
        case PatchStatement(patch, prototype):
            return float(evaluated.observables[0, patch, prototype])
        case _:
            others = activations[[prototype for prototype, *_ in activations_bounded(statement, len(activations))]]
            if not len(others):
                return float("nan")
            return float(others.amin() if isinstance(statement, FloorStatement) else others.amax())


_MOST_NEAR = 8
"""The most patches that are described."""


def near_patches(changed: Tensor, before: Tensor, images: Iterable[Tensor], source: Source) -> list[NearPatch]:
    """For the patches that changed most, the nearest patch of known images, the one that changed most first.

    Args:
        changed: (L, D).
        before: (L, D) what it was.
        images: (L', D) each, in the order of `source.files`.
    """
    moved = (changed - before).norm(dim=1)
    order = [patch for patch in moved.argsort(descending=True).tolist()[:_MOST_NEAR] if float(moved[patch]) > 0]
    best = torch.full((len(order),), torch.inf, dtype=torch.float64)
    where = [(0, 0)] * len(order)
    for index, image in enumerate(images):
        away = torch.cdist(changed[order], image.to(changed), compute_mode="donot_use_mm_for_euclid_dist")
        for row, (distance, at) in enumerate(zip(*away.min(1), strict=True)) if order else ():
            if distance < best[row]:
                best[row], where[row] = distance, (index, int(at))
    files = [source.files[image].name if image < len(source.files) else None for image, _ in where]
    return [
        NearPatch(patch, image, at, file, float(distance), float(moved[patch]))
        for patch, (image, at), file, distance in zip(order, where, files, best, strict=True)
    ]


def decoder_of(model: str | Path, depth: int) -> Callable[[Tensor], bytes]:
    """The decoder of a whole PrototypeDL model: the PNG file of latents (1, D).

    Args:
        model: its file.
        depth: D of the head that it has to belong to.

    Raises:
        InputError: a file that holds no such model, or the model of another head.
    """
    from verale.adapters import load_model
    from verale.adapters.published.prototypedl import Autoencoder
    from verale.pictures import png

    with naming(model, HeadError):
        network = Autoencoder(load_model(model))
    own = network.latents(torch.zeros(1, *network.shape)).shape[2]
    if own != depth:
        raise InputError(model, f"has latents of {own} numbers, expected the head's {depth}: is it another network?")
    return lambda latents: png(network.pictures(latents.float())[0])
