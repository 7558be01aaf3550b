"""Rules: from statements to proved margins, one step a file. None of them searches."""

from __future__ import annotations

__all__: list[str] = []
