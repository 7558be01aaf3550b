"""A head, latents and certificates; a Ray of two workers for all tests; and the same without Ray, in this process."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.small import small_latents, varied_head

from verale.certificate import Certificate
from verale.datasets.certificates import write_rows
from verale.head import save_latents
from verale.runs.run import Finished
from verale.runs.workers import ray as pipeline
from verale.search.explain import explain


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


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch) -> type[Killed]:
    """Parts are processed here, one after the other; a worker that was killed is replaced by another."""

    def here(
        create_job: Callable[[], pipeline.Job], staged: object, parts: list[tuple[int, int]], workers: object
    ) -> Iterator[Finished[pipeline.Summary | None]]:
        worker = pipeline._Worker(create_job, staged)
        for start, stop in parts:
            while True:
                try:
                    row = worker({"start": [start], "stop": [stop]})
                    break
                except Killed:
                    worker = pipeline._Worker(create_job, staged)
            yield pipeline._finished({name: value for name, (value,) in row.items()})

    monkeypatch.setattr(pipeline, "_through_ray", here)
    return Killed


@pytest.fixture(scope="session")
def ray_itself() -> Iterator[None]:
    with ExitStack() as stack:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray's own, as it starts
            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
            import ray

            with pipeline._importable():
                pipeline._connect("local", 2)
            stack.enter_context(pipeline._quiet())
        yield
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # Ray forgets its processes while they end
            ray.shutdown()
            gc.collect()


@pytest.fixture
def workers(ray_itself: None) -> Iterator[pipeline.Workers]:
    with warnings.catch_warnings():
        # Ray Data reads settings of its own that it has deprecated.
        warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"ray\.")
        with pipeline.start_ray(2) as workers:
            yield workers
