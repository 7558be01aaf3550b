"""Is this head this network's? Its logits beside those of the network itself, within what float32 may do to them.

A network may return what its logits follow from, as far as a decision needs them. A decision depends on differences of
logits alone. log_softmax adds one number to all logits of an image, and so does the logarithm of a softmax. The
logarithm of the logits has their order.

What float32 does: x -> x - max x - ln(sum) rounds twice, by at most 2^-24 of the result each time, but for what it adds
to all entries of an image alike; an exponential, a logarithm and a quotient are off by some units in the last place.
With y the logarithm, `_ROUNDING` (|y| + 4) is more than all of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from verale.adapters.endings import Ending, ending_of
from verale.adapters.float32 import float32_logits, proved
from verale.adapters.freezing import first_difference, frozen
from verale.adapters.latents import capture_and_run, find_layer, in_float32, require_module
from verale.adapters.neighbours import OTHER_LATENTS, Neighbour, fitted, neighbours, widened
from verale.certificate.words import about
from verale.errors import LatentsError, UsageError, first_line
from verale.head import (
    Head,
    as_patches,
    described,
    evaluate,
    evaluate_observed,
    observables,
    require_head,
    require_kind,
)
from verale.network import FrozenNetwork
from verale.rounding import Enclosure
from verale.runs.agreement import CLOSER, ModelComparison
from verale.runs.model_images import ModelImages, known_labels, model_images

BATCH = 64
"""Images that the network receives at once."""

_TRIED, _NAMED = 16, 6
"""On how many images neighbours are tried, and how many of them are compared within float32's rounding."""

_SLACK = 1e-4  # how far softmax and its like may be off in float32, relative to 1 and to their size: for hints alone


_OF_A_BYTE = 2.0**-10
"""How far (x std + mean) 255 of a float32 image may be from a byte: more than its roundings, less than a number counts
that is none."""


@dataclass(frozen=True, eq=False)
class Forward:
    """What a network gave for images, on the CPU: latents (N, D, H, W) or (N, L, D) of the named layer, its own logits
    (N, C), the least and the greatest number of the images, and where the layer's last module puts the latents; None of
    what is not known."""

    latents: Tensor
    logits: Tensor
    images: tuple[float, float] | None = None
    ending: Ending | None = None


def check(
    head: Head,
    model: nn.Module,
    layer: str,
    images: object,
    *,
    labels: Sequence[int] | None = None,
    preprocess: Callable[[Any], Any] | None = None,
    logits: Callable[[Any], Any] | None = None,
    calls: int = 1,
    arguments: Mapping[str, object] | None = None,
    network: FrozenNetwork | None = None,
) -> ModelComparison:
    """Compare a head's logits with those of the network that it was taken from, and say what explains a difference.

    With a network file, this is compared with the module too, from the picture to the latents, step by step in float64.

    Args:
        head: the head.
        model: the network. It is unchanged afterwards.
        layer: the layer whose output the head receives, a name of `model.named_modules()` (`verale.adapters.capture`).
        images: (N, 3, H, W), preprocessed as for the network; or image files, or the path of a folder of them. Some
            dozens are enough.
        labels: N true classes, if they are known; of a folder with one subfolder for each class they are. Then the
            comparison says on how many images the network is right.
        preprocess: for files, a callable from a picture (PIL, RGB) to a tensor (3, H, W), such as torchvision's.
        logits: takes the network's output and returns its logits (N, C). By default they are found by their shape. Of
            a network that returns their softmax or log_softmax, differences of logits are compared; of one that returns
            their logarithm, what its exponential is.
        calls: how often the network calls the layer.
        arguments: what the network takes beside images, by name, such as `{"inference": True}`.
        network: the module's network file, frozen by `verale.export_network`. Then the images have to be bytes,
            normalised by its mean and std.

    Returns:
        The comparison: `agrees` says whether the head (and the network file) can be this network's, and `print` says
        why not: the first layer that differs, for example. An agreement is no proof that they are equal: it holds of
        these images, and up to rounding.

    Raises:
        UsageError: an unknown layer, images that the network does not take, an output without logits, or a network in
            half precision.
        LatentsError: a layer whose output is no latents of this head, or labels that do not fit.
        InputError: an image that cannot be read.
        NetworkError: with a network file, a module that computes something that such files do not know.

    Soundness: a logit outside its interval is certainly not float32's rounding of the head's, under what
    `verale/adapters/float32.py` takes for granted.
    """
    require_head(head)
    given = model_images(images, preprocess, "images")
    known, _ = known_labels(given, labels, head)
    answers = Capture(model, layer, head.classes, logits, calls, arguments).forward(given)
    comparison = compare(head, answers, known)
    if network is None:
        return comparison
    difference = network_difference(network, model, layer, given.batches(BATCH))
    return replace(comparison, of_network=difference or "")


@dataclass(frozen=True, eq=False)
class Capture:
    """How a network's latents and logits are had: see `check`; `classes` is the number of its logits."""

    model: nn.Module
    layer: str
    classes: int
    logits: Callable[[Any], Any] | None = None
    calls: int = 1
    arguments: Mapping[str, object] | None = None

    def forward(self, images: ModelImages) -> Forward:
        """Latents and logits of images, computed in float32 proper. Raises as `check` does."""
        require_module(self.model, "verale.check(head, model, layer, images)")
        if self.logits is not None and not callable(self.logits):
            raise UsageError(
                f"logits is {described(self.logits)}, expected a function, such as lambda output: output[0]"
            )
        numbers = [each for each in self.model.parameters() if each.is_floating_point()]
        for each in numbers:
            if each.dtype not in (torch.float32, torch.float64):
                raise UsageError(f"the model computes in {each.dtype}, expected float32: call model.float() first")
        parts, ends = [], []
        with in_float32():
            for batch in images.batches(BATCH):
                some = batch.to(numbers[0].device, numbers[0].dtype) if numbers else batch
                latents, output = capture_and_run(self.model, self.layer, some, self.calls, self.arguments)
                parts.append((latents.cpu(), _logits(output, len(some), self.classes, self.logits).cpu()))
                ends += [float(batch.min()), float(batch.max())]
        ending = ending_of(find_layer(self.model, self.layer)[2])
        all_latents, all_logits = (torch.cat(each) for each in zip(*parts, strict=True))
        return Forward(all_latents, all_logits, (min(ends), max(ends)), ending)


def compare(head: Head, given: Forward, labels: Sequence[int] | None = None) -> ModelComparison:
    """The comparison of `check`, for latents and logits that are at hand. Raises LatentsError."""
    patches = as_patches(given.latents, head.depth)
    free = widened(head, patches)
    bounds, logits = float32_logits(free, patches), given.logits.double()
    plain = ModelComparison(
        *(given.logits, head.logits(given.latents), bounds.lower, bounds.upper, proved(head)),
        latents=(float(patches.min()), float(patches.max())),
        domain=(head.domain.lower, head.domain.upper),
        labels=None if labels is None else tuple(labels),
        images=given.images,
        ending=given.ending,
    )
    agrees = _inside(bounds, logits)
    found = None if agrees else restored(logits, plain.of_head, bounds.lower, bounds.upper)
    if found is not None:
        return replace(plain, logits=found.logits, lower=found.lower, upper=found.upper, returned=found.form)
    # A neighbour that agrees on images where the head does not explains them; a few are enough to find it.
    whole, all_logits = patches, logits
    some = torch.argsort(plain._beyond.amax(1), descending=True, stable=True)[:_TRIED]
    patches, logits, bounds = patches[some], logits[some], bounds[some]
    closest = _closest(free, patches, logits)
    if not agrees:
        alike = [str(each) for _, each in closest if _inside_of(each.head, patches, logits)]
        if not alike:  # numbers of few digits, fitted to some images, that explain all logits of all
            explained = {}
            for each in fitted(free, patches, logits):
                option, own = each.option, each.head
                if option not in explained and _inside_of(own, patches, logits) and _inside_of(own, whole, all_logits):
                    explained[option] = f"{option}={each.value}, which explains all logits; you gave {each.given}"
            alike = [*explained.values()]
        return replace(plain, alike=tuple(alike or _other_causes(free, patches, logits, bounds)))
    if closest and closest[0][0] * CLOSER < float((plain.of_head[some] - logits).abs().max()):
        return replace(plain, closer=str(closest[0][1]))
    return plain


def _closest(head: Head, patches: Tensor, logits: Tensor) -> list[tuple[float, Neighbour]]:
    """The neighbours, of finite logits, that are closest to the network; the head's domain holds the latents."""
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
    try:
        return _inside(float32_logits(head, patches), logits)
    except LatentsError:
        return False  # a cosine of the zero vector


def _other_causes(head: Head, patches: Tensor, logits: Tensor, bounds: Enclosure) -> Iterator[str]:
    """What else than an option of the head fits: another layer, a bias or factor that is missing, another output."""
    for name, function in OTHER_LATENTS.items():
        if _inside_of(head, function(patches.float()).double(), logits):
            yield f"{name}(latents): name the layer behind it as layer"
    own = evaluate(head, patches).logits
    radius = torch.maximum(bounds.upper - own, own - bounds.lower)
    difference = logits - own
    if len(own) > 1 and bool(((difference - difference.mean(0)).abs() <= 2 * radius).all()):
        bias = ", ".join(about(each, 6) for each in difference.mean(0)[:5].tolist())
        yield f"one more bias a class ({bias}{', ...' if len(own[0]) > 5 else ''}): the head lacks it"
    factor = float((logits * own).sum() / own.square().sum())
    if bool(((logits - factor * own).abs() <= 2 * abs(factor) * radius + _SLACK * radius.amax()).all()):
        yield f"all logits times {about(factor)}: the head lacks a factor, such as a temperature"


def _inside(bounds: Enclosure, logits: Tensor) -> bool:
    return bool(((bounds.lower <= logits) & (logits <= bounds.upper)).all())


def _logits(output: object, images: int, classes: int, pick: Callable[[Any], Any] | None) -> Tensor:
    """The logits (N, C) in a network's output. Raises UsageError."""
    try:
        picked = output if pick is None else pick(output)
    except Exception as error:  # whatever a function of the caller's raises
        raise UsageError(f"logits fails on the model's output: {type(error).__name__}: {first_line(error)}") from error
    tensors = list(_tensors(picked))
    fitting = [each for each in tensors if tuple(each.shape) == (images, classes) and each.is_floating_point()]
    if len(fitting) != 1:
        shapes = ", ".join(str(tuple(each.shape)) for each in tensors) or "no tensor"
        raise UsageError(
            f"the model returns {shapes}, expected one tensor of logits of shape {(images, classes)}: say which it is,"
            " with logits=lambda output: ..."
        )
    return fitting[0].detach()


def _tensors(output: object) -> Iterator[Tensor]:
    """The tensors of an output, in its order."""
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, dict):
        for each in output.values():
            yield from _tensors(each)
    elif isinstance(output, (tuple, list)):
        for each in output:
            yield from _tensors(each)


def network_difference(network: FrozenNetwork, model: nn.Module, layer: str, batches: Iterable[Tensor]) -> str | None:
    """What of a network file differs from a module, whose layer gives what the head receives, in words; None where
    nothing does. Images are (N, C, H, W), preprocessed as for the module. Raises UsageError: no network, or images of
    another shape than the file's; NetworkError, InputError: the module computes something that network files do not
    know."""
    require_kind("network", network, FrozenNetwork, "a network file: write verale.network.FrozenNetwork.load(path)")
    given = frozen(model, layer, network.shape, network.mean, network.std)
    for images in batches:
        if tuple(images.shape[1:]) != network.shape:
            raise UsageError(
                f"images are {tuple(images.shape)}, expected (N, C, H, W) with the network's {network.shape}"
            )
        mean, std = (torch.tensor(each, dtype=torch.float64)[:, None, None] for each in (network.mean, network.std))
        values = (images.cpu().double() * std + mean) * 255
        near = values.round()
        if not bool(((values - near).abs() <= _OF_A_BYTE).all() and (near >= 0).all() and (near <= 255).all()):
            return (
                f"images are not (v / 255 - mean) / std of bytes v with the file's mean {network.mean} and std"
                f" {network.std}: does it have the network's normalisation?"
            )
        difference = first_difference(given, network, images.cpu())
        if difference is not None:
            return f"layer {difference.layer!r} of the network file differs from the module's: {difference}"
    return None


_ROUNDING = 2.0**-22

_SUM = 1e-3  # how far the sum of a softmax may be from 1, in any arithmetic: what is farther is no softmax

_LEAST = 2.0**-126
"""Float32 numbers below this are rounded to fewer digits, or to 0. Of these only that they are small is compared."""


@dataclass(frozen=True, eq=False)
class Restored:
    """Logits (N, C) float64 that follow from a network's outputs, and the head's ends, widened by the form's
    rounding."""

    form: str
    logits: Tensor
    lower: Tensor
    upper: Tensor


def restored(outputs: Tensor, own: Tensor, lower: Tensor, upper: Tensor) -> Restored | None:
    """The logits that a network's outputs stand for, if a head computes these; None if it does not, in any form. All
    are (N, C) float64: `own` are the head's logits, and `lower` and `upper` what float32 may make of these."""
    if bool(outputs.isnan().any()):
        return None
    if bool((outputs >= 0).all() and ((outputs.sum(1) - 1).abs() <= _SUM).all()):
        shown = outputs >= _LEAST
        logs = outputs.clamp(min=_LEAST).log()
        return _shifted("softmax(logits)", logs, shown, own, lower, upper)
    if bool(outputs.isfinite().all() and (torch.logsumexp(outputs, 1).abs() <= _SUM).all()):
        return _shifted("log_softmax(logits)", outputs, outputs.isfinite(), own, lower, upper)
    logits = outputs.exp()
    slack = (logits * _ROUNDING * (outputs.abs() + 4)).nan_to_num(0)
    found = Restored("log(logits)", logits, lower - slack, upper + slack)
    inside = logits.isfinite() & (found.lower <= logits) & (logits <= found.upper)
    return found if bool(inside.all()) else None


def _shifted(form: str, logs: Tensor, shown: Tensor, own: Tensor, lower: Tensor, upper: Tensor) -> Restored | None:
    """Logits that differ from these logarithms by one number an image.

    The number k of an image has to put every y + k between the head's ends: k lies in [lower - y, upper - y] for each
    class, with y rounded. Of a class that is not shown, only y <= `logs` is certain.
    """
    slack = _ROUNDING * (logs.abs() + 4)
    least = (lower - logs - slack).amax(1)
    most = torch.where(shown, upper - logs + slack, torch.inf).amin(1)
    if bool((least > most).any()):
        return None
    at_winner = (own - logs).gather(1, logs.argmax(1, keepdim=True))[:, 0]
    shift = torch.minimum(torch.maximum(at_winner, least), most)[:, None]
    logits = torch.where(shown, logs + shift, torch.minimum(own, logs + slack + shift))
    return Restored(form, logits, lower - slack, upper + slack)
