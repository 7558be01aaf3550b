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
from itertools import product
from typing import Any

import flint
from support import files
from support.arithmetic import PRECISION, above, below, ends
from support.claims import taken_back
from support.exact import Head

from verale.checker import Auditor, HeadError, LatentsError, Status, Verdict
from verale.checker.certificate import read_certificate
from verale.checker.errors import FormatError
from verale.checker.head import read_head
from verale.checker.network.enclosure import EnclosedLatents
from verale.checker.options import load_arithmetic
from verale.checker.read.formats import read_object, read_tensors
from verale.checker.read.latents import Latents
from verale.checker.reading.evaluation import Evaluation
from verale.checker.reading.margin import lower_bound
from verale.checker.reading.space import Space
from verale.paradigms import PARADIGMS, paradigms_of

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


def pieces(head: bytes, certificate: dict[str, Any], latents: bytes, image: files.Matrix) -> bytes:
    """An input of these files."""
    text = json.dumps(certificate).encode().replace(hashlib.sha256(head).hexdigest().encode(), OF_HEAD)
    text = text.replace(files.digest(image).encode(), OF_LATENTS)
    split = [(data[8:][: int.from_bytes(data[:8], "little")], data) for data in (head, latents)]
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


IMAGE = [[0.5, 0.25], [0.75, 0.5]]
PROTOTYPES = [[0.5, 0.25], [-0.5, 1.0], [0.75, 0.5]]
TREE = {"kind": "soft_tree", "absent": [1, -1, -3], "present": [2, -2, -4]}
SMALL = (0.25).hex()
PARTS: list[dict[str, Any]] = [
    {},
    {"similarity": {"kind": "negated"}},
    {"similarity": {"kind": "exp_distance", "epsilon": (1e-14).hex()}, "readout": TREE},
    {"similarity": {"kind": "exponential"}, "pooling": {"kind": "top_mean", "k": 2}},
    {"similarity": {"kind": "quadratic"}, "readout": {"kind": "maximum"}},
    {"pooling": {"kind": "max_minus_mean_distance"}, "domain": files.domain(None, None)},
    {"geometry": files.cosine(0.25), "similarity": files.IDENTITY, "pooling": {"kind": "max_minus_mean"}},
    {"geometry": files.cosine(0.0), "similarity": {"kind": "exponential"}, "readout": TREE},
    {"geometry": {"kind": "rooted_cosine", "epsilon": SMALL}, "similarity": {"kind": "rectified"}},
    {"geometry": {"kind": "rooted_cosine", "epsilon": SMALL}, "similarity": {"kind": "quadratic"}},
    {
        "geometry": {"kind": "inner_product", "radius": None},
        "similarity": files.IDENTITY,
        "pooling": {"kind": "banks", "class_token": 1},
    },
    {"geometry": {"kind": "inner_product", "radius": (1.5).hex()}, "similarity": {"kind": "quadratic"}},
    {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)},
    {
        "geometry": files.SOFTMAX,
        "similarity": {"kind": "threshold", "threshold": SMALL},
        "domain": files.domain(None, None),
    },
]
WORDS = sorted(
    {part["kind"] for parts in PARTS for part in parts.values() if "kind" in part}
    | {*PARADIGMS, "entailment", "instance", "minimality", "head", "latents", "log_ratio", "max", "linear", "F32"}
)


def seeds() -> Iterator[bytes]:
    """Inputs of every part and paradigm, whose claims hold, and a file for each reader."""
    for number, parts in enumerate(PARTS):
        generator = random.Random(number)
        geometry, similarity = (files.description(**parts)[name]["kind"] for name in ("geometry", "similarity"))
        softmax, readout = geometry == "softmax", parts.get("readout", {}).get("kind", "linear")
        image = [[*row, 0.25] for row in IMAGE] if softmax else IMAGE
        weight = [[generator.gauss(0, 2) for _ in range(3 + (readout == "soft_tree"))] for _ in range(2)]
        if readout == "maximum":
            weight = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
        head = Head(
            weight,
            None if softmax else PROTOTYPES,
            parts,
            bias={"linear": [0.5, 0.25], "maximum": [0.0, 0.5, 0.25]}.get(readout),
            scale=[0.5, 1.0, 2.0] if similarity in ("log_ratio", "negated", "exponential") else None,
            peak=[0.5, 0.0, -0.25] if similarity == "quadratic" else None,
        )
        with flint.ctx.workprec(PRECISION):
            values = head.at(image)
            first, second = map(float, values.logits)
            spatial = [
                files.patch_statement(patch, j, *interval(values.observables[patch][j]))
                for patch, j in product(range(2), range(3))
            ]
            pooled = [
                files.activation_statement(j, *interval(activation)) for j, activation in enumerate(values.activations)
            ]
        for paradigm in paradigms_of(geometry, patches=2):
            pooled_by_max = files.description(**parts)["pooling"]["kind"] == "max"
            if paradigm == "evidence" and readout != "linear":
                continue
            if paradigm == "mixed" and not (pooled_by_max and similarity != "quadratic"):
                continue
            if paradigm == "assignment" and similarity != "identity":
                continue
            statements = spatial if PARADIGMS[paradigm].spatial else pooled
            if paradigm == "top_k":
                low, high = map(float.fromhex, pooled[2]["interval"])
                statements = [*pooled[:2], files.order_clause([0, 1], high), files.floor([0, 1], low)]
            if paradigm == "evidence":
                taken = taken_back(head, values.activations, int(second > first), int(second <= first))
                statements = [*pooled[:2], files.total(None, max(0.0, interval(taken)[1]))]
            if paradigm == "mixed":
                statements = [*spatial[:4], *pooled[:2]]
            statements = [opened(each, (index + number) % 4) for index, each in enumerate(statements)]
            options: dict[str, Any] = {"predicted": int(second > first), "patches": 2, "paradigm": paradigm}
            minimality = number % 2 == 0 and PARADIGMS[paradigm].minimal
            certificate = files.document(head.data, statements, image=image, minimality=minimality, **options)
            if paradigm == "assignment":
                certificate["predicate"]["hints"] = {
                    "prices": [{"rival": int(second <= first), "prototypes": [0, 2], "prices": [SMALL, SMALL]}]
                }
            yield pieces(head.data, certificate, files.latents([image]), image)
    yield files.latents([IMAGE], "F32")
    yield head.data
    yield json.dumps(certificate).encode()


def opened(statement: dict[str, Any], side: int) -> dict[str, Any]:
    """The statement without its lower (0) or upper (1) end, if it has both and the side is one of these."""
    if side > 1 or "interval" not in statement:
        return statement
    return statement | {"interval": [None if end == side else x for end, x in enumerate(statement["interval"])]}


def interval(value: Any) -> tuple[float, float]:
    """The narrowest binary64 interval that holds a number."""
    low, high = ends(value)
    return below(low), above(high)
