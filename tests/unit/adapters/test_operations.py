"""What people's networks compute in one step is frozen as one layer or several, with the same latents; or refused."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from support.cases import every
from support.torch_networks import SHAPE, random_pictures
from torch import Tensor, nn
from torch.nn import functional

from verale.adapters.freezing import export_network
from verale.errors import NetworkError
from verale.network import FrozenNetwork

pytestmark = pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")

CHANNELS = 3


class Between(nn.Module):
    """Something between two convolutions, in float64."""

    def __init__(self, change: nn.Module | Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.change = nn.Conv2d(3, CHANNELS, 3, padding=1), change
        self.last = nn.LazyConv2d(2, 1)
        nn.init.normal_(self.first.weight, std=3.0)
        self.double()
        self(torch.zeros(1, *SHAPE).double())
        nn.init.normal_(self.last.weight)
        self.eval().requires_grad_(False)

    def forward(self, images: Tensor) -> Tensor:
        return self.last(self.change(self.first(images)))


def refusal(change: nn.Module | Callable[[Tensor], Tensor]) -> str:
    with pytest.raises(NetworkError) as error:
        export_network(Between(change), None, SHAPE)
    return str(error.value)


def require_same(change: nn.Module | Callable[[Tensor], Tensor], other: nn.Module | None = None) -> None:
    """Raises where a change, or another one for it, is not frozen, or gives other latents than the change."""
    pictures, module = random_pictures(2), Between(change)
    network: FrozenNetwork = export_network(module if other is None else Between(other), None, SHAPE)
    expected = module(pictures.double() / 255)
    torch.testing.assert_close(network.latents(pictures), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("module", [nn.MaxPool2d(3, 2, ceil_mode=True), nn.MaxPool2d((2, 3), 4, ceil_mode=True)])
def test_windows_beyond_the_padding_are_written_with_zeros_behind_a_relu(module: nn.MaxPool2d) -> None:
    behind = nn.Sequential(nn.ReLU(), module)
    found = re.search(
        r"behind a ReLU, .* put (nn\.ZeroPad2d\(\(.*?\)\)) before it, and ceil_mode=False", refusal(behind)
    )
    assert found is not None
    other = nn.MaxPool2d(module.kernel_size, module.stride)
    require_same(behind, nn.Sequential(nn.ReLU(), eval(found[1], {"nn": nn}), other))


def shuffled(given: Tensor) -> Tensor:
    """As ShuffleNet shuffles: of each number its square after it, and then the numbers in another order."""
    given = torch.cat([given, given * given], 1)
    return given.view(given.size(0), 2, 3, given.size(2), given.size(3)).transpose(1, 2).contiguous().flatten(1, 2)


def prelu(*slopes: float) -> nn.Module:
    module = nn.PReLU(len(slopes))
    module.weight.data = torch.tensor(slopes)
    return module


def of_instances() -> nn.Module:
    """Instance normalisation with running statistics, which is a batch normalisation."""
    module = nn.InstanceNorm2d(CHANNELS, affine=True, track_running_stats=True)
    module.running_mean.normal_()
    return module


class PaddedAsTensorFlow(nn.Module):
    """A convolution that asks how large its input is, as those of timm's `tf_` models do."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3, 3, 2))

    def forward(self, x: Tensor) -> Tensor:
        rows, columns = (max(0, (-(-n // 2) - 1) * 2 + k - n) for n, k in zip(x.size()[-2:], (3, 2), strict=True))
        if len(x) < 1 or x.ndim != 4 or x.dim() != 4 or x.size(1) != 3:
            raise ValueError("expected one image")
        if rows > 0 or columns > 0:
            x = functional.pad(x, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2))
        return functional.conv2d(x, self.weight, stride=2)


class Reshaped(nn.Module):
    """Parameters in other shapes than those that they are kept in."""

    def __init__(self) -> None:
        super().__init__()
        self.gain, self.weight = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(6, 3))

    def forward(self, x: Tensor) -> Tensor:
        weight = torch.reshape(self.weight, (6, 3, 1, 1))[:4]
        return functional.conv2d(x * self.gain.view(1, -1, 1, 1) + self.gain[:, None, None], weight)


class Gate(nn.Module):
    """Squeeze-and-excitation, the gate first."""

    def __init__(self) -> None:
        super().__init__()
        self.pool, self.fc1, self.fc2 = nn.AdaptiveAvgPool2d(1), nn.Conv2d(3, 2, 1), nn.Conv2d(2, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return functional.hardsigmoid(self.fc2(functional.silu(self.fc1(self.pool(x))))) * x


class Turned(nn.Module):
    """ConvNeXt's block: channels last for a normalisation and two linear layers, and a parameter of each channel."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.first, self.second = nn.LayerNorm(3, eps=1e-6), nn.Linear(3, 5), nn.Linear(5, 3)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)
        self.scale = nn.Parameter(torch.randn(3, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x.permute(0, 2, 3, 1))
        return x + self.scale * self.second(functional.gelu(self.first(y))).permute(0, 3, 1, 2)


FROZEN: dict[str, nn.Module | Callable[[Tensor], Tensor]] = {
    "ReLU6": nn.ReLU6(),
    "relu6": functional.relu6,
    "Hardtanh": nn.Hardtanh(),
    "Hardtanh from 0": nn.Hardtanh(0.0, 2.5),
    "hardtanh": lambda x: functional.hardtanh(x, -0.25, 0.75),
    "clamp": lambda x: x.clamp(-0.5, 1.5),
    "clamp below": lambda x: torch.clamp(x, min=0.25),
    "clamp above": lambda x: x.clamp_max(0.25),
    "clamp in place": lambda x: x.clamp_(max=-0.25),
    "no clamp": lambda x: x.clamp(max=float("inf")),
    "Hardsigmoid": nn.Hardsigmoid(),
    "Hardswish": nn.Hardswish(),
    "SiLU": nn.SiLU(inplace=True),
    "GELU": nn.GELU(),
    "times": lambda x: x * 3,
    "times before": lambda x: 0.3 * x,
    "over": lambda x: x / 7.0,
    "plus": lambda x: x + 1.5,
    "minus": lambda x: x - 1.5,
    "minus before": lambda x: 1.5 - x,
    "minus x": lambda x: x - x.relu(),
    "added twice": lambda x: torch.add(x, x.relu(), alpha=2),
    "negative": lambda x: -x,
    "square": lambda x: x * x,
    "product": lambda x: x * x.sigmoid(),
    "map": lambda x: x.amax((2, 3), keepdim=True) * x,
    "mean": lambda x: x.mean((2, 3), keepdim=True),
    "amax": lambda x: torch.amax(x, (2, 3), keepdim=True),
    "gate": Gate(),
    "some channels": lambda x: x[:, 1:],
    "every second channel": lambda x: x[:, ::2, :, :],
    "all channels": lambda x: x[:, :7] + x[:, :],
    "pieces": lambda x: torch.cat([x.chunk(2, 1)[1], torch.chunk(x, 3, 1)[0].relu()], 1),
    "pieces of two sizes": lambda x: x.split([1, 2], 1)[1] + torch.split(x, 2, dim=1)[0],
    "shuffled": shuffled,
    "shuffled by a module": nn.Sequential(nn.Conv2d(3, 6, 1), nn.ChannelShuffle(2)),
    "repeated": lambda x: x[:, :, None].expand(-1, -1, 2, -1, -1).reshape(-1, 6, 12, 10),
    "one piece of a group": lambda x: x.view(-1, 3, 1, *x.shape[2:])[:, 1],
    "padded as TensorFlow": PaddedAsTensorFlow(),
    "parameters reshaped": Reshaped(),
    "channels last": Turned(),
    "PReLU": prelu(0.25),
    "PReLU of channels": prelu(0.25, -0.5, 2.0),
    "RReLU": nn.RReLU().eval(),
    "slope below 0": nn.LeakyReLU(-0.5),
    "slope above 1": nn.LeakyReLU(1.5),
    "other zeros": nn.ConstantPad2d((1, 0, 2, 1), 0.5),
    "running statistics": of_instances(),
    "normalised by batches": nn.BatchNorm2d(CHANNELS, affine=False),
    "normalised by all batches": nn.BatchNorm2d(CHANNELS, momentum=None),
    **{
        f"padding of {kernel} by {dilation}": nn.Conv2d(CHANNELS, 4, kernel, padding="same", dilation=dilation)
        for kernel in ((2, 3), (4, 4), (3, 2))
        for dilation in (1, (2, 1), (1, 3))
    },
    **{f"zeros {pads}": nn.ZeroPad2d(pads) for pads in (1, (0, 1, 0, 1), (3, 0, 0, 2), (1, 2, 3, 4), (0, 0, 0, 0))},
    "zeros, constant": nn.ConstantPad2d((1, 0, 0, 2), 0.0),
    "zeros by a function": lambda x: functional.pad(x, (0, 1, 2, 0)),
    "zeros of columns": lambda x: functional.pad(x, (0, 2), mode="constant", value=0.0),
    "average, uncounted": nn.AvgPool2d(2, padding=1, count_include_pad=False),
    "average, uncounted, both ways": nn.AvgPool2d((3, 4), (2, 3), (1, 2), count_include_pad=False),
    "average beyond": nn.AvgPool2d(5, 3, ceil_mode=True),
    "average beyond the padding": nn.AvgPool2d(4, 3, 1, ceil_mode=True),
    "average, uncounted, beyond": nn.AvgPool2d((4, 3), 3, 1, ceil_mode=True, count_include_pad=False),
    "average by a divisor": nn.AvgPool2d((2, 3), (2, 1), divisor_override=4),
    "average by a divisor, beyond": nn.AvgPool2d(5, 3, 1, ceil_mode=True, divisor_override=7),
    "average by a function": lambda x: functional.avg_pool2d(x, 3, 2, 1, False, False),
}


@every("name", FROZEN)
def test_what_several_layers_compute_is_frozen_as_these(name: str) -> None:
    require_same(FROZEN[name])


def test_activations_behind_a_flattening_are_frozen() -> None:
    torch.manual_seed(0)
    head = nn.Sequential(nn.Linear(9, 5), nn.Hardswish(), nn.Linear(5, 2), nn.GELU())
    module = nn.Sequential(nn.AvgPool2d((4, 3)), nn.Flatten(), *([nn.Linear(27, 9)]), head).double().eval()
    network, pictures = export_network(module, None, SHAPE), random_pictures(2)
    torch.testing.assert_close(network.latents(pictures)[:, 0], module(pictures.double() / 255))


NONE: dict[str, nn.Module | Callable[[Tensor], Tensor]] = {
    "replication": nn.ReplicationPad2d(1),
    "reflection": lambda x: functional.pad(x, (1, 1, 1, 1), mode="reflect"),
    "cut": nn.ZeroPad2d((-1, 0, 0, 0)),
    "transposed": nn.ConvTranspose2d(3, 3, 2),
    "groups": nn.GroupNorm(1, 3),
    "layers": nn.LayerNorm([3, 12, 10]),
    "softmax": nn.Softmax2d(),
    "by x": lambda x: 1 / x,
    "rows": lambda x: x[:, :, 1:],
    "patches": lambda x: x.flatten(2),
    "turned": lambda x: x.view(-1, 3, 1, 12, 10).transpose(3, 4).reshape(-1, 3, 12, 10),
    "pixels": lambda x: x.view(1, 3, 6, 2, 10).transpose(2, 3).reshape(1, 6, 6, 10),
    "norm": lambda x: x.norm(dim=(2, 3), keepdim=True),
    "one channel": lambda x: x[:, 0],
    "gaps": nn.MaxPool2d((1, 2), 2, dilation=3),
    "pieces of rows": lambda x: torch.chunk(x, 2, 2)[0],
}


@every("name", NONE)
def test_what_no_layers_compute_is_refused(name: str) -> None:
    assert refusal(NONE[name]).endswith("or write it with these, or name an earlier layer")


class First(nn.Module):
    """The first of several outputs."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, given: Tensor) -> Tensor:
        return self.module(given)[0]


@every(
    ("change", "words"),
    [
        (lambda x: x.permute(0, 3, 1, 2), "permutes axes as (0, 3, 1, 2): only (0, 2, 3, 1), and"),
        (lambda x: x.permute(0, 3, 2, 1), "permutes axes as (0, 3, 2, 1)"),
        (lambda x: functional.max_pool2d(x.permute(0, 2, 3, 1), 2), "stand behind rows and columns: permute them to"),
        (lambda x: x.permute(0, 2, 3, 1).chunk(3, 3)[0], "stand behind rows and columns: permute them to"),
        (nn.GELU("tanh"), 'approximates the normal distribution by a tanh: set approximate="none", or train it so'),
        (lambda x: x / x, "divides by an output of a layer, or by 0"),
        (lambda x: x * x.mean(2, keepdim=True), "only over all rows and columns is known: write it with keepdim=True"),
        (nn.AdaptiveAvgPool2d(5), "take pictures of a size for which one is"),
        (nn.InstanceNorm2d(3), "train it with running statistics"),
        (First(nn.MaxPool2d(2, return_indices=True)), "set return_indices=False"),
        (lambda x: torch.prelu(x.permute(0, 2, 3, 1), torch.ones(12).double()), "stand behind rows and columns"),
        (lambda x: functional.rrelu(x, training=True), "draws its slopes by chance: call .eval()"),
        (lambda x: functional.dropout(x), "call .eval(), and give it training=self.training"),
    ],
)
def test_a_refusal_says_what_to_do(change: nn.Module | Callable[[Tensor], Tensor], words: str) -> None:
    assert words in refusal(change)
