"""Isotropic Gaussian ProtoPNet (Beyond L2), from the state dictionary of a CaBRNet network."""

from __future__ import annotations

import math

from verale.adapters.accounts import Saved
from verale.adapters.published import SIGMOID, choice
from verale.adapters.state import State, isotropic, kernels, linear, numbers, positive
from verale.errors import HeadError
from verale.head import Box, Euclidean, Head, LogRatio, Negated, Similarity

SAVED = Saved(beside=("extractor.", "classifier.proto_class_map", "classifier.similarity_layer._summation_kernel"))

_LOG_VAR = "classifier.similarity_layer.log_var"


def head(state: State, *, density: str = "log_distance", epsilon: float = 1e-4, domain: Box = SIGMOID) -> Head:
    """a_j = S(min_l q) with q = exp(-log_var_j) |z_l - p_j|^2.

    Args:
        density: S, "log_distance" ln((q + 1) / (q + epsilon)), or "log_density" -(q + D (ln 2 pi + log_var)) / 2.
    """
    densities: dict[str, Similarity] = {"log_distance": LogRatio(epsilon), "log_density": Negated()}
    similarity = choice("density", density, densities)
    for key in state:
        if key.startswith("classifier.similarity_layer.L_"):
            raise HeadError(
                key, "is part of a full covariance, expected log_var alone: only isotropic Gaussians are supported"
            )
    prototypes = kernels(state, "classifier.prototypes")
    count, depth = prototypes.shape
    if _LOG_VAR in state and state[_LOG_VAR].dim() == 2:
        log_var = isotropic(_LOG_VAR, numbers(state, _LOG_VAR, "P D", P=count, D=depth)).double()
    else:
        log_var = numbers(state, _LOG_VAR, "P", P=count).double()
    layer, scale = linear(state, "classifier.last_layer", count), (-log_var).exp()
    if density == "log_density":
        layer, scale = layer.after(1.0, -0.5 * depth * (math.log(2 * math.pi) + log_var)), 0.5 * scale
    scale = positive(_LOG_VAR, scale, "variances whose inverse float64 can hold")
    return layer.head(Euclidean(), similarity, prototypes, scale=scale, domain=domain)
