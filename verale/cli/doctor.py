"""`verale doctor`: what is installed, what works, and what a missing extra would give."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli.shared import EXIT_UNUSABLE
from verale.errors import UsageError, first_line

if TYPE_CHECKING:
    from verale.runs.doctor import Diagnosis, Package

__all__ = ["command"]


@click.command(name="doctor", short_help="Say what is installed, usable and missing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, not lines for people.")
@click.option("--warm", is_flag=True, help="Compile beforehand, and keep, what explanations need.")
def command(as_json: bool, warm: bool) -> None:
    """Say which versions are installed, which devices are usable, and what a missing extra would give.

    Computes something on each device, and audits a packaged certificate with each kernel of the checker. With --warm,
    everything that the search compiles is compiled first; otherwise the first explanation waits for it.

    Exit code: 0 certificates can be audited, whatever else is missing; 9 they cannot; 2 unknown option.
    """
    from verale.runs.doctor import diagnose

    if warm:
        _warm(as_json)
    diagnosis = diagnose()
    if as_json:
        print_line(json.dumps(asdict(diagnosis) | {"works": diagnosis.works}))
    else:
        _print(diagnosis)
    sys.exit(0 if diagnosis.works else EXIT_UNUSABLE)


def _warm(as_json: bool) -> None:
    """Compile all that explanations need, and say how long it took. Raises UsageError without the extra `explain`."""
    try:
        from verale.runs.warm import warm
    except ImportError as error:
        raise UsageError(f"nothing can be compiled: {first_line(error)}; pip install 'verale[explain]'") from error
    for name, seconds in warm():
        if not as_json:
            print_line(f"compiled for {name} ({seconds:.1f} s)")


def _print(diagnosis: Diagnosis) -> None:
    print_line(f"verale {diagnosis.verale} in {diagnosis.place}")
    print_line(f"python {diagnosis.python}, {diagnosis.system}")
    _heading("checker")
    for proof in diagnosis.proofs:
        print_line(f"  {_mark(proof.works)} kernel {proof.kernel}: {proof.detail} ({proof.seconds:.2f} s)")
    _heading("devices")
    for device in diagnosis.devices:
        print_line(f"  {_mark(device.usable)} {device.name}: {device.detail}")
    if diagnosis.compiled is not None:
        _heading("machine code of the search")
        print_line(f"  {_mark(diagnosis.compiled.warm)} {diagnosis.compiled.place}")
        if not diagnosis.compiled.warm:
            print_line("     the first explanation compiles what it needs; to do it beforehand: verale doctor --warm")
    if diagnosis.extras:
        _heading("extras")
    for extra in diagnosis.extras:
        print_line(f"  {_mark(not extra.missing)} {extra.name}{extra.gives and f': {extra.gives}'}")
        if extra.missing:
            print_line(f"     without {', '.join(extra.missing)}; to install it: {extra.remedy}")
    packages = {package.name: package for extra in diagnosis.extras for package in extra.packages}
    packages |= {package.name: package for package in diagnosis.core}
    if packages:
        _heading("packages")
    for name in sorted(packages):
        print_line(f"  {_package(packages[name])}")
    if not diagnosis.core:
        _heading("verale is not installed as a distribution, so its extras are unknown: pip install verale")
    _heading("certificates can be audited" if diagnosis.works else "certificates cannot be audited here")


def _heading(line: str) -> None:
    """Print a line after an empty one."""
    print_line("")
    print_line(line)


def _package(package: Package) -> str:
    needs = f" (needs {package.needs})" if package.needs else ""
    return f"{_mark(package.version is not None)} {package.name} {package.version or 'is missing'}{needs}"


def _mark(good: bool) -> str:
    return "ok" if good else "--"
