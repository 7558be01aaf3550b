"""Attacks on the claim `picture`: its corpus, and networks whose latents are known by other means."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

import flint
from checker_mutants.mutant import Import
from corpus.writing.malformed_networks import malformed_networks
from corpus.writing.malformed_pictures import GREY, malformed_pictures
from corpus.writing.malformed_pictures import drawn as drawn_picture
from support.network_truth import Drawn, balls, drawn, given
from support.networks import chunk, layer, network_file, picture_digest, png

from verale.soundness.corpus.pictures import PictureCase, stored_pictures
from verale.soundness.corpus.recipes import COUNT, PATCHES, all_recipes, draw_head, draw_image
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import ends

__all__ = ["boxes_hold", "files_are_read", "latents_are_held", "pictures_differ"]

_NETWORKS = 25


def pictures_differ(module: Import, kernel: str) -> str:
    """Every case gets its outcome; and its margins are those of the certificate's own proof."""
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
        if outcome != (case.status, case.reason):
            return case.name
        if outcome == ("PROVED", "") and verdict.claims["picture"] != ("proved" if case.pictures else "not checked"):
            return f"{case.name}: {verdict.claims}"
    return ""


@cache
def _cases() -> list[PictureCase]:
    return sorted(stored_pictures(), key=lambda case: case.status in ("MALFORMED", "INPUT_ERROR"))


@cache
def _networks() -> list[tuple[Drawn, bytes, dict[tuple[int, ...], object]]]:
    """Random networks, a picture of each, and the latents that it gives, in balls."""
    found: list[tuple[Drawn, bytes, dict[tuple[int, ...], object]]] = []
    seed = 0
    while len(found) < _NETWORKS:
        seed += 1
        try:
            network = drawn(seed)
        except ValueError:
            continue
        source = random.Random(seed)
        picture = bytes(source.randrange(256) for _ in range(prod(network.shape)))
        shape, values = given(network, picture, balls())[network.layers[-1]["name"]]
        found.append((network, picture, {at: values[at] for at in product(*map(range, shape))}))
    return found


def latents_are_held(module: Import, kernel: str) -> str:
    """Every coordinate lies between its ends, which are no farther apart than 2^-40 of the greatest, or 2^-40. Forty
    layers cost more than twenty times what one costs."""
    loaded = module("kernel").load_kernel(kernel)
    one, many = ([layer(f"a{i}", "relu", f"a{i - 1}" if i else "picture") for i in range(count)] for count in (1, 40))
    read = [module("network").read_network(network_file(layers, {})) for layers in (one, many)]
    few, most = (module("network.enclosure").Enclosure(each, loaded).steps for each in read)
    if most < 20 * few:
        return "steps"
    for number, (network, picture, latents) in enumerate(_networks()):
        own = module("network").read_network(network.file())
        seen = module("pictures").Picture(network.shape, picture)
        enclosure = module("network.enclosure").Enclosure(own, loaded)
        enclosure.latents(module("pictures").Picture(network.shape, bytes(value ^ 255 for value in picture)))
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


def files_are_read(module: Import, kernel: str) -> str:
    """What keeps every rule is read as it is, and what breaks one is refused."""
    pictures, error = module("pictures"), module("errors").PictureError
    for shape, stored, seed in product((GREY, (3, 4, 3)), (1, 3), range(6)):
        if stored > shape[0]:
            continue
        picture = drawn_picture((stored, *shape[1:]), seed)
        if seed % 2:  # small numbers, of which several are as near to a prediction
            picture = [[[value % 5 for value in row] for row in plane] for plane in picture]
        data = png(
            picture, [(seed + y) % 5 for y in range(shape[1])], parts=1 + seed % 3, between=chunk(b"tIME", bytes(7))
        )
        seen = picture * (shape[0] // stored)
        found = pictures.Pictures([pictures.PictureFile("", lambda data=data: data)], shape).find(picture_digest(seen))
        if found is None or list(found.values) != files.flat(seen):
            return f"{shape}, {stored}, {seed}"
    between = bytearray(chunk(b"tIME", bytes(7)))
    between[-1] ^= 1
    broken = [(data, GREY) for data, _ in malformed_pictures().values()]
    for data, shape in [*broken, (png(drawn_picture(GREY, 0), between=bytes(between)), GREY)]:
        try:
            pictures.Pictures([pictures.PictureFile("", lambda data=data: data)], shape)
        except error:
            continue
        return "a malformed picture"
    for name, _, data in malformed_networks():
        try:
            module("network").read_network(data)
        except module("errors").NetworkError:
            continue
        return name
    return ""


def boxes_hold(module: Import, kernel: str) -> str:
    """What is said of a box of latents holds at points of it."""
    box, head_file, space = module("plain.box"), module("head_file"), module("plain.space")
    latents, loaded = module("network.enclosure").EnclosedLatents, module("kernel").load_kernel(kernel)
    generator = random.Random(5)
    for recipe in all_recipes():
        if recipe.patches != PATCHES:
            continue
        head = draw_head(recipe, generator)
        image = draw_image(head, generator)
        width = generator.choice((0, 1, 2**20, 2**36, 2**39))
        lower = [[int(x * 2.0**40) - width for x in z] for z in image]
        upper = [[int(x * 2.0**40) + width for x in z] for z in image]
        own = box.BoxEvaluation(space.Space(head_file.read_head(head.data), loaded), latents(lower, upper, 40))
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
            one = 1 << 128
            each += [
                (head.activation(point, j), (Fraction(activations.lower[j], one), Fraction(activations.upper[j], one)))
                for j in range(COUNT)
            ]
            for value, (low, high) in each:
                least, greatest = ends(value)
                if greatest < low or high < least:
                    return recipe.name
    return ""
