"""numba takes no settings from the folder in which a command is started."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.alone import WITHOUT_TORCH

PROGRAM = """
import os
from pathlib import Path
from verale.search.compiled.settings import import_numba
here = Path.cwd()
{before}
config = import_numba().core.config
assert Path.cwd() == here
Path(".numba_config.yaml").write_text("disable_jit: 1")
config.reload_config()
print(config.DISABLE_JIT)
"""


@pytest.mark.parametrize(
    ("before", "disabled", "traced"),
    [("", 0, False), ("os.environ['NUMBA_DISABLE_JIT'] = '1'", 1, False), ("import numba", 1, True)],
    ids=["settings", "a variable counts", "a program that has imported numba before"],
)
def test_settings_of_the_current_folder_do_not_count(before, disabled, traced, tmp_path):
    (tmp_path / ".numba_config.yaml").write_text(f"chrome_trace: {tmp_path / 'trace'}")
    program = WITHOUT_TORCH + PROGRAM.format(before=before)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout == f"{disabled}\n", done.stderr
    assert (tmp_path / "trace").exists() == traced
