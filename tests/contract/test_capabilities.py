"""Nothing that verale can do is lost: the record stands, and each paradigm explains heads of every part that it has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import safetensors.torch
from support.capabilities import Capabilities, capabilities, lost, recorded, small_draw, written

from verale.certificate import Certificate
from verale.checker import Auditor
from verale.checker.options import KERNELS, PROVED
from verale.paradigms import PARADIGMS
from verale.search.explain import explain
from verale.soundness.combinations import Combination, combinations

RENEW = "PYTHONPATH=tests python -m support.capabilities --write"


@pytest.fixture(scope="module")
def known() -> Capabilities:
    return capabilities()


def test_nothing_is_lost(known: Capabilities) -> None:
    assert lost(recorded(), known) == set(), f"if this is meant, say so in CHANGELOG.md, and {RENEW}"


def test_what_is_new_is_recorded(known: Capabilities) -> None:
    assert lost(known, recorded()) == set(), RENEW


def test_a_loss_is_noticed_and_the_order_of_lines_is_not(known: Capabilities) -> None:
    without = known | {"options of verale audit": known["options of verale audit"] - {"--limit"}}
    assert lost(known, without) == {"options of verale audit: --limit"}
    assert lost(known, {name: values for name, values in known.items() if name != "kernel arb"}) >= {
        "kernel arb: least"
    }
    assert lost(known, dict(reversed(known.items()))) == set()
    assert written(known) == written(dict(reversed(known.items())))


def heads_of(paradigm: str) -> Iterator[Combination]:
    """A few of the heads that have a paradigm, by the record, in which each of their parts occurs."""
    has = recorded()
    parts = {each: set(vars(each).values()) for each in combinations() if paradigm in has[f"head {each}"]}
    missing = set().union(*parts.values())
    while missing:
        yield (best := max(parts, key=lambda each: len(parts[each] & missing)))
        missing -= parts[best]


@pytest.mark.parametrize("paradigm", PARADIGMS)
def test_each_part_is_explained_and_proved_by_each_kernel(paradigm: str) -> None:
    """Entailment and instance by each; minimality by both readable kernels, and of some head by the proved one, too."""
    minimal, proved = set(), 0
    for combination in heads_of(paradigm):
        drawn = small_draw(combination, paradigm)
        explained = [each for each in explain(drawn.head, drawn.latents, paradigm) if isinstance(each, Certificate)]
        # Of a random head the class's own prototypes may not be enough.
        assert len(explained) == len(drawn.latents) or paradigm == "evidence", combination
        proved += len(explained)
        files = drawn.head.to_bytes(), safetensors.torch.save({"latents": drawn.latents.contiguous()})
        for kernel in (*KERNELS, PROVED):
            auditor = Auditor(*files, kernel)
            for each in explained:
                claims = auditor.check(each.to_bytes(), minimality=True).claims
                assert claims["entailment"] == claims["instance"] == "proved", (combination, kernel)
                if claims.get("minimality") == "proved":
                    minimal.add(kernel)
                else:
                    assert kernel == PROVED or "minimality" not in claims, (combination, kernel)
    assert proved
    assert minimal == ({*KERNELS, PROVED} if PARADIGMS[paradigm].minimal else set())
