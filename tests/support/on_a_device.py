"""What the tests of devices run on the stand-in, in a process of its own.

The device's name stays in torch for good, so the stand-in is imported where it is used.
"""

from __future__ import annotations

from unittest.mock import patch

import safetensors.torch
import torch
from support.small import GEOMETRIES, focal_head, small_head, small_latents, varied_head

from verale.certificate import Certificate
from verale.checker import Auditor
from verale.errors import UsageError
from verale.head import Head
from verale.search import batches
from verale.search.explain import explain

_SIZES = {"prototypes": 6, "depth": 4, "classes": 3}


def verdicts(name: str, paradigm: str, digits: str, patches: int) -> list[str]:
    """What the checker says of each certificate found on the device, whose arithmetic is bad, with its minimality."""
    from support.stand_in import DEVICE, StandIn

    head = _head(name, **({"prototypes": 4} if paradigm == "joint" else {}))
    images = 2 if digits == "exact" and paradigm not in ("projection", "joint", "mixed") else 1  # these take long
    latents = small_latents(head, images=2, patches=patches, seed=4)[:images]
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents.contiguous()}))
    with StandIn(ulps=8, seed=3) as device, patch.object(batches, "require_device"):
        explained = explain(head, latents, paradigm, digits=digits, device=DEVICE, batch=2)
    assert device.launched > 500
    found = [each.to_bytes() for each in explained if isinstance(each, Certificate)]
    assert len(found) == len(latents)
    checked = [auditor.check(each, minimality=True) for each in found]
    return [f"{verdict.status.value} {verdict.message}".strip() for verdict in checked]


def without_memory(words: str, images: int, fit: int, patches: int) -> tuple[int, int, bool] | str:
    """How many certificates there are, how often memory ran out, and whether they are as large as those of images one
    by one, where no table of the patches of more than `fit` images fits; or the error."""
    from support.stand_in import DEVICE, StandIn

    head = _head("cosine")
    latents = small_latents(head, images=images, patches=patches, seed=4)
    rows = [patches * count for count in range(fit + 1, images + 1)]
    with patch.object(batches, "require_device"):
        options = {"digits": "exact", "device": DEVICE}
        try:
            with StandIn(seed=None, out_of_memory=words, rows=rows) as device:
                explained = explain(head, latents, "projection", batch=images, **options)
        except (UsageError, RuntimeError) as error:
            return f"{type(error).__name__}: {error}"
        with StandIn(seed=None):
            alone = explain(head, latents, "projection", batch=1, **options)
    same = all(one.size == other.size for one, other in zip(explained, alone, strict=True))
    return sum(isinstance(each, Certificate) for each in explained), device.failed, same


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
    sizes = _SIZES | sizes
    if name in GEOMETRIES:
        return small_head(name, 4, **sizes)
    return focal_head(*name.split(" "), 4, **sizes) if "_minus_" in name else varied_head(name, 4, **sizes)
