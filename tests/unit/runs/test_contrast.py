"""What statements stand in the way of another class, which are needed, and how small explanations can be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image
from support.boxes import save_coordinates
from support.commands import in_process
from support.prototypedl import save_whole, small
from support.small import small_head, small_latents, varied_head

from verale.adapters import load_model, load_published
from verale.adapters.fields import Origin
from verale.adapters.published.prototypedl import Autoencoder
from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    SumStatement,
)
from verale.checker import Auditor, Status
from verale.checker.least import proved_least
from verale.counterexample import search
from verale.errors import InputError, UsageError
from verale.head import as_patches, evaluate, save_latents
from verale.runs import contrast as contrasts
from verale.runs.contrast import PROOF, RECORD, REST, WITNESS, Contrast, contrast, near_patches, value_at
from verale.runs.necessity import gap, necessity
from verale.runs.source import Source
from verale.search.explain import explain


@pytest.fixture(autouse=True)
def short_climbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of boxes and small heads a witness is near."""
    monkeypatch.setattr(search, "_ASCENTS", (60, 240))


def require_shown(result: Contrast, head: Path, out: Path) -> None:
    """What was written shows, to the auditor with both kernels, that the class wins without the released statements."""
    witness, rest, proof = ((out / name).read_bytes() for name in (WITNESS, REST, PROOF))
    record = json.loads((out / RECORD).read_bytes())
    assert Auditor(head.read_bytes(), kernel="both").refute(rest, witness).status is Status.REFUTED
    verdict = Auditor(head.read_bytes(), witness, kernel="both").check(proof)
    assert (verdict.status, verdict.reason) == (Status.PROVED, "")
    assert verdict.certificate is not None and verdict.certificate.predicted == result.goal
    kept = list(result.certificate.statements)
    for entry in reversed(record["released"]):
        assert kept.pop(entry["number"]).to_json() == entry["statement"]
    assert tuple(kept) == Certificate.from_bytes(rest).statements
    assert record["size"] == len(result.found.released) >= record["at_least"]


@pytest.mark.parametrize(("count", "most_sets", "at_least"), [(4, contrasts._MOST_SETS, 3), (6, 10, 2)])
def test_several_statements_where_fewer_are_not_enough(count, most_sets, at_least, tmp_path, monkeypatch) -> None:
    """Each released activation lifts the rival by 1, and the checker excludes what does not lift it above the bias; of
    six there are too many pairs to try them all, so two are not excluded, and what is found is grown and reduced."""
    monkeypatch.setattr(contrasts, "_MOST_SETS", most_sets)
    files = save_coordinates(tmp_path, count, (2.5, 0.0))
    result = contrast(*files[:2], 1, files[2], tmp_path / "out")
    assert (len(result.found.released), result.at_least, result.is_smallest) == (3, at_least, at_least == 3)
    require_shown(result, files[1], tmp_path / "out")


def test_a_class_does_not_win_by_passing_only_the_predicted_one(tmp_path, monkeypatch) -> None:
    """Class 1 passes class 0 wherever class 2 does, which stays ahead of it."""
    files, ones = save_coordinates(tmp_path, 1, (0.5, 0.0, 0.25)), torch.ones(1, 1, dtype=torch.float64)
    monkeypatch.setattr("verale.counterexample.counterexamples", lambda *arguments: iter([ones]))
    assert contrast(*files[:2], 1, files[2]).found is None
    assert contrast(*files[:2], 2, files[2]).found is not None


@pytest.mark.parametrize(
    ("geometry", "paradigm"),
    [("euclidean", "top_k"), ("cosine", "projection"), ("softmax", "simplex"), ("softmax", "assignment")],
)
def test_explanations_of_every_geometry(geometry, paradigm, tmp_path) -> None:
    """Of few statements, so that all sets of them are tried long before the time is over."""
    head = small_head(geometry, prototypes=4)
    latents = small_latents(head, images=1, patches=2)
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", latents)
    explain(head, latents, paradigm)[0].save(tmp_path / "certificate")
    predicted = int(evaluate(head, as_patches(latents)).predicted)
    files = (tmp_path / name for name in ("certificate", "head"))
    result = contrast(*files, (predicted + 1) % 3, tmp_path / "latents", tmp_path / "out")
    require_shown(result, tmp_path / "head", tmp_path / "out")


def test_the_decoder_draws_the_witness(tmp_path) -> None:
    """Any head of as many coordinates will do."""
    save_whole(small(), tmp_path / "model.pth")
    depth = load_published(tmp_path / "model.pth", "prototypedl").depth
    files = save_coordinates(tmp_path, depth, (0.5, 0.0))
    result = contrast(*files[:2], 1, files[2], tmp_path / "out", model=tmp_path / "model.pth")
    network = Autoencoder(load_model(tmp_path / "model.pth"))
    for name, latents in (("witness.png", result.found.witness.image), ("image.png", torch.zeros(1, depth))):
        drawn = (network.pictures(latents.float())[0, 0] * 255).round().byte()
        assert Image.open(tmp_path / "out" / name).tobytes() == bytes(drawn.flatten().tolist())
    files = save_coordinates(tmp_path, 2, (1.5, 0.0))
    with pytest.raises(InputError, match="expected the head's 2"):
        contrast(*files[:2], 1, files[2], model=tmp_path / "model.pth")
    with pytest.raises(InputError, match="head"):
        contrast(*files[:2], 1, files[2], model=files[1])


def test_wrong_inputs_are_named(files, tmp_path) -> None:
    certificate, head = files.certificates[0], files.head_path
    wrong = Certificate.load(certificate).predicted
    unknown = "class {} is unknown, expected a number of .*, 0 to 2; it has no"
    small_head("euclidean", seed=7).save(tmp_path / "other")
    (tmp_path / "bad").write_bytes(b"{")
    for given, seconds, error, message in (
        ((certificate, head, wrong), 1, UsageError, f"class {wrong} is the predicted one"),
        *(((certificate, head, goal), 1, UsageError, unknown.format(goal)) for goal in (-1, 3, True, 1.0)),
        ((certificate, head, 0), -1, UsageError, "seconds is -1"),
        ((certificate, tmp_path / "other", (wrong + 1) % 3), 1, InputError, "is NOT_PROVED .*expected a proved cert"),
        ((tmp_path / "bad", head, 0), 1, InputError, "is MALFORMED"),
    ):
        with pytest.raises(error, match=message):
            contrast(*given, seconds=seconds)


def test_values_at_an_image() -> None:
    head = small_head("euclidean", prototypes=3)
    evaluated = evaluate(head, as_patches(small_latents(head, images=1)))
    activations = evaluated.activations[0].tolist()
    weight = head.weight.double()
    others = (weight > weight[1]).any(0)
    taken = ((weight - weight[1])[:, others] @ evaluated.activations[0][others]).tolist()
    values = {
        PatchStatement(2, 1, 0.0, 1.0): float(evaluated.observables[0, 2, 1]),
        ActivationStatement(1, 0.0, 1.0): activations[1],
        OrderStatement((0,), 1.0): max(activations[1:]),
        FloorStatement((0,), 1.0): min(activations[1:]),
        SumStatement(None, 1.0): pytest.approx(max(taken[0], *taken[2:])),
        SumStatement((2,), 1.0): pytest.approx(taken[2]),
    }
    certificate = replace(
        explain(head, small_latents(head, images=1), "top_k")[0], predicted=1, margins=(1.0, None, 1.0)
    )
    certificate = replace(certificate, paradigm="mixed", minimal=False, statements=tuple(values))
    assert [value_at(head, certificate, number, evaluated) for number in range(len(values))] == [*values.values()]


def test_the_nearest_patch_of_each_changed_patch() -> None:
    images = torch.tensor([[[0.0, 0], [1, 0], [2, 0]], [[0, 5], [1, 5], [3, 5]]])
    changed = images[0].double().clone()
    changed[1] = torch.tensor([1.0, 4])
    changed[2] = torch.tensor([2.0, 0.5])
    found = near_patches(changed, images[0].double(), images, Source(files=(Path("a/0.png"),)))
    assert [(each.patch, each.image, each.at, each.file) for each in found] == [(1, 1, 1, None), (2, 0, 2, "0.png")]
    assert [each.distance for each in found] == [1.0, 0.5]
    assert [each.moved for each in found] == [4.0, 0.5]


def test_origins() -> None:
    named, numbered = Origin(0, 7, Path("x/y.png"), 1, 2), Origin(3, 9, None, 0, 4)
    assert str(named) == "training patch: y.png, row 1, column 2"
    assert str(numbered) == "training patch: image 9, row 0, column 4"
    assert numbered.record() == {"prototype": 3, "image": 9, "file": None, "row": 0, "column": 4}


def test_every_statement_is_needed(tmp_path) -> None:
    """Any one activation that may be 1 lifts the rival above 0.5."""
    certificate, head, latents = save_coordinates(tmp_path, 3, (0.5, 0.0, 0.25))
    result = necessity(certificate, head, latents, tmp_path / "out")
    assert [each.needed for each in result.statements] == [True] * 3
    assert [each.rival for each in result.statements] == [2] * 3
    assert result.is_minimal
    auditor = Auditor(head.read_bytes(), kernel="both")
    record = json.loads((tmp_path / "out" / "necessity.json").read_bytes())
    assert (record["share"], record["minimal_under_any_paradigm"]) == (1.0, True)
    for number, entry in enumerate(record["needed"]):
        rest = json.loads((tmp_path / "out" / f"without-{number:04d}.ale.json").read_bytes())
        assert entry["statement"] not in rest["predicate"]["statements"]
        assert len(rest["predicate"]["statements"]) == 2
        witness = (tmp_path / "out" / entry["witness"]).read_bytes()
        assert auditor.refute(json.dumps(rest).encode(), witness).status is Status.REFUTED


def test_without_a_witness_it_is_open_what_is_needed(tmp_path, monkeypatch) -> None:
    """That none is found proves nothing. An explanation without statements is minimal, and the share of none is not a
    number."""
    monkeypatch.setattr("verale.counterexample.counterexamples", lambda *arguments: iter(()))
    result = necessity(*save_coordinates(tmp_path, 3, (0.5, 0.0, 0.25)))
    assert [each.needed for each in result.statements] == [None] * 3 and not result.is_minimal
    certificate, head, _ = save_coordinates(tmp_path, 1, (1.5, 0.0))
    record = json.loads(certificate.read_bytes())
    record["predicate"] |= {"statements": [], "margins": [None, (0.25).hex()]}
    certificate.write_text(json.dumps(record))
    result = necessity(certificate, head)
    assert result.is_minimal and result.record()["share"] is None


def test_one_statement_is_enough_where_three_are_made(tmp_path) -> None:
    """A ceiling over all three does what the three statements do."""
    certificate, head, latents = save_coordinates(tmp_path, 3, (0.5, 0.0))
    result = gap(certificate, head, latents, tmp_path / "proof")
    assert (result.certificate.size, result.least, result.is_smallest) == (3, 1, False)
    assert proved_least((tmp_path / "proof").read_bytes(), head.read_bytes(), latents.read_bytes()) == 1


def test_a_certificate_that_is_not_about_its_image_is_refused(tmp_path) -> None:
    """It is of the other class: its statements entail it, and are false of this image."""
    head = small_head("euclidean", classes=2)
    latents = small_latents(head, images=8)
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", latents)
    of_class = {each.predicted: json.loads(each.to_bytes()) for each in explain(head, latents, "top_k")}
    false = tmp_path / "false"
    false.write_text(json.dumps(of_class[1] | {"subject": of_class[0]["subject"]}))
    for ask in (gap, necessity, lambda *files: contrast(*files[:2], 0, files[2])):
        with pytest.raises(InputError, match=r"false: is NOT_PROVED .*expected a proved certificate"):
            ask(false, tmp_path / "head", tmp_path / "latents")


def test_what_is_under_another_paradigm_is_never_called_smallest(files) -> None:
    record = gap(files.certificates[0], files.head_path, files.latents_path, seconds=0).record()
    assert (record["paradigm"], record["least_paradigm"], record["smallest"]) == ("projection", "top_k", None)
    own = next(iter(explain(files.head, small_latents(files.head, images=3), "mixed")))
    own.save(files.folder / "mixed.ale.json")
    beside = ("--head", files.head_path, "--latents", files.latents_path)
    done = in_process("gap", files.folder / "mixed.ale.json", *beside, "--seconds", 0)
    assert done.stdout.endswith(" of those under mixed nothing is proved\n") and "smallest" not in done.stdout


def test_a_bound_about_another_class_is_not_this_images(files, monkeypatch) -> None:
    """Where two logits are closer than float64 tells, the search may take the other class."""
    monkeypatch.setattr("verale.search.least.least_document", lambda *given: (1, b'{"predicted": 99}'))
    with pytest.raises(InputError, match="in float64 the image has class 99"):
        gap(files.certificates[0], files.head_path, files.latents_path)


def test_wrong_inputs_of_gap_are_named(files, tmp_path) -> None:
    certificate = files.certificates[0]
    with pytest.raises(UsageError, match="seconds is -1"):
        gap(certificate, files.head_path, files.latents_path, seconds=-1)
    for kernel in ("proved", "all"):
        with pytest.raises(UsageError, match=f"kernel {kernel}: the proof of proved does not cover"):
            gap(certificate, files.head_path, files.latents_path, kernel=kernel)
    with pytest.raises(InputError, match="has no latents beside it"):
        gap(certificate, files.head_path, None)
    record = json.loads(Path(certificate).read_bytes())
    record["subject"].pop()
    record["predicate"]["claims"].remove("instance")
    (tmp_path / "anonymous").write_text(json.dumps(record))
    save_latents(tmp_path / "one", small_latents(files.head, images=1))
    with pytest.raises(InputError, match="names no latents"):
        gap(tmp_path / "anonymous", files.head_path, tmp_path / "one")
    head = varied_head("maximum")
    latents = small_latents(head, images=1)
    head.save(tmp_path / "other")
    save_latents(tmp_path / "one", latents)
    explain(head, latents)[0].save(tmp_path / "certificate")
    with pytest.raises(UsageError, match="the readout is maximum"):
        gap(tmp_path / "certificate", tmp_path / "other", tmp_path / "one")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A certificate of which both statements have to be released; head and latents under the names that are found."""
    certificate, head, latents = save_coordinates(tmp_path, 2, (1.5, 0.0))
    head.rename(tmp_path / "head.safetensors")
    latents.rename(tmp_path / "latents.safetensors")
    return certificate.rename(tmp_path / "000000.ale.json")


def test_what_stands_in_the_way(two: Path) -> None:
    done = in_process("contrast", two, "--class", 1, "--out", two.parent / "out")
    first, *lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert first == (
        f"{two}: why class 0 and not class 1? 2 of 2 statements stand in its way (no smaller set does: proved)"
    )
    values = []
    for j, line in enumerate(lines[:2]):
        start, value = line.split("; at the witness about ")
        assert start == f"  released: activation of prototype {j}: [0, 0]"
        values.append(float(value))
    assert sum(values) > 1.5
    assert lines[2].startswith("  the witness satisfies the other 0 and gets class 1, at least 0.")
    nearest = "nearest is patch 0 of image 0, about "
    assert any(line.startswith("  patch 0 moved by about ") and nearest in line for line in lines)
    out = two.parent / "out"
    head = ("--head", two.parent / "head.safetensors", "--latents", out / "witness.latents.safetensors")
    assert in_process("refute", out / "rest.ale.json", *head, "--seconds", 0).returncode == 4
    assert in_process("audit", out / "witness.ale.json", *head).returncode == 0
    record = json.loads(in_process("contrast", two, "--class", 1, "--json").stdout)
    assert record["certificate"] == str(two)
    assert {**record, "certificate": None} == {"certificate": None, **json.loads((out / "contrast.json").read_bytes())}


def test_a_class_that_cannot_win_is_said_to_lose(tmp_path: Path) -> None:
    certificate, head, latents = save_coordinates(tmp_path, 1, (1.5, 0.0))
    given = ("contrast", certificate, "--class", 1, "--head", head, "--latents", latents)
    done = in_process(*given)
    assert done.returncode == 11 and "the checker proves that it loses everywhere" in done.stdout
    assert in_process(*given[:3], 0, *given[4:]).returncode == 9
    assert "give --out too" in in_process(*given, "--model", head).stderr


def test_an_earlier_witness_does_not_stay(two: Path) -> None:
    """What lies in the folder belongs to the record there."""
    out = two.parent / "out"
    assert in_process("contrast", two, "--class", 1, "--out", out).returncode == 0
    certificate, head, latents = save_coordinates(two.parent, 1, (1.5, 0.0))
    given = ("--head", head, "--latents", latents, "--out", out)
    assert in_process("contrast", certificate, "--class", 1, *given).returncode == 11
    assert sorted(path.name for path in out.iterdir()) == ["contrast.json", "files.json"]


def test_which_statements_are_needed(tmp_path: Path, two: Path) -> None:
    (tmp_path / "needed").mkdir()
    certificate, head, latents = save_coordinates(tmp_path / "needed", 2, (0.5, 0.0))
    done = in_process("necessity", certificate, "--head", head, "--latents", latents)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"{certificate}: 2 of 2 statements have a witness: minimal under any paradigm",
        *(f"  activation of prototype {j}: [0, 0]: needed: without it, class 1" for j in range(2)),
    ]
    done = in_process("necessity", two, two, "--out", tmp_path / "out")
    assert done.returncode == 11
    assert "  activation of prototype 0: [0, 0]: not needed: the checker proves the class without it" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "2 explanations: 0 of 4 statements have a witness, 0.0 %; 0 explanations are minimal under any paradigm"
    )
    record = json.loads(in_process("necessity", two, "--json").stdout)
    assert record == {"certificate": str(two), **json.loads((tmp_path / "out/000000/necessity.json").read_bytes())}


def test_how_small_an_explanation_can_be(two: Path) -> None:
    done = in_process("gap", two, "--out", two.parent / "out")
    assert (done.returncode, done.stdout) == (
        0,
        f"{two}: 2 statements under top_k; with activations taken one by one, no explanation of this image under top_k"
        " has fewer than 1: proved by arb\n",
    )
    assert json.loads((two.parent / "out" / "000000.least.json").read_bytes())["least"] == 1
    assert json.loads(in_process("gap", two, "--json").stdout) == {
        "_type": "urn:verale:gap:v1",
        "certificate": str(two),
        "predicted": 0,
        "paradigm": "top_k",
        "statements": 2,
        "least": 1,
        "least_paradigm": "top_k",
        "least_by": "arb",
        "smallest": False,
    }
    last = in_process("gap", two, two).stdout.splitlines()[-1]
    assert (
        last == "2 explanations under top_k: mean size 2.00, mean bound 1.00; 0 have no statement more than their bound"
    )
