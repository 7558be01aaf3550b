"""`python -m verale.soundness.checker_mutants.run` prints which attack detects each fault, and the score."""

from __future__ import annotations

import sys

from verale.soundness.checker_mutants.attacks import detections
from verale.soundness.checker_mutants.faults import FAULTS, SURVIVORS


def main() -> int:
    detected = {str(fault): attack for fault, attack in detections(FAULTS)}
    for name, attack in detected.items():
        print(f"{name}\n    {attack or 'SURVIVES: ' + SURVIVORS.get(name, 'not listed')}")
    print(f"{len(detected)} faults, {sum(map(bool, detected.values()))} detected")
    print(f"of {len(SURVIVORS)} listed survivors {sum(not detected[name] for name in SURVIVORS)} survive")
    return 1 if any(attack is None and name not in SURVIVORS for name, attack in detected.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
