"""Attacks by hints that would have to be believed, and by claims of minimality that do not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from corpus.writing.accept.chosen import BARE_COSINE, SOFTMAX, against_one, domain_heads, stated_gains
from corpus.writing.reject.building import BOX, NEGATED, altered, case, changed

from verale.soundness.corpus.cases import Case
from verale.soundness.independent import files
from verale.soundness.independent.readers import Document


def of_proofs(cases: dict[str, Case]) -> Iterator[Case]:
    """All of them, given the accepted cases."""
    yield from _prices(cases)
    yield from _minimality(cases)
    yield from _domains()


def _prices(cases: dict[str, Case]) -> Iterator[Case]:
    original = cases["assignment-prices"]

    def hinted(prices: dict[int, float]) -> Callable[[Document], None]:
        def change(document: Document) -> None:
            ends = [price.hex() for price in prices.values()]
            document["predicate"]["hints"] = {"prices": [{"rival": 1, "prototypes": list(prices), "prices": ends}]}

        return change

    wide = files.head([[0.75, 0.0], [0.0, 1.0]], **SOFTMAX)
    comment = "A mass stated by a wide interval taken at its lower end, where prices are paid for the others only."
    for suffix, image, reason in (("", [[2.0, 0.0]], "entailment"), ("-refuted", [[0.0, 0.0]], "refuted")):
        document = files.document(wide, [files.patch_statement(0, 1, 0.0, 0.5)], paradigm="assignment", image=image)
        hinted({1: 2.0**-10})(document)
        whole = comment + (" Here with the latents of a counterexample." if suffix else "")
        yield case(f"mass-at-its-lower-end{suffix}", whole, document, wide, image, reason)
    comment = "No prices: simplex proves nothing here."
    yield altered(original, "no-prices", comment, "entailment", lambda document: document["predicate"].update(hints={}))
    for name, prices, comment in (
        ("prices-too-low", {1: 2.0**-20, 2: 2.0**-20}, "Prices that would prove more if they did not cost patches."),
        ("prices-too-high", {1: 0.5, 2: 0.5}, "Prices so high that no patch pays them: they cost themselves."),
        ("price-for-one", {1: 0.125}, "A price for one of the two prototypes."),
        ("prices-beyond-all", {1: 1e300, 2: 1e300}, "Prices near the greatest binary64."),
    ):
        yield altered(original, name, comment, "entailment", hinted(prices))
    for name, prices, comment in (
        ("price-zero", {1: 0.0, 2: 0.125}, "A price of 0, which is to be left out."),
        ("price-negative", {1: -0.125, 2: 0.125}, "A negative price would be a gain."),
        ("price-outside", {1: 0.125, 3: 0.125}, "A price for a prototype that is not there."),
    ):
        yield altered(original, name, comment, "malformed", hinted(prices))

    def of_predicted(document: Document) -> None:
        hinted({1: 0.125})(document)
        document["predicate"]["hints"]["prices"][0]["rival"] = 0

    yield altered(original, "price-of-predicted", "Prices against the predicted class.", "malformed", of_predicted)


def _minimality(cases: dict[str, Case]) -> Iterator[Case]:
    original = cases["assignment-prices"]
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [2.0]], [2.0, 0.0], **NEGATED, **BOX)
    image = [[0.0], [0.25]]
    comment = "Minimality claimed of two statements of which one is enough."
    stated = [files.patch_statement(0, 0, 0.0, 0.0), files.patch_statement(1, 0, 0.0625, 0.0625)]
    document = files.document(head, stated, patches=2, image=image, minimality=True)
    yield case("not-minimal", comment, document, head, image, "minimality")
    comment = "Minimality claimed of a statement, but the empty set proves the class."
    sure = cases["no-statement"]
    document = files.document(
        sure.head, [files.patch_statement(0, 0, 0.0, 0.0)], patches=2, image=[[0.5, 0.25], [0.75, 0.5]], minimality=True
    )
    yield case("not-minimal-empty", comment, document, sure.head, [[0.5, 0.25], [0.75, 0.5]], "minimality")
    comment = "Minimality claimed of a clause that is never used."
    ratio = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 0.0]], [3.0, 0.0], **BOX)
    stated = [files.activation_statement(0, 5.0, 7.0), files.order_clause([0, 1], 1.0)]
    document = files.document(ratio, stated, paradigm="top_k", image=[[0.0, 0.0]], minimality=True)
    yield case("not-minimal-clause", comment, document, ratio, [[0.0, 0.0]], "minimality")
    comment = "Minimality claimed of an assignment that the best prices prove without a statement."
    document = changed(
        original, lambda document: document["predicate"]["statements"].append(files.patch_statement(0, 1, 0.125, 0.25))
    )
    yield case("not-minimal-assignment", comment, document, original.head, None, "minimality", original.latents)
    comment = (
        "The same of one where a patch with most of its mass left has both of the rival's masses stated: no matching"
        " gives it another."
    )
    head, image, document = stated_gains(files.patch_statement(0, 1, 0.125, 0.25), prices=[2])
    yield case("not-minimal-assignment-stated", comment, document, head, image, "minimality")
    yield from _contradicting()


def _contradicting() -> Iterator[Case]:
    """Three statements, each of which outer ranges need, though two of them contradict each other: the third is not
    needed, because these two entail everything."""
    comment = "Minimality claimed of statements that contradict each other, so that another one is not needed: "
    weight = [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    near = files.head(weight, [[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]], [2.5, 0.0], **NEGATED, **BOX)
    ends = ((0, 0, 0.0, 0.96875), (0, 1, 0.0, 0.96875), (1, 2, 0.0, 0.0625))
    document = files.document(near, [files.patch_statement(*each) for each in ends], patches=2, minimality=True)
    yield case("not-minimal-apart", comment + "near two prototypes.", document, near, None, "minimality")
    along = files.head(
        weight,
        [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]],
        [-2.5, 0.0],
        geometry={"kind": "inner_product", "radius": None},
        similarity=files.IDENTITY,
        domain=files.domain(-1.0, 1.0),
    )
    ends = ((0, 0, 1.4375, 2.0), (0, 1, 1.4375, 2.0), (1, 2, 1.75, 2.0))
    document = files.document(along, [files.patch_statement(*each) for each in ends], patches=2, minimality=True)
    yield case("not-minimal-along", comment + "along two prototypes.", document, along, None, "minimality")
    stated = [
        files.activation_statement(0, -0.25, 0.0),
        files.order_clause([2], -0.5),
        files.activation_statement(2, -0.25, 0.0),
    ]
    ordered = files.head([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]], [[0.0], [1.0], [2.0]], [0.25, 0.0], **NEGATED, **BOX)
    document = files.document(ordered, stated, paradigm="top_k", minimality=True)
    yield case("not-minimal-clause-apart", comment + "beyond a clause.", document, ordered, None, "minimality")


def _domains() -> Iterator[Case]:
    for name, comment, head, image, margin in domain_heads():
        two = name == "bounded-logits"
        interval = (0.4375, 0.5625) if two else (-1.0, -0.625 if "orthant" in name else 1.0)
        stated = [files.patch_statement(0, 0, *interval)]
        paradigm, margins = "simplex" if two else "projection", [None, margin]
        document = files.document(head, stated, paradigm=paradigm, image=image, margins=margins, minimality=True)
        comment = "Minimality claimed of a statement, but the domain alone proves the class. " + comment
        yield case(f"not-minimal-{name}", comment, document, head, image, "minimality")
    name, comment, head, image, margin = next(domain_heads())
    document = files.document(head, [], paradigm="top_k", margins=[None, 2 * margin])
    yield case(name, "A margin beyond the one at the corner of bounded logits.", document, head, None, "margin")
    orthant = {**BARE_COSINE, "domain": files.domain(0.0, None)}
    comment = "Short latents have cosines near 0 if epsilon is not 0, also with a prototype of one sign."
    head = against_one([-3.0, -4.0], -0.5, **{**orthant, "geometry": files.cosine(0.5)})
    yield case("opposite-orthant-epsilon", comment, files.document(head, []), head, None, "entailment")
    comment = "Latents may point along a prototype with more than one positive coordinate."
    head = against_one([3.0, 4.0], 0.875, **orthant)
    yield case("one-coordinate-of-two", comment, files.document(head, []), head, None, "entailment")
