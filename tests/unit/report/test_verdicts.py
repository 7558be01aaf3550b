"""PROVED comes from the checker: from an audit now, or from an audit log of the same bytes and the same head."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import flint
import pytest
from click.testing import CliRunner
from support import files
from support.arithmetic import PRECISION
from support.network_truth import network_of, true_latents
from support.networks import drawn_picture, network_file, picture_digest, png, small_layers
from support.reporting import folder_of, report_head

from verale.checker.file_auditor import unusable
from verale.checker.options import AuditOptions
from verale.cli.audit import command as audit
from verale.cli.report import command as report
from verale.errors import InputError
from verale.head import load_latents, save_latents
from verale.report.collect import NOT_AUDITED, Collection, ToldOrigin, collect
from verale.report.page import page
from verale.report.table import frame
from verale.report.verdicts import audited, told_origins, with_verdicts_from
from verale.runs.arguments import HeadFile
from verale.runs.origins import OriginSearch


@pytest.fixture
def folder(tmp_path):
    return folder_of(tmp_path / "out")


def audit_log_of(folder, *options: str):
    arguments = [str(folder), "--head", str(folder / "head.safetensors"), "--log", str(folder / "r.json"), *options]
    assert CliRunner().invoke(audit, arguments).exit_code in (0, 5, 12)
    return folder / "r.json"


def statuses(collection) -> list[str]:
    return [item.status for item in collection.items]


def test_audited_now_with_head_and_latents(folder):
    counts = []
    collection = audited(collect(folder), AuditOptions(minimality=True), advance=counts.append)
    assert statuses(collection) == ["PROVED"] * 4 and counts == [1] * 4 and collection.audited
    assert collection.items[0].record["claims"] == dict.fromkeys(("entailment", "instance", "minimality"), "proved")
    (folder / "head.safetensors").unlink()
    collection = audited(collect(folder))
    assert statuses(collection) == [NOT_AUDITED] * 4 and collection.audited == "", "without a head nothing is audited"


def test_what_is_not_proved_is_not_called_so(folder):
    (folder / "000001.ale.json").write_text("{")
    record = json.loads((folder / "000002.ale.json").read_text())
    record["predicate"]["statements"] = record["predicate"]["statements"][:1]
    (folder / "000002.ale.json").write_text(json.dumps(record))
    by_name = {item.path.name: item for item in audited(collect(folder)).items}
    assert by_name["000001.ale.json"].status == "MALFORMED"
    assert by_name["000002.ale.json"].status == "NOT_PROVED"
    assert by_name["000002.ale.json"].record["reason"] == "entailment"


def test_what_claims_no_instance_is_not_just_called_proved(folder, tmp_path):
    """Nor what is audited without latents: perhaps no latents satisfy its statements."""
    record = json.loads((folder / "000001.ale.json").read_text())
    del record["subject"][1]
    record["predicate"]["claims"].remove("instance")
    (folder / "000001.ale.json").write_text(json.dumps(record))
    caveats = ["no instance claimed", "", "", ""]
    collection = audited(collect(folder))
    assert statuses(collection) == ["PROVED"] * 4
    assert sorted((item.verdict.caveat for item in collection.items), reverse=True) == caveats
    (item,) = (item for item in collection.items if item.verdict.caveat)
    assert item.verdict.heading == "PROVED, no instance claimed" and item.record["reason"] == "unclaimed"
    assert "<b>1 of them: no instance claimed</b>, so perhaps" in page(collection, "").decode()
    assert sorted(frame(collection)["instance"]) == ["not claimed", "proved", "proved", "proved"]
    arguments = [str(folder), "-o", str(tmp_path / "r.html")]
    written = CliRunner().invoke(report, arguments, catch_exceptions=False).stderr
    assert "4 PROVED (when this page was written), 1 of them: no instance claimed;" in written
    (tmp_path / "alone").mkdir()  # without the latents, which an audit would find beside the certificates
    for path in folder.glob("*.ale.json"):
        shutil.copy(path, tmp_path / "alone")
    arguments = [str(tmp_path / "alone"), "--head", str(folder / "head.safetensors"), "--log", str(tmp_path / "log")]
    assert CliRunner().invoke(audit, [*arguments, "--entailment-only"]).exit_code == 0
    read = with_verdicts_from(collect(folder), tmp_path / "log")
    assert sorted(item.verdict.caveat for item in read.items) == ["instance not checked"] * 3 + ["no instance claimed"]


def test_a_verdict_of_now_is_for_the_bytes_that_are_shown(folder):
    """Certificates change after they were read for the page: one that is none takes the place of a proved one, and a
    proved one that of one that is none."""
    second = folder / "000001.ale.json"
    proved = second.read_bytes()
    second.write_bytes(b"{")
    collection = collect(folder)
    second.write_bytes(proved)
    (folder / "000000.ale.json").write_bytes(b"{")
    for jobs in (1, 2):
        judged = audited(collection, jobs=jobs)
        assert statuses(judged) == [*["PROVED"] * 3, "MALFORMED"]
        assert all(item.record["sha256"] == sha256(item.data).hexdigest() for item in judged.items)


def test_a_verdict_is_for_the_same_head_only(folder, tmp_path):
    log = audit_log_of(folder)
    report_head(labels=None).save(tmp_path / "other.safetensors")
    other = collect(folder, tmp_path / "other.safetensors")
    assert statuses(with_verdicts_from(other, log)) == [NOT_AUDITED] * 4
    assert statuses(audited(other)) == ["NOT_PROVED"] * 4
    (folder / "head.safetensors").unlink()  # then that which the certificate names
    assert statuses(with_verdicts_from(collect(folder), log)) == ["PROVED"] * 4
    text = log.read_text()
    head = json.loads(text.splitlines()[0])["run"]["head"]
    log.write_text(text.replace(head, "0" * 64))
    assert statuses(with_verdicts_from(collect(folder), log)) == [NOT_AUDITED] * 4


def refuting(folder):
    """Other latents, with which no certificate of the folder is proved."""
    save_latents(folder / "latents.safetensors", load_latents(folder / "latents.safetensors") + 0.5)


@pytest.fixture
def copies(folder, tmp_path):
    """Folders with the same certificates and the same head: with their latents, with others, with none."""
    for name in ("others", "none"):
        shutil.copytree(folder, tmp_path / name)
    refuting(tmp_path / "others")
    (tmp_path / "none" / "latents.safetensors").unlink()
    return folder, tmp_path / "others", tmp_path / "none"


OF_LATENTS = "PROVED from the latents given for the image, not from its pixels"


def verdicts(collection) -> list[str]:
    return [item.verdict.heading for item in collection.items]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)], ids=str)
def test_a_verdict_is_for_the_same_latents_only(copies, order, tmp_path):
    """One log of three folders: a page shows of each what the log says of it, whichever line is last."""
    log = str(tmp_path / "log")
    CliRunner().invoke(audit, [*(str(copies[number]) for number in order), "--log", log])
    own, others, none = (verdicts(with_verdicts_from(collect(folder), log)) for folder in copies)
    assert own == [OF_LATENTS] * 4 and others == ["NOT PROVED"] * 4
    assert none == ["PROVED, instance not checked"] * 4


def test_the_verdicts_of_other_latents_do_not_count(copies, tmp_path, caplog):
    own, others, none = copies
    log = audit_log_of(own)
    assert statuses(with_verdicts_from(collect(others), log)) == [NOT_AUDITED] * 4
    assert "has verdicts on 4 of these certificates with another head, or with latents" in caplog.text
    assert statuses(with_verdicts_from(collect(none), log)) == [NOT_AUDITED] * 4
    given = collect(none, latents=own / "latents.safetensors")
    assert verdicts(with_verdicts_from(given, log)) == [OF_LATENTS] * 4


def records_of(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


def judged(folder, *records):
    """The collection of a folder with the verdicts of a log of these records, and of these in the other order."""
    log = folder / "r.json"
    for lines in (records, records[::-1]):
        log.write_text("".join(json.dumps(record) + "\n" for record in lines))
        yield with_verdicts_from(collect(folder), log)


def test_of_several_verdicts_the_weakest_counts(folder):
    """Whichever comes last: what more was checked, with other limits, or by another kernel."""
    more = records_of(audit_log_of(folder, "--minimality"))
    (folder / "r.json").unlink()
    plain = records_of(audit_log_of(folder))
    (folder / "r.json").unlink()
    less = records_of(audit_log_of(folder, "--limit", "1e-7", "--kernel", "arb"))
    for collection in judged(folder, *more, *plain):
        assert collection.items[0].verdict.proved == {"entailment", "instance"}
    for collection in judged(folder, *less, *plain, *more):
        assert {(item.status, item.record["reason"]) for item in collection.items} == {("NOT_PROVED", "limit")}
    none = [unusable("a", "gone", record["run"], record["sha256"]).record for record in plain]
    for records, status in (((*none, *plain), "PROVED"), (none, "UNUSABLE")):  # any counts where there was none
        for collection in judged(folder, *records):
            assert statuses(collection) == [status] * 4


def test_a_failure_without_the_latents_counts_beside_a_proof_with_them(copies):
    own, _, none = copies
    less = records_of(audit_log_of(none, "--limit", "1e-7", "--kernel", "arb"))
    for collection in judged(own, *less, *records_of(audit_log_of(own))):
        assert statuses(collection) == ["NOT_PROVED"] * 4


def test_a_log_that_contradicts_itself_is_refused(folder):
    """As `verale audit --log` refuses it. tests/unit/runs/test_audit.py has every kind of record that is none."""
    records = records_of(audit_log_of(folder))
    refused = {"status": "NOT_PROVED", "reason": "entailment", "exit_code": 3, "margin": None, "by": {}}
    other = records[2] | refused | {"claims": dict.fromkeys(records[2]["claims"], "not checked")}
    for lines in ([*records, other], [other, *records]):
        with pytest.raises(InputError, match=r"r.json: line [45] has another verdict than an earlier line"):
            next(judged(folder, *lines))
    with pytest.raises(InputError, match=r"r.json: line 3 is not a record of an audit log"):
        next(judged(folder, *records[:2], records[2] | {"status": "proved"}))


def test_verdicts_of_another_version_are_told_as_such(folder):
    """And a verdict is for the same bytes only."""
    log = audit_log_of(folder)
    path = folder / "000000.ale.json"
    path.write_bytes(path.read_bytes() + b"\n")
    assert statuses(with_verdicts_from(collect(folder), log)) == [NOT_AUDITED, *["PROVED"] * 3]
    assert with_verdicts_from(collect(folder), log).audited == f"read from {log.name}"
    log.write_text(log.read_text().replace(records_of(log)[0]["run"]["checker"]["sha256"], "0" * 64))
    collection = with_verdicts_from(collect(folder), log)
    assert collection.audited == f"read from {log.name}, by another version of the checker"
    assert b"by another version of the checker" in page(collection, "")


PICTURES = [drawn_picture((1, 4, 4), seed) for seed in range(3)]
COSINE = {"geometry": {"kind": "cosine", "epsilon": (0.0).hex()}, "similarity": files.IDENTITY}


@pytest.fixture(params=[{}, COSINE], ids=["euclidean", "cosine"])
def found(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Prototype 0 is patch 3 of picture 1, prototype 1 is no patch."""
    network = network_file(*small_layers(), mean=[0.5], std=[0.25])
    with flint.ctx.workprec(PRECISION):
        patch = [float(x.mid()) for x in true_latents(network_of(network), PICTURES[1])[3]]
    head = files.head([[1.0] * 2, [-1.0] * 2], [patch, [1.0, 0.0]], **request.param)
    (tmp_path / "head.safetensors").write_bytes(head)
    (tmp_path / "network.safetensors").write_bytes(network)
    (tmp_path / "images").mkdir()
    for number, picture in enumerate(PICTURES):
        (tmp_path / "images" / f"{number}.png").write_bytes(png(picture))
    where = [tmp_path / name for name in ("head.safetensors", "network.safetensors", "images", "origins.json")]
    OriginSearch(*where, overwrite=False).run()
    return tmp_path


def told(found: Path, kernel: str | None = "arb", head: HeadFile | None = None) -> dict[int, ToldOrigin]:
    head = head or HeadFile.of(found / "head.safetensors")
    return told_origins(found / "origins.json", head, found / "network.safetensors", found / "images", kernel)


def sentences(found: Path, kernel: str | None = None) -> dict[int, str]:
    return {prototype: each.sentence for prototype, each in told(found, kernel).items()}


def misplaced(found: Path, count: int | None = None) -> None:
    """The first origins of the file, the first of them at another patch."""
    document = json.loads((found / "origins.json").read_bytes())
    document["origins"][0]["patch"] = 0
    document["origins"] = document["origins"][:count]
    (found / "origins.json").write_text(json.dumps(document))


@pytest.mark.parametrize(("kernel", "by"), [(None, "the proved checker"), ("arb", "arb")])
def test_a_projected_prototype_is_the_patch_and_another_one_is_not_shown_to_be(
    found: Path, kernel: str | None, by: str
) -> None:
    said = sentences(found, kernel)
    assert sorted(said) == [0, 1]
    patch = f"the patch in row 1, column 1 of the picture {picture_digest(PICTURES[1])[:16]}..."
    assert said[0].startswith(f"proved: prototype 0 is {patch}, ") and said[0].endswith(f"(by {by})")
    assert said[1].startswith("prototype 1 is not shown to be a patch of these pictures; the nearest that was found is")
    assert ", proved to lie " in said[1] and said[1].endswith(f"(by {by})")


def test_what_is_not_proved_is_never_told_as_proved(found: Path) -> None:
    """Of one that is left out that is said; a file of another head is refused."""
    misplaced(found, 1)
    said = sentences(found)
    assert said[0].startswith("prototype 0 is not proved to be the patch in row 0, column 0")
    assert "proved:" not in said[0]
    assert said[1] == "prototype 1: of where it comes from the origins file says nothing"
    (found / "head.safetensors").write_bytes(files.head([[1.0] * 2, [-1.0] * 2], [[0.5, 0.5], [1.0, 0.0]]))
    with pytest.raises(InputError, match="speaks of the head"):
        sentences(found)


def test_the_head_that_was_read_counts(found: Path) -> None:
    """Though another file has its name by now."""
    head = HeadFile.of(found / "head.safetensors")
    (found / "head.safetensors").write_bytes(b"another")
    assert told(found, head=head)[0].sentence.startswith("proved: ")


def test_a_caption_stands_beside_the_picture_and_its_patch_alone(found: Path) -> None:
    """What is not proved has none, nor has a certificate of another network or none."""
    known = told(found)
    first, place = known[0], (picture_digest(PICTURES[1]), (1, 1))
    assert first.caption.startswith("proved: prototype 0 is this part of this picture, ")
    assert "the nearest that was found is this part of this picture, proved to lie " in known[1].caption
    assert (first.picture.digest, first.cell) == place
    (found / "out").mkdir()
    (found / "out" / "network.safetensors").write_bytes((found / "network.safetensors").read_bytes())
    beside = Collection(found / "out", (), origins=known)
    picture, cell = beside.origin_of(0, first.network)
    assert (picture.digest, cell) == place
    assert beside.origin_of(0, None) is beside.origin_of(7, first.network) is None
    other = replace(beside, origins={0: replace(first, network="0" * 64)})
    assert other.origin_of(0, first.network) is None
    assert replace(beside, folder=found / "images").origin_of(0, first.network) is None
    misplaced(found)
    unproved = told(found)[0]
    assert unproved.caption == "" and unproved.picture is None


def test_a_picture_that_was_changed_meanwhile_is_not_drawn(found: Path) -> None:
    known = told(found)
    for number in range(3):
        (found / "images" / f"{number}.png").write_bytes(png(drawn_picture((1, 4, 4), 9)))
    try:
        kept = known[0].picture
    except InputError as error:
        assert "picture" in str(error)
    else:
        assert kept is not None and kept.digest == picture_digest(PICTURES[1])
