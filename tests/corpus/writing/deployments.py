"""`certificates/deployment`: certificates with what an auditor asks of the deployed head (v1.md, "Deployment").

Every certificate is true and proved but for that. A rejected case has a mark as those of `reject` have; where it is
`false`, latents show it by one evaluation in binary32 (`computed`), or the prototypes by not being binary32 numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from corpus.writing.computed import is_lost, rounds_prototypes
from corpus.writing.storing import encoded

from verale.checker.deployment import Deployment
from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import GEOMETRIES, MAXIMUM, UNBOUNDED, top_mean
from verale.soundness.corpus.truth import BEYOND, FALSE, Truth
from verale.soundness.independent import files

__all__ = ["PROTOTYPES", "deployment_cases", "holds_of_deployed"]

PROTOTYPES = "prototypes"
"""What is false of a head whose prototypes are no binary32 numbers (`claim` of the mark)."""
_PROVED, _DEPLOYED = ("PROVED", ""), ("NOT_PROVED", "deployment")
_DIRECT, _EXPANDED, _CDIST = map(Deployment, ("direct", "expanded", "cdist"))
_EACH = [[1.0, 0.0], [0.0, 1.0]]
"""Weights of two classes, a prototype each."""
_ONE = [[1.0], [0.0]]
"""Weights of two classes, a prototype for the first."""
_NEGATED: files.Part = {"similarity": {"kind": "negated"}}


def deployment_cases() -> Iterator[Case]:
    """All of them."""
    yield from _distances()
    yield from _other_geometries()
    yield from _other_parts()
    yield from _cancelled()
    yield from _ulps()
    yield from _unbounded()
    yield from _refused()


def holds_of_deployed(case: Case) -> bool:
    """Whether the mark of a rejected case holds, without the checker. Of what is beyond: whether there is a reason."""
    truth, asked = files.given(case.truth), asdict(files.given(case.deployment))
    if truth.mark == BEYOND:
        return truth.why != ""
    if truth.breaks is not None:
        return is_lost(case.certificate, case.head, truth.breaks, asked)
    return truth.claim == PROTOTYPES and rounds_prototypes(case.head)


def _case(
    name: str,
    comment: str,
    head: bytes,
    stated: list[Any],
    image: files.Matrix,
    deployment: Deployment,
    truth: Truth | None = None,
    **options: Any,
) -> Case:
    """A case, rejected if it has a mark. Raises ValueError where that does not hold."""
    document = files.document(head, stated, image=image, **({"patches": len(image)} | options))
    latents, outcome = files.latents([image]), _PROVED if truth is None else _DEPLOYED
    case = Case(
        f"deployment/{name}", encoded(document, comment), head, latents, *outcome, comment, truth, None, deployment
    )
    if truth is not None and not holds_of_deployed(case):
        raise ValueError(f"{case.name}: its mark does not hold")
    return case


def _broken(image: files.Matrix) -> Truth:
    return Truth(FALSE, breaks=files.latents([image]))


def _distances() -> Iterator[Case]:
    head = files.head(_EACH, [[0.25, 0.25], [0.75, 0.5]])
    image = [[0.25, 0.375]]
    stated = [files.patch_statement(0, 0, 2.0**-6, 2.0**-6), files.patch_statement(0, 1, 0.25, 0.5)]
    for deployment in (_DIRECT, _EXPANDED, _CDIST):
        comment = f"Squared distances by the formula {deployment.formula}: near the origin none loses much."
        yield _case(deployment.formula, comment, head, stated, image, deployment, margins=[None, 1.0])


def _other_geometries() -> Iterator[Case]:
    parts = GEOMETRIES["cosine"] | {"similarity": files.IDENTITY, "domain": files.domain(0.0, 1.0)}
    stated = [files.patch_statement(0, 0, 0.75, 1.0), files.patch_statement(0, 1, 0.0, 0.25)]
    comment = "Cosines, which lose no more where latents are short, since E = 2^-10 is added to the length."
    head = files.head(_EACH, _EACH, **parts)
    yield _case("cosine", comment, head, stated, [[1.0, 0.125]], _DIRECT, margins=[None, 0.25])

    parts = GEOMETRIES["inner_product"] | {"similarity": files.IDENTITY}
    head = files.head(_EACH, _EACH, **parts)
    comment = "Inner products over a box."
    yield _case("inner-product", comment, head, stated, [[0.875, 0.125]], _DIRECT, margins=[None, 0.25])

    parts = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": UNBOUNDED}
    head, image = files.head(_EACH, **parts), [[1.5, 0.0]]
    stated = [files.patch_statement(0, 0, 0.75, 0.875)]
    comment = "Masses of a softmax, which lose as little of latents without a bound."
    yield _case("softmax", comment, head, stated, image, _DIRECT, paradigm="simplex", margins=[None, 0.25])


def _other_parts() -> Iterator[Case]:
    head = files.head([[1.1, 0.0], [0.0, 1.1]], [[0.25, 0.25], [0.75, 0.5]], pooling=top_mean(2), **_NEGATED)
    ranges = enumerate(((0.0, 0.125), (0.25, 2.0)))
    stated = [files.patch_statement(patch, j, *ends) for j, ends in ranges for patch in (0, 1)]
    comment = "A mean of two patches, and weights that are no binary32 numbers: they are rounded once."
    image = [[0.25, 0.375], [0.25, 0.25]]
    yield _case("mean-and-rounded-weights", comment, head, stated, image, _EXPANDED, margins=[None, 0.0625])

    head = files.head(_EACH, [[0.25, 0.25], [0.75, 0.5]], readout=MAXIMUM)
    stated = [files.patch_statement(0, 0, 2.0**-6, 2.0**-6), files.patch_statement(0, 1, 0.25, 0.5)]
    comment = "The readout maximum, of one prototype for each class."
    yield _case("maximum", comment, head, stated, [[0.25, 0.375]], _DIRECT, margins=[None, 1.0])

    weight, rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]
    head = files.head(weight, rows, [0.0, 2.125], domain=files.domain(-4.0, 4.0), **_NEGATED)
    comment = "The margin |y|^2 - 1/8 is 1/8 as one target, and less than 0 term by term: so what terms lose comes off."
    stated = [files.patch_statement(0, 0, 0.25, 0.25)]
    yield _case("together", comment, head, stated, [[0.5, 0.0]], _DIRECT, paradigm="joint", margins=[None, 0.0625])


def _cancelled() -> Iterator[Case]:
    at = 4096.5
    head = files.head(_ONE, [[at, at]], [1.0, 0.0], domain=files.domain(0.0, 8192.0), **_NEGATED)
    stated = [files.patch_statement(0, 0, 0.0, 2.0**-6)]
    told = "A prototype far from the origin. A distance of 1/64 or less leaves a margin of 63/64, "
    margins, image = [None, 0.5], [[at, at]]
    comment = told + "and differences lose a share of the distance."
    yield _case("far-direct", comment, head, stated, image, _DIRECT, margins=margins)
    lost = _broken([[at, at + 2.0**-11]])  # the computed distance is 4
    comment = told + "which is less than |z|^2 - 2 <z, p> + |p|^2 loses."
    yield _case("far-expanded", comment, head, stated, image, _EXPANDED, lost, margins=margins)
    comment = told + "which is less than one sum of all terms loses."
    yield _case("far-cdist", comment, head, stated, image, _CDIST, lost, margins=margins)


def _ulps() -> Iterator[Case]:
    head, image = files.head(_EACH, [[0.0, 0.0], [1.0, 2.0**-7]]), [[0.5, 0.0]]
    stated = [files.patch_statement(0, 0, 0.25, 0.25), files.patch_statement(0, 1, 0.25 + 2.0**-14, 0.5)]
    comment = "Logarithms of nearly the same distances, a margin of nearly 2^-12: enough for 4 ulps."
    yield _case("log-within-4", comment, head, stated, image, _DIRECT, margins=[None, 2.0**-13])
    comment = "Logarithms of nearly the same distances, a margin of nearly 2^-12: not enough for 1024 ulps."
    asked = Deployment("direct", log=1024)
    yield _case("log-within-1024", comment, head, stated, image, asked, _broken(image), margins=[None, 2.0**-13])


def _unbounded() -> Iterator[Case]:
    head = files.head(_ONE, [[0.0, 0.0]], [1.0, 0.0], domain=UNBOUNDED)
    image, margins = [[1.0, 0.0]], [None, 0.5]
    comment = "The domain is open, but every patch is at most 2 away from a prototype."
    yield _case(
        "stated-upper-end", comment, head, [files.patch_statement(0, 0, 0.0, 4.0)], image, _DIRECT, margins=margins
    )
    comment = "The domain is open, and a distance without an upper end leaves latents whose squares overflow."
    stated = [files.patch_statement(0, 0, 0.5, None)]
    yield _case("overflow", comment, head, stated, image, _DIRECT, _broken([[2.0**100, 0.0]]), margins=margins)
    comment = "The same, with a box, whose corner has a square that overflows."
    boxed = files.head(_ONE, [[0.0, 0.0]], [1.0, 0.0], domain=files.domain(0.0, 2.0**70))
    lost = _broken([[2.0**70, 0.0]])
    yield _case("overflow-in-a-box", comment, boxed, stated, image, _DIRECT, lost, margins=margins)
    comment = "The same, with an upper end for one patch of two."
    stated, two = [files.patch_statement(0, 0, 0.5, 4.0)], [[1.0, 0.0], [1.0, 1.0]]
    lost = _broken([[1.0, 0.0], [2.0**100, 0.0]])
    yield _case("overflow-of-a-patch", comment, head, stated, two, _DIRECT, lost, margins=margins)
    comment = "A weight of 2^126, whose product with an activation of 4 or more overflows."
    heavy, stated = files.head([[2.0**126], [0.0]], [[0.25, 0.25]]), [files.patch_statement(0, 0, 0.0, 2.0**-6)]
    near = [[0.25, 0.25]]
    yield _case("overflow-of-a-logit", comment, heavy, stated, near, _DIRECT, _broken(near), margins=margins)

    parts = GEOMETRIES["cosine"] | {"geometry": files.cosine(0.0), "similarity": files.IDENTITY}
    head = files.head(_ONE, [[1.0, 0.0]], [0.0, 0.0], **(parts | {"domain": files.domain(0.0, 1.0)}))
    stated = [files.patch_statement(0, 0, 0.75, None)]
    comment = "A cosine with E = 0 of latents so short that their squares underflow, and that is divided by 0."
    lost = _broken([[2.0**-80, 0.0]])
    yield _case("divided-by-0", comment, head, stated, [[1.0, 0.125]], _DIRECT, lost, margins=margins)


def _refused() -> Iterator[Case]:
    image, near = [[0.25, 0.25]], [files.patch_statement(0, 0, 0.0, 2.0**-6)]
    head = files.head(_ONE, [[0.25, 0.3]], [1.0, 0.0])
    comment = "A coordinate of the prototype, 0.3, is no binary32 number, so the deployed prototype is another."
    yield _case(
        "rounded-prototype", comment, head, near, image, _DIRECT, Truth(FALSE, claim=PROTOTYPES), margins=[None, 0.5]
    )

    comment = "A coordinate of the latents, 0.3, is no binary32 number, so perhaps none satisfy the statements."
    why = Truth(BEYOND, why="Nothing is proved of the deployed head where no binary32 latents are shown to exist.")
    head = files.head(_ONE, [[0.25, 0.25]], [1.0, 0.0])
    yield _case("rounded-latents", comment, head, near, [[0.25, 0.3]], _DIRECT, why, margins=[None, 0.5])

    tree = {"kind": "soft_tree", "absent": [-1], "present": [-2]}
    similarity = {"kind": "exp_distance", "epsilon": (2.0**-20).hex()}
    head = files.head([[0.0, 1.0], [1.0, 0.0]], [[0.25, 0.25]], similarity=similarity, readout=tree)
    comment = "A soft tree, of which nothing is proved in binary32."
    why = Truth(BEYOND, why="The margin is 1/2 and more; products along two paths lose a few units of 2^-24 of it.")
    yield _case("soft-tree", comment, head, near, image, _DIRECT, why, margins=[None, 0.5])

    head = files.head(_ONE, [[0.25, 0.25]], [1.0, 0.0], pooling=top_mean(1), similarity={"kind": "exponential"})
    comment = "Exponentials under a mean, of which nothing is proved in binary32."
    why = Truth(BEYOND, why="The margin is 1 and more, and an exponential has no sign that a loss could turn.")
    yield _case("exponential-under-a-mean", comment, head, near, image, _DIRECT, why, margins=[None, 0.5])

    head = files.head(_ONE, [[0.25, 0.25]], [1.0, 0.0], similarity={"kind": "quadratic"})
    comment = "The similarity quadratic, of which nothing is proved in binary32."
    why = Truth(BEYOND, why="The margin is 1 - 2^-12, and a square of a small number loses little.")
    yield _case("quadratic", comment, head, near, image, _DIRECT, why, margins=[None, 0.5])
