"""Small networks from pictures to latents, with random numbers: together they have every layer of a network file."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from verale.adapters.freezing import export_network
from verale.network import FrozenNetwork

SHAPE, MEAN, STD = (3, 12, 10), (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Residual(nn.Module):
    """ResNet's block, whose rectifiers write in place; the last sum is a method's."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm1 = nn.Conv2d(3, 6, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(6)
        self.second, self.norm2 = nn.Conv2d(6, 6, 3, padding=1, groups=2), nn.BatchNorm2d(6, affine=False)
        self.relu, self.leaky = nn.ReLU(inplace=True), nn.LeakyReLU(0.2, inplace=True)

    def forward(self, images: Tensor) -> Tensor:
        short = self.relu(self.norm1(self.first(images)))
        long = self.leaky(self.norm2(self.second(short)))
        long += short
        return torch.sigmoid(long.add(short))


class Dense(nn.Module):
    """DenseNet's block: batch normalisation comes first, and on a sum; outputs are joined."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(3), nn.Conv2d(3, 4, 3, padding="same")
        self.norm2, self.conv2 = nn.BatchNorm2d(7), nn.Conv2d(7, 5, (1, 3), padding=(0, 2), dilation=(1, 2))
        self.drop = nn.Dropout2d(0.5)

    def forward(self, images: Tensor) -> Tensor:
        made = self.conv1(functional.relu(self.norm1(images)))
        joined = torch.cat([images, self.drop(made)], 1)
        return functional.avg_pool2d(self.conv2(self.norm2(joined + joined).tanh()), 2, padding=1)


class Twice(nn.Module):
    """A convolution that is called twice, and one that is read by a normalisation and by others."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)
        self.unused = nn.Conv2d(3, 1, 1)

    def forward(self, images: Tensor) -> Tensor:
        first = self.conv(images)
        _ = self.unused(first)
        both = self.norm(first) + functional.max_pool2d(first, 3, 1, 1)
        return functional.interpolate(self.conv(both), scale_factor=2)


class Gates(nn.Module):
    """A mobile block, with squeeze-and-excitation, and ConvNeXt's, with channels last."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.pool = nn.Conv2d(3, 6, 3, 2, 1), nn.AdaptiveAvgPool2d(1)
        self.fc1, self.fc2, self.between = nn.Conv2d(6, 2, 1), nn.Conv2d(2, 6, 1), nn.Conv2d(6, 4, 1)
        self.norm, self.wide, self.narrow = nn.LayerNorm(4, 1e-6), nn.Linear(4, 9), nn.Linear(9, 4)
        self.scale = nn.Parameter(torch.randn(4, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        made = functional.hardswish(self.first(images))
        gate = functional.hardsigmoid(self.fc2(functional.silu(self.fc1(self.pool(made)))))
        made = functional.relu6(self.between(gate * made))
        block = self.narrow(functional.gelu(self.wide(self.norm(made.permute(0, 2, 3, 1)))))
        return made + self.scale * block.permute(0, 3, 1, 2)


def _pooled() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Identity(), nn.ReLU(), nn.MaxPool2d(2, ceil_mode=True)),
        *(nn.Upsample(scale_factor=(1, 2), mode="nearest"), nn.AdaptiveAvgPool2d((5, 4)), nn.AdaptiveMaxPool2d(1)),
        nn.Sigmoid(),
    )


def _linear() -> nn.Module:
    return nn.Sequential(
        *(nn.AvgPool2d(2), nn.Flatten(), nn.Linear(90, 7, bias=False), nn.BatchNorm1d(7), nn.Dropout(), nn.Tanh()),
        *(nn.Linear(7, 5), nn.Sigmoid()),
    )


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "residual": Residual,
    "dense": Dense,
    "called twice": Twice,
    "pooled": _pooled,
    "linear": _linear,
    "one layer": lambda: nn.Conv2d(3, 2, 1),
    "gates": Gates,
}
REAL_ALONE = ("gates",)
"""Those of which nothing is claimed in float32."""


def random_module(name: str, seed: int = 0) -> nn.Module:
    """One of the networks, with random numbers that batch normalisation does not have at first; in eval mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = NETWORKS[name]()
        for each in module.modules():
            if isinstance(each, nn.BatchNorm1d | nn.BatchNorm2d):
                each.running_mean.normal_()
                each.running_var.uniform_(0.2, 3)
                for parameter in each.parameters():
                    nn.init.normal_(parameter)
    return module.eval().requires_grad_(False)


def frozen_network(name: str, seed: int = 0) -> FrozenNetwork:
    """The same as a network file has it."""
    return export_network(random_module(name, seed), None, SHAPE, MEAN, STD)


def deep_network(layers: int, last: nn.Module) -> FrozenNetwork:
    """Convolutions whose latents depend on their picture still, though what is not known of it grows with each."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(layers)
        blocks: list[nn.Module] = [nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        for _ in range(layers):
            convolution = nn.Conv2d(8, 8, 3, padding=1)
            nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
            blocks += [convolution, nn.ReLU()]
        return export_network(nn.Sequential(*blocks, nn.AvgPool2d(3), last), None, SHAPE, MEAN, STD)


def random_pictures(count: int, seed: int = 0, shape: tuple[int, int, int] = SHAPE) -> Tensor:
    """uint8 (N, C, H, W)."""
    drawn = torch.Generator().manual_seed(1000 + seed)
    return torch.randint(256, (count, *shape), dtype=torch.uint8, generator=drawn)
