"""A head that was never compared with its network is told as such; `verale head compare` compares."""

from __future__ import annotations

import json

import pytest
import safetensors.torch
import torch
from support.commands import in_process
from torch import nn

import verale
from verale.checker.errors import HeadError
from verale.checker.read.head_file import read_head_file
from verale.errors import HeadError as AnotherHeadError
from verale.errors import LatentsError
from verale.head import Euclidean, Head, LogRatio, load_labelled

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


def run(capsys, *arguments):
    result = in_process(*arguments)
    return result.returncode, result.stdout + result.stderr


def test_a_head_that_agrees_is_marked(files, capsys):
    assert WORDS in run(capsys, "head", "show", "h")[1] and not files.compared
    code, said = run(capsys, "head", "compare", "h", "z", "-o", "h2")
    assert code == 0 and "compared with the network" in said
    marked = Head.load("h2")
    assert marked.compared and marked.digest != files.digest and torch.equal(marked.weight, files.weight)
    assert WORDS not in run(capsys, "head", "show", "h2")[1]


@pytest.mark.parametrize(("file", "said"), [("other", "head is not this network's"), ("none", "no tensor 'logits'")])
def test_a_head_that_is_not_the_networks_is_not_marked(files, file, said, capsys, tmp_path):
    code, told = run(capsys, "head", "compare", "h", file, "-o", "h2")
    assert code == 9 and said in told and not (tmp_path / "h2").exists()


@pytest.mark.parametrize("head", ["h", "h2"])
def test_explain_and_show_tell_it(files, head, capsys):
    run(capsys, "head", "compare", "h", "z", "-o", "h2")
    said = run(capsys, "explain", "--head", head, "--latents", "z", "--out", "out", "--paradigm", "top_k")[1]
    assert (WORDS in said) == (head == "h")
    assert (WORDS in run(capsys, "show", "out", "0")[1]) == (head == "h")
    code, told = run(capsys, "audit", "out")
    assert code == 0, told


class Small(nn.Module):
    def __init__(self, off):
        super().__init__()
        self.add_on, self.off = nn.Identity(), off
        self.points, self.weight = torch.eye(3), torch.eye(2, 3)

    def forward(self, images):
        apart = (self.add_on(images)[:, None] - self.points[:, :, None, None]).square().sum(2).flatten(2).amin(2)
        return torch.log((apart + 1) / (apart + 1e-4)) @ self.weight.T + torch.tensor([self.off, 0.0])


@pytest.mark.parametrize("off", [0.0, 1.0])
def test_the_head_of_a_model_is_marked_where_it_is_the_models(off, tmp_path):
    model, out = Small(off), tmp_path / "out"
    head = Head(model.weight, Euclidean(), LogRatio(1e-4), model.points)
    images = torch.linspace(0, 1, 24).reshape(2, 3, 2, 2)
    if off:
        with pytest.raises(AnotherHeadError, match="head is not this network's"):
            verale.explain_model(model, "add_on", images, head=head, out=out)
        assert not list(out.glob("*"))
    else:
        explained = verale.explain_model(model, "add_on", images, head=head, out=out)
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
