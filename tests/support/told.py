"""Statements read back from the words in which verale tells them: decimals rounded outward to binary64."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from verale.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    SumStatement,
)

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_RANGE = r"\d+(?:-\d+)?"
_LIST = rf"{_RANGE}(?:, {_RANGE})*(?: and {_RANGE})?"
PROTOTYPES = rf"(?:prototypes? {_LIST}|\d+ prototypes \({_LIST}\))"
_RIVALS = r"any other class|class(?:es)? \d+(?:, \d+)*(?: and \d+)?"
_SUM = rf"points that all prototypes of other classes give (?P<rivals>{_RIVALS})"
_SUBJECT = re.compile(
    rf"patch (?P<patch>\d+), prototype (?P<of>\d+)|activation of prototype (?P<active>\d+)"
    rf"|every prototype(?: except (?P<but>{PROTOTYPES}))?|(?P<named>{PROTOTYPES})|(?P<none>no prototype)"
    rf"|{_SUM}"
)
_BOUNDS = re.compile(
    rf"at least (?P<least>{_NUMBER})|at most (?P<most>{_NUMBER})"
    rf"|\[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\]|from (?P<from>{_NUMBER}) to (?P<to>{_NUMBER})"
)
_RULE = re.compile(
    rf"(?P<kind>at least |at most |from )?(?P<low>{_NUMBER})(?: to (?P<high>{_NUMBER}))? (?:of|from|with)"
    rf" (?:(?P<every>every prototype)(?: except (?P<but>{PROTOTYPES}))?"
    rf"|(?P<named>prototypes {_LIST}|\d+ prototypes \({_LIST}\))|(?:prototype )?(?P<prototype>\d+))"
)


def lower(text: str) -> float:
    """The greatest float that is at most a decimal."""
    near, exact = float(text), Fraction(Decimal(text))
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)


def upper(text: str) -> float:
    """The least float that is at least a decimal."""
    near, exact = float(text), Fraction(Decimal(text))
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def statement(subject: str, bounds: str, prototypes: int = 0) -> Statement:
    """The statement that is told in two parts: what it is about, and its bounds.

    Args:
        prototypes: how many there are, where clauses may name those that they speak of.
    """
    about, said = _SUBJECT.fullmatch(subject), _BOUNDS.fullmatch(bounds)
    assert about is not None, f"not what statements are about: {subject}"
    assert said is not None, f"not bounds: {bounds}"
    least, most = said["least"] or said["low"] or said["from"], said["most"] or said["high"] or said["to"]
    low = -math.inf if least is None else lower(least)
    high = math.inf if most is None else upper(most)
    if about["patch"]:
        return PatchStatement(int(about["patch"]), int(about["of"]), low, high)
    if about["active"]:
        return ActivationStatement(int(about["active"]), low, high)
    if about["rivals"]:
        assert most is not None and least is None, f"not a sum: {bounds}"
        return SumStatement(tuple(map(int, re.findall(r"\d+", about["rivals"]))) or None, high)
    exempt = named(about["but"])
    if about["none"]:
        exempt = tuple(range(prototypes))
    if about["named"]:
        exempt = tuple(sorted(set(range(prototypes)).difference(named(about["named"]))))
    return FloorStatement(exempt, low) if most is None else OrderStatement(exempt, high)


def of_rule(words: str, prototypes: int, patch: int = 0) -> list[Statement]:
    """The statements that the sentence of a rule tells, of a head with so many prototypes."""
    activations = words.startswith("activation ")
    statements: list[Statement] = []
    kind = ""
    words, *sums = re.split(r"(?:^|, |\b)(?=points that all prototypes of other classes)", words)
    for words_of_sum in sums:
        subject, _, bounds = words_of_sum.rpartition(" at most ")
        statements.append(statement(subject, f"at most {bounds.removesuffix(', ')}"))
    for said in _RULE.finditer(words):
        kind = said["kind"] or kind
        low = -math.inf if kind == "at most " else lower(said["low"])
        high = upper(said["high"] or said["low"]) if kind != "at least " else math.inf
        if said["prototype"] is None:
            exempt = named(said["but"])
            if said["named"]:
                exempt = tuple(sorted(set(range(prototypes)).difference(named(said["named"]))))
            statements.append(FloorStatement(exempt, low) if kind == "at least " else OrderStatement(exempt, high))
        elif activations:
            statements.append(ActivationStatement(int(said["prototype"]), low, high))
        else:
            statements.append(PatchStatement(patch, int(said["prototype"]), low, high))
    return statements


def named(text: str | None) -> tuple[int, ...]:
    """The prototypes that a list names, ranges among them; where it counts them, they are as many."""
    if text is None:
        return ()
    counted = re.match(r"(\d+) prototypes \(", text)
    numbers: list[int] = []
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text if counted is None else text[counted.end() :]):
        numbers += range(int(first), int(last or first) + 1)
    assert counted is None or len(numbers) == int(counted[1]), text
    return tuple(numbers)
