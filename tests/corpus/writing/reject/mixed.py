"""Attacks on what activations say of each other."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.writing.accept.mixed import LINE
from corpus.writing.reject.building import COSINE, twice

from verale.soundness.corpus.cases import Case
from verale.soundness.independent import files

__all__ = ["of_mixed"]


def of_mixed() -> Iterator[Case]:
    """All of them."""
    points = [[0.0, 0.0], [3.0, 0.0]]
    rival = files.head([[0.0, 0.0], [0.0, 1.0]], points, [-0.5, 0.0], **LINE)
    own = files.head([[0.0, 1.0], [0.0, 0.0]], points, [30.0, 0.0], **LINE)
    comment = "No patch is less than 2 from 0: that none is less than 1 from 3 would be so if 3 were less than 2 away."
    stated = [files.activation_statement(0, None, -4.0)]
    yield from twice("mixed-beyond-a-prototype", comment, rival, stated, [[-2.0, 0.0]], [[3.0, 0.0]], paradigm="mixed")
    comment = (
        "No patch is less than 2 from 0: an upper end says nothing of how near some patch is to another prototype."
    )
    yield from twice("mixed-upper-for-lower", comment, own, stated, [[2.0, 0.0]], [[-9.0, 9.0]], paradigm="mixed")
    comment = "Some patch is 2 or less from 0: another may be nearer to 3 than that one."
    stated = [files.activation_statement(0, -4.0, None)]
    image, other = [[-2.0, 0.0], [-9.0, 0.0]], [[-2.0, 0.0], [3.0, 0.0]]
    yield from twice("mixed-lower-for-upper", comment, rival, stated, image, other, paradigm="mixed")
    comment = "Squared distances differ by more than the squared distance of the prototypes."
    lean = files.head([[0.0, 1.0], [0.0, 0.0]], points, [20.0, 0.0], **LINE)
    yield from twice("mixed-squares-added", comment, lean, stated, [[2.0, 0.0]], [[-2.0, 0.0]], paradigm="mixed")
    turned = files.head([[0.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [3.0, 4.0]], [-0.25, 0.0], **COSINE)
    comment = "A cosine of 0.75 or more to one prototype: to another it is more only where the angles are subtracted."
    stated = [files.activation_statement(0, 0.75, None)]
    yield from twice("mixed-angles-subtracted", comment, turned, stated, [[4.0, 3.0]], [[4.0, -3.0]], paradigm="mixed")
