"""What a head is: frozen data, its file, its latents, and its reference evaluation."""

from verale.head import pooling as _poolings
from verale.head import similarity as _similarities
from verale.head.geometry import Box, Cosine, Euclidean, Geometry, InnerProduct, Softmax
from verale.head.head import Evaluation, Head, evaluate, evaluate_observed, observables, read_out, require_head
from verale.head.latents import (
    as_patches,
    described,
    digest,
    digest_of_all,
    image_digests,
    labelled_file,
    latents_file,
    latents_tensor,
    load_labelled,
    load_latents,
    patches_of,
    require_kind,
    require_labels,
    save_latents,
    tensor_of,
)
from verale.head.pooling import *  # noqa: F403, likewise
from verale.head.readout import Linear, Maximum, Readout, SoftTree, merge_slots
from verale.head.similarity import *  # noqa: F403, a new similarity is listed in that module alone

__all__ = [
    *_poolings.__all__,
    *_similarities.__all__,
    "Box",
    "Cosine",
    "Euclidean",
    "Evaluation",
    "Geometry",
    "Head",
    "InnerProduct",
    "Linear",
    "Maximum",
    "Readout",
    "SoftTree",
    "Softmax",
    "as_patches",
    "described",
    "digest",
    "digest_of_all",
    "evaluate",
    "evaluate_observed",
    "image_digests",
    "latents_file",
    "latents_tensor",
    "labelled_file",
    "load_labelled",
    "load_latents",
    "merge_slots",
    "observables",
    "patches_of",
    "read_out",
    "require_head",
    "require_kind",
    "require_labels",
    "save_latents",
    "tensor_of",
]
