"""The attacks of `checker_mutants` find nothing wrong with the checker. Planted faults name the one they fall to."""

from __future__ import annotations

from collections.abc import Callable

import flint
import pytest
from checker_mutants.attacks.containment import ranges_contain
from checker_mutants.attacks.deployment import deployments_lose_less
from checker_mutants.attacks.limits import limits_end_proofs
from checker_mutants.attacks.within import ranges_lie_within
from checker_mutants.mutant import Import, injected
from support.arithmetic import PRECISION

ATTACKS: dict[str, Callable[[Import, str], str]] = {
    "limits": limits_end_proofs,
    "deployments": deployments_lose_less,
    "containment": ranges_contain,
    "within": ranges_lie_within,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_finds_nothing(name: str) -> None:
    with injected({}) as module, flint.ctx.workprec(PRECISION):
        assert ATTACKS[name](module, "arb") == ""
