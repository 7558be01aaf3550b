"""A device that computes as proofs need it passes; one that does anything else does not, and what that is is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from support.small import small_head, small_latents
from torch import Tensor

from verale.errors import UsageError
from verale.rounding import device
from verale.rounding.device import OPERATIONS, failures, require_device
from verale.search.explain import explain

EPSILON = 2.0**-52


def short(operation: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same in float32."""
    return lambda *arguments: operation(*(each.float() for each in arguments)).double()


def flushed(operation: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same where subnormal results are taken for 0."""
    return lambda *arguments: torch.where((result := operation(*arguments)).abs() < 2.0**-1022, 0.0, result)


def fused(one: Tensor, other: Tensor, third: Tensor) -> Tensor:
    """x y - z, rounded once but for the last addition: the product's rounding error by halves of its factors."""

    def halves(values: Tensor) -> tuple[Tensor, Tensor]:
        high = (values * (2.0**27 + 1)) - (values * (2.0**27 + 1) - values)
        return high, values - high

    scale = 2.0 ** -(one.abs().log2().floor() // 1)
    one, third = one * scale, third * scale
    product, (a, b), (c, d) = one * other, halves(one), halves(other)
    return ((product - third) + (((a * c - product) + a * d + b * c) + b * d)) / scale


def sliced(one: Tensor, other: Tensor) -> Tensor:
    """A product of rows cut to 60 bits below their greatest number, as if float64 were emulated."""
    unit = 2.0**60 / one.abs().amax(1, keepdim=True)
    return ((one * unit).round() / unit) @ other


WRONG = {
    "a product that is fused": ("product and difference", fused),
    "exponents of subnormals": ("exponent", lambda x: torch.where(x < 2.0**-1022, 0, torch.frexp(x).exponent).double()),
    "log in float32": ("log", short(torch.log)),
    "log of subnormals": ("log", lambda x: torch.where(x < 2.0**-1022, 2.0**-1022, x).log()),
    "products of slices": ("matrix product", sliced),
    "an addition that flushes": ("addition", flushed(torch.add)),
    "a subtraction that flushes": ("subtraction", flushed(torch.sub)),
    "a multiplication that flushes": ("multiplication", flushed(torch.mul)),
    "a division that flushes": ("division", flushed(torch.div)),
    "a division by a reciprocal": ("division", lambda x, y: x * y.reciprocal()),
    "a multiplication that saturates": ("multiplication", lambda x, y: (x * y).clamp(-1.7e308, 1.7e308)),
    "an addition rounded up": ("addition", lambda x, y: torch.nextafter(x + y, torch.full_like(x, torch.inf))),
    "a root off by a unit": ("root", lambda x: torch.nextafter(x.sqrt(), torch.zeros_like(x))),
    "a root in float32": ("root", short(torch.sqrt)),
    "no step above 0": ("up", lambda x: x * (1 + EPSILON)),
    "a step below that flushes": ("down", flushed(device.down)),
    "a square root of subnormals": ("sqrt", lambda x: torch.where(x < 2.0**-1022, 0.0, x.sqrt())),
    "exp in float32": ("exp", short(torch.exp)),
    "exp off by ulps": ("exp", lambda x: x.exp() * (1 + 40 * EPSILON)),
    "exp that overflows early": ("exp", lambda x: torch.where(x > 709, torch.inf, x.exp())),
    "exp wrong at the end of a vector": ("exp", lambda x: torch.cat([x[:-1].exp(), x[-1:].exp() * 1.001])),
    "log1p by log": ("log1p", lambda x: (1 + x).log()),
    "products in float32": ("matrix product", short(torch.matmul)),
    "batches in float32": ("batched product", short(torch.matmul)),
    "sums in float32": ("sum of products", short(torch.matmul)),
    "products in TF32": ("matrix product", lambda x, y: x.bfloat16().double() @ y),
    "products in fewer bits": ("matrix product", lambda x, y: (x + x.abs() * 2.0**-30) @ y),
    "a term that is left out": ("matrix product", lambda x, y: x[:, :-1] @ y[:-1]),
    "no number": ("matrix product", lambda x, y: x @ y * torch.nan),
}
"""Of an operation, what a device could give instead."""


def test_this_processor_passes() -> None:
    assert list(failures("cpu")) == []


ROUNDS: list[dict[str, Callable[..., Tensor]]] = [{}]
"""The same, so many operations at once as there are."""
for operation, instead in WRONG.values():
    if all(operation in each for each in ROUNDS):
        ROUNDS.append({})
    next(each for each in ROUNDS if operation not in each)[operation] = instead


@pytest.mark.parametrize("number", range(len(ROUNDS)))
def test_what_computes_something_else_is_named(number: int) -> None:
    lines = list(failures("cpu", {**OPERATIONS, **ROUNDS[number]}))
    assert len(lines) == len(ROUNDS[number]) and all(", expected " in line for line in lines)
    assert all(any(line.startswith(f"{operation} of ") for line in lines) for operation in ROUNDS[number])


def test_a_device_that_fails_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    require_device.cache_clear()
    monkeypatch.setattr(device, "failures", lambda name: iter(["exp of 1.0 is 2.0, expected 2.7"]))
    head = small_head("cosine", 4)
    with pytest.raises(UsageError, match=r"device 'cpu' does not compute as proofs need it: exp of 1\.0 is 2\.0, exp"):
        explain(head, small_latents(head, images=1, seed=4), "top_k")
    monkeypatch.undo()
    require_device("cpu")
