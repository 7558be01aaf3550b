"""Faults of what shows minimality: ends that are rounded inward, points that satisfy the facts, ranges that are empty."""

from __future__ import annotations

__all__ = ["FAULTS"]

FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "rules/minimality.py": [
        ("a range that may be empty shows what it likes", "        if box is None:\n", "        if box is None:\n            continue\n        if box is None:\n"),
    ],
    "rules/domain.py": [
        ("inward is outward", "return (ceil_shift, floor_shift) if inward else", "return (floor_shift, ceil_shift) if inward else"),
        ("inward, roots are rounded up", "[not inward]", "[1]"),
        ("inward, the exponential is rounded down", "bits)[inward]", "bits)[0]"),
        ("inward, masses are rounded outward", "(-(-low[0] // low[1]), high[0] // high[1]) if inward else", "(low[0] // low[1], -(-high[0] // high[1])) if inward else"),
        ("inward, a cosine is a product", "dot(row, row) if inward and head.geometry in COSINES else 1", "1"),
        ("inward, a bare cosine's lower end is rounded down", "_root(least * least, dot(row, row), 2 * bits)[1]", "_root(least * least, dot(row, row), 2 * bits)[0] - 1"),
        ("inward, a bare cosine's upper end is rounded up", "-_root(most * most, dot(row, row), 2 * bits)[1]", "1 - _root(most * most, dot(row, row), 2 * bits)[0]"),
    ],
    "rules/space.py": [
        ("inward, the ball is rounded up", "ceil_at(square, self.bits), floor_at(square, self.bits)", "ceil_at(square, self.bits), 1 + ceil_at(square, self.bits)"),
        ("the domain within is the outer one", "return self._over_domain(True).filled()", "return self._over_domain(False).filled()"),
        ("no range is empty", "return self if all(low <= high for", "return self if any(low <= high for"),
    ],
    "rules/similarity.py": [
        ("inward is outward", "(1, 0) if inward else (0, 1)", "(0, 1)"),
        ("inward, a cosine is divided twice", " and not self._inward:", ":"),
        ("a tree is not told of inward ends", "return Box(least, most, bits, inward)", "return Box(least, most, bits)"),
    ],
    "similarities.py": [
        ("inward, a peak is rounded outward", "        if inward:\n", "        if False:\n"),
    ],
    "rules/means.py": [
        ("inward, S is rounded outward", "down, up = (1, 0) if inward else (0, 1)", "down, up = 0, 1"),
        ("inward, a mean is rounded outward", "(-(-least // count), most // count) if inward else", "(least // count, -(-most // count)) if inward else"),
    ],
    "rules/pooling.py": [
        ("the poolings of patches are rounded outward", "self._max = _Max(space, inward)", "self._max = _Max(space, False)"),
        ("inward, max - mean is rounded outward", "max_minus_mean(column, self._inward)", "max_minus_mean(column, False)"),
        ("inward, the mean of k is rounded outward", "top_mean(column, self._k, self._inward)", "top_mean(column, self._k, False)"),
    ],
    "rules/margin.py": [
        ("inward, a tree is rounded down", "-(-value >> box.bits) if box.inward else value >> box.bits", "value >> box.bits"),
    ],
    "rules/simplex.py": [
        ("inward, stated ends are rounded outward", "self._ends(statements, ceil_at, floor_at)", "self._ends(statements, floor_at, ceil_at)"),
        ("more than all mass is stated", "return lower, upper, lows <= one", "return lower, upper, True"),
        ("inward, the domain is dropped", "Ranges(lower, upper).met(domain).filled()", "Ranges(lower, upper)"),
    ],
    "rules/top_k.py": [
        ("inward is outward", "(ceil_at, floor_at) if domain.inward else (floor_at, ceil_at)", "(floor_at, ceil_at)"),
        ("an empty range shows what it likes", "if box and all(map(le, box.lower, box.upper)) else None", "if box else None"),
        ("the domain within is the outer one", "self._over(within, patches, True)", "self._over(self._space.domain, patches, True)"),
    ],
    "rules/assignment.py": [
        ("inward is outward", "(ceil_at, floor_at) if inward else (floor_at, ceil_at)", "(floor_at, ceil_at)"),
        ("without a statement is rounded outward", "box.bits, inward=True)", "box.bits)"),
    ],
    "rules/spatial.py": [
        ("other patches may be empty", "shown = domain is not None and left and empty <= {number}", "shown = domain is not None and left"),
        ("inward is outward", "pooling = pooling_of(self._space, True)", "pooling = pooling_of(self._space, False)"),
        ("inward, no patch is the class token", "[pooling.part(ranges, first=patch == 0)]", "[pooling.part(ranges)]"),
        ("inward, patches without statements are forgotten", "[] if domain is None else unstated(self._space.head, pooling, domain, groups, patches)", "[]"),
    ],
    "rules/quadratic/within.py": [
        ("far away, ranges end", "None if far(space, statements) else upper", "upper"),
        ("near, no range ends", "None if far(space, statements) else upper", "None"),
        ("stated ends are rounded outward", "intervals(space, statements, inward=True)", "intervals(space, statements)"),
        ("the ball is the outer one", "facts.ends[0] = 0, space.least_reach", "facts.ends[0] = 0, space.reach + (space.reach >> 4)"),
        ("the range is that of one way", "lower.append(min(low for low, _ in values))", "lower.append(max(low for low, _ in values))"),
        ("ranges may cross those of the domain", ".met(space.within).filled()", ".met(space.within)"),
        ("the domain is dropped", "else upper).met(space.within).filled()", "else upper)"),
        ("a distance's lower end is rounded down", "constant - (-low[0] // low[1])", "constant + low[0] // low[1]"),
        ("a distance's upper end is rounded up", "constant + high[0] // high[1]", "constant - (-high[0] // high[1])"),
        ("a product's lower end is rounded down", "space.offsets[k] - high[0] // (2 * high[1])", "space.offsets[k] + -high[0] // (2 * high[1])"),
        ("a product's upper end is rounded up", "space.offsets[k] + -low[0] // (2 * low[1])", "space.offsets[k] - low[0] // (2 * low[1])"),
        ("products count once", "space.offsets[k] - high[0] // (2 * high[1])", "space.offsets[k] - high[0] // high[1]"),
        ("a cosine's lower end is over the wrong norm", "(least if lower > 0 else greatest)", "(greatest if lower > 0 else least)"),
        ("a cosine's upper end is over the wrong norm", "(greatest if upper > 0 else least)", "(least if upper > 0 else greatest)"),
        ("a point may be too long", "if unit <= 0 or spare < 0:", "if unit <= 0:"),
        ("a point need not satisfy the facts", "if not all(low * unit <= v <= high * unit for", "if not any(low * unit <= v <= high * unit for"),
        ("only lower ends are looked at", "low * unit <= v <= high * unit for", "low * unit <= v for"),
        ("only upper ends are looked at", "low * unit <= v <= high * unit for", "v <= high * unit for"),
        ("the facts' products count once", "curve * point.square * unit - (product << lift + 1)\n            for", "curve * point.square * unit - (product << lift)\n            for"),
        ("a point has no length", "- (dot(point.weights, products) << lift)", ""),
        ("a way leads through the span alone", "image + own * product for image", "image + 0 * product for image"),
        ("a target is in the span", "+ own * target.square  # <v, b>", ""),
        ("a way has no length", "bend = own * across + sum(map(mul, row, along)) << lift", "bend = own * own * target.square >> 9 << lift"),
        ("a way has half its length", "sum(map(mul, row, along)) << lift", "sum(map(mul, row, along)) << lift - 1"),
        ("a way leads outward first", "slope = rise * point.unit - (", "slope = rise * point.unit + ("),
        ("a rise is no room", "slope = rise * point.unit - (", "slope = -rise * point.unit - ("),
        ("no fact stops a segment", "> self._least * back[1]:", "< 0:"),
        ("the widest fact stops a segment", "self._least = min(*self._down, *self._up)", "self._least = max(*self._down, *self._up)"),
        ("back and forth are exchanged", "_nearer(back, (down, change)), _nearer(forth, (up, change))", "_nearer(back, (up, change)), _nearer(forth, (down, change))"),
        ("back and forth are exchanged, downward", "_nearer(back, (up, -change)), _nearer(forth, (down, -change))", "_nearer(back, (down, -change)), _nearer(forth, (up, -change))"),
        ("rising facts stop nothing", "if change > 0:\n", "if False:\n"),
        ("falling facts stop nothing", "elif change < 0:", "elif False:"),
        ("a fact does not rise", "[curve * rise - (product << lift + 1) for", "[-(product << lift + 1) for"),
        ("a target's value at the point has half its products", "sum(map(mul, point.weights, target.products)) << lift + 1", "sum(map(mul, point.weights, target.products)) << lift"),
        ("a target changes half as much", "target.curve * rise - (across << lift + 1)", "target.curve * rise - (across << lift)"),
        ("a target changes twice as much", "target.curve * rise - (across << lift + 1)", "target.curve * rise - (across << lift + 2)"),
        ("the ends are exchanged", "return (first, last) if change > 0 else (last, first)", "return (first, last) if change < 0 else (last, first)"),
        ("back is forth", "(-back[0], back[1]) if back", "back if back"),
        ("a root is rounded up", "<< 2 * _ROOT)\n", "<< 2 * _ROOT) + (1 << 2 * _ROOT)\n"),
        ("four times is twice", "4 * bend * self._spare", "8 * bend * self._spare"),
        ("the slope counts the other way", "(root - (slope << _ROOT), below), (root + (slope << _ROOT), below)", "(root + (slope << _ROOT), below), (root - (slope << _ROOT), below)"),
        ("a straight way never ends", "(self._spare, slope) if slope > 0 else None, (self._spare, -slope) if slope < 0 else None", "None, None"),
        ("the farther end stops", "other[0] * one[1] < one[0] * other[1]", "other[0] * one[1] > one[0] * other[1]"),
    ],
    "rules/quadratic/points.py": [
        ("a middle is an end", "(4 - fourths) * (low + high) + 2 * fourths * end", "8 * high"),
        ("the adjugate is not divided", "(grown * entry + a * b) // scale", "grown * entry + a * b"),
        ("equalities are nearly so", "if any(low == high for low, high in (self._facts.ends[i] for i in chosen)):", "if False:"),
        ("no way leads from the point", "yield self._flat([Move(zero, 1, 0) for _ in self._targets])", "yield self._flat([Move(zero, 0, 0) for _ in self._targets])"),
        ("wide statements have no best points", "for bests in self._bests.values() if self._wide else ():", "for bests in ():"),
        ("what narrow statements say is changed", "weights[i] -= each", "weights[i] += each"),
    ],
}  # fmt: skip
"""For each file of the checker: what is wrong, the source text, and what takes its place."""
