"""Attestations: what one audit proved, as an in-toto statement that can be signed (certificates/attestation-v1.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from verale.checker.file_auditor import Outcome
from verale.checker.options import CHOICES, KERNELS, PROVED
from verale.checker.verdict import Status
from verale.errors import InputError
from verale.files import read, remove_file, write_atomically
from verale.runs.audit import AuditSetup
from verale.runs.folder import require_output

_TYPE = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://in-toto.io/attestation/svr/v0.1"
_VERIFIER = "urn:verale:checker:v1"
_START = (
    f'{{"_type": "{_TYPE}", "predicateType": "{_PREDICATE}", "predicate": {{"verifier": {{"id": "{_VERIFIER}"'.encode()
)
"""How every attestation of ours begins."""

_READ = ("head", "latents", "network", "pictures")
"""What an audit reads beside certificates: of each of these its run has the digest."""

_SUMMARY = ("status", "claims", "by", "predicted", "paradigm", "statements", "margin")
"""The fields of a record that its certificate carries."""
_CLAIMS = ("entailment", "instance", "picture", "minimality", "deployment")  # those that have a property
_COMPUTED = {"real": "VERALE_PICTURE_IN_REAL_ARITHMETIC", "float32": "VERALE_PICTURE_IN_FLOAT32"}
"""The property of a picture that is proved, by the arithmetic in which the network gives its latents."""


class Attestation:
    """The file of an attestation. It is there only once everything that it names was proved.

    An earlier attestation of that name is removed at once, so that it cannot be taken for this audit's. Raises
    InputError: the file exists and is not an attestation of ours, which stays as it is; or it cannot be written.
    """

    def __init__(self, path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
        self._path = Path(path)
        require_output(path, inputs)
        if self._path.exists():
            if read(path, "an attestation", len(_START)) != _START:
                raise InputError(path, "is not an attestation of an audit; choose another file, or remove this one")
            remove_file(self._path)

    def write(self, groups: Iterable[tuple[AuditSetup, Sequence[Outcome]]], created: datetime) -> None:
        """Write the attestation of these outcomes, at once. Raises InputError as `statement_of`."""
        write_atomically(self._path, json.dumps(statement_of(groups, created)).encode() + b"\n")


def statement_of(groups: Iterable[tuple[AuditSetup, Sequence[Outcome]]], created: datetime) -> dict[str, object]:
    """The statement that all these certificates are proved, of the outcomes of one audit, with the files and options of
    each, that ended at this time in UTC. Raises InputError: a certificate that this audit did not prove, or a file that
    changed while it was audited.

    Soundness: a property is stated if it is true of every certificate, and the digests of head, latents, network and
    certificate in a record are those of the bytes that the checker was given. A verdict from an audit log is refused:
    whoever can write to the log could otherwise have it signed.
    """
    subjects: dict[str, dict[str, Any]] = {}
    records: list[dict[str, Any]] = []
    for setup, outcomes in groups:
        for outcome in outcomes:
            record = outcome.record
            _require_proved_now(outcome)
            run = record["run"]
            about = {"head": run["head"], "latents": run["latents"] if _is_proved(record, "instance") else None}
            _add(subjects, setup.head, run["head"], {"kind": "head"})
            if about["latents"] is not None:
                _add(subjects, str(setup.latents), run["latents"], {"kind": "latents"})
            if _is_proved(record, "picture"):
                about |= {"network": run["network"], "pictures": run["pictures"], "arithmetic": record["arithmetic"]}
                _add(subjects, str(setup.network), run["network"], {"kind": "network"})
            summary = {field: record[field] for field in _SUMMARY}
            _add(subjects, record["certificate"], record["sha256"], {"kind": "certificate", **summary, **about})
            records.append(record)
    policies = [{name: value for name, value in r["run"].items() if name not in _READ} for r in records]
    if not policies or any(policy != policies[0] for policy in policies):
        raise InputError("the checker", "or its options changed during the audit; run the command again")
    return {
        "_type": _TYPE,
        "predicateType": _PREDICATE,
        "predicate": {
            "verifier": {"id": _VERIFIER, "verale": policies[0]},
            "timeCreated": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "properties": _properties(records),
        },
        "subject": list(subjects.values()),
    }


def _require_proved_now(outcome: Outcome) -> None:
    """Raise InputError for anything but a proof by this command."""
    record = outcome.record
    if (record["status"], record["exit_code"]) != (Status.PROVED.value, 0) or record["sha256"] is None:
        raise InputError(record["certificate"], "is not proved, so nothing can be attested")
    if outcome.reused:
        raise InputError(record["certificate"], "has its verdict from an audit log, on which no attestation may rest")


def _is_proved(record: dict[str, Any], claim: str) -> bool:
    return bool(record["claims"].get(claim) == "proved")


def _add(subjects: dict[str, dict[str, Any]], name: str, sha256: str, annotations: dict[str, Any]) -> None:
    """Add a subject unless it is there. Raises InputError: it is there with other bytes."""
    subject = {"name": name, "digest": {"sha256": sha256}, "annotations": {"verale": annotations}}
    if subjects.setdefault(name, subject) != subject:
        raise InputError(
            name, "changed during the audit, or is given with two heads, latents or networks; run the command again"
        )


def _properties(records: Sequence[dict[str, Any]]) -> list[str]:
    """What is true of every certificate: the claims, of pictures the arithmetic, and the kernels that proved all claims
    of every one."""
    claims = [claim for claim in _CLAIMS if all(_is_proved(r, claim) for r in records)]
    ways = {record["arithmetic"] for record in records} if "picture" in claims else set()
    return [
        *(f"VERALE_{claim.upper()}_PROVED" for claim in claims),
        *(_COMPUTED[way] for way in ways if len(ways) == 1),
        *(
            f"VERALE_KERNEL_{name.upper()}"
            for name in (*KERNELS, PROVED)
            if all(name in CHOICES[by] for record in records for by in record["by"].values())
        ),
    ]
