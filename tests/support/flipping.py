"""A link that leads elsewhere the next time that it is opened, as whoever owns a folder can make one do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch


@contextmanager
def flipping(link: Path, *targets: Path) -> Iterator[list[Path]]:
    """Openings of `link` find the targets one after the other, the last one again and again; yields what they found."""
    left, found = list(targets), []
    opened = os.open

    def flipped(path: Any, *rest: Any, **options: Any) -> int:
        if isinstance(path, str | Path) and Path(path).absolute() == link.absolute():
            link.unlink()
            link.symlink_to(left[0].absolute())
            found.append(left.pop(0) if len(left) > 1 else left[0])
        return opened(path, *rest, **options)

    link.unlink(missing_ok=True)
    link.symlink_to(targets[0].absolute())
    with patch("os.open", flipped):
        yield found
