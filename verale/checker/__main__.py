"""`python -P -m verale.checker CERT... --head H [--latents Z] [--network N --pictures P]
[--kernel arb|mpmath|both|proved|all] [--minimality] [--entailment-only]`

One verdict line for each certificate on stdout, everything else on stderr. The exit code is that of the most severe
verdict:
0 proved, 3 bounds, 4 refuted, 5 malformed, 6 subject, 7 instance or picture, 8 minimality, 9 a file that cannot be
used, 12 limit, 14 no instance claimed, 15 not covered by the proof, 2 usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import NoReturn

from .errors import CheckerError, KernelError, OptionError
from .file_auditor import FileAuditor, print_outcome
from .options import AuditOptions
from .verdict import EXIT_UNUSABLE, most_severe, print_line, printable, standard_streams

EXIT_INTERRUPTED = 130
"""Ctrl-C: some certificates are not checked."""


class _Parser(argparse.ArgumentParser):
    """Quotes unknown arguments on one line."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def main(arguments: Sequence[str] | None = None) -> int:
    """Check certificates; return the exit code."""
    parser = _Parser(prog="python -P -m verale.checker", description="Prove verale certificates again.")
    parser.add_argument("certificates", nargs="+", metavar="CERT", help="certificate files")
    parser.add_argument("--head", required=True, metavar="H", help="the head file")
    parser.add_argument("--latents", metavar="Z", help="the latents file; without it no instance is checked")
    parser.add_argument("--network", metavar="N", help="the network file; without it no picture is checked")
    parser.add_argument("--pictures", metavar="P", help="its pictures: a tensor file, a PNG file or a folder of these")
    for option in fields(AuditOptions):
        about, name = option.metadata, f"--{option.name.replace('_', '-')}"
        if isinstance(option.default, bool):
            parser.add_argument(name, action="store_true", help=about["help"])
            continue
        default = "" if option.default is None else f" (default: {option.default})"
        settings = {key: about[key] for key in ("metavar", "choices", "type") if key in about}
        parser.add_argument(name, help=about["help"] + default, **settings)
        if "ulps" in about:
            parser.add_argument("--ulps", metavar="NAME=ULPS,...", help=about["ulps"])
    parser.add_argument("--json", action="store_true", help="one JSON object a certificate instead of a line")
    options = parser.parse_args(arguments)
    given = {name: getattr(options, name) for name in (*(option.name for option in fields(AuditOptions)), "ulps")}
    if (options.network is None) != (options.pictures is None):
        parser.error("--network and --pictures belong together: give both, or neither")
    try:
        audit = AuditOptions.of(None, given)
    except (KernelError, OptionError) as error:
        parser.error(f"--{error}")
    if audit.in_vain is not None:
        parser.error(f"--{audit.in_vain}")
    try:
        auditor = FileAuditor(options.head, options.latents, audit, options.network, options.pictures)
    except (CheckerError, OSError) as error:
        print_line(f"error: {error}", sys.stderr)
        return EXIT_UNUSABLE
    codes: list[int] = []
    try:
        for path in options.certificates:
            outcome = auditor.audit(path)
            codes.append(outcome.exit_code)
            print_outcome(outcome, options.json)
    except KeyboardInterrupt:
        print_line(f"interrupted: {len(codes)} of {len(options.certificates)} certificates are checked", sys.stderr)
        return EXIT_INTERRUPTED
    return most_severe(codes)


if __name__ == "__main__":  # pragma: no cover (run as a process of its own by the tests)
    with standard_streams():
        sys.exit(main())
