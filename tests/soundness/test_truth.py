"""The judge that does not use the checker finds latents wherever the domain has any."""

from __future__ import annotations

import random

import flint

from verale.soundness.independent import files as hm
from verale.soundness.independent import head as ref
from verale.soundness.independent.truth import Claim, read_head, witnesses


def test_a_small_ball_in_many_dimensions_has_witnesses() -> None:
    """Of the box about it, which draws come from, hardly anything lies in it."""
    parts = {"geometry": {"kind": "inner_product", "radius": (0.5).hex()}, "similarity": hm.IDENTITY}
    data = hm.head([[1.0], [0.0]], [[0.25] * 24], [1.0, 0.0], domain=hm.domain(None, None), **parts)
    certificate = hm.certificate(data, [hm.spatial(0, 0, -1.0, 1.0)], patches=2)
    with flint.ctx.workprec(ref.PRECISION):
        found = witnesses(Claim.read(certificate, data, None), random.Random(0))
        assert found
        assert all(read_head(data).admits(z) for image in found for z in image)
