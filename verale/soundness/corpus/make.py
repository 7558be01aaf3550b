"""Write the corpora again: `python -m verale.soundness.corpus.make` from the root of the repository.

Every draw has a seed, so the same bytes come out; `test_corpora.py` checks it. Latents that break rejected cases are
stored in `breaking.json`; where accepted cases have changed, `python -m verale.soundness.corpus.breaking` finds others.
"""

from __future__ import annotations

import shutil

from verale.soundness.corpus.accept import accepted
from verale.soundness.corpus.cases import Case, files_of
from verale.soundness.corpus.deployments import deployment_cases
from verale.soundness.corpus.large import large_cases
from verale.soundness.corpus.least import least_files
from verale.soundness.corpus.limits import limit_cases
from verale.soundness.corpus.malformed import malformed
from verale.soundness.corpus.reject import rejected
from verale.soundness.corpus.witnesses import witness_cases
from verale.soundness.paths import CERTIFICATES

FOLDERS = ("accept", "reject", "malformed", "witness", "deployment", "sizes", "least")


def every_case() -> list[Case]:
    """All cases, in the order of the manifest."""
    cases = accepted()
    attacks = [*rejected(cases), *malformed(cases), *witness_cases()]
    return [*cases, *attacks, *deployment_cases(), *limit_cases(), *large_cases()]


def main() -> None:
    written = files_of(every_case()) | least_files()  # first: where a recipe fails, the files stay as they are
    for name in FOLDERS:
        shutil.rmtree(CERTIFICATES / name, ignore_errors=True)
    for path, data in written.items():
        (CERTIFICATES / path).parent.mkdir(exist_ok=True)
        (CERTIFICATES / path).write_bytes(data)


if __name__ == "__main__":
    main()
