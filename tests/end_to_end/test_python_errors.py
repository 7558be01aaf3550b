"""Python that helps: functions take objects, and say of each wrong argument in a sentence what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from support.cases import every
from support.own_network import OwnNetwork, own_images
from support.small import small_head, small_latents
from torch import nn

import verale
from verale.adapters import capture, head_of, load_model, load_published, load_state
from verale.checker import Status
from verale.checker.read.head_file import METADATA_KEY as HEAD_KEY
from verale.errors import HeadError, LatentsError, UsageError, VeraleError

HEAD = small_head("euclidean")
LATENTS = small_latents(HEAD)
DEPTH = HEAD.depth


@cache
def certificates() -> list[verale.Certificate]:
    """Those of the images that have one."""
    return [one for one in verale.explain(HEAD, LATENTS, "projection") if isinstance(one, verale.Certificate)]


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


SEARCHING = ("refute", "necessity", "contrast")
"""Of these, what takes longest; all read latents in one way."""


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

EXPECTED = "expected a tensor or an array (N, D, H, W) or (N, L, D)"
DTYPE, SHAPE = "expected float32 or float64", "expected (N, D, H, W) or (N, L, D)"
CAPTURED = "verale.adapters.capture(model, layer, images) gives latents"
GIVEN = "expected a verale.Certificate or the path of its file"
HEAD_OF = "verale.adapters.head_of(architecture, state)"
LOADED = "verale.Head.load('head.safetensors')"
CHANNELS = "expected the head's 6"

WRONG_LATENTS = [
    (Net(), f"are a module (Net), {EXPECTED}: write verale.adapters.capture(model, layer, images)"),
    ("z.safetensors", f"are a path ('z.safetensors'), {EXPECTED}: write verale.load_latents('z.safetensors')"),
    (HEAD, f"are a Head, {EXPECTED}: {CAPTURED}"),
    (list(LATENTS), f"are a list, {EXPECTED}: write torch.stack(latents), or torch.cat(latents) of batches"),
    ({"latents": LATENTS}, f"are a dict, {EXPECTED}: give the entry that holds them"),
    (LATENTS.half(), f"have dtype torch.float16, {DTYPE}: write torch.as_tensor(latents).float()"),
    (np.zeros((1, 8, 8, 3), dtype=np.uint8), f"have dtype torch.uint8, {DTYPE}: {CAPTURED}"),
    (LATENTS[0], f"have shape (5, 6), {SHAPE}: write latents[None] for a single image"),
    (LATENTS[:, :0], f"have shape (4, 0, 6), {SHAPE}: {CAPTURED}"),
    (LATENTS[None, None], f"have shape (1, 1, 4, 5, 6), {SHAPE}: {CAPTURED}"),
    (LATENTS.index_fill(0, torch.tensor(2), torch.nan), "of image 2 hold NaN or infinity, expected finite numbers"),
    (LATENTS.index_fill(0, torch.tensor(1), -torch.inf), "of image 1 hold NaN or infinity, expected finite numbers"),
]
OF_ANOTHER_HEAD = [
    (
        torch.rand(DEPTH, 2, 3),
        f"3 channels in shape (6, 2, 3), {CHANNELS}: write latents[None] for a single image (D, H, W)",
    ),
    (
        LATENTS.swapaxes(1, 2),
        f"5 channels in shape (4, 6, 5), {CHANNELS}: write latents.swapaxes(1, 2) for (N, D, L)",
    ),
    (
        torch.rand(4, 2, 3, DEPTH).numpy(),
        f"2 channels in shape (4, 2, 3, 6), {CHANNELS}: write torch.as_tensor(latents).movedim(-1, 1) for (N, H, W, D)",
    ),
    (torch.rand(4, 5, 7), f"7 channels in shape (4, 5, 7), {CHANNELS}: are they another network's?"),
]
"""What can be saved, but is not this head's."""
WRONG_HEADS = [
    (Net(), "a module (Net), expected a verale.Head: write verale.adapters.head_of(architecture, model.state_dict())"),
    (dict(Net().state_dict()), f"a dict, expected a verale.Head: write {HEAD_OF}"),
    (Path("head.safetensors"), f"a path ('head.safetensors'), expected a verale.Head: write {LOADED}"),
    (None, f"None, expected a verale.Head: write {LOADED} or {HEAD_OF}"),
]
WRONG_CERTIFICATES = [
    (verale.Unexplained(0, "a tie"), f"an Unexplained, {GIVEN}: its image has none; go on where result.size is None"),
    (certificates, f"a list, {GIVEN}: give one after the other"),  # computed when it is needed
    (None, f"None, {GIVEN}: write verale.Certificate.load('image.ale.json')"),
]
TABLE = [
    (f"{name}: {begin} {sentence}", function, value, f"{begin} {sentence}", error)
    for functions, begin, rows, error in (
        (OF_LATENTS, "latents", WRONG_LATENTS, LatentsError),
        ({**OF_LATENTS, "save_latents": None}, "latents have", OF_ANOTHER_HEAD, LatentsError),
        (OF_A_HEAD, "head is", WRONG_HEADS, UsageError),
        (OF_A_CERTIFICATE, "certificate is", WRONG_CERTIFICATES, UsageError),
    )
    for name, function in functions.items()
    for value, sentence in rows
    if function is not None and not (isinstance(value, str | Path) and name in TAKES_PATHS)
]
"""Each function with each wrong input, and the sentence that all say of it."""


@every(("what", "function", "value", "sentence", "error"), TABLE)
def test_every_function_says_the_same_of_what_is_wrong(what, function, value, sentence, error) -> None:
    with pytest.raises(error) as refusal:
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
    "plain": lambda array: array,
    "with a gradient": lambda array: torch.from_numpy(array.copy()).requires_grad_(),
    "float64": lambda array: array.astype(np.float64),
    "big-endian": lambda array: array.astype(">f4"),
    "in Fortran's order": np.asfortranarray,
    "backwards in memory": lambda array: array[::-1].copy()[::-1],
    "read-only": lambda array: np.frombuffer(array.tobytes(), np.float32).reshape(array.shape),
    "in lists": lambda array: array.tolist(),
}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *((name, "plain") for name in OF_LATENTS if name not in SEARCHING),
        *(pytest.param(name, "plain", marks=pytest.mark.long) for name in SEARCHING),
        *((name, form) for name in ("save_latents", "explain", "audit") for form in ARRAYS if form != "plain"),
        pytest.param("refute", "with a gradient", marks=pytest.mark.long),
    ],
)
def test_latents_may_have_any_form(name, form) -> None:
    array = ARRAYS[form](LATENTS.numpy())
    is_double = form in ("float64", "in lists")
    assert OF_LATENTS[name](array) == (OF_LATENTS[name](LATENTS.double()) if is_double else as_they_are(name))


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
    ("domain", "expected"),
    [
        *((each, (0, 1)) for each in (verale.Box(0, 1), (0, 1), [0, 1.0], "0:1", " 0 : 1 ")),
        *(((np.float32(0), torch.tensor(1)), (0, 1)), ((0, None), (0,)), ("0:", (0,)), (":", ())),
    ],
    ids=str,
)
def test_a_domain_is_a_box_two_ends_or_text(domain, expected) -> None:
    assert replace(HEAD, domain=domain).domain == verale.Box(*expected)
    made = head_of("protopnet", protopnet(), domain=domain)
    assert made.domain == verale.Box(*expected) and made.to_bytes()


@pytest.mark.parametrize(
    "domain", [1, "0", "0:1:2", "a:b", "nan:1", (0,), (0, 1, 2), ("0", "1"), (1, 0), (0, float("inf")), None, {0: 1}]
)
def test_what_is_no_domain_is_refused_at_once(domain) -> None:
    for build in (lambda: replace(HEAD, domain=domain), lambda: head_of("protopnet", protopnet(), domain=domain)):
        with pytest.raises(HeadError, match=r"head field 'domain(\.\w+)?': is .*expected"):
            build()


def explained_model(**options: Any) -> Any:
    return verale.explain_model(OwnNetwork(), LAYER, own_images(2), out="OUT", arch="protopnet", **options)


def explained(**options: Any) -> Any:
    return verale.explain(head_of("protopnet", OwnNetwork().state_dict()), torch.rand(1, 4, 8), **options)


NO_PATH = "expected the path of a file: write"
LAYER = "add_on_layers"
OPTIONS = "paradigm, order, tolerance, digits, inflate, avoid, costs, device, batch, max_memory"
NOT_HEADS = [
    (lambda: replace(HEAD, weight=Net().layer), "'weight': is a module (Conv2d), expected a tensor or an array of"),
    (lambda: replace(HEAD, weight=None), "'weight': is None, expected a tensor of shape (C, P)"),
    (lambda: replace(HEAD, bias="b"), "'bias': is the text 'b', expected a tensor or an array of floats"),
    (lambda: replace(HEAD, geometry=verale.Euclidean), "is the class Euclidean, expected an object: write Eu"),
    (lambda: replace(HEAD, labels="abc"), "'labels': is 'abc', expected a list of names, one a class"),
    (lambda: replace(HEAD, labels=[1, 2, 3]), "'labels': holds 1, expected names: write str(name) for each"),
    (lambda: replace(HEAD, labels=["a"]), "'labels': has 1 names, expected 3, one a class"),
    (lambda: head_of("protopnet", Net()), "is a module (Net), expected a state dictionary: write model.st"),
    (lambda: head_of("protopnet", "p.pth"), "is a path ('p.pth'), expected a state dictionary: write torch.load("),
]
NOT_USED = [
    (lambda: head_of("protopnet", protopnet(), scale=1), "option 'scale' is unknown, expected one of protopnet's: act"),
    (
        lambda: capture(HEAD, "layer", torch.rand(1, 3, 4, 4)),
        "model is a Head, expected a torch module: write capture(",
    ),
    (lambda: verale.save_latents(LATENTS, "z"), f"path is a Tensor, {NO_PATH} verale.save_latents(path, latents)"),
    (lambda: verale.load_latents(LATENTS), f"path is a Tensor, {NO_PATH} verale.load_latents(path)"),
    (lambda: verale.load_latents(None), f"path is None, {NO_PATH} verale.load_latents(path)"),
    (lambda: verale.Head.load(Net()), f"path is a module (Net), {NO_PATH} verale.Head.load(path)"),
    (lambda: HEAD.save(3), f"path is an int, {NO_PATH} head.save(path)"),
    (lambda: explained_model(paradigms="top_k"), "option 'paradigms' is unknown, expected one of paradigm, order"),
    (lambda: explained_model(paradigms="top_k"), "(did you mean paradigm?)"),
    (lambda: explained_model(tolerence="top_k"), "did you mean tolerance?"),
    (lambda: explained_model(nonsense="top_k"), f"expected one of {OPTIONS}"),
    (lambda: explained_model(paradigm="simplex"), ""),
    (lambda: explained_model(avoid="patches:99"), ""),
    (lambda: explained_model(device="cuda:99"), ""),
    (lambda: explained_model(jobs=0), ""),
    (lambda: explained(batch=None), "batch is None, expected a number of images"),
    (lambda: explained(tolerance=[1]), "tolerance is a list, expected a number, a percentage such as '1%', or 'auto'"),
    (lambda: explained(avoid=3), "avoid is an int, expected verale.search.Avoid("),
    (lambda: explained(costs={3: 5.0}), "costs is a dict, expected verale.search.Costs.of("),
    (lambda: explained(device=0), "device is an int, expected a device such as 'cuda'"),
    (lambda: explained(max_memory="1G"), "max_memory is the text '1G', expected a number of GiB"),
]
SENTENCES = [*((HeadError, *row) for row in NOT_HEADS), *((UsageError, *row) for row in NOT_USED)]


@pytest.mark.parametrize(("error", "function", "sentence"), SENTENCES)
def test_what_is_wrong_is_told_in_a_sentence_and_leaves_nothing_behind(error, function, sentence) -> None:
    with pytest.raises(error) as refusal:
        function()
    assert sentence in str(refusal.value) and not list(Path().iterdir())


NO_LABELS = (3, "0123", [0.5, 1, 1, 1], np.zeros((4, 1), int), torch.full((4,), 0.5))


@pytest.mark.parametrize("labels", [[0, 1], torch.tensor([0, 1]), np.array([0, 1]), range(5), *NO_LABELS], ids=str)
def test_labels_that_do_not_fit_are_refused(labels) -> None:
    sentence = r"labels .*expected one integer for each image"
    if not any(labels is each for each in NO_LABELS):
        sentence = f"there are {len(labels)} labels for 4 images: give one label for each image, or none at all"
    with pytest.raises(LatentsError, match=sentence):
        verale.save_latents("z", LATENTS, labels)
    assert not Path("z").exists()


@pytest.mark.parametrize("kind", [list, torch.tensor, np.array, lambda labels: np.array(labels, np.uint8)])
def test_labels_of_every_kind_are_written(kind) -> None:
    verale.save_latents("z", LATENTS, kind([2, 0, 1, 1]))
    assert verale.head.load_labelled("z")[1] == [2, 0, 1, 1]


def test_objects_and_their_files_get_the_same_verdict(tmp_path) -> None:
    objects, paths = (first_certificate(), HEAD, LATENTS), [tmp_path / each for each in ("certificate", "head", "z")]
    first_certificate().save(paths[0])
    HEAD.save(paths[1])
    verale.save_latents(paths[2], LATENTS)
    everything = [verale.audit(*chosen) for chosen in product(*zip(objects, paths, strict=True))]
    assert everything[0].status is Status.PROVED and everything[0].claims["instance"] == "proved"
    assert all(verdict == everything[0] for verdict in everything)


def test_objects_that_claim_too_much_are_not_proved() -> None:
    margins = tuple(None if margin is None else margin * 1000 for margin in first_certificate().margins)
    for wrong, reason in (
        (replace(first_certificate(), margins=margins), "margin"),
        (replace(first_certificate(), statements=first_certificate().statements[:1]), "entailment"),
        (replace(first_certificate(), head="0" * 64), "subject"),
    ):
        assert verale.audit(wrong, HEAD, LATENTS).reason == reason
    other = replace(HEAD, weight=HEAD.weight * 2)
    assert verale.audit(first_certificate(), HEAD, LATENTS * 0.5).reason == "subject"
    assert verale.audit(first_certificate(), other, LATENTS).reason == "subject"


def test_a_digest_that_a_head_only_pretends_to_have_is_refused() -> None:
    pretended = replace(HEAD, weight=HEAD.weight * 2)
    object.__setattr__(pretended, "_digest", first_certificate().head)
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


ANYTHING: dict[str, Any] = {
    "nothing": None,
    "a number": 5,
    "a word": "x",
    "a list": ["x"],
    "a dictionary": {"a": 1},
    "numbers": torch.rand(2),
    "an array of words": np.array(["a", "b"]),
}
FITS = {
    "options": ("nothing",),
    "head": (),
    "preprocess": tuple(ANYTHING),  # images are tensors here, and need none
    "labels": ("nothing",),
    "class_names": ("nothing",),
    "prototype_images": ("nothing",),
    "logits": ("nothing",),
    "jobs": ("nothing", "a number"),
    "overwrite": ("a number",),
    "order": ("nothing",),
    "tolerance": ("a number",),
    "batch": ("a number",),
    "max_memory": ("a number",),
    "inflate": ("a number",),
    "out": ("a word",),
}
"""For each argument of `explain_model` what of this is right, or does not matter."""
OF_SEARCHES = {
    **dict.fromkeys(("out", "model of contrast"), ("nothing", "a number", "a word")),
    **dict.fromkeys(("seconds", "goal"), ("a number", "a word")),
}
"""And of what searches."""


@cache
def subjects() -> tuple[verale.Certificate, verale.Head, torch.Tensor]:
    """A certificate of one image, the head and the image's latents."""
    head = head_of("protopnet", OwnNetwork().state_dict())
    latents = capture(OwnNetwork(), LAYER, own_images(1))
    (certificate,) = verale.explain(head, latents, "projection")
    return certificate, head, latents


def explain_model(name: str, value: Any) -> object:
    given: dict[str, Any] = {"model": OwnNetwork(), "layer": LAYER, "images": own_images(2), "paradigm": "top_k"}
    given |= {"out": "OUT", "head": None, "arch": None if name == "head" else "protopnet", name: value}
    return verale.explain_model(*[given.pop(each) for each in ("model", "layer", "images")], **given)


def check(name: str, value: Any) -> object:
    given = {"head": subjects()[1], "model": OwnNetwork(), "layer": LAYER, "images": own_images(2), name: value}
    return verale.check(*[given.pop(each) for each in ("head", "model", "layer", "images")], **given)


def searching(search: Callable[..., object]) -> Callable[[str, Any], object]:
    return lambda name, value: search(*subjects(), **{"seconds": 0, name: value})


def to_another(certificate: verale.Certificate, head: Any, latents: Any, goal: Any = ..., **given: Any) -> object:
    return verale.contrast(
        certificate, head, (certificate.predicted + 1) % 3 if goal is ... else goal, latents, **given
    )


CALLS: dict[Callable[[str, Any], object], tuple[str, ...]] = {
    explain_model: ("model", "layer", "images", "arch", "calls", "device", "avoid", "costs", *FITS),
    check: ("head", "model", "layer", "images", "labels", "logits", "calls"),
    searching(verale.refute): ("seconds", "out"),
    searching(verale.necessity): ("seconds", "out"),
    searching(to_another): ("seconds", "out", "model of contrast", "goal"),
}
"""Functions, and their arguments of which a wrong one is refused in one sentence."""
WRONG = [
    (f"{number}: {name}: {what}", call, name.split()[0], value)
    for number, (call, names) in enumerate(CALLS.items())
    for name in names
    for what, value in ANYTHING.items()
    if what not in (OF_SEARCHES if number > 1 else FITS).get(name, ())
]


@every(("what", "function", "name", "value"), WRONG)
def test_a_wrong_argument_is_refused_in_one_sentence(what, function, name, value) -> None:
    with pytest.raises(VeraleError) as refusal:
        function(name, value)
    assert len(str(refusal.value)) < 1000 and "\n" not in str(refusal.value)
    assert not list(Path().iterdir())


@pytest.mark.parametrize("what", [each for each in ANYTHING if each != "a word"])
def test_checkpoints_are_paths_and_options_of_their_kinds(what) -> None:
    """A number is no path: it would be the number of a file that is open, which is closed after."""
    value, state = ANYTHING[what], OwnNetwork().state_dict()
    for load in (load_state, load_model, lambda path: load_published(path, "protopnet")):
        with pytest.raises(UsageError, match=r"path is .*, expected the path of a file"):
            load(value)
    with pytest.raises(UsageError, match="is unknown, expected one of deformable"):
        head_of(value, state)
    for option, fits in (("activation", ()), ("epsilon", ("a number",))):
        if what not in fits:
            with pytest.raises(UsageError, match=f"option {option} is .*, expected a"):
                head_of("protopnet", state, **{option: value})
    if what not in ("a number", "nothing"):
        with pytest.raises(UsageError, match=r"option patches is .*, expected a number such as 1$"):
            head_of("genetic", state, patches=value)


def test_a_compiled_network_is_explained_as_it_was_before() -> None:
    def compiler(graph: Any, inputs: Any) -> Any:
        pytest.fail("the network was compiled")

    network = OwnNetwork()
    given = {"arch": "protopnet", "paradigm": "top_k"}
    compiled = torch.compile(network, backend=compiler)
    verale.explain_model(compiled, f"_orig_mod.{LAYER}", own_images(2).bfloat16(), out="OUT", **given)
    before = Path("OUT/source.json").read_bytes()
    again = verale.explain_model(network, LAYER, own_images(2).bfloat16(), out="OUT", **given)
    assert again.comparison is None and Path("OUT/source.json").read_bytes() == before


def test_labels_that_do_not_fit_are_told_in_the_log(caplog) -> None:
    network, images = OwnNetwork(), own_images(8)
    labels = [(each + 1) % 3 for each in network(images)[0].argmax(1).tolist()]
    with caplog.at_level("WARNING", "verale"):
        run = verale.explain_model(network, LAYER, images, out="OUT", arch="protopnet", paradigm="top_k", labels=labels)
    assert "the network is right on 0 of 8 images, hardly more than chance" in caplog.text
    assert "The network is right on 0 of 8 images." in str(run)
