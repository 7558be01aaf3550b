"""A run's images in parts: what explaining a part gives, and several processes that explain parts.

On this machine, this process explains too. The others come when it has explained the first images: forks of this
process have then imported what they need. On a cluster the workers explain, and what they find comes here. What fails
in one of them is done again here, where its error is raised.
"""

from __future__ import annotations

import hashlib
import logging
import math
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from verale.certificate import Certificate
from verale.certificate.statements import bounded
from verale.certificate.words import above, float_below
from verale.checker import Auditor
from verale.checker.deployment import Deployment
from verale.errors import UsageError, VeraleError, option
from verale.files import certificate_name
from verale.head import Head, Linear
from verale.paradigms import PARADIGMS
from verale.runs.arguments import HeadFile, latents_bytes
from verale.runs.options import RunOptions
from verale.runs.table import Explained
from verale.runs.workers.local import Cluster, Done, Processes, can_fork, cores, popped
from verale.search import Batches, ImageResult, SearchOptions, Unexplained
from verale.search.devices import is_host, one_thread
from verale.search.explain import explain_batches

if TYPE_CHECKING:
    from verale.search.through import ThroughNetwork

Range = tuple[int, int]
"""Images: from the first up to, but not including, the second."""

Part = tuple[list[Explained], list[tuple[str, bytes]]]
"""The rows of some images and their certificates, as `rows_and_certificates` gives them."""

_log = logging.getLogger(__name__)

_WORTH_STARTING = 5.0
"""The seconds that images have to take before other processes are started unasked: each needs some two to start."""

_SHARES = 8  # into how many parts a process's share of the images is cut, so that all processes end together

_ATTEMPTS = 2
"""How often a part is begun on a cluster before it is split. A machine that is taken away is not the part's fault, but
the same part seldom loses two."""

_DIED = f"{_ATTEMPTS} workers died of this image, perhaps because memory ran out"


def cut(ranges: Iterable[Range], step: int) -> list[Range]:
    """Parts of ranges, cut at the multiples of a step."""
    parts: list[Range] = []
    for start, stop in ranges:
        parts += pairwise([start, *range((start // step + 1) * step, stop, step), stop])
    return parts


@dataclass(frozen=True, eq=False)
class Explainer:
    """What is asked of every image of a run, answered the same way in every process: see `Batches`. With a deployment,
    only certificates are kept that hold in float32 too (`held_in_float32`). With a network, images are pictures. Raises
    UsageError: a deployment of a readout that is not linear, or of pictures."""

    head: Head
    options: SearchOptions
    deployment: Deployment | None = None
    through: ThroughNetwork | None = None

    def __post_init__(self) -> None:
        if self.through is not None and self.deployment is not None:
            raise UsageError("deployment is given, expected none with pictures: ask verale audit --deployment for it")
        if self.deployment is not None and not isinstance(self.head.readout, Linear):
            raise UsageError("the readout is not linear, expected logits that a reserve can be taken from")

    def batches(self, images: Tensor) -> Batches:
        """These images, and how to explain them. Raises as `Batches`."""
        return Batches(self.head, images, self.options, self.through)

    def part(self, batches: Batches, images: Tensor, first: int, labels: Sequence[int | None] | None) -> Part:
        """Explain images (N, L, D), or pictures, together."""
        clock = perf_counter()
        results = batches.explain_images(images)
        if self.deployment is not None:
            held = held_in_float32(self, images, [result.explanation for result in results])
            results = [replace(result, explanation=one) for result, one in zip(results, held, strict=True)]
        seconds = round((perf_counter() - clock) / len(results), 4)
        return rows_and_certificates(results, first, self.head.size, seconds, labels)


def explain_in_processes(
    batches: Batches, left: Sequence[Range], labels: Sequence[int] | None, explainer: Explainer, how: RunOptions
) -> Iterator[Part]:
    """Explain images, ascending, part by part, in the order in which the parts are done: all of a batch or none, unless
    images are searched alone. This process is one of them; there are fewer where the memory allowed has no room for so
    many batches, and this one alone on another device than the CPU. By default there is one a core, if the images take
    seconds."""

    def message(part: Range) -> tuple[Tensor, int, Sequence[int] | None]:
        start, stop = part
        return batches.images[start:stop].clone(), start, None if labels is None else labels[start:stop]

    def here(part: Range) -> Part:
        return explainer.part(batches, *message(part))

    def known(done: Done[Range]) -> Part:
        if done.died:
            of = done.task[0], done.task[1] - 1
            _log.warning("a process died, perhaps because memory ran out; images %d to %d are explained again", *of)
        return _result(done, here)

    jobs, start_cluster = how.jobs, how.start_cluster
    if start_cluster is not None and left:
        with one_thread(), start_cluster(not is_host(batches.options.device)) as cluster:
            yield from _explained_on(cluster, batches, left, explainer, message, here)
        return
    most = min(_processes(batches, jobs), len(cut(left, 1 if batches.are_alone else batches.size)))
    if most <= 1:
        yield from map(here, cut(left, batches.size))
        return
    todo: deque[Range] = deque()
    with one_thread(), Processes(_explaining, (explainer, batches.images[:0]), todo, message) as others:
        if jobs is not None and not can_fork():  # they import while this one explains
            others.start(most - 1)
        clock = perf_counter()
        start, stop = first = cut(left, 1 if jobs is not None and batches.are_alone else batches.size)[0]
        yield here(first)
        left = [(max(stop, begin), end) for begin, end in left if end > stop]
        images = sum(end - begin for begin, end in left)
        wanted = jobs is not None or (perf_counter() - clock) / (stop - start) * images > _WORTH_STARTING
        if wanted and not others.are_there:
            others.start(most - 1, fork=True)
        todo.extend(cut(left, _part_size(batches, images, most if others.are_there else 1)))
        others.begin()
        for _ in range(len(todo)):
            done = others.finished() if todo else others.awaited()
            own = popped(todo) if done is None else None
            yield here(own) if own is not None else known(done or others.awaited())


def _explained_on(
    cluster: Cluster,
    batches: Batches,
    left: Sequence[Range],
    explainer: Explainer,
    message: Callable[[Range], tuple[Tensor, int, Sequence[int] | None]],
    here: Callable[[Range], Part],
) -> Iterator[Part]:
    """The parts, explained on a cluster. One that kills its workers is split, down to single images, and such an image
    has no certificate; alone, it may have another one than in its batch. Raises VeraleError: all parts do."""
    whole = cut(left, _part_size(batches, sum(stop - start for start, stop in left), cluster.size))
    todo, unfinished, deaths = deque(whole), len(whole), Counter[Range]()
    fatal: set[Range] | None = set()
    with Processes(_explaining, (explainer, batches.images[:0]), todo, message, cluster) as workers:
        workers.start(min(cluster.size, unfinished))
        workers.begin()
        while unfinished:
            done = workers.awaited()
            start, stop = part = done.task
            unfinished -= 1
            if not done.died:
                fatal = None
                yield _result(done, here)
                continue
            deaths[part] += 1
            again = [part]
            if deaths[part] >= _ATTEMPTS:  # the batches of a part, or the images of a batch; nothing of a single image
                smaller = cut([part], batches.size)
                again = smaller if len(smaller) > 1 else cut([part], 1) if stop - start > 1 else []
            what = "begun again" if again else "left out"
            _log.warning("a worker died at images %d to %d, which are %s", start, stop - 1, what)
            if deaths[part] == _ATTEMPTS and fatal is not None:
                fatal.add(part)
                if len(fatal.intersection(whole)) > cluster.size:
                    raise VeraleError(
                        f"workers died at every part they began, {len(fatal)} so far, perhaps because memory ran out:"
                        f" use fewer {option('jobs')}, or a smaller {option('batch')}"
                    )
            if not again:
                labels = message(part)[2]
                yield [Explained(start, label=None if labels is None else labels[0], reason=_DIED)], []
            todo.extend(again)
            unfinished += len(again)
            if unfinished:
                workers.start(1)


def _result(done: Done[Range], here: Callable[[Range], Part]) -> Part:
    """What came of a part; where that failed, it is explained here, which raises its error."""
    part: Part | None = done.result
    return here(done.task) if part is None else part


def _explaining(explainer: Explainer, none: Tensor) -> Callable[[Tensor, int, Sequence[int] | None], Part]:
    """The job of another process. Its batches examine the device that it has for itself before it is used."""
    torch.set_num_threads(1)
    return partial(explainer.part, explainer.batches(none))


def _processes(batches: Batches, jobs: int | None) -> int:
    """How many processes there may be."""
    if not is_host(batches.options.device) or not sys.executable:
        return 1
    most = min(jobs or cores(), max(1, int(batches.options.bytes // batches.bytes_at_once)))
    if jobs is not None and most < jobs:
        _log.warning(
            "%d processes explain, not %d: more would exceed the memory allowed (%s)", most, jobs, option("max_memory")
        )
    return most


def _part_size(batches: Batches, left: int, processes: int) -> int:
    """How many images a part has: a batch; where images are searched alone, fewer, so that processes end together."""
    if processes == 1 or not batches.are_alone:
        return batches.size
    return max(1, min(batches.size, left // (_SHARES * processes)))


def rows_and_certificates(
    results: list[ImageResult], first: int, prototypes: int, seconds: float, labels: Sequence[int | None] | None = None
) -> tuple[list[Explained], list[tuple[str, bytes]]]:
    """The table's rows for a batch, and its certificates (name, bytes); of `labels` those are given that are known."""
    rows, certificates = [], []
    for index, (result, label) in enumerate(zip(results, labels or [None] * len(results), strict=True), first):
        explanation = result.explanation
        others = [f"{each.paradigm} {each.reason if each.size is None else each.size}" for each in result.others]
        values: dict[str, Any] = {
            "index": index,
            "predicted": explanation.predicted,
            "seconds": seconds,
            "label": label,
            "correct": None if None in (label, explanation.predicted) else label == explanation.predicted,
            "others": "; ".join(others) or None,
            **_confidence(result.logits, explanation.predicted),
        }
        if isinstance(explanation, Certificate):
            data, name = explanation.to_bytes(), certificate_name(index)
            certificates.append((name, data))
            reach = bounded(explanation.statements, prototypes, explanation.patches)
            possible = prototypes * (explanation.patches if PARADIGMS[explanation.paradigm].spatial else 1)
            values |= {
                "size": explanation.size,
                "relative_size": round(explanation.size / possible, 6),
                "margin": float_below(explanation.margin),
                "paradigm": explanation.paradigm,
                "certificate": name,
                "sha256": hashlib.sha256(data).hexdigest(),
                "bounded_prototypes": reach.prototypes,
                "prototypes": prototypes,
                "bounded_pairs": reach.pairs,
                "pairs": prototypes * explanation.patches,
            }
        else:
            values["reason"] = explanation.reason
        rows.append(Explained(**values))
    return rows, certificates


def _confidence(logits: Tensor | None, predicted: int | None) -> dict[str, object]:
    """The predicted class and the next one, by their logits (C,); None where a logit is infinite, and nothing where
    logits or class are not known."""
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


_TRIALS = 4
_MORE = Fraction(9, 8)  # the reserve is greater than what the last statements lost, since what is lost depends on them


def held_in_float32(
    explainer: Explainer, images: Tensor, explained: Sequence[Certificate | Unexplained]
) -> list[Certificate | Unexplained]:
    """For each image (L, D) its certificate, or one of the same paradigm that holds in float32, or why there is none.
    The checker proves each of them.

    An explanation is shrunk until its margins are hardly positive, and then rounding may make up for them. So such an
    image is explained again as if each rival's logit were greater by what is lost: these statements leave as much more.
    They are not minimal for the head itself, and the certificate does not claim it.
    """
    file = HeadFile("head", explainer.head.to_bytes(), explainer.head)
    auditor = Auditor(file.data, latents_bytes(images, file))
    each = zip(images, explained, strict=True)
    return [one if isinstance(one, Unexplained) else _held(explainer, auditor, image, one) for image, one in each]


def _held(explainer: Explainer, auditor: Auditor, image: Tensor, certificate: Certificate) -> Certificate | Unexplained:
    kept, reserve = certificate, Fraction(0)
    options = replace(explainer.options, paradigm=certificate.paradigm, batch=1)
    for _ in range(_TRIALS):
        # A head from a file that is written otherwise has another digest, and the same numbers.
        same = replace(kept, head=auditor.head.sha256)
        verdict = auditor.check(same.to_bytes(), deployment=explainer.deployment)
        if verdict.claims.get("deployment") == "proved":
            return kept
        if not verdict.deployed:
            return Unexplained(certificate.predicted, verdict.message)
        pairs = zip(verdict.margins, verdict.deployed, strict=True)
        lost = max(real - left for real, left in pairs if real is not None and left is not None)
        reserve = max(lost, reserve) * _MORE
        # The head with a smaller bias of that class, and exactly by how much it is smaller.
        head, own = explainer.head, certificate.predicted
        bias = head.weight.new_zeros(head.classes).double() if head.bias is None else head.bias.double().clone()
        before = Fraction(float(bias[own]))
        bias[own] -= float(reserve)
        behind, taken = replace(head, bias=bias), before - Fraction(float(bias[own]))
        again = next(explain_batches(behind, image[None], options))[0]
        if isinstance(again, Unexplained) or again.predicted != certificate.predicted:
            break
        margins = tuple(None if m is None else _below(Fraction(m) + taken) for m in again.margins)
        kept = replace(again, head=certificate.head, minimal=False, margins=margins)
    why = f"no statements are found that leave a lead of {above(reserve)}, which float32 may lose"
    return Unexplained(certificate.predicted, why)


def _below(value: Fraction) -> float:
    """A binary64 number that is no greater."""
    nearest = float(value)
    return nearest if nearest <= value else math.nextafter(nearest, -math.inf)
