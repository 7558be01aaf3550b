"""The strict JSON reader: its limits, and what it allows. What it refuses besides: `corpus/messages.txt`."""

from __future__ import annotations

import hashlib
import json
import random
import struct
from fractions import Fraction
from typing import Any

import pytest
from support import files
from support.cases import every
from support.networks import layer, network_file, small_network

from verale.checker.errors import FormatError, NetworkError
from verale.checker.read import formats
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


MALFORMED = {
    "an entry without a shape": (file({"a": {"dtype": "F32", "data_offsets": [0, 4]}}), "lacks the field 'shape'"),
    "an entry with another field": (file({"a": {**entry(), "x": 1}}), "unknown field 'x'"),
    "nine dimensions": (file({"a": entry(shape=[1] * 9)}), "at most 8"),
    "a shape whose product overflows": (file({"a": entry(shape=[10**17] * 8)}), "spans 4 bytes"),
    "offsets in reverse": (file({"a": entry(offsets=[4, 0])}), "spans -4 bytes"),
    "offsets that do not fit the shape": (file({"a": entry(shape=[2])}), "spans 4 bytes, expected 8"),
}


@every("name", MALFORMED)
def test_refuses(name: str) -> None:
    data, fault = MALFORMED[name]
    with pytest.raises(FormatError, match=fault):
        read_tensors(data)


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
