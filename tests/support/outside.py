"""Planted faults, outside the checker (`outside_faults`) and in it (`checker_mutants.faults`): one after the other in a
copy of the whole package, in which the one test that it names then runs. A fault that it does not detect is a test that
is missing.

    PYTHONPATH=tests python -m support.outside [WORD... | K/N]

tries those with a word in their names, or the K-th of N groups of similar cost.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import cache_from_source
from multiprocessing import get_context
from pathlib import Path
from textwrap import dedent

import pytest
from checker_mutants.faults import TABLE as OF_CHECKER
from support.forking import keep_one_thread
from support.outside_faults import TABLE
from support.syntax import changed, replaced

_SECONDS = 300
"""A test that takes longer hangs: it takes a second or some, on a busy machine twenty."""
_IMPORTED = (
    *("torch", "scipy.optimize", "safetensors.torch", "flint", "jsonschema", "click", "hypothesis"),
    *("pyarrow.parquet", "pyarrow.fs", "pyarrow.dataset"),
)
"""What is imported once, not in every process."""
_NOT_NEEDED = ("cacheprovider", "anyio", "xdist", "cov")
"""Plugins of pytest that each process would load."""
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class OutsideFault:
    """A change of a function in a file of `verale`, as `changed` takes it; where it is no Python, of a text that stands
    there once. `wrong` says what is wrong then.

    `test` has to detect it: its file below `tests`, its name, perhaps its parameters.
    """

    file: str
    function: str
    wrong: str
    change: str
    test: str

    def __str__(self) -> str:
        return f"{self.file}: {self.wrong}"

    @classmethod
    def of(cls, text: str) -> OutsideFault:
        """The fault that the table describes so. Raises ValueError: a part of it is missing."""
        title, *change, test = text.rstrip().split("\n")
        place, _, wrong = title.partition(": ")
        file, _, function = place.partition(" ")
        if not (wrong and change):
            raise ValueError(f"not a fault as the table has them: {text}")
        return cls(file, function, wrong, dedent("\n".join(change)), test.strip())

    def source(self) -> str:
        """The file with the fault. Raises ValueError where what is replaced is not there exactly once."""
        source = (ROOT / "verale" / self.file).read_text(encoding="utf-8")
        try:
            if self.file.endswith(".py"):
                return changed(source, self.function, self.change)
            return replaced(source, *map(str.strip, self.change.split("=>")))
        except (ValueError, SyntaxError) as error:
            raise ValueError(f"{self}: {error}") from None


def _listed(table: str, folder: str = "") -> list[OutsideFault]:
    """The faults of a table, whose files lie in a folder of the package. Lines that begin with # are titles."""
    texts = re.split(r"\n+(?=\S)", re.sub(r"^#.*$", "", table, flags=re.MULTILINE).strip())
    return [OutsideFault.of(folder + text) for text in texts]


FAULTS = [*_listed(TABLE), *_listed(OF_CHECKER, "checker/")]


def chosen(words: Sequence[str]) -> list[OutsideFault]:
    """Those with a word in their names; of `K/N` each N-th from the K-th on, so that no group has all that is slow."""
    if len(words) == 1 and (group := re.fullmatch(r"(\d+)/(\d+)", words[0])):
        return FAULTS[int(group[1]) - 1 :: int(group[2])]
    return [fault for fault in FAULTS if not words or any(word in str(fault) for word in words)]


def of_commit(count: int) -> int:
    """A number below `count` that follows from the commit: what is tried in turns. Without git it is 0.

    So what a run finds may be older than its commit (CONTRIBUTING.md, "Turns").
    """
    asked = ["git", "-c", "safe.directory=*", "rev-parse", "HEAD"]
    try:
        said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True).stdout
    except FileNotFoundError:
        said = ""
    return int(said or "0", 16) % count


@contextmanager
def a_copy() -> Iterator[Path]:
    """A folder with a copy of the package."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "verale", Path(folder) / "verale")
        # Beside the package the soundness suite reads certificates and proofs, and audits look for the executable.
        for name in ("build", "certificates", "proofs"):
            (Path(folder) / name).symlink_to(ROOT / name)
        yield Path(folder)


def _rewrite(file: Path, data: bytes) -> None:
    """What was compiled goes: it would be taken for that of a file of the same size, written within the same second."""
    file.write_bytes(data)
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def detected_by(fault: OutsideFault | None, tests: Sequence[str], folder: Path) -> str | None:
    """The first of the tests that fails in `a_copy` of the package while it has the fault; None if none does.

    Raises:
        ValueError: a fault that cannot be injected, or tests that are not there or cannot run.
    """
    output = folder / "output"
    file = None if fault is None else folder / "verale" / fault.file
    sound = b"" if file is None else file.read_bytes()
    try:
        if fault is not None and file is not None:
            _rewrite(file, fault.source().encode())
        process = get_context("fork").Process(target=_test, args=(str(folder), output, tests))
        process.start()
        assert process.pid is not None
        try:
            process.join(None if fault is None else _SECONDS)
            if process.is_alive():
                stacks = output.read_text(encoding="utf-8", errors="replace")
                raise ValueError(f"{fault}: the test takes more than {_SECONDS} seconds\n{stacks}")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what the tests started, too
            process.join()
    finally:
        if file is not None:
            _rewrite(file, sound)
    lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    if process.exitcode == pytest.ExitCode.OK:
        return None
    failed = next((line for line in lines if line.startswith(("FAILED", "ERROR"))), None)
    if process.exitcode != pytest.ExitCode.TESTS_FAILED or failed is None:  # such as a test that is not there
        raise ValueError(f"{fault}: the tests cannot run: " + "\n".join(lines[-20:]))
    return failed


def _test(folder: str, output: Path, tests: Sequence[str]) -> None:
    """In a process of its own: its exit code is that of pytest."""
    os.setpgid(0, 0)
    stream = output.open("wb")
    os.dup2(stream.fileno(), 1)
    os.dup2(stream.fileno(), 2)
    faulthandler.dump_traceback_later(_SECONDS - 10, file=stream)  # where they hang
    os.chdir(ROOT)
    # Where this process and those that it starts find the package.
    os.environ["PYTHONPATH"] = os.pathsep.join((folder, str(ROOT / "tests")))
    sys.path[:] = [folder, str(ROOT / "tests"), *(path for path in sys.path if path and Path(path) != ROOT)]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("verale", "support", "checker_mutants")]:
        del sys.modules[name]
    import verale

    if not str(verale.__file__).startswith(folder):
        raise ValueError(f"{verale.__file__} is another copy of the package")
    options = ["-x", "-q", "--assert=plain", "--no-header", "--tb=no"]
    options += [word for plugin in _NOT_NEEDED for word in ("-p", f"no:{plugin}")]
    options += ["-o", f"pythonpath={folder} tests ."]
    sys.exit(pytest.main([*options, *(f"tests/{test}" for test in tests)]))


def main(words: list[str]) -> int:
    keep_one_thread()
    for module in _IMPORTED:
        import_module(module)
    gc.freeze()  # no child looks for garbage among these objects, whose pages it would copy
    faults, undetected = chosen(words), 0
    with a_copy() as folder:
        for fault in faults:
            try:
                found = detected_by(fault, [fault.test], folder)
                said = found or f"SURVIVES {fault.test}"
            except ValueError as error:
                found, said = None, f"SURVIVES: {error}"
            undetected += found is None
            sys.stdout.write(f"{fault}\n    {said}\n")
            sys.stdout.flush()
        accused = detected_by(None, sorted({fault.test for fault in faults}), folder)
    sys.stdout.write(f"{len(faults)} faults, {len(faults) - undetected} detected\n")
    if accused:
        sys.stdout.write(f"without a fault: {accused}\n")
    return 1 if undetected or accused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
