"""`SHAKE` moves what another processor moves, by no more, and nothing else: a test of a last bit fails under it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from support import shaking
from support.shaking import moves

ROOT = Path(__file__).parents[2]
SEED = "1"

MOVED = (
    *("torch @", "torch.nn.functional.linear", "torch sum", "torch mean", "torch norm", "torch cumsum", "torch cdist"),
    *("torch conv2d", "torch embedding_bag", "torch solve", "torch inv", "torch cholesky", "torch exp", "torch exp_"),
    *("torch log1p out", "torch softmax", "torch randn", "torch backward", "numpy @", "numpy dot", "numpy sum"),
    *("numpy mean", "numpy norm", "numpy solve", "numpy exp", "scipy sparse @", "scipy linprog", "math exp", "sum"),
    "torch sqrt",
)
KEPT = (
    *("torch whole @", "torch whole sum", "torch two terms", "torch division", "torch square"),
    *("torch exp of 0", "torch max", "numpy whole @", "numpy sqrt", "math sqrt", "whole sum"),
)

PLANTED = """
import json, math, os
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import torch
from torch.nn import functional

from support.shaking import seed, shake

if seed():
    shake(__import__("sys").modules[__name__])


def backward():
    leaf = t.clone().requires_grad_()
    (leaf.exp() @ t.T).square().sum().backward()
    return leaf.grad


def linprog():
    return scipy.optimize.linprog(np.ones(16), A_ub=-S, b_ub=-np.ones(16) / 3).x


A = np.random.default_rng(0).random((24, 16)) - 0.3
S = A[:16] + 3 * np.eye(16)
W = np.round(40 * A)
t, s, w = map(torch.tensor, (A, S, W))
f = t.float()
RESULTS = {
    "torch @": lambda: t @ t.T,
    "torch.nn.functional.linear": lambda: functional.linear(f, f[:3], f[0, :3]),
    "torch sum": lambda: t.sum(0),
    "torch mean": lambda: f.mean(1),
    "torch norm": lambda: t.norm(dim=1),
    "torch cumsum": lambda: t.cumsum(0),
    "torch cdist": lambda: torch.cdist(t, t.flip(0), compute_mode="donot_use_mm_for_euclid_dist"),
    "torch conv2d": lambda: functional.conv2d(f[None, :, :4, None], f[:, :, None, None].transpose(0, 1)),
    "torch embedding_bag": lambda: functional.embedding_bag(torch.arange(24), t, torch.tensor([0, 12]), mode="sum"),
    "torch solve": lambda: torch.linalg.solve(s, t[0]),
    "torch inv": lambda: torch.linalg.inv(s),
    "torch cholesky": lambda: torch.linalg.cholesky(s @ s.T),
    "torch exp": lambda: t.exp(),
    "torch exp_": lambda: f.clone().exp_(),
    "torch log1p out": lambda: torch.log1p(t, out=torch.empty_like(t)),
    "torch softmax": lambda: t.softmax(1),
    "torch randn": lambda: torch.randn(100, generator=torch.Generator().manual_seed(0)),
    "torch backward": backward,
    "numpy @": lambda: A @ A.T,
    "numpy dot": lambda: A.dot(A.T),
    "numpy sum": lambda: A.sum(0),
    "numpy mean": lambda: np.mean(A, 1),
    "numpy norm": lambda: np.linalg.norm(A, axis=1),
    "numpy solve": lambda: np.linalg.solve(S, A[0]),
    "numpy exp": lambda: np.exp(A),
    "scipy sparse @": lambda: scipy.sparse.csr_array(A) @ A[0],
    "scipy linprog": linprog,
    "math exp": lambda: [math.exp(x) for x in A[0]],
    "sum": lambda: [sum(row) for row in A.tolist()],
    "torch whole @": lambda: w @ w.T,
    "torch whole sum": lambda: w.sum(0),
    "torch two terms": lambda: t.reshape(-1, 2).sum(1),
    "torch sqrt": lambda: t.abs().sqrt(),
    "torch division": lambda: t / 3,
    "torch square": lambda: t**2,
    "torch exp of 0": lambda: torch.zeros(9).exp(),
    "torch max": lambda: t.amax(0),
    "numpy whole @": lambda: W @ W.T,
    "numpy sqrt": lambda: np.sqrt(np.abs(A)),
    "math sqrt": lambda: [math.sqrt(abs(x)) for x in A[0]],
    "whole sum": lambda: [sum(row) for row in W.tolist()],
}


@pytest.mark.parametrize("name", RESULTS)
def test_of_last_bits(name, record_property):
    found = np.asarray(RESULTS[name](), dtype=np.float64).ravel().tolist()
    assert found == np.asarray(RESULTS[name](), dtype=np.float64).ravel().tolist()
    record_property("found", json.dumps(found))
    saved = Path(os.environ["SAVED"]) / name.replace(" ", "_")
    if not saved.exists():
        saved.write_text(json.dumps(found))
    assert found == json.loads(saved.read_text())
"""
"""Each result is compared with what an earlier run has saved: a test that no processor but that one passes."""


def run(folder: Path, name: str, **environment: str) -> dict[str, tuple[bool, np.ndarray]]:
    """Of each result whether its test passed, and the numbers."""
    (folder / "test_planted.py").write_text(PLANTED)
    (folder / "saved").mkdir(exist_ok=True)
    first = Path(shaking.__file__).parent / "start"
    paths = os.pathsep.join(map(str, (first, ROOT, ROOT / "tests")))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={folder / name}"]
    subprocess.run(
        [*command, f"--rootdir={folder}", "test_planted.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths, "SAVED": str(folder / "saved"), shaking.VARIABLE: ""} | environment,
        capture_output=True,
        timeout=600,
    )
    results = {}
    for case in ElementTree.parse(folder / name).iter("testcase"):
        found = json.loads(case.find("properties/property").attrib["value"])
        results[case.attrib["name"].partition("[")[2][:-1]] = case.find("failure") is None, np.array(found)
    return results


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shaken")
    return [run(folder, "plain"), run(folder, "again"), run(folder, "shaken", SHAKE=SEED)]


def test_a_test_of_a_last_bit_passes_here_and_fails_shaken(runs):
    plain, again, shaken = runs
    assert plain.keys() == {*MOVED, *KEPT}
    assert all(passed for passed, _ in [*plain.values(), *again.values()])
    assert {name for name, (passed, _) in shaken.items() if not passed} == {*MOVED}


def test_results_stay_near_what_they_were(runs):
    """Errors of 24 terms, and of systems whose condition is small: what is another result altogether is off by more."""
    plain, _, shaken = runs
    for name in MOVED:
        narrow = name in ("torch.nn.functional.linear", "torch mean", "torch conv2d", "torch exp_", "torch randn")
        unit = np.finfo(np.float32 if narrow else np.float64).eps
        (_, before), (_, after) = plain[name], shaken[name]
        assert np.abs(after - before).max() <= 1000 * unit * np.abs(before).max(), name


def test_this_process_is_shaken_where_that_is_asked(runs):
    """So no run of these tests with SHAKE is one without."""
    numbers = torch.tensor(np.random.default_rng(0).random((24, 16)) - 0.3)
    assert (numbers.exp().flatten().numpy() == runs[0]["torch exp"][1]).all() == (not shaking.seed())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [1, 2])
def test_numbers_move_by_so_many_units_and_odd_functions_stay_odd(monkeypatch, dtype, most):
    monkeypatch.setenv(shaking.VARIABLE, "7")
    values = np.random.default_rng(0).standard_normal(1000).astype(dtype)
    values = np.concatenate([values, -values])
    found = values.copy()
    moves.move(found[::2], most)  # what is not contiguous, too
    moves.move(found[1::2], most)
    whole = np.int32 if dtype == np.float32 else np.int64
    steps = found.view(whole).astype(np.int64) - values.view(whole)
    assert {*np.unique(steps)} == {*range(-most, most + 1)}
    assert (found[:1000] == -found[1000:]).all()


def test_what_no_library_gives_otherwise_stays(monkeypatch):
    monkeypatch.setenv(shaking.VARIABLE, "7")
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5, 2.0**-1074, np.finfo(float).max])
    found = values.copy()
    moves.move(found, 2)
    assert found.tobytes() == values.tobytes()


@pytest.mark.parametrize("count", [2, 3, 17, 2**16 + 1])
def test_an_order_is_another_one(monkeypatch, count):
    orders = []
    for seed in ("1", "2"):
        monkeypatch.setenv(shaking.VARIABLE, seed)
        orders += [moves.order(count, way) for way in range(moves.WAYS)]
    for order in orders:
        assert (np.sort(order) == np.arange(count)).all() and (order != np.arange(count)).any()
    if count == 17:
        assert len({order.tobytes() for order in orders}) == len(orders)


def test_of_several_orders_one_is_taken_that_differs(monkeypatch):
    monkeypatch.setenv(shaking.VARIABLE, "7")
    result = np.arange(1000) / 7
    above, below = np.nextafter(result, np.inf), result.copy()
    above[:100] = result[:100]
    below[100:200] = np.nextafter(result[100:200], -np.inf)
    above[200:300] = np.nan
    found = result.copy()
    moves.choose(found, [above, below])
    assert (found[:100] == result[:100]).all() and (found[200:300] == result[200:300]).all()
    assert {*np.sign(found[100:200] - result[100:200])} == {-1.0, 1.0}
    assert (found[300:] > result[300:]).all()


def test_nothing_is_shaken_that_was_imported_before():
    program = "import numpy; from support import shaking; shaking.start()"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests"), shaking.VARIABLE: "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "numpy was imported before shaking started" in done.stderr
