"""What a head is: frozen data, its file, its latents, and its reference evaluation."""

from verale.head.evaluate import Evaluation, evaluate, observables
from verale.head.head import (
    Box,
    Cosine,
    Euclidean,
    FocalPooling,
    Geometry,
    Head,
    Identity,
    LogRatio,
    MaxPooling,
    Pooling,
    Similarity,
    Softmax,
)
from verale.head.latents import as_patches, digest, load_latents, save_latents
from verale.head.slots import merge_slots

__all__ = [
    "Box",
    "Cosine",
    "Euclidean",
    "Evaluation",
    "FocalPooling",
    "Geometry",
    "Head",
    "Identity",
    "LogRatio",
    "MaxPooling",
    "Pooling",
    "Similarity",
    "Softmax",
    "as_patches",
    "digest",
    "evaluate",
    "load_latents",
    "merge_slots",
    "observables",
    "save_latents",
]
