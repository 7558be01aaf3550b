"""An auditor that threads, forks and copies share: each gets the verdict on what it asked about."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import files

from verale.checker import Auditor
from verale.checker.auditor import Exclusive

IMAGES = [[[0.0, 0.0]], [[1.0, 1.0]]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
NEAR = files.patch_statement(0, 0, 0.0, 2.0**-40)
GOOD = files.certificate(HEAD, [NEAR], image=IMAGES[0])
OPEN = files.certificate(HEAD, [], image=IMAGES[0])
LATENTS = files.latents(IMAGES)
KERNELS = ("proved", "proved-or-arb", "arb", "mpmath")


@pytest.fixture(params=["executable", "script"])
def auditor_of(request, monkeypatch, tmp_path) -> Callable[[str], Auditor]:
    """Makes auditors, whose program is the executable, or the script."""
    if request.param == "executable":
        monkeypatch.setenv("VERALE_PROVED", request.getfixturevalue("proved_checker"))
    else:
        pytest.importorskip("py_mini_racer", reason="the script is not run here, which takes mini-racer")
        monkeypatch.delenv("VERALE_PROVED", raising=False)
        for name in ("_BUILT", "_BROUGHT"):
            monkeypatch.setattr(f"verale.checker.proved.program.{name}", tmp_path / "none")
    return lambda kernel: Auditor(HEAD, LATENTS, kernel)


of_every_kernel = pytest.mark.parametrize(
    ("auditor_of", "kernel"),
    [*(("executable", name) for name in KERNELS), ("script", "proved")],
    indirect=["auditor_of"],
)


def said(auditor: Auditor, certificate: bytes) -> str:
    return auditor.check(certificate).status.value


EXPECTED = [(GOOD, "PROVED"), (OPEN, "NOT_PROVED")] * 4


@of_every_kernel
def test_threads(kernel, auditor_of) -> None:
    auditor, meeting = auditor_of(kernel), threading.Barrier(len(EXPECTED))

    def ask(certificate: bytes) -> set[str]:
        meeting.wait()
        return {said(auditor, certificate) for _ in range(4)}

    with ThreadPoolExecutor(len(EXPECTED)) as pool:
        found = list(pool.map(ask, [certificate for certificate, _ in EXPECTED]))
    assert found == [{status} for _, status in EXPECTED]


_SHARED: list[Auditor] = []
"""What a pool's processes find when they are forked."""


def _in_child(certificate: bytes) -> str:
    return said(_SHARED[0], certificate)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
@of_every_kernel
def test_a_pool_that_is_forked_after_it_was_used(kernel, auditor_of) -> None:
    _SHARED[:] = [auditor_of(kernel)]
    assert said(_SHARED[0], GOOD) == "PROVED"
    certificates = [certificate for certificate, _ in EXPECTED] * 4
    with multiprocessing.get_context("fork").Pool(4) as pool:
        found = pool.map(_in_child, certificates, chunksize=1)
    assert found == [status for _, status in EXPECTED] * 4
    assert said(_SHARED.pop(), OPEN) == "NOT_PROVED", "its parent goes on with its own"


FORKS = """
import os, sys
from pathlib import Path
from verale.checker import Auditor
head, certificate = Path("head").read_bytes(), Path("certificate").read_bytes()
auditor = Auditor(head, None, "proved")
def asked():
    assert auditor.check(certificate, entailment_only=True).status.value == "PROVED"
asked()
if not (child := os.fork()):
    exec(sys.argv[1])
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
asked()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
@pytest.mark.parametrize("does", ["pass", "del auditor", "asked()", "asked(); os._exit(0)"])
def test_a_child_ends_whatever_it_does(does, auditor_of, tmp_path) -> None:
    (tmp_path / "head").write_bytes(HEAD)
    (tmp_path / "certificate").write_bytes(files.certificate(HEAD, [NEAR]))
    hidden = "from verale.checker.proved import program; program._BUILT = program._BROUGHT = '/none'\n"
    if not auditor_of("proved").executable.modules:
        hidden = ""
    (tmp_path / "forks.py").write_text(hidden + FORKS)
    done = subprocess.run([sys.executable, "forks.py", does], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_child_need_not_wait_for_a_thread_of_its_parent() -> None:
    exclusive, entered, leave = Exclusive(), threading.Event(), threading.Event()

    def stay() -> None:
        with exclusive.alone():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    thread.start()
    entered.wait()
    child = os.fork()
    if child == 0:
        with exclusive.alone():
            os._exit(0)
    leave.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@of_every_kernel
def test_a_copy_is_another_auditor(kernel, auditor_of) -> None:
    auditor = auditor_of(kernel)
    assert said(auditor, GOOD) == "PROVED"
    for other in (copy.deepcopy(auditor), pickle.loads(pickle.dumps(auditor))):
        assert [said(other, GOOD), said(other, OPEN), said(auditor, GOOD)] == ["PROVED", "NOT_PROVED", "PROVED"]
        assert other.kernel == auditor.kernel and other._exclusive is not auditor._exclusive
