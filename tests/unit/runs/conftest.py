"""A head, three images and their certificates, as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from support.small import small_head, small_latents
from torch import Tensor

from verale.certificate import Certificate
from verale.files import certificate_name
from verale.head import Head, save_latents
from verale.search.explain import explain


@dataclass(frozen=True)
class Files:
    """Paths of what `files` has written, and the head."""

    folder: Path
    head: Head

    head_path = property(lambda self: str(self.folder / "head"))
    latents_path = property(lambda self: str(self.folder / "latents"))
    certificates = property(lambda self: [str(self.folder / certificate_name(index)) for index in range(3)])


@pytest.fixture(scope="session")
def explained() -> tuple[Head, Tensor, list[Certificate]]:
    """The head, the latents of the images, and their certificates."""
    head = small_head("euclidean")
    latents = small_latents(head, images=3)
    return head, latents, list(explain(head, latents, "projection"))


@pytest.fixture
def files(explained: tuple[Head, Tensor, list[Certificate]], tmp_path: Path) -> Files:
    head, latents, certificates = explained
    head.save(tmp_path / "head")
    save_latents(tmp_path / "latents", latents)
    for index, certificate in enumerate(certificates):
        certificate.save(tmp_path / certificate_name(index))
    return Files(tmp_path, head)
