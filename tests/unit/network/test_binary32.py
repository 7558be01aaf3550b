"""Of which networks nothing is claimed in binary32: what a file shows of it is refused before anything is explained."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from verale.errors import NetworkError
from verale.network import NOT_CLAIMED, FrozenNetwork, require_binary32
from verale.network.layers import (
    Clamp,
    Convolution,
    Gaussian,
    InverseRoot,
    LeakyRectifier,
    NetworkLayer,
    Rectifier,
)


def network(*operations: object, mean: float = 0.5, std: float = 0.25) -> FrozenNetwork:
    names = ["picture", *map(str, range(len(operations)))]
    layers = [NetworkLayer(names[n + 1], (names[n],), each) for n, each in enumerate(operations)]  # type: ignore[arg-type]
    return FrozenNetwork((1, 2, 2), (mean,), (std,), tuple(layers))


def convolution(weight: float, bias: float | None = None, magnitude: float | None = None) -> Convolution:
    def tensor(number: float | None) -> Tensor | None:
        return None if number is None else torch.tensor([number], dtype=torch.float64)

    kernel = torch.full((1, 1, 1, 1), weight, dtype=torch.float64)
    return Convolution((1, 1), (0, 0), (1, 1), 1, kernel, tensor(bias), tensor(magnitude))


CLAIMED = [
    network(convolution(1.0), Rectifier()),
    network(convolution(2.0**40, 2.0**40), LeakyRectifier(0.0), LeakyRectifier(2.0**-100)),
    network(convolution(1.0), Clamp(0.0, 6.0)),
    network(convolution(2.0**32, 1.0, 2.0**32), std=2.0**-125),
]
REFUSED = {
    "layer '1': has the slope 1e-40, which float32 may take as 0": network(convolution(1.0), LeakyRectifier(1e-40)),
    "layer '1': is of the kind gaussian, of which nothing is claimed": network(convolution(1.0), Gaussian()),
    "layer '1': is of the kind inverse_root, of which": network(convolution(1.0), InverseRoot()),
    "layer '1': has ends of up to 1e\\+38, which may overflow": network(convolution(1.0), Clamp(0.0, 1e38)),
    "layer '0': has numbers of up to 1e\\+39, which may overflow": network(convolution(1e39)),
    "layer '0': has numbers of up to 1e\\+300, which may": network(convolution(1.0, -1e300)),
    "layer '0': has a batch normalisation folded in": network(convolution(1.0, 1.0, NOT_CLAIMED)),
    "'0': .* its magnitude or its weight is beyond 2": network(convolution(-(2.0**33), 1.0, 2.0)),
    "'input': has mean .* and std .*, which may overflow": network(convolution(1.0), std=2.0**-126),
    "'input': has mean \\(1e\\+300,\\)": network(convolution(1.0), mean=1e300),
}


@pytest.mark.parametrize("number", range(len(CLAIMED)))
def test_what_is_claimed_is_not_refused(number: int) -> None:
    require_binary32(CLAIMED[number])


@pytest.mark.parametrize("message", REFUSED)
def test_what_a_file_excludes_is_refused_with_layer_value_and_remedy(message: str) -> None:
    with pytest.raises(NetworkError, match=message) as error:
        require_binary32(REFUSED[message])
    assert str(error.value).endswith("only real arithmetic is claimed of this network (arithmetic='real')")


def test_a_sum_that_is_too_long_is_refused() -> None:
    terms = 2**21
    layers = (
        NetworkLayer("flat", ("picture",), Convolution((1, 1), (0, 0), (1, 1), 1, torch.ones(1, 1, terms, 1))),
        NetworkLayer("one", ("flat",), Rectifier()),
    )
    with pytest.raises(NetworkError, match=f"'flat': sums {terms} products, expected at most {terms - 32} in float32"):
        require_binary32(FrozenNetwork((1, terms, 1), (0.0,), (1.0,), layers))
