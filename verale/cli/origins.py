"""`verale origins`: which patch of which training picture each prototype is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import Exit, exits, print_record, print_verdict, progress
from verale.errors import UsageError

if TYPE_CHECKING:
    from verale.checker.options import AuditOptions
    from verale.checker.origins import JudgedOrigin


@click.command(name="origins", short_help="Find the training patch that each prototype is.")
@options.head("The head file.", required=True)
@options.path("--network", "NETWORK", "Its network's file.", required=True)
@options.path(
    "--images",
    "IMAGES",
    "The training pictures: picture files, a folder of them, or a tensor file.",
    required=True,
)
@options.resize
@options.out("The origins file to write.", "FILE", required=True)
@options.overwrite()
@options.in_json("one object a prototype")
@options.verbose
@exits(Exit.NOT_FOUND, done="an origin is stated of every prototype")
def command(head: str, network: str, images: str, resize: int | None, out: str, overwrite: bool, as_json: bool) -> None:
    """For each prototype find the nearest patch of the given pictures, and state how near it is: a distance, or for
    cosines a cosine, that can be proved.

    `verale audit FILE --head HEAD --network NETWORK --images IMAGES` proves it, from the pictures' bytes. Where some
    are no PNG files, and with --resize, those that FILE names become PNG files in FILE.pictures: these are IMAGES then.
    The same command goes on where an interrupted one ended.
    """
    from verale.runs.origins import OriginSearch, Unstated

    search = OriginSearch(head, network, images, out, overwrite, resize)
    again = f"nothing is written to {out}; the same command goes on from {out}.partial, if it is there"
    with progress("searching", search.total, interrupted=lambda: again) as advance:
        found = search.run(advance)
    for each in found:
        if isinstance(each, Unstated):
            print_line(f"prototype {each.prototype}: nothing is stated: {each.why}", sys.stderr)
        elif as_json:
            print_record("origin", {**each.record(), "file": each.name})
        else:
            near = _near(each.distance, each.cosine)
            print_line(f"prototype {each.prototype}: patch {each.patch} of {each.name}, {near}")
    stated = sum(not isinstance(each, Unstated) for each in found)
    written = f"{out} states" if stated else f"{out} is not written: there are"
    print_line(f"{written} {stated} origins of {len(found)} prototypes", sys.stderr)
    if stated and search.pictures is not None:
        print_line(f"pictures are {search.decoder.in_words}; the PNG files in {search.pictures} are proved", sys.stderr)
    sys.exit(Exit.DONE if stated == len(found) else Exit.NOT_FOUND)


def _near(distance: object, cosine: object) -> str:
    """How near, in words that follow from what is stated."""
    from fractions import Fraction

    from verale.certificate.words import above, below

    if isinstance(distance, float | Fraction):
        return f"distance at most {above(distance)}"
    return f"cosine at least {below(cosine, _COSINE_DIGITS)}" if isinstance(cosine, float | Fraction) else ""


_COSINE_DIGITS = 10
"""Near 1 the first digits say little."""


def audit_origins(
    files: tuple[str, ...],
    head: str | None,
    network: str | None,
    images: str | None,
    audit: AuditOptions,
    as_json: bool,
    refused: str | None,
) -> int:
    """What `verale audit` does with origins files: print a verdict line for each origin; return the exit code.

    Args:
        refused: an option that was given and is not about origins.
    """
    from verale.checker.errors import FormatError, UnprovedError
    from verale.checker.verdict import Status, Verdict, most_severe, one_field
    from verale.runs.audit import judged_origins, origins_auditor
    from verale.runs.listed import is_origins_file

    others = [file for file in files if not is_origins_file(file)]
    if others:
        raise UsageError(f"{others[0]} is no origins file; audit those and certificates by commands of their own")
    if refused is not None:
        raise UsageError(f"{refused} is not for origins files; leave it out")
    if head is None or network is None or images is None:
        raise UsageError("origins are about pictures: give --head, --network and --images, the training pictures")
    auditor = origins_auditor(head, network, images, audit)
    codes: list[int] = []
    for file in files:
        try:
            judged = judged_origins(file, auditor, images)
        except FormatError as error:
            whole = Verdict(Status.MALFORMED, "malformed", str(error))
        except UnprovedError as error:
            whole = Verdict(Status.NOT_PROVED, error.reason, str(error))
        else:
            codes += [each.exit_code for each in judged]
            for each in judged:
                _print_judged(file, each, as_json)
            continue
        codes.append(whole.exit_code)
        if as_json:
            said = {"status": whole.status.value, "reason": whole.reason, "message": whole.message}
            print_record("judged-origin", {"file": file, "prototype": None, **said, "exit_code": whole.exit_code})
        else:
            print_verdict(f"{whole.status.value:<10}  {one_field(file)}  {whole.reason}: {whole.message}")
    return most_severe(codes)


def _print_judged(file: str, judged: JudgedOrigin, as_json: bool) -> None:
    from verale.checker.options import in_words, program_in_words
    from verale.checker.verdict import one_field

    origin = judged.origin
    near = _near(origin.distance, origin.cosine)
    if as_json:
        stated = {
            name: None if end is None else float(end).hex()
            for name, end in (("distance", origin.distance), ("cosine", origin.cosine))
        }
        about = {"prototype": origin.prototype, "picture": origin.picture, "patch": origin.patch, **stated}
        verdict = {"status": judged.status.value, "reason": judged.reason, "message": judged.message, "by": judged.by}
        print_record("judged-origin", {"file": file, **about, **verdict, "exit_code": judged.exit_code})
        return
    program = "" if judged.program is None else program_in_words(judged.program.named)
    said = f"by {in_words(judged.by, program)}" if judged.by else f"{judged.reason}: {judged.message}"
    about_patch = f"prototype {origin.prototype}: patch {origin.patch} of picture {origin.picture[:16]}..."
    print_verdict(f"{judged.status.value:<10}  {one_field(file)}  {about_patch}, {near}  {said}")
