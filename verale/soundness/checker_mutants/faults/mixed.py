"""Faults in what activations say of each other."""

from __future__ import annotations

__all__ = ["FAULTS"]

FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "rules/lipschitz.py": [
        ("what is nearer than a prototype counts as far from it", "y - link <= known else max(known, y + link - 2", "y + link <= known else max(known, y + link - 2"),
        ("a root is taken off that is rounded down", "y + link - 2 * sqrt_ends(y * link)[1])", "y + link - 2 * sqrt_ends(y * link)[0])"),
        ("a root is added that is rounded down", "y + link + 2 * sqrt_ends(y * link)[1]", "y + link + 2 * sqrt_ends(y * link)[0]"),
        ("a root is added that is to be taken off", "y + link - 2 * sqrt_ends", "y + link + 2 * sqrt_ends"),
        ("a root is added once", "y + link + 2 * sqrt_ends", "y + link + sqrt_ends"),
        ("the sum of all squares is the sum of distances", "new = y + link + 2 * sqrt_ends(y * link)[1]", "new = y + link"),
        ("the sines are rounded down", "(square - y * y))[1]", "(square - y * y))[0]"),
        ("the sines are left out", "y * link - self._across(y, link) >> self._space.bits", "y * link >> self._space.bits"),
        ("an angle is less than nothing", "known if y + link <= 0 else", "known if y + link <= -9 * self._one else"),
        ("an angle is more than half a turn", "elif y < link:", "elif y < 9 * self._one:"),
        ("a cosine's lower end is rounded up", "y * link - self._across(y, link) >> self._space.bits", "-(self._across(y, link) - y * link >> self._space.bits)"),
        ("a cosine's upper end is rounded down", "ceil_shift(y * link + self._across(y, link), -self._space.bits)", "(y * link + self._across(y, link)) >> self._space.bits"),
        ("the cosine of prototypes is rounded up", "(product << 3 * space.bits) // norms", "-((-product << 3 * space.bits) // norms)"),
        ("the cosine of prototypes is over the wrong norms", "if product > 0 else", "if product <= 0 else"),
        ("a product of prototypes counts once", "- 2 * product << space.lift", "- product << space.lift"),
        ("a prototype's own length is forgotten", "yield own + int(square) - 2", "yield int(square) - 2"),
        ("what is as great is greater", "self._at(y, k)[0] - high", "self._at(y, k)[0] - high + 1"),
        ("what is as small is less", "low - self._at(y, k)[1]", "low - self._at(y, k)[1] + 1"),
        ("an upper end is rounded down", "min(high, self._at(y, j)[1])", "min(high, self._at(y, j)[0])"),
        ("a lower end is rounded up", "max(low, self._at(y, j)[0])", "max(low, self._at(y, j)[1])"),
        ("a cosine is dissimilarity", "y if self._distances else -y", "y"),
        ("all prototypes have the first one's scale", "own.rows[0][k]", "own.rows[0][0]"),
        ("the domain ends sooner", "int(upper[k])", "int(upper[k]) >> 1"),
        ("a search takes what is not proved", "if over <= 0:", "if over > 0:"),
        ("the nearest is the farthest", "least[k] = self._raised(least[k], near[i], link)", "least[k] = self._raised(least[k], far[i] or 0, link)"),
        ("an exempt activation is bounded without the links", "least[i] = self._raised(least[i], near[k], link)", "least[i] = max(least[i], near[k])"),
        ("an exempt activation is as great as any", "most[i] = self._lowered(most[i], far[k], link)", "most[i] = far[k]"),
    ],
    "rules/mixed.py": [
        ("patches without statements are forgotten", "self._patches.box(of_patches, patches)", "self._patches.box(of_patches, max(1, len({s.patch for s in of_patches})))"),
    ],
    "certificate.py": [
        ("mixed under any pooling", '(head.pooling != "max" or head.similarity.unimodal)', "head.similarity.unimodal"),
        ("mixed under any similarity", '(head.pooling != "max" or head.similarity.unimodal)', '(head.pooling != "max")'),
    ],
}  # fmt: skip
"""For each file of the checker: what is wrong, the source text, and what takes its place."""
