"""What the fuzzer runs (`support.fuzz`), without it: the checker on one input, what must hold then, and first inputs.

An input is five pieces: certificate, header and body of the head file, header and body of the latents file. `judge`
writes the lengths before the headers and the digests in the certificate, so that a change of one piece reaches the code
behind those checks. Any other input goes to the readers as it is.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
from collections.abc import Iterator
from typing import Any

from support import files

from verale.checker import Auditor, HeadError, LatentsError, Status, Verdict
from verale.checker.certificate import read_certificate
from verale.checker.errors import FormatError
from verale.checker.head import read_head
from verale.checker.network.enclosure import EnclosedLatents
from verale.checker.options import load_arithmetic
from verale.checker.read.formats import read_object, read_tensors
from verale.checker.read.latents import Latents
from verale.checker.read.similarities import GEOMETRIES, SIMILARITIES
from verale.checker.reading.evaluation import Evaluation
from verale.checker.reading.margin import lower_bound
from verale.checker.reading.space import Space
from verale.paradigms import PARADIGMS
from verale.soundness.corpus.cases import Case, accepted

SEPARATOR = b"\n--\n"
OF_HEAD, OF_LATENTS = b"H" * 64, b"Z" * 64
"""What a certificate has where the digests go."""


def judge(data: bytes) -> Verdict | None:
    """The verdict on an input, None where the checker gives none.

    Raises AssertionError, or whatever the checker raises, where the checker is wrong.
    """
    pieces = data.split(SEPARATOR)
    if len(pieces) != 5:
        for reader in (read_tensors, read_certificate, lambda each: read_object(each, "it")):
            try:
                reader(data)
            except FormatError as error:
                assert str(error).isprintable()
        return None
    certificate, head, latents = pieces[0], files.framed(*pieces[1:3]), files.framed(*pieces[3:])
    try:
        parsed = read_head(head)
    except HeadError as error:
        assert str(error).isprintable()
        return None
    try:
        images = Latents(latents, parsed.depth)
        first = next(images._digests(), None)
    except LatentsError as error:
        assert str(error).isprintable()
        first = None
    certificate = certificate.replace(OF_HEAD, parsed.sha256.encode())
    certificate = certificate.replace(OF_LATENTS, OF_LATENTS if first is None else first[0].encode())
    auditor = Auditor(head, None if first is None else latents, "both")
    verdict = auditor.check(certificate, minimality=True)
    assert verdict.reason != "kernels", verdict.message
    assert verdict.line("it").isprintable()
    json.dumps(verdict.record(), allow_nan=False)
    try:
        refuted = auditor.refute(certificate, latents).status is Status.REFUTED
    except LatentsError:
        refuted = False
    assert not (refuted and verdict.claims.get("entailment") == "proved")
    if verdict.status is Status.PROVED and verdict.claims.get("instance") == "proved":
        # A margin proved of all latents holds for these: it is at most an upper bound of the difference of logits.
        read = read_certificate(certificate)
        image = images.find(read.latents or "")
        assert image is not None
        latents = EnclosedLatents.exactly(image.exact)
        box = Evaluation(Space(parsed, load_arithmetic("arb")), latents).activations(256)
        for rival, margin in enumerate(verdict.margins):
            if margin is not None:
                assert margin <= -lower_bound(parsed, box, rival, read.predicted)
    return verdict


def pieces(case: Case, image: files.Matrix) -> bytes:
    """An input of a case's files, of which the latents are of one image."""
    text = case.certificate.replace(hashlib.sha256(case.head).hexdigest().encode(), OF_HEAD)
    text = text.replace(files.digest(image).encode(), OF_LATENTS)
    split = [(data[8:][: int.from_bytes(data[:8], "little")], data) for data in (case.head, files.given(case.latents))]
    return SEPARATOR.join([text, *(part for header, data in split for part in (header, data[8 + len(header) :]))])


NUMBERS = ("0x1p-1074", "0x1.fffffffffffffp+1023", "0x0p+0", "-0x1p+0", "0x1p-1", 10**18 - 1, 0, 1, 2, -1)


def varied(data: bytes, generator: random.Random) -> bytes | None:
    """An input with one value of a document, or one number of a tensor, changed.

    None where the input is not in pieces, or the document is not JSON.
    """
    parts = data.split(SEPARATOR)
    if len(parts) != 5:
        return None
    which = generator.randrange(5)
    if which in (2, 4):
        start = 8 * generator.randrange(1 + len(parts[which]) // 8)
        word = struct.pack("<d", generator.choice((0.0, -1.0, 5e-324, 1.7e308, 1e-30, 0.5, generator.gauss(0, 1))))
        parts[which] = parts[which][:start] + word + parts[which][start + 8 :]
        return SEPARATOR.join(parts)
    try:
        parts[which] = json.dumps(_varied(json.loads(parts[which]), generator)).encode()
    except (ValueError, RecursionError):
        return None
    return SEPARATOR.join(parts)


def _varied(value: Any, generator: random.Random) -> Any:
    if isinstance(value, dict) and value:
        key = generator.choice(list(value))
        return value | {key: _varied(value[key], generator)}
    if isinstance(value, list) and value:
        at = generator.randrange(len(value))
        match generator.randrange(6):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value[: at + 1], *value[at:]]
            case _:
                return [*value[:at], _varied(value[at], generator), *value[at + 1 :]]
    if isinstance(value, str) and value.startswith("{"):  # the description of a head, in its metadata
        return json.dumps(_varied(json.loads(value), generator))
    if isinstance(value, str) and "0x" in value and generator.random() < 0.5:
        near = float.fromhex(value) * generator.choice((1 - 2**-53, 1 + 2**-52, 0.5, -1.0))
        return near.hex()
    if isinstance(value, int) and generator.random() < 0.5:
        return value + generator.choice((-1, 1))
    return generator.choice((*NUMBERS, *WORDS))


WORDS = sorted({*SIMILARITIES, *GEOMETRIES, *PARADIGMS, "entailment", "instance", "minimality", "max", "linear", "F32"})


def seeds() -> Iterator[bytes]:
    """Inputs of accepted cases of one image, of every paradigm, and a file for each reader."""
    for case in accepted()[::3]:
        images = [] if case.latents is None else files.read_latents(case.latents)
        if len(images) == 1:
            yield pieces(case, images[0])
            last = case
    yield from (files.given(last.latents), last.head, last.certificate)
