"""Attacks on the claim `picture`: its corpus, and networks whose latents are known by other means."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any

import flint
from checker_mutants.mutant import Import
from support.arithmetic import ends
from support.network_binary32 import Adversary
from support.network_truth import Drawn, balls, drawn, given
from support.networks import (
    layer,
    network_file,
)
from support.recipes import COUNT, PATCHES, all_recipes, draw_head, draw_image

from verale.soundness.corpus.cases import Case, stored

__all__ = [
    "boxes_hold",
    "computed_latents_are_held",
    "latents_are_held",
    "pictures_differ",
]

_NETWORKS = 25


def pictures_differ(module: Import, kernel: str) -> str:
    """Every case gets its outcome, and what is proved is said with the certificate's arithmetic."""
    checker = module("")
    for case in _cases():
        try:
            seen = {"network": case.network, "pictures": case.pictures}
            verdict = checker.Auditor(case.head, None, kernel, **seen).check(case.certificate, minimality=True)
            outcome = verdict.status.value, verdict.reason
        except checker.HeadError:
            outcome = "INPUT_ERROR", "head"
        except checker.NetworkError:
            outcome = "INPUT_ERROR", "network"
        except checker.PictureError:
            outcome = "INPUT_ERROR", "picture"
        if outcome != case.expected:
            return case.name
        if outcome == ("PROVED", "") and verdict.claims["picture"] != ("proved" if case.pictures else "not checked"):
            return f"{case.name}: {verdict.claims}"
        if verdict.status.value == "PROVED" and not _says_how(verdict, case):
            return f"{case.name}: {verdict.line('a')}"
    return ""


def _says_how(verdict: Any, case: Case) -> bool:
    """Whether record and line say in which arithmetic the picture is proved, or not checked."""
    claimed = json.loads(case.certificate)["predicate"]["arithmetic"]
    words = {"real": "picture (real arithmetic)", "float32": "picture (float32)"}[claimed]
    return verdict.record()["arithmetic"] == claimed and verdict.line("a").count(words) == 1


@cache
def _cases() -> list[Case]:
    return sorted(stored("picture"), key=lambda case: case.status in ("MALFORMED", "INPUT_ERROR"))


@cache
def _networks(claimed: str) -> list[tuple[Drawn, bytes, dict[tuple[int, ...], object]]]:
    """Random networks, a picture of each, and the latents that it gives, in balls. In real arithmetic some have layers
    of which nothing is claimed in float32."""
    found: list[tuple[Drawn, bytes, dict[tuple[int, ...], object]]] = []
    seed = 0
    while len(found) < _NETWORKS:
        seed += 1
        try:
            network = drawn(seed, products=seed % 2 == 0 and claimed == "real")
        except ValueError:
            continue
        source = random.Random(seed)
        picture = bytes(source.randrange(256) for _ in range(prod(network.shape)))
        shape, values = given(network, picture, balls())[network.layers[-1]["name"]]
        found.append((network, picture, {at: values[at] for at in product(*map(range, shape))}))
    return found


def latents_are_held(module: Import, kernel: str) -> str:
    """Every coordinate lies between its ends, which are no farther apart than 2^-40 of the greatest, or 2^-40."""
    loaded = module("options").load_arithmetic(kernel)
    wrong = _wrong_extremes(module, loaded) or _wrong_roots(module, loaded)
    if wrong:
        return wrong
    for number, (network, picture, latents) in enumerate(_networks("real")):
        own = module("read.network_file").read_network(network.file())
        seen = module("read.pictures").Picture(network.shape, picture)
        enclosure = module("network.enclosure").Enclosure(own, loaded)
        enclosure.latents(module("read.pictures").Picture(network.shape, bytes(value ^ 255 for value in picture)))
        box = enclosure.latents(seen)
        unit, columns = flint.fmpz(2) ** box.bits, own.layers[-1].shape[-1]
        if (len(box.lower), len(box.upper)) != (own.patches,) * 2:
            return f"{number}: patches"
        greatest = max(1 << box.bits, *(max(map(abs, row)) for row in (*box.lower, *box.upper)))
        for at, value in latents.items():
            patch = at[1] * columns + at[2] if len(at) == 3 else 0
            low, high = box.lower[patch][at[0]], box.upper[patch][at[0]]
            if value * unit < low or value * unit > high or high - low > greatest >> 40:  # type: ignore[operator]  # a ball
                return f"{number}: {at}"
    return ""


def _wrong_extremes(module: Import, kernel: Any) -> str:
    """Products of 2^40 with weights of which some are huge, and one is less than a unit of the grid."""
    weights = [2.0**1000, 2.0**-1073, -(2.0**-1073), 1.0]
    layers, tensors = [layer("a", "conv2d", "picture")], {"a.weight": [[[[weight]]] for weight in weights]}
    data = network_file(layers, tensors, (1, 1, 1), std=[2.0**-40])
    enclosure = module("network.enclosure").Enclosure(module("read.network_file").read_network(data), kernel)
    box = enclosure.latents(module("read.pictures").Picture((1, 1, 1), b"\xff"))
    for weight, low, high in zip(weights, box.lower[0], box.upper[0], strict=True):
        if not low <= Fraction(weight) * 2 ** (40 + box.bits) <= high:
            return f"a product with {weight}"
    return ""


def _wrong_roots(module: Import, kernel: Any) -> str:
    """An inverse root of 0; and numbers that few of the random networks have: products of unlike signs, a factor for
    each place, ends of a clamp between units of the grid, a normal distribution of what is known roughly."""
    enclosing, reading = module("network.enclosure").Enclosure, module("read.network_file").read_network
    picture, pixels = module("read.pictures").Picture, bytes([0, 51, 102, 153, 204])
    zero = network_file([layer("a", "inverse_root", "picture")], {}, (1, 1, 5))
    try:
        enclosing(reading(zero), kernel).latents(picture((1, 1, 5), pixels))
        return "an inverse root of 0"
    except module("errors").UnprovedError:
        pass
    conv, ends = layer("a", "conv2d", "picture"), {"lower": (3 * 2.0**-70).hex(), "upper": (0.25).hex()}
    cases = {
        "unlike signs": ([conv, layer("b", "multiply", "a", "picture")], {"a.weight": [[[[-(2.0**20)]]]]}, 0.0),
        "a factor of places": (
            [conv, layer("b", "multiply", "a", "picture")], {"a.weight": [[[[1.0]]], [[[-2.0]]]]}, 0.1
        ),
        "ends of a clamp": ([layer("b", "clamp", "picture", **ends)], {}, 0.0),
        "a slope": (
            [conv, layer("b", "gaussian", "a")], {"a.weight": [[[[2.0**20]]]], "a.bias": [-(2.0**20) * 0.2]}, 0.0
        ),
    }  # fmt: skip
    for name, (layers, tensors, mean) in cases.items():
        network = Drawn(layers, tensors, (1, 1, 5), [mean], [0.7 if mean else 1.0])
        box = enclosing(reading(network.file()), kernel).latents(picture(network.shape, pixels))
        with flint.ctx.workprec(400):
            _, values = given(network, pixels, balls())["b"]
            for (channel, _, patch), value in values.items():
                scaled = value * flint.fmpz(2) ** box.bits
                if scaled < box.lower[patch][channel] or scaled > box.upper[patch][channel]:
                    return name
    return ""


def computed_latents_are_held(module: Import, kernel: str) -> str:
    """No way to compute a network in binary32 leaves the ends, not even with all roundings of a sum to one side; and
    numbers that may overflow are refused."""
    loaded, enclosing = module("options").load_arithmetic(kernel), module("network.enclosure").Enclosure

    def held(network: Drawn, picture: bytes, values: dict[tuple[int, ...], Any]) -> bool:
        own = module("read.network_file").read_network(network.file())
        box = enclosing(own, loaded, "float32").latents(module("read.pictures").Picture(network.shape, picture))
        columns = own.layers[-1].shape[-1]
        for at, value in values.items():
            patch = at[1] * columns + at[2] if len(at) == 3 else 0
            if not box.lower[patch][at[0]] <= Fraction(value) * 2**box.bits <= box.upper[patch][at[0]]:
                return False
        return True

    for number, (network, picture, latents) in enumerate(_networks("float32")):
        _, values = Adversary(number).given(network, picture)[network.layers[-1]["name"]]
        if set(values) != set(latents) or not held(network, picture, values):
            return f"{number}"
    for name, network, picture, value in _worst():
        if not held(network, picture, {(0, 0, 0): value}):
            return name
    for weight, bias, magnitude in ((1e38, 0.0, None), (1.0, 1e38, None), (1e300, 0.0, None), (1.0, 1.0, 2.0**33)):
        tensors: dict[str, Any] = {"a.weight": [[[[weight]]]], "a.bias": [bias]}
        tensors |= {} if magnitude is None else {"a.magnitude": [magnitude]}
        try:
            held(Drawn([layer("a", "conv2d", "picture")], tensors, (1, 1, 1), [0.0], [1.0]), b"\xff", {})
        except module("errors").UnprovedError:
            continue
        return f"overflow of {weight} and {bias}"
    return ""


def _worst() -> Iterator[tuple[str, Drawn, bytes, Fraction]]:
    """Networks, and a latent with every rounding upwards, or downwards, as far as the text allows."""
    source, one = random.Random(3), 1 - Fraction(1, 2**24)
    weight = [source.uniform(0.5, 1) for _ in range(40)]
    picture, shape = bytes([255]) * 40, (1, 5, 8)
    kernel = [[[weight[i : i + 8] for i in range(0, 40, 8)]]]
    own: dict[str, Any] = {"a.weight": kernel, "a.bias": [0.75]}
    total = sum(map(Fraction, weight))
    for up in (1, -1):
        sums = Drawn([layer("a", "conv2d", "picture")], own, shape, [0.0], [1.0])
        yield f"sum {up}", sums, picture, total / one ** (up * (41 + 2 + 6)) + Fraction(3, 4) / one ** (up * 42)
        norm = Drawn(sums.layers, own | {"a.magnitude": [1000.0]}, shape, [0.0], [1.0])
        lost = 1000 * (1 / one**53 - 1)
        yield f"norm {up}", norm, picture, total + Fraction(3, 4) + up * lost
        mean = Drawn([layer("a", "avg_pool2d", "picture", kernel=[5, 8])], {}, shape, [0.0], [1.0])
        yield f"mean {up}", mean, picture, 1 / one ** (up * (42 + 6))
        leaky = Drawn([layer("a", "leaky_relu", "picture", slope=(0.1).hex())], {}, (1, 1, 1), [1.0], [1.0])
        yield f"leaky {up}", leaky, bytes([0]), -Fraction(0.1) / one ** (up * (2 + 4))
        clamp = Drawn(
            [layer("a", "clamp", "picture", lower=(-1.0).hex(), upper=(0.1).hex())], {}, (1, 1, 1), [0.0], [1.0]
        )
        yield f"clamp {up}", clamp, bytes([255]), Fraction(0.1) / one**up
        added = Drawn([layer("a", "add", "picture", "picture")], {}, (1, 1, 1), [0.0], [1.0])
        yield f"add {up}", added, bytes([255]), 2 / one ** (up * (2 + 6))
        smooth = Drawn([layer("a", "sigmoid", "picture")], {}, (1, 1, 1), [0.0], [1.0])
        yield f"sigmoid {up}", smooth, bytes([0]), Fraction(1, 2) + up * Fraction(8, 2**24)


def boxes_hold(module: Import, kernel: str) -> str:
    """What is said of a box of latents holds at points of it."""
    box, heads, space = module("reading.evaluation"), module("head"), module("reading.space")
    latents, loaded = module("network.enclosure").EnclosedLatents, module("options").load_arithmetic(kernel)
    generator = random.Random(5)
    for recipe in all_recipes():
        if recipe.patches != PATCHES:
            continue
        head = draw_head(recipe, generator)
        image = draw_image(head, generator)
        width = generator.choice((0, 1, 2**20, 2**36, 2**39))
        lower = [[int(x * 2.0**40) - width for x in z] for z in image]
        upper = [[int(x * 2.0**40) + width for x in z] for z in image]
        own = box.Evaluation(space.Space(heads.read_head(head.data), loaded), latents(lower, upper, 40))
        activations = own.activations(128)
        for _ in range(6):
            point = [
                [
                    flint.arb(generator.choice((a, b, generator.randint(a, b)))) / 2**40
                    for a, b in zip(*sides, strict=True)
                ]
                for sides in zip(lower, upper, strict=True)
            ]
            if any(all(x == 0 for x in z) for z in point):
                continue
            pairs = [(patch, j) for patch in range(PATCHES) for j in range(COUNT)]
            each = [(head.observable(point[p], j), own.observable(p, j, 128)) for p, j in pairs]
            one, truth = 1 << 128, head.at(point).activations
            each += [
                (truth[j], (Fraction(activations.lower[j], one), Fraction(activations.upper[j], one)))
                for j in range(COUNT)
            ]
            for value, (low, high) in each:
                least, greatest = ends(value)
                if greatest < low or high < least:
                    return recipe.name
    return ""
