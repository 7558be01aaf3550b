"""`verale audit`: prove certificates again."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verale.checker import AuditOptions
from verale.checker.file_auditor import print_outcome
from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import AuditTable, Exit, exits, print_wrapped, progress
from verale.errors import InputError, UsageError
from verale.files import folder_of
from verale.runs.inputs import Inputs
from verale.runs.listed import certificate_files, is_origins_file
from verale.runs.options import RunOptions

if TYPE_CHECKING:
    from verale.checker.file_auditor import Outcome

_NOT_OF_ORIGINS = ("minimality", "entailment-only", "deployment")
"""Options that say what is to be proved of certificates."""


@click.command(name="audit", short_help="Prove certificates again.")
@click.argument("certificates", nargs=-1, required=True, metavar="FOLDER|FILE|PARQUET...", type=click.Path())
@options.inputs()
@options.path("--network", "NETWORK", "The network file, where certificates claim a picture.")
@options.path(
    "--images",
    "IMAGES",
    "The network's images: a tensor file, a PNG file or a folder of them. Without them no picture is checked.",
)
@options.audit()
@options.run("jobs", "engine", "address", jobs="Number of processes; 1, or with ray one for each core.")
@options.in_json()
@options.log("Write a JSON object for each certificate to an audit log; certificates in it are not audited again.")
@options.path("--attest", "FILE", "Write an in-toto statement, ready to be signed, if this run has proved everything.")
@options.verbose
@exits(Exit.INCOMPLETE, verdicts=True, done="everything proved")
def command(
    certificates: tuple[str, ...],
    given: Inputs,
    network: str | None,
    images: str | None,
    audit: AuditOptions,
    run: RunOptions,
    as_json: bool,
    log: str | None,
    attest: str | None,
) -> None:
    """Prove certificates again, trusting nothing but the checker.

    Head, latents, network and images are those given, otherwise those beside the certificates. In the second case
    stderr has the digests of head and network: compare them with those that you mean. A warning says where a given head
    or latents differ from the folder's. Without latents no instance is checked.

    A FILE may be one that `verale origins` wrote, with --head, --network and --images: of the training images.

    Prints one verdict line for each certificate, and for each origin. Of a folder, stderr says where it is not what its
    explanations.csv and run.json list: certificates are missing, more, or others.
    """
    from datetime import UTC, datetime
    from itertools import islice

    from verale.checker.verdict import most_severe
    from verale.files import is_dataset
    from verale.runs.audit import AuditSetup, audit_groups
    from verale.runs.inputs import find_seen
    from verale.runs.listed import UNLISTED, Stored, differences, has_record

    if audit.in_vain is not None:
        raise click.UsageError(f"--{audit.in_vain}")

    def setup_of(head: str, latents: str | None, beside: tuple[str, str] | None = None) -> AuditSetup:
        pictured = (network, images) if network is not None or beside is None else beside
        return AuditSetup(head, latents, audit, *pictured)

    if any(map(is_origins_file, certificates)):
        asked = {"--latents": given.latents, "--log": log, "--attest": attest, "--address": run.address}
        asked |= {f"--{name}": getattr(audit, name.replace("-", "_")) for name in _NOT_OF_ORIGINS}
        refused = next((name for name, value in asked.items() if value), None)
        from verale.cli.origins import audit_origins

        sys.exit(audit_origins(certificates, given.head, network, images, audit, as_json, refused))
    codes: list[int] = []
    if (network is None) != (images is None):
        raise UsageError("--network and --images belong together: give both, or neither")

    if attest is not None and log is not None and Path(attest).resolve() == Path(log).resolve():
        raise UsageError("--attest and --log name the same file")
    inputs = [*certificates, *map(folder_of, certificates), given.head, given.latents, network, images]
    attestation = audit_log = None
    if attest is not None:
        from verale.runs.audit import Attestation

        attestation = Attestation(attest, inputs)
    if log is not None:
        from verale.runs.audit_log import AuditLog

        audit_log = AuditLog(log, inputs)
    if attestation is not None and audit_log is not None:
        audit_log.require_empty("an attestation may not rest on them; remove this file, or leave out --attest")
    find = options.inputs_finder(given)
    said = set()

    def announce(used: AuditSetup, record: dict[str, Any]) -> None:
        if (using := (used.head, used.latents, used.network, record["head"])) not in said:
            options.print_found(Inputs(used.head, used.latents), given, record["head"])
            if used.network != network:
                print_wrapped(f"network {used.network}, sha256 {record.get('network')}", sys.stderr)
                print_wrapped(f"images {used.pictures}", sys.stderr)
        said.add(using)

    def refuse(error: Exception) -> None:
        print_line(f"error: {error}", sys.stderr)
        codes.append(Exit.UNUSABLE)

    folders: list[Path] = []
    groups: list[tuple[list[str | Stored], AuditSetup]] = []
    for each in certificates:
        try:
            inside: Sequence[str | Stored]
            if is_dataset(each):
                from verale.datasets.rows import packed_certificates

                inside = packed_certificates(each)[0]
            else:
                inside = certificate_files((each,), compared=False)
                folders += [folder_of(each)] if Path(each).is_dir() else []
            if not inside:
                raise InputError(each, "holds no certificate, so nothing is proved")
            used = setup_of(*find(each), None if "://" in each else find_seen(folder_of(each)))
            if not groups or groups[-1][1] != used:
                groups.append(([], used))
            groups[-1][0].extend(inside)
        except (InputError, OSError) as error:
            refuse(error)
    total = sum(len(paths) for paths, _ in groups)
    outcomes: list[Outcome] = []  # kept where they are attested
    digests: dict[str, str | None] = {}
    reused, told, table = 0, 0, AuditTable()

    def done() -> str:
        same = "the same command" if attest is None else "the same command without --attest"
        rest = "" if log is None else f"; {log} has their verdicts, and {same} audits the rest"
        return f"{told} of {total} certificates are audited{rest}"

    with progress("auditing", total, unit="certificates", interrupted=done) as advance:
        for outcome in audit_groups(groups, run, audit_log, announce, refuse):
            told, reused = told + 1, reused + outcome.reused
            codes.append(outcome.exit_code)
            digests[outcome.record["certificate"]] = outcome.record["sha256"]
            outcomes += [] if attestation is None else [outcome]
            if as_json:
                print_outcome(outcome, as_json)
            else:
                table.add(outcome)
            advance(1)
    table.print_total()
    if reused:
        print_line(f"{reused} of {total} verdicts are taken from {log}", sys.stderr)
    for folder in dict.fromkeys(folders):
        of_folder = {Path(path).name: digest for path, digest in digests.items() if Path(path).parent == folder}
        if said_of := differences(folder, of_folder):
            codes.append(Exit.INCOMPLETE)
        for difference in said_of:
            print_wrapped(f"error: {folder} {difference}", sys.stderr)
        if of_folder and given.head is None and not has_record(folder):  # the head is the folder's, as a run has it
            print_wrapped(f"{folder} {UNLISTED}", sys.stderr)
    code = most_severe(codes)
    if attestation is not None and code == 0:
        left = iter(outcomes)
        attestation.write([(used, list(islice(left, len(paths)))) for paths, used in groups], datetime.now(UTC))
    elif attestation is not None:
        whole = "everything is proved" if {*codes} != {0, Exit.INCOMPLETE} else "every folder is what its record lists"
        print_line(f"{attest} is not written: not {whole}", sys.stderr)
    sys.exit(code)
