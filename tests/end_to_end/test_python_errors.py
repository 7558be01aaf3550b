"""Python that helps: every public function takes objects, and says of each wrong one what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from support.boxes import coordinates
from support.cases import every
from support.small import small_head, small_latents
from torch import nn

import verale
from verale.adapters import capture, head_of
from verale.checker import Status
from verale.checker.read.head_file import METADATA_KEY as HEAD_KEY
from verale.errors import HeadError, LatentsError, UsageError

HEAD = small_head("euclidean")
LATENTS = small_latents(HEAD)
DEPTH = HEAD.depth


@cache
def certificates() -> list[verale.Certificate]:
    """Those of the images that have one."""
    return [one for one in verale.explain(HEAD, LATENTS, "mixed") if isinstance(one, verale.Certificate)]


def first_certificate() -> verale.Certificate:
    return certificates()[0]


def contrasted(certificate: Any, head: Any, latents: Any) -> Any:
    goal = (first_certificate().predicted + 1) % HEAD.classes
    return verale.contrast(certificate, head, goal, latents, seconds=0).at_least


def asked(necessity: Any) -> list[Any]:
    """Of which statements it tells: what it finds of them depends on how far a search comes in its time."""
    return [each["statement"] for each in necessity.record()["needed"]]


class Net(nn.Module):
    """A network of one layer, whose output has the head's depth."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, DEPTH, 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.layer(images)


def saved(latents: Any) -> bytes:
    path = Path.cwd() / "written"
    verale.save_latents(path, latents)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


OF_LATENTS: dict[str, Callable[[Any], Any]] = {
    "save_latents": saved,
    "Head.logits": lambda latents: HEAD.logits(latents).tolist(),
    "explain": lambda latents: [one.to_bytes() for one in verale.explain(HEAD, latents, "projection")],
    "audit": lambda latents: verale.audit(first_certificate(), HEAD, latents),
    "refute": lambda latents: verale.refute(first_certificate(), HEAD, latents, seconds=0).reason,
    "necessity": lambda latents: asked(verale.necessity(first_certificate(), HEAD, latents, seconds=0)),
    "contrast": lambda latents: contrasted(first_certificate(), HEAD, latents),
}
"""Every public function that takes latents."""


@cache
def as_they_are(name: str) -> Any:
    """What such a function makes of the latents."""
    return OF_LATENTS[name](LATENTS)


OF_A_HEAD: dict[str, Callable[[Any], Any]] = {
    "check": lambda head: verale.check(head, torch.nn.Identity(), "", LATENTS).agrees,
    "explain": lambda head: [one.to_bytes() for one in verale.explain(head, LATENTS, "projection")],
    "audit": lambda head: verale.audit(first_certificate(), head, LATENTS),
    "refute": lambda head: verale.refute(first_certificate(), head, LATENTS, seconds=0),
    "necessity": lambda head: verale.necessity(first_certificate(), head, LATENTS, seconds=0).record(),
    "contrast": lambda head: contrasted(first_certificate(), head, LATENTS),
}
"""Every public function that takes a head."""

OF_A_CERTIFICATE: dict[str, Callable[[Any], Any]] = {
    "audit": lambda certificate: verale.audit(certificate, HEAD, LATENTS),
    "refute": lambda certificate: verale.refute(certificate, HEAD, LATENTS, seconds=0),
    "necessity": lambda certificate: verale.necessity(certificate, HEAD, LATENTS, seconds=0).record(),
    "contrast": lambda certificate: contrasted(certificate, HEAD, LATENTS),
}
"""Every public function that takes a certificate."""

TAKES_PATHS = ("audit", "refute", "necessity", "contrast")
TAKES_NO_HEAD = ("save_latents",)


@dataclass(frozen=True)
class Wrong:
    """Something wrong, the sentence that every function says of it, and the functions for which it is not wrong."""

    value: Any
    sentence: str
    but: tuple[str, ...] = ()


_SHAPES = "(N, D, H, W) or (N, L, D)"
_CAPTURED = "verale.adapters.capture(model, layer, images) gives latents"

LATENTS_THAT_ARE_WRONG = {
    "a model": Wrong(
        Net(),
        f"latents are a module (Net), expected a tensor or an array {_SHAPES}: write"
        " verale.adapters.capture(model, layer, images)",
    ),
    "a path": Wrong(
        "z.safetensors",
        f"latents are a path ('z.safetensors'), expected a tensor or an array {_SHAPES}: write"
        " verale.load_latents('z.safetensors')",
        TAKES_PATHS,
    ),
    "a head": Wrong(HEAD, f"latents are a Head, expected a tensor or an array {_SHAPES}: {_CAPTURED}"),
    "images in a list": Wrong(
        list(LATENTS),
        f"latents are a list, expected a tensor or an array {_SHAPES}: write torch.stack(latents), or"
        " torch.cat(latents) of batches",
    ),
    "a file's tensors": Wrong(
        {"latents": LATENTS},
        f"latents are a dict, expected a tensor or an array {_SHAPES}: give the entry that holds them",
    ),
    "half precision": Wrong(
        LATENTS.half(),
        "latents have dtype torch.float16, expected float32 or float64: write torch.as_tensor(latents).float()",
    ),
    "half precision, numpy": Wrong(
        LATENTS.half().numpy(),
        "latents have dtype torch.float16, expected float32 or float64: write torch.as_tensor(latents).float()",
    ),
    "pixels": Wrong(
        np.zeros((1, 8, 8, 3), dtype=np.uint8),
        f"latents have dtype torch.uint8, expected float32 or float64: {_CAPTURED}",
    ),
    "the patches of one image": Wrong(
        LATENTS[0], f"latents have shape (5, 6), expected {_SHAPES}: write latents[None] for a single image"
    ),
    "too many dimensions": Wrong(
        LATENTS[None, None], f"latents have shape (1, 1, 4, 5, 6), expected {_SHAPES}: {_CAPTURED}"
    ),
    "no patches": Wrong(LATENTS[:, :0], f"latents have shape (4, 0, 6), expected {_SHAPES}: {_CAPTURED}"),
    "a single image": Wrong(
        torch.rand(DEPTH, 2, 3),
        "latents have 3 channels in shape (6, 2, 3), expected the head's 6: write latents[None] for a single"
        " image (D, H, W)",
        TAKES_NO_HEAD,
    ),
    "channels before patches": Wrong(
        LATENTS.swapaxes(1, 2),
        "latents have 5 channels in shape (4, 6, 5), expected the head's 6: write latents.swapaxes(1, 2) for (N, D, L)",
        TAKES_NO_HEAD,
    ),
    "channels last": Wrong(
        torch.rand(4, 2, 3, DEPTH).numpy(),
        "latents have 2 channels in shape (4, 2, 3, 6), expected the head's 6: write"
        " torch.as_tensor(latents).movedim(-1, 1) for (N, H, W, D)",
        TAKES_NO_HEAD,
    ),
    "another network's": Wrong(
        torch.rand(4, 5, 7),
        "latents have 7 channels in shape (4, 5, 7), expected the head's 6: are they another network's?",
        TAKES_NO_HEAD,
    ),
    "NaN": Wrong(
        LATENTS.index_fill(0, torch.tensor(2), torch.nan),
        "latents of image 2 hold NaN or infinity, expected finite numbers",
    ),
    "infinity": Wrong(
        LATENTS.index_fill(0, torch.tensor(1), -torch.inf).numpy(),
        "latents of image 1 hold NaN or infinity, expected finite numbers",
    ),
}

HEADS_THAT_ARE_WRONG = {
    "a model": Wrong(
        Net(),
        "head is a module (Net), expected a verale.Head: write verale.adapters.head_of(architecture,"
        " model.state_dict())",
    ),
    "a state dictionary": Wrong(
        dict(Net().state_dict()),
        "head is a dict, expected a verale.Head: write verale.adapters.head_of(architecture, state)",
    ),
    "a path": Wrong(
        Path("head.safetensors"),
        "head is a path ('head.safetensors'), expected a verale.Head: write verale.Head.load('head.safetensors')",
        TAKES_PATHS,
    ),
    "nothing": Wrong(
        None,
        "head is None, expected a verale.Head: write verale.Head.load('head.safetensors') or"
        " verale.adapters.head_of(architecture, state)",
    ),
    "latents": Wrong(
        LATENTS,
        "head is a Tensor, expected a verale.Head: write verale.Head.load('head.safetensors') or"
        " verale.adapters.head_of(architecture, state)",
    ),
}

CERTIFICATES_THAT_ARE_WRONG = {
    "an image without one": Wrong(
        verale.Unexplained(0, "a tie"),
        "certificate is an Unexplained, expected a verale.Certificate or the path of its file: its image has none; go"
        " on where result.size is None",
    ),
    "several": Wrong(
        certificates,  # computed when it is needed
        "certificate is a list, expected a verale.Certificate or the path of its file: give one after the other",
    ),
    "nothing": Wrong(
        None,
        "certificate is None, expected a verale.Certificate or the path of its file: write"
        " verale.Certificate.load('image.ale.json')",
    ),
}


def table(functions: dict[str, Callable[[Any], Any]], wrong: dict[str, Wrong]) -> list[Any]:
    """Each function with each wrong input."""
    return [
        (f"{name}: {what}", function, each.value, each.sentence)
        for name, function in functions.items()
        for what, each in wrong.items()
        if name not in each.but
    ]


@every(("what", "function", "value", "sentence"), table(OF_LATENTS, LATENTS_THAT_ARE_WRONG))
def test_every_function_says_the_same_of_wrong_latents(what, function, value, sentence) -> None:
    with pytest.raises(LatentsError) as refusal:
        function(value)
    assert str(refusal.value) == sentence


@every(("what", "function", "value", "sentence"), table(OF_A_HEAD, HEADS_THAT_ARE_WRONG))
def test_every_function_says_the_same_of_what_is_no_head(what, function, value, sentence) -> None:
    with pytest.raises(UsageError) as refusal:
        function(value)
    assert str(refusal.value) == sentence


@every(("what", "function", "value", "sentence"), table(OF_A_CERTIFICATE, CERTIFICATES_THAT_ARE_WRONG))
def test_every_function_says_the_same_of_what_is_no_certificate(what, function, value, sentence) -> None:
    with pytest.raises(UsageError) as refusal:
        function(certificates() if value is certificates else value)
    assert str(refusal.value) == sentence


def test_the_sentences_are_right(tmp_path) -> None:
    """What a sentence says to write works."""
    image = LATENTS[:1].swapaxes(1, 2).reshape(1, DEPTH, 1, 5)
    expected = verale.explain(HEAD, image)
    assert verale.explain(HEAD, image[0][None]) == expected
    assert verale.explain(HEAD, image.flatten(2).numpy().swapaxes(1, 2)) == expected
    assert verale.explain(HEAD, torch.as_tensor(image.movedim(1, -1).numpy()).movedim(-1, 1)) == expected
    assert verale.explain(HEAD, torch.stack(list(LATENTS))) == verale.explain(HEAD, LATENTS)
    half = LATENTS.half().numpy()
    assert len(verale.explain(HEAD, torch.as_tensor(half).float())) == len(LATENTS)


ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "float64": lambda array: array.astype(np.float64),
    "big-endian": lambda array: array.astype(">f4"),
    "in Fortran's order": np.asfortranarray,
    "backwards in memory": lambda array: array[::-1].copy()[::-1],
    "read-only": lambda array: np.frombuffer(array.tobytes(), np.float32).reshape(array.shape),
    "in lists": lambda array: array.tolist(),
}


@pytest.mark.parametrize("name", OF_LATENTS)
def test_arrays_are_latents_everywhere(name) -> None:
    assert OF_LATENTS[name](LATENTS.numpy()) == as_they_are(name)


@pytest.mark.parametrize("form", ARRAYS)
@pytest.mark.parametrize("name", ["save_latents", "explain", "audit"])
def test_arrays_may_have_any_form(name, form) -> None:
    array = ARRAYS[form](LATENTS.numpy())
    is_double = form in ("float64", "in lists")
    assert OF_LATENTS[name](array) == (OF_LATENTS[name](LATENTS.double()) if is_double else as_they_are(name))


@pytest.mark.parametrize("name", ["save_latents", "explain", "audit", "refute"])
def test_gradients_do_not_matter(name) -> None:
    assert OF_LATENTS[name](LATENTS.clone().requires_grad_()) == as_they_are(name)


def test_arrays_make_a_head() -> None:
    tensors = {"weight": HEAD.weight, "prototypes": HEAD.prototypes, "bias": HEAD.bias}
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    made = verale.Head(**arrays, geometry=HEAD.geometry, similarity=HEAD.similarity, domain=HEAD.domain)
    assert made.to_bytes() == HEAD.to_bytes()
    learned = {name: nn.Parameter(tensor) for name, tensor in tensors.items()}
    made = verale.Head(**learned, geometry=HEAD.geometry, similarity=HEAD.similarity, domain=HEAD.domain)
    assert [one.to_bytes() for one in verale.explain(made, LATENTS, "projection")] == as_they_are("explain")


def test_arrays_are_merged_captured_and_read_like_tensors() -> None:
    weight, slots = torch.rand(2, 4), nn.functional.one_hot(torch.tensor([[0, 2], [1, 2]]), 3).mT.float()
    merged = verale.merge_slots(weight, slots)
    assert torch.equal(verale.merge_slots(weight.numpy(), slots.numpy()), merged)
    images, net = torch.rand(2, 3, 4, 4), Net()
    assert torch.equal(capture(net, "layer", images.numpy()), capture(net, "layer", images))
    state = protopnet()
    arrays = {key: tensor.numpy() for key, tensor in state.items()}
    assert head_of("protopnet", arrays).digest == head_of("protopnet", state).digest


def protopnet() -> dict[str, torch.Tensor]:
    return {"prototype_vectors": torch.rand(4, 3, 1, 1), "last_layer.weight": torch.rand(2, 4)}


@pytest.mark.parametrize(
    "domain", [verale.Box(0, 1), (0, 1), [0, 1.0], "0:1", " 0 : 1 ", (np.float32(0), torch.tensor(1))], ids=str
)
def test_a_domain_is_a_box_two_ends_or_text(domain) -> None:
    assert replace(HEAD, domain=domain, _digest=None).domain == verale.Box(0, 1)
    made = head_of("protopnet", protopnet(), domain=domain)
    assert made.domain == verale.Box(0, 1) and made.to_bytes()


@pytest.mark.parametrize(
    ("domain", "expected"), [((0, None), verale.Box(0)), ("0:", verale.Box(0)), (":", verale.Box())]
)
def test_ends_of_a_domain_may_be_open(domain, expected) -> None:
    assert replace(HEAD, domain=domain).domain == expected
    assert head_of("protopnet", protopnet(), domain=domain).domain == expected


@pytest.mark.parametrize(
    "domain", [1, "0", "0:1:2", "a:b", "nan:1", (0,), (0, 1, 2), ("0", "1"), (1, 0), (0, float("inf")), None, {0: 1}]
)
def test_what_is_no_domain_is_refused_at_once(domain) -> None:
    for build in (lambda: replace(HEAD, domain=domain), lambda: head_of("protopnet", protopnet(), domain=domain)):
        with pytest.raises(HeadError, match=r"head field 'domain(\.\w+)?': is .*expected"):
            build()


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: replace(HEAD, weight=Net().layer), "'weight': is a module (Conv2d), expected a tensor or an array of"),
        (lambda: replace(HEAD, weight=None), "'weight': is None, expected a tensor of shape (C, P)"),
        (lambda: replace(HEAD, bias="b"), "'bias': is the text 'b', expected a tensor or an array of floats"),
        (lambda: replace(HEAD, geometry=verale.Euclidean), "is the class Euclidean, expected an object: write Eu"),
        (lambda: replace(HEAD, labels="abc"), "'labels': is 'abc', expected a list of names, one a class"),
        (lambda: replace(HEAD, labels=[1, 2, 3]), "'labels': holds 1, expected names: write str(name) for each"),
        (lambda: replace(HEAD, labels=["a"]), "'labels': has 1 names, expected 3, one a class"),
        (lambda: head_of("protopnet", Net()), "is a module (Net), expected a state dictionary: write model.st"),
        (lambda: head_of("protopnet", "p.pth"), "is a path ('p.pth'), expected a state dictionary: write torch.load("),
    ],
)
def test_a_head_says_what_its_fields_are(build, sentence) -> None:
    with pytest.raises(HeadError) as refusal:
        build()
    assert sentence in str(refusal.value)


def test_names_of_classes_may_be_a_list() -> None:
    assert replace(HEAD, labels=["a", "b", "c"]).labels == ("a", "b", "c")


def test_adapters_say_what_they_take() -> None:
    with pytest.raises(UsageError, match=r"option 'scale' is unknown, expected one of protopnet's: activation"):
        head_of("protopnet", protopnet(), scale=1)
    with pytest.raises(UsageError, match=r"model is a Head, expected a torch module: write capture\(model, layer"):
        capture(HEAD, "layer", torch.rand(1, 3, 4, 4))


@pytest.mark.parametrize("labels", [[0, 1], torch.tensor([0, 1]), np.array([0, 1]), range(5)], ids=str)
def test_too_few_or_too_many_labels_are_counted(labels) -> None:
    sentence = f"there are {len(labels)} labels for 4 images: give one label for each image, or none at all"
    with pytest.raises(LatentsError, match=sentence):
        verale.save_latents("z", LATENTS, labels)
    assert not Path("z").exists()


@pytest.mark.parametrize("labels", [3, "0123", [0.5, 1, 1, 1], np.zeros((4, 1), int), torch.full((4,), 0.5)])
def test_what_are_no_labels_is_refused(labels) -> None:
    with pytest.raises(LatentsError, match=r"labels .*expected one integer for each image"):
        verale.save_latents("z", LATENTS, labels)


@pytest.mark.parametrize("kind", [list, torch.tensor, np.array, lambda labels: np.array(labels, np.uint8)])
def test_labels_of_every_kind_are_written(kind) -> None:
    verale.save_latents("z", LATENTS, kind([2, 0, 1, 1]))
    assert verale.head.load_labelled("z")[1] == [2, 0, 1, 1]


@pytest.mark.parametrize(
    ("function", "found", "remedy"),
    [
        (lambda: verale.save_latents(LATENTS, "z"), "a Tensor", "verale.save_latents(path, latents)"),
        (lambda: verale.load_latents(LATENTS), "a Tensor", "verale.load_latents(path)"),
        (lambda: verale.load_latents(None), "None", "verale.load_latents(path)"),
        (lambda: verale.Head.load(Net()), "a module (Net)", "verale.Head.load(path)"),
        (lambda: HEAD.save(3), "an int", "head.save(path)"),
    ],
)
def test_what_is_no_path_is_refused(function, found, remedy) -> None:
    with pytest.raises(UsageError) as refusal:
        function()
    assert str(refusal.value) == f"path is {found}, expected the path of a file: write {remedy}"


def in_files(folder: Path) -> tuple[Path, Path, Path]:
    paths = folder / "certificate", folder / "head", folder / "latents"
    first_certificate().save(paths[0])
    HEAD.save(paths[1])
    verale.save_latents(paths[2], LATENTS)
    return paths


def test_objects_and_their_files_get_the_same_verdict(tmp_path) -> None:
    objects = (first_certificate(), HEAD, LATENTS)
    everything = [verale.audit(*chosen) for chosen in mixtures(objects, in_files(tmp_path))]
    assert everything[0].status is Status.PROVED and everything[0].claims["instance"] == "proved"
    assert all(verdict == everything[0] for verdict in everything)


def mixtures(objects: tuple[Any, ...], paths: tuple[Path, ...]) -> list[list[Any]]:
    """Every choice of objects and paths."""
    return [[(objects, paths)[n >> i & 1][i] for i in range(3)] for n in range(8)]


def test_objects_that_claim_too_much_are_not_proved() -> None:
    margins = tuple(None if margin is None else margin * 1000 for margin in first_certificate().margins)
    for wrong, reason in (
        (replace(first_certificate(), margins=margins), "margin"),
        (replace(first_certificate(), statements=first_certificate().statements[:1]), "entailment"),
        (replace(first_certificate(), head="0" * 64), "subject"),
    ):
        assert verale.audit(wrong, HEAD, LATENTS).reason == reason
    other = replace(HEAD, weight=HEAD.weight * 2, _digest=None)
    assert verale.audit(first_certificate(), HEAD, LATENTS * 0.5).reason == "subject"
    assert verale.audit(first_certificate(), other, LATENTS).reason == "subject"


def test_a_digest_that_a_head_only_pretends_to_have_is_refused() -> None:
    pretended = replace(HEAD, weight=HEAD.weight * 2, _digest=first_certificate().head)
    for function in (OF_A_HEAD[name] for name in TAKES_PATHS):
        with pytest.raises(UsageError, match="expected the path of that file"):
            function(pretended)


def test_a_head_from_a_file_that_is_written_otherwise_is_audited_by_its_path(tmp_path) -> None:
    data = HEAD.to_bytes()
    length = int.from_bytes(data[:8], "little")
    fields = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][HEAD_KEY])
    spaced = safetensors.torch.save(safetensors.torch.load(data), metadata={HEAD_KEY: json.dumps(fields, indent=2)})
    (tmp_path / "head").write_bytes(spaced)
    head = verale.Head.load(tmp_path / "head")
    (first, *_) = verale.explain(head, LATENTS, "projection")
    assert verale.audit(first, tmp_path / "head", LATENTS).status is Status.PROVED
    with pytest.raises(UsageError, match="expected the path of that file: by its digest certificates name the head"):
        verale.audit(first, head, LATENTS)


def test_objects_are_refuted_and_contrasted(tmp_path) -> None:
    head, certificate = coordinates(3, (0.5, 0.0, 0.25))
    zeros = np.zeros((1, 1, 3))
    needed = verale.necessity(certificate, head, zeros)
    assert [each.needed for each in needed.statements] == [True] * 3
    shown = verale.contrast(certificate, head, 2, zeros, tmp_path / "out")
    assert shown.found is not None and shown.is_smallest
    nothing = replace(certificate, statements=())
    assert verale.refute(nothing, head, zeros, tmp_path / "witness").status is Status.REFUTED
    assert verale.refute(certificate, head, seconds=0).status is Status.NOT_REFUTED
    with pytest.raises(UsageError, match=r"class 'one' is unknown, expected a number of .*, 0 to 2; it has no labels"):
        verale.contrast(certificate, head, "one", zeros)


def test_a_loop_over_results_goes_through() -> None:
    results = verale.explain(HEAD, LATENTS, "projection", tolerance=0.5)
    sizes = [result.size for result in results]
    assert None in sizes
    for result in results:
        about = (result.margin, result.paradigm, result.minimal, result.predicted, result.margins)
        assert len(result.statements) == (result.size or 0) and len(about) == 5
        assert str(result)
    assert all((size is None) == isinstance(one, verale.Unexplained) for size, one in zip(sizes, results, strict=True))


def test_what_is_avoided_may_be_text() -> None:
    kept = verale.explain(HEAD, LATENTS, "projection", avoid="prototypes:0-3")
    assert kept == verale.explain(HEAD, LATENTS, "projection", avoid=verale.search.Avoid(prototypes=(0, 1, 2, 3)))
    assert all(statement.prototype > 3 for result in kept for statement in result.statements)
