"""The OCaml reader of texts: it has the values of the files, and what it accepts is what the text says."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest
from support import files
from support.cases import case
from support.files import read_latents
from support.independent_text import text_of_certificate, text_of_head, text_of_image, text_of_network, text_of_picture
from support.network_truth import Drawn, of_program
from support.proved import build

from verale.runs.doctor import SAMPLE
from verale.soundness.corpus.cases import stored

Show = Callable[..., list[Any]]

HEAD = (SAMPLE / "head.safetensors").read_bytes()
CERTIFICATE = (SAMPLE / "0.ale.json").read_bytes()
LATENTS = (SAMPLE / "latents.safetensors").read_bytes()


@pytest.fixture(scope="module")
def show(built: Path) -> Show:
    """What the reader makes of lines, of which it gets so many bytes at once: the fields, or an error as a text."""
    program = str(build(built, "show"))

    def shown(lines: list[str], at_once: int = 65536) -> list[Any]:
        given = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        result = subprocess.run([program, str(at_once)], input=given, capture_output=True, timeout=300, check=True)
        said = result.stdout.decode().splitlines()
        assert len(said) == len(lines)
        return [line if line.startswith("error: ") else json.loads(line) for line in said]

    return shown


def line_of(kind: str, text: bytes) -> str:
    return f"{kind} {text.decode().strip()}"


def texts() -> Iterator[list[str]]:
    """A head, a certificate and images of the corpora, none of them malformed, nor about another head, of which nobody
    looks whether they would be. The writer of texts reads the files by itself."""
    files_of = [(each.head, each.certificate, each.latents) for each in stored()
                if each.status not in ("MALFORMED", "INPUT_ERROR") and each.reason != "subject"]  # fmt: skip
    for head, certificate, latents in [(HEAD, CERTIFICATE, LATENTS), *files_of]:
        images = [] if latents is None else read_latents(latents)
        yield [
            line_of("H", text_of_head(head)),
            line_of("C", text_of_certificate(certificate)),
            *(line_of("I", text_of_image([[x + 0.0 for x in row] for row in image])) for image in images),  # -0 is 0
        ]


def test_every_field_has_the_value_of_the_file(show) -> None:
    """What is shown of all fields, written again, is the text, which has the values of the file."""
    lines = [line for given in texts() for line in given]
    wrong = [line for line, shown in zip(lines, show(lines), strict=True) if again(line[0], shown) != line]
    assert wrong == [] and len(lines) > 500


def over(unit: int, value: Any) -> Any:
    """Integers over a unit as fractions, in lists or not."""
    if isinstance(value, list):
        return [over(unit, each) for each in value]
    return None if value is None else Fraction(value, unit)


# What the reader accepts, written again.


def again(kind: str, shown: Any) -> str:
    """The line that these fields come from: each integer in base 16, each list after its length."""

    def items(value: Any) -> Iterator[str]:
        match value:
            case None:
                yield "none"
            case int():
                yield f"{value:x}"
            case str():
                yield value
            case ["steps", *steps]:
                yield from ("steps", f"{len(steps):x}")
                for name, *fractions in steps:
                    yield from (name, *(f"{each:x}" for fraction in fractions for each in fraction))
            case [str(), *fields]:
                yield value[0]
                for field in fields:
                    if (value[0] == "inner_product" and field is not None) or (
                        value[0] == "sum" and isinstance(field, list)
                    ):
                        yield "some"
                    pair = value[0] in _WITH_FRACTIONS and field is not None
                    yield from (f"{each:x}" for each in field) if pair else items(field)
            case list():
                yield f"{len(value):x}"
                for each in value:
                    yield from items(each)

    if kind == "P":
        rivals = [f" {rival:x} {unit:x} {' '.join(items(prices))}" for rival, unit, prices in shown]
        return f"P prices {len(rivals):x}{''.join(rivals)}"
    if kind == "I":
        rows = over(shown["image_unit"], shown["rows"])
        return line_of("I", text_of_image([[float(value) for value in row] for row in rows]))
    words = [{"H": "head", "C": "certificate"}[kind]]
    for name, value in shown.items():
        words += ["some"] if name in ("lower", "upper") and value is not None else []
        words += items(value)
    return f"{kind} {' '.join(words)}"


_WITH_FRACTIONS = ("cosine", "rooted_cosine", "inner_product", "log_ratio", "exp_distance", "threshold")


def small() -> list[str]:
    """A head with every kind of item, a certificate, an image and prices."""
    head = files.head(
        [[1.0, 0.0, 2.0], [0.0, -1.5, 4.0]],
        [[0.5, -0.75], [3.0, 0.125]],
        domain=files.domain(-1.0, None),
        similarity={"kind": "exp_distance", "epsilon": "0x1p-3"},
        readout={"kind": "soft_tree", "absent": [1, -1], "present": [-2, -3]},
    )
    statements = [
        files.activation_statement(1, 0.25, 0.5),
        files.activation_statement(0, None, 0.5),
        files.order_clause([0, 1], 0.75),
        files.floor([1], 0.25),
    ]
    certificate = files.certificate(head, statements, paradigm="top_k", patches=20)
    return [
        line_of("H", text_of_head(head)),
        line_of("C", text_of_certificate(certificate)),
        line_of("I", text_of_image([[1.0, -2.0], [0.5, 3.0]])),
        "P prices 2 0 4 2 0 3 1 1 2 7 0",
    ]


@pytest.mark.parametrize("at_once", [1, 7, 65536])
def test_what_is_accepted_is_what_the_text_says(at_once, show) -> None:
    lines = small()
    assert [again(line[0], shown) for line, shown in zip(lines, show(lines, at_once), strict=True)] == lines


@pytest.mark.parametrize("at_once", [1, 7, 65536])
def test_integers_of_every_size(at_once, show) -> None:
    """From one digit to more than a machine integer has, of either sign."""
    digits = ("f" * 33, "1" + "0" * 32, "9e3779b97f4a7c15" * 3)
    sizes = [int(each[:size], 16) for size in range(1, 34) for each in digits]
    pairs = [[value, -value] for value in [0, *sizes]]
    shown = show([small()[0], *(f"P prices 1 0 1 2 {one:x} {other:x}" for one, other in pairs)], at_once)[1:]
    assert [each[0][-1] for each in shown] == pairs


@pytest.mark.parametrize("which", range(6), ids=["head", "certificate", "image", "prices", "network", "picture"])
def test_changed_texts_are_refused_or_say_what_was_changed(which, show) -> None:
    """Nothing is guessed, skipped or filled in: what is accepted is written again as it came, byte by byte."""
    generator = random.Random(which)
    lines = [*small(), SMALL, PICTURE]
    first, line = lines[0 if which < 4 else 4], lines[which]
    words = line.split(" ")
    changed = {
        *(" ".join(words[:at] + words[at + 1 :]) for at in range(1, len(words))),
        *(" ".join([*words[:at], words[at], *words[at:]]) for at in range(1, len(words))),
        *(
            " ".join([*words[:at], word, *words[at + 1 :]])
            for at in range(1, len(words))
            for word in ("", "0", "1", "2", "7", "-1", "-0", "00", "01", "+1", "A", "0x1", "1_0", "1.0", "x", "none",
                         "max", "relu", "some", "\t1", "1\r", " 1", "1000", "1001", "f" * 1024, "f" * 1025, "100000",
                         "100001", "é")
        ),
        *(line[:at] for at in range(3, len(line))),
        *(line[:at] + generator.choice(" 0-9afz\t\0") + line[at:] for at in range(2, len(line) + 1)),
        *(line[:at] + generator.choice(" 0-9afz\t\0") + line[at + 1 :] for at in range(2, len(line))),
        line + " ", line + " 0", line.upper(), line.replace(" ", "  "), line.replace(" ", "\t"),
    } - {line}  # fmt: skip
    ordered = sorted(changed)
    answers = show([first, *ordered])[1:]
    assert show([first, *ordered], 5)[1:] == answers
    accepted = [(one, shown) for one, shown in zip(ordered, answers, strict=True) if not isinstance(shown, str)]
    written = seen_again if which >= 4 else lambda shown: again(line[0], shown)
    assert [one for one, shown in accepted if written(shown) != one] == []
    assert 0 < len(accepted) < len(ordered) / 2


HEADS = {
    "a tree": (
        "H head 1 2 2 euclidean exp_distance 0 1 max soft_tree 2 1 -1 2 -2 -3 1 2 1 0 1 0 none none"
        " 1 2 3 0 0 0 3 0 0 0 2 0 0 1 0 1 0",
        [("2 1 -1 2 -2 -3", f"2 {tree}") for tree in (
            "0 -1 2 -2 -3", "1 -1 2 1 -3", "1 -1 2 -1 -3", "1 -1 2 -2 -2", "1 -1 2 -2 -4", "-1 -2 2 -3 1",
            "1 1 2 -2 -3", "-1 1 2 -2 -3", "2 -1 2 -2 -3")]),
    "a mask, and scales": (
        "H head 1 1 2 euclidean identity masked_max 1 2 0 1 linear 1 1 1 0 none none 1 2 1 1 1 0 2 0 0 1 1 1 1 0",
        [*(("masked_max 1 2 0 1", f"masked_max {mask}") for mask in ("1 2 0 0", "1 2 0 2", "1 2 1 -1", "1 0")),
         ("2 0 0 1 1 1 1 0", "2 0 0 1 1 0 1 0"), ("2 0 0 1 1 1 1 0", "2 0 0 1 1 -1 1 0")]),
    "numbers": (
        "H head 1 1 2 softmax identity top_mean 1 linear 1 0 none none 1 2 1 1 1 0 2 0 0 1 0 1 0",
        [*(("head 1 1 2", f"head {sizes}") for sizes in ("2 1 2", "0 1 2", "1 0 2", "1 1 0")),
         ("top_mean 1", "top_mean 0")]),
    "what fits no tensors": (
        small()[0],
        [("head 2 2 2 ", "head 1 2 2 "), ("head 2 2 2 ", "head 2 3 2 "), ("head 2 2 2 ", "head 2 2 3 "),
         ("2 2 2 euclidean", "2 2 2 softmax"), (" soft_tree 2 1 -1 2 -2 -3 ", " linear ")]),
}  # fmt: skip
OF_THE_HEAD = (
    (1, [("certificate 0 14 ", "certificate 2 14 "), ("0 14 4 ", "0 14 0 "), ("0 14 4 ", "0 14 -4 "),
         ("activation 1 ", "activation 2 "), ("activation 1 ", "patch 14 1 "), ("others 2 0 1 ", "others 2 0 2 ")]),
    (2, [(" 3ff0", " ff0"), (" 3ff0", " 3ff0000000000000"), ("3ff0", "7ff0"), ("3ff0", "7ff8"), ("3ff0", "fff0"),
         (" 3ff0", " 3FF0"), ("image 2 ", "image 3 "), ("image 2 ", "image 1 ")]),
    (3, [("2 0 4 2 0 3", "2 2 4 2 0 3"), ("2 0 4 2 0 3", "2 0 4 1 3")]),
)  # fmt: skip
"""By the number of one of the small texts what of it does not fit the head."""


def test_heads_that_are_none_are_refused_and_what_does_not_fit_a_head(show) -> None:
    """What certificates/v1.md requires of a head's numbers."""
    for name, (right, changes) in HEADS.items():
        with case(name):
            wrong = [right.replace(*change, 1) for change in changes]
            assert right not in wrong
            accepted, *refused = show([right, *wrong])
            assert not isinstance(accepted, str) and all(isinstance(shown, str) for shown in refused)
    head, *others = small()
    for number, changes in OF_THE_HEAD:
        text = others[number - 1]
        wrong = [text.replace(*change, 1) for change in changes]
        assert text not in wrong
        answers = show([head, *wrong])[1:]
        assert [line for line, shown in zip(wrong, answers, strict=True) if not isinstance(shown, str)] == []


def test_floats_of_every_size(show) -> None:
    """Subnormal numbers and the least normal one, those with few and with many digits, both zeros."""
    least, most = 2.0**-1074, 1.7976931348623157e308
    sizes = [least, 3 * least, 2.0**-1022 - least, 2.0**-1022, 0.1, 1.0, 2.0**53 - 1, most]
    pairs = [[value, -value] for value in [0.0, *sizes]]
    shown = show([small()[0], *(line_of("I", text_of_image([pair])) for pair in pairs)])[1:]
    assert [over(each["image_unit"], each["rows"]) for each in shown] == [[list(map(Fraction, pair))] for pair in pairs]


def test_an_image_ends_with_its_line(show) -> None:
    """What comes after it is not looked at: it may be the next question."""
    head, _, image, _ = small()
    first, _, _ = image.rpartition(" ")
    assert show([head, first])[1] == "error: expected another item, found the end of the line"


@pytest.mark.parametrize("patches", [2**20, 2**20 + 1])
def test_naturals_have_a_limit(patches, show) -> None:
    head, certificate, *_ = small()
    shown = show([head, certificate.replace(" 0 14 ", f" 0 {patches:x} ")])[1]
    assert (shown == "error: a number is more than 1048576") == (patches > 2**20)


# The OCaml reader of networks and pictures: what it accepts is what the text says; what does not fit is refused.


def seen_again(shown: Any) -> str:
    """The text of what was read."""
    if isinstance(shown, list):  # a picture
        return f"V picture {bytes(shown).hex()}"
    words = ["network", *shown["shape"]]
    for name in ("mean", "std"):
        words += [len(shown[name]), *flat(shown[name])]
    words.append(len(shown["layers"]))
    for layer in shown["layers"]:
        kind, *fields = layer["does"]
        words += [len(layer["inputs"]), *layer["inputs"], kind]
        if kind in ("conv2d", "linear"):
            *before, weights, biases = fields
            words += [*flat(before), len(weights)]
            words += [item for row in [*weights, biases] for item in (len(row), *row)]
        else:
            words += flat(fields)
    return "N " + " ".join(word if isinstance(word, str) else f"{word:x}" for word in words)


def flat(value: Any) -> list[Any]:
    return [each for part in value for each in flat(part)] if isinstance(value, list) else [value]


SMALL = (
    "N network 1 2 3 1 1 4 1 1 2 d"  # mean 1/4, std 1/2, picture (1, 2, 3)
    " 1 0 conv2d 1 2 1 1 0 1 1 1 1 4 2 2 1 -2 2 3 4 2 5 -6"  # 1: (2, 2, 4)
    " 2 1 1 add"  # 2
    " 2 1 2 concat"  # 3: (4, 2, 4)
    " 1 3 max_pool2d 2 2 2 2 1 0 1 1"  # 4: (4, 2, 2)
    " 1 4 upsample_nearest 1 2"  # 5: (4, 2, 4)
    " 2 5 3 add"  # 6
    " 1 6 leaky_relu 1 8"  # 7
    " 1 7 avg_pool2d 2 4 1 1 0 0 1 1"  # 8: (4, 1, 1)
    " 2 7 8 multiply"  # 9: (4, 2, 4)
    " 1 9 clamp -1 2 3 4"  # a
    " 1 a inverse_root"  # b
    " 1 b flatten"  # c: (32)
    " 1 c linear 1 1 20" + " 1" * 32 + " 1 -3"
)
PICTURE = "V picture 0001027f80ff"


@pytest.mark.parametrize("network", of_program(12), ids=range(12))
def test_drawn_networks_are_read_as_they_are(network: Drawn, show) -> None:
    picture = random.Random(0).randbytes(prod(network.shape))
    lines = [line_of("N", text_of_network(network.file())), line_of("V", text_of_picture(picture))]
    assert [seen_again(each) for each in show(lines)] == lines


ONE = "N network 1 4 4 1 0 1 1 1 1 1 1 0 "
"""One layer that reads a picture (1, 4, 4)."""
TWO = "N network 3 4 4 3 0 1 0 1 0 1 3 1 1 1 1 1 1 2 1 0 flatten "


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("conv2d 2 2 1 1 0 0 1 1 1 1 1 4 1 1 1 1 1 0", [
            "conv2d 2 2 1 1 0 0 1 1 2 1 1 4 1 1 1 1 1 0", "conv2d 0 2 1 1 0 0 1 1 1 1 1 4 1 1 1 1 1 0",
            "conv2d 2 2 0 1 0 0 1 1 1 1 1 4 1 1 1 1 1 0", "conv2d 2 2 1 1 -1 0 1 1 1 1 1 4 1 1 1 1 1 0",
            "conv2d 2 2 1 1 0 0 0 1 1 1 1 4 1 1 1 1 1 0", "conv2d 2 2 1 1 0 0 1 1 0 1 1 4 1 1 1 1 1 0",
            "conv2d 2 2 1 1 0 0 1 1 1 0 1 4 1 1 1 1 1 0", "conv2d 2 2 1 1 0 0 1 1 1 1 1 3 1 1 1 1 0",
            "conv2d 2 2 1 1 0 0 1 1 1 1 1 4 1 1 1 1 2 0 0", "conv2d 2 2 1 1 0 0 1 1 1 1 1 4 1 1 1 1 0",
            "conv2d 2 2 1 1 0 0 1 1 1 1 0 0", "conv2d 5 2 1 1 0 0 1 1 1 1 1 a 1 1 1 1 1 1 1 1 1 1 1 0",
            "conv2d 2 2 1 1 0 0 4 1 1 1 1 4 1 1 1 1 1 0"]),
        ("max_pool2d 2 2 1 1 1 1 1 1", ["max_pool2d 2 2 1 1 2 1 1 1", "max_pool2d 2 2 1 1 1 2 1 1",
            "max_pool2d 2 2 1 1 1 1 2 1", "max_pool2d 2 2 1 1 1 1 1 2", "avg_pool2d 7 7 1 1 1 1 1 1",
            "avg_pool2d 2 1 1 1 1 1 1 1"]),
        ("clamp -1 2 3 4", ["clamp 3 4 -1 2", "clamp 1 2 1 3", "clamp 0 0 1 1", "clamp 1 1"]),
        ("leaky_relu 1 2", ["leaky_relu 3 2", "leaky_relu -1 2", "leaky_relu 1 0"]),
        ("upsample_nearest 1 1", ["upsample_nearest 0 1", "upsample_nearest 1 0", "upsample_nearest 1001 1",
            "upsample_nearest 1000 1000"]),
        ("flatten", ["linear 1 1 1 0 1 0", "linear 1 1 10" + " 0" * 16 + " 1 0", "add", "concat", "softmax"]),
    ],
    ids=["conv2d", "pooling", "ends", "slope", "scale", "kinds"],
)  # fmt: skip
def test_layers_that_do_not_fit_are_refused(right: str, wrong: list[str], show) -> None:
    (accepted,) = show([ONE + right])
    assert not isinstance(accepted, str) and seen_again(accepted) == ONE + right
    assert [each for each, shown in zip(wrong, show([ONE + each for each in wrong]), strict=True)
            if not isinstance(shown, str)] == []  # fmt: skip


OF_FOUR = "N network 4 1 1 4 0 1 0 1 0 1 0 1 4 1 1 1 1 1 1 1 1 1 1 0 conv2d 1 1 1 1 0 0 1 1 "
POOLED = "N network 1 4 4 1 0 1 1 1 1 2 1 0 max_pool2d "
OF_THREE = "N network 3 1 1 3 0 1 0 1 0 1 3 1 1 1 1 1 1 2 1 0 conv2d 1 1 1 1 0 0 1 1 1 1 "
ROWS = [f"{count:x} {'3 1 1 1 ' * count}{count:x}{' 0' * count} 2 0 1 multiply" for count in (1, 2, 3)]


@pytest.mark.parametrize(
    ("start", "right", "wrong"),
    [
        (OF_FOUR, ["2 1 2 2 1 1 2 1 1 2 0 0", "4 1 4 1 1 1 1 1 1 1 1 4 0 0 0 0"],
         ["3 1 3 1 1 1 1 1 1 3 0 0 0", "2 1 3 2 1 1 2 1 1 2 1 1 3 0 0 0", "2 1 2 4 1 1 1 1 4 1 1 1 1 2 0 0"]),
        (POOLED, ["1 1 1 1 0 0 1 1 2 0 1 concat"], [f"{kernel} 1 1 0 0 1 1 2 0 1 concat" for kernel in ("1 2", "2 1")]),
        # (1, 4, 4) times what windows make of it: (1, 1, 1), (1, 4, 1), (1, 1, 4); (1, 2, 2) and (1, 2, 1) are none.
        (POOLED, [f"{kernel} 1 1 0 0 1 1 2 0 1 multiply" for kernel in ("4 4", "1 4", "4 1")],
         [*(f"{kernel} 1 1 0 0 1 1 2 0 1 multiply" for kernel in ("3 3", "3 4")),
          *(f"4 4 1 1 0 0 1 1 {read} multiply" for read in ("2 1 0", "1 0", "3 0 1 1"))]),
        (OF_THREE, [ROWS[0], ROWS[2]], [ROWS[1]]),
        (TWO, ["2 1 1 add", "2 1 1 concat", "1 0 relu"],
         ["2 0 1 add", "2 0 1 concat", "1 2 relu", "2 1 1 relu", "1 1 add", "0 relu", "0 add"]),
        ("N network ", [TWO.removeprefix("N network ") + "1 0 relu"],
         [*(TWO.removeprefix("N network ").replace("3 1 1 1 1 1 1 2", f"3 1 1 {std} 1 1 1 2") + "1 0 relu"
            for std in ("0", "-1")),
          "1 1 1 1 0 1 1 1 1 0", "1 1 1 1 0 1 1 1 1 1001" + " 1 0 relu" * 4097,
          "3 ffffff 1 3 0 1 0 1 0 1 3 1 1 1 1 1 1 1 1 0 relu"]),
    ],
    ids=["groups", "joined", "repeated", "repeated channels", "inputs", "sizes"],
)  # fmt: skip
def test_layers_fit_what_they_read(start: str, right: list[str], wrong: list[str], show) -> None:
    """Groups divide channels and rows; what is joined has the same rows and columns; what is repeated by a product has
    the same extents or 1; inputs are earlier ones and of one shape."""
    answers = show([start + each for each in (*right, *wrong)])
    assert [isinstance(shown, str) for shown in answers] == [False] * len(right) + [True] * len(wrong)


def test_a_picture_has_the_network_s_bytes(show) -> None:
    answers = show([PICTURE, SMALL, PICTURE, PICTURE + "00", PICTURE[:-2], PICTURE[:-1], PICTURE.upper(), "V picture"])
    assert [isinstance(shown, str) for shown in answers] == [True, False, False, True, True, True, True, True]
