"""Kernels are compiled for devices that Triton has, and interpreted where it is told to; elsewhere it is said once."""

from __future__ import annotations

import logging
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import torch
from support import in_blocks

from verale.errors import VeraleError
from verale.search import devices
from verale.search.devices.jit import interprets, probe


def test_the_interpreter_computes_in_float64(interpreter: ProcessPoolExecutor) -> None:
    assert interpreter.submit(in_blocks.probed).result()


def test_elsewhere_kernels_are_compiled_for_what_triton_has() -> None:
    assert not interprets()
    with pytest.raises(VeraleError, match="Triton does not compile for meta"):
        probe("meta")


def test_machine_code_that_others_may_have_written_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    with pytest.raises(VeraleError, match=f"others may write to {tmp_path}: remove it; or name .* in TRITON_CACHE_DIR"):
        probe("cuda:0")


def test_a_device_that_it_does_not_have_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    devices._runs_on.cache_clear()
    devices._without.clear()
    with caplog.at_level(logging.WARNING):
        assert not any(devices.is_available(torch.device("meta")) for _ in range(3))
    (line,) = caplog.messages
    assert "kernels do not run on meta, so the CPU searches" in line


def test_a_missing_package_is_told_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(f"no {name}")

    devices._runs_on.cache_clear()
    devices._without.clear()
    monkeypatch.setattr(devices, "import_module", missing)
    with caplog.at_level(logging.WARNING):
        assert not devices.is_available(torch.device("cuda:7"))
        assert not devices.is_available(torch.device("cuda:7"))
    (line,) = caplog.messages
    assert "kernels do not run on cuda:7, so the CPU searches: ImportError" in line


def test_on_the_cpu_nothing_is_asked() -> None:
    devices._runs_on.cache_clear()
    assert not devices.is_available(torch.device("cpu"))
    assert devices._runs_on.cache_info().misses == 0
