"""`python -m verale.checker CERT... --head H [--latents Z] [--kernel arb|mpmath|both] [--minimality]`

One verdict line for each certificate on stdout, everything else on stderr. The exit code is that of the most severe
verdict:
0 proved, 3 bounds, 4 refuted, 5 malformed, 6 subject, 7 instance, 8 minimality, 9 a file that cannot be used, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from time import perf_counter

from .auditor import Auditor
from .errors import CheckerError, HeadError, LatentsError
from .kernel import KERNELS
from .verdict import EXIT_UNUSABLE, most_severe

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check certificates; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m verale.checker", description="Prove verale certificates again.")
    parser.add_argument("certificates", nargs="+", metavar="CERT", help="certificate files")
    parser.add_argument("--head", required=True, metavar="H", help="the head file")
    parser.add_argument("--latents", metavar="Z", help="the latents file; without it no instance is checked")
    parser.add_argument("--kernel", choices=[*KERNELS, "both"], default="arb", help="the arithmetic (default: arb)")
    parser.add_argument("--minimality", action="store_true", help="prove minimality too, where it is claimed")
    parser.add_argument("--json", action="store_true", help="one JSON object a certificate instead of a line")
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # any file name can be printed
    try:
        latents = None if options.latents is None else _read(options.latents)
        auditor = Auditor(_read(options.head), latents, options.kernel)
    except HeadError as error:
        return _unusable(f"{options.head}: {error}")
    except LatentsError as error:
        return _unusable(f"{options.latents}: {error}")
    except (CheckerError, OSError) as error:
        return _unusable(str(error))
    codes = []
    for path in options.certificates:
        try:
            data = _read(path)
        except OSError as error:
            codes.append(_unusable(str(error)))
            continue
        start = perf_counter()
        verdict = auditor.check(data, options.minimality)
        record = {"certificate": path, "seconds": perf_counter() - start, **verdict.record()}
        print(json.dumps(record) if options.json else verdict.line(path), flush=True)
        codes.append(verdict.exit_code)
    return most_severe(codes)


def _unusable(problem: str) -> int:
    print(f"error: {problem}", file=sys.stderr)
    return EXIT_UNUSABLE


def _read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


if __name__ == "__main__":  # pragma: no cover (run as a process of its own by the tests)
    sys.exit(main())
