"""What a head computes for an image, and the latents that a network gives for a picture, as the proved program answers.

The package asks for neither. Tests compare both with exact numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from verale.checker.certificate import Certificate
from verale.checker.numbers import Interval, Items, NotNumbersError
from verale.checker.proved.claims import ProvedClaims
from verale.checker.proved.text import image_text, picture_text
from verale.checker.read.latents import Image
from verale.checker.read.pictures import Picture

T = TypeVar("T")
MOST_PATCHES = 2**20
"""The program takes no number of patches beyond this."""


@dataclass(frozen=True)
class Values:
    """What a head computes for an image, in real arithmetic.

    Attributes:
        by_patch: (P, L) the similarity of each prototype to each patch.
        activations: (P,) each activation.
        leads: (C,) the predicted class's logit minus each other's; None at the predicted class.
    """

    by_patch: tuple[tuple[Interval, ...], ...]
    activations: tuple[Interval, ...]
    leads: tuple[Interval | None, ...]


class ValuedClaims(ProvedClaims):
    """Asks for values too."""

    def values(self, certificate: Certificate, image: Image) -> Values:
        """What the head computes for an image, whatever it satisfies; the certificate says which class leads."""
        sizes = self._head.count, self._head.classes, certificate.predicted, image.patches
        text = self._about(certificate, image_text(image))
        return self._numbers("values", text, lambda said: values_of(said, *sizes))

    def latents(self, picture: Picture) -> tuple[tuple[Interval, ...], ...]:
        """(L, D) the latents that the network gives for a picture, in real arithmetic."""
        return self._numbers(
            "latents", picture_text(picture), lambda said: latents_of(said, self._head.depth, MOST_PATCHES)
        )

    def _numbers(self, question: str, text: bytes, read: Callable[[str], T]) -> T:
        answer = self._answer(question, text)
        assert answer.word == question, answer
        return read(answer.why)


def ends_of(items: Items, unit: int) -> Interval:
    """Two ends, each of which may be missing."""
    return Interval(items.end(unit), items.end(unit))


def values_of(text: str, count: int, classes: int, predicted: int, patches: int) -> Values:
    """The values of a text, for a head and an image of this kind. Raises NotNumbersError."""
    items = Items(text)
    unit = items.unit()
    by_patch = items.so_many(count, lambda: items.so_many(patches, lambda: ends_of(items, unit)))
    activations = items.so_many(count, lambda: items.ends(unit))
    over = items.unit()
    leads = items.so_many(classes, lambda: ends_of(items, over))
    items.finish()
    return Values(by_patch, activations, tuple(None if c == predicted else lead for c, lead in enumerate(leads)))


def latents_of(text: str, depth: int, most: int) -> tuple[tuple[Interval, ...], ...]:
    """The ends of latents in a text: at most so many patches, each of this depth. Raises NotNumbersError."""
    items = Items(text)
    unit = items.unit()
    patches = items.integer()
    if not 0 < patches <= most:
        raise NotNumbersError(f"expected at most {most} patches")
    latents = tuple(items.so_many(depth, lambda: items.ends(unit)) for _ in range(patches))
    items.finish()
    return latents
