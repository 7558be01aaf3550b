"""Counterexamples: found for certificates as faulty explainers would write them, and never for proved ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import flint
import pytest
import torch
from support.commands import in_process
from support.exact import PRECISION, differences, inside, observable
from support.small import GEOMETRIES, VARIED, focal_head, small_head, small_latents, varied_head

import verale
from verale.certificate import Certificate, PatchStatement
from verale.checker import Auditor, Status
from verale.counterexample import counterexamples
from verale.head import (
    Box,
    Cosine,
    Euclidean,
    FocalPooling,
    Head,
    Identity,
    LogRatio,
    MaxPooling,
    as_patches,
    digest,
    evaluate,
    load_latents,
    save_latents,
)
from verale.search import best_paradigm
from verale.search.explain import explain


def explained(head: Head, latents: torch.Tensor, paradigm: str | None = None) -> list[tuple[torch.Tensor, Certificate]]:
    pairs = zip(as_patches(latents), explain(head, latents, paradigm or best_paradigm(head)), strict=True)
    return [(image, each) for image, each in pairs if isinstance(each, Certificate)]


def refuted(
    folder: Path, head: Head, certificate: Certificate, latents: torch.Tensor | None, seconds: float = 60
) -> bool:
    """Whether a counterexample is found, which the auditor with both kernels then finds to be one."""
    (folder / "witness").unlink(missing_ok=True)
    head.save(folder / "head")
    certificate.save(folder / "certificate")
    given = None
    if latents is not None:
        given = folder / "latents"
        save_latents(given, latents)
    verdict = verale.refute(folder / "certificate", folder / "head", given, folder / "witness", seconds)
    if verdict.status is not Status.REFUTED:
        assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_REFUTED, "witness", 11)
        assert not (folder / "witness").exists()
        return False
    again = Auditor(head.to_bytes(), kernel="both").refute(certificate.to_bytes(), (folder / "witness").read_bytes())
    assert again.status is Status.REFUTED
    logits = evaluate(head, as_patches(load_latents(folder / "witness"))).logits[0]
    assert logits.argmax() != certificate.predicted
    return True


def refuted_with_its_image_and_alone(folder: Path, head: Head, certificate: Certificate, image: torch.Tensor) -> bool:
    return refuted(folder, head, certificate, image) and refuted(folder, head, certificate, None)


@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "softmax"])
def test_bounds_kept_from_the_image_before(geometry, tmp_path):
    """The first image's bounds prove the class already, so of a second image of that class one thing is stated."""
    head = small_head(geometry, 3)
    honest = explained(head, small_latents(head, images=6, seed=3))
    first, second = next(
        (a, b) for a in honest for b in honest if a is not b and a[1].predicted == b[1].predicted and b[1].size > 2
    )
    faulty = replace(second[1], statements=second[1].statements[:1], margins=first[1].margins, minimal=False)
    assert refuted_with_its_image_and_alone(tmp_path, head, faulty, second[0][None])


def test_the_exact_mean_though_it_is_not_stated(tmp_path):
    """With the mean's similarity taken from the image, a focal head is a max head with another bias: its explanation.

    Three patches show the predicted class. What the others do to the means is not stated, and they may do it.
    """
    generator = torch.Generator().manual_seed(5)
    points = torch.rand(4, 8, generator=generator)
    image = torch.rand(1, 8, 8, generator=generator)
    image[0, :3] = (points[:3] + 0.05 * torch.randn(3, 8, generator=generator)).clamp(0, 1)
    weight = torch.tensor([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.2]])
    focal = FocalPooling("max_minus_mean_distance")
    head = Head(weight, Euclidean(), LogRatio(), prototypes=points, domain=Box(0, 1), pooling=focal)
    logits = evaluate(head, as_patches(image)).logits[0]
    head = replace(head, bias=torch.stack([torch.zeros(()), (logits[0] - logits[1] - 0.5).float()]))
    peak = replace(head, pooling=MaxPooling())
    mean = (evaluate(head, as_patches(image)).logits - evaluate(peak, as_patches(image)).logits)[0]
    ((_, believed),) = explained(replace(peak, bias=head.bias.double() + mean), image)
    assert believed.predicted == 0 and evaluate(head, as_patches(image)).predicted.tolist() == [0]
    faulty = replace(believed, head=head.digest, minimal=False)
    assert refuted_with_its_image_and_alone(tmp_path, head, faulty, image)


def test_raw_prototypes_taken_for_unit_vectors(tmp_path):
    """Stated: cosine 0.9 with p_0. The spherical bound of that with p_1 is made of <p_0, p_1>, both of length 1/2.

    It gives 0.9 / 8 + sqrt(1 - 0.81) sqrt(1 - 1 / 64) < 0.55, and 1.2 * 0.55 < 0.9. But p_1 is 60 degrees from p_0,
    and the latent arccos 0.9 = 25.8: their cosine may be cos 34.2 = 0.82.
    """
    head = Head(
        torch.tensor([[1.0, 0.0], [0.0, 1.2]]),
        Cosine(0.0),
        Identity(),
        prototypes=torch.tensor([[0.5, 0.0, 0.0], [0.25, 0.4330127, 0.0]]),
        domain=Box(0, None),
    )
    image = torch.tensor([[0.9, 0.0, 0.19**0.5]], dtype=torch.float64)
    with flint.ctx.workprec(PRECISION):
        cosine = observable(head, image[0].tolist(), 0)
        lower, upper = 0.9 * (1 - 2**-52), 0.9 * (1 + 2**-52)
        assert inside(cosine, lower, upper)
    faulty = Certificate(
        head.digest, digest(image), 0, "hypersphere", 1, (PatchStatement(0, 0, lower, upper),), (None, 0.2), False, "0"
    )
    assert refuted_with_its_image_and_alone(tmp_path, head, faulty, image[None])


@pytest.mark.parametrize(("paradigm", "tolerance"), [("projection", 0.0), ("projection", 1e-6), ("top_k", 0.0)])
def test_a_statement_that_is_missed(paradigm, tolerance, tmp_path):
    """Some statement of every certificate here can be told to be needed by a counterexample."""
    head = small_head("euclidean", 2)
    image = small_latents(head, images=1, seed=2)
    (certificate,) = explain(head, image, paradigm, tolerance=tolerance)
    for left_out in certificate.statements:
        kept = tuple(s for s in certificate.statements if s != left_out)
        if refuted(tmp_path, head, replace(certificate, statements=kept, minimal=False), image, seconds=10):
            return
    pytest.fail("no counterexample was found for any statement left out")


def test_the_masses_left_are_given_to_a_rival(tmp_path):
    head = small_head("softmax", 1)
    image = small_latents(head, images=1, seed=1)
    for paradigm in ("assignment", "sparse"):
        (certificate,) = explain(head, image, paradigm)
        kept = replace(certificate, statements=certificate.statements[1:], prices=(), minimal=False)
        assert refuted(tmp_path, head, kept, image)


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        *((name, 0.0) for name in ("scaled", "softmax", "focal", *VARIED[::4])),
        *(pytest.param(name, 0.0, marks=pytest.mark.long) for name in ("euclidean", *VARIED[1::2], *VARIED[2::4])),
        ("cosine", 0.1),
        *(pytest.param(name, 2.0, marks=pytest.mark.long) for name in ("cosine", "softmax")),  # for so long an image
    ],
)
def test_nothing_is_found_against_a_proof(name, seconds):
    """What the search comes up with, if it complies with the statements, is classified alike."""
    if name == "focal":
        head = focal_head("cosine", "max_minus_mean")
    else:
        head = small_head(name) if name in GEOMETRIES else varied_head(name)
    for image, certificate in explained(head, small_latents(head, images=1 if seconds == 0 else 2)):
        for candidate in counterexamples(head, certificate, image, seconds):
            with flint.ctx.workprec(PRECISION):
                seen = candidate.tolist()
                complies = all(
                    inside(observable(head, seen[s.patch], s.prototype), s.lower, s.upper)
                    for s in certificate.statements
                )
                ahead = all(
                    margin is None or bool(difference > 0)
                    for margin, difference in zip(
                        certificate.margins, differences(head, candidate, certificate.predicted), strict=True
                    )
                )
            assert ahead or not complies


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A head, another, latents, their certificate, one with a statement too few, and what is none."""
    folder = tmp_path_factory.mktemp("folder")
    head = small_head("euclidean", 1)
    head.save(folder / "head")
    small_head("euclidean", 7).save(folder / "other")
    latents = small_latents(head, images=1, seed=1)
    save_latents(folder / "latents", latents)
    save_latents(folder / "others", small_latents(head, images=2, seed=2))
    (certificate,) = explain(head, latents, "projection")
    certificate.save(folder / "proved.ale.json")
    short = replace(certificate, statements=certificate.statements[:1])
    short.save(folder / "short.ale.json")
    replace(short, latents=None).save(folder / "unnamed.ale.json")
    replace(short, patches=10**9).save(folder / "wide.ale.json")
    save_latents(folder / "deep", torch.rand(1, 5, 5))
    (folder / "cut.ale.json").write_bytes(certificate.to_bytes()[:-9])
    return folder


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("short.ale.json", "--head", "head", "--latents", "latents", "--out", "new/witness"), 4, "rival"),
        (("proved.ale.json", "--head", "head", "--seconds", 0), 11, "no counterexample found in "),
        (("cut.ale.json", "--head", "head"), 5, "MALFORMED"),
        (("proved.ale.json", "--head", "other"), 6, "speaks of the head"),
    ],
)
def test_the_command_prints_one_verdict(folder, arguments, code, reason):
    done = in_process("refute", *arguments, cwd=folder)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (code, "", 1)
    assert reason in done.stdout and done.stdout.startswith("REFUTED") == (code == 4)
    record = json.loads(in_process("refute", *arguments, "--json", cwd=folder).stdout)
    assert record["exit_code"] == code and record["status"].startswith(done.stdout.split()[0])
    assert code != 4 or load_latents(folder / "new" / "witness").shape[0] == 1
    assert code != 11 or "proves nothing" in record["message"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("nowhere --head head", "nowhere: there is no such file"),
        ("proved.ale.json --head nowhere", "nowhere: there is no such file"),
        ("proved.ale.json --head latents", "latents: head file"),
        ("proved.ale.json --head head --latents head", "head: latents file: holds"),
        ("proved.ale.json --head head --latents others", "others: holds no image"),
        ("proved.ale.json --head head --latents deep", "deep: latents have 5 channels"),
        ("unnamed.ale.json --head head --latents others", "others: holds 2 images"),
        ("proved.ale.json --head head --out head/w", "w: cannot be written"),
        ("proved.ale.json --head head --out .", "is a folder"),
        ("proved.ale.json --head head --seconds -1", "seconds is -1"),
        ("wide.ale.json --head head", "of an image, expected at most"),
        ("wide.ale.json --head head --latents latents", "latents: holds images of 5 patches"),
    ],
)
def test_bad_input_gets_one_line_that_names_it(folder, arguments, reason):
    done = in_process("refute", *arguments.split(), cwd=folder)
    assert (done.returncode, done.stdout) == (9, "")
    assert reason in done.stderr and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
