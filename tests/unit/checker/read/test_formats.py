"""The strict readers of JSON, safetensors, latents, networks and heads: their limits, and what they allow.

What they refuse besides: `corpus/messages.txt`.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import struct
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from support import files
from support.cases import case, every
from support.networks import layer, network_file, small_network
from support.similarities import ROWS

import verale.errors
import verale.head
from verale.checker.errors import FormatError, HeadError, NetworkError
from verale.checker.head import read_head
from verale.checker.read import formats, head_file
from verale.checker.read import latents as latents_module
from verale.checker.read.formats import index, read_object, read_tensors
from verale.checker.read.latents import Latents
from verale.checker.read.network_file import Network, read_network


def test_refuses_more_than_eight_megabytes() -> None:
    text = b'{"a": "' + b"x" * (8 * 2**20 - 9) + b'"}'
    assert read_object(text, "the document")
    with pytest.raises(FormatError, match="has more than 8388608 bytes"):
        read_object(text + b" ", "the document")


def test_refuses_many_small_values() -> None:
    for few in (b"[[],%s]", b'{"":"",%s}', b'"",%s', b"]%s"):
        with pytest.raises(FormatError, match="more than 524288 strings, brackets and commas"):
            read_object(few % (b"[]," * 200_000), "the document")


def test_reads_what_is_allowed() -> None:
    data = (
        b' {"a": [-0, 123456789012345678, -123456789012345678], "b": "[[[\\"{{{",'
        b' "c": "\\ud83d\\ude00", "d": [true, null]}\n'
    )
    assert read_object(data, "the document") == {
        "a": [0, 123456789012345678, -123456789012345678],
        "b": '[[["{{{',
        "c": "\N{GRINNING FACE}",
        "d": [True, None],
    }
    assert read_object(b'{"a":' + b"[" * 15 + b"]" * 15 + b"}", "the document")


def test_brackets_in_long_strings_of_escapes_are_not_counted_and_cost_no_time() -> None:
    data = b'{"a": "' + b'\\"[' * 300_000 + b'"}'
    assert len(read_object(data, "the document")["a"]) == 600_000
    with pytest.raises(FormatError, match="not JSON"):
        read_object(data[:-2], "the document")


@pytest.mark.parametrize("value", [True, False, -1, "1", None, 1.0, [1]])
def test_index_refuses(value: object) -> None:
    with pytest.raises(FormatError, match="expected an integer from 0"):
        index(value, "x")


# The safetensors reader: structure, claims that do not fit the bytes, values.


def entry(dtype: Any = "F32", shape: Any = (1,), offsets: Any = (0, 4)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def file(header: Any, body: bytes = b"\0" * 4) -> bytes:
    return files.framed(json.dumps(header).encode(), body)


def test_every_cut_is_refused() -> None:
    data = files.safetensors({"a": files.tensor([[1.0, 2.0], [3.0, 4.0]], "F32")}, {"key": "value"})
    read_tensors(data)
    for length in range(len(data)):
        with pytest.raises(FormatError):
            read_tensors(data[:length])


def test_reads_values_in_any_order_of_tensors() -> None:
    header = {
        "b": entry("F64", [1, 1], [4, 12]),
        "a": entry(),
        "c": entry("U8", [0], [12, 12]),
        "__metadata__": {"k": "v"},
    }
    metadata, tensors = read_tensors(file(header, struct.pack("<fd", 0.1, -5e-324)))
    assert metadata == {"k": "v"}
    assert tensors["a"].floats().tolist() == [struct.unpack("<f", struct.pack("<f", 0.1))[0]]
    assert tensors["b"].floats().tolist() == [-5e-324]
    assert tensors["b"].shape == (1, 1)
    with pytest.raises(FormatError, match="tensor 'c' has dtype U8, expected F32 or F64"):
        tensors["c"].floats()


@pytest.mark.parametrize("dtype", ["F32", "F64"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_refuses_what_is_not_finite(dtype: str, value: float) -> None:
    _, tensors = read_tensors(files.safetensors({"a": files.tensor([1.0, 2.0, value, 3.0], dtype)}))
    with pytest.raises(FormatError, match=f"holds {value} at entry 2, expected finite numbers"):
        tensors["a"].floats()
    with pytest.raises(FormatError, match="at entry 2"):
        tensors["a"].floats(1, 4)
    assert tensors["a"].floats(0, 2).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["F32", "F64"])
def test_a_big_endian_host_swaps_bytes(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, kind, data = files.tensor([1.5, -2.25], dtype)
    size = len(data) // 2
    swapped = b"".join(data[at : at + size][::-1] for at in (0, size))
    monkeypatch.setattr(formats.sys, "byteorder", "big")
    _, tensors = read_tensors(files.safetensors({"a": (code, kind, swapped)}))
    assert tensors["a"].floats().tolist() == [1.5, -2.25]


# The latents file: shapes, digests by value, what is refused.


GENERATOR = random.Random(1)
IMAGES = [[[GENERATOR.choice((0.0, -0.0, 0.5, -1.25, 3.0)) for _ in range(3)] for _ in range(4)] for _ in range(5)]


def values_in(result: object) -> list[list[Fraction]]:
    found = result.exact  # type: ignore[attr-defined]
    return [[Fraction(entry, 1 << found.bits) for entry in row] for row in found.rows]


@pytest.mark.parametrize(
    "data",
    [
        files.latents(IMAGES),
        files.latents(IMAGES, "F32"),
        files.latents_nchw(IMAGES, 2, 2),
        files.latents_nchw(IMAGES, 1, 4),
    ],
    ids=["NLD", "NLD F32", "NCHW 2x2", "NCHW 1x4"],
)
def test_finds_every_image_by_its_values_in_any_layout(data: bytes) -> None:
    latents = Latents(data, 3)
    for image in (IMAGES[3], IMAGES[0], IMAGES[4], IMAGES[0]):
        result = latents.find(files.digest(image))
        assert result is not None
        assert values_in(result) == [[Fraction(x) for x in row] for row in image]
    assert latents.find("0" * 64) is None
    assert latents.find(files.digest(IMAGES[1])) is not None


def test_the_digest_is_the_same_on_a_big_endian_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """There tensors are swapped on reading and swapped back for the digest; here both swaps are seen."""
    latents = Latents(files.latents(IMAGES), 3)
    monkeypatch.setattr(latents_module.sys, "byteorder", "big")
    assert latents.find(files.digest(IMAGES[0])) is not None


# Network files: what is read of them. What is refused: `corpus/messages.txt`.


def test_reads_a_small_network() -> None:
    data = small_network()
    network = read_network(data)
    assert isinstance(network, Network)
    assert (network.sha256, network.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert (network.shape, network.mean, network.std) == ((1, 4, 4), (Fraction(1, 2),), (Fraction(1, 4),))
    assert [each.kind for each in network.layers][:3] == ["conv2d", "relu", "conv2d"]
    assert (network.depth, network.patches) == (2, 4)
    assert [each.shape for each in network.layers] == [*[(2, 4, 4)] * 4, (2, 2, 2), (2, 2, 2), (2, 2, 2)]
    assert [each.products for each in network.layers] == [32 * 9, 32, 32 * 9, 32, 8 * 4, 8 * 2, 8]
    assert network.layers[2].settings.groups == 2 and network.layers[2].inputs == ("stem.relu",)


def test_refuses_too_many_layers() -> None:
    layers = [layer(f"a{i}", "relu", f"a{i - 1}" if i else "picture") for i in range(4097)]
    with pytest.raises(NetworkError, match=r"^network file: layers is .*, expected a list of 1 to 4096 layers"):
        read_network(network_file(layers, {}))


# Heads and their file: every rule of certificates/v1.md, "The head file".


WEIGHT = [[1.0, -0.5], [0.25, 2.0]]
POINTS = [[0.5, 0.25, 1.0], [0.0, 0.0, 0.0]]
COSINE = {"geometry": files.cosine(0.5), "similarity": files.IDENTITY}
SOFTMAX = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY}


def headed(metadata: Any, **tensors: Any) -> bytes:
    return files.safetensors({name: files.tensor(values) for name, values in tensors.items()}, metadata)


def described(**changes: Any) -> dict[str, str]:
    return {"verale.head": json.dumps(files.description(**changes))}


def test_reads_a_euclidean_head() -> None:
    data = files.head(WEIGHT, POINTS, [1.0, -2.5], labels=["a", "b"], domain=files.domain(-1.5, None))
    head = read_head(data)
    assert head.sha256 == hashlib.sha256(data).hexdigest()
    assert (head.geometry, head.similarity.values) == ("euclidean", {"epsilon": Fraction(1, 1024)})
    assert (head.lower, head.upper) == (Fraction(-3, 2), None)
    assert (head.classes, head.count, head.depth) == (2, 2, 3)
    assert (head.weight.rows, head.weight.bits) == ([[4, -2], [1, 8]], 2)
    assert (head.bias.rows, head.bias.bits) == ([[2, -5]], 1)
    assert (head.prototypes.rows, head.prototypes.bits) == ([[2, 1, 4], [0, 0, 0]], 2)


def part(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, **fields}


ONE_EACH = [[1.0, 0.0], [0.0, 1.0]]
LEAVES = [[1.0, -0.5, 2.0], [0.25, 2.0, 3.0]]


def test_parts_go_together_as_the_specification_says() -> None:
    """Every combination of named parts, most of them wrong, against the rules of v1.md, written out once more."""
    parts = {name: part(name) for name in ("max", "max_minus_mean", "max_minus_mean_distance", "masked_max")}
    parts |= {"top_mean": part("top_mean", k=2), "banks": part("banks", class_token=1)}
    geometries = {
        "euclidean": files.EUCLIDEAN,
        "cosine": files.cosine(0.0),
        "rooted_cosine": part("rooted_cosine", epsilon="0x1p-4"),
        "inner_product": part("inner_product", radius=None),
        "softmax": files.SOFTMAX,
    }
    tree = part("soft_tree", absent=[1, -1], present=[-2, -3])
    readouts = {"linear": part("linear"), "maximum": part("maximum"), "soft_tree": tree}
    rows = {row.json["kind"]: row for row in ROWS if row.json["kind"] != "steps"}
    of = {kind: {each.kind for row in ROWS if row.json["kind"] == kind for each in row.geometries} for kind in rows}
    accepted = 0
    for geometry, kind, pooling, readout in product(geometries, rows, parts, readouts):
        subtracts, row = pooling.startswith("max_minus"), rows[kind]
        fits = (
            geometry in of[kind]
            and not (subtracts and (not row.focal or readout != "linear"))
            and not (pooling == "max_minus_mean_distance" and geometry != "euclidean")
            and not (readout == "soft_tree" and (not row.soft_tree or pooling != "max"))
            and not (geometry == "softmax" and readout != "linear")
        )
        tensors: dict[str, Any] = {"weight": LEAVES if readout == "soft_tree" else ONE_EACH}
        if geometry != "softmax":
            tensors["prototypes"] = [[0.5, 0.25], [1.0, -1.0]]
        if pooling == "masked_max":
            tensors["mask"] = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        chosen = {"geometry": geometries[geometry], "similarity": row.json, "pooling": parts[pooling]}
        data = headed(described(**chosen, readout=readouts[readout], domain=files.domain(0.0, 1.0)), **tensors)
        with case(geometry, kind, pooling, readout):
            if fits:
                assert read_head(data).count == verale.head.Head.from_bytes(data).size == 2
                accepted += 1
            else:
                with pytest.raises(HeadError):
                    read_head(data)
    assert 50 < accepted < 200


CORNERS = [
    # The box, the radius and D; whether any latent is in both. The latent nearest to 0 has equal coordinates.
    (2.0, 3.0, 1.0, 2, False),
    (2.0, 3.0, 2.0, 1, True),  # one latent, 2
    (2.0, 3.0, math.nextafter(2.0, 0.0), 1, False),
    (2.0, None, 4.0, 4, True),
    (2.0, None, 4.0, 5, False),
    (None, -2.0, 4.0, 4, True),
    (-3.0, -2.0, math.nextafter(4.0, 0.0), 4, False),
    (None, 2.0, 2.0**-1074, 9, True),
    (-2.0, None, 2.0**-1074, 9, True),
    (0.0, 1.0, 2.0**-1074, 9, True),
    (2.0**-1074, 1.0, 2.0**-1074, 1, True),
    (2.0**-1074, 1.0, 2.0**-1074, 2, False),  # squares that no float holds
    (2.0**1000, None, 2.0**1001, 4, True),
    (2.0**1000, None, 2.0**1001, 5, False),
    (0.1, 1.0, 0.30000000000000004, 9, True),  # 9 (0.1)^2 rounds to 0.09000000000000001
    (0.1, 1.0, 0.3, 9, False),  # as floats, 0.3 is less than 3 times 0.1
]


@every(("lower", "upper", "radius", "depth", "latents"), CORNERS)
def test_a_ball_that_misses_the_box_is_refused_and_one_that_touches_it_is_not(
    lower: float | None, upper: float | None, radius: float, depth: int, latents: bool
) -> None:
    geometry, domain = part("inner_product", radius=radius.hex()), files.domain(lower, upper)
    points = [[1.0] * depth, [0.5] * depth]
    data = files.head(WEIGHT, points, geometry=geometry, similarity=files.IDENTITY, domain=domain)
    if latents:
        assert read_head(data).radius == Fraction(radius)
        assert verale.head.Head.from_bytes(data).depth == depth
        return
    with pytest.raises(HeadError, match=r"domain is empty: .* expected latents both in the box and"):
        read_head(data)
    with pytest.raises(verale.errors.HeadError, match=r"domain is empty: .* expected latents"):
        verale.head.Head.from_bytes(data)


def of_steps(*steps: dict[str, Any], scale: list[float] | None = None, **changes: Any) -> bytes:
    """A head whose similarity is given by its steps, of distances in a box where `changes` say nothing else."""
    changes = {"domain": files.domain(0.0, 1.0)} | changes | {"similarity": part("steps", steps=list(steps))}
    tensors: dict[str, Any] = {"weight": WEIGHT, "prototypes": [[0.5, 0.25], [1.0, -1.0]]}
    if changes.get("geometry") == files.SOFTMAX:
        del tensors["prototypes"]
    return headed(described(**changes), **tensors, **({} if scale is None else {"scale": scale}))


NEGATE = part("negate")


@every(
    ("fault", "data"),
    {
        "domain is unbounded, expected two ends: quadratic":
            files.head(WEIGHT, POINTS, similarity=part("quadratic"), domain=files.domain(None, 0.0)),
        "similarity.steps": of_steps(part("negate", number="0x1p+0")),
        "similarity.steps has 17 steps, expected at most 16": of_steps(*[NEGATE] * 17),
        "threshold has -0.25, expected a positive number": of_steps(part("threshold", number="-0x1p-2"), NEGATE),
        "reciprocal has 0, expected a positive": of_steps(part("reciprocal", number="0x0p+0")),
        "it falls with observables that are no distances, expected one that rises": of_steps(NEGATE, **COSINE),
        "step 0, root, takes -1 to 1, expected numbers at least 0: put rectify before":
            of_steps(part("root"), **COSINE),
        "step 0, from_peak, is not defined for softmax":
            of_steps(part("from_peak"), NEGATE, geometry=files.SOFTMAX),
        "domain is unbounded, expected two ends: steps":  # with a limit that is not 0
            of_steps(*(part(kind, number="0x1p+0") for kind in ("reciprocal", "add")), domain=files.domain(0.0, None)),
        "'scale' is there, expected none for steps, but for log_ratio, negated, exponential, steps only":
            of_steps(NEGATE, scale=[1.0, 1.0]),
        "defined for euclidean only, not for softmax":
            files.head(WEIGHT, **SOFTMAX, pooling={"kind": "max_minus_mean_distance"}),
    }.items(),
)  # fmt: skip
def test_refuses_a_head(fault: str, data: bytes) -> None:
    with pytest.raises(HeadError, match=fault):
        read_head(data)


def test_refuses_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = files.head([[1.0], [2.0]], [[0.5]])
    monkeypatch.setattr(head_file, "LARGEST", len(data))
    read_head(data)
    with pytest.raises(HeadError, match=f"more than {len(data)} bytes"):
        read_head(data + b" ")
