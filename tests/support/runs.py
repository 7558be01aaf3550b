"""Runs of CaBRNet for the tests: the fixtures, and copies with something changed."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import yaml

FIXTURES = Path(__file__).parents[1] / "fixtures" / "cabrnet"
IMAGES = FIXTURES / "images"
FAMILIES = ("protopnet", "legacy", "gaussian", "density", "tesnet", "protopool", "prototree", "pipnet")


def imported() -> tuple[Any, Any]:
    """CaBRNet's models and its datasets, imported as they have to be: CaBRNet silences every warning of the process."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*distutils", DeprecationWarning)  # of thop, which cabrnet imports
        from cabrnet.archs.generic import model
        from cabrnet.core.utils import data
    return model.CaBRNet, data.DatasetManager


def final(family: str) -> Path:
    return FIXTURES / family / "final"


def changed(
    family: str,
    to: Path,
    architecture: Callable[[Any], object] | None = None,
    state: Callable[[Any], object] | None = None,
    dataset: Callable[[Any], object] | None = None,
) -> Path:
    """A copy of a fixture after the given changes, each made in place."""
    run = to / "final"
    shutil.copytree(final(family), run)
    for name, change in (("model_arch.yml", architecture), ("dataset.yml", dataset)):
        if change is not None:
            content = yaml.safe_load((run / name).read_text(encoding="utf-8"))
            change(content)
            (run / name).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    if state is not None:
        tensors = torch.load(run / "model_state.pth", weights_only=True)
        state(tensors)
        torch.save(tensors, run / "model_state.pth")
    return run
