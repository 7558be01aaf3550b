"""The search for counterexamples, which does not use the checker, finds latents wherever the domain has any."""

from __future__ import annotations

import random

import flint

from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import PRECISION
from verale.soundness.independent.claim import Claim
from verale.soundness.independent.head import Head
from verale.soundness.independent.witnesses import witnesses


def test_a_small_ball_in_many_dimensions_has_witnesses() -> None:
    """Draws come from the box about the ball, of which the ball fills hardly anything."""
    parts = {"geometry": {"kind": "inner_product", "radius": (0.5).hex()}, "similarity": files.IDENTITY}
    data = files.head([[1.0], [0.0]], [[0.25] * 24], [1.0, 0.0], domain=files.domain(None, None), **parts)
    certificate = files.certificate(data, [files.patch_statement(0, 0, -1.0, 1.0)], patches=2)
    with flint.ctx.workprec(PRECISION):
        images = witnesses(Claim.read(certificate, data, None), random.Random(0))
        assert images
        assert all(Head.read(data).admits(z) for image in images for z in image)
