"""What rounding adds to a layer that is computed in binary32 (certificates/network-v1.md, "The network in binary32").

With u = 2^-24, <m> and gamma_m as in `deployment`: a term that passes m roundings has a factor <m>, and |<m> - 1| <=
gamma_m = m u / (1 - m u). The entries that a layer reads are as computed; they lie between their ends.

- **Sums of products.** Let n terms be summed, the bias among them, each of them after up to m - n roundings. The sum is
  off by at most gamma_m times the sum of their sizes. *Proof.* A term passes at most n - 1 additions and one rounding
  at the end. So m = n + 1 for the rounding of a product, and 1 more for that of its weight, or of the bias.
- **A folded batch normalisation.** The factor s = gamma / (variance + epsilon)^(1/2) has <8>: epsilon and the sum <2>,
  so their root <1>; the root within 2 ulps <5>; its reciprocal <1>; the product with gamma <1>. Of (t - mean) s + beta,
  a term of t has <n + 1>, then one subtraction, s, one product, one addition: <n + 12>. Of t s + (beta - mean s) it has
  <n + 11>, and no term of the bias has more. With s W and s (B - mean) + beta computed before, a weight has <9> and
  then <n + 1>, and a term of the bias at most <11> and then <n>. What folding in binary64 loses, 2^-40 of each, is less
  than one rounding. So m = n + 16 is more than enough.
- **Sums and averages.** n entries of which none has a rounding: gamma_n. An average is divided by its number, or
  multiplied by a rounded reciprocal: gamma_(n + 2).
- **Functions.** Within k = 8 units in the last place is off by at most 2 k u of the value. sigmoid lies in [0, 1] and
  tanh in [-1, 1] as computed too. The negative side of leaky_relu has <2>, for the slope and the product.
- **Clamps.** What is read is not rounded, and the ends once, where they are no binary32 numbers: <1> of an end moves
  what is given by no more than the end.
- **Refused.** Of products of two outputs, of `gaussian` and `inverse_root` nothing is claimed.
- **Underflow.** An operation is off by at most 2^-126 besides, and so is each operand: 4 2^-126 for a term of a sum,
  and for what a term is multiplied with the size of the other factor. Ends are integers on a grid of 2^-bits, bits <=
  120, so whatever is taken as 0 lay between ends on either side of 0: layers that round nothing add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import add, neg, sub

from ..arithmetic import Arithmetic
from ..deployment import LARGEST, TINY, are_binary32, is_binary32
from ..dyadic import ceil_at, exact, floor_at
from ..errors import UnprovedError
from ..read.network_file import Layer
from .functions import FUNCTIONS, Ends

MOST_BITS = 120
"""Of the grid."""
_DIGITS = 24
_ULPS = 8
_FOLDED = 16
_GREATEST = Fraction(2**32)
"""No number of a batch normalisation that is folded is greater."""


def share(value: int, count: int) -> int:
    """ceil(gamma_count |value|). Raises UnprovedError unless count u <= 1/8."""
    if 8 * count > 1 << _DIGITS:
        raise unproved(f"sums of about {count} roundings are too long to bound")
    return -(-abs(value) * count // ((1 << _DIGITS) - count))


def roundings(layer: Layer) -> int:
    """m of a conv2d or linear layer, the most roundings of a term."""
    terms = layer.terms + 1
    if "magnitude" in layer.tensors:
        return terms + _FOLDED
    stored = [layer.tensors[name] for name in ("weight", "bias") if name in layer.tensors]
    known = all(tensor.dtype == "F32" or are_binary32(exact(tensor.floats(), 1)) for tensor in stored)
    return terms + 1 + (not known)


def underflow(layer: Layer, weight: Fraction, read: Fraction, bits: int) -> int:
    """What a conv2d or linear layer loses by underflow, in units of the grid.

    Args:
        weight, read: no less than the size of any weight, and of anything that is read.
    """
    terms = layer.terms + 1
    if "magnitude" in layer.tensors:  # t is multiplied by s, and its own weights are not known
        return ceil_at(8 * TINY * terms * (_GREATEST + 1) * (4 + read + _GREATEST), bits)
    return ceil_at(2 * TINY * terms * (4 + read + weight), bits)


def require_no_overflow(layer: Layer, weight: Fraction, read: Fraction, size: Fraction) -> None:
    """Raises UnprovedError if a partial sum of a conv2d or linear layer may overflow, or the file says that the numbers
    which were folded into it are excluded.

    Args:
        weight, read: no less than the size of any weight, and of anything that is read.
        size: no less than that of any bias.
    """
    if "magnitude" in layer.tensors:
        if size > _GREATEST or weight > _GREATEST:
            raise unproved(
                f"of the layer {layer.name} nothing is claimed: its magnitude or its weight is beyond 2^32, which says"
                " that numbers of its folded batch normalisation are excluded (certificates/network-v1.md)"
            )
        if read > _GREATEST:
            raise _overflow(layer)
    elif 2 * ((layer.terms + 1) * weight * read + size) > LARGEST or weight > LARGEST:
        raise _overflow(layer)


def rounded(layer: Layer, read: Sequence[Ends], given: Ends, arithmetic: Arithmetic, bits: int) -> Ends:
    """What a layer of `FUNCTIONS` gives as computed.

    Args:
        read: what it reads, as computed.
        given: what it gives for that in real arithmetic.
    """
    match layer.kind:
        case "add" | "avg_pool2d":
            count = len(read) if layer.kind == "add" else layer.terms + 2
            sizes = [list(map(max, map(neg, each.lower), each.upper)) for each in read]
            total = FUNCTIONS[layer.kind](layer, [Ends(each, each) for each in sizes], arithmetic, bits).upper
            if 4 * layer.terms * sum(map(max, sizes)) > LARGEST * 2**bits:
                raise _overflow(layer)
            off = [share(size, count) + count for size in total]
            return Ends(list(map(sub, given.lower, off)), list(map(add, given.upper, off)))
        case "leaky_relu":
            if 0 < layer.settings.slope < TINY:
                raise unproved(f"the slope of the layer {layer.name} may underflow")
            return given.mapped(
                lambda low: low if low >= 0 else low - share(low, 2) - 1,
                lambda high: high if high >= 0 else min(0, high + share(high, 2) + 1),
            )
        case "sigmoid" | "tanh":
            one = 1 << bits
            least = 0 if layer.kind == "sigmoid" else -one
            return given.mapped(
                lambda low: max(least, low - _ulps(low) - 1), lambda high: min(one, high + _ulps(high) + 1)
            )
        case "clamp":
            both = layer.settings.lower, layer.settings.upper
            if any(abs(end) > LARGEST for end in both):
                raise _overflow(layer)
            off = [share(ceil_at(abs(end), bits), 1) + 1 for end in both if not is_binary32(end)]
            most = max(off, default=0)
            return given.mapped(lambda low: low - most, lambda high: high + most)
        case "multiply" | "gaussian" | "inverse_root":
            raise unproved(
                f"nothing is claimed of the layer {layer.name} ({layer.kind}), which libraries compute in several ways"
            )
        case _:
            return given


def normalised(value: int, mean: Fraction, std: Fraction, bits: int) -> tuple[int, int]:
    """The ends of (value / 255 - mean) / std as computed.

    v / 255 has <2>, as a product with a rounded reciprocal; mean and std <1>, where they are no binary32 numbers; the
    difference <1>; the quotient <2>, as such a product.
    """
    if not 1 / LARGEST < std < LARGEST or abs(mean) > LARGEST:
        raise unproved("mean or std may overflow")
    one, two, three = Fraction(1, 2**_DIGITS - 1), Fraction(2, 2**_DIGITS - 2), Fraction(3, 2**_DIGITS - 3)
    v, off = Fraction(value, 255), Fraction(0 if is_binary32(mean) else abs(mean) * one)
    low, high = v * (1 - two) - mean - off, v * (1 + two) - mean + off
    size = max(abs(low), abs(high))
    low, high, size = low - size * one - 2 * TINY, high + size * one + 2 * TINY, size * (1 + one) + 2 * TINY
    if 4 * size > LARGEST * min(Fraction(1), std):
        raise unproved("the normalised picture may overflow")
    lost = size / std * three + TINY * (2 + 2 * size + 2 / std)
    return floor_at(low / std - lost, bits), ceil_at(high / std + lost, bits)


def unproved(why: str) -> UnprovedError:
    """The error that says that the claim is not proved."""
    return UnprovedError("picture", f"computed in binary32: {why}")


def _overflow(layer: Layer) -> UnprovedError:
    return unproved(f"numbers of the layer {layer.name} may overflow")


def _ulps(value: int) -> int:
    """ceil(2 k u |value|)."""
    return -(-abs(value) * 2 * _ULPS >> _DIGITS)
