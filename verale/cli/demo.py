"""`verale demo`: explain packaged digits, audit them in processes without torch, print a table and write a report."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verale.checker import AuditOptions
from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import coloured, exits, print_record, print_wrapped, progress
from verale.errors import UsageError, VeraleError
from verale.paradigms import PARADIGMS, READABLE, paradigms_of
from verale.search.options import SearchOptions
from verale.version import installing

if TYPE_CHECKING:
    from verale.runs.table import Explained
    from verale.runs.written import WrittenFiles

_REPORT, _BY = "report.html", "report"
"""The page, and the command of which it is: `verale report` may replace it."""


_TAKEN = (READABLE, *paradigms_of("euclidean", patches=64))
"""The paradigms of the packaged ProtoPNet."""


def _of_demo(given: Mapping[str, Any]) -> SearchOptions:
    if given["paradigm"] not in _TAKEN:
        raise UsageError(f"paradigm {given['paradigm']!r} is not for the packaged head, expected {', '.join(_TAKEN)}")
    return SearchOptions.of(given)


@click.command(name="demo", short_help="Explain and audit packaged digits.")
@options.out("The output folder.", default="verale-demo", show_default=True)
@options.fields_of(SearchOptions, "search", _of_demo, "paradigm")
@options.audit("kernel")
@options.overwrite("Start again, and remove what an earlier demo noted in the folder.")
@options.in_json("one object an image")
@options.verbose
@exits(done="every certificate is proved")
def command(out: str, search: SearchOptions, audit: AuditOptions, overwrite: bool, as_json: bool) -> None:
    """Explain 50 handwritten digits, from their PNG files, with a ProtoPNet that CaBRNet trained; audit every
    certificate, from the PNG files.
    """
    from verale.adapters.cabrnet import load_head
    from verale.demo.network import IMAGES, RUN, load_images, load_network, source_of
    from verale.head import labelled_file
    from verale.runs.audit import AuditSetup, auditor_of, in_processes
    from verale.runs.explain import open_run
    from verale.runs.folder import folder_in, locked
    from verale.runs.inputs import HEAD, LATENTS, NETWORK, PICTURES, SOURCE
    from verale.runs.options import RunOptions, use_device
    from verale.runs.seen import SeenPictures
    from verale.runs.workers.local import cores
    from verale.runs.written import RequiredFile, WrittenFiles
    from verale.search.through import ThroughNetwork

    directory, certificates = Path(out), folder_in(Path(out), "certificates")
    digits = load_images()
    head = load_head(RUN).as_compared()  # with CaBRNet, on all packaged images: tests/end_to_end/test_demo_network.py
    frozen = load_network()
    seen = SeenPictures.of(ThroughNetwork(frozen), frozen.to_bytes(), IMAGES)
    use_device(search.device)
    latents = seen.latents(None if overwrite else certificates)
    source = source_of(digits).noting(head_sha256=head.digest).of_latents(latents)
    source = source.noting(image_pictures=seen.digests)
    beside = {SOURCE: source.to_bytes(), **seen.files}
    files = {HEAD: head.to_bytes(), LATENTS: labelled_file(latents, digits.labels), NETWORK: frozen.to_bytes()}
    head_path, latents_path, network_path = (directory / name for name in files)
    with locked(directory) as held:
        written = WrittenFiles(directory, held)
        needed = {name: RequiredFile(partial(written.holds, name, data)) for name, data in files.items()}
        needed[_REPORT] = RequiredFile(partial(written.is_ours, _REPORT, _BY), "is there already")
        kept = written.require_room(needed, overwrite=overwrite)
        how = RunOptions(overwrite=overwrite)
        with open_run(certificates, head, latents, search, digits.labels, how, seen=seen, beside=beside) as opened:
            if overwrite:
                written.clear(kept)
            for name, data in files.items():
                written.write(name, data)
            explained = opened.rows
            with progress("explaining", opened.total, len(explained)) as advance:
                for one in opened:
                    explained.append(one)
                    advance(1)
        explained.sort(key=lambda one: one.index)
        paths = [certificates / one.certificate for one in explained if one.certificate is not None]
        audited: dict[str, dict[str, Any]] = {}  # the checker's records, from processes that never load torch
        setup = AuditSetup(str(head_path), None, audit, str(network_path), str(certificates / PICTURES))
        with progress("auditing", len(paths), unit="certificates") as advance:
            for outcome in in_processes([*map(str, paths)], setup, cores(), auditor_of(setup).run):
                audited[Path(outcome.record["certificate"]).name] = outcome.record
                advance(1)
        if as_json:
            for one in explained:
                print_record("explained", asdict(one) | {"audit": audited.get(one.certificate or "")})
        else:
            _print_table(explained, audited, [f"{path.parent.name}/{path.stem}" for path in digits.paths])
        for name, path in (("head", head_path), ("network", network_path), ("certificates", certificates)):
            print_line(f"{name + ':':13} {path}", sys.stderr if as_json else None)
        report = _report(written, certificates, head_path, latents_path, audited)
        print_line(f"report:       {report}", sys.stderr if as_json else None)
    if any(one.certificate is None for one in explained) or any(r["exit_code"] != 0 for r in audited.values()):
        raise VeraleError(
            "not every packaged image has a proved certificate, and each of them should: please report this"
        )


def _report(
    written: WrittenFiles, certificates: Path, head: Path, latents: Path, audited: dict[str, dict[str, Any]]
) -> str:
    """Write the page with these verdicts, if the extra `report` is installed; return its path, or why there is none."""
    if find_spec("jinja2") is None:
        return f"not written; {installing('report')}"
    from verale.demo.network import IMAGES, PROJECTION
    from verale.report.collect import collect
    from verale.report.page import page

    records = {record["sha256"]: record for record in audited.values()}
    collection = collect(certificates, head, latents, allow=(IMAGES, PROJECTION))
    judged = collection.with_records(lambda item: records.get(item.sha256), "when this page was written")
    written.write(_REPORT, page(judged, "Explanations of handwritten digits", provable=True), _BY)
    return str(written.directory / _REPORT)


def _print_table(explained: list[Explained], audited: dict[str, dict[str, Any]], names: list[str]) -> None:
    from rich.text import Text

    from verale.certificate.words import below, percent
    from verale.checker.options import in_words, program_in_words
    from verale.cli.tables import PLAIN, TextTable, print_table

    table = TextTable(title="Certified explanations of the packaged digits", **PLAIN)
    for heading in ("image", "class", "paradigm", "size", "of all", "lead", "explain", "audit", "verdict"):
        text = heading in ("image", "class", "paradigm", "verdict")
        table.add_column(heading, justify="left" if text else "right", no_wrap=True)
    for one, name in zip(explained, names, strict=True):
        record = audited.get(one.certificate or "")
        if record is None:
            predicted = "-" if one.predicted is None else str(one.predicted)
            table.add_row(name, predicted, "", "", "", "", f"{one.seconds:.2f} s", "", "UNEXPLAINED")
            continue
        mark = "" if one.correct else f" not {one.label}"
        possible = one.pairs if PARADIGMS[str(one.paradigm)].spatial else one.prototypes
        table.add_row(
            *(name, f"{one.predicted}{mark}", str(one.paradigm), str(one.size)),
            *(percent(one.size or 0, possible or 1), below(one.margin or 0), f"{one.seconds:.2f} s"),
            *(f"{record['seconds']:.2f} s", Text.from_ansi(coloured(str(record["status"])))),
        )
    print_table(table)
    proved = sum(record["exit_code"] == 0 for record in audited.values())
    by = sorted(
        {
            in_words(kernel, program_in_words(record["run"]["checker"]))
            for record in audited.values()
            for kernel in record["by"].values()
        }
    )
    sizes = [one.size for one in explained if one.size is not None]
    print_wrapped(
        f"{len(explained)} images, {len(sizes)} certificates, {proved} proved by {' and '.join(by) or 'nobody'}; "
        f"mean {sum(sizes) / max(1, len(sizes)):.1f} statements, "
        f"{sum(one.seconds or 0 for one in explained) / len(explained):.2f} s to explain, "
        f"{sum(float(str(r['seconds'])) for r in audited.values()) / max(1, len(audited)):.2f} s to audit an image"
    )
