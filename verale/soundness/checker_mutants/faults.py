"""Copies of the checker with one fault planted in each, and the small properties that catch what the corpora do not.

A copy is compiled from the changed source under a name of its own; the true package is never touched.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.machinery import ModuleSpec
from itertools import permutations, product
from math import inf, isqrt, nextafter
from pathlib import Path
from types import ModuleType
from typing import Any

import flint

import verale.checker
from verale.soundness.corpus.accept.recipes import COUNT, PATCHES, draw_head, draw_image, recipes
from verale.soundness.corpus.cases import Case, stored
from verale.soundness.extremes import (
    Import,
    attained,
    coarse_ranges,
    holds,
    next_to_the_grid,
    one_way,
    poor_multipliers,
    true_ends,
)
from verale.soundness.independent import files as hm
from verale.soundness.independent import head as ref

CHECKER = Path(verale.checker.__file__).parent


@dataclass(frozen=True)
class Fault:
    """`old`, which the file holds once, replaced by `new`; `wrong` says what that is."""

    file: str
    wrong: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}: {self.wrong}"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, name: str, fault: Fault | None) -> None:
        self._name, self._fault = name, fault

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.split(".")[0] != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=_file(fullname).name == "__init__.py")

    def exec_module(self, module: ModuleType) -> None:
        exec(_code(_file(module.__name__), self._fault), module.__dict__)


def _file(fullname: str) -> Path:
    place = CHECKER.joinpath(*fullname.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _code(file: Path, fault: Fault | None) -> Any:
    if fault is None or file != CHECKER / fault.file:
        return _true_code(file)
    source = file.read_text()
    if source.count(fault.old) != 1:
        raise ValueError(f"{fault}: {fault.old!r} is there {source.count(fault.old)} times, expected once")
    return compile(source.replace(fault.old, fault.new), str(file), "exec")


@cache
def _true_code(file: Path) -> Any:
    return compile(file.read_text(), str(file), "exec")


@contextmanager
def planted(fault: Fault | None) -> Iterator[Import]:
    """A copy of the checker with the fault: what imports a module of it, "" for the package."""
    name = "planted"
    finder = _Finder(name, fault)
    sys.meta_path.insert(0, finder)
    try:
        yield lambda module: importlib.import_module(f"{name}.{module}" if module else name)
    finally:
        sys.meta_path.remove(finder)
        for loaded in [each for each in sys.modules if each.split(".")[0] == name]:
            del sys.modules[loaded]


def caught(fault: Fault | None) -> str | None:
    """What catches the fault: the name of a case or a property; None where nothing does. Whatever is raised catches."""
    kernel = "mpmath" if fault is not None and "mpmath" in fault.file else "arb"
    with planted(fault) as module, flint.ctx.workprec(ref.PRECISION):
        for name, check in CHECKS:
            try:
                found = check(module, kernel)
            except Exception as error:
                return f"{name}: {type(error).__name__}"
            if found:
                return f"{name}: {found}"
    return None


def _corpora(module: Import, kernel: str) -> str:
    """Every case gets its verdict."""
    checker = module("")
    for case in _cases():
        # The copy has errors of its own, which `judged` does not know.
        try:
            verdict = checker.Auditor(case.head, case.latents, kernel).check(case.certificate, minimality=True)
            found = verdict.status.value, verdict.reason
        except checker.HeadError:
            found = "INPUT_ERROR", "head"
        except checker.LatentsError:
            found = "INPUT_ERROR", "latents"
        if found != (case.status, case.reason):
            return case.name
    return ""


@cache
def _cases() -> list[Case]:
    """What tells most first: what is accepted, with its margins raised, then all other attacks."""
    return sorted(stored(), key=lambda case: (case.name.startswith("malformed"), "margin-raised" in case.name))


# Properties. Each returns what it found wrong, "" for nothing.


def _numbers(module: Import, kernel: str) -> str:
    """Rounding of integers, roots, hex floats."""
    dyadic = module("dyadic")
    generator = random.Random(1)
    for _ in range(60):
        value = Fraction(generator.randrange(-99, 99), generator.choice((1, 3, 8, 64)))
        bits = generator.randrange(5)
        low, high = dyadic.floor_at(value, bits), dyadic.ceil_at(value, bits)
        if not (Fraction(low, 1 << bits) <= value < Fraction(low + 1, 1 << bits)):
            return "floor_at"
        if not (Fraction(high - 1, 1 << bits) < value <= Fraction(high, 1 << bits)):
            return "ceil_at"
        number, places = generator.randrange(-99, 99), generator.randrange(-4, 4)
        exact = Fraction(number) * Fraction(2) ** places
        if not exact - 1 < dyadic.floor_shift(number, places) <= exact <= dyadic.ceil_shift(number, places) < exact + 1:
            return "shift"
        low, high = dyadic.sqrt_ends(abs(number))
        if not (low * low <= abs(number) <= high * high and high - low == (low * low != abs(number))):
            return "sqrt_ends"
        x = generator.choice((1.0, -1.0)) * generator.choice(
            (2.0**-1074, nextafter(inf, 0.0), generator.random(), 0.0, 3e-310)
        )
        if dyadic.hex_float(x.hex()) != Fraction(x):
            return "hex_float"
        rows = [generator.choice((0.375, -(2.0**-1074), 1e300, float(number))) for _ in range(4)]
        found = dyadic.exact(rows, 2)
        if [Fraction(entry, 1 << found.bits) for row in found.rows for entry in row] != list(map(Fraction, rows)):
            return "exact"
    for text in ("0x1p+1024", "0x1.8p-1074", "0x1p-1075", "1.0", "0x2p+0"):
        if dyadic.hex_float(text) is not None:
            return f"hex_float {text}"
    return ""


def _transcendentals(module: Import, kernel: str) -> str:
    """log, exp and sums of exp enclose, with few bits and a small guard."""
    generator = random.Random(2)
    for guard in (4, 32):
        implementation = module(f"kernel.{kernel}_kernel")
        implementation._GUARD_BITS = guard
        own = module("kernel").load_kernel(kernel)
        for _ in range(150):
            bits = generator.choice((0, 1, 2, 3, 5, 12, 40))
            n, d = (generator.randrange(1, 1 << generator.choice((3, 9, 60))) for _ in range(2))
            mantissa, exponent = generator.randrange(-99, 40), generator.choice((-70, -9, -5, -4, -3))
            many = [-generator.randrange(60) for _ in range(4)]
            for found, truth in (
                (own.log(n, d, bits), flint.arb(flint.fmpq(n, d)).log()),
                (own.exp(mantissa, exponent, bits), _ball(mantissa, exponent).exp()),
                (own.exp_sum(many, -3, bits), sum((_ball(m, -3).exp() for m in many), flint.arb(0))),
            ):
                low, high = (flint.arb(int(end)) / 2**bits for end in found)
                if truth < low or truth > high:
                    return f"{bits} bits, guard {guard}"
            if own.isqrt(n) != isqrt(n):
                return "isqrt"
            if own.exp(0, 0, bits) != (1 << bits, 1 << bits):
                return "exp(0)"
            low, high = own.log(n, d, 40)
            if guard == 32 and high - low > 8:
                return "log is wide"
    implementation._GUARD_BITS = 32
    return ""


def _ball(mantissa: int, exponent: int) -> Any:
    return flint.arb((flint.fmpz(mantissa), flint.fmpz(exponent)))


def _matching(module: Import, kernel: str) -> str:
    """The heaviest matching is as heavy as the best of all."""
    heaviest = module("rules.matching").heaviest_matching
    generator = random.Random(3)
    for _ in range(80):
        rows, columns = generator.randrange(1, 6), generator.randrange(1, 6)
        weights = [[generator.randrange(9) for _ in range(columns)] for _ in range(rows)]
        pairs = heaviest(weights)
        if len({row for row, _ in pairs}) != len(pairs) or len({column for _, column in pairs}) != len(pairs):
            return "no matching"
        padded = [[weights[i][j] if i < rows and j < columns else 0 for j in range(5)] for i in range(5)]
        best = max(sum(padded[i][j] for i, j in enumerate(order)) for order in permutations(range(5)))
        if sum(weights[row][column] for row, column in pairs) != best:
            return "not the heaviest"
    return ""


@dataclass(frozen=True)
class Trial:
    """A head, latents, statements true of them, and the truth in rational ends."""

    data: bytes
    image: hm.Matrix
    statements: list[tuple[int, int, Fraction, Fraction]]
    observables: list[list[tuple[Fraction, Fraction]]]
    activations: list[tuple[Fraction, Fraction]]
    logits: list[list[tuple[Fraction, Fraction]]]
    pooled: list[tuple[int, Fraction, Fraction]]


@cache
def _trials() -> list[Trial]:
    """Heads of every part; one observable in three is stated, by intervals narrow and wide."""
    found = []
    with flint.ctx.workprec(ref.PRECISION):
        for number, recipe in enumerate(recipes()):
            generator = random.Random(f"trial {recipe.name}")
            for trial in range(12 if recipe.paradigm == "assignment" else 4):
                head = draw_head(recipe, generator)
                if recipe.similarity == "threshold":
                    head.parts["similarity"] = {"kind": "threshold", "threshold": generator.choice((0.3, 0.17)).hex()}
                image = _drawn(head, generator, trial)
                activations = [head.activation(image, j) for j in range(COUNT)]
                logits = head.logits(activations)
                observables = [[ref.ends(head.observable(z, j)) for j in range(COUNT)] for z in image]
                stated = []
                for patch, j in generator.sample(list(product(range(PATCHES), range(COUNT))), (number + 3 * trial) % 8):
                    stated.append((patch, j, *_around(observables[patch][j], generator, trial == 2)))
                pooled = [(j, *_around(ref.ends(activations[j]), generator)) for j in range(0, COUNT, 2)]
                differences = [[ref.ends(ref.ball(one - other)) for other in logits] for one in logits]
                found.append(
                    Trial(head.data, image, stated, observables, list(map(ref.ends, activations)), differences, pooled)
                )
    return found


def _drawn(head: ref.Made, generator: random.Random, trial: int) -> hm.Matrix:
    """Latents in the domain, one of them on an axis, one at the corner of the domain that lies against a prototype."""
    image = draw_image(head, generator)
    low, high = (None if end is None else float.fromhex(end) for end in head.part("domain").values())
    if trial == 3 and "cosine" in head.part("geometry")["kind"]:
        return [[float(generator.randrange(1, 4)), 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 2.0, 1.0]]
    if head.prototypes and trial % 2:
        image[0] = [0.5, 0.0, 0.0]
        if low is not None and high is not None and head.part("geometry").get("radius") is None:
            image[2] = [low if 2 * x > low + high else high for x in head.prototypes[1]]
    return image


def _around(ends: tuple[Fraction, Fraction], generator: random.Random, wide: bool = False) -> tuple[Fraction, Fraction]:
    widths = [generator.choice((Fraction(0), Fraction(1, 2**50), Fraction(1, 9))) for _ in range(2)]
    if wide:
        widths = generator.choice(([Fraction(0), Fraction(1, 9)], [Fraction(1, 9), Fraction(0)]))
    return Fraction(hm.below(ends[0] - widths[0])), Fraction(hm.above(ends[1] + widths[1]))


def _containment(module: Import, kernel: str) -> str:
    """What is proved holds at the latents: on the usual grid and, where roundings show, on grids of a few bits."""
    own = module("kernel").load_kernel(kernel)
    fine = (128, 64, 128, 128)
    for number, trial in enumerate(_trials()):
        _set_grid(module, *(fine, (6, 0, 8, 24), (3, 0, 8, 24))[number % 3])
        found = _contained(module, own, trial, number)
        if found:
            return f"{found}, grid {number % 3}"
    _set_grid(module, *fine)
    return ""


def _set_grid(module: Import, least: int, below: int, multipliers: int, weights: int) -> None:
    module("rules.space")._LEAST_BITS, module("rules.space")._BITS_BELOW_GRAM = least, below
    module("rules.projection.span")._PRECISION, module("rules.hypersphere")._WEIGHT_BITS = multipliers, weights
    module("rules.projection.coarse")._BITS = 26 if least == 128 else least - 2


def _contained(module: Import, own: Any, trial: Trial, number: int) -> str:
    certificate = module("certificate")
    head = module("head_file").read_head(trial.data)
    space = module("rules.space").Space(head, own)
    stated = [certificate.PatchStatement(*statement) for statement in trial.statements]
    names = {"softmax": ["simplex"], "inner_product": ["projection", "triangle"]}
    boxes = []
    for name in names.get(head.geometry, ["projection", "triangle", "hypersphere"]):
        rule = getattr(module(f"rules.{name}"), name.capitalize())(space)
        groups = [[s for s in stated if s.patch == patch] for patch in range(PATCHES)]
        found = [rule.ranges(group) for group in groups]
        if not all(map(holds, [space] * PATCHES, found, trial.observables)):
            return name
        if name == "projection":
            pick = min if head.geometry == "euclidean" else max
            ends = [tuple(map(pick, zip(*each, strict=True))) for each in zip(*trial.observables, strict=True)]
            for narrow, known in ((groups, None), (groups[1:], found[0]), (groups, space.domain)):
                if not holds(space, rule.pooled(narrow, known), ends):
                    return "pooled"
            for each, observables in zip(groups, trial.observables, strict=True):
                if each and not all(holds(space, ranges, observables) for ranges in coarse_ranges(module, rule, each)):
                    return "coarse"
        spatial = module("rules.spatial").SpatialRule(space, rule)
        boxes.append((name, spatial.box(stated, PATCHES)))
        boxes += [(f"{name} without {place}", box) for place, box in spatial.boxes_without(stated, PATCHES)]
    top_k = module("rules.top_k").TopK(space)
    top_k.box([], 2)  # asked of so many patches, then of others
    pooled = [certificate.ActivationStatement(*statement) for statement in trial.pooled]
    most = max(high for _, high in trial.activations[1::2])
    pooled.append(certificate.OrderStatement(tuple(range(0, COUNT, 2)), most))
    boxes += [("top_k", top_k.box(pooled, PATCHES)), ("domain", top_k.box([], PATCHES))]
    boxes += [("top_k without", box) for _, box in top_k.boxes_without(pooled, PATCHES)]
    latents = module("dyadic").exact(hm.flat(trial.image), len(trial.image[0]))
    evaluation = module("rules.evaluation").Evaluation(space, latents)
    for bits in (0, 3, 20):
        boxes.append((f"evaluation at {bits}", evaluation.activations(bits)))
        for patch, j in product(range(PATCHES), range(COUNT)):
            low, high = evaluation.observable(patch, j, bits)
            least, greatest = trial.observables[patch][j]
            if not (low <= greatest and least <= high and high - low <= Fraction(16, 1 << bits)):
                return "observable"
        for some in ([0, 2], [1, 3], [0, 1, 2, 3]):
            low, high = (Fraction(int(end), 1 << bits) for end in evaluation.greatest(some, bits))
            if low > max(trial.activations[j][1] for j in some) or high < max(trial.activations[j][0] for j in some):
                return "greatest"
    bound = module("rules.margin").lower_bound
    for name, box in boxes:
        for (least, greatest), low, high in zip(trial.activations, box.lower, box.upper, strict=True):
            if Fraction(int(low), 1 << box.bits) > greatest or Fraction(int(high), 1 << box.bits) < least:
                return f"{name}: activation"
        for c, d in product(range(head.classes), repeat=2):
            if bound(head, box, c, d) > trial.logits[c][d][1]:
                return f"{name}: margin"
    if (head.geometry, head.similarity.name, head.pooling) == ("softmax", "identity", "max"):
        return _priced(module, space, trial, stated, dict(boxes)["simplex"], number)
    return ""


def _screening(module: Import, kernel: str) -> str:
    """Coarse ranges hold where little but rounding is between them and the truth, and what is pooled with their help is
    what all exact ranges give."""
    own, generator = module("kernel").load_kernel(kernel), random.Random(7)
    module("rules.projection.rule").TOGETHER = 3
    for trial in range(12 if kernel == "arb" else 3):
        geometry = ("euclidean", "cosine", "inner_product")[trial % 3]
        # With more bits roundings make good less of what is left out.
        module("rules.projection.coarse")._BITS = (26, 60)[trial % 2]
        depth, scale = generator.choice((1, 2, 16)), generator.choice((1.0, 2.0**-12))
        sign = generator.choice((0.0, -scale))
        rows = [[generator.uniform(sign, scale) for _ in range(depth)] for _ in range(9)]
        rows.append([x * 2.0**-30 for x in rows[0]])
        patches = [[x * generator.choice((1.0, 0.9)) for x in generator.choice(rows[:9])] for _ in range(6)]
        patches += [[generator.uniform(sign, scale) for _ in range(depth)] for _ in range(2)]
        parts: dict[str, Any] = {"domain": hm.domain(-scale, scale)}
        if geometry != "euclidean":
            kind = hm.cosine(0.0) if geometry == "cosine" else {"kind": geometry, "radius": None}
            parts |= {"geometry": kind, "similarity": hm.IDENTITY}
        data = hm.head([[1.0] * len(rows), [0.0] * len(rows)], rows, **parts)
        space = module("rules.space").Space(module("head_file").read_head(data), own)
        rule, groups = module("rules.projection").Projection(space), []
        for patch, z in enumerate(patches):
            truths = [true_ends(geometry, z, row) for row in rows]
            group = []
            for j in generator.sample(range(len(rows)), min(generator.randrange(1, 5), depth + 1)):
                width = Fraction(generator.choice((0, 1)), 2**31)
                low, high = truths[j][0] - generator.choice((0, 1)) * width, truths[j][1] + width
                group.append(module("certificate").PatchStatement(patch, j, low, high))
            if not all(holds(space, ranges, truths) for ranges in coarse_ranges(module, rule, group)):
                return "coarse"
            groups.append(group)
        each = [rule.ranges(group) for group in groups]
        pool, smallest = module("rules.pooling").pool, geometry == "euclidean"
        if rule.pooled(groups, None) != pool(each, smallest) or rule.pooled(groups[1:], each[0]) != pool(
            each, smallest
        ):
            return "pooled"
    return ""


def _priced(module: Import, space: Any, trial: Trial, stated: Any, box: Any, number: int) -> str:
    """No prices prove more than what is so, nor than the best matching leaves."""
    generator = random.Random(number)
    predicted = number % 3
    proved = module("rules.margin").proved_margins(space.head, box, predicted)
    for _ in range(4):
        prices = {
            c: {k: Fraction(generator.randrange(1, 40), 32) for k in range(COUNT) if generator.random() < 0.6}
            for c in range(3)
            if c != predicted
        }
        high = tuple(None if c == predicted else Fraction(10**6) for c in range(3))
        document = module("certificate").Certificate(
            "0" * 64, None, predicted, "assignment", PATCHES, tuple(stated), high, ("entailment",), prices
        )
        rule = module("rules.assignment").Assignment(space, document)
        for c, margin in enumerate(rule.margins(box, proved)):
            if margin is not None and margin > trial.logits[predicted][c][1]:
                return "prices"
            if margin is not None and margin < proved[c]:
                return "prices prove less than simplex"
    return ""


def _margins(module: Import, kernel: str) -> str:
    """The bound of a margin is the least value over all corners of a box, or a hair less."""
    bound, box_of = module("rules.margin").lower_bound, module("rules.similarity").Box
    generator = random.Random(5)
    for trial in _trials()[::3]:
        head = module("head_file").read_head(trial.data)
        bits = generator.randrange(1, 4)
        sides = [sorted(generator.randrange((1 << bits) + 1) for _ in range(2)) for _ in range(COUNT)]
        box = box_of([low for low, _ in sides], [high for _, high in sides], bits)
        weight, unit = head.weight.rows, Fraction(1, 1 << head.weight.bits)
        bias = [Fraction(x, 1 << head.bias.bits) for x in head.bias.rows[0]]
        for c, d in ((0, 1), (1, 2), (2, 0)):
            corners = [[Fraction(x, 1 << bits) for x in corner] for corner in product(*sides)]
            least = min(
                _logit(head, weight[c], bias, c, a, unit) - _logit(head, weight[d], bias, d, a, unit) for a in corners
            )
            found = bound(head, box, c, d)
            shared = head.readout == "maximum" and any(x and y for x, y in zip(weight[c], weight[d], strict=True))
            if found > least or (not shared and found < least - 4 * unit):
                return str(head.readout)
    return ""


def _logit(head: Any, row: list[int], bias: list[Fraction], c: int, a: list[Fraction], unit: Fraction) -> Fraction:
    if head.readout == "maximum":
        return max(x + b for x, b, own in zip(a, bias, row, strict=True) if own)
    if head.readout == "linear":
        return sum((w * unit * x for w, x in zip(row, a, strict=True)), bias[c])

    def below(node: int) -> Fraction:
        if node < 0:
            return row[-1 - node] * unit
        return (1 - a[node]) * below(head.absent[node]) + a[node] * below(head.present[node])

    return below(0)


def _similarities(module: Import, kernel: str) -> str:
    """Similarities of ranges on a coarse grid hold those of the ranges' own ends."""
    own = module("kernel").load_kernel(kernel)
    _set_grid(module, 4, 0, 128, 128)
    generator = random.Random(6)
    try:
        for made_head, data in _heads():
            head = module("head_file").read_head(data)
            space = module("rules.space").Space(head, own)
            similarity = module("rules.similarity").SimilarityRule(space)
            for _ in range(16):
                values = [generator.randrange(1 << space.bits) for _ in range(COUNT)]
                if head.geometry != "euclidean" and head.geometry != "softmax":
                    values = [value - (1 << space.bits - 1) for value in values]
                box = similarity.activations(similarity.comparable(module("rules.space").Ranges(values, list(values))))
                for j, (value, low, high) in enumerate(zip(values, box.lower, box.upper, strict=True)):
                    m = flint.arb(value) / 2**space.bits
                    if head.geometry in ("cosine", "rooted_cosine"):
                        m = m / flint.arb(sum(x * x for x in space.vectors[j])).sqrt()
                    least, greatest = ref.ends(made_head.similarity(m, j))
                    if Fraction(low, 1 << box.bits) > greatest or Fraction(high, 1 << box.bits) < least:
                        return str(head.similarity.name)
    finally:
        _set_grid(module, 128, 64, 128, 128)
    return ""


@cache
def _heads() -> list[tuple[ref.Made, bytes]]:
    heads = [draw_head(recipe, random.Random(f"head {recipe.name}")) for recipe in recipes()]
    return [(head, head.data) for head in heads]


CHECKS = (
    ("numbers", _numbers),
    ("kernel", _transcendentals),
    ("matching", _matching),
    ("corpora", _corpora),
    ("next to the grid", next_to_the_grid),
    ("attained", attained),
    ("one way", one_way),
    ("poor multipliers", poor_multipliers),
    ("margins", _margins),
    ("similarities", _similarities),
    ("containment", _containment),
    ("screening", _screening),
)
