"""Max pooling and margins in a block: what activations and margins become when a patch changes.

The same as `verale.search.compiled.maximum`. Only what changes is looked at: its prototypes are listed first.
"""

from __future__ import annotations

import triton.language as tl

from verale.search.devices.jit import part

__all__ = ["all_margins", "orient", "pool", "replace_patch", "try_margins"]


@part
def orient(block: tl.tuple, patch: tl.tensor, lower: tl.tensor, upper: tl.tensor, sizes: tl.constexpr) -> tl.tensor:
    """The least and the greatest dissimilarities (P,) of a patch whose observables lie in [lower, upper]."""
    head, k, inside = block.head, block.k, block.inside
    if sizes.similarity == 5:
        peak = tl.load(head.peak + k, mask=inside, other=0.0)
        near = tl.maximum(tl.maximum(lower - peak, peak - upper), 0.0)
        far = tl.maximum(upper - peak, peak - lower)
    elif sizes.distance:
        near, far = lower, upper
    else:
        near, far = -upper, -lower
    hidden = tl.load(head.hidden + patch * head.size + k, mask=inside, other=0) != 0
    return tl.where(hidden, float("inf"), near), tl.where(hidden, float("inf"), far)


@part
def _similarity(block: tl.tuple, dissimilarity: tl.tensor, sizes: tl.constexpr) -> tl.tensor:
    """(P,) S of dissimilarities; numbers as of `verale.search.devices.tables`."""
    head, k, inside = block.head, block.k, block.inside
    scale = tl.load(head.scale + k, mask=inside, other=1.0)
    epsilon = tl.load(head.numbers + 2)
    if sizes.similarity == 0:
        similar = -dissimilarity
    elif sizes.similarity == 1:
        similar = tl.log(1 + (1 - epsilon) / (tl.maximum(dissimilarity, 0.0) * scale + epsilon))
    elif sizes.similarity == 2:
        similar = -tl.maximum(dissimilarity * scale, 0.0)
    elif sizes.similarity == 3:
        similar = tl.exp(-tl.sqrt(tl.maximum(dissimilarity, 0.0) + epsilon))
    elif sizes.similarity == 4:
        squared = dissimilarity if sizes.distance else 1 + dissimilarity
        similar = tl.exp(-tl.maximum(squared, 0.0) * scale)
    elif sizes.similarity == 5:
        positive = tl.maximum(dissimilarity, 0.0)
        similar = -positive * positive
    else:
        similar = tl.maximum(-dissimilarity, 0.0)
    return similar


@part
def pool(block: tl.tuple, wanted: tl.tensor, sizes: tl.constexpr) -> None:
    """Pool the wanted prototypes (P,) over all patches."""
    head, work, k = block.head, block.work, block.k
    infinite = tl.full((sizes.prototypes,), float("inf"), tl.float64)
    least_near, second_near, least_far, second_far = infinite, infinite, infinite, infinite
    patch_near, patch_far = tl.full((sizes.prototypes,), 0, tl.int32), tl.full((sizes.prototypes,), 0, tl.int32)
    for patch in range(head.patches):
        near = tl.load(work.near + patch * head.size + k, mask=wanted, other=0.0)
        far = tl.load(work.far + patch * head.size + k, mask=wanted, other=0.0)
        second_near = tl.minimum(second_near, tl.maximum(least_near, near))
        second_far = tl.minimum(second_far, tl.maximum(least_far, far))
        patch_near = tl.where(near < least_near, patch, patch_near)
        patch_far = tl.where(far < least_far, patch, patch_far)
        least_near, least_far = tl.minimum(least_near, near), tl.minimum(least_far, far)
    tl.debug_barrier()
    tl.store(work.least + k, least_near, mask=wanted)
    tl.store(work.least + head.size + k, least_far, mask=wanted)
    tl.store(work.second + k, second_near, mask=wanted)
    tl.store(work.second + head.size + k, second_far, mask=wanted)
    tl.store(work.patch + k, patch_near, mask=wanted)
    tl.store(work.patch + head.size + k, patch_far, mask=wanted)
    tl.store(work.high + k, _similarity(block, least_near, sizes), mask=wanted)
    tl.store(work.low + k, _similarity(block, least_far, sizes), mask=wanted)
    tl.debug_barrier()


@part
def replace_patch(block: tl.tuple, patch: tl.tensor, option: tl.tensor, sizes: tl.constexpr) -> None:
    """A patch becomes what it is after a step; so do the activations."""
    head, work, k, inside = block.head, block.work, block.k, block.inside
    near = tl.load(work.step_near + option * head.size + k, mask=inside, other=0.0)
    far = tl.load(work.step_far + option * head.size + k, mask=inside, other=0.0)
    near_before = tl.load(work.near + patch * head.size + k, mask=inside, other=0.0)
    far_before = tl.load(work.far + patch * head.size + k, mask=inside, other=0.0)
    second_near = tl.load(work.second + k, mask=inside, other=0.0)
    second_far = tl.load(work.second + head.size + k, mask=inside, other=0.0)
    wanted = (near != near_before) & (tl.minimum(near, near_before) <= second_near)
    wanted = wanted | ((far != far_before) & (tl.minimum(far, far_before) <= second_far))
    tl.debug_barrier()
    tl.store(work.near + patch * head.size + k, near, mask=inside)
    tl.store(work.far + patch * head.size + k, far, mask=inside)
    tl.debug_barrier()
    pool(block, wanted & inside, sizes)


@part
def try_margins(block: tl.tuple, patch: tl.tensor, option: tl.tensor, sizes: tl.constexpr) -> None:
    """The margins after a step of a patch."""
    head, work, k, inside = block.head, block.work, block.k, block.inside
    near = tl.load(work.step_near + option * head.size + k, mask=inside, other=0.0)
    far = tl.load(work.step_far + option * head.size + k, mask=inside, other=0.0)
    least_near = tl.load(work.least + k, mask=inside, other=0.0)
    least_far = tl.load(work.least + head.size + k, mask=inside, other=0.0)
    second_near = tl.load(work.second + k, mask=inside, other=0.0)
    second_far = tl.load(work.second + head.size + k, mask=inside, other=0.0)
    is_nearest = tl.load(work.patch + k, mask=inside, other=0) == patch
    is_least_far = tl.load(work.patch + head.size + k, mask=inside, other=0) == patch
    near = tl.minimum(near, tl.where(is_nearest, second_near, least_near))
    far = tl.minimum(far, tl.where(is_least_far, second_far, least_far))
    high = tl.load(work.high + k, mask=inside, other=0.0)
    low = tl.load(work.low + k, mask=inside, other=0.0)
    above = tl.where(near != least_near, _similarity(block, near, sizes) - high, 0.0)
    below = tl.where(far != least_far, _similarity(block, far, sizes) - low, 0.0)
    c = tl.arange(0, sizes.classes)
    before = tl.load(work.margins + c, mask=c < head.classes, other=float("inf"))
    changed = inside & ((above != 0.0) | (below != 0.0))
    after = before + _gains(block, above, below, changed, c, sizes)
    tl.store(work.step_margins + option * head.classes + c, after, mask=c < head.classes)
    tl.debug_barrier()


@part
def all_margins(block: tl.tuple, sizes: tl.constexpr) -> None:
    """The margins of what is known; infinite for the predicted class."""
    head, image, work, k, inside = block.head, block.image, block.work, block.k, block.inside
    c = tl.arange(0, sizes.classes)
    predicted = tl.load(image.predicted)
    bias = tl.load(head.bias + predicted) - tl.load(head.bias + c, mask=c < head.classes, other=0.0)
    high = tl.load(work.high + k, mask=inside, other=0.0)
    low = tl.load(work.low + k, mask=inside, other=0.0)
    margins = bias + _gains(block, high, low, inside, c, sizes)
    margins = tl.where(c == predicted, float("inf"), margins)
    tl.store(work.margins + c, margins, mask=c < head.classes)
    tl.debug_barrier()


@part
def _gains(
    block: tl.tuple, above: tl.tensor, below: tl.tensor, changed: tl.tensor, c: tl.tensor, sizes: tl.constexpr
) -> tl.tensor:
    """(C,) what margins gain where the ends of the changed activations gain `above` and `below`."""
    head, image, work, k = block.head, block.image, block.work, block.k
    place = tl.cumsum(changed.to(tl.int32), 0) - 1
    count = tl.sum(changed.to(tl.int32), 0)
    tl.store(work.changed + place, k, mask=changed)
    tl.store(work.above + place, above, mask=changed)
    tl.store(work.below + place, below, mask=changed)
    tl.debug_barrier()
    predicted = tl.load(image.predicted)
    gains = tl.full((sizes.changes, sizes.classes), 0, tl.float64)
    for begin in range(0, count, sizes.changes):
        i = begin + tl.arange(0, sizes.changes)
        there = i < count
        prototype = tl.load(work.changed + i, mask=there, other=0)
        up = tl.load(work.above + i, mask=there, other=0.0)
        down = tl.load(work.below + i, mask=there, other=0.0)
        own = tl.load(head.columns + prototype * head.classes + predicted)
        at = head.columns + prototype[:, None] * head.classes + c[None, :]
        others = tl.load(at, mask=there[:, None] & (c < head.classes)[None, :], other=0.0)
        weight = own[:, None] - others
        gains += weight * tl.where(weight > 0, down[:, None], up[:, None])
    return tl.sum(gains, 0)
