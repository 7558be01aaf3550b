"""From a model in memory to a complete folder: its head, its latents, certificates, and where all of it comes from."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from verale.adapters import ARCHITECTURES
from verale.adapters.accounts import said_of
from verale.adapters.cabrnet.heads import head_of_model, is_cabrnet
from verale.adapters.fields import Origin
from verale.adapters.latents import find_layer, require_module
from verale.adapters.published import calling, fitting, head_of_own, reservation
from verale.adapters.receptive_field import fields_of
from verale.adapters.state import unwrap
from verale.certificate import Certificate
from verale.errors import HeadError, UsageError
from verale.files import in_one_line
from verale.head import Head, require_head, require_kind
from verale.options import keywords
from verale.runs.agreement import ModelComparison
from verale.runs.capture import captured_before
from verale.runs.check import Capture, compare
from verale.runs.explain import open_run
from verale.runs.inputs import SOURCE, TABLE
from verale.runs.model_images import ImageFiles, ImageTensors, ModelImages, known_labels, model_images
from verale.runs.options import RunOptions
from verale.runs.source import SourceFile, allowing
from verale.runs.table import Explained, reasons
from verale.search.options import SearchOptions
from verale.version import __version__

_log = logging.getLogger(__name__)

_OWN = "head=verale.Head(weight, geometry, similarity, prototypes): docs/architectures.md#a-head-of-your-own"
"""What to give where no published architecture fits."""

_ON_ITS_PATCH = 1e-3  # how much a coordinate of a prototype may differ from the patch that it was copied from


@dataclass(frozen=True, eq=False)
class ExplainedModel:
    """What `explain_model` has written. `print` says how many images have a certificate, and what to do next.

    Attributes:
        folder: OUT.
        head: the network's head.
        comparison: the network's logits beside the head's; None where an earlier call had captured and compared them.
        rows: one for each image, as in `explanations.csv`.
    """

    folder: Path
    head: Head
    comparison: ModelComparison | None
    rows: tuple[Explained, ...]

    @property
    def certificates(self) -> list[Certificate | None]:
        """One for each image; None where there is none (`rows` has the reason)."""
        return [
            None if row.certificate is None else Certificate.load(self.folder / row.certificate) for row in self.rows
        ]

    def __str__(self) -> str:
        explained = sum(row.certificate is not None for row in self.rows)
        lines = [f"{explained} of {len(self.rows)} images have a certificate in {self.folder}"]
        lines += [] if self.comparison is None else [str(self.comparison)]
        lines += reasons(self.rows, self.folder / TABLE)
        if not explained:
            return "\n".join([*lines, "next: what the reasons say, or another paradigm, with overwrite=True"])
        commands = {"audit": "", "report": allowing(self.folder), "summary": ""}
        return "\n".join(
            [*lines, "next:", *(f"  verale {name} {self.folder}{options}" for name, options in commands.items())]
        )


@keywords(SearchOptions)
def explain_model(
    model: nn.Module,
    layer: str,
    images: object,
    *,
    out: str | Path,
    arch: str | None = None,
    options: Mapping[str, object] | None = None,
    head: Head | None = None,
    preprocess: Callable[[Any], Any] | None = None,
    labels: Sequence[int] | None = None,
    class_names: Sequence[str] | None = None,
    prototype_images: object = None,
    logits: Callable[[Any], Any] | None = None,
    calls: int = 1,
    arguments: Mapping[str, object] | None = None,
    overwrite: bool = False,
    jobs: int | None = None,
    **search: Any,
) -> ExplainedModel:
    """Explain what a model says about images, and write a complete folder.

    `verale audit OUT`, `verale report OUT` and `verale summary OUT` take the folder without another option. It gets the
    head, the latents, a certificate for each image, `explanations.csv`, and `source.json`, which binds all of it to the
    images. After an interruption the same call continues.

    Args:
        model: any torch model. It is unchanged afterwards.
        layer: the layer whose output its head receives, a name of `model.named_modules()`; `extractor` of CaBRNet's.
        images: a tensor (N, 3, H, W) of preprocessed images; or image files, or the path of a folder of them, in one
            subfolder for each class if the classes are known: the class of that name or, without names, in their order.
            Of a tensor, SHA-256 of each image's values is noted, and pictures are written to `OUT/images`. Of files,
            SHA-256 of their bytes is noted, and the steps of the callable.
        out: the folder.
        arch: which published architecture's tensors the model has (`verale.adapters.ARCHITECTURES`). A model of
            CaBRNet's needs none, nor one whose tensors and class fit one architecture alone.
        options: what the tensors do not say, such as `{"epsilon": 1e-4, "activation": "log", "domain": Box(0, 1)}`:
            keywords of `verale.adapters.head_of`.
        head: the head itself, instead of `arch` and `options`.
        preprocess: for files, a callable from a picture (PIL, RGB) to a tensor (3, H, W), such as torchvision's.
        labels: N true classes, if they are known. Of a folder with one subfolder for each class they are.
        class_names: the names of the C classes.
        prototype_images: for each prototype the training image that it was projected from, or None: a list of files or
            of tensors, or a tensor. The patch is found by its latents; where it is not there, a warning says so.
        logits: takes the model's output and returns its logits (N, C). By default they are found by their shape.
        calls: how often the model calls the layer; ProtoPFormer calls its add-on 2 times.
        arguments: what the model takes beside images, by name. Those of published code are known: PIP-Net's `inference`
            follows the head's threshold, and MGProto's `gt` is None.
        overwrite: start again, and remove what an earlier run noted in the folder.
        jobs: how many processes explain; by default one for each core, where the images take seconds. The caller needs
            no main guard.
        search: how to explain, as of `verale.explain`.

    Raises:
        HeadError: the head does not compute the model's logits, and which option would; or a tensor is missing.
        UsageError: an argument that does not fit.
        LatentsError: a layer whose output is no latents of this head, or labels that do not fit.
        InputError: an image that cannot be read, or a folder that holds something else.

    Soundness: certificates are about the head. That the head is the model's is compared on these images, within what
    float32 may do (`verale.check`); that the latents are those of the images, only the model can tell.
    """
    require_module(model, "verale.explain_model(model, layer, images, out=...)")
    _require(out=out, options=options, class_names=class_names, prototype_images=prototype_images)
    _require(jobs=jobs, overwrite=overwrite)
    model, layer, _ = find_layer(model, layer)
    arch, found = _head(model, arch, dict(options or {}), head)
    if arch is not None:
        arguments, logits = calling(arch, model, found, arguments, logits)
    if class_names is not None:
        found = replace(found, labels=tuple(map(str, class_names)))
    found = found.as_compared()  # before anything is written, it is; named by the bytes that are written
    given = model_images(images, preprocess, "images")
    origins = _PrototypeImages.of(prototype_images, preprocess, found)
    search_options = SearchOptions.of(search)
    how = RunOptions(jobs, overwrite)
    known, classes = known_labels(given, labels, found)
    directory = Path(out)
    capture = Capture(model, layer, found.classes, logits, calls, arguments)
    described: dict[str, Any] = {
        "model": f"{type(model).__module__}.{type(model).__qualname__}",
        "layer": layer,
        "state_sha256": _digest_of_state(model),
        "versions": {"verale": __version__, "torch": torch.__version__},
        "head_sha256": found.digest,
        "arch": arch,
        "prototype_images": None,
    }
    if origins is not None:
        bound = origins.images.entries([None] * len(origins.images))
        described["prototype_images"] = [image.sha256 for image in bound]
    names = class_names or classes
    source = SourceFile.build(
        described | given.describe(),
        str(given.folder),
        None if names is None else list(map(str, names)),
        given.entries(known or [None] * len(given)),
    )
    shown = [given, *([] if origins is None else [origins.images])]
    inputs = [file for images in shown if isinstance(images, ImageFiles) for file in images.files]
    _, latents = captured_before(directory, source, overwrite, inputs)
    comparison, beside = None, {}
    if latents is None:
        latents, comparison = _compared(capture, found, given, known, arch)
        places = None if origins is None else origins.places(capture, found)
        fields = None if calls != 1 else fields_of(model, next(iter(given.batches(1)))[0], layer)
        source = source.noting(receptive_fields=None if fields is None else fields.record()).of_latents(latents)
        source = source.noting(largest_difference_of_logits=comparison.difference, prototypes=places)
        beside = {SOURCE: source.to_bytes()}
        for images in shown:
            beside |= images.drawn() if isinstance(images, ImageTensors) else {}
    run = open_run(directory, found, latents, search_options, known, how, beside=beside, inputs=inputs)
    with run as opened:
        rows = [*opened.rows, *opened]
    return ExplainedModel(directory, found, comparison, tuple(sorted(rows, key=lambda row: row.index)))


def _compared(
    capture: Capture, head: Head, images: ModelImages, labels: Sequence[int] | None, arch: str | None
) -> tuple[Tensor, ModelComparison]:
    """The model's latents, and its logits beside the head's. Raises HeadError: the head does not compute them."""
    compared = capture.forward(images)
    comparison = compare(head, compared, labels)
    if not comparison.agrees:
        cause = comparison.alike[0] if comparison.alike else ""
        named = cause.split("=")[0] if "; you gave " in cause else "logits"
        left_out = None if arch is None else reservation(arch, unwrap(capture.model.state_dict()))
        raise HeadError(
            named if comparison.in_domain or cause else "domain",
            "; ".join([*str(comparison).splitlines(), *([left_out] if left_out else [])]),
        )
    if comparison.other_classes or comparison.closer is not None:
        _log.warning("%s", comparison)
    for warning in comparison.warnings:
        _log.warning("%s", warning)
    return compared.latents, comparison


def _require(**given: object) -> None:
    """Raise UsageError for arguments of another kind than those that `explain_model` takes."""
    some = (list, tuple, np.ndarray, torch.Tensor)
    expected: dict[str, tuple[tuple[type, ...], str]] = {
        "out": ((str, os.PathLike), "the path of a folder"),
        "options": ((Mapping, type(None)), "a dictionary such as {'epsilon': 1e-4}"),
        "class_names": ((list, tuple, np.ndarray, type(None)), "a list of names, one a class"),
        "prototype_images": (
            (*some, type(None)),
            "a tensor, or a list with an image (a file, or a tensor) or None for each prototype",
        ),
        "jobs": ((int, type(None)), "a number of processes"),
        "overwrite": ((int,), "True or False"),
    }
    for name, value in given.items():
        require_kind(name, value, *expected[name])


def _head(model: nn.Module, arch: str | None, options: dict[str, Any], head: Head | None) -> tuple[str | None, Head]:
    """The architecture, where there is one, and the head: given, or the model's. Raises UsageError, HeadError."""
    if head is not None:
        if arch is not None or options:
            raise UsageError("head is given, expected no arch and no options beside it")
        return None, require_head(head)
    if arch is None and options:
        raise UsageError(f"options are given ({', '.join(options)}), expected arch=... too")
    if arch is None and is_cabrnet(model):
        return None, head_of_model(model)
    if arch is None:
        said = said_of({})
        said["class"] = type(model).__name__
        state = model.state_dict()
        names = fitting(state, said) if state else []
        if len(names) != 1:
            fit = " or ".join(map(repr, names))
            raise UsageError(
                "arch is missing, expected the architecture of the model's tensors"
                + (f": its tensors fit {fit}" if names else f", one of {', '.join(ARCHITECTURES)}, or {_OWN}")
            )
        (arch,) = names
    return arch, head_of_own(arch, model, options)


@dataclass(frozen=True, eq=False)
class _PrototypeImages:
    """The training images of prototypes."""

    prototypes: list[int]
    images: ModelImages

    @classmethod
    def of(cls, given: Any, preprocess: Callable[[Any], Any] | None, head: Head) -> _PrototypeImages | None:
        """As `explain_model` takes them. Raises UsageError."""
        if given is None:
            return None
        if len(given) != head.size:
            raise UsageError(
                f"prototype_images has {len(given)} entries, expected {head.size}, an image or None for each prototype"
            )
        present = [index for index, each in enumerate(given) if each is not None]
        if not present:
            return None
        kept = given if len(present) == len(given) else [given[index] for index in present]
        if all(isinstance(each, torch.Tensor) for each in kept):
            if len({each.shape for each in kept}) > 1:
                raise UsageError("prototype_images are tensors of several shapes, expected (3, H, W) of one size")
            kept = kept if isinstance(kept, torch.Tensor) else torch.stack(list(kept))
        return cls(present, model_images(kept, preprocess, "prototype_images", "prototype_images"))

    def places(self, capture: Capture, head: Head) -> list[dict[str, Any]]:
        """For each prototype the patch that it was copied from. Raises UsageError, LatentsError."""
        latents = capture.forward(self.images).latents.double()
        if latents.dim() != 4:
            raise UsageError("prototype_images is given, expected none: the latents have no grid of rows and columns")
        files: Sequence[Path | None] = self.images.files or [None] * len(self.prototypes)
        entries = []
        for number, (prototype, file) in enumerate(zip(self.prototypes, files, strict=True)):
            place = _place(head, prototype, latents[number])
            if place is None:
                _log.warning("prototype %d is no patch of its image in prototype_images, so it is left out", prototype)
                continue
            entries.append(Origin(prototype, number, file, *place).record())
        return entries


def _place(head: Head, prototype: int, latents: Tensor) -> tuple[int, int] | None:
    """Row and column of the patch (D, H, W) that is a prototype; None if it is not there."""
    columns = latents.shape[2]
    if head.prototypes is None:  # of a softmax head the channel is greatest where the prototype is
        row, column = divmod(int(latents.softmax(0)[prototype].argmax()), columns)
        return row, column
    patches, point = latents.flatten(1).T, head.prototypes[prototype].double()
    if not head.geometry.is_distance:
        patches, point = normalize(patches, dim=1), normalize(point, dim=0)
    apart = (patches - point).abs().amax(1)
    if float(apart.min()) > _ON_ITS_PATCH:
        return None
    row, column = divmod(int(apart.argmin()), columns)
    return row, column


def _digest_of_state(model: nn.Module) -> str:
    """SHA-256 of all parameters and buffers: name, type and shape in words, and the bytes, in the order of names."""
    whole = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        if isinstance(tensor, torch.Tensor):
            values = tensor.detach().cpu().contiguous()
            whole.update(in_one_line(name.encode()) + f" {values.dtype} {list(values.shape)}\n".encode())
            whole.update(values.flatten().view(torch.uint8).numpy().tobytes() if values.numel() else b"")
    return whole.hexdigest()
