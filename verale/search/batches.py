"""Images explained batch by batch: from latents to certificates."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
from torch import Tensor

from verale.bounds import (
    check_domain,
)
from verale.certificate import Certificate
from verale.errors import UsageError
from verale.head import Head, digest, patches_of, read_out, require_head
from verale.paradigms import READABLE
from verale.rounding.device import require_device
from verale.search.devices import computing_on, head_on, is_host, one_thread
from verale.search.digits import (
    AUTO,
    EXACT,
    EXACT_DIGITS,
    FEWEST_DIGITS,
    Tolerance,
    least_unit,
    tolerances,
)
from verale.search.inflate import inflate
from verale.search.options import SearchOptions, Unexplained
from verale.search.paradigms.base import ParadigmSearch, Solved, require_memory
from verale.search.problem import NoExplanation, Problem
from verale.search.smallest import Kept, NotKept, best_paradigm, has_prices, keep_smallest, priced_margins, searches_of
from verale.version import __version__

if TYPE_CHECKING:
    from verale.search.through import ThroughNetwork

__all__ = ["Batches", "ImageResult", "best_paradigm"]

_log = logging.getLogger(__name__)

_CHECKED = 256
"""So many images are checked at once: in float64 they take more memory than as they are stored."""


@dataclass(frozen=True, eq=False)
class ImageResult:
    """What explaining one image gives.

    Attributes:
        explanation: the certificate, or why there is none.
        head: the head.
        activations: (P,) float64, the midpoints of what was observed; of a picture, those of the latents that the
            network gives in float64. An estimate; None where it would be none: numbers beyond float64, or a picture
            without such latents in the head's domain.
        others: what the paradigms gave that were tried too.
    """

    explanation: Certificate | Unexplained
    head: Head
    activations: Tensor | None
    others: tuple[NotKept, ...] = ()

    @property
    def logits(self) -> Tensor | None:
        """(C,) float64, an estimate; None without activations."""
        # One image at a time: a matrix product's last bits depend on how many rows it has.
        return None if self.activations is None else read_out(self.head, self.activations[None])[0]


class Batches:
    """Images that are explained `size` at a time; some paradigms search the images of some heads one by one.

    The same batch gives the same bytes; of images that are searched one by one, any batch does.

    Args:
        head, latents, options: see `explain`.
        through: a network; then the images are pictures, uint8 (N, C, H, W), in the place of latents, and explanations
            hold of all latents that it can give for them. Pictures are searched one by one.

    Attributes:
        head: the head.
        options: how to explain.
        through: the network.
        patches: L.
        paradigm: its name, or `readable`.
        paradigms: the names of those that are tried.
        images: (N, L, D), as they are stored; or the pictures.
        size: images in a batch: as many as the options say, or fewer to stay within memory.
        are_alone: whether images are searched one by one, so that no result depends on the others of its batch.
        bytes_at_once: roughly the memory that explaining a batch takes.

    Raises:
        LatentsError, UsageError: see `explain`.
    """

    @one_thread()
    def __init__(
        self, head: Head, latents: Any, options: SearchOptions | None = None, through: ThroughNetwork | None = None
    ) -> None:
        self.head, self.options, self.through = require_head(head), options or SearchOptions(), through
        if through is None:
            self.images = patches_of(latents, head.depth)
            self.patches = int(self.images.shape[1])
            for start in range(0, max(1, len(self.images)), _CHECKED):
                check_domain(head, self.images[start : start + _CHECKED].to(torch.float64), start)
        else:
            self.images, self.patches = through.require(head, latents), through.patches
            if self.options.inflate:
                raise UsageError("inflate is given, expected none with pictures: statements are as wide as they need")
        require_device(self.options.device)
        self.options.avoid.check(self.patches, head.size)
        self.options.costs.check(self.patches, head.size)
        self.paradigm = self.options.paradigm
        if self.options.inflate and self.paradigm != READABLE:
            priced_margins(self.paradigm, head, 0, self.patches)
        what = f"the {self.patches} patches of an image"
        require_memory(_bytes_of_pairs(head, self.patches), what, self.options)  # before searches fill such tables
        device = self.options.device
        if through is not None and not is_host(device):
            _log.warning("pictures are searched on the CPU, not on %s: so are the ranges of their networks", device)
            device = "cpu"
        with computing_on(device):
            there = head_on(head, device)
            searches = searches_of(there, self.patches, self.paradigm, self.options)
        self.paradigms = tuple(search.name for search in searches)
        self._explainer = _Explainer(head, there, device, searches, self.options, through)
        one = self._explainer.bytes_per_image(self.patches)
        require_memory(one, what, self.options)
        self.size = max(1, int(min(self.options.batch, self.options.bytes // one)))
        self.are_alone = self._explainer.alone
        self.bytes_at_once = one * (1 if self.are_alone else self.size)

    @property
    def starts(self) -> range:
        """The first image of every batch."""
        return range(0, len(self.images), self.size)

    def explain(self, start: int) -> list[ImageResult]:
        """The results for the batch that begins with image `start`."""
        return [result for results in self.parts(start) for result in results]

    def parts(self, start: int) -> Iterator[list[ImageResult]]:
        """The same, in the parts in which the batch fits into memory."""
        return self._explainer.within_memory(self.images[start : start + self.size])

    def explain_images(self, images: Tensor) -> list[ImageResult]:
        """The results for a batch of images, or pictures, that fit the head as these do."""
        return [result for results in self._explainer.within_memory(images) for result in results]


def _bytes_of_pairs(head: Head, patches: int) -> int:
    """Roughly the memory of what every pair of a patch and a prototype has, whatever is searched."""
    return patches * head.size * 8 * (20 if head.pooling.needs_all_patches else 5)


class _About(NamedTuple):
    """What a certificate is about: what its subject names beside the head, how many patches that has, and its class."""

    subject: Mapping[str, Any]
    patches: int
    predicted: int


@dataclass(frozen=True)
class _Explainer:
    """Explains images of one head under one paradigm or several.

    Attributes:
        head: the head.
        there: the same on the device.
        device: where searches compute.
        searches: of the head on the device.
        options, through: see `Batches`.
    """

    head: Head
    there: Head
    device: str
    searches: tuple[ParadigmSearch, ...]
    options: SearchOptions
    through: ThroughNetwork | None = None

    def bytes_per_image(self, patches: int) -> int:
        """Roughly the memory that the search needs for one image: rows (three copies), pooling's work, margins."""
        per_pair = 3 * max(search.bytes_per_patch for search in self.searches) // self.head.size
        searched = patches * self.head.size * per_pair + 16 * self.head.size * self.head.classes
        return _bytes_of_pairs(self.head, patches) + searched

    def within_memory(self, images: Tensor) -> Iterator[list[ImageResult]]:
        """The results for images (N, L, D); where memory runs out, for one half after the other."""
        try:
            yield self.results(images)
            return
        except (RuntimeError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
            if len(images) == 1:
                raise UsageError("memory ran out on a single image: use a smaller model or another device") from error
        _log.info("memory ran out on %d images: they are explained in halves", len(images))
        for half in torch.split(images, (len(images) + 1) // 2):
            yield from self.within_memory(half)

    def results(self, images: Tensor) -> list[ImageResult]:
        """One result for each of the images (N, L, D); no byte of it depends on others if they are searched alone."""
        if self.through is not None:
            return [self._of_picture(picture, self.through) for picture in images]
        if len(images) > 1 and self.alone:
            return [result for image in images for result in self.results(image[None])]
        return self._of_latents(images)

    @one_thread()
    def _of_latents(self, images: Tensor) -> list[ImageResult]:
        with computing_on(self.device):
            return self._searched(images.to(torch.float64).contiguous())

    def _searched(self, images: Tensor) -> list[ImageResult]:
        """The results for images (N, L, D) float64 of the host; torch makes new tensors on the device."""
        options = self.options
        exact = Problem.of(self.there, images.to(self.device), EXACT, options.avoid, options.costs)
        results: dict[int, ImageResult] = {}
        left = list(range(len(images)))
        for tolerance, digits in self._attempts():
            results |= zip(left, self._within(tolerance, digits, exact.take(left), images[left]), strict=True)
            without = [image for image in left if isinstance(results[image].explanation, Unexplained)]
            _log.info("tolerance %s: %d of %d images are explained", tolerance, len(left) - len(without), len(left))
            left = without
            if not left:
                break
        return [results[image] for image in range(len(images))]

    def _of_picture(self, picture: Tensor, through: ThroughNetwork) -> ImageResult:
        """The result for one picture (C, H, W)."""
        from verale.search.through import solve_picture

        ranges = through.ranges(picture)  # as a network's own layers, in all threads
        evaluated = through.evaluated(self.head, picture)
        with one_thread():
            predicted, kept = solve_picture(self.head, ranges.ends, self.searches, self.options, self.least_unit)
        explanation: Certificate | Unexplained
        if isinstance(kept.solution, NoExplanation):
            reason = kept.solution.reason + (f"; {ranges.roughly}" if ranges.roughly else "")
            explanation = Unexplained(None if evaluated is None else int(evaluated.predicted), reason)
        else:
            about = _About(through.subject(picture), through.patches, cast(int, predicted))
            explanation = self._certificate(about, kept.paradigm, kept.solution)
        activations = None if evaluated is None else evaluated.activations[0]
        return ImageResult(explanation, self.head, activations, kept.others)

    def _attempts(self) -> list[tuple[Tolerance, int | str]]:
        """How far statements are widened before the search, and in how many digits they are told after it."""
        digits = self.options.digits
        wide = tolerances(self.options.tolerance)
        if wide != (EXACT,):
            return [(tolerance, EXACT_DIGITS) for tolerance in wide]
        return [(EXACT, digits), *([(Tolerance(digits=digits), EXACT_DIGITS)] if isinstance(digits, int) else [])]

    def _within(self, tolerance: Tolerance, digits: int | str, exact: Problem, images: Tensor) -> list[ImageResult]:
        """One result for each image, observed exactly, with statements widened by one tolerance before the search, and
        to few digits after it."""
        problem = exact.widened(tolerance)
        results = []
        midpoints = ((problem.activations.lower + problem.activations.upper) / 2).cpu()
        settled = [image for image, margin in enumerate(problem.settled.tolist()) if margin > 0]
        solved = dict(zip(settled, keep_smallest(problem.take(settled), self.searches), strict=True))
        if digits != EXACT_DIGITS:
            solved = self._shortened(problem, digits, solved)
        for image, (patches, predicted) in enumerate(zip(images, problem.margins.predicted.tolist(), strict=True)):
            about = _About({"latents": digest(patches)}, len(patches), predicted)
            activations = midpoints[image] if exact.take([image]).is_finite else None
            kept = solved.get(image) or Kept("", self._unsettled(tolerance, exact.take([image])), ())
            if isinstance(kept.solution, NoExplanation):
                reason = kept.solution.reason
                if image in solved:
                    reason += f"; avoided: {problem.avoid}" if problem.avoid else ""
                    if tolerance.digits:
                        reason += f"; statements have {tolerance}: allow more"
                    elif tolerance:
                        reason += f"; the tolerance is {tolerance}: try a smaller one, or {_AUTO}"
                explanation: Certificate | Unexplained = Unexplained(None if activations is None else predicted, reason)
            else:
                explanation = self._certificate(about, kept.paradigm, kept.solution)
                if self.options.inflate and has_prices(kept.paradigm, self.head):
                    with torch.device("cpu"):
                        explanation = inflate(self.head, patches, explanation)
            results.append(ImageResult(explanation, self.head, activations, kept.others))
        return results

    def _shortened(self, problem: Problem, digits: int | str, solved: dict[int, Kept]) -> dict[int, Kept]:
        """The solutions of some images in short numbers, if these prove the class; otherwise as they are, or why there
        are none.

        Soundness: the margins are those of the wide statements alone. Statements that were needed still are, because
        reference ranges grow with the intervals of the others.
        """
        short = dict(solved)
        for search in self.searches:
            of_search = {
                image: kept.solution
                for image, kept in solved.items()
                if kept.paradigm == search.name and not isinstance(kept.solution, NoExplanation)
            }
            found = search.in_short_numbers(
                problem.take(list(of_search)), list(of_search.values()), digits, self.least_unit
            )
            for image, solution in zip(of_search, found, strict=True):
                failure = NoExplanation(f"{digits} digits do not prove the class")
                short[image] = replace(solved[image], solution=solution or failure)
        return short

    @cached_property
    def least_unit(self) -> float:
        """See `verale.search.digits.least_unit`."""
        return least_unit(self.there)

    def _unsettled(self, tolerance: Tolerance, image: Problem) -> NoExplanation:
        """Why all statements about an image, observed exactly here, entail no class; and which tolerance to try."""
        if not bool(image.settled > 0):
            from verale.search.through import BEYOND

            return _TIE if image.is_finite else BEYOND
        if tolerance.digits:
            return NoExplanation(_TOO_FEW.format(tolerance, FEWEST_DIGITS))
        narrower = (each for each in tolerance.narrower() if bool(image.widened(each).settled > 0))
        return NoExplanation(f"{_TOO_WIDE.format(tolerance)}; try {next(narrower, 0)}, or {_AUTO}")

    @property
    def alone(self) -> bool:
        """Whether all searches take one image at a time."""
        return self.through is not None or all(search.is_alone for search in self.searches)

    def _certificate(self, about: _About, paradigm: str, solution: Solved) -> Certificate:
        statements, margins, minimal, prices = solution
        return Certificate(
            head=self.head.digest,
            **about.subject,
            predicted=about.predicted,
            paradigm=paradigm,
            patches=about.patches,
            statements=tuple(statements),
            margins=tuple(None if rival == about.predicted else margin for rival, margin in enumerate(margins)),
            minimal=minimal,
            version=__version__,
            prices=prices,
        )


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out; torch says so in different ways on different devices, and its libraries in their own."""
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or _OUT_OF_MEMORY.search(str(error)) is not None


_OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|(CUDA|HIP) error: out of memory|hipErrorOutOfMemory|_STATUS_ALLOC_FAILED"
)
"""The words of the CPU's allocator, of CUDA and HIP themselves, and of cuBLAS, cuSOLVER and their like."""

_TOO_WIDE = "with a tolerance of {} the class is not implied even by all statements"
_TOO_FEW = "with {} the class is not implied even by all statements; allow more, or {!r}"
_AUTO = f"--tolerance {AUTO}"
_TIE = NoExplanation("no class certainly beats all others at these latents: a tie, or too close for float64")
