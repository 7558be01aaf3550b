"""The attack refutes rules that prove half a per cent too much, and no true certificate."""

from __future__ import annotations

import ast
from itertools import islice
from pathlib import Path

import flint
import pytest
from attacks import floats, slack, targets
from attacks.attacked import attacked
from attacks.attacked import targets as targets_of
from attacks.slack import attack
from attacks.tight import tight
from checker_mutants import teeth
from support import arithmetic, claims, exact, files, tensors
from support.arithmetic import PRECISION

from verale.checker import Auditor, Status
from verale.paradigms import PARADIGMS
from verale.soundness.combinations import COMBINATIONS
from verale.soundness.corpus.cases import accepted

QUICK = {
    "euclidean exp_distance max soft_tree": {"projection", "top_k"},
    "euclidean log_ratio banks maximum": {"triangle", "hypersphere"},
    "softmax identity masked_max linear": {*PARADIGMS},
}
"""Every readout, and every paradigm that has tight certificates."""


def attacked_combinations():
    """Every combination and its paradigms; those of a short run apart."""
    for each in targets.some(99):
        quick = QUICK.get(str(each), set())
        if quick:
            yield pytest.param(each, quick, id=f"{each}, quick")
        if quick != {*PARADIGMS}:
            yield pytest.param(each, {*PARADIGMS} - quick, id=str(each), marks=pytest.mark.long)


@pytest.mark.parametrize(("combination", "paradigms"), list(attacked_combinations()))
def test_tight_certificates_are_refuted_after_a_cut_and_not_before(combination, paradigms):
    found = [each for each in targets.of_tight_heads(combination, 0, brief=True) if each.key[0] in paradigms]
    tally = teeth.bitten(found)
    assert tally.tried.total() == len(found) > 0
    assert tally.wrong == []
    assert tally.toothless == []


def test_every_paradigm_pooling_and_readout_has_tight_certificates():
    expected = {
        (name, each.pooling, each.readout)
        for each in COMBINATIONS
        for name, paradigm in PARADIGMS.items()
        if each.geometry in paradigm.geometries
        and not paradigm.one_patch
        and (name not in ("assignment", "mixed") or each.pooling == "max")
        and (name not in ("mixed", "evidence") or each.readout == "linear")
    }
    found = {
        (target.paradigm, each.pooling, each.readout)
        for each in targets.some(99)
        for target in tight(each, 0, brief=True)
    }
    assert found == expected


def test_prices_have_teeth():
    """The tight certificates of `assignment` are proved by prices alone, so that no other cut can refute them."""
    softmax = next(each for each in COMBINATIONS if str(each) == "softmax identity max linear")
    found = [each for each in targets.of_tight_heads(softmax, 0) if each.key[0] == "assignment"]
    tally = teeth.bitten(each for each in found if each.kind == "tight")
    assert {cut: tally.bitten["assignment", "max", "linear", "tight", cut] for cut in teeth.CUTS} == {
        "activations": 0,
        "prices": 2,
    }


@pytest.mark.long
def test_mutants_of_the_corpora_that_stay_proved_are_attacked(monkeypatch):
    cases = accepted()[::8]
    monkeypatch.setattr(targets, "accepted", lambda: cases)
    found = list(targets.of_corpora(1000, 0))
    assert found
    for target in found:
        assert Auditor(target.head, target.latents).check(target.certificate).status is Status.PROVED
    tally = teeth.bitten(found)
    assert tally.tried.total() == len(found)
    assert tally.wrong == []


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
    for module in (slack, floats, claims, exact, tensors, arithmetic):
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert all(name.startswith(shared) or name == "verale.soundness" for name in names if "verale" in name), (
                module
            )


def test_a_blunt_attack_is_noticed(monkeypatch):
    """If no image were moved onto the statements, it would come near no margin, and its slack says so."""
    monkeypatch.setattr(slack._Search, "complying", lambda *_: None)
    one = next(each for each in COMBINATIONS if str(each) == "softmax identity max_minus_mean linear")
    tally = attacked(targets_of((one,), range(1), brief=True))
    assert len(tally.blunt) == 4  # one a paradigm
    assert tally.wrong == []


def test_a_false_certificate_is_noticed():
    """As if the checker had proved a margin that is too great."""
    certificate, head, latents = handmade(2.02)
    target = targets.Target(("projection", "max", "linear"), "corpus", "false", certificate, head, latents)
    assert attacked([target]).wrong == ["false: latents satisfy the statements and fall short of a margin"]


def test_certificates_of_random_heads_withstand_it():
    """Emitted, mutated and drawn at random; of most tight ones it comes near."""
    found = targets_of(targets.some(99)[::14], range(1), brief=True)
    tally = attacked(islice(found, 0, None, 5))
    assert len({kind for _, kind in tally.tried}) == 4
    assert tally.wrong == []
    tight_ones = sum(count for (_, kind), count in tally.tried.items() if kind == "tight")
    assert len(tally.blunt) < tight_ones / 4
