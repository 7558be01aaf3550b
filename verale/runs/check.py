"""Is this head this network's? Its logits beside those of the network itself, within what float32 may do to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from verale.errors import LatentsError, UsageError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from verale.adapters.neighbours import Neighbour
    from verale.head import Head
    from verale.rounding import Enclosure

__all__ = ["Forward", "ModelComparison", "check", "compare", "forward"]

BATCH = 64
"""Images that the network receives at once."""

_CLOSER = 16
"""A neighbour is mentioned if its logits are so many times closer to the network's."""

_TRIED, _NAMED = 16, 6
"""On how many images neighbours are tried, and how many of them are compared within float32's rounding."""

_SLACK = 1e-4
"""How far softmax and its like may be off in float32, relative to 1 and to their size: for hints alone."""


@dataclass(frozen=True, eq=False)
class Forward:
    """What a network gave for images, on the CPU.

    Attributes:
        latents: (N, D, H, W) or (N, L, D), of the named layer.
        logits: (N, C), the network's own.
    """

    latents: Tensor
    logits: Tensor


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """A network's own logits and those of a head, on the same latents. `print` says what follows.

    Attributes:
        logits: (N, C) of the network.
        of_head: (N, C) float64, of the head.
        lower, upper: (N, C) float64: what float32 may compute of the head, whatever the order of its sums
            (`verale/adapters/float32.py` has the derivation).
        proved: whether these ends rest on no stated allowance for numbers that the head holds in float64.
        latents: the least and the greatest coordinate of the latents.
        domain: the two ends of the head's domain; None where it has none.
        alike: what would explain a difference: the options of a head that agrees, the closest first, and in words what
            else fits.
        closer: options of a head that is much closer to the network than the given one, where that agrees too.
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

    @property
    def agrees(self) -> bool:
        """Whether every logit of the network lies where float32 may put the head's, and all latents in the domain."""
        return not bool(self._outside.any()) and self.in_domain

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
                f"largest difference {self.difference:.2g}; float32 may move these logits by up to"
                f" {float(self.allowed.max()):.2g} ({kind})"
            )
            if self.other_classes:
                lines.append(f"within rounding, the two name different classes on {_images(self.other_classes)}")
            if self.closer is not None:
                lines.append(f"note: the logits are {_CLOSER} times closer, or more, with {self.closer}")
        else:
            lines.append(
                f"The head is not this network's: on {int(outside.any(1).sum())} of {_images(count)} their logits"
                " differ by more than float32 explains."
            )
            image, of_class = divmod(int(self._beyond.argmax()), self.logits.shape[1])
            lines.append(
                f"image {image}, class {of_class}: the network's logit is {float(self.logits[image, of_class]):.6g},"
                f" the head's {float(self.of_head[image, of_class]):.6g}; float32 may move it by"
                f" {float(self.allowed[image, of_class]):.2g}"
            )
            lines.append(f"the two name different classes on {self.other_classes} of {_images(count)}")
            lines += [f"the logits agree with {each}" for each in self.alike[:1]]
            lines += [f"they also agree with {each}" for each in self.alike[1:3]]
            if not self.alike:
                lines.append("no option that verale knows explains it: are layer, weights and formulas these?")
        if not self.in_domain:
            lower, upper = ("no end" if end is None else f"{end:g}" for end in self.domain)
            lines.append(
                f"latents lie in [{self.latents[0]:.6g}, {self.latents[1]:.6g}], outside the head's domain (from"
                f" {lower} to {upper}): give the domain that is true of this network, or the layer whose output has it"
            )
        return "\n".join(lines)

    @property
    def _beyond(self) -> Tensor:
        """(N, C) by how much each logit is beyond what float32 allows; negative where it is not."""
        import torch

        logits = self.logits.double()
        return torch.maximum(logits - self.upper, self.lower - logits).nan_to_num(torch.inf)


def check(
    head: Head,
    model: nn.Module,
    layer: str,
    images: Any,
    *,
    logits: Callable[[Any], Any] | None = None,
    calls: int = 1,
) -> ModelComparison:
    """Compare a head's logits with those of the network that it was taken from, and say what explains a difference.

    Args:
        head: the head.
        model: the network. It is unchanged afterwards.
        layer: the layer whose output the head receives, a name of `model.named_modules()` (`verale.adapters.capture`).
        images: (N, 3, H, W), preprocessed as for the network; some dozens are enough.
        logits: takes the network's output and returns its logits (N, C). By default they are found by their shape.
        calls: how often the network calls the layer.

    Returns:
        The comparison: `agrees` says whether the head can be this network's, and `print` says why not. An agreement is
        no proof that head and network are equal: it holds of these images, and up to rounding.

    Raises:
        UsageError: an unknown layer, an output without logits, or a network in half precision.
        LatentsError: a layer whose output is no latents of this head.

    Soundness: a logit outside its interval is certainly not float32's rounding of the head's, under what
    `verale/adapters/float32.py` takes for granted.
    """
    from verale.head import require_head
    from verale.runs.model_images import preprocessed

    require_head(head)
    batches = preprocessed(images).split(BATCH)  # type: ignore[no-untyped-call]
    return compare(head, forward(model, layer, batches, head.classes, logits, calls))


def forward(
    model: nn.Module,
    layer: str,
    batches: Iterable[Tensor],
    classes: int,
    logits: Callable[[Any], Any] | None = None,
    calls: int = 1,
) -> Forward:
    """Latents and logits of batches of images, computed in float32 proper. Raises as `check` does."""
    import torch

    from verale.adapters.latents import capture_and_run, in_float32, require_module

    require_module(model, "verale.check(head, model, layer, images)")
    parameter = next((each for each in model.parameters() if each.is_floating_point()), None)
    if parameter is not None and parameter.dtype not in (torch.float32, torch.float64):
        raise UsageError(f"the model computes in {parameter.dtype}, expected float32: call model.float() first")
    parts = []
    with in_float32():
        for batch in batches:
            some = batch if parameter is None else batch.to(parameter.device, parameter.dtype)
            latents, output = capture_and_run(model, layer, some, calls)
            parts.append((latents.cpu(), _logits(output, len(some), classes, logits).cpu()))
    return Forward(*(torch.cat(each) for each in zip(*parts, strict=True)))


def compare(head: Head, given: Forward) -> ModelComparison:
    """The comparison of `check`, for latents and logits that are at hand. Raises LatentsError."""
    import torch

    from verale.adapters.float32 import float32_logits, proved
    from verale.adapters.neighbours import widened
    from verale.head import as_patches

    patches = as_patches(given.latents, head.depth)
    free = widened(head, patches)
    bounds, logits = float32_logits(free, patches), given.logits.double()
    plain = ModelComparison(
        *(given.logits, head.logits(given.latents), bounds.lower, bounds.upper, proved(head)),
        latents=(float(patches.min()), float(patches.max())),
        domain=(head.domain.lower, head.domain.upper),
    )
    agrees = _inside(bounds, logits)
    # A neighbour that agrees on images where the head does not explains them; a few are enough to find it.
    some = torch.argsort(plain._beyond.amax(1), descending=True, stable=True)[:_TRIED]
    patches, logits, bounds = patches[some], logits[some], bounds[some]
    closest = _closest(free, patches, logits)
    if not agrees:
        alike = [str(each) for _, each in closest if _inside_of(each.head, patches, logits)]
        return replace(plain, alike=tuple(alike or _other_causes(free, patches, logits, bounds)))
    if closest and closest[0][0] * _CLOSER < float((plain.of_head[some] - logits).abs().max()):
        return replace(plain, closer=str(closest[0][1]))
    return plain


def _closest(head: Head, patches: Tensor, logits: Tensor) -> list[tuple[float, Neighbour]]:
    """The neighbours whose logits are closest to the network's, with their largest differences, which are finite.

    Args:
        head: with a domain that holds the latents.
        patches: the latents.
        logits: the network's.
    """
    from verale.adapters.neighbours import neighbours
    from verale.head import evaluate_observed, observables

    observed: tuple[object, Tensor | None, Tensor] | None = None
    compared = []
    for neighbour in neighbours(head, patches.shape[1]):
        other = neighbour.head
        if observed is None or observed[0] != other.geometry or observed[1] is not other.prototypes:
            observed = other.geometry, other.prototypes, observables(other, patches)
        difference = float((evaluate_observed(other, observed[2]).logits - logits).abs().max())
        if difference < float("inf"):
            compared.append((difference, neighbour))
    return sorted(compared, key=lambda each: each[0])[:_NAMED]


def _inside_of(head: Head, patches: Tensor, logits: Tensor) -> bool:
    """Whether a head agrees with the network."""
    from verale.adapters.float32 import float32_logits

    try:
        return _inside(float32_logits(head, patches), logits)
    except LatentsError:
        return False  # a cosine of the zero vector


def _other_causes(head: Head, patches: Tensor, logits: Tensor, bounds: Enclosure) -> Iterator[str]:
    """What else than an option of the head fits: another layer, a bias or factor that is missing, another output."""
    import torch

    from verale.adapters.neighbours import OTHER_LATENTS
    from verale.head import evaluate

    for name, function in OTHER_LATENTS.items():
        if _inside_of(head, function(patches.float()).double(), logits):
            yield f"{name}(latents): name the layer behind it as layer"
    own = evaluate(head, patches).logits
    radius = torch.maximum(bounds.upper - own, own - bounds.lower)
    difference = logits - own
    if len(own) > 1 and bool(((difference - difference.mean(0)).abs() <= 2 * radius).all()):
        bias = ", ".join(f"{each:.6g}" for each in difference.mean(0)[:5].tolist())
        yield f"one more bias a class ({bias}{', ...' if len(own[0]) > 5 else ''}): the head lacks it"
    factor = float((logits * own).sum() / own.square().sum())
    if bool(((logits - factor * own).abs() <= 2 * abs(factor) * radius + _SLACK * radius.amax()).all()):
        yield f"all logits times {factor:.4g}: the head lacks a factor, such as a temperature"
    least = radius.amax(1, keepdim=True)
    outputs = {
        "softmax(logits)": (own.softmax(1), 2 * least + _SLACK),
        "log_softmax(logits)": (own.log_softmax(1), 2 * least + _SLACK * (1 + logits.abs())),
        "log(logits)": (own.log(), radius / own.abs() + _SLACK * (1 + logits.abs())),
    }
    for name, (expected, allowed) in outputs.items():
        if bool(((logits - expected).abs() <= allowed).all()):
            yield f"{name}: the network returns that; say with logits=... how its logits follow from its output"


def _inside(bounds: Enclosure, logits: Tensor) -> bool:
    return bool(((bounds.lower <= logits) & (logits <= bounds.upper)).all())


def _logits(output: Any, images: int, classes: int, pick: Callable[[Any], Any] | None) -> Tensor:
    """The logits (N, C) in a network's output. Raises UsageError."""
    tensors = list(_tensors(output if pick is None else pick(output)))
    fitting = [each for each in tensors if tuple(each.shape) == (images, classes) and each.is_floating_point()]
    if len(fitting) != 1:
        shapes = ", ".join(str(tuple(each.shape)) for each in tensors) or "no tensor"
        raise UsageError(
            f"the model returns {shapes}, expected one tensor of logits of shape {(images, classes)}: say which it is,"
            " with logits=lambda output: ..."
        )
    return fitting[0].detach()


def _tensors(output: Any) -> Iterator[Tensor]:
    """The tensors of an output, in its order."""
    import torch

    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, dict):
        for each in output.values():
            yield from _tensors(each)
    elif isinstance(output, (tuple, list)):
        for each in output:
            yield from _tensors(each)


def _images(count: int) -> str:
    return f"{count} image" if count == 1 else f"{count} images"
