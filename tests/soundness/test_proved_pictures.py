"""The proved checker says "proved" of pictures whose exact latents satisfy the statements, and of no others."""

from __future__ import annotations

import math
import random
import subprocess
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest
from support import files
from support.arithmetic import PRECISION, ends
from support.independent_text import text_of_certificate, text_of_head, text_of_network, text_of_picture
from support.network_truth import balls, given, of_program

NEAR = 2.0**-20
"""How far statements reach around the observables: the latents are known to some 2^-48."""
NETWORKS = of_program(50)
GEOMETRIES: tuple[dict[str, Any], ...] = (
    {"kind": "euclidean"},
    {"kind": "inner_product", "radius": None},
    {"kind": "cosine", "epsilon": (0.5).hex()},
    {"kind": "rooted_cosine", "epsilon": (0.5).hex()},
    {"kind": "softmax"},
)


def asked(program: str, *questions: tuple[str, bytes]) -> list[str]:
    """The answers, without numbers and times."""
    lines = b"".join(
        f"{name} {number:x} 186a0 ".encode() + text for number, (name, text) in enumerate(questions)
    )  # 100 seconds
    run = subprocess.run([program], input=lines, capture_output=True, timeout=300, check=False)
    return [line.split(" ", 2)[-1] for line in run.stdout.decode().splitlines()[1:]]


def observable(geometry: dict[str, Any], patch: list[Fraction], point: list[float], j: int) -> float:
    """By the formulas of certificates/v1.md, in floats at the end."""
    dot = float(sum(z * Fraction(p) for z, p in zip(patch, point, strict=False)))
    square = float(sum(z * z for z in patch))
    match geometry["kind"]:
        case "euclidean":
            return float(sum((z - Fraction(p)) ** 2 for z, p in zip(patch, point, strict=True)))
        case "inner_product":
            return dot
        case "cosine":
            return dot / (math.hypot(*point) * (math.sqrt(square) + 0.5))
        case "rooted_cosine":
            return dot / (math.hypot(*point) * math.sqrt(square + 0.5))
    masses = [math.exp(float(z) - float(max(patch))) for z in patch]
    return masses[j] / sum(masses)


def case(seed: int) -> dict[str, Any]:
    """A network, a picture, and a head with true statements about its latents."""
    generator, geometry = random.Random(seed), GEOMETRIES[seed % len(GEOMETRIES)]
    for network in NETWORKS[seed:]:  # the next one where latents are too large for floats
        picture = list(generator.randbytes(math.prod(network.shape)))
        with flint.ctx.workprec(PRECISION):  # of each ball one end, which is as near as any other number in it
            shape, values_of = given(network, picture, balls())[network.layers[-1]["name"]]
            places = list(product(*map(range, shape[1:])))
            found = [[ends(values_of[d, *at])[0] for d in range(shape[0])] for at in places]
        if max(abs(x) for z in found for x in z) < 2**10:
            break
    depth = len(found[0])
    softmax = geometry["kind"] == "softmax"
    points = [[generator.randint(1, 8) / 4 for _ in range(depth)] for _ in range(depth if softmax else 2)]
    values = [[observable(geometry, patch, point, j) for j, point in enumerate(points)] for patch in found]
    distance = geometry["kind"] == "euclidean"
    least, most = float(min(map(min, found))), float(max(map(max, found)))
    head = files.head(
        [[1.0] * len(points), [0.5] * len(points)],
        None if softmax else points,
        geometry=geometry,
        similarity={"kind": "negated" if distance else "identity"},
        domain=files.domain(least - NEAR, most + NEAR),
    )
    outside = {"domain": files.domain(least + NEAR, most + NEAR), "geometry": geometry}
    outside["similarity"] = {"kind": "negated" if distance else "identity"}
    places = [(generator.randrange(len(found)), generator.randrange(len(points))) for _ in range(3)]
    statements = [
        files.patch_statement(patch, j, values[patch][j] - NEAR, values[patch][j] + NEAR) for patch, j in places
    ]
    wanted = max((-row[0] if distance else row[0]) for row in values)
    return {
        "network": text_of_network(network.file()),
        "picture": picture,
        "head": head,
        "outside": files.head([[1.0] * len(points), [0.5] * len(points)], None if softmax else points, **outside),
        "statements": statements,
        "about_head": files.activation_statement(0, wanted - NEAR, wanted + NEAR),
        "false": files.activation_statement(0, wanted + NEAR, wanted + 2 * NEAR),
        "patches": len(found),
        "place": places[0],
        "value": values[places[0][0]][places[0][1]],
    }


def said(program: str, of: dict[str, Any], statements: list[dict[str, Any]], **changes: Any) -> str:
    """What the program says of these statements."""
    of = of | changes
    certificate = files.certificate(of["head"], statements, patches=of["patches"])
    return asked(
        program,
        ("head", text_of_head(of["head"])),
        ("network", of["network"]),
        ("pictured", text_of_certificate(certificate)[:-1] + b" " + text_of_picture(of["picture"])),
    )[-1]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_true_of_a_picture_is_proved_and_nothing_else(seed: int, proved_checker: str) -> None:
    of = case(seed)
    statements = of["statements"]
    assert said(proved_checker, of, statements) == "proved"
    assert said(proved_checker, of, [*statements, of["about_head"]]) == "proved"
    assert said(proved_checker, of, [*statements, of["false"]]) == "not proved"
    beside = files.patch_statement(*of["place"], of["value"] + NEAR, of["value"] + 2 * NEAR)
    assert said(proved_checker, of, [beside]) == "not proved"
    assert said(proved_checker, of, statements, head=of["outside"]) == "not proved"
    assert said(proved_checker, of, [], patches=of["patches"] + 1) == "not proved"


def test_what_is_known_of_a_picture_serves_no_other(proved_checker: str) -> None:
    """The program keeps the box of the last picture that it was asked about."""
    of = case(0)
    other = [255 - byte for byte in of["picture"]]
    statements = [files.patch_statement(*of["place"], of["value"] - NEAR, of["value"] + NEAR)]
    assert said(proved_checker, of, statements, picture=other) == "not proved"
    certificate = text_of_certificate(files.certificate(of["head"], statements, patches=of["patches"]))[:-1] + b" "
    pictured = [("pictured", certificate + text_of_picture(each)) for each in (of["picture"], other, of["picture"])]
    answers = asked(
        proved_checker,
        ("head", text_of_head(of["head"])),
        ("network", of["network"]),
        *pictured,
        ("latents", text_of_picture(other)),
        *pictured[:2],
    )
    assert answers[2:5] == ["proved", "not proved", "proved"]
    assert answers[6:] == ["proved", "not proved"]
