"""The same verale in every process of Ray, and none that lies in somebody's folder.

Ray puts the folder in which a program connects to it first on its workers' path. A folder that somebody sent may hold
a `verale` that proves everything. So `nowhere` is the folder in which verale connects. Who starts Ray before may stand
elsewhere: a worker's first act is to compare what it would import with what this process has imported.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@cache
def nowhere() -> str:
    """An empty folder that nobody else can write to, until this process ends."""
    folder = tempfile.mkdtemp(prefix="verale-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def sources_digest(folder: Path) -> str:
    """SHA-256 of the names and bytes of a package's modules, after how long they are: so that no name, which may hold
    any byte, looks like another module."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py"), key=os.fsencode):
        name, source = os.fsencode(path.relative_to(folder)), path.read_bytes()
        digest.update(b"%d %d\n%b%b" % (len(name), len(source), name, source))
    return digest.hexdigest()


def pickled_with_guard(worker: type, **arguments: object) -> tuple[type[GuardedWorker], dict[str, Any]]:
    """What Ray creates instead of a worker, and the arguments for it: plain values and bytes, which need no verale."""
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    package = Path(__file__).parents[2]
    pickled = cloudpickle.dumps((worker, arguments))
    return GuardedWorker, {"pickled": pickled, "sha256": sources_digest(package), "package": str(package)}


class GuardedWorker:
    """A worker that is there only where `import verale` gives the sources with this digest.

    Ray gets this class with its code, not by its name, so that nothing is imported before the comparison.
    """

    def __init__(self, pickled: bytes, sha256: str, package: str) -> None:
        spec = find_spec("verale")
        found = None if spec is None or not spec.origin else Path(spec.origin).parent
        if found is not None and sources_digest(found) == sha256:
            from ray import cloudpickle

            worker, arguments = cloudpickle.loads(pickled)
            self._worker = worker(**arguments)
        else:
            self._worker = None
        self._problem = (
            f"workers of this Ray import {found or 'no verale'}, but this process {package}, whose sources are others:"
            " install this version where they run, and start Ray in a folder that holds no verale"
        )

    def ready(self) -> bool:
        """Whether it is there, whatever it can do."""
        return True

    def ask(self, message: bytes) -> tuple[Any, list[Any], str]:
        """What the worker answers, what it has logged, and why it can do nothing, empty if it can."""
        return (None, [], self._problem) if self._worker is None else (*self._worker(message), "")
