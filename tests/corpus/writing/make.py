"""Write the corpora again: `PYTHONPATH=tests python -m corpus.writing.make` from the root of the repository.

Every draw has a seed, so the same bytes come out; `test_corpora.py` checks it. Latents that break rejected cases are
stored in `breaking.json`; where accepted cases have changed, `python -m corpus.writing.breaking --new` finds others.
"""

from __future__ import annotations

import shutil

from corpus.writing.accept import accepted
from corpus.writing.deployments import deployment_cases
from corpus.writing.large import large_cases
from corpus.writing.least import least_files
from corpus.writing.limits import limit_cases
from corpus.writing.malformed import malformed
from corpus.writing.pictured import picture_files
from corpus.writing.reject import rejected
from corpus.writing.storing import files_of
from corpus.writing.witnesses import witness_cases

from verale.soundness.corpus.cases import Case
from verale.soundness.paths import CERTIFICATES

FOLDERS = ("accept", "reject", "malformed", "witness", "deployment", "sizes", "least", "picture")


def every_case(again: bool = True) -> list[Case]:
    """All cases, in the order of the manifest."""
    cases = accepted()
    attacks = [*rejected(cases), *malformed(cases), *witness_cases()]
    return [*cases, *attacks, *deployment_cases(), *limit_cases(), *large_cases(again)]


def main() -> None:
    written = (
        files_of(every_case()) | least_files() | picture_files()
    )  # first: where a recipe fails, the files stay as they are
    for name in FOLDERS:
        shutil.rmtree(CERTIFICATES / name, ignore_errors=True)
    for path, data in written.items():
        (CERTIFICATES / path).parent.mkdir(exist_ok=True)
        (CERTIFICATES / path).write_bytes(data)


if __name__ == "__main__":
    main()
