"""The texts for the proved checker: two writers, each with its own readers, write the same bytes of every file."""

from __future__ import annotations

import random
from array import array

from support import files
from support.cases import every
from support.files import read_latents
from support.independent_text import (
    text_of_addition,
    text_of_certificate,
    text_of_head,
    text_of_image,
    text_of_prices,
)

from verale.checker import HeadError, LatentsError
from verale.checker.certificate import read_certificate
from verale.checker.errors import FormatError
from verale.checker.head import read_head
from verale.checker.proved.text import addition_text, certificate_text, head_text, image_text, prices_text
from verale.checker.read.latents import Image, Latents
from verale.runs.doctor import SAMPLE
from verale.soundness.corpus.cases import stored

CASES = stored()
SAMPLED = {name: (SAMPLE / name).read_bytes() for name in ("head.safetensors", "0.ale.json", "latents.safetensors")}


def test_heads() -> None:
    compared = 0
    for data in {SAMPLED["head.safetensors"], *(case.head for case in CASES)}:
        try:
            head = read_head(data)
        except HeadError:
            continue
        assert head_text(head) == text_of_head(data)
        compared += 1
    assert compared > 100


def test_certificates() -> None:
    compared = 0
    for data in {SAMPLED["0.ale.json"], *(case.certificate for case in CASES)}:
        try:
            certificate = read_certificate(data)
        except FormatError:
            continue
        assert certificate_text(certificate) == text_of_certificate(data)
        compared += 1
    assert compared > 200


def test_additions() -> None:
    said = set()
    for case in CASES:
        if case.status not in ("MALFORMED", "INPUT_ERROR"):
            said.add(addition_text(read_certificate(case.certificate)))
            assert addition_text(read_certificate(case.certificate)) == text_of_addition(case.certificate)
    assert said == {b"nothing", b"prices", b"joint"}


def test_prices() -> None:
    """Of a softmax, whose every column of weights is a prototype."""
    compared = 0
    for case in CASES:
        if case.status in ("MALFORMED", "INPUT_ERROR"):
            continue
        certificate = read_certificate(case.certificate)
        text = prices_text(certificate, len(read_head(case.head).weight.rows[0]))
        assert text == text_of_prices(case.certificate, case.head)
        compared += text != b"prices 0\n"
    assert compared > 5


def test_images() -> None:
    compared = 0
    for case in CASES:
        if case.latents is None:
            continue
        try:
            depth = read_head(case.head).depth
            latents = Latents(case.latents, depth)
        except (HeadError, LatentsError):
            continue
        for image in read_latents(case.latents):
            found = latents.find(files.digest(image))
            assert found is not None and image_text(found) == text_of_image(image)
            compared += 1
    assert compared > 100


@every("seed", range(20))
def test_images_of_every_size_of_number(seed: int) -> None:
    generator = random.Random(seed)
    image = [
        [generator.choice((-1, 1)) * generator.random() * 2.0 ** generator.randint(-1070, 1020) for _ in range(3)]
        for _ in range(4)
    ]
    assert image_text(Image(array("d", files.flat(image)), 3)) == text_of_image(image)


def test_another_value_is_another_text() -> None:
    """Else the tests above could not fail."""
    data = SAMPLED["0.ale.json"]
    changed = data.replace(b'"predicted": 2', b'"predicted": 9')
    assert changed != data and text_of_certificate(changed) != text_of_certificate(data)
