"""How cases are written: a certificate's bytes, and the corpora as files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from verale.soundness.corpus.cases import BREAKS, CERTIFICATE, HEAD, LATENTS, MANIFEST, WITNESS, Case

__all__ = ["encoded", "files_of"]


def encoded(document: dict[str, Any], comment: str = "") -> bytes:
    """A certificate's bytes, with the comment in its extensions."""
    if comment:
        document = document | {"extensions": {"comment": comment}}
    return (json.dumps(document, indent=1) + "\n").encode()


def files_of(cases: Iterable[Case]) -> dict[str, bytes]:
    """The corpora as files, by their path: every certificate, each head and latents file once, what breaks or refutes
    each beside it, and the manifest."""
    files: dict[str, bytes] = {}
    path_of: dict[bytes, str] = {}
    manifest = {}
    for case in cases:
        entry: dict[str, Any] = {"status": case.status, "reason": case.reason, "comment": case.comment}
        inserted = dict(case.inserted)
        for part, suffix in ((case.certificate, CERTIFICATE), (case.head, HEAD), (case.latents, LATENTS)):
            if part is None:
                continue
            if suffix == CERTIFICATE or part not in path_of:
                path_of[part] = case.name + suffix
                left_out = inserted.get(suffix.split(".")[1].replace("ale", "certificate"))
                files[case.name + suffix] = part if left_out is None else left_out.left_out(part)
            if suffix != CERTIFICATE:
                entry[suffix.split(".")[1]] = path_of[part]
        if case.truth is not None:
            entry |= case.truth.entry()
            if case.truth.breaks is not None:
                files[case.name + BREAKS] = case.truth.breaks
                entry["breaks"] = case.name + BREAKS
        if case.witness is not None:
            files[case.name + WITNESS] = case.witness
            entry["witness"] = case.name + WITNESS
        if case.deployment is not None:
            entry["deployment"] = asdict(case.deployment)
        if inserted:
            entry["inserted"] = {name: asdict(each) for name, each in inserted.items()}
        manifest[case.name] = entry
    files[MANIFEST] = (json.dumps(manifest, indent=1) + "\n").encode()
    return files
