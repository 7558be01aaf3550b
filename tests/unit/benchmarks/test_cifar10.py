"""The CIFAR-10 experiment: CaBRNet builds the networks that it trains."""

from __future__ import annotations

import warnings

import pytest

from benchmarks.cifar10.models import MODELS, configuration


@pytest.mark.parametrize("name", MODELS)
def test_cabrnet_builds_what_the_configurations_say(name, tmp_path):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*distutils", DeprecationWarning)
        from cabrnet.archs.generic.model import CaBRNet
        from cabrnet.core.utils.optimizers import OptimizerManager
    files = configuration(name, tmp_path)
    model = CaBRNet.build_from_config(files["model_arch.yml"])
    model.register_training_params(files["training.yml"])
    OptimizerManager.build_from_config(files["training.yml"], model)
    assert set(files["dataset.yml"]) >= {"train_set", "projection_set", "test_set"}
