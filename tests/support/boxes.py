"""Heads whose activations are coordinates of one patch, so that it can be said by hand which statements are needed."""

from __future__ import annotations

from pathlib import Path

import torch

from verale.certificate import ActivationStatement, Certificate
from verale.head import Box, Head, Identity, InnerProduct, digest, save_latents


def coordinates(count: int, bias: tuple[float, ...]) -> tuple[Head, Certificate]:
    """A head with a_j = z_j in [0, 1], o_0 = bias_0, and o_c = sum_j a_j + bias_c for every other class.

    The certificate of class 0 states of each activation that it is 0, which is true of the patch of zeros.
    """
    weight = torch.ones(len(bias), count)
    weight[0] = 0
    head = Head(
        weight, InnerProduct(), Identity(), prototypes=torch.eye(count), bias=torch.tensor(bias), domain=Box(0, 1)
    )
    certificate = Certificate(
        head=head.digest,
        latents=digest(torch.zeros(1, count, dtype=torch.float64)),
        predicted=0,
        paradigm="top_k",
        patches=1,
        statements=tuple(ActivationStatement(j, 0.0, 0.0) for j in range(count)),
        margins=(None, *(float(head.bias[0] - other) * 0.99 for other in head.bias[1:])),
        minimal=False,
        version="test",
    )
    return head, certificate


def save_coordinates(folder: Path, count: int, bias: tuple[float, ...]) -> tuple[Path, Path, Path]:
    """The files of such a certificate, its head and its latents."""
    head, certificate = coordinates(count, bias)
    paths = folder / "certificate", folder / "head", folder / "latents"
    certificate.save(paths[0])
    head.save(paths[1])
    save_latents(paths[2], torch.zeros(1, 1, count, dtype=torch.float64))
    return paths
