"""One isotropic Gaussian mixture a class. It stands in for ProtoGMM, which has no public classifier.

Keys as in GMMSeg (leonnnop/GMMSeg): `means` and `diagonal`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from verale.adapters.accounts import Saved
from verale.adapters.published import choice
from verale.adapters.state import State, blocks, isotropic, numbers, positive
from verale.head import Box, Euclidean, Exponential, Head, Linear, Maximum, Negated

SAVED = Saved(beside=("backbone.", "features."))

_NORMALISED = Box(-1, 1)


def head(state: State, *, mixture: str = "sum", domain: Box = _NORMALISED) -> Head:
    """Densities N_ck of the means as stored, at the latents as given, weighted by `weights` (C, K) > 0 or by 1.

    Args:
        mixture: "sum", o_c = sum_k w_ck max_l N_ck(z_l), whose logarithm decides the same; or "max",
            o_c = max_k (ln w_ck + max_l ln N_ck(z_l)).
        domain: by default that of normalised latents.
    """
    summed = choice("mixture", mixture, {"sum": True, "max": False})
    means, sigma, constant = gaussians(state, "means", "diagonal")
    classes, per_class = state["means"].shape[:2]
    shares = torch.ones(classes, per_class, dtype=torch.float64)
    if "weights" in state:
        shares = numbers(state, "weights", "C K", C=classes, K=per_class).double()
        positive("weights", shares.flatten())
    if summed:
        densities = positive("diagonal", constant.exp(), "densities that float64 can hold; mixture=max has no limit")
        weight, bias = blocks(shares) * densities, None
    else:
        weight, bias = blocks(torch.ones_like(shares)), constant + shares.flatten().log()
    return Head(
        weight=weight,
        bias=bias,
        geometry=Euclidean(),
        similarity=Exponential() if summed else Negated(),
        prototypes=means,
        scale=1 / (2 * sigma.square()),
        domain=domain,
        readout=Linear() if summed else Maximum(),
    )


def gaussians(state: State, means: str, deviations: str) -> tuple[Tensor, Tensor, Tensor]:
    """Means (P, D) as stored, isotropic deviations (P,) and the logarithms (P,) of the densities at the means.

    Raises:
        HeadError: deviations that are not positive, or not the same in all channels of a prototype.
    """
    stacked = numbers(state, means, "C K D")
    classes, per_class, depth = stacked.shape
    spread = numbers(state, deviations, "C K D", C=classes, K=per_class, D=depth).flatten(0, 1).double()
    sigma = positive(deviations, isotropic(deviations, spread))
    return stacked.flatten(0, 1), sigma, -depth * (0.5 * math.log(2 * math.pi) + sigma.log())
