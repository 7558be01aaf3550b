"""`verale head`: from a state dictionary to a head file, or a line that says why not; heads compared with networks."""

from __future__ import annotations

import json
import pickle
import shlex
from dataclasses import replace

import pytest
import safetensors.torch
import torch
from click.testing import CliRunner
from support.cases import every
from support.commands import in_process
from support.runs import changed, final
from torch import nn

import verale
from benchmarks.architectures import cases
from verale.adapters import ARCHITECTURES
from verale.checker.errors import HeadError
from verale.checker.read.head_file import read_head_file
from verale.cli import cli
from verale.errors import HeadError as AnotherHeadError
from verale.errors import InputError, LatentsError, UsageError
from verale.head import Box, Euclidean, Head, LogRatio, load_labelled


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


SAME = (
    "has the tensors of protopnet and tesnet, and needs --arch: these have the same tensors and compute different"
    " things, so say which network it is, --arch protopnet or --arch tesnet"
)
KNOWN = f"fits no published network as it is: give --arch, one of {', '.join(ARCHITECTURES)}"


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        (
            "state",
            "--arch protopnet --option k=2",
            "'k=2' is unknown, expected KEY=VALUE of protopnet's: activation",
        ),
        ("state", "--arch protopnet --option epsilon", "option epsilon is '', expected a value such as epsilon=0.5"),
        ("state", "--arch protopnet --option epsilon=small", "option epsilon is 'small'"),
        ("state", "--arch protopnet --option domain=0", "option domain is '0', expected a value such as domain=0:1"),
        ("state", "--arch protopnet --option activation=relu", "expected log or linear"),
        ("state", "--arch pipnet", "_classification.weight"),
        ("state", "--option epsilon=0.1", SAME),
        ("another", "", KNOWN),
        ("noise", "", "cannot read as a checkpoint"),
        (".", "--option k=1", "--option is for --arch"),
    ],
)
def test_what_cannot_be_imported_is_named(source, arguments, message, tmp_path):
    torch.save(cases()["protopnet"].state, tmp_path / "state")
    torch.save({"fc.weight": torch.zeros(2, 3)}, tmp_path / "another")
    (tmp_path / "noise").write_bytes(b"noise")
    result = run(tmp_path / source, *arguments.split(), "-o", tmp_path / "h")
    assert isinstance(result.exception, InputError | UsageError) and message in str(result.exception)
    assert not (tmp_path / "h").exists()


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


def test_what_was_chosen_is_said(tmp_path):
    torch.save(cases()["protopool"].state, tmp_path / "state.pth")
    result = run("--arch", "protopool", tmp_path / "state.pth", "-o", tmp_path / "h", "--option", "domain=-1:2.5")
    assert "12 prototypes, presence=argmax, activation=log, epsilon=0.0001, domain=-1:2.5, sha256" in result.output
    assert Head.load(tmp_path / "h").domain == Box(-1, 2.5)


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


WORDS = "not compared with the network"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = Head(torch.eye(2, 3), Euclidean(), LogRatio(1e-4), torch.eye(3))
    head.save("h")
    latents = torch.tensor([[[0.75, 0.125, 0.0], [0.5, 0.25, 0.125]], [[0.0, 0.875, 0.25], [0.25, 0.5, 0.5]]])
    logits = head.logits(latents).float()
    safetensors.torch.save_file({"latents": latents, "logits": logits}, "z")
    safetensors.torch.save_file({"latents": latents, "logits": logits + 1}, "other")
    safetensors.torch.save_file({"latents": latents}, "none")
    return head


def told(*arguments):
    result = in_process(*arguments)
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("head", ["h", "h2"])
def test_explain_and_show_tell_which_head_was_compared(files, head, tmp_path):
    for file, said in (("other", "head is not this network's"), ("none", "no tensor 'logits'")):
        code, refusal = told("head", "compare", "h", file, "-o", "h2")
        assert code == 9 and said in refusal and not (tmp_path / "h2").exists()
    told("head", "compare", "h", "z", "-o", "h2")
    assert Head.load("h2").to_bytes() == replace(files, compared=True).to_bytes()
    said = told("explain", "--head", head, "--latents", "z", "--out", "out", "--paradigm", "top_k")[1]
    assert (WORDS in said) == (WORDS in told("show", "out", "0")[1]) == (head == "h")
    code, said = told("audit", "out")
    assert code == 0, said


class Small(nn.Module):
    def __init__(self, off):
        super().__init__()
        self.add_on, self.off = nn.Identity(), off
        self.points, self.weight = torch.eye(3), torch.eye(2, 3)

    def forward(self, images):
        apart = (self.add_on(images)[:, None] - self.points[:, :, None, None]).square().sum(2).flatten(2).amin(2)
        return torch.log((apart + 1) / (apart + 1e-4)) @ self.weight.T + torch.tensor([self.off, 0.0])


def test_the_head_of_a_model_is_marked_where_it_is_the_models(tmp_path):
    images, out = torch.linspace(0, 1, 24).reshape(2, 3, 2, 2), tmp_path / "out"
    head = Head(torch.eye(2, 3), Euclidean(), LogRatio(1e-4), torch.eye(3))
    with pytest.raises(AnotherHeadError, match="head is not this network's"):
        verale.explain_model(Small(1.0), "add_on", images, head=head, out=out)
    assert not list(out.glob("*"))
    explained = verale.explain_model(Small(0.0), "add_on", images, head=head, out=out)
    assert explained.head.compared and Head.load(out / "head.safetensors").compared and not head.compared


def test_logits_are_saved_beside_latents(tmp_path):
    latents, logits = torch.rand(2, 4, 3), torch.rand(2, 5, dtype=torch.float64)
    verale.save_latents(tmp_path / "z", latents.numpy(), [0, 1], logits.numpy())
    assert torch.equal(safetensors.torch.load_file(tmp_path / "z")["logits"], logits)
    assert load_labelled(tmp_path / "z")[1] == [0, 1]
    for wrong, said in (
        (torch.rand(3, 5), "of 3 images, expected finite numbers of 2"),
        (torch.rand(2), r"torch.float32 \(2,\), expected floats"),
        (torch.full((2, 5), torch.nan), "NaN"),
        (torch.ones(2, 5, dtype=torch.int64), "int64"),
        ("logits.pt", "a path"),
    ):
        with pytest.raises(LatentsError, match=said):
            verale.save_latents(tmp_path / "wrong", latents, logits=wrong)
    assert not (tmp_path / "wrong").exists()


def test_the_mark_is_true_or_false(files):
    data = files.to_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    fields = json.loads(header["__metadata__"]["verale.head"])
    for value in (True, False, 1, None, "true"):
        description = {"verale.head": json.dumps(fields | {"compared": value})}
        changed = safetensors.torch.save(safetensors.torch.load(data), metadata=description)
        if isinstance(value, bool):
            assert read_head_file(changed).compared is value and Head.from_bytes(changed).compared is value
        else:
            with pytest.raises(HeadError, match=r"compared is .*, expected true or false"):
                read_head_file(changed)
