"""The cases of `certificates/picture`, as they are written."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint
from corpus.writing.malformed_networks import malformed_networks
from corpus.writing.malformed_pictures import GREY, drawn, malformed_pictures
from support.network_truth import Drawn, balls, given
from support.networks import layer, picture_digest, pictures_file, png, small_layers

from verale.soundness.corpus.pictures import FOLDER, INDEX, SUFFIXES, PictureCase
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import PRECISION, above, below, ends
from verale.soundness.independent.head import Head

__all__ = ["picture_cases", "picture_files", "true_latents"]

Document = dict[str, Any]
NETWORK = Drawn(*small_layers(), (1, 4, 4), [0.5], [0.25])
"""From a grey picture of 4 by 4 to two channels of 2 by 2."""
PICTURE = drawn((1, 4, 4), 3)
_POINTS = [[0.25, 0.75], [0.5, 0.5], [1.0, 0.125]]
_WEIGHT = [[2.0, 0.0, -1.0], [-1.0, 1.0, 0.5]]
_AXES = [[0.25, 0.75], [-0.5, 0.5], [1.0, 0.125]]
_WIDE = Fraction(1, 2**24)

HEADS: dict[str, bytes] = {
    "euclidean": files.head(_WEIGHT, _POINTS),
    "quadratic": files.head(_WEIGHT, _POINTS, similarity={"kind": "quadratic"}, pooling={"kind": "top_mean", "k": 2}),
    "minus-mean": files.head(_WEIGHT, _POINTS, pooling={"kind": "max_minus_mean_distance"}),
    "masked": files.head(
        _WEIGHT, _POINTS, pooling={"kind": "masked_max"}, mask=[[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    ),
    "cosine": files.head(_WEIGHT, _AXES, geometry=files.cosine(0.0), similarity=files.IDENTITY),
    "cosine-epsilon": files.head(_WEIGHT, _AXES, geometry=files.cosine(0.5), similarity=files.IDENTITY),
    "rooted": files.head(
        _WEIGHT,
        _AXES,
        geometry={"kind": "rooted_cosine", "epsilon": (0.25).hex()},
        similarity=files.IDENTITY,
        pooling={"kind": "max_minus_mean"},
    ),
    "product": files.head(
        _WEIGHT, _AXES, geometry={"kind": "inner_product", "radius": (1.5).hex()}, similarity=files.IDENTITY
    ),
    "softmax": files.head([[2.0, -1.0], [0.5, 1.0]], geometry=files.SOFTMAX, similarity=files.IDENTITY),
}


def true_latents(network: Drawn, picture: list[list[list[int]]]) -> list[list[Any]]:
    """The latents (L, D), in balls."""
    shape, values = given(network, files.flat(picture), balls())[network.layers[-1]["name"]]
    return [[values[d, y, x] for d in range(shape[0])] for y, x in product(range(shape[1]), range(shape[2]))]


def _around(value: Any) -> tuple[float, float]:
    """An interval that holds a number, some 2^-24 wide."""
    low, high = ends(value)
    return below(low - _WIDE), above(high + _WIDE)


def certified(
    head: bytes, network: Drawn = NETWORK, picture: list[list[list[int]]] = PICTURE, paradigm: str = "top_k"
) -> Document:
    """A certificate of the class that the network gives, which states all observables or activations."""
    with flint.ctx.workprec(PRECISION):
        own, image = Head.read(head), true_latents(network, picture)
        activations = [own.activation(image, j) for j in range(own.count)]
        if paradigm == "top_k":
            stated = [files.activation_statement(j, *_around(a)) for j, a in enumerate(activations)]
        else:
            pairs = product(range(len(image)), range(own.count))
            stated = [files.patch_statement(p, j, *_around(own.observable(image[p], j))) for p, j in pairs]
        logits = own.logits(activations)
        best = max(range(len(logits)), key=lambda c: float(logits[c]))
    document = files.document(head, stated, best, len(logits), paradigm, len(image))
    return about(document, network.file(), picture)


def about(document: Document, network: bytes, picture: list[list[list[int]]]) -> Document:
    """The certificate with another network and picture."""
    document = copy.deepcopy(document)
    digests = {"network": hashlib.sha256(network).hexdigest(), "picture": picture_digest(picture)}
    document["subject"][1:] = [{"name": name, "digest": {"sha256": value}} for name, value in digests.items()]
    document["predicate"]["claims"] = ["entailment", "picture"]
    document["predicate"]["arithmetic"] = "real"
    return document


def _encoded(document: Document, comment: str) -> bytes:
    return (json.dumps(document | {"extensions": {"comment": comment}}, indent=1) + "\n").encode()


def computed(document: Document, more: float = 2.0**-12) -> Document:
    """The certificate of the network computed in binary32. Its intervals are wider by so much at either end."""
    document = copy.deepcopy(document)
    document["predicate"]["arithmetic"] = "float32"
    for statement in document["predicate"]["statements"]:
        low, high = map(float.fromhex, statement["interval"])
        statement["interval"] = [(low - more).hex(), (high + more).hex()]
    return document


def _case(name: str, comment: str, document: Document, head: bytes, status: str, reason: str) -> PictureCase:
    pictures = png(PICTURE, [4, 3, 2, 1])
    return PictureCase(name, _encoded(document, comment), head, NETWORK.file(), pictures, status, reason, comment)


def picture_cases() -> Iterator[PictureCase]:
    """All of them."""
    yield from _accepted()
    yield from _false()
    yield from _malformed()
    yield from _unusable()


def _accepted() -> Iterator[PictureCase]:
    tensor = pictures_file([drawn((1, 4, 4), 1), PICTURE])
    for name, head in HEADS.items():
        for paradigm in ("top_k", "simplex" if name == "softmax" else "projection"):
            comment = f"Every {'activation' if paradigm == 'top_k' else 'observable'} is stated, within 2^-24."
            case = _case(f"{name}-{paradigm}", comment, certified(head, paradigm=paradigm), head, "PROVED", "")
            yield case if paradigm == "top_k" else replace(case, pictures=tensor)
    case = _case(
        "not-given", "Without network and picture.", certified(HEADS["euclidean"]), HEADS["euclidean"], "PROVED", ""
    )
    yield replace(case, network=None, pictures=None)
    for name, head in HEADS.items():
        comment = "Computed in binary32, in any order of sums."
        yield _case(f"computed-{name}", comment, computed(certified(head)), head, "PROVED", "")
    for paradigm, status, reason in (("top_k", "PROVED", ""), ("projection", "NOT_PROVED", "minimality")):
        minimal = certified(HEADS["euclidean"], paradigm=paradigm)
        minimal["predicate"]["claims"].append("minimality")
        comment = f"Every statement is {'' if reason == '' else 'not '}needed."
        yield _case(f"minimal-{paradigm}", comment, minimal, HEADS["euclidean"], status, reason)


def _false() -> Iterator[PictureCase]:
    head = HEADS["euclidean"]
    true, spatial = certified(head), certified(head, paradigm="projection")

    def changed(document: Document, change: Callable[[Document], object]) -> Document:
        document = copy.deepcopy(document)
        change(document["predicate"])
        return document

    def shifted(which: int, by: float) -> Callable[[Document], object]:
        def change(predicate: Document) -> None:
            interval = predicate["statements"][which]["interval"]
            interval[:] = [(float.fromhex(end) + by).hex() for end in interval]

        return change

    for name, document in (("top_k", true), ("projection", spatial)):
        for sign, by in (("above", 2.0**-20), ("below", -(2.0**-20))):
            other = changed(document, shifted(1, by))
            yield _case(
                f"false-{sign}-{name}", f"An interval {sign} what it is about.", other, head, "NOT_PROVED", "picture"
            )

    def pointed(predicate: Document) -> None:
        interval = predicate["statements"][0]["interval"]
        interval[:] = [((float.fromhex(interval[0]) + float.fromhex(interval[1])) / 2).hex()] * 2

    yield _case(
        "false-point",
        "A binary64 number near an irrational one.",
        changed(true, pointed),
        head,
        "NOT_PROVED",
        "picture",
    )
    yield _case(
        "false-patches",
        "Five patches of four.",
        changed(true, lambda p: p.update(patches=5)),
        head,
        "NOT_PROVED",
        "picture",
    )
    yield from _computed(true, spatial, head)
    yield _beyond()
    small = files.head(_WEIGHT, _POINTS, domain=files.domain(0.0, 0.5))
    outside = certified(small)
    yield _case("false-domain", "Latents above the domain's end.", outside, small, "NOT_PROVED", "picture")
    short = files.head(
        _WEIGHT, _AXES, geometry={"kind": "inner_product", "radius": (0.5).hex()}, similarity=files.IDENTITY
    )
    yield _case("false-radius", "Latents longer than the radius.", certified(short), short, "NOT_PROVED", "picture")
    yield _zero()
    worse = changed(true, lambda p: p.update(predicted=1 - p["predicted"], margins=p["margins"][::-1]))
    yield _case("false-class", "The other class.", worse, head, "REFUTED", "refuted")
    nothing = changed(true, lambda p: p.update(statements=[]))
    yield _case("false-entailment", "Nothing is stated.", nothing, head, "NOT_PROVED", "entailment")
    yield from _other_files(true, head)
    for name, other in _other_networks():
        comment = f"Statements of another network: {name.replace('-', ' ')}."
        case = _case(f"false-{name}", comment, about(true, other.file(), PICTURE), head, "NOT_PROVED", "picture")
        yield replace(case, network=other.file())


def _computed(true: Document, spatial: Document, head: bytes) -> Iterator[PictureCase]:
    """What is not proved of the network computed in binary32."""
    narrow = computed(spatial, 2.0**-40 - 2.0**-24)
    comment = "True in real arithmetic, but no distance of binary32 numbers near these lies in so narrow an interval."
    yield _case("false-computed-narrow", comment, narrow, head, "NOT_PROVED", "picture")
    other = computed(true)
    for statement in other["predicate"]["statements"]:
        statement["interval"] = [(float.fromhex(end) + 2.0**-6).hex() for end in statement["interval"]]
    yield _case("false-computed-above", "Intervals above what they are about.", other, head, "NOT_PROVED", "picture")
    comment = "True as far as is known; some orders of sums may lose more."
    yield _case("beyond-computed", comment, computed(true, 2.0**-24), head, "NOT_PROVED", "picture")
    large = [layer("a", "conv2d", "picture"), layer("b", "conv2d", "a"), layer("c", "sigmoid", "b")]
    tensors = {"a.weight": [[[[2.0**120]]]], "b.weight": [[[[2.0**-120]]], [[[2.0**-121]]]]}
    network = Drawn(large, tensors, (1, 4, 4), [0.5], [0.25])
    excluded = replace(NETWORK, tensors=NETWORK.tensors | {"stem.magnitude": [2.0**33, 2.0**33]})
    decided = files.head([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], _POINTS, bias=[2.0, 0.0])
    for arithmetic, status, reason in (("real", "PROVED", ""), ("float32", "NOT_PROVED", "picture")):
        words = "real arithmetic" if arithmetic == "real" else "binary32"
        document = certified(head, network)
        document["predicate"]["arithmetic"] = arithmetic
        case = _case(f"large-{arithmetic}", f"Numbers of size 2^121, in {words}.", document, head, status, reason)
        yield replace(case, network=network.file())
        document = about(files.document(decided, [], 0, 2, "top_k", 4), excluded.file(), PICTURE)
        document["predicate"]["arithmetic"] = arithmetic
        comment = f"A magnitude of 2^33, by which nothing is claimed in binary32: a claim in {words}, of a constant."
        case = _case(f"excluded-{arithmetic}", comment, document, decided, status, reason)
        yield replace(case, network=excluded.file())


def _zero() -> PictureCase:
    """Latents without a direction."""
    head = HEADS["cosine"]
    black = Drawn([layer("a", "conv2d", "picture")], {"a.weight": [[[[0.0]]], [[[0.0]]]]}, (1, 1, 1), [0.0], [1.0])
    document = about(files.document(head, [], 1, paradigm="top_k"), black.file(), [[[255]]])
    comment = "Latents that are zero, of which a cosine without epsilon is undefined."
    case = _case("false-zero", comment, document, head, "NOT_PROVED", "picture")
    return replace(case, network=black.file(), pictures=png([[[255]]]))


def _beyond() -> PictureCase:
    """White is 1 exactly, at which the interval ends."""
    white = Drawn([layer("a", "conv2d", "picture")], {"a.weight": [[[[1.0]]], [[[1.0]]]]}, (1, 1, 1), [0.0], [1.0])
    head = files.head(_WEIGHT, _POINTS, domain=files.domain(None, None))
    statement = files.patch_statement(0, 1, 0.5, 0.5)
    document = about(files.document(head, [statement], 1), white.file(), [[[255]]])
    comment = "The distance is 0.5 exactly. That is true; it is not decided by an enclosure of the latents."
    case = _case("beyond-point", comment, document, head, "NOT_PROVED", "picture")
    return replace(case, network=white.file(), pictures=png([[[255]]]))


def _other_files(true: Document, head: bytes) -> Iterator[PictureCase]:
    one = copy.deepcopy(PICTURE)
    one[0][1][1] ^= 64
    case = _case(
        "other-picture", "A picture in which one byte differs from the one named.", true, head, "NOT_PROVED", "subject"
    )
    yield replace(case, pictures=png(one))
    case = _case(
        "other-pixel",
        "Statements of a picture in which one byte differs.",
        about(true, NETWORK.file(), one),
        head,
        "NOT_PROVED",
        "picture",
    )
    yield replace(case, pictures=png(one))
    none = _case("no-picture", "A file without pictures.", true, head, "NOT_PROVED", "subject")
    yield replace(none, pictures=pictures_file([], (1, 4, 4)))
    other = replace(NETWORK, std=[0.2500001])
    case = _case("other-network", "A network that is not the one named.", true, head, "NOT_PROVED", "subject")
    yield replace(case, network=other.file())


def _other_networks() -> Iterator[tuple[str, Drawn]]:
    """The network with one thing changed, which statements of the first one do not survive."""

    def with_layer(name: str, **fields: Any) -> Drawn:
        return replace(NETWORK, layers=[each | fields if each["name"] == name else each for each in NETWORK.layers])

    yield "mean", replace(NETWORK, mean=[0.4990234375])
    yield "std", replace(NETWORK, std=[0.2490234375])
    tensors = copy.deepcopy(NETWORK.tensors)
    tensors["out.weight"][1][0][0][0] += 2.0**-20
    yield "weight", replace(NETWORK, tensors=tensors)
    yield "bias", replace(NETWORK, tensors=NETWORK.tensors | {"stem.bias": [0.5, -0.124]})
    yield "no-bias", replace(NETWORK, tensors={k: v for k, v in NETWORK.tensors.items() if k != "stem.bias"})
    yield "tanh", with_layer("latents", kind="tanh")
    average = layer("pool", "avg_pool2d", "block.sum")
    yield "average", replace(NETWORK, layers=[average if each["name"] == "pool" else each for each in NETWORK.layers])
    yield "no-relu", with_layer("stem.relu", kind="leaky_relu", slope=(0.125).hex())
    yield "twice", with_layer("block.sum", inputs=["block.0", "stem.relu", "stem.relu"])
    yield "stride", with_layer("pool", stride=[1, 1], kernel=[3, 3])


def _malformed() -> Iterator[PictureCase]:
    head = HEADS["euclidean"]
    true = certified(head)

    def case(name: str, comment: str, change: Callable[[Document], object]) -> PictureCase:
        document = copy.deepcopy(true)
        change(document)
        return _case(f"malformed-{name}", comment, document, head, "MALFORMED", "malformed")

    def predicate(**values: Any) -> Callable[[Document], object]:
        return lambda document: document["predicate"].update(values)

    def latents(document: Document) -> None:
        document["subject"][1:1] = [{"name": "latents", "digest": {"sha256": "0" * 64}}]
        document["predicate"]["claims"].insert(1, "instance")

    yield case("no-claim", "A picture is named and not claimed.", predicate(claims=["entailment"]))
    yield case(
        "instance", "An instance is claimed and no latents are named.", predicate(claims=["entailment", "instance"])
    )
    yield case("both", "Instance and picture.", latents)
    yield case("order", "Claims in another order.", predicate(claims=["picture", "entailment"]))
    yield case("no-picture", "The network alone.", lambda d: d["subject"].pop())
    yield case("no-network", "The picture alone.", lambda d: d["subject"].pop(1))
    yield case("no-subject", "Neither network nor picture is named.", lambda d: d["subject"].__delitem__(slice(1, 3)))
    yield case("turned", "The picture before the network.", lambda d: d["subject"].reverse())
    yield case("turned-pair", "The picture, then the network.", lambda d: d["subject"].insert(1, d["subject"].pop()))
    yield case("digest", "A digest in upper case.", lambda d: d["subject"][2]["digest"].update(sha256="A" * 64))
    yield case("no-arithmetic", "No arithmetic.", lambda d: d["predicate"].pop("arithmetic"))
    yield case("arithmetic-null", "An arithmetic that is null.", predicate(arithmetic=None))
    yield case("arithmetic-unknown", "An arithmetic that there is not.", predicate(arithmetic="float16"))
    yield case("arithmetic-list", "An arithmetic that is a list.", predicate(arithmetic=["real"]))

    def alone(document: Document) -> None:
        document["subject"][1:] = []
        document["predicate"]["claims"] = ["entailment"]

    yield case("arithmetic-alone", "An arithmetic without a picture.", alone)


def _unusable() -> Iterator[PictureCase]:
    head = HEADS["euclidean"]
    valid = _case("", "", certified(head), head, "INPUT_ERROR", "network")
    for name, comment, data in malformed_networks():
        if len(data) < 2**14:
            yield replace(valid, name=f"network-{name}", comment=comment, network=data)
    other = replace(NETWORK, layers=NETWORK.layers[:1], tensors={"stem.weight": [[[[1.0]]]]})
    yield replace(valid, name="network-depth", comment="Latents of another depth.", network=other.file())
    yield replace(valid, name="network-missing", comment="Pictures without a network.", network=None)
    grey = [layer("a", "conv2d", "picture"), layer("b", "sigmoid", "a")]
    seen = Drawn(grey, {"a.weight": [[[[1.0]]], [[[0.5]]]]}, GREY, [0.0], [1.0]).file()
    for name, (data, _) in malformed_pictures().items():
        comment = f"A file of pictures that breaks a rule: {name.replace('-', ' ')}."
        yield replace(valid, name=f"picture-{name}", comment=comment, network=seen, pictures=data, reason="picture")
    missing = replace(valid, name="picture-missing", comment="A network without pictures.", reason="picture")
    yield replace(missing, pictures=None)


def picture_files() -> dict[str, bytes]:
    """The cases as files, by their path, each file once, and the index."""
    written: dict[str, bytes] = {}
    path_of: dict[bytes, str] = {}
    index = {}
    for case in picture_cases():
        entry: dict[str, Any] = {"status": case.status, "reason": case.reason, "comment": case.comment}
        suffixes = SUFFIXES | {"pictures": ".png" if (case.pictures or b"")[1:4] == b"PNG" else ".pictures.safetensors"}
        for part, suffix in suffixes.items():
            data = getattr(case, part)
            if data is not None:
                entry[part] = path_of.setdefault(data, FOLDER + case.name + suffix)
                written[entry[part]] = data
        index[case.name] = entry
    written[INDEX] = (json.dumps(index, indent=1) + "\n").encode()
    return written
