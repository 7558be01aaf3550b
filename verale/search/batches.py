"""Images explained batch by batch: from latents to certificates."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from verale.bounds import (
    Assignment,
    Hypersphere,
    Joint,
    Projection,
    Simplex,
    Triangle,
    check_domain,
)
from verale.certificate import Certificate, PatchStatement, Prices, Statement
from verale.errors import UsageError
from verale.head import Head, digest, patches_of, read_out, require_head
from verale.paradigms import ORDERS, PARADIGMS, SMALLEST
from verale.rounding import require_float64
from verale.search.activations import ActivationExplanation
from verale.search.assignment import explain_assignment, is_assigned_alone
from verale.search.blocks import explain_in_blocks
from verale.search.compiled import fastest_sums
from verale.search.costs import UNIT_COSTS
from verale.search.devices import kernel_bytes
from verale.search.inflate import inflate
from verale.search.joint import explain_joint, require_one_patch
from verale.search.mixed import explain_mixed, require_mixed
from verale.search.options import SearchOptions, Unexplained
from verale.search.priced import has_prices, priced_margins
from verale.search.problem import Problem, UnexplainedError, shortened
from verale.search.smallest import Kept, NotKept, Solution, cheaper, keep_smallest, worth_trying
from verale.search.sparse import explain_sparse
from verale.search.spatial import SpatialExplanation, is_searched_alone
from verale.search.tolerance import AUTO, EXACT, Tolerance, tolerances
from verale.search.top_k import explain_top_k
from verale.version import __version__

__all__ = ["Batches", "ImageResult", "best_paradigm"]

_log = logging.getLogger(__name__)

_CHECKED = 256
"""So many images are checked at once: in float64 they take more memory than as they are stored."""

_SPATIAL: dict[str, Callable[..., Any]] = {
    paradigm.name: paradigm for paradigm in (Projection, Triangle, Hypersphere, Simplex, Assignment, Joint)
}
"""The paradigms whose statements are about patches."""

_SEARCHES: dict[str, Callable[..., list[SpatialExplanation | str]]] = {
    "assignment": explain_assignment,
    "joint": explain_joint,
}
"""The searches of those that have one of their own."""

_OF_ACTIVATIONS: dict[str, Callable[[Problem], ActivationExplanation]] = {
    "top_k": explain_top_k,
    "sparse": explain_sparse,
    "mixed": explain_mixed,
}
"""The searches of the paradigms whose statements are about activations, all or some of them."""


def best_paradigm(head: Head) -> str:
    """The spatial paradigm that gives the smallest explanations of a head."""
    if head.geometry.has_prototypes:
        return "projection"
    return "assignment" if Assignment.admits(head) else "simplex"


@dataclass(frozen=True, eq=False)
class ImageResult:
    """What explaining one image gives.

    Attributes:
        explanation: the certificate, or why there is none.
        head: the head.
        activations: (P,) float64, the midpoints of what was observed; an estimate.
        others: what the paradigms gave that were tried too.
    """

    explanation: Certificate | Unexplained
    head: Head
    activations: Tensor
    others: tuple[NotKept, ...] = ()

    @property
    def logits(self) -> Tensor:
        """(C,) float64 on the CPU, an estimate."""
        # One image at a time: a matrix product's last bits depend on how many rows it has.
        return read_out(self.head, self.activations[None])[0].cpu()


class Batches:
    """Images that are explained `size` at a time, in lockstep unless they are searched one by one.

    The same batch gives the same bytes; of images that are searched one by one, any batch does.

    Args:
        head, latents, options: see `explain`.

    Attributes:
        head: the head.
        options: how to explain.
        paradigm: its name, or `smallest`; the best spatial one if none was chosen.
        paradigms: the names of those that are tried.
        images: (N, L, D), as they are stored.
        size: images in a batch: as many as the options say, or fewer to stay within memory.
        are_alone: whether images are searched one by one, so that no result depends on the others of its batch.
        bytes_at_once: roughly the memory that explaining a batch takes.

    Raises:
        LatentsError, UsageError: see `explain`.
    """

    def __init__(self, head: Head, latents: Any, options: SearchOptions | None = None) -> None:
        self.head, self.options = require_head(head), options or SearchOptions()
        self.images = patches_of(latents, head.depth)
        for start in range(0, max(1, len(self.images)), _CHECKED):
            check_domain(head, self.images[start : start + _CHECKED].to(torch.float64), start)
        require_float64(self.options.device)
        self.options.avoid.check(self.images.shape[1], head.size)
        self.options.costs.check(self.images.shape[1], head.size)
        self.paradigm = self.options.paradigm or best_paradigm(head)
        if self.options.inflate and self.paradigm != SMALLEST:
            priced_margins(self.paradigm, head, 0, self.images.shape[1])
        searches = _searches(head, self.images.shape[1], self.paradigm, self.options)
        self.paradigms = tuple(search.name for search in searches)
        self._explainer = _Explainer(head, head.digest, searches, self.options)
        one = self._explainer.bytes_per_image(self.images.shape[1])
        _require_memory(one, f"the {self.images.shape[1]} patches of an image", self.options)
        self.size = max(1, int(min(self.options.batch, self.options.max_memory // one)))
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
        """The results for a batch of images (N, L, D) that fit the head as these do."""
        return [result for results in self._explainer.within_memory(images) for result in results]


def _require_memory(needed: int, what: str, options: SearchOptions) -> None:
    """Raise UsageError, which names the limit, if what cannot be split exceeds the memory allowed, at least 4 GiB."""
    most = max(options.max_memory, SearchOptions.max_memory)
    if needed > most:
        raise UsageError(
            f"{what} take about {needed / 2**30:.2g} GiB, expected at most {most / 2**30:.2g}: allow more"
            " (--max-memory)"
        )


def _require_products(head: Head, options: SearchOptions) -> None:
    """Raise UsageError if the products of a head's prototypes take more memory than is allowed."""
    if head.prototypes is not None:
        _require_memory(16 * head.size**2, f"the products of {head.size} prototypes", options)


def _searches(head: Head, patches: int, paradigm: str, options: SearchOptions) -> tuple[_Search, ...]:
    """The search under a paradigm, or under all that the head has. Raises UsageError if it has not got that one."""
    if paradigm != SMALLEST:
        return (_Search.of(head, patches, paradigm, options),)
    _require_products(head, options)  # what is too large for one of them is large for all
    searches: dict[str, _Search] = {}
    refused: UsageError | None = None
    for name in worth_trying(head.geometry.kind, patches):
        if PARADIGMS[name].seldom_below not in searches:
            try:
                searches[name] = _Search.of(head, patches, name, options)
            except UsageError as error:
                refused = error
                _log.info("paradigm %s is not tried: %s", name, error)
    if refused is not None and not searches:
        raise refused
    return tuple(searches.values())


@dataclass(frozen=True)
class _Search:
    """The search under one paradigm.

    Attributes:
        name: the paradigm.
        spatial: how its statements about patches bound observables; None if they are about activations.
        orders: those in which statements are chosen; the smallest explanation is kept.
    """

    name: str
    spatial: Any
    orders: tuple[str, ...]

    @classmethod
    def of(cls, head: Head, patches: int, name: str, options: SearchOptions) -> _Search:
        """The search for a head and images of so many patches. Raises UsageError if these have not got this paradigm,
        or memory is too small."""
        if options.avoid.patches and name in _OF_ACTIVATIONS:
            raise UsageError(f"paradigm {name!r} states activations, which speak of all patches: none can be avoided")
        if name == "joint":
            require_one_patch(patches)
        if name == "sparse" and head.geometry.kind not in PARADIGMS["sparse"].geometries:
            raise UsageError("paradigm 'sparse' needs a softmax head; for a metric head use 'top_k'")
        if name == "mixed":
            require_mixed(head)
            _require_memory(64 * head.size**2, f"what each of {head.size} activations says of the others", options)
        paradigm_class = _SPATIAL.get(name)
        if paradigm_class is not None:
            _require_products(head, options)
        spatial = None if paradigm_class is None else paradigm_class(head, options.device)
        if options.order is not None:
            return cls(name, spatial, (options.order,))
        return cls(name, spatial, ORDERS if name == "simplex" else ORDERS[:1])

    def solve(self, problem: Problem, most: list[float]) -> list[Solution]:
        """For each image a solution; see `Search`. With costs, the search without costs is tried too."""
        solutions = self._solutions(problem, most)
        if problem.costs:
            without = self._solutions(replace(problem, costs=UNIT_COSTS), most)
            solutions = list(map(partial(cheaper, problem.costs), solutions, without))
        return solutions

    def _solutions(self, problem: Problem, most: list[float]) -> list[Solution]:
        if self.name in _OF_ACTIVATIONS:
            return _one_by_one(_OF_ACTIVATIONS[self.name], problem)
        solutions = self._spatial(problem, self.orders[0], most)
        for order in self.orders[1:]:
            solutions = list(map(partial(cheaper, problem.costs), solutions, self._spatial(problem, order, most)))
        return solutions

    def is_alone(self, head: Head) -> bool:
        """Whether it takes one image at a time."""
        if isinstance(self.spatial, Assignment):
            return is_assigned_alone(head, self.spatial)
        return self.name not in _SEARCHES and all(is_searched_alone(head, self.spatial, order) for order in self.orders)

    def _spatial(self, problem: Problem, order: str, most: list[float]) -> list[Solution]:
        solutions: list[Solution] = []
        search: Callable[..., list[SpatialExplanation | str]] = _SEARCHES.get(self.name, explain_in_blocks)
        for image, solution in enumerate(search(problem, self.spatial, order, most)):
            if isinstance(solution, str):
                solutions.append(solution)
                continue
            rows = problem.index([image * problem.patches + patch for patch, _ in solution.pairs])
            observed = problem.observed[rows, problem.index([prototype for _, prototype in solution.pairs])]
            ends = zip(solution.pairs, observed.lower.tolist(), observed.upper.tolist(), strict=True)
            statements: list[Statement] = [PatchStatement(*pair, lower, upper) for pair, lower, upper in ends]
            prices = (Prices(c, tuple(paid), tuple(paid.values())) for c, paid in solution.prices.items())
            solutions.append((statements, shortened(solution.margins), solution.minimal, tuple(prices)))
        return solutions


@dataclass(frozen=True)
class _Explainer:
    """Explains images of one head under one paradigm or several."""

    head: Head
    head_digest: str
    searches: tuple[_Search, ...]
    options: SearchOptions

    def bytes_per_image(self, patches: int) -> int:
        """Roughly the memory that the search needs for one image: rows (three copies), pooling's work, margins."""
        per_pair = 8 * (20 if self.head.pooling.needs_all_patches else 5)
        rows = [search.spatial.start(1) for search in self.searches if hasattr(search.spatial, "start")]
        sizes = (sum(getattr(row, f.name).nbytes for f in fields(row)) for row in rows)
        per_pair += 3 * max(sizes, default=0) // self.head.size
        in_blocks = kernel_bytes(self.head, patches) if torch.device(self.options.device).type != "cpu" else 0
        return patches * self.head.size * per_pair + 16 * self.head.size * self.head.classes + in_blocks

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
        if len(images) > 1 and self.alone:
            return [result for image in images for result in self.results(image[None])]
        images, options = images.to(torch.float64).contiguous(), self.options
        images_there = images.to(options.device)
        sums = fastest_sums(images_there.device)
        exact = Problem.of(self.head, images_there, EXACT, options.avoid, options.costs, sums)
        results: dict[int, ImageResult] = {}
        left = list(range(len(images)))
        for tolerance in tolerances(options.tolerance):
            results |= zip(left, self._within(tolerance, exact.take(left), images[left]), strict=True)
            without = [image for image in left if isinstance(results[image].explanation, Unexplained)]
            _log.info("tolerance %s: %d of %d images are explained", tolerance, len(left) - len(without), len(left))
            left = without
            if not left:
                break
        return [results[image] for image in range(len(images))]

    def _within(self, tolerance: Tolerance, exact: Problem, images: Tensor) -> list[ImageResult]:
        """One result for each image, observed exactly, with statements widened by one tolerance."""
        problem = exact.widened(tolerance)
        results = []
        midpoints = (problem.activations.lower + problem.activations.upper) / 2
        settled = [image for image, margin in enumerate(problem.settled.tolist()) if margin > 0]
        solved = dict(zip(settled, keep_smallest(problem.take(settled), self.searches), strict=True))
        for image, (patches, predicted) in enumerate(zip(images, problem.margins.predicted.tolist(), strict=True)):
            kept = solved.get(image) or Kept("", self._unsettled(tolerance, exact.take([image])), ())
            if isinstance(kept.solution, str):
                reason = kept.solution
                if image in solved:
                    reason += f"; avoided: {problem.avoid}" if problem.avoid else ""
                    reason += f"; the tolerance is {tolerance}: try a smaller one, or {_AUTO}" if tolerance else ""
                explanation: Certificate | Unexplained = Unexplained(predicted, reason)
            else:
                explanation = self._certificate(patches, predicted, kept.paradigm, *kept.solution)
                if self.options.inflate and has_prices(kept.paradigm, self.head):
                    explanation = inflate(self.head, patches, explanation)
            results.append(ImageResult(explanation, self.head, midpoints[image], kept.others))
        return results

    def _unsettled(self, tolerance: Tolerance, image: Problem) -> str:
        """Why all statements about an image, observed exactly here, entail no class; and which tolerance to try."""
        if not bool(image.settled > 0):
            return _TIE
        narrower = (each for each in tolerance.narrower() if bool(image.widened(each).settled > 0))
        return f"{_TOO_WIDE.format(tolerance)}; try {next(narrower, 0)}, or {_AUTO}"

    @property
    def alone(self) -> bool:
        """Whether all searches about patches take one image at a time."""
        spatial = [search for search in self.searches if search.spatial is not None]
        return bool(spatial) and all(search.is_alone(self.head) for search in spatial)

    def _certificate(
        self,
        patches: Tensor,
        predicted: int,
        paradigm: str,
        statements: list[Statement],
        margins: list[float],
        minimal: bool,
        prices: tuple[Prices, ...],
    ) -> Certificate:
        return Certificate(
            head=self.head_digest,
            latents=digest(patches),
            predicted=predicted,
            paradigm=paradigm,
            patches=len(patches),
            statements=tuple(statements),
            margins=tuple(None if rival == predicted else margin for rival, margin in enumerate(margins)),
            minimal=minimal,
            version=__version__,
            prices=prices,
        )


def _one_by_one(search: Callable[[Problem], ActivationExplanation], problem: Problem) -> list[Solution]:
    """The solution for each image under a paradigm whose statements are about activations."""
    solutions: list[Solution] = []
    for image in range(len(problem)):
        try:
            found = search(problem.take([image]))
            solutions.append((found.statements, shortened(found.margins), found.minimal, ()))
        except UnexplainedError as error:
            solutions.append(str(error))
    return solutions


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out; torch says so in different ways on different devices, and its libraries in their own."""
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or _OUT_OF_MEMORY.search(str(error)) is not None


_OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|(CUDA|HIP) error: out of memory|hipErrorOutOfMemory|_STATUS_ALLOC_FAILED"
)
"""The words of the CPU's allocator, of CUDA and HIP themselves, and of cuBLAS, cuSOLVER and their like."""

_TOO_WIDE = "with a tolerance of {} the class is not implied even by all statements"
_AUTO = f"--tolerance {AUTO}"
_TIE = "no class certainly beats all others at these latents: a tie, or too close for float64"
