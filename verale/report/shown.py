"""One certificate as it is shown in a terminal and in a notebook, with what is known of its image, head and verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from verale.certificate.words import (
    AS_LABELLED,
    NOT_COMPARED,
    OWN_NAMES,
    as_claimed,
    from_picture,
    not_proved,
    where_wrong,
)
from verale.report.telling import Telling

__all__ = ["NOT_AUDITED", "WHY", "Shown"]

WHY = "Why, in points: similarity x weight, where all statements hold"
"""What stands above the account."""

NOT_AUDITED = "NOT AUDITED"
"""The status without a verdict."""
_STATEMENTS, _RIVALS, _ORIGINS = 10, 3, 8
"""How many statements, rivals and origins of prototypes are shown unless all are asked for."""
_CAVEATS = {
    "instance not checked": "That the image satisfies the statements was not checked.",
    "picture not checked": "That the network gives the picture such latents was not checked.",
    "no instance claimed": "It names no image: perhaps no input satisfies the statements.",
}


@dataclass(frozen=True)
class Shown:
    """What is shown of one certificate.

    Attributes:
        telling: what it says.
        status: the checker's verdict, which was given now; or NOT_AUDITED.
        caveat: why perhaps no input satisfies the statements of what is PROVED; empty otherwise.
        image: the name of its image, where known.
        label: the name of the image's true class, where known: nothing checks it.
        correct: whether that is the predicted class.
        image_is: what is known of the image: that it is the proved picture, or why it is perhaps another one.
        origins: where prototypes come from, in words, where known.
        judged_origins: of each prototype a sentence that says which patch of which picture it is, as it was proved now.
        digests: SHA-256 of files, by what they are.
        own_names: whether the names of classes are not the head's.
        proved: the claims that are proved.
        not_compared: whether nobody noted that the head's logits were compared with the network's.
    """

    telling: Telling
    status: str = NOT_AUDITED
    caveat: str = ""
    image: str = ""
    label: str = ""
    correct: bool | None = None
    image_is: str = ""
    origins: Mapping[int, str] = field(default_factory=dict)
    judged_origins: Mapping[int, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    own_names: bool = False
    proved: frozenset[str] = frozenset()
    not_compared: bool = False

    @property
    def heading(self) -> str:
        """The verdict and the class, and whether it is wrong: names from outside come last."""
        verdict = ", ".join(filter(None, (self.status, self.caveat)))
        return f"{verdict}: class {self.telling.predicted}{where_wrong(self.label, self.correct)}"

    @property
    def claim(self) -> str:
        """The sentence, and before it whether it is proved."""
        said = {"PROVED": "Proved", NOT_AUDITED: "Claimed, and not audited here"}
        claimed = said.get(self.status, "Claimed, and not proved")
        begun = from_picture(self.telling.arithmetic) if self.telling.of_picture and not self.caveat else ""
        return " ".join(filter(None, (f"{claimed}: {self.telling.sentence}", begun, _CAVEATS.get(self.caveat))))

    @property
    def not_proved(self) -> str:
        """What the verdict on it does not say."""
        return not_proved(self.proved)

    @property
    def about_image(self) -> str:
        """The image, its true class and whether the network is right, as far as known; empty without any of it."""
        right = {True: "the network is right", False: "the network is wrong", None: ""}[self.correct]
        true = f"true class {self.label} ({AS_LABELLED})" if self.label else ""
        named = f"image {self.image}" if self.image else "image" if self.image_is else ""
        return ": ".join(
            filter(None, (" ".join(filter(None, (named, self._known))), ", ".join(filter(None, (true, right)))))
        )

    @property
    def _known(self) -> str:
        return f"({self.image_is})" if self.image_is else ""

    @property
    def points(self) -> tuple[tuple[str, str], ...]:
        """Why the class is ahead, line by line; none unless it is PROVED."""
        return self.telling.points if self.status == "PROVED" else ()

    @property
    def narrower(self) -> Sequence[str]:
        """That it is too long to be read, why, and what can be asked instead; none where it is not."""
        return [] if self.telling.narrower is None else [self.telling.narrower.line]

    def statements(self, whole: bool = False) -> tuple[Sequence[tuple[str, str]], int]:
        """The statements that are shown, and how many are left out."""
        return _cut(self.telling.statements, None if whole else _STATEMENTS)

    def margins(self, whole: bool = False) -> tuple[Sequence[tuple[str, str]], int]:
        """The closest rivals, and how many are left out."""
        return _cut(self.telling.margins, None if whole else _RIVALS)

    def lines(self, whole: bool = False) -> Iterator[str]:
        """All of it as lines of text."""
        yield self.heading
        yield ""
        yield self.claim
        yield from self.narrower
        yield ""
        if self.points:
            yield WHY
            yield from _listed(self.points, 0, "lines")
            yield ""
        yield f"{self.telling.size[0].upper()}{self.telling.size[1:]}"
        yield from _listed(*self.statements(whole), "statements")
        if self.telling.margins:
            yield f"Every other class stays behind, by at least{as_claimed(self.status)}"
            yield from _listed(*self.margins(whole), "classes", "class ")
        origins = [(str(j), self.origins[j]) for j in self.telling.prototypes if j in self.origins]
        if origins:
            yield "Where the prototypes come from (nothing proves it)"
            yield from _listed(*_cut(origins, None if whole else _ORIGINS), "prototypes", "prototype ")
        shown = self.telling.prototypes or tuple(self.judged_origins)
        judged = [self.judged_origins[j] for j in shown if j in self.judged_origins]
        if judged:
            yield "Which patches the prototypes are, asked of the checker now"
            yield from (f"  {each}" for each in (judged if whole else judged[:_ORIGINS]))
            if not whole and len(judged) > _ORIGINS:
                yield f"  and {len(judged) - _ORIGINS} more prototypes (--all)"
        yield ""
        if self.about_image:
            yield self.about_image
        if self.own_names:
            yield OWN_NAMES
        yield self.not_proved
        if self.not_compared:
            yield NOT_COMPARED
        for what, digest in self.digests.items():
            yield f"sha256 of the {what} {digest}"


def _cut(pairs: Sequence[tuple[str, str]], most: int | None) -> tuple[Sequence[tuple[str, str]], int]:
    """The first pairs, and how many are left out: none for the sake of one line."""
    if most is None or len(pairs) <= most + 1:
        return pairs, 0
    return pairs[:most], len(pairs) - most


def _listed(pairs: Sequence[tuple[str, str]], left_out: int, what: str, before: str = "") -> Iterator[str]:
    yield from (f"  {before}{subject}: {said}" for subject, said in pairs)
    if left_out:
        yield f"  and {left_out} more {what} (--all)"
