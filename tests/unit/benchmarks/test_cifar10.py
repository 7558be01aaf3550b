"""The CIFAR-10 experiment on networks that fit here: what it measures, keeps and prints."""

from __future__ import annotations

import shutil
import sys
import warnings

import pytest
from support.runs import IMAGES, final

from benchmarks import machine
from benchmarks.cifar10.explaining import explain_model, read_facts, read_lines
from benchmarks.cifar10.models import MODELS, configuration
from benchmarks.cifar10.table import report


@pytest.fixture
def folders(tmp_path):
    """Runs and data: the images as a test set, two fixtures as models."""
    shutil.copytree(IMAGES, tmp_path / "data" / "test")
    for name in ("protopnet", "pipnet"):
        shutil.copytree(final(name), tmp_path / "runs" / name / "final")
    return tmp_path / "runs", tmp_path / "data"


def test_every_paradigm_of_a_model_is_measured_audited_and_kept(folders, monkeypatch):
    runs, data = folders
    for name in ("protopnet", "pipnet"):
        explain_model(name, runs, data, 1, 300.0)
    monkeypatch.setattr(machine, "main", lambda: sys.stdout.write("the machine"))
    text, proved = report(["protopnet", "pipnet"], runs, "command")
    assert proved
    assert "36 emitted, 36 proved" in text
    assert "the machine" in text
    lines = read_lines(runs / "protopnet" / "projection.csv")
    assert len(lines) == 4
    assert {line.label for line in lines} == {"0", "1", "2", "3"}
    for line in lines:
        assert (line.outcome, line.verdict) == ("certificate", "PROVED")
        assert line.share == pytest.approx(line.size / (12 * 16))
        assert line.correct == (line.predicted == line.label)
    facts = read_facts(runs / "pipnet" / "facts.csv")
    assert (facts["tested"], facts["prototypes"], facts["patches"], facts["depth"]) == ("12", "8", "16", "8")
    assert f"| pipnet | {100 * float(facts['accuracy']):.1f} % |" in text

    kept = (runs / "protopnet" / "projection.csv").read_bytes()
    explain_model("protopnet", runs, data, 1, 300.0)
    assert (runs / "protopnet" / "projection.csv").read_bytes() == kept


def test_what_a_time_limit_leaves_out_is_said(folders, monkeypatch):
    runs, data = folders
    explain_model("pipnet", runs, data, 1, -1.0)
    assert {line.outcome for line in read_lines(runs / "pipnet" / "assignment.csv")} == {"not tried"}
    monkeypatch.setattr(machine, "main", lambda: None)
    text, _ = report(["pipnet"], runs, "command")
    (row,) = [line for line in text.splitlines() if line.startswith("| pipnet | assignment |")]
    assert row.split(" | ")[3:7] == ["0 + 0", "0", "0", "4"]


def test_a_certificate_that_is_not_proved_is_reported(folders, monkeypatch):
    runs, data = folders
    explain_model("pipnet", runs, data, 1, 300.0)
    path = runs / "pipnet" / "top_k.csv"
    path.write_text(path.read_text().replace("PROVED", "NOT_PROVED", 1))
    monkeypatch.setattr(machine, "main", lambda: None)
    assert not report(["pipnet"], runs, "command")[1]


@pytest.mark.parametrize("name", MODELS)
def test_cabrnet_builds_what_the_configurations_say(name, tmp_path):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "distutils Version classes are deprecated", DeprecationWarning)
        from cabrnet.archs.generic.model import CaBRNet
        from cabrnet.core.utils.optimizers import OptimizerManager
    files = configuration(name, tmp_path)
    model = CaBRNet.build_from_config(files["model_arch.yml"])
    model.register_training_params(files["training.yml"])
    OptimizerManager.build_from_config(files["training.yml"], model)
    assert set(files["dataset.yml"]) >= {"train_set", "projection_set", "test_set"}
