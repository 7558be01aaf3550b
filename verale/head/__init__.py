"""What a head is: frozen data, its file, its latents, and its reference evaluation."""

from verale.head.evaluate import Evaluation, evaluate, observables
from verale.head.head import (
    Box,
    Cosine,
    Euclidean,
    Geometry,
    Head,
    Identity,
    LogRatio,
    MaxPooling,
    Similarity,
    Softmax,
)
from verale.head.latents import as_patches, digest, load_latents, save_latents

__all__ = [
    "Box",
    "Cosine",
    "Euclidean",
    "Evaluation",
    "Geometry",
    "Head",
    "Identity",
    "LogRatio",
    "MaxPooling",
    "Similarity",
    "Softmax",
    "as_patches",
    "digest",
    "evaluate",
    "load_latents",
    "observables",
    "save_latents",
]
