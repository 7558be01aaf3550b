"""What a page says is what is proved: every statement is read back from the page's text, and audited."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.joint import joint_head
from support.reading import certificate_read, read_cards, read_margins, read_table, read_words, stated_activations
from support.reporting import reported
from support.small import GEOMETRIES, small_head, varied_head
from support.tabs import at

from verale.checker import Auditor, Status
from verale.head import Head

CLASSES = ("ant", "bee", "cat")
VARIED = ("inner product", "exp_distance", "quartic", "top mean", "masked", "banks", "maximum", "tree")
LIKE_ANOTHER = (
    *((name, "top_k") for name in ("inner product", "quartic", "top mean", "masked", "banks")),
    *(("scaled", paradigm) for paradigm in ("top_k", "mixed", "readable")),
    *(("cosine", paradigm) for paradigm in ("triangle", "mixed", "hypersphere")),
    *(("softmax", paradigm) for paradigm in ("simplex", "sparse", "top_k", "evidence")),
    *(("scaled", "projection"), ("maximum", "top_k"), ("joint", "top_k")),
)
"""Pages whose words are those of others: of another head, or another paradigm with the same statements."""
CASES = [
    *(
        (name, paradigm)
        for name in ("euclidean", "scaled")
        for paradigm in ("projection", "top_k", "mixed", "readable")
    ),
    *(("cosine", paradigm) for paradigm in ("projection", "triangle", "hypersphere", "mixed")),
    *(("softmax", paradigm) for paradigm in ("assignment", "simplex", "sparse", "top_k")),
    *((name, "top_k") for name in VARIED),
    *((name, "evidence") for name in ("euclidean", "cosine", "softmax")),
    *(("joint", paradigm) for paradigm in ("joint", "top_k")),
]


def head_of(name: str) -> Head:
    if name == "joint":
        return replace(joint_head("plain", prototypes=12), labels=CLASSES)
    return replace(small_head(name) if name in GEOMETRIES else varied_head(name), labels=CLASSES)


@pytest.mark.parametrize(
    ("name", "paradigm"), [pytest.param(*case, marks=[pytest.mark.long] * (case in LIKE_ANOTHER)) for case in CASES]
)
def test_what_is_read_is_proved(tabs, tmp_path, name, paradigm):
    head = head_of(name)
    grid = (1, 1) if name == "joint" else (2, 3)
    tab = tabs.open(reported(tmp_path, head, paradigm, names=("0.png", "1.png"), grid=grid))
    folder = tmp_path / "out"
    auditor = Auditor(head.to_bytes(), (folder / "latents.safetensors").read_bytes())
    rows = tab.locator("#table a[href^='#certificate-']").evaluate_all("of => of.map(each => +each.hash.slice(13))")
    briefs = dict(zip(rows, tab.locator("#table [data-key=why] small").all_inner_texts(), strict=True))
    told = []
    for row, path in enumerate(sorted(folder.glob("*.ale.json"))):
        sentence = at(tab, row).inner_text("#detail .lead")
        table = read_table(tab, head.size)
        own = stated_activations(table)
        margins = read_margins(tab, list(CLASSES))
        cards = read_cards(tab, head.size)
        told += [cards, *(read_words(words, head.size, own) for words in (sentence, briefs[row]))]
        for said in (table, *({**table, **words} for words in told[-3:])):
            verdict = auditor.check(certificate_read(path.read_bytes(), said, margins))
            assert verdict.status is Status.PROVED, (path.name, said, verdict.message)
            assert verdict.claims["entailment"] == verdict.claims["instance"] == "proved"
    assert any(told), "nothing of it was read"


def test_a_sentence_is_read_as_it_is_written():
    words = (
        "The class is 0 whenever prototype 5 is active at least 0.5; prototypes 3 and 4 are active at least -1e-7; and"
        " none of the other 7 prototypes is active above 0.25."
    )
    assert read_words(words, 10, {5}) == {
        ("activation", 5): {"prototype": 5, "interval": [(0.5).hex(), None]},
        ("lower",): {"except": [0, 1, 2, 5, 6, 7, 8, 9], "lower": (-1.0000000000000001e-7).hex()},
        ("upper",): {"except": [3, 4, 5], "upper": (0.25).hex()},
    }
    words = "The class is 0 whenever no prototype except prototypes 2 and 7 is active above 0.25."
    assert read_words(words, 10, set()) == {("upper",): {"except": [2, 7], "upper": (0.25).hex()}}
