"""`certificates/malformed`: head files in which exactly one rule is broken, so that no other rule refuses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.editing import described, entries, joined, split
from verale.soundness.corpus.recipes import SOFT_TREE
from verale.soundness.independent import files

__all__ = ["ABSENT", "malformed_heads", "malformed_latents"]

ABSENT = object()
"""In the place of a value: there is none."""
_EUCLIDEAN, _COSINE, _SOFTMAX = "projection-euclidean", "projection-cosine", "simplex-softmax"
_TREE, _MAXIMUM = "projection-euclidean-exp_distance-soft_tree", "projection-euclidean-negated-maximum"
_PRODUCT, _BALL = "projection-inner_product", "projection-inner_product-ball"
_SCALED, _THRESHOLD = "projection-euclidean-exponential-scaled", "simplex-softmax-threshold"
_FOCAL, _BANKS = "projection-euclidean-max_minus_mean", "projection-euclidean-banks"
_MASKED = "projection-euclidean-masked_max"

DESCRIPTIONS: list[tuple[str, str, str, str, Any]] = [
    *((_EUCLIDEAN, f"lacks-{name}", f"Without {name}.", name, ABSENT) for name in ("version", "geometry", "domain")),
    *((_EUCLIDEAN, f"lacks-{name}", f"Without {name}.", name, ABSENT) for name in ("similarity", "pooling", "labels")),
    (_EUCLIDEAN, "version-a-string", "A version that is a string.", "version", "1"),
    (_EUCLIDEAN, "geometry-a-string", "A geometry that is not an object.", "geometry", "euclidean"),
    (_EUCLIDEAN, "geometry-of-a-list", "A kind that is a list.", "geometry", {"kind": ["euclidean"]}),
    (_EUCLIDEAN, "geometry-more", "A field more.", "geometry", {"kind": "euclidean", "epsilon": "0x0p+0"}),
    (_COSINE, "geometry-less", "A cosine without its epsilon.", "geometry", {"kind": "cosine"}),
    (_COSINE, "cosine-epsilon-negative", "A cosine's epsilon below 0.", "geometry/epsilon", "-0x1p-1074"),
    (_TREE, "epsilon-negative", "exp_distance with an epsilon below 0.", "similarity/epsilon", "-0x1p-1074"),
    (_THRESHOLD, "threshold-zero", "The threshold 0.", "similarity/threshold", "0x0p+0"),
    (_THRESHOLD, "threshold-one", "The threshold 1.", "similarity/threshold", "0x1p+0"),
    (_EUCLIDEAN, "domain-less", "A domain of one end.", "domain", {"lower": None}),
    (_EUCLIDEAN, "domain-more", "A domain of three ends.", "domain/middle", None),
    (_EUCLIDEAN, "domain-decimal", "An end that is a decimal number.", "domain/lower", "-1.0"),
    (_EUCLIDEAN, "epsilon-decimal", "An epsilon that is a decimal number.", "similarity/epsilon", "0.5"),
    (_EUCLIDEAN, "domain-integer", "An end that is a JSON integer.", "domain/lower", -1),
    (_PRODUCT, "products-unbounded", "Products over all space.", "domain", files.domain(None, None)),
    (_PRODUCT, "products-above", "Products without an upper end.", "domain", files.domain(-1.0, None)),
    (_PRODUCT, "products-below", "Products without a lower end.", "domain", files.domain(None, 1.0)),
    (_MAXIMUM, "negated-above", "negated without an upper end.", "domain", files.domain(-1.0, None)),
    (_BALL, "radius-zero", "A ball of radius 0.", "geometry/radius", "0x0p+0"),
    (_BALL, "radius-negative", "A ball of a negative radius.", "geometry/radius", "-0x1p+0"),
    (_EUCLIDEAN, "k-true", "A truth value for k.", "pooling", {"kind": "top_mean", "k": True}),
    (_EUCLIDEAN, "k-negative", "A negative k.", "pooling", {"kind": "top_mean", "k": -1}),
    (_BANKS, "class-token-zero", "No prototype of the class token.", "pooling/class_token", 0),
    (_MASKED, "mask-of-max", "A mask under max.", "pooling/kind", "max"),
    (_MASKED, "mask-of-banks", "A mask beside banks.", "pooling", {"kind": "banks", "class_token": 2}),
    (_COSINE, "mean-distance-of-cosines", "A mean of distances.", "pooling/kind", "max_minus_mean_distance"),
    (_SCALED, "focal-exponential", "A mean of exponentials is taken off.", "pooling/kind", "max_minus_mean"),
    (_TREE, "tree-of-a-mean", "A tree over means.", "pooling", {"kind": "top_mean", "k": 2}),
    (_TREE, "tree-of-ratios", "A tree over log ratios.", "similarity", files.log_ratio(2.0**-6)),
    (_TREE, "tree-one-child-less", "A node without one child.", "readout/present", lambda nodes: nodes[:-1]),
    (_TREE, "tree-one-child-more", "A child of no node.", "readout/present", lambda nodes: [*nodes, -6]),
    (
        _TREE,
        "tree-one-node-less",
        "A tree that leaves a prototype out.",
        "readout",
        {"kind": "soft_tree", "absent": [1, 2, -3], "present": [-1, -2, -4]},
    ),
    (_TREE, "tree-own-child", "The root is its own child.", "readout/absent/0", 0),
    (_TREE, "tree-leaf-outside", "A leaf that has no weights.", "readout/present/3", -6),
    (_TREE, "tree-child-true", "A truth value for a child.", "readout/absent/0", True),
    (_TREE, "tree-child-a-string", "A string for a child.", "readout/absent/0", "1"),
    (_TREE, "tree-children-a-string", "A string for children.", "readout/absent", "1111"),
    (_TREE, "tree-children-an-object", "An object for children.", "readout/absent", {}),
    (_EUCLIDEAN, "labels-a-string", "A string of as many letters.", "labels", "abc"),
    (_EUCLIDEAN, "labels-integers", "Labels that are integers.", "labels", [0, 1, 2]),
    (_EUCLIDEAN, "labels-many", "More labels than classes.", "labels", ["a", "b", "c", "d"]),
]
"""The accepted case whose head is changed, the name, the comment, where the description is changed, and to what."""


def malformed_heads(by_name: dict[str, Case]) -> Iterator[Case]:
    """All of them, given the accepted cases."""

    def case(base: str, name: str, comment: str, head: bytes) -> Case:
        given = by_name[base]
        return Case(f"malformed/head-{name}", given.certificate, head, given.latents, "INPUT_ERROR", "head", comment)

    for base, name, comment, path, value in DESCRIPTIONS:
        yield case(base, name, comment, described(by_name[base].head, _change(path, value)))
    for base, name, comment, head in (*_of_tensors(by_name), *_of_headers(by_name[_EUCLIDEAN].head)):
        yield case(base, name, comment, head)


def _change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]

    def change(description: Any) -> None:
        for step in parents:
            description = description[step]
        if value is ABSENT:
            del description[last]
        else:
            description[last] = value(description[last]) if callable(value) else value

    return change


def _of_tensors(by_name: dict[str, Case]) -> Iterator[tuple[str, str, str, bytes]]:
    def with_tensor(base: str, name: str, values: Any, sizes: list[int] | None = None) -> bytes:
        header, body = split(by_name[base].head)
        header.pop("__metadata__")
        tensors = {
            each: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
            for each, entry in header.items()
        }
        tensors.pop(name, None)
        if values is not None:
            tensors[name] = files.tensor(values, sizes=sizes)
        return files.safetensors(tensors, split(by_name[base].head)[0]["__metadata__"])

    three, four = [1.0] * 3, [1.0] * 4
    masked = [[1.0, 0.0]] * 4
    rows = [[1.0, 0.5, 0.25]] * 4
    for base, name, comment, tensor, values, sizes in (
        (_EUCLIDEAN, "weight-missing", "No weights.", "weight", None, None),
        (_EUCLIDEAN, "weight-three-dimensions", "Weights of three dimensions.", "weight", three * 4, [1, 3, 4]),
        (_SOFTMAX, "weight-no-prototype", "No prototype.", "weight", [], [3, 0]),
        (_EUCLIDEAN, "prototypes-missing", "No prototypes.", "prototypes", None, None),
        (_EUCLIDEAN, "prototypes-one-dimension", "Prototypes of one dimension.", "prototypes", four, [4]),
        (_EUCLIDEAN, "prototypes-no-coordinate", "Prototypes without a coordinate.", "prototypes", [], [4, 0]),
        (_EUCLIDEAN, "prototypes-fewer", "Fewer prototypes than weights.", "prototypes", rows[:3], None),
        (_EUCLIDEAN, "prototypes-more", "More prototypes than weights.", "prototypes", [*rows, rows[0]], None),
        (_SOFTMAX, "prototypes-of-softmax", "Prototypes of a softmax head.", "prototypes", rows, None),
        (_EUCLIDEAN, "bias-short", "Fewer biases than classes.", "bias", three[:2], None),
        (_EUCLIDEAN, "bias-long", "As many biases as prototypes.", "bias", four, None),
        (_EUCLIDEAN, "bias-matrix", "Biases of two dimensions.", "bias", three, [1, 3]),
        (_MAXIMUM, "bias-of-classes", "As many biases as classes, under maximum.", "bias", three, None),
        (_TREE, "bias-of-a-tree", "Biases of a tree.", "bias", three, None),
        (_SCALED, "scale-short", "Fewer scales than prototypes.", "scale", three, None),
        (_SCALED, "scale-zero", "A scale of 0.", "scale", [1.0, 1.0, 1.0, 0.0], None),
        (_SCALED, "scale-negative", "A negative scale.", "scale", [1.0, -1.0, 1.0, 1.0], None),
        (_COSINE, "scale-of-identity", "Scales of a cosine.", "scale", four, None),
        (_SCALED, "peak-of-exponential", "Peaks under exponential.", "peak", four, None),
        (_MASKED, "mask-missing", "masked_max without its mask.", "mask", None, None),
        (_MASKED, "mask-short", "Fewer rows than prototypes.", "mask", masked[:3], None),
        (_MASKED, "mask-long", "More rows than prototypes.", "mask", [*masked, masked[0]], None),
        (_MASKED, "mask-one-dimension", "A mask of one dimension.", "mask", four, [4]),
        (_MASKED, "mask-no-column", "A mask without a column.", "mask", [], [4, 0]),
        (_MASKED, "mask-nowhere", "A prototype that looks at no patch.", "mask", [*masked[:3], [0.0, 0.0]], None),
        (_MASKED, "mask-half", "An entry of 1/2.", "mask", [*masked[:3], [1.0, 0.5]], None),
        (_MASKED, "mask-minus-one", "An entry of -1.", "mask", [*masked[:3], [1.0, -1.0]], None),
        (_MASKED, "mask-two", "An entry of 2 alone in its row.", "mask", [*masked[:3], [2.0, 0.0]], None),
        (_MAXIMUM, "class-without-prototypes", "A class of no prototype.", "weight", [[0.0] * 4, four, four], None),
        (_TREE, "tree-of-one-leaf", "One leaf.", "weight", [[1.0]] * 3, None),
    ):
        yield base, name, comment, with_tensor(base, tensor, values, sizes)
    softmax = {"geometry": files.SOFTMAX, "similarity": files.IDENTITY, "domain": files.domain(None, None)}
    masses = files.head([[1.0, 0.0], [0.0, 1.0]], **softmax, readout={"kind": "maximum"})
    yield _SOFTMAX, "softmax-maximum", "maximum for masses, with weights of 0 and 1.", masses
    tree = files.head(
        [[1.0] * 5, [0.0] * 5],
        rows,
        mask=masked,
        pooling={"kind": "masked_max"},
        similarity={"kind": "exponential"},
        readout=SOFT_TREE,
    )
    yield _TREE, "masked-tree", "A tree over prototypes that look at some patches.", tree
    one = files.head([[1.0] * 4], rows)
    yield _EUCLIDEAN, "weight-one-class", "One class.", one
    empty_tree = files.description(
        similarity={"kind": "exponential"}, readout={"kind": "soft_tree", "absent": [], "present": []}
    )
    leaf = {"weight": files.tensor([[1.0], [0.0]]), "prototypes": ("F64", [0, 3], b"")}
    yield (
        _TREE,
        "tree-of-no-node",
        "A tree without nodes.",
        files.safetensors(leaf, {"verale.head": json.dumps(empty_tree)}),
    )
    values, rebuilt = entries(by_name[_MAXIMUM].head, "weight")
    yield _MAXIMUM, "weights-minus-one", "Weights of -1.", rebuilt([-value for value in values])
    values[values.index(0.0)] = 0.5
    yield _MAXIMUM, "maximum-weights", "A weight of 1/2 among weights of 0 and 1.", rebuilt(values)
    focal = by_name[_FOCAL].head
    columns = len(entries(focal, "weight")[0]) // 3
    tensors = {"weight": files.tensor([[1.0] * columns] * 3), "prototypes": files.tensor([[0.5] * 3] * columns)}
    description = json.loads(split(focal)[0]["__metadata__"]["verale.head"]) | {"readout": {"kind": "maximum"}}
    data = files.safetensors(tensors, {"verale.head": json.dumps(description)})
    yield _FOCAL, "focal-maximum", "A mean is taken off under maximum.", data


def _of_headers(data: bytes) -> Iterator[tuple[str, str, str, bytes]]:
    header, body = split(data)
    names = sorted((name for name in header if name != "__metadata__"), key=lambda name: header[name]["data_offsets"])
    (_, end), last = header[names[0]]["data_offsets"], names[-1]

    def entry(name: str, **fields: Any) -> bytes:
        return joined(header | {name: header[name] | fields}, body)

    middle = header[names[1]]["data_offsets"]
    size = middle[1] - middle[0]
    for name, comment, changed in (
        ("offsets-three", "Three offsets.", entry(names[0], data_offsets=[0, end, end])),
        ("offsets-a-number", "Offsets that are a number.", entry(names[0], data_offsets=end)),
        ("offsets-negative", "A negative offset.", entry(names[0], data_offsets=[-end, 0])),
        ("offsets-true", "A truth value for an offset.", entry(names[0], data_offsets=[False, end])),
        ("offsets-reversed", "The end before the beginning.", entry(names[0], data_offsets=[end, 0])),
        ("offsets-over", "A tensor over another one, and a gap.", entry(names[1], data_offsets=[0, size])),
        (
            "offsets-gap",
            "Bytes of no tensor.",
            joined(_moved(header, names[1:], 8), body[:end] + b"\0" * 8 + body[end:]),
        ),
        ("offsets-shared", "Bytes of two tensors.", joined(_moved(header, [last], -8), body[:-8])),
        ("bytes-too-many", "A number more than the shape has.", _with_more(header, body, names)),
        ("offsets-beyond", "A tensor that ends behind the file.", joined(_moved(header, [last], 8), body)),
        ("size-too-large", "More bytes than the shape has.", entry(last, shape=[1, *header[last]["shape"][1:]])),
        ("shape-a-number", "A shape that is a number.", entry(names[0], shape=12)),
        ("shape-negative", "Negative sizes.", entry(names[0], shape=[-x for x in header[names[0]]["shape"]])),
        ("dtype-a-list", "A dtype that is a list.", entry(names[0], dtype=["F64"])),
        ("entry-more", "A tensor with a field more.", entry(names[0], order="C")),
        (
            "entry-less",
            "A tensor without its dtype.",
            joined(header | {names[0]: {"shape": [], "data_offsets": []}}, body),
        ),
        ("entry-a-list", "A tensor that is a list.", joined(header | {names[0]: []}, body)),
        ("metadata-a-list", "Metadata that are not an object.", joined(header | {"__metadata__": []}, body)),
        ("metadata-a-number", "A number among metadata.", joined(header | {"__metadata__": {"verale.head": 1}}, body)),
        ("seven-bytes", "Fewer bytes than the length takes.", data[:7]),
        ("header-cut", "A header that ends before its brace.", _with_length(data, -1)),
        ("header-long", "A header that ends in the tensors.", _with_length(data, 8)),
    ):
        yield _EUCLIDEAN, name, comment, changed
    text = json.dumps(header)
    twice = text[:-1] + f', "{last}": {json.dumps(header[last])}' + "}"
    yield _EUCLIDEAN, "tensor-twice", "A tensor twice.", files.framed(twice.encode(), body)
    description = header["__metadata__"]["verale.head"]
    for name, comment, changed in (
        ("key-twice", "The geometry twice.", description[:-1] + ', "geometry": {"kind": "euclidean"}}'),
        ("a-list", "A description that is a list.", "[" + description + "]"),
        ("cut", "A description without its last brace.", description[:-1]),
        ("surrogate", "Half a character in a label.", description.replace("null", '["\\udc00", "b", "c"]', 1)),
    ):
        metadata = header | {"__metadata__": {"verale.head": changed}}
        yield _EUCLIDEAN, f"description-{name}", comment, joined(metadata, body)
    narrow = {name: (header[name]["shape"], body[slice(*header[name]["data_offsets"])]) for name in names}
    singles = {name: ("F32", shape, b"\0\0\x80\x7f" * (len(part) // 8)) for name, (shape, part) in narrow.items()}
    data = files.safetensors(singles, header["__metadata__"])
    yield _EUCLIDEAN, "infinity-f32", "Infinite numbers of single precision.", data
    doubles = {name: ("F64", *part) for name, part in narrow.items()}
    shape, part = narrow["weight"]
    data = files.safetensors(doubles | {"weight": ("F16", shape, b"\0\x3c" * (len(part) // 8))}, header["__metadata__"])
    yield _EUCLIDEAN, "dtype-f16", "Weights as half precision.", data


def _moved(header: dict[str, Any], names: list[str], by: int) -> dict[str, Any]:
    """The header with some tensors at later bytes."""
    moved = {name: header[name] | {"data_offsets": [x + by for x in header[name]["data_offsets"]]} for name in names}
    return header | moved


def _with_more(header: dict[str, Any], body: bytes, names: list[str]) -> bytes:
    """The file with a number more in the bias."""
    begin, end = header["bias"]["data_offsets"]
    later = [name for name in names if header[name]["data_offsets"][0] >= end]
    moved = _moved(header, later, 8)
    return joined(
        moved | {"bias": header["bias"] | {"data_offsets": [begin, end + 8]}}, body[:end] + b"\0" * 8 + body[end:]
    )


def _with_length(data: bytes, more: int) -> bytes:
    """The file with another length of its header."""
    return (int.from_bytes(data[:8], "little") + more).to_bytes(8, "little") + data[8:]


def malformed_latents(original: Case) -> Iterator[Case]:
    """Latents files for an accepted case."""

    def case(name: str, comment: str, latents: bytes) -> Case:
        return Case(
            f"malformed/latents-{name}", original.certificate, original.head, latents, "INPUT_ERROR", "latents", comment
        )

    data = files.given(original.latents)
    header, body = split(data)
    yield case("truncated", "Cut before the last byte.", data[:-1])
    yield case("another-name", "A tensor of another name.", joined({"z": header["latents"]}, body))
    shape = header["latents"]["shape"]
    for name, dtype, values in (("f16", "F16", b"\0\x3c" * (len(body) // 8)), ("integers", "I64", body)):
        yield case(f"dtype-{name}", f"The dtype {dtype}.", files.safetensors({"latents": (dtype, shape, values)}))
    yield case(
        "two-dimensions", "No image dimension.", joined({"latents": header["latents"] | {"shape": [3, 3]}}, body)
    )
    yield case(
        "another-depth",
        "D that is not the head's.",
        joined({"latents": header["latents"] | {"shape": [1, 9, 1]}}, body),
    )
    yield case("no-patch", "No patch.", files.safetensors({"latents": ("F64", [1, 0, 3], b"")}))
    several = [[[0.0]] * 9, [[0.0] * 9] * 3]
    yield case("one-dimension", "One dimension.", files.safetensors({"latents": files.tensor([0.0] * 9)}))
    yield case(
        "five-dimensions",
        "Five dimensions.",
        files.safetensors({"latents": files.tensor([0.0] * 9, sizes=[1, 3, 3, 1, 1])}),
    )
    for number, image in enumerate(several):
        yield case(f"depth-{number}", "Another depth than the head's.", files.latents([image]))
    yield case(
        "depth-last", "Channels last.", files.safetensors({"latents": files.tensor([0.0] * 12, sizes=[1, 4, 1, 3])})
    )
    yield case("no-position", "No position.", files.safetensors({"latents": ("F64", [1, 3, 0, 2], b"")}))
    yield case(
        "infinite-at-last", "The last coordinate is infinite.", joined(header, body[:-8] + b"\0\0\0\0\0\0\xf0\xff")
    )
    yield case("nan", "A coordinate of NaN.", joined(header, b"\xff" * 8 + body[8:]))
    yield case("infinity", "An infinite coordinate.", joined(header, b"\0\0\0\0\0\0\xf0\x7f" + body[8:]))
    yield case(
        "huge-shape",
        "A shape of 10^17 images.",
        joined({"latents": header["latents"] | {"shape": [10**17, 3, 3]}}, body),
    )
