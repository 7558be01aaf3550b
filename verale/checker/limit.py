"""How many steps a proof may take (certificates/v1.md, step 4). A step is 25 ns of processor time, roughly.

Larger files may take longer: the limit is for each megabyte that they begin. So an honest proof about a large head
passes, and what anybody sends in less than a megabyte is answered in seconds.
"""

from __future__ import annotations

__all__ = ["LIMIT", "SHARE", "allowed"]

LIMIT = 3 * 2**27
"""Steps for each megabyte: at most 10 seconds."""
SHARE = 4
"""With `proved-or-arb` whoever is asked first is stopped after this part of the limit, and the other is asked. A proof
that the first is good at takes less, and a refusal takes little longer than one by the other alone."""
_MEGABYTE = 2**20


def allowed(limit: int, size: int) -> int:
    """The steps that files of `size` bytes may take: `limit` for each megabyte that they begin."""
    return limit * max(1, -(-size // _MEGABYTE))
