"""Small files that claim too much are refused in one line; nothing is fetched, run or allocated for them."""

from __future__ import annotations

import io
import resource
import socket
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from support.commands import in_process
from support.hostile import ATTACKS, archive, dictionary, tensor
from support.runs import IMAGES, changed, final, imported

from verale.adapters import load_state
from verale.adapters.cabrnet import load
from verale.errors import InputError

HARMLESS = {
    "honest import",
    "honest run",
    "latents: honest",
    "backbone: weights DEFAULT",
    "backbone: weights in params",
    "backbone: pretrained in params",
    "classifier: 10^8 prototypes a class",
    "classifier: 10^9 classes",
    "classifier: a tree of depth 40",
    "classifier: 10^9 slots",
    "notes: 100,000 lines",
}
"""What is answered: pretrained weights and sizes in the YAML are not used, and notes on other prototypes neither."""

MEMORY = 1 << 30
"""How much more address space than at its start an attack may ask for: twice the promise, for threads and arenas."""


@pytest.fixture(scope="module", autouse=True)
def mapped() -> None:
    """What an honest run imports and maps is there before memory is counted."""
    imported()
    load(final("protopnet")).capture([next(IMAGES.glob("*/*.png"))])


@pytest.fixture
def bounded() -> Iterator[None]:
    """Little memory is left to ask for. A process that exceeds this fails in another way than by InputError."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture
def offline(monkeypatch) -> list[str]:
    """The network is out of reach; the list names each attempt."""
    attempts: list[str] = []

    def forbidden(*arguments: object, **options: object) -> None:
        attempts.append(str(arguments))
        raise OSError("the network is out of reach")

    for owner, name in (
        (socket.socket, "connect"),
        (socket, "getaddrinfo"),
        (torch.hub, "load_state_dict_from_url"),
        (torch.hub, "download_url_to_file"),
        (urllib.request, "urlopen"),
    ):
        monkeypatch.setattr(owner, name, forbidden)
    return attempts


SLOW = ("module: 290,000 objects", "a million opcodes", "module: 900,000 empty dictionaries")
"""Of these, which are read to their end, a list of 300,000 numbers takes as many steps in less time."""


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.long] * (each in SLOW)) for each in ATTACKS])
def test_an_attack_is_refused_in_one_line_with_little_memory_and_no_network(name, tmp_path, bounded, offline):
    command = ATTACKS[name](tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = in_process(*command)
    assert offline == []
    if name in HARMLESS:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 9, done.stderr
    assert "Traceback" not in done.stderr
    first, *more = done.stderr.splitlines()
    assert first.startswith(f"error: {tmp_path}/")
    assert not more or "convert it once" in first
    assert sorted(tmp_path.rglob("*")) == before, "something was written"


def test_the_attempts_would_be_noticed(offline):
    import torchvision

    with pytest.raises(OSError, match="out of reach"):
        torchvision.models.get_model("resnet18", weights="DEFAULT")
    assert len(offline) == 1


def test_memory_would_be_noticed(bounded):
    with pytest.raises(RuntimeError, match="allocate"):
        torch.empty(2 * MEMORY, dtype=torch.uint8)


def drop(name):
    return lambda state: state.pop(name)


def not_finite(state):
    state["extractor.convnet.features.0.1.running_var"][0] = torch.nan


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (drop("extractor.convnet.features.0.0.weight"), "extractor.convnet.features.0.0.weight is missing"),
        (drop("classifier.proto_class_map"), "CaBRNet cannot build this network"),
        (lambda state: state.update(more=torch.zeros(1)), "CaBRNet cannot build this network"),
        (lambda state: state.update({"features.x": torch.zeros(1)}), "CaBRNet cannot build this network"),
        (not_finite, "does not load extractor.convnet.features.0.1.running_var as it is stored"),
    ],
)
def test_a_state_that_does_not_fill_the_network_is_refused(change, reason, tmp_path):
    with pytest.raises(InputError, match=reason):
        load(changed("protopnet", tmp_path, state=change))


def test_yaml_with_the_aliases_that_its_writer_leaves_is_read(tmp_path):
    def alias(dataset):
        dataset["test_set"]["params"]["transform"] = dataset["train_set"]["params"]["transform"]

    run = changed("protopnet", tmp_path, dataset=alias)
    assert b"&id" in (run / "dataset.yml").read_bytes()
    assert load(run).preprocess([next(IMAGES.glob("*/*.png"))]).shape == (1, 3, 16, 16)


def test_what_an_optimizer_leaves_is_read(tmp_path):
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW([{"params": [model.weight]}, {"params": [model.bias], "lr": 0.1}])
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 5])
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    schedule.step()
    everything = {"state_dict": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    torch.save(everything | {"schedule": schedule.state_dict()}, tmp_path / "state.pth")
    assert torch.equal(load_state(tmp_path / "state.pth")["weight"], model.weight)


@pytest.mark.parametrize(
    ("pickled", "reason"),
    [
        (tensor(4, (2, 3), (3, 1)), r"claims shape \(2, 3\) for tensor 'w', whose storage holds 4"),
        (tensor(4, (2, 2), (3, 1)), r"claims shape \(2, 2\) for tensor 'w'"),
        (tensor(4, (4,), (1,), kind="Double"), "claims 32 bytes for storage '0', another size than its entry"),
        (tensor(4, (4,), (1,), key="1"), "claims 16 bytes for storage '1', another size than its entry"),
        (tensor(4, (-1,), (1,)), "cannot read as a checkpoint"),
        (tensor(4, (2**70,), (1,)), "cannot read as a checkpoint"),
        (tensor(4, (2,) * 100, (0,) * 100), "cannot read as a checkpoint"),
    ],
)
def test_tensors_and_storages_that_do_not_fit_are_refused(pickled, reason, tmp_path):
    (tmp_path / "state.pth").write_bytes(archive(dictionary(w=pickled), {"0": bytes(16)}))
    with pytest.raises(InputError, match=reason):
        load_state(tmp_path / "state.pth")


@pytest.mark.parametrize(
    ("count", "entry", "reason"),
    [
        (400, "0", "claims 1600 bytes for storage '0', another size than its entry"),  # where torch does not look
        (4, "archive/DATA/0", "holds two entries of one name"),
    ],
)
def test_another_entry_of_a_storage_is_not_taken_for_it(count, entry, reason, tmp_path):
    stream = io.BytesIO(archive(dictionary(w=tensor(count, (count,), (1,))), {"0": bytes(16)}))
    with zipfile.ZipFile(stream, "a") as file:
        file.writestr(entry, bytes(4 * count))
    (tmp_path / "state.pth").write_bytes(stream.getvalue())
    with pytest.raises(InputError, match=reason):
        load_state(tmp_path / "state.pth")


def test_a_wide_yaml_is_counted(tmp_path):
    (tmp_path / "final").mkdir()
    (tmp_path / "final" / "model_arch.yml").write_text("a: [" + "1, " * 20_000 + "1]")
    with pytest.raises(InputError, match=r"more than 20000 values"):
        load(tmp_path / "final")
