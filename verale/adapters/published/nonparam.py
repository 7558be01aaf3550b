"""Non-parametric part prototypes (zijizhu/proto-non-param)."""

from __future__ import annotations

from verale.adapters.accounts import Saved, number
from verale.adapters.published import ANYWHERE
from verale.adapters.state import Layer, State, blocks, numbers
from verale.errors import UsageError
from verale.head import Box, Cosine, Head, Identity

SAVED = Saved(
    ("PNP",),
    (
        *("backbone.", "fg_extractor.", "gamma", "n_prototypes", "n_classes", "C", "dim", "use_sinkhorn"),
        *("optimizing_prototypes", "initializing", "always_norm_patches", "norm_prototypes"),
    ),
    {"classifier": ("ScoreAggregation",)},
    stated={"temperature": ("temperature", number)},
)


def head(state: State, *, temperature: float = 0.2, domain: Box = ANYWHERE) -> Head:
    """o_c = sum_k K softmax(w_c)_k max_l cos(z_l, p_ck) / temperature; latents are patch tokens.

    The last class of `prototypes` is the background. No logit reads it, so the head leaves it out.
    """
    if not temperature > 0:
        raise UsageError(f"option temperature is {temperature}, expected a positive number")
    shares = numbers(state, "classifier.weights", "C K").double()
    classes, per_class = shares.shape
    stacked = numbers(state, "prototypes", "B K D", B=classes + 1, K=per_class)
    layer = Layer(blocks(shares.softmax(dim=1) * per_class / temperature))
    return layer.head(Cosine(), Identity(), stacked[:-1].flatten(0, 1), domain=domain)
