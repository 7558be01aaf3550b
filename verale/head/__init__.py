"""What a head is: frozen data, its file, its latents, and its reference evaluation."""

from verale.head.evaluate import Evaluation, evaluate, evaluate_observed, observables, read_out
from verale.head.geometry import Box, Cosine, Euclidean, Geometry, InnerProduct, Softmax
from verale.head.head import Head
from verale.head.latents import as_patches, digest, digest_of_all, load_labels, load_latents, save_latents
from verale.head.pooling import BankPooling, FocalPooling, MaxPooling, Pooling, TopMeanPooling
from verale.head.readout import Linear, Maximum, Readout, SoftTree
from verale.head.similarity import (
    ExpDistance,
    Exponential,
    Identity,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
    Similarity,
    Threshold,
)
from verale.head.slots import merge_slots

__all__ = [
    "BankPooling",
    "Box",
    "Cosine",
    "Euclidean",
    "Evaluation",
    "ExpDistance",
    "Exponential",
    "FocalPooling",
    "Geometry",
    "Head",
    "Identity",
    "InnerProduct",
    "Linear",
    "LogRatio",
    "MaxPooling",
    "Maximum",
    "Negated",
    "Pooling",
    "Quadratic",
    "Readout",
    "Rectified",
    "Similarity",
    "SoftTree",
    "Softmax",
    "Threshold",
    "TopMeanPooling",
    "as_patches",
    "digest",
    "digest_of_all",
    "evaluate",
    "evaluate_observed",
    "load_labels",
    "load_latents",
    "merge_slots",
    "observables",
    "read_out",
    "save_latents",
]
