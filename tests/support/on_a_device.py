"""What the tests of devices run on the stand-in, in a process of its own.

The device's name stays in torch for good, so the stand-in is imported where it is used.
"""

from __future__ import annotations

from unittest.mock import patch

import safetensors.torch
import torch
from support.small import FOCAL, GEOMETRIES, VARIED, focal_head, small_head, small_latents, varied_head

from verale.certificate import Certificate
from verale.checker import Auditor
from verale.errors import UsageError
from verale.head import Head
from verale.paradigms import paradigms_of
from verale.search.explain import explain

__all__ = ["HEADS", "compared", "explained_in_blocks", "refusals", "verdicts", "without_memory"]

HEADS = (*GEOMETRIES, *(" ".join(each) for each in FOCAL), *VARIED)
PATCHES = 5


def verdicts(name: str) -> dict[str, set[str]]:
    """By paradigm what the checker says of what is found on the device, and what is on the device at least.

    Heads of GEOMETRIES are explained under every paradigm that they have, others under two, each with others first.
    """
    from support.stand_in import DEVICE, StandIn

    head = _head(name, prototypes=6)
    paradigms = list(enumerate(paradigms_of(head.geometry.kind, 4)))
    first = HEADS.index(name) % len(paradigms)
    latents = small_latents(head, images=1, patches=4, seed=4)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents.contiguous()}))
    said: dict[str, set[str]] = {}
    for seed, paradigm in paradigms[first:] + paradigms[:first]:
        if name not in GEOMETRIES and len(said) == 2:
            break
        with StandIn(ulps=8, seed=seed) as device:
            try:
                explained = explain(head, latents, paradigm, device=DEVICE)
            except UsageError:  # not defined for this head
                continue
        assert device.launched > 100
        found = [each.to_bytes() for each in explained if isinstance(each, Certificate)]
        checked = [auditor.check(each, minimality=True) for each in found]
        said[paradigm] = {f"{verdict.status.value} {verdict.message}".strip() for verdict in checked}
    return said


def without_memory(words: str, rows: int, images: int) -> tuple[int, int] | str:
    """How many certificates there are, and how often memory ran out, where no table of so many rows fits; or the
    error."""
    from support.stand_in import DEVICE, StandIn

    head = small_head("cosine", 4, prototypes=6)
    latents = small_latents(head, images=images, patches=PATCHES, seed=4)
    try:
        with StandIn(out_of_memory=words, rows=[rows]) as device:
            explained = explain(head, latents, "projection", device=DEVICE, batch=images)
    except (UsageError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    return sum(isinstance(each, Certificate) for each in explained), device.failed


def compared() -> tuple[float, bool, bool]:
    """How many units exponentials are off at most, and whether quotients and products are those of the CPU."""
    from support.stand_in import DEVICE, StandIn

    values = torch.rand(64, 3, dtype=torch.float64)
    with StandIn(ulps=8):
        there = values.to(DEVICE)
        exponentials, quotients, products = there.exp().cpu(), (there / 3.0).cpu(), (there @ there.T).cpu()
    units = (exponentials - values.exp()).abs() / (values.exp() * 2.0**-53)
    return float(units.max()), torch.equal(quotients, values / 3.0), torch.equal(products, values @ values.T)


def refusals() -> list[str]:
    """What the device says to operands on two devices, and to who reads its memory."""
    from support.stand_in import DEVICE, StandIn

    values, said = torch.rand(4, dtype=torch.float64), []
    with StandIn():
        there = values.to(DEVICE)
        for attempt in (lambda: there + values, lambda: there.numpy()):
            try:
                attempt()
            except (RuntimeError, TypeError) as error:
                said.append(str(error))
    return said


def _head(name: str, **sizes: int) -> Head:
    if name in GEOMETRIES:
        return small_head(name, 4, **sizes)
    return varied_head(name, 4, **sizes) if name in VARIED else focal_head(*name.split(" "), 4, **sizes)


def explained_in_blocks(
    name: str, batch: int = 3, guards: tuple[float, ...] | None = None, images: int = 3, seed: int | None = None
) -> tuple[list[bytes], set[str], list[tuple[int, bool]], int]:
    """Projection's certificates where the kernel is interpreted (the fixture `interpreter`), what the checker says of
    them, sizes and minimal claims, and how many blocks ran."""
    from support.blocks import interpreted
    from support.stand_in import DEVICE, StandIn

    from verale.search.compiled import statements

    head = _head(name, prototypes=7)
    latents = small_latents(head, images=images, patches=3, seed=4)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents.contiguous()}))
    with (
        interpreted(races=False) as watch,
        StandIn(ulps=8, seed=seed) as device,
        patch.object(statements, "GUARDS", guards or statements.GUARDS),
    ):
        explained = explain(head, latents, "projection", device=DEVICE, batch=batch)
    assert device.launched > 100
    found = [each for each in explained if isinstance(each, Certificate)]
    written = [each.to_bytes() for each in found]
    checked = [auditor.check(each, minimality=True) for each in written]
    said = {f"{verdict.status.value} {verdict.message}".strip() for verdict in checked}
    return written, said, [(each.size, each.minimal) for each in found], watch.blocks
