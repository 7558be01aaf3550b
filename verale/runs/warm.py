"""Everything compiled beforehand, so that no explanation has to wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import torch

from verale.head import Euclidean, FocalPooling, Head, Identity, LogRatio, Maximum, Softmax
from verale.search.compiled.jit import note_warm
from verale.search.explain import explain

__all__ = ["warm"]


def warm() -> Iterator[tuple[str, float]]:
    """Explain an image of one small head of each kind that is compiled on its own; its name, and processor seconds."""
    weight, prototypes = torch.eye(2, 8), torch.eye(8)
    patches = torch.rand(1, 6, 8, generator=torch.Generator().manual_seed(0))
    heads = {
        "max pooling": Head(weight, Euclidean(), LogRatio(1e-4), prototypes=prototypes),
        "poolings with a mean": Head(
            weight, Euclidean(), LogRatio(1e-4), prototypes=prototypes, pooling=FocalPooling("max_minus_mean")
        ),
        "trees and maxima": Head(weight, Euclidean(), LogRatio(1e-4), prototypes=prototypes, readout=Maximum()),
        "softmax heads": Head(weight, Softmax(), Identity()),
    }
    for name, head in heads.items():
        begin = process_time()
        explain(head, patches)
        if name == "max pooling":  # the rest is the same for all heads
            explain(head, patches, "hypersphere")
            explain(head, patches, order="nearest")
        yield name, process_time() - begin
    note_warm()
