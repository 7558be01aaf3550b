"""Every certificate of which the checker or the second checker proves more than the other.

    PYTHONPATH=tests python -m support.second --long

The trials are those of `verale soundness --only second`, which only counts them.
"""

from __future__ import annotations

import argparse
import sys

from verale.soundness.second import SecondChecker
from verale.soundness.second.trials import TRIALS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--long", action="store_true", help="try everything")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=list(TRIALS), help="one of them")
    options = parser.parse_args()
    checker, faults = SecondChecker(), 0
    for name, trial in TRIALS.items():
        if options.only not in (None, name):
            continue
        agreement = trial(checker, options.long, options.seed)
        faults += len(agreement.wrong)
        lines = [f"{name}: {agreement}; {len(agreement.wrong)} at odds"]
        lines += [f"  {line}" for line in (*agreement.wrong, *agreement.listed)]
        sys.stdout.write("\n".join(lines) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
