"""Joint: a margin as one target proves what no sum of terms does, and nothing that is false."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import flint
import pytest
from support import files
from support.arithmetic import PRECISION, above, below, ends
from support.cases import every
from support.exact import Head

from verale.checker import Status, Verdict, check
from verale.checker.options import KERNELS

NEGATED = {"geometry": files.EUCLIDEAN, "similarity": {"kind": "negated"}, "domain": files.domain(-1.0, 1.0)}
PROTOTYPES = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]
WEIGHT = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
# o_0 - o_1 = d_1 + d_2 - d_0 - bias = |y|^2 + 2 - bias, and d_0 = |y|^2.
IMAGE = [[0.5, 0.0]]
ROUNDING = Fraction(1, 2**78)
STATED = [files.patch_statement(0, 0, 0.25, 0.25)]


def head(bias: float, **parts: Any) -> bytes:
    return files.head(WEIGHT, PROTOTYPES, [0.0, bias], **(NEGATED | parts))


def verdict(
    data: bytes, stated: list[dict[str, Any]] = STATED, kernel: str = "both", margin: float = 2.0**-40, **options: Any
) -> Verdict:
    options = {"paradigm": "joint", "patches": 1, "image": IMAGE, "margins": [None, margin]} | options
    latents = files.latents([options["image"]])
    return check(files.certificate(data, stated, **options), data, latents, kernel, minimality=True)


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_one_target_proves_what_terms_do_not(kernel: str) -> None:
    result = verdict(head(1.5), kernel=kernel, margin=below(Fraction(3, 4) - ROUNDING))
    assert result.status is Status.PROVED
    assert Fraction(3, 4) - ROUNDING < result.margins[1] <= Fraction(3, 4)
    # Term by term d_1 + d_2 is at least 1/4 + 1/4.
    assert verdict(head(1.5), kernel=kernel, paradigm="projection").reason == "entailment"
    assert verdict(head(1.5), kernel=kernel, margin=above(Fraction(3, 4))).reason == "margin"


PARTS: dict[str, dict[str, Any]] = {
    "negated": NEGATED,
    "inner product": NEGATED | {"geometry": {"kind": "inner_product", "radius": None}, "similarity": files.IDENTITY},
    "ball": {
        "geometry": {"kind": "inner_product", "radius": "0x1.8p+0"},
        "similarity": files.IDENTITY,
        "domain": files.domain(None, None),
    },
    "cosine": NEGATED | {"geometry": files.cosine(2.0**-6), "similarity": files.IDENTITY},
    "rooted": NEGATED | {"geometry": {"kind": "rooted_cosine", "epsilon": "0x1p-6"}, "similarity": files.IDENTITY},
}


@every("seed", range(6))
@pytest.mark.parametrize("name", PARTS)
def test_no_latents_that_satisfy_the_statements_have_a_smaller_margin(name: str, seed: int) -> None:
    """Statements that some latents near each other satisfy, half of them on one side; each has the proved margin."""
    generator = random.Random(f"{name} {seed}")
    rows = [[generator.randrange(-16, 17) / 16 or 0.25 for _ in range(3)] for _ in range(5)]
    weight = [[generator.uniform(-1, 1) + 2 * (j % 3 == c) for j in range(5)] for c in range(3)]
    scale = {"scale": [generator.choice((0.5, 1.0, 3.0)) for _ in rows]} if name == "negated" else {}
    exact = Head(weight, rows, PARTS[name], bias=[0.5, 0.0, 0.25], **scale)
    centre = [generator.uniform(-0.6, 0.6) for _ in range(3)]
    images = [[[x + generator.uniform(-0.2, 0.2) for x in centre]] for _ in range(5)]
    with flint.ctx.workprec(PRECISION):
        stated = []
        for j in generator.sample(range(5), generator.randrange(1, 6)):
            each = [ends(exact.observable(image[0], j)) for image in images]
            low, high = below(min(low for low, _ in each)), above(max(high for _, high in each))
            side = generator.randrange(4)
            stated.append(files.patch_statement(0, j, None if side == 0 else low, None if side == 1 else high))
        logits = [exact.logits([exact.activation(image, j) for j in range(5)]) for image in images]
        predicted = max(range(3), key=lambda c: float(logits[0][c]))
        # Margins that are asked for in vain: then all that is proved is told.
        margins = [None if c == predicted else 1e6 for c in range(3)]
        result = verdict(exact.data, stated, image=images[0], predicted=predicted, classes=3, margins=margins)
        assert result.reason in ("margin", "entailment")
        for rival, bound in enumerate(result.margins):
            assert (bound is None) == (rival == predicted)
            for each_logits in logits if bound is not None else []:
                low, high = ends(each_logits[predicted] - each_logits[rival])
                assert high >= bound
