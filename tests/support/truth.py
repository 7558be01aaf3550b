"""Whether what a rejected case claims is true: judged by exact numbers (`support.exact`), without the checker.

`verale.soundness.corpus.cases` says what the marks mean. That a statement is needless a checker shows, which proves the
class without it: `is_needless`.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

import flint
from support import files
from support.arithmetic import PRECISION, Matrix, certainly_outside, product
from support.claims import Claim, interval, values_of
from support.exact import Head
from support.files import digest, read_latents

from verale.checker import Auditor, Status
from verale.soundness.corpus.cases import BEYOND, INSTANCE, MALFORMED, SUBJECT, Case


def holds(case: Case) -> bool:
    """Whether a mark holds of a case. Of BEYOND, whether nothing known contradicts it: the certificate is well formed,
    the subject is right, the instance claim is not certainly false, and the image does not break the entailment
    claim."""
    certificate, head, latents = case.certificate, case.head, case.latents
    if case.mark == MALFORMED:
        return broken_rule(certificate, head) != ""
    if broken_rule(certificate, head) and case.claim != SUBJECT:  # the subject is looked at before the statements
        return False
    if case.mark == BEYOND:
        false = false_subject(certificate, head, latents) or false_instance(certificate, head, latents)
        return case.why != "" and not false and not _broken_by_its_image(certificate, head, latents)
    if case.breaks is not None:
        return breaks(certificate, head, case.breaks)
    if case.dropped is not None:
        return any(is_needless(certificate, head, case.dropped, kernel) for kernel in ("arb", "proved"))
    judges = {SUBJECT: false_subject, INSTANCE: false_instance}
    return case.claim is not None and judges[case.claim](certificate, head, latents)


def is_needless(certificate: bytes, head: bytes, dropped: int, kernel: str) -> bool:
    """Whether a kernel proves the class without the statement of this index, by whatever margins. What is proved is
    entailed, so minimality cannot be claimed. Under `assignment` by the prices of the certificate, or of 1/16 each: any
    will do."""
    document = json.loads(certificate)
    predicate = document["predicate"]
    del predicate["statements"][dropped]
    del document["subject"][1:]
    predicate["claims"] = ["entailment"]
    predicate["margins"] = [margin and (2.0**-1074).hex() for margin in predicate["margins"]]
    auditor, hints = Auditor(head, None, kernel), [predicate["hints"]]
    if predicate["paradigm"] == "assignment":
        every = {"prototypes": [*range(Head.read(head).count)], "prices": [(2.0**-4).hex()] * Head.read(head).count}
        rivals = [c for c, margin in enumerate(predicate["margins"]) if margin is not None]
        hints.append({"prices": [{"rival": rival} | every for rival in rivals]})
    documents = (document | {"predicate": predicate | {"hints": each}} for each in hints)
    return any(auditor.check(json.dumps(each).encode()).status is Status.PROVED for each in documents)


# Entailment.


def breaks(certificate: bytes, head: bytes, latents: bytes) -> bool:
    """Whether the one image of a latents file satisfies every statement and certainly falls short of a margin."""
    with flint.ctx.workprec(PRECISION):
        (image,) = read_latents(latents)
        claim = Claim.read(certificate, head, None)
        return claim.satisfied(image) and any(bool(gap < margin) for gap, margin in claim.gaps(image))


def _broken_by_its_image(certificate: bytes, head: bytes, latents: bytes | None) -> bool:
    """Whether the image that is named breaks the entailment claim. False where none is named or given."""
    subject = json.loads(certificate)["subject"]
    image = _named(subject, latents) if len(subject) > 1 and latents is not None else None
    return image is not None and breaks(certificate, head, files.latents([image]))


# What a claim says by itself.


def false_subject(certificate: bytes, head: bytes, latents: bytes | None) -> bool:
    """Whether the head is another one, or no image of the latents file is the one that is named."""
    subject = json.loads(certificate)["subject"]
    if subject[0]["digest"]["sha256"] != hashlib.sha256(head).hexdigest():
        return True
    return len(subject) > 1 and latents is not None and _named(subject, latents) is None


def _named(subject: list[Any], latents: bytes) -> Matrix | None:
    """The image that a certificate names, None where the file does not hold it."""
    matches = [image for image in read_latents(latents) if digest(image) == subject[1]["digest"]["sha256"]]
    return matches[0] if matches else None


def false_instance(certificate: bytes, head: bytes, latents: bytes | None) -> bool:
    """Whether the image that is named certainly is no instance: it has another number of patches, lies outside the
    domain, or a statement is false of it. False where none is named or given."""
    document = json.loads(certificate)
    predicate, parsed = document["predicate"], Head.read(head)
    if len(document["subject"]) == 1 or latents is None:
        return False
    image = _named(document["subject"], latents)
    if image is None:
        raise ValueError("the latents file does not hold the image that is named")
    if len(image) != predicate["patches"] or any(_outside(parsed, z) for z in image):
        return True
    with flint.ctx.workprec(PRECISION):
        values = parsed.at(image)
        return any(
            certainly_outside(each, *interval(statement))
            for statement in predicate["statements"]
            for each in values_of(statement, values, parsed, predicate["predicted"])
        )


def _outside(head: Head, z: list[float]) -> bool:
    """Whether a latent lies outside the domain: its coordinates are rational, so this is exact."""
    low, high = (None if end is None else float.fromhex(end) for end in head.part("domain").values())
    ends = map(head.part("geometry").get, ("radius", "epsilon"))
    radius, epsilon = (None if end is None else float.fromhex(end) for end in ends)
    return (
        (low is not None and min(z) < low)
        or (high is not None and max(z) > high)
        or (radius is not None and product(z, z) > Fraction(radius) ** 2)
        or (epsilon == 0 and not any(z))
    )


# What breaks a rule of the format: those that rejected cases break, not all.


def broken_rule(certificate: bytes, head: bytes) -> str:
    """What makes a certificate malformed, "" for nothing that is looked for here."""
    predicate, parsed = json.loads(certificate)["predicate"], Head.read(head)
    statements = predicate["statements"]
    about = [(s.get("patch"), s["prototype"]) for s in statements if "prototype" in s]
    if len({*about}) < len(about):
        return "two statements about one observable"
    rivals = [rival for s in statements for rival in s.get("rivals") or ()]
    if len({*rivals}) < len(rivals) or sum(s.get("rivals", ()) is None for s in statements) > 1:
        return "two sums about one rival, or about all"
    if any(sum("except" in s and side in s for s in statements) > 1 for side in ("lower", "upper")):
        return "two ceilings or two floors"
    if any(patch is not None and patch >= predicate["patches"] for patch, _ in about):
        return "a patch that does not exist"
    prices = predicate["hints"].get("prices", [])
    named = [prototype for _, prototype in about] + [k for each in prices for k in each["prototypes"]]
    if any(prototype >= parsed.count for prototype in named):
        return "a prototype that does not exist"
    if any(margin is not None and not float.fromhex(margin) > 0 for margin in predicate["margins"]):
        return "a margin that is not positive"
    if any(not float.fromhex(price) > 0 for each in prices for price in each["prices"]):
        return "a price that is not positive"
    return "prices of the predicted class" if predicate["predicted"] in [each["rival"] for each in prices] else ""
