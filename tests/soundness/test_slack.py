"""The attack refutes rules that prove half a per cent too much, and no true certificate."""

from __future__ import annotations

import ast
import json
from functools import cache
from itertools import islice
from math import isnan
from pathlib import Path

import flint
import pytest
from attacks import slack, targets
from attacks.slack import attack
from attacks.tight import tight
from checker_mutants.mutant import CHECKER, injected
from support import arithmetic, claims, exact, files, tensors
from support.arithmetic import PRECISION
from support.syntax import edited

from verale.paradigms import PARADIGMS
from verale.soundness.combinations import combinations

QUICK = {
    "euclidean exp_distance max soft_tree": {"projection", "top_k"},
    "euclidean log_ratio banks maximum": {"triangle", "hypersphere"},
    "softmax identity masked_max linear": {*PARADIGMS} - {"top_k"},
}
"""Every readout, and every paradigm that has tight certificates."""

CUTS = {
    # Every range of an activation, by half a per cent at either end.
    "activations": (
        "reading/margin.py",
        "unit = 1 << weight.bits + box.bits",
        """
        cuts = [(high - low) // 200 for low, high in zip(box.lower, box.upper)]
        lower = [low + cut for low, cut in zip(box.lower, cuts)]
        box = Box(lower, [high - cut for high, cut in zip(box.upper, cuts)], box.bits)
        unit = 1 << weight.bits + box.bits
        """,
    ),
    # What prices leave to a rival, by half a per cent.
    "prices": (
        "reading/masses.py",
        "total += count * max(0, max(excess, default=0))",
        "total += count * max(0, max(excess, default=0))\ntotal = total * 199 // 200",
    ),
}
"""Rules of the checker that prove a little too much: the file, a statement of it, and what takes its place."""


@cache
def with_cut(cut):
    """The changed file."""
    file, statement, others = CUTS[cut]
    return {file: edited((CHECKER / file).read_text(encoding="utf-8"), statement, others)}


def attempts_on(target):
    """What the attack finds, which must refute nothing."""
    found = attack(target.certificate, target.head, target.latents)
    with flint.ctx.workprec(PRECISION):
        assert not any(attempt.refutes() for attempt in found), target.name
    return found


def bites(target):
    """The cuts after which what a checker proves of the same statements is refuted."""
    found, document = attempts_on(target), json.loads(target.certificate)
    bitten = set()
    for cut in CUTS:
        with flint.ctx.workprec(PRECISION), injected(with_cut(cut)) as load:
            margins = targets.verdict_of(document, load("").Auditor(target.head, target.latents, "arb")).margins
            if margins and any(attempt.refutes(margins[attempt.rival]) for attempt in found):
                bitten.add(cut)
    return bitten


def is_blunt(found):
    """Whether no attempt came near its margin. Where the image is near it already, some may be further off."""
    with flint.ctx.workprec(PRECISION):
        return not any(isnan(attempt.slack) or attempt.slack < 1 / 100 for attempt in found)


def attacked_combinations():
    """Every combination that a short run has, and half of the others, with their paradigms."""
    for n, each in enumerate(targets.some(99)):
        quick = QUICK.get(str(each), set())
        if quick:
            yield pytest.param(each, quick, id=f"{each}, quick")
        if n % 4 in (1, 2) and quick != {*PARADIGMS}:
            yield pytest.param(each, {*PARADIGMS} - quick, id=str(each), marks=pytest.mark.long)


@pytest.mark.parametrize(("combination", "paradigms"), list(attacked_combinations()))
def test_tight_certificates_are_refuted_after_a_cut_and_not_before(combination, paradigms):
    found = [each for each in targets.of_tight_heads(combination) if each.paradigm in paradigms]
    assert found and [each.name for each in found if not bites(each)] == []


def test_every_paradigm_pooling_and_readout_has_tight_certificates():
    expected = {
        (name, each.pooling, each.readout)
        for each in combinations()
        for name, paradigm in PARADIGMS.items()
        if each.geometry in paradigm.geometries
        and not paradigm.one_patch
        and (name not in ("assignment", "mixed") or each.pooling == "max")
        and (name not in ("mixed", "evidence") or each.readout == "linear")
    }
    found = {(target.paradigm, each.pooling, each.readout) for each in targets.some(99) for target in tight(each)}
    assert found == expected


def test_prices_have_teeth():
    """The tight certificates of `assignment` are proved by prices alone, so that no other cut can refute them."""
    softmax = next(each for each in combinations() if str(each) == "softmax identity max linear")
    found = [each for each in targets.of_tight_heads(softmax) if each.paradigm == "assignment"]
    assert [bites(each) for each in found] == [{"prices"}]


def handmade(margin):
    """In the plane m_0 = |z|^2 = 1 is stated and p_1 = (2, 0), so m_1 is at least 1. The logits are 2 - m_0 = 1 and
    -m_1 <= -1, so the least difference is 2, but for the width of the interval."""
    head = files.head(
        [[1.0, 0.0], [0.0, 1.0]],
        [[0.0, 0.0], [2.0, 0.0]],
        [2.0, 0.0],
        similarity={"kind": "negated"},
        domain=files.domain(-8.0, 8.0),
    )
    image = [[0.0, 1.0]]
    statement = files.patch_statement(0, 0, 1.0 - 2.0**-40, 1.0 + 2.0**-40)
    latents = files.latents([image])
    return files.certificate(head, [statement], margins=[None, margin], image=image), head, latents


def test_the_exact_margin_is_attained_and_not_refuted():
    (attempt,) = attack(*handmade(2.0 - 2.0**-30))
    with flint.ctx.workprec(PRECISION):
        assert not attempt.refutes()
        assert 0 <= attempt.slack < 1e-6


def test_a_margin_half_a_per_cent_too_great_is_refuted():
    """At the image the difference is 6, so half a per cent of what lies between is 0.02."""
    (attempt,) = attack(*handmade(2.02))
    with flint.ctx.workprec(PRECISION):
        assert attempt.refutes()
        assert attempt.slack < 0


def test_the_attack_shares_only_heads_with_search_and_checker():
    shared = ("verale.head", "verale.certificate", "support.files")
    for module in (slack, claims, exact, tensors, arithmetic):
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert all(name.startswith(shared) or name == "verale.soundness" for name in names if "verale" in name), (
                module
            )


@pytest.mark.parametrize(("heads", "one_in"), [(28, 5), pytest.param(10, 1, marks=pytest.mark.long)])
def test_certificates_of_random_heads_withstand_it(heads, one_in):
    """Emitted, and drawn at random; of most tight ones it comes near."""
    found = [*islice(targets.of_heads(targets.some(99)[::heads]), 0, None, one_in)]
    assert {each.kind for each in found} == {"emitted", "random", "tight"}
    blunt = [each.kind for each in found if is_blunt(attempts_on(each))].count("tight")
    assert blunt < [each.kind for each in found].count("tight") / 4
