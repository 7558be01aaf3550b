"""What a reader of a page reads: its statements, from its text alone, as the certificate that they say."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from playwright.sync_api import Page
from support.told import PROTOTYPES, named

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?"
_BOUNDS = re.compile(
    rf"at most (?P<most>{_NUMBER})|at least (?P<least>{_NUMBER})|from (?P<low>{_NUMBER}) to (?P<high>{_NUMBER})"
)
_LIST = rf"({PROTOTYPES})"
_PATCH = re.compile(
    r"(?:patch (\d+)[^:,]*(?:\(row \d+, column \d+\))?, )?prototype (\d+): [a-z ]+? (?=at |from )", re.I
)
_SUM = re.compile(rf"all prototypes of other classes together take back at most ({_NUMBER}) points for any other class")
_LIMITED = re.compile(rf"active (above|below) ({_NUMBER})")

_BEGINS = r"(?=prototypes? \d|no |none |only |all prototypes of other|the image)"
_BETWEEN = re.compile(rf"; and |; | whenever |, and |, {_BEGINS}| and {_BEGINS}")
"""What stands between the parts of a sentence."""
_OF_ONE = re.compile(r"(?:the image's [a-z ]+ (?:to|with) )?prototype (\d+) (is active )?(?:is )?(?=at |from )")

Key = tuple[str | int, ...]
Said = dict[Key, dict[str, Any]]
"""Statements as certificates spell them, by what they are about."""


def certificate_read(data: bytes, said: Mapping[Key, dict[str, Any]], margins: Mapping[int, str]) -> bytes:
    """A certificate with the statements and the margins that were read in the places of its own."""
    record = json.loads(data)
    predicate = record["predicate"]
    own = [_key(statement) for statement in predicate["statements"]]
    assert set(own) == {*said} and len(own) == len(said), "other statements are read than there are"
    predicate["statements"] = [said[key] for key in own]
    predicate["margins"] = [
        None if margin is None else _outward(margins[rival], up=False).hex()
        for rival, margin in enumerate(predicate["margins"])
    ]
    return json.dumps(record).replace("0x0.0p+0", "0x0p+0").encode()


def read_table(tab: Page, count: int) -> Said:
    """The statements of the table at the page's end."""
    tab.evaluate("document.querySelectorAll('#detail details').forEach((one) => { one.open = true; })")
    lines = []
    for group in tab.locator(".group").all():
        patch = re.match(r"patch (\d+)", group.locator("h4").inner_text(), re.I)
        for row in group.locator("tbody tr").all():
            where = None if patch is None else int(patch[1])
            clause = row.get_attribute("class") == "clause"
            lines.append((where, clause, row.locator("th").inner_text(), row.locator("td").last.inner_text()))
    said: Said = {}
    for where, clause, name, bounds in lines:
        if not clause:
            (number,) = re.findall(r"^prototype (\d+)", name)
            _add(said, _single(where, int(number), *read_bounds(bounds)))
    for _, clause, name, bounds in lines:
        if name == "points that all prototypes of other classes give any other class":
            low, high = read_bounds(bounds)
            assert low is None and high is not None
            _add(said, _total(high))
        elif clause:
            _add(said, _clause(_exempt(name, count), *read_bounds(bounds)))
    return said


def stated_activations(said: Said) -> set[int]:
    """The prototypes whose activations have statements of their own."""
    return {int(number) for kind, *rest in said if kind == "activation" for number in rest}


def read_cards(tab: Page, count: int) -> Said:
    """The statements of the cards, which need not be all."""
    tab.evaluate("document.querySelectorAll('#detail details').forEach((one) => { one.open = true; })")
    said: Said = {}
    for card in tab.locator(".prototypes > li").all():
        clause = "clause" in (card.get_attribute("class") or "").split()
        for text in card.locator(".says").all_inner_texts():
            if match := _SUM.fullmatch(text):
                _add(said, _total(match[1]))
            elif clause:
                subject = text if not card.locator(".full").count() else card.locator(".full").inner_text()
                _add(said, _clause(_exempt(subject, count), *read_bounds(text)))
            elif match := _PATCH.search(text):
                _add(said, _single(int(match[1] or 0), int(match[2]), *read_bounds(text[match.end() :])))
            else:
                (number,) = re.findall(r"^prototype (\d+) is active", text)
                _add(said, _single(None, int(number), *read_bounds(text)))
    return said


def read_words(text: str, count: int, stated: set[int]) -> Said:
    """The statements that a sentence tells with their numbers; what it tells otherwise stands on the cards."""
    said: Said = {}
    others = set(stated)
    for part in _BETWEEN.split(text):
        part = part.strip(" .")
        one = _OF_ONE.match(part)
        if total := _SUM.fullmatch(part):
            _add(said, _total(total[1]))
        elif one and (not one[2] or int(one[1]) in stated):
            _add(said, _single(None if one[2] else 0, int(one[1]), *read_bounds(part)))
        elif re.search(r"as stated|\d+ (of the \d+ )?prototypes (\(listed below\) )?(are|may)", part):
            continue
        elif match := re.match(rf"{_LIST} (?:is|are) active ", part):
            others |= (meant := {*named(match[1])})
            _add(said, _clause({*range(count)} - meant, *read_bounds(part)))
        elif match := _LIMITED.search(part):
            ends = (match[2], None) if match[1] == "below" else (None, match[2])
            _add(said, _clause(_other(part, count, others), *ends))
    return said


def _other(part: str, count: int, others: set[int]) -> set[int]:
    """The prototypes that a clause such as "no other prototype is active above 1" exempts."""
    if match := re.match(rf"no prototype except {_LIST} is", part):
        return {*named(match[1])}
    if match := re.match(r"none of the other (\d+) prototypes|no other prototype", part):
        assert match[1] is None or int(match[1]) == count - len(others)
        return others
    assert part.startswith("no prototype is"), part
    return set()


def read_margins(tab: Page, names: list[str]) -> dict[int, str]:
    """The proved leads, by rival."""
    rows = tab.locator("section[aria-labelledby=margins] tbody tr").all()
    return {
        names.index(row.locator("th").inner_text().split("\n")[0]): row.locator("td").nth(1).inner_text()
        for row in rows
    }


def read_bounds(text: str) -> tuple[str | None, str | None]:
    """The ends that a text tells, as decimals."""
    (match,) = _BOUNDS.finditer(text)
    return match["least"] or match["low"], match["most"] or match["high"]


def _exempt(subject: str, count: int) -> set[int]:
    if match := re.match(rf"every prototype except {_LIST}", subject):
        return {*named(match[1])}
    if subject.startswith("every prototype"):
        return set()
    if subject.startswith("no prototype"):
        return {*range(count)}
    match = re.match(_LIST, subject)
    assert match, subject
    return {*range(count)} - {*named(match[1])}


def _single(patch: int | None, prototype: int, low: str | None, high: str | None) -> dict[str, Any]:
    about = {"prototype": prototype} if patch is None else {"patch": patch, "prototype": prototype}
    return about | {"interval": [_hex(low, up=False), _hex(high, up=True)]}


def _clause(exempt: set[int], low: str | None, high: str | None) -> dict[str, Any]:
    end = {"upper": _hex(high, up=True)} if low is None else {"lower": _hex(low, up=False)}
    return {"except": sorted(exempt)} | end


def _total(most: str) -> dict[str, Any]:
    return {"rivals": None, "upper": _hex(most, up=True)}


def _key(statement: Mapping[str, Any]) -> Key:
    if "rivals" in statement:
        return ("sum", *(statement["rivals"] or ()))
    if "except" in statement:
        return ("upper",) if "upper" in statement else ("lower",)
    return (statement.get("patch", "activation"), statement["prototype"])


def _add(said: Said, statement: dict[str, Any]) -> None:
    key = _key(statement)
    assert key not in said, f"{key} is told twice"
    said[key] = statement


def _hex(decimal: str | None, up: bool) -> str | None:
    return None if decimal is None else _outward(decimal, up).hex()


def _outward(decimal: str, up: bool) -> float:
    """The nearest float that is not on the inner side of a decimal."""
    exact, value = Fraction(decimal), float(Fraction(decimal))
    if up and Fraction(value) < exact:
        return math.nextafter(value, math.inf)
    if not up and Fraction(value) > exact:
        return math.nextafter(value, -math.inf)
    return value
