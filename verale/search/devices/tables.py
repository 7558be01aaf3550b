"""What the kernel reads and writes, which heads it has, and the sizes that it is compiled for."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from verale.bounds import Projection, SpatialParadigm
from verale.head import (
    ExpDistance,
    Exponential,
    Head,
    Identity,
    Linear,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
)
from verale.paradigms import ORDERS

__all__ = [
    "Block",
    "HeadTable",
    "ImageTable",
    "KernelSizes",
    "WorkTable",
    "admits",
    "kernel_bytes",
    "kernel_sizes",
    "warps",
]

_SIMILARITIES = {
    each: number
    for number, each in enumerate((Identity, LogRatio, Negated, ExpDistance, Exponential, Quadratic, Rectified))
}
"""Their numbers in `verale.search.devices.nearest`."""

_MOST_PROTOTYPES = 4096
_MOST_CLASSES = 2048
_MOST_DIRECTIONS = 64
_MOST_STATEMENTS = 4096
_ENTRIES = 2048
"""Of a table of classes that a block holds at once."""


class KernelSizes(NamedTuple):
    """What a kernel is compiled for; sizes are powers of two.

    Attributes:
        distance: whether observables are squared distances.
        similarity: its number; see `verale.search.devices.nearest`.
        prototypes, classes, statements: at least as many as there are, or as there may be.
        room: directions of a patch, at most.
        anchors: so many anchors are looked at at once.
        changes: so many changed activations are looked at at once.
    """

    distance: bool
    similarity: int
    prototypes: int
    classes: int
    statements: int
    room: int
    anchors: int
    changes: int


class HeadTable(NamedTuple):
    """A head of P prototypes and C classes, and images of L patches; names as of `ImageArrays`.

    Attributes:
        gram: (P, P).
        lower, upper, shift, scale, peak: (P,).
        weight, columns: (C, P) and (P, C), the readout and its transpose.
        bias: (C,).
        hidden, allowed: (L, P) int8.
        numbers: (4,) `whole`, `least_residual`, `epsilon`, and the guard above which a margin counts as positive.
        size, classes, patches: P, C, L.
    """

    gram: Any
    lower: Any
    upper: Any
    shift: Any
    scale: Any
    peak: Any
    weight: Any
    columns: Any
    bias: Any
    hidden: Any
    allowed: Any
    numbers: Any
    size: Any
    classes: Any
    patches: Any


class ImageTable(NamedTuple):
    """N images.

    Attributes:
        observed: (N, L, P) what statements say.
        actual: (N, P) the activations.
        attained: (N, P) int32, the patch that may be stated and is most similar to the prototype.
        early: (N, L, P) int8, the statements to leave out before others.
        predicted: (N,) int32.
        most: (N,) growth with more statements than this is given up.
    """

    observed: Any
    actual: Any
    attained: Any
    early: Any
    predicted: Any
    most: Any


class WorkTable(NamedTuple):
    """What is known of N images, as R = L + 1 rows, one a patch and a spare one, with room for M directions each.

    Of K, the Gram matrix of a row's anchors b_j, the inverse is kept. A *step* enters or deletes a statement; two steps
    can be tried side by side before one is taken. Each field says of what kind its numbers are, and their shape after
    N.

    Attributes:
        row_of: (N, L) int32, the row of each patch.
        count, base, unused: (N, R) int32, how many anchors there were, the prototype at the base or -1, and how many
            statements are not used as directions.
        whole, square: (N, R) the square of the patch's distance from its base, and of what the anchors explain of it.
        anchors: (N, R, M) int32 prototypes, -1 where one is deleted.
        offset: (N, R, M) <b_j, z - base>.
        inverse: (N, R, M, M) K^-1.
        along, across: (N, R, P) as of `PatchHulls`.
        near, far: (N, L, P) the least and the greatest dissimilarity.
        stated: (N, L, P) int8.
        left: (N, L) int32, how many statements may yet be made about a patch.
        used: (N, L) int32, the last round in which a patch got a statement.
        least, second: (N, 2, P) the least and second least of `near` and of `far` over the patches.
        patch: (N, 2, P) int32, which patch the least is of.
        high, low: (N, P) the ends of the activations.
        margins: (N, C) infinite for the predicted class.
        combination: (N, 2, M) u, of a step.
        step: (N, 2, 8) its kind, and numbers; see `verale.search.devices.patch`.
        step_base: (N, 2) int32, the base after it.
        step_along, step_across, step_near, step_far: (N, 2, P) the patch after it.
        step_margins: (N, 2, C) the margins after it.
        changed, above, below: (N, P) the activations that it changes, and by how much.
        statements: (N, S) int32, patch * P + prototype, in the order in which they were chosen.
        without: (N, S) the least margin without each, when it was last tried.
        undecided, kept: (N, S) int8.
        outcome: (N, 4) int32, how growth ended, how many statements there are, and how many steps growth and shrinking
            tried.
    """

    row_of: Annotated[Any, "i4 L"]
    count: Annotated[Any, "i4 R"]
    base: Annotated[Any, "i4 R"]
    unused: Annotated[Any, "i4 R"]
    whole: Annotated[Any, "f8 R"]
    square: Annotated[Any, "f8 R"]
    anchors: Annotated[Any, "i4 R M"]
    offset: Annotated[Any, "f8 R M"]
    inverse: Annotated[Any, "f8 R M M"]
    along: Annotated[Any, "f8 R P"]
    across: Annotated[Any, "f8 R P"]
    near: Annotated[Any, "f8 L P"]
    far: Annotated[Any, "f8 L P"]
    stated: Annotated[Any, "i1 L P"]
    left: Annotated[Any, "i4 L"]
    used: Annotated[Any, "i4 L"]
    least: Annotated[Any, "f8 2 P"]
    second: Annotated[Any, "f8 2 P"]
    patch: Annotated[Any, "i4 2 P"]
    high: Annotated[Any, "f8 P"]
    low: Annotated[Any, "f8 P"]
    margins: Annotated[Any, "f8 C"]
    combination: Annotated[Any, "f8 2 M"]
    step: Annotated[Any, "f8 2 8"]
    step_base: Annotated[Any, "i4 2"]
    step_along: Annotated[Any, "f8 2 P"]
    step_across: Annotated[Any, "f8 2 P"]
    step_near: Annotated[Any, "f8 2 P"]
    step_far: Annotated[Any, "f8 2 P"]
    step_margins: Annotated[Any, "f8 2 C"]
    changed: Annotated[Any, "i4 P"]
    above: Annotated[Any, "f8 P"]
    below: Annotated[Any, "f8 P"]
    statements: Annotated[Any, "i4 S"]
    without: Annotated[Any, "f8 S"]
    undecided: Annotated[Any, "i1 S"]
    kept: Annotated[Any, "i1 S"]
    outcome: Annotated[Any, "i4 4"]


class Block(NamedTuple):
    """What a block knows of its image.

    Attributes:
        head, image, work: the tables, those of images from where this one begins.
        k: (P,) the prototypes, and more up to a power of two.
        inside: (P,) which of them there are.
    """

    head: Any
    image: Any
    work: Any
    k: Any
    inside: Any


def admits(head: Head, paradigm: SpatialParadigm, order: str) -> bool:
    """Whether the kernel has this head, this paradigm and this order of statements."""
    return (
        order == ORDERS[0]
        and isinstance(paradigm, Projection)
        and isinstance(head.readout, Linear)
        and type(head.similarity) in _SIMILARITIES
        and not head.pooling.needs_all_patches
        and head.size <= _MOST_PROTOTYPES
        and head.classes <= _MOST_CLASSES
    )


def kernel_sizes(head: Head, patches: int) -> KernelSizes:
    """For which sizes the kernel of a head is compiled; `admits` holds."""
    classes = _power(head.classes)
    return KernelSizes(
        distance=head.geometry.is_distance,
        similarity=_SIMILARITIES[type(head.similarity)],
        prototypes=_power(head.size),
        classes=classes,
        statements=min(_power(patches * head.size + 16), _MOST_STATEMENTS),
        room=min(_power(min(head.size, head.depth) + 1), _MOST_DIRECTIONS),
        anchors=4,
        changes=max(1, min(16, _ENTRIES // classes)),
    )


def kernel_bytes(head: Head, patches: int) -> int:
    """The memory that the kernel needs for one image; 0 for heads that it does not have."""
    if type(head.similarity) not in _SIMILARITIES or not head.geometry.has_prototypes:
        return 0
    sizes = kernel_sizes(head, patches)
    rows = patches + 1
    per_row = 8 * (2 * head.size + sizes.room**2 + 2 * sizes.room)
    return rows * per_row + patches * head.size * (3 * 8 + 2) + 8 * (24 * head.size + 4 * sizes.statements)


def warps(sizes: KernelSizes) -> int:
    """So many that a thread has two prototypes, up to 512 threads."""
    return max(1, min(16, sizes.prototypes // 64))


def _power(number: int) -> int:
    """The least power of two that is not below a number, and at least 2."""
    return 1 << max(1, (number - 1).bit_length())
