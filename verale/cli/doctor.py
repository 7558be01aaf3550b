"""`verale doctor`: what is installed, what works, and what a missing extra would give."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import Exit, exits, print_record

if TYPE_CHECKING:
    from verale.runs.doctor import Diagnosis


@click.command(name="doctor", short_help="Say what is installed, usable and missing.")
@options.in_json("one object")
@exits(done="certificates can be audited, whatever else is missing; 9 they cannot")
def command(as_json: bool) -> None:
    """Say which versions are installed, which devices are usable, and what a missing extra would give.

    Examines the arithmetic of each device, and audits a packaged certificate with each kernel of the checker.
    """
    from verale.runs.doctor import diagnose

    diagnosis = diagnose()
    if as_json:
        print_record("doctor", asdict(diagnosis) | {"works": diagnosis.works})
    else:
        for line in _lines(diagnosis):
            print_line(line)
    sys.exit(0 if diagnosis.works else Exit.UNUSABLE)


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    yield "certificates can be audited" if diagnosis.works else "certificates cannot be audited here"
    yield f"verale {diagnosis.verale} in {diagnosis.place}"
    yield f"python {diagnosis.python}, {diagnosis.system}"
    yield from ("", "checker")
    for proof in diagnosis.proofs:
        yield f"  {_mark(proof.works)} kernel {proof.kernel}: {proof.detail} ({proof.seconds:.2f} s)"
    yield from ("", "devices")
    for device in diagnosis.devices:
        yield f"  {_mark(device.usable)} {device.name}: {device.detail}"
    if diagnosis.extras:
        yield from ("", "extras")
    for extra in diagnosis.extras:
        yield f"  {_mark(not extra.missing)} {extra.name}{extra.gives and f': {extra.gives}'}"
        if extra.missing:
            yield f"     without {', '.join(extra.missing)}; to install it: {extra.remedy}"
    if diagnosis.core:
        yield from ("", "packages of the core")
    for package in diagnosis.core:
        needs = f" (needs {package.needs})" if package.needs else ""
        yield f"  {_mark(package.version is not None)} {package.name} {package.version or 'is missing'}{needs}"
    if not diagnosis.core:
        yield from ("", "verale is not installed as a distribution, so its extras are unknown")


def _mark(good: bool) -> str:
    return "ok" if good else "--"
