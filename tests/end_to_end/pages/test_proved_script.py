"""The proved checker as JavaScript: its integers against Python's, in a real browser; and that it is what is built."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from verale.checker.proved.program import SCRIPT

ROCQ = Path(__file__).parents[3] / "proofs" / "rocq"
ZARITH = ROCQ / "front" / "zarith.js"
BUILT_WITH = ("4.13.1", "4.0.0")
"""OCaml and js_of_ocaml, as Debian 12 has them: others give other bytes."""
RUNTIME = """
const caml_raise_zero_divide = () => { throw "division by zero"; };
const caml_invalid_argument = (why) => { throw "invalid: " + why; };
const caml_raise_constant = (tag) => { throw tag; };
const caml_named_value = (name) => name;
const caml_jsbytes_of_string = (text) => text;
const caml_string_of_jsbytes = (text) => text;
"""
SHOW = """
// Integers come and go as decimals; one that is not in its only form is marked.
function shown(value) {
  if (Array.isArray(value)) return value.map(shown).join(" ");
  const small = -2147483648 <= value && value <= 2147483647;
  return (typeof value === (small ? "number" : "bigint") ? "" : "form ") + value;
}
// What a primitive gives for each list of arguments: "i" marks an integer, "n" an OCaml int, "s" a string.
const read = { i: (text) => verale_integer(BigInt(text)), n: Number, s: String };
function results(name, kinds, cases) {
  const primitive = eval(name);
  return cases.map((values) => {
    const given = values.map((value, at) => read[kinds[at]](value));
    try {
      const value = primitive(...given);
      return typeof value === "string" ? value : shown(value);
    } catch (error) {
      return "raises " + (typeof error === "string" ? error : error.message);
    }
  });
}
"""


@pytest.fixture(scope="module")
def tab(chromium) -> Page:
    tab = chromium.new_page()
    tab.add_script_tag(content=RUNTIME + ZARITH.read_text() + SHOW)
    return tab


def integers() -> list[int]:
    """Around every power of two that some representation ends at, of either sign; and of many sizes."""
    near = [2**bits + off for bits in (30, 31, 32, 52, 53, 62, 63, 64, 127, 1024) for off in (-1, 0, 1)]
    generator = random.Random(5)
    near += [generator.getrandbits(bits) for bits in (5, 16, 31, 33, 48, 54, 63, 65, 200, 3000)]
    return [0, 1, -1, 2, -2, 3, -3, *near, *(-value for value in near)]


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


PAIRS = [(a, b) for a in integers() for b in integers()]
ZERO = "raises division by zero"
ARITHMETIC: dict[str, dict[tuple[Any, ...], object]] = {
    **{
        name: {(a,): of(a) for a in integers()}
        for name, of in {
            "neg": lambda a: -a,
            "abs": abs,
            "succ": lambda a: a + 1,
            "pred": lambda a: a - 1,
            "sign": lambda a: (a > 0) - (a < 0),
            "numbits": lambda a: abs(a).bit_length(),
            "to_int": lambda a: a if -(2**31) <= a < 2**31 else "raises ml_z_overflow",
        }.items()
    },
    **{
        name: {pair: of(*pair) for pair in PAIRS}
        for name, of in {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul": lambda a, b: a * b,
            "compare": lambda a, b: (a > b) - (a < b),
            "equal": lambda a, b: int(a == b),
            "div": lambda a, b: toward_zero(a, b) if b else ZERO,
            "rem": lambda a, b: a - b * toward_zero(a, b) if b else ZERO,
            "div_rem": lambda a, b: f"0 {toward_zero(a, b)} {a - b * toward_zero(a, b)}" if b else ZERO,
            "fdiv": lambda a, b: a // b if b else ZERO,
            "cdiv": lambda a, b: -(-a // b) if b else ZERO,
        }.items()
    },
    "mul_overflows": {
        (a, b): 0 if -(2**31) <= a * b < 2**31 else 1 for a, b in PAIRS if -(2**31) <= min(a, b) <= max(a, b) < 2**31
    },
}
"""Of primitives of integers alone what each gives for some arguments."""


PLACES = (0, 1, 2, 29, 30, 31, 32, 33, 63, 64, 1000, 4000)
RANGES = [(start, size) for start in (0, 1, 31, 32, 64, 1000) for size in (1, 30, 31, 32, 33, 64, 500)]
SQUARES = [value**2 + off for value in integers() if value > 1 for off in (-1, 0, 1)]
NONE = ("", "-", "--1", "+1", "1 ", " 1", "0x1", "1_0", "g", "1.5", "1n", "\u0661", "1\n")
OF = "raises invalid: Z.of_substring_base: "
CASES: list[tuple[str, str, dict[tuple[Any, ...], object]]] = [
    *((name, "i" * len(next(iter(cases))), cases) for name, cases in ARITHMETIC.items()),
    ("sqrt", "i", {(a,): math.isqrt(a) if a >= 0 else "raises invalid: Z.sqrt: square root of a negative number"
                   for a in (*integers(), *SQUARES)}),
    ("shift_left", "in", {(a, n): a << n for a in integers() for n in PLACES}),
    ("shift_right", "in", {(a, n): a >> n for a in integers() for n in PLACES}),
    *((name, "in", {(1, -1): f"raises invalid: Z.{name}: count argument must be positive"})
      for name in ("shift_left", "shift_right")),
    ("extract", "inn", {(a, *at): (a >> at[0]) & ((1 << at[1]) - 1) for a in integers() for at in RANGES}),
    ("extract", "inn", {(5, *at): "raises invalid: Z.extract: invalid bit range" for at in ((-1, 1), (0, 0), (0, -1))}),
    ("format", "si", {(f"%{digits}", a): f"{a:{digits}}" for digits in "xd" for a in integers()}),
    ("format", "si", {("%o", 8): "raises invalid: Z.format: the format must be %d or %x"}),
    *(("of_substring_base", "nsnn", {(base, f"ab{a:{digits}}c", 2, len(f"{a:{digits}}")): a for a in integers()})
      for base, digits in ((16, "x"), (10, "d"), (0, "d"))),
    *(("of_substring_base", "nsnn", {(base, text, 0, len(text)): f"{OF}invalid digit" for text in NONE})
      for base in (10, 16)),
    ("of_substring_base", "nsnn",
     {(16, "123", at, n): f"{OF}invalid offset or length" for at, n in ((-1, 2), (0, 4), (3, 1), (1, -1))}),
    ("of_substring_base", "nsnn", {(8, "123", 0, 3): f"{OF}base must be 10 or 16"}),
]  # fmt: skip
"""A primitive, the kinds of its arguments, and what it gives for some."""


def test_primitives_give_what_python_does(tab):
    for name, kinds, expected in CASES:
        cases = [[str(value) for value in values] for values in expected]
        given = json.dumps([f"ml_z_{name}", kinds, cases])  # one text: each value that a page is given takes its time
        said = json.loads(tab.evaluate("(given) => JSON.stringify(results(...JSON.parse(given)))", given))
        wrong = [(*each, got) for each, got in zip(expected.items(), said, strict=True) if str(each[1]) != got]
        assert wrong == [], name


def test_every_primitive_is_tested():
    """Those of zarith.js."""
    tested = {name for name, *_ in CASES}
    provided = set(re.findall(r"^//Provides: ml_z_(\w+)$", ZARITH.read_text(), re.MULTILINE))
    assert provided == tested | {"init"}, "init does nothing"


def version_of(tool: str, option: str) -> str:
    return subprocess.run([tool, option], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.long  # js_of_ocaml runs for it
def test_the_script_is_what_its_sources_give(tmp_path):
    """It is built again, where that is possible."""
    if not all(map(shutil.which, ("js_of_ocaml", "ocamlfind", "ocamlc", "make"))):
        pytest.skip("the script is not built here, which takes js_of_ocaml (Debian: js-of-ocaml libzarith-ocaml-dev)")
    versions = version_of("ocamlc", "-version"), version_of("js_of_ocaml", "--version")
    if versions != BUILT_WITH:
        pytest.skip(f"the script is built with OCaml and js_of_ocaml {BUILT_WITH}, and here are {versions}")
    built = tmp_path / "verale-proved.js"
    made = subprocess.run(
        ["make", "--directory", str(ROCQ), f"BUILD={tmp_path}", f"JAVASCRIPT={built}", "javascript"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert made.returncode == 0, made.stderr
    assert built.read_bytes() == SCRIPT.read_bytes(), "build it: make -C proofs/rocq javascript"
