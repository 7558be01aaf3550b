"""`verale head import --arch`: from the file of a state dictionary to a head file, or one line that says why not."""

from __future__ import annotations

import pickle
import shlex

import pytest
import torch
from click.testing import CliRunner
from support.cases import every
from support.commands import in_process
from support.runs import changed, final

from benchmarks.architectures import cases
from verale.adapters import ARCHITECTURES
from verale.cli import cli
from verale.errors import InputError, UsageError
from verale.head import Box, Head


def run(*arguments: object):
    # By the whole command line: click remembers how a command was called first, and its help lists those options.
    return CliRunner().invoke(cli, ["head", "import", *map(str, arguments)])


@every("name", cases())
def test_the_file_holds_the_head(name, tmp_path):
    case = cases()[name]
    torch.save(case.state, tmp_path / "state.pth")
    options = [part for key, value in case.options.items() for part in ("--option", f"{key}={value}")]
    result = run("--arch", case.architecture, tmp_path / "state.pth", "-o", tmp_path / "head.safetensors", *options)
    assert result.exit_code == 0, result.output
    assert Head.load(tmp_path / "head.safetensors").digest == case.head().digest
    assert case.head().digest in result.output


def test_what_was_chosen_is_said(tmp_path):
    torch.save(cases()["protopool"].state, tmp_path / "state.pth")
    result = run("--arch", "protopool", tmp_path / "state.pth", "-o", tmp_path / "h", "--option", "domain=-1:2.5")
    assert "12 prototypes, presence=argmax, activation=log, epsilon=0.0001, domain=-1:2.5, sha256" in result.output
    assert Head.load(tmp_path / "h").domain == Box(-1, 2.5)


def test_domains_may_be_open(tmp_path):
    torch.save(cases()["protopnet"].state, tmp_path / "state.pth")
    for text, domain in ((":", Box()), ("0:", Box(0, None)), (":1e-3", Box(None, 1e-3))):
        result = run("--arch", "protopnet", tmp_path / "state.pth", "-o", tmp_path / "h", "--option", f"domain={text}")
        assert result.exit_code == 0 and Head.load(tmp_path / "h").domain == domain


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("k=2", "'k=2' is unknown, expected KEY=VALUE of protopnet's: activation=log, epsilon=0.0001, domain=0:1"),
        ("epsilon", "option epsilon is '', expected a value such as epsilon=0.5"),
        ("epsilon=small", "option epsilon is 'small'"),
        ("domain=0", "option domain is '0', expected a value such as domain=0:1"),
        ("activation=relu", "expected log or linear"),
    ],
)
def test_options_that_mean_nothing(option, message, tmp_path):
    torch.save(cases()["protopnet"].state, tmp_path / "state.pth")
    result = run("--arch", "protopnet", tmp_path / "state.pth", "-o", tmp_path / "h", "--option", option)
    assert isinstance(result.exception, UsageError) and message in str(result.exception)
    assert not (tmp_path / "h").exists()


def test_the_file_is_named_when_its_tensors_do_not_fit(tmp_path):
    torch.save(cases()["protopnet"].state, tmp_path / "state.pth")
    result = run("--arch", "pipnet", tmp_path / "state.pth", "-o", tmp_path / "h")
    assert isinstance(result.exception, InputError) and result.exception.path == str(tmp_path / "state.pth")
    assert "_classification.weight" in str(result.exception)


def test_a_state_without_an_architecture_gets_the_command_to_write(tmp_path):
    """Where its tensors leave no choice; nothing is written, and what is printed works."""
    torch.save(cases()["pipnet"].state, tmp_path / "the state.pth")
    result = run(tmp_path / "the state.pth", "-o", tmp_path / "h")
    assert isinstance(result.exception, InputError) and not (tmp_path / "h").exists()
    said = str(result.exception)
    assert "has the tensors of pipnet, and needs --arch: write verale head import '" in said
    result = run(*shlex.split(said.split("verale head import ")[1]))
    assert result.exit_code == 0 and Head.load(tmp_path / "h").digest == cases()["pipnet"].head().digest


def test_a_state_that_fits_two_networks_is_not_guessed(tmp_path):
    torch.save(cases()["protopnet"].state, tmp_path / "state.pth")
    result = run(tmp_path / "state.pth", "-o", tmp_path / "h", "--option", "epsilon=0.1")
    assert isinstance(result.exception, InputError) and not (tmp_path / "h").exists()
    assert str(result.exception).endswith(
        "has the tensors of protopnet and tesnet, and needs --arch: these have the same tensors and compute different"
        " things, so say which network it is, --arch protopnet or --arch tesnet"
    )


def test_a_network_for_dna_is_named_and_its_option(tmp_path):
    """The published tensors, without and with the receptive field that states the option."""
    case = cases()["genetic"]
    torch.save(case.state, tmp_path / "genetics.pth")
    result = run(tmp_path / "genetics.pth", "-o", tmp_path / "h")
    assert isinstance(result.exception, InputError) and not (tmp_path / "h").exists()
    said = str(result.exception)
    assert "has the tensors of genetic, and needs --arch: write verale head import" in said
    assert said.endswith("--arch genetic --option patches=L (L is the length of the latent sequence)")
    torch.save({"state_dict": case.state, "proto_layer_rf_info": [5, 8, 46, 4.0]}, tmp_path / "genetics.pth")
    said = str(run(tmp_path / "genetics.pth", "-o", tmp_path / "h").exception)
    assert said.endswith("--arch genetic")
    result = run(*shlex.split(said.split("verale head import ")[1]))
    assert result.exit_code == 0 and Head.load(tmp_path / "h").digest == case.head().digest
    assert "12 prototypes, domain=:, patches=5, sha256" in result.output
    for arguments, refusal in (
        (("genetic", "--option", "patches=6"), "says patches=5, and option patches is 6, expected 5: leave it out"),
        (("protopnet",), "so this is the state of genetic, not of protopnet: give that architecture"),
    ):
        result = run(tmp_path / "genetics.pth", "-o", tmp_path / "other", "--arch", *arguments)
        assert isinstance(result.exception, InputError) and refusal in str(result.exception)
        assert not (tmp_path / "other").exists()


def test_prototypes_of_a_run_are_looked_at_too(tmp_path):
    def shifted(tensors) -> None:
        tensors["classifier.prototypes"][2] -= 5.0

    assert "WARNING" not in in_process("head", "import", final("protopnet"), "-o", tmp_path / "h").stderr
    done = in_process("head", "import", changed("protopnet", tmp_path, state=shifted), "-o", tmp_path / "h")
    assert done.returncode == 0 and "1 of 12 prototypes lie outside the head's domain" in done.stderr, done.stderr


class PPNet(torch.nn.Module):
    """ProtoViT's class has ProtoPNet's name."""

    def __init__(self) -> None:
        super().__init__()
        self.prototype_vectors = torch.nn.Parameter(torch.zeros(4, 3, 2))
        self.patch_select = torch.nn.Parameter(torch.ones(1, 4, 2))
        self.last_layer = torch.nn.Linear(4, 2, bias=False)
        self.prototype_shape, self.radius, self.sig_temp = (4, 3, 2), 1, 100


@pytest.mark.parametrize("saved", ["state", "model", "older", "pickled"])
def test_a_network_without_a_head_is_named(saved, tmp_path):
    path, model = tmp_path / "network.pth", PPNet()
    if saved == "pickled":
        path.write_bytes(pickle.dumps(model))
    else:
        torch.save(
            model.state_dict() if saved == "state" else model, path, _use_new_zipfile_serialization=saved != "older"
        )
    done = in_process("head", "import", path, "-o", tmp_path / "h")
    assert done.returncode == 9 and not (tmp_path / "h").exists() and "Traceback" not in done.stderr
    if saved == "pickled":  # its tensors are calls, which are not made: what the refusal says converts it
        code = done.stderr.split("in the environment that wrote it: ")[1].split(" (where saved")[0]
        exec(code.replace("'state.pth'", repr(str(tmp_path / "state.pth"))), {})
        done = in_process("head", "import", tmp_path / "state.pth", "-o", tmp_path / "h")
    assert "this is the state of ProtoViT, which no head of verale computes: see docs/protovit.md" in done.stderr
    done = in_process("head", "import", path, "-o", tmp_path / "h", "--arch", "protopnet")
    assert done.returncode == 9 and not (tmp_path / "h").exists()


def test_a_state_that_fits_none_gets_the_known_ones(tmp_path):
    torch.save({"fc.weight": torch.zeros(2, 3)}, tmp_path / "state.pth")
    result = run(tmp_path / "state.pth", "-o", tmp_path / "h")
    assert isinstance(result.exception, InputError)
    assert f"fits no published network as it is: give --arch, one of {', '.join(ARCHITECTURES)}" in str(
        result.exception
    )
    (tmp_path / "noise").write_bytes(b"noise")
    result = run(tmp_path / "noise", "-o", tmp_path / "h")
    assert isinstance(result.exception, InputError) and "cannot read as a checkpoint" in str(result.exception)


def test_options_need_an_architecture(tmp_path):
    result = run(tmp_path, "-o", tmp_path / "h", "--option", "k=1")
    assert isinstance(result.exception, UsageError) and "--option is for --arch" in str(result.exception)


@pytest.mark.parametrize("name", ["protopnet", "gmm-max", "hyperpg-hyperpg", "protopformer"])
def test_show_names_every_part(name, tmp_path):
    head = cases()[name].head()
    head.save(tmp_path / "head.safetensors")
    result = CliRunner().invoke(cli, ["head", "show", str(tmp_path / "head.safetensors")])
    assert result.exit_code == 0, result.output
    shown = "".join(result.output.split())
    for part in (head.geometry, head.similarity, head.pooling, head.readout):
        assert part.kind in shown
    for field in ("scale", "peak", "bias"):
        assert f"{field}{'none' if getattr(head, field) is None else 'yes'}" in shown
