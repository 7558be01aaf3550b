"""`PYTHONPATH=tests python -m checker_mutants.run` prints which attack detects each fault without a test; the score."""

from __future__ import annotations

import sys

from checker_mutants.attacks import detections
from checker_mutants.faults import FAULTS, planted


def main() -> int:
    detected = dict(detections(fault for file in FAULTS for fault in planted(file) if not fault.test))
    for fault, attack in detected.items():
        print(f"{fault}\n    {attack or 'SURVIVES'}", flush=True)
    print(f"{len(detected)} faults, {sum(map(bool, detected.values()))} detected")
    return 0 if all(detected.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
