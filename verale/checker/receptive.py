"""Receptive fields: outside of which pixels nothing changes a patch (certificates/network-v1.md, "Receptive fields").

They follow from kernels, strides, paddings and dilations alone; no weight is looked at. Each row y of a layer has an
interval R(y) of the picture's rows, and each column x an interval S(x) of its columns.

**Lemma.** Two pictures that have the same pixels in the rows R(y) and columns S(x) give a layer the same entries
(c, y, x), for every c, in real arithmetic, where both give latents. *Proof*, layer by layer. The picture's own row y
has R(y) = [y, y + 1), and its normalisation is entry by entry. An entry (c, y, x) of a layer is computed from entries
(c', a, b) of what it reads, with a in A(y) and b in B(x), and from constants:

- windows (`conv2d`, `max_pool2d`, `avg_pool2d`): A(y) are the rows y stride - padding + dilation t, 0 <= t < kernel,
  that are there; outside there is a constant, or nothing;
- `upsample_nearest`: A(y) is floor(y / scale) alone;
- entry by entry (`add`, `multiply`, `concat`, activations): A(y) is y alone, or the only row where there is one, which
  `multiply` repeats;
- any other layer (`flatten`, `linear`): all rows. So a kind that is not named above is never told too narrowly.

B(x) is the same of columns. R(y) holds the intervals of all rows in A(y), and S(x) those of B(x). So the two pictures
have the same pixels in R(a) and S(b) for every such a and b, the entries (c', a, b) are the same by induction, and so
is the entry computed from them. An interval without pixels is left out: there any two pictures are the same.

The same holds of latents that are computed, wherever each entry is computed from the entries of the formula alone, in
an order that does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from .errors import UnprovedError
from .read.network_file import PICTURE, Layer, Network

Interval = tuple[int, int]
"""Of pixels, the first and the one after the last. (0, 0) holds none."""
Axis = tuple[Interval, ...]

_MOST_STEPS = 2**24
"""Entries of windows along an axis, of all layers together: seconds of time."""
_WINDOWS = frozenset({"conv2d", "max_pool2d", "avg_pool2d"})
_ENTRY_BY_ENTRY = frozenset(
    {"add", "multiply", "concat", "relu", "leaky_relu", "clamp", "sigmoid", "tanh", "gaussian", "inverse_root"}
)


@dataclass(frozen=True)
class ReceptiveFields:
    """The receptive field of every patch of the latents.

    Attributes:
        rows, columns: of each row, and of each column, of the latents the interval of the picture's pixels.
        size: (H, W) of the picture.
    """

    rows: Axis
    columns: Axis
    size: tuple[int, int]

    @property
    def whole(self) -> bool:
        """Whether every patch can depend on the whole picture."""
        height, width = self.size
        return set(self.rows) == {(0, height)} and set(self.columns) == {(0, width)}

    def alone(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """What share of its own square a patch sees alone, as a factor of each row and one of each column.

        The square of a patch is its cell where the grid is stretched over the picture. A pixel that no other patch can
        depend on lies in a row that no other row's interval holds, and in a column alike; so the share is a product.
        It is a lower bound: a field may hold pixels that change nothing.
        """
        return _alone(self.rows, self.size[0]), _alone(self.columns, self.size[1])


def receptive_fields(network: Network) -> ReceptiveFields:
    """The receptive fields of a network's patches.

    Raises:
        UnprovedError: `limit`: windows are so large that this would take minutes.
    """
    steps = sum(sum(layer.settings.kernel) * sum(layer.shape[1:] or (1,)) for layer in network.layers)
    if steps > _MOST_STEPS:
        raise UnprovedError("limit", f"receptive fields of {steps} steps, expected at most {_MOST_STEPS}")
    return ReceptiveFields(_along(network, 0), _along(network, 1), network.shape[1:])


def _along(network: Network, axis: int) -> Axis:
    """Of each row (axis 0) or column (1) of the latents the interval of pixels."""
    fields = {PICTURE: [(at, at + 1) for at in range(network.shape[1 + axis])]}
    for layer in network.layers:
        fields[layer.name] = _of_layer(layer, [fields[name] for name in layer.inputs], axis)
    return tuple(fields[network.layers[-1].name])


def _of_layer(layer: Layer, read: Sequence[list[Interval]], axis: int) -> list[Interval]:
    """The intervals of a layer's rows or columns, from those of what it reads."""
    if layer.kind in _WINDOWS:
        return [_hull(read[0][at] for at in window if 0 <= at < len(read[0])) for window in _windows(layer, axis)]
    if layer.kind == "upsample_nearest":
        return [interval for interval in read[0] for _ in range(layer.settings.scale[axis])]
    if layer.kind in _ENTRY_BY_ENTRY:
        return [_hull(of[at if len(of) > 1 else 0] for of in read) for at in range(len(read[0]))]
    count = layer.shape[1 + axis] if len(layer.shape) > 1 else 1
    return [_hull(chain.from_iterable(read))] * count


def _windows(layer: Layer, axis: int) -> Iterator[range]:
    """The rows or columns that each window meets, also those outside."""
    settings = layer.settings
    kernel, dilation = settings.kernel[axis], settings.dilation[axis]
    for number in range(layer.shape[1 + axis]):
        first = number * settings.stride[axis] - settings.padding[axis]
        yield range(first, first + kernel * dilation, dilation)


def _hull(intervals: Iterable[Interval]) -> Interval:
    """The least interval that holds all of these."""
    present = [(first, after) for first, after in intervals if first < after]
    return (min(first for first, _ in present), max(after for _, after in present)) if present else (0, 0)


def _alone(axis: Axis, length: int) -> tuple[Fraction, ...]:
    """Of each row, the share of its cell in pixels that its interval holds and no other one.

    Cell y is [y length / n, (y + 1) length / n) of n rows, and pixel p is [p, p + 1); both are compared times n.
    """
    begins = [0] * (length + 1)
    for first, after in axis:
        begins[first] += 1
        begins[after] -= 1
    holding, seen = 0, []
    for change in begins[:length]:
        holding += change
        seen.append(holding)
    count, shares = len(axis), []
    for number, (first, after) in enumerate(axis):
        start, end = number * length, (number + 1) * length
        own = (
            max(0, min((pixel + 1) * count, end) - max(pixel * count, start))
            for pixel in range(max(first, start // count), min(after, -(-end // count)))
            if seen[pixel] == 1
        )
        shares.append(Fraction(sum(own), length))
    return tuple(shares)
