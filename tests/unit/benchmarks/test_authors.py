"""The papers' own code beside verale: what it returns as statements, and how it is driven, with a stand-in for it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from support.cases import every
from support.small import GEOMETRIES, small_head, small_latents

from benchmarks.authors import Row, Run, page, theirs, translated
from benchmarks.authors_code import FILES, Explainer, explainers_of, network
from benchmarks.baseline import Published, explain, methods_of
from benchmarks.heads import Subject
from benchmarks.measure import entailing
from verale.certificate import OrderStatement
from verale.checker import Auditor, Status
from verale.head import Euclidean, Head, Negated, as_patches, evaluate, latents_file, observables

STAND_IN = '''
import time

class Stated:
    """States every mass; from the second image on none, as if it kept something."""
    def __init__(self, model, device, save_proto, load_proto, paradigm=None):
        assert device == "cpu" and not save_proto and not load_proto
        self.model, self.images = model, 0
    def explain_one(self, x, y):
        self.c, self.images = int(y), self.images + 1
        print("a line for each pair")
        masses = self.model.similarities(x)[0].flatten(1).T.tolist()
        return {(l, j): m for l, row in enumerate(masses) for j, m in enumerate(row)} if self.images == 1 else {}

class Endless(Stated):
    def explain_one(self, x, y):
        while True:
            pass

class Failing(Stated):
    def explain_one(self, x, y):
        raise RuntimeError("Ran out of positive probability mass")

class Leaving(Stated):
    def explain_one(self, x, y):
        exit(1)
'''


def bare(geometry: str, seed: int = 0) -> Head:
    """A small head without bias, which their explainers do not know."""
    return replace(small_head(geometry, seed), bias=None)


def returned(head: Head, image: torch.Tensor) -> dict[tuple[int, int], float]:
    """What their explainers say of every pair of an image (L, D), in float32."""
    seen = observables(head, image[None])[0]
    if isinstance(head.geometry, Euclidean):
        seen = seen.sqrt()
    elif head.prototypes is not None:
        seen = 1 - seen
    return {(patch, j): value for patch, row in enumerate(seen.float().tolist()) for j, value in enumerate(row)}


def verdict(head: Head, latents: torch.Tensor, explanation: dict, ceiling: bool = False) -> tuple[Status, int, float]:
    """The checker's, the number of statements, and how far the values are off."""
    image = as_patches(latents)[0]
    paradigm, statements, off = translated(head, image, explanation, ceiling)
    predicted = int(evaluate(head, image[None]).predicted[0])
    certificate = entailing(head, image, predicted, paradigm, statements)
    return Auditor(head.to_bytes(), latents_file(latents)).check(certificate.to_bytes()).status, len(statements), off


@every("geometry", ["euclidean", "scaled", "cosine", "softmax"])
def test_pairs_become_statements_that_are_true_of_the_image(geometry):
    head = bare(geometry)
    latents = small_latents(head)[:1]
    explanation = returned(head, as_patches(latents)[0])
    status, size, off = verdict(head, latents, explanation)
    assert status is Status.PROVED and size == len(explanation) and off < 1e-6
    first = next(iter(explanation))
    assert verdict(head, latents, {first: explanation[first] + 0.25})[2] == pytest.approx(0.25, abs=1e-6)
    assert verdict(head, latents, {first: explanation[first]})[0] is Status.NOT_PROVED


@every("geometry", ["euclidean", "softmax"])
def test_prototypes_become_activations_and_top_k_a_ceiling(geometry):
    head = bare(geometry)
    latents = small_latents(head)[:1]
    activations = evaluate(head, as_patches(latents)).activations[0]
    highest = activations.argsort(descending=True).tolist()
    every_one = {j: float(activations[j]) for j in highest}
    assert verdict(head, latents, every_one, ceiling=True)[:2] == (Status.PROVED, head.size)
    most = {j: every_one[j] for j in highest[:-1]}
    _, statements, off = translated(head, as_patches(latents)[0], most, ceiling=True)
    (clause,) = [each for each in statements if isinstance(each, OrderStatement)]
    assert clause.exempt == tuple(sorted(most)) and clause.upper == pytest.approx(min(most.values())) and off < 1e-6


def subject_of(head: Head, images: int) -> Subject:
    return Subject("small", head, None, small_latents(head)[:images].float(), "")


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A folder with a stand-in for their code."""
    folder = tmp_path / "code"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(STAND_IN)
    return folder


def rows(
    code: Path, tmp_path: Path, kind: str, paradigm: str | None = None, limit: float = 60.0, images: int = 1
) -> list[Row]:
    run = Run.of(subject_of(bare("softmax"), images), tmp_path, limit, search=2.0)
    return list(theirs(run, code, [Explainer("named", kind, paradigm)]))


@pytest.mark.long  # two processes
def test_one_explainer_for_all_images_and_a_fresh_one_for_those_that_follow(code, tmp_path):
    kept, second, fresh = rows(code, tmp_path, "Stated", "triangle", images=2)
    assert (kept.verdict, kept.title, kept.follows) == ("proved", "named", False) and kept.size
    assert (second.verdict, second.size, second.follows) == ("refuted", 0, True)
    assert (fresh.verdict, fresh.title, fresh.image, fresh.size) == ("proved", "named, fresh", 1, kept.size)
    table = page({"small": [kept, second, fresh]}, {"small": ""}, {})
    assert f"| small | theirs | named | 2 | 0 | 0 | 2 | 1 | 1 | 0 | {kept.size / 2:.1f} |" in table


@pytest.mark.long  # a process for each image
def test_the_limit_ends_what_takes_longer(code, tmp_path):
    assert [row.verdict for row in rows(code, tmp_path, "Endless", limit=0.2, images=2)] == ["limit", "limit"]


@pytest.mark.long  # likewise
@pytest.mark.parametrize(
    ("kind", "says"),
    [("Failing", "RuntimeError: Ran out"), ("Leaving", "SystemExit"), ("Missing", "AttributeError")],
)
def test_what_fails_says_why(kind, says, code, tmp_path):
    (found,) = rows(code, tmp_path, kind)
    assert found.verdict == "failed" and says in found.reason and found.size is None


class Layer(torch.nn.Module):
    """Written from the papers' formulas: distances, and similarities of them."""

    def __init__(self, *sizes: int, stability_factor: float = 0.0) -> None:
        super().__init__()
        self.factor, self.log_var = stability_factor, torch.nn.Parameter(torch.zeros(1))

    def similarities(self, features, prototypes):
        points, known = features.flatten(2).transpose(1, 2)[0], prototypes.flatten(1)
        return self.of(points, known).T[None, :, :, None]

    def scaled(self, points, known):
        return (points[:, None] - known).square().sum(2) / self.log_var.exp()


class LogDistance(Layer):
    def of(self, points, known):
        return ((self.scaled(points, known) + 1) / (self.scaled(points, known) + self.factor)).log()


class LogDensity(Layer):
    def of(self, points, known):
        return -self.scaled(points, known) / 2


class Cosines(Layer):
    def of(self, points, known):
        return points @ known.T / (points.norm(dim=1)[:, None] * known.norm(dim=1) + self.factor)


@every("geometry", ["euclidean", "scaled", "cosine", "softmax", "density"])
def test_their_model_of_a_head_has_its_logits(geometry, monkeypatch):
    theirs_has = SimpleNamespace(MahalanobisLogDistance=LogDistance, MahalanobisLogDensity=LogDensity)
    cabrnet_has = SimpleNamespace(ProtoPNetSimilarity=LogDistance, CosineSimilarity=Cosines)
    monkeypatch.setitem(sys.modules, "beyond_l2_ext.similarities", theirs_has)
    monkeypatch.setitem(sys.modules, "cabrnet.core.utils.similarities", cabrnet_has)
    head = bare("scaled" if geometry == "density" else geometry)
    head = replace(head, similarity=Negated()) if geometry == "density" else head
    for image in small_latents(head).float():
        logits = evaluate(head, as_patches(image[None])).logits.float()
        for unit in (False, True) if geometry == "cosine" else (False,):
            found = network(head, unit)(image.T[None, :, :, None])[0]
            assert torch.allclose(found, logits, atol=1e-3, rtol=1e-4)
    assert len(explainers_of(head)) == (4 if geometry == "cosine" else 3)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("seed", range(3))
def test_the_search_ends_with_an_explanation(geometry, seed):
    head = small_head(geometry, seed)
    published = Published.of(head)
    for patches in small_latents(head, seed=seed):
        for method in methods_of(published):
            explained = explain(published, patches, method)
            assert explained.finished and explained.entails
            assert 0 < len(explained.pairs) <= explained.grown <= patches.shape[0] * head.size
            assert len(set(explained.pairs)) == len(explained.pairs)
