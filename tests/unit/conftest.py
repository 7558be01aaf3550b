"""A head, latents and certificates; searches that are not repeated; a Ray of two workers for all tests, and the same
without Ray, in this process.

The search and what it needs is imported by the fixtures: a process for one test of the checker would spend most of its
time on that.
"""

from __future__ import annotations

import gc
import pickle
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from torch import Tensor

    from verale.runs.workers.local import Job
    from verale.search import Batches, ImageResult


@dataclass(frozen=True)
class Given:
    """A head, the latents of 40 images, and the certificates that explaining here gives in batches of four."""

    folder: Path
    certificates: list[bytes]

    head = property(lambda self: str(self.folder / "head"))
    latents = property(lambda self: str(self.folder / "latents"))
    packed = property(lambda self: str(self.folder / "packed.parquet"))


@pytest.fixture(scope="session")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    from support.small import small_latents, varied_head

    from verale.certificate import Certificate
    from verale.datasets.rows import write_rows
    from verale.head import save_latents
    from verale.search.explain import explain

    folder = tmp_path_factory.mktemp("given")
    head = varied_head("inner product in a ball", 1, prototypes=16, depth=8, classes=3)
    latents = small_latents(head, images=40, patches=6)
    head.save(folder / "head")
    save_latents(folder / "latents", latents)
    certificates = [
        one.to_bytes() for one in explain(head, latents, "projection", batch=4) if isinstance(one, Certificate)
    ]
    assert len(certificates) == 40
    rows = [{"index": n, "name": f"{n:06d}.ale.json", "certificate": data} for n, data in enumerate(certificates)]
    write_rows(str(folder / "packed.parquet"), rows)
    return Given(folder, certificates)


class Killed(BaseException):
    """Replaces SIGKILL where there is no process to kill."""


class Here:
    """A cluster of so many workers, each a thread of this process; one that is killed dies alone."""

    def __init__(self, size: int) -> None:
        self.size = size

    def process(self) -> HereProcess:
        return HereProcess()


class HereProcess:
    """A worker of `Here`."""

    def begin(self, job: Job, level: int) -> None:
        self._job: Job = pickle.loads(pickle.dumps(job))
        self._work: Any = None

    def ask(self, message: tuple[Any, ...]) -> object:
        try:
            self._work = self._work or self._job[0](*self._job[1])
            return self._work(*pickle.loads(pickle.dumps(message)))
        except Killed as killed:
            raise EOFError from killed
        except Exception:
            return None

    def kill(self) -> None:
        pass

    close = kill


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch) -> type[Killed]:
    """`--engine ray` has workers in this process; raising what this gives kills one."""
    from verale.runs.workers import ray as pipeline

    @contextmanager
    def start(workers: int | None = None, address: str | None = None, gpus: bool = False) -> Iterator[Here]:
        yield Here(workers or 2)

    monkeypatch.setattr(pipeline, "start_ray", start)
    return Killed


@pytest.fixture(scope="session")
def ray_itself() -> Iterator[None]:
    with ExitStack() as stack:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray's own, as it starts
            from verale.runs.workers import ray as pipeline

            stack.enter_context(pipeline.start_ray(2))
        yield
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # Ray forgets its processes while they end
            stack.close()
            gc.collect()


@pytest.fixture(scope="module")
def searched_once() -> Iterator[None]:
    """For tests of files: what is found of images does not depend on these, so it is searched for once."""
    from verale.search import Batches

    search, found = Batches.explain_images, {}

    def explain_images(batches: Batches, images: Tensor) -> list[ImageResult]:
        through = batches.through
        seen = through and (through.network.digest, through.arithmetic, type(through).latents)
        asked = batches.head.digest, repr(batches.options), seen, tuple(images.shape), images.numpy().tobytes()
        found[asked] = found.get(asked) or search(batches, images)
        return found[asked]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Batches, "explain_images", explain_images)
        yield
