"""A small random network of every published architecture: its state dictionary in the published form, and latents.

    python -m benchmarks.architectures

explains the latents of each under `top_k` and its best spatial paradigm, audits every certificate with its latents,
with minimality and under both kernels, and prints a table. Prototypes favour their class, as trained ones do; every
network has duplicate prototypes. The exit code is 0 only if every certificate was proved.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import safetensors.torch
import torch
from torch import Tensor
from torch.nn import functional

from verale.adapters import head_of
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import Head
from verale.paradigms import PARADIGMS
from verale.search import best_paradigm
from verale.search.explain import explain

CLASSES, PER_CLASS, DEPTH, PATCHES, IMAGES = 3, 4, 6, 5, 4
SIZE = CLASSES * PER_CLASS
HYPERPG_MODULES = (
    *("hyperpg", "vmf", "cosine", "gaussian"),
    *("l2", "l2-distance", "l2-negated", "attention", "gaussian_dot"),
)
"""HyperPG's prototype modules (`pm_name`)."""


@dataclass(frozen=True)
class Case:
    """A network: architecture, checkpoint in the published form, latents (N, L, D) float32, and import options."""

    architecture: str
    state: dict[str, Tensor]
    latents: Tensor
    options: dict[str, Any] = field(default_factory=dict)

    def head(self) -> Head:
        return head_of(self.architecture, self.state, **self.options)


@cache
def cases() -> dict[str, Case]:
    """Every architecture and variant, by name."""
    return dict(_cases(torch.Generator().manual_seed(0)))


def heads() -> dict[str, tuple[Head, Tensor]]:
    """The head of every architecture and variant, and latents (N, L, D) float32 for it, by name."""
    return {name: (case.head(), case.latents) for name, case in cases().items()}


def _cases(generator: torch.Generator) -> Iterator[tuple[str, Case]]:
    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    def prototypes(count: int = SIZE, wide: bool = False) -> Tensor:
        """(P, D): in the unit box, or unbounded; the last prototype equals the first."""
        points = normal(count, DEPTH) if wide else uniform(count, DEPTH)
        points[-1] = points[0]
        return points

    def favouring(count: int = SIZE) -> Tensor:
        """(C, P): about 1 for a prototype's own class, about -0.5 for others."""
        own = torch.eye(CLASSES).repeat_interleave(count // CLASSES, dim=1)
        return 1.5 * own - 0.5 + 0.3 * normal(CLASSES, count)

    def near(points: Tensor, wide: bool = False) -> Tensor:
        """(N, L, D): one patch of each image near a prototype, the others anywhere in the domain."""
        latents = normal(IMAGES, PATCHES, points.shape[1]) if wide else uniform(IMAGES, PATCHES, points.shape[1])
        chosen = points[torch.randint(len(points), (IMAGES,), generator=generator)]
        latents[:, 1] = 0.9 * (chosen if wide else chosen.clamp(0, 1)) + 0.1 * latents[:, 1]
        return latents

    def kernels(points: Tensor) -> Tensor:
        return points[..., None, None]

    points = prototypes()
    state = {
        "features.conv1.weight": torch.zeros(4, 3, 7, 7),
        "add_on_layers.0.weight": torch.zeros(DEPTH, 4, 1, 1),
        "prototype_vectors": kernels(points),
        "ones": torch.ones(SIZE, DEPTH, 1, 1),
        "last_layer.weight": favouring(),
    }
    yield "protopnet", Case("protopnet", state, near(points))
    yield "protopnet-linear", Case("protopnet", state, near(points), {"activation": "linear"})
    yield "tesnet", Case("tesnet", state, near(points))

    layer, readout = "prototype_layer.prototype_tensors", "prototype_prediction_head.class_connection_layer.weight"
    state = {layer: kernels(points), readout: favouring()}
    for activation, k in (("l2", 1), ("l2", 3), ("exp_l2", 2), ("cosine", 1), ("cosine", 2 * PATCHES)):
        options = {"activation": activation, "k": k}
        yield f"protopnext-{activation}-{k}", Case("protopnext", state, near(points), options)
    support, trivial = prototypes(wide=True), prototypes(2 * CLASSES, wide=True)
    state = {f"_models.0.{layer}": kernels(support), f"_models.0.{readout}": favouring()}
    state |= {f"_models.1.{layer}": kernels(trivial), f"_models.1.{readout}": favouring(2 * CLASSES)}
    yield "protopnext-st", Case("protopnext", state, near(support, wide=True), {"k": 2})

    state = {"prototype.prototypes": points, "prototype.linear1.weight": -favouring()}
    yield (
        "prototypedl",
        Case(
            "prototypedl", state | {"prototype.linear1.bias": 0.1 * normal(CLASSES)}, near(points)[:, 1:2].contiguous()
        ),
    )

    slots = 2
    state = {"prototype_vectors": kernels(points), "proto_presence": normal(CLASSES, SIZE, slots)}
    yield "protopool-sum", Case("protopool", {"model_state_dict": state, "epoch": 1}, near(points))
    state = state | {"last_layer.weight": favouring(CLASSES * slots)}
    yield "protopool", Case("protopool", {"model_state_dict": state, "epoch": 1}, near(points))

    state = {
        "module._classification.weight": favouring(),
        "module._classification.normalization_multiplier": torch.full((1,), 2.0),
        "module._multiplier": torch.full((1,), 2.0),
    }
    yield "pipnet", Case("pipnet", {"model_state_dict": state}, 6 * uniform(IMAGES, PATCHES, SIZE))
    state = state | {"module._classification.bias": 0.1 * normal(CLASSES)}
    options = {"threshold": 0.0}
    yield "pipnet-training", Case("pipnet", {"model_state_dict": state}, 6 * uniform(IMAGES, PATCHES, SIZE), options)

    stacked = prototypes(wide=True)
    sigmas = 0.3 + uniform(CLASSES, PER_CLASS, 1)
    for name in HYPERPG_MODULES:
        signed = sigmas * torch.where(uniform(*sigmas.shape) < 0.5, -1.0, 1.0) if name == "vmf" else sigmas
        state = {
            "model.prototype_module.prototypes": kernels(stacked.unflatten(0, (CLASSES, PER_CLASS))),
            "model.prototype_module.mus": 1.5 * uniform(CLASSES, PER_CLASS, 1),  # a third of them beyond any cosine
            "model.prototype_module.sigmas": signed,
            "model.clf.2.weight": favouring(),
        }
        if name in ("hyperpg", "gaussian_dot"):
            state["model.clf.2.bias"] = normal(CLASSES)
        else:
            del state["model.prototype_module.mus"]
        if name not in ("hyperpg", "gaussian_dot", "gaussian", "vmf"):
            del state["model.prototype_module.sigmas"]
        yield f"hyperpg-{name}", Case("hyperpg", {"state_dict": state}, near(stacked), {"pm_name": name})

    means = prototypes(wide=True)
    means = (means / means.norm(dim=1, keepdim=True) * (0.8 + 0.4 * uniform(SIZE, 1))).unflatten(
        0, (CLASSES, PER_CLASS)
    )
    sigma = (0.3 + 0.2 * uniform(CLASSES, PER_CLASS, 1)).expand(CLASSES, PER_CLASS, DEPTH).clone()
    shares = uniform(CLASSES, PER_CLASS).softmax(dim=1)
    state = {
        "prototype_means": means,
        "prototype_covs": sigma,
        "last_layer.weight": torch.block_diag(*shares),
        "iteration_counter": torch.zeros(1),
        "queue.mem_len": torch.zeros(3, dtype=torch.long),
    }
    latents = near(means.flatten(0, 1), wide=True)
    yield "mgproto", Case("mgproto", state, latents)

    halves = [prototypes(wide=True), prototypes(wide=True)]
    state = {
        "prototype_vectors_trivial": kernels(halves[0]),
        "prototype_vectors_support": kernels(halves[1]),
        "last_layer_trivial.weight": favouring(),
        "last_layer_support.weight": favouring(),
    }
    near_halves = [near(half, wide=True) for half in halves]
    units = torch.cat([functional.normalize(half, dim=-1) for half in near_halves], dim=-1)
    yield "stprotopnet", Case("stprotopnet", state, units, {"similarity": "cosine"})
    bounded = torch.cat(near_halves, dim=-1).tanh()
    yield "stprotopnet-product", Case("stprotopnet", state, bounded, {"similarity": "product"})

    state = {"means": means, "diagonal": sigma, "weights": shares}
    latents = latents / latents.norm(dim=-1, keepdim=True).clamp(min=1)
    yield "gmm-sum", Case("gmm", {"means": means, "diagonal": sigma}, latents)
    yield "gmm-max", Case("gmm", state, latents, {"mixture": "max"})

    state = {
        "prototype_vectors": kernels(points),
        "prototype_vectors_global": kernels(prototypes(2 * CLASSES)),
        "last_layer.weight": favouring(),
        "last_layer_global.weight": favouring(2 * CLASSES),
    }
    yield "protopformer", Case("protopformer", {"model": state, "model_ema": {}}, near(points), {"g": 0.3})

    taps = uniform(SIZE, 2, 2, 2)
    latents = uniform(IMAGES, PATCHES, 4, 4) + 0.05  # channel, tap
    latents = 31 * latents / latents.norm(dim=-2, keepdim=True)
    state = {
        "add_on_layers.0.weight": torch.zeros(2, 4, 1, 1),
        "conv_offset.0.weight": torch.zeros(8, 4, 2, 2),
        "prototype_vectors": taps,
        "last_layer.weight": favouring(),
    }
    yield "deformable", Case("deformable", state, latents.flatten(2))

    tokens = prototypes(SIZE + PER_CLASS, wide=True)
    state = {
        "prototypes": tokens.unflatten(0, (CLASSES + 1, PER_CLASS)),
        "classifier.weights": normal(CLASSES, PER_CLASS),
    }
    yield "nonparam", Case("nonparam", {"state_dict": state, "hparams": {"temperature": 0.2}}, near(tokens, wide=True))

    state = {
        "classifier.prototypes": kernels(points),
        "classifier.similarity_layer.log_var": normal(SIZE),
        "classifier.last_layer.weight": favouring(),
        "classifier.proto_class_map": torch.eye(CLASSES).repeat_interleave(PER_CLASS, dim=0),
    }
    yield "gaussian-log_distance", Case("gaussian", state, near(points))
    yield "gaussian-log_density", Case("gaussian", state, near(points), {"density": "log_density"})

    state = {
        "features.conv1.weight": torch.zeros(DEPTH, 4, 1, 3),
        "prototype_vectors": kernels(prototypes(wide=True)),
        "ones": torch.ones(SIZE, DEPTH, 1, 1),
        "last_layer.weight": favouring(),
    }
    yield "genetic", Case("genetic", state, normal(IMAGES, PATCHES, DEPTH), {"patches": PATCHES})


def main() -> int:
    """Print the table."""
    torch.set_num_threads(1)
    unproved = 0
    print("| network | head | paradigm | emitted | proved | mean size | of possible |")
    print("|---|---|---|---|---|---|---|")
    for name, (head, latents) in heads().items():
        auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": latents}), "both")
        parts = ", ".join(type(part).__name__ for part in (head.geometry, head.similarity, head.pooling, head.readout))
        for paradigm in ("top_k", best_paradigm(head)):
            emitted = [result for result in explain(head, latents, paradigm) if isinstance(result, Certificate)]
            verdicts = [auditor.check(certificate.to_bytes(), minimality=True) for certificate in emitted]
            proved = sum(verdict.status is Status.PROVED for verdict in verdicts)
            unproved += len(emitted) - proved
            size = sum(certificate.size for certificate in emitted) / max(1, len(emitted))
            possible = head.size * (latents.shape[1] if PARADIGMS[paradigm].spatial else 1)
            print(f"| {name} | {parts} | {paradigm} | {len(emitted)} | {proved} | {size:.1f} | {possible} |")
    return 1 if unproved else 0


if __name__ == "__main__":
    sys.exit(main())
