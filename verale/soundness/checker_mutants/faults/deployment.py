"""Faults in what is proved of deployed heads: of each file (what is wrong then, the text, what replaces it)."""

# fmt: off

from __future__ import annotations

__all__ = ["FAULTS"]

FAULTS = {
    "deployment.py": [
        ("a rounding loses half as much", "UNIT = Fraction(1, 2**24)", "UNIT = Fraction(1, 2**25)"),
        ("roundings add up", "return lost / (1 - lost)", "return lost"),
        ("a function may be exact", "if not 1 <= ulps <= _MOST_ULPS:", "if ulps > _MOST_ULPS:"),
        ("a function may be off by any number of ulps", "if not 1 <= ulps <= _MOST_ULPS:", "if ulps < 1:"),
        ("any formula is known", "if self.formula not in FORMULAS:", "if False:"),
        ("binary64 has the digits of binary32", "size.bit_length() - trailing <= _DIGITS", "size.bit_length() - trailing <= 53"),
        ("binary32 has smaller numbers", "trailing - bits >= _LEAST_PLACE", "trailing - bits >= -1074"),
        ("binary32 has greater numbers", "size.bit_length() - bits <= _MOST_PLACE", "size.bit_length() - bits <= 1024"),
    ],
    "rules/losses.py": [
        ("a sum loses what a term loses", "gamma(head.depth + 3 + rooted)", "gamma(3 + rooted)"),
        ("a root and its square lose nothing", "gamma(head.depth + 3 + rooted)", "gamma(head.depth + 3)"),
        ("expanded distances lose what direct ones lose", 'if deployment.formula == "direct":', 'if deployment.formula != "cdist":'),
        ("cdist loses what expanded ones lose", 'head.depth + 1 if deployment.formula == "cdist" else 0', "0"),
        ("the products lose nothing", "+ 2 * _up(self._products, product) + self.fixed[j]", "+ self.fixed[j]"),
        ("the squares lose nothing", "return _up(self._squares, squares) + 2", "return 2"),
        ("the nearest patch loses nothing", "return max(near, low - self._with(j, self._reach))", "return low"),
        ("the farthest patch loses nothing", "        return high + self.loss(j, high)\n", "        return high\n"),
        ("a latent is as near to 0 as the prototype", "self._lengths[j] + isqrt(size << self._bits) + 1", "self._lengths[j]"),
        ("shares are not lost", "        return _up(self.share, size) + self.fixed[j]\n", "        return self.fixed[j]\n"),
        ("inner products lose nothing", "share * Fraction(size, 1 << bits) + eta", "eta"),
        ("a cosine's lengths are exact", "3 * head.depth + 8 * deployment.sqrt + 16", "head.depth + 1"),
        ("a mass loses what its quotient loses", "own = head.count + 4 * deployment.exp + 8 + head.count.bit_length()", "own = 1"),
        ("latents are bounded", "    if not found:\n        raise unproved", "    if not found:\n        return 1 << bits\n        raise unproved"),
        ("a patch without statements is as near as the others", "if len(by_patch) == patches:", "if by_patch:"),
        ("the nearest of patches bounds all", "found.append(max(by_patch.values()))", "found.append(min(by_patch.values()))"),
        ("a divisor may be 0", "    if least <= 0:\n        raise unproved", "    if least <= 0:\n        least = Fraction(1)\n    if least <= 0:\n        raise unproved"),
        ("nothing overflows", "** 2 * 16 > LARGEST", "** 2 * 16 < 0"),
    ],
    "rules/computed.py": [
        ("a logarithm is exact", "lost = 2 * self._deployment.log * UNIT", "lost = 0 * UNIT"),
        ("a quotient is exact", "        share = gamma(4)\n", "        share = Fraction(0)\n"),
        ("an exponential is exact", "2 * self._deployment.exp * UNIT", "0 * UNIT"),
        ("a root is exact", "gamma(4 * self._deployment.sqrt + 4)", "gamma(2)"),
        ("scales are exact", "roundings = 1 if are_binary32(own) else 2 * deployment.exp + 3", "roundings = 1"),
        ("what is scaled is exact", "self._share = gamma(roundings", "self._share = 0 * gamma(roundings"),
        ("greatest activations lose nothing", "most + self._logarithm(most)", "most"),
        ("least activations lose nothing", "least - self._logarithm(max(0, least))", "least"),
        ("pooled observables lose nothing", "self._losses.least(j, near), self._losses.most(j, far)", "near, far"),
        ("only means lose", "else each + of_mean +", "else of_mean +"),
        ("only minima lose", "            found.append(total + 1)\n", "            found.append(each + 1)\n"),
        ("similarities under means are exact", "return apart + self._logarithm(self._at(0, j)[1])", "return apart"),
        ("distances under means are exact", "return apart + self._logarithm", "return self._logarithm"),
        ("a threshold is exact", "is_binary32(head.similarity.values", "not is_binary32(head.similarity.values"),
        ("what is below a threshold stays there", "max(high, limit)", "high"),
        ("all similarities are covered", "if name not in self._series:", "if False:"),
    ],
    "rules/deployment.py": [
        ("sums of the readout are exact", "count = len(products) + 3 + (not space.known_readout)", "count = 0"),
        ("weights are exact", "count = len(products) + 3 + (not space.known_readout)", "count = len(products) + 1"),
        ("the bias loses nothing", "Fraction(sum(products), one) + Fraction(abs(bias[c]), 1 << head.bias.bits)", "Fraction(sum(products), one)"),
        ("a rival's logit is exact", "least - roundings[winner] - roundings[rival]", "least - roundings[winner]"),
        ("the predicted logit is exact", "least - roundings[winner] - roundings[rival]", "least - roundings[rival]"),
        ("a tie is a proof", "    if least <= 0:\n", "    if least < 0:\n"),
        ("soft trees are linear", 'if head.readout == "soft_tree":', "if False:"),
        ("prototypes are rounded without loss", "if not space.known_prototypes:", "if False:"),
        ("nothing is lost between activations", "total += abs(weight) * (each or 0)", "total += 0"),
        ("readouts do not overflow", "if most * 16 > LARGEST:", "if False:"),
    ],
    "auditor.py": [
        ("deployment is not asked for", "if deployment is not None:  # 9.", "if False:  # 9."),
        ("deployment is not required", "            require_deployed(self.deployed)\n", ""),
        ("latents that are rounded count", "if image is not None and not are_binary32(image.exact):", "if False:"),
        ("deployment is not given", "audit.run(minimality, deployment)", "audit.run(minimality, None)"),
    ],
}
