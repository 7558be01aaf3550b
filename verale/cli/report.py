"""`verale report`: show certificates to people, as one page, a picture or a table."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker import AuditOptions
from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import Exit, exits, print_record, progress
from verale.errors import InputError, UsageError
from verale.files import certificates_folder, certificates_in
from verale.runs.folder import require_output, write_output
from verale.runs.inputs import Inputs
from verale.runs.options import RunOptions

if TYPE_CHECKING:
    from verale.report.collect import Collection

_log = logging.getLogger(__name__)

PICTURES, TABLES = ("pdf", "svg", "png"), ("parquet", "csv")
FORMATS = ("html", *PICTURES, *TABLES)
_BY = "report"
_DEFAULT = "report"
"""The report of a folder, without its suffix, where no other name is given."""
_NEEDS = {
    "html": ("jinja2", "PIL"),
    "parquet": ("pandas", "pyarrow"),
    "csv": (),
    **dict.fromkeys(PICTURES, ("matplotlib",)),
}
"""The modules that each format needs; they are imported before the work, so that a missing one is reported early."""


@click.command(name="report", short_help="Show certificates to people.")
@click.argument("certificates", metavar="FOLDER|FILE", type=click.Path())
@options.out("The file to write; of a folder by default FOLDER/report.html, or FOLDER/report.FORMAT.", "FILE")
@click.option(
    "--format",
    "kind",
    help="By default the output's suffix. pdf, svg, png: one certificate. parquet, csv: a table of all.",
    **options.choice(*FORMATS),
)
@options.inputs()
@options.path("--images", "IMAGES", "The images; by default the folder that source.json names.")
@options.prototype_pictures("Pictures of prototypes; by default those in prototypes/ beside the certificates.")
@options.origins
@options.allow
@options.path("--log", "FILE", "An audit log, which verale audit --log has written.")
@click.option("--no-audit", is_flag=True, help="Show certificates without checking them.")
@options.audit("kernel", "minimality")
@click.option("--provable", is_flag=True, help="Let readers of the page prove certificates again, in their browser.")
@options.run("jobs", jobs="Processes for the audit; by default 1.")
@click.option("--title", metavar="TEXT", help="The page's heading.")
@click.option(
    "--max-size", type=click.FloatRange(0), default=128.0, show_default=True, metavar="MIB",
    help="The page's largest size. Images and statements beyond it are left out; the page says so.",
)  # fmt: skip
@click.option(
    "--image-size", type=click.IntRange(8), default=224, show_default=True, metavar="PIXELS",
    help="The largest width and height of an image; larger ones are scaled down.",
)  # fmt: skip
@click.option("--compact", is_flag=True, help="Of pdf, svg, png: as wide as a column of a paper, 3.3 inches.")
@click.option(
    "--no-pictures", is_flag=True, help="Leave out the images and the pictures of prototypes; frames and numbers stay."
)
@options.overwrite()
@options.path(
    "--same-as", "PAGE", "Write nothing: say whether PAGE is the page that would be written, but for its times."
)
@options.in_json("one object")
@options.verbose
@exits(Exit.UNEXPLAINED, verdicts=True, done="written, and all that it shows is proved, or --no-audit is given")
def command(
    certificates: str,
    out: str | None,
    kind: str | None,
    given: Inputs,
    images: str | None,
    prototype_pictures: str | None,
    origins: tuple[str, str] | None,
    allow: tuple[str, ...],
    log: str | None,
    no_audit: bool,
    audit: AuditOptions,
    provable: bool,
    run: RunOptions,
    title: str | None,
    max_size: float,
    image_size: int,
    compact: bool,
    no_pictures: bool,
    overwrite: bool,
    same_as: str | None,
    as_json: bool,
) -> None:
    """Show certificates to people: as a page that needs neither network nor server, a picture, or a table.

    PROVED means that the checker has proved a certificate: now, or earlier, as --log says. A head, and images, are
    looked for in FOLDER first. Images elsewhere are shown only with --images or --allow: who wrote FOLDER may name any
    file of this machine in it. Without a head nothing can be audited, and only --no-audit writes a report nevertheless.
    """
    if same_as is not None:
        if out is not None or overwrite or kind not in (None, "html"):
            raise UsageError("--same-as writes nothing: leave out -o, --overwrite and other formats")
        from verale.report.page_check import holds_checker

        out, kind, provable = same_as, "html", provable or holds_checker(Path(same_as))
    if out is None:
        if not Path(certificates).is_dir():
            raise UsageError(f"say where the report of {certificates} goes, with -o: only a folder has a default")
        out = str(Path(certificates) / f"{_DEFAULT}.{kind or 'html'}")
    target = Path(out)
    kind = kind or target.suffix.lstrip(".").lower()
    if kind not in FORMATS:
        raise UsageError(f"{target} has no known format as its suffix; say --format {'|'.join(FORMATS)}")
    if log is not None and (no_audit or audit != AuditOptions()):
        raise UsageError("--log has the verdicts of an audit: leave out --no-audit, --minimality and --kernel")
    if provable and kind != "html":
        raise UsageError(f"--provable is for pages, and {target} is no page: say --format html, or leave it out")
    if origins is not None and (kind not in ("html", *PICTURES) or no_audit):
        raise UsageError("--origins is for pages and pictures, with what is proved now: leave it out, or --no-audit")
    if compact and kind not in PICTURES:
        raise UsageError(f"--compact is for pictures, and {target} is none: say --format {'|'.join(PICTURES)}")
    if no_pictures and kind in TABLES:
        raise UsageError(f"--no-pictures is for pages and figures, and {target} is a table: leave it out")
    beside = certificates if Path(certificates).is_dir() else str(Path(certificates).parent)
    read_here = [certificates, beside, given.head, given.latents, log, *(origins or ())]
    if same_as is None:
        require_output(target, read_here, overwrite, _BY)
    for module in _NEEDS[kind]:
        import_module(module)
    from verale.report.collect import collect
    from verale.report.verdicts import origins_beside

    count = len(certificates_in(certificates_folder(Path(certificates)))) or 1
    with progress("reading", count, unit="certificates") as advance:
        collection = collect(certificates, given.head, given.latents, images, advance, prototype_pictures, allow)
    if kind in PICTURES and len(collection.items) != 1:
        raise UsageError(
            f"{certificates} holds {len(collection.items)} certificates; a {kind} shows one: name its file"
        )
    if collection.head_file is None and log is None and not no_audit:
        raise InputError(
            collection.folder, "has no head, so nothing can be audited: give --head or --log, or say --no-audit"
        )
    if same_as is None:
        require_output(target, [*read_here, *collection.files], by=_BY)
    collection = _judge(collection, log, no_audit, audit, run.jobs or 1)
    if origins is not None:
        told = origins_beside(collection.folder, collection.head_file, origins, audit)
        collection = replace(collection, origins=told)
    if no_pictures:
        collection = collection.without_pictures()
    if kind == "html":
        from verale.report.page import page

        heading = title or f"Explanations in {collection.folder.resolve().name}"
        with progress("writing", len(collection.items)) as advance:
            data = page(collection, heading, int(max_size * 2**20), image_size, advance, provable)
    elif kind in PICTURES:
        from verale.report.picture import picture

        data = picture(collection, kind, compact)
    else:
        from verale.report.table import encode

        data = encode(collection, kind)
    if same_as is None:
        write_output(target, data, _BY)
    else:
        from verale.report.page_check import require_same

        require_same(target, data)
    from verale.checker.verdict import most_severe
    from verale.report.images import AS_NOTED, OUTSIDE
    from verale.runs.inputs import SOURCE

    statuses = Counter(item.status for item in collection.items)
    codes = [item.exit_code for item in collection.items if item.path is not None]
    code = most_severe(codes or [0]) or (Exit.UNEXPLAINED if len(codes) < len(collection.items) else 0)
    code = 0 if no_audit else code
    if as_json:
        record = {"report": str(target), "bytes": len(data), "certificates": len(collection.paths), "exit_code": code}
        print_record("reported", {**record, "audited": collection.audited, "statuses": dict(statuses)})
    summary = f"{statuses.pop('PROVED', 0)} PROVED ({collection.audited})" if collection.audited else "not audited"
    for caveat, count in sorted(Counter(item.verdict.caveat for item in collection.items).items()):
        summary += f", {count} of them: {caveat}" if caveat else ""
    if collection.audited:
        summary += "".join(f", {count} {status.replace('_', ' ')}" for status, count in sorted(statuses.items()))
    same = "" if same_as is None else "is what verale writes of these files: "
    print_line(f"{target}: {same}{len(collection.paths)} certificates, {summary}; {len(data)} bytes", sys.stderr)
    for note, count in sorted(Counter(item.image_note for item in collection.items).items()):
        if note in ("", AS_NOTED, OUTSIDE):
            continue
        _log.warning("%d of %d images are %s", count, len(collection.items), note)
    if contradicted := sum(item.image is not None and item.image.contradicted for item in collection.items):
        _log.warning("%s names other pictures than %d certificates do: it was changed", SOURCE, contradicted)
    for difference in collection.differences:
        _log.warning("%s %s", collection.folder, difference)
    if collection.outside:
        _log.warning("%s", collection.outside)
    sys.exit(code)


def _judge(collection: Collection, log: str | None, no_audit: bool, audit: AuditOptions, jobs: int) -> Collection:
    from verale.report.verdicts import audited, with_verdicts_from

    if log is not None:
        return with_verdicts_from(collection, log)
    if no_audit:
        return collection
    with progress("auditing", len(collection.paths), unit="certificates") as advance:
        return audited(collection, audit, jobs, advance)
