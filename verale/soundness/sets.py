"""Certificates to be judged, by head: one process of the executable serves those of a head."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verale.paradigms import ORDERS
from verale.soundness.corpus.cases import FALSE, accepted, stored

if TYPE_CHECKING:
    from torch import Tensor

    from verale.head import Head


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
