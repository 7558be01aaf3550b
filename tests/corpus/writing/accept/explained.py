"""Accepted cases drawn from recipes.

Statements are dropped, one after the other, as long as the checker still proves the class. Where the recipe says so,
what is left is claimed to be minimal. The margins are the greatest binary64 numbers that are proved.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import flint
from corpus.writing.storing import encoded

from verale.checker import Auditor, Status
from verale.paradigms import PARADIGMS
from verale.soundness.corpus.cases import Case
from verale.soundness.corpus.recipes import CLASSES, COUNT, PATCHES, Recipe, around, draw_head, draw_image
from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import PRECISION, Ball, above, below, ends
from verale.soundness.independent.head import Head
from verale.soundness.independent.readers import Document


def candidates(
    recipe: Recipe, head: Head, image: files.Matrix, generator: random.Random
) -> tuple[list[Document], list[Ball]]:
    """True statements of the recipe's form, in the order in which `minimal` tries to drop them, and the logits."""
    with flint.ctx.workprec(PRECISION):
        activations = [head.activation(image, j) for j in range(COUNT)]
        logits = head.logits(activations)
        if PARADIGMS[recipe.paradigm].spatial:
            stated = [
                files.patch_statement(patch, j, *around(head.observable(image[patch], j), recipe.width))
                for patch, j in product(range(recipe.patches), range(COUNT))
            ]
        else:
            stated = [files.activation_statement(j, *around(activations[j], recipe.width)) for j in range(COUNT)]
            if "except" in recipe.options:
                exempt = sorted(sorted(range(COUNT), key=lambda j: -float(activations[j]))[:2])
                bounded = [ends(activations[j])[1] for j in range(COUNT) if j not in exempt]
                stated = [stated[j] for j in exempt] + [files.order_clause(exempt, above(max(bounded)))]
            if "floor" in recipe.options:
                others = [j for j in range(COUNT) if j not in exempt]
                stated.append(files.floor(others, below(min(ends(activations[j])[0] for j in exempt))))
            if recipe.paradigm == "mixed":
                stated += [
                    files.patch_statement(1, j, *around(head.observable(image[1], j), recipe.width))
                    for j in range(COUNT)
                ]
    generator.shuffle(stated)
    return stated, logits


def minimal(stated: list[Document], proved: Callable[[list[Document]], bool]) -> list[Document] | None:
    """Statements of which none can be dropped; None where all of them prove nothing."""
    if not proved(stated):
        return None
    again = True
    while again:
        again = False
        for one in list(stated):
            fewer = [other for other in stated if other is not one]
            if proved(fewer):
                stated, again = fewer, True
    return stated


def opened(
    stated: list[Document], proved: Callable[[list[Document]], bool], generator: random.Random
) -> list[Document]:
    """The same with ends left out one after the other, but one of each interval, as long as the class is proved."""
    order = [(index, side) for index, one in enumerate(stated) if "interval" in one for side in (0, 1)]
    generator.shuffle(order)
    for index, side in order:
        interval = [None if end == side else x for end, x in enumerate(stated[index]["interval"])]
        other = [*stated[:index], stated[index] | {"interval": interval}, *stated[index + 1 :]]
        if interval != [None, None] and proved(other):
            stated = other
    return stated


def _serves(recipe: Recipe, kept: list[Document], count: int) -> bool:
    """Whether an explanation of so many true statements has some statements, leaves some out, and has what the options
    ask for."""
    wanted = len(recipe.options & {"except", "floor"})
    if "floor" in recipe.options:
        return sum("except" in one for one in kept) == wanted < len(kept)
    return (3 if wanted else 2) <= len(kept) < count + wanted


def explain(recipe: Recipe) -> Case:
    """The first draw whose explanation has some statements and leaves some out."""
    for trial in range(200):
        generator = random.Random(f"{recipe.name} {trial}")
        head = draw_head(recipe, generator)
        image = draw_image(head, generator)[: recipe.patches]
        stated, logits = candidates(recipe, head, image, generator)
        predicted = max(range(CLASSES), key=lambda c: float(logits[c]))
        data = head.data
        if "float32" in recipe.options:
            data = files.head(head.weight, head.prototypes, head.bias, "F32", **head.parts)
        latents = latents_file(recipe, image)
        one_kernel, both = (Auditor(data, latents, kernel) for kernel in ("arb", "both"))
        options: dict[str, Any] = {
            "predicted": predicted,
            "classes": CLASSES,
            "paradigm": recipe.paradigm,
            "patches": recipe.patches,
            "image": image,
            "minimality": recipe.minimality and PARADIGMS[recipe.paradigm].minimal,
        }

        def proved(statements: list[Document]) -> bool:
            return one_kernel.check(files.certificate(data, statements, **options)).status is Status.PROVED  # noqa: B023

        kept = minimal(stated, proved)
        if kept is None or not _serves(recipe, kept, len(stated)):
            continue
        if "open" in recipe.options:
            kept = opened(kept, proved, generator)
            if not any(None in one["interval"] for one in kept if "interval" in one):
                continue
        margins = both.check(files.certificate(data, kept, **options)).margins
        options["margins"] = [None if margin is None else below(margin) for margin in margins]
        kind = "A minimal explanation" if options["minimality"] else "An explanation"
        comment = f"{kind} under {recipe.paradigm}, each margin the greatest binary64 that is proved."
        document = files.document(data, kept, **options)
        return Case(recipe.name, encoded(document, comment), data, latents, "PROVED", "", comment)
    raise ValueError(f"200 draws gave no explanation for {recipe.name}")


def latents_file(recipe: Recipe, image: files.Matrix) -> bytes:
    """The latents file. Under the option "images" the image is the second of three."""
    if "images" in recipe.options:
        first, last = [[x + 0.25 for x in z] for z in image], [[x / 2 for x in z] for z in reversed(image)]
        return files.latents([first, image, last])
    if "nchw" in recipe.options:
        return files.latents_nchw([image], 1, PATCHES)
    return files.latents([image], "F32" if "float32" in recipe.options else "F64")
