"""Every argument of `explain_model` and `check`, wrong in several ways: one sentence each, and nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.own_network import OwnNetwork, own_images

import verale
from verale.adapters import capture, head_of, load_model, load_published, load_state
from verale.errors import UsageError, VeraleError

LAYER = "add_on_layers"
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

OF_EXPLAIN = ("model", "layer", "images", "arch", "calls", "device", "avoid", "costs", *FITS)
OF_CHECK = ("head", "model", "layer", "images", "labels", "logits", "calls")


def wrong(names: tuple[str, ...]) -> list[Any]:
    return [
        pytest.param(name, value, id=f"{name}: {what}")
        for name in names
        for what, value in ANYTHING.items()
        if what not in FITS.get(name, ())
    ]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("name", "value"), wrong(OF_EXPLAIN))
def test_explain_model_refuses_in_one_sentence(name, value) -> None:
    given: dict[str, Any] = {"model": OwnNetwork(), "layer": LAYER, "images": own_images(2), "paradigm": "top_k"}
    given |= {"out": "OUT", "head": None, "arch": None if name == "head" else "protopnet", name: value}
    positional = [given.pop(each) for each in ("model", "layer", "images")]
    with pytest.raises(VeraleError) as refusal:
        verale.explain_model(*positional, **given)
    assert len(str(refusal.value)) < 1000 and "\n" not in str(refusal.value)
    assert not Path("OUT").exists()


@pytest.mark.parametrize(("name", "value"), wrong(OF_CHECK))
def test_check_refuses_in_one_sentence(name, value) -> None:
    given: dict[str, Any] = {"head": head_of("protopnet", OwnNetwork().state_dict()), "model": OwnNetwork()}
    given |= {"layer": LAYER, "images": own_images(2), name: value}
    positional = [given.pop(each) for each in ("head", "model", "layer", "images")]
    with pytest.raises(VeraleError) as refusal:
        verale.check(*positional, **given)
    assert "\n" not in str(refusal.value)


@pytest.fixture(scope="module")
def subjects() -> tuple[verale.Certificate, verale.Head, torch.Tensor]:
    """A certificate of one image, the head and the image's latents."""
    head = head_of("protopnet", OwnNetwork().state_dict())
    latents = capture(OwnNetwork(), LAYER, own_images(1))
    (certificate,) = verale.explain(head, latents, "projection")
    return certificate, head, latents


def to_another(certificate: verale.Certificate, head: verale.Head, latents: torch.Tensor, **given: Any) -> object:
    goal = given.pop("goal", (certificate.predicted + 1) % 3)
    return verale.contrast(certificate, head, goal, latents, **given)


SEARCHES = {"refute": verale.refute, "necessity": verale.necessity, "contrast": to_another}
OTHERS = {
    **{
        f"{name} {argument}": (search, argument) for name, search in SEARCHES.items() for argument in ("seconds", "out")
    },
    "contrast goal": (SEARCHES["contrast"], "goal"),
    "contrast model": (SEARCHES["contrast"], "model"),
}


@pytest.mark.parametrize("what", [each for each in ANYTHING if each not in ("a number", "a word")])
@pytest.mark.parametrize("name", OTHERS)
def test_searches_refuse_in_one_sentence(name, what, subjects) -> None:
    function, argument = OTHERS[name]
    if what == "nothing" and argument in ("out", "model"):
        return
    with pytest.raises(UsageError) as refusal:
        function(*subjects, **{"seconds": 0, argument: ANYTHING[what]})
    assert "\n" not in str(refusal.value) and not list(Path().iterdir())


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


def test_true_is_no_class(subjects) -> None:
    certificate, head, latents = subjects
    with pytest.raises(UsageError, match="class True is unknown, expected a number of the head's classes, 0 to 2"):
        verale.contrast(certificate, head, True, latents, seconds=0)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("paradigms", r"option 'paradigms' is unknown, expected one of paradigm, order, .*\(did you mean paradigm\?\)"),
        ("tolerence", r"did you mean tolerance\?"),
        (
            "nonsense",
            r"expected one of paradigm, order, tolerance, digits, inflate, avoid, costs, device, batch, max_memory$",
        ),
    ],
)
def test_options_of_the_search_that_there_are_not(name, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        verale.explain_model(OwnNetwork(), LAYER, own_images(2), out="OUT", arch="protopnet", **{name: "top_k"})
    assert not Path("OUT").exists()


@pytest.mark.parametrize(
    "options", [{"paradigm": "simplex"}, {"avoid": "patches:99"}, {"device": "cuda:99"}, {"jobs": 0}], ids=str
)
def test_what_the_search_refuses_leaves_nothing_behind(options) -> None:
    with pytest.raises(UsageError):
        verale.explain_model(OwnNetwork(), LAYER, own_images(2), out="OUT", arch="protopnet", **options)
    assert not Path("OUT").exists()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("batch", None, "batch is None, expected a number of images"),
        ("tolerance", [1], "tolerance is a list, expected a number, a percentage such as '1%', or 'auto'"),
        ("avoid", 3, r"avoid is an int, expected verale\.search\.Avoid\("),
        ("costs", {3: 5.0}, r"costs is a dict, expected verale\.search\.Costs\.of\("),
        ("device", 0, "device is an int, expected a device such as 'cuda'"),
        ("max_memory", "1G", r"max_memory is the text '1G', expected a number of GiB"),
    ],
)
def test_explain_says_the_same(name, value, sentence) -> None:
    head = head_of("protopnet", OwnNetwork().state_dict())
    with pytest.raises(UsageError, match=sentence):
        verale.explain(head, torch.rand(1, 4, 8), **{name: value})


def test_what_is_avoided_may_be_text_here_too() -> None:
    run = verale.explain_model(
        OwnNetwork(), LAYER, own_images(2), out="OUT", arch="protopnet", paradigm="projection", avoid="prototypes:0"
    )
    assert [str(row.certificate) for row in run.rows] == ["000000.ale.json", "000001.ale.json"]
    assert all(each.prototype != 0 for one in run.certificates for each in one.statements)


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
