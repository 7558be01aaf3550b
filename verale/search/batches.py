"""Images explained batch by batch: from latents to certificates."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from verale.bounds import check_domain
from verale.certificate import Certificate
from verale.errors import UsageError
from verale.head import Head, digest, patches_of, read_out, require_head
from verale.paradigms import READABLE
from verale.rounding.device import require_device
from verale.search.devices import computing_on, head_on, is_host, one_thread
from verale.search.digits import AUTO, EXACT, EXACT_DIGITS, FEWEST_DIGITS, Tolerance, least_unit, tolerances
from verale.search.inflate import inflate
from verale.search.options import SearchOptions, Unexplained
from verale.search.paradigms.base import require_memory
from verale.search.problem import NoExplanation, Problem
from verale.search.smallest import Kept, NotKept, has_prices, keep_smallest, priced_margins, searches_of

if TYPE_CHECKING:
    from verale.search.through import ThroughNetwork

_log = logging.getLogger(__name__)

_CHECKED = 256
"""So many images are checked at once: in float64 they take more memory than as they are stored."""

_OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|(CUDA|HIP) error: out of memory|hipErrorOutOfMemory|_STATUS_ALLOC_FAILED"
)
"""The words of the CPU's allocator, of CUDA and HIP themselves, and of cuBLAS, cuSOLVER and their like."""

_AUTO = f"--tolerance {AUTO}"


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
        head, options, through: as given.
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
        self._device = self.options.device
        require_device(self._device)
        self.options.avoid.check(self.patches, head.size)
        self.options.costs.check(self.patches, head.size)
        self.paradigm = self.options.paradigm
        if self.options.inflate and self.paradigm != READABLE:
            priced_margins(self.paradigm, head, 0, self.patches)
        # Roughly the memory of what every pair of a patch and a prototype has, whatever is searched.
        what, of_pairs = f"the {self.patches} patches of an image", 8 * (20 if head.pooling.needs_all_patches else 5)
        one = self.patches * head.size * of_pairs
        require_memory(one, what, self.options)  # before searches fill such tables
        if through is not None and not is_host(self._device):
            words = "pictures are searched on the CPU, not on %s: so are the ranges of their networks"
            _log.warning(words, self._device)
            self._device = "cpu"
        with computing_on(self._device):
            self._there = head_on(head, self._device)
            self._searches = searches_of(self._there, self.patches, self.paradigm, self.options)
            self._least_unit = least_unit(self._there)
        self.paradigms = tuple(search.name for search in self._searches)
        # And what searches keep: rows (three copies), pooling's work, margins.
        per_pair = 3 * max(search.bytes_per_patch for search in self._searches) // head.size
        one += self.patches * head.size * per_pair + 16 * head.size * head.classes
        require_memory(one, what, self.options)
        self.size = max(1, int(min(self.options.batch, self.options.bytes // one)))
        self.are_alone = through is not None or all(search.is_alone for search in self._searches)
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
        return self._within_memory(self.images[start : start + self.size])

    def explain_images(self, images: Tensor) -> list[ImageResult]:
        """The results for a batch of images, or pictures, that fit the head as these do."""
        return [result for results in self._within_memory(images) for result in results]

    def _within_memory(self, images: Tensor) -> Iterator[list[ImageResult]]:
        """The results for images (N, L, D); where memory runs out, for one half after the other."""
        try:
            if self.through is not None:
                yield [self._of_picture(picture, self.through) for picture in images]
            elif self.are_alone:
                yield [result for image in images for result in self._of_latents(image[None])]
            else:
                yield self._of_latents(images)
            return
        except (RuntimeError, MemoryError) as error:
            # torch says so in different ways on different devices, and its libraries in their own
            is_out = isinstance(error, (MemoryError, torch.OutOfMemoryError)) or _OUT_OF_MEMORY.search(str(error))
            if not is_out:
                raise
            if len(images) == 1:
                raise UsageError("memory ran out on a single image: use a smaller model or another device") from error
        _log.info("memory ran out on %d images: they are explained in halves", len(images))
        for half in torch.split(images, (len(images) + 1) // 2):
            yield from self._within_memory(half)

    @one_thread()
    def _of_latents(self, images: Tensor) -> list[ImageResult]:
        """The results for images (N, L, D) of the host; torch makes new tensors on the device."""
        options = self.options
        images = images.to(torch.float64).contiguous()
        wide = tolerances(options.tolerance)
        # how far statements are widened before the search, and in how many digits they are told after it
        attempts: list[tuple[Tolerance, int | str]] = [(tolerance, EXACT_DIGITS) for tolerance in wide]
        if wide == (EXACT,):
            attempts = [(EXACT, options.digits)]
            if isinstance(options.digits, int):
                attempts.append((Tolerance(digits=options.digits), EXACT_DIGITS))
        results: dict[int, ImageResult] = {}
        left = list(range(len(images)))
        with computing_on(self._device):
            exact = Problem.of(self._there, images.to(self._device), EXACT, options.avoid, options.costs)
            for tolerance, digits in attempts:
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
            predicted, kept = solve_picture(self.head, ranges.ends, self._searches, self.options, self._least_unit)
        explanation: Certificate | Unexplained
        if isinstance(kept.solution, NoExplanation):
            reason = kept.solution.reason + (f"; {ranges.roughly}" if ranges.roughly else "")
            explanation = Unexplained(None if evaluated is None else int(evaluated.predicted), reason)
        else:
            subject = through.subject(picture)
            given = subject, cast(int, predicted), kept.paradigm, self.patches
            explanation = kept.solution.certificate(self.head, *given)
        activations = None if evaluated is None else evaluated.activations[0]
        return ImageResult(explanation, self.head, activations, kept.others)

    def _within(self, tolerance: Tolerance, digits: int | str, exact: Problem, images: Tensor) -> list[ImageResult]:
        """One result for each image, observed exactly, with statements widened by one tolerance before the search, and
        to few digits after it."""
        problem = exact.widened(tolerance)
        results = []
        midpoints = ((problem.activations.lower + problem.activations.upper) / 2).cpu()
        settled = [image for image, margin in enumerate(problem.settled.tolist()) if margin > 0]
        solved = dict(zip(settled, keep_smallest(problem.take(settled), self._searches), strict=True))
        if digits != EXACT_DIGITS:
            solved = self._shortened(problem, digits, solved)
        for image, (patches, predicted) in enumerate(zip(images, problem.margins.predicted.tolist(), strict=True)):
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
                given = {"latents": digest(patches)}, predicted, kept.paradigm, self.patches
                explanation = kept.solution.certificate(self.head, *given)
                if self.options.inflate and has_prices(kept.paradigm, self.head):
                    with torch.device("cpu"):
                        priced = priced_margins(kept.paradigm, self.head, predicted, self.patches)
                        explanation = inflate(priced, patches, explanation)
            results.append(ImageResult(explanation, self.head, activations, kept.others))
        return results

    def _shortened(self, problem: Problem, digits: int | str, solved: dict[int, Kept]) -> dict[int, Kept]:
        """The solutions of some images in short numbers, if these prove the class; otherwise as they are, or why there
        are none.

        Soundness: the margins are those of the wide statements alone. Statements that were needed still are, because
        reference ranges grow with the intervals of the others.
        """
        short = dict(solved)
        for search in self._searches:
            of_search = {
                image: kept.solution
                for image, kept in solved.items()
                if kept.paradigm == search.name and not isinstance(kept.solution, NoExplanation)
            }
            given = problem.take(list(of_search)), list(of_search.values())
            found = search.in_short_numbers(*given, digits, self._least_unit)
            for image, solution in zip(of_search, found, strict=True):
                failure = NoExplanation(f"{digits} digits do not prove the class")
                short[image] = replace(solved[image], solution=solution or failure)
        return short

    def _unsettled(self, tolerance: Tolerance, image: Problem) -> NoExplanation:
        """Why all statements about an image, observed exactly here, entail no class; and which tolerance to try."""
        if not bool(image.settled > 0):
            from verale.search.through import BEYOND

            tie = "no class certainly beats all others at these latents: a tie, or too close for float64"
            return NoExplanation(tie) if image.is_finite else BEYOND
        why = f"with {'' if tolerance.digits else 'a tolerance of '}{tolerance} the class is not implied even by all"
        if tolerance.digits:
            return NoExplanation(f"{why} statements; allow more, or {FEWEST_DIGITS!r}")
        narrower = (each for each in tolerance.narrower() if bool(image.widened(each).settled > 0))
        return NoExplanation(f"{why} statements; try {next(narrower, 0)}, or {_AUTO}")
