"""The reading: certificates/v1.md in interval arithmetic, by `arb` or `mpmath`.

Each rule states its lemma where it is computed, and proves it.
"""
