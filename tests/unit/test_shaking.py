"""`SHAKE` moves what another processor moves, by no more, and nothing else: a test of a last bit fails under it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from support import shaking

ROOT = Path(__file__).parents[2]
MOVED = (
    *("@", "linear", "sum", "mean", "norm", "cumsum", "cdist", "conv2d", "solve", "inv", "cholesky", "exp", "exp_"),
    *("log1p out", "softmax", "randn", "backward", "sqrt", "embedding_bag", "math exp"),
)
KEPT = ("whole @", "whole sum", "two terms", "division", "square", "exp of 0", "max", "math exp of 0", "math sqrt")
OF_NUMPY = ("numpy @", "numpy solve", "numpy exp", "numpy tanh")
"""What its kernels for old processors and for those with fused operations round differently."""

PROGRAM = """
import json, math
import numpy as np
import torch
from support import shaking
from torch.nn import functional

if shaking.seed():
    shaking.start()

def backward():
    leaf = t.clone().requires_grad_()
    (leaf.exp() @ t.T).square().sum().backward()
    return leaf.grad

A = np.random.default_rng(0).random((24, 16)) - 0.3
t, s, w = map(torch.tensor, (A, A[:16] + 3 * np.eye(16), np.round(40 * A)))
f = t.float()
RESULTS = {
    "@": lambda: t @ t.T,
    "linear": lambda: functional.linear(f, f[:3], f[0, :3]),
    "sum": lambda: t.sum(0),
    "mean": lambda: f.mean(1),
    "norm": lambda: t.norm(dim=1),
    "cumsum": lambda: t.cumsum(0),
    "cdist": lambda: torch.cdist(t, t.flip(0), compute_mode="donot_use_mm_for_euclid_dist"),
    "conv2d": lambda: functional.conv2d(f[None, :, :4, None], f[:, :, None, None].transpose(0, 1)),
    "embedding_bag": lambda: functional.embedding_bag(torch.arange(24), t, torch.tensor([0, 12]), mode="sum"),
    "solve": lambda: torch.linalg.solve(s, t[0]),
    "inv": lambda: torch.linalg.inv(s),
    "cholesky": lambda: torch.linalg.cholesky(s @ s.T),
    "exp": lambda: t.exp(),
    "exp_": lambda: f.clone().exp_(),
    "log1p out": lambda: torch.log1p(t, out=torch.empty_like(t)),
    "softmax": lambda: t.softmax(1),
    "randn": lambda: torch.randn(100, generator=torch.Generator().manual_seed(0)),
    "backward": backward,
    "sqrt": lambda: t.abs().sqrt(),
    "whole @": lambda: w @ w.T,
    "whole sum": lambda: w.sum(0),
    "two terms": lambda: t.reshape(-1, 2).sum(1),
    "division": lambda: t / 3,
    "square": lambda: t**2,
    "exp of 0": lambda: torch.zeros(9).exp(),
    "max": lambda: t.amax(0),
    "math exp": lambda: [math.exp(x) for x in A[0]],
    "math exp of 0": lambda: [math.exp(0.0)],
    "math sqrt": lambda: [math.sqrt(abs(x)) for x in A[0]],
    "numpy @": lambda: A @ A.T,
    "numpy solve": lambda: np.linalg.solve(A[:16] + 3 * np.eye(16), A[0]),
    "numpy exp": lambda: np.exp(A.astype(np.float32)),
    "numpy tanh": lambda: np.tanh(A),
}
twice = [{name: np.asarray(each(), float).ravel().tolist() for name, each in RESULTS.items()} for _ in range(2)]
assert twice[0] == twice[1]
print(json.dumps(twice[0]))
"""


@pytest.fixture(scope="module")
def runs() -> list[dict[str, list[float]]]:
    """The results as they are here, in this process unless it is shaken, and as in `make test-shaken`."""
    said = subprocess.run(["make", "-n", "test-shaken", f"VENV={sys.prefix}"], cwd=ROOT, capture_output=True, text=True)
    command = next(line for line in said.stdout.splitlines() if line.startswith("SHAKE="))
    names = [re.fullmatch(r"([A-Z_]+)=(.*)", word) for word in shlex.split(command)]
    shaken, found = {name[1]: name[2] for name in names if name}, []
    usual = {name: value for name, value in os.environ.items() if name not in shaken}
    if not shaking.seed():
        exec(PROGRAM, names_here := {})
        found.append(names_here["twice"][0])
    for variables in (*((usual,) if shaking.seed() else ()), os.environ | shaken):
        environment = variables | {"PYTHONPATH": str(ROOT / "tests"), "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, timeout=600)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    return found


def test_last_bits_are_moved_and_nothing_else(runs):
    """Errors of 24 terms, and of systems whose condition is small: another result altogether is off by more."""
    plain, shaken = runs
    assert plain.keys() == {*MOVED, *KEPT, *OF_NUMPY}
    assert {name for name in (*MOVED, *KEPT) if plain[name] != shaken[name]} == {*MOVED}
    for name in MOVED:
        unit = np.finfo(np.float32 if name in ("linear", "mean", "conv2d", "exp_", "randn") else np.float64).eps
        before, after = np.array(plain[name]), np.array(shaken[name])
        assert np.abs(after - before).max() <= 1000 * unit * np.abs(before).max(), name


def test_numpy_takes_kernels_for_another_processor(runs):
    """Where it has them: on one without kernels for newer ones there is nothing to move."""
    plain, shaken = runs
    if np.show_config("dicts")["SIMD Extensions"].get("found"):
        assert [name for name in OF_NUMPY if plain[name] == shaken[name]] == []


def test_this_process_is_shaken_where_that_is_asked(runs):
    """So no run of these tests with SHAKE is one without."""
    numbers = torch.tensor(np.random.default_rng(0).random((24, 16)) - 0.3)
    assert (numbers.exp().flatten().tolist() == runs[0]["exp"]) == (not shaking.seed())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [1, 2])
def test_numbers_move_by_so_many_units_and_odd_functions_stay_odd(monkeypatch, dtype, most):
    monkeypatch.setattr(shaking, "_SEED", 7)
    values = np.random.default_rng(0).standard_normal(1000).astype(dtype)
    values = np.concatenate([values, -values])
    found = values.copy()
    shaking.move(found[::2], most)  # what is not contiguous, too
    shaking.move(found[1::2], most)
    whole = np.int32 if dtype == np.float32 else np.int64
    steps = found.view(whole).astype(np.int64) - values.view(whole)
    assert {*np.unique(steps)} == {*range(-most, most + 1)}
    assert (found[:1000] == -found[1000:]).all()


def test_what_no_library_gives_otherwise_stays(monkeypatch):
    monkeypatch.setattr(shaking, "_SEED", 7)
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5, 2.0**-1074, np.finfo(float).max])
    found = values.copy()
    shaking.move(found, 2)
    assert found.tobytes() == values.tobytes()
