"""The first hour of somebody with an own module: from the module to a folder, and what commands make of it."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from support.cases import every
from support.commands import in_process
from support.own_network import CLASSES, OwnNetwork, own_images
from support.small import small_head
from torch import nn

import verale
from verale.adapters import head_of
from verale.adapters.fields import ReceptiveFields
from verale.errors import HeadError, InputError, LatentsError, UsageError
from verale.report.collect import collect
from verale.report.images import AS_NOTED
from verale.runs.explain_model import _digest_of_state, _place
from verale.runs.model_images import model_images
from verale.runs.source import load_source

LAYER, COUNT = "add_on_layers", 6
PROTOTYPES = 12


def explained(out: Path, network: nn.Module | None = None, **changes: object):
    """The call of somebody with preprocessed images."""
    given: dict = {
        "arch": "protopnet",
        "labels": [index % CLASSES for index in range(COUNT)],
        "class_names": ["ant", "bee", "cat"],
        "prototype_images": own_images(PROTOTYPES, seed=1),
        "paradigm": "top_k",
        **changes,
    }
    images = given.pop("images", own_images(COUNT))
    layer = given.pop("layer", LAYER)
    return verale.explain_model(network or OwnNetwork(), layer, images, out=out, **given)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    """One call, with the default paradigm."""
    return explained(tmp_path_factory.mktemp("own") / "OUT", paradigm="readable")


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory):
    """The same with a paradigm that takes less time, for tests that go on from there."""
    return explained(tmp_path_factory.mktemp("before") / "OUT")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Images as files, in a folder for each class; each is a multiple of 1 / 255 of a tensor."""
    for index, image in enumerate(own_images(COUNT)):
        folder = tmp_path / "insects" / ("ant", "bee", "cat")[index % CLASSES]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = (image * 255).round().to(torch.uint8).permute(1, 2, 0).numpy()
        Image.fromarray(pixels).save(folder / f"{index}.png")
    return tmp_path / "insects"


def to_tensor(picture: Image.Image) -> torch.Tensor:
    """As torchvision's ToTensor."""
    pixels = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8)
    return pixels.view(picture.height, picture.width, 3).permute(2, 0, 1) / 255


def test_the_folder_is_audited_reported_and_summed_up_without_another_option(run, tmp_path):
    out = tmp_path / "elsewhere"
    shutil.copytree(run.folder, out)
    audited = in_process("audit", str(out))
    assert audited.returncode == 0 and audited.stdout.count("PROVED ") == COUNT, audited.stderr
    assert "entailment+instance proved" in audited.stdout
    reported = in_process("report", str(out))
    assert reported.returncode == 0, reported.stderr
    assert f"{COUNT} certificates, {COUNT} PROVED" in reported.stderr and "not verified" not in reported.stderr
    assert "cannot be read" not in (out / "report.html").read_text(encoding="utf-8")
    summed = in_process("summary", str(out))
    assert summed.returncode == 0 and "readable" in summed.stdout


def test_what_is_printed_says_what_to_do_next(run):
    lines = str(run).splitlines()
    assert lines[0] == f"{COUNT} of {COUNT} images have a certificate in {run.folder}"
    assert lines[1].startswith("The head computes this network's logits on 6 images")
    assert lines[-3:] == [f"  verale {name} {run.folder}" for name in ("audit", "report", "summary")]


def test_without_a_certificate_it_says_why_and_not_to_audit(run):
    none = replace(run, rows=tuple(replace(row, certificate=None, reason="no proof") for row in run.rows))
    lines = str(none).splitlines()
    assert lines[0] == f"0 of {COUNT} images have a certificate in {run.folder}"
    assert "without one: 0, 1, 2, 3, 4, 5: no proof" in lines
    assert lines[-1].startswith("next: ") and "verale audit" not in str(none)
    some = replace(run, rows=(*none.rows[:2], *run.rows[2:]))
    assert "without one: 0, 1: no proof" in str(some) and f"verale audit {run.folder}" in str(some)


def test_the_head_is_the_networks_and_names_its_classes(run):
    assert verale.Head.load(run.folder / "head.safetensors").labels == ("ant", "bee", "cat")
    assert [row.label for row in run.rows] == [0, 1, 2, 0, 1, 2]
    network = OwnNetwork()
    assert [row.predicted for row in run.rows] == network(own_images(COUNT))[0].argmax(1).tolist()
    assert all(
        certificate.predicted == row.predicted for certificate, row in zip(run.certificates, run.rows, strict=True)
    )


def test_images_are_bound_by_the_digests_of_their_values_pictures_and_latents(run):
    source = json.loads((run.folder / "source.json").read_text())
    images = own_images(COUNT)
    header = b"float32 [3, 8, 8]\n"
    assert source["tensors"] == [hashlib.sha256(header + image.numpy().tobytes()).hexdigest() for image in images]
    for entry, image in zip(source["images"], images, strict=True):
        data = (run.folder / "images" / entry["file"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        with Image.open(run.folder / "images" / entry["file"]) as picture:
            assert torch.equal(to_tensor(picture), image), "multiples of 1 / 255 come out as they were"
    claimed = [certificate.latents for certificate in run.certificates]
    assert source["image_latents"] == claimed
    assert source["head_sha256"] == run.head.digest
    latents = load_file(run.folder / "latents.safetensors")["latents"]
    assert torch.equal(latents, verale.adapters.capture(OwnNetwork(), LAYER, images))


def test_each_prototype_has_the_patch_that_it_was_projected_from(run):
    collection = collect(run.folder)
    assert {(origin.row, origin.column) for origin in collection.source.origins.values()} == {(1, 2)}
    assert sorted(collection.source.origins) == list(range(PROTOTYPES))
    assert all(origin.file.is_file() for origin in collection.source.origins.values())
    assert all(item.file is not None and item.image_note == AS_NOTED for item in collection.items)


def test_each_patch_has_its_receptive_field(run):
    halves = ((0, 2), (2, 4), (4, 6), (6, 8))
    assert load_source(run.folder / "source.json", None).fields == ReceptiveFields(halves, halves, (8, 8), ())


class Undecided(OwnNetwork):
    """What it computes depends on the values, which no trace of it shows."""

    def forward(self, images):
        return super().forward(images if images.sum() > 0 else -images)


def test_a_network_that_cannot_be_followed_has_no_receptive_fields(before, tmp_path):
    """In training, and left in it; a folder of the time before receptive fields is continued."""
    network = Undecided().train()
    undecided = explained(tmp_path / "A", network)
    assert network.training and load_source(tmp_path / "A" / "source.json", None).fields is None
    assert [row.sha256 for row in undecided.rows] == [row.sha256 for row in before.rows]
    path = shutil.copytree(before.folder, tmp_path / "B") / "source.json"
    record = json.loads(path.read_text())
    del record["receptive_fields"]
    path.write_text(json.dumps(record))
    assert explained(tmp_path / "B").comparison is None
    assert load_source(path, None).fields is None


def test_a_prototype_that_is_no_patch_of_its_image_is_left_out(tmp_path, caplog):
    images = own_images(PROTOTYPES, seed=1)
    images[3] = 0.5
    explained(tmp_path / "OUT", prototype_images=images)
    assert "prototype 3 is no patch of its image" in caplog.text
    assert sorted(collect(tmp_path / "OUT").source.origins) == [j for j in range(PROTOTYPES) if j != 3]


def test_files_with_a_callable_give_the_same_certificates(before, files, tmp_path):
    of_files = explained(tmp_path / "A", images=files, preprocess=to_tensor, labels=None, prototype_images=None)
    assert [row.label for row in of_files.rows] == [0, 0, 1, 1, 2, 2]
    order = [0, 3, 1, 4, 2, 5]
    assert [before.rows[index].sha256 for index in order] == [row.sha256 for row in of_files.rows]
    assert len({row.sha256 for row in before.rows}) == 6
    source = json.loads((tmp_path / "A" / "source.json").read_text())
    assert source["images_folder"] == str(files) and source["classes"] == ["ant", "bee", "cat"]
    assert source["preprocessing"] == [{"type": "to_tensor"}], "steps that move pixels for all that is known"
    first = source["images"][0]
    assert first == {
        "file": "ant/0.png",
        "label": 0,
        "sha256": hashlib.sha256((files / "ant/0.png").read_bytes()).hexdigest(),
    }
    assert in_process("report", str(tmp_path / "A")).returncode == 0


def test_folders_that_are_named_as_classes_are_these_classes(files, tmp_path):
    shutil.rmtree(files / "bee")
    images, names = [str(file) for file in sorted(files.glob("*/*.png"))], ["cat", "ant", "bee"]
    given = {"labels": None, "class_names": names, "prototype_images": None}
    assert [row.label for row in explained(tmp_path / "OUT", images=images, preprocess=to_tensor, **given).rows] == [
        *(1, 1, 0, 0)
    ]


def test_the_steps_of_torchvision_are_noted(files):
    transforms = pytest.importorskip("torchvision.transforms")
    steps = transforms.Compose(
        [transforms.Resize(8), transforms.CenterCrop((8, 8)), transforms.ToTensor(), transforms.Normalize([0.5], [0.2])]
    )
    assert model_images(files, steps, "images").describe()["preprocessing"] == [
        {"type": "Resize", "params": {"size": 8}},
        {"type": "CenterCrop", "params": {"size": [8, 8]}},
        {"type": "ToTensor"},
        {"type": "Normalize", "params": {"mean": [0.5], "std": [0.2]}},
    ]


def test_normalised_tensors_get_stretched_pictures_and_other_tensors_none(tmp_path):
    network = OwnNetwork()
    normalised = explained(tmp_path / "A", network, images=(own_images(COUNT) - 0.5) / 0.2, prototype_images=None)
    with Image.open(normalised.folder / "images" / "000000.png") as picture:
        apart = (to_tensor(picture) - own_images(COUNT)[0]).abs()
    assert float(apart.max()) < 0.02, "each channel of these images has values near 0 and near 1"
    network.features = nn.Conv2d(4, 6, 2, stride=2)
    other = explained(tmp_path / "B", network, images=torch.rand(COUNT, 4, 8, 8), prototype_images=None)
    assert not (other.folder / "images").exists()
    assert in_process("audit", str(other.folder)).returncode == 0
    assert in_process("report", str(other.folder)).returncode == 0


def test_the_same_call_continues_and_another_one_is_refused(before, tmp_path):
    whole, out = before, shutil.copytree(before.folder, tmp_path / "OUT")
    (out / whole.rows[4].certificate).unlink()
    bytes_before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    again = explained(out)
    assert again.comparison is None, "latents were captured and compared before"
    strip = [replace(row, seconds=None) for row in again.rows]
    assert strip == [replace(row, seconds=None) for row in whole.rows]
    for name, data in bytes_before.items():
        assert name in ("explanations.csv", "files.json") or (out / name).read_bytes() == data
    with pytest.raises(InputError, match=r"made from something else \(state_sha256, head_sha256, tensors"):
        network = OwnNetwork()
        network.last_layer.weight.data *= 2
        explained(out, network, images=own_images(COUNT, seed=3))
    with pytest.raises(InputError, match=r"something else \(images differ\)"):
        explained(out, labels=[0] * COUNT)
    other = explained(out, images=own_images(COUNT, seed=3), overwrite=True)
    assert other.comparison is not None and in_process("audit", str(out)).returncode == 0


@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "softmax"])
def test_the_patch_of_a_prototype_is_found_by_its_latents(geometry):
    head = small_head(geometry)
    latents = torch.rand(head.depth, 3, 4, dtype=torch.float64)
    if head.prototypes is None:
        latents[7, 1, 2] = 9
        assert _place(head, 7, latents) == (1, 2)
        return
    assert _place(head, 7, latents) is None
    latents[:, 1, 2] = head.prototypes[7] * (1 if geometry == "euclidean" else 0.3)
    assert _place(head, 7, latents) == (1, 2)


@pytest.mark.parametrize(
    ("network", "field", "message"),
    [
        ({"activation": "linear"}, "activation", "the logits agree with activation='linear'; you gave 'log'"),
        ({"epsilon": 1e-2}, "epsilon", "the logits agree with epsilon=0.01; you gave 0.0001"),
    ],
)
def test_a_head_that_computes_something_else_is_refused_before_anything_is_written(network, field, message, tmp_path):
    with pytest.raises(HeadError) as refusal:
        explained(tmp_path / "OUT", OwnNetwork(**network))
    assert refusal.value.field == field and message in str(refusal.value)
    assert not (tmp_path / "OUT").exists()
    if field == "epsilon":  # the remedy that it names
        assert explained(tmp_path / "OUT", OwnNetwork(**network), options=network).comparison.agrees


def test_a_head_can_be_given_instead_of_an_architecture(tmp_path):
    head = head_of("protopnet", OwnNetwork().state_dict())
    run = explained(tmp_path / "OUT", arch=None, head=head, class_names=None)
    assert run.head.digest == head.as_compared().digest


@every(
    ("changes", "error", "message"),
    [
        ({"arch": None}, UsageError, "arch is missing, expected .*: its tensors fit .*'protopnet'"),
        ({"arch": "protopnets"}, UsageError, "'protopnets' is unknown"),
        ({"arch": "pipnet"}, HeadError, "_classification.weight"),
        ({"head": head_of("protopnet", OwnNetwork().state_dict())}, UsageError, "head is given, expected no arch"),
        ({"arch": None, "options": {"epsilon": 0.1}}, UsageError, r"options are given \(epsilon\), expected arch"),
        ({"layer": "add_on"}, UsageError, "layer 'add_on' is unknown"),
        ({"labels": [0]}, LatentsError, "1 labels for 6 images"),
        ({"labels": [7] * COUNT}, LatentsError, "label 0 is 7, expected one of the head's classes, 0 to 2"),
        ({"class_names": ["ant"]}, HeadError, "1 names, expected 3"),
        ({"prototype_images": own_images(3)}, UsageError, "3 entries, expected 12"),
        ({"images": ["a.png"]}, UsageError, r"given as files, expected preprocess=\.\.\. too"),
        ({"images": 5}, UsageError, r"images has shape \(\)"),
        ({"images": {"a": 1}}, UsageError, "images is a dict, expected a tensor"),
        ({"images": "nowhere", "preprocess": to_tensor}, InputError, "no such folder"),
        ({"options": {"domain": verale.Box(0, 0.1)}}, HeadError, "'domain': .* outside the head's domain"),
        ({"network": OwnNetwork().state_dict()}, UsageError, "model is an OrderedDict, expected a torch module"),
        ({"paradigm": "topk"}, UsageError, "'topk' is unknown"),
    ],
)
def test_arguments_that_do_not_fit(changes, error, message, tmp_path):
    with pytest.raises(error, match=message):
        explained(tmp_path / "OUT", **changes)
    assert not (tmp_path / "OUT").exists()


def test_pictures_that_cannot_be_preprocessed_are_named(files, tmp_path):
    for preprocess, message in (
        (lambda picture: 1 / 0, r"ant/0\.png: cannot be preprocessed \(ZeroDivisionError"),
        (lambda picture: torch.zeros(2), r"ant/0\.png: becomes \(2,\) torch.float32, expected floats"),
        (lambda picture: torch.rand(3, 8, 8 + picture.getpixel((0, 0))[0] % 2), "has to give all images the same size"),
    ):
        with pytest.raises(InputError, match=message):
            explained(tmp_path / "OUT", images=files, preprocess=preprocess, labels=None)


def test_the_report_of_a_single_certificate_has_no_default_place(run):
    done = in_process("report", str(run.folder / "000000.ale.json"))
    assert done.returncode == 9 and "with -o" in done.stderr


def test_the_name_of_a_tensor_is_no_other_tensor():
    """A name may hold any character: with a line feed it was the name of one tensor, and the beginning of another."""
    two, one, inner = nn.Module(), nn.Module(), nn.Module()
    two.register_parameter("a", nn.Parameter(torch.zeros(0)))
    two.register_parameter("b", nn.Parameter(torch.ones(1)))
    inner.register_parameter("float32 [0]\nb", nn.Parameter(torch.ones(1)))
    one.add_module("a torch", inner)
    assert _digest_of_state(two) != _digest_of_state(one)
