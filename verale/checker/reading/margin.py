"""Margins: a lower bound of o_predicted - o_c, given a_j in [lo_j, hi_j] for every j. It is the least value, up to
rounding. Two logits that share a term are bounded together.

**linear**: o_predicted - o_c = b_predicted - b_c + sum_j D_j a_j with D = W_predicted - W_c, and D_j a_j is at least
min(D_j lo_j, D_j hi_j). What two classes share cancels in D, exactly.

A sum about c says that the j which do not belong to predicted give at least -upper of that. So the difference is also
at least b_predicted - b_c - upper + the sum over the others of min(D_j lo_j, D_j hi_j). The greatest of these counts.

**soft_tree**: o_predicted - o_c is the root's value f_0, where a leaf q has the value D_q and node i the value
f_i = (1 - a_i) f_absent + a_i f_present. With a_i cut to [0, 1], where exponentials lie,
    inf f_i = min over a_i in {lo_i, hi_i} of (1 - a_i) inf f_absent + a_i inf f_present.
*Proof.* In a tree the two subtrees of node i depend neither on a_i nor on a common activation. So for each a_i in
[0, 1], of which no factor is negative, both children reach their least values at once; what is left is affine in a_i,
and least at an end. Rounding a node down rounds down every node above it, as no factor is negative, and up likewise.

**maximum**: o_c = max over the prototypes j of class c of a_j + b_j, so
    o_predicted - o_c >= max over predicted's of (lo_j + b_j) - max over c's of (hi_j + b_j).
*Proof.* A maximum does not fall with any of its terms. If the classes share no prototype, a_j = lo_j for the first and
a_j = hi_j for the second attain it.

**Inward.** None of these bounds falls as a lo_j rises or a hi_j falls. So from ranges that are rounded inward comes at
least the reference margin of certificates/v1.md; then a soft tree is rounded up.

Minimality: without any one statement, some rival's reference margin is 0 or less (step 8).

**Rule.** A statement is needed if the margin is at most 0 that ranges give which certainly lie within the reference
ranges without it, none of which is empty. *Proof.* No margin falls as a lower end rises or an upper end falls
(`margin`), so this one is at least the reference margin. How such ranges are found is in `similarity`, `means`,
`domain`, and by paradigm in `quadratic.within`, `simplex`, `assignment` and `top_k`. What is not shown to be needed may
be needed: nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from operator import mul, neg, sub

from ..certificate import Statement, SumStatement, sums_of
from ..dyadic import about
from ..errors import UnprovedError
from ..head import Head
from .space import Box


def lower_bound(head: Head, box: Box, winner: int, loser: int, sums: Sequence[SumStatement] = ()) -> Fraction:
    """The lower bound of o_winner - o_loser: exact; for a soft tree rounded down, up where the box is rounded
    inward. Of sums, which `winner` is the predicted class of, those about `loser` count."""
    weight, bias = head.weight, head.bias.rows[0]
    unit = 1 << weight.bits + box.bits
    match head.readout:
        case "maximum":
            least, most = _greatest(head, box.lower, box.bits, winner), _greatest(head, box.upper, box.bits, loser)
            return Fraction(least - most, 1 << box.bits + head.bias.bits)
        case "soft_tree":
            leaves = [a - b << box.bits for a, b in zip(weight.rows[winner], weight.rows[loser], strict=True)]
            return Fraction(_root(head, box, leaves), unit)
        case _:
            differences = list(map(sub, weight.rows[winner], weight.rows[loser]))
            totals = [Fraction(_least(differences, box), unit)]
            stated = [each.upper for each in sums if each.about(loser)]
            if stated:
                of_winner = list(map(mul, differences, head.belong(winner)))
                totals.append(Fraction(_least(of_winner, box), unit) - min(stated))
            return max(totals) + Fraction(bias[winner] - bias[loser], 1 << head.bias.bits)


def _least(differences: Iterable[int], box: Box) -> int:
    """The least sum_j D_j a_j, in the unit of the weights and the box."""
    return sum([d * (low if d > 0 else high) for d, low, high in zip(differences, box.lower, box.upper, strict=True)])


def taken_back(head: Head, box: Box, predicted: int, rivals: Iterable[int]) -> tuple[Fraction, Fraction]:
    """An enclosure of the most that prototypes which do not belong to the predicted class take back for a rival."""
    own, unit = head.belong(predicted), 1 << head.weight.bits + box.bits
    lows, highs = [], []
    for rival in rivals:
        gains = map(sub, head.weight.rows[rival], head.weight.rows[predicted])
        gained = [0 if mine else gain for gain, mine in zip(gains, own, strict=True)]
        lows.append(_least(gained, box))
        highs.append(-_least(map(neg, gained), box))
    return Fraction(max(lows), unit), Fraction(max(highs), unit)


def _greatest(head: Head, ends: Sequence[int], bits: int, c: int) -> int:
    """max over the prototypes of class c of end + bias, at 2^-(bits + those of the bias)."""
    bias, places = head.bias.rows[0], head.bias.bits
    members = (j for j, weight in enumerate(head.weight.rows[c]) if weight)
    return max((ends[j] << places) + (bias[j] << bits) for j in members)


def _root(head: Head, box: Box, leaves: Sequence[int]) -> int:
    """The least value of the root, given the leaves' values: rounded, in their unit."""
    one = 1 << box.bits
    least = {-1 - leaf: value for leaf, value in enumerate(leaves)}
    for node in reversed(range(head.count)):  # children come later
        absent, present = least.pop(head.absent[node]), least.pop(head.present[node])
        # (1 - a) absent + a present is least at the greatest a where it falls with a, else at the least a.
        a = min(one, max(0, box.upper[node] if present < absent else box.lower[node]))
        value = (one - a) * absent + a * present
        least[node] = -(-value >> box.bits) if box.inward else value >> box.bits
    return least[0]


def proved_margins(
    head: Head, box: Box, predicted: int, sums: Sequence[SumStatement] = ()
) -> tuple[Fraction | None, ...]:
    """The lower bound for every rival, None at `predicted`."""
    return tuple(
        None if rival == predicted else lower_bound(head, box, predicted, rival, sums) for rival in range(head.classes)
    )


def enough(proved: Sequence[Fraction | None], stated: Sequence[Fraction | None]) -> bool:
    """Whether all margins are positive, and no less than those stated."""
    return all(m is None or (m > 0 and (c is None or m >= c)) for m, c in zip(proved, stated, strict=True))


def require(proved: Sequence[Fraction | None], stated: Sequence[Fraction | None]) -> None:
    """Step 7. Raises UnprovedError, which names the worst rival: `entailment` or `margin`."""
    rivals = [(bound, rival) for rival, bound in enumerate(proved) if bound is not None]
    least, worst = min(rivals)
    if least <= 0:
        why = "expected more than 0; the statements do not entail the predicted class under this paradigm"
        raise UnprovedError(
            "entailment", f"rival {worst}: the proved lower bound of its margin is {about(least)}, {why}"
        )
    for bound, rival in rivals:
        claimed = stated[rival]
        if claimed is not None and bound < claimed:
            why = f"which is {about(claimed - bound)} less than the stated one; state a smaller margin"
            raise UnprovedError(
                "margin", f"rival {rival}: the proved lower bound of its margin is {about(bound)}, {why}"
            )


def require_minimal(
    head: Head,
    predicted: int,
    statements: Sequence[Statement],
    boxes: Iterable[tuple[int, Box | None]],
    margins: Sequence[Fraction | None],
    provable: Callable[[int, Box, int], bool] | None = None,
) -> None:
    """Raises UnprovedError, which names a statement that is not shown to be needed, or if that takes too long.

    Args:
        boxes: for each statement its index and the activations' ranges without it, rounded inward; None if a range may
            be empty.
        margins: those proved with all statements. The closest rival is tried first: it is the likeliest to fail.
        provable: whether a rival's reference margin may be positive in a second way, from the index, the ranges and
            the rival; None without one.
    """
    rivals = sorted((bound, rival) for rival, bound in enumerate(margins) if bound is not None)
    for index, box in boxes:
        sums = [each for each in sums_of(statements) if each is not statements[index]]
        if box is None:
            why = "perhaps no latents satisfy all the others;"
            why += " withdraw the claim, or statements that contradict each other"
        elif all(
            lower_bound(head, box, predicted, rival, sums) > 0 or (provable is not None and provable(index, box, rival))
            for _, rival in rivals
        ):
            why = "without it every margin seems to be positive; drop it, or withdraw the claim"
        else:
            continue
        raise UnprovedError("minimality", f"statement {index} ({statements[index]}) is not shown to be needed: {why}")
