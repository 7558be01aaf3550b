"""A ProtoTree of the original code: its files are refused with what to do, and what to do makes its head."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from support.commands import in_process
from torch import Tensor, nn

import verale
from verale.runs.check import check

PAGE = Path(__file__).parents[3] / "docs" / "architectures.md"


class Leaf(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self._dist_params = nn.Parameter(torch.randn(classes))

    def distribution(self) -> Tensor:
        return self._dist_params.softmax(0)

    def forward(self, similarities: Tensor, out_map: dict[nn.Module, int]) -> Tensor:
        return self.distribution().expand(len(similarities), -1)


class Branch(nn.Module):
    def __init__(self, absent: nn.Module, present: nn.Module) -> None:
        super().__init__()
        self.l, self.r = absent, present

    def forward(self, similarities: Tensor, out_map: dict[nn.Module, int]) -> Tensor:
        there = similarities[:, out_map[self], None]
        return (1 - there) * self.l(similarities, out_map) + there * self.r(similarities, out_map)


class Prototypes(nn.Module):
    def __init__(self, count: int, depth: int) -> None:
        super().__init__()
        self.prototype_vectors = nn.Parameter(torch.rand(count, depth, 1, 1))

    def forward(self, latents: Tensor) -> Tensor:
        apart = (latents.flatten(2)[:, None] - self.prototype_vectors.flatten(2)).square().sum(2)
        return (apart + 1e-14).sqrt()


class ProtoTree(nn.Module):
    """The published function, with its names: an unbalanced tree, whose nodes read prototypes in another order."""

    def __init__(self) -> None:
        super().__init__()
        last = Branch(Leaf(3), Leaf(3))
        first, other = Branch(Leaf(3), last), Branch(Leaf(3), Leaf(3))
        self._root = Branch(first, other)
        self._out_map = {other: 0, self._root: 1, last: 2, first: 3}
        self._add_on = nn.Sequential(nn.Conv2d(3, 5, 1), nn.Sigmoid())
        self.prototype_layer = Prototypes(4, 5)

    def forward(self, images: Tensor) -> tuple[Tensor, dict[str, Any]]:
        similarities = torch.exp(-self.prototype_layer(self._add_on(images)).amin(2))
        return self._root(similarities, self._out_map), {}


@pytest.fixture
def tree() -> ProtoTree:
    torch.manual_seed(0)
    return ProtoTree().eval()


def test_what_the_page_says_makes_its_head(tree: ProtoTree, tmp_path: Path) -> None:
    (text,) = re.findall(r"### A ProtoTree of the original code\n.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    written: dict[str, Any] = {}
    exec(compile(text, "<page>", "exec"), written)
    head, images = written["head_of_tree"](tree), 8 * torch.randn(6, 3, 4, 4)
    comparison = check(head, tree, "_add_on", images)
    assert comparison.agrees, comparison
    assert comparison.logits.std(0).min() > 1e-3, "the images differ"
    swapped = {node: 3 - at for node, at in tree._out_map.items()}
    tree._out_map = swapped
    assert not check(head, tree, "_add_on", images).agrees, "another order of prototypes is another function"
    assert check(written["head_of_tree"](tree), tree, "_add_on", images).agrees
    explained = verale.explain_model(
        tree, "_add_on", images[:1], head=written["head_of_tree"](tree), out=tmp_path / "out"
    )
    assert explained.head.compared


@pytest.mark.parametrize("whole", [False, True])
def test_its_files_are_refused_with_what_to_do(tree: ProtoTree, whole: bool, tmp_path: Path) -> None:
    torch.save(tree if whole else tree.state_dict(), tmp_path / "model.pth")
    done = in_process("head", "import", tmp_path / "model.pth", "-o", tmp_path / "h")
    assert done.returncode == 9 and not (tmp_path / "h").exists()
    assert "ProtoTree's original code" in done.stderr and "#a-prototree-of-the-original-code" in done.stderr
