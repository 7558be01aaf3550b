"""HyperPG (12267-hyperpg), and the prototype modules it is compared with."""

from __future__ import annotations

import math

from torch import Tensor

from verale.adapters.accounts import Saved
from verale.adapters.published import SIGMOID, choice
from verale.adapters.state import State, linear, numbers, positive
from verale.head import (
    Box,
    Cosine,
    Euclidean,
    Geometry,
    Head,
    Identity,
    InnerProduct,
    LogRatio,
    Negated,
    Quadratic,
    Similarity,
)

SAVED = Saved(
    beside=("backbone.", "neck."), tried=tuple({"pm_name": name} for name in ("hyperpg", "gaussian", "vmf", "l2"))
)

_MODULES: dict[str, tuple[Geometry, Similarity]] = {
    "hyperpg": (Cosine(), Quadratic()),
    "vmf": (Cosine(), Identity()),
    "cosine": (Cosine(), Identity()),
    "gaussian": (Euclidean(), Quadratic()),
    "l2": (Euclidean(), LogRatio(1e-6)),
    "l2-distance": (Euclidean(), LogRatio(1e-6)),
    "l2-negated": (Euclidean(), Negated()),
    "attention": (InnerProduct(), Identity()),
    "gaussian_dot": (InnerProduct(), Quadratic()),
}


def head(state: State, *, pm_name: str = "hyperpg", domain: Box = SIGMOID) -> Head:
    """a_j = max_l S of the cosine c, the inner product i or the squared distance d; s and mu are `sigmas` and `mus`.

    Args:
        pm_name: the module. "hyperpg": -(c - mu)^2 / (2 s^2 + 1e-6) - ln(2 pi s); "gaussian_dot": the same of i;
            "gaussian": of d, with mu = 0; "vmf": c / s, for s < 0 the cosine to -p over |s|; "cosine": c; "attention":
            i / sqrt(D); "l2" and "l2-distance": ln((d + 1) / (d + 1e-6)); "l2-negated": -d.
    """
    geometry, similarity = choice("pm_name", pm_name, _MODULES)
    stacked = numbers(state, "prototype_module.prototypes", "C K D 1 1")
    classes, per_class, depth = stacked.shape[:3]
    prototypes, peak = stacked.flatten(2).flatten(0, 1), None
    layer = linear(state, "clf.2", len(prototypes), C=classes)

    def parameter(key: str) -> Tensor:
        return numbers(state, key, "C K 1", C=classes, K=per_class).flatten().double()

    if isinstance(similarity, Quadratic):
        s = positive("prototype_module.sigmas", parameter("prototype_module.sigmas"))
        peak = None if pm_name == "gaussian" else parameter("prototype_module.mus")
        layer = layer.after(1 / (2 * s.square() + 1e-6), -(2 * math.pi * s).log())
    elif pm_name == "vmf":
        s = parameter("prototype_module.sigmas")
        layer = layer.after(1 / positive("prototype_module.sigmas", s.abs(), "numbers other than 0"))
        prototypes = prototypes * s.sign()[:, None].to(prototypes)
    elif pm_name == "attention":
        layer = layer.after(1 / math.sqrt(depth))
    return layer.head(geometry, similarity, prototypes, peak=peak, domain=domain)
