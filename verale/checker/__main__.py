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
from typing import NoReturn

from .choices import CHOICES, never_proved
from .deployment import FORMULAS, parse_deployment
from .errors import CheckerError
from .file_auditor import FileAuditor
from .limit import LIMIT, wrong_limit
from .output import print_line, print_outcome, standard_streams
from .verdict import EXIT_UNUSABLE, most_severe, printable

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
    parser.add_argument("--kernel", choices=CHOICES, help="what proves (default: proved-or-arb)")
    parser.add_argument("--minimality", action="store_true", help="prove minimality too, where it is claimed")
    parser.add_argument(
        "--entailment-only",
        action="store_true",
        help="accept certificates that name no latents, though perhaps no latents satisfy their statements",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        metavar="SECONDS",
        help="the most processor time of a proof, for each MB of head, certificate and image (default: %(default)s)",
    )
    parser.add_argument("--deployment", choices=FORMULAS, help="prove too that it holds in binary32, by this formula")
    parser.add_argument("--ulps", metavar="U", help="of its functions (default: log=4,exp=4,sqrt=1)")
    parser.add_argument("--json", action="store_true", help="one JSON object a certificate instead of a line")
    options = parser.parse_args(arguments)
    try:
        deployment = parse_deployment(options.deployment, options.ulps)
    except ValueError as error:
        parser.error(str(error))
    if (options.network is None) != (options.pictures is None):
        parser.error("--network and --pictures belong together: give both, or neither")
    wrong = wrong_limit(options.limit)
    if wrong is not None:
        parser.error(f"--{wrong}")
    refused = never_proved(options.kernel, deployment is not None)
    if refused is not None:
        parser.error(f"--{refused}")
    try:
        auditor = FileAuditor(
            *(options.head, options.latents, options.kernel, options.minimality),
            *(options.limit, options.entailment_only),
            deployment,
            *(options.network, options.pictures),
        )
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
