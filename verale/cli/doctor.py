"""`verale doctor`: what is installed, what works, and what a missing extra would give."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from verale.checker.file_auditor import print_line
from verale.cli import options
from verale.cli.terminal import Exit, exits, print_record

if TYPE_CHECKING:
    from verale.runs.doctor import Diagnosis, Package


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
        _print(diagnosis)
    sys.exit(0 if diagnosis.works else Exit.UNUSABLE)


def _print(diagnosis: Diagnosis) -> None:
    print_line("certificates can be audited" if diagnosis.works else "certificates cannot be audited here")
    print_line(f"verale {diagnosis.verale} in {diagnosis.place}")
    print_line(f"python {diagnosis.python}, {diagnosis.system}")
    _heading("checker")
    for proof in diagnosis.proofs:
        print_line(f"  {_mark(proof.works)} kernel {proof.kernel}: {proof.detail} ({proof.seconds:.2f} s)")
    _heading("devices")
    for device in diagnosis.devices:
        print_line(f"  {_mark(device.usable)} {device.name}: {device.detail}")
    if diagnosis.extras:
        _heading("extras")
    for extra in diagnosis.extras:
        print_line(f"  {_mark(not extra.missing)} {extra.name}{extra.gives and f': {extra.gives}'}")
        if extra.missing:
            print_line(f"     without {', '.join(extra.missing)}; to install it: {extra.remedy}")
    if diagnosis.core:
        _heading("packages of the core")
    for package in diagnosis.core:
        print_line(f"  {_package(package)}")
    if not diagnosis.core:
        _heading("verale is not installed as a distribution, so its extras are unknown")


def _heading(line: str) -> None:
    """Print a line after an empty one."""
    print_line("")
    print_line(line)


def _package(package: Package) -> str:
    needs = f" (needs {package.needs})" if package.needs else ""
    return f"{_mark(package.version is not None)} {package.name} {package.version or 'is missing'}{needs}"


def _mark(good: bool) -> str:
    return "ok" if good else "--"
