"""Whether kernels agree: whose verdict on a certificate is stronger, and what is wrong.

A verdict is stronger if it goes further in certificates/v1.md, "Verification": the instance holds, the class is
entailed with some margins, with those that are stated, every statement is needed. What is decided, PROVED or REFUTED,
is the strongest. Whatever a reader refuses is refused before any kernel is asked: there verdicts have to be the same.
Minimality is asked for too. Certificates are judged by head: one process of the executable serves those of a head.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from verale.checker import Auditor, Status
from verale.checker.errors import ExecutableError
from verale.paradigms import ORDERS
from verale.soundness.corpus.cases import FALSE, accepted, outcome_of, stored

if TYPE_CHECKING:
    from torch import Tensor

    from verale.head import Head

NAMES = ("arb", "mpmath", "proved")

Said = tuple[str, str]
"""Status and reason; of a file that cannot be used INPUT_ERROR and which file; of an executable that dies ENDED."""

ENDED = ("EXECUTABLE_ERROR", "executable")
KINDS = ("same", "more", "less", "apart")
"""What the proved checker proves beside the Python one: the same, more or less; or they cannot be compared."""

_UNDECIDED = ("limit", "uncovered", "instance", "entailment", "margin", "minimality", "witness")
"""The reasons of NOT_PROVED and NOT_REFUTED, from the weakest."""
_DECIDED = ("PROVED", "REFUTED")
_CONTRADICTIONS = {("PROVED", "instance"), ("REFUTED", "margin"), ("REFUTED", "minimality")}
_LIMIT = ("NOT_PROVED", "limit")
"""What `mpmath` may say where `arb` does not: it takes more time for the same."""


@dataclass(frozen=True)
class Question:
    """A certificate to judge.

    Attributes:
        name: where it comes from.
        certificate: its bytes.
        witness: a latents file; the verdict is one on this witness. None otherwise.
        false: whether what is claimed is known to be false.
    """

    name: str
    certificate: bytes
    witness: bytes | None = None
    false: bool = False


@dataclass(frozen=True)
class Group:
    """Certificates of one head.

    Attributes:
        head: the head's file.
        latents: the latents' file, or None.
        questions: the certificates, a few or many.
    """

    head: bytes
    latents: bytes | None
    questions: tuple[Question, ...]


def corpora(large: bool = False) -> Iterator[Group]:
    """Every case; those of `sizes`, which take long, only if `large`."""
    by_files: dict[tuple[bytes, bytes | None], list[Question]] = {}
    for case in [*stored(), *(stored("sizes") if large else ())]:
        question = Question(case.name, case.certificate, case.witness, case.mark == FALSE)
        by_files.setdefault((case.head, case.latents), []).append(question)
    for (head, latents), questions in by_files.items():
        yield Group(head, latents, tuple(questions))


def opened(seed: int = 0) -> Iterator[Group]:
    """Every accepted case with ends taken away, and under top_k a floor: many no longer prove their class."""
    for case in accepted():
        rng = random.Random(f"{case.name} {seed}")
        document = json.loads(case.certificate)
        predicate = document["predicate"]
        for statement in predicate["statements"]:
            if "interval" in statement and rng.random() < 0.3:
                statement["interval"][rng.randrange(2)] = None
        if predicate["paradigm"] == "top_k":
            exempt = sorted(one["prototype"] for one in predicate["statements"] if "prototype" in one)
            predicate["statements"].append({"except": exempt, "lower": rng.choice((-32.0, -1.0, 0.0, 0.25)).hex()})
        predicate["claims"] = [claim for claim in predicate["claims"] if claim != "minimality" or rng.random() < 0.5]
        predicate["margins"] = [None if margin is None else "0x1p-30" for margin in predicate["margins"]]
        question = Question(f"{case.name}, opened", json.dumps(document).encode())
        yield Group(case.head, case.latents, (question,))


def explained(
    name: str, head: Head, latents: Tensor, tolerance: float = 0.0, orders: Collection[str] = ORDERS
) -> Group:
    """Images (N, L, D) explained under every paradigm that the head admits, in each of some orders that it has: the
    certificates among what the search gives, perhaps none."""
    import safetensors.torch

    from verale.certificate import Certificate
    from verale.search.explain import explain
    from verale.soundness.combinations import searches

    questions = tuple(
        Question(f"{name}, image {image}, {paradigm} {order}", result.to_bytes())
        for paradigm, order in searches(head)
        if order in orders
        for image, result in enumerate(explain(head, latents, paradigm, order=order, tolerance=tolerance))
        if isinstance(result, Certificate)
    )
    return Group(head.to_bytes(), safetensors.torch.save({"latents": latents}), questions)


def emitted(numbers: Iterable[int], images: int) -> Iterator[Group]:
    """The random heads of these numbers, so many images of each (`combinations.draws`), explained."""
    from verale.soundness.combinations import draws

    for name, drawn in draws(numbers, images):
        yield explained(name, drawn.head, drawn.latents, drawn.tolerance)


def demo(images: int) -> Iterator[Group]:
    """The first images of `verale demo`, explained under every paradigm of its head."""
    from verale.adapters.cabrnet import load_head
    from verale.demo.network import RUN, load_images, load_network
    from verale.head import as_patches

    latents = as_patches(load_network().latents(load_images().images[:images])).contiguous()
    yield explained("demo", load_head(RUN), latents, orders=ORDERS[:1])


@dataclass(frozen=True)
class Comparison:
    """What the kernels say of a certificate, by their names."""

    group: Group
    question: Question
    said: Mapping[str, Said]

    @property
    def kind(self) -> str:
        """One of KINDS."""
        python, proved = self.said["arb"], self.said["proved"]
        if python == proved and proved != ENDED:
            return "same"
        ranks = rank(python), rank(proved)
        if _contradict(python, proved) or _contradict(proved, python):
            return "apart"
        if ranks[0] is None or ranks[1] is None or ranks[0] == ranks[1]:
            return "apart"
        return "more" if ranks[0] < ranks[1] else "less"

    @property
    def wrong(self) -> tuple[str, ...]:
        """What must not be, a line each."""
        said = self.said
        named = ", ".join(f"{kernel}: {' '.join(verdict).strip()}" for kernel, verdict in said.items())
        lines = []
        if self.kind == "apart" or said["mpmath"] not in (said["arb"], _LIMIT):
            lines.append(f"{self.question.name}: the kernels disagree ({named})")
        if self.question.false and any(status == "PROVED" for status, _ in said.values()):
            lines.append(f"{self.question.name}: it is marked as false ({named})")
        return tuple(lines)


def asked(group: Group, kernel: str) -> list[Said]:
    """The verdicts of a kernel on a group's certificates, in their order."""
    auditor = cache(partial(Auditor, group.head, group.latents, kernel))
    return [_said(auditor, question) for question in group.questions]


def compared(groups: Iterable[Group], ask: Callable[[Group, str], list[Said]] = asked) -> Iterator[Comparison]:
    """The kernels' verdicts on certificates, side by side."""
    for group in groups:
        for question, *said in zip(group.questions, *(ask(group, kernel) for kernel in NAMES), strict=True):
            yield Comparison(group, question, dict(zip(NAMES, said, strict=True)))


def unproved(groups: Iterable[Group], kernel: str) -> tuple[int, list[str]]:
    """How many certificates there are, and which of them a kernel does not prove, a line each."""
    tried, lines = 0, []
    for group in groups:
        auditor = Auditor(group.head, group.latents, kernel)
        for question in group.questions:
            tried += 1
            verdict = auditor.check(question.certificate, minimality=True)
            if verdict.status is not Status.PROVED:
                lines.append(f"{question.name}: {verdict.reason}: {verdict.message}")
    return tried, lines


def rank(verdict: Said) -> int | None:
    """How strong a verdict is; None if it is not a kernel's."""
    status, reason = verdict
    if status in _DECIDED:
        return len(_UNDECIDED)
    return _UNDECIDED.index(reason) if reason in _UNDECIDED else None


def _contradict(one: Said, other: Said) -> bool:
    """Whether one decides what the other has seen to be otherwise: that the image is none of the claim's, or that the
    statements entail the class."""
    return (one[0], other[1]) in _CONTRADICTIONS


def _said(auditor: Callable[[], Auditor], question: Question) -> Said:
    try:
        return outcome_of(auditor, question.certificate, question.witness)
    except ExecutableError:
        return ENDED
