"""Mutants of an accepted case: one thing changed in its certificate, its head or its latents.

Where a head or latents change, the certificate names the changed file, so that the check reaches the mathematics. What
a reader refuses, which all kernels share, the corpora and the fuzzer have.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import inf, nextafter

from support import files
from support.editing import described, entries, split
from support.files import Document, read_latents

from verale.paradigms import PARADIGMS
from verale.soundness.compare import Group, Question
from verale.soundness.corpus.cases import Case, accepted


@dataclass(frozen=True)
class Mutant:
    """The files of a mutant, and what kind of change made it."""

    kind: str
    certificate: bytes
    head: bytes
    latents: bytes | None


def mutated(one_in: int, seed: int = 0, cases: int = 1) -> Iterator[Group]:
    """One in so many mutants of one in so many accepted cases, from the seed on, to be judged by all kernels."""
    for case in accepted()[::cases]:
        chosen = [
            (f"{case.name}, mutant {number}, {mutant.kind}", mutant)
            for number, mutant in enumerate(mutants(case, random.Random(case.name)))
            if (number + seed) % one_in == 0
        ]
        for (head, latents), alike in groupby(chosen, lambda each: (each[1].head, each[1].latents)):
            yield Group(head, latents, tuple(Question(name, each.certificate) for name, each in alike))


def mutants(case: Case, generator: random.Random) -> Iterator[Mutant]:
    """All mutants of a case."""
    yield from _of_documents(case, generator)
    yield from _of_heads(case)
    yield from _of_latents(case)


def _of_documents(case: Case, generator: random.Random) -> Iterator[Mutant]:
    """The certificate's fields changed."""
    original = json.loads(case.certificate)

    def mutant(kind: str, change: Callable[[Document], object]) -> Mutant:
        document = copy.deepcopy(original)
        change(document["predicate"])
        return Mutant(kind, json.dumps(document).encode(), case.head, case.latents)

    predicate = original["predicate"]
    count = len(predicate["statements"])
    columns = len(split(case.head)[0]["weight"]["shape"]) and split(case.head)[0]["weight"]["shape"][1]
    for i in range(count):
        yield mutant("statement dropped", lambda p, i=i: p["statements"].pop(i))
        yield mutant("statement repeated", lambda p, i=i: p["statements"].append(p["statements"][i]))
        yield from _of_statement(i, predicate["statements"][i], columns, predicate["patches"], mutant)
        for j in range(i):
            yield mutant("two statements dropped", lambda p, i=i, j=j: (p["statements"].pop(i), p["statements"].pop(j)))
            yield mutant("intervals exchanged", lambda p, i=i, j=j: _exchange(p["statements"][i], p["statements"][j]))
    yield mutant("all statements dropped", lambda p: p["statements"].clear())
    yield mutant("statements reversed", lambda p: p["statements"].reverse())
    for _ in range(2):
        yield mutant("statements shuffled", lambda p: generator.shuffle(p["statements"]))
    for rival in range(len(predicate["margins"])):
        if rival == predicate["predicted"]:
            continue
        yield mutant("class exchanged", lambda p, c=rival: _to_class(p, c))
        yield mutant("class exchanged, margins kept", lambda p, c=rival: p.update(predicted=c))
        own = float.fromhex(predicate["margins"][rival])
        for kind, value in (
            ("margin raised", nextafter(own, inf)),
            ("margin raised", 2 * own),
            ("margin raised", own + 2.0**-40),
            ("margin raised", 1e300),
            ("margin lowered", nextafter(own, 0.0)),
            ("margin lowered", own / 2),
            ("margin lowered", 2.0**-1074),
            ("margin zero", 0.0),
            ("margin negative", -own),
        ):
            yield mutant(kind, lambda p, c=rival, v=value: p["margins"].__setitem__(c, v.hex()))
    for patches in (0, predicate["patches"] - 1, predicate["patches"] + 1, 1, 2, 10**17, 10**18, -1, "3"):
        yield mutant("patches", lambda p, v=patches: p.update(patches=v))
    for paradigm in PARADIGMS:
        yield mutant("paradigm", lambda p, v=paradigm: p.update(paradigm=v))
    for claims in (["entailment"], ["entailment", "instance"], ["entailment", "minimality"], ["minimality"], []):
        yield mutant("claims", lambda p, v=claims: p.update(claims=v))
    for prices in (
        [],
        [{"rival": 1, "prototypes": [1], "prices": ["0x1p-4"]}],
        [{"rival": 1, "prototypes": [], "prices": []}],
    ):
        yield mutant("prices", lambda p, v=prices: p.update(hints={"prices": v} if v else {}))
    without = copy.deepcopy(original)
    del without["subject"][1:]
    without["predicate"]["claims"] = [claim for claim in predicate["claims"] if claim != "instance"]
    yield Mutant("instance withdrawn", json.dumps(without).encode(), case.head, case.latents)
    for patches in (1, predicate["patches"] + 1, 10**17):
        without["predicate"]["patches"] = patches
        yield Mutant("instance withdrawn, patches", json.dumps(without).encode(), case.head, case.latents)
    for entry in range(len(original["subject"])):
        other = copy.deepcopy(original)
        digest = other["subject"][entry]["digest"]["sha256"]
        other["subject"][entry]["digest"]["sha256"] = digest[1:] + digest[0]
        yield Mutant("digest of another", json.dumps(other).encode(), case.head, case.latents)


def _of_statement(
    i: int,
    statement: Document,
    columns: int,
    patches: int,
    mutant: Callable[[str, Callable[[Document], object]], Mutant],
) -> Iterator[Mutant]:
    if "except" in statement:
        own_side, other = ("lower", "upper") if "lower" in statement else ("upper", "lower")
        own = float.fromhex(statement[own_side])
        for kind, value in (("lowered", nextafter(own, -inf)), ("raised", nextafter(own, inf)), ("raised", own + 1.0)):
            yield mutant(f"clause {kind}", lambda p, v=value: p["statements"][i].update({own_side: v.hex()}))
        yield mutant(
            "clause of the other side", lambda p: p["statements"][i].update({other: p["statements"][i].pop(own_side)})
        )
        for listed in ([], [0], [0, 1, 2], [1, 0]):
            yield mutant("clause lists others", lambda p, v=listed: p["statements"][i].update({"except": v}))
        return
    if "rivals" in statement:
        own = float.fromhex(statement["upper"])
        for kind, value in (("lowered", nextafter(own, -inf)), ("raised", nextafter(own, inf)), ("raised", own + 1.0)):
            yield mutant(f"sum {kind}", lambda p, v=value: p["statements"][i].update(upper=v.hex()))
        for listed in (None, [], [0], [1], [2], [0, 1], [1, 2], [2, 1]):
            yield mutant("sum lists others", lambda p, v=listed: p["statements"][i].update(rivals=v))
        return
    for j in range(columns):
        if j != statement["prototype"]:
            yield mutant("prototype exchanged", lambda p, j=j: p["statements"][i].update(prototype=j))
    if "patch" in statement:
        for patch in range(patches + 1):
            if patch != statement["patch"]:
                yield mutant("patch exchanged", lambda p, v=patch: p["statements"][i].update(patch=v))
        yield mutant("patch left out", lambda p: p["statements"][i].pop("patch"))
    for end in (0, 1):
        yield mutant("end open", lambda p, e=end: p["statements"][i]["interval"].__setitem__(e, None))

    def moved(low: float | None, high: float | None) -> Callable[[Document], object]:
        return lambda p: p["statements"][i].update(interval=files.interval(low, high))

    if None in statement["interval"]:
        open_end = statement["interval"].index(None)
        own = float.fromhex(statement["interval"][1 - open_end])
        for kind, value in (("lowered", nextafter(own, -inf)), ("raised", nextafter(own, inf)), ("raised", own + 1.0)):
            yield mutant(f"open end {kind}", moved(*((None, value) if open_end == 0 else (value, None))))
        yield mutant("open end closed", moved(own, own))
        yield mutant("open end on the other side", moved(*((own, None) if open_end == 0 else (None, own))))
        return
    low, high = map(float.fromhex, statement["interval"])
    for side in (-inf, inf):
        yield mutant("lower end moved by one", moved(nextafter(low, side), high))
        yield mutant("upper end moved by one", moved(low, nextafter(high, side)))
        yield mutant("both ends moved by one", moved(nextafter(low, side), nextafter(high, side)))
        yield mutant("closed to an end", moved(low, low) if side < 0 else moved(high, high))
    for width in (2.0**-45, 2.0**-28, 2.0**-9, 1.0, 1e300):
        yield mutant("widened", moved(low - width, high + width))
        yield mutant("widened below", moved(low - width, high))
        yield mutant("widened above", moved(low, high + width))
    yield mutant("ends exchanged", moved(high, low))
    yield mutant("interval elsewhere", moved(low + 0.25, high + 0.25))


def _exchange(first: Document, second: Document) -> None:
    one, two = (next(name for name in ("interval", "upper", "lower") if name in s) for s in (first, second))
    first[one], second[two] = second[two], first[one]


def _to_class(predicate: Document, c: int) -> None:
    margins, old = predicate["margins"], predicate["predicted"]
    margins[old], margins[c] = margins[c], None
    predicate["predicted"] = c


def _named(case: Case, head: bytes, latents: bytes | None) -> bytes:
    """The certificate with the digests of other files."""
    document = json.loads(case.certificate)
    document["subject"][0]["digest"]["sha256"] = hashlib.sha256(head).hexdigest()
    if latents is not None and latents != case.latents:
        for before, after in zip(read_latents(files.given(case.latents)), read_latents(latents), strict=True):
            if document["subject"][1]["digest"]["sha256"] == files.digest(before):
                document["subject"][1]["digest"]["sha256"] = files.digest(after)
                break
    return json.dumps(document).encode()


def _changes(value: float) -> Iterator[tuple[str, float]]:
    """Other values for a number, each with a name."""
    yield "by one", nextafter(value, inf)
    yield "by one", nextafter(value, -inf)
    yield "by 1/4", value + 0.25
    yield "by 1/4", value - 0.25
    yield "to 0", 0.0
    yield "to -0", -0.0
    yield "to the smallest", 2.0**-1074


def _of_heads(case: Case) -> Iterator[Mutant]:
    """A number of the head changed; the certificate names the changed head, but for one mutant a tensor."""

    def mutant(kind: str, head: bytes) -> Mutant:
        return Mutant(f"head: {kind}", _named(case, head, case.latents), head, case.latents)

    header, _ = split(case.head)
    for name in header:
        if name == "__metadata__" or header[name]["dtype"] != "F64":
            continue
        values, rebuilt = entries(case.head, name)
        for i, value in enumerate(values):
            for kind, number in list(_changes(value))[i % 2 :: 2 if len(values) > 4 else 1]:
                if number.hex() != value.hex():
                    yield mutant(f"{name} {kind}", rebuilt([*values[:i], number, *values[i + 1 :]]))
        yield Mutant("head: another under the same name", case.certificate, rebuilt(values[::-1]), case.latents)
    description = json.loads(header["__metadata__"]["verale.head"])
    for part in ("geometry", "similarity"):
        for field, text in description[part].items():
            if field != "kind" and isinstance(text, str):
                for factor in (0.5, 1.0 + 2.0**-52, 2.0, 0.0, -1.0):
                    value = factor * float.fromhex(text)
                    yield mutant(f"{field} changed", _described(case.head, part, field, value.hex()))
    for end, text in description["domain"].items():
        for bound in (None, "-0x1p+2", "0x1p+2", "0x0p+0"):
            if bound != text:
                yield mutant("domain changed", _described(case.head, "domain", end, bound))
    for pooling in ("max", "max_minus_mean", "max_minus_mean_distance"):
        yield mutant("pooling changed", described(case.head, lambda d, v=pooling: d.update(pooling={"kind": v})))
    for k in (1, 3, 10**17):
        yield mutant(
            "pooling changed", described(case.head, lambda d, k=k: d.update(pooling={"kind": "top_mean", "k": k}))
        )


def _described(head: bytes, part: str, field: str, value: str | None) -> bytes:
    return described(head, lambda description: description[part].update({field: value}))


def _of_latents(case: Case) -> Iterator[Mutant]:
    """A coordinate changed, in latents that the certificate names or does not; other layouts of the same values."""
    if case.latents is None:
        return
    if split(case.latents)[0]["latents"]["dtype"] != "F64":
        return
    values, rebuilt = entries(case.latents, "latents")
    for i, value in enumerate(values):
        for kind, number in list(_changes(value))[i % 2 :: 2]:
            if number.hex() != value.hex():
                data = rebuilt([*values[:i], number, *values[i + 1 :]])
                yield Mutant(f"latents: {kind}", _named(case, case.head, data), case.head, data)
        data = rebuilt([*values[:i], nextafter(value, inf), *values[i + 1 :]])
        yield Mutant("latents: another under the same name", case.certificate, case.head, data)
    images = read_latents(case.latents)
    yield Mutant("latents: laid out otherwise", case.certificate, case.head, files.latents([images[0], *images]))
