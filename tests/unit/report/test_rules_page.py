"""The page of a rule list: everything on it, escaped, with the prototypes' pictures, and no request."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch
from PIL import Image
from support.small import small_head

from verale.certificate import ActivationStatement
from verale.certificate.words import PROTOTYPES
from verale.errors import InputError
from verale.head import save_latents
from verale.report.static_pages import pictures_of, rules_page
from verale.runs.rules import RuleList, fit_rules


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleList:
    folder = tmp_path_factory.mktemp("rules")
    head = replace(small_head("euclidean", 1, prototypes=6), labels=("a<i>", "b<i>", "c<i>"))
    head.save(folder / "head")
    drawn = torch.Generator().manual_seed(0)
    near = torch.randint(head.size, (12,), generator=drawn)
    latents = 0.8 * head.prototypes[near][:, None] + 0.2 * torch.rand(12, 4, head.depth, generator=drawn)
    save_latents(folder / "latents", latents, [0] * 12)
    return fit_rules(str(folder / "head"), str(folder / "latents"), count=2)


def test_the_page_shows_every_rule_and_asks_nobody(rules):
    text = rules_page(rules, {}).decode()
    assert "proved 2 of 2" in text and rules.head in text
    for rule in rules.rules:
        assert rule.words[1:] in text and rule.certificate in text
    assert "a<i>" not in text and "b<i>" not in text and "c<i>" not in text
    assert "<script" not in text and "http" not in re.sub(r'http-equiv="', "", text)
    assert "default-src 'none'" in text


def test_pictures_stand_with_their_prototypes(rules, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    stated = [
        each.prototype
        for certificate in rules.certificates
        for each in certificate.statements
        if isinstance(each, ActivationStatement)
    ]
    shown = sorted(set(stated))[:2]
    for number in shown:
        Image.new("L", (4, 4), 40 * number).save(folder / f"{number:04d}.png")
    Image.new("L", (4, 4)).save(folder / "cover.png")
    pictures = pictures_of("", folder)
    assert sorted(pictures) == shown
    text = rules_page(rules, pictures).decode()
    for number in shown:
        image = f'<img src="{pictures[number]}" alt="What prototype {number} looks like">'
        assert text.count(image) == stated.count(number) > 0
    assert PROTOTYPES in text and PROTOTYPES not in rules_page(rules, {}).decode()
    assert "Class is the true one, as labelled" in text


def test_shares_are_rounded_down(rules):
    almost = replace(rules, fitted=replace(rules.fitted, images=10000, covered=9999, correct=9998))
    text = rules_page(almost, {}).decode()
    assert "9,999 (99.9 %)" in text and "9,998 (99.9 %)" in text and "1 (0.0 %)" in text


def test_a_folder_without_numbered_pictures_is_named(tmp_path):
    Image.new("L", (4, 4)).save(tmp_path / "cover.png")
    with pytest.raises(InputError, match="no picture whose name is a prototype's number"):
        pictures_of("", tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        pictures_of("", tmp_path / "none")
