"""What there is to report, and what belongs to it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from support.reporting import folder_of, report_head, report_latents

from verale.errors import InputError
from verale.head import save_latents
from verale.report.collect import NOT_AUDITED, UNEXPLAINED, collect
from verale.report.verdicts import audited


@pytest.fixture
def folder(tmp_path):
    return folder_of(tmp_path / "out")


def test_a_folder_of_explain(folder):
    collection = collect(folder)
    assert [item.index for item in collection.items] == [0, 1, 2, 3]
    assert [item.file.name for item in collection.items] == ["0.png", "1.png", "2.png", "3.png"]
    assert [item.label for item in collection.items] == [0, 1, 2, 0]
    assert [item.seconds for item in collection.items] == [0.125, 0.225, 0.325, 0.425]
    assert {item.status for item in collection.items} == {NOT_AUDITED}
    assert collection.classes == ("ant", "bee", "cat")
    assert collection.name_of(1) == "bee" and collection.name_of(9) == "9"
    assert collection.items[0].correct is (collection.items[0].predicted == 0)
    assert collection.source.origins[0].column == 2
    (item,) = collect(folder / "000002.ale.json").items
    assert (item.index, item.file.name, item.seconds) == (2, "2.png", 0.325), "of one certificate, what is beside it"


def test_images_go_by_the_digest_of_their_latents_not_by_the_name_of_the_file(folder):
    (folder / "000003.ale.json").rename(folder / "000000x.ale.json")
    assert [(item.path.name, item.index) for item in collect(folder).items][-1] == ("000000x.ale.json", 3)
    save_latents(folder / "latents.safetensors", report_latents(report_head()) * 0.5)
    collection = collect(folder)
    assert [item.index for item in collection.items] == [None] * 4, "none of these latents is a certificate's"
    assert [item.file for item in collection.items] == [None] * 4


def test_without_latents_the_name_of_the_file_counts(folder):
    (folder / "latents.safetensors").unlink()
    (folder / "000003.ale.json").rename(folder / "last.ale.json")
    assert [item.index for item in collect(folder).items] == [0, 1, 2, None]


def test_images_without_a_certificate_are_told(folder):
    (folder / "000001.ale.json").unlink()
    text = (folder / "explanations.csv").read_text().splitlines()
    text[2] = "1,2,,0.5,,a tie"
    (folder / "explanations.csv").write_text("\n".join(text) + "\n")
    items = collect(folder).items
    assert (items[1].status, items[1].problem, items[1].predicted, items[1].file.name) == (
        *(UNEXPLAINED, "a tie", 2, "1.png"),
    )
    assert len(items) == 4


def test_certificates_that_cannot_be_read_stop_nothing(folder):
    (folder / "000001.ale.json").write_text("{")
    record = json.loads((folder / "000002.ale.json").read_text())
    record["predicate"]["predicted"] = "1"
    (folder / "000002.ale.json").write_text(json.dumps(record))
    items = {item.path.name: item for item in collect(folder).items}
    assert items["000001.ale.json"].certificate is None and "JSON" in items["000001.ale.json"].problem
    assert "predicted" in items["000002.ale.json"].problem
    assert items["000000.ale.json"].size > 0


def test_a_line_of_the_table_counts_for_its_own_bytes_only(folder):
    lines = (folder / "explanations.csv").read_text().splitlines()
    digest = collect(folder).items[0].sha256
    table = [lines[0] + ",SHA-256", lines[1] + "," + digest, *(line + "," + "0" * 64 for line in lines[2:])]
    (folder / "explanations.csv").write_text("\n".join(table) + "\n")
    assert [item.seconds for item in collect(folder).items] == [0.125, None, None, None]


def test_the_table_of_an_unfinished_run_is_read_as_far_as_it_is_whole(folder):
    text = (folder / "explanations.csv").read_text()
    (folder / "explanations.csv").write_text(text[:-5])
    assert [item.seconds for item in collect(folder).items] == [0.125, 0.225, 0.325, None]


def labelled(folder, label):
    """A true class in the table."""
    lines = (folder / "explanations.csv").read_text().splitlines()
    table = [lines[0] + ",True Label", *(f"{line},{label}" for line in lines[1:])]
    (folder / "explanations.csv").write_text("\n".join(table) + "\n")


def test_labels_come_from_the_table_where_the_images_have_none(folder):
    (folder / "source.json").unlink()
    labelled(folder, 2)
    assert [item.label for item in collect(folder).items] == [2] * 4


def test_images_may_have_moved(folder):
    (folder / "images").rename(folder / "elsewhere")
    collection = collect(folder, images=folder / "elsewhere")
    assert [item.file.exists() for item in collection.items] == [True] * 4
    (folder / "source.json").unlink()
    collection = collect(folder, images=folder / "elsewhere")
    assert [(item.file.name, item.label) for item in collection.items] == [(f"{n}.png", None) for n in range(4)]


def noted(folder, **changes):
    path = folder / "source.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda f: [p.unlink() for p in [*f.glob("*.ale.json"), f / "explanations.csv"]], r"holds no \*.ale.json"),
        (lambda f: (f / "source.json").write_text("{}"), "source.json: is not what verale explain writes"),
        (lambda f: (f / "source.json").write_text("[" * 100_000), "source.json: is not what verale explain writes"),
        (lambda f: (f / "head.safetensors").write_text("{}"), "head.safetensors"),
        (lambda f: (f / "latents.safetensors").write_text("{}"), "latents.safetensors"),
        (lambda f: (f / "explanations.csv").write_text("a,b\n1,2\n"), "explanations.csv: line 1: has no column"),
        (lambda f: save_latents(f / "latents.safetensors", report_latents(report_head(), 3)),
         "has 4 images, .*latents.safetensors has the latents of 3"),
        (lambda f: [(f / "latents.safetensors").unlink(), noted(f, images=[{"file": "0.png", "label": 0}])],
         "has 1 images, 4 were explained: give the images"),
        (lambda f: noted(f, latents_digest="0" * 64), "source.json: notes other latents than"),
        (lambda f: labelled(f, 2), r"class 0 in source.json, but 2 in explanations.csv \(000000.ale.json\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(folder, spoil, reason):
    spoil(folder)
    with pytest.raises(InputError, match=reason):
        collect(folder)


def test_a_folder_without_images_is_refused(tmp_path, folder):
    (folder / "source.json").unlink()
    with pytest.raises(InputError, match="no such folder"):
        collect(folder, images=tmp_path / "nowhere")


def test_a_certificate_that_changes_meanwhile_is_the_one_that_was_read(folder):
    """What is audited and shown is what was read, once."""
    collection = collect(folder)
    item = collection.items[0]
    data, certificate = item.data, item.certificate
    assert data == item.path.read_bytes() and len(certificate.statements) == item.size
    item.path.write_bytes(b"{")
    assert (item.data, item.certificate) == (data, certificate)
    (record,) = [each.record for each in audited(replace(collection, items=(item,))).items]
    assert record["status"] == "PROVED" and record["sha256"] == item.sha256 == hashlib.sha256(data).hexdigest()
