"""Where an image's activation stands among those of all images."""

from __future__ import annotations

from dataclasses import replace

import torch
from support.small import small_head, small_latents

from verale.head import as_patches, evaluate
from verale.report import estimates as module
from verale.report.collect import Collection
from verale.report.estimates import Standing, activations_of


def test_activations_are_the_heads(tmp_path, monkeypatch):
    head = small_head("euclidean")
    latents = small_latents(head, images=12)
    collection = Collection(tmp_path, (), head, latents)
    expected = evaluate(head, as_patches(latents)).activations
    monkeypatch.setattr(module, "_AT_ONCE", 1)
    torch.testing.assert_close(activations_of(collection), expected)
    monkeypatch.setattr(module, "_MOST", 1)
    assert activations_of(collection) is None, "that would take too long"


def test_of_few_images_or_none_nothing_is_said(tmp_path):
    head = small_head("euclidean")
    collection = Collection(tmp_path, (), head, small_latents(head, images=9))
    assert activations_of(collection) is None
    assert activations_of(replace(collection, latents=None)) is None
    other = small_latents(small_head("euclidean", depth=7), images=12)
    assert activations_of(replace(collection, latents=other)) is None, "they do not fit the head"


def test_it_counts_the_images_below():
    activations = torch.tensor([[0.5], [1.5], [2.0], [2.0]], dtype=torch.float64)
    assert Standing(activations).told(2, 0) == "about 2, more than 2 of the 3 other images here"


def test_activations_keep_nothing_of_patches(tmp_path):
    head = small_head("euclidean")
    activations = activations_of(Collection(tmp_path, (), head, small_latents(head, images=12)))
    assert activations.untyped_storage().nbytes() == activations.nbytes
