"""The OCaml reader of networks and pictures: what it accepts is what the text says; what does not fit is refused."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest
from support.independent_text import text_of_network, text_of_picture
from support.network_truth import Drawn, of_program
from support.proved import build

Show = Callable[[list[str]], list[Any]]


@pytest.fixture(scope="module")
def show(built: Path) -> Show:
    """What the reader makes of lines: the fields, or an error as a text."""
    program = str(build(built, "show"))

    def shown(lines: list[str]) -> list[Any]:
        given = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        result = subprocess.run([program], input=given, capture_output=True, timeout=300, check=True)
        said = result.stdout.decode().splitlines()
        assert len(said) == len(lines)
        return [line if line.startswith("error: ") else json.loads(line) for line in said]

    return shown


def again(shown: Any) -> str:
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


def test_small_texts_are_read(show) -> None:
    assert [again(each) for each in show([SMALL, PICTURE])] == [SMALL, PICTURE]


@pytest.mark.parametrize("network", of_program(12), ids=range(12))
def test_what_is_accepted_is_what_the_text_says(network: Drawn, show) -> None:
    picture = random.Random(0).randbytes(prod(network.shape))
    lines = [f"N {text_of_network(network.file()).decode().strip()}", f"V {text_of_picture(picture).decode().strip()}"]
    assert [again(each) for each in show(lines)] == lines


@pytest.mark.parametrize("which", range(2), ids=["network", "picture"])
def test_changed_texts_are_refused_or_say_what_was_changed(which, show) -> None:
    """Nothing is guessed, skipped or filled in: what is accepted is written again as it came, byte by byte."""
    generator = random.Random(which)
    line = (SMALL, PICTURE)[which]
    words = line.split(" ")
    changed = {
        *(" ".join(words[:at] + words[at + 1 :]) for at in range(1, len(words))),
        *(" ".join([*words[:at], words[at], *words[at:]]) for at in range(1, len(words))),
        *(
            " ".join([*words[:at], word, *words[at + 1 :]])
            for at in range(1, len(words))
            for word in ("", "0", "1", "2", "7", "-1", "-0", "00", "01", "+1", "A", "0x1", "relu", "none", "1000",
                         "1001", "100000", "100001", "f" * 1025, "é")
        ),
        *(line[:at] for at in range(3, len(line))),
        *(line[:at] + generator.choice(" 0-9afz\t\0") + line[at:] for at in range(2, len(line) + 1)),
        *(line[:at] + generator.choice(" 0-9afz\t\0") + line[at + 1 :] for at in range(2, len(line))),
        line + " ", line + " 0", line.upper(), line.replace(" ", "  "),
    } - {line}  # fmt: skip
    ordered = sorted(changed)
    answers = show([SMALL, *ordered])[1:]
    accepted = [(one, shown) for one, shown in zip(ordered, answers, strict=True) if not isinstance(shown, str)]
    assert [one for one, shown in accepted if again(shown) != one] == []
    assert 0 < len(accepted) < len(ordered) / 2


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
    assert not isinstance(accepted, str) and again(accepted) == ONE + right
    assert [each for each, shown in zip(wrong, show([ONE + each for each in wrong]), strict=True)
            if not isinstance(shown, str)] == []  # fmt: skip


def test_groups_divide_channels_and_rows(show) -> None:
    """Of four channels."""
    start = "N network 4 1 1 4 0 1 0 1 0 1 0 1 4 1 1 1 1 1 1 1 1 1 1 0 conv2d 1 1 1 1 0 0 1 1 "
    right = ["2 1 2 2 1 1 2 1 1 2 0 0", "4 1 4 1 1 1 1 1 1 1 1 4 0 0 0 0"]
    wrong = ["3 1 3 1 1 1 1 1 1 3 0 0 0", "2 1 3 2 1 1 2 1 1 2 1 1 3 0 0 0", "2 1 2 4 1 1 1 1 4 1 1 1 1 2 0 0"]
    answers = show([start + each for each in (*right, *wrong)])
    assert [isinstance(shown, str) for shown in answers] == [False, False, True, True, True]


def test_what_is_joined_has_the_same_rows_and_columns(show) -> None:
    """Of (1, 4, 4) and of that by kernels of two columns, and of two rows."""
    start = "N network 1 4 4 1 0 1 1 1 1 2 1 0 max_pool2d "
    lines = [f"{start}{kernel} 1 1 0 0 1 1 2 0 1 concat" for kernel in ("1 1", "1 2", "2 1")]
    assert [isinstance(shown, str) for shown in show(lines)] == [False, True, True]


def test_what_is_repeated_by_a_product_has_the_same_extents_or_1(show) -> None:
    """Of (1, 4, 4) times what windows make of it: (1, 1, 1), (1, 4, 1), (1, 1, 4); (1, 2, 2) and (1, 2, 1) are none."""
    start = "N network 1 4 4 1 0 1 1 1 1 2 1 0 max_pool2d "
    lines = [f"{start}{kernel} 1 1 0 0 1 1 2 0 1 multiply" for kernel in ("4 4", "1 4", "4 1", "3 3", "3 4")]
    lines += [f"{start}4 4 1 1 0 0 1 1 {read} multiply" for read in ("2 1 0", "1 0", "3 0 1 1")]
    assert [isinstance(shown, str) for shown in show(lines)] == [False] * 3 + [True] * 5
    channels = "N network 3 1 1 3 0 1 0 1 0 1 3 1 1 1 1 1 1 2 1 0 conv2d 1 1 1 1 0 0 1 1 1 1 "
    rows = [f"{count:x} {'3 1 1 1 ' * count}{count:x}{' 0' * count} 2 0 1 multiply" for count in (1, 2, 3)]
    assert [isinstance(shown, str) for shown in show([channels + row for row in rows])] == [False, True, False]


def test_inputs_have_to_be_earlier_and_of_one_shape(show) -> None:
    right = [TWO + "2 1 1 add", TWO + "2 1 1 concat", TWO + "1 0 relu"]
    wrong = [
        *(TWO + each for each in ("2 0 1 add", "2 0 1 concat", "1 2 relu", "2 1 1 relu", "1 1 add", "0 relu", "0 add")),
        TWO.replace("3 1 1 1 1 1 1 2", "3 1 1 0 1 1 1 2") + "1 0 relu",
        TWO.replace("3 1 1 1 1 1 1 2", "3 1 1 -1 1 1 1 2") + "1 0 relu",
        "N network 1 1 1 1 0 1 1 1 1 0",
        "N network 1 1 1 1 0 1 1 1 1 1001" + " 1 0 relu" * 4097,
        "N network 3 ffffff 1 3 0 1 0 1 0 1 3 1 1 1 1 1 1 1 1 0 relu",
    ]
    answers = show([*right, *wrong])
    assert all(not isinstance(shown, str) for shown in answers[: len(right)])
    assert all(isinstance(shown, str) for shown in answers[len(right) :])


def test_a_picture_has_the_network_s_bytes(show) -> None:
    answers = show([PICTURE, SMALL, PICTURE, PICTURE + "00", PICTURE[:-2], PICTURE[:-1], PICTURE.upper(), "V picture"])
    assert [isinstance(shown, str) for shown in answers] == [True, False, False, True, True, True, True, True]
