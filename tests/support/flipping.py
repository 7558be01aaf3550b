"""A link that leads elsewhere the next time that it is opened, as whoever owns a folder can make one do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.opening import opening


@contextmanager
def flipping(link: Path, *targets: Path) -> Iterator[list[Path]]:
    """Openings of `link` find the targets one after the other, the last one again and again; yields what they found."""
    left, found = list(targets), []

    def flip(path: Path) -> None:
        if path == link.absolute():
            link.unlink()
            link.symlink_to(left[0].absolute())
            found.append(left.pop(0) if len(left) > 1 else left[0])

    link.unlink(missing_ok=True)
    link.symlink_to(targets[0].absolute())
    with opening(flip):
        yield found
