"""A network's logits beside those of a head, and in words what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verale.certificate.words import about, above, written

if TYPE_CHECKING:
    from torch import Tensor

    from verale.adapters.endings import Ending

CLOSER = 16
"""A neighbour is mentioned if its logits are so many times closer to the network's."""

_FEW = 8
"""Of fewer images, how many are right says nothing."""

_HARDLY = 0.1
"""Networks that are right more often than chance by less than this share of what chance leaves are hardly better."""

_NORMALISED = 10.0
"""Normalised images hold smaller numbers, and bytes larger ones."""

_DIFFERENCES = "leaves the differences of an image's logits, which are compared"
_LEAVES = {
    "softmax(logits)": f"{_DIFFERENCES} where float32 shows them",
    "log_softmax(logits)": _DIFFERENCES,
    "log(logits)": "keeps the order of the logits, which are compared",
}
"""What an output says of the logits (`verale.runs.check`)."""


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """A network's own logits and those of a head, on the same latents. `print` says what follows.

    Attributes:
        logits: (N, C) of the network, or those that follow from what it returns (`returned`).
        of_head: (N, C) float64, of the head.
        lower, upper: (N, C) float64: what float32 may compute of the head, whatever the order of its sums
            (`verale/adapters/float32.py` has the derivation).
        proved: whether these ends rest on no stated allowance for numbers that the head holds in float64.
        latents: the least and the greatest coordinate of the latents.
        domain: the two ends of the head's domain; None where it has none.
        alike: what would explain a difference: the options of a head that agrees, the closest first, and in words what
            else fits.
        closer: options of a head that is much closer to the network than the given one, where that agrees too.
        labels: the true classes of the images; None where they are not known.
        images: the least and the greatest number of the images; None where they are not known.
        ending: where the layer's last module puts the latents; None where it does not say.
        returned: what of its logits the network returns, such as `softmax(logits)`; empty where these themselves.
        of_network: what of a network file differs from the module, in words; empty where nothing does, None where no
            file was compared.
    """

    logits: Tensor
    of_head: Tensor
    lower: Tensor
    upper: Tensor
    proved: bool
    latents: tuple[float, float]
    domain: tuple[float | None, float | None]
    alike: tuple[str, ...] = ()
    closer: str | None = None
    labels: tuple[int, ...] | None = None
    images: tuple[float, float] | None = None
    ending: Ending | None = None
    returned: str = ""
    of_network: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether every logit of the network lies where float32 may put the head's, and all latents in the domain.

        Those that the layer can give on other images count too, where that is known. Where a network file was compared,
        nothing of it may differ.
        """
        return not bool(self._outside.any()) and self.in_domain and not self._is_cut and not self.of_network

    @property
    def right(self) -> int | None:
        """On how many images the network's class is the true one; None where these are not known."""
        if self.labels is None:
            return None
        return sum(map(int.__eq__, self.logits.argmax(1).tolist(), self.labels))

    @property
    def warnings(self) -> list[str]:
        """What is unlikely of images that are preprocessed as for the network, and of a domain that is true of it."""
        said = []
        right, count, classes = self.right, *self.logits.shape
        hardly = 1 / classes + _HARDLY * (1 - 1 / classes)
        if right is not None and count >= _FEW and classes > 1 and right / count <= hardly:
            lie = "" if self.images is None else f" (these hold {about(self.images[0])} to {about(self.images[1])})"
            said.append(
                f"the network is right on {right} of {_images(count)}, hardly more than chance: are the images"
                f" normalised as in training{lie}, and are the labels in the order of its classes?"
            )
        if self.images is not None and max(map(abs, self.images)) > _NORMALISED:
            said.append(
                f"the images hold numbers from {about(self.images[0])} to {about(self.images[1])}, expected normalised"
                f" ones, below {_NORMALISED:g}: are these bytes that were not divided by 255?"
            )
        if self.ending is not None and self.ending.is_open_where(self.domain):
            lower, upper = self._ends
            said.append(
                f"the layer ends in {self.ending}, and the head's domain ends (from {lower} to {upper}): certificates"
                " say nothing of latents beyond it"
            )
        return said

    @property
    def _is_cut(self) -> bool:
        """Whether the layer can give latents outside the head's domain."""
        return self.ending is not None and self.ending.reaches_beyond(self.domain)

    @property
    def _ends(self) -> tuple[str, str]:
        """The ends of the domain, in words."""
        lower, upper = ("no end" if end is None else written(end) for end in self.domain)
        return lower, upper

    @property
    def difference(self) -> float:
        """The largest difference of two logits."""
        return float((self.logits.double() - self.of_head).abs().max())

    @property
    def allowed(self) -> Tensor:
        """(N, C) how far float32 may move the logits."""
        import torch

        return torch.maximum(self.upper - self.of_head, self.of_head - self.lower)

    @property
    def other_classes(self) -> int:
        """On how many images head and network name different classes."""
        return int((self.logits.argmax(1) != self.of_head.argmax(1)).sum())

    @property
    def _outside(self) -> Tensor:
        logits = self.logits.double()
        return ~((self.lower <= logits) & (logits <= self.upper))

    @property
    def in_domain(self) -> bool:
        """Whether all latents lie in the head's domain."""
        (low, high), (lower, upper) = self.latents, self.domain
        return (lower is None or lower <= low) and (upper is None or high <= upper)

    def __str__(self) -> str:
        count, outside = len(self.logits), self._outside
        lines = []
        if not bool(outside.any()):
            kind = "proved for any order of sums" if self.proved else "stated, since the head holds folded numbers"
            lines.append(f"The head computes this network's logits on {_images(count)}, up to float32's rounding.")
            lines.append(
                f"largest difference {about(self.difference, 2)}; float32 may move these logits by up to"
                f" {above(float(self.allowed.max()), 2)} ({kind})"
            )
            if self.returned:
                lines.append(
                    f"the network returns {self.returned}, which {_LEAVES[self.returned]}: that is all that a class"
                    " depends on"
                )
            if self.other_classes:
                lines.append(f"within rounding, the two name different classes on {_images(self.other_classes)}")
            if self.closer is not None:
                lines.append(f"note: the logits are {CLOSER} times closer, or more, with {self.closer}")
        else:
            lines.append(
                f"The head is not this network's: on {int(outside.any(1).sum())} of {_images(count)} their logits"
                " differ by more than float32 explains."
            )
            image, of_class = divmod(int(self._beyond.argmax()), self.logits.shape[1])
            own, of_head = (about(float(each[image, of_class]), 6) for each in (self.logits, self.of_head))
            lines.append(
                f"image {image}, class {of_class}: the network's logit is {own}, the head's {of_head}; float32 may move"
                f" it by up to {above(float(self.allowed[image, of_class]), 2)}"
            )
            lines.append(f"the two name different classes on {self.other_classes} of {_images(count)}")
            lines += [f"the logits agree with {each}" for each in self.alike[:1]]
            lines += [f"they also agree with {each}" for each in self.alike[1:3]]
            if not self.alike:
                lines.append("no option that verale knows explains it: are layer, weights and formulas these?")
        if self.of_network is not None:
            lines.append(
                self.of_network or "The network file computes this network's latents, layer by layer in float64."
            )
        lower, upper = self._ends
        if not self.in_domain:
            lines.append(
                f"latents lie in [{written(self.latents[0])}, {written(self.latents[1])}], outside the head's domain"
                f" (from {lower} to {upper}): give the domain that is true of this network, or the layer whose output"
                " has it"
            )
        if self._is_cut:
            lines.append(
                f"the layer ends in {self.ending}: the head's domain (from {lower} to {upper}) is narrower, and leaves"
                " out latents of other images; give a domain that holds all of them"
            )
        if self.right is not None:
            lines.append(f"The network is right on {self.right} of {_images(count)}.")
        lines += [f"warning: {each}" for each in self.warnings]
        return "\n".join(lines)

    @property
    def _beyond(self) -> Tensor:
        """(N, C) by how much each logit is beyond what float32 allows; negative where it is not."""
        import torch

        logits = self.logits.double()
        return torch.maximum(logits - self.upper, self.lower - logits).nan_to_num(torch.inf)


def _images(count: int) -> str:
    return f"{count} image" if count == 1 else f"{count} images"
