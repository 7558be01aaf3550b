"""`verale doctor`: what is installed, what works, and what a missing extra would give."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from verale.cli.shared import EXIT_UNUSABLE

if TYPE_CHECKING:
    from verale.runs.doctor import Diagnosis, Package

__all__ = ["command"]


@click.command(name="doctor", short_help="Say what is installed, usable and missing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines for people.")
def command(as_json: bool) -> None:
    """Say which versions are installed, which devices are usable, and what a missing extra would give.

    Computes something on each device, and audits a packaged certificate with both kernels of the checker.

    Exit code: 0 certificates can be audited, whatever else is missing; 9 they cannot; 2 unknown option.
    """
    from verale.runs.doctor import diagnose

    diagnosis = diagnose()
    if as_json:
        click.echo(json.dumps(asdict(diagnosis) | {"works": diagnosis.works}))
    else:
        _print(diagnosis)
    sys.exit(0 if diagnosis.works else EXIT_UNUSABLE)


def _print(diagnosis: Diagnosis) -> None:
    click.echo(f"verale {diagnosis.verale} in {diagnosis.place}\npython {diagnosis.python}, {diagnosis.system}")
    click.echo("\nchecker")
    for proof in diagnosis.proofs:
        click.echo(f"  {_mark(proof.works)} kernel {proof.kernel}: {proof.detail} ({proof.seconds:.2f} s)")
    click.echo("\ndevices")
    for device in diagnosis.devices:
        click.echo(f"  {_mark(device.usable)} {device.name}: {device.detail}")
    if diagnosis.extras:
        click.echo("\nextras")
    for extra in diagnosis.extras:
        click.echo(f"  {_mark(not extra.missing)} {extra.name}{extra.gives and f': {extra.gives}'}")
        if extra.missing:
            click.echo(f"     without {', '.join(extra.missing)}; to install it: {extra.remedy}")
    packages = {package.name: package for extra in diagnosis.extras for package in extra.packages}
    packages |= {package.name: package for package in diagnosis.core}
    if packages:
        click.echo("\npackages")
    for name in sorted(packages):
        click.echo(f"  {_package(packages[name])}")
    if not diagnosis.core:
        click.echo("\nverale is not installed as a distribution, so its extras are unknown: pip install verale")
    click.echo(f"\n{'certificates can be audited' if diagnosis.works else 'certificates cannot be audited here'}")


def _package(package: Package) -> str:
    needs = f" (needs {package.needs})" if package.needs else ""
    return f"{_mark(package.version is not None)} {package.name} {package.version or 'is missing'}{needs}"


def _mark(good: bool) -> str:
    return "ok" if good else "--"
