"""Networks that CaBRNet trained, as runs and in memory, from images to audited certificates, against CaBRNet itself."""

from __future__ import annotations

import datetime
import json
import shutil
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
import yaml
from click.testing import CliRunner
from PIL import Image
from support.commands import in_process
from support.runs import FAMILIES, IMAGES, changed, final, imported

import verale
from verale.adapters.cabrnet import load, load_head, network
from verale.adapters.cabrnet.heads import head_of_model, is_cabrnet
from verale.adapters.cabrnet.run import load_yaml
from verale.checker import Auditor, Status
from verale.cli import main
from verale.cli.explain import command
from verale.demo.network import IMAGES as DIGITS
from verale.demo.network import RUN
from verale.errors import InputError, UsageError
from verale.head import Head, as_patches, evaluate, load_labelled, load_latents
from verale.runs.source import load_source
from verale.runs.table import read_table
from verale.version import installing

FILES = sorted(IMAGES.glob("*/*.png"))
QUICKLY = ("--paradigm", "projection")


@pytest.fixture(scope="module", autouse=True)
def cabrnet():
    return imported()


def explain(*arguments: object) -> int:
    """`verale explain` in this process; what it raises, it raises here."""
    result = CliRunner().invoke(command, [str(one) for one in arguments], catch_exceptions=False)
    return result.exit_code


def shortly(*families: str) -> list[Any]:
    """All families, of which a short run takes these."""
    return [pytest.param(each, marks=[pytest.mark.long] * (each not in families)) for each in FAMILIES]


@cache
def loaded_once(family: str) -> network.Network:
    """A network that no test changes."""
    return load(final(family))


@pytest.mark.parametrize("family", FAMILIES)
def test_latents_are_cabrnets_and_the_head_computes_its_logits(family, cabrnet):
    model, datasets = cabrnet
    architecture = load_yaml(final(family) / "model_arch.yml")
    if family == "protopool":  # the epilogue dropped three of ten, and CaBRNet takes the number from the YAML
        architecture["classifier"]["params"]["num_prototypes"] = 7
    reference = model.build_from_config(architecture, state_dict_path=str(final(family) / "model_state.pth")).eval()
    transform = datasets.get_dataset_transform(str(final(family) / "dataset.yml"), dataset="test_set")
    from torchvision.datasets import ImageFolder

    folder = ImageFolder(str(IMAGES), transform=transform)
    images = torch.stack([image for image, _ in folder])
    with torch.no_grad():
        latents, output = reference.features(images), reference(images)
    logits = output[2] if family == "pipnet" else output[0]

    loaded = loaded_once(family)
    assert torch.equal(loaded.preprocess(FILES), images)
    assert torch.equal(loaded.latents(images), latents)
    found = evaluate(loaded.head, as_patches(latents))
    assert torch.equal(found.predicted, logits.argmax(1))
    assert len(set(found.predicted.tolist())) > 2

    captured = loaded.capture(FILES)
    assert torch.equal(captured.latents, latents)
    assert torch.equal(captured.logits, logits)
    assert (captured.off <= captured.allowed).all()
    assert captured.allowed.max() < 0.2, "a budget that allows everything would tell nothing"
    assert not captured.undecided.any()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_in_memory_has_the_head_of_its_run_and_its_logits_are_those_of_this_head(family):
    of_run = loaded_once(family)
    head = head_of_model(of_run._model)
    assert is_cabrnet(of_run._model) and head.digest == of_run.head.digest == load_head(final(family)).digest
    comparison = verale.check(head, of_run._model, "extractor", of_run.preprocess(FILES[::3]))
    assert comparison.agrees, str(comparison)
    assert comparison.closer is None


def test_a_model_in_memory_is_explained_in_one_call(tmp_path):
    of_run, out = loaded_once("protopnet"), tmp_path / "OUT"
    options = {"preprocess": of_run._transform, "out": out, "paradigm": "top_k"}
    explained = verale.explain_model(of_run._model, "extractor", IMAGES, **options)
    assert explained.comparison.agrees and explained.head.digest == of_run.with_compared_head().head.digest
    assert [row.label for row in explained.rows] == [int(file.parent.name) for file in FILES]
    assert [run(each, out)[0] for each in ("audit", "report", "summary")] == [0, 0, 0]


def test_parts_of_a_model_that_verale_does_not_know_are_named():
    model = load(final("protopnet"))._model
    model.extractor.add_on.add_module("last", torch.nn.GELU())
    with pytest.raises(UsageError, match=r"CaBRNet model ProtoPNet .* ends in GELU"):
        head_of_model(model)

    class Own(type(model.classifier)):
        """A classifier of somebody else."""

    model.classifier.__class__ = Own
    with pytest.raises(UsageError, match=r"has .*Own as its classifier, which verale does not know: give head="):
        head_of_model(model)


DEFAULT = ("pipnet",)
"""The family that is explained without a paradigm, which chooses the smallest of several explanations."""


@pytest.mark.parametrize("family", shortly("legacy", "gaussian", "prototree", "pipnet"))
def test_explained_from_its_run_directory_and_audited(family, tmp_path):
    images, few = tmp_path / "in", FILES[::3]  # one of each class
    for file in few:
        (images / file.parent.name).mkdir(parents=True)
        shutil.copy(file, images / file.parent.name)
    tmp_path = tmp_path / "out"
    options = ("--out", tmp_path, "--device", "cpu", *(() if family in DEFAULT else QUICKLY))
    assert explain("--checkpoint-dir", final(family), "--images", images, *options) == 0
    head, latents = tmp_path / "head.safetensors", tmp_path / "latents.safetensors"
    auditor = Auditor(head.read_bytes(), latents.read_bytes(), "arb")
    certificates = sorted(tmp_path.glob("*.ale.json"))
    assert len(certificates) == len(few)
    for certificate in certificates:
        verdict = auditor.check(certificate.read_bytes())
        assert verdict.status is Status.PROVED, verdict.message
    assert load_latents(latents).shape[:2] == (4, 8)
    truth, rows = [int(file.parent.name) for file in few], read_table(tmp_path / "explanations.csv")
    assert load_labelled(latents)[1] == truth == [row.label for row in rows]
    assert [row.correct for row in rows] == [row.label == row.predicted for row in rows]
    written = load_head(final(family)).as_compared().to_bytes()
    assert head.read_bytes() == written, "what `verale head import` and `verale head compare` write"

    source = json.loads((tmp_path / "source.json").read_text(encoding="utf-8"))
    assert source["classes"] == ["0", "1", "2", "3"]
    assert [(image["file"], image["label"]) for image in source["images"]] == [
        (str(file.relative_to(IMAGES)), int(file.parent.name)) for file in few
    ]
    assert source["preprocessing"]["tensor"] == {"type": "ToTensor"}
    assert source["largest_share_of_allowed_difference"] <= 1
    origins = source["prototypes"]
    assert {origin["prototype"] for origin in origins} == set(range(Head.load(head).size))
    assert all(0 <= origin[name] < 4 for origin in origins for name in ("row", "column"))
    fields = load_source(tmp_path / "source.json", None).fields
    assert (len(fields.rows), len(fields.columns)) == (4, 4) and not fields.whole and fields.unknown == ()
    image = loaded_once(family).preprocess(FILES[:1]).requires_grad_()
    assert fields.size == tuple(image.shape[2:])
    latents = loaded_once(family)._model.extractor(image)[0].square().sum(0)
    for row, column in ((0, 0), (1, 2), (3, 3)):
        (gradient,) = torch.autograd.grad(latents[row, column], image, retain_graph=True)
        left, top, right, bottom = fields.box(row, column)
        inside = gradient[0, :, top:bottom, left:right]
        assert inside.count_nonzero() == gradient.count_nonzero() > 0


def test_a_pruned_gaussian_loads_with_what_is_left(tmp_path):
    def prune(state):
        for name in ("prototypes", "proto_class_map", "similarity_layer.log_var"):
            state[f"classifier.{name}"] = state[f"classifier.{name}"][:9]
        state["classifier.last_layer.weight"] = state["classifier.last_layer.weight"][:, :9]

    loaded = load(changed("gaussian", tmp_path, state=prune))
    assert loaded.head.size == 9
    assert loaded.capture(FILES[:2]).latents.shape[0] == 2
    assert loaded.origins is None, "the notes speak of 12 prototypes, and do not tell which are left"


PAPERS = {
    "tesnet": {"top_arch": "beyond_l2_ext.tesnet.model", "classifier": "beyond_l2_ext.tesnet.decision"},
    "gaussian": {"classifier": "beyond_l2_ext.protopnet_gaussian", "similarity": "beyond_l2_ext.similarities"},
}
CONVERTED = {
    "convert": {"type": "PILToTensor"},
    "dtype": {"type": "ConvertImageDtype", "params": {"dtype": "torch.float32"}},
    "normalize": {"type": "Normalize", "params": {"mean": [0.5] * 3, "std": [0.5] * 3}},
}
"""The same numbers as ToTensor and Normalize, written as for the flowers of the papers."""


def of_papers(family):
    """Their modules' names, one layer as older CaBRNets wrote it, channels not stated."""

    def rename(architecture):
        for section, module in PAPERS[family].items():
            architecture[section]["module"] = module
        extractor = architecture["extractor"]
        convnet = extractor.pop("convnet")
        extractor["backbone"] |= {"layer": convnet["source_layer"], "weights": "examples/weights.pth"}
        extractor["add_on"] = convnet["add_on"]
        del architecture["classifier"]["params"]["num_features"]

    return {"architecture": rename}


def similarity(name):
    """`name: None` is how the papers write it, and YAML reads that as a word."""
    return {"architecture": lambda architecture: architecture.update(similarity=name)}


def transform(steps):
    return {"dataset": lambda dataset: dataset["test_set"]["params"].update(transform=steps)}


@pytest.mark.parametrize(
    ("family", "change"),
    [
        *((family, of_papers(family)) for family in PAPERS),
        *(("pipnet", similarity(name)) for name in ({"name": "None"}, {"name": None}, None)),
        ("protopnet", transform(CONVERTED)),
    ],
)
def test_what_is_written_in_another_way_is_the_same_network(family, change, tmp_path):
    run = changed(family, tmp_path, **change)
    (run / "projection_info.csv").unlink()
    loaded = load(run)
    assert loaded.origins is None
    assert torch.equal(loaded.capture(FILES[:4]).logits, loaded_once(family).capture(FILES[:4]).logits)
    assert "dataset" not in change or loaded.preprocessing == CONVERTED, "as it is written, for source.json"


def test_a_step_that_an_alias_repeats_is_one_step(tmp_path):
    run = changed("protopnet", tmp_path, **transform({**CONVERTED, "again": CONVERTED["dtype"]}))
    assert "*id" in (run / "dataset.yml").read_text(encoding="utf-8")
    assert load(run).preprocess(FILES[:1]).dtype == torch.float32


def pooled(size, **last):
    def pool(architecture):
        layers = architecture["extractor"]["convnet"]["add_on"]
        architecture["extractor"]["convnet"]["add_on"] = {
            "init_mode": layers.pop("init_mode"),
            "pool": {"type": "AdaptiveAvgPool2d", "params": {"output_size": size}},
            **(last or layers),
        }
        layers["conv1"]["params"]["stride"] = 1

    return {"architecture": pool}


def test_a_protopool_that_pools_to_a_grid_is_loaded(tmp_path):
    loaded = load(changed("protopool", tmp_path, **pooled([3, 3])))
    assert loaded.capture(FILES[:1]).latents.shape[1:] == (8, 3, 3)


def converted(dtype):
    return transform({**CONVERTED, "dtype": {"type": "ConvertImageDtype", "params": {"dtype": dtype}}})


OS = {"type": "system", "module": "os", "params": {"command": "touch /tmp/verale"}}
ADD_ON = r"add-on layer 'pool' is AdaptiveAvgPool2d .* an output_size beyond 64"
DTYPE = r"dataset\.yml: a transform ConvertImageDtype has the dtype .* torch\.float32"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        *((pooled(size, last={"type": "Sigmoid"}), ADD_ON) for size in (65, 10**9, [3, 65], 0, "3")),
        (transform({"a": OS}), r"dataset\.yml: .*from os"),
        (transform([{"type": "Compose", "transforms": [{"module": "subprocess", "type": "run"}]}]), "from subprocess"),
        (transform({"a": {"type": "Nonsense"}}), r"dataset\.yml: .*a transform is Nonsense, which is not built"),
        (transform({"a": {"type": "Normalize", "params": {"mean": 0.5}}}), "CaBRNet cannot build test_set's transform"),
        (transform({}), r"dataset\.yml: .*is empty"),
        ({"dataset": lambda dataset: dataset.pop("test_set")}, "has no test_set.params.transform"),
        *((converted(dtype), DTYPE) for dtype in ("float32", "torch.load", 32, None, ["torch.float32"])),
        (converted("__import__('os').abort()"), DTYPE),  # CaBRNet evaluates it
    ],
)
def test_what_verale_does_not_let_cabrnet_build_is_refused(change, reason, tmp_path):
    with pytest.raises(InputError, match=reason):
        load(changed("protopool", tmp_path, **change))


def infinite(state):
    state["extractor.add_on.conv2.bias"][0] = torch.inf


def large_kernel(architecture):
    architecture["extractor"]["add_on"]["conv2"]["params"]["kernel_size"] = 9


CROP = {"crop": {"type": "RandomCrop", "params": {"size": 40}}, "tensor": {"type": "ToTensor"}}


@pytest.mark.parametrize(
    ("family", "change", "reason"),
    [
        ("pipnet", {"state": infinite}, "NaN or infinity"),
        ("protopnet", transform({"a": {"type": "PILToTensor"}}), "does not return a float32 tensor"),
        ("protopnet", transform(CROP), r"png: cannot be preprocessed as test_set states \(ValueError"),
        (
            "legacy",
            {
                "architecture": large_kernel,
                "state": lambda state: state.update({"extractor.add_on.conv2.weight": torch.zeros(8, 16, 9, 9)}),
            },
            r"final: CaBRNet fails on images from .*png on \(RuntimeError",
        ),
    ],
)
def test_a_network_that_gives_up_on_an_image_is_told(family, change, reason, tmp_path):
    loaded = load(changed(family, tmp_path, **change))
    with pytest.raises(InputError, match=reason):
        loaded.capture(FILES)


@pytest.mark.parametrize("family", shortly("protopnet", "tesnet", "prototree"))
def test_a_framework_that_computes_something_else_is_refused(family):
    loaded = load(final(family))
    with torch.no_grad():
        for name, value in loaded._model.classifier.named_parameters():
            if "last_layer.weight" in name:
                value.add_(0.1 * torch.rand(value.shape, generator=torch.Generator().manual_seed(0)))
            elif "relative_distribution" in name:  # leaves are far apart: a softmax of counts
                value.copy_(value.roll(1, -1))
    with pytest.raises(InputError, match=r"model_state\.pth: for .*png CaBRNet's logit of class .* more than float32"):
        loaded.capture(FILES[:4])


def test_where_prototypes_come_from_is_looked_up_in_the_projection_set(tmp_path):
    """Three images are the set; the run's prototypes are made latents of them, then of others."""
    latents = loaded_once("protopnet").latents(loaded_once("protopnet").preprocess(FILES))
    places = [(j % 12, j % 4, (j // 2) % 4) for j in range(12)]

    def project(state):
        state["classifier.prototypes"] = torch.stack([latents[i, :, h, w] for i, h, w in places])[..., None, None]

    def folder(dataset):
        dataset["projection_set"]["params"]["root"] = str(IMAGES)

    run = changed("protopnet", tmp_path, state=project, dataset=folder)
    rows = [f"{i},{h},{w},9.0,{j}" for j, (i, h, w) in enumerate(places)]
    (run / "projection_info.csv").write_text("\n".join(["img_idx,h,w,score,proto_idx", *rows]))
    origins = load(run).origins
    assert origins is not None
    assert [origin.file for origin in origins] == [FILES[i] for i, _, _ in places]

    rows[0] = f"{(places[0][0] + 1) % 12},0,0,9.0,0"
    for row in (rows[0], "500,0,0,9.0,0", "0,7,0,9.0,0"):
        (run / "projection_info.csv").write_text("\n".join(["img_idx,h,w,score,proto_idx", row, *rows[1:]]))
        origins = load(run).origins
        assert origins is not None
        assert {origin.file for origin in origins} == {None}
    (run / "projection_info.csv").write_text("img_idx,h\n1,2\n")
    with pytest.raises(InputError, match="projection_info"):
        load(run)
    (run / "projection_info.csv").unlink()
    assert load(run).origins is None


def test_a_part_of_a_projection_set_is_taken_as_cabrnet_takes_it(cabrnet):
    from verale.adapters.cabrnet.network import _projection_files

    projection = {
        "name": "ImageFolder",
        "module": "torchvision.datasets",
        "batch_size": 4,
        "shuffle": False,
        "params": {"root": str(IMAGES)},
        "partition": [0.2, 0.9],
        "partition_seed": 3,
    }
    config = {"train_set": projection, "projection_set": projection, "test_set": projection}
    subset = cabrnet[1].get_datasets(config)["projection_set"]["dataset"]
    expected = [subset.dataset.samples[index][0] for index in subset.indices]
    assert [str(file) for file in _projection_files(Path(), config)] == expected


@pytest.fixture
def captures(monkeypatch) -> list[int]:
    """The number of images of each call that captured some."""
    counts = []
    capture = network.Network.capture

    def counted(self, files, advance=lambda done: None):
        counts.append(len(files))
        return capture(self, files, advance)

    monkeypatch.setattr(network.Network, "capture", counted)
    return counts


def arguments(folder: Path, *more: object) -> list[object]:
    given = ["--checkpoint-dir", folder / "final", "--images", folder / "in", "--out", folder / "out"]
    return [*given, "--device", "cpu", *QUICKLY, *more]


@pytest.fixture(scope="module")
def explained_once(tmp_path_factory, cabrnet) -> Path:
    """A network, three images, and what explaining them leaves."""
    folder = tmp_path_factory.mktemp("once")
    changed("protopnet", folder / "work")
    flat(folder / "work" / "in")
    assert explain(*arguments(folder / "work")) == 0
    shutil.copytree(folder / "work", folder / "kept")
    return folder


@pytest.fixture
def once(explained_once) -> Path:
    """The same as it was at first, and where it was: a run names its network's place."""
    shutil.rmtree(explained_once / "work")
    return shutil.copytree(explained_once / "kept", explained_once / "work")


def test_images_that_have_been_seen_are_not_seen_again(once, captures):
    before = {path: path.stat().st_mtime_ns for path in (once / "out").iterdir()}
    assert explain(*arguments(once)) == 0
    assert {path: path.stat().st_mtime_ns for path in (once / "out").iterdir()} == before
    for path in (once / "out").glob("*.ale.json"):
        path.unlink()
    assert explain(*arguments(once)) == 0
    assert captures == []
    assert explain(*arguments(once, "--overwrite")) == 0
    assert captures == [3]


@pytest.mark.parametrize("name", ["latents.safetensors", "head.safetensors"])
def test_latents_that_were_lost_are_made_again_and_changed_ones_stay(name, once, captures):
    whole = (once / "out" / name).read_bytes()
    (once / "out" / name).write_bytes(whole[:-8])
    for more in ((), ("--overwrite",)):
        with pytest.raises(InputError, match=rf"{name}: .*move it away"):
            explain(*arguments(once, *more))
    assert (once / "out" / name).read_bytes() == whole[:-8] and captures == []
    (once / "out" / name).unlink()
    assert explain(*arguments(once)) == 0
    assert (once / "out" / name).read_bytes() == whole
    assert captures == [3]


def repainted(folder: Path) -> None:
    shutil.copy(FILES[5], folder / "in" / FILES[0].name)


def retrained(folder: Path) -> None:
    state = torch.load(folder / "final" / "model_state.pth", weights_only=True)
    state["classifier.last_layer.weight"] *= 2
    torch.save(state, folder / "final" / "model_state.pth")


@pytest.mark.parametrize(("change", "named"), [(repainted, "images"), (retrained, "state_sha256, head_sha256")])
def test_another_source_is_refused_before_anything_is_seen(change, named, once, captures):
    change(once)
    before = {path: path.read_bytes() for path in (once / "out").iterdir()}
    with pytest.raises(InputError, match=rf"out: was made from something else \({named} differ\).*overwrite=True"):
        explain(*arguments(once))
    assert {path: path.read_bytes() for path in (once / "out").iterdir()} == before
    assert captures == []
    assert explain(*arguments(once, "--overwrite")) == 0


def test_files_of_unknown_source_are_not_replaced(tmp_path, captures):
    changed("protopnet", tmp_path)
    flat(tmp_path / "in")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "latents.safetensors").write_bytes(b"mine")
    for more in ((), ("--overwrite",)):
        with pytest.raises(
            InputError, match=r"latents\.safetensors: .*verale did not write it, or it was changed since"
        ):
            explain(*arguments(tmp_path, *more))
    assert [path.read_bytes() for path in (tmp_path / "out").iterdir()] == [b"mine"]
    assert captures == []


def test_latents_that_come_out_otherwise_are_refused(once, monkeypatch):
    (once / "out" / "latents.safetensors").unlink()
    latents = network.Network.latents
    monkeypatch.setattr(network.Network, "latents", lambda self, images: latents(self, images) + 2.0**-20)
    with pytest.raises(InputError, match=r"source\.json: notes other latents than the same network now makes"):
        explain(*arguments(once))
    assert not (once / "out" / "latents.safetensors").exists()


def test_a_source_that_is_none_is_refused(once):
    (once / "out" / "source.json").write_text("{")
    for more in ((), ("--overwrite",)):
        with pytest.raises(InputError, match=r"source\.json: is .*move it away"):
            explain(*arguments(once, *more))
    assert (once / "out" / "source.json").read_text() == "{"


def test_folders_are_the_classes_that_they_were_in_the_training_set(tmp_path):
    """Which CaBRNet numbers in the order of text, and of which only some are explained."""
    count = loaded_once("protopnet").head.classes
    names = [str(2 * number + 8) for number in range(count)]
    for name in names:
        (tmp_path / "trained" / name).mkdir(parents=True)
    (tmp_path / "in" / names[-1]).mkdir(parents=True)
    shutil.copy(FILES[0], tmp_path / "in" / names[-1])

    def trained(dataset):
        dataset["train_set"] = {"name": "ImageFolder", "params": {"root": str(tmp_path / "trained")}}

    run, out = changed("protopnet", tmp_path / "run", dataset=trained), tmp_path / "out"
    assert explain("--checkpoint-dir", run, "--images", tmp_path / "in", "--out", out) == 0
    source = json.loads((out / "source.json").read_text(encoding="utf-8"))
    assert source["classes"] == sorted(names)
    assert [image["label"] for image in source["images"]] == [sorted(names).index(names[-1])]


def flat(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for file in FILES[:3]:
        shutil.copy(file, folder)
    return folder


def test_all_images_that_cannot_be_read_are_named_before_the_first_is_explained(tmp_path, captures, caplog, capsys):
    images, out = flat(tmp_path / "in"), tmp_path / "out"
    good = sorted(images.iterdir())
    (images / "0.png").write_bytes(good[0].read_bytes()[:-30])
    Image.fromarray(np.full((20, 20), 40000, np.uint16)).save(images / "z.png")
    (images / "movie.gif").write_bytes(b"GIF89a")
    (images / "noname").touch()
    arguments = ("--checkpoint-dir", final("protopnet"), "--images", images, "--out", out)
    with pytest.raises(InputError, match="2 of 5 images cannot be read, and nothing was explained") as raised:
        explain(*arguments)
    said = str(raised.value)
    assert "0.png: cannot be read as an image" in said and "z.png: has numbers of more than 8 bits" in said
    assert "--skip-unreadable" in said and not out.exists() and not captures
    assert "2 files or folders within class folders are left out: movie.gif, noname;" in caplog.text
    result = CliRunner().invoke(command, [*map(str, arguments), "--skip-unreadable"], catch_exceptions=False)
    assert result.exit_code == 18
    assert result.stderr.index("have a certificate") < result.stderr.index("left out: ")
    assert "z.png" in result.stderr and "2 of 5 pictures are left out" in result.stderr
    noted = [image["file"] for image in json.loads((out / "source.json").read_text(encoding="utf-8"))["images"]]
    assert noted == [file.name for file in good]


def test_an_orientation_is_told_and_not_applied(tmp_path, caplog):
    images, turned = flat(tmp_path / "in"), Image.Exif()
    turned[0x0112] = 6
    first = sorted(images.iterdir())[0]
    upright = first.read_bytes()
    with Image.open(first) as picture:
        picture.save(first, exif=turned)
    assert explain("--checkpoint-dir", final("protopnet"), "--images", images, "--out", tmp_path / "out") == 0
    assert "1 images note an orientation (EXIF), which is not applied" in caplog.text
    caplog.clear()
    first.write_bytes(upright)
    assert explain("--checkpoint-dir", final("protopnet"), "--images", images, "--out", tmp_path / "upright") == 0
    assert "orientation" not in caplog.text
    latents = [load_latents(tmp_path / name / "latents.safetensors") for name in ("out", "upright")]
    assert torch.equal(*latents)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.png", None, r"a\.png: cannot be read as an image"),
        ("zz.png", (20, 16), r"zz\.png: becomes a tensor \(3, 16"),
    ],
)
def test_images_that_cannot_be_used_are_refused_and_nothing_is_written(name, content, reason, tmp_path, monkeypatch):
    images, out = flat(tmp_path / "in"), tmp_path / "out"
    if content is None:
        (images / name).write_bytes(b"no image")
    else:
        Image.new("RGB", content).save(images / name)
    with pytest.raises(InputError, match=reason):
        explain("--checkpoint-dir", final("protopnet"), "--images", images, "--out", out)
    assert not out.exists()
    if content is not None:  # nor is one of another size in a batch of its own
        monkeypatch.setattr(network, "BATCH", 1)
        with pytest.raises(InputError, match=r"zz\.png: gives latents \(8, 4, 5\), .*png gives \(8, 4, 4\)"):
            loaded_once("protopnet").capture(sorted(images.iterdir()))


def test_yaml_that_json_cannot_hold_is_written_as_text_and_a_flat_folder_has_no_labels(tmp_path):
    def dated(architecture):
        architecture["date"] = datetime.date(2026, 11, 21)

    out = tmp_path / "out"
    run = changed("protopnet", tmp_path, dated)
    assert explain("--checkpoint-dir", run, "--images", flat(tmp_path / "in"), "--out", out, *QUICKLY) == 0
    source = json.loads((out / "source.json").read_text(encoding="utf-8"))
    assert source["architecture"]["date"] == "2026-11-21"
    assert source["classes"] is None and [image["label"] for image in source["images"]] == [None] * 3


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--head", "h"),
        ("--checkpoint-dir", "run"),
        ("--head", "h", "--images", "i"),
        ("--head", "h", "--latents", "z", "--checkpoint-dir", "run", "--images", "i"),
    ],
)
def test_either_a_head_or_a_run(arguments, tmp_path):
    with pytest.raises(UsageError, match="give --head and --latents, or --checkpoint-dir and --images"):
        explain(*arguments, "--out", tmp_path / "out")


def test_without_cabrnet_the_remedy_is_named(monkeypatch, capsys, tmp_path):
    arguments = ["--checkpoint-dir", final("protopnet"), "--images", IMAGES, "--out", tmp_path / "out"]
    monkeypatch.setattr(sys, "argv", ["verale", "explain", *map(str, arguments)])
    monkeypatch.setitem(sys.modules, "cabrnet.archs.generic.model", None)
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 9
    assert installing("cabrnet") in capsys.readouterr().err


def test_what_distutils_warns_of_while_cabrnet_is_imported_is_no_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with network._cabrnet():
            for warned in ("The distutils package is deprecated and", "distutils Version classes are deprecated."):
                warnings.warn(warned, DeprecationWarning, stacklevel=1)
        with pytest.raises(DeprecationWarning), network._cabrnet():
            warnings.warn("another package is deprecated", DeprecationWarning, stacklevel=1)


def test_only_isotropic_gaussians_can_be_trained():
    from verale.adapters.plugins.gaussian import MahalanobisLogDistance

    with pytest.raises(ValueError, match="cov_type is diagonal, expected isotropic"):
        MahalanobisLogDistance(num_prototypes=3, num_features=2, cov_type="diagonal")


def test_tesnets_loss_asks_for_orthogonal_prototypes_and_different_subspaces():
    model, images = loaded_once("tesnet")._model, loaded_once("tesnet").preprocess(FILES)
    labels = torch.tensor([int(file.parent.name) for file in FILES])
    with torch.no_grad():
        output = model(images)
    _, plain = super(type(model), model).loss(output, labels)
    total, parts = model.loss(output, labels)
    unit = model.classifier.prototypes.detach().flatten(1)
    unit = unit / unit.norm(dim=1, keepdim=True)
    bases = [unit[3 * c : 3 * c + 3] for c in range(4)]
    orthogonality = sum(((b @ b.T - torch.eye(3)) ** 2).sum() for b in bases) / 4
    apart = [(bases[c].T @ bases[c] - bases[k].T @ bases[k]).norm() for c in range(4) for k in range(c + 1, 4)]
    subspaces = sum(apart) / len(apart) / 2**0.5
    assert parts["orthogonality"] == pytest.approx(float(orthogonality), rel=1e-5)
    assert parts["subspaces"] == pytest.approx(float(subspaces), rel=1e-5)
    assert total.item() == pytest.approx(
        plain["loss"] + 1e-4 * orthogonality.item() - 1e-7 * subspaces.item(), rel=1e-6
    )


def test_protopools_epilogue_hardens_slots_and_notes_what_is_left(tmp_path):
    """From slots that are not hardened, as training leaves them."""
    from cabrnet.core.utils.optimizers import OptimizerManager
    from torch.utils.data import DataLoader, TensorDataset

    loaded = load(final("protopool"))
    model = loaded._model
    with torch.no_grad():
        model.classifier.proto_slot_map.mul_(2).sub_(0.1)
    labels = torch.tensor([int(file.parent.name) for file in FILES])
    loader = DataLoader(TensorDataset(loaded.preprocess(FILES), labels), batch_size=4)
    optimizers = OptimizerManager.build_from_config(str(final("protopool") / "training.yml"), model)
    model.training_config["gumbel_epochs"] = 6
    noted = model.epilogue(
        dataloaders=dict.fromkeys(("train_set", "projection_set", "test_set"), loader),
        optimizer_mngr=optimizers,
        output_dir=str(tmp_path),
        device="cpu",
        num_fine_tuning_epochs=1,
    )
    slots = model.classifier.proto_slot_map
    assert ((slots == 0) | (slots == 1)).all()
    assert [line["proto_idx"] for line in noted] == list(range(len(model.classifier.prototypes)))
    with torch.no_grad():
        latents = model.features(loaded.preprocess(FILES))
    for line, prototype in zip(noted, model.classifier.prototypes, strict=True):
        assert torch.equal(prototype.flatten(), latents[line["img_idx"], :, line["h"], line["w"]])


def test_importing_cabrnet_leaves_warnings_as_they_were():
    before = list(warnings.filters)
    load(final("protopnet"))
    assert warnings.filters == before


@pytest.mark.parametrize("first", [None, "PILToTensor", "ToTensor"])
def test_the_extractor_becomes_a_network_file(first, tmp_path):
    """On the same pictures it gives the latents that CaBRNet's classifier receives. After PILToTensor a conversion of
    types divides by 255, after ToTensor it changes nothing."""
    run = shutil.copytree(RUN, tmp_path / "run")
    if first is not None:
        content = yaml.safe_load((run / "dataset.yml").read_text(encoding="utf-8"))
        transform({**CONVERTED, "convert": {"type": first}})["dataset"](content)
        (run / "dataset.yml").write_text(yaml.safe_dump(content), encoding="utf-8")
    loaded, found = load(run), network.frozen_run(run, (32, 32))
    tensors = loaded.preprocess(sorted(DIGITS.glob("*/*.png"))[:3])
    pictures = ((tensors * 0.5 + 0.5) * 255).round().to(torch.uint8)
    assert torch.equal(found.normalised(pictures, torch.float32), tensors)
    if first is None:
        latents = loaded.latents(tensors)
        torch.testing.assert_close(found.latents(pictures, torch.float32), latents, rtol=1e-5, atol=1e-6)
        with pytest.raises(InputError, match="neither resizes nor crops pictures"):
            network.frozen_run(run)


@pytest.mark.parametrize(
    "kinds",
    [
        ("ToTensor", "Normalize", "ConvertImageDtype"),
        ("PILToTensor", "ConvertImageDtype", "Normalize", "ConvertImageDtype"),
        ("ToTensor", "Grayscale", "ConvertImageDtype"),
        ("PILToTensor",),
    ],
)
def test_a_transform_that_does_more_to_numbers_is_no_network_file(kinds, tmp_path):
    params = {"ConvertImageDtype": CONVERTED["dtype"], "Normalize": CONVERTED["normalize"]}
    steps = {str(number): params.get(kind, {"type": kind}) for number, kind in enumerate(kinds)}
    with pytest.raises(InputError, match=r"expected one that ends in ToTensor, or in ConvertImageDtype after"):
        network.frozen_run(changed("protopnet", tmp_path, **transform(steps)), (32, 32))


def run(*arguments: object) -> tuple[int, str]:
    """The exit code and all output of a command."""
    result = in_process(*arguments, merged=True)
    return result.returncode, result.stdout


@pytest.mark.parametrize("family", shortly("pipnet", "prototree"))
def test_a_run_is_compared_by_two_commands(family, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("head", "import", final(family), "-o", "h")
    code, said = run("latents", final(family), "--images", IMAGES, "-o", "z")
    assert code == 0 and "12 images" in said
    code, said = run("head", "compare", "h", "z", "-o", "h2")
    assert code == 0 and "compared with the network" in said
    assert not Head.load("h").compared and Head.load("h2").compared


def test_what_import_says_to_run_compares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    *_, said = run("head", "import", final("legacy"), "-o", "h")[1].splitlines()
    assert said.startswith("not compared with the network: verale ") and said.endswith(" does")
    first, second = said.removeprefix("not compared with the network: ").removesuffix(" does").split(", then ")
    for each in (first.replace("--images IMAGES", f"--images {IMAGES}"), second):
        code, told = run(*each.split()[1:])
        assert code == 0, told
    assert Head.load("HEAD").compared


def test_latents_of_a_run_have_the_networks_own_logits(tmp_path):
    code, _ = run("latents", final("legacy"), "--images", IMAGES, "-o", tmp_path / "z")
    tensors, captured = safetensors.torch.load_file(tmp_path / "z"), loaded_once("legacy").capture(FILES)
    assert code == 0 and set(tensors) == {"latents", "labels", "logits"}
    assert torch.equal(tensors["latents"], captured.latents) and torch.equal(tensors["logits"], captured.logits)
    assert tensors["labels"].tolist() == [int(file.parent.name) for file in FILES]


def test_a_run_has_no_options_of_a_whole_model(tmp_path):
    for option in ("labels", "level", "prototype-pictures"):
        value = "sub" if option == "level" else tmp_path
        code, said = run("latents", final("legacy"), "--images", IMAGES, "-o", tmp_path / "z", f"--{option}", value)
        assert code == 9 and f"--{option} is given" in said and not (tmp_path / "z").exists()
    code, said = run("latents", IMAGES.parent / "none.pth", "--images", IMAGES, "-o", tmp_path / "z")
    assert code == 9 and "expected --arch" in said
